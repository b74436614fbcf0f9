"""What a question shows before anything is searched: names, themes, words for the whole, relations to follow.

Names are stretches of its words that are names of the graph. LightRAG calls names and themes low-level and high-level
keywords, FastGraphRAG named and generic entities. Both ask a model for two lists, each with a task of its own; of an
engine without it the task `refine` splits the question, and rules tell the two apart. What shows the kind of a question
is known in English, German, French, Spanish and Chinese, and a few words of Italian and Japanese.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from sensegraph.answering.asking import make_inquiry, refine_questions
from sensegraph.errors import StepFailed
from sensegraph.index.index import Index
from sensegraph.language.text import WORD, fold, name_stemmer
from sensegraph.language.word_lists import STOP, read_cues
from sensegraph.protocols import Task
from sensegraph.questions import SearchWords
from sensegraph.runtime.results import Step, take_records
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Entity, Inquiry, Question, Refinement

Sought = Literal["auto", "vectors", "names"]  # how a method looks for the entities of a question
_LONGEST = 6  # words of a name in a question
_FUNCTION_WORDS = frozenset(w for words in STOP.values() for w in words)
_OWNER = re.compile(r"['’]s?$")
_HAN_NAME = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+")


def entities_named_in(text: str, index: Index) -> list[int]:
    """Positions of the entities whose names stand in `text`, in its order; of overlapping names the longest."""
    taken: set[int] = set()
    found: dict[int, list[int]] = {}
    stretches = sorted(_candidate_names(text), key=lambda s: (s[0] - s[1], s[0]))
    called = index.lookups.called_each([name for _, _, name in stretches])
    for (begin, end, _), places in zip(stretches, called, strict=True):
        if places and taken.isdisjoint(range(begin, end)):
            taken.update(range(begin, end))
            found[begin] = places
    return [place for begin in sorted(found) for place in found[begin]]


def _candidate_names(text: str) -> Iterator[tuple[int, int, str]]:
    """Stretches of up to six words that may be names, with their places; of scripts without blanks every stretch."""
    spans = [m.span() for m in WORD.finditer(text)]
    words = [text[a:b].casefold() for a, b in spans]
    for i in range(len(spans)):
        for j in range(i + 1, min(len(spans), i + _LONGEST) + 1):
            if j - i > 1 or (words[i] not in _FUNCTION_WORDS and len(words[i]) > 1):
                a, b = spans[i][0], spans[j - 1][1]
                yield a, b, _OWNER.sub("", text[a:b])
    for run in _HAN_NAME.finditer(text):
        a, b = run.span()
        yield from ((i, j, text[i:j]) for i in range(a, b) for j in range(i + 2, min(b, i + 12) + 1))


_CAPITAL = r"[^\W\d_a-zß-öø-ÿ][\w.’'-]*"
_NAME = re.compile(rf"{_CAPITAL}(?:\s+(?:(?:of|the|de|la|von|van|der|du)\s+)*{_CAPITAL})*")


@dataclass(frozen=True, slots=True)
class Keywords:
    """`low` are names and details, `high` themes; either may be empty.

    `called` are, for each of `low`, the positions of the entities of exactly this name, often none; `notes` say what
    was degraded.
    """

    low: tuple[str, ...]
    high: tuple[str, ...]
    called: tuple[tuple[int, ...], ...]
    notes: tuple[str, ...] = ()

    @property
    def entities(self) -> list[int]:
        """The entities that are named, each once, in the order of the question."""
        return list(dict.fromkeys(place for places in self.called for place in places))


def keywords_of(
    question: Question,
    index: Index,
    rt: Runtime,
    *,
    refined: bool = True,
    words: Step[Inquiry, SearchWords] | None = None,
) -> Keywords:
    """The keywords of a question; `refined` lets the engine find them, which a model is asked once for.

    An engine with the task of the step `words` tells both lists; known names of the question are added to its low ones.
    Else low are the names that the index knows and other runs of capitals, of the question or, where it holds none, of
    the conversation before it; high are the parts that the engine finds beside them, else the words that are left;
    common nouns that the index knows as entities are high. A question without either is both. Where the engine cannot
    do its part, rules alone do, and the notes say so.
    """
    if not refined:
        return _keywords_by_rules(question, index, Refinement(question.text))
    own = words is not None and words_task(rt, words) == words.task
    asked = [make_inquiry(question, (), index)]
    try:
        if words and own:
            return _keywords_told(question, index, rt.each(words, asked)[0])
        return _keywords_by_rules(question, index, rt.each(refine_questions, asked)[0])
    except StepFailed as e:
        found, why = "find keywords in" if own else "split", "; ".join(sorted(e.reasons))
        by_rules = _keywords_by_rules(question, index, Refinement(question.text))
        return replace(by_rules, notes=(f"the engine could not {found} the question ({why}): rules alone did",))


def words_task(rt: Runtime, words: Step[Inquiry, SearchWords]) -> Task:
    """The task by which the engine finds keywords: that of the step `words`, else that which splits a question."""
    return words.task if words.task and words.task in rt.engine.tasks else "refine"


def _keywords_told(question: Question, index: Index, found: SearchWords) -> Keywords:
    """The two lists of a model, with the names of the question that the index knows and no keyword holds."""
    if not found.names and not found.themes:
        asked = Keywords((question.text,), (question.text,), ((),))
        return replace(asked, notes=("the model finds no keywords in the question: it is searched for as it is",))
    told = [fold(name) for name in found.names]
    known = (name for name, places in _split_names(question.text, index)[0].items() if places)
    low = (*found.names, *(name for name in known if not any(fold(name) in other for other in told)))
    return Keywords(low, found.themes, tuple(tuple(places) for places in index.lookups.called_each(low)))


def _keywords_by_rules(question: Question, index: Index, asked: Refinement) -> Keywords:
    """The keywords that rules find in a question and in what it was split into."""
    text = question.text if fold(asked.question) == fold(question.text) else f"{question.text}\n{asked.question}"
    low, common = _split_names(text, index)
    if not low and question.history:
        low, _ = _split_names(question.sought, index)
    names = [fold(name) for name in low]
    themes = [part for part in asked.questions if not any(fold(part) in name for name in names)]
    if not themes:  # the words that are neither function words nor part of a name, in one phrase
        taken = _FUNCTION_WORDS.union(*(WORD.findall(name) for name in names))
        words = [w for w in WORD.findall(question.text) if w.casefold() not in taken and len(w) > 1]
        themes = [" ".join(words)] if words else []
    high = tuple({fold(theme): theme for theme in (*common, *themes)}.values())
    if not low and not high:
        low, high = {question.text: ()}, (question.text,)
    return Keywords(tuple(low), high, tuple(low.values()))


def _split_names(text: str, index: Index) -> tuple[dict[str, tuple[int, ...]], list[str]]:
    """Names in a text with the entities so called, known ones first; and what is known but is no name as it is written.

    A word that the index knows as a name is one only with a capital, unless the text has none inside.
    """
    capitals = any(word[0].isupper() for word in WORD.findall(text)[1:])
    places = list(dict.fromkeys(entities_named_in(text, index)))
    types = [e.type for e in take_records(index.graph.entities, places)]
    known: dict[str, list[int]] = {}
    common: dict[str, None] = {}
    for place, kind in zip(places, types, strict=True):
        name = index.lookups.name(place)
        if kind == _COMMON or (capitals and len(WORD.findall(name)) == 1 and name not in text):
            common[name] = None
        else:
            known.setdefault(name, []).append(place)
    low = {name: tuple(found) for name, found in known.items()}
    folded = [fold(name) for name in low]
    for run in _NAME.finditer(text):  # runs of capitalised words, without the function words that they begin with
        words = run[0].split()
        while words and words[0].casefold() in _FUNCTION_WORDS:
            words.pop(0)
        name = " ".join(words).rstrip(".’'-").removesuffix("'s").removesuffix("’s")
        if name and not any(fold(name) in other or other in fold(name) for other in folded):
            low.setdefault(name, ())
    return low, list(common)


_COMMON = "concept"  # the type of entities that are common nouns
_CAPITAL_NOUNS = frozenset({"german"})


@dataclass(frozen=True, slots=True)
class Name:
    """A name in a question, where it stands, and the entities that bear it; `proper` says that it is no mere noun."""

    surface: str
    start: int
    end: int
    entities: tuple[Entity, ...]
    proper: bool

    @property
    def types(self) -> tuple[str, ...]:
        """The distinct types of its entities, sorted."""
        return tuple(sorted({e.type.casefold() for e in self.entities}))


def names_in_question(question: str, index: Index) -> list[Name]:
    """The names of entities that stand in `question`, in its order; none where the index has no graph."""
    if not index.manifest.graph:
        return []
    found: dict[tuple[int, int], list[Entity]] = {}
    for entity in take_records(index.graph.entities, named_in(question, index)):
        pattern = r"\s+".join(map(re.escape, entity.name.split()))
        match = re.search(pattern, question, re.IGNORECASE)
        found.setdefault(match.span() if match else (len(question), len(question)), []).append(entity)
    spoken = name_stemmer(question)
    kept: list[Name] = []  # names that follow each other are one: `Ann Lee` where only its parts are known
    for span, bearers in sorted(found.items(), key=lambda x: x[0]):
        surface = question[span[0] : span[1]] or bearers[0].name
        lone = question.islower() and len(surface.split()) > 1
        capital, caseless = surface != surface.lower(), surface.lower() == surface.upper()
        telling = capital and span[0] > 0 and spoken not in _CAPITAL_NOUNS
        shown = capital or lone or caseless
        proper = any(telling if e.type.casefold() == _COMMON else shown or e.name.islower() for e in bearers)
        name = Name(surface, *span, tuple(bearers), proper)
        if kept and kept[-1].proper and name.proper and question[kept[-1].end : name.start].isspace():
            last = kept.pop()
            both = (*last.entities[:1], *name.entities[:1])
            name = Name(question[last.start : name.end], last.start, name.end, both, True)
        kept.append(name)
    return kept


def named_in(text: str, index: Index) -> list[int]:
    """Positions of the entities whose names stand in `text`, also before the 's of a possessive, each once."""
    bare = _POSSESSIVE.sub(lambda m: " " * len(m[0]), text)
    return list(dict.fromkeys(place for t in dict.fromkeys((text, bare)) for place in entities_named_in(t, index)))


