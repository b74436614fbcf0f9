"""HiRAG: summary entities above the graph, communities over both, and paths that bridge what the question touches.

paper: Huang et al. 2025, *HiRAG: Retrieval-Augmented Generation with Hierarchical Knowledge*
index: chunk → extract → merge → cluster by meaning → summary entities, layer by layer → communities → reports
query: nearest entities → reports of their communities, paths between key entities, the entities, chunks → one call
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from sensegraph.algorithms.graphs import Floats, Ints
from sensegraph.algorithms.paths import find_paths_through
from sensegraph.answering.asking import conclude_answer
from sensegraph.errors import SettingsError
from sensegraph.index.graph.lookups import Lookups, Ties, ties_of
from sensegraph.index.hierarchy.packing import report_passage
from sensegraph.index.index import Index
from sensegraph.index.passages import documents_behind, passage_tokens
from sensegraph.index.vectors import asked_vector, nearest_to
from sensegraph.language.text import take_within
from sensegraph.methods.hirag.layers_part import LAYERS
from sensegraph.protocols import PartName, Task, Vectors
from sensegraph.retrieval.arms import by_meaning, settle_comparison
from sensegraph.retrieval.assembling import (
    Ends,
    Nearness,
    Told,
    chunks_within,
    ends_of,
    entities_within,
    flatten_groups,
    links_of,
    near_neighbours,
    ranked_links,
    relations_within,
)
from sensegraph.retrieval.signals import Sought, entities_named_in
from sensegraph.runtime.results import take_records
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Answer, Cluster, Evidence, Question


def find_candidates(
    question: Question, query: Vectors, index: Index, rt: Runtime, top: int, floor: float, by: Sought
) -> dict[int, float]:
    """The `top` entities of all layers nearest to `query`, (dim,), best first; cosines of at least `floor` (Eq. 12).

    `names` puts those before them that the question names, and takes what is near at all; `auto` does so where vectors
    compare words alone, whose cosines are small.
    """
    places, scores = nearest_to(query, index, rt, top, "entity")
    near = dict(zip(places.tolist(), scores.tolist(), strict=True))
    if by_meaning(by, rt):
        return {place: score for place, score in near.items() if score >= floor}
    found = dict.fromkeys(entities_named_in(question.text, index), 1.0)
    found |= {place: score for place, score in near.items() if score > 0 and place not in found}
    return dict(list(found.items())[:top])


def communities_around(local: Sequence[int], index: Index, deepest: int) -> dict[int, Cluster]:
    """The communities down to depth `deepest` that hold one of these entities, first those with most of them (Eq. 13).

    Ratings break ties: they are an engine's invention.
    """
    homes = index.lookups.homes[list(local), : deepest + 1].tolist()
    inside = Counter(place for row in homes for place in dict.fromkeys(row) if place >= 0)
    places = sorted(inside)
    found = dict(zip(places, take_records(index.hierarchy.clusters, places), strict=True))
    ranked = sorted(places, key=lambda place: (-inside[place], -found[place].rating, found[place].id))
    return {place: found[place] for place in ranked}


def key_entities(
    candidates: Sequence[int], communities: Mapping[int, Cluster], lookups: Lookups, most: int
) -> list[int]:
    """The first `most` candidates of each community, in their order; without a community the first of all (Eq. 14)."""
    if not communities:
        return list(candidates[:most])
    homes = lookups.homes[list(candidates)]
    rows = {
        row
        for place, community in communities.items()
        for row in np.flatnonzero(homes[:, community.depth] == place)[:most].tolist()
    }
    return [candidates[row] for row in sorted(rows)]


def bridge_relations(keys: Sequence[int], index: Index, joins: Ends, weight: Floats, *, path_only: bool) -> list[int]:
    """The relations on the paths from each key entity to the next, or all among what lies on them (Eq. 15, 16).

    Those between much-linked entities come first, of equal ones the heavier.
    """
    lookups = index.lookups
    paths = find_paths_through(lookups.start, lookups.neighbours, keys)
    found: list[Ints] = [np.zeros(0, np.int32)]
    if path_only:  # the relations between each node of a path and the next
        for one, other in (ends for path in paths for ends in pairwise(path)):
            others, relations = lookups.around(one)
            found.append(relations[others == other])
    else:  # the relations with both ends on the paths
        nodes = sorted({node for path in paths for node in path})
        inside = np.zeros(len(lookups.start) - 1, bool)
        inside[nodes] = True
        for node in nodes:
            others, relations = lookups.around(node)
            found.append(relations[inside[others]])
    return ranked_links(np.concatenate(found), index, joins, weight)


Mode = Literal["hirag", "hi_nobridge", "hi_local", "hi_global", "hi_bridge", "flat"]
Section = Literal["reports", "bridge", "entities", "relations", "chunks"]
Order = Literal["auto", "shared", "near"]

_WIDER = 10  # times `top` entities are candidates (the authors' code)
# what one and several things of a section are called, and the setting that holds its budget
_CALLED: Mapping[Section, tuple[str, str, str]] = {
    "reports": ("report", "reports", "report_tokens"),
    "bridge": ("relation on bridges", "relations on bridges", "bridge_tokens"),
    "entities": ("entity", "entities", "entity_tokens"),
    "relations": ("relation", "relations", "relation_tokens"),
    "chunks": ("chunk", "chunks", "text_tokens"),
}
_SECTIONS: Mapping[Mode, tuple[Section, ...]] = {
    "hirag": ("reports", "bridge", "entities", "chunks"),
    "hi_nobridge": ("reports", "entities", "chunks"),
    "hi_local": ("entities", "relations", "chunks"),
    "hi_global": ("reports", "chunks"),
    "hi_bridge": ("bridge", "chunks"),
    "flat": ("reports", "bridge", "entities", "chunks"),
}


@dataclass(frozen=True, slots=True)
class _Desk:
    """What a question is worked on with, and what it found: entities of all layers, best first, and communities.

    Of the communities, `beside` in number, there are those whose reports may be read.
    """

    question: Question
    query: Vectors
    rt: Runtime
    index: Index
    ties: Ties
    joins: Ends
    candidates: dict[int, float]
    local: list[int]
    communities: dict[int, Cluster]
    beside: int


@dataclass(frozen=True)
class HiRAG:
    """Three levels of knowledge. `mode` says what is read: `hirag` all of them; `hi_nobridge` no bridge; `hi_local`
    entities with their relations, and chunks; `hi_global` reports and chunks; `hi_bridge` the bridge and chunks; `flat`
    is `hirag` on the graph without summary entities, whose reports it needs.

    The `top` entities nearest to the question are local (the paper's n), ten times as many are candidates; a cosine is
    at least `cosine_floor`. `by` says how they are found, see `find_candidates`. Communities are read down to `depth`;
    each gives the first `top_m` candidates in it as key entities, between which the bridge leads; `path_only` leaves of
    it the relations on its own way. `order` says which chunks of the local entities are read first: those that the
    neighbours of the nearest share (the authors' code), or those nearest to the question, which `auto` takes where
    vectors compare words alone. Each section has its budget; where all together exceed `context_tokens`, each has its
    share of that, and what one leaves the next may use.
    """

    mode: Mode = "hirag"
    top: int = 20
    top_m: int = 10
    cosine_floor: float = 0.2
    by: Sought = "auto"
    depth: int = 2
    path_only: bool = False
    order: Order = "auto"
    report_tokens: int = 12_500
    bridge_tokens: int = 12_500
    relation_tokens: int = 20_000
    entity_tokens: int = 5_000
    text_tokens: int = 20_000
    context_tokens: int = 32_000
    name: str = "hirag"
    requires: frozenset[Task] = frozenset({"answer"})

    def __post_init__(self) -> None:
        for field in ("top", "top_m", "context_tokens"):
            if getattr(self, field) < 1:
                raise SettingsError(f"hirag: {field} ({getattr(self, field)}) must be at least 1.")
        for field in ("depth", "report_tokens", "bridge_tokens", "relation_tokens", "entity_tokens", "text_tokens"):
            if getattr(self, field) < 0:
                raise SettingsError(f"hirag: {field} ({getattr(self, field)}) must be at least 0.")
        if not -1 <= self.cosine_floor < 1:
            raise SettingsError(f"hirag: cosine_floor ({self.cosine_floor}) must lie in -1 to below 1.")

    @property
    def reads(self) -> frozenset[PartName]:
        """The graph with its layers; in mode flat with its reports."""
        return frozenset({"graph", "reports" if self.mode == "flat" else "layers"})

    def retrieve(self, question: Question, index: Index, rt: Runtime) -> Evidence:
        """Reports, relations, entities and chunks, in this order; documents by their best chunk."""
        seen = index if self.mode == "flat" else index.part(LAYERS)
        notes = () if self.mode == "flat" else seen.notes()
        query = asked_vector(question, rt)
        candidates = find_candidates(question, query, seen, rt, _WIDER * self.top, self.cosine_floor, self.by)
        if not candidates:
            return Evidence(notes=("no entity of this index is near the question", *notes))
        local = list(candidates)[: self.top]
        communities = communities_around(local, seen, self.depth)
        kept, _ = take_within(communities.items(), self.report_tokens, lambda pair: pair[1].tokens)
        tools = (seen, ties_of(seen, rt), ends_of(seen, rt))
        desk = _Desk(question, query, rt, *tools, candidates, local, dict(kept), len(communities))
        return self._read(desk, notes)

    def answer(self, question: Question, index: Index, rt: Runtime) -> Answer:
        """One answer from these passages."""
        rt.check(self.name, self.requires)
        return conclude_answer(question, self.retrieve(question, index, rt), index, rt)

    # ── sections: the whole stays within the context ──

    def _read(self, desk: _Desk, notes: Sequence[str]) -> Evidence:
        told, left, spare = dict[Section, Told](), dict[Section, int](), 0.0
        share = min(1.0, self.context_tokens / max(1, sum(map(self._budget, _SECTIONS[self.mode]))))
        for section in _SECTIONS[self.mode]:
            own = self._budget(section)
            told[section], offered = self._told(section, desk, min(own, int(share * own + spare)))
            left[section] = offered - len(told[section])
            spare += share * own - told[section].tokens
        passages = tuple(p for part in told.values() for p in part.passages)
        documents = documents_behind([p for part in reversed(told.values()) for p in part.passages], desk.index)
        taken = sum(part.tokens for part in told.values())
        sizes = (f"{_count_things(name, len(p.passages))} ({p.tokens} tokens)" for name, p in told.items())
        said = ["read: " + ", ".join(sizes)]
        if cut := [_count_things(name, count) for name, count in left.items() if count]:
            said.append(f"no room for {', '.join(cut)}")
        return Evidence(passages, documents, taken, sum(left.values()), (*said, *notes))

    def _budget(self, section: Section) -> int:
        return int(getattr(self, _CALLED[section][2]))

    def _told(self, section: Section, desk: _Desk, room: int) -> tuple[Told, int]:
        """What fits of a section, and how much there is of it."""
        if section == "reports":
            kept, _ = take_within(map(report_passage, desk.communities.values()), room, passage_tokens)
            return Told(tuple(kept), sum(map(passage_tokens, kept))), desk.beside
        if section == "entities":
            return entities_within(desk.local, desk.candidates, desk.index, room), len(desk.local)
        if section == "chunks":
            scores = self._chunks(desk)
            return chunks_within(list(scores), scores, desk.index, room), len(scores)
        if section == "bridge":
            places = self._bridge(desk)
        else:  # the relations of the local entities
            places = ranked_links(links_of(desk.local, desk.index), desk.index, desk.joins, desk.ties.weight)
        weights = {place: float(desk.ties.weight[place]) for place in places}
        return relations_within(places, weights, desk.index, desk.joins, room), len(places)

    def _chunks(self, desk: _Desk) -> dict[int, float]:
        """The chunks of the local entities in the order in which they are read, with their nearness where it counts."""
        levels = [e.level for e in take_records(desk.index.graph.entities, desk.local)]
        # those that texts name first: a summary entity rests on very many chunks
        ranked = sorted(zip(desk.local, levels, strict=True), key=lambda pair: pair[1] > 0)
        entities = [place for place, _ in ranked]
        places = flatten_groups(near_neighbours(entities, desk.index, desk.ties, len(desk.index.catalogue.chunks)))
        if settle_comparison(self.order, desk.rt, vectors="shared", words="near") == "shared":
            return dict.fromkeys(places, 0.0)
        scores = Nearness(desk.question, desk.query, desk.index, desk.rt, "auto").of(places)
        order = np.argsort(-scores, kind="stable")
        return {places[i]: float(scores[i]) for i in order.tolist()}

    def _bridge(self, desk: _Desk) -> list[int]:
        """The relations of the bridge between the key entities (Eq. 14–16)."""
        keys = key_entities(list(desk.candidates), desk.communities, desk.index.lookups, self.top_m)
        return bridge_relations(keys, desk.index, desk.joins, desk.ties.weight, path_only=self.path_only)


def _count_things(section: Section, n: int) -> str:
    """`1 report`, `2 relations on bridges`."""
    one, many, _ = _CALLED[section]
    return f"{n} {one if n == 1 else many}"
