from __future__ import annotations

import threading

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from sensegraph.errors import BudgetExceeded
from sensegraph.models.endpoint.limits import Amount, Budget, Pace, choose_pause

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


@pytest.mark.parametrize("took", [0, 250])
def test_a_call_that_settles_after_its_minute_changes_nothing(took: int) -> None:
    clock = Clock()
    pace = Pace(0, 100, clock)
    late = pace.admit(100)
    clock.now += 60
    assert pace.wait(pace.admit(50)) == 0
    pace.settle(late, took)
    assert pace.wait(pace.admit(50)) == 0
    assert pace.wait(pace.admit(1)) == 60


def test_a_call_that_took_more_than_was_held_for_it_counts_with_what_it_took() -> None:
    clock = Clock()
    pace = Pace(0, 100, clock)
    pace.settle(pace.admit(10), 70)
    assert pace.wait(pace.admit(30)) == 0
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


class Asked:
    """A reservation in a thread of its own: what became of it, as soon as it is known."""

    def __init__(self, budget: Budget, most: Amount) -> None:
        self.refusal = ""
        self._thread = threading.Thread(target=self._reserve, args=(budget, most), daemon=True)
        self._thread.start()

    def _reserve(self, budget: Budget, most: Amount) -> None:
        try:
            budget.reserve(most)
        except BudgetExceeded as e:
            self.refusal = str(e)

    @property
    def waits(self) -> bool:
        self._thread.join(0.1)
        return self._thread.is_alive()

    @property
    def granted(self) -> bool:
        self._thread.join(5)
        return not self._thread.is_alive() and not self.refusal

    @property
    def refused(self) -> bool:
        self._thread.join(5)
        return bool(self.refusal)


def held(budget: Budget, most: Amount) -> bool:
    """Whether `most` is granted; the budget must not make it wait."""
    return Asked(budget, most).granted


def test_a_call_that_fits_once_others_took_less_waits_for_them_and_no_longer() -> None:
    budget = Budget(tokens=100)
    assert held(budget, Amount(40))
    assert held(budget, Amount(40))
    third = Asked(budget, Amount(50))
    assert third.waits
    budget.settle(Amount(40), Amount(20))  # 20 spent, 40 in flight: there are 40 left
    assert third.waits
    budget.settle(Amount(40), Amount(30))
    assert third.granted
    assert Asked(budget, Amount(51)).refused  # 50 spent: no call in flight can make room for it
    assert Asked(budget, Amount(50)).waits  # the third holds the rest


def test_a_call_that_waits_is_refused_once_the_others_took_too_much() -> None:
    budget = Budget(tokens=100)
    assert held(budget, Amount(60))
    second = Asked(budget, Amount(60))
    assert second.waits
    budget.settle(Amount(60), Amount(41))
    assert second.refused


def test_dollars_are_reserved_given_back_and_spent_to_the_cent() -> None:
    budget = Budget(usd=1.0)
    assert held(budget, Amount(10, 0.7))
    second = Asked(budget, Amount(10, 0.4))
    assert second.waits
    budget.settle(Amount(10, 0.7), Amount(3, 0.2))
    assert second.granted
    assert held(budget, Amount(10, 0.4))
    budget.settle(Amount(10, 0.4), Amount(4, 0.3))
    budget.settle(Amount(10, 0.4), Amount(4, 0.1))  # 0.6 spent
    assert Asked(budget, Amount(10, 0.41)).refused
    assert held(budget, Amount(10, 0.2))
    assert held(budget, Amount(10, 0.2))
    budget.settle(Amount(10, 0.2), Amount(1, 0.0))  # 0.6 spent, 0.2 in flight
    assert held(budget, Amount(10, 0.2))
    assert Asked(budget, Amount(10, 0.01)).waits


@pytest.mark.parametrize(
    ("most", "said"),
    [
        (
            Amount(501, 0.1),
            "has spent 500 tokens of its limit of 1,000, and the next call may need 501. .*"
            r"raise --max-tokens \(or endpoint.max_tokens_total\)",
        ),
        (
            Amount(500, 0.75),
            r"has spent \$0.2500 of its limit of \$0.5000, and the next call may need \$0.7500. .*"
            r"raise --max-cost \(or endpoint.max_cost_usd\)",
        ),
    ],
)
def test_a_refusal_names_the_limit_that_is_too_low(most: Amount, said: str) -> None:
    budget = Budget(1000, 0.5)
    budget.reserve(Amount(500, 0.25))
    budget.settle(Amount(500, 0.25), Amount(500, 0.25))
    with pytest.raises(BudgetExceeded, match=said):
        budget.reserve(most)


UNITS, LIMITS = (st.tuples(st.integers(0, n), st.integers(0, n)) for n in (9, 40))


@given(st.lists(st.tuples(UNITS, st.integers(0, 100), st.booleans()), max_size=25), LIMITS, st.data())
@settings(max_examples=60, deadline=None, phases=(Phase.explicit, Phase.generate))  # one that hangs hangs once
def test_calls_in_flight_hold_what_they_reserved_until_they_settle(
    calls: list[tuple[tuple[int, int], int, bool]], limit: tuple[int, int], data: st.DataObject
) -> None:
    """The budget against a count by hand in tokens and cents; a call that would have to wait is not made here."""
    assert held(Budget(5, 0.0), Amount(5, 0.0))
    budget = Budget(limit[0], limit[1] / 100)
    spent, flying = [0, 0], list[tuple[int, int]]()

    def over(most: tuple[int, int], flown: list[tuple[int, int]]) -> bool:
        needs = [s + m + sum(f[i] for f in flown) for i, (s, m) in enumerate(zip(spent, most, strict=True))]
        return any(bound and need > bound for need, bound in zip(needs, limit, strict=True))

    for (tokens, cents), share, settles in calls:
        most = (tokens + 1, cents)
        if over(most, []):
            assert Asked(budget, Amount(most[0], most[1] / 100)).refused
        elif not over(most, flying):
            assert held(budget, Amount(most[0], most[1] / 100))
            flying.append(most)
        if settles and flying:
            done = flying.pop(data.draw(st.integers(0, len(flying) - 1)))
            used = [n * share // 100 for n in done]
            budget.settle(Amount(done[0], done[1] / 100), Amount(used[0], used[1] / 100))
            spent = [s + u for s, u in zip(spent, used, strict=True)]


# ── waits ──


def test_waits_grow_and_are_spread() -> None:
    waits = [choose_pause(a, None, 1.0) for a in range(12)]
    assert all(0.5 * min(30, 2**a) <= w <= min(30, 2**a) for a, w in enumerate(waits))
    assert len({choose_pause(3, None) for _ in range(20)}) > 1
    first = [choose_pause(0, None) for _ in range(20)]
    assert all(0.25 <= w <= 0.5 for w in first)


def test_a_wait_that_is_asked_for_is_kept_and_at_most_a_tenth_longer() -> None:
    waits = [choose_pause(attempt, 50.0, 9.0) for attempt in range(40)]
    assert all(50 <= w <= 55 for w in waits)
    assert max(waits) - min(waits) > 1  # callers that were sent away together do not come back together
