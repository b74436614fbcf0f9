"""Groups of an earlier build while those of a new one are made, level by level, so that little of them changes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from sensegraph.algorithms.graphs import NOWHERE, Ints
from sensegraph.algorithms.ranking import Stack
from sensegraph.index.hierarchy.similar_clusters import Grouping, group_vectors
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import Result
from sensegraph.runtime.runtime import Runtime


class EarlierGroups:
    """Where the nodes of new levels were in the `earlier` ones: groups as (level, members, what was made of them).

    What is new succeeds what is gone: of the group that most members of its own come from.
    """

    def __init__(self, earlier: Iterable[tuple[int, Sequence[str], Sequence[str]]]) -> None:
        self.made: dict[int, list[Sequence[str]]] = defaultdict(list)
        self.home: dict[int, dict[str, int]] = defaultdict(dict)
        self.succeeds: dict[str, str] = {}
        for level, members, made in earlier:
            for member in members:  # of several groups its first
                self.home[level].setdefault(member, len(self.made[level]))
            self.made[level].append(made)

    def labels(self, level: int, ids: Iterable[str]) -> Ints:
        """The earlier group on `level` of the nodes below it, −1 for a new one, shape (n,); empty without any."""
        home = self.home[level]
        found = np.array([home.get(self.succeeds.get(name, name), NOWHERE) for name in ids], np.int32)
        return found if (found >= 0).any() else np.zeros(0, np.int32)

    def pass_on(self, level: int, members: Iterable[str], made: Sequence[str]) -> None:
        """Note which earlier nodes succeed what was `made` of a new group of `level`."""
        if shares := Counter(place for place in self.labels(level, members).tolist() if place >= 0):
            before = self.made[level][min(shares, key=lambda place: (-shares[place], place))]
            new = [name for name in made if name not in before]
            self.succeeds.update(zip(new, (name for name in before if name not in made), strict=False))

    def group_anew(
        self, level: int, ids: Iterable[str], vectors: Result[Stack], rt: Runtime, size: int, dims: int, seed: int
    ) -> Grouping:
        """The groups of the nodes with these vectors, about `size` in each, as far as may be those from before."""
        start = self.labels(level, ids)
        names = (vectors.key, key(start.tolist()))
        return rt.once(
            group_vectors, lambda: (vectors.value, start), names=names, size=size, dims=dims, seed=seed
        ).value
