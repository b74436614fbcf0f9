"""Rankings that do not say the same thing twice: maximal marginal relevance, and greedy cover.

Both choose one position after another and never take a choice back; equal values are decided by position, so that
equal input gives an equal order on every machine.
"""

from __future__ import annotations

import heapq
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import Floats, Longs
from sensegraph.algorithms.ranking import Ranked


def rank_by_mmr(relevance: Floats, vectors: NDArray[Any], top: int, balance: float = 0.5) -> Ranked:
    """The `top` positions by maximal marginal relevance, in the order chosen, with the value that each was chosen for.

    Each next one is argmax_i balance · relevance_i − (1 − balance) · max_{j chosen} vectors_i · vectors_j; the first
    has nothing to differ from (Carbonell and Goldstein 1998, §2). `relevance` has shape (n,), `vectors` (n, dim) with
    rows of length 1 or 0, `balance` is 0–1: 1 is the order by relevance. Takes O(top · n · dim). Raises ValueError for
    shapes that do not fit, values that are not finite, and another balance.
    """
    rows = np.asarray(vectors, np.float64)
    worth = np.asarray(relevance, np.float64)
    if rows.ndim != 2 or worth.shape != (len(rows),):
        raise ValueError(f"relevance of shape {worth.shape} does not fit vectors of shape {rows.shape}.")
    if not (0 <= balance <= 1 and np.isfinite(worth).all() and np.isfinite(rows).all()):
        raise ValueError(f"balance must be 0–1, not {balance}, and every value finite.")
    nearest = np.zeros(len(rows))
    left = balance * worth
    chosen, values = list[int](), list[float]()
    for _ in range(min(max(top, 0), len(rows))):
        best = int(np.argmax(left - (1 - balance) * nearest))
        chosen.append(best)
        values.append(float(left[best] - (1 - balance) * nearest[best]))
        alike = (rows * rows[best]).sum(axis=1)  # one row's sum knows of no other row
        nearest = alike if len(chosen) == 1 else np.maximum(nearest, alike)
        left[best] = -math.inf
    return np.asarray(chosen, np.int64), np.asarray(values, np.float64)


def choose_cover(start: Longs, elements: Longs, weights: Floats, top: int, costs: Floats | None = None) -> Ranked:
    """Sets chosen greedily to cover the elements of most weight, in order, with the weight that each added.

    Set i is elements[start[i]:start[i + 1]], numbers of elements below len(weights); `start` has shape (sets + 1,),
    `weights` (elements,), none negative. With `costs` (sets,), all above 0, the next set is the one that adds most for
    its cost. It ends with `top` sets, or when no set adds anything: without costs what is covered is then at least
    1 − 1/e of the most that so many sets can cover (Nemhauser, Wolsey and Fisher 1978, §4). Raises ValueError for
    arrays that do not fit.
    """
    if not len(start) or start[0] != 0 or start[-1] != len(elements) or (np.diff(start) < 0).any():
        raise ValueError(f"start must rise from 0 to the number of elements, {len(elements)}.")
    if len(elements) and not (elements.min() >= 0 and elements.max() < len(weights)):
        raise ValueError(f"the elements of sets must be numbers from 0 to {len(weights) - 1}.")
    if not (np.isfinite(weights).all() and (np.asarray(weights) >= 0).all()):
        raise ValueError("weights must be finite and not negative.")
    price = np.ones(len(start) - 1) if costs is None else np.asarray(costs, np.float64)
    if len(price) != len(start) - 1 or not (np.isfinite(price).all() and (price > 0).all()):
        raise ValueError(f"costs must be {len(start) - 1} finite numbers above 0.")
    sets = [np.unique(elements[a:b]) for a, b in zip(start[:-1].tolist(), start[1:].tolist(), strict=True)]
    worth = np.asarray(weights, np.float64).copy()
    queue = [(-float(worth[members].sum() / price[i]), i, 0) for i, members in enumerate(sets)]
    heapq.heapify(queue)
    chosen, gains = list[int](), list[float]()
    while queue and len(chosen) < top:
        value, i, known = heapq.heappop(queue)
        if known == len(chosen):  # no set can be worth more than it was before: the first that is still is the best
            if value == 0:
                break
            chosen.append(i)
            gains.append(float(worth[sets[i]].sum()))
            worth[sets[i]] = 0.0
        else:
            heapq.heappush(queue, (-float(worth[sets[i]].sum() / price[i]), i, len(chosen)))
    return np.asarray(chosen, np.int64), np.asarray(gains, np.float64)


def rank_by_cover(start: Longs, elements: Longs, weights: Floats) -> Longs:
    """All sets as a ranking: those that `cover` chooses, then the others in the order that they had."""
    chosen, _ = choose_cover(start, elements, weights, len(start))
    rest = np.setdiff1d(np.arange(len(start) - 1, dtype=np.int64), chosen)
    return np.concatenate((chosen, rest))
