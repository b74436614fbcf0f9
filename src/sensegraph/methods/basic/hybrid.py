"""Hybrid retrieval: vectors, full text and the graph each rank the chunks; one ranking is made of theirs.

paper: reciprocal rank fusion, Cormack et al. 2009; the walk with a text prior, Gutiérrez et al. 2025 (HippoRAG 2), §3
index: chunk → embed, words, extract → merge
query: up to three rankings → fusion → chunks until the context is full, then one call
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from sensegraph.algorithms.ranking import Ranking, by_ranks, by_scores, by_shares, near_best
from sensegraph.answering.asking import AnswersOnce
from sensegraph.errors import SettingsError
from sensegraph.index.index import Index
from sensegraph.methods import IT_MUST, check_fields
from sensegraph.protocols import PartName, Task
from sensegraph.retrieval.arms import (
    Diversify,
    Walk,
    diversify_ranking,
    evidence_of,
    rank_by_graph,
    rank_by_vectors,
    rank_by_walk,
    rank_by_words,
)
from sensegraph.runtime.results import take_records
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Evidence, Question

Fusion = Literal["prior", "rrf", "minmax", "quota"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where one retriever ranks a chunk; ranks start at 1."""

    arm: str
    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that was found, by id, with its fused score and why it is there: its place in every list that has it."""

    chunk: str
    score: float
    places: tuple[Place, ...]


@dataclass(frozen=True)
class Hybrid(AnswersOnce):
    """`vector`, `bm25` and `graph` are the lengths of the lists; the weights are theirs, and 0 leaves a list out.

    `fusion` = prior lets a walk over chunks and entities restart weakly from the text's ranking, and needs the graph:
    without one, rrf of vectors and words is taken, and noted. `rrf` adds weight / (`c` + rank), `minmax` adds weighted
    scores, `quota` shares out the places. The weight of the vectors fits those of the offline embedder, which see
    words too; with vectors of a model start from 1. Weights 1, 1, 1 and rrf are the plain fusion.
    `diversify` says whether each chunk is to add to those before it, and `balance` how much its score counts then.
    """

    vector: int = 20
    bm25: int = 10
    graph: int = 20
    hops: int = 1
    c: float = 60.0
    vector_weight: float = 0.1  # measured: bench/hybrid.py
    bm25_weight: float = 1.0
    graph_weight: float = 1.0
    fusion: Fusion = "prior"
    text_share: float = 0.3  # of the walk's start: the weak prior
    damping: float = 0.7
    seed_floor: float = 0.5
    k: int = 10
    context_tokens: int = 8_000
    diversify: Diversify = "none"
    balance: float = 0.7
    name: str = "hybrid"
    requires: frozenset[Task] = frozenset({"answer"})
    reads: frozenset[PartName] = frozenset({"graph"})
    can_miss: ClassVar[frozenset[PartName]] = frozenset({"graph"})

    def __post_init__(self) -> None:
        check_fields(self, "vector bm25 graph hops k context_tokens", "be at least 1")
        if min(weights := (self.vector_weight, self.bm25_weight, self.graph_weight)) < 0 or not any(weights):
            raise SettingsError(f"hybrid: weights must not be negative, and one must be above 0, not {weights}.")
        if self.c < 0 or not 0 <= self.text_share <= 1 or not 0 <= self.damping < 1:
            raise SettingsError(
                f"hybrid: c ({self.c}) must not be negative, text_share ({self.text_share}) lie in 0 to 1, and damping "
                f"({self.damping}) in 0 to below 1."
            )
        check_fields(self, "balance", "be from 0 to 1", IT_MUST)

    def retrieve(self, question: Question, index: Index, rt: Runtime) -> Evidence:
        """The fused chunks, best first, within the context; the notes say what they were fused from."""
        fused, lists, notes = self._fused(question, index, rt)
        found = ", ".join(f"{r.name} {len(r)}" for r in lists)
        return evidence_of(fused, index, self.k, self.context_tokens, (f"{fused.name} of {found} chunks", *notes))

    def hits(self, question: Question, index: Index, rt: Runtime) -> tuple[Hit, ...]:
        """The first `k` chunks with the rank and the score that each has in every list."""
        fused, lists, _ = self._fused(question, index, rt)
        ranks = {r.name: {p: i for i, p in enumerate(r.positions.tolist())} for r in lists}
        places = [
            tuple(
                Place(r.name, ranks[r.name][p] + 1, float(r.scores[ranks[r.name][p]]))
                for r in lists
                if p in ranks[r.name]
            )
            for p in fused.positions[: self.k].tolist()
        ]
        entries = take_records(index.catalogue.chunks, fused.positions[: self.k].tolist())
        scores = fused.scores.tolist()
        return tuple(Hit(e.id, scores[i], places[i]) for i, e in enumerate(entries))

    def _fused(self, question: Question, index: Index, rt: Runtime) -> tuple[Ranking, list[Ranking], list[str]]:
        """The fused ranking, the lists that it is made of, and what has to be said."""
        texts = [rank_by_vectors(question, index, rt, self.vector)] if self.vector_weight else []
        texts += [rank_by_words(question, index, self.bm25)] if self.bm25_weight else []
        weights = [weight for weight in (self.vector_weight, self.bm25_weight) if weight]
        has_graph, notes = bool(index.manifest.graph and self.graph_weight), list[str]()
        if self.graph_weight and not index.manifest.graph:
            notes.append("this index has no graph: vectors and words were fused alone")
        around = [rank_by_graph(question, index, rt, self.graph, self.hops, self.seed_floor)] if has_graph else []
        lists = [*texts, *around]
        votes = [*weights, self.graph_weight] if around else weights
        if self.fusion == "prior" and has_graph:  # a walk from the names of the question, and weakly from its text
            names = 1 - self.text_share
            walk = Walk(names * 6 / 7, self.text_share, names / 7, self.damping)
            fused = rank_by_walk(question, near_best(texts, weights), index, rt, walk, self.seed_floor)
        elif self.fusion == "minmax":
            fused = by_scores(lists, votes)
        else:
            fused = (by_shares if self.fusion == "quota" else by_ranks)(lists, votes, self.c)
        return diversify_ranking(question, fused, index, rt, self.diversify, self.balance), lists, notes
