"""Vector RAG: the chunks nearest to the question, and one answer from them.

paper: the SS condition (semantic search) of Edge et al. 2024, §4.1.1; G26
index: chunk → embed
query: chunks by cosine until the context is full, then one call
"""

from __future__ import annotations

from dataclasses import dataclass

from sensegraph.answering.asking import conclude_answer
from sensegraph.errors import SettingsError
from sensegraph.index.index import Index
from sensegraph.protocols import PartName, Task
from sensegraph.retrieval.arms import evidence_of, rank_by_vectors
from sensegraph.retrieval.diversifying import POOL, Diversify, check_balance, diversify_ranking
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Answer, Evidence, Question


@dataclass(frozen=True)
class Naive:
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
        check_balance(self.name, self.balance)

    def retrieve(self, question: Question, index: Index, rt: Runtime) -> Evidence:
        """The nearest chunks by cosine, best first, within the context."""
        near = rank_by_vectors(question, index, rt, self.top if self.diversify == "none" else max(self.top, POOL))
        ranked = diversify_ranking(question, near, index, rt, self.diversify, self.balance)
        return evidence_of(ranked, index, self.top, self.context_tokens)

    def answer(self, question: Question, index: Index, rt: Runtime) -> Answer:
        """One answer from the nearest chunks."""
        rt.check(self.name, self.requires)
        return conclude_answer(question, self.retrieve(question, index, rt), index, rt)
