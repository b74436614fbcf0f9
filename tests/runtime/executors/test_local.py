from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.runtime.executors import processes
from sensegraph.runtime.executors.processes import LocalExecutor, SerialExecutor
from sensegraph.testing import ExecutorContract


class TestSerialExecutor(ExecutorContract):
    def make(self) -> SerialExecutor:
        return SerialExecutor()


class TestThreads(ExecutorContract):
    def make(self) -> LocalExecutor:
        return LocalExecutor(threads=4, processes=1)


@pytest.mark.slow
class TestProcesses(ExecutorContract):
    def make(self) -> LocalExecutor:
        return LocalExecutor(threads=1, processes=2)


def _die_at_five(batch: Sequence[int]) -> list[int]:
    if 5 in batch:
        os._exit(1)
    return list(batch)


def _slowly(batch: list[int]) -> list[int]:
    time.sleep(0.03)
    return [os.getpid()]


def _meet(batch: tuple[str, int]) -> list[int]:
    """Wait until so many processes are here, each with a file of its own, and a while for one more."""
    folder, count = batch
    (Path(folder) / str(os.getpid())).touch()
    until = time.monotonic() + 60
    while len(os.listdir(folder)) < count and time.monotonic() < until:
        time.sleep(0.01)
    until = time.monotonic() + 1
    while len(os.listdir(folder)) <= count and time.monotonic() < until:
        time.sleep(0.01)
    return [os.getpid()]


class Fetched(list[list[int]]):
    """Batches that tell how many of them were fetched."""

    count = 0

    def __getitem__(self, index: Any) -> Any:
        self.count = max(self.count, index + 1)
        return super().__getitem__(index)


def _process(batch: Sequence[int]) -> list[int]:
    return [os.getpid()]


def _here(batch: Sequence[int]) -> list[int]:
    return [threading.get_ident()]


