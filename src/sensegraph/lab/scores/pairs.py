"""Conditions compared two by two on the same questions; all pairs on one measure are one family for Holm.

paper: Edge et al. 2024, §3.3 and appendix G (G33–G35): Wilcoxon's signed-rank test, two-sided, corrected over the
fifteen pairs of six conditions for each data set and metric.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import sqrt

import numpy as np

from sensegraph.lab.scores.statistics import (
    DRAWS,
    FEW,
    Floats,
    Interval,
    bootstrap_intervals,
    correct_by_holm,
    least_possible_p,
    shapiro_wilk,
    sign_test,
    signed_rank_test,
)

LEVEL = 0.05  # of a corrected p below which a difference counts
_NONE = Interval(0.0, 0.0, 0.0)
Values = Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Pair:
    """`first` against `second`: their means over the questions that both have, and the mean difference.

    `n` counts those questions, `missing` the others; `wins`, `ties` and `losses` are the first's. `effect` is z / √n,
    −1 to 1, which questions without a difference draw to 0; `normal` the p of Shapiro and Wilk's test on the
    differences, None where it says nothing; `sign_p` that of the sign test.
    """

    first: str
    second: str
    means: tuple[float, float]
    difference: Interval
    n: int
    missing: int
    wins: int
    ties: int
    losses: int
    z: float
    p: float
    exact: bool
    effect: float
    normal: float | None
    sign_p: float
    p_holm: float = 1.0

    @property
    def better(self) -> str:
        """The one that is higher by more than chance: corrected p below 0.05 and an interval without 0; else ""."""
        if self.p_holm >= LEVEL or self.difference.low <= 0 <= self.difference.high:
            return ""
        return self.first if self.difference.mean > 0 else self.second

    @property
    def rate(self) -> Interval:
        """The mean score of the first where the two share 100 (a judge's win rate), with its interval."""
        d = self.difference
        return Interval(50 + d.mean / 2, 50 + d.low / 2, 50 + d.high / 2)

    @property
    def worse(self) -> str:
        """The other one, where one is better; else ""."""
        return {self.first: self.second, self.second: self.first}.get(self.better, "")


def compare_all_pairs(
    values: Mapping[str, Values], *, draws: int = DRAWS, seed: int = 0, exact: int = FEW
) -> tuple[Pair, ...]:
    """Every two conditions, in their order; `values` are one a question, None where there is none."""
    found = [_compare_pair(a, b, values, draws, seed, exact) for a, b in combinations(values, 2)]
    return _correct_pairs(found)


def compare_with_baseline(
    values: Mapping[str, Values], baseline: str, *, draws: int = DRAWS, seed: int = 0, exact: int = FEW
) -> tuple[Pair, ...]:
    """Every other condition against the baseline."""
    found = [_compare_pair(name, baseline, values, draws, seed, exact) for name in values if name != baseline]
    return _correct_pairs(found)


def compare_judged_pairs(
    scores: Mapping[tuple[str, str], Values], *, draws: int = DRAWS, seed: int = 0, exact: int = FEW
) -> tuple[Pair, ...]:
    """Pairs that a judge compared: the first's score of each question, 0 to 100; the second's is what is left."""
    found = []
    for (first, second), own in scores.items():
        left = [None if s is None else 100 - s for s in own]
        found.append(_compare_pair(first, second, {first: own, second: left}, draws, seed, exact))
    return _correct_pairs(found)


def count_compared(listed: Sequence[Pair]) -> int:
    """The most questions that any of these pairs is compared on."""
    return max((p.n for p in listed), default=0)


def least_p_values(listed: Sequence[Pair], exact: int = FEW) -> tuple[float, float]:
    """The least p that the questions of a family of pairs allow, whatever was measured, and the least corrected one."""
    bound = least_possible_p(count_compared(listed), exact)
    return bound, min(1.0, bound * max(1, len(listed)))


def _compare_pair(first: str, second: str, values: Mapping[str, Values], draws: int, seed: int, exact: int) -> Pair:
    both = [(a, b) for a, b in zip(values[first], values[second], strict=True) if a is not None and b is not None]
    table: Floats = np.array(both, np.float64).reshape(len(both), 2)
    apart = table[:, 0] - table[:, 1]
    test, normal = signed_rank_test(apart, exact), shapiro_wilk(apart)
    return Pair(
        first,
        second,
        means=(float(table[:, 0].mean()), float(table[:, 1].mean())) if both else (0.0, 0.0),
        difference=bootstrap_intervals(apart[:, None], draws, seed)[0] if both else _NONE,
        n=len(both),
        missing=len(values[first]) - len(both),
        wins=test.wins,
        ties=len(both) - test.n,
        losses=test.n - test.wins,
        z=test.z,
        p=test.p,
        exact=test.exact,
        effect=test.z / sqrt(len(both)) if both else 0.0,
        normal=normal[1] if normal else None,
        sign_p=sign_test(test.wins, test.n - test.wins),
    )


def _correct_pairs(pairs: Sequence[Pair]) -> tuple[Pair, ...]:
    return tuple(replace(p, p_holm=c) for p, c in zip(pairs, correct_by_holm([p.p for p in pairs]), strict=True))
