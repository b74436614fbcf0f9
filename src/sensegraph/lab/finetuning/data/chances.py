"""What chance alone would do: positions that say nothing, and shares that are what they were meant to be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import erfc, exp, lgamma, log, log1p, sqrt

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_LEAST = 5.0  # oracle passages that a place must be due, for the χ² distribution to hold
_TINY = 1e-9


@dataclass(frozen=True, slots=True)
class Positions:
    """Where oracle passages stand: by place how many do, and how many would if the order were drawn.

    `chi2` is (seen − due)ᵀ C⁺ (seen − due), where C is what drawing without replacement makes the places vary by; with
    one oracle passage in every example, and all of one length, that is Pearson's. Places that are due fewer than five
    count as one. `p` is the probability of so large a value by chance; 1 where there is nothing to compare.
    """

    seen: tuple[int, ...]
    due: tuple[float, ...]
    chi2: float
    freedom: int
    p: float


def compare_positions(orders: Mapping[tuple[bool, ...], int]) -> Positions:
    """The places of oracle passages in examples of any length: of each order, oracle or not, how many have it."""
    longest = max(map(len, orders), default=0)
    seen, due, varying = np.zeros(longest), np.zeros(longest), np.zeros((longest, longest))
    for order, times in sorted(orders.items()):
        count, share = len(order), sum(order) / max(1, len(order))
        seen[:count] += times * np.asarray(order, np.float64)
        due[:count] += times * share
        if count > 1:
            each = times * share * (count - sum(order)) / (count - 1)
            varying[:count, :count] += each * (np.eye(count) - 1 / count)
    # places from the last one on are joined until each sum that is due is at least `_LEAST`
    rows: list[list[int]] = []
    for place in reversed(range(longest)):
        if rows and due[rows[-1]].sum() < _LEAST:
            rows[-1].append(place)
        else:
            rows.append([place])
    if len(rows) > 1 and due[rows[-1]].sum() < _LEAST:
        rest = rows.pop()
        rows[-1] += rest
    join = np.array([np.isin(np.arange(longest), row) for row in rows], np.float64).reshape(len(rows), longest)
    # the statistic and its degrees of freedom
    off, matrix = join @ (seen - due), join @ varying @ join.T
    freedom = int(np.linalg.matrix_rank(matrix, tol=_TINY)) if matrix.size else 0
    chi2, freedom = (float(off @ np.linalg.pinv(matrix, rcond=_TINY) @ off), freedom) if freedom else (0.0, 0)
    p = chi_square_tail(chi2, freedom) if freedom else 1.0
    return Positions(tuple(int(n) for n in seen), tuple(float(n) for n in due), chi2, freedom, p)


def chi_square_tail(chi2: float, freedom: int) -> float:
    """The probability that χ² with `freedom` degrees (at least 1) exceeds `chi2`, by its recurrence over them."""
    if chi2 <= 0:
        return 1.0
    half = chi2 / 2
    total = erfc(sqrt(half)) if freedom % 2 else exp(-half)
    for k in range(freedom % 2 or 2, freedom, 2):
        total += exp(k / 2 * log(half) - half - lgamma(k / 2 + 1))
    return min(1.0, total)


def expected_range(count: int, share: float, outside: float = 0.01) -> tuple[int, int]:
    """Between what a number of successes among `count` lies but for `outside` of all draws, half on either side."""
    if share <= 0 or share >= 1 or not count:
        return (round(count * share),) * 2
    ways = [lgamma(count + 1) - lgamma(k + 1) - lgamma(count - k + 1) for k in range(count + 1)]
    chances = [exp(w + k * log(share) + (count - k) * log1p(-share)) for k, w in enumerate(ways)]
    # on either side the first number at which the chances, added up, exceed the half of `outside`
    low, high = (int(np.searchsorted(np.cumsum(ks)[:-1], outside / 2, "right")) for ks in (chances, chances[::-1]))
    return low, count - high