class TestLocalExecutor:
    def test_without_settings_there_are_sixteen_threads_and_a_worker_for_each_core(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3, 5, 7} if process == 0 else {1}, raising=False)
        made = LocalExecutor()
        assert (made.threads, made.processes, made.patience) == (16, 3, 3.0)
        assert LocalExecutor(threads=0, processes=2).threads == 1
        assert LocalExecutor(processes=2).processes == 2
        monkeypatch.delattr(os, "sched_getaffinity")
        monkeypatch.setattr(os, "cpu_count", lambda: 5)
        assert LocalExecutor().processes == 5
        monkeypatch.setattr(os, "cpu_count", lambda: None)
        assert LocalExecutor().processes == 1

    @pytest.mark.parametrize(("threads", "count", "here"), [(1, 3, True), (2, 1, True), (2, 2, False), (3, 2, False)])
    def test_one_call_alone_and_one_thread_alone_need_no_other_thread(
        self, threads: int, count: int, here: bool
    ) -> None:
        found = list(LocalExecutor(threads=threads).map(_here, [[i] for i in range(count)], waits=True))
        assert len(found) == count
        assert {ident == threading.get_ident() for _, (ident,) in found} == {here}

    def test_one_worker_alone_works_here_and_the_last_batch_is_never_sent_away(self) -> None:
        for executor, count in (
            (LocalExecutor(processes=1, patience=0.0), 3),
            (LocalExecutor(processes=2, patience=0.0), 1),
        ):
            found = list(executor.map(_process, [[i] for i in range(count)], waits=False))
            assert found == [(i, [os.getpid()]) for i in range(count)]

    def test_no_worker_is_started_where_all_is_done_in_time(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "loky", None)
        found = list(LocalExecutor(processes=2).map(_process, [[i] for i in range(4)], waits=False))
        assert found == [(i, [os.getpid()]) for i in range(4)]

    @pytest.mark.parametrize("works", [1.0, 0.0])
    @pytest.mark.parametrize(
        ("count", "patience", "worth", "here"),
        [
            (3, 2.0, 4.5, 3), (6, 2.0, 4.5, 6), (7, 2.0, 4.5, 2), (20, 2.0, 4.5, 2),
            (5, 2.0, 4.0, 5), (6, 2.0, 4.0, 2),
            (5, 0.5, 0.0, 1), (5, 1.0, 0.0, 1), (5, 1.5, 0.0, 2), (5, 0.0, 0.0, 0), (5, 0.0, 9.0, 0),
            (2, 0.5, 0.0, 2), (1, 0.0, 0.0, 1), (0, 0.0, 0.0, 0), (4, 99.0, 0.0, 4),
        ],
    )  # fmt: skip
    def test_what_is_left_goes_to_workers_where_it_takes_longer_than_their_start_is_worth(
        self, monkeypatch: pytest.MonkeyPatch, count: int, patience: float, worth: float, here: int, works: float
    ) -> None:
        """Each batch takes a second: after two, five more are worth the start of workers, and four are not.

        Others who are busy make it last up to four seconds, which is no reason for workers; what only waits counts as
        a quarter of what it takes.
        """
        now = [0.0, 100.0]

        def take_a_second(batch: list[int]) -> list[int]:
            now[0], now[1] = now[0] + works, now[1] + 4.0
            return batch

        monkeypatch.setattr(processes.time, "thread_time", lambda: now[0])
        monkeypatch.setattr(processes.time, "monotonic", lambda: now[1])
        begun = processes.begin_here(take_a_second, [[i] for i in range(count)], patience, worth)
        assert [position for position, _ in begun] == list(range(here))

    def test_leaving_early_waits_for_nobody_and_begins_nothing_more(self) -> None:
        begun, ended, free = list[int](), list[int](), threading.Event()

        def call(batch: list[int]) -> list[int]:
            begun.append(batch[0])
            if batch[0]:
                free.wait(60)
            ended.append(batch[0])
            return batch

        results = LocalExecutor(threads=2).map(call, [[i] for i in range(20)], waits=True)
        assert next(results) == (0, [0])
        results.close()  # type: ignore[attr-defined]
        assert ended == [0]
        free.set()
        time.sleep(0.05)
        assert 1 <= len(begun) <= 4

    def test_calls_that_wait_run_at_once(self) -> None:
        together = threading.Barrier(4, timeout=60)

        def call(batch: Sequence[int]) -> list[int]:
            together.wait()
            return list(batch)

        found = list(LocalExecutor(threads=4).map(call, [[i] for i in range(8)], waits=True))
        assert sorted(found) == [(i, [i]) for i in range(8)]

    def test_no_more_calls_wait_at_once_than_there_are_threads(self) -> None:
        running, most, lock = [0], [0], threading.Lock()

        def call(batch: Sequence[int]) -> list[int]:
            with lock:
                running[0] += 1
                most[0] = max(most[0], running[0])
            time.sleep(0.005)
            with lock:
                running[0] -= 1
            return []

        list(LocalExecutor(threads=3).map(call, [[i] for i in range(20)], waits=True))
        assert most[0] == 3

    @pytest.mark.parametrize("threads", [2, 5])
    def test_batches_are_fetched_when_there_is_room_for_them(self, threads: int) -> None:
        """Two for each thread are at hand, so that none waits for work, and no more, which bounds memory."""
        batches = Fetched([i] for i in range(50))
        results = LocalExecutor(threads=threads).map(list, batches, waits=True)
        for done in range(1, 51):
            next(results)
            assert batches.count == min(2 * threads + done - 1, 50)

    def test_a_slow_call_does_not_hold_back_the_results_of_others(self) -> None:
        others = threading.Event()

        def call(batch: Sequence[int]) -> Any:
            return others.wait(60) if batch == [0] else batch

        seen = []
        for position, result in LocalExecutor(threads=2).map(call, [[i] for i in range(6)], waits=True):
            seen.append(position)
            if len(seen) == 4:
                others.set()
            assert result
        assert seen[:4] != sorted(seen)[:4]
        assert sorted(seen) == list(range(6))

    def test_little_work_stays_in_this_process(self) -> None:
        found = dict(LocalExecutor(processes=2).map(_process, [[i] for i in range(4)], waits=False))
        assert {pid for (pid,) in found.values()} == {os.getpid()}

    @pytest.mark.slow
    def test_much_work_goes_to_other_processes(self) -> None:
        found = dict(LocalExecutor(processes=2, patience=0).map(_process, [[i] for i in range(30)], waits=False))
        assert len(found) == 30
        assert os.getpid() not in {pid for (pid,) in found.values()}

    @pytest.mark.slow
    @pytest.mark.parametrize("processes", [2, 3])
    def test_as_many_processes_work_as_are_set(self, tmp_path: Path, processes: int) -> None:
        executor = LocalExecutor(processes=processes, patience=0)
        found = dict(executor.map(_meet, [(str(tmp_path), processes)] * 2 * processes, waits=False))
        assert len({pid for (pid,) in found.values()}) == len(list(tmp_path.iterdir())) == processes

    @pytest.mark.slow
    def test_work_that_takes_long_goes_on_in_other_processes(self) -> None:
        found = dict(LocalExecutor(processes=2, patience=0.01).map(_slowly, [[i] for i in range(12)], waits=False))
        assert sorted(found) == list(range(12))
        assert found[0] == [os.getpid()]
        assert found[11] != [os.getpid()]

    @pytest.mark.slow
    def test_a_worker_that_dies_is_a_value_too(self) -> None:
        found = dict(LocalExecutor(processes=2, patience=0).map(_die_at_five, [[i] for i in range(20)], waits=False))
        assert sorted(found) == list(range(20))
        assert isinstance(found[5], BaseException)
        again = dict(LocalExecutor(processes=2, patience=0).map(_process, [[i] for i in range(20)], waits=False))
        assert len(again) == 20


