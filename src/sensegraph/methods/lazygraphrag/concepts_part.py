"""The part `concepts` of an index: the concept graph that LazyGraphRAG reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sensegraph.index.index import Index
from sensegraph.index.manifest import MadePart, PartEntry
from sensegraph.index.parts import Building, Part
from sensegraph.methods.lazygraphrag.concepts import (
    Concepts,
    ConceptSettings,
    concept_graph,
    make_concepts,
    pruning_notes,
)
from sensegraph.runtime.results import recall_result

if TYPE_CHECKING:
    from sensegraph.index.restricted.scope import ScopedIndex


class ConceptsPart(Part[Concepts, ConceptSettings]):
    """Noun phrases that occur together, and their communities."""

    name = "concepts"
    reader = "lazygraphrag"
    stage = "beside"
    settings = ConceptSettings

    def build(self, building: Building, settings: ConceptSettings) -> MadePart:
        """The concept graph of all chunks; no engine is asked."""
        found = concept_graph(building.spine.by_document, building.rt, settings)
        return MadePart(PartEntry(found.key), notes=pruning_notes(found.value))

    def read(self, index: Index) -> Concepts:
        """The concept graph, mapped."""
        return recall_result(index.store, make_concepts, index.manifest.parts[self.name].key)

    def restrict_to_scope(self, value: Concepts, index: ScopedIndex) -> Concepts:
        """The concepts of the chunks inside."""
        return value.within(np.asarray(index.places, np.int64))


CONCEPTS = ConceptsPart()
