"""The jobs of a server: started, followed, stopped; one at a time for a corpus, each in a process of its own."""

from __future__ import annotations

import asyncio
import sys
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from datetime import UTC, datetime
from secrets import token_hex
from typing import Any

import msgspec

from sensegraph.server.http.failures import Refused, suggest_next
from sensegraph.server.jobs.job_request import JobRequest

JSON = dict[str, Any]
_EVENTS = 1000  # of a job that are kept for who comes late
_JOBS = 50  # of a corpus that are remembered
_STOP_S = 10.0  # after which a job that does not stop is killed
_LINE = 64 << 20  # bytes of the longest line that a job tells
_CRASHED = {"code": "Internal", "message": "The job ended without a word: run it again, it goes on."}


class Job:
    """A job: what it does, how far it is, and what came of it."""

    def __init__(self, request: JobRequest) -> None:
        self.id, self.request = token_hex(8), request
        self.state, self.step, self.done, self.total = "running", "", 0, 0
        self.result: JSON | None = None
        self.error: JSON | None = None
        self.started, self.ended = datetime.now(UTC).isoformat(timespec="seconds"), ""
        self._step_began = time.monotonic()
        self._events: deque[tuple[int, str, JSON]] = deque(maxlen=_EVENTS)
        self._count, self._changed = 0, asyncio.Condition()
        self.process: asyncio.subprocess.Process | None = None
        self.stopping = False

    def view(self) -> JSON:
        """The job as an object; `seconds_left` is of the step that runs, as far as that can be said."""
        left = None
        if self.state == "running" and 0 < self.done < self.total:
            left = round((time.monotonic() - self._step_began) * (self.total - self.done) / self.done, 1)
        return {
            "id": self.id, "kind": self.request.kind, "documents": list(self.request.documents),
            "names": list(self.request.names), "state": self.state,
            "started": self.started, "ended": self.ended, "step": self.step, "done": self.done, "total": self.total,
            "seconds_left": left, "result": self.result, "error": self.error,
        }  # fmt: skip

    async def take(self, event: JSON) -> None:
        """Take in what the process tells."""
        if event["event"] == "progress":
            if event["step"] != self.step:
                self._step_began = time.monotonic()
            self.step, self.done, self.total = event["step"], event["done"], event["total"]
            await self._tell("progress", {"step": self.step, "done": self.done, "total": self.total})
        elif event["event"] == "end" and self.state == "running":
            self.result, self.error, self.state = event.get("result"), event.get("error"), event["state"]
            self.error = self.error and self.error | {"next": suggest_next(self.error["code"])}
            self.ended = datetime.now(UTC).isoformat(timespec="seconds")
            await self._tell("end", self.view())

    async def _tell(self, name: str, data: JSON) -> None:
        async with self._changed:
            self._count += 1
            self._events.append((self._count, name, data))
            self._changed.notify_all()

    async def follow(self, after: int, heartbeat: float) -> AsyncGenerator[tuple[int, str, JSON] | None]:
        """The events after a number, until the job has ended; None where there was none for as long as a heartbeat."""
        while True:
            async with self._changed:
                fresh = [e for e in self._events if e[0] > after]
                if not fresh and self.state == "running":
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._changed.wait(), heartbeat)
                    fresh = [e for e in self._events if e[0] > after]
            if not fresh and self.state != "running":
                return
            for event in fresh:
                after = event[0]
                yield event
            if not fresh:
                yield None

    def stop(self) -> None:
        """Ask the process to stop: it keeps what it has computed."""
        self.stopping = True
        if self.process and self.process.stdin and self.state == "running":
            self.process.stdin.close()
            asyncio.get_running_loop().call_later(_STOP_S, self.kill)

    def kill(self) -> None:
        """End the process where it has not ended by itself."""
        if self.process and self.process.returncode is None:
            with suppress(ProcessLookupError):
                self.process.kill()


class Jobs:
    """The jobs of each corpus, newest first."""

    def __init__(self, count: Callable[[str], None]) -> None:
        self._count = count
        self._jobs: dict[str, deque[Job]] = {}
        self._following = set[asyncio.Task[None]]()

    def list(self, corpus: str) -> list[Job]:
        """The jobs of a corpus."""
        return list(self._jobs.get(corpus, ()))

    def find(self, corpus: str, name: str) -> Job:
        """A job. Raises Refused where there is none of this name."""
        for job in self._jobs.get(corpus, ()):
            if job.id == name:
                return job
        raise Refused(404, f"There is no job {name[:40]!r} of this corpus; the server remembers the last {_JOBS}.")

    def require_none(self, corpus: str) -> None:
        """Raise Refused while a job of this corpus runs."""
        if any(job.state == "running" for job in self._jobs.get(corpus, ())):
            raise Refused(409, "Another job of this corpus runs; wait for its end, or stop it.", 5)

    async def start(self, corpus: str, request: JobRequest) -> Job:
        """Start a job. Raises Refused while another one of this corpus runs."""
        self.require_none(corpus)
        job = Job(request)
        self._jobs.setdefault(corpus, deque(maxlen=_JOBS)).appendleft(job)
        pipe = asyncio.subprocess.PIPE
        job.process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "sensegraph.server.jobs.job_process", stdin=pipe, stdout=pipe, limit=_LINE
        )
        if job.process.stdin:
            job.process.stdin.write(msgspec.json.encode(request) + b"\n")
        if job.stopping:  # meanwhile
            job.stop()
        task = asyncio.ensure_future(self._follow(job))
        self._following.add(task)
        task.add_done_callback(self._following.discard)
        return job

    async def _follow(self, job: Job) -> None:
        process = job.process
        if process is None or process.stdout is None:
            return
        end: JSON | None = None
        try:
            while line := await process.stdout.readline():
                event = msgspec.json.decode(line)
                if event["event"] == "end":
                    end = event
                else:
                    await job.take(event)
        finally:
            if process.stdin:
                process.stdin.close()
            await process.wait()  # only then does it hold the corpus no longer
            state, error = ("stopped", None) if job.stopping else ("failed", _CRASHED)
            end = end or {"event": "end", "state": state, "error": error}
            self._count(end["state"])
            await job.take(end)

    def stop(self) -> None:
        """Ask all jobs to stop."""
        for jobs in self._jobs.values():
            for job in jobs:
                if job.state == "running":
                    job.stop()

    async def close(self) -> None:
        """Wait for the end of all jobs, which were asked to stop."""
        if self._following:
            await asyncio.wait(self._following, timeout=_STOP_S + 5)
