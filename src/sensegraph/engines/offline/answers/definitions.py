"""Answers to the question what somebody or something is: the sentence that says so first, then what else is told.

What a sentence tells is seen from the words around the name (`language/defining.py`), its place in its text, and how
well it stands alone. Where a name is that of several, each has a line; where no text says what it is, the answer says
so and shows where it is named.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from sensegraph.engines.offline.answers.asked import Asked, Written, show_sentence
from sensegraph.engines.offline.answers.source_sentences import SourceSentence, differs_from
from sensegraph.engines.offline.reports.sentence_quality import is_heading, rate_quality
from sensegraph.language.defining import (
    BARE,
    OUTRIGHT,
    SIGN,
    AskedName,
    find_longer_names,
    find_other_names,
    is_borne_otherwise,
    rate_fitness,
    rate_statement,
    read_asked_name,
)
from sensegraph.language.text import WORD, fold
from sensegraph.language.word_lists import read_list
from sensegraph.types import NameCounts, Source, Statement

LEAD, TITLED, FOLLOWS = 5.0, 2.0, 0.9  # weights of the first sentence of a text whose title is the name, and of others
TELLING = 1.6  # what a sentence must tell of a thing
FIRM = 2.0  # what a sentence must tell of words that may be no name at all
SURE = 2.4  # what it must tell to present one of several who bear the name
MOST, BEARERS = 2, 3  # further sentences, and lines for those who bear the name
SHARE = 0.2  # of the score of the first, below which a further sentence is not shown
LONG = 60  # words from which a further sentence is not shown
POOR = 0.05  # quality below which a further sentence is not shown
_OVER = 4  # sentences at the beginning of a passage among which the title may stand as a heading
_EARLY, NEAR_BEGINNING = 25, 80  # characters before the name
NEAR = 5  # sentences behind the whole name in which a part stands for it
SHORTENED = 0.7  # weight of a part that stands for the name
_NUMBER = re.compile(r"^(?:§\s?)?\(?\d+(?:\.\d+)*[.)]*\s+(?=\W?[A-Za-z])")
_LABEL = re.compile(r"^[A-ZÀ-Þ][A-ZÀ-Þ.’'-]+(?:\s[A-ZÀ-Þ.’'-]+)+:\s+")
_EMPHASIS = re.compile(
    r"</?(?:b|i|em|strong|code)>|\*{2,3}(?!\s?[:–—-])|__|`|(?<![\w*])([*_])(?=[^\s*_])([^*_\n]*[^\s*_])\1(?![\w*])"
)
_ROW = re.compile(r"\s\|\s|\|\W*$")
_BEFORE_NAMED = re.compile(r"^\W*(?:The|This|That|These|Those|It|He|She|They)\s(?!@)")
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
    telling = _Telling(name, asked.sentences, counts)
    if not told or (name.loose and told[0].weight < FIRM):
        return None
    if name.person or told[0].weight < FIRM:
        longer = find_longer_names(name, (s.raw for s in asked.sentences))
        found = [ranked for text in longer if (ranked := rank_statements(replace(name, text=text), asked.sentences))]
        lines = list({ranked[0].sentence: ranked[0] for ranked in found}.values())
        outright = [one for one in lines if one.weight >= OUTRIGHT]
        lines = outright if len(outright) > 1 or not name.person else lines
        if len(lines) > 1:
            return Written(telling.tell_bearers(lines, f"“{name.text}” may stand for several:"))
        if len(longer) == 1 and outright:  # a part of one name only
            return Written(telling.tell_one(found[0]))
    if told[0].weight < FIRM or told[0].kind in ("expanded", "called"):
        told = telling.add_other_names(told)
    if told[0].weight < (OUTRIGHT if name.person else TELLING):
        return Written(telling.show_mentions(told))
    bearers = telling.part_bearers(told)
    if len(bearers) > 1:
        return Written(telling.tell_bearers(bearers, f"Several may bear the name {name.text}:"))
    return Written(telling.tell_one(told))


# ── what sentences tell ──────────────────────────────────────────────────────────────────────────────────────────────


def rank_statements(name: AskedName, sentences: Sequence[SourceSentence], alone: Sequence[str] = ()) -> list[Told]:
    """The sentences that name it, or follow in a text about it, those first that tell most of what it is.

    `alone` are parts of the name that stand for it in every text that names it.
    """
    writing = name.choose_writing(m for s in sentences for m in name.pattern.finditer(s.raw))
    ordered = _join_broken(name, sorted(sentences, key=lambda s: (s.reference, s.source.start, s.text)))
    plain = [" ".join(_EMPHASIS.sub(r"\2", s.text).split()) for s in ordered]
    masked = [writing.mask(_NUMBER.sub("", _LABEL.sub("", text))) for text in plain]
    naming = {s.document or s.origin for s, text in zip(ordered, masked, strict=True) if SIGN in text}
    held: dict[str, list[SourceSentence]] = {}
    for s in ordered:
        held.setdefault(s.reference, []).append(s)
    folded = [" ".join(WORD.findall(s.text.casefold()))[:80] for s in ordered]
    times = Counter(folded)
    free: dict[str, list[str]] = {}  # the parts of the name that nobody else bears in a passage
    for reference, there in held.items() if writing.capital and name.parts else ():
        text, words = "\n".join(s.raw for s in there), name.text.split()
        free[reference] = [p for p in name.parts if not is_borne_otherwise(p, p == name.parts[0], words, text)]
    begins = _find_beginnings(held)
    told, named = [], dict[str, int]()
    for i, (s, text) in enumerate(zip(ordered, masked, strict=True)):
        near = free.get(s.reference, ()) if i - named.get(s.reference, -NEAR) < NEAR else ()
        if SIGN in text:
            named[s.reference] = i
        elif parts := near or (alone if (s.document or s.origin) in naming else ()):
            text = writing.mask_parts(text, parts)
        if one := _read_statement(s, text, name, s.source in begins):
            told.append(replace(one, score=one.score * (1 + 0.25 * math.log(times[folded[i]]))))
    # by their words where they score the same: the order of the chunks does not matter
    place = attrgetter("text", "document", "chunk")
    return sorted(told, key=lambda t: (t.weight < OUTRIGHT, -t.score, *place(t.sentence)))


def _find_beginnings(held: Mapping[str, Sequence[SourceSentence]]) -> set[Source]:
    """The first sentences of texts: of those in several passages only of the one that has the title over it."""
    works: dict[str, list[Sequence[SourceSentence]]] = {}
    for there in held.values():
        works.setdefault(there[0].origin, []).append(there)
    found: set[Source] = set()
    for passages in works.values():
        titled = [there for there in passages if any(fold(s.raw) == fold(s.document) for s in there[:_OVER])]
        for there in titled or passages:
            found.add(there[0].source)
    return found


def _join_broken(name: AskedName, ordered: Sequence[SourceSentence]) -> list[SourceSentence]:
    """The sentences in order, those put together that begin with a small letter behind a line with the name alone."""
    joined: list[SourceSentence] = []
    for s in ordered:
        last = joined[-1] if joined else None
        if last and s.raw[:1].islower() and last.reference == s.reference and last.source.end <= s.source.start:
            rest = name.pattern.sub("", last.raw)
            if rest != last.raw and not re.search(r"[^\W\d_]{2}", rest):
                whole = replace(s.source, start=last.source.start)
                joined[-1] = replace(last, raw=f"{last.raw} {s.raw}", source=whole, terms=(*last.terms, *s.terms))
                continue
        joined.append(s)
    return joined


def _read_statement(sentence: SourceSentence, masked: str, name: AskedName, first: bool) -> Told | None:
    """What one sentence tells; None where it neither names it nor stands at the beginning of a text about it."""
    about = name.entitles(sentence.document)
    weight, kind = rate_statement(masked)
    if weight and not name.pattern.search(sentence.raw):
        weight *= SHORTENED
    if name.person and kind == "entry":  # who speaks
        weight, kind = BARE, ""
    elif kind == "role" and not name.person:
        weight = OUTRIGHT
    place = masked.find(SIGN)
    text = masked.replace(SIGN, name.text)
    words = [fold(word) for word in WORD.findall(text)]
    in_view = 0 <= place < NEAR_BEGINNING or not set(words[:12]).isdisjoint(map(fold, WORD.findall(name.text)))
    if about and first and len(words) > 4 and (in_view or weight > BARE):
        weight, kind = (LEAD, "lead") if place >= 0 and weight > BARE else (max(LEAD - 1, weight), "lead")
    elif about and weight <= BARE:
        begins = first and len(text.split()) > 4 and not sentence.speaker
        weight, kind = (TITLED, "lead") if begins else (FOLLOWS, "follows")
    elif not weight:
        return None
    if weight <= BARE and _ROW.search(sentence.raw):  # a row of a table is no sentence
        return None
    fitness = rate_fitness(masked, kind)
    least = (0.5 + 0.15 * min(weight, 3.0)) * fitness if weight >= OUTRIGHT else 0.1
    quality = max(rate_quality(text) * fitness, least)
    early = 1.3 if 0 <= place < _EARLY else 1.0
    score = weight * quality * early * (1.4 if about else 1.0) * (1.25 if first else 1.0)
    score *= 2.0 if about and fold(sentence.document) == fold(name.asked) else 1.0
    return Told(sentence, weight, kind, score, masked)


# ── how it is told ───────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Telling:
    """The answer on a name: from the sentences of a context, and how often the corpus names it, if that is known."""

    name: AskedName
    sentences: Sequence[SourceSentence]
    counts: NameCounts | None

    def add_other_names(self, told: list[Told]) -> list[Told]:
        """The statements with those on its other names: behind the first, or before it where that is spelt out."""
        for alias in dict.fromkeys(alias for one in told for alias in find_other_names(one.masked, self.name.person)):
            ranked = rank_statements(replace(self.name, text=alias, qualifier=""), self.sentences)
            firm = [one for one in ranked if one.weight >= FIRM and one.sentence != told[0].sentence]
            initials = "".join(word[0] for word in alias.split() if word[0].isupper())
            if firm and len(self.name.text) > 1 and initials.endswith(self.name.text.upper()):
                return [*firm, *told]
            if firm:
                return [told[0], *firm, *told[1:]]
        return told

    def part_bearers(self, told: Sequence[Told]) -> list[Told]:
        """One statement for each who bears the name: texts with the name and a remark in brackets as title, or kinds.

        Two kinds are two bearers where the texts that say so start with it and share no word.
        """
        best: dict[str, Told] = {}
        for one in told:
            if one.weight >= SURE and one.kind in ("lead", "is", "apposition") and not self.name.qualifier:
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
            clause = re.split(r"[,.;:()]", one.masked[head.start(1) :])[0]
            named = frozenset(word.rstrip("s") for word in WORD.findall(fold(clause))) - read_list("en")
            if all(not named & other and kind != k for _, other, k in chosen):
                chosen.append((one, named, kind))
        return [one for one, _, _ in chosen[:BEARERS]] if len(chosen) > 1 else []

    def tell_one(self, told: Sequence[Told]) -> tuple[Statement, ...]:
        """The statement that tells most, at most two more, other names, and how often it is named."""
        first = told[0]
        chosen = [first]
        for one in told[1:]:
            if len(chosen) > MOST or one.score < SHARE * min(first.score, 3.0) or one.weight < FOLLOWS:
                break
            sound = one.kind == "entry" or one.sentence.quality >= POOR
            if sound and _differs(one, chosen) and len(one.sentence.text.split()) <= LONG:
                chosen.append(one)
        return (*_list_lines(chosen), *self._tell_subject(chosen), *self._tell_aliases(told), *self._tell_counts())

    def _tell_subject(self, chosen: Sequence[Told]) -> list[Statement]:
        """The sentence before one that only says how a thing is called: "The boat, known as …" needs the boat."""
        first = chosen[0]
        if first.kind != "called" or not _BEFORE_NAMED.match(first.masked):
            return []
        before = [s for s in self.sentences if s.order == first.sentence.order - 1]
        known = [t.sentence for t in chosen]
        lead = "\n\n- " if len(chosen) == 1 else "\n- "
        return [
            s.cite(lead + show_sentence(s)) for s in before
            if s.chunk == first.sentence.chunk and not is_heading(s.raw) and differs_from(s, known)
        ]  # fmt: skip

    def tell_bearers(self, lines: Sequence[Told], heading: str) -> tuple[Statement, ...]:
        """A line for each who bears the name."""
        return (Statement(heading), *_list_lines(lines, from_first=True), *self._tell_counts())

    def show_mentions(self, told: Sequence[Told]) -> tuple[Statement, ...]:
        """That no text says what it is, and the sentences that tell most beside it."""
        chosen: list[Told] = []
        for one in told:
            if len(chosen) <= MOST and _differs(one, chosen):
                chosen.append(one)
        which = f"{'who' if self.name.person else 'what'} {self.name.asked or self.name.text} is"
        heading = Statement(f"The texts never say outright {which}; they show:")
        return (heading, *_list_lines(chosen, from_first=True), *self._tell_counts())

    def _tell_aliases(self, told: Sequence[Told]) -> list[Statement]:
        """What it is also called, where a text says so."""
        found: dict[str, SourceSentence] = {}
        for one in told:
            for alias in find_other_names(one.masked, self.name.person):
                known = (self.name.text, *found)
                if not any(fold(alias) in fold(other) or fold(other) in fold(alias) for other in known):
                    found[alias] = one.sentence
        if not found:
            return []
        listed = dict(list(found.items())[:3])
        sources = dict.fromkeys(s.source for s in listed.values())
        references = dict.fromkeys(s.reference for s in listed.values())
        return [Statement(f"\n\nAlso called: {', '.join(listed)}.", tuple(references), tuple(sources))]

    def _tell_counts(self) -> list[Statement]:
        """In how many passages and documents it is named, where these are several."""
        counts = self.counts
        if counts is None or counts.documents < 2:
            return []
        least = "" if counts.exact else "at least "
        passages = f"{least}{counts.chunks:,} passages"
        return [Statement(f"\n\nNamed in {passages} of {counts.documents:,} documents.")]


def _differs(one: Told, chosen: Sequence[Told]) -> bool:
    return differs_from(one.sentence, [other.sentence for other in chosen])


def _list_lines(chosen: Sequence[Told], from_first: bool = False) -> list[Statement]:
    """Sentences, the first in a line of its own unless it is of the list too.

    One that begins with the name begins as it is written: names of programs have small letters.
    """
    lines = []
    for i, one in enumerate(chosen):
        text, raw = show_sentence(one.sentence), one.sentence.raw.lstrip()
        if one.masked.startswith(SIGN) and text[0] == raw[0].upper():
            text = raw[0] + text[1:]
        lines.append(one.sentence.cite(("\n\n- " if i == 1 - from_first else "\n- " if i or from_first else "") + text))
    return lines
