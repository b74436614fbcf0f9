"""Waiting for files to change, and for who writes them to be done."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from sensegraph.documents.document_settings import DocumentSettings
from sensegraph.documents.folders import list_document_files

T = TypeVar("T")
Seen = tuple[tuple[str, int, int, int], ...]


def take_snapshot(paths: Sequence[str | Path], settings: DocumentSettings) -> Seen:
    """Path, size, time of the last change (ns) and inode of every file that would be read; a missing path has none."""
    found: list[str] = []
    for path in map(str, paths):
        found += [f.path for f in list_document_files(path, settings)[0]] if os.path.isdir(path) else [path]
    seen: list[tuple[str, int, int, int]] = []
    for name in sorted(found):
        with suppress(OSError):  # it has just gone
            is_ = os.stat(name)
            seen.append((name, is_.st_size, is_.st_mtime_ns, is_.st_ino))
    return tuple(seen)


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds: between two looks (`every`); without a change before files count as written (`settle`); before a round
    that failed is tried again (`again`, doubled each time up to `most`)."""

    every: float = 2.0
    settle: float = 2.0
    again: float = 30.0
    most: float = 600.0


def follow_changes(
    look: Callable[[], T],
    act: Callable[[], bool],
    pace: Pace,
    *,
    pause: Callable[[float], None],
    now: Callable[[], float],
    rounds: int = 0,
) -> None:
    """Call `act` at first and whenever what `look` sees has changed and stayed so; until an exception ends it.

    `act` says whether it succeeded; where it did not it is called again after a while, or after the next change. Only
    one call runs at a time, and what changes meanwhile is seen by the next look. With `rounds`, so many looks.
    """
    done: T | None = None
    seen, since, failed, retry = look(), now() - pace.settle, 0, 0.0
    looks = 0
    while True:
        due = seen != done or (failed and now() >= retry)
        if due and now() - since >= pace.settle:
            done = seen
            failed = 0 if act() else failed + 1
            retry = now() + min(pace.most, pace.again * 2 ** max(0, failed - 1))
        looks += 1
        if looks == rounds:
            return
        pause(pace.every)
        if (latest := look()) != seen:
            seen, since = latest, now()
