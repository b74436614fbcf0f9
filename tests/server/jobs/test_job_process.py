"""What a job tells while it runs: how far it is, not too often, and how it ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.errors import InputError, Stopped
from sensegraph.server.jobs import job_process
from sensegraph.server.jobs.job_process import run_job
from sensegraph.server.jobs.job_request import JobRequest


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[tuple[str, Any]]]:
    """The events of a job that does this with what it tells progress to, by a clock of its own."""

    def run(work: Callable[[Callable[..., None], list[float]], None]) -> list[tuple[str, Any]]:
        clock, told = [100.0], list[tuple[str, Any]]()

        @contextmanager
        def open_corpus(root: str, *, settings: Any, progress: Any, mend: bool) -> Iterator[Any]:
            assert (root, mend) == (str(tmp_path), True)
            work(progress, clock)
            yield None

        monkeypatch.setattr(job_process, "Corpus", SimpleNamespace(open=open_corpus))
        monkeypatch.setattr(job_process, "time", SimpleNamespace(monotonic=lambda: clock[0]))
        monkeypatch.setattr(job_process, "_do", lambda corpus, request: {"done": True})
        run_job(
            JobRequest(kind="build", root=str(tmp_path), settings={}), lambda event, data: told.append((event, data))
        )
        return told

    return run


def test_a_job_tells_of_every_step_and_of_one_step_five_times_a_second(run: Callable[..., Any]) -> None:
    moments = [
        (0.0, "read", 1, True),
        (0.1, "read", 2, False),
        (0.19, "read", 3, False),
        (0.25, "read", 4, True),
        (0.3, "read", 5, False),
        (0.31, "ask", 0, True),
        (0.32, "ask", 8, False),
        (0.33, "ask", 9, True),  # all is done
    ]

    def work(progress: Callable[..., None], clock: list[float]) -> None:
        for at, step, done, _ in moments:
            clock[0] = 100.0 + at
            progress(step, done, 9)

    assert run(work) == [
        *(("progress", {"step": step, "done": done, "total": 9}) for _, step, done, told in moments if told),
        ("end", {"state": "done", "result": {"done": True}}),
    ]


@pytest.mark.parametrize(
    ("error", "state", "code", "message"),
    [
        (Stopped("It was stopped."), "stopped", "Stopped", "It was stopped."),
        (InputError("There is no file."), "failed", "InputError", "There is no file."),
        (PermissionError(13, "Not permitted", "/x/y"), "failed", "Internal", "/x/y cannot be used (Not permitted)."),
        (OSError("odd"), "failed", "Internal", "A file cannot be used (odd)."),
    ],
)
def test_a_job_tells_how_it_ended(
    run: Callable[..., Any], error: Exception, state: str, code: str, message: str
) -> None:
    def work(progress: Callable[..., None], clock: list[float]) -> None:
        raise error

    assert run(work) == [("end", {"state": state, "error": {"code": code, "message": message}})]
