"""The progress of what runs in a process of its own, told to the process that waits for it."""

from __future__ import annotations

import time
from collections.abc import Callable

SELDOM_S = 0.1  # between what is told of what goes on quickly
TELLS: list[Callable[[tuple[str, int, int]], None]] = []  # in such a process: what tells the one that waits


class ToldProgress:
    """What is told of each step where somebody waits, and of what goes on quickly some of it; else nothing is."""

    def __init__(self) -> None:
        self._step, self._said = "", 0.0

    def __call__(self, step: str, done: int, total: int) -> None:
        """So much of a step is done."""
        now = time.monotonic()
        if TELLS and (step != self._step or done >= total or now - self._said > SELDOM_S):
            self._step, self._said = step, now
            TELLS[0]((step, done, total))
