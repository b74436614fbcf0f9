"""Candidate pairs from shared keys: two rows that share rare keys are compared, never all with all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sensegraph.algorithms.graphs import Floats, Longs
from sensegraph.algorithms.similar import Pairs, among_best


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Pairs of rows with the weight of the keys that they share, in the order of (one, other).

    `passed_over` counts pairs that share a key but are not among the best of either row, `crowded` the keys that too
    many rows share.
    """

    pairs: Pairs
    passed_over: int
    crowded: int


def pair_by_shared_keys(keys: Longs, rows: Longs, weight: Floats, *, count: int, most: int, near: int) -> Candidates:
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
    # All pairs of each group of rows that share a key, groups of one size at once; then each pair once, weights summed.
    ones, others = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    weights = [np.zeros(0, np.float64)]
    for size in np.unique(sizes[(sizes > 1) & (sizes <= most)]).tolist():
        a, b = np.triu_indices(size, 1)
        begin = starts[sizes == size][:, None]
        first, second = (begin + a).ravel(), (begin + b).ravel()
        ones.append(rows[first])
        others.append(rows[second])
        weights.append(np.minimum(weight[first], weight[second]))
    code, inverse = np.unique(np.concatenate(ones) * count + np.concatenate(others), return_inverse=True)
    summed = np.bincount(inverse, weights=np.concatenate(weights), minlength=len(code)).astype(np.float64)
    one, other = np.divmod(code, max(count, 1))
    pairs = Pairs(one.astype(np.int32), other.astype(np.int32), summed)
    kept = among_best(pairs, count, near)
    best = Pairs(pairs.one[kept], pairs.other[kept], pairs.similarity[kept])
    return Candidates(best, len(pairs) - len(best), int((sizes > most).sum()))
