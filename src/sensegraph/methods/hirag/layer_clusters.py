"""What HiRAG's layers are made of: clusters of alike entities, as few layers as help, as little change as may be.

Huang et al. 2025, *HiRAG*, §4.1. Layer 0 are the entities of the graph; those of layer i are made of clusters of layer
i − 1.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sensegraph.algorithms.graphs import Ints
from sensegraph.algorithms.mixtures import assign_softly, of_labels
from sensegraph.algorithms.reduction import reduce_dimensions
from sensegraph.language.text import fold
from sensegraph.methods.hirag.layered import LayerSettings
from sensegraph.protocols import Vectors
from sensegraph.runtime.keys import key
from sensegraph.types import Entity, Relation


@dataclass(frozen=True, slots=True)
class Grouped:
    """A cluster of the entities below `layer`: its `members`, and the ids of what was `made` of it for that layer.

    A member that is passed on as it is was made of itself.
    """

    id: str
    layer: int
    members: tuple[str, ...]
    made: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Layers:
    """Clusters layer by layer, all summary entities, and their members' links to them, whose weight is a strength 0–10.

    `sizes` counts the entities of each layer, from layer 0; `sparsity` is that of the clusters below each other layer,
    and at last of those that were not summed up any more, where there are such.
    """

    groups: Sequence[Grouped] = ()
    entities: Sequence[Entity] = ()
    relations: Sequence[Relation] = ()
    sparsity: tuple[float, ...] = ()
    sizes: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()


def rows_of_clusters(vectors: Vectors, labels: Ints, settings: LayerSettings) -> list[list[int]]:
    """The rows of each cluster, given the label of each row, shape (n,): in one of them, or with soft membership more.

    Then it is in every one whose posterior is above the threshold, each cluster being a component of a mixture.
    """
    if settings.membership == "argmax":
        order = np.argsort(labels, kind="stable")
        return [part.tolist() for part in np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)]
    rows = reduce_dimensions(vectors, settings.dims, seed=settings.seed)
    return [part.tolist() for part in assign_softly(of_labels(rows, labels), rows, settings.threshold)]


def stops_layers(found: Sequence[float], settings: LayerSettings) -> bool:
    """Whether clusters of the last of these sparsities are not summed up any more (§4.1: a change of at most ε)."""
    if found[-1] >= settings.sparsity:
        return True
    return len(found) > 1 and abs(found[-1] - found[-2]) <= settings.epsilon * found[-2]


def summary_id(layer: int, name: str, kind: str) -> str:
    """The id of the summary entity of this name and type on a layer: no entity of another layer has it."""
    return key("summary entity", layer, fold(name), fold(kind))[:20]


class Traced:
    """Where the entities of new layers were in the `earlier` ones, so that little of them changes.

    A summary entity that is new succeeds one that is gone: of the cluster that most members of its own come from.
    """

    def __init__(self, earlier: Layers | None) -> None:
        self.groups: dict[int, list[Grouped]] = defaultdict(list)
        for group in earlier.groups if earlier else ():
            self.groups[group.layer].append(group)
        self.succeeds: dict[str, str] = {}

    def labels(self, layer: int, ids: Sequence[str]) -> Ints:
        """The earlier cluster below `layer` of these nodes, −1 for a new one, shape (n,); empty without any."""
        home = self._homes(layer)
        found = np.array([home.get(self.succeeds.get(name, name), -1) for name in ids], np.int32)
        return found if (found >= 0).any() else np.zeros(0, np.int32)

    def pass_on(self, layer: int, groups: Sequence[Grouped]) -> None:
        """Note which earlier entities of `layer` the new ones succeed."""
        home = self._homes(layer)
        for group in groups:
            places = (home.get(self.succeeds.get(m, m), -1) for m in group.members)
            shares = Counter(place for place in places if place >= 0)
            if shares:
                before = self.groups[layer][min(shares, key=lambda place: (-shares[place], place))].made
                new = [name for name in group.made if name not in before]
                self.succeeds.update(zip(new, (name for name in before if name not in group.made), strict=False))

    def _homes(self, layer: int) -> dict[str, int]:
        home: dict[str, int] = {}
        for i, group in enumerate(self.groups.get(layer, ())):
            for member in group.members:
                home.setdefault(member, i)
        return home
