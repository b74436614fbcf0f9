"""Undirected weighted graphs as arrays: canonical edges, compressed rows, induced sub-graphs, components, modularity.

Nodes are 0…n−1. Everything here is vectorised, and what it gives depends on nothing but its arguments: equal edges, in
any order, give equal bytes.

Whole numbers are put in order with their places behind them, in 64 bits: so they are sorted, and equal ones stay as
they stand. Where that is slow they are put in order by their digits of 16 bits, in time that grows with their number
alone, and hashes by the highest of them, which leaves little to sort; the order is the same.
"""

from __future__ import annotations

import timeit
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
NOWHERE = -1  # the number of the community, or the place, of what has none
_MOST = np.iinfo(np.int32).max
_DIGIT = 16  # bits of a number by which numbers are put in order at once
_RUNS = 16  # so many runs of ascending numbers, or fewer, are merged
_FEW = 1 << 12  # numbers that are put in order by digits, however quickly they are sorted
_SORTED_APART = range(_FEW, 1 << 21)  # numbers that may take more room while they are sorted
_TOLD_BITS, _ALIKE = 20, 16  # bits by which numbers are looked up, and how many may have the same
N = TypeVar("N", bound=np.number[Any])


@dataclass(frozen=True, slots=True, eq=False)
class Edges:
    """The edges of an undirected graph on `nodes` nodes, in canonical form.

    `source < target`, sorted by (source, target), each pair once, `weight > 0`; int32, int32 and float64 of shape (m,).
    """

    source: Ints
    target: Ints
    weight: Floats
    nodes: int

    @property
    def keys(self) -> Longs:
        """One ascending number a pair: source · nodes + target."""
        return self.source.astype(np.int64) * self.nodes + self.target


@dataclass(frozen=True, eq=False)
class Adjacency:
    """A symmetric matrix by rows: the neighbours of v are `indices[indptr[v]:indptr[v + 1]]`, ascending, with `data`.

    int64 (n + 1,), int32 (2m,), float64 (2m,); no diagonal.
    """

    indptr: Longs
    indices: Ints
    data: Floats

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return len(self.indptr) - 1

    @cached_property
    def rows(self) -> Ints:
        """The row of every entry, shape (2m,)."""
        return np.repeat(np.arange(self.nodes, dtype=np.int32), np.diff(self.indptr))

    @cached_property
    def strength(self) -> Floats:
        """The sum of the weights at every node, shape (n,)."""
        return np.asarray(np.bincount(self.rows, weights=self.data, minlength=self.nodes), np.float64)

    def mapped(self) -> Adjacency:
        """The same matrix; entries of a large one are mapped from files."""
        from sensegraph.algorithms.mapped import map_large

        return Adjacency(self.indptr, map_large(self.indices), map_large(self.data))


def canonical_edges(source: ArrayLike, target: ArrayLike, weight: ArrayLike, nodes: int) -> Edges:
    """The canonical form of any list of edges: duplicates (in either direction) are summed, self-loops dropped.

    Sums do not depend on the order of the list. Raises ValueError for a weight that is not positive and finite, for a
    node outside 0…nodes−1, and for arrays of different lengths.
    """
    a, b, w = np.asarray(source, np.int64), np.asarray(target, np.int64), np.asarray(weight, np.float64)
    if not a.shape == b.shape == w.shape or a.ndim != 1:
        raise ValueError(f"source, target and weight must be of one length, not {a.shape}, {b.shape}, {w.shape}.")
    if not 0 <= nodes <= _MOST:
        raise ValueError(f"{nodes} nodes cannot be numbered with 32 bits.")
    low, high = np.minimum(a, b), np.maximum(a, b)
    outside = np.flatnonzero((low < 0) | (high >= nodes))
    if len(outside):
        i = outside[0]
        raise ValueError(f"edge {i} joins {a[i]} and {b[i]}, but nodes are 0 to {nodes - 1}.")
    bad = np.flatnonzero(~(np.isfinite(w) & (w > 0)))
    if len(bad):
        i = bad[0]
        raise ValueError(f"edge {i} ({a[i]}, {b[i]}) has the weight {w[i]}: weights must be positive and finite.")
    if not (proper := low != high).all():
        low, high, w = low[proper], high[proper], w[proper]
    key = low * nodes + high
    key, order = sort_numbers(key)
    w = w[order]
    sort_beside_equal(w, key)  # the weights too, so that a sum never depends on the order of the list
    begun = _begin_runs(key)
    if not begun.all():
        first = np.flatnonzero(begun)
        key, w = key[first], np.add.reduceat(w, first)
    low, high = np.divmod(key, nodes)
    return Edges(low.astype(np.int32), high.astype(np.int32), w, nodes)


