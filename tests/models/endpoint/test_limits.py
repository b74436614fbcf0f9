from __future__ import annotations

import time
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.errors import BudgetExceeded
from sensegraph.models.endpoint.limits import Amount, Budget, Pace, choose_pause, read_retry_after

# ── pace ──


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@given(
    st.lists(st.tuples(st.integers(0, 400), st.floats(0, 30), st.integers(0, 400)), max_size=60),
    st.integers(1, 8),
    st.integers(100, 1000),
)
def test_no_minute_ever_holds_more_than_its_limits(
    calls: list[tuple[int, float, int]], requests: int, limit: int
) -> None:
    clock = Clock()
    pace = Pace(requests, limit, clock)
    begun: list[tuple[float, int]] = []
    for need, gap, used in calls:
        clock.now += gap
        admission = pace.admit(need)
        begun.append((admission.start, min(used, need, limit)))
        pace.settle(admission, begun[-1][1])
        assert admission.start >= clock.now
    assert len(begun) == len(calls)
    for start, _ in begun:
        window = [n for s, n in begun if start <= s < start + 60 - 1e-6]
        assert len(window) <= requests
        assert sum(window) <= limit


@given(
    st.lists(st.tuples(st.integers(0, 400), st.floats(0, 30), st.integers(0, 400)), max_size=60),
    st.integers(0, 8),
    st.integers(100, 1000),
)
def test_a_call_starts_as_soon_as_the_minute_has_room_for_it(
    calls: list[tuple[int, float, int]], requests: int, limit: int
) -> None:
    clock = Clock()
    pace = Pace(requests, limit, clock)
    begun: list[tuple[float, int]] = []

    def has_room(at: float, need: int) -> bool:
        held = [tokens for start, tokens in begun if start + 60 > at]
        return (not requests or len(held) < requests) and (sum(held) + need <= limit or not held)

    for need, gap, used in calls:
        clock.now += gap
        need = min(need, limit)
        soonest = max(clock.now, begun[-1][0] if begun else 0.0)
        times = [soonest, *(start + 60 for start, _ in begun if start + 60 > soonest)]
        admission = pace.admit(need)
        assert admission.start == next(at for at in sorted(times) if has_room(at, need))
        begun.append((admission.start, min(used, need)))
        pace.settle(admission, begun[-1][1])


def test_a_run_of_an_hour_gets_its_tokens_of_every_minute() -> None:
    clock = Clock()
    pace = Pace(0, 1000, clock)
    starts = [pace.admit(250).start for _ in range(240)]
    assert starts == [1000.0 + 60 * (i // 4) for i in range(240)]


def test_a_call_larger_than_the_limit_waits_for_an_empty_minute_and_then_goes() -> None:
    clock = Clock()
    pace = Pace(0, 100, clock)
    assert pace.wait(pace.admit(60)) == 0
    assert pace.wait(pace.admit(500)) == 60
    assert pace.wait(pace.admit(1)) == 120


def test_tokens_that_were_not_used_make_room_for_others() -> None:
    clock = Clock()
    pace = Pace(0, 100, clock)
    first = pace.admit(100)
    pace.settle(first, 10)
    assert pace.wait(pace.admit(90)) == 0
    assert pace.wait(pace.admit(1)) == 60


def test_a_call_that_settles_after_its_minute_changes_nothing() -> None:
    clock = Clock()
    pace = Pace(0, 100, clock)
    late = pace.admit(100)
    clock.now += 60
    assert pace.wait(pace.admit(100)) == 0
    pace.settle(late, 0)
    assert pace.wait(pace.admit(1)) == 60


# ── budget ──


@given(st.lists(st.tuples(st.integers(0, 50), st.floats(0, 1)), max_size=40), st.integers(1, 300))
def test_what_is_spent_never_passes_the_limit(calls: list[tuple[int, float]], limit: int) -> None:
    budget, spent = Budget(tokens=limit), 0
    for most, share in calls:
        try:
            budget.reserve(Amount(most))
        except BudgetExceeded:
            assert spent + most > limit
            continue
        budget.settle(Amount(most), Amount(int(most * share)))
        spent += int(most * share)
        assert spent <= limit
    with pytest.raises(BudgetExceeded):
        budget.reserve(Amount(limit - spent + 1))  # and nothing is held that was not spent
    budget.reserve(Amount(limit - spent))


def test_a_budget_lets_through_all_that_fits_to_the_last_token() -> None:
    budget = Budget(tokens=100)
    for _ in range(10):
        budget.reserve(Amount(10))
        budget.settle(Amount(10), Amount(10))
    with pytest.raises(BudgetExceeded):
        budget.reserve(Amount(1))


def test_what_a_call_did_not_use_is_free_again() -> None:
    budget = Budget(tokens=100)
    for _ in range(11):  # eleven calls of at most 90 that take 1: the last begins at 10 spent
        budget.reserve(Amount(90))
        budget.settle(Amount(90), Amount(1))
    with pytest.raises(BudgetExceeded):
        budget.reserve(Amount(90))


# ── waits ──


def test_waits_are_read_from_seconds_and_dates_and_nonsense_is_ignored() -> None:
    assert read_retry_after({"retry-after": "7"}) == 7
    date = read_retry_after({"retry-after": formatdate(time.time() + 100, usegmt=True)})
    assert date is not None
    assert 98 < date <= 100
    assert read_retry_after({"retry-after": formatdate(time.time() - 100, usegmt=True)}) == 0
    assert read_retry_after({"retry-after": "soon"}) is None
    assert read_retry_after({}) is None


def test_waits_grow_and_are_spread() -> None:
    waits = [choose_pause(a, None, 1.0) for a in range(12)]
    assert all(0.5 * min(30, 2**a) <= w <= min(30, 2**a) for a, w in enumerate(waits))
    assert len({choose_pause(3, None) for _ in range(20)}) > 1
    assert 5 <= choose_pause(0, 5.0) <= 5.5
