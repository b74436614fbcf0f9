"""What a method found, in the order of a reranker: the same for every method, after it and before the answer.

Only passages of kind chunk are read and change places, among the places that chunks had; the documents behind them
change places with them. Scores are remembered: one question over the same texts is asked once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from sensegraph.errors import EndpointError
from sensegraph.index.index import Index
from sensegraph.index.passages import documents_behind
from sensegraph.protocols import Reranker
from sensegraph.runtime.results import step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Evidence, Question

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Candidates:
    """A question and the texts that may help, in the order that they were found in.

    All are scored together: some models look at the others when they score one.
    """

    question: str
    texts: tuple[str, ...]


@step("reranking.score", version=2, uses="reranker", batch=1)
def score_candidates(asked: Sequence[Candidates], *, reranker: Reranker) -> list[list[float]]:
    """How well each text of each question fits, higher is better. Raises EndpointError for too few scores."""
    listed = []
    for one in asked:
        found = reranker.scores(one.question, one.texts)
        if len(found) != len(one.texts):
            raise EndpointError(f"{reranker.name} gave {len(found)} scores for {len(one.texts)} texts; try again.")
        listed.append(found)
    return listed


def rerank_evidence(question: Question, evidence: Evidence, index: Index, rt: Runtime) -> Evidence:
    """The evidence in the order of the runtime's reranker, with a note; as it is where there is none.

    The first `reranker.top` chunks are ordered, and have the reranker's scores; what follows stays behind them.
    """
    reranker = rt.reranker
    if reranker is None or not evidence.passages:
        return evidence
    where = [i for i, p in enumerate(evidence.passages) if p.kind == "chunk"]
    if not where:
        note = f"{reranker.name} reranked nothing: the evidence holds no chunks"
        return replace(evidence, notes=(*evidence.notes, note))
    read = [evidence.passages[i] for i in where[: reranker.top]]
    found = rt.once(score_candidates, Candidates(question.sought, tuple(p.text for p in read))).value
    ordered = sorted(zip(read, found, strict=True), key=lambda pair: -pair[1])  # of equal ones the earlier stays first
    best = [replace(p, score=s) for p, s in ordered]
    passages = _place_ordered(evidence.passages, where, best)
    note = f"{reranker.name} reranked {len(read)} of {len(where)} chunks"
    place = {name: i for i, name in enumerate(evidence.documents)}
    behind = [name for name in documents_behind(best, index) if name in place]
    documents = _place_ordered(evidence.documents, sorted(place[name] for name in behind), behind)
    return replace(evidence, passages=passages, documents=documents, notes=(*evidence.notes, note))


def _place_ordered(items: Sequence[T], where: Sequence[int], ordered: Sequence[T]) -> tuple[T, ...]:
    """`items`, with what is `ordered` at the first of the positions `where`."""
    new = dict(zip(where, ordered, strict=False))
    return tuple(new.get(i, item) for i, item in enumerate(items))
