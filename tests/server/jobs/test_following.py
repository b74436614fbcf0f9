"""What a folder that is followed starts and waits for, and what each kind of job does; no process is begun."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("starlette")

from sensegraph.corpus import views
from sensegraph.corpus.settings import Settings
from sensegraph.corpus.sources import Pace
from sensegraph.errors import InputError
from sensegraph.server.http.failures import Refused
from sensegraph.server.jobs import job_process, watching
from sensegraph.server.jobs.job_process import _do, describe_error, drop_files
from sensegraph.server.jobs.job_request import JobRequest
from sensegraph.server.jobs.watching import FolderWatch


class Jobs:
    """Jobs that end at once as they are told to; one that is refused runs already."""

    def __init__(self, *states: str) -> None:
        self.states, self.started = list(states), list[Any]()

    async def start(self, name: str, request: JobRequest) -> Any:
        self.started.append((name, request.kind, request.root, request.settings))
        state = self.states.pop(0)
        if state == "refused":
            raise Refused(409, "another one runs")

        async def follow(after: int, heartbeat: float) -> AsyncGenerator[None]:
            assert (after, heartbeat) == (0, 60.0)
            yield None

        return SimpleNamespace(state=state, follow=follow)


def look_through(
    monkeypatch: pytest.MonkeyPatch,
    root: Path,
    jobs: Jobs,
    *,
    seen: Any = ("file",),
    documents: Any = (),
    ended: bool = False,
) -> list[Any]:
    """What a folder's watch says of each round, and whether it goes on afterwards."""
    told: list[Any] = []

    def follow(look: Any, act: Any, pace: Pace, *, pause: Any, now: Any) -> None:
        assert pace == Pace(0.5)
        told.extend(act() for _ in range(max(1, len(jobs.states))))
        pause(0.0)
        told.append("goes on")

    def list_keys() -> Any:
        if isinstance(documents, Exception):
            raise documents
        return documents

    async def run() -> None:
        corpus = SimpleNamespace(root=root, settings=Settings(), document_keys=list_keys)
        served: Any = SimpleNamespace(corpus=corpus, input=root / "input", name="notes")
        watch = FolderWatch(served, jobs, {"engine": "offline"}, Pace(0.5))  # type: ignore[arg-type]
        if ended:
            watch.stop()
        await asyncio.sleep(0)
        await asyncio.to_thread(watch._thread.join)
        await watch.close()

    monkeypatch.setattr(watching, "follow_changes", follow)
    monkeypatch.setattr(watching, "take_snapshot", lambda places, settings: seen)
    asyncio.run(run())
    return told


def test_a_round_is_done_where_its_job_did_not_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = Jobs("done", "failed", "refused", "stopped")
    assert look_through(monkeypatch, tmp_path, jobs) == [True, False, False, True, "goes on"]
    assert jobs.started == [("notes", "sync", str(tmp_path.resolve()), {"engine": "offline"})] * 4


def test_where_there_is_nothing_no_job_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = Jobs()
    assert look_through(monkeypatch, tmp_path, jobs, seen=()) == [True, "goes on"]
    assert look_through(monkeypatch, tmp_path, jobs, seen=(), documents=InputError("odd")) == [False, "goes on"]
    assert look_through(monkeypatch, tmp_path, jobs, seen=(), documents=OSError("odd")) == [False, "goes on"]
    assert jobs.started == []
    one = Jobs("done")
    assert look_through(monkeypatch, tmp_path, one, seen=(), documents=("d",)) == [True, "goes on"]
    assert len(one.started) == 1


# ── what a job does ──


class Corpus:
    """A corpus that says what it was asked to do."""

    def __init__(self) -> None:
        self.did: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **given: self.did.append((name, *args, *given.items())) or name


def test_each_kind_of_job_does_what_its_command_does(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("view_collected", "view_built", "view_resolved", "view_applied"):
        monkeypatch.setattr(views, name, lambda found, *more, name=name: {name: found})
    monkeypatch.setattr(job_process, "follow_input", lambda corpus: {"followed": True})
    monkeypatch.setattr(job_process, "drop_files", lambda corpus, documents: {"dropped": documents})

    def do(kind: Any, *names: str, documents: tuple[str, ...] = ()) -> tuple[Any, Any]:
        corpus: Any = Corpus()
        return _do(corpus, JobRequest(kind, "r", {}, documents, names)), corpus.did

    assert do("collect") == ({"view_collected": "collect"}, [("collect",)])
    assert do("build") == ({"view_built": "build"}, [("build",)])
    assert do("resolve") == ({"view_resolved": "resolve"}, [("resolve", ("ask", False))])
    assert do("merge", "a", "b") == ({"view_applied": "merge"}, [("merge", "a", "b")])
    assert do("forbid", "a", "b") == ({"view_applied": "forbid"}, [("forbid", "a", "b")])
    assert do("remove", documents=("d",)) == ({"dropped": ("d",)}, [])
    assert do("sync") == ({"followed": True}, [])
    assert describe_error(InputError("odd")) == {"code": "InputError", "message": "odd"}


def test_documents_are_dropped_with_their_files_and_others_are_said_to_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").touch()
    corpus: Any = Corpus()
    monkeypatch.setattr(job_process, "find_input", lambda corpus: tmp_path)
    monkeypatch.setattr(job_process, "find_file", lambda corpus, name: tmp_path / "a.txt" if name == "a.txt" else None)
    monkeypatch.setattr(job_process, "list_origins", lambda corpus, name: [Path("/far/b")] if name == "b" else [])
    monkeypatch.setattr(job_process, "build_rest", lambda corpus: (5, ["built"]))
    told = drop_files(corpus, ["a.txt", "b"])
    stays = "the file stays where it was read from: indexing that folder again reads it again"
    assert told == {"removed": ["a.txt", "b"], "documents": 5, "notes": ["built", stays]}
    assert corpus.did == [("remove", "a.txt", "b")]
    assert not (tmp_path / "a.txt").exists()
    (tmp_path / "a.txt").touch()
    assert drop_files(corpus, ["a.txt", "c"])["notes"] == ["built"]
