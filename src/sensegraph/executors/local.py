"""Run batches on this machine: threads where a call waits, processes where it works, in place where it is little."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ThreadPoolExecutor, wait
from typing import Any


def attempt(call: Callable[[Any], Any], batch: Any) -> Any | BaseException:
    """The result, or the exception as a value: one bad batch must not stop the others."""
    try:
        return call(batch)
    except Exception as e:  # noqa: BLE001 - the one broad handler of the package: the runtime reports what it catches
        return e


class SerialExecutor:
    """One batch after the other, in this thread."""

    def map(
        self, call: Callable[[Any], Any], batches: Sequence[Any], *, waits: bool
    ) -> Iterator[tuple[int, Any | BaseException]]:
        """Yield (position, result or exception) in order."""
        for position, batch in enumerate(batches):
            yield position, attempt(call, batch)


class LocalExecutor:
    """`threads` calls at once where they wait; `processes` workers where they work and there is enough to do.

    Worker processes are kept for the next step, and end with the program or after a minute without work.
    """

    enough = 8  # batches: below, starting processes costs more than it saves

    def __init__(self, threads: int = 16, processes: int = 0) -> None:
        self.threads = max(1, threads)
        self.processes = processes or _cores()

    def map(
        self, call: Callable[[Any], Any], batches: Sequence[Any], *, waits: bool
    ) -> Iterator[tuple[int, Any | BaseException]]:
        """Yield (position, result or exception) as batches finish."""
        if waits and self.threads > 1 and len(batches) > 1:
            pool = ThreadPoolExecutor(min(self.threads, len(batches)), thread_name_prefix="sensegraph")
            try:
                yield from _windowed(pool, call, batches, window=2 * self.threads)
            finally:
                pool.shutdown(wait=False, cancel_futures=True)
        elif not waits and self.processes > 1 and len(batches) >= self.enough:
            from loky import get_reusable_executor  # unlike multiprocessing, needs no guard in the user's script

            workers = get_reusable_executor(max_workers=self.processes, timeout=60)
            yield from _windowed(workers, call, batches, window=2 * self.processes)
        else:
            yield from SerialExecutor().map(call, batches, waits=waits)


def _cores() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _windowed(
    pool: Executor, call: Callable[[Any], Any], batches: Sequence[Any], window: int
) -> Iterator[tuple[int, Any | BaseException]]:
    """Keep at most `window` batches in flight, which bounds memory; leaving early cancels what has not begun."""
    running: dict[Future[Any], int] = {}
    position = 0
    try:
        while running or position < len(batches):
            while position < len(batches) and len(running) < window:
                running[_submitted(pool, call, batches[position])] = position
                position += 1
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield running.pop(future), future.exception() or future.result()
    finally:
        for future in running:
            future.cancel()


def _submitted(pool: Executor, call: Callable[[Any], Any], batch: Any) -> Future[Any]:
    """The future of `batch`; of a pool whose worker has died, one that says so: the runtime tries again."""
    try:
        return pool.submit(attempt, call, batch)
    except BrokenExecutor as e:
        failed: Future[Any] = Future()
        failed.set_exception(e)
        return failed
