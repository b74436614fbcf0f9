from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from small_graphs import graph, graphs, ring_of_cliques

from sensegraph.algorithms.graphs import Edges, build_adjacency, canonical_edges, modularity
from sensegraph.algorithms.moving import _move_nodes, _Mover, settle_labels


def settle(edges: Edges, labels: np.ndarray, frontier: np.ndarray, resolution: float = 1.0) -> tuple:
    penalty = np.full(edges.nodes, resolution / max(2 * edges.weight.sum(), 1e-9))
    return settle_labels(build_adjacency(edges), labels, frontier, penalty)


@given(graphs(), st.integers(0, 2**32 - 1))
def test_quality_never_falls(edges: Edges, seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 5, edges.nodes)
    after, _ = settle(edges, labels, rng.random(edges.nodes) < 0.5)
    assert len(after) == edges.nodes
    assert modularity(edges, after) >= modularity(edges, labels) - 1e-9


@given(graphs(), st.integers(0, 2**32 - 1))
def test_where_nothing_is_near_a_change_nothing_moves(edges: Edges, seed: int) -> None:
    labels = np.random.default_rng(seed).integers(0, 5, edges.nodes)
    after, moved = settle(edges, labels, np.zeros(edges.nodes, np.bool_))
    assert not moved.any()
    assert_array_equal(after[:, None] == after[None, :], labels[:, None] == labels[None, :])


def gains(edges: Edges, labels: np.ndarray, nodes: range, resolution: float = 1.0) -> dict[tuple[int, int], float]:
    """The gain of every move of one of `nodes` to any label or to a new one."""
    here, found = modularity(edges, labels, resolution), {}
    for v in nodes:
        for label in (*np.unique(labels).tolist(), int(labels.max()) + 1):
            other = labels.copy()
            other[v] = label
            found[v, label] = modularity(edges, other, resolution) - here
    return found


@given(graphs(12), st.integers(0, 2**32 - 1), st.floats(0.2, 3.0))
def test_a_node_goes_where_modularity_grows_most(edges: Edges, seed: int, resolution: float) -> None:
    """The gain that the mover computes orders moves as the difference of modularity does."""
    if not len(edges.weight):
        return
    labels, rows = np.random.default_rng(seed).integers(0, 4, edges.nodes), build_adjacency(edges)
    mover = _Mover(rows, rows.strength, labels, np.full(edges.nodes, resolution / (2 * edges.weight.sum())))
    for v in range(edges.nodes):
        gain = gains(edges, labels, range(v, v + 1), resolution)
        assert gain[v, mover._best(v, mover._neighbours(v))] >= max(gain.values()) - 1e-9


def test_singletons_of_a_ring_of_cliques_find_the_cliques() -> None:
    edges = ring_of_cliques(6, 5)
    after, moved = settle(edges, np.arange(30), np.ones(30, np.bool_))
    assert_array_equal(np.unique(after, return_inverse=True)[1], np.arange(30) // 5)
    assert moved.sum() >= 24
    assert max(gains(edges, after, range(30)).values()) < 1e-12


def test_a_node_leaves_a_community_that_it_has_no_edge_to() -> None:
    edges = graph([(0, 1), (1, 2), (0, 2), (3, 4)], 5)
    after, moved = settle(edges, np.array([0, 0, 0, 0, 4]), np.arange(5) == 3)
    assert after[3] == after[4] != after[0]
    assert moved.tolist() == [False, False, False, True, False]


def test_a_community_joins_another_as_a_whole() -> None:
    """Halves of a clique of eight: no single node gains by changing sides, all four together do."""
    pairs = [(a, b) for a in range(8) for b in range(a)] + [(a, b) for a in range(8, 16) for b in range(8, a)]
    after, _ = settle(graph(pairs), np.repeat([0, 1, 2], [4, 4, 8]), np.arange(16) == 0)
    assert len(set(after[:8].tolist())) == 1
    assert after[0] != after[8]


def test_equal_gains_go_to_the_smaller_label() -> None:
    edges = graph([(0, 1), (1, 2), (2, 3), (3, 4)])
    after, _ = settle(edges, np.array([0, 0, 7, 1, 1]), np.arange(5) == 2)
    assert after.tolist() == [0, 0, 0, 1, 1]


def test_a_node_for_which_every_community_is_too_heavy_is_left_alone() -> None:
    after, moved = settle(graph([(0, 1)]), np.array([0, 0]), np.array([True, True]), resolution=10.0)
    assert after[0] != after[1]
    assert moved.sum() == 1


def test_what_a_node_leaves_behind_moves_after_it() -> None:
    """Node 1 joins 0, 2, 3 and 5, then 4 does, which was not asked about: it is a neighbour of 1."""
    links = [(1, 2, 1.0), (1, 3, 2.0), (1, 4, 1.0), (2, 3, 3.0), (2, 5, 2.0), (3, 4, 2.0), (4, 5, 3.0)]
    one, other, weight = zip(*links, strict=True)
    adjacency = build_adjacency(canonical_edges(one, other, weight, 6))
    penalty, labels = np.full(6, 1 / 28), np.array([0, 1, 0, 0, 2, 0])
    found, moved = _move_nodes(adjacency, adjacency.strength, labels, np.arange(6) == 1, penalty)
    assert (found.tolist(), np.flatnonzero(moved).tolist()) == ([0] * 6, [1, 4])
