"""The part `aggregates` of an index: the hierarchy of LeanRAG with its vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sensegraph.index.index import Index
from sensegraph.index.manifest import MadePart
from sensegraph.index.parts import Building, Part, PartEstimate
from sensegraph.index.restricted.scope import ScopedIndex, positions_among
from sensegraph.methods.leanrag.aggregated import (
    Aggregates,
    AggregateSettings,
    keep_aggregate_keys,
    keep_aggregates,
    make_ancestry,
)
from sensegraph.runtime.results import recall_result
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

        before = earlier_aggregates(building.rt.store, building.earlier, settings)
        vectors = building.entity_vectors()
        return aggregate_all(building.graph, vectors, building.chunks, building.rt, settings, before)

    def estimate(self, foresight: Foresight, settings: AggregateSettings) -> PartEstimate:
        """Aggregates and the relations between them; without vectors they can only be grouped roughly."""
        from sensegraph.methods.leanrag.aggregates import foresee_aggregates

        return foresee_aggregates(foresight, settings, foresight.earlier(self.name))

    def read(self, index: Index) -> Aggregates:
        """The hierarchy, its records read when they are asked for."""
        made = recall_result(index.store, keep_aggregate_keys, index.manifest.parts[self.name].key)
        hierarchy = recall_result(index.store, keep_aggregates, made.hierarchy)
        return Aggregates(hierarchy, recall_result(index.store, make_ancestry, made.ancestry))

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
