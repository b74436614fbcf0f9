"""Activities: each knows its own calls, in whatever threads they are made, and each is stopped alone (N52)."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.errors import Stopped
from sensegraph.models.endpoint.limits import Notes
from sensegraph.runtime import activity
from sensegraph.runtime.activity import (
    ActivityThreads,
    StopToken,
    Tally,
    begin_activity,
    check_stop,
    closed_when_stopped,
    pause,
    take_lock,
    tell_stage,
    wait_for_change,
)
from sensegraph.runtime.executors.processes import LocalExecutor


@given(st.lists(st.lists(st.integers(1, 100), max_size=6), min_size=1, max_size=6))
def test_each_of_many_activities_at_once_reads_the_sum_of_its_own_and_all_together_the_whole(
    added: list[list[int]],
) -> None:
    tally = Tally(0)

    def count(one: list[int]) -> int:
        with begin_activity(), ActivityThreads(3) as threads:
            list(threads.map(tally.add, one))
            return tally.read()

    with ThreadPoolExecutor(len(added)) as pool:
        assert list(pool.map(count, added)) == [sum(one) for one in added]
    assert tally.read() == sum(map(sum, added))


def test_what_is_counted_inside_counts_for_the_activity_around_it_as_well() -> None:
    tally = Tally(0)
    tally.add(1)
    with begin_activity():
        tally.add(10)
        with begin_activity():
            tally.add(100)
            assert tally.read() == 100
        assert tally.read() == 110
    assert tally.read() == 111


def test_batches_in_the_threads_of_an_executor_count_for_who_runs_them() -> None:
    tally = Tally(Counter[str]())

    def work(batch: str) -> str:
        tally.add(Counter(batch))
        return batch

    with begin_activity():
        found = dict(LocalExecutor(threads=4).map(work, ["aa", "b", "ab"], waits=True))
        assert found == {0: "aa", 1: "b", 2: "ab"}
        assert tally.read() == {"a": 3, "b": 2}


def test_notes_of_one_activity_are_not_those_of_another() -> None:
    notes = Notes()
    notes.add("before")
    with begin_activity():
        notes.add("inside", "inside")
        assert notes.read() == ("inside (2 ×)",)
    assert notes.read() == ("before (1 ×)", "inside (2 ×)")


def test_a_stopped_activity_raises_at_its_next_look_and_another_goes_on() -> None:
    token = StopToken()
    with begin_activity(token):
        check_stop()
        token.stop()
        with pytest.raises(Stopped, match="kept"):
            check_stop()
        begun = list[str]()
        with pytest.raises(Stopped), begin_activity():
            begun.append("an activity inside a stopped one")
        assert begun == []
    with begin_activity(StopToken()):
        check_stop()
    check_stop()


def test_what_is_waited_for_is_closed_once_and_only_meanwhile() -> None:
    token, closed = StopToken(), list[str]()
    with begin_activity(token):
        with closed_when_stopped(lambda: closed.append("over")):
            pass
        with closed_when_stopped(lambda: closed.append("waits")):
            token.stop()
            assert closed == ["waits"]
        with closed_when_stopped(lambda: closed.append("late")):
            assert closed == ["waits", "late"]
    assert closed == ["waits", "late"]


def test_a_pause_ends_as_soon_as_somebody_stops_it() -> None:
    token = StopToken()
    threading.Timer(0.05, token.stop).start()
    with begin_activity(token), pytest.raises(Stopped):
        pause(86_400)  # nobody waits for its end


def test_who_waits_for_a_change_is_woken_when_somebody_stops_it() -> None:
    changed, token, waited = threading.Condition(), StopToken(), threading.Event()

    def wait() -> None:
        with begin_activity(token), changed:
            waited.set()
            wait_for_change(changed, 60.0)

    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(wait)
        waited.wait(5.0)
        token.stop()
        with pytest.raises(Stopped):
            running.result(20.0)


def test_stages_are_told_to_the_nearest_listener_in_order() -> None:
    outer, inner = list[tuple[str, str]](), list[tuple[str, str]]()
    tell_stage("nobody", "hears")
    with begin_activity(tell=lambda *said: outer.append(said)):
        tell_stage("method", "walk")
        with begin_activity():
            tell_stage("writing")
        with begin_activity(tell=lambda *said: inner.append(said)):
            tell_stage("other")
    assert outer == [("method", "walk"), ("writing", "")]
    assert inner == [("other", "")]


def test_a_pause_is_slept_where_nobody_can_stop_it_and_waited_for_where_somebody_can(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slept, token = list[float](), StopToken()
    monkeypatch.setattr(activity, "time", SimpleNamespace(sleep=slept.append))
    pause(0.25)
    with begin_activity():
        pause(0.5)
    assert slept == [0.25, 0.5]
    waited = list[float]()
    monkeypatch.setattr(token, "wait", lambda seconds: waited.append(seconds) or False)
    with begin_activity(token):
        pause(0.75)
    assert (slept, waited) == ([0.25, 0.5], [0.75])
    assert [StopToken().wait(0.0), token.is_stopped()] == [False, False]
    stopped = StopToken()
    stopped.stop()
    assert (stopped.wait(60.0), stopped.is_stopped()) == (True, True)


class Clock:
    """A clock, and a lock that is got on the `free`th try; each try takes as long as it may."""

    def __init__(self, free: int) -> None:
        self.now, self.free, self.tried = 100.0, free, list[float]()

    def monotonic(self) -> float:
        return self.now

    def acquire(self, timeout: float) -> bool:
        self.tried.append(round(timeout, 6))
        self.now += timeout
        return len(self.tried) == self.free


@pytest.mark.parametrize(
    ("seconds", "free", "tried", "got"),
    [
        (0.0, 9, [0.0], False),
        (0.0, 1, [0.0], True),
        (0.5, 9, [0.2, 0.2, 0.1], False),
        (0.5, 3, [0.2, 0.2, 0.1], True),
        (0.5, 2, [0.2, 0.2], True),
        (0.125, 9, [0.125], False),
    ],
)
def test_a_lock_is_tried_in_slices_until_its_time_is_over(
    monkeypatch: pytest.MonkeyPatch, seconds: float, free: int, tried: list[float], got: bool
) -> None:
    clock: Any = Clock(free)
    monkeypatch.setattr(activity, "time", clock)
    assert take_lock(clock, seconds) is got
    assert clock.tried == tried
    with begin_activity(token := StopToken()):
        token.stop()
        with pytest.raises(Stopped):
            take_lock(cast(threading.Lock, Clock(9)), 1.0)


def test_what_is_closed_for_an_activity_is_forgotten_afterwards() -> None:
    token, closed = StopToken(), list[str]()
    with token.closing(lambda: closed.append("a")), token.closing(lambda: closed.append("b")):
        assert len(token._closing) == 2
    assert token._closing == {}
    with closed_when_stopped(lambda: closed.append("nobody")), begin_activity():
        pass
    token.stop()
    with token.closing(lambda: closed.append("late")):
        assert closed == ["late"]


def test_who_waits_for_a_change_gets_it_or_goes_on_after_its_time() -> None:
    changed, told = threading.Condition(), list[str]()
    with changed:
        wait_for_change(changed, 0.0)
    with changed, begin_activity(StopToken()):
        threading.Timer(0.01, lambda: wake(changed, told)).start()
        wait_for_change(changed)
        assert told == ["woken"]


def wake(changed: threading.Condition, told: list[str]) -> None:
    with changed:
        told.append("woken")
        changed.notify_all()


def test_an_activity_stands_in_for_what_is_around_it_where_it_says_nothing() -> None:
    token, told = StopToken(), list[tuple[str, str]]()
    with begin_activity(token, lambda *said: told.append(said)) as outer, begin_activity() as inner:
        assert (inner.stop, inner.tell, inner.around) == (token, outer.tell, outer)
        with begin_activity(StopToken()) as other:
            assert other.stop is not token
            assert other.tell is outer.tell
    with begin_activity() as alone:
        assert (alone.stop, alone.tell, alone.around) == (None, None, None)
    assert told == []
