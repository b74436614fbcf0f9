"""One question, or one build, as it runs: what it spends and notes, whether it is to stop, and what it is at.

An activity goes along into the threads that work for it, so that of questions that are asked at once of the same tools
each knows its own calls, and each can be stopped alone.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import Any, Generic, TypeVar

from sensegraph.errors import Stopped

S = TypeVar("S")
Tell = Callable[[str, str], None]
_SLICE_S = 0.2  # a lock cannot be given up: it is tried again and again


class StopToken:
    """Asks an activity to stop, from any thread; one token may stand for several activities."""

    def __init__(self) -> None:
        self._lock, self._stopped = threading.Lock(), threading.Event()
        self._closing: dict[object, Callable[[], None]] = {}

    def stop(self) -> None:
        """Ask for it: no call begins any more, and what is waited for is closed."""
        with self._lock:
            self._stopped.set()
            closing = list(self._closing.values())
        for close in closing:
            close()

    def is_stopped(self) -> bool:
        """Whether it was asked for."""
        return self._stopped.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait so long, or until it is asked for; whether it was."""
        return self._stopped.wait(seconds)

    @contextmanager
    def closing(self, close: Callable[[], None]) -> Iterator[None]:
        """Call `close` where the token is stopped meanwhile, or was before."""
        me = object()
        with self._lock:
            self._closing[me] = close
            before = self._stopped.is_set()
        if before:
            close()
        try:
            yield
        finally:
            with self._lock:
                del self._closing[me]


class Activity:
    """What runs: its token, whom it tells what it is at, and its share of what tools count."""

    def __init__(self, stop: StopToken | None, tell: Tell | None, around: Activity | None) -> None:
        self.stop: StopToken | None = stop or (around.stop if around else None)
        self.tell: Tell | None = tell or (around.tell if around else None)
        self.around = around
        self.shares: dict[Tally[Any], Any] = {}


_CURRENT: ContextVar[Activity | None] = ContextVar("activity", default=None)


@contextmanager
def begin_activity(stop: StopToken | None = None, tell: Tell | None = None) -> Iterator[Activity]:
    """What is done inside is an activity of its own, and counts for the one around it too.

    It is stopped by `stop`, else with the one around it. `tell` is told a stage and a detail of it. Raises Stopped
    where it was stopped before it began.
    """
    made = Activity(stop, tell, _CURRENT.get())
    before = _CURRENT.set(made)
    try:
        check_stop()
        yield made
    finally:
        _CURRENT.reset(before)


class Tally(Generic[S]):
    """A sum, of which each activity reads its own share; safe to use from many threads."""

    def __init__(self, zero: S) -> None:
        self._lock, self._zero, self._total = threading.Lock(), zero, zero

    def add(self, more: S) -> None:
        """Add to the sum, and to the shares of the activity and of those around it."""
        current = _CURRENT.get()
        with self._lock:
            self._total = self._total + more  # type: ignore[operator]
            while current is not None:
                current.shares[self] = current.shares.get(self, self._zero) + more
                current = current.around

    def read(self) -> S:
        """The share of the activity that asks; the whole where none does."""
        current = _CURRENT.get()
        with self._lock:
            return self._total if current is None else current.shares.get(self, self._zero)


# ── stopping, and telling ──


def check_stop() -> None:
    """Raise Stopped where the activity was asked to stop."""
    current = _CURRENT.get()
    if current and current.stop and current.stop.is_stopped():
        raise Stopped("It was stopped before its end; what was computed until then is kept.")


def pause(seconds: float) -> None:
    """Wait so long. Raises Stopped as soon as the activity is asked to stop."""
    current = _CURRENT.get()
    if current and current.stop:
        current.stop.wait(seconds)
        check_stop()
    else:
        time.sleep(seconds)


@contextmanager
def closed_when_stopped(close: Callable[[], None]) -> Iterator[None]:
    """Call `close`, from another thread, where the activity is asked to stop meanwhile."""
    current = _CURRENT.get()
    if current and current.stop:
        with current.stop.closing(close):
            yield
    else:
        yield


def wait_for_change(changed: threading.Condition, seconds: float | None = None) -> None:
    """Wait for a condition that is held, so long at most. Raises Stopped as soon as the activity is asked to stop."""

    def wake() -> None:
        with changed:
            changed.notify_all()

    with closed_when_stopped(wake):
        changed.wait(seconds)
    check_stop()


def take_lock(lock: threading.Lock, seconds: float) -> bool:
    """Wait for a lock, so long at most; whether it was got. Raises Stopped where the activity is asked to stop."""
    until = time.monotonic() + seconds
    while not lock.acquire(timeout=max(0.0, min(_SLICE_S, until - time.monotonic()))):
        check_stop()
        if time.monotonic() >= until:
            return False
    return True


def tell_stage(stage: str, detail: str = "") -> None:
    """Say what the activity is at now, to whom it is to be told."""
    current = _CURRENT.get()
    if current and current.tell:
        current.tell(stage, detail)


class ActivityThreads(ThreadPoolExecutor):
    """Threads that work for the activity that submits."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run `fn` for the activity of now."""
        return super().submit(copy_context().run, fn, *args, **kwargs)


__all__ = [
    "Activity", "ActivityThreads", "StopToken", "Tally", "begin_activity", "check_stop", "closed_when_stopped", "pause",
    "take_lock", "tell_stage", "wait_for_change",
]  # fmt: skip
