"""Entities that are the same thing under two names, and a walk from entity to entity over relations and those links.

FastGraphRAG's identity links: the two stay apart, and a walk goes from one to the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import Floats
from sensegraph.algorithms.similar import Pairs, similar_rows, similar_words
from sensegraph.algorithms.walks import Moves, build_moves
from sensegraph.index.index import Index
from sensegraph.index.restricted.scope import ScopedIndex
from sensegraph.language.text import list_stems
from sensegraph.retrieval.assembling import Ends
from sensegraph.retrieval.closeness import settle_comparison
from sensegraph.runtime.results import step
from sensegraph.runtime.runtime import Runtime

Identity = Literal["auto", "vectors", "names", "none"]
Edges = Literal["simple", "weighted"]


@dataclass(frozen=True, slots=True)
class Likeness:
    """What makes two entities one thing: a cosine of `least` among the `neighbours` nearest of either.

    `by` vectors (name and description), or by the words of the names; `auto` takes the vectors, but the names where
    vectors compare words alone: offline, two names of one sentence are described by the same words.
    """

    by: Identity = "auto"
    least: float = 0.8
    neighbours: int = 3


@step("identity.same_vectors", version=1, form="arrays")
def same_vectors(wholes: Sequence[NDArray[Any]], *, least: float, neighbours: int) -> list[Pairs]:
    """Pairs of entities whose vectors are nearly the same."""
    return [similar_rows(vectors, least, neighbours) for vectors in wholes]


@step("identity.same_names", version=1, form="arrays")
def same_names(wholes: Sequence[Sequence[Sequence[str]]], *, least: float, neighbours: int) -> list[Pairs]:
    """Pairs of entities whose names, given as their words, are nearly the same."""
    return [similar_words(names, least, neighbours) for names in wholes]


@step("identity.entity_moves", version=1, form="arrays")
def entity_moves(wholes: Sequence[tuple[Ends, Floats, Pairs, int]], *, edges: Edges) -> list[Moves]:
    """The moves of a walk over so many entities, along relations of these weights and links of weight 1."""
    results: list[Moves] = []
    for joins, weight, links, count in wholes:
        stated = weight if edges == "weighted" else np.ones(len(weight))
        known = np.unique(_number_pairs(joins.one, joins.other, count))
        new = ~np.isin(_number_pairs(links.one, links.other, count), known)  # links that no relation joins already
        there = stated > 0
        a = np.concatenate((joins.one[there], links.one[new]))
        b = np.concatenate((joins.other[there], links.other[new]))
        w = np.concatenate((stated[there], np.ones(int(new.sum()))))
        both = np.concatenate((a, b)), np.concatenate((b, a)), np.concatenate((w, w))
        results.append(build_moves(*both, count))
    return results


def entity_walk(index: Index, rt: Runtime, likeness: Likeness, edges: Edges, joins: Ends, weight: Floats) -> Moves:
    """The walk of an index, made when it is first asked for; that of a filtered index is not kept.

    With `edges` simple every relation weighs 1, however often it is stated; with weighted what its weight is.
    """

    def whole() -> tuple[Ends, Floats, Pairs, int]:
        return joins, weight, identity_links(index, rt, likeness), len(index.graph.entities)

    if isinstance(index, ScopedIndex):
        return entity_moves.fn([whole()], edges=edges)[0]
    how = (_settle_identity(likeness, rt), str(likeness.least), str(likeness.neighbours))
    names = (index.manifest.lookups, index.manifest.entity_vectors, *how)
    return rt.once(entity_moves, whole, names=names, edges=edges).value


def identity_links(index: Index, rt: Runtime, likeness: Likeness) -> Pairs:
    """The pairs of entities that are one thing; in a filtered index those of the whole with both ends inside."""
    if isinstance(index, ScopedIndex):
        links = identity_links(index.whole, rt, likeness)
        kept = {entity.id: i for i, entity in enumerate(index.graph.entities)}
        place = np.asarray([kept.get(entity.id, -1) for entity in index.whole.graph.entities], np.int32)
        one, other = place[links.one], place[links.other]
        both = (one >= 0) & (other >= 0)
        return Pairs(one[both], other[both], links.similarity[both])
    by, how = _settle_identity(likeness, rt), {"least": likeness.least, "neighbours": likeness.neighbours}
    if by == "none" or not likeness.neighbours:
        return Pairs(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0))
    if by == "vectors":
        vectors = index.vectors_of(rt.embedder, "entity")
        return rt.once(same_vectors, lambda: vectors, names=(index.manifest.entity_vectors,), **how).value
    lookups = index.lookups

    def names() -> list[list[str]]:
        return [list_stems(lookups.name(i)) for i in range(len(lookups.start) - 1)]

    return rt.once(same_names, names, names=(index.manifest.lookups,), **how).value


def _settle_identity(likeness: Likeness, rt: Runtime) -> Identity:
    return settle_comparison(likeness.by, rt, vectors="vectors", words="names")


def _number_pairs(one: NDArray[Any], other: NDArray[Any], count: int) -> NDArray[np.int64]:
    low, high = np.minimum(one, other).astype(np.int64), np.maximum(one, other).astype(np.int64)
    found: NDArray[np.int64] = low * max(count, 1) + high
    return found
