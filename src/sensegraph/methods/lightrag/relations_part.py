"""The part `relations` of an index: the vectors of the graph's relations, by which LightRAG looks for themes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sensegraph.index.index import Index
from sensegraph.index.manifest import MadePart, PartEntry
from sensegraph.index.parts import Building, NoSettings, Part, PartEstimate
from sensegraph.index.restricted.scope import ScopedIndex, positions_among
from sensegraph.index.vectors import embed_records
from sensegraph.runtime.keys import key
from sensegraph.types import Graph, Relation

if TYPE_CHECKING:
    from sensegraph.index.estimate import Foresight


class RelationsPart(Part[Sequence[Relation], NoSettings]):
    """The relations of the graph, and their vectors."""

    name = "relations"
    needs = ("graph",)
    reader = "lightrag"
    kinds = ("relation",)
    settings = NoSettings

    def build(self, building: Building, settings: NoSettings) -> MadePart:
        """The vectors of the relations' texts."""
        graph = building.graph
        made = embed_records(lambda: relation_texts(graph.value), building.rt, name=key("relations", graph.key))
        return MadePart(PartEntry(made.key, {"relation": made.key}))

    def estimate(self, foresight: Foresight, settings: NoSettings) -> PartEstimate:
        """The texts of the relations."""
        return PartEstimate(texts=relation_texts(foresight.graph))

    def read(self, index: Index) -> Sequence[Relation]:
        """The relations that the vectors are of."""
        return index.graph.relations

    def restrict_to_scope(self, value: Sequence[Relation], index: ScopedIndex) -> Sequence[Relation]:
        """The relations inside."""
        return index.graph.relations

    def positions(self, kind: str, index: ScopedIndex) -> Sequence[int]:
        """Where the relations inside are among all of them."""
        return positions_among(index.whole.graph.relations, index.graph.relations)


def relation_texts(graph: Graph) -> list[str]:
    """What is embedded of relations: the label where there is one, the names of the ends, the description."""
    names = {e.id: e.name for e in graph.entities}
    return [
        "\n".join(part for part in (r.label, names[r.source], names[r.target], r.description) if part)
        for r in graph.relations
    ]


RELATIONS = RelationsPart()
