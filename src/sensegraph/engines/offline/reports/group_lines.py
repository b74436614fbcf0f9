"""A group by meaning as the offline engine sees it: its members, and the sources' sentences behind them, word for word.

What these sentences are shown in keeps their words: a quote whose text is not as long as its span is somebody's prose,
and left out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice

import msgspec

from sensegraph.engines.offline.reports.community import Centre, find_centre
from sensegraph.engines.offline.reports.general_sentences import rate_generality
from sensegraph.engines.offline.reports.quotes import hash_place, is_hanging
from sensegraph.engines.offline.reports.sentence_choice import Candidate, choose_sentences
from sensegraph.engines.offline.reports.sentence_quality import rate_quality, stem_text
from sensegraph.language.speakers import split_label
from sensegraph.language.text import HAN, detect_by_stop_words
from sensegraph.types import Brief, Description, Passage, Source, Statement

ENTITY, RELATION, REPORT = 3, 2, 6  # sentences of a passage of each kind that are looked at
MOST = 64  # and of a whole group
CLOSE = 12  # sentences, the nearest to the centre, that are read closely
READABLE = 28  # words from which a sentence counts for less
LOOSE = 0.05  # soundness below which a sentence is not read more closely
COUNTED = re.compile(
    r"[\w,]+ relations? links? |.+ — .+: \d+$|\d+$"
)  # how much links two groups, as `relating` says it
_SPOKEN = re.compile(r"(?:(?P<speaker>[^:“”]{2,60}): )?(?P<open>“)?(?P<said>.+?)(?(open)”)(?: …)?", re.DOTALL)
_FIRST_PERSON = re.compile(r"\b(?:I|me|my|mine|myself|I['’](?:m|ve|d|ll))\b")
_PARTIAL = re.compile(r"[a-zß-öø-ÿ,;:.…)\]–—-]")  # what a part of a sentence begins with
_OPENING = re.compile(r"(?:and|but|so|like|yeah|yes|well|now|okay|ok|oh|um|uh|you know|I mean)\b", re.IGNORECASE)
_FILLER = re.compile(r"\b(?:you know|I mean|sort of|kind of|um|uh)\b|, like,|\b(\w+) \1\b|--", re.IGNORECASE)
_TAIL = re.compile(r"(?P<names>.+?)(?: and other(?:s| (?P<kind>.+))| \((?:\+\d+|…)\)|（(?:\+\d+|…)）)$")
_LIST = re.compile(r"、|, | and ")


class Line(msgspec.Struct, frozen=True):
    """A sentence of the sources, word for word, with who says it, where, and the ids of the passages that quote it."""

    text: str
    speaker: str
    source: Source
    owners: tuple[str, ...]
    terms: tuple[str, ...]

    @property
    def shown(self) -> str:
        """The sentence as it is shown, with its speaker."""
        return f"{self.speaker}: “{self.text}”" if self.speaker else self.text


@dataclass(frozen=True, slots=True)
class Member:
    """An entity or a group in a group: the names that speak for it, its type, and its weight (degree or rating)."""

    id: str
    title: str
    names: tuple[str, ...]
    kind: str
    weight: float
    terms: frozenset[str]
    strength: float = 0.0


@dataclass(frozen=True, slots=True)
class Gathered:
    """A brief in the order in which it is written about.

    `members` come by falling strength, from 1 to 0; `near` is the closeness of each line's text to the centre, `own`
    the lines that each passage quotes; `reports` the ids of the passages that are groups;
    `omitted` counts what the brief had no room for.
    """

    code: str
    members: tuple[Member, ...]
    relations: tuple[Passage, ...]
    lines: tuple[Line, ...]
    centre: Centre
    near: Mapping[str, float]
    own: Mapping[str, Sequence[Line]]
    reports: frozenset[str]
    omitted: int

    def worth(self, line: Line) -> float:
        """How well a line speaks for the group: near its centre, sound, not long."""
        return rate_line(line.text, self.code) * self.likely(line)

    def likely(self, line: Line) -> float:
        """What can be told of a line's worth without reading it closely."""
        return self.near[line.text] * (0.5 if is_odd(line.text) else 1.0) * min(1.0, READABLE / count_length(line.text))

    def picked(self, count: int) -> list[Line]:
        """At most `count` lines near the centre, none alike to another."""
        close = sorted(self.lines, key=lambda line: (-self.likely(line), line.text, line.speaker))[:CLOSE]
        candidates = [make_candidate(line, self.worth(line)) for line in close]
        return [close[i] for i in choose_sentences(candidates, self.centre.weights, count)]


def make_candidate(line: Line, worth: float) -> Candidate:
    """A line as one that may be chosen."""
    return Candidate(line.terms, max(1, count_length(line.text)), worth)


@lru_cache(maxsize=1 << 15)
def rate_line(text: str, code: str) -> float:
    """How well a sentence stands alone, and how far it states what holds rather than what happened once."""
    value = rate_clean_line(text, code)
    return value * math.sqrt(rate_generality(text, code)) if value > LOOSE else value


@lru_cache(maxsize=1 << 15)
def rate_clean_line(text: str, code: str) -> float:
    """How well a sentence stands alone; less where it is a part of one, leans on another, or is loose talk."""
    value = rate_quality(text) * (0.6 if is_hanging(text) else 1.0)
    value *= 0.4 if _PARTIAL.match(text) or text.count("“") != text.count("”") else 1.0
    if code != "en":
        return value
    return value * (0.7 if _OPENING.match(text) else 1.0) * (0.7 if _FILLER.search(text) else 1.0)


