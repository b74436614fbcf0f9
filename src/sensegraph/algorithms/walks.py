"""Random walks with restart over a weighted graph, as arrays: personalised PageRank by power iteration.

Sums run in the order of the arrays, so that equal input gives equal bytes on every machine and in every run. A walk
that restarts often puts nearly all its mass near its start: on a large graph it is taken over the part around the start
that mass comes to at all, paths are kept by their source in mapped arrays, and the rest is not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensegraph.algorithms.graphs import (
    NOWHERE,
    Floats,
    Ints,
    Longs,
    cut_ranges,
    order_numbers,
    sort_beside_equal,
    sort_numbers,
)

_AT_ONCE = 1 << 20  # edges that are put in order at once


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """The steps that a walk may take: from `source[i]` to `target[i]` with the probability `share[i]`.

    int32, int32 and float64 of shape (m,), by target and then source; the shares that leave a node sum to 1, a node
    without any is a dead end.
    """

    source: Ints
    target: Ints
    share: Floats


def build_moves(source: ArrayLike, target: ArrayLike, weight: ArrayLike, nodes: int) -> Moves:
    """The moves along weighted, directed edges, shape (m,), of a graph on `nodes` nodes; see `order_moves`."""
    edges = np.asarray(source, np.int32), np.asarray(target, np.int32), np.asarray(weight, np.float64)
    a, b, w, out = order_moves([edges], nodes)
    return Moves(a, b, np.asarray(w / out[a], np.float64))


def order_moves(parts: Sequence[tuple[Ints, Ints, Floats]], nodes: int) -> tuple[Ints, Ints, Floats, Floats]:
    """Weighted, directed edges in the order of `Moves`, and the weights that leave each node together.

    Each part has the sources, targets and weights of its edges, shape (m,). Edges of one pair may repeat. Raises
    ValueError for a weight that is not positive and finite, and for a node outside 0…nodes−1.
    """
    out = np.zeros(nodes)
    for a, b, w in parts:
        if len(w) and not (np.isfinite(w).all() and w.min() > 0):
            raise ValueError("the weights of a walk must be positive and finite; leave out the edges that have none.")
        if len(w) and (min(a.min(), b.min()) < 0 or max(a.max(), b.max()) >= nodes):
            raise ValueError(f"an edge leads outside of nodes 0 to {nodes - 1}.")
        np.add.at(out, a, w)
    size = sum(len(w) for *_, w in parts)
    sources, targets, weights = np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size)
    for here, (b, a, w, pairs) in _sort_parts([(b, a, w) for a, b, w in parts], nodes):
        sort_beside_equal(w, pairs)
        sources[here], targets[here], weights[here] = a, b, w
    return sources, targets, weights, out


def _sort_parts(
    parts: Sequence[tuple[Ints, Ints, Floats]], nodes: int
) -> Iterator[tuple[slice, tuple[Ints, Ints, Floats, Longs]]]:
    """`_sort_pairs` of all parts together: pairs of some first nodes, then of the next, and where they stand."""
    many, begin = np.zeros(nodes, np.int64), 0
    for first, *_ in parts:
        many += np.bincount(first, minlength=nodes)
    ranges = cut_ranges(many, _AT_ONCE)
    for low, high in ranges:
        held = [np.flatnonzero((low <= a) & (a < high)) if len(ranges) > 1 else slice(None) for a, *_ in parts]
        chosen = ([column[at] for column in part] for part, at in zip(parts, held, strict=True))
        first, second, weight = (np.concatenate(column) for column in zip(*chosen, strict=True))
        yield slice(begin, begin := begin + len(weight)), _sort_pairs(first, second, weight)


def _sort_pairs(first: Ints, second: Ints, weight: Floats) -> tuple[Ints, Ints, Floats, Longs]:
    """Pairs of nodes, ascending by `first`, then by `second`, with their weights, and a number for each pair."""
    width = int(second.max(initial=0)).bit_length()
    pairs, order = sort_numbers(first.astype(np.int64) << width | second)
    return first[order], second[order], weight[order], pairs


def pagerank(walk: Moves, reset: NDArray[Any], damping: float = 0.5, steps: int = 10) -> Floats:
    """The distribution of a walk after `steps` steps from `reset`, to which it returns with 1 − `damping` at each.

    `reset` has shape (n,), is not negative, and is scaled to sum 1; the mass of dead ends returns to it. Enough steps
    approach personalised PageRank (Haveliwala 2002). Raises ValueError for a reset without mass.
    """
    start = np.asarray(reset, np.float64)
    total = float(start.sum())
    if not np.isfinite(total) or total <= 0 or start.min() < 0:
        raise ValueError("a walk needs a start: `reset` must not be negative, and must have mass somewhere.")
    start = start / total
    source, share = walk.source.astype(np.intp), np.asarray(walk.share)  # converted once, not at every step
    first = np.flatnonzero(np.diff(walk.target, prepend=NOWHERE))
    reached = walk.target[first]
    dead = np.ones(len(start), bool)
    dead[source] = False
    here = start
    for _ in range(steps):
        moved = here[dead].sum() * start
        if len(first):
            moved[reached] += np.add.reduceat(share * here[source], first)
        here = damping * moved + (1 - damping) * start
    return here


_SMALL = 400_000  # paths up to which a walk is taken over the whole graph
_LIMIT = 20_000  # nodes of the part that a walk is otherwise taken over, about
_REACH = 3  # steps by which that part is found
_LEAST = 1e-6  # mass from which a node is looked at in doing so


@dataclass(frozen=True, slots=True, eq=False)
class Paths:
    """From node i a walk goes to `to[start[i]:start[i + 1]]`, to each with its `share`; shares of a node sum to 1.

    int64 (n + 1), int32 (m) and float32 (m); a node without any is a dead end, whose mass is lost.
    """

    start: Longs
    to: NDArray[np.int32]
    share: NDArray[np.float32]

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return len(self.start) - 1


def build_paths(source: ArrayLike, target: ArrayLike, weight: ArrayLike, nodes: int) -> Paths:
    """The paths along directed edges with weights above 0, shape (m,), on `nodes` nodes, in any order.

    Edges of one pair may repeat. Raises ValueError for a weight that is not above 0.
    """
    edges = np.asarray(source, np.int32), np.asarray(target, np.int32), np.asarray(weight, np.float64)
    return order_paths([edges], nodes)


def turn_back(source: Ints, target: Ints, weight: Floats) -> tuple[Ints, Ints, Floats]:
    """The edges the other way, by their sources; those of one source stand as before."""
    order = order_numbers(target)
    return target[order], source[order], weight[order]


def order_paths(parts: Sequence[tuple[Ints, Ints, Floats]], nodes: int) -> Paths:
    """`build_paths` of the edges of all parts, of which each has sources, targets and weights.

    They are put in order soonest where each part ascends by source, then by target.
    """
    if any(len(w) and not (np.isfinite(w).all() and w.min() > 0) for *_, w in parts):
        raise ValueError("the weights of paths must be above 0 and finite; leave out the edges that have none.")
    size = sum(len(w) for *_, w in parts)
    to, share, many = np.empty(size, np.int32), np.empty(size, np.float32), np.zeros(nodes, np.int64)
    for here, (a, b, w, _) in _sort_parts(parts, nodes):
        w /= np.bincount(a, weights=w, minlength=nodes)[a]
        to[here], share[here] = b, w
        many += np.bincount(a, minlength=nodes)
    return Paths(run_offsets(many), to, share)


def run_offsets(counts: ArrayLike) -> Longs:
    """Where each of several runs of these lengths begins, and where the last ends, shape (n + 1,)."""
    return np.concatenate(([0], np.cumsum(np.asarray(counts, np.int64)))).astype(np.int64)


def renumber_kept(kept: Sequence[int] | Longs, whole: int) -> Ints:
    """The new number of everything that is kept, shape (whole,), −1 for the rest."""
    places = np.full(whole, NOWHERE, np.int32)
    places[np.asarray(kept, np.int64)] = np.arange(len(kept))
    return places


def gather_entries(start: NDArray[Any], rows: ArrayLike) -> tuple[Longs, Longs]:
    """The places of all entries of `rows` in arrays that `start` parts, row by row, and how many each row has."""
    rows = np.asarray(rows, np.int64)
    begin = np.asarray(start[rows], np.int64)
    sizes = np.asarray(start[rows + 1], np.int64) - begin
    first = np.cumsum(sizes) - sizes
    places = np.repeat(begin - first, sizes)
    places += np.arange(len(places))
    return places, sizes


def walk_with_restart(
    way: Paths, nodes: NDArray[Any], mass: NDArray[Any], damping: float, steps: int
) -> tuple[Longs, Floats]:
    """The nodes that a walk comes to, ascending, and its mass there after `steps` steps from `mass` at `nodes`.

    Before each step 1 − `damping` of the mass returns to the start: x ← damping · A x + (1 − damping) · r.
    """
    nodes, mass = np.asarray(nodes, np.int64), np.asarray(mass, np.float64)
    if len(way.to) <= _SMALL:
        here = np.arange(way.nodes)
        part = way
    else:
        here = neighbourhood(way, nodes, mass, damping)
        part = restrict_paths(way, here)
    reset = np.zeros(len(here))
    reset[np.searchsorted(here, nodes)] = mass
    sizes, share = np.diff(part.start), part.share.astype(np.float64)
    to = np.asarray(part.to, np.int64)
    x = reset
    for _ in range(steps):
        moved = np.bincount(to, weights=np.repeat(x, sizes) * share, minlength=len(reset))
        x = damping * moved + (1 - damping) * reset
    return here, x


def neighbourhood(way: Paths, nodes: Longs, mass: Floats, damping: float, limit: int = _LIMIT) -> Longs:
    """The nodes around a start that a walk brings most mass to, ascending; about `limit` of them, and all of the start.

    Found by a few steps of the walk over those nodes alone that hold most; the paths of the others are not read.
    """
    x: Floats = np.zeros(way.nodes)
    x[nodes] = mass
    for _ in range(_REACH):
        here = _select_heaviest(x, limit)
        places, sizes = gather_entries(way.start, here)
        moved = np.repeat(x[here], sizes)
        moved *= way.share[places]
        x = np.asarray(np.bincount(way.to[places], weights=moved, minlength=way.nodes), np.float64)
        x *= damping
        x[nodes] += (1 - damping) * mass
    x[nodes] = np.inf
    return _select_heaviest(x, limit + len(nodes))


def _select_heaviest(x: Floats, limit: int) -> Longs:
    """The nodes with the most mass above a little, ascending, `limit` of them but for equal ones."""
    some = np.flatnonzero(x > _LEAST)
    if len(some) > limit:
        some = some[x[some] >= np.partition(x[some], len(some) - limit)[len(some) - limit]]
    return some.astype(np.int64)


def restrict_paths(way: Paths, nodes: Longs) -> Paths:
    """The paths among these nodes, ascending, which are numbered anew; what leads outside is lost."""
    places, sizes = gather_entries(way.start, nodes)
    at = renumber_kept(nodes, way.nodes)[way.to[places]]
    inside = np.flatnonzero(at >= 0)
    return Paths(np.searchsorted(inside, run_offsets(sizes)).astype(np.int64), at[inside], way.share[places[inside]])
