"""Which pairs of things the corpus holds to be related, and how strongly.

Weight of a pair: sentences that hold both, plus half of the neighbouring sentences that hold one each. Strength:
max(0, NPMI) · ln(1 + weight), with normalised pointwise mutual information after Bouma (2009). Counts alone make a
hairball; the union of every thing's five strongest pairs gives communities that read as themes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

TOP = 5
LEAST_NPMI = 0.1
NAMES_NPMI = 0.3  # two names of one sentence stay beyond the top
LEAST_WEIGHT = 1.0
CROWD = 24  # things of one sentence that are paired, at most: more is a list
_BITS = 32

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Counted evidence: sentences of each node, and the weight of each pair (`low << 32 | high`)."""

    nodes: dict[str, int] = field(default_factory=dict)
    seen: Counter[int] = field(default_factory=Counter)
    weights: Counter[int] = field(default_factory=Counter)


def pack_pair(a: int, b: int) -> int:
    """Two node numbers as one, in either order."""
    return a << _BITS | b if a < b else b << _BITS | a


def count_pairs(found: Evidence, sentences: Sequence[Sequence[str]]) -> None:
    """Counts one document, given as the distinct keys of each of its sentences (empty where it holds none)."""
    number = found.nodes
    coded = [[number.setdefault(k, len(number)) for k in keys[:CROWD]] for keys in sentences]
    found.seen.update([n for here in coded for n in here])
    weights = found.weights
    for here in coded:
        for i, a in enumerate(here):
            for b in here[i + 1 :]:
                weights[pack_pair(a, b)] += 2
    for here, there in pairwise(coded):
        if here and there:
            only = [b for b in there if b not in here]
            for a in here:
                if a not in there:
                    for b in only:
                        weights[pack_pair(a, b)] += 1


def select_pairs(found: Evidence, sentences: int, names: Iterable[int] = ()) -> dict[int, float]:
    """The pairs that stay, each with the strength of one unit of weight; `sentences` counts the corpus's.

    `names` are the numbers of nodes that are names: what a sentence says of two names stays beyond the top.
    """
    if not found.weights:
        return {}
    codes = np.fromiter(sorted(found.weights), dtype=np.int64, count=len(found.weights))
    weight = np.array([found.weights[c] for c in codes.tolist()], dtype=np.float64) / 2
    low, high = codes >> _BITS, codes & ((1 << _BITS) - 1)
    seen = np.array([found.seen[i] for i in range(len(found.nodes))], dtype=np.float64)
    total = max(sentences, 2) * 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        npmi = np.log(weight * total / (seen[low] * seen[high])) / -np.log(np.minimum(weight / total, 0.999999))
    npmi = np.minimum(npmi, 1.0)
    strength = np.maximum(npmi, 0.0) * np.log1p(weight)
    named = np.zeros(len(found.nodes), dtype=bool)
    named[np.fromiter(names, dtype=np.int64)] = True
    likely = (npmi > LEAST_NPMI) & (weight >= LEAST_WEIGHT)
    sure = named[low] & named[high] & (npmi > NAMES_NPMI)
    # the strongest `TOP` pairs of either end (ties by position)
    both = np.concatenate([low, high])
    order = np.lexsort((np.tile(np.arange(len(low)), 2), -np.tile(np.where(likely, strength, -1.0), 2), both))
    starts = np.searchsorted(both[order], np.arange(len(found.nodes)))
    rank = np.arange(len(both)) - starts[both[order]]
    top = np.zeros(len(low), dtype=bool)
    top[(order[rank < TOP]) % len(low)] = True
    stays = likely & (sure | top)
    return {int(c): float(s / w) for c, s, w in zip(codes[stays], strength[stays], weight[stays], strict=True)}


def renumber_pairs(found: Evidence, pairs: Mapping[int, float]) -> tuple[dict[str, int], dict[int, float]]:
    """Nodes and pairs renumbered so that only the ends of kept pairs remain, in the order of their keys."""
    used = {i for c in pairs for i in (c >> _BITS, c & ((1 << _BITS) - 1))}
    names = sorted(k for k, i in found.nodes.items() if i in used)
    again = {found.nodes[k]: n for n, k in enumerate(names)}
    coded = {pack_pair(again[c >> _BITS], again[c & ((1 << _BITS) - 1)]): s for c, s in pairs.items()}
    return {k: n for n, k in enumerate(names)}, dict(sorted(coded.items()))
