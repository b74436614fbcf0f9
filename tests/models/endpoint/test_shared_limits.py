"""Pace, budget and journal as an endpoint uses them: what is handed to a store that processes share, and refused."""

from __future__ import annotations

import pickle
import random
from dataclasses import dataclass, field
from typing import Any

import pytest

from sensegraph.errors import BudgetExceeded, SettingsError, StoreError
from sensegraph.models.endpoint import limits
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.models.endpoint.limits import (
    Amount,
    Budget,
    Held,
    Journal,
    Notes,
    Pace,
    SharedBudget,
    SharedPace,
    check_copied,
    check_limits,
    choose_pause,
    make_budget,
    make_pace,
    price_reading,
    price_usage,
)
from sensegraph.runtime.stores.corpus_store import Spent
from sensegraph.types import Usage


@dataclass
class Shared:
    """Limits that processes share: what is asked of them, and what they say."""

    answers: list[tuple[int, Spent]] = field(default_factory=list)
    asked: list[Any] = field(default_factory=list)

    def admit(self, *given: Any) -> tuple[int, float]:
        self.asked.append(given)
        return 7, 12.5

    def settle_place(self, *given: Any) -> None:
        self.asked.append(given)

    def reserve(self, *given: Any) -> tuple[int, Spent]:
        self.asked.append(given)
        return self.answers.pop(0)

    def settle(self, *given: Any) -> None:
        self.asked.append(given)


def test_a_shared_pace_is_a_sixtieth_wider_and_late_calls_miss_their_place(monkeypatch: pytest.MonkeyPatch) -> None:
    shared: Any = Shared()
    pace = SharedPace(shared, "n", 5, 100)
    now = [1000.0]
    monkeypatch.setattr(pace, "_clock", lambda: now[0])
    place = pace.admit(400)
    assert shared.asked == [("n", 100, 5, 100, 61.0)]
    assert (place.start, place.tokens, place.number, place.counted) == (1012.5, 100, 7, True)
    now[0] = 1013.5
    assert (pace.wait(place), pace.missed(place)) == (0.0, False)
    now[0] = 1013.51
    assert pace.missed(place)
    pace.settle(place, 44)
    assert shared.asked[1] == (7, 44)
    free = SharedPace(shared, "n", 5, 0, window=6.0)
    assert (free.admit(400).tokens, shared.asked[2]) == (400, ("n", 400, 5, 0, pytest.approx(6.1)))


def test_a_shared_budget_waits_while_others_hold_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    paused: list[float] = []
    monkeypatch.setattr(limits, "pause", paused.append)
    shared: Any = Shared([(0, Spent(50, 0.0)), (0, Spent(60, 0.0)), (9, Spent(60, 0.0))])
    budget = SharedBudget(shared, "run", tokens=100)
    held = budget.reserve(Amount(40, 0.5))
    assert held == Held(40, 0.5, 9)
    assert paused == [0.2, 0.2]
    assert shared.asked == [("run", (40, 0.5), (100, 0.0))] * 3
    budget.settle(held, Amount(30, 0.25))
    assert shared.asked[3] == ("run", 9, (40, 0.5), (30, 0.25))
    shared.answers.append((0, Spent(61, 0.0)))
    with pytest.raises(BudgetExceeded, match=r"spent 61 tokens of its limit of 100, and the next call may need 40"):
        budget.reserve(Amount(40))
    assert paused == [0.2, 0.2]
    free = SharedBudget(shared, "run")
    asked = len(shared.asked)
    free.settle(free.reserve(Amount(10**9)), Amount(10**9))
    assert len(shared.asked) == asked


def test_limits_are_shared_where_there_are_some_and_a_store_that_shares_them() -> None:
    shared: Any = Shared()
    kinds = [
        type(make_pace(EndpointSettings(requests_per_minute=r, tokens_per_minute=t), by, "n"))
        for by in (shared, None)
        for r, t in ((0, 0), (1, 0), (0, 1))
    ]
    assert kinds == [Pace, SharedPace, SharedPace, Pace, Pace, Pace]
    kinds = [
        type(make_budget(EndpointSettings(max_tokens_total=t, max_cost_usd=d), by, "n"))
        for by in (shared, None)
        for t, d in ((0, 0.0), (1, 0.0), (0, 1.0))
    ]
    assert kinds == [Budget, SharedBudget, SharedBudget, Budget, Budget, Budget]
    pace = make_pace(EndpointSettings(requests_per_minute=3, tokens_per_minute=4), None, "n")
    assert (pace.requests, pace.tokens) == (3, 4)


def test_a_refusal_by_cost_tells_dollars_and_a_rest_of_rounding_is_forgotten() -> None:
    budget = Budget(usd=1.0)
    held = [budget.reserve(Amount(1, 0.1)) for _ in range(10)]
    for one in held:
        budget.settle(one, Amount(1, 0.05))
    assert budget._reserved == Amount()
    with pytest.raises(
        BudgetExceeded, match=r"spent \$0\.5000 of its limit of \$1\.0000.* may need \$0\.6000.*max-cost"
    ):
        budget.reserve(Amount(1, 0.6))
    assert budget.reserve(Amount(1, 0.5)) == Amount(1, 0.5)


