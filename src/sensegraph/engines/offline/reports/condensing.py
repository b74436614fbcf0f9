"""Texts said shorter with no model: their most central sentences, whole, in the order of the text (RAPTOR)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sensegraph.engines.offline.reports.choosing import Candidate, choose
from sensegraph.engines.offline.reports.community import centre
from sensegraph.engines.offline.reports.gathering import clean, length, verbatim
from sensegraph.engines.offline.reports.prose import language, quality, stems
from sensegraph.language.text import sentences
from sensegraph.types import Brief, Passage, Source, Statement

WORDS = 75  # where the brief sets no limit: about the hundred tokens of the paper's code
LEAST = 0.12  # quality below which a sentence is taken only where there is no other
SHORTEST, SPARE = 8, 12  # words of a sentence that stands alone; sentences ranked beyond those that could fit
MARK = " …"  # at the end of a sentence that is cut
_CLAUSE = re.compile(r"[,;:—–，；：、](?=\s|[^\x00-\x7f])|\s[–—-]{1,2}\s")


@dataclass(frozen=True, slots=True)
class Said:
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


def condense(briefs: Sequence[Brief]) -> list[tuple[Statement, ...]]:
    """The most central sentences of each brief's passages up to its words, in the order of the passages."""
    return [_condense(brief) for brief in briefs]


def _condense(brief: Brief) -> tuple[Statement, ...]:
    passages, words = brief.context.passages, brief.words or WORDS
    code = language(" ".join(p.text[:400] for p in sorted(passages, key=lambda p: p.id)[:10]))
    said = _said(passages, code)
    chosen = sorted(_chosen(said, words, code), key=lambda s: s.order)
    return tuple(_statement(s) for s in chosen) or _cut(said, words, code)


def _statement(said: Said, mark: str = "") -> Statement:
    sources = (said.source,) if said.source else ()
    return Statement(f"{said.shown}{mark} ", (said.passage,), sources)


# ── sentences ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _said(passages: Sequence[Passage], code: str) -> list[Said]:
    """The sentences of all passages, each text once."""
    found: dict[tuple[str, str], Said] = {}
    for place, passage in enumerate(passages):
        for at, (speaker, text, source) in enumerate(_quoted(passage) if passage.quotes else _written(passage)):
            said = Said(text, source, passage.id, tuple(stems(text, code)), (place, at), speaker)
            found.setdefault((speaker, text), said)
    return list(found.values())


def _quoted(passage: Passage) -> Iterator[tuple[str, str, Source | None]]:
    """The quotes of a passage that are their spans' own words."""
    return (found for quote in passage.quotes if (found := verbatim(quote)))


def _written(passage: Passage) -> Iterator[tuple[str, str, Source | None]]:
    """The sentences of a passage's own text; without a span where the text is not that of one."""
    base = passage.sources[0] if len(passage.sources) == 1 else None
    exact = base is not None and base.end - base.start == len(passage.text)
    for start, end in sentences(passage.text):
        span = replace(base, start=base.start + start, end=base.start + end) if base is not None and exact else None
        yield "", passage.text[start:end], span


# ── choosing ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _chosen(said: Sequence[Said], words: int, code: str) -> list[Said]:
    """The most central sentences that fit together, those that stand alone first; all where all fit."""
    if sum(length(s.shown) for s in said) <= words:
        return list(said)
    good = [s for s in said if quality(s.text) >= LEAST]
    count = words // SHORTEST + SPARE
    return _fitting(_ranked(good, said, code, count), words) or _fitting(_ranked(said, said, code, count), words)


def _fitting(ranked: Sequence[Said], words: int) -> list[Said]:
    """Sentences in the order of their worth, without those that the room left has no place for."""
    kept = []
    for said in ranked:
        if length(said.shown) <= words:
            words -= length(said.shown)
            kept.append(said)
    return kept


def _ranked(pool: Sequence[Said], said: Sequence[Said], code: str, count: int) -> list[Said]:
    """At most `count` sentences of `pool` near the centre of all, the best first, none alike to one before it."""
    ordered = sorted(pool, key=lambda s: (s.text, s.speaker))
    middle = centre([s.terms for s in sorted(said, key=lambda s: (s.text, s.speaker))], code)
    candidates = [
        Candidate(s.terms, max(1, length(s.text)), clean(s.text, code) * middle.closeness(s.terms)) for s in ordered
    ]
    return [ordered[i] for i in choose(candidates, middle.weights, count)]


def _cut(said: Sequence[Said], words: int, code: str) -> tuple[Statement, ...]:
    """The most central sentence, cut at the last clause that fits, else at a word, and marked."""
    best = next(iter([*_ranked(said, said, code, 1), *said]), None)
    if best is None:
        return ()
    end = _end(best, words)
    source = replace(best.source, end=best.source.start + end) if best.source else None
    return (_statement(replace(best, text=best.text[:end], source=source), MARK),)


def _end(said: Said, words: int) -> int:
    """Where to cut a sentence so that it has at most `words` words, the speaker's and the mark counted."""
    room = max(1, words - 1 - length(said.speaker))
    ends = [m.start() for m in _CLAUSE.finditer(said.text) if 0 < length(said.text[: m.start()]) <= room]
    if ends:
        return ends[-1]
    cuts = [i for i in range(1, len(said.text) + 1) if length(said.text[:i]) <= room]
    blanks = [i for i in cuts if said.text[i : i + 1].isspace()]
    return (blanks or cuts or [1])[-1]
