"""The sources' sentences word for word: those behind a group by meaning, and texts said shorter by them (RAPTOR).

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

from sensegraph.engines.offline.reports import sentence_quality
from sensegraph.engines.offline.reports.community import READABLE, Centre, find_centre, hash_place
from sensegraph.engines.offline.reports.sentence_choice import Candidate, choose_sentences
from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import HAN, detect_language
from sensegraph.types import Brief, Description, Passage, Source, Statement

ENTITY, RELATION, REPORT = 3, 2, 6  # sentences of a passage of each kind that are looked at
MOST = 64  # and of a whole group
CLOSE = 12  # sentences, the nearest to the centre, that are read closely
LOOSE = 0.05  # soundness below which a sentence is not read more closely
COUNTED = re.compile(
    r"[\w,]+ relations? links? |.+ — .+: \d+$|\d+$"
)  # how much links two groups, as `relating` says it
_SPOKEN = re.compile(r"(?:(?P<speaker>[^:“”]{2,60}): )?(?P<open>“)?(?P<said>.+?)(?(open)”)(?: …)?", re.DOTALL)
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
    return value * math.sqrt(sentence_quality.rate_generality(text, code)) if value > LOOSE else value


@lru_cache(maxsize=1 << 15)
def rate_clean_line(text: str, code: str) -> float:
    """How well a sentence stands alone; less where it is a part of one, leans on another, or is loose talk."""
    value = sentence_quality.rate_quality(text) * (0.6 if sentence_quality.is_hanging(text) else 1.0)
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
        terms = frozenset(t for name in names[:1] for t in sentence_quality.stem_text(name, code))
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
    code = detect_language(" ".join(text[:200] for _, text in ranked[:40]))
    lines = (
        Line(k[1], k[0], places[k], tuple(owners[k]), tuple(sentence_quality.stem_text(k[1], code))) for k in ranked
    )
    return tuple(line for line in lines if line.terms), code


def read_verbatim(quote: Description) -> tuple[str, str, Source] | None:
    """(speaker, what is said, where) of a quote; None where the text is not that of its span.

    The text may bear the speaker's name, quotation marks and the mark of a cut around the span's own words. What
    this engine has counted is no quote, whatever its length.
    """
    size = quote.source.end - quote.source.start
    if COUNTED.match(quote.text):
        return None
    if len(quote.text) == size:
        return "", quote.text, quote.source
    match = _SPOKEN.fullmatch(quote.text)
    if match is None or len(match["said"]) != size:
        return None
    return match["speaker"] or "", match["said"], quote.source


@lru_cache(maxsize=1 << 15)
def is_odd(text: str) -> bool:
    """Whether a sentence is of odd length, asks, or is about its own speaker."""
    personal = sentence_quality.FIRST_PERSON.search(text) is not None
    return not 40 <= len(text) <= 280 or text.rstrip().endswith(("?", "？")) or personal


# ── texts said shorter (RAPTOR) ───────────────────────────────────────────────────────────────────────────────────────

WORDS = 75  # where the brief sets no limit: about the hundred tokens of the paper's code
LEAST = 0.12  # quality below which a sentence is taken only where there is no other
SHORTEST, SPARE = 8, 12  # words of a sentence that stands alone; sentences ranked beyond those that could fit
MARK = " …"  # at the end of a sentence that is cut
_CLAUSE = re.compile(r"[,;:—–，；：、](?=\s|[^\x00-\x7f])|\s[–—-]{1,2}\s")


@dataclass(frozen=True, slots=True)
class TextSentence:
    """A sentence: its text word for word, its span where that is known, its passage, its stems.

    `order` is its place in the text, `speaker` who says it where the quote tells.
    """

    text: str
    source: Source | None
    passage: str
    terms: tuple[str, ...]
    order: tuple[int, int]
    speaker: str = ""

    @property
    def shown(self) -> str:
        """The sentence with its speaker."""
        return f"{self.speaker}: “{self.text}”" if self.speaker else self.text


def condense_texts(briefs: Sequence[Brief]) -> list[tuple[Statement, ...]]:
    """The most central sentences of each brief's passages up to its words, in the order of the passages."""
    condensed = []
    for brief in briefs:
        passages, words = brief.context.passages, brief.words or WORDS
        code = detect_language(" ".join(p.text[:400] for p in sorted(passages, key=lambda p: p.id)[:10]))
        sentences = _read_sentences(passages, code)
        chosen = sentences
        if sum(count_length(s.shown) for s in sentences) > words:  # those that stand alone first
            count = words // SHORTEST + SPARE
            pools = ([s for s in sentences if sentence_quality.rate_quality(s.text) >= LEAST], sentences)
            chosen = []
            for pool in pools:
                room = words
                for one in _rank_central(pool, sentences, code, count) if not chosen else ():
                    if count_length(one.shown) <= room:
                        room -= count_length(one.shown)
                        chosen.append(one)
        ordered = sorted(chosen, key=lambda s: s.order)
        condensed.append(tuple(_state_sentence(s) for s in ordered) or _cut_best(sentences, words, code))
    return condensed