@pytest.mark.parametrize(
    "name",
    [
        "requests_per_minute", "tokens_per_minute", "max_tokens_total", "max_cost_usd", "price_prompt",
        "price_completion", "price_embedding", "price_rerank", "timeout_s", "backoff_s", "max_retries", "window",
        "embedding_dimensions", "batch_price", "batch_least", "batch_poll_s", "batch_wait_s",
    ],
)  # fmt: skip
def test_no_number_of_an_endpoint_is_below_zero(name: str) -> None:
    with pytest.raises(SettingsError, match=rf"^endpoint\.{name} must be at least 0"):
        check_limits(EndpointSettings(**{name: -1}))
    check_limits(EndpointSettings(**{name: 0}))


def test_a_limit_of_cost_needs_a_price() -> None:
    with pytest.raises(SettingsError, match="needs the prices of the models"):
        check_limits(EndpointSettings(max_cost_usd=1.0))
    check_limits(EndpointSettings(max_cost_usd=1.0), priced=False)
    check_limits(EndpointSettings(max_cost_usd=1.0, price_rerank=0.1))


def test_an_endpoint_with_limits_of_its_own_is_not_copied() -> None:
    plain, shared = Journal(Replies()), Journal(Replies(), limits=Shared())  # type: ignore[arg-type]
    bounds = ("requests_per_minute", "tokens_per_minute", "max_tokens_total", "max_cost_usd")
    check_copied(EndpointSettings(), None, "It")
    check_copied(EndpointSettings(max_cost_usd=1.0), shared, "It")
    refused = [(EndpointSettings(), plain), *((EndpointSettings(**{name: 1}), None) for name in bounds)]
    for table, journal in refused:
        with pytest.raises(SettingsError, match=r"^It cannot be copied"):
            check_copied(table, journal, "It")


def test_notes_are_told_in_order_with_how_often() -> None:
    notes = Notes()
    notes.add("b", "a", "b")
    notes.add("b")
    assert notes.read() == ("a (1 ×)", "b (3 ×)")
    assert Notes().read() == ()


def test_a_pause_doubles_up_to_half_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    spans: list[tuple[float, float]] = []
    monkeypatch.setattr(random, "uniform", lambda a, b: spans.append((a, b)) or b)
    assert [choose_pause(n, None) for n in range(8)] == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]
    assert spans == [(0.5, 1.0)] * 8
    assert choose_pause(3, None, 2.0) == 16.0
    assert choose_pause(5, 20.0) == 22.0
    assert spans[-1] == (0, 2.0)
    assert choose_pause(5, 0.0) == 0.0


def test_what_calls_cost_is_by_a_million_tokens() -> None:
    table = EndpointSettings(price_prompt=1.0, price_completion=3.0, price_embedding=0.5, price_rerank=2.0)
    priced = price_usage(table, Usage(2, 1_000_000, 500_000, embedding_tokens=2_000_000))
    assert priced == Usage(2, 1_000_000, 500_000, embedding_tokens=2_000_000, cost_usd=3.5)
    assert price_reading(table, True, 400_000) == Usage(embedding_calls=1, embedding_tokens=400_000, cost_usd=0.2)
    assert price_reading(table, False, 400_000) == Usage(1, 400_000, cost_usd=0.8)


class Replies:
    """Replies that are kept in memory."""

    def __init__(self, **kept: bytes) -> None:
        self.kept, self.rested = dict(kept), 0

    def any(self) -> bool:
        return bool(self.kept)

    def read(self) -> dict[str, bytes]:
        return dict(self.kept)

    def keep(self, key: str, reply: bytes) -> None:
        self.kept[key] = reply

    def clear(self) -> None:
        self.kept.clear()

    def rest(self) -> None:
        self.rested += 1


def use(journal: Journal, error: BaseException | None = None) -> None:
    try:
        with journal:
            journal.keep("new", b"1")
            if error:
                raise error
    except BaseException as e:
        if e is not error:
            raise


@pytest.mark.parametrize(
    ("error", "left", "rested"),
    [
        (None, set(), 0), (ValueError(), set(), 0), (StoreError("away"), {"old", "new"}, 1),
        (KeyboardInterrupt(), {"old", "new"}, 1),
    ],
)  # fmt: skip
def test_replies_stay_where_what_was_running_may_not_be_stored(
    error: BaseException | None, left: set[str], rested: int
) -> None:
    replies = Replies(old=b"0")
    journal = Journal(replies)
    assert (journal.left_behind(), journal.recall("old")) == (True, None)
    use(journal, error)
    assert (set(replies.kept), replies.rested) == (left, rested)
    assert journal.recall("old") is None
    journal.keep("late", b"2")
    assert "late" not in replies.kept


def test_calls_before_a_build_leave_what_an_earlier_one_left() -> None:
    replies = Replies(old=b"0")
    journal = Journal(replies)
    with journal.beside():
        assert journal.recall("old") == b"0"
    assert replies.kept == {"old": b"0"}
    use(journal)
    assert replies.kept == {}
    with journal.beside():
        journal.keep("new", b"1")
    assert replies.kept == {}  # nothing had been left


def test_a_request_is_known_by_its_path_and_its_body_and_a_copy_goes_on_where_it_is_open() -> None:
    keys = {Journal.key(path, body) for path in ("/a", "/b") for body in (b"1", b"2")}
    assert len(keys) == 4
    assert {len(key) for key in keys} == {40}
    journal = Journal(Replies(old=b"0"))
    assert pickle.loads(pickle.dumps(journal)).recall("old") is None
    with journal:
        assert pickle.loads(pickle.dumps(journal)).recall("old") == b"0"
