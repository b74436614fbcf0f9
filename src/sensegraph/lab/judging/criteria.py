"""By what, how often and in which order answers are judged: the papers' ways, and ours.

papers: Edge et al. 2024, §3.3, app. F (G31, G32); Zhang et al. 2025, app. D.4 (L21, L22). Decision X6: ties are
allowed, both orders are asked, and a flip is a tie; the papers' ways are there as presets.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from types import MappingProxyType
from typing import Any

from sensegraph.errors import InputError
from sensegraph.papers import paper_folder

RUNS = 5  # of every score (zhang2025), and replicates of every comparison (edge2024, §4.1)
_LOW, _HIGH = 1, 10


@dataclass(frozen=True, slots=True)
class Criterion:
    """One measure, and what it means. A `control` runs against the others: who wins it with them is suspect."""

    name: str
    definition: str
    control: bool = False


@dataclass(frozen=True, slots=True)
class Rules:
    """How answers are judged, two by two or one by one.

    A comparison is repeated `replicates` times: in both orders each time, or (`both_orders` false) in one that is
    drawn by `seed`. `tie` says whether a verdict may name no winner. With `scored` each of two answers gets a score
    on the scale as well (N95). `differential` shows the judge what each answer says alone, which takes the worth out
    of mere length. `bands` say what the scores from `low` to `high` mean.
    """

    name: str
    criteria: tuple[Criterion, ...]
    replicates: int = RUNS
    both_orders: bool = True
    tie: bool = True
    scored: bool = False
    differential: bool = False
    seed: int = 0
    low: int = _LOW
    high: int = _HIGH
    bands: str = ""

    def __post_init__(self) -> None:
        if self.replicates < 1:
            raise InputError(f"replicates must be at least 1, not {self.replicates}.")
        if not self.criteria:
            raise InputError("No criterion is given: name at least one to judge by.")
        if self.low >= self.high:
            raise InputError(f"A scale from {self.low} to {self.high} has no room: high must be above low.")

    @property
    def control(self) -> str:
        """The name of the control criterion; empty where there is none."""
        return next((c.name for c in self.criteria if c.control), "")


@cache
def read_criteria(paper: str) -> tuple[Criterion, ...]:
    """The criteria of `criteria.toml` of a paper, in their order."""
    return tuple(Criterion(**c) for c in _read_criteria_file(paper)["criteria"])


@cache
def read_bands(paper: str) -> str:
    """What the scores of a paper's scale mean."""
    return str(_read_criteria_file(paper).get("bands", ""))


@cache
def judging_presets() -> Mapping[str, Rules]:
    """The ways to judge, by name. A judge is asked by one criterion at a time; zhang2025 asks by all at once.

    `edge2024`: one order per replicate (the paper does not say which, so it is drawn), ties allowed. `zhang2025`: one
    order, no tie; its criteria and bands also score single answers. `sensegraph`: the criteria of edge2024, in both
    orders. `scored`: the same with scores from 1 to 5 for both answers (N95).
    """
    edge, zhang, bands = read_criteria("edge2024"), read_criteria("zhang2025"), read_bands("zhang2025")
    ours = Rules("sensegraph", edge, bands=bands)
    graded = "1: poor\n2: weak\n3: fair\n4: good\n5: very good"
    made = (
        ours,
        Rules("edge2024", edge, both_orders=False, bands=bands),
        Rules("zhang2025", zhang, both_orders=False, tie=False, bands=bands),
        replace(ours, name="scored", scored=True, low=1, high=5, bands=graded),
    )
    return MappingProxyType({r.name: r for r in made})


def choose_rules(
    preset: str = "sensegraph",
    criteria: Sequence[str | Criterion] = (),
    replicates: int = 0,
    seed: int = 0,
    differential: bool = False,
) -> Rules:
    """The preset with what is given changed; criteria are named, or given with a definition of one's own.

    Raises InputError for a name that does not exist, with the nearest one.
    """
    found = judging_presets().get(preset)
    if found is None:
        raise InputError(f"There is no preset {preset!r}{_suggest_name(preset, list(judging_presets()))}.")
    known = {c.name: c for c in found.criteria}
    for name in criteria:
        if isinstance(name, str) and name not in known:
            raise InputError(f"The preset {preset} has no criterion {name!r}{_suggest_name(name, list(known))}.")
    chosen = tuple(known[c] if isinstance(c, str) else c for c in criteria)
    found = replace(found, criteria=chosen or found.criteria, replicates=replicates or found.replicates)
    return replace(found, seed=seed, differential=differential)


def _suggest_name(name: str, known: list[str]) -> str:
    """What to take instead, for the end of a sentence."""
    close = get_close_matches(name, known)
    return f"; did you mean {close[0]!r}?" if close else f"; there are {', '.join(known)}"


def _read_criteria_file(paper: str) -> dict[str, Any]:
    return tomllib.loads((paper_folder(paper) / "criteria.toml").read_text("utf-8"))
