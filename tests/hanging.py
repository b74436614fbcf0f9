"""What takes minutes where it should take a second is stopped: no test waits for it, and none compares a time."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Hanging(BaseException):
    """It did not come to an end; no handler of the package catches this."""


@contextmanager
def not_hanging(cpu_seconds: float = 20.0) -> Iterator[None]:
    """Stop what has worked for so long, and fail: time that other programs take is none of it."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise Hanging(f"more than {cpu_seconds:g} s of work")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, cpu_seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
