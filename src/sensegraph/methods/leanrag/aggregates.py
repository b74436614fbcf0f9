"""The hierarchy of LeanRAG: clusters of alike entities, an aggregate for each, relations between aggregates; and again.

Zhang et al. 2025, *LeanRAG*, "Hierarchical Knowledge Graph Aggregation", Eq. 3–5.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from sensegraph.algorithms.graphs import Ints
from sensegraph.algorithms.ranking import Stack
from sensegraph.errors import StoreError
from sensegraph.index.hierarchy.earlier_groups import EarlierGroups
from sensegraph.index.hierarchy.packing import elements_for, ground_unless_quoted, resolve_references, resolve_report
from sensegraph.index.hierarchy.similar_clusters import group_vectors
from sensegraph.index.hierarchy.stand_ins import first_words, foresee_results
from sensegraph.index.left_out import quote_as_report
from sensegraph.index.manifest import MadePart, PartEntry
from sensegraph.index.parts import PartEstimate
from sensegraph.index.vectors import embed_records
from sensegraph.language.noun_phrases import find_commonest_type
from sensegraph.language.text import count_tokens, fold
from sensegraph.methods.leanrag.aggregated import (
    AggregateKeys,
    AggregateSettings,
    Level,
    Link,
    Node,
    Parted,
    aggregate_brief,
    aggregate_texts,
    described_texts,
    ground_level,
    join_relations,
    keep_aggregate_keys,
    keep_aggregates,
    link_of,
    make_ancestry,
    node_of,
    part_links,
    relation_brief,
    spans_behind,
)
from sensegraph.methods.leanrag.tasks import AggregatingEngine
from sensegraph.protocols import Store, Task
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

if TYPE_CHECKING:
    from sensegraph.index.estimate import Foresight


_WORDS = 40  # words of a relation between aggregates, for each level that it is above the entities, and one


@step("aggregates.aggregate", version=1, uses="engine", task="aggregate")
def write_aggregates(briefs: Sequence[Brief], *, engine: AggregatingEngine) -> list[Report]:
    """Name, description and findings of each cluster (Eq. 4)."""
    return engine.aggregate(briefs)


@step("aggregates.relate", version=1, uses="engine", task="relate")
def write_aggregate_relations(briefs: Sequence[Brief], *, engine: AggregatingEngine) -> list[tuple[Statement, ...]]:
    """What links two aggregates (Eq. 5)."""
    return engine.relate(briefs)


class Builder:
    """Builds one hierarchy level by level; `done` are the clusters of each, finest first.

    `asked` holds the briefs whose results are not stored, by step, where this is an estimate.
    """

    def __init__(
        self, rt: Runtime, documents: Mapping[str, str], settings: AggregateSettings, earlier: Hierarchy | None
    ) -> None:
        self.rt, self.documents, self.settings = rt, documents, settings
        found = list(earlier.clusters) if earlier else []
        top = max((c.level for c in found), default=0)  # an earlier root says nothing of how nodes are to be parted
        self.followed = EarlierGroups((c.level, c.members, (c.id,)) for c in found if c.level < top)
        self.done: list[list[Cluster]] = []
        self.relations: list[ClusterRelation] = []
        self.regrouped: list[str] = []
        self.counts = Counter[str]()
        self.asked: dict[str, list[Brief]] = defaultdict(list)

    def build(self, ground: Level, vectors: Result[Stack]) -> Hierarchy:
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
        # by depth, then id, each with its depth and its parent; the relations in the order of what they join
        parent = {m: c.id for found in self.done for c in found for m in c.members}
        clusters = list[Cluster]()
        for depth, found in enumerate(reversed(self.done)):
            clusters += [replace(c, depth=depth, parent=parent.get(c.id, "")) for c in found]
        relations = tuple(sorted(self.relations, key=lambda r: (-r.level, r.source, r.target)))
        return Hierarchy(tuple(clusters), 0.0, self._notes(), relations)

    def ask(self, step: Step[Brief, Any], briefs: Sequence[Brief]) -> Sequence[Any]:
        """What the engine writes of each brief."""
        instead: Any = quote_as_report if step.name == write_aggregates.name else lambda _: ()
        return self.rt.each(step, briefs, without=instead)

    def labels(self, level: Level, vectors: Result[Stack]) -> Ints:
        """The cluster of each node of a level."""
        s, ids = self.settings, [node.id for node in level.nodes]
        found = self.followed.group_anew(len(self.done), ids, vectors, self.rt, s.cluster_size, s.dims, s.seed)
        if said := found.note():
            self.regrouped.append(f"level {len(self.done) + 1}: {said}")
        return found.labels

    def embedded(self, made: Sequence[Cluster]) -> Result[Stack]:
        """The vectors of the aggregates of a level (Eq. 3)."""
        texts = aggregate_texts(made, self.settings)
        return embed_records(lambda: texts, self.rt, name=key("aggregates", texts))

    # ── aggregates: §3.1 ──

    def _raised(self, level: Level, labels: Sequence[int]) -> Level:
        """The level above: an aggregate for each cluster of the nodes, by id, and the relations between these."""
        groups: list[list[Node]] = [[] for _ in range(max(labels) + 1)]
        for node, label in zip(level.nodes, labels, strict=True):
            groups[label].append(node)
        order = sorted(range(len(groups)), key=lambda i: self._id(groups[i]))
        members = [groups[i] for i in order]
        links = part_links(level, np.argsort(order)[list(labels)].tolist(), len(members))
        made = self._written(members, [[level.links[i] for i in found] for found in links.inner], level)
        for cluster in made:
            self.followed.pass_on(len(self.done), cluster.members, (cluster.id,))
        self.done.append(made)
        engine = self.rt.engine
        degree = Counter(end for pair in links.between for end in pair)  # how many other clusters each is linked with
        nodes = [node_of(c, degree[i], engine) for i, c in enumerate(made)]
        found = self._related(level, nodes, links)
        self.relations += found
        names = {node.id: node.name for node in nodes}
        return Level(nodes, [link_of(r, names, engine) for r in found])

    def _id(self, members: Sequence[Node]) -> str:
        return key("aggregate", len(self.done), tuple(sorted(m.id for m in members)))[:20]

    def _written(
        self, members: Sequence[Sequence[Node]], inner: Sequence[Sequence[Link]], level: Level
    ) -> list[Cluster]:
        """One cluster for each group; a lone member is passed on as it is, without a call."""
        several = [i for i, found in enumerate(members) if len(found) > 1]
        briefs = {i: aggregate_brief(members[i], inner[i], self.settings.input_tokens) for i in several}
        reports = dict(zip(several, self.ask(write_aggregates, list(briefs.values())), strict=True))
        spans = spans_behind(level)
        made = list[Cluster]()
        for i, found in enumerate(members):
            cluster = self._aggregate(found, reports[i], briefs[i], spans) if i in briefs else self._promoted(found[0])
            documents = len({self.documents[c] for c in cluster.chunks})
            tokens = count_tokens(cluster.title) + count_tokens(cluster.text)
            made.append(replace(cluster, documents=documents, tokens=tokens))
        return made

    def _aggregate(
        self, members: Sequence[Node], written: Report, brief: Brief, spans: Mapping[str, tuple[Source, ...]]
    ) -> Cluster:
        found, lost = resolve_report(written, {p.id for p in brief.context.passages})
        self.counts += Counter(lost=lost, omitted=brief.context.omitted)
        kind = find_commonest_type(Counter(m.type for m in members if m.type))
        chunks = tuple(sorted(set(chain.from_iterable(m.chunks for m in members))))
        return Cluster(
            self._id(members), len(self.done), 0, "", tuple(sorted(m.id for m in members)),
            tuple(sorted(chain.from_iterable(m.entities for m in members))),
            title=self._named(found.title or brief.context.title, members, kind),
            summary=self._grounded(found.summary, spans),
            findings=tuple(Finding(f.summary, self._grounded(f.statements, spans)) for f in found.findings),
            omitted=brief.context.omitted, type=kind, chunks=chunks,
        )  # fmt: skip

    def _promoted(self, member: Node) -> Cluster:
        return Cluster(
            self._id([member]), len(self.done), 0, "", (member.id,), member.entities, title=member.name,
            summary=member.said, findings=member.findings, type=member.type, chunks=member.chunks,
            promoted=member.id,
        )  # fmt: skip

    def _named(self, title: str, members: Sequence[Node], kind: str) -> str:
        """The title, with the type of most members behind it where a member is called like that."""
        taken = {fold(m.name) for m in members}
        if fold(title) not in taken:
            return title
        self.counts["renamed"] += 1
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
        self.counts["omitted"] += sum(b.context.omitted for b in briefs)
        spans = spans_behind(level, nodes)
        summed: dict[tuple[int, int], tuple[Statement, ...]] = {}
        for pair, said, brief in zip(strong, self.ask(write_aggregate_relations, briefs), briefs, strict=True):
            kept, lost = resolve_references(said, {p.id for p in brief.context.passages})
            self.counts += Counter(lost=lost, silent=not kept)
            summed[pair] = self._grounded(kept, spans)
        return [
            self._relation(nodes[a].id, nodes[b].id, found, summed.get((a, b), ())) for (a, b), found in bucket.items()
        ]

    def _relation(self, one: str, other: str, links: Sequence[Link], said: tuple[Statement, ...]) -> ClusterRelation:
        ids = tuple(link.id for link in links)
        name = key("aggregate relation", one, other)[:20]
        return ClusterRelation(name, one, other, len(self.done) - 1, said or join_relations(links), len(links), ids)

    def _grounded(self, said: Sequence[Statement], spans: Mapping[str, tuple[Source, ...]]) -> tuple[Statement, ...]:
        """Statements with the spans behind them."""
        return tuple(ground_unless_quoted(self.rt.engine, s, lambda name: spans.get(name, ())) for s in said)

    # ── the whole ──

    def _notes(self) -> tuple[str, ...]:
        said = {
            "lost": "{} references in aggregates named no record and were removed",
            "renamed": "{} aggregates were called like a member; their type was added to their names",
            "silent": "of {} pairs of aggregates the engine said nothing; their relations were joined instead",
            "omitted": "{} rows had no room in what aggregates and their relations are written from",
        }
        return (*self.regrouped, *(said[what].format(self.counts[what]) for what in said if self.counts[what]))


@dataclass(frozen=True, slots=True)
class Before:
    """What an update starts from: the aggregates of an earlier build, and what they were `made_of`."""

    hierarchy: Result[Hierarchy]
    made_of: str


def aggregates_made_of(graph: str, vectors: str, rt: Runtime, settings: AggregateSettings) -> str:
    """What stands for everything that the aggregates of a graph with these keys depend on."""
    writers = _aggregate_writers(rt)
    return key("aggregates", keep_aggregates.version, group_vectors.version, graph, vectors, settings, writers)


def find_aggregates(
    graph: Result[Graph], vectors: Result[Stack], chunks: Callable[[], Iterable[Chunk]], rt: Runtime,
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


def _aggregate_writers(rt: Runtime) -> tuple[str, ...]:
    return (rt.engine.fingerprint("aggregate"), rt.engine.fingerprint("relate"), rt.embedder.fingerprint())


def aggregate_all(
    graph: Result[Graph], vectors: Result[Stack], chunks: Callable[[], Iterable[Chunk]], rt: Runtime,
    settings: AggregateSettings, before: Before | None,
) -> MadePart:  # fmt: skip
    """The part; `vectors` are those of the entities by name too.

    Raises UnsupportedTask where the engine does not write aggregates.
    """
    rt.check("the aggregates of leanrag", frozenset({"aggregate", "relate"}))
    if settings.embed == "description":
        texts = key("described", graph.key)
        vectors = embed_records(lambda: described_texts(graph.value, settings), rt, name=texts)
    found = find_aggregates(graph, vectors, chunks, rt, settings, before)
    name = key("aggregates", found.key, settings.embed)
    embedded = embed_records(lambda: aggregate_texts(found.value.clusters, settings), rt, name=name)
    ids = [e.id for e in graph.value.entities]
    above = rt.once(make_ancestry, lambda: (ids, found.value), names=(graph.key, found.key))
    whole = aggregates_made_of(graph.key, vectors.key, rt, settings)
    keys = AggregateKeys(found.key, above.key, embedded.key, vectors.key, whole, key(settings))
    entry = PartEntry(rt.once(keep_aggregate_keys, keys).key, {"described": vectors.key, "aggregate": embedded.key})
    counts = {"aggregates": len(found.value.clusters), "aggregate_relations": len(found.value.relations)}
    return MadePart(entry, counts, found.value.notes)


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


_NOTHING: Result[Stack] = Result("", Stack())  # vectors of texts that stand in say nothing
# the task of each step, and the tokens of what nobody has written yet
_FORESEEN: dict[str, tuple[Task, int]] = {
    write_aggregates.name: ("aggregate", 450),
    write_aggregate_relations.name: ("relate", 60),
}


class ForeseenAggregates(Builder):
    """Builds a hierarchy without vectors: what is not known from an earlier build is grouped by its first chunk."""

    def ask(self, step: Step[Brief, Any], briefs: Sequence[Brief]) -> Sequence[Any]:
        """Stored results; else a text of the usual length."""

        def stand_in(brief: Brief) -> Any:
            passages, words = brief.context.passages, _FORESEEN[step.name][1] * 2 // 3
            said = (Statement(first_words(passages, words), (passages[0].id,)),)
            return Report(f"{brief.context.title} and others", said) if step.name == write_aggregates.name else said

        found, missing = foresee_results(self.rt, step, briefs, stand_in)
        self.asked[step.name] += missing
        return found

    def labels(self, level: Level, vectors: Result[Stack]) -> Ints:
        """The earlier cluster of each node; new nodes in groups of the usual size."""
        found = self.followed.labels(len(self.done), [node.id for node in level.nodes])
        found = found.copy() if len(found) else np.full(len(level.nodes), -1, np.int32)
        first, size = int(found.max(initial=-1)) + 1, self.settings.cluster_size
        new = sorted(np.flatnonzero(found < 0).tolist(), key=lambda i: (level.nodes[i].chunks[:1], i))
        for rank, i in enumerate(new):
            found[i] = first + rank // size
        return np.unique(found, return_inverse=True)[1].astype(np.int32)

    def embedded(self, made: Sequence[Cluster]) -> Result[Stack]:
        """Nothing."""
        return _NOTHING


def foresee_aggregates(foresight: Foresight, settings: AggregateSettings, earlier: str) -> PartEstimate:
    """What would be asked of the engine and embedded; `earlier` is the key of the part as it is now."""
    rt, graph = foresight.rt, foresight.graph
    documents = {c.id: c.document for c in foresight.chunks}
    before = earlier_aggregates(rt.store, earlier, settings)
    builder = ForeseenAggregates(rt, documents, settings, before.hierarchy.value if before else None)
    found = builder.build(ground_level(graph, elements_for(rt.engine, graph, documents)), _NOTHING)
    texts = aggregate_texts(found.clusters, settings)
    texts += described_texts(graph, settings) if settings.embed == "description" else []
    asked = builder.asked
    steps = (foresight.step(n, task, asked[n], [size] * len(asked[n])) for n, (task, size) in _FORESEEN.items())
    return PartEstimate(tuple(steps), texts)
