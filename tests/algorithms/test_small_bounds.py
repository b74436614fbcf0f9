"""Bounds of blocks, and starts of which one is enough: what is asked for, and how often."""

from __future__ import annotations

import math
from typing import Any

import graspologic_native
import numpy as np
import pytest
from small_graphs import graph

from sensegraph.algorithms import clustering, cooccurrence, layout, mixtures, ranking, reduction, segments, similar
from sensegraph.algorithms.approximate import Navigator
from sensegraph.algorithms.full_text import Bm25
from sensegraph.algorithms.graphs import build_adjacency, canonical_edges
from sensegraph.algorithms.mixtures import fit_mixture
from sensegraph.algorithms.reduction import fit_projection
from sensegraph.algorithms.segments import cut_runs, cut_segments
from sensegraph.algorithms.trees import tree_of


class Noting:
    """A matrix that notes which rows are read of it at once."""

    def __init__(self, rows: int, dim: int) -> None:
        self.shape, self.read = (rows, dim), list[tuple[int, int]]()

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, where: slice) -> np.ndarray:
        self.read.append((where.start, where.stop))
        return np.zeros((min(where.stop, len(self)) - where.start, self.shape[1]), np.float32)


def test_rows_are_read_in_blocks_of_32_megabytes() -> None:
    dim = 1 << 18  # a row of a megabyte
    matrix: Any = Noting(40, dim)
    (found,) = cut_segments(matrix)
    assert (found.begin, found.end) == (0, 40)
    assert matrix.read == [(0, 32), (32, 40)] * 2


@pytest.mark.parametrize(
    ("ends", "least", "most", "runs"),
    [
        ("", 1, 5, []),
        (".", 1, 5, [(0, 1)]),
        ("x.x.", 1, 5, [(0, 1), (1, 3), (3, 4)]),
        ("x.x.", 2, 5, [(0, 3), (3, 4)]),
        ("x.x.", 3, 5, [(0, 3), (3, 4)]),
        ("x.x.", 4, 5, [(0, 4)]),
        (".....", 1, 2, [(0, 2), (2, 4), (4, 5)]),
        ("....x", 1, 4, [(0, 4), (4, 5)]),
        ("....x", 1, 5, [(0, 5)]),
        ("xxxx", 1, 1, [(0, 1), (1, 2), (2, 3), (3, 4)]),
    ],
)
def test_runs_end_with_the_first_that_may_end_one(
    ends: str, least: int, most: int, runs: list[tuple[int, int]]
) -> None:
    assert cut_runs(np.array([c == "x" for c in ends], np.bool_), least, most) == runs
    assert segments.LEAST == segments.USUAL == segments.MOST // 4 == 65_536


@pytest.mark.parametrize(("k", "starts", "runs"), [(1, 5, 1), (2, 1, 1), (2, 0, 1), (2, 2, 3), (3, 4, 5)])
def test_starts_are_compared_where_there_are_several_of_several_components(
    monkeypatch: pytest.MonkeyPatch, k: int, starts: int, runs: int
) -> None:
    told: list[tuple[Any, ...]] = []
    run = mixtures._run_em

    def note(rows: Any, mixture: Any, prior: Any, *given: Any) -> Any:
        told.append(given)
        return run(rows, mixture, prior, *given)

    monkeypatch.setattr(mixtures, "_run_em", note)
    rows = np.array([[0.0, 0.1], [0.1, 0.0], [5.0, 5.1], [5.1, 5.0], [9.0, 0.0], [9.1, 0.1]])
    found = fit_mixture(rows, k, seed=3, starts=starts)
    assert len(found) == k
    assert len(told) == runs
    assert [len(given) for given in told] == [1] * (runs - 1) + [2]


def test_a_navigator_is_shown_without_its_lock_and_is_made_without_it() -> None:
    made = Navigator(np.zeros((2, 3), np.float32), ())
    assert "lock" not in repr(made)
    with pytest.raises(TypeError):
        Navigator(np.zeros((2, 3), np.float32), (), made._lock)  # type: ignore[call-arg]


def test_of_many_equal_scores_the_first_are_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "_SAMPLE", 2)
    monkeypatch.setattr(ranking, "_TIMES", 1)
    positions, scores = ranking.select_best(np.ones(10), 2)
    assert (positions.tolist(), scores.tolist()) == ([0, 1], [1.0, 1.0])
    positions, scores = ranking.select_best(np.arange(10.0), 1)
    assert (positions.tolist(), scores.tolist()) == ([9], [9.0])