def _state_sentence(sentence: TextSentence, mark: str = "") -> Statement:
    sources = (sentence.source,) if sentence.source else ()
    return Statement(f"{sentence.shown}{mark} ", (sentence.passage,), sources)


def _read_sentences(passages: Sequence[Passage], code: str) -> list[TextSentence]:
    """The sentences of all passages, each text once: quotes that are their spans' own words, else the passage's text.

    They have no span where a passage's text is not that of one.
    """
    found: dict[tuple[str, str], TextSentence] = {}
    for place, passage in enumerate(passages):
        rows: list[tuple[str, str, Source | None]] = [q for quote in passage.quotes if (q := read_verbatim(quote))]
        if not passage.quotes:
            base = passage.sources[0] if len(passage.sources) == 1 else None
            exact = base is not None and base.end - base.start == len(passage.text)
            for a, b in split_sentences(passage.text):
                span = replace(base, start=base.start + a, end=base.start + b) if base is not None and exact else None
                rows.append(("", passage.text[a:b], span))
        for at, (speaker, text, source) in enumerate(rows):
            sentence = TextSentence(
                text, source, passage.id, tuple(sentence_quality.stem_text(text, code)), (place, at), speaker
            )
            found.setdefault((speaker, text), sentence)
    return list(found.values())


def _rank_central(
    pool: Sequence[TextSentence], sentences: Sequence[TextSentence], code: str, count: int
) -> list[TextSentence]:
    """At most `count` sentences of `pool` near the centre of all, the best first, none alike to one before it."""
    ordered = sorted(pool, key=lambda s: (s.text, s.speaker))
    middle = find_centre([s.terms for s in sorted(sentences, key=lambda s: (s.text, s.speaker))], code)
    candidates = [
        Candidate(s.terms, max(1, count_length(s.text)), rate_clean_line(s.text, code) * middle.closeness(s.terms))
        for s in ordered
    ]
    return [ordered[i] for i in choose_sentences(candidates, middle.weights, count)]


def _cut_best(sentences: Sequence[TextSentence], words: int, code: str) -> tuple[Statement, ...]:
    """The most central sentence, cut at the last clause that fits, else at a word, and marked.

    It has at most `words` words, the speaker's and the mark counted.
    """
    best = next(iter([*_rank_central(sentences, sentences, code, 1), *sentences]), None)
    if best is None:
        return ()
    text, room = best.text, max(1, words - 1 - count_length(best.speaker))
    ends = [m.start() for m in _CLAUSE.finditer(text) if 0 < count_length(text[: m.start()]) <= room]
    if not ends:
        cuts = [i for i in range(1, len(text) + 1) if count_length(text[:i]) <= room]
        ends = [i for i in cuts if text[i : i + 1].isspace()] or cuts or [1]
    source = replace(best.source, end=best.source.start + ends[-1]) if best.source else None
    return (_state_sentence(replace(best, text=text[: ends[-1]], source=source), MARK),)
