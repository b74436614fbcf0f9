"""Graphs of what occurs together: concepts that share groups (chunks), and their pruning (lazygraphrag §2).

Concepts are 0…n−1. A group is a run of `held`: group i holds `held[start[i]:start[i + 1]]`, ascending, each once.

A concept of a single group has no edge of weight 2 or more. Edges at those are counted, not listed: they are most of
all concepts, and the pairs of a large corpus would not fit into memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import Edges, Flags, Floats, Longs, canonical_edges, count_distinct, number_distinct

_BLOCK = 1 << 21  # pairs listed at once


Extent = Literal["full", "weak", "none"]
"""How far a graph was pruned."""


@dataclass(frozen=True, slots=True)
class Pruning:
    """What is dropped, in this order: concepts of a degree above mean + `deviations` σ (hubs), edges of a weight below
    `min_weight`, concepts of a degree then below `min_degree` (sparse).

    Where less than the share `cover` of the groups would keep a concept, only hubs and concepts of a single group are
    dropped; where that leaves no edge, nothing is.
    """

    deviations: float = 3.0
    min_weight: int = 2
    min_degree: int = 2
    cover: float = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Pruned:
    """What was kept of a graph: the concepts, shape (n,), and the edges between them on the numbers of all concepts.

    `hubs`, `light` (edges) and `sparse` (concepts) count what was dropped by which rule; a concept that only had light
    edges is among neither.
    """

    kept: Flags
    edges: Edges
    hubs: int = 0
    light: int = 0
    sparse: int = 0
    extent: Extent = "full"


def prune_concepts(start: NDArray[Any], held: NDArray[Any], concepts: int, rule: Pruning) -> Pruned:
    """The graph of concepts that share groups, weighted by their number, and pruned as far as the rule goes."""
    count = np.bincount(held, minlength=concepts)
    keys, weights = _count_pairs(start, held, count > 1)
    ones, others = np.divmod(keys, concepts)
    degree = np.bincount(np.concatenate((ones, others)), minlength=concepts)  # in pairs of those with several groups
    sizes, single = np.diff(start), count[held] == 1
    near = np.where(single, np.repeat(sizes - 1, sizes), np.repeat(_count_marked(start, single), sizes))
    degree = (degree + np.bincount(held, weights=near, minlength=concepts)).astype(np.int64)
    hub = degree > degree.mean() + rule.deviations * degree.std() if concepts else np.zeros(0, np.bool_)
    apart = ~(hub[ones] | hub[others])
    ones, others, weights = ones[apart], others[apart], weights[apart]
    # Edges at concepts of one group that do not touch a hub are light, wherever the bound is.
    single = _count_marked(start, (count[held] == 1) & ~hub[held])
    several = _count_marked(start, (count[held] > 1) & ~hub[held])
    light_singles = int((single * (single - 1) // 2 + single * several).sum())
    bounds: tuple[tuple[Extent, int, int], ...] = (
        ("full", max(2, rule.min_weight), max(1, rule.min_degree)),
        ("weak", 1, 1),
    )
    for extent, min_weight, min_degree in bounds:
        heavy = weights >= min_weight
        one, other, weight = ones[heavy], others[heavy], weights[heavy]
        degree = np.bincount(np.concatenate((one, other)), minlength=concepts)
        kept = degree >= min_degree
        stay = kept[one] & kept[other]
        edges = canonical_edges(one[stay], other[stay], weight[stay], concepts)
        covered = np.count_nonzero(np.diff(keep_concepts(start, held, kept)[0])) >= rule.cover * (len(start) - 1)
        if len(edges.source) and (covered or extent == "weak"):
            sparse = int((degree > 0).sum() - kept.sum())
            return Pruned(kept, edges, int(hub.sum()), int((~heavy).sum()) + light_singles, sparse, extent)
    keys, weights = _count_pairs(start, held, np.ones(concepts, np.bool_))
    ones, others = np.divmod(keys, concepts)
    return Pruned(np.ones(concepts, np.bool_), canonical_edges(ones, others, weights, concepts), extent="none")


def keep_concepts(start: NDArray[Any], held: NDArray[Any], kept: Flags) -> tuple[Longs, Longs]:
    """The same groups with only the concepts that `kept` marks, on the same numbers: new `start` and `held`."""
    stays = kept[held]
    before = np.concatenate(([0], np.cumsum(stays))).astype(np.int64)
    return before[start], np.asarray(held, np.int64)[stays]


def _count_pairs(start: NDArray[Any], held: NDArray[Any], which: Flags) -> tuple[Longs, Floats]:
    """The pairs of concepts marked by `which` that share a group, as ascending keys a · n + b, and how many they share.

    Blocks are counted one by one and then added up, so that what is in memory at once is near what comes out.
    """
    n = len(which)
    parts = list(map(count_distinct, _list_pair_keys(*keep_concepts(start, held, which), n)))
    if len(parts) == 1:
        return parts[0][0], parts[0][1].astype(np.float64)
    keys, _, where = number_distinct(np.concatenate([np.zeros(0, np.int64), *(k for k, _ in parts)]))
    shared = np.bincount(where, weights=np.concatenate([np.zeros(0), *(c for _, c in parts)]), minlength=len(keys))
    return keys, shared.astype(np.float64)


def _list_pair_keys(start: Longs, held: Longs, n: int) -> Iterator[Longs]:
    """The keys of all pairs inside groups, with repeats, in blocks."""
    ends = np.repeat(start[1:], np.diff(start))
    partners = ends - np.arange(len(held)) - 1  # each entry is paired with those after it in its group
    total = np.concatenate(([0], np.cumsum(partners)))
    first = 0
    while first < len(held):
        last = max(first + 1, int(np.searchsorted(total, total[first] + _BLOCK, "right")) - 1)
        many = partners[first:last]
        offset = np.arange(int(many.sum())) - np.repeat(np.cumsum(many) - many, many)
        partner = np.repeat(np.arange(first, last) + 1, many) + offset
        if len(partner):
            yield np.repeat(held[first:last], many) * n + held[partner]
        first = last


def _count_marked(start: NDArray[Any], flags: Flags) -> Longs:
    """How many entries of each group are marked."""
    before = np.concatenate(([0], np.cumsum(flags))).astype(np.int64)
    return np.asarray(np.diff(before[start]), np.int64)
