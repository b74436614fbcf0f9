from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from sensegraph.algorithms import ranking
from sensegraph.algorithms.ranking import (
    find_nearest_rows,
    fuse_by_reciprocal_rank,
    nearest_each,
    select_best,
)

TEXTS = ["the cat sat", "the dog sat on the mat", "", "a cat and a cat and a dog", "mat"]


def units(rows: int, dim: int, seed: int) -> np.ndarray:
    vectors = np.random.default_rng(seed).normal(size=(rows, dim)).astype(np.float32)
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


def expected_nearest(vectors: np.ndarray, query: np.ndarray, top: int) -> list[int]:
    scores = (vectors.astype(np.float64) * query).sum(axis=1)
    there = [i for i in range(len(vectors)) if vectors[i].any() and query.any()]
    return sorted(there, key=lambda i: (-scores[i], i))[:top]


@given(
    st.integers(0, 40), st.integers(1, 5), st.integers(0, 2**32 - 1), st.integers(0, 12), st.sampled_from([4, 32, 1000])
)
def test_the_nearest_are_those_of_a_sort_of_all_scores(rows: int, dim: int, seed: int, top: int, block: int) -> None:
    """Small whole numbers: ties, rows of zeros, negative scores and blocks of a few rows all occur."""
    rng = np.random.default_rng(seed)
    vectors = rng.integers(-1, 2, (rows, dim)).astype(np.float32)
    query = rng.integers(-1, 2, dim).astype(np.float32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "_BLOCK", block)
        positions, scores = find_nearest_rows(vectors, query, top)
    assert positions.tolist() == expected_nearest(vectors, query, top)
    assert_array_equal(scores, vectors[positions] @ query)


