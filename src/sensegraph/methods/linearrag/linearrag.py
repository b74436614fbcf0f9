"""LinearRAG: entities spread activation through the sentences they share; the active ones start a walk to the chunks.

paper: Zhuang et al. 2025, LinearRAG, arXiv 2510.10114
index: chunk → sentences with the entities that they name (part `sentences`); no relation is needed
query: entities of the question → their best sentences → entities beside them → personalised PageRank
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import Floats, Ints, Longs
from sensegraph.algorithms.ranking import Ranking, select_best
from sensegraph.algorithms.walks import gather_entries, pagerank
from sensegraph.answering.asking import AnswersOnce
from sensegraph.index.index import Index
from sensegraph.index.vectors import asked_vector, nearest_to
from sensegraph.methods import check_fields
from sensegraph.methods.linearrag.sentences import SENTENCES, Sentences
from sensegraph.protocols import PartName, Task
from sensegraph.retrieval.arms import Comparing, by_meaning, by_text, evidence_of, nearness_of, seeds_of
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Evidence, Question

Near = Callable[[Longs], Floats]
"""How near sentences, given by position, are to the question: σ."""


@dataclass(frozen=True, slots=True, eq=False)
class Activation:
    """What became of the entities, both of shape (n,): the weight A of each, and the hop L at which it was reached.

    Both 0 where it was not; seeds are of hop 1.
    """

    weight: Floats
    hop: Ints


@dataclass(frozen=True)
class LinearRAG(AnswersOnce):
    """`iterations` T, `delta` δ, `kappa` κ, `dense` λ, `passages` w and `damping` d are the paper's.

    T − 1 times every entity of an activation from δ on gives it on through its κ best sentences. `comparing` tells how
    sentences and chunks are compared with the question: by vectors, or by words where vectors see words only. Nearness
    by words is a share of the best sentence's; then δ is the quantile `quantile` of that of the sentences of the
    question's entities, and λ is `dense_words`. `top` chunks are ranked, `read` of them are read.
    """

    iterations: int = 3
    delta: float = 0.4
    quantile: float = 0.9
    kappa: int = 3
    dense: float = 0.05
    dense_words: float = 10.0  # measured: bench/hipporag.py
    passages: float = 0.05
    damping: float = 0.5
    tolerance: float = 1e-6
    seed_floor: float = 0.5
    comparing: Comparing = "auto"
    top: int = 200
    read: int = 5
    context_tokens: int = 8_000
    name: str = "linearrag"
    requires: frozenset[Task] = frozenset({"answer"})
    reads: frozenset[PartName] = frozenset({"graph", "sentences"})

    def __post_init__(self) -> None:
        check_fields(self, "iterations kappa top read context_tokens", "be at least 1")
        check_fields(self, "damping tolerance", "lie between 0 and 1")
        check_fields(self, "delta quantile seed_floor", "lie in 0 to 1")
        check_fields(self, "dense dense_words passages", "be 0 or more")

    def retrieve(self, question: Question, index: Index, rt: Runtime) -> Evidence:
        """The chunks that the walk comes to most, best first, within the context."""
        ranking, notes = self.rank(question, index, rt)
        return evidence_of(ranking, index, self.read, self.context_tokens, notes)

    def rank(self, question: Question, index: Index, rt: Runtime) -> tuple[Ranking, tuple[str, ...]]:
        """The `top` chunks, and what has to be said; without an entity in the question, by text alone."""
        seeds = self._seeds(question, index, rt)
        if not seeds.any():
            plain = by_text(question, index, rt, self.comparing, self.top)
            return plain, (f"the question names no entity of the index: chunks were ranked by {plain.name}",)
        near, delta = self._near(question, np.flatnonzero(seeds), index, rt)
        active = spread_activation(index.part(SENTENCES), near, seeds, self.iterations, delta, self.kappa)
        reset = np.concatenate((self._passages(question, active, index, rt), active.weight))
        steps = math.ceil(math.log(self.tolerance) / math.log(self.damping))
        there = pagerank(index.part(SENTENCES).walk, reset, self.damping, steps)
        return Ranking("linearrag", *select_best(there[: len(index.catalogue.chunks)], self.top)), ()

    def _seeds(self, question: Question, index: Index, rt: Runtime) -> Floats:
        """The activation to begin with, shape (n,): 1 for an entity that is named, the cosine for one that is meant."""
        seeds = np.zeros(index.part(SENTENCES).entities)
        found = np.asarray(seeds_of(question, index, rt, 2.0), np.int64)
        if len(found):
            seeds[found] = 1.0
            return seeds
        places, scores = nearest_to(asked_vector(question, rt), index, rt, 5, "entity")
        seeds[places[scores >= self.seed_floor]] = np.minimum(scores[scores >= self.seed_floor], 1.0)
        return seeds

    def _near(self, question: Question, seeds: Longs, index: Index, rt: Runtime) -> tuple[Near, float]:
        """σ, and the δ that fits its scale."""
        known = index.part(SENTENCES)
        if by_meaning(self.comparing, rt):
            vectors, asked = index.vectors_of(rt.embedder, "sentence"), asked_vector(question, rt).astype(np.float64)
            return lambda rows: (np.asarray(vectors[rows], np.float64) * asked).sum(axis=1), self.delta
        scores = known.score(question.sought)
        scores = scores / max(scores.max(initial=0.0), 1e-300)
        start, naming = known.naming
        mine = scores[naming[gather_entries(start, seeds)[0]]]
        return lambda rows: scores[rows], float(np.quantile(mine, self.quantile)) if len(mine) else 0.0

    def _passages(self, question: Question, active: Activation, index: Index, rt: Runtime) -> Floats:
        """I(p) = w · (λ · nearness + ln(1 + Σ_e A_e · ln(1 + n(e, p)) / L_e)), shape (chunks,)."""
        known, near = index.part(SENTENCES), nearness_of(question, index, rt, self.comparing)
        per_hop = active.weight / np.maximum(active.hop, 1)
        named = np.repeat(per_hop, np.diff(known.first)) * np.log1p(known.times)
        bonus = np.log1p(np.bincount(known.chunks, weights=named, minlength=len(near)))
        share = self.dense if by_meaning(self.comparing, rt) else self.dense_words
        return np.asarray(self.passages * (share * near + bonus), np.float64)


def spread_activation(
    known: Sentences, near: Near, seeds: Floats, iterations: int, delta: float, kappa: int
) -> Activation:
    """The activation of all entities from `seeds`, shape (n,), after `iterations` − 1 rounds (§3, semantic bridging).

    In each round every entity of a value from `delta` on takes its `kappa` nearest sentences that no earlier round
    took, and gives every other entity of such a sentence its own value times the sentence's nearness; what is below
    `delta` is dropped. A sums what an entity gets; the largest of it is its value in the next round.
    """
    weight, value = seeds.astype(np.float64), seeds.astype(np.float64)
    hop = (seeds > 0).astype(np.int32)
    used = np.zeros(len(known), np.bool_)
    for t in range(1, iterations):
        active = np.flatnonzero((value >= delta) & (value > 0))
        owners, chosen, sigma = _choose_sentences(known, near, active, used, kappa)
        places, sizes = gather_entries(known.start, chosen)
        giver, taker = np.repeat(owners, sizes), np.asarray(known.held[places], np.int64)
        gift = value[giver] * np.repeat(sigma, sizes)
        kept = (giver != taker) & (gift >= delta) & (gift > 0)
        taker, gift = taker[kept], gift[kept]
        weight = weight + np.bincount(taker, weights=gift, minlength=len(seeds))
        value = np.zeros(len(seeds))
        np.maximum.at(value, taker, gift)
        hop[(hop == 0) & (value > 0)] = t + 1
        used[chosen] = True
    return Activation(weight, hop)


def _choose_sentences(
    known: Sentences, near: Near, active: Longs, used: NDArray[np.bool_], kappa: int
) -> tuple[Longs, Longs, Floats]:
    """The nearest unused sentences of every active entity: the entities, beside each a sentence, and its nearness."""
    start, naming = known.naming
    places, sizes = gather_entries(start, active)
    owners, found = np.repeat(active, sizes), np.asarray(naming[places], np.int64)
    owners, found = owners[~used[found]], found[~used[found]]
    sigma = near(found)
    order = np.lexsort((found, -sigma, owners))
    owners, found, sigma = owners[order], found[order], sigma[order]
    first = (np.arange(len(owners)) - np.searchsorted(owners, owners)) < kappa
    return owners[first], found[first], sigma[first]
