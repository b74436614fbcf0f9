"""Retrievers that rank the chunks of an index by its graph: around the entities of a question, or by a walk from them.

Both see the index only through itself, so that a filter holds inside each of them, before anything is ranked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sensegraph.algorithms.fusion import Ranking
from sensegraph.algorithms.graphs import Floats
from sensegraph.algorithms.ranking import select_best
from sensegraph.algorithms.walks import pagerank
from sensegraph.index.graph.lookups import Ties, entity_salience, ties_of
from sensegraph.index.index import Index
from sensegraph.index.vectors import nearest_to
from sensegraph.retrieval.signals import named_in
from sensegraph.runtime.results import take_records
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Question

_COMMON = "concept"  # the type of entities that are common nouns
_WALKED = 200  # chunks of a walk that are kept (Gutiérrez et al. 2025: retrieve 200)
_NEAR = 5  # entities that a question without a name may mean


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
    return Ranking("graph", *select_best(_score_around(seeds, index, ties_of(index, rt), hops), top))


def seeds_of(question: Question, index: Index, rt: Runtime, floor: float = 0.5) -> list[int]:
    """Positions of the entities that the question names; common nouns only where it names nothing else.

    Where there are none: of earlier questions; then the entities nearest by cosine, not below `floor`.
    """
    named = named_in(question.text, index) or named_in(question.sought, index)
    if named:
        types = [e.type for e in take_records(index.graph.entities, named)]
        return [e for e, kind in zip(named, types, strict=True) if kind != _COMMON] or named
    query = np.asarray(rt.embedder.embed([question.sought], "query")[0], np.float32)
    places, scores = nearest_to(query, index, rt, _NEAR, "entity")
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


def _score_around(seeds: Sequence[int], index: Index, tied: Ties, hops: int) -> Floats:
    """The score of every chunk, shape (chunks,)."""
    scores, lookups = np.zeros(len(index.catalogue.chunks)), index.lookups
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
    return scores
