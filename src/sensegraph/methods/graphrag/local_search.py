"""GraphRAG's local search: an answer from the neighbourhood of the entities that a question is about.

paper: Edge et al. 2024 builds the index; the search is that of the authors' implementation, release 3.3.0
index: chunk → extract → merge → communities → reports
query: entities named or meant → reports, relations, claims, chunks around them → one call
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from sensegraph.answering.asking import conclude_answer
from sensegraph.errors import SettingsError
from sensegraph.index.hierarchy.packing import report_passage
from sensegraph.index.index import Index
from sensegraph.index.passages import (
    Room,
    chunk_passage,
    claim_passage,
    entity_passage,
    passage_tokens,
    relation_passage,
)
from sensegraph.index.vectors import asked_vector, nearest_to
from sensegraph.language.text import count_tokens
from sensegraph.protocols import PartName, Task
from sensegraph.retrieval.assembling import quoted_chunks, read_in_turn
from sensegraph.retrieval.signals import entities_named_in
from sensegraph.runtime.results import take_records
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Answer, Cluster, Entity, Evidence, Passage, Question, Relation, Turn


@dataclass(frozen=True)
class Shares:
    """How much is read around a question.

    `text`, `reports` and `history` are shares of `context_tokens`; entities, relations and claims get the rest, which
    must be above 0. What one part leaves, the next may use. `top_entities` bounds the seeds, `top_relations` times
    their number the relations to entities outside; with 2 `hops` also those of the entities so reached.
    """

    context_tokens: int = 12_000
    text: float = 0.5  # N56
    reports: float = 0.1
    history: float = 0.1
    top_entities: int = 10
    top_relations: int = 10
    hops: int = 1

    def check(self, method: str) -> None:
        """Raise SettingsError for shares that leave no room for entities and relations, or other nonsense."""
        shares = (self.text, self.reports, self.history)
        if min(shares) < 0 or sum(shares) >= 1:
            raise SettingsError(
                f"{method}: the shares text ({self.text}), reports ({self.reports}) and history ({self.history}) must "
                "be at least 0 and sum to less than 1: entities and relations get the rest."
            )
        if min(self.context_tokens, self.top_entities) < 1 or self.top_relations < 0 or self.hops not in (1, 2):
            raise SettingsError(
                f"{method}: context_tokens ({self.context_tokens}) and top_entities ({self.top_entities}) must be at "
                f"least 1, top_relations ({self.top_relations}) at least 0, hops ({self.hops}) 1 or 2."
            )


@dataclass(frozen=True, slots=True)
class Around:
    """What was found: the evidence, and the conversation as far as it fits."""

    evidence: Evidence
    history: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True)
class _Seeds:
    """Entities of the question, best first: their positions, records and scores."""

    places: list[int]
    entities: list[Entity]
    scores: list[float]


def read_around(question: Question, index: Index, rt: Runtime, shares: Shares) -> Around:
    """Reports, entities, relations, claims and chunks around the entities that `question` names or means."""
    budget, rest = shares.context_tokens, 1 - shares.text - shares.reports - shares.history
    seeds = find_seed_entities(question, index, rt, shares.top_entities)
    room = Room(budget * shares.history)
    turns = room.filled(reversed(question.history), lambda t: count_tokens(t.question) + count_tokens(t.answer))
    history = tuple(reversed(turns))
    room.left += budget * shares.reports
    offered = list(_seed_reports(seeds, index))
    shown = room.filled(offered, lambda c: c.tokens + count_tokens(c.title))
    reports = [report_passage(cluster) for cluster in shown]
    room.left += budget * rest
    links = _Links(index, seeds, shares)
    records = room.filled(links.passages(), passage_tokens)
    room.left += budget * shares.text
    # the chunks that mention seeds, by the first seed in each, then by how many of its relations
    first: dict[str, int] = {}
    for i, entity in enumerate(seeds.entities):
        for chunk in entity.chunks:
            first.setdefault(chunk, i)
    told: dict[str, Counter[str]] = defaultdict(Counter)
    for relation in links.shown:
        for chunk in relation.chunks:
            told[chunk].update((relation.source, relation.target))
    ids = [e.id for e in seeds.entities]
    ranked = sorted(first, key=lambda c: (first[c], -told[c][ids[first[c]]], c))
    sizes = index.tokens_of(ranked)
    fitting = room.filled((c for c in ranked if c in sizes), lambda c: sizes[c])
    found = index.chunks(fitting)
    chunks = [chunk_passage(found[name]) for name in fitting]
    passages = [*reports, *records, *chunks]
    behind = index.documents_of([c.id for c in chunks])
    others = index.documents_of(quoted_chunks(records))
    documents = tuple(dict.fromkeys([*behind.values(), *others.values()]))
    omitted = len(offered) + links.count() + len(ranked) - len(passages)
    return Around(Evidence(tuple(passages), documents, budget - int(room.left), omitted), history)


# ── seeds ──


def find_seed_entities(question: Question, index: Index, rt: Runtime, top: int) -> _Seeds:
    """The entities that the question names, then those nearest to it, `top` in all (D6)."""
    named = entities_named_in(question.text, index)
    places, scores = nearest_to(asked_vector(question, rt), index, rt, top, "entity")
    found = dict.fromkeys(named, 1.0)
    for place, score in zip(places.tolist(), scores.tolist(), strict=True):
        if score > 0:
            found.setdefault(place, score)
    chosen = list(found.items())[:top]
    entities = take_records(index.graph.entities, [place for place, _ in chosen])
    return _Seeds([place for place, _ in chosen], entities, [score for _, score in chosen])


# ── sections ──


def _seed_reports(seeds: _Seeds, index: Index) -> Iterator[Cluster]:
    """The reports on the seeds' communities, those with most seeds first; never one and the other above it."""
    if not index.manifest.hierarchy or not seeds.places:
        return
    homes = index.lookups.homes[seeds.places]
    count = Counter(int(c) for row in homes for c in dict.fromkeys(row.tolist()) if c >= 0)
    places = sorted(count)
    clusters = dict(zip(places, take_records(index.hierarchy.clusters, places), strict=True))
    ranked = sorted(places, key=lambda p: (-count[p], -clusters[p].rating, clusters[p].id))
    yield from skip_nested_clusters(clusters[p] for p in ranked)


