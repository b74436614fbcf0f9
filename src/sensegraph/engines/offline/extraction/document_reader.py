"""The third pass: what lies in each chunk of a document, and the sentences that show it best.

A claim is a checkable fact: a sentence with a finite verb, a name, and a date, a number or a second name.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, islice, pairwise, product
from operator import attrgetter
from typing import TypeVar

from sensegraph.engines.offline.extraction.kinds import type_of_kind
from sensegraph.engines.offline.extraction.link_words import find_link_words
from sensegraph.engines.offline.extraction.mentions import Spot, Thing, find_body, resolve_mentions
from sensegraph.engines.offline.extraction.observations import CROWD, Lexicon, Mentioned, Value
from sensegraph.engines.offline.extraction.page_reader import join_chunks
from sensegraph.engines.offline.extraction.sentence_words import TOKEN
from sensegraph.language.dates.stated_dates import read_iso_span
from sensegraph.language.speakers import Turns, read_turns
from sensegraph.language.tables import tell_ruled_rows
from sensegraph.language.text import tag_words
from sensegraph.language.word_lists import english_words, read_lexicon
from sensegraph.types import Chunk, ExtractedClaim, ExtractedEntity, ExtractedRelation, Extraction, Mention

_PRONOUNS = frozenset(
    "it this that these those they he she there him her them its their his one such so and but or".split()
)
_STRICT = re.compile(
    r"[\"”]?\s?(?:\([^()]{0,80}\)\s?)?,?\s*"
    r"(?:(?:is|was|are|were|became)\s+(?:\w+ly\s)?(?:an?|the|one of)\b|,\s+(?:an?|the)\s)",
    re.IGNORECASE,
)
_SCANNED = 600


@lru_cache(maxsize=4096)
def rate_readability(sentence: str, english: bool) -> float:
    """How well a sentence can be read by itself, in (0, 1]: neither short nor long, ended, without open pronouns."""
    words = sentence.split() if english else list(sentence)
    size = len(words) if english else len(words) // 4
    score = 0.2 if size < 6 else 0.6 if size < 10 else 0.6 if size > 42 else 1.0
    stripped = sentence.rstrip('"”’)» ')
    if not stripped or stripped[-1] not in ".!?。！？…:":
        score *= 0.5
    if stripped.endswith(("?", "？")):
        score *= 0.4
    for word in words[:4]:
        if word.strip(",.").lower() in _PRONOUNS:
            score *= 0.8
    return score


def rate_description(text: str, start: int, end: int, span: tuple[int, int], english: bool) -> float:
    """How much the sentence `span` of `text` says about what is mentioned at `start:end`: definitions first."""
    score = rate_readability(text[span[0] : span[1]][:_SCANNED], english)
    if english and start - span[0] < 60 and _STRICT.match(text, end, min(span[1], end + 120)):
        score += 1.0
    return score + 0.3 / (1 + (start - span[0]) / 20)


def has_finite_verb(words: Sequence[str]) -> bool:
    """Whether the words of an English sentence hold a finite verb."""
    return re.search(r"[vm]|[oNn]r?[bp]", tag_words(words)) is not None


# ── claims ────────────────────────────────────────────────────────────────────────────────────────────────────────────

MOST = 4  # claims of one chunk
_LEAST_QUALITY = 0.6
_TYPES = {verb: kind for kind, verbs in read_lexicon("claims").items() for verb in verbs}


@dataclass(frozen=True, slots=True)
class StatedSentence:
    """A sentence with what it names: the names in order of place, its times, and how many numbers it holds."""

    text: str
    start: int
    end: int
    names: Sequence[str]
    times: Sequence[str]
    numbers: int


def select_claims(sentences: Sequence[StatedSentence]) -> tuple[ExtractedClaim, ...]:
    """The claims of one chunk, in order of place: the sentences that state most, at most `MOST`.

    A claim is FALSE when the sentence denies, SUSPECTED when it hedges ("may" only in lower case), else TRUE.
    """
    scored = []
    for s in sentences:
        if not s.names or not (s.times or s.numbers or len(s.names) > 1):
            continue
        good = rate_readability(s.text, True)
        if good < _LEAST_QUALITY or s.text.rstrip('"”’) ').endswith("?"):
            continue
        scored.append((good * (1 + bool(s.times) + 0.5 * (len(s.names) > 1) + 0.3 * bool(s.numbers)), s))
    ranked = sorted(scored, key=lambda x: (-x[0], x[1].start))
    read = ((s, list(map(str.lower, TOKEN.findall(s.text)))) for _, s in ranked)
    best = list(islice((x for x in read if has_finite_verb(x[1])), MOST))
    hedges, negations = english_words("hedges"), english_words("negations")
    claims = []
    for s, words in sorted(best, key=lambda x: x[0].start):
        lower = s.text.lower()
        denied = any(w.replace("’", "'").endswith("n't") or w in negations for w in words)
        hedged = any(w in hedges for w in words if w != "may") or any(h in lower for h in hedges if " " in h)
        dates = [d for t in s.times if (d := read_iso_span(t))[0]]
        kind = next((_TYPES[w] for w in words if w in _TYPES), "FACT")
        status = "FALSE" if denied else "SUSPECTED" if hedged or " may " in s.text else "TRUE"
        since, until = min((d[0] for d in dates), default=""), max((d[1] for d in dates), default="")
        said, other = " ".join(s.text.split()), s.names[1] if len(s.names) > 1 else "NONE"
        claims.append(ExtractedClaim(s.names[0], other, kind, status, said, since, until, s.start, s.end))
    return tuple(claims)


# ── the reader ────────────────────────────────────────────────────────────────────────────────────────────────────────

TITLE = 0.5  # evidence of being in a document that is about the other, in sentences
_SOURCES = 12  # sentences that are weighed for one description
_Pair = tuple[str, str]
T = TypeVar("T")


class DocumentReader:
    """Reads one document with what the corpus knows."""

    def __init__(self, chunks: Sequence[Chunk], seen: Mentioned, lexicon: Lexicon, values: bool) -> None:
        self.chunks, self.seen, self.lexicon, self.values = chunks, seen, lexicon, values
        self.joined = join_chunks(chunks)
        self.body = find_body(seen, lexicon)
        self.english = seen.language == "en"
        scene = resolve_mentions(seen, lexicon)
        self.things: dict[str, Thing] = dict(scene.things)
        self.spots = list(scene.spots)
        self.about = scene.key_of_title(seen.title)
        self.stated: dict[int, list[Value]] = defaultdict(list)
        for value in seen.values:
            self.stated[value.sentence].append(value)
        self.turns = self._find_turns()
        self.rows = tell_ruled_rows(self.joined.text)
        # of the chunk that is read: itself, its text and place without runs of blanks, its mentions by sentence, and
        # what all that it holds asks for
        self.chunk: Chunk | None = None
        self.text, self.shift = "", 0
        self.here: dict[int, list[Spot]] = {}
        self._spans: dict[int, tuple[int, int]] = {}
        self._quotes: dict[tuple[int, int], tuple[str, int, int]] = {}

    def read(self) -> tuple[Extraction, ...]:
        """One extraction a chunk, in order."""
        return tuple(self._chunk(c) for c in self.chunks)

    def _chunk(self, chunk: Chunk) -> Extraction:
        self.chunk = chunk
        self.shift, end = self.joined.bounds(chunk)
        self.text = self.joined.text[self.shift : end]
        self._spans.clear()
        self._quotes.clear()
        begun = range(*(bisect_left(self.spots, place, key=attrgetter("start")) for place in (self.shift, end)))
        spots = [self.spots[i] for i in begun if self.spots[i].end <= end]
        self.here = group_spots(spots, lambda s: s.sentence)
        entities = (*self._entities(spots), *(self._values() if self.values else ()))
        return Extraction(entities, tuple(self._relations()), self._claims() if self.english else ())

    def _find_turns(self) -> Turns:
        """Who speaks where in the document; what stands behind missing text, or behind its end, is nobody's."""
        if self.seen.work not in self.lexicon.talks:
            return Turns((), (), ())
        reach, breaks = self.joined.base, [self.body[1]]
        for c in sorted(self.chunks, key=lambda c: (c.start, c.end)):
            if c.start > reach:
                breaks.append(self.joined.bounds(c)[0])
            reach = max(reach, c.start + len(c.text))
        return read_turns(self.joined.text, self.lexicon.speakers, breaks)

    def _span(self, sentence: int) -> tuple[int, int]:
        """A sentence's span in the chunk, cut at the chunk's edges, without white space around it."""
        if sentence in self._spans:
            return self._spans[sentence]
        begin, until = self.seen.sentences[2 * sentence], self.seen.sentences[2 * sentence + 1]
        begin = min(self.turns.behind(max(begin, self.body[0])), until)
        start, end = max(0, begin - self.shift), min(len(self.text), min(until, self.body[1]) - self.shift)
        while start < end and self.text[start].isspace():
            start += 1
        while end > start and self.text[end - 1].isspace():
            end -= 1
        self._spans[sentence] = start, end
        return start, end

    def _quote(self, span: tuple[int, int]) -> tuple[str, int, int]:
        """The text of a span on one line, behind the name of its speaker where that is known, and its place.

        A row of a table is told with the names of its columns.
        """
        if (quote := self._quotes.get(span)) is None:
            start, end = span[0] + self.shift, span[1] + self.shift
            text = self.rows.get((start, end)) or " ".join(self.text[span[0] : span[1]].split())
            name = self.turns.at(start)
            quote = f"{name}: {text}" if name and text else text, *self._place(start, end)
            self._quotes[span] = quote
        return quote

    def _mentions(self, members: Sequence[Spot | Value]) -> tuple[Mention, ...]:
        text, shift = self.text, self.shift
        return tuple([Mention(text[m.start - shift : m.end - shift], *self._place(m.start, m.end)) for m in members])

    def _place(self, start: int, end: int) -> tuple[int, int]:
        """The span of the chunk itself for a span of the document without runs of blanks."""
        assert self.chunk is not None
        return self.joined.span_in(self.chunk, start, end)

    # ── entities ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _entities(self, spots: Sequence[Spot]) -> Iterator[ExtractedEntity]:
        for key, members in group_spots(spots, lambda s: s.key).items():
            thing, span = self.things[key], self._span(members[0].sentence)
            if len(members) > 1:  # the sentence that says most about a thing describes it
                scored = []
                for s in members[:_SOURCES]:
                    span = self._span(s.sentence)
                    at = max(span[0], s.start - self.shift)
                    scored.append((-rate_description(self.text, at, s.end - self.shift, span, self.english), span))
                span = min(scored)[1]
            yield ExtractedEntity(thing.name, type_of_kind(thing.kind), *self._quote(span), self._mentions(members))

    def _values(self) -> Iterator[ExtractedEntity]:
        grouped: dict[tuple[str, str], list[Value]] = defaultdict(list)
        for v in self.seen.values:
            inside = max(self.shift, self.body[0]) <= v.start
            inside = inside and v.end <= min(self.shift + len(self.text), self.body[1])
            near = (s for s in self.spots if s.sentence == v.sentence)
            if inside and not any(s.start < v.end and v.start < s.end for s in near):
                grouped[" ".join(v.surface.split()), v.kind].append(v)
        for (name, kind), members in grouped.items():
            span = self._span(members[0].sentence)
            yield ExtractedEntity(name, kind, *self._quote(span), self._mentions(members))

    # ── relations ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _relations(self) -> Iterator[ExtractedRelation]:
        weights: dict[_Pair, float] = defaultdict(float)
        spans: dict[_Pair, list[tuple[Spot, Spot]]] = defaultdict(list)
        units = self.lexicon.strengths
        for a, b, weight in list_neighbours(self.here):
            pair = (a.key, b.key) if a.key < b.key else (b.key, a.key)
            if pair in units:
                weights[pair] += weight
                spans[pair].append((a, b if weight == 1.0 else a))
        titled = self._titled()
        for pair in sorted({*weights, *titled}):
            strength = weights.get(pair, 0.0) * units.get(pair, 0.0) + titled.get(pair, 0.0)
            if not (shown := spans.get(pair)):
                other = pair[0] if pair[1] == self.about else pair[1]
                shown = [(s, s) for n in sorted(self.here) for s in self.here[n] if s.key == other]
            a, b, span = self._shown(shown)
            first = (a.start - self.shift, a.end - self.shift)
            linked = self.english and a is not b
            verb = find_link_words(self.text, first, b.start - self.shift, span[0]) if linked else ""
            source, target = (self.things[key].name for key in ((a.key, b.key) if verb else pair))
            said, start, end = self._quote(span)
            yield ExtractedRelation(source, target, said, round(strength, 6), start, end, verb, directed=bool(verb))

    def _titled(self) -> dict[_Pair, float]:
        """Links from the thing that the title names to the others of the chunk, concepts left out."""
        keys = {s.key for spots in self.here.values() for s in spots}
        if self.about not in keys:
            return {}
        others = (k for k in keys if k != self.about and self.things[k].kind != "c")
        return {(min(k, self.about), max(k, self.about)): TITLE for k in others}

    def _shown(self, shown: Sequence[tuple[Spot, Spot]]) -> tuple[Spot, Spot, tuple[int, int]]:
        """The evidence whose sentence reads best, both ends in one sentence first."""
        best, span = 0, self._span(shown[0][0].sentence)
        if len(shown) > 1:
            scored = []
            for i, (a, b) in enumerate(shown[:_SOURCES]):
                start, end = self._span(a.sentence)
                both = 1.0 if a is not b else 0.0
                scored.append((-rate_readability(self.text[start:end][:600], self.english) - both, i, (start, end)))
            _, best, span = min(scored)
        a, b = shown[best]
        return (b, a, span) if b.start < a.start else (a, b, span)

    # ── claims ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _claims(self) -> tuple[ExtractedClaim, ...]:
        stated = []
        for number in sorted(self.here):
            start, end = self._span(number)
            begin, until = self.seen.sentences[2 * number], self.seen.sentences[2 * number + 1]
            names = [k for k in _find_first_mentions(self.here[number]) if self.things[k].kind != "c"]
            if names and begin >= self.shift and until <= self.shift + len(self.text):
                values = self.stated.get(number, ())
                times = [v.surface for v in values if v.kind == "time"]
                shown = [self.things[k].name for k in names]
                stated.append(StatedSentence(self.text[start:end], start, end, shown, times, len(values) - len(times)))
        return tuple(
            replace(claim, start=start, end=end)
            for claim in select_claims(stated)
            for start, end in [self._place(claim.start + self.shift, claim.end + self.shift)]
        )


