"""The arithmetic of the figures that the paper prints: which cells fit together, and which sentences hold against them.

source: GRAFT, Figures 2–4 and section 5.4 (R18–R22), as data in `methods/graft/figures.toml`
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import floor

import msgspec

from sensegraph.papers import paper_folder

TOLERANCE = 0.0016  # what rounding of three figures, to three digits or fewer, explains of a weighted mean
_JOINT = "joint"
_SHARES = "human"  # the metric that counts questions


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of the text about the figures, in a form that can be checked; see the file of figures."""

    place: str
    system: str
    table: str = ""
    above: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    between: tuple[str, ...] = ()
    lower: bool = False


@dataclass(frozen=True, slots=True)
class Figures:
    """What is printed: by table and metric a value for each system, the questions of each part, and what is claimed."""

    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    questions: Mapping[str, int]
    tables: Mapping[str, Mapping[str, tuple[float, ...]]]
    claims: tuple[Claim, ...]

    def at(self, table: str, metric: str, system: str) -> float:
        """One printed cell."""
        return self.tables[table][metric][self.systems.index(system)]


@dataclass(frozen=True, slots=True)
class Cell:
    """A printed cell beside what others make of it."""

    table: str
    metric: str
    system: str
    printed: float
    computed: float

    @property
    def off(self) -> float:
        """How far the two are apart."""
        return abs(self.printed - self.computed)


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim, whether it holds, and the cells that speak against it in words."""

    claim: Claim
    holds: bool
    against: tuple[str, ...]


@cache
def read_figures() -> Figures:
    """The figures that come with the package."""
    text = (paper_folder("graft2024") / "figures.toml").read_text("utf-8")
    return msgspec.toml.decode(text, type=Figures)


def recompute_joint(shown: Figures, questions: Mapping[str, int] | None = None) -> tuple[Cell, ...]:
    """Every joint cell beside the mean of its parts, weighted by their questions (those of the figures by default)."""
    weights = questions or shown.questions
    total = sum(weights.values())
    found = []
    for metric, system in product(shown.metrics, shown.systems):
        mean = sum(n * shown.at(part, metric, system) for part, n in weights.items()) / total
        found.append(Cell(_JOINT, metric, system, shown.at(_JOINT, metric, system), mean))
    return tuple(found)


def select_odd_cells(cells: Sequence[Cell], tolerance: float = TOLERANCE) -> tuple[Cell, ...]:
    """The cells that are further off than `tolerance`."""
    return tuple(c for c in cells if c.off > tolerance)


def fit_divisions(shown: Figures) -> tuple[tuple[int, int, int], ...]:
    """For every division of the questions into the two parts how many joint cells fit: (first, second, cells).

    Those that fit best come first.
    """
    one, other = shown.questions
    total = sum(shown.questions.values())
    fitting = []
    for n in range(1, total):
        cells = recompute_joint(shown, {one: n, other: total - n})
        fitting.append((n, total - n, len(cells) - len(select_odd_cells(cells))))
    return tuple(sorted(fitting, key=lambda d: (-d[2], d[0])))


def nearest_shares(shown: Figures) -> tuple[Cell, ...]:
    """The human figures beside the nearest share of that many questions: each should be one of k / n."""
    sizes = {**shown.questions, _JOINT: sum(shown.questions.values())}
    return tuple(
        Cell(table, _SHARES, system, printed := shown.at(table, _SHARES, system), round(printed * n) / n)
        for table, n in sizes.items()
        for system in shown.systems
    )


def find_non_shares(shown: Figures) -> tuple[Cell, ...]:
    """The human figures that are no k / n, neither rounded nor cut to the three digits that are printed."""
    return tuple(
        c for c in nearest_shares(shown) if c.printed not in (round(c.computed, 3), floor(c.computed * 1000) / 1000)
    )


def check_claims(shown: Figures) -> tuple[Finding, ...]:
    """Every claim of the text against the figures."""
    found = []
    for claim in shown.claims:
        if claim.above:  # a system is above others on all metrics that are claimed
            against = tuple(
                f"{claim.table} {metric}: {other} {theirs:g}, {claim.system} {mine:g}"
                for metric in claim.metrics or shown.metrics
                for mine in (shown.at(claim.table, metric, claim.system),)
                for other in claim.above
                if (theirs := shown.at(claim.table, metric, other)) >= mine
            )
            holds = not against
        else:  # a system is higher (or lower) on one table than on another, on most metrics
            one, other = claim.between
            sign = -1 if claim.lower else 1
            pairs = [(m, shown.at(one, m, claim.system), shown.at(other, m, claim.system)) for m in shown.metrics]
            against = tuple(f"{m}: {one} {a:g}, {other} {b:g}" for m, a, b in pairs if sign * (a - b) <= 0)
            holds = 2 * len(against) < len(pairs)
        found.append(Finding(claim, holds, against))
    return tuple(found)
