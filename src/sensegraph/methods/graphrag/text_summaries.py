"""Text summarisation: map-reduce over the source texts themselves, with no graph.

paper: the TS condition of Edge et al. 2024, §4.1.1
index: chunk
query: map-reduce over all chunks, shuffled (§3.1.6 with sources in the place of reports)
"""

from __future__ import annotations

from dataclasses import dataclass

from sensegraph.answering.asking import AnswersOnce, map_reduce
from sensegraph.errors import SettingsError
from sensegraph.index.index import Index
from sensegraph.index.passages import chunk_passage
from sensegraph.protocols import PartName, Task
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Evidence, Question


@dataclass(frozen=True)
class TS(AnswersOnce):
    """Map-reduce over every chunk: thorough, and as expensive as reading the whole corpus for each question."""

    context_tokens: int = 8_000  # §4.1.2
    seed: int = 0  # of the shuffle
    name: str = "ts"
    requires: frozenset[Task] = frozenset({"rate", "answer"})
    reads: frozenset[PartName] = frozenset()

    def __post_init__(self) -> None:
        if self.context_tokens < 1:
            raise SettingsError(f"ts: context_tokens ({self.context_tokens}) must be at least 1.")

    def retrieve(self, question: Question, index: Index, rt: Runtime) -> Evidence:
        """Points from every batch of chunks, best first, within the context."""
        names = [entry.id for entry in index.catalogue.chunks]
        chunks = index.chunks(names)
        passages = [chunk_passage(chunks[name]) for name in names]
        return map_reduce(question, passages, index, rt, budget=self.context_tokens, seed=self.seed, place="chunks")