def build_adjacency(edges: Edges) -> Adjacency:
    """The symmetric matrix of `edges`, built without a sort of more than one column."""
    n, s, t = edges.nodes, edges.source, edges.target
    order = order_numbers(t)  # the lower triangle, row by row
    below, above = np.bincount(t, minlength=n), np.bincount(s, minlength=n)
    indptr = np.concatenate(([0], np.cumsum(below + above))).astype(np.int64)
    indices, data = np.empty(2 * len(s), np.int32), np.empty(2 * len(s), np.float64)
    for rows, columns, weight, at, count in (
        (t[order], s[order], edges.weight[order], indptr[:-1], below),
        (s, t, edges.weight, indptr[:-1] + below, above),
    ):
        before = np.cumsum(count) - count  # entries of the sorted `rows` in the rows before each
        place = (at - before)[rows] + np.arange(len(rows))
        indices[place], data[place] = columns, weight
    return Adjacency(indptr, indices, data)


def induce_subgraph(graph: Adjacency, block: NDArray[Any]) -> tuple[Adjacency, Ints]:
    """The graph of the nodes with `block >= 0` and the edges inside a block, and those nodes, ascending.

    Node i of the result is `nodes[i]` of `graph`. Blocks are never joined: the matrix is block-diagonal.
    """
    inside = block >= 0
    nodes = np.flatnonzero(inside).astype(np.int32)
    local = (np.cumsum(inside) - 1).astype(np.int32)
    rows = graph.rows
    keep = inside[rows] & (block[rows] == block[graph.indices])
    count = np.bincount(rows[keep], minlength=graph.nodes)[nodes]
    indptr = np.concatenate(([0], np.cumsum(count))).astype(np.int64)
    return Adjacency(indptr, local[graph.indices[keep]], graph.data[keep]), nodes


def smallest_members(source: NDArray[Any], target: NDArray[Any], nodes: int) -> Ints:
    """For every node the smallest node of its connected component, shape (nodes,).

    Hooks the larger root of every edge under the smaller one and flattens, until no edge joins two roots.
    """
    root = np.arange(nodes, dtype=np.int32)
    a, b = source.astype(np.int32, copy=False), target.astype(np.int32, copy=False)  # of one type all goes sooner
    while len(a):
        low, high = np.minimum(a, b), np.maximum(a, b)
        np.minimum.at(root, high, low)
        while not np.array_equal(above := root[root], root):
            root = above
        a, b = root[low], root[high]
        apart = a != b
        a, b = a[apart], b[apart]
    return root


def label_components(edges: Edges) -> Ints:
    """The connected component of every node, numbered in the order of their smallest nodes, shape (n,)."""
    return number_roots(smallest_members(edges.source, edges.target, edges.nodes))


def number_roots(root: Ints) -> Ints:
    """Labels 0, 1, … from labels that name the smallest member, in the order of those members."""
    rank = np.cumsum(root == np.arange(len(root))) - 1
    return rank.astype(np.int32)[root]


def modularity(edges: Edges, labels: NDArray[Any], resolution: float = 1.0) -> float:
    """Q = Σ_c [e_c / m − γ (K_c / 2m)²] of a partition given as a label ≥ 0 for every node; 0 without edges.

    e_c is the weight inside community c, K_c the sum of its strengths (Newman and Girvan; resolution as in Traag,
    Waltman and van Eck 2019).
    """
    m = edges.weight.sum()
    if not len(edges.weight):
        return 0.0
    a, b = labels[edges.source], labels[edges.target]
    strength = np.bincount(np.concatenate((a, b)), weights=np.concatenate((edges.weight, edges.weight)))
    return float(edges.weight[a == b].sum() / m - resolution * ((strength / (2 * m)) ** 2).sum())


# ── numbers in order ──


def keep_distinct(numbers: NDArray[N]) -> NDArray[N]:
    """The numbers, ascending, each once: `np.unique`, which hashes them first."""
    found = _sort_alone(numbers)
    return found[_begin_runs(found)]


def count_distinct(numbers: NDArray[N]) -> tuple[NDArray[N], Longs]:
    """The numbers, ascending, each once, and how often each stands there."""
    found = _sort_alone(numbers)
    begun = np.flatnonzero(_begin_runs(found))
    return found[begun], np.diff(begun, append=len(found))


