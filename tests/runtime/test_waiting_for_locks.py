"""How long a lock is waited for, by a clock that goes as far as was waited."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.errors import Busy, Stopped
from sensegraph.runtime import activity, locking
from sensegraph.runtime.activity import StopToken, begin_activity, take_lock


class Held:
    """A lock that is free from a moment on."""

    def __init__(self, until: float) -> None:
        self.now, self.until, self.waited = 50.0, 50.0 + until, list[float]()

    def acquire(self, timeout: float) -> bool:
        self.waited.append(round(timeout, 9))
        if self.now + timeout >= self.until:
            return True
        self.now += timeout
        return False


@pytest.mark.parametrize(
    ("free", "seconds", "got", "waited"),
    [
        (0.0, 0.0, True, [0.0]),
        (0.1, 0.0, False, [0.0]),
        (0.1, 1.0, True, [0.2]),
        (0.5, 1.0, True, [0.2, 0.2, 0.2]),
        (0.5, 0.5, True, [0.2, 0.2, 0.1]),
        (9.0, 0.5, False, [0.2, 0.2, 0.1]),
        (9.0, 0.4, False, [0.2, 0.2]),
        (9.0, 0.1, False, [0.1]),
        (9.0, -1.0, False, [0.0]),
    ],
)
def test_a_lock_is_tried_every_fifth_of_a_second_until_the_time_is_over(
    monkeypatch: pytest.MonkeyPatch, free: float, seconds: float, got: bool, waited: list[float]
) -> None:
    lock: Any = Held(free)
    monkeypatch.setattr(activity, "time", SimpleNamespace(monotonic=lambda: round(lock.now, 9)))
    assert take_lock(lock, seconds) is got
    assert lock.waited == waited


def test_who_waits_for_a_lock_is_stopped_between_two_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    lock: Any = Held(9.0)
    monkeypatch.setattr(activity, "time", SimpleNamespace(monotonic=lambda: lock.now))
    token = StopToken()
    with begin_activity(token):
        token.stop()
        with pytest.raises(Stopped):
            take_lock(lock, 5.0)
    assert lock.waited == [0.2]


def test_a_file_of_the_name_that_a_folder_is_tried_with_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locking, "uuid4", lambda: SimpleNamespace(hex="1"))
    assert locking.is_writable(tmp_path)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / ".writable-1").write_text("mine")
    assert not locking.is_writable(tmp_path)
    assert (tmp_path / ".writable-1").read_text() == "mine"
    assert not locking.is_writable(tmp_path / "none")


@pytest.mark.parametrize(
    ("wait", "free", "slept", "said"),
    [
        (0.0, 9, [], "it is running; wait"),
        (0.0, 1, [], None),
        (0.25, 9, [0.1, 0.1, 0.05], "it is running for more than 0.25 s; wait"),
        (0.25, 4, [0.1, 0.1, 0.05], None),
        (0.25, 2, [0.1], None),
        (0.1, 9, [0.1], "for more than 0.1 s"),
    ],
)
def test_a_lock_of_another_build_is_tried_ten_times_a_second_until_its_time_is_over(
    monkeypatch: pytest.MonkeyPatch, wait: float, free: int, slept: list[float], said: str | None
) -> None:
    paused, tried = list[float](), list[int]()

    def sleep(seconds: float) -> None:
        assert seconds > 0
        paused.append(round(seconds, 9))

    clock = SimpleNamespace(monotonic=lambda: round(64.0 + sum(paused), 9), sleep=sleep)
    monkeypatch.setattr(locking, "time", clock)

    def take() -> bool:
        tried.append(1)
        return len(tried) == free

    if said:
        with pytest.raises(Busy, match=said):
            locking.wait_for_lock(take, "it", wait)
    else:
        locking.wait_for_lock(take, "it", wait)
    assert paused == slept
    assert len(tried) == len(slept) + 1