def group_spots(spots: Sequence[Spot], key: Callable[[Spot], T]) -> dict[T, list[Spot]]:
    """Mentions by what `key` says of each."""
    grouped: dict[T, list[Spot]] = defaultdict(list)
    for s in spots:
        grouped[key(s)].append(s)
    return grouped


def _find_first_mentions(spots: Sequence[Spot]) -> dict[str, Spot]:
    """The first mention of each thing, at most `CROWD` things."""
    firsts: dict[str, Spot] = {}
    for s in spots:
        if s.key not in firsts and len(firsts) < CROWD:
            firsts[s.key] = s
    return firsts


def list_neighbours(here: Mapping[int, Sequence[Spot]]) -> Iterator[tuple[Spot, Spot, float]]:
    """The pairs of things in one sentence, with weight 1, or in two neighbouring ones, with half.

    `here` are mentions by sentence.
    """
    firsts = {n: _find_first_mentions(spots) for n, spots in here.items()}
    for number in sorted(firsts):
        yield from ((a, b, 1.0) for a, b in combinations(firsts[number].values(), 2))
    for one, two in ((firsts[n], firsts[m]) for n, m in pairwise(sorted(firsts)) if m == n + 1):
        both = product(one.values(), two.values())
        yield from ((a, b, 0.5) for a, b in both if a.key not in two and b.key not in one)
