"""Following the folders of documents: what changes in `input` of a corpus becomes a job, once it has settled."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from sensegraph.corpus.sources import Pace, follow_changes
from sensegraph.documents.document_files import take_snapshot
from sensegraph.errors import SensegraphError, Stopped
from sensegraph.server.http.corpora import ServedCorpus
from sensegraph.server.http.failures import Refused
from sensegraph.server.jobs.job_request import JobRequest
from sensegraph.server.jobs.jobs import Jobs

_HEARTBEAT_S = 60.0


class FolderWatch:
    """Follows the folder of one corpus, from the start of the server to its end."""

    def __init__(self, served: ServedCorpus, jobs: Jobs, settings: Mapping[str, Any], pace: Pace) -> None:
        self._served, self._jobs = served, jobs
        self._request = JobRequest("sync", str(served.corpus.root.resolve()), dict(settings))
        self._look = partial(take_snapshot, [served.input], served.corpus.settings.documents)
        self._pace, self._ended = pace, threading.Event()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def _follow(self) -> None:
        with suppress(Stopped):
            follow_changes(self._look, self._act, self._pace, pause=self._pause, now=time.monotonic)

    def _pause(self, seconds: float) -> None:
        if self._ended.wait(seconds):
            raise Stopped("The server ends.")

    def _act(self) -> bool:
        """Bring the index up to date; whether that need not be tried again before something changes."""
        try:
            if not self._look() and not self._served.corpus.document_keys():
                return True  # nothing is there to be indexed
        except (SensegraphError, OSError):
            return False
        self._pause(0)
        return asyncio.run_coroutine_threadsafe(self._run(), self._loop).result()

    async def _run(self) -> bool:
        if self._ended.is_set():
            return True
        try:
            job = await self._jobs.start(self._served.name, self._request)
        except Refused:  # another one runs, which may have begun before the change
            return False
        async for _ in job.follow(0, _HEARTBEAT_S):
            pass
        return job.state != "failed"

    def stop(self) -> None:
        """Start no more jobs."""
        self._ended.set()

    async def close(self) -> None:
        """Wait for the end, after the jobs have ended."""
        self.stop()
        await asyncio.to_thread(self._thread.join)
