"""The part `aggregates` of an index: the hierarchy of LeanRAG with its vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sensegraph.index.index import Index
from sensegraph.index.manifest import MadePart, PartEntry
from sensegraph.index.parts import Building, Part, PartEstimate
from sensegraph.index.restricted.scope import ScopedIndex, positions_among
from sensegraph.methods.leanrag.aggregated import Aggregates, AggregateSettings, aggregates_of
from sensegraph.types import Cluster

if TYPE_CHECKING:
    from sensegraph.index.estimate import Foresight
    from sensegraph.index.restricted.moment import TimedIndex


class AggregatesPart(Part[Aggregates, AggregateSettings]):
    """Aggregates of alike entities, level by level; the vectors of both."""

    name = "aggregates"
    needs = ("graph",)
    reader = "leanrag"
    kinds = ("described", "aggregate")
    settings = AggregateSettings

    def build(self, building: Building, settings: AggregateSettings) -> MadePart:
        """Raises UnsupportedTask where the engine does not write aggregates."""
        from sensegraph.methods.leanrag.aggregates import aggregate_all, earlier_aggregates

        rt, vectors = building.rt, building.entity_vectors()
        before = earlier_aggregates(rt.store, building.earlier, settings)
        name, made, found = aggregate_all(building.graph, vectors, building.chunks, rt, settings, before)
        counts = {"aggregates": len(found.clusters), "aggregate_relations": len(found.relations)}
        return MadePart(PartEntry(name, {"described": made.described, "aggregate": made.vectors}), counts, found.notes)

    def estimate(self, foresight: Foresight, settings: AggregateSettings) -> PartEstimate:
        """Aggregates and the relations between them; without vectors they can only be grouped roughly."""
        from sensegraph.methods.leanrag.foreseen_aggregates import foresee_aggregates

        return foresee_aggregates(foresight, settings, foresight.earlier(self.name))

    def read(self, index: Index) -> Aggregates:
        """The hierarchy, its records read when they are asked for."""
        return aggregates_of(index.store, index.manifest.parts[self.name].key)

    def restrict_to_scope(self, value: Aggregates, index: ScopedIndex) -> Aggregates:
        """Aggregates that draw on nothing outside; for every other what is known of its members inside."""

        def cut(cluster: Cluster) -> Cluster | None:
            left = index.cluster_inside(cluster)
            if left is None or left is cluster:
                return left
            return replace(left, type="", chunks=tuple(c for c in cluster.chunks if c in index.chunk_ids))

        return value.within([e.id for e in index.graph.entities], cut)

    def restrict_to_moment(self, value: Aggregates, index: TimedIndex) -> Aggregates:
        """The aggregates, without the statements that rest on another time alone."""
        clusters = tuple(map(index.statements_that_hold, value.hierarchy.clusters))
        return replace(value, hierarchy=replace(value.hierarchy, clusters=clusters))

    def positions(self, kind: str, index: ScopedIndex) -> Sequence[int]:
        """Where the aggregates, or the entities, inside are among all of them."""
        if kind == "described":
            return index.positions("entity")
        whole, inside = index.whole.part(self).hierarchy, index.part(self).hierarchy
        return positions_among(whole.clusters, inside.clusters)


AGGREGATES = AggregatesPart()