def test_a_document_alone_is_as_long_as_the_mean() -> None:
    """ln(1 + ½ / 1½) · 2 / (2 + k1), as its length over the mean is 1."""
    assert Bm25.build([["sea", "sea", "ship"]]).score(["sea"]).tolist() == [pytest.approx(math.log(4 / 3) * 2 / 3.5)]


def test_a_row_alone_is_its_own_mean() -> None:
    for row in ([3.0, 4.0], [0.5, -0.25, 0.125], [0.0]):
        assert fit_projection(np.array([row]))(np.array([row])).tolist() == [[0.0]]


def test_of_nearly_equal_entries_the_largest_is_positive() -> None:
    along = np.array([-0.703, 0.711])
    axes = fit_projection(np.linspace(-1, 1, 9)[:, None] * along / np.linalg.norm(along), 1).axes
    assert np.sign(axes[:, 0]).tolist() == [-1.0, 1.0]


def test_discs_that_still_overlap_are_moved_until_they_do_not_quite_touch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "_PUSHES", 0)
    places = layout._push_apart(np.array([1, 2, 5j]), np.ones(3), np.zeros(3, np.int64), 1.0)
    assert 0 < abs(places[1] - places[0]) / 2 - 1 < 2e-9


@pytest.mark.parametrize("resolution", [1.0, 0.5])
@pytest.mark.parametrize("quality", ["modularity", "cpm"])
def test_without_edges_two_nodes_cost_the_resolution(resolution: float, quality: clustering.Quality) -> None:
    frame = clustering._frame_whole(build_adjacency(canonical_edges([], [], [], 3)))
    rule = clustering._Rule(resolution, 0.001, None, 0, quality)
    assert clustering._penalties(frame, rule, 0).tolist() == [resolution]


def test_points_have_a_direction_unless_they_are_at_the_origin() -> None:
    points = np.array([3 + 4j, -2e-9, 0.9e-9j, 0])
    assert layout._find_directions(points).tolist() == pytest.approx([0.6 + 0.8j, -1, 0, 0])
    assert layout._find_directions(points, 1).tolist() == pytest.approx([0.6 + 0.8j, -1, 1, 1])
    assert layout._find_directions(points, np.array([5, 6, 7j, 8])).tolist() == pytest.approx([0.6 + 0.8j, -1, 7j, 8])


@pytest.mark.parametrize("quality", ["modularity", "cpm"])
def test_weights_are_given_in_a_unit_of_their_mean_and_blocks_weigh_alike(
    monkeypatch: pytest.MonkeyPatch, quality: clustering.Quality
) -> None:
    """Three blocks of 3, 2 and 2 nodes, in quite different weights."""
    calls: list[tuple[Any, ...]] = []

    def note(*given: Any, max_local_moving_iterations: int | None) -> tuple[float, dict[int, int]]:
        calls.append((*given, max_local_moving_iterations))
        return 0.0, {v: v for v in range(given[3])}

    monkeypatch.setattr(graspologic_native, "leiden_csr", note)
    edges = canonical_edges([0, 0, 3, 5], [1, 2, 4, 6], [1.0, 2.0, 30.0, 0.5], 7)
    block = np.array([0, 0, 0, 1, 1, 2, 2], np.int32)
    frame = clustering._Frame(build_adjacency(edges), np.arange(7, dtype=np.int32), block, 3)
    rule = clustering._Rule(0.7, 0.01, 5, 11, quality, 4)
    clustering._split_afresh(rule)(frame, 2)
    ((_, _, scaled, nodes, gamma, randomness, cycles, by_modularity, seed, sweeps),) = calls
    assert (nodes, randomness, cycles, by_modularity, seed, sweeps) == (7, 0.01, 5, quality == "modularity", 13, 4)
    assert scaled.mean() == pytest.approx(1.0)
    if quality == "modularity":
        assert scaled.tolist() == pytest.approx([4 / 9, 8 / 9, 4 / 9, 8 / 9, 4 / 3, 4 / 3, 4 / 3, 4 / 3])
        assert gamma == pytest.approx(0.7 * 3)
    else:  # each in units of its own mean weight a pair of nodes: 3 / 3, 30 / 1 and ½ / 1
        assert scaled.tolist() == pytest.approx([x * gamma for x in (1, 2, 1, 2, 1, 1, 1, 1)])
        assert gamma == pytest.approx(8 / 10)


