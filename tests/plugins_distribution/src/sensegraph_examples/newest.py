"""A method: the chunks that share a word with the question, those of the newest documents first."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sensegraph.answering.asking import conclude_answer
from sensegraph.index.index import Index
from sensegraph.retrieval.arms import evidence_of, rank_by_words
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Answer, Evidence, Question


@dataclass(frozen=True)
class Newest:
    """`top` chunks at most, as many as `context_tokens` holds. The fields are its settings, in [methods.newest]."""

    top: int = 5
    context_tokens: int = 4_000
    name: str = "newest"
    requires: frozenset[str] = frozenset({"answer"})  # tasks of the engine
    reads: frozenset[str] = frozenset()  # parts of the index besides chunks, their vectors and their words

    def retrieve(self, question: Question, index: Index, rt: Runtime) -> Evidence:
        """Ranked passages."""
        found = rank_by_words(question, index, 50)
        times = {d.id: d.time for d in index.catalogue.documents}
        chunks = list(index.catalogue.chunks)
        order = sorted(range(len(found.positions)), key=lambda i: times[chunks[found.positions[i]].document])[::-1]
        places = np.array(order, dtype=np.int64)
        ranked = replace(found, positions=found.positions[places], scores=found.scores[places])
        return evidence_of(ranked, index, self.top, self.context_tokens)

    def answer(self, question: Question, index: Index, rt: Runtime) -> Answer:
        """An answer with citations."""
        rt.check(self.name, self.requires)
        return conclude_answer(question, self.retrieve(question, index, rt), index, rt)
