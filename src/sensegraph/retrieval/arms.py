"""Single retrievers, each of which ranks the chunks of an index for a question: by vectors, by words, or by the graph.

All see the index only through itself, so that a filter holds inside each of them, before anything is ranked. How near
chunks are to a question is told by vectors where a model makes them, else by words. A ranking can be put into an order
that does not say the same thing twice: only its first chunks change places, and scores stay those of the method.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np

from sensegraph.algorithms.diversity import rank_by_cover, rank_by_mmr
from sensegraph.algorithms.graphs import Floats
from sensegraph.algorithms.ranking import Ranking, select_best
from sensegraph.algorithms.walks import pagerank, run_offsets
from sensegraph.index.graph.lookups import entity_salience, ties_of
from sensegraph.index.index import Index
from sensegraph.index.passages import chunk_passage
from sensegraph.index.restricted.scope import ScopedIndex
from sensegraph.index.vectors import adds_meaning, asked_vector, nearest_to
from sensegraph.language.text import list_stems, take_within
from sensegraph.retrieval.signals import named_in
from sensegraph.runtime.results import take_records
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Evidence, Question


def rank_by_vectors(question: Question, index: Index, rt: Runtime, top: int) -> Ranking:
    """The `top` chunks nearest to the question by cosine; none whose cosine is not above 0."""
    positions, scores = nearest_to(asked_vector(question, rt), index, rt, top)
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


def nearness_of(question: Question, index: Index, rt: Runtime, how: Comparing) -> Floats:
    """How near every chunk is to the question, from 0 for the farthest to 1 for the nearest, shape (chunks,).

    All 0 where all are equally near.
    """
    if not by_meaning(how, rt):
        return scale_scores(index.scores_of_words(question.sought))
    near, scores = nearest_to(asked_vector(question, rt), index, rt, _NEAR)
    found = np.full(len(index.catalogue.chunks), scores.min(initial=np.inf))
    found[near] = scores
    return scale_scores(found)


def scale_scores(scores: Floats) -> Floats:
    """Min–max normalised scores; all 0 where they are equal."""
    low, high = scores.min(initial=np.inf), scores.max(initial=-np.inf)
    return (scores - low) / (high - low) if high > low else np.zeros(len(scores))


def by_text(question: Question, index: Index, rt: Runtime, how: Comparing, top: int) -> Ranking:
    """The `top` chunks by text alone: what a walk without a start falls back on."""
    return rank_by_vectors(question, index, rt, top) if by_meaning(how, rt) else rank_by_words(question, index, top)


Diversify = Literal["none", "mmr", "cover"]
POOL = 100  # chunks that change places


def diversify_ranking(
    question: Question, ranking: Ranking, index: Index, rt: Runtime, how: Diversify, balance: float
) -> Ranking:
    """`ranking`, whose first `POOL` chunks stand in an order in which each adds to those before it.

    `mmr`: the next fits best and is least like any before it, by vectors (Carbonell and Goldstein 1998, §2). `cover`:
    the next fits best and has most of the question's words that none before it has, by their rarity. `balance` is the
    share of fitting, a score from 0 for the last of these chunks to 1 for the first.
    """
    if how == "none" or len(ranking) < 2:
        return ranking
    head = ranking.positions[:POOL]
    top = ranking.scores[:POOL]
    low, high = float(top.min()), float(top.max())
    fit = (top - low) / (high - low) if high > low else np.ones(len(top))
    if how == "mmr":
        order, _ = rank_by_mmr(fit, np.asarray(index.vectors_of(rt.embedder)[head]), len(head), balance)
    else:
        asked = list_stems(question.sought)
        places = np.asarray(index.places, np.int64)[head] if isinstance(index, ScopedIndex) else head
        has = [np.isin(places, who) for _, (who, _) in index.words.hits(asked)]
        idf = [index.words.idf(word) for word in sorted(set(asked))]
        table = np.array(has, np.bool_).reshape(len(idf), len(head)).T
        # each chunk adds its words that none before it has, and its fitting, a word of its own
        own = np.eye(len(fit), dtype=np.bool_)
        rows, elements = np.nonzero(np.hstack((table, own)))
        there = np.array(idf, np.float64) * table.any(axis=0)  # what nobody has is nobody's to say
        weights = np.concatenate(((1 - balance) * there / max(float(there.sum()), 1e-300), balance * fit))
        starts = run_offsets(np.bincount(rows, minlength=len(fit)))
        order = rank_by_cover(starts, elements.astype(np.int64), weights)
    positions, scores = ranking.positions.copy(), ranking.scores.copy()
    positions[: len(head)], scores[: len(head)] = head[order], scores[order]
    return Ranking(ranking.name, positions, scores)


_COMMON = "concept"  # the type of entities that are common nouns
_WALKED = 200  # chunks of a walk that are kept (Gutiérrez et al. 2025: retrieve 200)
_MEANT = 5  # entities that a question without a name may mean


@dataclass(frozen=True, slots=True)
class Walk:
    """A walk over chunks and entities. It starts with `titled` at the documents that bear a name of the question as
    their title, with `text` at the chunks that the text of the question leads to, and with `named` at the entities
    themselves; a share that leads nowhere goes to the others. It takes `steps` steps, and starts anew before each
    with 1 − `damping`.
    """

    titled: float = 0.6
    text: float = 0.3
    named: float = 0.1
    damping: float = 0.7
    steps: int = 10


def rank_by_graph(
    question: Question, index: Index, rt: Runtime, top: int, hops: int = 1, floor: float = 0.5
) -> Ranking:
    """The `top` chunks around the entities of the question.

    A chunk gets, for each relation that it states between a seed and a neighbour, weight / degree of the neighbour,
    and for each seed that it mentions 1 / number of chunks of the seed (N83; hybrid §3). With more `hops` the
    neighbours are seeds in their turn, of less and less weight.
    """
    seeds = seeds_of(question, index, rt, floor)
    tied, scores, lookups = ties_of(index, rt), np.zeros(len(index.catalogue.chunks)), index.lookups
    for seed in seeds:
        mine = tied.mentioning(seed)
        scores[mine] += 1 / max(len(mine), 1)
    reached, layer = set(seeds), dict.fromkeys(seeds, 1.0)
    for _ in range(hops):
        further: dict[int, float] = {}
        for seed, share in layer.items():
            for other, relation in zip(*(a.tolist() for a in lookups.around(seed)), strict=True):
                passed = share / int(lookups.degree[other])
                scores[tied.stating(relation)] += float(tied.weight[relation]) * passed
                if other not in reached:
                    further[other] = further.get(other, 0.0) + passed
        reached |= further.keys()
        layer = further
    return Ranking("graph", *select_best(scores, top))


def seeds_of(question: Question, index: Index, rt: Runtime, floor: float = 0.5) -> list[int]:
    """Positions of the entities that the question names; common nouns only where it names nothing else.

    Where there are none: of earlier questions; then the entities nearest by cosine, not below `floor`.
    """
    named = named_in(question.text, index) or named_in(question.sought, index)
    if named:
        types = [e.type for e in take_records(index.graph.entities, named)]
        return [e for e, kind in zip(named, types, strict=True) if kind != _COMMON] or named
    places, scores = nearest_to(asked_vector(question, rt), index, rt, _MEANT, "entity")
    return [int(place) for place in places[scores >= floor]]


def rank_by_walk(
    question: Question, text: Ranking, index: Index, rt: Runtime, walk: Walk, floor: float = 0.5
) -> Ranking:
    """The 200 chunks that a walk from the entities of the question, and weakly from those of `text`, is most often at.

    The shape of HippoRAG 2 (Gutiérrez et al. 2025, §3): the text ranking is a prior of the walk, no vote on its result.
    """
    tied, count = ties_of(index, rt), len(index.catalogue.chunks)
    seeds = seeds_of(question, index, rt, floor)
    nodes = count + len(tied.start) - 1
    titled, named, prior = np.zeros(nodes), np.zeros(nodes), np.zeros(nodes)
    for seed, says in zip(seeds, entity_salience(tied, seeds, count).tolist(), strict=True):
        mine = tied.titled(seed)
        titled[mine] += says / max(len(mine), 1)
        named[count + seed] = 1 / max(len(tied.mentioning(seed)), 1)
    prior[text.positions] = text.scores
    blocks = [(titled, walk.titled), (prior, walk.text), (named, walk.named)]
    reset = np.zeros(nodes)
    for block, share in blocks:  # each scaled to its share
        if (mass := float(block.sum())) > 0:
            reset += block * (share / mass)
    if not reset.any():
        return Ranking("prior", np.zeros(0, np.int64), np.zeros(0))
    return Ranking("prior", *select_best(pagerank(tied.walk, reset, walk.damping, walk.steps)[:count], _WALKED))