def wholeness_signs(question: str) -> tuple[float, list[str]]:
    """How much `question` asks about a corpus as a whole, or about all who speak in it, and the words that show it.

    A word that says so counts 1, one that only hints at it ½; a question that asks about the collection and nothing
    else counts as much as there is.
    """
    from sensegraph.language.asking.whole_collections import asks_about_collection

    if asks_about_collection(question):
        return math.inf, [question.strip(" ?.!")]
    text = without_examples(question)
    strong = [m[0] for m in _CUES["strong"].finditer(text)]
    weak = [m[0] for m in _CUES["weak"].finditer(_CUES["strong"].sub(" ", text))]
    return len(strong) + len(weak) / 2, [*strong, *weak]


def asks_what_it_is(question: str, name: Name) -> bool:
    """Whether `question` asks what somebody or something is or has to do with, rather than for a detail of it."""
    return _CUES["what it is"].search(f"{question[: name.start]}@{question[name.end :]}") is not None


def asks_what_is_shared(question: str) -> bool:
    """Whether `question` asks what several things have in common, or what connects them."""
    return _CUES["shared"].search(question) is not None


def without_examples(question: str) -> str:
    """`question` with what it lists as examples blanked out, every character left in its place."""
    return _CUES["examples"].sub(lambda m: " " * len(m[0]), question)