def skip_nested_clusters(clusters: Iterable[Cluster]) -> Iterator[Cluster]:
    """These clusters but for those above or below an earlier one: they tell the same twice."""
    taken: list[Cluster] = []
    for cluster in clusters:
        mine = set(cluster.entities)
        if all(mine.isdisjoint(c.entities) for c in taken):
            taken.append(cluster)
            yield cluster


class _Links:
    """The relations around the seeds: those among them, then those that lead outside. `shown` were made passages."""

    def __init__(self, index: Index, seeds: _Seeds, shares: Shares) -> None:
        self.index, self.seeds = index, seeds
        self.ends: dict[int, tuple[int, int]] = {}
        self.shown: list[Relation] = []
        inner, outer, reached = self._ranked(seeds.places)
        most = shares.top_relations * len(seeds.places)
        self.places = [*inner, *outer[:most]]
        if shares.hops == 2:
            known = set(self.places)
            _, further, _ = self._ranked(list(dict.fromkeys([*seeds.places, *reached[:most]])))
            self.places += [p for p in further if p not in known][:most]

    def _ranked(self, places: Sequence[int]) -> tuple[list[int], list[int], list[int]]:
        """Relations inside `places`, by combined degree; those outside, by links and combined degree; their ends."""
        lookups, inside = self.index.lookups, set(places)
        degree, links = lookups.degree, Counter[int]()
        inner: dict[int, int] = {}
        outer: dict[int, tuple[int, int]] = {}
        for seed in places:
            for other, relation in zip(*(a.tolist() for a in lookups.around(seed)), strict=True):
                self.ends.setdefault(relation, (seed, other))
                combined = int(degree[seed] + degree[other])
                if other in inside:
                    inner[relation] = combined
                else:
                    links[other] += 1
                    outer[relation] = (other, combined)
        first = sorted(inner, key=lambda r: (-inner[r], r))
        then = sorted(outer, key=lambda r: (-links[outer[r][0]], -outer[r][1], r))
        return first, then, list(dict.fromkeys(outer[r][0] for r in then))

    def passages(self) -> Iterator[Passage]:
        """Entities in the order of the seeds, relations, claims about the seeds; each read when it is asked for."""
        for entity, score in zip(self.seeds.entities, self.seeds.scores, strict=True):
            yield entity_passage(entity, score)
        name = self.index.lookups.name
        for place, relation in read_in_turn(self.index.graph.relations, self.places):
            self.shown.append(relation)
            a, b = self.ends[place]
            yield relation_passage(relation, name(a), name(b), relation.weight)
        yield from self._claims()

    def count(self) -> int:
        """How many passages there would be with room for all."""
        claims = self.seeds.places if self.index.manifest.counts["claims"] else ()
        told = sum(len(self.index.lookups.told(place)) for place in claims)
        return len(self.seeds.places) + len(self.places) + told

    def _claims(self) -> Iterator[Passage]:
        if not self.index.manifest.counts["claims"]:
            return
        for place, entity in zip(self.seeds.places, self.seeds.entities, strict=True):
            for claim in take_records(self.index.graph.claims, self.index.lookups.told(place).tolist()):
                yield claim_passage(claim, entity.name)


@dataclass(frozen=True)
class Local(Shares):
    """Local search. The shares of `context_tokens` for text, reports and history leave the rest to the graph."""

    name: str = "local"
    requires: frozenset[Task] = frozenset({"answer"})
    reads: frozenset[PartName] = frozenset({"graph"})

    def __post_init__(self) -> None:
        self.check(self.name)

    def retrieve(self, question: Question, index: Index, rt: Runtime) -> Evidence:
        """Reports, entities, relations, claims and chunks, in this order, within the context."""
        return read_around(question, index, rt, self).evidence

    def answer(self, question: Question, index: Index, rt: Runtime) -> Answer:
        """One answer from the neighbourhood."""
        rt.check(self.name, self.requires)
        found = read_around(question, index, rt, self)
        return conclude_answer(replace(question, history=found.history), found.evidence, index, rt)
