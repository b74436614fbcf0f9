"""The part `sentences` of an index: the sentences with the entities they name, which LinearRAG reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sensegraph.index.index import Index
from sensegraph.index.manifest import MadePart, PartEntry
from sensegraph.index.parts import Building, NoSettings, Part, PartEstimate
from sensegraph.methods.linearrag.sentences import (
    Sentences,
    embed_sentences,
    find_sentences,
    sentence_graph,
    sentence_texts,
)
from sensegraph.runtime.results import recall_result

if TYPE_CHECKING:
    from sensegraph.index.estimate import Foresight
    from sensegraph.index.restricted.scope import ScopedIndex


class SentencesPart(Part[Sentences, NoSettings]):
    """Sentences that name an entity, and their vectors."""

    name = "sentences"
    needs = ("graph",)
    reader = "linearrag"
    kinds = ("sentence",)
    settings = NoSettings

    def build(self, building: Building, settings: NoSettings) -> MadePart:
        """The sentences of all chunks, and their vectors unless the embedder sees words only; no engine is asked."""
        rt = building.rt
        found = find_sentences(building.graph, building.chunks, building.chunks_key, rt)
        vectors = embed_sentences(found, building.chunks, rt)
        return MadePart(PartEntry(found.key, {"sentence": vectors} if vectors else {}))

    def estimate(self, foresight: Foresight, settings: NoSettings) -> PartEstimate:
        """The texts of the sentences."""
        chunks = foresight.chunks
        return PartEstimate(texts=sentence_texts(sentence_graph.fn([(foresight.graph, chunks)])[0], chunks))

    def read(self, index: Index) -> Sentences:
        """The sentences, mapped."""
        return recall_result(index.store, sentence_graph, index.manifest.parts[self.name].key)

    def restrict_to_scope(self, value: Sentences, index: ScopedIndex) -> Sentences:
        """The sentences of the chunks inside."""
        return value.within(index.positions("entity"), index.places)

    def positions(self, kind: str, index: ScopedIndex) -> Sequence[int]:
        """The numbers of the sentences inside."""
        return [int(i) for i in index.part(self).number]


SENTENCES = SentencesPart()
