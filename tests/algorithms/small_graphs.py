"""Graphs for the tests of the graph algorithms."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import Edges, canonical_edges

Pair = tuple[int, int]

_KARATE = (
    "1,2,3,4,5,6,7,8,10,11,12,13,17,19,21,31 2,3,7,13,17,19,21,30 3,7,8,9,13,27,28,32 7,12,13 6,10 6,10,16 16 - "
    "30,32,33 33 - - - 33 32,33 32,33 - - 32,33 33 32,33 - 32,33 25,27,29,32,33 25,27,31 31 29,33 33 31,33 32,33 "
    "32,33 32,33 33"
)


def graph(pairs: Sequence[Pair], nodes: int | None = None, weight: float = 1.0) -> Edges:
    """The graph of these pairs, all of one weight."""
    ends = np.array(pairs, np.int64).reshape(-1, 2)
    n = nodes if nodes is not None else int(ends.max(initial=-1)) + 1
    return canonical_edges(ends[:, 0], ends[:, 1], np.full(len(ends), weight), n)


def karate() -> Edges:
    """Zachary's karate club: 34 nodes, 78 edges."""
    rows = enumerate(_KARATE.split())
    return graph([(a, int(b)) for a, row in rows if row != "-" for b in row.split(",")])


def ring_of_cliques(count: int, size: int) -> Edges:
    """`count` cliques, each joined to the next by one edge."""
    n = count * size
    inner = [(c * size + a, c * size + b) for c in range(count) for a, b in combinations(range(size), 2)]
    return graph([*inner, *((c * size, ((c + 1) * size + 1) % n) for c in range(count))], n)


def planted(groups: int, size: int, inner: float, outer: float, seed: int) -> Edges:
    """Groups of equal size; an edge inside one has the chance `inner`, between two `outer`."""
    rng = np.random.default_rng(seed)
    a, b = np.triu_indices(groups * size, 1)
    there = rng.random(len(a)) < np.where(a // size == b // size, inner, outer)
    return canonical_edges(a[there], b[there], np.ones(int(there.sum())), groups * size)


def renumbered(edges: Edges, to: NDArray[np.int64], nodes: int | None = None) -> Edges:
    """The same graph, node v called `to[v]`."""
    return canonical_edges(to[edges.source], to[edges.target], edges.weight, edges.nodes if nodes is None else nodes)


@st.composite
def graphs(draw: st.DrawFn, most: int = 30) -> Edges:
    """Any graph of up to `most` nodes, with weights 1 to 5: sparse, dense, disconnected, edgeless, empty."""
    n = draw(st.integers(0, most))
    if n < 2:
        return graph([], n)
    node = st.integers(0, n - 1)
    rows = draw(st.lists(st.tuples(node, node, st.integers(1, 5)), max_size=3 * n))
    a, b, w = np.array(rows, np.int64).reshape(-1, 3).T
    return canonical_edges(a, b, w.astype(np.float64), n)
