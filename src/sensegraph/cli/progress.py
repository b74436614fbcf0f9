"""Progress on stderr: a bar and the time that is left for each step; nothing where stderr is no terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Report = Callable[[str, int, int], None]


@contextmanager
def show_progress(quiet: bool = False) -> Iterator[Report]:
    """A function that shows how far each step is, for as long as the context lasts; the bars vanish with it."""
    if quiet or not sys.stderr.isatty():
        yield lambda step, done, total: None
        return
    from rich import progress as rich
    from rich.console import Console

    name, left = rich.TextColumn("{task.description:<12}"), rich.TextColumn("left")
    columns = (name, rich.BarColumn(), rich.MofNCompleteColumn(), rich.TimeElapsedColumn(), left)
    with rich.Progress(*columns, rich.TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bars:
        shown: dict[str, rich.TaskID] = {}  # the bar of the step that runs: replaced when the next step begins

        def report(step: str, done: int, total: int) -> None:
            if step not in shown:
                for task in shown.values():
                    bars.remove_task(task)
                shown.clear()
                shown[step] = bars.add_task(label_step(step), total=total)
            bars.update(shown[step], completed=done, total=total)

        yield report


def label_step(step: str) -> str:
    """A step's name as a reader sees it: `reports.report` is `report`, `words.worded` is `worded`."""
    return step.rpartition(".")[2].replace("_", " ")
