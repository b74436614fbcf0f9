"""A job in its own process: what is to be done comes on stdin, and how far it is goes to stdout, line by line.

`python -m sensegraph.server.jobs.job_process`. The end of stdin stops it: a server that has gone leaves nothing behind.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from sensegraph.corpus import views
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import SensegraphError, Stopped
from sensegraph.runtime.activity import StopToken, begin_activity
from sensegraph.server.inputs import find_file, find_input, list_origins
from sensegraph.server.jobs.job_request import JobRequest
from sensegraph.server.writing import build_rest, follow_input

_TOLD_S = 0.2  # between two lines on the same step
_NICE = 5


def run_job(request: JobRequest, tell: Callable[[str, dict[str, Any]], None]) -> None:
    """Do what is asked, and tell how far it is and what came of it."""
    last: list[tuple[str, float]] = [("", 0.0)]

    def progress(step: str, done: int, total: int) -> None:
        now, (before, since) = time.monotonic(), last[0]
        if step != before or done >= total or now - since > _TOLD_S:
            last[0] = step, now
            tell("progress", {"step": step, "done": done, "total": total})

    try:
        with Corpus.open(request.root, settings=request.settings, progress=progress, mend=True) as corpus:
            tell("end", {"state": "done", "result": _do(corpus, request)})
    except Stopped as e:
        tell("end", {"state": "stopped", "error": describe_error(e)})
    except SensegraphError as e:
        tell("end", {"state": "failed", "error": describe_error(e)})
    except OSError as e:
        why = f"{e.filename or 'A file'} cannot be used ({e.strerror or e})."
        tell("end", {"state": "failed", "error": {"code": "Internal", "message": why}})


def describe_error(error: SensegraphError) -> dict[str, str]:
    """An error as an object."""
    return {"code": type(error).__name__, "message": str(error)}


def _do(corpus: Corpus, request: JobRequest) -> dict[str, Any]:
    from sensegraph.corpus.sources import Added

    if request.kind == "collect":
        return views.view_collected(corpus.collect())
    if request.kind == "build":
        return views.view_built(corpus.build(), Added(), [])
    if request.kind == "resolve":  # no model is asked: what is in question, people decide
        return views.view_resolved(corpus.resolve(ask=False))
    if request.kind in ("merge", "forbid"):
        return views.view_applied((corpus.merge if request.kind == "merge" else corpus.forbid)(*request.names))
    if request.kind == "remove":
        return drop_files(corpus, request.documents)
    return follow_input(corpus)


def drop_files(corpus: Corpus, documents: Sequence[str]) -> dict[str, Any]:
    """Remove documents with their files in `input`, and build the index without them."""
    find_input(corpus)
    files = [place for name in documents if (place := find_file(corpus, name))]
    stay = [str(place) for name in documents if not find_file(corpus, name) for place in list_origins(corpus, name)]
    corpus.remove(*documents)
    for place in files:
        place.unlink()
    left, notes = build_rest(corpus)
    if stay:
        notes.append("the file stays where it was read from: indexing that folder again reads it again")
    return {"removed": list(documents), "documents": left, "notes": notes}


def main() -> None:
    """Do the job that stdin says."""
    out = sys.stdout.buffer
    lock, token = threading.Lock(), StopToken()

    def tell(event: str, data: dict[str, Any]) -> None:
        with lock:
            out.write(msgspec.json.encode({"event": event, **data}) + b"\n")
            out.flush()

    def wait_for_end() -> None:
        while os.read(0, 4096):
            pass
        token.stop()

    with open(0, "rb", buffering=0, closefd=False) as stdin:  # a thread that waits for a buffer could not be ended
        request = msgspec.json.decode(stdin.readline(), type=JobRequest)
    threading.Thread(target=wait_for_end, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(_NICE)  # who reads goes first
    Path(request.root).mkdir(parents=True, exist_ok=True)
    sys.stdout = sys.stderr  # what a library prints is no event
    with suppress(BrokenPipeError):
        try:
            with begin_activity(stop=token):
                run_job(request, tell)
        except Stopped as e:
            tell("end", {"state": "stopped", "error": describe_error(e)})


if __name__ == "__main__":
    main()
