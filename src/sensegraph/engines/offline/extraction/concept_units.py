"""Concepts: noun phrases that the corpus keeps coming back to, and n-gram terms of scripts without blanks.

C-value after Frantzi, Ananiadou and Mima (2000); residual idf after Church and Gale (1995).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sensegraph.engines.offline.extraction.mentions import LONGEST_UNIT, stem_english
from sensegraph.language.word_lists import english_words, read_lexicon

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


def start_counts() -> Counts:
    """Counts with nothing in them."""
    return Counts(Counter(), Counter(), Counter())


def count_units(counts: Counts, phrases: Iterable[tuple[int, Sequence[str]]]) -> None:
    """Counts the units of one document's phrases, given as (chunk, words)."""
    seen: dict[int, set[str]] = defaultdict(set)
    found: list[str] = []
    for chunk, words in phrases:
        stems = [stem_english(w) for w in words]
        units = [" ".join(stems[a:b]) for b in range(1, len(stems) + 1) for a in range(max(0, b - LONGEST_UNIT), b)]
        found += units
        counts.heads[stems[-1]] += 1
        seen[chunk].update(units)
    counts.all.update(found)
    for units_seen in seen.values():
        counts.chunks.update(units_seen)


def select_concepts(counts: Counts, chunks: int, tagged: bool = True) -> frozenset[str]:
    """The units that are concepts of a corpus of so many chunks.

    Without a tagger the units are single words and names among them, so that two chunks are enough.
    """
    need = 3 if chunks >= 30 and tagged else 2 if chunks >= 8 else 1
    most = max(_SHARE * chunks, 8)
    often = [u for u, n in counts.chunks.items() if need <= n <= most and counts.all[u] >= max(2, need)]
    nested: Counter[str] = Counter()  # summed frequency of the longer units around each unit
    holders: Counter[str] = Counter()  # and their number
    for unit in often:
        words = unit.split()
        for size in range(1, len(words)):
            for at in range(len(words) - size + 1):
                part = " ".join(words[at : at + size])
                nested[part] += counts.all[unit]
                holders[part] += 1
    general = {stem_english(w) for w in english_words("general") | english_words("stop")}
    out = []
    for unit in often:
        words = unit.split()
        if words[0] in general or words[-1] in general:
            continue
        mean = nested[unit] / holders[unit] if holders[unit] else 0.0
        value = math.log2(len(words) + 0.6) * (counts.all[unit] - mean)
        if len(words) > 1:
            ok = value > (_VALUE if chunks >= 8 else 1.0)
        else:  # a single word is a topic if it is frequent, mostly a head, and bursty (residual idf)
            frequency, value = counts.all[unit], value if tagged else 2 * _VALUE_ALONE
            ok = len(unit) >= 3 and value > (_VALUE_ALONE if chunks >= 8 else 1.2)
            ok = ok and counts.heads[unit] >= _HEAD_SHARE * frequency
            if ok and chunks >= 8:
                expected = 1 - math.exp(-frequency / chunks)
                ok = -math.log2(counts.chunks[unit] / chunks) + math.log2(expected) > _RESIDUAL
        if ok:
            out.append(unit)
    return frozenset(out)


# ── scripts without blanks ───────────────────────────────────────────────────────────────────────────────────────────


def find_terms(runs: Sequence[str]) -> frozenset[str]:
    """N-grams of 2–6 characters that behave like words: repeated, freely combined, strongly held together.

    Counts grow level by level (an n-gram can only repeat if its parts do), so memory stays near the repeated ones.
    """
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
    total = sum(n for gram, n in counts.items() if len(gram) == 1) or 1
    first, last = read_lexicon("chinese")["first"], read_lexicon("chinese")["last"]
    good = []
    for gram, n in counts.items():
        if len(gram) > 1 and gram[0] not in first and gram[-1] not in last:
            cuts = ((gram[:i], gram[i:]) for i in range(1, len(gram)))
            pmi = min(math.log2(n * total / (counts.get(a, 1) * counts.get(b, 1))) for a, b in cuts)
            if pmi > _PMI:
                good.append(gram)
    free = _find_free_grams(runs, frozenset(good))
    dropped = set()  # parts of a longer term that has at least 80 % of their frequency
    for gram in free:
        for size in range(2, len(gram)):
            for i in range(len(gram) - size + 1):
                part = gram[i : i + size]
                if counts[gram] >= 0.8 * counts[part]:
                    dropped.add(part)
    return free - dropped


def _find_free_grams(runs: Sequence[str], good: frozenset[str]) -> frozenset[str]:
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
    return frozenset(g for g in left if _measure_entropy(left[g]) > _ENTROPY and _measure_entropy(right[g]) > _ENTROPY)


def _measure_entropy(counts: Mapping[str, int]) -> float:
    total = sum(counts.values())
    return -sum(n / total * math.log2(n / total) for n in counts.values())
