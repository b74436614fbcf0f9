"""Answers to the question what somebody or something is: the sentence that says so first, then what else is told.

What a sentence tells is seen from the words around the name (`language/defining.py`), its place in its text, and how
well it stands alone. Where a name is that of several, each has a line; where no text says what it is, the answer says
so and shows where it is named.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sensegraph.engines.offline.answers.asked import Asked, Written, show_sentence
from sensegraph.engines.offline.answers.source_sentences import SourceSentence, differs_from
from sensegraph.engines.offline.reports.sentence_quality import join_with_and, rate_quality
from sensegraph.language.defining import (
    BARE,
    OUTRIGHT,
    SIGN,
    AskedName,
    Writing,
    find_aliases,
    rate_fitness,
    rate_statement,
    read_asked_name,
)
from sensegraph.language.text import WORD, fold
from sensegraph.language.word_lists import read_list
from sensegraph.types import NameCounts, Statement

LEAD, TITLED, FOLLOWS = 5.0, 2.0, 0.9  # weights of the first sentence of a text whose title is the name, and of others
FIRM = 2.0  # what a sentence must tell of words that may be no name at all
SURE = 2.4  # what it must tell to present one of several who bear the name
MOST, BEARERS = 2, 3  # further sentences, and lines for those who bear the name
SHARE = 0.2  # of the score of the first, below which a further sentence is not shown
LONG = 60  # words from which a further sentence is not shown
_EARLY = 25
_SHORTENED = 0.7  # weight of a part that stands for the name
_HEAD = re.compile(
    rf"{SIGN}[^;!?]*?(?:\s(?:is|was|are|were)\s(?:also\s|currently\s|now\s)?|,\s)(?:an?|the|one\sof\sthe)\s"
    r"((?:[\w’'-]+\s?){1,6}?)(?=\s(?:of|for|in|at|on|by|to|with|from|and|or|that|which|who|near|off|under)\b|[,.;:()]|$)"
)


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence with what it tells of the name: how much, by which kind of words, and its score among others.

    `masked` has a sign in place of the name.
    """

    sentence: SourceSentence
    weight: float
    kind: str
    score: float
    masked: str


def answer_definition(asked: Asked) -> Written | None:
    """The answer to a question what somebody or something is; None for other questions, and unknown names."""
    name = read_asked_name(asked.question)
    if name is None:
        return None
    counts = asked.counted.name if asked.counted else None
    told = rank_statements(name, asked.sentences, counts.alone if counts else ())
    if not told or (name.loose and told[0].weight < FIRM):
        return None
    if told[0].weight < FIRM and (longer := _find_longer_names(name, asked.sentences)):
        found = [_rank_named(replace(name, text=text), asked) for text in longer]
        lines = [ranked[0] for ranked in found if ranked and ranked[0].weight >= OUTRIGHT]
        if len(lines) > 1:
            return Written(_tell_bearers(name, lines, f"“{name.text}” stands for several:", counts))
        if len(longer) == 1 and lines:  # a part of one name only
            return Written(_tell_one(found[0], counts))
    if told[0].weight < OUTRIGHT:
        return Written(_show_mentions(name, told, counts))
    bearers = _part_bearers(name, told)
    if len(bearers) > 1:
        return Written(_tell_bearers(name, bearers, f"Several bear the name {name.text}:", counts))
    return Written(_tell_one(told, counts))


def _rank_named(name: AskedName, asked: Asked) -> list[Told]:
    return rank_statements(name, asked.sentences)


# ── what sentences tell ──────────────────────────────────────────────────────────────────────────────────────────────


def rank_statements(name: AskedName, sentences: Sequence[SourceSentence], alone: Sequence[str] = ()) -> list[Told]:
    """The sentences that name it, or follow in a text about it, those first that tell most of what it is."""
    mentions = (m for s in sentences for m in name.pattern.finditer(s.raw))
    writing = name.choose_writing(mentions, tuple(alone))
    masked = [writing.mask(_plain_text(s.text)) for s in sentences]
    naming = {s.origin for s, text in zip(sentences, masked, strict=True) if SIGN in text}
    begins: dict[str, int] = {}
    for s in sentences:
        begins[s.reference] = min(begins.get(s.reference, s.source.start), s.source.start)
    times = Counter(_fold_sentence(s.text) for s in sentences)
    told = []
    titled: dict[str, bool] = {}
    for s, text in zip(sentences, masked, strict=True):
        about = titled.setdefault(s.document, name.entitles(s.document))
        first = s.source.start == begins[s.reference]
        one = _read_statement(s, text, writing, first, about, s.origin in naming)
        if one:
            repeated = 1 + 0.25 * math.log(times[_fold_sentence(s.text)])
            told.append(replace(one, score=one.score * repeated))
    return sorted(told, key=lambda t: (-t.score, t.sentence.text, t.sentence.document, t.sentence.source.chunk))


