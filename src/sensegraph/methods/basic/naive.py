"""Vector RAG: the chunks nearest to the question, and one answer from them.

paper: the SS condition (semantic search) of Edge et al. 2024, §4.1.1
index: chunk → embed
query: chunks by cosine until the context is full, then one call
"""

from __future__ import annotations

from dataclasses import dataclass

from sensegraph.answering.asking import AnswersOnce
from sensegraph.errors import SettingsError
from sensegraph.index.index import Index
from sensegraph.methods import IT_MUST, check_fields
from sensegraph.protocols import PartName, Task
from sensegraph.retrieval.arms import (
    POOL,
    Diversify,
    diversify_ranking,
    evidence_of,
    rank_by_vectors,
)
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Evidence, Question


@dataclass(frozen=True)
class Naive(AnswersOnce):
    """Vector RAG. `top` chunks at most are taken, as many as `context_tokens` holds.

    `diversify` says whether each is to add to those before it, and `balance` how much its cosine counts then.
    """

    top: int = 100
    context_tokens: int = 8_000  # edge2024 §4.1.2
    diversify: Diversify = "none"
    balance: float = 0.7
    name: str = "naive"
    requires: frozenset[Task] = frozenset({"answer"})
    reads: frozenset[PartName] = frozenset()

    def __post_init__(self) -> None:
        if self.top < 1 or self.context_tokens < 1:
            raise SettingsError(
                f"naive: top ({self.top}) and context_tokens ({self.context_tokens}) must be at least 1."
            )
        check_fields(self, "balance", "be from 0 to 1", IT_MUST)

    def retrieve(self, question: Question, index: Index, rt: Runtime) -> Evidence:
        """The nearest chunks by cosine, best first, within the context."""
        near = rank_by_vectors(question, index, rt, self.top if self.diversify == "none" else max(self.top, POOL))
        ranked = diversify_ranking(question, near, index, rt, self.diversify, self.balance)
        return evidence_of(ranked, index, self.top, self.context_tokens)
