"""How tables of papers are measured here: recipes, figures that we pinned, and whether ours still agree with them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

import msgspec

from sensegraph.errors import InputError
from sensegraph.lab.experiments.published import find_paper
from sensegraph.papers import paper_folder

Kind = Literal["units", "sum", "answers", "holm", "wins", "win", "contexts", "recall", "joint", "rings", "references"]
REPRODUCED, NOT_REPRODUCED = "reproduced", "not reproduced"
AS_BEFORE, CHANGED = "as before", "changed"
_FIGURES = re.compile(r"fig(ure)?s?\.?\s*")


@dataclass(frozen=True, slots=True)
class Pinned:
    """Figures of ours: by whom, when and with which command they were measured, and how far off, in percent, is ok.

    `data` tells the measuring sets by their content (see `reproducing.content`): other data have no verdict.
    """

    engine: str
    measured: date
    command: str
    within: float
    rows: dict[str, tuple[float, ...]]
    data: str = ""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How one table is measured: a `kind` of measuring over `data`, what it `takes`, whether it needs a `judge`.

    A figure is reproduced that is off the published one by `tolerance` percent of it at most. `model` names whose
    answers or extractions the published figures are of, where they are of a model. `rows` lead from rows of the
    published table to names of ours. `plan` is an evaluation without corpus and questions. `columns` are what a kind
    measures at, where the published table has no columns for it.
    """

    table: str
    kind: Kind
    takes: str
    rows: dict[str, str]
    tolerance: float = 0.0
    model: str = ""
    columns: tuple[str, ...] = ()
    data: str = ""
    sets: tuple[str, ...] = ()
    plan: str = ""
    judge: bool = False
    pinned: tuple[Pinned, ...] = ()

    @property
    def title(self) -> str:
        """What the table is called: `table 2`, `figures 2-4`."""
        return self.table if _FIGURES.match(self.table) else f"table {self.table}"

    @property
    def asks(self) -> bool:
        """Whether questions are asked of the data."""
        return bool(self.plan) or self.kind == "recall"

    @property
    def folders(self) -> tuple[str, ...]:
        """The measuring sets that it needs."""
        return (self.data,) if self.data else self.sets

    def pins(self, engine: str, data: str = "") -> Pinned | None:
        """The figures pinned for an engine on these data; arithmetic has one for all."""
        return next((p for p in self.pinned if p.engine in (engine, "any") and p.data == data), None)


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a table: what was published, what was measured now, and our own that is pinned; None where none is.

    `tolerance` is how far off, in percent of the published figure, is still reproduced, `within` the same of the pin.
    """

    row: str
    column: str
    published: float | None
    ours: float | None
    pinned: float | None = None
    tolerance: float = 0.0
    within: float = 0.0

    @property
    def off(self) -> float | None:
        """How far ours is from the published figure, in percent of it; None where one is missing, or that is 0."""
        if self.published is None or self.ours is None or not self.published:
            return None
        return 100 * (self.ours - self.published) / abs(self.published)

    @property
    def against_published(self) -> str:
        """`reproduced` or `not reproduced`; empty where nothing was published."""
        return _compare_figures(self.ours, self.published, self.tolerance, REPRODUCED, NOT_REPRODUCED)

    @property
    def against_pin(self) -> str:
        """`as before` or `changed`; empty where nothing is pinned."""
        return _compare_figures(self.ours, self.pinned, self.within, AS_BEFORE, CHANGED)


@dataclass(frozen=True, slots=True)
class ReproducedTable:
    """What came of a recipe: its figures, who worked, what else has to be said, and why nothing is pinned."""

    recipe: Recipe
    figures: tuple[Figure, ...]
    engine: str = ""
    notes: tuple[str, ...] = ()
    pins: Pinned | None = None
    unpinned: str = "nothing is pinned for this engine on these data"

    def count(self, verdict: str) -> int:
        """How many figures have this verdict, by either comparison."""
        return sum(verdict in (f.against_published, f.against_pin) for f in self.figures)

    @property
    def published(self) -> int:
        """How many figures have a published one beside them."""
        return self.count(REPRODUCED) + self.count(NOT_REPRODUCED)


def list_figures(
    recipe: Recipe,
    columns: Sequence[str],
    ours: Mapping[str, Sequence[float | None]],
    published: Mapping[str, Sequence[float | None]],
    pins: Pinned | None,
) -> tuple[Figure, ...]:
    """The figures of a table, row by row in the recipe's order; a column without a published or pinned one has None."""
    found = []
    for name in recipe.rows:
        lines = (ours[name], published.get(name, ()), pins.rows.get(name, ()) if pins else ())
        own, printed, pinned = ([*line, *[None] * (len(columns) - len(line))] for line in lines)
        within = pins.within if pins else 0.0
        found += [
            Figure(name, c, p, o, f, recipe.tolerance, within)
            for c, p, o, f in zip(columns, printed, own, pinned, strict=True)
        ]
    return tuple(found)


def _compare_figures(own: float | None, known: float | None, percent: float, near: str, far: str) -> str:
    if known is None:
        return ""
    return near if own is not None and abs(own - known) <= abs(known) * percent / 100 + 1e-9 else far


def read_recipes(paper: str) -> tuple[Recipe, ...]:
    """The recipes of a paper."""
    text = (paper_folder(find_paper(paper)) / "repro.toml").read_text(encoding="utf-8")
    found: Mapping[str, tuple[Recipe, ...]] = msgspec.toml.decode(text, type=dict[str, tuple[Recipe, ...]])
    return found["recipes"]


def select_recipes(paper: str, table: str) -> tuple[Recipe, ...]:
    """The recipes for one table (all where it is empty). Raises InputError, naming those that there are.

    `figure` may be left out where no table has the same number.
    """
    every = read_recipes(paper)
    wanted = table.casefold().strip()
    number = _FIGURES.sub("", wanted, count=1)
    found = tuple(r for r in every if not wanted or r.table == wanted.removeprefix("table").strip())
    found = found or tuple(r for r in every if r.title != f"table {r.table}" and _FIGURES.sub("", r.table) == number)
    if not found:
        known = ", ".join(dict.fromkeys(r.table for r in every))
        raise InputError(f"Table {table!r} of {find_paper(paper)} has no recipe here; there are {known}.")
    return found


def read_plan_text(paper: str, plan: str) -> str:
    """The evaluation that a recipe names, as TOML without corpus and questions."""
    return (paper_folder(paper) / "plans" / plan).read_text(encoding="utf-8")