@pytest.mark.parametrize(
    ("after", "mapping", "kept"),
    [
        ([(0, 1), (1, 2), (3, 4), (2, 3)], [0, 1, 2, 3, 4], [True, True, True, True, True]),
        ([(0, 1), (1, 2), (0, 2), (3, 4), (2, 3)], [0, 1, 2, 3, 4], [False, False, False, True, True]),
        ([(0, 1), (1, 2), (3, 4), (0, 4)], [0, 1, 2, 3, 4], [True, True, True, True, True]),
        ([(0, 1), (1, 2), (2, 3)], [0, 1, 2, 3, -1], [True, True, True, False]),
        ([(0, 1), (1, 2), (3, 4), (4, 5), (2, 3)], [0, 1, 2, 3, 4], [True, True, True, False, False, False]),
    ],
)
def test_communities_with_the_members_and_inner_edges_of_before_are_kept(
    after: list[tuple[int, int]], mapping: list[int], kept: list[bool]
) -> None:
    """A path of three and a pair, joined by an edge."""
    before = graph([(0, 1), (1, 2), (3, 4), (2, 3)])
    nodes = len(kept)
    now = canonical_edges(*zip(*after, strict=True), np.ones(len(after)), nodes)
    start = clustering.carry_tree(tree_of([np.array([0, 0, 0, 3, 3], np.int32)], 5), before, now, np.array(mapping))
    update = clustering._Update(start, clustering._Rule(1.0, 0.001, None, 0), nodes)
    root = np.array([0, 0, 0, 3, 3, 3][:nodes], np.int32)
    assert update.keep(clustering._frame_whole(build_adjacency(now)), root, 0).tolist() == kept
    assert update.kept.tolist() == [0 if one else -1 for one in kept]


@pytest.mark.parametrize(("known", "afresh"), [([0, 0, -1, -1], False), ([0, 0, -1, -1, -1], True), ([-1] * 3, True)])
def test_a_block_of_which_less_than_half_is_known_is_divided_afresh(known: list[int], afresh: bool) -> None:
    edges = graph([(i, i + 1) for i in range(len(known) - 1)])
    tree = tree_of([np.array(known, np.int32)], len(known))
    start = clustering.Start(tree, np.zeros(0, np.int32), np.zeros(len(tree), np.bool_))
    update, asked = clustering._Update(start, clustering._Rule(1.0, 0.001, None, 0), len(known)), list[list[bool]]()
    update._apply = lambda frame, which, split, root: asked.append(which.tolist())  # type: ignore[method-assign]
    update.split(clustering._frame_whole(build_adjacency(edges)), 0)
    assert asked == [[not afresh], [afresh]]


def test_a_block_that_would_stay_whole_is_divided_afresh_below_the_first_depth() -> None:
    levels = [np.zeros(4, np.int32)] * 3
    start = clustering.Start(tree_of(levels, 4), np.zeros(0, np.int32), np.zeros(3, np.bool_))
    for depth, afresh in enumerate([False, True, True]):
        update, asked = clustering._Update(start, clustering._Rule(1.0, 0.001, None, 0), 4), list[list[bool]]()
        update._apply = lambda frame, which, split, root, asked=asked: asked.append(which.tolist())  # type: ignore[method-assign]
        update.split(clustering._frame_whole(build_adjacency(graph([(0, 1), (1, 2), (2, 3)]))), depth)
        assert asked == [[True], [afresh]]


def test_from_so_many_keys_on_a_run_ends_sooner() -> None:
    """Of 40 keys one in 8 ends a run, and one in 2 a run of more than 7."""
    for low, ends in ((1, [40]), (2, [8, 16, 24, 32, 40]), (4, [8, 16, 24, 32, 40]), (8, list(range(1, 41)))):
        assert [run.stop for run in segments.cut_keys([f"ff{low:08x}"] * 40)] == ends


