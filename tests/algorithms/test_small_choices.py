"""Choices, groups and trees over a handful of numbers, worked out by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from sensegraph.algorithms import clustering, meaning
from sensegraph.algorithms.clustering import _frame_whole, _gains_quality, _root_components, _Rule, carry_tree
from sensegraph.algorithms.diversity import choose_cover, rank_by_cover, rank_by_mmr
from sensegraph.algorithms.graphs import build_adjacency, canonical_edges
from sensegraph.algorithms.linkage import cluster_by_linkage
from sensegraph.algorithms.meaning import Clusters, cluster_rows, measure_scatter, measure_sparsity
from sensegraph.algorithms.similar import similar_rows
from sensegraph.algorithms.trees import tree_of

# ── what adds most ──


def test_each_choice_has_the_value_that_it_was_chosen_for() -> None:
    """Relevance 0.9, 0.8, 0.3; the first two rows are 0.6 alike, the third differs from both."""
    rows = np.array([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]])
    positions, values = rank_by_mmr(np.array([0.9, 0.8, 0.3]), rows, 3, 0.5)
    assert positions.tolist() == [0, 2, 1]
    assert values.tolist() == pytest.approx([0.45, 0.15, 0.4 - 0.3])
    positions, values = rank_by_mmr(np.array([0.9, 0.8, 0.3]), rows, 2, 0.8)
    assert (positions.tolist(), values.tolist()) == ([0, 1], pytest.approx([0.72, 0.64 - 0.12]))
    opposite = rank_by_mmr(np.array([1.0, 0.0, 0.1]), np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]]), 3, 0.5)
    assert (opposite[0].tolist(), opposite[1].tolist()) == ([0, 1, 2], pytest.approx([0.5, 0.5, 0.05]))


@pytest.mark.parametrize(("top", "chosen"), [(-1, []), (0, []), (1, [1]), (9, [1, 0])])
def test_as_many_are_chosen_as_are_asked_for_and_there(top: int, chosen: list[int]) -> None:
    for balance in (0.0, 1.0):
        found, values = rank_by_mmr(np.array([0.1, 0.2]), np.eye(2), top, balance)
        assert len(values) == len(found) == len(chosen)
        if balance:
            assert found.tolist() == chosen


START, ELEMENTS = np.array([0, 2, 5, 6, 6]), np.array([0, 1, 1, 2, 2, 3])  # {0, 1}, {1, 2}, {3} and nothing


@pytest.mark.parametrize(
    ("weights", "costs", "top", "chosen", "gains"),
    [
        ([4, 3, 2, 1], None, 9, [0, 1, 2], [7, 2, 1]),
        ([4, 3, 2, 1], None, 2, [0, 1], [7, 2]),
        ([4, 3, 2, 1], None, 0, [], []),
        ([1, 3, 5, 1], None, 9, [1, 0, 2], [8, 1, 1]),
        ([4, 3, 2, 0], None, 9, [0, 1], [7, 2]),
        ([0, 0, 0, 0], None, 9, [], []),
        ([4, 3, 2, 1], [7.1, 5.0, 1.0, 1.0], 9, [1, 2, 0], [5, 1, 4]),  # 0.99, 1 and 1 for their cost
        ([4, 3, 2, 1], [7.0, 5.0, 0.1, 1.0], 1, [2], [1]),
    ],
)
def test_sets_are_chosen_that_add_most_for_their_cost(
    weights: list[float], costs: list[float] | None, top: int, chosen: list[int], gains: list[float]
) -> None:
    found = choose_cover(START, ELEMENTS, np.array(weights), top, None if costs is None else np.array(costs))
    assert (found[0].tolist(), found[1].tolist()) == (chosen, gains)


def test_a_ranking_has_every_set_and_those_that_add_nothing_in_their_order() -> None:
    assert rank_by_cover(START, ELEMENTS, np.array([0.0, 0.0, 0.0, 1.0])).tolist() == [2, 0, 1, 3]
    assert rank_by_cover(np.array([0]), np.zeros(0, np.int64), np.zeros(0)).tolist() == []


@pytest.mark.parametrize(
    ("start", "elements", "weights", "costs"),
    [
        ([], [], [1.0], None),
        ([1, 2], [0, 0], [1.0], None),
        ([0, 1], [0, 0], [1.0], None),
        ([0, 2, 1, 2], [0, 0], [1.0], None),
        ([0, 1], [1], [1.0], None),
        ([0, 1], [-1], [1.0], None),
        ([0, 1], [0], [-1.0], None),
        ([0, 1], [0], [math.nan], None),
        ([0, 1], [0], [1.0], [0.0]),
        ([0, 1], [0], [1.0], [1.0, 1.0]),
        ([0, 1], [0], [1.0], [math.inf]),
    ],
)
def test_sets_that_do_not_fit_are_refused(
    start: list[int], elements: list[int], weights: list[float], costs: list[float] | None
) -> None:
    given = np.array(start, np.int64), np.array(elements, np.int64), np.array(weights)
    with pytest.raises(ValueError, match=r"start|elements|weights|costs"):
        choose_cover(*given, 3, None if costs is None else np.array(costs))


# ── groups of rows ──


@pytest.mark.parametrize(
    ("n", "size", "wanted"), [(1, 20, 2), (49, 20, 2), (50, 20, 3), (100, 20, 5), (109, 20, 5), (110, 20, 6)]
)
def test_as_many_clusters_are_wanted_as_rows_divided_by_the_size_at_least_two(n: int, size: int, wanted: int) -> None:
    assert meaning._count_wanted(n, size) == wanted


def test_scatter_is_what_is_left_inside_of_what_varies() -> None:
    x = np.array([[0.0], [2.0], [10.0], [12.0]])  # 4 · 26 in all, 1 + 1 in each of two pairs
    assert measure_scatter(x, np.array([0, 0, 1, 1])) == pytest.approx(4 / 104)
    assert measure_scatter(x, np.array([0, 0, 0, 0])) == pytest.approx(1.0)
    assert measure_scatter(x, np.array([3, 1, 0, 2])) == 0.0
    assert measure_scatter(np.ones((3, 2)), np.zeros(3, int)) == 0.0
    assert measure_scatter(np.zeros((0, 2)), np.zeros(0, int)) == 0.0


@pytest.mark.parametrize(
    ("sizes", "n", "sparsity"),
    [([2, 2], 4, 1 - 4 / 12), ([4], 4, 0.0), ([1, 1, 1], 3, 1.0), ([1], 1, 1.0), ([], 0, 1.0), ([2], 2, 0.0)],
)
def test_sparsity_is_the_share_of_pairs_that_no_cluster_joins(sizes: list[int], n: int, sparsity: float) -> None:
    assert measure_sparsity(sizes, n) == pytest.approx(sparsity)


def test_what_is_kept_of_a_start_is_counted_and_labels_are_numbered_by_their_first_row() -> None:
    x = np.array([[9.0, 0.0], [0.0, 0.0], [9.1, 0.0], [0.1, 0.0], [9.2, 0.0]])
    start = np.array([5, 2, 5, 2, -1])
    found = cluster_rows(x, 3, start=start)
    assert (found.labels.tolist(), found.kept, found.afresh) == ([0, 1, 0, 1, 0], 1, False)
    same = cluster_rows(x[:4], 3, start=start[:4])
    assert (same.labels.tolist(), same.kept, len(same)) == ([0, 1, 0, 1], 2, 2)
    fresh = cluster_rows(x, 3)
    assert (fresh.kept, fresh.afresh) == (0, True)
    assert [m.tolist() for m in Clusters(np.array([1, 0, 1], np.int32)).members()] == [[1], [0, 2]]


def test_a_cluster_of_more_than_twice_the_size_is_divided_and_one_of_twice_is_not() -> None:
    for n, clusters in ((6, 1), (7, 2)):
        found = cluster_rows(np.arange(n)[:, None] * 1e-3, 3, start=np.zeros(n, int))
        assert (len(found) == 1) == (clusters == 1)
        assert max(map(len, found.members())) <= 6


# ── communities ──


@pytest.mark.parametrize(
    ("edges", "depth", "cycles"),
    [(1, 0, 10), (40_000, 0, 10), (44_445, 0, 8), (133_334, 0, 2), (10**7, 0, 2), (10_000, 1, 10), (11_112, 1, 8),
     (50_001, 1, 1), (10**7, 2, 1)],
)  # fmt: skip
def test_large_graphs_get_fewer_cycles(edges: int, depth: int, cycles: int) -> None:
    assert _Rule(1.0, 0.001, None, 0).cycles(edges, depth) == cycles
    assert _Rule(1.0, 0.001, 5, 0).cycles(edges, depth) == 5


def graph(*pairs: tuple[int, int], nodes: int = 6, weights: list[float] | None = None) -> clustering.Edges:
    one, other = (np.array([p[i] for p in pairs], np.int64) for i in (0, 1))
    return canonical_edges(one, other, np.array(weights or [1.0] * len(pairs)), nodes)


TRIANGLES = graph((0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5), (2, 3))


def test_a_community_that_is_no_longer_joined_counts_as_its_parts() -> None:
    whole = build_adjacency(TRIANGLES)
    assert _root_components(whole, np.array([7, 7, 7, 4, 4, 4])).tolist() == [0, 0, 0, 3, 3, 3]
    assert _root_components(whole, np.array([1, 2, 1, 1, 2, 2])).tolist() == [0, 1, 0, 0, 4, 4]
    assert _root_components(whole, np.zeros(6, int)).tolist() == [0] * 6


def test_a_division_counts_where_it_gains_quality() -> None:
    """Two triangles and a bridge: 6/7 of the edges are inside, and each half has half of all ends: 6/7 − γ/2."""
    frame = _frame_whole(build_adjacency(TRIANGLES))
    halves, one, rule = np.array([0, 0, 0, 3, 3, 3]), np.zeros(6, np.int32), _Rule(1.0, 0.001, None, 0)
    assert _gains_quality(frame, halves, rule, 0).tolist() == [True]
    assert _gains_quality(frame, one, rule, 0).tolist() == [False]
    for resolution, better in ((2 / 7 - 0.01, False), (2 / 7 + 0.01, True)):  # 6/7 − γ/2 > 1 − γ
        assert _gains_quality(frame, halves, replace(rule, resolution=resolution), 0).tolist() == [better]


def test_a_tree_on_another_graph_says_what_was_touched_and_what_has_changed() -> None:
    """Node 1 goes, the bridge 2 — 3 gets heavier, node 6 comes to 5; numbers fall by one behind node 1."""
    tree = tree_of([np.array([0, 0, 0, 3, 3, 3], np.int32)], 6)
    mapping = np.array([0, -1, 1, 2, 3, 4])
    after = graph((0, 1), (2, 3), (2, 4), (3, 4), (1, 2), (4, 5), weights=[1, 1, 1, 1, 3, 1])
    start = carry_tree(tree, TRIANGLES, after, mapping)
    assert start.touched.tolist() == [0, 1, 2, 4, 5]  # 0 and 1 lost node 1; 1 — 2 and 4 — 5 differ
    assert start.changed.tolist() == [True, False]
    assert [start.tree.of(i).tolist() for i in range(len(start.tree))] == [[0, 1], [2, 3, 4]]
    same = carry_tree(tree, TRIANGLES, TRIANGLES, np.arange(6))
    assert (same.touched.tolist(), same.changed.tolist()) == ([], [False, False])
    inner = graph((0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (2, 3))
    assert carry_tree(tree, TRIANGLES, inner, np.arange(6)).changed.tolist() == [False, True]
    for wrong in (np.arange(5), np.arange(7)):
        with pytest.raises(ValueError, match="the tree has 6 nodes"):
            carry_tree(tree, TRIANGLES, TRIANGLES, wrong)


# ── pairs at their bound ──


def test_a_pair_of_just_the_least_likeness_counts() -> None:
    rows = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    for least, pairs in ((0.6, [(0, 1, 0.6), (1, 2, 0.8)]), (0.61, [(1, 2, 0.8)])):
        found = similar_rows(rows, least, 3)
        listed = zip(found.one.tolist(), found.other.tolist(), found.similarity.tolist(), strict=True)
        assert list(listed) == [(a, b, pytest.approx(s)) for a, b, s in pairs]


def test_clusters_of_two_and_three_join_where_their_mean_is_just_accepted() -> None:
    """Six scores between {0, 1} and {2, 3, 4}, whose mean is 0.7; inside each all are 1."""
    inside = [(0, 1, 1.0), (2, 3, 1.0), (2, 4, 1.0), (3, 4, 1.0)]
    between = [(a, b, 0.6 if a else 0.8) for a in (0, 1) for b in (2, 3, 4)]
    begun = [(0, 1), (2, 3), (3, 4)]
    for accept, found in ((0.7, [[0, 1, 2, 3, 4]]), (0.71, [[0, 1], [2, 3, 4]])):
        assert cluster_by_linkage(5, inside + between, accept=accept, reject=0.1, joined=begun) == found
        assert cluster_by_linkage(5, inside + between, accept=accept, reject=0.1) == found


def test_equal_rows_are_divided_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_WHOLE", "_BRANCH", "_EACH"):
        monkeypatch.setattr(meaning, name, 2)
    assert meaning._divide_tree(np.ones((10, 1)), 5, 0).tolist() == [0] * 10
    pairs = np.repeat([0.0, 100.0], 5)[:, None]
    found = meaning._list_members(meaning._divide_tree(pairs, 5, 0))
    assert sorted(rows.tolist() for rows in found) == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
