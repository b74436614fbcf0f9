"""What holds where nothing is said: usual settings, limits on both sides, and values that hold arrays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from small_graphs import graph, karate

from sensegraph.algorithms import (
    approximate,
    clustering,
    cooccurrence,
    meaning,
    ranking,
    reduction,
    similar,
    walks,
)
from sensegraph.algorithms.clustering import carry_tree, hierarchical_leiden, leiden
from sensegraph.algorithms.cooccurrence import Pruning, prune_concepts
from sensegraph.algorithms.diversity import rank_by_mmr
from sensegraph.algorithms.full_text import Bm25
from sensegraph.algorithms.graphs import build_adjacency
from sensegraph.algorithms.linkage import cluster_by_linkage
from sensegraph.algorithms.ranking import Ranking

ROWS = np.array([[0.0, 3.0], [1.0, 0.0], [2.0, 1.0], [5.0, 5.0]])
PATH = [(0, 1), (1, 2), (2, 3)]


def two_ranks() -> list[Ranking]:
    return [Ranking("a", np.array([7, 3]), np.array([2.0, 1.0])), Ranking("b", np.array([3]), np.array([1.0]))]


VALUES: list[Callable[[], object]] = [
    lambda: graph(PATH),
    lambda: build_adjacency(graph(PATH)),
    lambda: hierarchical_leiden(karate()),
    lambda: carry_tree(hierarchical_leiden(karate()), karate(), karate(), np.arange(34)),
    lambda: two_ranks()[0],
    lambda: Bm25.build([["a"], ["b"]]),
    lambda: walks.build_moves([0, 1], [1, 0], [1.0, 1.0], 2),
    lambda: walks.build_paths([0, 1], [1, 0], [1.0, 1.0], 2),
    lambda: similar.similar_words([["a"], ["a"]], 0.5, 3),
    lambda: similar.group_by_keys(np.array([1, 1]), np.array([0, 1]), np.ones(2, np.int32), count=2, most=5).pair(5),
    lambda: prune_concepts(np.array([0, 2, 4]), np.array([0, 1, 0, 1]), 2, Pruning()),
    lambda: meaning.cluster_rows(ROWS),
    lambda: reduction.fit_projection(ROWS),
    lambda: approximate.Navigator(ROWS.astype(np.float32), ()),
]


@pytest.mark.parametrize("make", VALUES)
def test_a_value_that_holds_arrays_is_equal_to_itself_alone(make: Callable[[], object]) -> None:
    one, same = make(), make()
    assert one == one
    assert one != same


def test_clusters_are_afresh_unless_there_was_a_start() -> None:
    alone = meaning.Clusters(np.zeros(3, np.int32))
    assert (alone.kept, alone.afresh, len(alone), [m.tolist() for m in alone.members()]) == (0, True, 1, [[0, 1, 2]])
    assert len(meaning.Clusters(np.zeros(0, np.int32))) == 0


def test_reciprocal_ranks_are_counted_from_sixty() -> None:
    assert ranking.fuse_by_reciprocal_rank([["a", "b"]]) == [("a", 1 / 61), ("b", 1 / 62)]
    assert ranking.by_ranks(two_ranks(), [1.0, 1.0]).scores.tolist() == pytest.approx([1 / 62 + 1 / 61, 1 / 61])
    found = ranking.near_best([Ranking("a", np.array([1, 2]), np.array([4.0, 2.0]))], [1.0])
    assert found.scores.tolist() == [1.0, 0.125]
    many = [Ranking("a", np.arange(100), np.arange(100.0, 0, -1)), Ranking("b", np.arange(100, 200), np.ones(100))]
    usual, same, other = (ranking.by_shares(many, [1.0, 0.9], **c) for c in ({}, {"c": 60}, {"c": 0}))
    assert usual.positions.tolist() == same.positions.tolist()
    assert usual.scores.tolist() == other.scores.tolist()


def test_words_count_as_in_bm25_with_its_usual_settings() -> None:
    """ln(1 + (N − df + ½) / (df + ½)) · tf / (tf + k1 (1 − b + b l / l̄)), k1 = 1.5, b = 0.75."""
    index = Bm25.build([["a", "a", "b"], ["b"]])
    assert (index.k1, index.b, len(index)) == (1.5, 0.75, 2)
    assert index.score(["a"]).tolist() == pytest.approx([np.log(2) * 2 / (2 + 1.5 * (0.25 + 0.75 * 3 / 2)), 0.0])
    assert index.score(["a", "a"]).tolist() == pytest.approx((2 * index.score(["a"])).tolist())
    assert Bm25.build([[], []]).score(["a"]).tolist() == [0.0, 0.0]


def test_fitting_and_adding_count_alike_where_nothing_is_said() -> None:
    rows = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    order, values = rank_by_mmr(np.array([0.9, 0.8, 0.1]), rows, 3)
    assert order.tolist() == [0, 2, 1]
    assert values.tolist() == pytest.approx([0.45, 0.05, 0.4 - 0.5])


def test_a_walk_returns_half_of_the_time_and_takes_ten_steps() -> None:
    walk = walks.build_moves([0, 1, 2], [1, 2, 0], [1.0, 1.0, 1.0], 3)
    usual = walks.pagerank(walk, [1.0, 0.0, 0.0])
    assert usual.tolist() == walks.pagerank(walk, [1.0, 0.0, 0.0], 0.5, 10).tolist()
    assert usual.tolist() != walks.pagerank(walk, [1.0, 0.0, 0.0], 0.5, 11).tolist()
    assert walks.pagerank(walk, [1.0, 0.0, 0.0], 0.25, 1).tolist() == [0.75, 0.25, 0.0]


@pytest.mark.parametrize(
    ("edges", "depth", "cycles"),
    [
        (10, 0, 10), (40_000, 0, 10), (40_001, 0, 9), (200_000, 0, 2), (10**6, 0, 2),
        (10_000, 1, 10), (10_001, 1, 9), (99_999, 2, 1), (10**6, 1, 1),
    ],
)  # fmt: skip
def test_leiden_takes_fewer_cycles_the_more_edges_there_are(edges: int, depth: int, cycles: int) -> None:
    assert clustering._Rule(1.0, 0.001, None, 0).cycles(edges, depth) == cycles
    assert isinstance(clustering._Rule(1.0, 0.001, None, 0).cycles(edges, depth), int)
    assert clustering._Rule(1.0, 0.001, 7, 0).cycles(edges, depth) == 7


def test_communities_of_more_than_ten_are_divided_where_nothing_is_said() -> None:
    usual, same = (
        hierarchical_leiden(karate()),
        hierarchical_leiden(karate(), max_cluster_size=10, resolution=1.0, randomness=0.001, seed=0),
    )
    assert (usual.members.tolist(), usual.start.tolist()) == (same.members.tolist(), same.start.tolist())
    assert usual.depths > 1
    assert hierarchical_leiden(karate(), max_depth=1).depths == 1
    assert hierarchical_leiden(karate(), max_cluster_size=100).depths == 1
    assert leiden(karate()).tolist() == leiden(karate(), resolution=1.0, randomness=0.001, seed=0).tolist()
    assert leiden(karate(), resolution=10.0).max() > leiden(karate()).max()


@pytest.mark.parametrize(
    ("groups", "extent", "edges"),
    [
        ([[0, 1], [0, 1]], "weak", [(0, 1, 2.0)]),  # each has but one neighbour
        ([[0, 1, 2], [0, 1, 2]], "full", [(0, 1, 2.0), (0, 2, 2.0), (1, 2, 2.0)]),
        ([[0, 1], [0, 2], [1, 3]], "weak", [(0, 1, 1.0)]),  # light, but between concepts of several groups
        ([[0, 1], [2, 3]], "none", [(0, 1, 1.0), (2, 3, 1.0)]),
    ],
)
def test_concepts_are_pruned_as_far_as_something_is_left(
    groups: list[list[int]], extent: str, edges: list[tuple[int, int, float]]
) -> None:
    assert Pruning() == Pruning(3.0, 2, 2, 0.5)
    start, held = np.cumsum([0, *map(len, groups)]), np.concatenate(groups)
    found = prune_concepts(start, held, int(held.max()) + 1, Pruning())
    got = list(zip(found.edges.source.tolist(), found.edges.target.tolist(), found.edges.weight, strict=True))
    assert (found.extent, got) == (extent, edges)


def test_pairs_in_small_blocks_are_the_same_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    start, held = np.array([0, 5, 5, 7, 11]), np.array([0, 1, 2, 3, 4, 1, 3, 0, 2, 3, 4])
    whole = cooccurrence._count_pairs(start, held, np.ones(5, bool))
    for block in (1, 2, 5):
        monkeypatch.setattr(cooccurrence, "_BLOCK", block)
        found = cooccurrence._count_pairs(start, held, np.ones(5, bool))
        assert [a.tolist() for a in found] == [a.tolist() for a in whole]
    assert whole[1].sum() == 10 + 1 + 6


@pytest.mark.parametrize(
    ("rows", "graphs", "top", "helps"),
    [
        (2048, 1, 5, False), (2049, 1, 5, True), (2049, 1, 32, True), (2049, 1, 33, False), (2113, 1, 33, True),
        (4096, 2, 5, False), (4097, 2, 5, True),
    ],
)  # fmt: skip
def test_a_graph_helps_where_it_reads_fewer_rows_than_there_are(rows: int, graphs: int, top: int, helps: bool) -> None:
    none = np.zeros(0, np.uint8)
    found = approximate.Navigator(np.zeros((rows, 1), np.float32), [(0, none)] * graphs)
    assert found.helps(top) is helps


@pytest.mark.parametrize(
    ("third", "accept", "reject", "wanted"),
    [
        (0.3, 0.6, 0.0, [[0, 1, 2]]), (0.3, 0.6, 0.3, [[0, 1, 2]]), (0.3, 0.6, 0.31, [[0, 1], [2]]),
        (0.3, 0.61, 0.0, [[0, 1], [2]]), (0.9, 0.9, 0.9, [[0, 1, 2]]), (0.9, 0.91, 0.0, [[0], [1], [2]]),
    ],
)  # fmt: skip
def test_clusters_join_from_a_mean_on_and_no_pair_is_below_what_is_rejected(
    third: float, accept: float, reject: float, wanted: list[list[int]]
) -> None:
    scores = [(0, 1, 0.9), (1, 2, 0.9), (0, 2, third)]
    assert cluster_by_linkage(3, scores, accept=accept, reject=reject) == wanted


def test_a_direction_of_hardly_any_variance_is_one_and_rounding_is_none() -> None:
    signs = np.random.default_rng(0).permutation(np.tile([1.0, -1.0], 500))
    wide = np.tile([1.0, 1.0, -1.0, -1.0], 250)
    for least, columns in ((1e-3, 2), (4e-6, 2), (2e-6, 1), (0.0, 1)):
        assert reduction.reduce_dimensions(np.column_stack((wide, least * signs))).shape == (1000, columns)


def test_a_row_of_zeros_displaces_no_row_that_is_far() -> None:
    rows = np.array([[0, 0], [0, 0], [-1, 0], [-2, 0]], np.float32)
    positions, scores = ranking.find_nearest_rows(rows, np.array([1, 0], np.float32), 1)
    assert (positions.tolist(), scores.tolist()) == ([2], [-1.0])


def test_what_a_stored_graph_is_says_how_it_was_made() -> None:
    made = f"usearch 2, i8, {approximate._LINKS} links, {approximate._BUILD} looked at"
    assert made == approximate.FORMAT
