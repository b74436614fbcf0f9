"""LeanRAG: seeds among the entities, and the paths from them up a hierarchy of aggregates to what they have in common.

paper: Zhang et al. 2025, *LeanRAG: Knowledge-Graph-Based Generation with Semantic Aggregation and Hierarchical
Retrieval*
index: chunk → extract → merge → cluster by meaning → aggregate → relate, level by level up to one root
query: nearest entities → chains up to their lowest common ancestor → relations on each level, chunks → one call
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from sensegraph.algorithms.graphs import Floats, Ints
from sensegraph.algorithms.paths import list_ancestor_chains, list_paths_to_ancestor
from sensegraph.answering.asking import conclude_answer
from sensegraph.errors import SettingsError
from sensegraph.index.index import Index
from sensegraph.index.passages import chunk_passage, documents_behind, entity_passage, passage_tokens, relation_passage
from sensegraph.index.vectors import asked_vector, nearest_to
from sensegraph.language.text import take_within
from sensegraph.methods.leanrag.aggregated import quote_statements
from sensegraph.methods.leanrag.aggregates_part import AGGREGATES
from sensegraph.protocols import PartName, Task, Vectors
from sensegraph.retrieval.arms import by_meaning
from sensegraph.retrieval.assembling import Told
from sensegraph.retrieval.signals import Sought, entities_named_in
from sensegraph.runtime.results import take_records
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Answer, Cluster, Entity, Evidence, Passage, Question

Root = Literal["auto", "on", "off"]

_RARE = 20  # chunks: a name in the question that more of them hold says little of what is asked


@dataclass(frozen=True, slots=True)
class AncestorPaths:
    """What lies on the paths of the seeds to their lowest common ancestors (Eq. 7, 9).

    `seeds` are positions of entities, best first, with their records and `scores`. `places` are positions of
    clusters, by level and then by the first seed below, with their records; `home` is the cluster of each seed.
    """

    seeds: Sequence[int]
    entities: Sequence[Entity]
    scores: Sequence[float]
    home: Sequence[int]
    places: Sequence[int]
    clusters: Sequence[Cluster]

    @property
    def named(self) -> dict[int, Cluster]:
        """The clusters by position."""
        return dict(zip(self.places, self.clusters, strict=True))


def find_entity_seeds(
    question: Question, query: Vectors, index: Index, rt: Runtime, top: int, by: Sought
) -> dict[int, float]:
    """The `top` entities nearest to `query`, shape (dim,), by position, best first, with their cosines (Eq. 6).

    `names` takes in those that the question names, unless many chunks mention them, and leaves out what is not near at
    all. `auto` does so where vectors compare words alone.
    """
    places, scores = nearest_to(query, index, rt, top, "described")
    near: dict[int, float] = dict(zip(places.tolist(), scores.tolist(), strict=True))
    if by_meaning(by, rt):
        return near
    named = list(dict.fromkeys(entities_named_in(question.text, index)))
    rare = [p for p, e in zip(named, take_records(index.graph.entities, named), strict=True) if len(e.chunks) <= _RARE]
    cosine = near | dict(zip(rare, _cosines_of(rare, query, "described", index, rt), strict=True))
    kept = dict.fromkeys([*rare, *(place for place, score in near.items() if score > 0)])
    return {place: cosine[place] for place in sorted(list(kept)[:top], key=lambda place: (-cosine[place], place))}


def climb_to_ancestors(seeds: dict[int, float], query: Vectors, root: Root, index: Index, rt: Runtime) -> AncestorPaths:
    """The paths up from the seeds (Eq. 7, 9); the root is on them as `root` says.

    `auto` leaves it out where it is less near to `query` than the seeds are on average.
    """
    above = index.part(AGGREGATES).ancestry
    listed = list(seeds)
    home = above.home[listed]
    chain: Ints = np.asarray(listed, np.int32)[:, None]  # of every seed, from itself to the root: (s, levels)
    if (home >= 0).all():  # else nothing is above
        chain = np.concatenate((chain, list_ancestor_chains(above.parent, home)), axis=1)
    found = list_paths_to_ancestor(chain)
    places = [place for level in found[1:] for place in level]
    if 0 in places:  # the root: clusters are in the order of depth
        read = root == "on"
        if root == "auto":
            near = _cosines_of(listed, query, "described", index, rt)
            read = _cosines_of([0], query, "aggregate", index, rt)[0] >= sum(near) / len(near)
        if not read:
            places.remove(0)
    entities = take_records(index.graph.entities, listed)
    clusters = take_records(index.part(AGGREGATES).hierarchy.clusters, places)
    return AncestorPaths(listed, entities, list(seeds.values()), home.tolist(), places, clusters)


def _cosines_of(places: Sequence[int], query: Vectors, kind: str, index: Index, rt: Runtime) -> list[float]:
    rows: Floats = np.asarray(index.vectors_of(rt.embedder, kind)[list(places)], np.float64)
    found: list[float] = (rows @ query.astype(np.float64)).tolist()
    return found


# ── sections: §4.7 ──


def entity_passages(found: AncestorPaths) -> Iterator[Passage]:
    """The seeds, each with its description and what it is part of."""
    named = found.named
    for entity, score, home in zip(found.entities, found.scores, found.home, strict=True):
        passage = entity_passage(entity, score)
        parent = named.get(home)
        if parent and not parent.promoted:
            passage = replace(passage, text=f"{passage.text}\n(part of: {parent.title})".lstrip())
        yield passage


def aggregate_passages(found: AncestorPaths, *, findings: bool) -> Iterator[Passage]:
    """The aggregates on the paths; one that only passes a lower node on says nothing new, and is left out."""
    for cluster in found.clusters:
        if not cluster.promoted:
            said = [*cluster.summary, *(s for f in cluster.findings for s in f.statements if findings)]
            text = cluster.text if findings else "".join(s.text for s in cluster.summary).strip()
            quotes, documents = quote_statements(said), cluster.documents
            yield Passage("report", cluster.id, text, 0.0, cluster.title, quotes=quotes, documents=documents)


def relation_passages(found: AncestorPaths, index: Index) -> Iterator[Passage]:
    """The relations between nodes of one level, those among seeds first; no text twice (Eq. 10)."""
    told: set[str] = set()
    for passage in (*_relations_among_seeds(found, index), *_relations_among_aggregates(found, index)):
        if passage.text not in told:
            told.add(passage.text)
            yield passage


def _relations_among_seeds(found: AncestorPaths, index: Index) -> Iterator[Passage]:
    """The relations among the seeds."""
    rank = {place: i for i, place in enumerate(found.seeds)}
    ends: dict[int, tuple[int, int]] = {}
    for place in found.seeds:
        others, relations = index.lookups.around(place)
        for i in np.flatnonzero(np.isin(others, found.seeds)).tolist():
            ends.setdefault(int(relations[i]), (place, int(others[i])))
    places = sorted(ends, key=lambda r: (rank[ends[r][0]], rank[ends[r][1]], r))
    for place, relation in zip(places, take_records(index.graph.relations, places), strict=True):
        one, other = (index.lookups.name(end) for end in ends[place])
        yield relation_passage(relation, one, other, relation.weight)


def _relations_among_aggregates(found: AncestorPaths, index: Index) -> Iterator[Passage]:
    """The relations between aggregates on the paths."""
    among = index.part(AGGREGATES).ancestry.among(found.places)
    records = take_records(index.part(AGGREGATES).hierarchy.relations, [link for link, *_ in among])
    named = found.named
    for relation, (_, one, other) in zip(records, among, strict=True):
        title, quotes = f"{named[one].title} — {named[other].title}", quote_statements(relation.statements)
        yield Passage("relation", relation.id, relation.text, float(relation.count), title, quotes=quotes)


def chunks_behind(found: AncestorPaths) -> list[str]:
    """The chunks of the seeds: those of most seeds first, of these those of the first seed (app. B.3.1)."""
    held = Counter(chunk for entity in found.entities for chunk in dict.fromkeys(entity.chunks))
    first = {chunk: rank for rank, entity in reversed([*enumerate(found.entities)]) for chunk in entity.chunks}
    return sorted(first, key=lambda chunk: (-held[chunk], first[chunk], chunk))


_RANKED = 100  # chunks whose documents are told
_SECTIONS = ("entities", "aggregates", "relations", "chunks")


@dataclass(frozen=True)
class LeanRAG:
    """`seeds` entities start (the paper's N), and `chunks` of those that they come from are read (C; 0 for none).

    `by` says how seeds are found: `vectors` as the paper does, by Eq. 6; `names` takes in those that the question
    names, unless many chunks mention them; `auto` does so where vectors compare words alone. `root` = auto leaves out a
    root that is less near to the question than the seeds are on average. `relations` and `findings` say whether these
    are read (Table 2). What has no room in `context_tokens` is left out: chunks first, then relations, then aggregates,
    each from its end.
    """

    seeds: int = 10
    chunks: int = 5
    by: Sought = "auto"
    root: Root = "auto"
    relations: bool = True
    findings: bool = False
    context_tokens: int = 12_000
    name: str = "leanrag"
    requires: frozenset[Task] = frozenset({"answer"})
    reads: frozenset[PartName] = frozenset({"graph", "aggregates"})

    def __post_init__(self) -> None:
        if self.seeds < 1 or self.chunks < 0 or self.context_tokens < 1:
            raise SettingsError(
                f"leanrag: seeds ({self.seeds}) and context_tokens ({self.context_tokens}) must be at least 1, chunks "
                f"({self.chunks}) at least 0."
            )

    def retrieve(self, question: Question, index: Index, rt: Runtime) -> Evidence:
        """Seeds, aggregates, relations and chunks, in this order; documents by their best chunk."""
        query = asked_vector(question, rt)
        seeds = find_entity_seeds(question, query, index, rt, self.seeds, self.by)
        if not seeds:
            return Evidence(notes=("no entity of this index fits the question", *index.part(AGGREGATES).notes))
        return self._read(climb_to_ancestors(seeds, query, self.root, index, rt), index)

    def answer(self, question: Question, index: Index, rt: Runtime) -> Answer:
        """One answer from these passages."""
        rt.check(self.name, self.requires)
        return conclude_answer(question, self.retrieve(question, index, rt), index, rt)

    def _read(self, found: AncestorPaths, index: Index) -> Evidence:
        """What is read of the paths (Eq. 8), within the budget, and the tokens of each section."""
        behind = index.documents_of(chunks_behind(found))
        ranked = list(behind)
        chunks = index.chunks(ranked[: self.chunks])
        offered: list[Iterable[Passage]] = [
            entity_passages(found),
            aggregate_passages(found, findings=self.findings),
            relation_passages(found, index) if self.relations else (),
            [chunk_passage(chunks[name]) for name in ranked[: self.chunks]],
        ]
        told, left, room = list[Told](), list[int](), self.context_tokens
        for part in offered:  # an earlier section is cut last
            kept, omitted = take_within(part, room, passage_tokens)
            told.append(Told(tuple(kept), sum(map(passage_tokens, kept))))
            left.append(omitted)
            room -= told[-1].tokens
        passages = tuple(p for part in told for p in part.passages)
        best = [behind[c] for c in ranked[:_RANKED]]
        documents = tuple(dict.fromkeys([*best, *documents_behind(passages, index)]))
        sizes = [f"{len(part)} {name} ({part.tokens} tokens)" for name, part in zip(_SECTIONS, told, strict=True)]
        notes = [f"read: {', '.join(sizes)}"]
        if cut := [f"{n} {name}" for name, n in zip(_SECTIONS, left, strict=True) if n]:
            notes.append(f"context_tokens ({self.context_tokens}) had no room for {', '.join(cut)}")
        notes += index.part(AGGREGATES).notes
        return Evidence(passages, documents, sum(part.tokens for part in told), sum(left), tuple(notes))
