"""Work of a build beside its other work."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

from sensegraph.errors import ItemFailed
from sensegraph.runtime.activity import ActivityThreads
from sensegraph.runtime.runtime import Runtime

A = TypeVar("A")


@contextmanager
def run_in_background(work: Callable[[Runtime], A], rt: Runtime) -> Iterator[Callable[[], A]]:
    """Begin `work` in a thread of its own; what is given stands for its result, and waits for it.

    Leaving early stops it: what is running ends and is stored, nothing new begins. It shows no progress. Where the
    embedder works rather than waits there is nothing to gain, and the work is done when its result is asked for.
    """
    if not rt.embedder.waits:
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
