"""A process of its own does one thing: it tells its progress, ends when it is to stop, and takes nothing along."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sensegraph.errors import ItemFailed, Stopped
from sensegraph.runtime.activity import StopToken, begin_activity
from sensegraph.runtime.own_process import ToldProgress, run_in_own_process

WAITS_S = 20.0


def told_to_nobody(step: str, done: int, total: int) -> None:
    """Progress that nobody sees."""


def is_running(process: int) -> bool:
    """Whether a process has not ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(true: Callable[[], bool]) -> None:
    """Wait for something, but not for ever."""
    until = time.monotonic() + WAITS_S
    while not true():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_what_a_call_gives_comes_back_and_the_process_is_gone() -> None:
    text, process = run_in_own_process(lambda text: (text.upper(), os.getpid()), "one", told_to_nobody)
    assert text == "ONE"
    assert process != os.getpid()
    assert not is_running(process)


def test_large_arrays_are_mapped_there_and_what_is_written_into_them_is_not_seen_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    large, other = np.arange(100_000), np.arange(100_001) * 0.5

    def change(arrays: tuple[Any, ...]) -> tuple[float, bool]:
        found = float(sum(array.sum() for array in arrays))
        arrays[0][:] = 0
        return found, str(tmp_path) in Path("/proc/self/maps").read_text()

    sums = float(large.sum() + other.sum() + 6)
    assert run_in_own_process(change, (large, other, np.arange(4)), told_to_nobody) == (sums, True)
    assert run_in_own_process(change, (large[:4], np.arange(4)), told_to_nobody) == (12.0, False)  # small ones travel
    assert large[99_999] == 99_999
    assert list(tmp_path.iterdir()) == []


def test_what_is_raised_there_is_given_here() -> None:
    def fail(text: str) -> None:
        raise ItemFailed(f"no {text}")

    found = run_in_own_process(fail, "input", told_to_nobody)
    assert isinstance(found, ItemFailed)
    assert str(found) == "no input"


def test_a_process_that_is_killed_and_a_value_that_cannot_travel_are_errors_that_are_given() -> None:
    found = run_in_own_process(lambda number: os.kill(os.getpid(), number), signal.SIGKILL, told_to_nobody)
    assert isinstance(found, BaseException)
    assert isinstance(run_in_own_process(len, [threading.Lock()], told_to_nobody), TypeError | pickle.PicklingError)


def test_progress_is_told_here_step_by_step_and_what_goes_on_quickly_in_part() -> None:
    def work(steps: int) -> None:
        tell = ToldProgress()
        for step in range(steps):
            for done in range(1001):
                tell(f"step{step}", done, 1000)

    told: list[tuple[str, int, int]] = []
    run_in_own_process(work, 3, lambda *progress: told.append(progress))
    assert [found for found in told if found[1] in (0, 1000)] == [
        (f"step{step}", done, 1000) for step in range(3) for done in (0, 1000)
    ]
    assert len(told) < 1000
    ToldProgress()("step", 0, 1)  # nobody waits for this process


def test_it_ends_when_it_is_to_stop(tmp_path: Path) -> None:
    def work(path: Path) -> None:
        path.write_text(str(os.getpid()))
        time.sleep(10 * WAITS_S)

    stop, noted = StopToken(), tmp_path / "process"

    def stop_later() -> None:
        wait_until(lambda: noted.exists() and noted.read_text() != "")
        stop.stop()

    stopping = threading.Thread(target=stop_later)
    stopping.start()
    with begin_activity(stop), pytest.raises(Stopped):
        run_in_own_process(work, noted, told_to_nobody)
    stopping.join()
    assert not is_running(int(noted.read_text()))


WAITING = """
import os, sys, time
from sensegraph.runtime.own_process import run_in_own_process

def work(path):
    with open(path + ".part", "w") as file:
        file.write(str(os.getpid()))
    os.replace(path + ".part", path)
    time.sleep(200)

run_in_own_process(work, sys.argv[1], print)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there a process does not know who began it")
def test_it_ends_where_the_process_that_waits_for_it_is_killed(tmp_path: Path) -> None:
    noted = tmp_path / "process"
    with subprocess.Popen([sys.executable, "-c", WAITING, str(noted)]) as waiting:
        wait_until(noted.exists)
        process = int(noted.read_text())
        assert is_running(process)
        waiting.kill()
    wait_until(lambda: not is_running(process))


def test_where_no_process_may_be_begun_that_is_an_error_that_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
    assert isinstance(run_in_own_process(len, "one", told_to_nobody), OSError)
    monkeypatch.setitem(sys.modules, "loky", None)
    assert isinstance(run_in_own_process(len, "one", told_to_nobody), ImportError)


def test_an_error_of_who_is_told_of_progress_is_raised_and_ends_the_process(tmp_path: Path) -> None:
    noted = tmp_path / "process"

    def work(path: Path) -> None:
        path.write_text(str(os.getpid()))
        ToldProgress()("step", 0, 1)
        time.sleep(10 * WAITS_S)

    def fail(*progress: object) -> None:
        raise TypeError(f"told of {progress}")

    with pytest.raises(TypeError, match="told of"):
        run_in_own_process(work, noted, fail)
    assert not is_running(int(noted.read_text()))
