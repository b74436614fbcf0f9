"""The part `layers` of an index: the same index with HiRAG's summary entities in its graph.

Its value is an index of its own: what is built from the graph alone is not in it, what stands on the chunks is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from sensegraph.errors import SettingsError
from sensegraph.index.index import Index
from sensegraph.index.manifest import MadePart, Manifest, Stretch
from sensegraph.index.parts import Building, Part, PartEstimate
from sensegraph.index.restricted.scope import ScopedIndex, graph_inside
from sensegraph.runtime.results import recall_result, step
from sensegraph.types import Graph

if TYPE_CHECKING:
    from sensegraph.index.estimate import Foresight
    from sensegraph.index.restricted.moment import TimedIndex


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


class LayersPart(Part[Index, LayerSettings]):
    """Summary entities above the entities of the graph, and communities and reports over both."""

    name = "layers"
    needs = ("graph",)
    reader = "hirag"
    stage = "over"
    settings = LayerSettings

    def build(self, building: Building, settings: LayerSettings) -> MadePart:
        """Raises UnsupportedTask where the engine writes no summary entities or reports."""
        from sensegraph.methods.hirag.layers import build_layers

        return build_layers(building, settings)

    def estimate(self, foresight: Foresight, settings: LayerSettings) -> PartEstimate:
        """Summary entities, and the graph with them, on whose communities reports are written too."""
        from sensegraph.methods.hirag.layers import foresee_layers

        return foresee_layers(foresight, settings, foresight.earlier(self.name))

    def read(self, index: Index) -> Index:
        """The index with summary entities in its graph."""
        made = recall_result(index.store, keep_layer_keys, index.manifest.parts[self.name].key)
        return Index(index.store, in_place(index.manifest, made), index.given)

    def restrict_to_scope(self, value: Index, index: ScopedIndex) -> Index:
        """What is inside, and the summary entities that rest on nothing outside."""
        return ScopedLayers(value, index.inside)

    def restrict_to_moment(self, value: Index, index: TimedIndex) -> Index:
        """What is inside and may hold, with summary entities in its graph."""
        everything = len(index.inside) == len(index.whole.catalogue.documents)
        return type(index)(index.whole.part(self) if everything else value, index.inside, index.spans, index.said)


class ScopedLayers(ScopedIndex):
    """The part of an index with summary entities in its graph that the documents `inside` make."""

    @cached_property
    def graph(self) -> Graph:
        """What the chunks inside say, and the summary entities all of whose chunks are inside."""
        whole, lost = self.whole.graph, self._lost
        entities = tuple(e for e in whole.entities if e.id not in lost)
        relations = tuple(r for r in whole.relations if r.source not in lost and r.target not in lost)
        return graph_inside(Graph(entities, relations, whole.claims), self.chunk_ids)

    @cached_property
    def _lost(self) -> frozenset[str]:
        """The summary entities that rest on something outside."""
        summaries = (e for e in self.whole.graph.entities if e.level)
        return frozenset(e.id for e in summaries if not self.chunk_ids.issuperset(e.chunks))

    def notes(self) -> tuple[str, ...]:
        """How many summary entities and reports had to be left out."""
        summaries = [e for e in self.whole.graph.entities if e.level and not self.chunk_ids.isdisjoint(e.chunks)]
        lost = sum(e.id in self._lost for e in summaries)
        said = f"{lost} of {len(summaries)} summary entities rest on documents outside the filter and were left out"
        return (*([said] if lost else []), *self._lost_reports())


LAYERS = LayersPart()