def count_length(text: str) -> int:
    """Words of a text as limits count them: two characters of Han or kana are a word, and so is one that is left over.

    Texts together never have more than the sum of theirs.
    """
    return max(len(text.split()), (len(HAN.findall(text)) + 1) // 2)


def state_line(line: Line, first: str = "", most: int = 5) -> Statement:
    """A line as a statement; of the passages that quote it, `first` is cited first."""
    owners = [name for name in (first,) if name in line.owners] + [name for name in line.owners if name != first]
    return Statement(f"{line.shown} ", tuple(owners[:most]), (line.source,))


# ── from a brief ─────────────────────────────────────────────────────────────────────────────────────────────────────


def gather_group(brief: Brief) -> Gathered:
    """What a brief gives: its members are its entities and reports, with their scores as weights.

    Where no member has a score, their order says what is central.
    """
    passages = brief.context.passages
    lines, code = collect_lines(passages)
    middle = find_centre([line.terms for line in lines], code)
    near = {line.text: middle.closeness(line.terms) for line in lines}
    own: dict[str, list[Line]] = {p.id: [] for p in passages}
    for line in lines:
        for name in line.owners:
            own[name].append(line)
    pairs = zip(passages, brief.types or ("",) * len(passages), strict=True)
    given = [(p, kind) for p, kind in pairs if p.kind != "relation"]
    scored = any(p.score > 0 for p, _ in given)
    found = []
    for i, (p, kind) in enumerate(given):
        weight = max(p.score, 0.0) if scored else float(len(given) - i)
        # a group is spoken for by the names in its own name, and has the type that it names
        names, kind = split_group_name(p.title, kind)
        terms = frozenset(t for name in names[:1] for t in stem_text(name, code))
        # strength: the logarithm of the weight, by how near the centre its lines and its name are
        close = [near[line.text] for line in own[p.id]]
        by_lines = math.fsum(close) / len(close) if close else 0.0
        by_name = math.sqrt(math.fsum(middle.vector.get(t, 0.0) ** 2 for t in sorted(terms)))
        strength = math.log(2 + weight) * (0.1 + by_lines + by_name)
        found.append(Member(p.id, p.title, names, kind.casefold(), weight, terms, strength))
    top = max((m.strength for m in found), default=0.0) or 1.0
    members = [replace(m, strength=m.strength / top) for m in found]
    members.sort(key=lambda m: (-m.strength, m.title, m.id))
    relations = tuple(sorted((p for p in passages if p.kind == "relation"), key=lambda p: p.id))
    reports = frozenset(p.id for p in passages if p.kind == "report")
    return Gathered(code, tuple(members), relations, lines, middle, near, own, reports, brief.context.omitted)


def split_group_name(title: str, kind: str = "") -> tuple[tuple[str, ...], str]:
    """The names in a group's name, and its type: "A, B and other places" gives A and B; any other is itself."""
    match = _TAIL.fullmatch(title)
    if match is None:
        return (title,), kind
    return tuple(part.strip() for part in _LIST.split(match["names"]) if part.strip()), kind or match["kind"] or ""


# ── sentences ────────────────────────────────────────────────────────────────────────────────────────────────────────


def collect_lines(passages: Iterable[Passage]) -> tuple[tuple[Line, ...], str]:
    """The sentences that passages quote, each once, at most MOST, in an order of their own; and their language.

    Only quotes that are their spans' own words count, and some of each passage: those of a report in its order, others
    of good length first, spread over the documents.
    """
    places: dict[tuple[str, str], Source] = {}
    owners: dict[tuple[str, str], dict[str, None]] = {}
    for passage in sorted(passages, key=lambda p: p.id):
        most = {"entity": ENTITY, "relation": RELATION, "report": REPORT}.get(passage.kind, REPORT)
        order: Sequence[Description] = passage.quotes
        if len(order) > most and passage.kind != "report":
            order = sorted(order, key=lambda q: (is_odd(q.text), hash_place(q.source), q.text))
        for speaker, text, source in islice((q for quote in order if (q := read_verbatim(quote))), most):
            key = (speaker, text)
            places[key] = min(places.get(key, source), source, key=hash_place)
            owners.setdefault(key, {})[passage.id] = None
    ranked = sorted(places, key=lambda k: (is_odd(k[1]), hash_place(places[k]), k))[:MOST]
    code = detect_by_stop_words(" ".join(text[:200] for _, text in ranked[:40]))
    lines = (Line(k[1], k[0], places[k], tuple(owners[k]), tuple(stem_text(k[1], code))) for k in ranked)
    return tuple(line for line in lines if line.terms), code


def read_verbatim(quote: Description) -> tuple[str, str, Source] | None:
    """(speaker, what is said, where) of a quote; None where the text is not that of its span.

    The text may bear the speaker's name, quotation marks and the mark of a cut around the span's own words. A label
    that the span begins with is shown as the speaker. What this engine has counted is no quote, whatever its length.
    """
    size = quote.source.end - quote.source.start
    if COUNTED.match(quote.text):
        return None
    if len(quote.text) == size:
        speaker, said = split_label(quote.text)
        if not speaker or not said or not quote.text.endswith(said):
            return "", quote.text, quote.source
        return speaker, said, replace(quote.source, start=quote.source.end - len(said))
    match = _SPOKEN.fullmatch(quote.text)
    if match is None or len(match["said"]) != size:
        return None
    return match["speaker"] or "", match["said"], quote.source


@lru_cache(maxsize=1 << 15)
def is_odd(text: str) -> bool:
    """Whether a sentence is of odd length, asks, or is about its own speaker."""
    return not 40 <= len(text) <= 280 or text.rstrip().endswith(("?", "？")) or _FIRST_PERSON.search(text) is not None