def test_rows_are_cut_where_they_have_so_many_partners() -> None:
    """Keys 1, 2 and 3 are of the rows 0 to 2, of 2 and 3, and of 3 and 4: 3, 3, 5, 4 and 2 places in groups."""
    keys, rows = np.array([1, 1, 1, 2, 2, 3, 3]), np.array([0, 1, 2, 2, 3, 3, 4], np.int32)
    groups = similar.group_by_keys(keys, rows, np.ones(7, np.int32), count=6, most=9)
    for most, cuts in (
        (1, [1, 2, 3, 4, 5, 6]), (5, [1, 2, 3, 4, 6]), (6, [2, 3, 6]), (10, [2, 4, 6]), (11, [3, 6]), (17, [6]),
    ):  # fmt: skip
        blocks = [block.tolist() for block in groups.cut_rows(np.arange(6), most)]
        assert blocks == [list(range(*ends)) for ends in zip([0, *cuts[:-1]], cuts, strict=True)]


@pytest.mark.parametrize(("length", "kept"), [(1.0, 2), (1e-3, 2), (3e-7, 2), (5e-8, 1), (0.0, 1)])
@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e6])
def test_a_basis_has_the_columns_that_are_not_nearly_nothing_beside_the_longest(
    length: float, kept: int, scale: float
) -> None:
    columns = scale * np.array([[1.0, 0.0], [0.0, length], [0.0, 0.0]])
    found = reduction._orthonormalize(columns)
    assert found.T @ found == pytest.approx(np.eye(kept))
    assert reduction._orthonormalize(np.zeros((3, 2))).shape == (3, 0)


@pytest.mark.parametrize(
    ("most", "sizes"), [(1, [4, 3, 2, 1, 1, 3, 2, 1]), (5, [4, 5, 5, 3]), (6, [4, 6, 6, 1]), (100, [17])]
)
def test_pairs_are_listed_so_many_at_once(monkeypatch: pytest.MonkeyPatch, most: int, sizes: list[int]) -> None:
    """Groups of 5, 0, 2 and 4: their entries have 4, 3, 2, 1 and 0, 1 and 0, 3, 2, 1 and 0 partners behind them."""
    monkeypatch.setattr(cooccurrence, "_BLOCK", most)
    start, held = np.array([0, 5, 5, 7, 11]), np.array([0, 1, 2, 3, 4, 1, 3, 0, 2, 3, 4])
    assert [len(block) for block in cooccurrence._list_pair_keys(start, held, 5)] == sizes


@pytest.mark.parametrize(("exact", "bits"), [(53, 20), (42, 20), (41, 19), (23, 10), (22, 10)])
def test_numbers_are_rounded_so_that_sums_of_so_many_are_exact(
    monkeypatch: pytest.MonkeyPatch, exact: int, bits: int
) -> None:
    """Of three rows two bits are left for the sum, and half of the others are for each of two factors."""
    monkeypatch.setattr(reduction, "_EXACT", exact)
    column = np.array([0.7, 0.1, 0.2])
    mean = np.rint(column * 2.0**bits).sum() / 3 * 2.0**-bits
    assert fit_projection(column[:, None]).centre.tolist() == [pytest.approx(mean * 2.0**40, rel=1e-15)]


def test_rows_may_be_as_much_below_the_best_as_rounding_makes_them() -> None:
    """Each of n products and sums of float32 is off by at most a part in 2²³."""
    assert ranking._Best(np.array([3.0, 4.0]), 1).slack == 2 * 2 * 2.0**-23 * 5
    assert ranking._Best(np.ones(4), 1).slack == 2 * 4 * 2.0**-23 * 2


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("top", [1, 7, 40, 299, 300, 301])
def test_the_best_of_many_scores_are_those_of_a_sort(monkeypatch: pytest.MonkeyPatch, seed: int, top: int) -> None:
    monkeypatch.setattr(ranking, "_SAMPLE", 40)
    monkeypatch.setattr(ranking, "_TIMES", 2)
    scores = np.random.default_rng(seed).integers(-50, 400, 300).astype(np.float64)
    wanted = sorted((i for i in range(300) if scores[i] > 0), key=lambda i: (-scores[i], i))[:top]
    positions, found = ranking.select_best(scores, top)
    assert (positions.tolist(), found.tolist()) == (wanted, scores[wanted].tolist())


@pytest.mark.parametrize("columns", [2, 3, 5, 6, 7])
def test_of_equal_entries_the_first_is_positive(columns: int) -> None:
    along = -np.resize([1.0, -1.0], columns) / math.sqrt(columns)
    axes = fit_projection(np.linspace(-1, 1, 9)[:, None] * along, 1).axes
    assert np.sign(axes[:, 0]).tolist() == np.resize([1.0, -1.0], columns).tolist()
