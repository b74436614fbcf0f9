"""Single retrievers, each of which ranks the chunks of an index for a question: by vectors, or by words.

Both see the index only through itself, so that a filter holds inside each of them, before anything is ranked.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sensegraph.algorithms.fusion import Ranking
from sensegraph.algorithms.ranking import select_best
from sensegraph.index.index import Index
from sensegraph.index.passages import chunk_passage
from sensegraph.index.vectors import nearest_to
from sensegraph.language.text import take_within
from sensegraph.runtime.results import take_records
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Evidence, Question


def rank_by_vectors(question: Question, index: Index, rt: Runtime, top: int) -> Ranking:
    """The `top` chunks nearest to the question by cosine; none whose cosine is not above 0."""
    query = np.asarray(rt.embedder.embed([question.sought], "query")[0], np.float32)
    positions, scores = nearest_to(query, index, rt, top)
    return Ranking("vector", positions[scores > 0], scores[scores > 0])


def rank_by_words(question: Question, index: Index, top: int) -> Ranking:
    """The `top` chunks by BM25 that share a word with the question."""
    return Ranking("bm25", *select_best(index.scores_of_words(question.sought), top))


def evidence_of(ranking: Ranking, index: Index, k: int, context_tokens: int, notes: Sequence[str] = ()) -> Evidence:
    """The first `k` chunks of a ranking as passages, as many as fit; documents are those of the whole ranking."""
    entries = take_records(index.catalogue.chunks, ranking.positions.tolist())
    kept, omitted = take_within(entries[:k], context_tokens, lambda e: e.tokens)
    chunks = index.chunks([e.id for e in kept])
    scores = ranking.scores.tolist()
    passages = tuple(chunk_passage(chunks[e.id], score) for e, score in zip(kept, scores[: len(kept)], strict=True))
    documents = tuple(dict.fromkeys(e.document for e in entries))
    left = omitted + len(entries[k:])
    return Evidence(passages, documents, sum(e.tokens for e in kept), left, tuple(notes))
