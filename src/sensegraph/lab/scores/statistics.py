"""Whether two methods differ: on the same questions, by resampling and by signed ranks, corrected for many comparisons.

Conditions are compared two by two; all pairs on one measure are one family for Holm.

source: Efron 1979 (bootstrap); Wilcoxon 1945; Holm 1979; Royston 1995 (normality). The convention of Edge et al.
(2024), §3.3 and appendix G (G33–G35): two-sided, no continuity correction, Holm's step-down over a family of
comparisons, there the fifteen pairs of six conditions for each data set and metric.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import asin, comb, erfc, exp, log, pi, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Values = Sequence[float | None]

LEVEL = 0.05  # of a corrected p below which a difference counts
DRAWS = 10_000
EXACT = 25  # differences up to which the distribution of the rank sum is counted out
NORMAL_975 = 1.959963984540054  # the normal value that 97.5 % lie below
_FEWEST = 3  # points that a rank correlation needs
_BLOCK = 500  # draws held in memory at once
_DIGITS = 12  # differences that agree so far are ties: 1/3 - 0 and 1 - 2/3


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean, or a share, with its 95 % interval."""

    mean: float
    low: float
    high: float


def format_interval(value: Interval, *, signed: bool = False) -> str:
    """A mean with its interval to three digits; `signed` shows the sign of what is positive too."""
    form = "+.3f" if signed else ".3f"
    return f"{value.mean:{form}} [{value.low:{form}}, {value.high:{form}}]"


