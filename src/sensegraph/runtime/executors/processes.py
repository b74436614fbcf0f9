"""Run batches on this machine: threads where a call waits, processes where it works, in place where it is little."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import ExitStack
from functools import partial
from queue import SimpleQueue
from typing import Any

from sensegraph.runtime.activity import ActivityThreads, check_stop
from sensegraph.runtime.executors.own_process import begin_own_process
from sensegraph.runtime.told_progress import SELDOM_S


def attempt(call: Callable[[Any], Any], batch: Any) -> Any | BaseException:
    """The result, or the exception as a value: one bad batch must not stop the others."""
    try:
        return call(batch)
    except Exception as e:  # noqa: BLE001 - the one broad handler of the package: the runtime reports what it catches
        return e


def begin_here(
    call: Callable[[Any], Any], batches: Sequence[Any], patience: float, worth: float = 0.0
) -> Generator[tuple[int, Any | BaseException], None, int]:
    """Run batches in this thread for `patience` seconds, and then what is left if that takes less than `worth` seconds.

    Gives how many were run; one that would be left alone is run too. Seconds are those of the processor, or a quarter
    of those of the clock where these are more: others who are busy make work no longer, but what waits is helped.
    """
    started, begun, spent = _now(), 0, 0.0
    while begun < len(batches):
        left = len(batches) - begun
        if left > 1 and spent >= patience and spent * left >= worth * begun:
            break
        yield begun, attempt(call, batches[begun])
        begun, spent = begun + 1, max(now - before for now, before in zip(_now(), started, strict=True))
    return begun


def _now() -> tuple[float, float]:
    return time.thread_time(), time.monotonic() / _WAITS


_WAITS = 4.0  # times the seconds of the processor from which work is taken to wait for something


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

    Work begins in this process. What is not done after `patience` seconds, and would take twice as long here, goes to
    workers, whose start costs as much. They are kept for the next step, and end with the program or after a minute
    without work.
    """

    def __init__(self, threads: int = 16, processes: int = 0, patience: float = 3.0) -> None:
        self.threads, self.patience = max(1, threads), patience
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self.processes = processes or cores

    def map(
        self, call: Callable[[Any], Any], batches: Sequence[Any], *, waits: bool
    ) -> Iterator[tuple[int, Any | BaseException]]:
        """Yield (position, result or exception) as batches finish."""
        if waits and self.threads > 1 and len(batches) > 1:
            pool = ActivityThreads(min(self.threads, len(batches)), thread_name_prefix="sensegraph")
            try:
                yield from _run_windowed(pool, call, batches, window=2 * self.threads)
            finally:
                pool.shutdown(wait=False, cancel_futures=True)
        elif waits or self.processes == 1:
            yield from SerialExecutor().map(call, batches, waits=waits)
        else:
            yield from self._work(call, batches)

    def run_alone(self, call: Callable[[Any], Any], value: Any, progress: Callable[[str, int, int], None]) -> Any:
        """What `call` gives for `value`, or the exception, from a process that is begun for it and ends with it.

        So it gives all its memory back. `progress` is told what `ToldProgress` is told there. Raises Stopped, and ends
        the process, where it is to stop.
        """
        with ExitStack() as held:
            begun = attempt(partial(begin_own_process, call, value), held)
            if isinstance(begun, BaseException):
                return begun
            told, future = begun
            while not future.done() or told.poll():
                if told.poll(SELDOM_S):
                    progress(*told.recv())
                check_stop()
            return future.exception() or future.result()

    def _work(self, call: Callable[[Any], Any], batches: Sequence[Any]) -> Iterator[tuple[int, Any | BaseException]]:
        begun = yield from begin_here(call, batches, self.patience, worth=2 * self.patience)
        if begun < len(batches):
            from loky import get_reusable_executor  # unlike multiprocessing, needs no guard in the user's script

            workers = get_reusable_executor(max_workers=self.processes, timeout=60)
            yield from _run_windowed(workers, call, batches, window=2 * self.processes, begun=begun)


def _run_windowed(
    pool: Executor, call: Callable[[Any], Any], batches: Sequence[Any], window: int, begun: int = 0
) -> Iterator[tuple[int, Any | BaseException]]:
    """Run batches from number `begun` on, at most `window` in flight, which bounds memory; leaving early cancels."""
    running: dict[Future[Any], int] = {}
    finished: SimpleQueue[Future[Any]] = SimpleQueue()  # waiting on all of them would look at each for every one
    position = begun
    try:
        while running or position < len(batches):
            while position < len(batches) and len(running) < window:
                future = _submit_batch(pool, call, batches[position])
                running[future] = position
                future.add_done_callback(finished.put)
                position += 1
            future = finished.get()
            yield running.pop(future), future.exception() or future.result()
    finally:
        for future in running:
            future.cancel()


def _submit_batch(pool: Executor, call: Callable[[Any], Any], batch: Any) -> Future[Any]:
    """The future of `batch`; of a pool whose worker has died, one that says so: the runtime tries again."""
    try:
        return pool.submit(attempt, call, batch)
    except BrokenExecutor as e:
        failed: Future[Any] = Future()
        failed.set_exception(e)
        return failed
