"""What is done in portions, against the same done at once or number by number."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from test_deepening import terrain

from sensegraph.algorithms import reduction, walks
from sensegraph.algorithms.cooccurrence import Pruning, prune_concepts
from sensegraph.algorithms.deepening import group_by_community, rank_communities
from sensegraph.algorithms.reduction import fit_projection
from sensegraph.algorithms.segments import LEAST, MOST, USUAL, cut_segments

WIDE, SPREAD = 1 << 64, 0x9E3779B97F4A7C15


def segments_by_hand(rows: np.ndarray, least: int, usual: int, most: int) -> list[tuple[int, int, str]]:
    """Segments row by row: which rows may end one, where the first of them ends it, and a digest of its bytes."""
    ends = []
    for i, row in enumerate(rows):
        mixed = sum(int(w) * (2 * n + 1) * SPREAD for n, w in enumerate(row.view("<u4"))) % WIDE
        mixed = (mixed ^ mixed >> 32) * SPREAD % WIDE
        if mixed >> 32 < (1 << 32) // usual:
            ends.append(i + 1)
    found, begin = [], 0
    while begin < len(rows):
        end = min(next((e for e in ends if e >= begin + least), len(rows)), begin + most, len(rows))
        digest = hashlib.blake2b(
            repr((end - begin, rows.shape[1])).encode() + rows[begin:end].tobytes(), digest_size=20
        )
        found.append((begin, end, digest.hexdigest()))
        begin = end
    return found


@pytest.mark.parametrize(("least", "usual", "most"), [(20, 15, 80), (1, 1, 5), (1, 2, 3), (7, 40, 9), (3, 10**6, 50)])
def test_segments_end_where_their_rows_say(least: int, usual: int, most: int) -> None:
    rows = np.random.default_rng(1).standard_normal((300, 3)).astype(np.float32)
    found = cut_segments(rows, least, usual, most)
    assert [(s.begin, s.end, s.digest) for s in found] == segments_by_hand(rows, least, usual, most)
    assert (LEAST, USUAL, MOST) == (65_536, 65_536, 262_144)
    assert cut_segments(rows) == cut_segments(rows, LEAST, USUAL, MOST)


def test_a_projection_is_the_same_in_blocks_and_its_parts_are_what_they_say(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(2).standard_normal((60, 5)).astype(np.float32) + 3
    whole = fit_projection(rows, 3)
    assert np.linalg.norm(whole.axes, axis=0) == pytest.approx([2.0**20] * 3, rel=1e-5)
    assert whole.centre == pytest.approx(rows.mean(axis=0) / whole.scale * 2.0**20 @ whole.axes, rel=1e-5)
    wanted = (rows - rows.mean(axis=0)) @ whole.axes / 2.0**20
    assert whole(rows) == pytest.approx(wanted, abs=1e-4)
    found = whole(rows).tobytes()
    assert fit_projection(rows).axes.shape == (5, 5)
    monkeypatch.setattr(reduction, "_BLOCK", 5 * 7)
    assert [len(block) for _, block in reduction._read_blocks(rows)] == [7] * 8 + [4]
    assert [begin for begin, _ in reduction._read_blocks(rows)] == list(range(0, 60, 7))
    assert fit_projection(rows, 3)(rows).tobytes() == found
    monkeypatch.setattr(reduction, "_BLOCK", 1)
    assert [len(block) for _, block in reduction._read_blocks(rows[:3])] == [1, 1, 1]
    assert len(reduction.reduce_dimensions(np.random.default_rng(0).standard_normal((90, 40))).T) == 32


@pytest.mark.parametrize(
    ("largest", "scale"), [(1.0, 1.0), (1.01, 2.0), (2.0, 2.0), (0.5, 0.5), (0.3, 0.5), (-3.0, 4.0), (0.0, 1.0)]
)
def test_the_scale_is_the_power_of_two_above_all_numbers(largest: float, scale: float) -> None:
    assert fit_projection(np.array([[0.0, largest], [largest / 2, 0.0]])).scale == scale


@pytest.mark.parametrize(("cover", "extent"), [(0.0, "full"), (0.5, "full"), (0.51, "weak"), (1.0, "weak")])
def test_pruning_goes_as_far_as_so_many_groups_keep_a_concept(cover: float, extent: str) -> None:
    """Of four groups two have concepts that stay."""
    start, held = np.array([0, 3, 6, 7, 8]), np.array([0, 1, 2, 0, 1, 2, 3, 4])
    assert prune_concepts(start, held, 5, Pruning(cover=cover)).extent == extent


@pytest.mark.parametrize(("source", "target"), [([0], [3]), ([3], [0]), ([-1], [0]), ([0], [-1])])
def test_a_walk_stays_inside_its_graph(source: list[int], target: list[int]) -> None:
    with pytest.raises(ValueError, match="outside of nodes 0 to 2"):
        walks.build_moves(source, target, [1.0], 3)
    assert walks.build_moves([2, 0], [0, 2], [1.0, 1.0], 3).share.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("weight", [0.0, -1.0, np.nan, np.inf])
def test_weights_that_are_none_are_refused(weight: float) -> None:
    for build in (walks.build_moves, walks.build_paths):
        with pytest.raises(ValueError, match="finite"):
            build([0, 1], [1, 0], [1.0, weight], 2)


def test_a_large_walk_is_taken_over_what_mass_comes_to(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (walks._SMALL, walks._LIMIT, walks._REACH, walks._LEAST) == (400_000, 20_000, 3, 1e-6)
    ring = walks.build_paths(np.arange(40), (np.arange(40) + 1) % 40, np.ones(40), 40)
    nodes, mass = np.array([5]), np.array([1.0])
    whole = walks.walk_with_restart(ring, nodes, mass, 0.5, 3)
    assert whole[0].tolist() == list(range(40))
    assert whole[1][5:9].tolist() == [0.5, 0.25, 0.125, 0.125]
    monkeypatch.setattr(walks, "_SMALL", 39)
    part = walks.walk_with_restart(ring, nodes, mass, 0.5, 3)
    assert part[0].tolist() == [5, 6, 7, 8]
    assert part[1].tolist() == [0.5, 0.25, 0.125, 0.125]
    monkeypatch.setattr(walks, "_SMALL", 40)
    assert len(walks.walk_with_restart(ring, nodes, mass, 0.5, 3)[0]) == 40
    assert walks.neighbourhood(ring, nodes, mass, 0.5, 2).tolist() == [5, 6, 7, 8]  # 7 and 8 have as much
    inside = walks.restrict_paths(ring, np.array([0, 1, 39]))  # 39 leads to 0, 0 to 1, and 1 outside
    assert (inside.start.tolist(), inside.to.tolist(), inside.share.tolist()) == ([0, 1, 1, 2], [1, 0], [1.0, 1.0])
    assert walks._select_heaviest(np.array([0.0, 3.0, 1e-6, 2.0, 2.0, 1.0]), 2).tolist() == [1, 3, 4]
    assert walks._select_heaviest(np.array([0.0, 3.0, 1e-6, 2e-6]), 2).tolist() == [1, 3]


def test_communities_are_ranked_by_their_best_chunks_and_each_chunk_stands_in_the_first() -> None:
    """Two communities of depth 0; chunk 4 has no concept, and is of none of them."""
    ground = terrain([[0], [1], [0, 1], [1], []], [(0, 2), (1, 3)], [-1, -1, 0, 1])
    order = np.array([1, 0, 3, 2, 4])
    rest = ground.rest
    assert rank_communities(ground, order, 0, 1) == [(1, [1, 3, 2]), (0, [0]), (rest, [4])]
    assert rank_communities(ground, order, 0, 2) == [(1, [1, 3, 2]), (0, [0]), (rest, [4])]
    assert rank_communities(ground, np.array([0, 1, 3, 2, 4]), 0, 1) == [(0, [0, 2]), (1, [1, 3]), (rest, [4])]
    assert rank_communities(ground, np.array([0, 1, 3, 4, 2]), 0, 2) == [(1, [1, 3, 2]), (0, [0]), (rest, [4])]
    assert group_by_community(ground, [2, 0, 4, 1, 3]) == [[2, 1, 3], [0], [4]]
    assert group_by_community(ground, [2, 0]) == [[2, 0]]
