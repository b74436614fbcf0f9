"""Concepts: noun phrases that the corpus keeps coming back to, and n-gram terms of scripts without blanks.

C-value after Frantzi, Ananiadou and Mima (2000); residual idf after Church and Gale (1995).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from sensegraph.engines.offline.extraction.resolving import LONGEST_UNIT, stem
from sensegraph.language.word_lists import english, sections

_SHARE = 0.25  # of the chunks: what is in more is no topic
_RESIDUAL = 0.25
_HEAD_SHARE = 0.6
_VALUE, _VALUE_ALONE = 2.0, 4.0
_ENTROPY = 0.6
_PMI = 3.0
_LONGEST_TERM = 6
_MOST_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class Counts:
    """Frequency of every unit, the chunks that hold it, and its uses as the last word of a phrase."""

    all: Counter[str]
    chunks: Counter[str]
    heads: Counter[str]


def counted() -> Counts:
    """Counts with nothing in them."""
    return Counts(Counter(), Counter(), Counter())


def add(counts: Counts, phrases: Iterable[tuple[int, Sequence[str]]]) -> None:
    """Counts the units of one document's phrases, given as (chunk, words)."""
    seen: dict[int, set[str]] = defaultdict(set)
    found: list[str] = []
    for chunk, words in phrases:
        stems = [stem(w) for w in words]
        units = [" ".join(stems[a:b]) for b in range(1, len(stems) + 1) for a in range(max(0, b - LONGEST_UNIT), b)]
        found += units
        counts.heads[stems[-1]] += 1
        seen[chunk].update(units)
    counts.all.update(found)
    for units_seen in seen.values():
        counts.chunks.update(units_seen)


def kept(counts: Counts, chunks: int, tagged: bool = True) -> frozenset[str]:
    """The units that are concepts of a corpus of so many chunks.

    Without a tagger the units are single words and names among them, so that two chunks are enough.
    """
    need = 3 if chunks >= 30 and tagged else 2 if chunks >= 8 else 1
    most = max(_SHARE * chunks, 8)
    often = [u for u, n in counts.chunks.items() if need <= n <= most and counts.all[u] >= max(2, need)]
    nested, holders = _nested(often, counts.all)
    general = _general()
    out = []
    for unit in often:
        words = unit.split()
        mean = nested[unit] / holders[unit] if holders[unit] else 0.0
        value = math.log2(len(words) + 0.6) * (counts.all[unit] - mean)
        if words[0] in general or words[-1] in general:
            continue
        if len(words) > 1:
            ok = value > (_VALUE if chunks >= 8 else 1.0)
        else:
            ok = _topical(unit, value if tagged else 2 * _VALUE_ALONE, counts, chunks)
        if ok:
            out.append(unit)
    return frozenset(out)


def _nested(often: Sequence[str], frequency: Mapping[str, int]) -> tuple[Counter[str], Counter[str]]:
    """Summed frequency and number of the longer units around each unit."""
    nested: Counter[str] = Counter()
    holders: Counter[str] = Counter()
    for unit in often:
        words = unit.split()
        for size in range(1, len(words)):
            for at in range(len(words) - size + 1):
                part = " ".join(words[at : at + size])
                nested[part] += frequency[unit]
                holders[part] += 1
    return nested, holders


def _topical(unit: str, value: float, counts: Counts, chunks: int) -> bool:
    """Whether a single word is a topic: frequent, mostly a head, and bursty (residual idf)."""
    if len(unit) < 3 or value <= (_VALUE_ALONE if chunks >= 8 else 1.2):
        return False
    if counts.heads[unit] < _HEAD_SHARE * counts.all[unit]:
        return False
    frequency, held = counts.all[unit], counts.chunks[unit]
    if chunks < 8:
        return True
    expected = 1 - math.exp(-frequency / chunks)
    return -math.log2(held / chunks) + math.log2(expected) > _RESIDUAL


@cache
def _general() -> frozenset[str]:
    return frozenset(stem(w) for w in english("general")) | frozenset(stem(w) for w in english("stop"))


# ── scripts without blanks ───────────────────────────────────────────────────────────────────────────────────────────


def terms(runs: Sequence[str]) -> frozenset[str]:
    """N-grams of 2–6 characters that behave like words: repeated, freely combined, strongly held together.

    Counts grow level by level (an n-gram can only repeat if its parts do), so memory stays near the repeated ones.
    """
    counts = _repeated(runs)
    total = sum(n for gram, n in counts.items() if len(gram) == 1) or 1
    first, last = sections("chinese")["first"], sections("chinese")["last"]
    good = [
        gram
        for gram, n in counts.items()
        if len(gram) > 1 and gram[0] not in first and gram[-1] not in last and _held(gram, n, counts, total)
    ]
    free = _free(runs, frozenset(good))
    return _longest(sorted(free), counts)


def _repeated(runs: Sequence[str]) -> dict[str, int]:
    counts = dict(Counter(c for run in runs for c in run))
    level = {c for c, n in counts.items() if n > 1}
    for size in range(2, _LONGEST_TERM + 1):
        found = Counter(
            run[i : i + size]
            for run in runs
            for i in range(len(run) - size + 1)
            if run[i : i + size - 1] in level and run[i + 1 : i + size] in level
        )
        level = {g for g, n in found.items() if n > 1}
        counts.update((g, found[g]) for g in level)
    return counts


def _held(gram: str, n: int, counts: Mapping[str, int], total: int) -> bool:
    """Whether the least pointwise mutual information over all cuts is above 3."""
    pairs = ((gram[:i], gram[i:]) for i in range(1, len(gram)))
    least = min(math.log2(n * total / (counts.get(a, 1) * counts.get(b, 1))) for a, b in pairs)
    return least > _PMI


def _free(runs: Sequence[str], good: frozenset[str]) -> frozenset[str]:
    """The grams whose neighbours vary on both sides (entropy above 0.6 bits; each edge of a run counts as new)."""
    left: dict[str, Counter[str]] = defaultdict(Counter)
    right: dict[str, Counter[str]] = defaultdict(Counter)
    for number, run in enumerate(runs):
        for i in range(len(run)):
            for size in range(2, min(_LONGEST_TERM, len(run) - i) + 1):
                gram = run[i : i + size]
                if gram in good:
                    left[gram][run[i - 1] if i else f"^{number}"] += 1
                    right[gram][run[i + size] if i + size < len(run) else f"${number}"] += 1
    return frozenset(g for g in left if _entropy(left[g]) > _ENTROPY and _entropy(right[g]) > _ENTROPY)


def _entropy(counts: Mapping[str, int]) -> float:
    total = sum(counts.values())
    return -sum(n / total * math.log2(n / total) for n in counts.values())


def _longest(found: Sequence[str], counts: Mapping[str, int]) -> frozenset[str]:
    """Without the parts of a longer term that has at least 80 % of their frequency."""
    dropped = set()
    for gram in found:
        for size in range(2, len(gram)):
            for i in range(len(gram) - size + 1):
                part = gram[i : i + size]
                if counts[gram] >= 0.8 * counts[part]:
                    dropped.add(part)
    return frozenset(g for g in found if g not in dropped)
