"""How near chunks are to a question, by vectors where a model makes them, else by words: the text prior of a walk."""

from __future__ import annotations

from typing import Literal, TypeVar

import numpy as np

from sensegraph.algorithms.fusion import Ranking
from sensegraph.algorithms.graphs import Floats
from sensegraph.index.index import Index
from sensegraph.index.vectors import adds_meaning, nearest_to
from sensegraph.protocols import Vectors
from sensegraph.retrieval.arms import rank_by_vectors, rank_by_words
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Question

Comparing = Literal["auto", "vectors", "words"]
T = TypeVar("T", bound=str)

_NEAR = 1000  # chunks whose cosines are compared; to all others the question is as far as to the last of them


def settle_comparison(how: T, rt: Runtime, *, vectors: T, words: T) -> T:
    """The setting `how`, where `auto` stands for `vectors` if they find more than full text does, else for `words`."""
    if how != "auto":
        return how
    return vectors if adds_meaning(rt.embedder) else words


def by_meaning(how: str, rt: Runtime) -> bool:
    """Whether texts are compared by vectors: `auto` does so unless they see words only, as words do."""
    return settle_comparison(how, rt, vectors="vectors", words="words") == "vectors"


def asked_vector(question: Question, rt: Runtime) -> Vectors:
    """The vector of a question, shape (dim,)."""
    return np.asarray(rt.embedder.embed([question.sought], "query")[0], np.float32)


def text_closeness(question: Question, index: Index, rt: Runtime, how: Comparing) -> Floats:
    """How near every chunk is to the question, from 0 for the farthest to 1 for the nearest, shape (chunks,).

    All 0 where all are equally near.
    """
    if not by_meaning(how, rt):
        return scale_scores(index.scores_of_words(question.sought))
    near, scores = nearest_to(asked_vector(question, rt), index, rt, _NEAR)
    found = np.full(len(index.catalogue.chunks), scores.min(initial=1.0))
    found[near] = scores
    return scale_scores(found)


def scale_scores(scores: Floats) -> Floats:
    """Min–max normalised scores; all 0 where they are equal."""
    low, high = scores.min(initial=np.inf), scores.max(initial=-np.inf)
    return (scores - low) / (high - low) if high > low else np.zeros(len(scores))


def by_text(question: Question, index: Index, rt: Runtime, how: Comparing, top: int) -> Ranking:
    """The `top` chunks by text alone: what a walk without a start falls back on."""
    return rank_by_vectors(question, index, rt, top) if by_meaning(how, rt) else rank_by_words(question, index, top)
