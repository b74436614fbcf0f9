"""One builder at a time: a lock on a file that SQLite keeps, which ends with the process, however it ends."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from uuid import uuid4

from sensegraph.errors import Busy

_PAUSE = 0.1  # seconds between two looks at a lock


@contextmanager
def hold_lock(gate: sqlite3.Connection, who: str, wait: float) -> Iterator[None]:
    """Hold the lock of a file, and close it. Raises Busy where `who` holds it for longer than `wait` seconds."""

    def take() -> bool:
        try:
            gate.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            return False
        return True

    with closing(gate):
        wait_for_lock(take, who, wait)
        yield


def wait_for_lock(take: Callable[[], bool], who: str, wait: float) -> None:
    """Try to `take` a lock until it is there. Raises Busy where `who` holds it for longer than `wait` seconds."""
    until = time.monotonic() + wait
    while not take():  # rather than a timeout of the database's own, which no signal interrupts
        if (left := until - time.monotonic()) <= 0:
            waited = f" for more than {wait:g} s" if wait else ""
            raise Busy(
                f"{who} is running{waited}; wait for its end (`--wait SECONDS`; in Python `corpus.wait = SECONDS`), "
                "then run this again: what it has computed is not computed twice."
            )
        time.sleep(min(left, _PAUSE))


def is_writable(folder: Path) -> bool:
    """Whether files can be written in `folder`, found out by trying (permissions lie to a superuser)."""
    probe = folder / f".writable-{uuid4().hex}"
    try:
        probe.touch(exist_ok=False)
        probe.unlink()
    except OSError:
        return False
    return True