def number_distinct(numbers: NDArray[N]) -> tuple[NDArray[N], Longs, Longs]:
    """The numbers, ascending, each once; the first place of each; and which of them stands at each place."""
    found, order = sort_numbers(numbers)
    begun = np.flatnonzero(_begin_runs(found))
    whose = np.empty(len(numbers), np.int64)
    whose[order] = np.repeat(np.arange(len(begun)), np.diff(begun, append=len(numbers)))
    return found[begun], order[begun], whose


def order_numbers(numbers: NDArray[Any]) -> Longs:
    """The places of the numbers, ascending, equal ones in the order in which they stand."""
    return sort_numbers(numbers)[1]


def sort_numbers(numbers: NDArray[N]) -> tuple[NDArray[N], Longs]:
    """The numbers, ascending, and their places, equal ones in the order in which they stand."""
    if numbers.dtype.kind not in "biu" or np.count_nonzero(numbers[1:] < numbers[:-1]) < _RUNS:
        order: Longs = np.argsort(numbers, kind="stable")  # of whole numbers it merges what ascends
        return numbers[order], order
    above, room = _count_from_least(numbers)
    if not _sorts_soon(len(numbers)):
        order = _order_by_digits(above, room)
        return numbers[order], order
    heads, order, cut = _order_by_heads(above, room)
    if cut:
        equal, whose = _group_equal(heads)
        some = order[equal]
        order[equal] = some[np.lexsort((numbers[some], whose))]
        return numbers[order], order
    heads += _wrap(int(numbers.min()))
    return heads.view(np.int64).astype(numbers.dtype, copy=False), order


def _sorts_soon(count: int) -> bool:
    """Whether so many numbers are sorted with their places sooner than put in order by their digits."""
    return count >= _FEW and _try_sorting()


@cache
def _try_sorting() -> bool:
    """Whether many numbers with their places are sorted sooner than by digits, which is tried once (2 to 6 ms).

    They are with AVX2, and with AVX-512 but on Zen 4; they are not where numpy sorts without either.
    """
    numbers = np.arange(1 << 15, dtype=np.uint64) * np.uint64(0x9E3779B9) & np.uint64(0xFFFFFFFF)
    ways = (lambda: _order_by_heads(numbers.copy(), 32)), (lambda: _order_by_digits(numbers, 32))
    one, other = (min(timeit.repeat(way, number=1, repeat=3)) for way in ways)
    return one < other


def _sort_alone(numbers: NDArray[N]) -> NDArray[N]:
    """The numbers, ascending, themselves where they do: `np.sort`, or near their places first where that is slow."""
    if (numbers[1:] >= numbers[:-1]).all():
        return numbers
    if numbers.dtype.kind not in "iu" or len(numbers) not in _SORTED_APART or _sorts_soon(len(numbers)):
        return np.sort(numbers)
    found = numbers[_order_by_highest(*_count_from_least(numbers))]
    found.sort(kind="stable")
    return found


def _order_by_highest(above: NDArray[np.uint64], room: int) -> Longs:
    """The places of numbers of so many bits, ascending by the highest digit of each."""
    return np.argsort((above >> np.uint64(max(0, room - _DIGIT))).astype(np.uint16), kind="stable")


def _order_by_digits(above: NDArray[np.uint64], room: int) -> Longs:
    """The places of numbers of so many bits, ascending: by the lowest digits first, of hashes by the highest."""
    if room > 3 * _DIGIT:
        order = _order_by_highest(above, room)
        return order[np.argsort(above[order], kind="stable")]
    order = np.argsort(above.astype(np.uint16), kind="stable")
    for digit in range(_DIGIT, room, _DIGIT):
        order = order[np.argsort((above >> np.uint64(digit)).astype(np.uint16)[order], kind="stable")]
    return order


def _order_by_heads(above: NDArray[np.uint64], room: int) -> tuple[NDArray[np.uint64], Longs, int]:
    """The highest bits of numbers of so many bits, ascending; the places of the numbers; and how many bits were cut.

    There are as many as have room beside a place in 64 bits. What is given is written over.
    """
    places = np.uint64(max(1, (len(above) - 1).bit_length()))
    cut = max(0, room + int(places) - 64)
    above >>= np.uint64(cut)
    above <<= places
    above |= np.arange(len(above), dtype=np.uint64)
    above.sort()
    order = above & ((np.uint64(1) << places) - np.uint64(1))
    above >>= places
    return above, order.view(np.int64), cut


