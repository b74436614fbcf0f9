"""The part `facts` of an index: what the relations state, chunk by chunk, which HippoRAG reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sensegraph.index.index import Index
from sensegraph.index.manifest import MadePart, PartEntry
from sensegraph.index.parts import Building, Part, PartEstimate
from sensegraph.methods.hipporag.facts import (
    Facts,
    FactSettings,
    embed_facts,
    fact_texts,
    find_facts,
    make_facts,
    name_texts,
)
from sensegraph.runtime.results import recall_result

if TYPE_CHECKING:
    from sensegraph.index.estimate import Foresight
    from sensegraph.index.restricted.scope import ScopedIndex


class FactsPart(Part[Facts, FactSettings]):
    """Facts, the synonyms among the entities' names, and the vectors of facts."""

    name = "facts"
    needs = ("graph",)
    reader = "hipporag"
    kinds = ("fact",)
    settings = FactSettings

    def build(self, building: Building, settings: FactSettings) -> MadePart:
        """The facts of the graph, and their vectors unless the embedder sees words only."""
        rt = building.rt
        found = find_facts(building.graph, building.chunks, building.chunks_key, rt, settings)
        vectors = embed_facts(building.graph, found, rt, settings)
        return MadePart(PartEntry(found.key, {"fact": vectors} if vectors else {}))

    def estimate(self, foresight: Foresight, settings: FactSettings) -> PartEstimate:
        """The texts of names and facts."""
        return PartEstimate(texts=[*name_texts(foresight.graph), *fact_texts(foresight.graph, settings)])

    def read(self, index: Index) -> Facts:
        """The facts, mapped."""
        return recall_result(index.store, make_facts, index.manifest.parts[self.name].key)

    def restrict_to_scope(self, value: Facts, index: ScopedIndex) -> Facts:
        """What the chunks inside state."""
        return value.within(index.positions("entity"), index.places)

    def positions(self, kind: str, index: ScopedIndex) -> Sequence[int]:
        """The numbers of the facts inside."""
        return [int(i) for i in index.part(self).number]


FACTS = FactsPart()