@pytest.mark.parametrize("seed", range(3))
def test_the_block_does_not_change_a_bit(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, query = units(500, 48, seed), units(1, 48, 99)[0]
    whole = find_nearest_rows(vectors, query, 20)
    monkeypatch.setattr(ranking, "_BLOCK", 7 * 48)
    parts = find_nearest_rows(vectors, query, 20)
    assert [x.tobytes() for x in whole] == [x.tobytes() for x in parts]
    assert whole[0].tolist() == expected_nearest(vectors, query, 20)


def test_equal_rows_have_equal_scores_and_are_ordered_by_position() -> None:
    vectors = np.repeat(units(1, 33, 0), 101, axis=0)
    positions, scores = find_nearest_rows(vectors, units(1, 33, 1)[0], 7)
    assert positions.tolist() == list(range(7))
    assert len(set(scores.tolist())) == 1


def test_rows_of_zeros_never_win_even_against_negative_scores() -> None:
    vectors = np.array([[0, 0], [-1, 0], [0, 0], [0, 1]], np.float32)
    positions, scores = find_nearest_rows(vectors, np.array([1, 0], np.float32), 4)
    assert positions.tolist() == [3, 1]
    assert scores.tolist() == [0.0, -1.0]


def test_a_query_of_zeros_finds_nothing() -> None:
    positions, scores = find_nearest_rows(units(4, 3, 0), np.zeros(3, np.float32), 2)
    assert len(positions) == len(scores) == 0


def test_many_queries_find_what_each_finds_alone() -> None:
    vectors, queries = units(300, 16, 0), np.vstack((units(9, 16, 1), np.zeros((1, 16), np.float32)))
    found = list(nearest_each(vectors, queries, 5))
    assert [len(positions) for positions, _ in found] == [5] * 9 + [0]
    for query, (positions, scores) in zip(queries, found, strict=True):
        alone = find_nearest_rows(vectors, query, 5)
        assert_array_equal(positions, alone[0])
        assert scores.tobytes() == alone[1].tobytes()


def test_a_memory_mapped_matrix_gives_the_same(tmp_path: Path) -> None:
    vectors, query = units(200, 16, 0), units(1, 16, 1)[0]
    np.save(tmp_path / "v.npy", vectors)
    mapped = np.load(tmp_path / "v.npy", mmap_mode="r")
    positions = find_nearest_rows(mapped, query, 9)[0]
    assert len(positions) == 9
    assert_array_equal(positions, find_nearest_rows(vectors, query, 9)[0])


def test_no_queries_have_no_answers() -> None:
    assert nearest_each(units(3, 4, 0), np.zeros((0, 4), np.float32), 2) == []


def test_vectors_of_another_dimension_are_refused() -> None:
    with pytest.raises(ValueError, match=r"\(3, 4\) cannot be compared with queries of \(1, 5\)"):
        find_nearest_rows(units(3, 4, 0), np.ones(5, np.float32), 1)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_vector_that_is_not_finite_is_refused(bad: float) -> None:
    vectors = units(3, 4, 0)
    vectors[1, 2] = bad
    with pytest.raises(ValueError, match="rows 0 to 2, is not finite"):
        find_nearest_rows(vectors, np.ones(4, np.float32), 1)


def test_the_best_scores_come_in_order_and_zeros_not_at_all() -> None:
    positions, scores = select_best(np.array([0.0, 2.0, 1.0, 2.0, -1.0, 1.0]), 3)
    assert positions.tolist() == [1, 3, 2]
    assert scores.tolist() == [2.0, 2.0, 1.0]


# ── fusion ───────────────────────────────────────────────────────────────────────────────────────────────────────────

rankings = st.lists(st.lists(st.integers(0, 9), unique=True, max_size=10), max_size=4)


def test_fusion_of_a_hand_made_case_counts_ranks_from_one() -> None:
    fused = fuse_by_reciprocal_rank([["a", "b"], ["b", "c"]])
    assert [item for item, _ in fused] == ["b", "a", "c"]
    assert [score for _, score in fused] == pytest.approx([1 / 61 + 1 / 62, 1 / 61, 1 / 62])


@given(rankings, st.randoms())
def test_the_order_of_the_rankings_does_not_matter(lists: list[list[int]], random) -> None:
    assert fuse_by_reciprocal_rank(lists) == fuse_by_reciprocal_rank(random.sample(lists, len(lists)))


@given(rankings, st.integers(0, 3), st.integers(1, 9))
def test_moving_an_item_up_in_one_ranking_never_lowers_it(lists: list[list[int]], which: int, at: int) -> None:
    if which >= len(lists) or at >= len(lists[which]):
        return
    item = lists[which][at]
    up = [list(ranking) for ranking in lists]
    up[which][at - 1], up[which][at] = up[which][at], up[which][at - 1]
    assert dict(fuse_by_reciprocal_rank(up))[item] > dict(fuse_by_reciprocal_rank(lists))[item]
    places = [[i for i, _ in fuse_by_reciprocal_rank(x)].index(item) for x in (up, lists)]
    assert places[0] <= places[1]


@given(rankings, st.sampled_from([2.0, 0.25, 1024.0]))
def test_the_unit_of_the_weights_does_not_change_the_order(lists: list[list[int]], factor: float) -> None:
    one, other = fuse_by_reciprocal_rank(lists), fuse_by_reciprocal_rank(lists, weights=[factor] * len(lists))
    assert [item for item, _ in one] == [item for item, _ in other]
    assert [score * factor for _, score in one] == [score for _, score in other]


def test_a_ranking_without_weight_only_adds_its_items_at_the_end() -> None:
    assert [item for item, _ in fuse_by_reciprocal_rank([["a"], ["b", "c"]], weights=[1.0, 0.0])] == ["a", "b", "c"]


def test_an_item_twice_in_one_ranking_is_refused() -> None:
    with pytest.raises(ValueError, match="ranking 1 holds 'b' more than once"):
        fuse_by_reciprocal_rank([["a"], ["b", "c", "b"]])


@pytest.mark.parametrize(("c", "weights"), [(60, [1.0]), (60, [1.0, -1.0]), (60, [1.0, math.nan]), (-1, [1.0, 1.0])])
def test_weights_that_do_not_fit_are_refused(c: float, weights: list[float]) -> None:
    with pytest.raises(ValueError, match="2 rankings need as many weights"):
        fuse_by_reciprocal_rank([["a"], ["b"]], c, weights)


@given(st.lists(st.integers(-2, 6), max_size=300), st.integers(0, 40), st.sampled_from([1, 10, 20_000]))
def test_the_best_are_those_of_a_sort_of_all_however_many_are_looked_at_first(
    numbers: list[int], top: int, sample: int
) -> None:
    """Whole numbers: ties at the last place, and samples in which nothing is above 0, occur."""
    scores = np.array(numbers, np.float64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "_SAMPLE", sample)
        patch.setattr(ranking, "_TIMES", sample)
        positions, found = select_best(scores, top)
    assert positions.tolist() == sorted(np.flatnonzero(scores > 0).tolist(), key=lambda i: (-scores[i], i))[:top]
    assert_array_equal(found, scores[positions])
