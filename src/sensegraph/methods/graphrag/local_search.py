"""GraphRAG's local search: an answer from the neighbourhood of the entities that a question is about.

paper: Edge et al. 2024 builds the index; the search is that of the authors' implementation, release 3.3.0 (N56, N62)
index: chunk → extract → merge → communities → reports
query: entities named or meant → reports, relations, claims, chunks around them → one call
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sensegraph.answering.asking import conclude_answer
from sensegraph.index.index import Index
from sensegraph.protocols import PartName, Task
from sensegraph.retrieval.neighbourhood import Around, Shares, read_around
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Answer, Evidence, Question


@dataclass(frozen=True)
class Local:
    """Local search. The shares of `context_tokens` for text, reports and history leave the rest to the graph."""

    context_tokens: int = 12_000
    text: float = 0.5  # N56
    reports: float = 0.1
    history: float = 0.1
    top_entities: int = 10
    top_relations: int = 10
    hops: int = 1
    name: str = "local"
    requires: frozenset[Task] = frozenset({"answer"})
    reads: frozenset[PartName] = frozenset({"graph"})

    def __post_init__(self) -> None:
        self._shares.check(self.name)

    def retrieve(self, question: Question, index: Index, rt: Runtime) -> Evidence:
        """Reports, entities, relations, claims and chunks, in this order, within the context."""
        return self._around(question, index, rt).evidence

    def answer(self, question: Question, index: Index, rt: Runtime) -> Answer:
        """One answer from the neighbourhood."""
        rt.check(self.name, self.requires)
        found = self._around(question, index, rt)
        return conclude_answer(replace(question, history=found.history), found.evidence, index, rt)

    def _around(self, question: Question, index: Index, rt: Runtime) -> Around:
        return read_around(question, index, rt, self._shares)

    @property
    def _shares(self) -> Shares:
        return Shares(
            self.context_tokens, self.text, self.reports, self.history, self.top_entities, self.top_relations, self.hops
        )
