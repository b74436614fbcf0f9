"""How LeanRAG's hierarchy is built, level by level: nodes and links, parted by clusters; briefs; what an engine writes.

Zhang et al. 2025, *LeanRAG*, Eq. 3–5. Levels are counted as the paper does: 0 are the entities of the graph, the
nodes of level i are the aggregates of level i − 1.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from sensegraph.algorithms.graphs import Ints
from sensegraph.index.hierarchy.earlier_groups import EarlierGroups
from sensegraph.index.hierarchy.grounding import ground_unless_quoted, resolve_references, resolve_report
from sensegraph.index.hierarchy.packing import Line, report_statements, shown_to
from sensegraph.index.vectors import embed_records
from sensegraph.language.plurals import find_commonest_type
from sensegraph.language.text import count_tokens, fold, take_within
from sensegraph.methods.leanrag.aggregates_part import AggregateSettings, aggregate_texts, quote_statements
from sensegraph.methods.leanrag.tasks import AggregatingEngine
from sensegraph.protocols import LanguageEngine, Vectors
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import Result, Step, step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import (
    Brief,
    Cluster,
    ClusterRelation,
    Context,
    Finding,
    Hierarchy,
    Passage,
    Report,
    Source,
    Statement,
)  # fmt: skip

_LINE = 6  # tokens of a row besides its title and text
_QUOTES = 20  # sentences per row that an engine which quotes is given


@dataclass(frozen=True, slots=True)
class Node:
    """A node of one level: the `row` that stands for it, and what is said of it.

    `entities` and `chunks` are those below and behind it, ascending; `documents` counts theirs.
    """

    row: Line
    type: str
    said: tuple[Statement, ...]
    entities: tuple[str, ...]
    chunks: tuple[str, ...]
    findings: tuple[Finding, ...] = ()

    @property
    def id(self) -> str:
        """The id of the entity or cluster."""
        return self.row.passage.id

    @property
    def name(self) -> str:
        """What it is called."""
        return self.row.passage.title


@dataclass(frozen=True, slots=True)
class Link:
    """A relation between two nodes of one level, whose ids are `row.ends`, and what is said of it."""

    row: Line
    said: tuple[Statement, ...]

    @property
    def id(self) -> str:
        """The id of the relation."""
        return self.row.passage.id


@dataclass(frozen=True, slots=True)
class Level:
    """The nodes of one level by id, and the links between them."""

    nodes: Sequence[Node]
    links: Sequence[Link]


@dataclass(frozen=True, slots=True)
class Parted:
    """The links of a level by the clusters of their ends.

    `inner[c]` are those with both ends in cluster c, `between[a, b]` those from a to b with a < b, each as positions
    among the links, the most linked first.
    """

    inner: list[list[int]]
    between: dict[tuple[int, int], list[int]]


def part_links(level: Level, home: Sequence[int], clusters: int) -> Parted:
    """The links of a level by cluster, in one pass over them; `home[i]` is the cluster of node i (Eq. 5)."""
    place = {node.id: home[i] for i, node in enumerate(level.nodes)}
    inner: list[list[int]] = [[] for _ in range(clusters)]
    between: dict[tuple[int, int], list[int]] = defaultdict(list)
    for i, link in enumerate(level.links):
        a, b = sorted(place[end] for end in link.row.ends)
        (inner[a] if a == b else between[a, b]).append(i)
    for found in (*inner, *between.values()):
        found.sort(key=lambda i: (-level.links[i].row.rank, level.links[i].id))
    return Parted(inner, dict(between))


# ── briefs ──


def aggregate_brief(members: Sequence[Node], links: Sequence[Link], budget: int) -> Brief:
    """What an aggregate is written from: its members by falling degree, then the relations among them (Eq. 4).

    Each of the two has half of `budget`, and what the other leaves; only whole rows are in.
    """
    ranked = sorted(members, key=lambda n: (-n.row.rank, n.id))
    kept, _ = take_within(ranked, budget // 2, lambda n: n.row.tokens)
    room = budget - sum(n.row.tokens for n in kept)
    told, _ = take_within(links, room, lambda k: k.row.tokens)
    if len(kept) < len(ranked):
        kept, _ = take_within(ranked, budget - sum(k.row.tokens for k in told), lambda n: n.row.tokens)
    passages = (*(n.row.passage for n in kept), *(k.row.passage for k in told))
    types = (*(n.type for n in kept), *("" for _ in told))
    omitted = len(ranked) + len(links) - len(passages)
    title = ", ".join(n.name for n in ranked[:3])  # messages call a group without a name by its best-linked members
    return Brief(Context(passages, title, omitted), types=types)


def relation_brief(one: Node, other: Node, links: Sequence[Link], words: int, budget: int) -> Brief:
    """What is written of two aggregates: their descriptions, then the relations between their members (Eq. 5)."""
    ends = tuple(
        replace(n.row.passage, kind="report", text="".join(s.text for s in n.said).strip()) for n in (one, other)
    )
    room = budget - sum(_row_tokens(p) for p in ends)
    told, left = take_within(links, room, lambda k: k.row.tokens)
    passages = (*ends, *(k.row.passage for k in told))
    types = (one.type, other.type, *("" for _ in told))
    return Brief(Context(passages, f"{one.name} — {other.name}", left), words, types)


# ── the level above ──


def node_of(cluster: Cluster, degree: int, engine: LanguageEngine) -> Node:
    """An aggregate as a node of its level, as `engine` is shown it."""
    text = "".join(s.text for s in cluster.summary).strip()
    quotes, documents = quote_statements(report_statements(cluster))[:_QUOTES], cluster.documents
    whole = Passage("report", cluster.id, text, float(degree), cluster.title, quotes=quotes, documents=documents)
    passage = shown_to(engine, whole)
    row = Line(passage, _row_tokens(passage), (cluster.id,), degree)
    return Node(row, cluster.type, cluster.summary, cluster.entities, cluster.chunks, cluster.findings)


def link_of(relation: ClusterRelation, names: Mapping[str, str], engine: LanguageEngine) -> Link:
    """A relation between aggregates as a link of their level, as `engine` is shown it; its rank is its `count`."""
    title = f"{names[relation.source]} — {names[relation.target]}"
    quotes = quote_statements(relation.statements)[:_QUOTES]
    whole = Passage("relation", relation.id, relation.text, float(relation.count), title, quotes=quotes)
    passage, ends = shown_to(engine, whole), (relation.source, relation.target)
    return Link(Line(passage, _row_tokens(passage), ends, relation.count), relation.statements)


def join_relations(links: Sequence[Link]) -> tuple[Statement, ...]:
    """What relations say, joined by line ends, each text once (Eq. 5, below the threshold)."""
    found: dict[str, tuple[Statement, ...]] = {}
    for link in links:
        text = "".join(s.text for s in link.said).strip()
        if text:
            found.setdefault(text, tuple(replace(s, references=(link.id,)) for s in link.said))
    lines = [(*said[:-1], replace(said[-1], text=f"{said[-1].text.rstrip()}\n")) for said in found.values()]
    return tuple(s for said in lines for s in said)


def spans_behind(level: Level, nodes: Sequence[Node] = ()) -> dict[str, tuple[Source, ...]]:
    """The spans behind each node and link of a level."""
    found = {node.id: _sources_of(node.said) for node in (*nodes, *level.nodes)}
    return found | {link.id: _sources_of(link.said) for link in level.links}


def _sources_of(said: Sequence[Statement]) -> tuple[Source, ...]:
    return tuple(dict.fromkeys(source for s in said for source in s.sources))


def _row_tokens(passage: Passage) -> int:
    return count_tokens(passage.title) + count_tokens(passage.text) + _LINE


# ── the hierarchy ──


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
        # by depth, then id, each with its depth and its parent; the relations in the order of what they join
        parent = {m: c.id for found in self.done for c in found for m in c.members}
        clusters = tuple(
            replace(c, depth=depth, parent=parent.get(c.id, ""))
            for depth, found in enumerate(reversed(self.done))
            for c in found
        )
        relations = tuple(sorted(self.relations, key=lambda r: (-r.level, r.source, r.target)))
        return Hierarchy(clusters, 0.0, self._notes(), relations)

    def ask(self, step: Step[Brief, Any], briefs: Sequence[Brief]) -> Sequence[Any]:
        """What the engine writes of each brief."""
        return self.rt.each(step, briefs)

    def labels(self, level: Level, vectors: Result[Vectors]) -> Ints:
        """The cluster of each node of a level."""
        s, ids = self.settings, [node.id for node in level.nodes]
        found = self.followed.group_anew(
            len(self.done), ids, vectors, self.rt, size=s.cluster_size, dims=s.dims, seed=s.seed
        )
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
        """The title, with the type of most members behind it where a member is called like that (L07)."""
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
