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
Grade = Literal["ok", "okish", "fail", ""]
_OKISH = 3  # times the tolerance
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

    `rows` lead from rows of the published table to names of ours. `plan` is an evaluation without corpus and questions.
    `columns` are what a kind measures at, where the published table has no columns for it.
    """

    table: str
    kind: Kind
    takes: str
    rows: dict[str, str]
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
class Row:
    """A row of a table: what was published, what was measured now, and what was pinned, a figure a column.

    Where figures are counts, `total` is of how many.
    """

    name: str
    published: tuple[float | None, ...]
    ours: tuple[float | None, ...]
    pinned: tuple[float, ...] = ()
    within: float = 0.0
    total: float | None = None

    @property
    def grades(self) -> tuple[Grade, ...]:
        """Whether each figure of ours is the pinned one: `ok`, `okish` (up to three times as far off) or `fail`."""
        return tuple(grade_figure(own, pin, self.within) for own, pin in zip(self.ours, self.pinned, strict=False))


@dataclass(frozen=True, slots=True)
class ReproducedTable:
    """What came of a recipe: its columns and rows, who worked, what else has to be said, and why nothing is pinned."""

    recipe: Recipe
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    engine: str = ""
    notes: tuple[str, ...] = ()
    pins: Pinned | None = None
    unpinned: str = "nothing is pinned for this engine on these data"

    @property
    def grade(self) -> Grade:
        """The worst of all grades; empty where nothing is pinned."""
        found = [g for row in self.rows for g in row.grades if g]
        order: Sequence[Grade] = ("fail", "okish", "ok")
        return next((g for g in order if g in found), "")


def grade_figure(own: float | None, pinned: float, within: float) -> Grade:
    """How near a figure is to the pinned one, which is off by at most `within` percent of itself where it is ok."""
    if own is None:
        return "fail"
    off = abs(own - pinned)
    room = abs(pinned) * within / 100 + 1e-9
    return "ok" if off <= room else "okish" if off <= _OKISH * room else "fail"


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