class Workers:
    """Workers that stand in this process; the one that gets the batch `deadly` dies before it begins."""

    def __init__(self, deadly: int = -1) -> None:
        self.deadly, self.given = deadly, list[dict[str, int]]()
        self.futures: list[Future[Any]] = []

    def begin(self, **given: int) -> Workers:
        self.given.append(given)
        return self

    def submit(self, attempt: Callable[..., Any], call: Callable[[Any], Any], batch: Any) -> Future[Any]:
        if batch == [self.deadly]:
            raise BrokenExecutor("a worker died")
        self.futures.append(Future())
        self.futures[-1].set_result(attempt(call, batch))
        return self.futures[-1]


@pytest.mark.parametrize("processes", [2, 3])
def test_workers_get_two_batches_each_at_once_and_one_that_died_is_a_value(
    monkeypatch: pytest.MonkeyPatch, processes: int
) -> None:
    workers = Workers(deadly=9)
    monkeypatch.setitem(sys.modules, "loky", SimpleNamespace(get_reusable_executor=workers.begin))
    batches = Fetched([i] for i in range(20))
    results = LocalExecutor(processes=processes, patience=0.0).map(tuple, batches, waits=False)
    found = {}
    for done in range(1, 21):
        found.update([next(results)])
        assert batches.count == min(2 * processes + done - 1, 20)
    assert isinstance(found.pop(9), BrokenExecutor)
    assert found == {i: (i,) for i in range(20) if i != 9}
    assert workers.given == [{"max_workers": processes, "timeout": 60}]


def test_leaving_early_cancels_what_workers_have_not_begun() -> None:
    waiting: list[Future[Any]] = []

    class Busy(Workers):
        def submit(self, attempt: Callable[..., Any], call: Callable[[Any], Any], batch: Any) -> Future[Any]:
            if batch == [0]:
                return super().submit(attempt, call, batch)
            waiting.append(Future())
            return waiting[-1]

    results = processes._run_windowed(Busy(), tuple, [[i] for i in range(9)], window=3)  # type: ignore[arg-type]
    assert next(results) == (0, (0,))
    results.close()  # type: ignore[attr-defined]
    assert [future.cancelled() for future in waiting] == [True, True]


@pytest.mark.parametrize("patience", [2.0, 0.5, 0.0])
def test_what_would_take_twice_as_long_as_the_patience_is_worth_workers(
    monkeypatch: pytest.MonkeyPatch, patience: float
) -> None:
    asked: list[tuple[float, float]] = []

    def begin(call: Any, batches: Sequence[Any], patience: float, worth: float) -> Any:
        asked.append((patience, worth))
        yield 0, "first"
        return len(batches)

    monkeypatch.setattr(processes, "begin_here", begin)
    executor = LocalExecutor(processes=2, patience=patience)
    assert list(executor.map(len, [[1], [2]], waits=False)) == [(0, "first")]
    assert asked == [(patience, 2 * patience)]
