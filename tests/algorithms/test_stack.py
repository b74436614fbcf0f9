"""A matrix in segments against the same in one piece."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from sensegraph.algorithms import ranking, sparse_rows
from sensegraph.algorithms.ranking import Stack, find_nearest_rows, nearest_each
from sensegraph.algorithms.segments import cut_segments
from sensegraph.algorithms.sparse_rows import SparseRows, pack_sparse
from sensegraph.index.vectors import open_rows, pack_rows


def stacked(sizes: list[int], dim: int, seed: int, numbers: str = "int16") -> Stack:
    """Segments of whole numbers from -1 to 1, some rows of zeros: what is stored of them is exact."""
    rng = np.random.default_rng(seed)
    rows = [rng.integers(-1, 2, (n, dim)).astype(np.float32) for n in sizes]
    if numbers == "mixed":
        return without_zeros([pack_rows(part) for part in rows], every=2)
    return Stack([pack_rows(part, numbers) if numbers else part for part in rows])  # type: ignore[arg-type]


def without_zeros(segments: list[Any], every: int = 1) -> Stack:
    """Segments of which every so many-th is stored without its zeros, however many these are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sparse_rows, "_PAYS", 0)
        packed = [open_rows(pack_sparse(part)) if i % every == 0 else part for i, part in enumerate(segments)]
    assert all(isinstance(part, SparseRows) for part in packed[::every])
    return Stack(packed)


shapes = st.lists(st.integers(0, 9), max_size=6)


@given(shapes, st.integers(1, 4), st.integers(0, 99), st.sampled_from(["int16", "int8", "", "mixed"]), st.data())
def test_rows_are_those_of_one_matrix(sizes: list[int], dim: int, seed: int, numbers: str, data: st.DataObject) -> None:
    stack = stacked(sizes, dim, seed, numbers)
    whole = np.asarray(stack)
    assert (len(stack), stack.ndim, whole.dtype) == (sum(sizes), 2, np.float32)
    assert stack.shape == (whole.shape if sizes else (0, 0))
    begin, end = data.draw(st.integers(-40, 40)), data.draw(st.integers(-40, 40))
    step = data.draw(st.sampled_from([1, 2, -1]))
    assert_array_equal(stack[begin:end:step], whole[begin:end:step])
    if sum(sizes):
        places = data.draw(st.lists(st.integers(0, sum(sizes) - 1), max_size=12))
        assert_array_equal(stack[places] if places else stack[:0], whole[places] if places else whole[:0])
        assert_array_equal(stack.take(places)[:], whole[np.array(places, int)])
        assert_array_equal(stack[sum(sizes) - 1], whole[-1])
        assert_array_equal(stack.head(max(end, 0))[:], whole[: max(end, 0)])


@given(
    shapes, st.integers(1, 4), st.integers(0, 99), st.integers(0, 7), st.integers(1, 12), st.integers(1, 40),
    st.sampled_from(["int16", "mixed"]),
)  # fmt: skip
def test_the_nearest_are_those_in_one_matrix(
    sizes: list[int], dim: int, seed: int, top: int, asked: int, block: int, numbers: str
) -> None:
    stack = stacked(sizes, dim, seed, numbers)
    queries = np.random.default_rng(seed + 1).standard_normal((asked, dim)).astype(np.float32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "_BLOCK", block)
        patch.setattr(ranking, "_HOT", max(1, 3 * block // 4))
        found = nearest_each(stack, queries, top) if sizes else []
    assert len(found) == (asked if sizes else 0)
    whole = nearest_each(np.asarray(stack), queries, top) if sizes else []
    for (places, scores), (true, best) in zip(found, whole, strict=True):
        assert_array_equal(places, true)
        assert_array_equal(scores, best)


def test_rows_of_any_numbers_are_found_as_in_the_matrix_that_is_read() -> None:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((2_000, 48)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    stack = Stack([pack_rows(rows[b : b + 300]) for b in range(0, 2_000, 300)])
    for query in rng.standard_normal((20, 48)).astype(np.float32):
        places, scores = find_nearest_rows(stack, query, 10)
        true, best = find_nearest_rows(stack[:], query, 10)
        assert_array_equal(places, true)
        assert_array_equal(scores, best)
        assert np.abs(scores - rows[places] @ query).max() < 1e-3
    assert cut_segments(stack, 20, 15, 80) == cut_segments(stack[:], 20, 15, 80)


def test_a_stack_of_another_dimension_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot be compared"):
        find_nearest_rows(stacked([3], 4, 0), np.ones(5, np.float32), 1)


@given(st.integers(0, 999), st.sampled_from(["int16", "int8"]), st.booleans(), st.integers(0, 60))
def test_rows_without_their_zeros_are_the_same_and_are_found_alike(
    seed: int, numbers: Any, few: bool, begin: int
) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((60, 64)) * (rng.random((60, 64)) < 0.1)
    rows[rng.integers(0, 60, 3)] = 0
    records = pack_rows(rows, numbers)
    records["text"] = rng.integers(0, 99, (60, 2))
    full, bare = Stack([records]), without_zeros([records])
    assert bare.segments[0].records().tobytes() == records.tobytes()  # type: ignore[union-attr]
    assert_array_equal(bare.segments[0][begin:]["text"], records["text"][begin:])
    assert_array_equal(bare[begin:], full[begin:])
    queries = rng.standard_normal((2, 64)) * (np.arange(64) % 20 == 0 if few else 1)
    for found, true in zip(nearest_each(bare, queries, 7), nearest_each(full, queries, 7), strict=True):
        assert_array_equal(found[0], true[0])
        assert_array_equal(found[1], true[1])


def test_zeros_are_left_out_where_that_takes_at_most_half_of_the_bytes() -> None:
    for held, packed in ((16, True), (17, False)):
        rows = np.zeros((50, 64), np.float32)
        rows[:, :held] = 1
        records = pack_rows(rows)
        made = pack_sparse(records)
        assert isinstance(open_rows(made), SparseRows) == packed
        assert made is records if not packed else made.nbytes < 0.65 * records.nbytes


def test_a_stack_is_equal_to_itself_alone_and_can_be_a_key() -> None:
    """To compare two of them number by number would read them whole."""
    one, other = (Stack((np.zeros((2, 3), np.float32),)) for _ in range(2))
    assert (one == one, one == other) == (True, False)
    assert {one: 1, other: 2}[one] == 1


def test_rows_of_matrices_are_taken_in_the_order_asked_for() -> None:
    stack = Stack([np.array([[1, 2], [3, 4]], np.float32), np.array([[5, 6]], np.float32)])
    assert stack.take([2, 0, 1, 2]).segments[0].tolist() == [[5, 6], [1, 2], [3, 4], [5, 6]]
    assert stack.take([]).segments[0].shape == (0, 2)
    assert Stack().take([]).segments[0].shape == (0, 0)
    assert (stack[1].tolist(), stack[[0, 2]].tolist(), stack[:].tolist()[2]) == ([3, 4], [[1, 2], [5, 6]], [5, 6])


@pytest.mark.parametrize(
    ("begin", "end", "sizes"),
    [(0, 2, [2]), (0, 3, [2, 1]), (1, 3, [1, 1]), (2, 3, [1]), (2, 5, [3]), (0, 9, [2, 3]), (1, 1, [0]), (5, 9, [0])],
)
def test_a_part_of_a_stack_has_no_empty_segments(begin: int, end: int, sizes: list[int]) -> None:
    stack = Stack([np.zeros((rows, 1), np.float32) for rows in (2, 0, 3)])
    assert [len(part) for part in stack.head(end, begin).segments] == sizes