def _read_statement(
    sentence: SourceSentence, masked: str, writing: Writing, first: bool, about: bool, named: bool
) -> Told | None:
    """What one sentence tells; None where it neither names it nor stands at the beginning of a text about it."""
    weight, kind = rate_statement(masked)
    if not weight and named and not sentence.speaker:
        masked = writing.mask_parts(masked)
        weight, kind = rate_statement(masked)
        weight *= _SHORTENED
    place = masked.find(SIGN)
    text = masked.replace(SIGN, writing.name.text)
    if about and first and _opens_text(text, masked, writing, weight):
        weight, kind = (LEAD, "lead") if place >= 0 and weight > BARE else (max(LEAD - 1, weight), "lead")
    elif about and weight <= BARE:
        weight, kind = FOLLOWS, "follows"
    elif not weight:
        return None
    quality = rate_quality(text) * rate_fitness(text)
    quality = max(quality, 0.6 * rate_fitness(text)) if weight >= OUTRIGHT else max(quality, 0.1)
    early = 1.3 if 0 <= place < _EARLY else 1.0
    score = weight * quality * early * (1.4 if about else 1.0) * (1.25 if first else 1.0)
    return Told(sentence, weight, kind, score, masked)


def _opens_text(text: str, masked: str, writing: Writing, weight: float) -> bool:
    """Whether the first sentence of a text says what the text is about: it names it, or a part of its name."""
    words = set(map(fold, WORD.findall(text)[:12]))
    parts = set(map(fold, WORD.findall(writing.name.text)))
    return len(WORD.findall(text)) > 4 and (0 <= masked.find(SIGN) < 80 or bool(words & parts) or weight > BARE)


def _plain_text(text: str) -> str:
    """A sentence as patterns read it: without marks of emphasis, blanks single."""
    return " ".join(re.sub(r"\*\*|__|`", "", text).split())


def _fold_sentence(text: str) -> str:
    return " ".join(WORD.findall(text.casefold()))[:80]


# ── who bears the name ───────────────────────────────────────────────────────────────────────────────────────────────


def _find_longer_names(name: AskedName, sentences: Sequence[SourceSentence]) -> list[str]:
    """The names of two words and more that a name of one word is part of, the commonest first.

    None where it mostly stands by itself and no longer name with it.
    """
    if len(name.text.split()) > 1:
        return []
    part = re.escape(name.text)
    shape = re.compile(
        rf"\b((?i:{part})\s+[A-ZÀ-Þ][\w’-]+)|(?<=[\w,]\s)((?:[A-ZÀ-Þ][\w’-]+\s+)(?i:{part}))\b(?!\s+[A-Z])"
    )
    common = read_list("en")
    found: Counter[str] = Counter()
    for s in sentences:
        for match in shape.finditer(s.text):
            longer = re.sub(r"['’]s$", "", " ".join((match[1] or match[2]).split()))
            other = [w for w in longer.split() if w.casefold() != name.text.casefold()]
            if longer[:1].isupper() and other and not any(w.casefold() in common for w in other):
                found[longer] += 1
    return [text for text, times in sorted(found.items(), key=lambda x: (-x[1], x[0])) if times > 1 or len(found) < 4][
        :BEARERS
    ]


