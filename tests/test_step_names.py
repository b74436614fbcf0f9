"""The names of steps stand in every key: a changed name throws away what users paid for."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import budgets
from sensegraph.runtime.results import Step

PINNED = Path(__file__).parent / "data" / "step-names.txt"


def all_steps() -> dict[int, Step[object, object]]:
    """Every step of the package once, wherever it is imported."""
    found: dict[int, Step[object, object]] = {}
    for name in budgets.importable_modules():
        values = vars(import_module(name)).values()
        found |= {id(v): v for v in values if isinstance(v, Step)}
    return found


def test_every_step_keeps_the_name_that_stores_were_written_with():
    names = sorted(step.name for step in all_steps().values())
    assert names == PINNED.read_text(encoding="utf-8").split()


def test_the_name_of_a_step_does_not_change_with_the_place_of_its_function():
    moved = Step("chunks.chunk", len, 1)  # type: ignore[arg-type]
    assert moved.name == "chunks.chunk"
