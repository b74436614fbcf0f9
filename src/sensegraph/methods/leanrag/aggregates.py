"""The hierarchy of LeanRAG: clusters of alike entities, an aggregate for each, relations between aggregates; and again.

Zhang et al. 2025, *LeanRAG*, "Hierarchical Knowledge Graph Aggregation", Eq. 3–5; L03–L12.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from sensegraph.algorithms.graphs import Ints
from sensegraph.errors import StoreError
from sensegraph.index.hierarchy.grounding import ground_unless_quoted, resolve_references, resolve_report
from sensegraph.index.hierarchy.packing import elements_for
from sensegraph.index.hierarchy.similar_clusters import group_vectors
from sensegraph.index.vectors import embed_records
from sensegraph.language.noun_phrases import find_commonest_type
from sensegraph.language.text import count_tokens, fold
from sensegraph.methods.leanrag.aggregated import (
    AggregateKeys,
    AggregateSettings,
    keep_aggregate_keys,
    keep_aggregates,
    make_ancestry,
)
from sensegraph.methods.leanrag.aggregating import (
    Level,
    Link,
    Node,
    Parted,
    aggregate_brief,
    ground_level,
    join_relations,
    link_of,
    node_of,
    part_links,
    relation_brief,
    sources_of,
)
from sensegraph.methods.leanrag.following import Followed
from sensegraph.methods.leanrag.tasks import AggregatingEngine
from sensegraph.protocols import Store, Vectors
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import Result, Step, recall_result, step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import (
    Brief,
    Chunk,
    Cluster,
    ClusterRelation,
    Finding,
    Graph,
    Hierarchy,
    Report,
    Source,
    Statement,
)

_WORDS = 40  # words of a relation between aggregates, for each level that it is above the entities, and one


@step("aggregates.aggregate", version=1, uses="engine", task="aggregate")
def write_aggregates(briefs: Sequence[Brief], *, engine: AggregatingEngine) -> list[Report]:
    """Name, description and findings of each cluster (Eq. 4)."""
    return engine.aggregate(briefs)


@step("aggregates.relate", version=1, uses="engine", task="relate")
def write_aggregate_relations(briefs: Sequence[Brief], *, engine: AggregatingEngine) -> list[tuple[Statement, ...]]:
    """What links two aggregates (Eq. 5)."""
    return engine.relate(briefs)


@dataclass(frozen=True, slots=True)
class Before:
    """What an update starts from: the aggregates of an earlier build, and what they were `made_of`."""

    hierarchy: Result[Hierarchy]
    made_of: str


def aggregates_made_of(graph: str, vectors: str, rt: Runtime, settings: AggregateSettings) -> str:
    """What stands for everything that the aggregates of a graph with these keys depend on."""
    return key(
        "aggregates", keep_aggregates.version, group_vectors.version, graph, vectors, settings, _aggregate_writers(rt)
    )


def find_aggregates(
    graph: Result[Graph], vectors: Result[Vectors], chunks: Callable[[], Iterable[Chunk]], rt: Runtime,
    settings: AggregateSettings, before: Before | None = None,
) -> Result[Hierarchy]:  # fmt: skip
    """The aggregates over `graph`, whose entities have these vectors; paid for only where a brief changed.

    With `before`, clusters are changed as little as the new vectors demand. Raises StepFailed where the engine failed;
    what it had written is stored.
    """
    whole = aggregates_made_of(graph.key, vectors.key, rt, settings)
    if before and before.made_of == whole:
        return before.hierarchy

    def write() -> Hierarchy:
        documents = {c.id: c.document for c in chunks()}
        ground = ground_level(graph.value, elements_for(rt.engine, graph.value, documents))
        return Builder(rt, documents, settings, before.hierarchy.value if before else None).build(ground, vectors)

    names = (whole, before.hierarchy.key if before else "")
    return rt.once(keep_aggregates, write, names=names, settings=settings, writers=_aggregate_writers(rt))


def aggregate_texts(found: Sequence[Cluster], settings: AggregateSettings) -> list[str]:
    """What is embedded of aggregates (Eq. 3)."""
    return [_text_to_embed(c.title, "".join(s.text for s in c.summary).strip(), settings) for c in found]


def described_texts(graph: Graph, settings: AggregateSettings) -> list[str]:
    """What is embedded of entities (Eq. 3)."""
    return [_text_to_embed(e.name, e.description, settings) for e in graph.entities]


def _text_to_embed(name: str, description: str, settings: AggregateSettings) -> str:
    if settings.embed == "description":
        return description
    return f"{name}: {description}"


def _aggregate_writers(rt: Runtime) -> tuple[str, ...]:
    return (rt.engine.fingerprint("aggregate"), rt.engine.fingerprint("relate"), rt.embedder.fingerprint())


def aggregate_all(
    graph: Result[Graph], vectors: Result[Vectors], chunks: Callable[[], Iterable[Chunk]], rt: Runtime,
    settings: AggregateSettings, before: Before | None,
) -> tuple[str, AggregateKeys, Hierarchy]:  # fmt: skip
    """The key of the part, what it is made of, and its hierarchy; `vectors` are those of the entities by name too.

    Raises UnsupportedTask where the engine does not write aggregates.
    """
    rt.check("the aggregates of leanrag", frozenset({"aggregate", "relate"}))
    own = settings.embed == "description"
    if own:
        texts = key("described", graph.key)
        vectors = embed_records(lambda: described_texts(graph.value, settings), rt, name=texts)
    found = find_aggregates(graph, vectors, chunks, rt, settings, before)
    embedded = embed_records(
        lambda: aggregate_texts(found.value.clusters, settings), rt, name=key("aggregates", found.key, settings.embed)
    )
    ids = [e.id for e in graph.value.entities]
    above = rt.once(make_ancestry, lambda: (ids, found.value), names=(graph.key, found.key))
    whole = aggregates_made_of(graph.key, vectors.key, rt, settings)
    keys = AggregateKeys(found.key, above.key, embedded.key, vectors.key, whole, key(settings))
    return rt.once(keep_aggregate_keys, keys).key, keys, found.value


def earlier_aggregates(store: Store, name: str, settings: AggregateSettings) -> Before | None:
    """The part under the key `name`, if it is there and was made by the same settings."""
    if not name:
        return None
    try:
        made = recall_result(store, keep_aggregate_keys, name)
        if made.settings != key(settings):
            return None  # an update keeps what it finds, and what it finds obeys other settings
        return Before(Result(made.hierarchy, recall_result(store, keep_aggregates, made.hierarchy)), made.made_of)
    except StoreError:
        return None  # gone or of another version: the build makes it anew instead of failing for ever


class Builder:
    """Builds one hierarchy level by level; `done` are the clusters of each, finest first."""

    def __init__(
        self, rt: Runtime, documents: Mapping[str, str], settings: AggregateSettings, earlier: Hierarchy | None
    ) -> None:
        self.rt, self.documents, self.settings = rt, documents, settings
        self.followed = Followed(earlier)
        self.done: list[list[Cluster]] = []
        self.relations: list[ClusterRelation] = []
        self.regrouped: list[str] = []
        self.lost = self.renamed = self.omitted = self.silent = 0

    def build(self, ground: Level, vectors: Result[Vectors]) -> Hierarchy:
        """The hierarchy over the entities of `ground`; always one root, but none over a single entity."""
        level, n = ground, len(ground.nodes)
        most = round(math.log(max(n, 1)) / math.log(self.settings.cluster_size)) + 1
        while len(level.nodes) > 2 and len(self.done) < most:
            labels = self.labels(level, vectors)
            if int(labels.max()) + 1 < self.settings.min_clusters:
                break
            level = self._raised(level, labels.tolist())
            vectors = self.embedded(self.done[-1])
        if len(level.nodes) > 1:
            self._raised(level, [0] * len(level.nodes))
        return Hierarchy(tuple(self._clusters()), 0.0, tuple(self._notes()), tuple(self._links()))

    def ask(self, step: Step[Brief, Any], briefs: Sequence[Brief]) -> Sequence[Any]:
        """What the engine writes of each brief."""
        return self.rt.each(step, briefs)

    def labels(self, level: Level, vectors: Result[Vectors]) -> Ints:
        """The cluster of each node of a level."""
        start, s = self.followed.labels(len(self.done), [node.id for node in level.nodes]), self.settings
        names = (vectors.key, key(start.tolist()))
        found = self.rt.once(
            group_vectors, lambda: (vectors.value, start), names=names, size=s.cluster_size, dims=s.dims, seed=s.seed
        ).value
        if said := found.note():
            self.regrouped.append(f"level {len(self.done) + 1}: {said}")
        return found.labels

    def embedded(self, made: Sequence[Cluster]) -> Result[Vectors]:
        """The vectors of the aggregates of a level (Eq. 3)."""
        texts = aggregate_texts(made, self.settings)
        return embed_records(lambda: texts, self.rt, name=key("aggregates", texts))

    # ── aggregates: §3.1 ──

    def _raised(self, level: Level, labels: Sequence[int]) -> Level:
        """The level above: an aggregate for each cluster of the nodes, by id, and the relations between these."""
        labels = self._by_id(level, labels)
        members: list[list[Node]] = [[] for _ in range(max(labels) + 1)]
        for node, label in zip(level.nodes, labels, strict=True):
            members[label].append(node)
        links = part_links(level, labels, len(members))
        made = self._written(members, [[level.links[i] for i in found] for found in links.inner], level)
        self.followed.pass_on(len(self.done), made)
        self.done.append(made)
        engine = self.rt.engine
        degree = Counter(end for pair in links.between for end in pair)  # how many other clusters each is linked with
        nodes = [node_of(c, degree[i], engine) for i, c in enumerate(made)]
        found = self._related(level, nodes, links)
        self.relations += found
        names = {node.id: node.name for node in nodes}
        return Level(nodes, [link_of(r, names, engine) for r in found])

    def _by_id(self, level: Level, labels: Sequence[int]) -> list[int]:
        """The labels numbered by the ids of their clusters, which are the keys of their members and their level."""
        members: list[list[str]] = [[] for _ in range(max(labels) + 1)]
        for node, label in zip(level.nodes, labels, strict=True):
            members[label].append(node.id)
        ids = [self._id(found) for found in members]
        number = {old: new for new, old in enumerate(sorted(range(len(ids)), key=lambda i: ids[i]))}
        return [number[label] for label in labels]

    def _id(self, members: Iterable[str]) -> str:
        return key("aggregate", len(self.done), tuple(sorted(members)))[:20]

    def _written(
        self, members: Sequence[Sequence[Node]], inner: Sequence[Sequence[Link]], level: Level
    ) -> list[Cluster]:
        """One cluster for each group; a lone member is passed on as it is, without a call."""
        several = [i for i, found in enumerate(members) if len(found) > 1]
        briefs = {i: aggregate_brief(members[i], inner[i], self.settings.input_tokens) for i in several}
        reports = dict(zip(several, self.ask(write_aggregates, list(briefs.values())), strict=True))
        spans = _spans_behind(level)
        return [
            self._aggregate(found, reports[i], briefs[i], spans) if i in briefs else self._promoted(found[0])
            for i, found in enumerate(members)
        ]

    def _aggregate(
        self, members: Sequence[Node], written: Report, brief: Brief, spans: Mapping[str, tuple[Source, ...]]
    ) -> Cluster:
        found, lost = resolve_report(written, {p.id for p in brief.context.passages})
        self.lost, self.omitted = self.lost + lost, self.omitted + brief.context.omitted
        kind = find_commonest_type(Counter(m.type for m in members if m.type))
        chunks = tuple(sorted(set(chain.from_iterable(m.chunks for m in members))))
        return self._finished(
            Cluster(
                self._id(m.id for m in members), len(self.done), 0, "", tuple(sorted(m.id for m in members)),
                tuple(sorted(chain.from_iterable(m.entities for m in members))),
                title=self._named(found.title or brief.context.title, members, kind),
                summary=self._grounded(found.summary, spans),
                findings=tuple(Finding(f.summary, self._grounded(f.statements, spans)) for f in found.findings),
                omitted=brief.context.omitted, type=kind, chunks=chunks,
            )
        )  # fmt: skip

    def _promoted(self, member: Node) -> Cluster:
        return self._finished(
            Cluster(
                self._id([member.id]), len(self.done), 0, "", (member.id,), member.entities, title=member.name,
                summary=member.said, findings=member.findings, type=member.type, chunks=member.chunks,
                promoted=member.id,
            )
        )  # fmt: skip

    def _finished(self, made: Cluster) -> Cluster:
        documents = len({self.documents[c] for c in made.chunks})
        return replace(made, documents=documents, tokens=count_tokens(made.title) + count_tokens(made.text))

    def _named(self, title: str, members: Sequence[Node], kind: str) -> str:
        """The title, with the type of most members behind it where a member is called like that (L07)."""
        taken = {fold(m.name) for m in members}
        if fold(title) not in taken:
            return title
        self.renamed += 1
        while fold(title) in taken:
            title = f"{title} ({kind or 'group'})"
        return title

    # ── relations between aggregates: §3.2 ──

    def _related(self, level: Level, nodes: Sequence[Node], links: Parted) -> list[ClusterRelation]:
        """What links the new nodes: one relation for each pair of clusters that relations of the level below join."""
        number = len(self.done)
        bucket = {pair: [level.links[i] for i in found] for pair, found in sorted(links.between.items())}
        strong = {pair: found for pair, found in bucket.items() if len(found) > self.settings.above(number)}
        limits = (_WORDS * (number + 1), self.settings.input_tokens)
        briefs = [relation_brief(nodes[a], nodes[b], found, *limits) for (a, b), found in strong.items()]
        self.omitted += sum(b.context.omitted for b in briefs)
        told = dict(zip(strong, zip(self.ask(write_aggregate_relations, briefs), briefs, strict=True), strict=True))
        spans = _spans_behind(level, nodes)
        summed = {pair: self._summed(said, brief, spans) for pair, (said, brief) in told.items()}
        self.silent += sum(not said for said in summed.values())
        return [
            self._relation(nodes[a].id, nodes[b].id, found, summed.get((a, b), ())) for (a, b), found in bucket.items()
        ]

    def _relation(self, one: str, other: str, links: Sequence[Link], said: tuple[Statement, ...]) -> ClusterRelation:
        ids = tuple(link.id for link in links)
        name = key("aggregate relation", one, other)[:20]
        return ClusterRelation(name, one, other, len(self.done) - 1, said or join_relations(links), len(links), ids)

    def _summed(
        self, said: tuple[Statement, ...], brief: Brief, spans: Mapping[str, tuple[Source, ...]]
    ) -> tuple[Statement, ...]:
        found, lost = resolve_references(said, {p.id for p in brief.context.passages})
        self.lost += lost
        return self._grounded(found, spans)

    def _grounded(self, said: Sequence[Statement], spans: Mapping[str, tuple[Source, ...]]) -> tuple[Statement, ...]:
        """Statements with the spans behind them."""
        return tuple(ground_unless_quoted(self.rt.engine, s, lambda name: spans.get(name, ())) for s in said)

    # ── the whole ──

    def _clusters(self) -> Iterator[Cluster]:
        """All clusters by depth, then id, each with its depth and its parent."""
        parent = {m: c.id for found in self.done for c in found for m in c.members}
        for depth, found in enumerate(reversed(self.done)):
            yield from (replace(c, depth=depth, parent=parent.get(c.id, "")) for c in found)

    def _links(self) -> list[ClusterRelation]:
        """The relations in the order of the clusters that they join."""
        return sorted(self.relations, key=lambda r: (-r.level, r.source, r.target))

    def _notes(self) -> Iterator[str]:
        yield from self.regrouped
        if self.lost:
            yield f"{self.lost} references in aggregates named no record and were removed"
        if self.renamed:
            yield f"{self.renamed} aggregates were called like a member; their type was added to their names"
        if self.silent:
            yield f"of {self.silent} pairs of aggregates the engine said nothing; their relations were joined instead"
        if self.omitted:
            yield f"{self.omitted} rows had no room in what aggregates and their relations are written from"


def _spans_behind(level: Level, nodes: Sequence[Node] = ()) -> dict[str, tuple[Source, ...]]:
    """The spans behind each node and link of a level."""
    found = {node.id: sources_of(node.said) for node in (*nodes, *level.nodes)}
    return found | {link.id: sources_of(link.said) for link in level.links}