def _part_bearers(name: AskedName, told: Sequence[Told]) -> list[Told]:
    """One statement for each who bears the name: texts with the name and a remark in brackets as title, or kinds.

    Two kinds are two bearers where the texts that say so start with it and share no word.
    """
    best: dict[str, Told] = {}
    for one in told:
        if one.weight >= SURE and one.kind in ("lead", "is", "apposition") and not name.qualifier:
            best.setdefault(one.sentence.document or one.sentence.origin, one)
    titles = [t for t in best.values() if t.kind == "lead" and t.sentence.document.endswith(")")]
    titles += [t for t in best.values() if t.kind == "lead" and t not in titles and titles]
    if len(titles) > 1:
        return sorted(titles, key=lambda t: (-t.score, t.sentence.text))[:BEARERS]
    if any(t.kind == "lead" for t in best.values()):
        return []
    chosen: list[tuple[Told, frozenset[str], str]] = []
    for one in best.values():
        head = _HEAD.search(one.masked)
        if head is None or one.sentence.speaker:
            continue
        kind = head[1].split()[-1].casefold()
        words = frozenset(one.sentence.terms) - frozenset(map(fold, name.text.split()))
        named = frozenset(t for t in words if t not in fold(name.text))
        if all(not named & other and kind != k for _, other, k in chosen):
            chosen.append((one, named, kind))
    return [one for one, _, _ in chosen[:BEARERS]] if len(chosen) > 1 else []


# ── how it is told ───────────────────────────────────────────────────────────────────────────────────────────────────


def _tell_one(told: Sequence[Told], counts: NameCounts | None) -> tuple[Statement, ...]:
    """The statement that tells most, at most two more, other names, and how often it is named."""
    first = told[0]
    chosen = [first.sentence]
    for one in told[1:]:
        if len(chosen) > MOST or one.score < SHARE * min(first.score, 3.0) or one.weight < FOLLOWS:
            break
        if differs_from(one.sentence, chosen) and len(one.sentence.text.split()) <= LONG:
            chosen.append(one.sentence)
    lines = _list_lines(chosen)
    return (*lines, *_tell_aliases(told), *_tell_counts(counts))


def _tell_bearers(
    name: AskedName, lines: Sequence[Told], heading: str, counts: NameCounts | None
) -> tuple[Statement, ...]:
    """A line for each who bears the name."""
    listed = [one.sentence for one in lines]
    return (Statement(heading), *_list_lines(listed, from_first=True), *_tell_counts(counts))


def _show_mentions(name: AskedName, told: Sequence[Told], counts: NameCounts | None) -> tuple[Statement, ...]:
    """That no text says what it is, and the sentences that tell most beside it."""
    chosen: list[SourceSentence] = []
    for one in told:
        if len(chosen) <= MOST and differs_from(one.sentence, chosen):
            chosen.append(one.sentence)
    which = f"{'who' if name.person else 'what'} {name.text} is"
    heading = Statement(f"The texts never say outright {which}; they show:")
    return (heading, *_list_lines(chosen, from_first=True), *_tell_counts(counts))


def _list_lines(chosen: Sequence[SourceSentence], from_first: bool = False) -> list[Statement]:
    """Sentences, the first in a line of its own unless it is of the list too."""
    begin: Callable[[int], str] = lambda i: "\n\n- " if i == 1 - from_first else "\n- " if i or from_first else ""
    return [one.cite(begin(i) + show_sentence(one)) for i, one in enumerate(chosen)]


def _tell_aliases(told: Sequence[Told]) -> list[Statement]:
    """What it is also called, where a text says so."""
    found: dict[str, SourceSentence] = {}
    for one in told:
        for alias in find_aliases(one.masked):
            if not any(fold(alias) in fold(other) or fold(other) in fold(alias) for other in found):
                found[alias] = one.sentence
    if not found:
        return []
    listed = dict(list(found.items())[:3])
    sources = dict.fromkeys(s.source for s in listed.values())
    references = dict.fromkeys(s.reference for s in listed.values())
    return [Statement(f"\n\nAlso called: {', '.join(listed)}.", tuple(references), tuple(sources))]


def _tell_counts(counts: NameCounts | None) -> list[Statement]:
    """In how many passages and documents it is named."""
    if counts is None or not counts.chunks:
        return []
    least = "" if counts.exact else "at least "
    passages = f"{least}{counts.chunks:,} {'passage' if counts.chunks == 1 else 'passages'}"
    documents = f"{counts.documents:,} {'document' if counts.documents == 1 else 'documents'}"
    return [Statement(f"\n\nNamed in {passages} of {documents}.")]
