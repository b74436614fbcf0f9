"""Relevance tests: one question, one chunk, yes or no (lazygraphrag §3, §6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sensegraph.algorithms.deepening import Terrain
from sensegraph.answering.asking import test_contexts
from sensegraph.answering.quoting import for_quoting
from sensegraph.index.index import Index
from sensegraph.index.passages import chunk_passage
from sensegraph.language.noun_phrases import Reader
from sensegraph.language.text import collect_terms, split_sentences
from sensegraph.methods.lazygraphrag.concepts import Concepts
from sensegraph.methods.lazygraphrag.concepts_part import CONCEPTS
from sensegraph.runtime.results import take_records
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Chunk, Context, Inquiry, Passage, Question

Unit = Literal["chunk", "sentence"]
_LINKED = 20  # concepts beside the question's that an engine which quotes is told


@dataclass(frozen=True, slots=True)
class Trial:
    """One relevance test: which chunk was tested for which (sub-)question, and the verdict."""

    chunk: str
    question: str
    relevant: bool


@dataclass(frozen=True)
class Tester:
    """Tests chunks for one question; what was tested before is remembered.

    With `unit` = sentence only the sentence of a chunk that shares most words with the question is shown.
    """

    question: Question
    unit: Unit
    index: Index
    rt: Runtime

    def __call__(self, positions: list[int]) -> list[bool]:
        """The verdicts on the chunks at these positions."""
        names = [entry.id for entry in take_records(self.index.catalogue.chunks, positions)]
        chunks = self.index.chunks(names)
        linked = for_quoting(self.rt, self._linked)
        return list(self.rt.each(test_contexts, [self._inquiry(chunks[name], linked) for name in names]))

    def _inquiry(self, chunk: Chunk, linked: Sequence[Passage]) -> Inquiry:
        """Nothing but the question and the passage, so that a verdict outlasts changes elsewhere in the corpus."""
        passage = chunk_passage(chunk)
        if self.unit == "sentence":
            wanted = collect_terms(self.question.text)
            spans: Sequence[tuple[int, int]] = split_sentences(chunk.text) or [(0, len(chunk.text))]
            first, last = max(spans, key=lambda s: (len(wanted & collect_terms(chunk.text[s[0] : s[1]])), -s[0]))
            passage = Passage("chunk", chunk.id, chunk.text[first:last], title=chunk.title)
        return Inquiry(self.question.text, Context((passage, *linked)), history=self.question.history)

    def _linked(self) -> list[Passage]:
        """The concepts beside those of the question, for an engine that compares words (lazygraphrag §6)."""
        concepts = self.index.part(CONCEPTS)
        own = [i for phrase in Reader("proper").phrases(self.question.text) if (i := concepts.find(phrase)) is not None]
        near = dict.fromkeys(j for i in own for j in concepts.around(i).tolist())
        names = concepts.names(list(near)[:_LINKED])
        return [Passage("concept", name, "", title=name) for name in names]


def terrain_of(concepts: Concepts) -> Terrain:
    """What a search for chunks sees of a concept graph."""
    return Terrain(
        concepts.start, concepts.held, concepts.homes, concepts.parent, concepts.document, concepts.same
    )  # fmt: skip
