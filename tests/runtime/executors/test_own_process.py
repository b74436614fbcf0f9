"""A process of its own does one thing: it tells its progress, ends when it is to stop, and takes nothing along."""

from __future__ import annotations

import os
import pickle
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
from sensegraph.runtime.executors.processes import LocalExecutor
from sensegraph.runtime.told_progress import ToldProgress

run_alone = LocalExecutor().run_alone
WAITS_S = 20.0


def told_to_nobody(step: str, done: int, total: int) -> None:
    """Progress that nobody sees."""


def is_running(process: int) -> bool:
    """Whether a process has not ended; one that nobody has waited for yet has."""
    if sys.platform == "linux":
        try:
            return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except OSError:
            return False
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True


def wait_until(true: Callable[[], bool]) -> None:
    """Wait for something, but not for ever."""
    until = time.monotonic() + WAITS_S
    while not true():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_what_a_call_gives_comes_back_and_the_process_is_gone() -> None:
    text, process = run_alone(lambda text: (text.upper(), os.getpid()), "one", told_to_nobody)
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
        maps = Path("/proc/self/maps")
        return found, maps.exists() and str(tmp_path) in maps.read_text()

    sums, told = float(large.sum() + other.sum() + 6), sys.platform == "linux"
    assert run_alone(change, (large, other, np.arange(4)), told_to_nobody) == (sums, told)
    assert run_alone(change, (large[:4], np.arange(4)), told_to_nobody) == (12.0, False)  # small ones travel
    assert large[99_999] == 99_999
    assert list(tmp_path.iterdir()) == []


def test_what_is_raised_there_is_given_here() -> None:
    def fail(text: str) -> None:
        raise ItemFailed(f"no {text}")

    found = run_alone(fail, "input", told_to_nobody)
    assert isinstance(found, ItemFailed)
    assert str(found) == "no input"


class Odd(Exception):
    """An error that a user's own class raises."""


class Stays:
    """What cannot be pickled, and says so in its own way."""

    def __reduce__(self) -> Any:
        raise Odd("stays")


def test_a_process_that_is_killed_and_a_value_that_cannot_travel_are_errors_that_are_given() -> None:
    found = run_alone(lambda code: os._exit(code), 3, told_to_nobody)
    assert isinstance(found, BaseException)
    assert isinstance(run_alone(len, [threading.Lock()], told_to_nobody), TypeError | pickle.PicklingError)
    assert isinstance(run_alone(len, [Stays()], told_to_nobody), Odd)


def test_what_is_printed_there_is_an_error_to_who_reads_what_is_printed_here() -> None:
    done = subprocess.run([sys.executable, "-c", PRINTING], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["found"]
    assert "a library says" in done.stderr
    assert "beside" in done.stderr


def test_progress_is_told_here_step_by_step_and_what_goes_on_quickly_in_part() -> None:
    def work(steps: int) -> None:
        tell = ToldProgress()
        for step in range(steps):
            for done in range(1001):
                tell(f"step{step}", done, 1000)
        for done in (0, 1):
            tell("once", done, 1)

    told: list[tuple[str, int, int]] = []
    run_alone(work, 3, lambda *progress: told.append(progress))
    assert [found for found in told if found[1] in (0, found[2])] == [
        *((f"step{step}", done, 1000) for step in range(3) for done in (0, 1000)),
        ("once", 0, 1),
        ("once", 1, 1),
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
        run_alone(work, noted, told_to_nobody)
    stopping.join()
    assert not is_running(int(noted.read_text()))


PRINTING = """
import os
from sensegraph.runtime.executors.processes import LocalExecutor

LocalExecutor().run_alone(lambda text: (print(text), os.system("echo beside")), "a library says", print)
print("found")
"""
WAITING = """
import os, sys, time
from sensegraph.runtime.executors.processes import LocalExecutor

def work(path):
    with open(path + ".part", "w") as file:
        file.write(str(os.getpid()))
    os.replace(path + ".part", path)
    time.sleep(200)

LocalExecutor().run_alone(work, sys.argv[1], print)
"""


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
    assert isinstance(run_alone(len, "one", told_to_nobody), OSError)
    monkeypatch.setitem(sys.modules, "loky", None)
    assert isinstance(run_alone(len, "one", told_to_nobody), ImportError)


def test_an_error_of_who_is_told_of_progress_is_raised_and_ends_the_process(tmp_path: Path) -> None:
    noted = tmp_path / "process"

    def work(path: Path) -> None:
        path.write_text(str(os.getpid()))
        ToldProgress()("step", 0, 1)
        time.sleep(10 * WAITS_S)

    def fail(*progress: object) -> None:
        raise TypeError(f"told of {progress}")

    with pytest.raises(TypeError, match="told of"):
        run_alone(work, noted, fail)
    assert not is_running(int(noted.read_text()))
