"""Work of a build beside its other work, and how memory is looked through meanwhile."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

from sensegraph.errors import ItemFailed
from sensegraph.runtime.activity import ActivityThreads
from sensegraph.runtime.delegating import is_delegated
from sensegraph.runtime.runtime import Runtime

A = TypeVar("A")
_SELDOM = 1_000_000  # objects more than before, from which cycles among them are looked for; 700 is usual
_CYCLES = threading.Lock()
_USUAL: list[tuple[int, int, int]] = []  # how it was when each that asked for it to be seldom began; first the usual


@contextmanager
def run_in_background(work: Callable[[Runtime], A], rt: Runtime, *, embeds: bool = True) -> Iterator[Callable[[], A]]:
    """Begin `work` in a thread of its own; what is given stands for its result, and waits for it.

    Leaving early stops it: what is running ends and is stored, nothing new begins. It shows no progress. Where workers
    are not on other machines, and it does not wait for an embedder (`embeds`) either, there is nothing to gain, and the
    work is done when its result is asked for.
    """
    if not (is_delegated(rt) or (embeds and rt.embedder.waits)):
        yield lambda: work(rt)
        return
    left = threading.Event()

    def unless_left(step: str, done: int, total: int) -> None:
        if left.is_set():
            raise ItemFailed(f"{step} was stopped at {done} of {total}, because the build ended")

    own = replace(rt, progress=unless_left, inside=[], lacking=[])  # what either lacks says nothing of the other's keys
    with ActivityThreads(1, thread_name_prefix="beside") as pool:
        future = pool.submit(work, own)

        def result() -> A:
            found: A = future.result()
            rt.lacking.extend(own.lacking)
            own.lacking.clear()
            return found

        try:
            yield result
        finally:
            left.set()


@contextmanager
def collect_cycles_seldom() -> Iterator[None]:
    """Look for cycles of objects that nobody needs less often than usual while a build makes many that have none.

    What is in no cycle is freed at once, as always. Where a program looks for them seldom or never, that stays. What is
    there at the end counts as old, so that it is not looked through at once, but with all that is old.
    """
    with _CYCLES:
        _USUAL.append(before := gc.get_threshold())
        if 0 < before[0] < _SELDOM:
            gc.set_threshold(_SELDOM, *before[1:])
    try:
        yield
    finally:
        with _CYCLES:
            before = _USUAL.pop()
            if not _USUAL:
                if not gc.get_freeze_count():  # what a program froze stays frozen
                    gc.freeze()
                    gc.unfreeze()
                gc.set_threshold(*before)
