"""Which nodes of a layer RAPTOR summarises together: clusters of a mixture inside clusters of a mixture (§3).

Sarthi et al. 2024, *RAPTOR: Recursive Abstractive Processing for Tree-Organized Retrieval*, §3. Nodes are given and
returned by position, so that equal vectors stay apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import Floats
from sensegraph.algorithms.meaning import cluster_rows
from sensegraph.algorithms.mixtures import assign_softly, choose_k, fit_mixture
from sensegraph.algorithms.reduction import reduce_dimensions
from sensegraph.language.text import pack_batches
from sensegraph.methods.raptor.tree import TreeSettings

Group = tuple[int, ...]
Vectors = NDArray[Any]

_FEW = 3  # nodes that are one group without further ado
_WIDE = 4  # times `dims` columns are kept of a layer's vectors, for what is reduced again inside clusters


def group_nodes(vectors: Vectors, sizes: Sequence[int], settings: TreeSettings) -> list[Group]:
    """The groups of the nodes with these vectors, shape (n, d), and tokens: every node in at least one.

    No group has more than `input_tokens`, unless it is one node; none is there twice; all ascend, in the order of their
    members.
    """
    if not sizes:
        return []
    wide = reduce_dimensions(vectors, _WIDE * settings.dims, seed=settings.seed)
    parts = _part_by_clusters(tuple(range(len(sizes))), wide, settings)
    found = (g for part in parts for g in _fit_groups(part, wide, sizes, settings, settings.depth))
    return sorted(dict.fromkeys(found))


def group_in_order(sizes: Sequence[int], settings: TreeSettings) -> list[Group]:
    """Groups of about `children` nodes as they follow one another, for an estimate where there are no vectors."""
    found = pack_batches(range(len(sizes)), settings.input_tokens, lambda i: sizes[i])
    step = settings.children or len(sizes)
    return [tuple(run[i : i + step]) for run in found for i in range(0, len(run), step)]


def _fit_groups(nodes: Group, x: Floats, sizes: Sequence[int], settings: TreeSettings, depth: int) -> Iterable[Group]:
    """`nodes` as they are where one summary can tell of them, else in parts."""
    long = sum(sizes[i] for i in nodes) > settings.input_tokens
    many = 0 < 2 * settings.children < len(nodes)
    if not long and not many:
        return [nodes]
    if many:  # clusters of about `children`, each node in one, whether they lie apart or not
        labels = cluster_rows(x[list(nodes)], settings.children, seed=settings.seed).labels
        parts = [tuple(nodes[i] for i in np.flatnonzero(labels == k)) for k in range(int(labels.max()) + 1)]
    else:
        parts = _part_by_clusters(nodes, x, settings) if depth else [nodes]
    if parts == [nodes]:
        return [tuple(part) for part in pack_batches(nodes, settings.input_tokens, lambda i: sizes[i])]
    return [g for part in parts for g in _fit_groups(part, x, sizes, settings, depth - 1)]


def _part_by_clusters(nodes: Group, x: Floats, settings: TreeSettings) -> list[Group]:
    """The local clusters inside the global clusters of `nodes`."""
    mine = x[list(nodes)]
    found: list[Group] = []
    for outer in _mixture_clusters(mine, settings):
        small = len(outer) <= settings.stop  # such a global cluster is a single local one
        inner = [tuple(range(len(outer)))] if small else _mixture_clusters(mine[list(outer)], settings)
        found += [tuple(nodes[outer[i]] for i in part) for part in inner]
    return found


def _mixture_clusters(x: Floats, settings: TreeSettings) -> list[Group]:
    """The clusters of a mixture whose number of components is that of the least BIC (§3)."""
    if (n := len(x)) <= _FEW:
        return [tuple(range(n))]
    y = reduce_dimensions(x, min(settings.dims, n - 2), seed=settings.seed)
    mixture = fit_mixture(y, choose_k(y, seed=settings.seed), seed=settings.seed)
    if settings.membership == "soft":
        return [tuple(map(int, rows)) for rows in assign_softly(mixture, y, settings.threshold)]
    labels = mixture.assign(y)
    return sorted(tuple(map(int, np.flatnonzero(labels == k))) for k in np.unique(labels))
