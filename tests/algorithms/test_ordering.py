"""What orders numbers gives what numpy's stable sorts give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sensegraph.algorithms import graphs
from sensegraph.algorithms.graphs import (
    count_distinct,
    keep_distinct,
    locate_numbers,
    mark_among,
    number_distinct,
    order_numbers,
    order_pairs,
    sort_numbers,
)


@pytest.fixture(params=[True, False], autouse=True)
def _either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers are sorted with their places, or put in order by their digits: what comes is the same.

    Few are sorted and looked up as many are.
    """
    monkeypatch.setattr(graphs, "_sorts_soon", lambda count: request.param)
    monkeypatch.setattr(graphs, "_SORTED_APART", range(1, 1 << 21))
    monkeypatch.setattr(graphs, "_FEW", 1)
    monkeypatch.setattr(graphs, "_RUNS", 1)


KINDS = st.sampled_from([np.int32, np.int64, np.uint64])
FEW, MANY = st.lists(st.integers(0, 9)), st.lists(st.integers(0, 2**31 - 1))


@given(FEW | MANY, KINDS)
def test_numbers_are_ordered_as_by_a_stable_sort(numbers: list[int], kind: Any) -> None:
    given_, before = np.array(numbers, kind), list(numbers)
    assert order_numbers(given_).tolist() == np.argsort(given_, kind="stable").tolist()
    found, first, whose = number_distinct(given_)
    for mine, other in zip(
        (found, first, whose), np.unique(given_, return_index=True, return_inverse=True), strict=True
    ):
        assert mine.tolist() == other.tolist()
    assert keep_distinct(given_).tolist() == found.tolist()
    ordered, order = sort_numbers(given_)
    assert (ordered.tolist(), ordered.dtype) == (np.sort(given_).tolist(), kind)
    assert order.tolist() == order_numbers(given_).tolist()
    often = np.unique(given_, return_counts=True)
    assert [of.tolist() for of in count_distinct(given_)] == [of.tolist() for of in often]
    assert (found.dtype, keep_distinct(given_).dtype, first.dtype, whose.dtype) == (kind, kind, np.int64, np.int64)
    assert given_.tolist() == before


@given(st.lists(st.tuples(st.integers(0, 5) | st.integers(0, 2**31 - 1), st.integers(0, 5))))
def test_pairs_are_ordered_by_the_first_then_by_the_second_then_as_they_stand(pairs: list[tuple[int, int]]) -> None:
    first, second = np.array(pairs, np.int32).reshape(-1, 2).T
    assert order_pairs(first, second).tolist() == np.lexsort((second, first)).tolist()


@given(MANY, MANY)
def test_where_numbers_would_stand_is_found(wanted: list[int], known: list[int]) -> None:
    among, looked = np.array(sorted(known), np.uint64), np.array(wanted, np.uint64)
    assert locate_numbers(looked, among).tolist() == np.searchsorted(among, looked).tolist()


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.float64])
def test_where_they_would_stand_is_found_of_numbers_below_0_and_of_all_sizes(kind: type[Any]) -> None:
    ends = np.iinfo(np.int32 if kind == np.int32 else np.int64)
    drawn = np.random.default_rng(1).integers(ends.min, ends.max, 500).astype(kind)
    among = np.sort(np.concatenate((drawn[::3], np.array([ends.min, -1, 0, 1, ends.max], kind))))
    looked = np.concatenate((drawn, among))
    assert locate_numbers(looked, among).tolist() == np.searchsorted(among, looked).tolist()


@pytest.mark.parametrize("alike", [1, 16, 17, 500])
def test_where_they_would_stand_is_found_however_many_begin_alike(alike: int) -> None:
    drawn = np.random.default_rng(alike).integers(0, 2**63, 100).astype(np.uint64)
    among = np.sort(np.concatenate((drawn, drawn[0] + np.arange(alike, dtype=np.uint64) // np.uint64(2))))
    looked = np.concatenate((among, among + np.uint64(1), among - np.uint64(1), drawn * np.uint64(3)))
    assert locate_numbers(looked, among).tolist() == np.searchsorted(among, looked).tolist()


@pytest.mark.parametrize("bits", [3, 16, 17, 32, 33, 44, 49, 62])
def test_numbers_of_any_size_are_ordered_by_their_digits(bits: int) -> None:
    drawn = np.random.default_rng(bits).integers(0, 2**bits, 3_000)
    for shown in (drawn, drawn - 2 ** (bits - 1), drawn.astype(np.uint64)):
        assert order_numbers(shown).tolist() == np.argsort(shown, kind="stable").tolist()


@pytest.mark.parametrize("numbers", [[2**64 - 1], [2**63 + 5, 2**63, 2**63 + 5], [0, 2**64 - 1, 0]])
def test_large_numbers_near_each_other_are_ordered(numbers: list[int]) -> None:
    hashes = np.array(numbers, np.uint64)
    assert order_numbers(hashes).tolist() == np.argsort(hashes, kind="stable").tolist()
    assert order_numbers(np.array([2**31 - 1, -(2**31), 0, 2**31 - 1], np.int32)).tolist() == [1, 2, 0, 3]


@pytest.mark.parametrize("equal", [0, 3, 400, 2_000])
def test_few_or_many_equal_numbers_stay_in_order(equal: int) -> None:
    drawn: NDArray[np.uint64] = np.random.default_rng(equal).integers(0, 2**63, 2_000).astype(np.uint64)
    drawn[:equal] = drawn[-1]
    assert order_numbers(drawn).tolist() == np.argsort(drawn, kind="stable").tolist()


@pytest.mark.parametrize("seed", range(5))
def test_numbers_that_differ_in_their_lowest_bits_alone_are_ordered_by_these(seed: int) -> None:
    random = np.random.default_rng(seed)
    near = random.integers(0, 50, 900).astype(np.uint64)
    far = random.choice(np.array([0, 2**40, 2**63, 2**64 - 64], np.uint64), 900)
    for numbers in (near + far, (near + far).view(np.int64)):
        ordered, order = sort_numbers(numbers)
        assert order.tolist() == np.argsort(numbers, kind="stable").tolist()
        assert ordered.tolist() == np.sort(numbers).tolist()


@given(FEW | MANY, FEW | MANY)
def test_which_numbers_are_among_others_is_told(numbers: list[int], known: list[int]) -> None:
    looked, among = np.array(numbers, np.int64), np.array(known, np.int64)
    assert mark_among(looked, among).tolist() == np.isin(looked, among).tolist()
    both = np.stack((looked, looked[::-1]))
    assert mark_among(both, among).tolist() == np.isin(both, among).tolist()


@pytest.mark.parametrize(("taken", "soon"), [((1.0, 2.0), True), ((2.0, 1.0), False)])
def test_many_numbers_are_ordered_in_the_way_that_takes_less_time(
    taken: tuple[float, float], soon: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = iter(taken)

    def repeat(way: Callable[[], object], **_: int) -> list[float]:
        way()
        return [least := next(left), 2 * least + 3]

    monkeypatch.setattr(graphs.timeit, "repeat", repeat)
    assert graphs._try_sorting.__wrapped__() is soon
