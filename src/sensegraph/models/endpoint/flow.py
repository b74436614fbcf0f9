"""How many calls are under way at once, and when all of them pause: as the endpoint bears it.

It begins with as many as are set. Where the endpoint asks for a pause, everybody waits, one tries first, and fewer go
on; every stretch of good replies lets one more in again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from sensegraph.runtime.activity import wait_for_change

_FIRST_S = 5.0  # seconds that others wait for the first reply after a pause


class Gate:
    """At most `most` calls at once; safe to use from many threads."""

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.most = most
        self._clock, self._changed = clock, threading.Condition()
        self._width, self._inside, self._good = most, 0, 0
        self._until, self._braked = 0.0, 0.0
        self._alone_since: float | None = None

    @property
    def width(self) -> int:
        """How many calls may be under way now."""
        return self._width

    def narrow(self, most: int) -> None:
        """No more than so many calls at once from now on."""
        with self._changed:
            self.most = min(self.most, most)
            self._width = min(self._width, most)

    def left(self) -> float:
        """The seconds until the end of the pause that holds for all."""
        return max(0.0, self._until - self._clock())

    def enter(self) -> float:
        """Wait for a place; when it was got."""
        with self._changed:
            while self._inside >= self._open():
                wait_for_change(self._changed, 0.05 if self._alone_since is not None else None)
            self._inside += 1
            return self._clock()

    def leave(self, *, good: bool) -> None:
        """Give a place back; a `good` reply shows that the endpoint answers."""
        with self._changed:
            self._inside -= 1
            if good:
                self._alone_since = None
                self._good += 1
                if self._width < self.most and self._good >= max(8, 4 * self._width):
                    self._width, self._good = self._width + 1, 0
            self._changed.notify_all()

    def brake(self, began: float, pause: float) -> float:
        """All pause, and fewer go on: once for all calls that were begun before. When the pause ends."""
        with self._changed:
            now = self._clock()
            if began >= self._braked:
                self._width, self._good = max(1, self._width // 2), 0
                self._braked = now
            self._alone_since = now + pause
            self._until = max(self._until, now + pause)
            self._changed.notify_all()
            return self._until

    def hold(self, pause: float) -> None:
        """All pause, as there is nothing left of what the endpoint allows; nobody was refused."""
        with self._changed:
            self._until = max(self._until, self._clock() + pause)

    def _open(self) -> int:
        """How many places there are at this moment."""
        alone = self._alone_since
        return 1 if alone is not None and self._clock() < alone + _FIRST_S else self._width
