"""The part `layers` of an index: the same index with HiRAG's summary entities in its graph.

Its value is an index of its own: what is built from the graph alone is not in it, what stands on the chunks is.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from sensegraph.index.index import Index
from sensegraph.index.manifest import MadePart
from sensegraph.index.parts import Building, Part, PartEstimate
from sensegraph.index.restricted.scope import ScopedIndex, graph_inside
from sensegraph.methods.hirag.layered import LayerSettings, in_place, keep_layer_keys
from sensegraph.runtime.results import recall_result
from sensegraph.types import Graph

if TYPE_CHECKING:
    from sensegraph.index.estimate import Foresight
    from sensegraph.index.restricted.moment import TimedIndex


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
