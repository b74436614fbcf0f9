"""A job from its start to its end, and the jobs of each corpus, over small programs in the place of the work."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.server.http.failures import Refused
from sensegraph.server.jobs import jobs as module
from sensegraph.server.jobs.job_request import JobRequest
from sensegraph.server.jobs.jobs import Job, Jobs

REQUEST = JobRequest("sync", "/none")
DONE = """echo '{"event": "end", "state": "done", "result": {"new": 3}}'"""
WAITS = "cat > /dev/null"  # until stdin ends
DEAF = "exec sleep 60"


def progress(step: str, done: int, total: int) -> dict[str, Any]:
    return {"event": "progress", "step": step, "done": done, "total": total}


def end(state: str, **more: Any) -> dict[str, Any]:
    return {"event": "end", "state": state, **more}


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, in seconds, as jobs see it."""
    now = [100.0]
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Let jobs run a program of the shell."""

    def run(text: str) -> None:
        place = tmp_path / "program"
        place.write_text(f"#!/bin/sh\nread request\n{text}\n")
        place.chmod(0o755)
        monkeypatch.setattr(module, "sys", SimpleNamespace(executable=str(place)))

    return run


async def all_of(events: AsyncGenerator[tuple[int, str, dict[str, Any]] | None]) -> list[Any]:
    async with asyncio.timeout(20):
        return [(event[0], event[1]) if event else None async for event in events]


def told(work: Callable[[Jobs, list[str]], Awaitable[None]]) -> list[str]:
    """The states that jobs were counted with, while something was done with them."""
    states = list[str]()

    async def run() -> None:
        jobs = Jobs(states.append)
        try:
            await work(jobs, states)
        finally:
            jobs.stop()
            await jobs.close()

    asyncio.run(run())
    return states


# ── a job ──


def test_the_time_left_is_that_of_the_step_that_runs(clock: list[float]) -> None:
    async def work() -> list[float | None]:
        job, left = Job(REQUEST), list[float | None]()
        for seconds, event in (
            (0, progress("read", 0, 4)),
            (2, progress("read", 1, 4)),
            (2, progress("read", 2, 4)),
            (5, progress("embed", 1, 3)),
            (3, progress("embed", 2, 3)),
            (1, progress("embed", 3, 3)),
            (1, progress("merge", 1, 2)),
            (1, end("done")),
        ):
            clock[0] += seconds
            await job.take(event)
            left.append(job.view()["seconds_left"])
        return left

    assert asyncio.run(work()) == [None, 6.0, 4.0, 0.0, 1.5, None, 0.0, None]


def test_a_job_ends_once() -> None:
    async def work() -> Job:
        job = Job(JobRequest("remove", "/none", {}, ("a.txt",)))
        await job.take(progress("read", 1, 4))
        await job.take(end("failed", error={"code": "EmptyCorpus", "message": "Nothing is there."}))
        await job.take(end("done", result={"new": 1}))
        return job

    view = asyncio.run(work()).view()
    assert (view["kind"], view["documents"], view["state"], view["result"]) == ("remove", ["a.txt"], "failed", None)
    assert view["error"] == {"code": "EmptyCorpus", "message": "Nothing is there.", "next": "change"}
    assert (view["step"], view["done"], view["total"]) == ("read", 1, 4)
    assert view["started"] <= view["ended"]
    assert len(view["id"]) == 16


def test_who_follows_is_told_what_comes_after_a_number_and_that_there_was_nothing() -> None:
    async def work() -> tuple[list[Any], ...]:
        job = Job(REQUEST)
        for done in (1, 2, 3):
            await job.take(progress("read", done, 3))
        silent = job.follow(3, 0.01)
        beats = [await anext(silent), await anext(silent)]
        await silent.aclose()
        await job.take(end("done"))
        return (
            beats,
            await all_of(job.follow(0, 1.0)),
            await all_of(job.follow(2, 1.0)),
            await all_of(job.follow(4, 1.0)),
        )

    beats, whole, later, nothing = asyncio.run(work())
    assert beats == [None, None]
    assert whole == [(1, "progress"), (2, "progress"), (3, "progress"), (4, "end")]
    assert later == [(3, "progress"), (4, "end")]
    assert nothing == []


def test_who_waits_is_told_at_once() -> None:
    async def work() -> list[Any]:
        job = Job(REQUEST)
        waiting = asyncio.ensure_future(all_of(job.follow(0, 60.0)))
        await asyncio.sleep(0.01)
        await job.take(progress("read", 1, 2))
        await job.take(end("done"))
        return await asyncio.wait_for(waiting, 10.0)

    assert asyncio.run(work()) == [(1, "progress"), (2, "end")]


def test_the_last_thousand_events_are_kept() -> None:
    async def work() -> list[Any]:
        job = Job(REQUEST)
        for done in range(1000):
            await job.take(progress("read", done, 1000))
        await job.take(end("done"))
        return await all_of(job.follow(0, 1.0))

    numbers = [number for number, _ in asyncio.run(work())]
    assert (numbers[0], numbers[-1], len(numbers)) == (2, 1001, 1000)


# ── the jobs of each corpus ──


def test_a_job_is_done_found_and_counted(program: Callable[[str], None]) -> None:
    program("""echo '{"event": "progress", "step": "read", "done": 1, "total": 2}'\n""" + DONE)

    async def work(jobs: Jobs, states: list[str]) -> None:
        first = await jobs.start("notes", REQUEST)
        assert await all_of(first.follow(0, 60.0)) == [(1, "progress"), (2, "end")]
        assert (first.state, first.result, first.error, states) == ("done", {"new": 3}, None, ["done"])
        second = await jobs.start("notes", REQUEST)
        await all_of(second.follow(0, 60.0))
        assert jobs.list("notes") == [second, first]
        assert jobs.list("letters") == []
        assert jobs.find("notes", first.id) is first
        for corpus, name in (("letters", first.id), ("notes", "x" * 50)):
            with pytest.raises(Refused) as refused:
                jobs.find(corpus, name)
            said = f"There is no job {name[:40]!r} of this corpus; the server remembers the last 50."
            assert (refused.value.status_code, refused.value.detail) == (404, said)

    assert told(work) == ["done", "done"]


def test_one_job_of_a_corpus_runs_at_a_time(program: Callable[[str], None]) -> None:
    program(WAITS)

    async def work(jobs: Jobs, states: list[str]) -> None:
        first = await jobs.start("notes", REQUEST)
        with pytest.raises(Refused) as refused:
            await jobs.start("notes", REQUEST)
        assert (refused.value.status_code, dict(refused.value.headers or {})) == (409, {"Retry-After": "5"})
        other = await jobs.start("letters", REQUEST)
        first.stop()
        await all_of(first.follow(0, 60.0))
        assert (first.state, first.error, other.state, other.stopping) == ("stopped", None, "running", False)
        await jobs.start("notes", REQUEST)

    assert told(work) == ["stopped"] * 3


def test_a_job_that_ends_without_a_word_has_failed(program: Callable[[str], None]) -> None:
    program("exit 0")

    async def work(jobs: Jobs, states: list[str]) -> None:
        job = await jobs.start("notes", REQUEST)
        await all_of(job.follow(0, 60.0))
        assert job.error == {**module._CRASHED, "next": "retry"}

    assert told(work) == ["failed"]


def test_the_process_is_told_what_to_do(program: Callable[[str], None]) -> None:
    program("""echo '{"event": "end", "state": "done", "result": '"$request"'}'""")

    async def work(jobs: Jobs, states: list[str]) -> None:
        job = await jobs.start("notes", JobRequest("remove", "/none", {"engine": "offline"}, ("a.txt",)))
        await all_of(job.follow(0, 60.0))
        assert job.result == {
            "kind": "remove", "root": "/none", "settings": {"engine": "offline"}, "documents": ["a.txt"], "names": []
        }  # fmt: skip

    assert told(work) == ["done"]


def test_a_process_that_says_no_more_is_let_go(program: Callable[[str], None]) -> None:
    program("exec >&-\n" + WAITS)

    async def work(jobs: Jobs, states: list[str]) -> None:
        job = await jobs.start("notes", REQUEST)
        await all_of(job.follow(0, 60.0))
        assert (job.state, job.stopping) == ("failed", False)

    assert told(work) == ["failed"]


def test_a_job_that_does_not_hear_is_killed(program: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    program(DEAF)
    monkeypatch.setattr(module, "_STOP_S", 0.05)

    async def work(jobs: Jobs, states: list[str]) -> None:
        job = await jobs.start("notes", REQUEST)
        job.stop()
        await all_of(job.follow(0, 60.0))
        assert job.process
        assert job.process.returncode == -9

    assert told(work) == ["stopped"]


def test_a_job_that_is_stopped_while_its_process_starts_ends(
    program: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    program(WAITS)
    begin = asyncio.create_subprocess_exec

    async def work(jobs: Jobs, states: list[str]) -> None:
        async def begin_late(*words: str, **given: Any) -> asyncio.subprocess.Process:
            process = await begin(*words, **given)
            jobs.stop()
            return process

        monkeypatch.setattr(asyncio, "create_subprocess_exec", begin_late)
        job = await jobs.start("notes", REQUEST)
        assert await asyncio.wait_for(all_of(job.follow(0, 60.0)), 30) == [(1, "end")]

    assert told(work) == ["stopped"]


def test_the_end_waits_for_all_jobs(program: Callable[[str], None]) -> None:
    program("cat > /dev/null\nsleep 0.1\n" + DONE)
    found = list[Job]()

    async def work(jobs: Jobs, states: list[str]) -> None:
        found.extend([await jobs.start("notes", REQUEST), await jobs.start("letters", REQUEST)])

    assert told(work) == ["done", "done"]
    assert [(job.state, job.stopping, bool(job.ended)) for job in found] == [("done", True, True)] * 2


def test_fifty_jobs_of_a_corpus_are_remembered(program: Callable[[str], None]) -> None:
    program(DONE)

    async def work(jobs: Jobs, states: list[str]) -> None:
        for _ in range(51):
            job = await jobs.start("notes", REQUEST)
            await all_of(job.follow(0, 60.0))
        assert len(jobs.list("notes")) == 50

    assert told(work) == ["done"] * 51
