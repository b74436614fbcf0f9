"""One ranking from several: by ranks, by scores, or by a share of the places (hybrid retrieval; N83–N86).

Every fusion maps rankings to a ranking, is the same for any order of the rankings, and orders equal scores by position.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import Floats, Longs
from sensegraph.algorithms.ranking import fuse_by_reciprocal_rank


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Positions, best first, each once, with their scores, both of shape (n,); `name` says whose ranking it is.

    Raises ValueError for lengths that differ and for a position that stands twice.
    """

    name: str
    positions: Longs
    scores: Floats

    def __post_init__(self) -> None:
        if len(self.positions) != len(self.scores) or len(np.unique(self.positions)) != len(self.positions):
            raise ValueError(f"the ranking {self.name!r} needs a score for each position, and each position once.")

    def __len__(self) -> int:
        return len(self.positions)


def by_ranks(rankings: Sequence[Ranking], weights: Sequence[float], c: float = 60) -> Ranking:
    """Reciprocal rank fusion: Σ_i w_i / (c + rank_i), ranks from 1 (Cormack et al. 2009; N83, N84)."""
    found = fuse_by_reciprocal_rank([r.positions.tolist() for r in rankings], c, weights)
    return Ranking("rrf", np.asarray([p for p, _ in found], np.int64), np.asarray([s for _, s in found], np.float64))


def by_scores(rankings: Sequence[Ranking], weights: Sequence[float]) -> Ranking:
    """The weighted sum of scores, those of each ranking from 0 for its last to 1 for its best."""
    parts = []
    for ranking, weight in zip(rankings, weights, strict=True):
        scores = ranking.scores
        if len(scores):
            low, high = float(scores.min()), float(scores.max())
            scores = (scores - low) / (high - low) if high > low else np.ones(len(scores))
        parts.append((ranking.positions, weight * scores))
    return _add_scores("minmax", parts)


def by_shares(rankings: Sequence[Ranking], weights: Sequence[float], c: float = 60) -> Ranking:
    """Places shared out: of any first places each ranking has filled its share, w_i of all, with its own best.

    The score of a position is 1 / (the smallest rank ÷ share that it has); equal ones are ordered by their ranks in
    all rankings.
    """
    kept = [(r, w) for r, w in zip(rankings, weights, strict=True) if w > 0]
    whole = sum(w for _, w in kept)
    first: dict[int, float] = {}
    for ranking, weight in kept:
        for rank, position in enumerate(ranking.positions.tolist(), 1):
            first[position] = min(first.get(position, np.inf), rank * whole / weight)
    order = sorted(by_ranks(rankings, weights, c).positions[: len(first)].tolist(), key=lambda p: first[p])
    return Ranking("quota", np.asarray(order, np.int64), np.asarray([1 / first[p] for p in order], np.float64))


def near_best(rankings: Sequence[Ranking], weights: Sequence[float], power: float = 3) -> Ranking:
    """The weighted sum of scores, each as a share of its ranking's best, to the `power`: what is near the best counts.

    Scores must not be negative. The weak prior of a walk.
    """
    parts = [(r.positions, w * r.scores / r.scores.max()) for r, w in zip(rankings, weights, strict=True) if len(r)]
    added = _add_scores("text", parts)
    return Ranking(added.name, added.positions, np.asarray(added.scores**power, np.float64))


def _add_scores(name: str, parts: Sequence[tuple[Longs, NDArray[Any]]]) -> Ranking:
    """The sum of the scores of every position that has one, best first; exact for any order of the parts."""
    places = np.concatenate([np.zeros(0, np.int64), *(p for p, _ in parts)])
    scores = np.concatenate([np.zeros(0), *(s for _, s in parts)])
    order = np.lexsort((scores, places))
    positions, inverse = np.unique(places[order], return_inverse=True)
    total = np.asarray(np.bincount(inverse, weights=scores[order], minlength=len(positions)), np.float64)
    best = np.lexsort((positions, -total))
    return Ranking(name, positions[best], total[best])