def format_p_value(p: float) -> str:
    """A p as the papers print it."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


@dataclass(frozen=True, slots=True)
class Ranks:
    """A signed-rank test: `z` is positive where the differences are, `p` two-sided.

    `n` counts the differences that are not 0, `wins` those above it; `exact` says that the distribution was counted
    out, not approximated.
    """

    z: float
    p: float
    n: int
    wins: int
    exact: bool


def resample_means(values: Floats, draws: int = DRAWS, seed: int = 0) -> Floats:
    """Means of `draws` resamplings of the rows of `values`, shape (questions, columns) → (draws, columns).

    All columns see the same questions in one draw, and so do two calls with the same number of rows.
    """
    count = len(values)
    random = np.random.default_rng(seed)
    blocks = []
    for begin in range(0, draws, _BLOCK):
        size = min(_BLOCK, draws - begin)
        picked = random.integers(0, count, (size, count)) + count * np.arange(size)[:, None]
        times = np.bincount(picked.ravel(), minlength=size * count).reshape(size, count)
        summed = np.zeros((size, values.shape[1]))
        for drawn, row in zip(times.T, values, strict=True):  # in order: BLAS sums blocks of other sizes in another
            summed += drawn[:, None] * row
        blocks.append(summed / count)
    return np.concatenate(blocks)


def bootstrap_intervals(values: Floats, draws: int = DRAWS, seed: int = 0) -> tuple[Interval, ...]:
    """The mean of each column of `values`, shape (questions, columns), with its percentile interval."""
    low, high = np.percentile(resample_means(values, draws, seed), [2.5, 97.5], axis=0)
    return tuple(Interval(float(m), float(a), float(b)) for m, a, b in zip(values.mean(0), low, high, strict=True))


def wilson_interval(share: float, count: int) -> Interval:
    """A share of `count` trials, 0 to 1, with Wilson's score interval (1927); of no trial it is the whole range.

    It has a width where all trials go one way: 32 of 32 give 0.893 to 1. For a mean of values between 0 and 1 that are
    not only 0 and 1 it is too wide, never too narrow.
    """
    if not count:
        return Interval(share, 0.0, 1.0)
    square = NORMAL_975**2 / count
    centre, half = share + square / 2, sqrt(square * (share * (1 - share) + square / 4))
    low, high = (centre - half) / (1 + square), (centre + half) / (1 + square)
    return Interval(share, max(0.0, low) if share else 0.0, min(1.0, high) if share < 1 else 1.0)


def mean_interval(values: Values, draws: int = DRAWS, seed: int = 0, *, share: bool = False) -> Interval | None:
    """The mean of the values that there are, with the interval of resampling; None where there is no value.

    With `share` values lie between 0 and 1, and where all are 0 or 1 the interval is Wilson's.
    """
    known = np.array([v for v in values if v is not None], np.float64)
    if not len(known):
        return None
    if share and np.isin(known, (0.0, 1.0)).all():
        return wilson_interval(float(known.mean()), len(known))
    return bootstrap_intervals(known[:, None], draws, seed)[0]


def signed_rank_test(differences: Floats) -> Ranks:
    """Wilcoxon's test that paired differences lie around 0; those that are 0 are left out, equal ones share a rank.

    Exact up to `EXACT` differences, ties included (the distribution given the ranks); else normal, with the variance
    corrected for ties. Without any difference z is 0 and p is 1.
    """
    rounded = np.round(differences, _DIGITS)
    rounded = rounded[rounded != 0]
    count = len(rounded)
    if not count:
        return Ranks(0.0, 1.0, 0, 0, True)
    ranks = midranks(np.abs(rounded))
    positive = float(ranks[rounded > 0].sum())
    z = (positive - float(ranks.sum()) / 2) / sqrt(float((ranks**2).sum()) / 4)  # Var W = Σ r² / 4: ties are in r
    if count <= EXACT:  # the rank sum over all ways to give the ranks signs
        doubled = [round(2 * r) for r in ranks]
        ways = np.zeros(sum(doubled) + 1)
        ways[0] = 1
        for rank in doubled:
            ways[rank:] += ways[: len(ways) - rank].copy()
        place = round(2 * positive)
        tail = min(ways[: place + 1].sum(), ways[place:].sum())
        p = min(1.0, 2 * float(tail / ways.sum()))
    else:
        p = two_sided_p(z)
    return Ranks(z, p, count, int((rounded > 0).sum()), count <= EXACT)


def least_possible_p(questions: int) -> float:
    """The least p that `signed_rank_test` can give so many questions: that of equal differences, all to one side.

    Counted out, n differences give 2 / 2ⁿ at least; normal, their z is √n at most. Questions may also be without a
    difference, so both ways count beyond `EXACT`.
    """
    counted: float = 2.0 ** (1 - min(questions, EXACT)) if questions else 1.0
    return counted if questions <= EXACT else min(counted, two_sided_p(sqrt(questions)))


def two_sided_p(z: float) -> float:
    """The p of a standard normal value: 2 Φ(−|z|)."""
    return erfc(abs(z) / sqrt(2))


def sign_test(wins: int, losses: int) -> float:
    """The exact two-sided p that wins and losses are equally likely; ties take no part."""
    total, fewer = wins + losses, min(wins, losses)
    return min(1.0, 2 * (sum(comb(total, k) for k in range(fewer + 1)) / (1 << total)))


def midranks(values: Floats) -> Floats:
    """The rank of every value, from 1; equal values share the mean of their places."""
    _, where, times = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(times)
    shared: Floats = ((2 * last - times + 1) / 2)[where]
    return shared


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """The rank correlation of two rows, −1 to 1; None for fewer than three points, or where one row does not vary."""
    if len(first) < _FEWEST or len(set(first)) == 1 or len(set(second)) == 1:
        return None
    ranks = np.array([midranks(np.asarray(row, np.float64)) for row in (first, second)])
    return float(np.corrcoef(ranks)[0, 1])


def correct_by_holm(ps: Sequence[float]) -> list[float]:
    """The p values of one family corrected by Holm's step-down: never below the raw ones, in their order, at most 1."""
    order = sorted(range(len(ps)), key=lambda i: ps[i])
    corrected, highest = [0.0] * len(ps), 0.0
    for rank, i in enumerate(order):
        highest = max(highest, min(1.0, ps[i] * (len(ps) - rank)))
        corrected[i] = highest
    return corrected


# ── normality ──

_LAST = (0.0, 0.221157, -0.147981, -2.07119, 4.434685, -2.706056)  # of the largest value's weight, in 1/√n
_NEXT = (0.0, 0.042981, -0.293762, -1.752461, 5.682633, -3.582633)  # of the one below it
_FEW_MEAN, _FEW_LOG_SD = (0.544, -0.39978, 0.025054, -6.714e-4), (1.3822, -0.77857, 0.062767, -0.0020322)  # n ≤ 11
_MEAN, _LOG_SD = (-1.5861, -0.31082, -0.083751, 0.0038915), (-0.4803, -0.082676, 0.0030302)  # in ln n
_SOME = 11


def shapiro_wilk(values: Floats) -> tuple[float, float] | None:
    """Shapiro and Wilk's W and the p that `values` are normally distributed; None for fewer than 3 or all equal.

    source: Royston 1995, algorithm AS R94, for 3 to 5,000 values.
    """
    ordered = np.sort(np.asarray(values, np.float64))
    if len(ordered) < 3 or ordered[-1] - ordered[0] < 10**-_DIGITS:
        return None
    centred = ordered - ordered.mean()
    w = min(1.0, float((_royston_weights(len(ordered)) @ ordered) ** 2 / (centred @ centred)))
    return w, _normality_p(w, len(ordered))


