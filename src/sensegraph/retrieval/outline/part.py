"""The outline as a part of an index; what makes it is imported when it is made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sensegraph.answering.asking import for_quoting
from sensegraph.index.index import Index
from sensegraph.index.manifest import MadePart, PartEntry
from sensegraph.index.parts import Building, NoSettings, Part
from sensegraph.retrieval.outline.values import Outline
from sensegraph.runtime.results import Results, recall_result, step
from sensegraph.types import Chunk

if TYPE_CHECKING:
    from sensegraph.index.restricted.moment import TimedIndex
    from sensegraph.index.restricted.scope import ScopedIndex


@step("outline.outline", version=5)
def make_outline(wholes: Sequence[Sequence[Any]]) -> list[Outline]:
    """The outline of a corpus, from what each document adds (`Noted`)."""
    from sensegraph.retrieval.outline.making import outline_notes

    return [outline_notes(notes) for notes in wholes]


class OutlinePart(Part[Outline, NoSettings]):
    """What the corpus is about as a whole."""

    name = "outline"
    reader = "graphrag"
    stage = "beside"
    settings = NoSettings

    def build(self, building: Building, settings: NoSettings) -> MadePart:
        """The outline of all documents; empty for an engine that writes in its own words, which reads reports."""
        from sensegraph.retrieval.outline.notes import note_documents

        rt = building.rt
        if not for_quoting(rt, lambda: (True,)):
            return MadePart(PartEntry(rt.once(make_outline, (), names=("none",)).key))
        noted = rt.each(note_documents, building.spine.by_document)
        return MadePart(PartEntry(rt.once(make_outline, noted, names=noted.keys).key))

    def read(self, index: Index) -> Outline:
        """The outline."""
        return recall_result(index.store, make_outline, index.manifest.parts[self.name].key)

    def restrict_to_scope(self, value: Outline, index: ScopedIndex) -> Outline:
        """The outline of the documents inside, made again from what each of them adds."""
        from sensegraph.retrieval.outline.notes import note_documents

        if not value.notes:
            return value
        inside = [k for k, d in zip(value.notes, index.whole.catalogue.documents, strict=True) if d.id in index.inside]
        return make_outline.fn([Results(index.store, note_documents, inside)])[0]

    def restrict_to_moment(self, value: Outline, index: TimedIndex) -> Outline:
        """The outline of what the documents inside say of the time."""
        from sensegraph.retrieval.outline.notes import note_documents

        if not value.notes:
            return value
        chunks = index.chunks([entry.id for entry in index.catalogue.chunks])
        held: dict[str, list[Chunk]] = {}
        for chunk in chunks.values():
            held.setdefault(chunk.document, []).append(chunk)
        return make_outline.fn([note_documents.fn([tuple(own) for own in held.values()])])[0]


OUTLINE = OutlinePart()
