"""A sample that is spread over a corpus: texts in groups by their vectors, and the groups by turns.

source: the benchmark of questions by Edge et al. (2025): k-means of the chunks, some of each cluster
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sensegraph.lab.scores.word_overlap import Floats
from sensegraph.runtime.keys import key

T = TypeVar("T")

GROUPS = 50
_ROWS = 5_000  # on which centres are found
_CYCLES = 25


def cluster_vectors(rows: NDArray[np.float32], groups: int = GROUPS, seed: int = 0) -> NDArray[np.int64]:
    """The group of each of the unit vectors `rows`, shape (n, d), by spherical k-means from k-means++ with `seed`.

    There are at most `groups`, and at most as many as rows that differ. Equal rows are in one group.
    """
    if not len(rows):
        return np.zeros(0, np.int64)
    random = np.random.default_rng(seed)
    some = np.asarray(rows if len(rows) <= _ROWS else rows[np.sort(random.permutation(len(rows))[:_ROWS])], np.float64)
    # the first centres: rows drawn by their squared distance from those drawn before (Arthur and Vassilvitskii 2007)
    chosen = [int(random.integers(len(some)))]
    far = _cosine_distance(some, some[chosen[0]])
    while len(chosen) < groups and far.sum() > 1e-9:
        chosen.append(int(random.choice(len(some), p=far / far.sum())))
        far = np.minimum(far, _cosine_distance(some, some[chosen[-1]]))
    centres: Floats = some[chosen]
    for _ in range(_CYCLES):
        placed = (some @ centres.T).argmax(axis=1)
        moved = centres.copy()
        for i, centre in enumerate(centres):  # the direction of the mean; where there is none, the centre stays
            members = some[placed == i]
            mean = members.sum(axis=0) if len(members) else centre
            length = float(np.linalg.norm(mean))
            moved[i] = mean / length if length else centre
        if np.allclose(moved, centres):
            break
        centres = moved
    found: NDArray[np.int64] = np.asarray(rows @ centres.T.astype(rows.dtype)).argmax(axis=1)
    return found


def _cosine_distance(rows: Floats, centre: Floats) -> Floats:
    apart: Floats = np.maximum(1 - rows @ centre, 0)
    apart[apart < 1e-9] = 0
    return apart


def take_turns(items: Iterable[T], group: Callable[[T], int], name: Callable[[T], str], seed: int = 0) -> list[T]:
    """`items` so that the groups take turns; inside a group, and among groups, by a hash of name and seed."""
    inside: dict[int, list[T]] = {}
    for item in items:
        inside.setdefault(group(item), []).append(item)
    for listed in inside.values():
        listed.sort(key=lambda item: key(seed, name(item)))
    lists = [inside[g] for g in sorted(inside, key=lambda g: key(seed, g))]
    longest = max(map(len, lists), default=0)
    return [listed[i] for i in range(longest) for listed in lists if i < len(listed)]
