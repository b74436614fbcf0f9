"""A sample that is spread over a corpus: texts in groups by their vectors, and the groups by turns.

source: the benchmark of questions by Edge et al. (2025): k-means of the chunks, some of each cluster
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sensegraph.lab.scores.overlap import Floats
from sensegraph.runtime.keys import key

T = TypeVar("T")

GROUPS = 50
_ROWS = 5_000  # on which centres are found
_CYCLES = 25


def grouped(rows: NDArray[np.float32], groups: int = GROUPS, seed: int = 0) -> NDArray[np.int64]:
    """The group of each of the unit vectors `rows`, shape (n, d), by spherical k-means from k-means++ with `seed`.

    There are at most `groups`, and at most as many as rows that differ. Equal rows are in one group.
    """
    if not len(rows):
        return np.zeros(0, np.int64)
    random = np.random.default_rng(seed)
    some = np.asarray(rows if len(rows) <= _ROWS else rows[np.sort(random.permutation(len(rows))[:_ROWS])], np.float64)
    centres = _started(some, groups, random)
    for _ in range(_CYCLES):
        placed = (some @ centres.T).argmax(axis=1)
        moved = np.array([_centre(some[placed == i], centres[i]) for i in range(len(centres))])
        if np.allclose(moved, centres):
            break
        centres = moved
    found: NDArray[np.int64] = np.asarray(rows @ centres.T.astype(rows.dtype)).argmax(axis=1)
    return found


def _started(rows: Floats, groups: int, random: np.random.Generator) -> Floats:
    """Rows drawn by their squared distance from those drawn before (Arthur and Vassilvitskii 2007)."""
    chosen = [int(random.integers(len(rows)))]
    far = _distance(rows, rows[chosen[0]])
    while len(chosen) < groups and far.sum() > 1e-9:
        chosen.append(int(random.choice(len(rows), p=far / far.sum())))
        far = np.minimum(far, _distance(rows, rows[chosen[-1]]))
    return rows[chosen]


def _distance(rows: Floats, centre: Floats) -> Floats:
    apart: Floats = np.maximum(1 - rows @ centre, 0)
    apart[apart < 1e-9] = 0
    return apart


def _centre(members: Floats, before: Floats) -> Floats:
    """The direction of the mean; where there is none, the centre stays."""
    mean = members.sum(axis=0) if len(members) else before
    length = float(np.linalg.norm(mean))
    return mean / length if length else before


def by_turns(items: Iterable[T], group: Callable[[T], int], name: Callable[[T], str], seed: int = 0) -> list[T]:
    """`items` so that the groups take turns; inside a group, and among groups, by a hash of name and seed."""
    inside: dict[int, list[T]] = {}
    for item in items:
        inside.setdefault(group(item), []).append(item)
    for listed in inside.values():
        listed.sort(key=lambda item: key(seed, name(item)))
    order = sorted(inside, key=lambda g: key(seed, g))
    return _woven([inside[g] for g in order])


def _woven(lists: Sequence[Sequence[T]]) -> list[T]:
    longest = max(map(len, lists), default=0)
    return [listed[i] for i in range(longest) for listed in lists if i < len(listed)]
