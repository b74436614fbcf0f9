"""Candidate pairs from shared keys: two rows that share rare keys are compared, never all with all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import Floats, Longs
from sensegraph.algorithms.similar import Pairs


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Pairs of rows with the weight of the keys that they share, in the order of (one, other).

    `passed_over` counts pairs that share a key but are not among the best of either row, `crowded` the keys that too
    many rows share.
    """

    pairs: Pairs
    passed_over: int
    crowded: int


def candidates(keys: Longs, rows: Longs, weight: Floats, *, count: int, most: int, near: int) -> Candidates:
    """Pairs of the `count` rows that share a key, int64 of shape (m,) as are `rows`; `weight` is that of key and row.

    A key of more than `most` rows brings none together. Of every row the `near` partners of greatest weight are kept;
    at most `near` × `count` pairs remain.
    """
    order = np.lexsort((rows, keys))
    keys, rows, weight = keys[order], rows[order], weight[order]
    fresh = np.ones(len(keys), np.bool_)
    fresh[1:] = (keys[1:] != keys[:-1]) | (rows[1:] != rows[:-1])
    keys, rows, weight = keys[fresh], rows[fresh], weight[fresh]
    starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1]))) if len(keys) else np.zeros(0, np.int64)
    sizes = np.diff(np.concatenate((starts, [len(keys)]))).astype(np.int64)
    found = list(_within(starts, sizes, rows, weight, most))
    pairs = _summed(found, count)
    kept = among_best(pairs, count, near)
    best = Pairs(pairs.one[kept], pairs.other[kept], pairs.similarity[kept])
    return Candidates(best, len(pairs) - len(best), int((sizes > most).sum()))


def among_best(pairs: Pairs, count: int, near: int) -> NDArray[np.bool_]:
    """Which pairs are among the `near` most similar of either row; ties go to the smaller row."""
    both = np.concatenate((pairs.one, pairs.other)).astype(np.int64)
    partner = np.concatenate((pairs.other, pairs.one))
    order = np.lexsort((partner, -np.tile(pairs.similarity, 2), both))
    starts = np.searchsorted(both[order], np.arange(count))
    rank = np.arange(len(both)) - starts[both[order]]
    kept = np.zeros(len(pairs), np.bool_)
    kept[order[rank < near] % max(len(pairs), 1)] = True
    return kept


def _within(
    starts: Longs, sizes: Longs, rows: Longs, weight: Floats, most: int
) -> Iterator[tuple[Longs, Longs, Floats]]:
    """All pairs of each group of rows that share a key; groups of one size at once."""
    for size in np.unique(sizes[(sizes > 1) & (sizes <= most)]).tolist():
        a, b = np.triu_indices(size, 1)
        begin = starts[sizes == size][:, None]
        one, other = (begin + a).ravel(), (begin + b).ravel()
        yield rows[one], rows[other], np.minimum(weight[one], weight[other])


def _summed(found: list[tuple[Longs, Longs, Floats]], count: int) -> Pairs:
    """Each pair once, with the sum of its weights."""
    if not found:
        return Pairs(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0))
    one, other, weight = (np.concatenate(column) for column in zip(*found, strict=True))
    code, inverse = np.unique(one * count + other, return_inverse=True)
    summed = np.bincount(inverse, weights=weight, minlength=len(code)).astype(np.float64)
    return Pairs((code // count).astype(np.int32), (code % count).astype(np.int32), summed)
