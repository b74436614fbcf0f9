"""Whether two methods differ: on the same questions, by resampling and by signed ranks, corrected for many comparisons.

source: Efron 1979 (bootstrap); Wilcoxon 1945; Holm 1979. The convention of Edge et al. (2024), §3.3: two-sided, no
continuity correction, Holm's step-down over a family of comparisons.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import erfc, sqrt

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

DRAWS = 10_000
EXACT = 25  # differences up to which the distribution of the rank sum is counted out
_BLOCK = 500  # draws held in memory at once
_DIGITS = 12  # differences that agree so far are ties: 1/3 - 0 and 1 - 2/3


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with the 95 % interval of its resamplings."""

    mean: float
    low: float
    high: float


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


def resampled(values: Floats, draws: int = DRAWS, seed: int = 0) -> Floats:
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
        blocks.append(times @ values / count)
    return np.concatenate(blocks)


def intervals(values: Floats, draws: int = DRAWS, seed: int = 0) -> tuple[Interval, ...]:
    """The mean of each column of `values`, shape (questions, columns), with its percentile interval."""
    low, high = np.percentile(resampled(values, draws, seed), [2.5, 97.5], axis=0)
    return tuple(Interval(float(m), float(a), float(b)) for m, a, b in zip(values.mean(0), low, high, strict=True))


def signed_ranks(differences: Floats) -> Ranks:
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
    exact = count <= EXACT
    p = _counted(ranks, positive) if exact else erfc(abs(z) / sqrt(2))
    return Ranks(z, p, count, int((rounded > 0).sum()), exact)


def midranks(values: Floats) -> Floats:
    """The rank of every value, from 1; equal values share the mean of their places."""
    _, where, times = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(times)
    shared: Floats = ((2 * last - times + 1) / 2)[where]
    return shared


def _counted(ranks: Floats, positive: float) -> float:
    """The two-sided p of a rank sum, over all ways to give the ranks signs."""
    doubled = [round(2 * r) for r in ranks]
    ways = np.zeros(sum(doubled) + 1)
    ways[0] = 1
    for rank in doubled:
        ways[rank:] += ways[: len(ways) - rank].copy()
    place = round(2 * positive)
    tail = min(ways[: place + 1].sum(), ways[place:].sum())
    return min(1.0, 2 * float(tail / ways.sum()))


def holm(ps: Sequence[float]) -> list[float]:
    """The p values of one family corrected by Holm's step-down: never below the raw ones, in their order, at most 1."""
    order = sorted(range(len(ps)), key=lambda i: ps[i])
    corrected, highest = [0.0] * len(ps), 0.0
    for rank, i in enumerate(order):
        highest = max(highest, min(1.0, ps[i] * (len(ps) - rank)))
        corrected[i] = highest
    return corrected