def _count_from_least(numbers: NDArray[Any]) -> tuple[NDArray[np.uint64], int]:
    """How far each of some whole numbers is above the least, and the bits of the largest of these."""
    least = int(numbers.min())
    above = numbers.astype(np.uint64)
    above -= _wrap(least)
    return above, (int(numbers.max()) - least).bit_length()


def _wrap(number: int) -> np.uint64:
    """A whole number in 64 bits: one below 0 wraps, and back."""
    return np.uint64(number % (1 << 64))


def sort_beside_equal(values: NDArray[Any], numbers: NDArray[Any]) -> None:
    """Put the values beside equal numbers, which ascend, into their own order, in place."""
    equal, whose = _group_equal(numbers)
    some = values[equal]
    values[equal] = some[np.lexsort((some, whose))]


def order_pairs(first: NDArray[Any], second: NDArray[Any]) -> Longs:
    """The places of pairs of numbers from 0 to 2³¹, ascending by `first`, then by `second`, then as they stand."""
    width = int(second.max(initial=0)).bit_length()
    return order_numbers(first.astype(np.int64) << width | second)


def mark_among(numbers: NDArray[Any], known: NDArray[Any]) -> Flags:
    """Which of the numbers are among `known`: `np.isin`, which may import all of `numpy.ma`."""
    found = keep_distinct(known)
    at = np.minimum(np.searchsorted(found, numbers), max(len(found) - 1, 0))
    return found[at] == numbers if len(found) else np.zeros(numbers.shape, np.bool_)


def locate_numbers(wanted: NDArray[N], known: NDArray[N]) -> Longs:
    """Where each of the numbers would stand among `known`, which ascend: `np.searchsorted`.

    Many are looked up by their highest bits, where few of `known` have the same; else in the order of these bits, so
    that what is next lies near.
    """
    order, at = np.arange(len(wanted)), np.empty(len(wanted), np.int64)
    if len(wanted) > 1 and wanted.dtype.kind in "iu":
        likely = wanted.dtype == known.dtype and len(wanted) >= _FEW and 0 < len(known) <= 4 * len(wanted)
        if likely and (found := _locate_by_highest(wanted, known)) is not None:
            return found
        above, room = _count_from_least(wanted)
        if _sorts_soon(len(wanted)):
            _, order, _ = _order_by_heads(above, room)
        else:
            order = _order_by_highest(above, room)
    at[order] = np.searchsorted(known, wanted[order])
    return at


def _locate_by_highest(wanted: NDArray[N], known: NDArray[N]) -> Longs | None:
    """`locate_numbers`; None where many of `known` have the same highest bits."""
    least, most = known[0], known[-1]
    room = (int(most) - int(least)).bit_length()
    bits = min(room, len(known).bit_length() + 2, _TOLD_BITS)

    def read_highest(numbers: NDArray[N]) -> Longs:
        above = numbers.astype(np.uint64)
        above -= _wrap(int(least))
        above >>= np.uint64(room - bits)
        return above.view(np.int64)

    counts = np.bincount(read_highest(known))
    if counts.max() > _ALIKE:
        return None
    at = (np.cumsum(counts) - counts)[read_highest(np.clip(wanted, least, most))]
    after = np.flatnonzero(known[at] < wanted)
    while len(after):
        at[after] += 1
        after = after[at[after] < len(known)]
        after = after[known[at[after]] < wanted[after]]
    return at


def cut_ranges(counts: Longs, most: int) -> list[tuple[int, int]]:
    """All rows in ranges with at most `most` things each, and those of one row more; `counts` (n) are those of rows."""
    ends = np.cumsum(counts)
    bounds = np.searchsorted(ends, np.arange(most, counts.sum(), most)) + 1
    return list(pairwise(dict.fromkeys([0, *bounds.tolist(), len(counts)])))


def _group_equal(ascending: NDArray[Any]) -> tuple[Longs, Longs]:
    """The places of ascending numbers that stand there more than once, and which of these stands at each."""
    again = ~_begin_runs(ascending)
    equal = np.flatnonzero(again | np.append(again[1:], False))
    return equal, np.cumsum(~again[equal])


def _begin_runs(ascending: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether each of the ascending numbers is another than that before it."""
    begun = np.ones(len(ascending), np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=begun[1:])
    return begun
