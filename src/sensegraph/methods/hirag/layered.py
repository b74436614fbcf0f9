"""What the part `layers` of an index is stored as, by which settings it is made, and how an index looks with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from sensegraph.errors import SettingsError
from sensegraph.index.manifest import Manifest, Stretch
from sensegraph.runtime.results import step


@dataclass(frozen=True, slots=True)
class LayerSettings:
    """How layers are made; the defaults are those of huang2025 or of its authors' code where they fit.

    Clusters have about `cluster_size` members, at most twice as many; vectors are reduced to `dims` columns. With
    `membership` = soft an entity is in every cluster with a posterior above `threshold`. `stop` says what must still
    change from layer to layer by more than the share `epsilon`: the size of layers, or the sparsity of clusters (the
    paper's rule), which ends layers from the limit `sparsity` on too. `layers` bounds their number. `input_tokens`
    bounds what is read at once of one cluster, `describe_above` a description put together from several.
    """

    cluster_size: int = 20
    dims: int = 32
    membership: Literal["argmax", "soft"] = "argmax"
    threshold: float = 0.1
    stop: Literal["size", "sparsity"] = "size"
    epsilon: float = 0.05
    sparsity: float = 0.98
    layers: int = 50
    input_tokens: int = 60_000
    describe_above: int = 500
    seed: int = 0

    def __post_init__(self) -> None:
        least = {"cluster_size": 2, "dims": 1, "layers": 1, "input_tokens": 1, "describe_above": 0, "seed": 0}
        for name, bound in least.items():
            if getattr(self, name) < bound:
                raise SettingsError(f"index.layers.{name} is {getattr(self, name)}; it must be at least {bound}.")
        for name in ("threshold", "epsilon", "sparsity"):
            if not 0 <= getattr(self, name) <= 1:
                raise SettingsError(f"index.layers.{name} is {getattr(self, name)}; it must lie between 0 and 1.")


@dataclass(frozen=True, slots=True)
class LayerKeys:
    """The keys of what the part is made of, and of the settings that it was `made_of` and made by."""

    layers: str
    graph: str
    structure: str
    communities: str
    hierarchy: str
    lookups: str
    entity_vectors: str
    report_vectors: str
    made_of: str
    settings: str
    clustering: str
    clusters: tuple[int, ...] = ()
    ways: dict[str, tuple[Stretch, ...]] = field(default_factory=dict)


@step("layers.layered", version=1)
def keep_layer_keys(wholes: Sequence[LayerKeys]) -> list[LayerKeys]:
    """What the part is made of."""
    return list(wholes)


def in_place(manifest: Manifest, made: LayerKeys) -> Manifest:
    """The manifest of the same index with the larger graph in the place of its own; what tells of the own is gone."""
    parts = {name: part for name, part in manifest.parts.items() if "graph" not in part.needs}
    kept = {"chunk", *(kind for part in parts.values() for kind in part.vectors)}
    ways = {kind: ways for kind, ways in manifest.ways.items() if kind in kept} | made.ways
    return replace(
        manifest, graph=made.graph, structure=made.structure, communities=made.communities, parts=parts, ways=ways,
        clustering=made.clustering, clusters=made.clusters, hierarchy=made.hierarchy, lookups=made.lookups,
        entity_vectors=made.entity_vectors, report_vectors=made.report_vectors,
    )  # fmt: skip
