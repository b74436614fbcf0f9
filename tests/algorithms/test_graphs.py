from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from small_graphs import graph, graphs, karate

from sensegraph.algorithms.graphs import (
    Edges,
    build_adjacency,
    canonical_edges,
    cut_ranges,
    induce_subgraph,
    label_components,
    modularity,
    number_roots,
    smallest_members,
)


def same(one: Edges, other: Edges) -> bool:
    return all(getattr(one, f).tobytes() == getattr(other, f).tobytes() for f in ("source", "target", "weight"))


def dense(edges: Edges) -> np.ndarray:
    matrix = np.zeros((edges.nodes, edges.nodes))
    matrix[edges.source, edges.target] = matrix[edges.target, edges.source] = edges.weight
    return matrix


def test_duplicates_in_both_directions_are_summed_and_loops_dropped() -> None:
    edges = canonical_edges([2, 0, 1, 2], [0, 2, 0, 2], [1.0, 2.0, 4.0, 8.0], 3)
    assert_array_equal(edges.source, [0, 0])
    assert_array_equal(edges.target, [1, 2])
    assert_array_equal(edges.weight, [4.0, 3.0])
    assert edges.source.dtype == edges.target.dtype == np.int32


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.floats(1e-3, 1e3)), max_size=40), st.randoms())
def test_the_canonical_form_does_not_depend_on_order_or_direction(rows: list, random) -> None:
    turned = [(b, a, w) if random.random() < 0.5 else (a, b, w) for a, b, w in rows]
    random.shuffle(turned)
    one, other = (canonical_edges(*np.array(r or [(0, 0, 1.0)]).T, 7) for r in (rows, turned))
    assert same(one, other)
    assert (one.source < one.target).all()
    assert (np.diff(one.keys) > 0).all()


@pytest.mark.parametrize("weight", [0.0, -1.0, np.nan, np.inf])
def test_a_weight_that_is_not_positive_and_finite_is_refused(weight: float) -> None:
    with pytest.raises(ValueError, match=r"edge 1 \(1, 2\) has the weight"):
        canonical_edges([0, 1], [1, 2], [1.0, weight], 3)


@pytest.mark.parametrize(("a", "b"), [(-1, 0), (0, 3)])
def test_a_node_out_of_range_is_refused(a: int, b: int) -> None:
    with pytest.raises(ValueError, match="nodes are 0 to 2"):
        canonical_edges([a], [b], [1.0], 3)


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="one length"):
        canonical_edges([0, 1], [1], [1.0], 3)


def test_more_nodes_than_32_bits_can_number_are_refused() -> None:
    with pytest.raises(ValueError, match="32 bits"):
        canonical_edges([], [], [], 2**31)


@given(graphs())
def test_the_rows_are_those_of_the_dense_matrix(edges: Edges) -> None:
    rows = build_adjacency(edges)
    matrix = dense(edges)
    for v in range(edges.nodes):
        at = slice(rows.indptr[v], rows.indptr[v + 1])
        assert_array_equal(rows.indices[at], np.flatnonzero(matrix[v]))
        assert_array_equal(rows.data[at], matrix[v][matrix[v] > 0])
    assert_array_equal(rows.strength, matrix.sum(axis=1))


@given(graphs(), st.integers(0, 2**32 - 1))
def test_an_induced_graph_keeps_exactly_the_edges_inside_its_blocks(edges: Edges, seed: int) -> None:
    block = np.random.default_rng(seed).integers(-1, 3, edges.nodes)
    part, nodes = induce_subgraph(build_adjacency(edges), block)
    assert_array_equal(nodes, np.flatnonzero(block >= 0))
    matrix = np.zeros((len(nodes), len(nodes)))
    matrix[part.rows, part.indices] = part.data
    expected = dense(edges) * (block[:, None] == block[None, :])
    assert_array_equal(matrix, expected[np.ix_(nodes, nodes)])


@given(graphs(60))
def test_components_agree_with_scipy(edges: Edges) -> None:
    matrix = coo_array((edges.weight, (edges.source, edges.target)), shape=(edges.nodes, edges.nodes))
    expected = connected_components(matrix, directed=False)[1] if edges.nodes else np.zeros(0)
    ours = label_components(edges)
    assert len(ours) == edges.nodes
    assert len({*zip(ours.tolist(), expected.tolist(), strict=True)}) == len(set(ours.tolist())) == len({*expected})
    assert_array_equal(ours, number_roots(smallest_members(edges.source, edges.target, edges.nodes)))


@pytest.mark.parametrize("seed", range(5))
def test_a_long_path_in_any_order_is_one_component(seed: int) -> None:
    order = np.random.default_rng(seed).permutation(3000)
    smallest = smallest_members(order[:-1], order[1:], 3000)
    assert smallest.tolist() == [0] * 3000


def test_components_are_numbered_by_their_smallest_nodes() -> None:
    assert_array_equal(label_components(graph([(0, 3), (1, 2)], 5)), [0, 1, 1, 0, 2])


@given(graphs(), st.integers(0, 2**32 - 1), st.floats(0.1, 5.0))
def test_modularity_is_the_double_sum_of_its_definition(edges: Edges, seed: int, resolution: float) -> None:
    labels = np.random.default_rng(seed).integers(0, 4, edges.nodes)
    matrix, k = dense(edges), dense(edges).sum(axis=1)
    together = labels[:, None] == labels[None, :]
    total = k.sum()
    expected = ((matrix - resolution * np.outer(k, k) / total) * together).sum() / total if total else 0.0
    assert modularity(edges, labels, resolution) == pytest.approx(expected, abs=1e-12)


def test_the_two_factions_of_the_karate_club_have_the_published_modularity() -> None:
    first = {0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 16, 17, 19, 21}
    edges = karate()
    assert (edges.nodes, len(edges.weight)) == (34, 78)
    assert modularity(edges, np.array([v in first for v in range(34)], np.int64)) == pytest.approx(0.37146614)


def test_weights_of_one_pair_have_the_same_sum_in_any_order() -> None:
    """In floating point 0.1 + (0.2 + 0.3) is not 0.3 + (0.1 + 0.2)."""
    every = [canonical_edges([0, 1, 0], [1, 0, 1], weights, 2) for weights in permutations((0.3, 0.1, 0.2))]
    assert {edges.weight.tobytes() for edges in every} == {np.array([0.1 + (0.2 + 0.3)]).tobytes()}
    assert {(*edges.source.tolist(), *edges.target.tolist()) for edges in every} == {(0, 1)}


@given(st.lists(st.integers(0, 5), max_size=30), st.integers(1, 9))
def test_ranges_of_rows_have_about_as_many_things_each(counts: list[int], most: int) -> None:
    found = cut_ranges(np.array(counts, np.int64), most)
    assert [row for first, last in found for row in range(first, last)] == [*range(len(counts))]
    held = [sum(counts[first:last]) for first, last in found]
    assert max(held, default=0) <= most + max(counts, default=0)
    assert len(found) <= 1 + sum(counts) // most
