"""What is read around chosen entities and relations, by position: their ends, their links, the chunks behind them.

The parts of LightRAG and FastGraphRAG that both share, and that every other method on the graph can use.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensegraph.algorithms.graphs import Floats, Ints
from sensegraph.algorithms.ranking import fuse_by_reciprocal_rank, select_best
from sensegraph.index.graph.lookups import Lookups, Ties
from sensegraph.index.index import Index
from sensegraph.index.passages import Room, chunk_passage, entity_passage, passage_tokens, relation_passage
from sensegraph.index.vectors import nearest_to_each
from sensegraph.protocols import Vectors
from sensegraph.retrieval.arms import by_meaning
from sensegraph.runtime.results import step, take_records
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Passage, Question

T = TypeVar("T")

Ranking = Literal["auto", "vectors", "words"]

_BLOCK = 32  # records read at once


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """Relation j joins the entities `one[j]` and `other[j]`, the smaller first; int32 of shape (m,)."""

    one: Ints
    other: Ints


@step("assembling.ends", version=1, form="arrays")
def relation_ends(wholes: Sequence[Lookups]) -> list[Ends]:
    """The ends of all relations, from the rows of neighbours."""
    made = []
    for found in wholes:
        row = np.repeat(np.arange(len(found.start) - 1, dtype=np.int32), np.diff(found.start))
        upper = row <= found.neighbours
        one = np.zeros(len(found.relations) // 2, np.int32)
        other = np.zeros_like(one)
        one[found.relations[upper]], other[found.relations[upper]] = row[upper], found.neighbours[upper]
        made.append(Ends(one, other))
    return made


def ends_of(index: Index, rt: Runtime) -> Ends:
    """The ends of the relations of an index, made when first asked for; those of a filtered index are not kept."""
    if index.whole is not None:
        return relation_ends.fn([index.lookups])[0]
    return rt.once(relation_ends, lambda: index.lookups, names=(index.manifest.lookups,)).value


# ── search ──


def nearest_records(kind: str, queries: Vectors, index: Index, rt: Runtime, top: int, floor: float) -> dict[int, float]:
    """The records nearest to the queries, shape (q, dim), with their best cosines, which are above `floor`.

    They are `top` at most, best first; those of several queries are fused by reciprocal rank.
    """
    if not len(queries):
        return {}
    cosine: dict[int, float] = {}
    lists: list[list[int]] = []
    for places, scores in nearest_to_each(queries, index, rt, top, kind):
        lists.append(places[scores > floor].tolist())
        for place, score in zip(lists[-1], scores.tolist(), strict=False):
            cosine[place] = max(score, cosine.get(place, score))
    return {place: cosine[place] for place, _ in fuse_by_reciprocal_rank(lists)[:top]}


class Nearness:
    """How near the chunks of an index are to a question: by the cosine of its vector, or by its words (BM25)."""

    def __init__(self, question: Question, vector: Vectors, index: Index, rt: Runtime, ranking: Ranking) -> None:
        self._index, self._rt, self._vector = index, rt, vector
        self._words = None if by_meaning(ranking, rt) else index.scores_of_words(question.sought)

    def top(self, most: int) -> dict[int, float]:
        """The nearest chunks with their scores, `most` at most, best first; only those that are near at all."""
        if self._words is None:
            return nearest_records("chunk", self._vector[None, :], self._index, self._rt, most, 0.0)
        places, scores = select_best(self._words, most)
        return dict(zip(places.tolist(), scores.tolist(), strict=True))

    def of(self, chunks: Sequence[int]) -> Floats:
        """The score of each of these chunks, float64 of their number."""
        if self._words is not None:
            return np.asarray(self._words[list(chunks)], np.float64)
        rows = np.asarray(self._index.vectors_of(self._rt.embedder)[list(chunks)], np.float64)
        return np.asarray((rows * self._vector.astype(np.float64)).sum(axis=1))


# ── links ──


def ranked_links(relations: ArrayLike, index: Index, joins: Ends, weight: NDArray[np.float64]) -> list[int]:
    """These relations, each once: those between much-linked entities first, of equal ones the heavier (LightRAG)."""
    places = np.unique(np.asarray(relations, np.int64))
    degree = index.lookups.degree
    combined = degree[joins.one[places]] + degree[joins.other[places]]
    order = np.lexsort((places, -weight[places], -combined))
    return [int(p) for p in places[order]]


def links_of(entities: Sequence[int], index: Index) -> NDArray[np.int32]:
    """The relations of these entities; one between two of them stands twice."""
    return np.concatenate([np.zeros(0, np.int32), *(index.lookups.around(e)[1] for e in entities)])


def ends_in_order(relations: Sequence[int], joins: Ends) -> list[int]:
    """The entities that these relations join, in the order in which they are first met."""
    both = np.stack((joins.one[list(relations)], joins.other[list(relations)]), axis=1)
    return list(dict.fromkeys(both.ravel().tolist()))


# ── chunks ──


def deal_chunks(groups: Iterable[Sequence[int]], taken: Iterable[int] = ()) -> list[list[int]]:
    """Every chunk in the first group that has it, and in none that is `taken`; those of many groups first in theirs."""
    listed = [list(group) for group in groups]
    count = Counter(chunk for group in listed for chunk in group)
    gone, kept = set(taken), list[list[int]]()
    for group in listed:
        mine = [chunk for chunk in dict.fromkeys(group) if chunk not in gone]
        gone.update(mine)
        kept.append(sorted(mine, key=lambda chunk: (-count[chunk], chunk)))
    return kept


def flatten_groups(groups: Iterable[Sequence[int]]) -> list[int]:
    """All items of all groups, in order."""
    return [item for group in groups for item in group]


def near_neighbours(entities: Sequence[int], index: Index, tied: Ties, most: int) -> list[list[int]]:
    """For each entity its first `most` chunks that no earlier one has, those first that most neighbours share."""
    taken: set[int] = set()
    kept = list[list[int]]()
    for entity in entities:
        beside = np.unique(index.lookups.around(entity)[0]).tolist()
        held = np.concatenate([np.zeros(0, np.int32), *(tied.mentioning(other) for other in beside)])
        shared = Counter(held.tolist())
        mine = [chunk for chunk in tied.mentioning(entity)[:most].tolist() if chunk not in taken]
        taken.update(mine)
        kept.append([chunk for _, chunk in sorted((-shared[chunk], chunk) for chunk in mine)])
    return kept


def shared_out(groups: Sequence[Sequence[int]], most: int) -> list[int]:
    """A number of chunks of each group that falls evenly from `most` for the first to 1 for the last.

    What a group does not use goes to what the others had to leave, in order.
    """
    quotas = np.rint(np.linspace(most, 1, len(groups))).astype(int).tolist()
    first = [chunk for group, quota in zip(groups, quotas, strict=True) for chunk in group[:quota]]
    rest = [chunk for group, quota in zip(groups, quotas, strict=True) for chunk in group[quota:]]
    return first + rest[: sum(quotas) - len(first)]


def interleave_lists(lists: Sequence[Sequence[T]]) -> list[T]:
    """The items of all lists in turn, each once."""
    nothing = object()
    rows = zip_longest(*lists, fillvalue=nothing)
    return list(dict.fromkeys(item for row in rows for item in row if item is not nothing))  # type: ignore[misc]


# ── passages ──


def read_in_turn(records: Sequence[T], places: Sequence[int]) -> Iterator[tuple[int, T]]:
    """These places, each with its record; a block of records is read at once, and none that is not asked for."""
    for begin in range(0, len(places), _BLOCK):
        block = list(places[begin : begin + _BLOCK])
        yield from zip(block, take_records(records, block), strict=True)


def quoted_chunks(passages: Iterable[Passage]) -> list[str]:
    """The chunks whose words passages quote, each once, in their order."""
    return list(dict.fromkeys(quote.source.chunk for passage in passages for quote in passage.quotes))


@dataclass(frozen=True, slots=True)
class Told:
    """Passages that fit a budget, and the tokens that they take."""

    passages: tuple[Passage, ...] = ()
    tokens: int = 0

    def __len__(self) -> int:
        return len(self.passages)


def unite_passages(parts: Sequence[Told]) -> Told:
    """The passages of all parts, in order, each once."""
    kept: dict[str, Passage] = {}
    for passage in (p for part in parts for p in part.passages):
        kept.setdefault(passage.id, passage)
    return Told(tuple(kept.values()), sum(map(passage_tokens, kept.values())))


def entities_within(places: Sequence[int], scores: Mapping[int, float], index: Index, budget: float) -> Told:
    """The first of these entities that fit into `budget` tokens; no more are read."""
    read = read_in_turn(index.graph.entities, places)
    return _fit_passages((entity_passage(entity, scores.get(place, 0.0)) for place, entity in read), budget)


def relations_within(
    places: Sequence[int], scores: Mapping[int, float], index: Index, joins: Ends, budget: float
) -> Told:
    """The first of these relations that fit into `budget` tokens, with the names of their ends; no more are read."""
    name = index.lookups.name
    told = (
        relation_passage(relation, name(int(joins.one[p])), name(int(joins.other[p])), scores.get(p, 0.0))
        for p, relation in read_in_turn(index.graph.relations, places)
    )
    return _fit_passages(told, budget)


def chunks_within(places: Sequence[int], scores: Mapping[int, float], index: Index, budget: float) -> Told:
    """The first of these chunks that fit into `budget` tokens."""
    room = Room(budget)
    kept = room.filled(take_records(index.catalogue.chunks, list(places)), lambda entry: entry.tokens)
    chunks = index.chunks([entry.id for entry in kept])
    passages = (chunk_passage(chunks[e.id], scores.get(p, 0.0)) for p, e in zip(places, kept, strict=False))
    return Told(tuple(passages), sum(e.tokens for e in kept))


def _fit_passages(passages: Iterable[Passage], budget: float) -> Told:
    room = Room(budget)
    kept = room.filled(passages, passage_tokens)
    return Told(tuple(kept), int(budget - room.left) if kept else 0)
