"""FastGraphRAG: a random walk from the entities of the question; its mass flows to relations, and on to chunks.

paper: none; package fast-graphrag 0.0.5 (CircleMind 2024–2025), after HippoRAG (Gutiérrez et al. 2024)
index: chunk → extract → merge; vectors of entities; links between two names of one thing
query: names and themes → entities → personalised PageRank → relations → chunks → one call
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import Floats
from sensegraph.algorithms.ranking import Ranked, select_best
from sensegraph.algorithms.similar import Pairs, similar_rows, similar_words
from sensegraph.algorithms.walks import Moves, build_moves, pagerank
from sensegraph.answering.asking import conclude_answer
from sensegraph.errors import SettingsError
from sensegraph.index.graph.lookups import Ties, ties_of
from sensegraph.index.index import Index
from sensegraph.index.passages import documents_behind
from sensegraph.index.restricted.scope import ScopedIndex
from sensegraph.index.vectors import nearest_to_each
from sensegraph.language.text import list_stems
from sensegraph.methods import check_fields
from sensegraph.methods.fastgraphrag.tasks import find_concepts
from sensegraph.protocols import PartName, Task
from sensegraph.retrieval.arms import by_meaning, by_text, evidence_of, settle_comparison
from sensegraph.retrieval.assembling import Ends, chunks_within, ends_of, entities_within, relations_within
from sensegraph.retrieval.signals import Keywords, keywords_of, words_task
from sensegraph.runtime.results import step, take_records
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Answer, Evidence, Question

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


@step("identity.same_names", version=2, form="arrays")
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


_FEW = 10  # entities that are kept where all are below the threshold
_RANKED = 100  # chunks whose documents are told

ORIGINAL = MappingProxyType({"mention": 0.0, "edges": "weighted", "exact": False})
"""The settings of fast-graphrag 0.0.5 where ours differ."""


@dataclass(frozen=True)
class FastGraphRAG:
    """The walk starts at the `named_top` entities nearest to each name of the question, from a cosine of `named_floor`
    on, and weakly at the `generic_top` nearest to each theme and to the question itself, above `generic_floor`.
    `exact` takes the entities that have the name itself instead. `specificity` divides a start by the number of
    chunks that mention it.

    It returns to them with 1 − `damping`, until less than `tolerance` of it would change. Entities from a score of
    `floor` on are kept, `entities` at most; then `relations` and `chunks` at most. A chunk gets the scores of the
    relations that it states and `mention` times those of the entities that it mentions. `edges` = simple counts two
    entities as joined or not, weighted how often; names of one thing are joined as `identity` says, see `Likeness`.
    The tokens are for entities, relations and text; what one leaves the next may use.
    """

    named_floor: float = 0.4
    named_top: int = 1
    generic_floor: float = 0.0
    generic_top: int = 20
    exact: bool = True
    specificity: bool = False
    damping: float = 0.85
    tolerance: float = 1e-3
    floor: float = 0.005
    entities: int = 128
    relations: int = 64
    chunks: int = 8
    mention: float = 0.25
    edges: Edges = "simple"
    identity: Identity = "auto"
    identity_floor: float = 0.8
    identity_neighbours: int = 3
    entity_tokens: int = 4_000
    relation_tokens: int = 3_000
    text_tokens: int = 9_000
    refined: bool = True
    name: str = "fastgraphrag"
    requires: frozenset[Task] = frozenset({"answer"})
    reads: frozenset[PartName] = frozenset({"graph"})

    def __post_init__(self) -> None:
        check_fields(self, "named_top generic_top entities relations chunks text_tokens", "be at least 1")
        check_fields(self, "entity_tokens relation_tokens mention floor identity_neighbours", "not be negative")
        if not 0 < self.damping < 1 or not 0 < self.tolerance < 1 or not 0 < self.identity_floor <= 1:
            raise SettingsError(
                f"fastgraphrag: damping ({self.damping}), tolerance ({self.tolerance}) and identity_floor "
                f"({self.identity_floor}) must lie between 0 and 1."
            )

    def usual_calls(self, chunks: int) -> Mapping[Task, tuple[int, int]]:
        """Calls besides the last one, by task, with the tokens that each reads: one for the concepts."""
        return {"concepts": (1, 0)} if self.refined else {}

    def retrieve(self, question: Question, index: Index, rt: Runtime) -> Evidence:
        """Entities, relations and chunks, in this order, each within its tokens; documents by their best chunk."""
        words = keywords_of(question, index, rt, refined=self.refined, words=find_concepts)
        reset = self.reset(question, words, index, rt)
        if not reset.any():
            return self._without_entities(question, index, rt, words.notes)
        tied, joins = ties_of(index, rt), ends_of(index, rt)
        entities, notes = self._entities(self.walk(reset, index, rt, joins, tied))
        relations = select_best(entities[joins.one] + entities[joins.other], self.relations)
        chunks = select_best(self._chunks(entities, relations, tied, len(index.catalogue.chunks)), _RANKED)
        start = f"a walk from {np.count_nonzero(reset)} entities: {np.count_nonzero(entities)} were kept"
        said = (start, *notes, *words.notes)
        return self._read(select_best(entities, self.entities), relations, chunks, joins, index, said)

    def answer(self, question: Question, index: Index, rt: Runtime) -> Answer:
        """One answer from these passages."""
        rt.check(self.name, self.requires | ({words_task(rt, find_concepts)} if self.refined else frozenset()))
        return conclude_answer(question, self.retrieve(question, index, rt), index, rt)

    # ── where the walk starts: fastgraphrag §4, steps 1–4 ──

    def reset(self, question: Question, words: Keywords, index: Index, rt: Runtime) -> Floats:
        """The weight of every entity at the start, shape (n,), not negative; all 0 where none fits the question.

        The scores (1 + cosine) / 2 of one phrase sum to 1, so that a name weighs as much as all entities near a theme.
        """
        start = np.zeros(len(index.graph.entities))
        for places in words.called if self.exact else ():
            start[list(places)] = 1 / max(len(places), 1)
        names = [w for w, places in zip(words.low, words.called, strict=True) if not (places and self.exact)]
        queries = np.asarray(rt.embedder.embed([*names, *words.high, question.sought], "query"), np.float32)
        top = max(self.named_top, self.generic_top)
        for i, (near, cosine) in enumerate(nearest_to_each(queries, index, rt, top, "entity")):
            if i < len(names):
                kept = (np.arange(len(near)) < self.named_top) & (cosine >= self.named_floor)
            else:
                kept = (np.arange(len(near)) < self.generic_top) & (cosine > self.generic_floor)
            score = (1 + cosine[kept]) / 2
            start[near[kept]] = np.maximum(start[near[kept]], score / max(float(score.sum()), 1e-12))
        if self.specificity:
            start /= np.maximum(np.diff(ties_of(index, rt).start), 1)
        return start

    # ── where it comes to: steps 5–8 ──

    def walk(self, reset: Floats, index: Index, rt: Runtime, joins: Ends, tied: Ties) -> Floats:
        """The personalised PageRank of every entity, shape (n,), sum 1."""
        likeness = Likeness(self.identity, self.identity_floor, self.identity_neighbours)
        moves = entity_walk(index, rt, likeness, self.edges, joins, tied.weight)
        return pagerank(moves, reset, self.damping, math.ceil(math.log(self.tolerance) / math.log(self.damping)))

    def _entities(self, rank: Floats) -> tuple[Floats, list[str]]:
        """The scores of the entities that are kept, all others 0; and what has to be said."""
        above = np.where(rank >= self.floor, rank, 0.0)
        least = self.entities if above.any() else min(_FEW, self.entities)
        places, scores = select_best(above if above.any() else rank, least)
        kept = np.zeros(len(rank))
        kept[places] = scores
        flat = f"no entity has a score of {self.floor}: the best {len(places)} were kept"
        return kept, [] if above.any() else [flat]

    def _chunks(self, entities: Floats, relations: Ranked, tied: Ties, count: int) -> Floats:
        """The score of every chunk: of the kept relations that it states, and of the entities that it mentions."""
        scores = np.zeros(count)
        for place, score in zip(*(a.tolist() for a in relations), strict=True):
            scores[tied.stating(place)] += score
        for place in np.flatnonzero(entities).tolist():
            scores[tied.mentioning(place)] += self.mention * entities[place]
        return scores

    def _read(
        self, entities: Ranked, relations: Ranked, chunks: Ranked, joins: Ends, index: Index, notes: Sequence[str]
    ) -> Evidence:
        """What is read: tokens that entities leave the relations may use, and what they leave the text (step 9)."""
        told = entities_within(*_list_ranked(entities), index, self.entity_tokens)
        left = self.entity_tokens - told.tokens + self.relation_tokens
        linked = relations_within(*_list_ranked(relations), index, joins, left)
        places, scores = _list_ranked(chunks)
        text = chunks_within(places[: self.chunks], scores, index, left - linked.tokens + self.text_tokens)
        ranked = [entry.document for entry in take_records(index.catalogue.chunks, places)]
        others = documents_behind([*told.passages, *linked.passages], index)
        passages = (*told.passages, *linked.passages, *text.passages)
        found = len(entities[0]) + len(relations[0]) + len(places)
        documents = tuple(dict.fromkeys([*ranked, *others]))
        taken = told.tokens + linked.tokens + text.tokens
        return Evidence(passages, documents, taken, found - len(passages), tuple(notes))

    def _without_entities(self, question: Question, index: Index, rt: Runtime, notes: Sequence[str]) -> Evidence:
        """Dense retrieval of chunks; by words where vectors compare words alone."""
        by = "vectors" if by_meaning("auto", rt) else "words"
        note = f"no entity of this index fits the question: chunks were ranked by {by}"
        ranking = by_text(question, index, rt, "auto", _RANKED)
        return evidence_of(ranking, index, self.chunks, self.text_tokens, [note, *notes])


def _list_ranked(ranked: Ranked) -> tuple[list[int], dict[int, float]]:
    """Positions, best first, and the score of each."""
    places: list[int] = ranked[0].tolist()
    return places, dict(zip(places, ranked[1].tolist(), strict=True))