def _royston_weights(count: int) -> Floats:
    """The weight of each value in order: rising, antisymmetric, of length 1."""
    if count == 3:
        return np.array([-sqrt(0.5), 0.0, sqrt(0.5)])
    normal = NormalDist()
    expected = np.array([normal.inv_cdf((i - 0.375) / (count + 0.25)) for i in range(1, count + 1)])
    squares, root = float(expected @ expected), 1 / sqrt(count)
    ends = [_sum_powers(_LAST, root) + expected[-1] / sqrt(squares)]
    if count > 5:
        ends.append(_sum_powers(_NEXT, root) + expected[-2] / sqrt(squares))
    apart = len(ends)
    left = squares - 2 * float((expected[-apart:] ** 2).sum())
    weights: Floats = expected / sqrt(left / (1 - 2 * sum(e * e for e in ends)))
    for i, end in enumerate(ends):
        weights[-1 - i], weights[i] = end, -end
    return weights


def _normality_p(w: float, count: int) -> float:
    if count == 3:
        return max(0.0, 6 / pi * (asin(sqrt(w)) - asin(sqrt(0.75))))
    if w >= 1:
        return 1.0
    if count <= _SOME:
        bound = -2.273 + 0.459 * count
        if (short := log(1 - w)) >= bound:
            return 0.0
        value, mean, log_sd = -log(bound - short), _sum_powers(_FEW_MEAN, count), _sum_powers(_FEW_LOG_SD, count)
    else:
        value, mean, log_sd = log(1 - w), _sum_powers(_MEAN, log(count)), _sum_powers(_LOG_SD, log(count))
    return erfc((value - mean) / exp(log_sd) / sqrt(2)) / 2


def _sum_powers(coefficients: Sequence[float], x: float) -> float:
    """c₀ + c₁x + c₂x² + …"""
    return sum(c * x**i for i, c in enumerate(coefficients))


# ── conditions two by two ──


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


def compare_all_pairs(values: Mapping[str, Values], *, draws: int = DRAWS, seed: int = 0) -> tuple[Pair, ...]:
    """Every two conditions, in their order; `values` are one a question, None where there is none."""
    return _compare_family({(a, b): (values[a], values[b]) for a, b in combinations(values, 2)}, draws, seed)


def compare_judged_pairs(scores: Mapping[tuple[str, str], Values]) -> tuple[Pair, ...]:
    """Pairs that a judge compared: the first's score of each question, 0 to 100; the second's is what is left.

    The intervals are Wilson's, with a question as one trial.
    """
    left = {pair: [None if s is None else 100 - s for s in own] for pair, own in scores.items()}
    found = _compare_family({pair: (own, left[pair]) for pair, own in scores.items()}, 1, 0)
    return tuple(replace(p, difference=_difference_of_shares(p)) for p in found)


def _difference_of_shares(p: Pair) -> Interval:
    """The difference of two scores that add up to 100, by Wilson's interval of the first."""
    rate = wilson_interval(p.means[0] / 100, p.n) if p.n else Interval(0.5, 0.5, 0.5)
    return Interval(200 * rate.mean - 100, 200 * rate.low - 100, 200 * rate.high - 100)


def count_compared(listed: Sequence[Pair]) -> int:
    """The most questions that any of these pairs is compared on."""
    return max((p.n for p in listed), default=0)


def least_p_values(listed: Sequence[Pair]) -> tuple[float, float]:
    """The least p that the questions of a family of pairs allow, whatever was measured, and the least corrected one."""
    bound = least_possible_p(count_compared(listed))
    return bound, min(1.0, bound * max(1, len(listed)))


def _compare_family(values: Mapping[tuple[str, str], tuple[Values, Values]], draws: int, seed: int) -> tuple[Pair, ...]:
    """Pairs of conditions by the values of both; their p values are corrected together."""
    pairs = []
    for (first, second), (ours, theirs) in values.items():
        both = [(a, b) for a, b in zip(ours, theirs, strict=True) if a is not None and b is not None]
        table: Floats = np.array(both, np.float64).reshape(len(both), 2)
        apart = table[:, 0] - table[:, 1]
        test, normal = signed_rank_test(apart), shapiro_wilk(apart)
        found = Pair(
            first,
            second,
            means=(float(table[:, 0].mean()), float(table[:, 1].mean())) if both else (0.0, 0.0),
            difference=bootstrap_intervals(apart[:, None], draws, seed)[0] if both else Interval(0.0, 0.0, 0.0),
            n=len(both),
            missing=len(ours) - len(both),
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
        pairs.append(found)
    corrected = correct_by_holm([p.p for p in pairs])
    return tuple(replace(p, p_holm=c) for p, c in zip(pairs, corrected, strict=True))
