"""Disjoint clusters of bounded size by meaning: a tree of Gaussian mixtures, refined among neighbours.

A mixture of n / size components over n rows costs n² / size. Where these are more than 256, a mixture of at most 128
divides the rows, another divides each part, until a component stands for `size` rows: n log n. What a division high up
cuts apart is mended at the end: rows move between clusters that are near each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import NOWHERE, Floats, Ints, Longs
from sensegraph.algorithms.mixtures import Mixture, fit_mixture, nearest_mean, of_labels
from sensegraph.algorithms.products import matrix_product

SIZE = 20
_WHOLE = 256  # clusters that one mixture divides all rows into, without another below it
_BRANCH = 128  # components of a mixture with others below it, at most
_EACH = 16  # clusters that such a component stands for, at least
_LAST = 32  # clusters that a mixture inside another divides its rows into
_GAIN = 1e-2  # at which EM of a mixture of the tree stops: rows that are not settled move later
_NEAR = 16  # clusters that a row may move between
_EXACT = 4096  # clusters up to which all pairs are compared
_BLOCK = 256  # clusters that are compared with others at once
_SLACK = 1e-9  # rounding: a row does not move to a cluster that is equal to its own
_MENDED = 4  # rounds of moving
_AGAIN = 6  # rounds of dividing what is too large, before it is cut into even parts


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """`labels`, int32 of shape (n,), are numbered by first member.

    `kept` clusters of the start are there with the same members; `afresh` says that there was no start, or that it was
    given up.
    """

    labels: Ints
    kept: int = 0
    afresh: bool = True

    def __len__(self) -> int:
        return len(np.bincount(self.labels))

    def members(self) -> list[Longs]:
        """The rows of each cluster, ascending."""
        return _list_members(self.labels)


def cluster_rows(
    x: Floats,
    cluster_size: int = SIZE,
    *,
    seed: int = 0,
    start: NDArray[np.integer[Any]] | None = None,
    worst: float = math.inf,
) -> Clusters:
    """Disjoint clusters of the rows of `x`, shape (n, m), of about `cluster_size` and at most twice as many members.

    LeanRAG's rule (zhang2025, Table 6): max(2, round(n / cluster_size)) components, each row in the most probable one;
    a cluster of more than 2 · `cluster_size` rows is divided again, one of equal rows in their order. The rows in
    another order give the same clusters, but that equal rows may change places.

    `start` holds the earlier label of every row, −1 for a new one. Then rows stay where they are; a new one goes to
    the most probable cluster, which is divided when it outgrows twice `cluster_size`. A row whose vector has changed
    may be given with its label or as new. Where that leaves more than `worst` times the scatter of a fresh division,
    the fresh one is taken. Raises ValueError for rows that are no matrix of finite numbers.
    """
    if x.ndim != 2 or not np.isfinite(x).all():
        raise ValueError(f"rows of shape {x.shape} must be a matrix of finite numbers; reduce the vectors first.")
    if cluster_size < 1:
        raise ValueError(f"cluster_size is {cluster_size}; it must be at least 1.")
    if start is not None and start.shape != (len(x),):
        raise ValueError(f"{len(start)} labels of before do not fit {len(x)} rows; give −1 for a new row.")
    order = np.lexsort(x.T[::-1]) if x.shape[1] else np.arange(len(x))
    rows = np.ascontiguousarray(x[order]) if x.shape[1] else np.zeros((len(x), 1))
    before = np.full(len(x), NOWHERE) if start is None else np.asarray(start)
    found, afresh = _divide_rows(rows, before[order], cluster_size, seed, worst)
    labels = np.empty(len(x), np.int64)
    labels[order] = found
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    numbered = np.argsort(np.argsort(first)).astype(np.int32)[inverse]  # by first member
    old = {rows.tobytes() for rows in _list_members(before) if before[rows[0]] >= 0}
    kept = sum(rows.tobytes() in old for rows in _list_members(numbered))
    return Clusters(numbered, kept, afresh)


def measure_scatter(x: Floats, labels: NDArray[np.integer[Any]]) -> float:
    """The share of the variance of the rows that is left inside clusters, from 0 (equal members) to 1."""
    total = float(((x - x.mean(axis=0)) ** 2).sum()) if len(x) else 0.0
    inside = sum(float(((x[rows] - x[rows].mean(axis=0)) ** 2).sum()) for rows in _list_members(labels))
    return inside / total if total > 0 else 0.0


def measure_sparsity(sizes: Sequence[int], n: int) -> float:
    """The share of pairs among n entities that no cluster joins, 1 − Σ s (s − 1) / (n (n − 1)); 1 for n < 2.

    HiRAG's cluster sparsity (huang2025), by whose change it stops adding layers.
    """
    return 1.0 - sum(s * (s - 1) for s in sizes) / (n * (n - 1)) if n > 1 else 1.0


def _divide_rows(x: Floats, start: NDArray[np.integer[Any]], size: int, seed: int, worst: float) -> tuple[Longs, bool]:
    """Labels, and whether they are of a fresh division."""
    if not (start >= 0).any():
        return (_divide_afresh(x, size, seed) if len(x) else start.astype(np.int64)), True
    # A new row goes to the most probable cluster of the start.
    old = start >= 0
    labels: Longs = start.astype(np.int64)
    names, dense = np.unique(labels[old], return_inverse=True)
    labels[~old] = names[of_labels(x[old], dense).assign(x[~old])]
    labels = _bound_sizes(x, labels, size, seed)
    if (labels == start).all() or not math.isfinite(worst):
        return labels, False
    fresh = _divide_afresh(x, size, seed)
    given_up = measure_scatter(x, labels) > worst * measure_scatter(x, fresh)
    return (fresh if given_up else labels), given_up


# ── a fresh division ─────────────────────────────────────────────────────────────────────────────────────────────────


def _divide_afresh(x: Floats, size: int, seed: int) -> Longs:
    """A tree of mixtures; then, twice, rows move among neighbours and what is too large is divided."""
    labels = _divide_tree(x, _count_wanted(len(x), size), seed)
    for _ in range(2):
        labels = _bound_sizes(x, _move_rows(x, labels), size, seed)
    return labels


def _count_wanted(n: int, size: int) -> int:
    return max(2, int(n / size + 0.5))


def _divide_tree(x: Floats, k: int, seed: int) -> Longs:
    """Labels of about `k` clusters: mixtures inside each other."""
    labels = np.zeros(len(x), np.int64)
    waiting, last = [(np.arange(len(x)), k)], 0
    for rows, share in waiting:  # grows while it is read
        # The components of a mixture: all clusters that are wanted of these rows, or so many for each.
        most = _WHOLE if len(rows) == len(x) else _LAST
        wide = share if share <= most else min(_BRANCH, math.ceil(share / _EACH))
        parts = []
        if share > 1 and len(rows) > 1:
            parts = _list_members(fit_mixture(x[rows], wide, seed=seed + last, gain=_GAIN).assign(x[rows]))
        if len(parts) > 1 and wide < share:
            waiting += [(rows[part], max(1, int(share * len(part) / len(rows) + 0.5))) for part in parts]
            continue
        for part in parts or [np.arange(len(rows))]:
            labels[rows[part]] = last
            last += 1
    return labels


def _move_rows(x: Floats, labels: Longs) -> Longs:
    """`labels` after rows have moved, for some rounds, to the most probable of the clusters near their own."""
    labels = _number_densely(labels)
    for _ in range(_MENDED):
        mixture, moved = of_labels(x, labels), labels.copy()
        neighbours = _find_neighbours(mixture.means)
        for i, (rows, near) in enumerate(zip(_list_members(labels), neighbours, strict=True)):
            among = Mixture(mixture.weights[near], mixture.means[near], mixture.variances[near])
            joint = among.joint(x[rows])
            joint[:, np.searchsorted(near, i)] += _SLACK
            moved[rows] = near[joint.argmax(axis=1)]
        if (moved == labels).all():
            break
        labels = _number_densely(moved)
    return labels


def _find_neighbours(means: Floats) -> list[Longs]:
    """For each of the means, the nearest `_NEAR`, itself among them, ascending by position.

    Of more than `_EXACT` means about the nearest: every `_EXACT / 16`th mean draws those around it to itself, and only
    the means around the nearest of these pivots are compared.
    """
    everything = np.arange(len(means))
    if len(means) <= _EXACT:
        return [
            near for block in _split_positions(everything) for near in _find_nearest_means(means, block, everything)
        ]
    pivots = means[:: _EXACT // _NEAR]
    around = nearest_mean(means, pivots)
    members, found = [np.flatnonzero(around == i) for i in range(len(pivots))], list(everything[:, None])
    for own, near in zip(members, _find_neighbours(pivots), strict=True):
        for asked in _split_positions(own):
            rows = _find_nearest_means(means, asked, np.sort(np.concatenate([members[i] for i in near])))
            for i, row in zip(asked, rows, strict=True):
                found[i] = row
    return found


def _find_nearest_means(means: Floats, asked: Longs, among: Longs) -> Longs:
    """Those of the means `among`, ascending, that are nearest to each of `asked`, itself first; shape (asked, near)."""
    others = means[among]
    far = 0.5 * np.einsum("ij,ij->i", others, others) - matrix_product(means[asked], others.T)
    far[np.arange(len(asked)), np.searchsorted(among, asked)] = -np.inf  # among equal means too
    many = min(_NEAR, len(among))
    return np.sort(among[np.argpartition(far, many - 1, axis=1)[:, :many]], axis=1)


def _split_positions(positions: Longs) -> list[Longs]:
    return [positions[i : i + _BLOCK] for i in range(0, len(positions), _BLOCK)]


# ── sizes and numbers ────────────────────────────────────────────────────────────────────────────────────────────────


def _bound_sizes(x: Floats, labels: Longs, size: int, seed: int) -> Longs:
    """`labels` with every cluster of more than 2 · `size` rows divided until there is none."""
    labels, fresh = labels.copy(), count(int(labels.max(initial=NOWHERE)) + 1)
    for turn in range(_AGAIN + 1):
        large = [rows for rows in _list_members(labels) if len(rows) > 2 * size]
        for rows in large:
            k = _count_wanted(len(rows), size)
            parts = _list_members(_divide_tree(x[rows], k, seed)) if turn < _AGAIN else []
            if len(parts) <= 1:  # cut as evenly as can be along the column that varies most; ties in order
                order = np.argsort(x[rows][:, int(np.argmax(x[rows].var(axis=0)))], kind="stable")
                parts = [np.sort(part) for part in np.array_split(order, -(-len(rows) // size))]
            for part in parts:
                labels[rows[part]] = next(fresh)
    return labels


def _list_members(labels: NDArray[np.integer[Any]]) -> list[Longs]:
    """The rows of each label that is there, ascending; in the order of labels."""
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(labels[order])) + 1) if len(order) else []


def _number_densely(labels: Longs) -> Longs:
    """`labels` numbered from 0 without gaps, in their order."""
    return np.unique(labels, return_inverse=True)[1]
