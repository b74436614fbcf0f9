"""Full text: the chunks whose words speak most for the question, and one answer from them.

paper: Robertson and Zaragoza 2009, The Probabilistic Relevance Framework: BM25 and Beyond
index: chunk → words
query: chunks by BM25 until the context is full, then one call
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
    rank_by_words,
)
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Evidence, Question


@dataclass(frozen=True)
class BM25(AnswersOnce):
    """Full-text search. `k` chunks at most are taken, as many as `context_tokens` holds.

    `diversify` says whether each is to add to those before it, and `balance` how much its score counts then.
    """

    k: int = 10
    context_tokens: int = 8_000
    diversify: Diversify = "none"
    balance: float = 0.7
    name: str = "bm25"
    requires: frozenset[Task] = frozenset({"answer"})
    reads: frozenset[PartName] = frozenset()

    def __post_init__(self) -> None:
        if self.k < 1 or self.context_tokens < 1:
            raise SettingsError(f"bm25: k ({self.k}) and context_tokens ({self.context_tokens}) must be at least 1.")
        check_fields(self, "balance", "be from 0 to 1", IT_MUST)

    def retrieve(self, question: Question, index: Index, rt: Runtime) -> Evidence:
        """The chunks that share words with the question, best first, within the context."""
        found = rank_by_words(question, index, max(POOL, self.k))
        ranked = diversify_ranking(question, found, index, rt, self.diversify, self.balance)
        return evidence_of(ranked, index, self.k, self.context_tokens)