def count_capital_runs(question: str) -> int:
    """The number of runs of capitalised words inside `question`, which may be names that the index does not know."""
    spoken = name_stemmer(question)
    return 0 if spoken in _CAPITAL_NOUNS else len(_CAPITALS.findall(without_examples(question)))


def relation_words(question: str) -> list[str]:
    """The words of `question` that lead from one thing to another: comparisons, joins, relations of relations."""
    return [m[0].strip() for m in _CUES["relations"].finditer(question)]


_POSSESSIVE = re.compile(r"(?<=\w)(?:['’]s|(?<=s)['’])(?!\w)")
_CAPITALS = re.compile(r"(?<=[\w,;)’'] )[^\W\d_a-zß-öø-ÿ][\w’'-]+(?:\s+[^\W\d_a-zß-öø-ÿ][\w’'-]*)*")


class _Cues(dict[str, re.Pattern[str]]):
    """The sections of `data/lexicons/questions.txt` as patterns, each compiled when it is first asked for."""

    def __missing__(self, name: str) -> re.Pattern[str]:
        found = self[name] = re.compile(read_cues(name), re.IGNORECASE | re.VERBOSE)
        return found


_CUES = _Cues()


_TOLD = re.compile(
    r"^\s*(?:how (?!many|much|old|long|far|often|tall|big|high|large)|why\b|in what ways?|describe|explain|discuss|"
    r"summari[sz]e|tell me|give an? (?:overview|summary)|who are the (?:main|key|major|central|most important)|"
    r"what (?:role|part|significance|themes?|lessons?|kinds?|does|do|did|(?:are|were) the|(?:moral|main|central|key) |"
    r"is the (?:role|significance|importance|meaning|moral|message|relationship|point)))",
    re.IGNORECASE,
)


def asks_to_be_told(question: str) -> bool:
    """Whether a question, in English, asks for how or why something is, or what it means, rather than for one fact."""
    return _TOLD.search(question) is not None
