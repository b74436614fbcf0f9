"""Vector RAG: the chunks nearest to the question, and one answer from them.

paper: the SS condition (semantic search) of Edge et al. 2024, §4.1.1; G26
index: chunk → embed
query: chunks by cosine until the context is full, then one call
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sensegraph.errors import SettingsError
from sensegraph.protocols import Part, Task
from sensegraph.results import at
from sensegraph.runtime import Runtime
from sensegraph.steps.index import Index
from sensegraph.steps.language import conclude
from sensegraph.steps.neighbours import nearest_to
from sensegraph.steps.passages import chunk_passage
from sensegraph.text import within
from sensegraph.types import Answer, Evidence, Question


@dataclass(frozen=True)
class Naive:
    """Vector RAG. `top` chunks at most are taken, as many as `context_tokens` holds."""

    top: int = 100
    context_tokens: int = 8_000  # edge2024 §4.1.2
    name: str = "naive"
    requires: frozenset[Task] = frozenset({"answer"})
    reads: frozenset[Part] = frozenset()

    def __post_init__(self) -> None:
        if self.top < 1 or self.context_tokens < 1:
            raise SettingsError(
                f"naive: top ({self.top}) and context_tokens ({self.context_tokens}) must be at least 1."
            )

    def retrieve(self, question: Question, index: Index, rt: Runtime) -> Evidence:
        """The nearest chunks by cosine, best first, within the context."""
        query = rt.embedder.embed([question.sought], "query")[0]
        positions, scores = nearest_to(np.asarray(query, np.float32), index, rt, self.top)
        entries = at(index.catalogue.chunks, [int(i) for i in positions])
        near = [(e.id, float(s)) for e, s in zip(entries, scores, strict=True) if s > 0]
        sizes = {e.id: e.tokens for e in entries}
        kept, omitted = within(near, self.context_tokens, lambda pair: sizes[pair[0]])
        chunks = index.chunks([name for name, _ in kept])
        documents = tuple(dict.fromkeys(e.document for e, s in zip(entries, scores, strict=True) if s > 0))
        passages = tuple(chunk_passage(chunks[name], score) for name, score in kept)
        return Evidence(passages, documents, sum(sizes[name] for name, _ in kept), omitted)

    def answer(self, question: Question, index: Index, rt: Runtime) -> Answer:
        """One answer from the nearest chunks."""
        rt.check(self.name, self.requires)
        return conclude(question, self.retrieve(question, index, rt), index, rt)
