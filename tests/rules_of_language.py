"""Rules of language that are given values of their own, in a form that stands in a line of JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sensegraph.index.chunks import inside_grapheme
from sensegraph.language import (
    background,
    blocks,
    collapsing,
    defining,
    naming_words,
    noun_phrases,
    sentences,
    speakers,
    transcripts,
    truecase,
)
from sensegraph.language import text as texts
from sensegraph.language.asking import answer_types, enumerations, kinds, question_words, sentence_cues
from sensegraph.language.dates import intervals, stated_dates
from sensegraph.language.text import tag_words


def split(text: str) -> list[str]:
    """The sentences of a text."""
    return [text[a:b] for a, b in sentences.split_sentences(text)]


def ask_name(question: str) -> list[Any] | None:
    """The name that a question asks about, and the two parts of it."""
    found = defining.read_asked_name(question)
    return [found.text, found.qualifier, found.person, found.loose, found.asked, found.parts] if found else None


def mention_name(question: str) -> str | None:
    """The name of which a question asks who mentions it."""
    found = defining.read_mentioned_name(question)
    return found.text if found else None


def mask(name: str, text: str, parts: Sequence[str] = ()) -> list[Any]:
    """How a text writes a name, the text with the sign for it and for parts of it, and what it tells of it."""
    asked = defining.AskedName(name)
    writing = asked.choose_writing(asked.pattern.finditer(text))
    masked = writing.mask(text)
    return [
        writing.capital, writing.exact, masked, writing.mask_parts(text, parts), defining.rate_statement(masked),
        defining.rate_fitness(masked), defining.rate_mention(asked, text), list(defining.find_other_names(masked)),
        list(defining.find_other_names(masked, True)),
    ]  # fmt: skip


def entitle(name: str, qualifier: str, title: str) -> bool:
    """Whether a title is that of a name."""
    return defining.AskedName(name, qualifier).entitles(title)


def find_longer(name: str, texts: Sequence[str]) -> list[str]:
    """The longer names in which a name stands."""
    return defining.find_longer_names(defining.AskedName(name), texts)


def enumerate_text(text: str) -> list[Any]:
    """The lists of a text: what leads in, and the entries."""
    found = enumerations.read_enumerations(text)
    return [[text[slice(*e.lead)], [text[slice(*span)] for span in e.entries], e.terms] for e in found]


def read_phrases(text: str) -> list[Any]:
    """The noun phrases of a text, and those with single names."""
    return [noun_phrases.Reader().phrases(text), noun_phrases.Reader("proper").phrases(text)]


def label(text: str) -> list[Any]:
    """The labels of a text, and the names in them without titles."""
    found = speakers.find_labels(text)
    return [
        [one.start, one.end, one.key, one.named, one.sure, one.loud, speakers.names_role(one.key),
         text[slice(*speakers.find_name_span(text, one))]]
        for one in found
    ]  # fmt: skip


def take_turns(text: str, known: dict[str, str], breaks: Sequence[int], places: Sequence[int]) -> list[Any]:
    """Who speaks at some places of a text, and where these are behind labels."""
    turns = speakers.read_turns(text, known, breaks)
    return [[turns.at(place), turns.behind(place)] for place in places]


def answer_names(text: str) -> list[list[Any]]:
    """The names in a text with their places."""
    return [[one.text, one.start, one.end] for one in answer_types.find_names(text)]


def answer_with(kind: Any, text: str) -> list[str]:
    """The things of a kind in a sentence."""
    return [one.text for one in answer_types.find_candidates(kind, text, answer_types.find_names(text))]


def collapse(text: str, places: Sequence[int]) -> list[Any]:
    """A text without runs of blanks, and what some places are there and back."""
    made = collapsing.collapse_blanks(text)
    inside = [place for place in places if place <= len(made.text)]
    return [made.text, [made.from_source(place) for place in places], [made.to_source(p, p) for p in inside]]


def find_pieces(rule: str, text: str) -> list[str]:
    """The times, or the numbers, of a text."""
    rules = {"times": stated_dates.find_times, "numbers": stated_dates.find_numbers}
    return [text[a:b] for a, b in rules[rule](text, 0, len(text))]


def hold(first: str, last: str, begin: str, end: str) -> bool | None:
    """Whether what holds between two stated times holds in a span of time."""
    return intervals.holds_during(intervals.make_interval(first, last), intervals.span_through(begin, end))


def hold_in(sentence: str, types: Sequence[str], names: Sequence[str]) -> Any:
    """What a sentence says of a functional type."""
    return intervals.held_in(sentence, types, {name.casefold(): name for name in names})


def give(kind: Any, text: str, known: Sequence[str] = ()) -> bool:
    """Whether a text gives a thing of a kind; it may be a known one."""
    return question_words.gives_type(kind, text, frozenset(known))


def ask_kind(question: str) -> list[Any] | None:
    """What a question asks all of, or how many of."""
    found = kinds.read_asked_kind(question)
    return [found.noun, found.counts] if found else None


def mark_lines(text: str) -> list[str]:
    """What each block of a text is, with its text."""
    read = blocks.read_blocks(text)
    return [f"{one.kind}: {read.text[one.start : one.end]}" for one in read.blocks]


def tag(text: str) -> str:
    """The parts of speech of a sentence, a letter a word."""
    return tag_words(text.split())


def cue(sentence: str) -> list[str]:
    """Which cues a sentence has: the names of the rules that hold of it, and its literals."""
    rules = (
        "asks_for_way", "asks_for_version", "tells_way", "holds_code", "instructs", "tells_version", "rules_something",
        "asks_for_maker", "names_maker", "tells_maker", "goes_on", "is_command", "is_code",
    )  # fmt: skip
    held = [rule for rule in rules if getattr(sentence_cues, rule)(sentence)]
    return [*held, *sorted(sentence_cues.list_literals(sentence)), f"{sentence_cues.measure_syntax(sentence):.3f}"]


def recase(text: str) -> str:
    """A text with the capitals that it likely has."""
    return truecase.recase_text(text, sentences.split_sentences(text))


def talk(*works: str) -> list[Any]:
    """What some works show of talk, by themselves and together, and who speaks in them."""
    shown = [transcripts.observe_talk(work) for work in works]
    known, joined = transcripts.find_corpus_speakers({str(i): one for i, one in enumerate(shown)})
    return [shown, transcripts.add_talks(shown), [transcripts.find_speakers(one) for one in shown], known, joined]


def know_speakers(talk_of: dict[str, Any], known: Sequence[str]) -> list[Any]:
    """Who speaks in a work that shows so much of talk, and whether it is talk of known speakers."""
    shown = transcripts.Talk(**talk_of)
    return [transcripts.find_speakers(shown), transcripts.knows_speakers(shown, frozenset(known))]


def settle(*asserted: Sequence[str]) -> list[Any]:
    """When asserted facts hold, written as id, holder, first, last and order."""
    made = [intervals.Assertion(name, ("CEO", "Orb"), holder, *rest) for name, holder, *rest in asserted]
    return sorted(intervals.settle_assertions(made).items())


def break_graphemes(text: str) -> list[int]:
    """The places that stand inside of what is read as one character."""
    return [place for place in range(len(text) + 1) if inside_grapheme(text, place)]


def pack(sizes: Sequence[int], budget: int) -> list[Any]:
    """How things of these sizes are packed into batches, and which are taken within a budget."""
    return [texts.pack_batches(sizes, budget, int), texts.take_within(sizes, budget, int)]


def describe_when(question: str, today: str = "") -> str | None:
    """The time that a question asks about, in words."""
    when = stated_dates.when_asked(question, today)
    return stated_dates.describe_when(when) if when else None


def find_kind_names(question: str, text: str) -> list[Any]:
    """The names that a text puts beside the noun of a question, and whether it has the noun at all."""
    asked = kinds.read_asked_kind(question)
    return [asked.is_in(text), asked.series, list(asked.find_names(text))] if asked else []


def weigh_background(words: Sequence[str]) -> list[float]:
    """How many of a million sentences of general English hold the stem of each word, and what is added to every one."""
    shares = background.read_background()
    return [*(round(1e6 * shares.get(background.stem_of(word), 0.0), 6) for word in words), 1e6 * background.RAREST]


def look_up(table: str, words: Sequence[str]) -> list[Any]:
    """What a table of words has for each of these; of a list, whether it has it."""
    found = getattr(naming_words, table)
    held = found() if callable(found) else found
    return [held.get(word) if isinstance(held, Mapping) else word in held for word in words]
