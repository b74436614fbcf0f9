"""Progress on stderr: a bar and the time that is left for each step; nothing where stderr is no terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

Report = Callable[[str, int, int], None]


@contextmanager
def show_progress(quiet: bool = False) -> Iterator[Report]:
    """A function that shows how far each step is, for as long as the context lasts; the bars vanish with it."""
    if quiet or not sys.stderr.isatty():
        yield lambda step, done, total: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    with Progress(
        TextColumn("{task.description:<12}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bars:
        yield _Steps(bars)


class _Steps:
    """One bar a step, replaced when the next step begins."""

    def __init__(self, bars: Progress) -> None:
        self._bars, self._step = bars, ""
        self._task: TaskID | None = None

    def __call__(self, step: str, done: int, total: int) -> None:
        if self._task is None or step != self._step:
            if self._task is not None:
                self._bars.remove_task(self._task)
            self._step, self._task = step, self._bars.add_task(label_step(step), total=total)
        self._bars.update(self._task, completed=done, total=total)


def label_step(step: str) -> str:
    """A step's name as a reader sees it: `reports.report` is `report`, `vectors.stack` is `stack`."""
    return step.rpartition(".")[2].replace("_", " ")
