"""Clusters of an earlier build followed upwards while those of a new build are made, so that little of them changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from sensegraph.algorithms.graphs import Ints
from sensegraph.types import Cluster, Hierarchy


class Followed:
    """Where the nodes of a new hierarchy were in the `earlier` one; its clusters may have other members, and so ids.

    A cluster succeeds the earlier one of its level from which most of its members come.
    """

    def __init__(self, earlier: Hierarchy | None) -> None:
        self.levels: list[list[Cluster]] = []
        for cluster in earlier.clusters if earlier else ():
            while cluster.level >= len(self.levels):
                self.levels.append([])
            self.levels[cluster.level].append(cluster)
        self.succeeds: dict[str, str] = {}

    def labels(self, level: int, ids: Sequence[str]) -> Ints:
        """The earlier cluster on `level` of the nodes below it, −1 for a new one, shape (n,); empty without any.

        An earlier root says nothing of how nodes are to be parted.
        """
        home = self._homes(level)
        found = np.array([home.get(self.succeeds.get(name, name), -1) for name in ids], np.int32)
        return found if (found >= 0).any() else np.zeros(0, np.int32)

    def pass_on(self, level: int, made: Sequence[Cluster]) -> None:
        """Note which earlier clusters of `level` the new ones succeed."""
        home = self._homes(level)
        for cluster in made:
            places = (home.get(self.succeeds.get(m, m), -1) for m in cluster.members)
            shares = Counter(place for place in places if place >= 0)
            if shares:
                best = min(shares, key=lambda place: (-shares[place], place))
                self.succeeds[cluster.id] = self.levels[level][best].id

    def _homes(self, level: int) -> dict[str, int]:
        if level >= len(self.levels) - 1:
            return {}
        return {m: i for i, cluster in enumerate(self.levels[level]) for m in cluster.members}
