"""Clusters of alike vectors, afresh or from those of an earlier build (LeanRAG, "Recursive Semantic Clustering")."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sensegraph.algorithms.graphs import Floats, Ints
from sensegraph.algorithms.meaning import cluster_rows, measure_scatter
from sensegraph.algorithms.ranking import Stack
from sensegraph.algorithms.reduction import reduce_dimensions
from sensegraph.protocols import Vectors
from sensegraph.runtime.results import step

_TOLERANCE = 0.1  # share of the scatter that kept clusters may have above that of fresh ones
_SLACK = 0.1  # scatter below which the tolerance falls no further
_MORE = 2  # times as many clusters as fresh ones: no more are kept


@dataclass(frozen=True)
class Grouping:
    """`labels`, int32 of shape (n,), numbered by first member, and why earlier clusters were given up, if they were.

    `given_up` is empty, or holds the scatter of the earlier clusters and that of fresh ones, and how many there are of
    each.
    """

    labels: Ints
    given_up: Floats

    def note(self) -> str:
        """What has to be said; empty where nothing was given up."""
        if not len(self.given_up):
            return ""
        kept, fresh, many, few = self.given_up.tolist()
        return (
            f"clustered by meaning afresh: {few:.0f} clusters leave {fresh:.3f} of the variance inside, the {many:.0f} "
            f"from before {kept:.3f}"
        )


@step("alike.grouping", version=2, form="arrays")
def group_vectors(wholes: Sequence[tuple[Vectors | Stack, Ints]], *, size: int, dims: int, seed: int) -> list[Grouping]:
    """Clusters of about `size` rows of each matrix, over `dims` columns of it; near the earlier labels, if any."""
    return [_group_rows(vectors, start, size, dims, seed) for vectors, start in wholes]


def _group_rows(vectors: Vectors | Stack, start: Ints, size: int, dims: int, seed: int) -> Grouping:
    rows = reduce_dimensions(vectors, dims, seed=seed)
    fresh = cluster_rows(rows, size, seed=seed)
    if not len(start):
        return Grouping(fresh.labels, np.zeros(0))
    best = measure_scatter(rows, fresh.labels)
    for begin in _earlier_starts(rows, start, size, seed):
        kept = cluster_rows(rows, size, seed=seed, start=begin)
        loss = measure_scatter(rows, kept.labels)
        if loss <= best + _TOLERANCE * max(best, _SLACK) and len(kept) <= _MORE * max(len(fresh), 1):
            return Grouping(kept.labels, np.zeros(0))
    return Grouping(fresh.labels, np.array([loss, best, len(kept), len(fresh)], np.float64))


def _earlier_starts(rows: Floats, start: Ints, size: int, seed: int) -> Iterator[Ints]:
    """The earlier labels: first with labels of their own for new rows, where these are many; then without.

    Spread over the clusters that are there, each new row would change another of them, whose aggregate would have to
    be written anew. Clusters of their own change none, and are nearly as good where what is new is about new things.
    """
    new = np.flatnonzero(start < 0)
    if len(new) >= size:
        own = start.copy()
        own[new] = cluster_rows(rows[new], size, seed=seed).labels + int(start.max()) + 1
        yield own
    yield start
