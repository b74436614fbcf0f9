"""LeanRAG's hierarchy as the part `aggregates` holds it, and one level of it: nodes, links, and the briefs about them.

Zhang et al. 2025, *LeanRAG*, Eq. 3–5. Levels are counted as the paper does: 0 are the entities of the graph, the nodes
of level i are the aggregates of level i − 1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import Ints
from sensegraph.errors import SettingsError
from sensegraph.index.hierarchy.packing import SOURCES, Elements, Line, report_statements, shown_to
from sensegraph.language.text import count_tokens, take_within
from sensegraph.protocols import LanguageEngine
from sensegraph.runtime.results import step
from sensegraph.types import (
    Brief,
    Cluster,
    ClusterRelation,
    Context,
    Description,
    Entity,
    Finding,
    Graph,
    Hierarchy,
    Passage,
    Relation,
    Source,
    Statement,
)


@dataclass(frozen=True, slots=True)
class AggregateSettings:
    """How aggregates are made; the defaults are those of zhang2025-leanrag or of its authors' code.

    A level is parted into clusters of about `cluster_size` nodes, at most twice as many, by a mixture over vectors
    that are reduced to `dims` columns; where fewer than `min_clusters` come out, the root follows at once. More than
    `threshold` relations between two clusters are summed up by the engine, fewer are joined; a list holds one number
    for each level, the last for all above. `input_tokens` bounds what one aggregate or relation is written from.
    `embed` says what vectors are made of: the paper's are those of descriptions alone.
    """

    cluster_size: int = 20
    threshold: int | tuple[int, ...] = 3
    dims: int = 32
    min_clusters: int = 5
    input_tokens: int = 12_000
    embed: Literal["name+description", "description"] = "name+description"
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in {"dims": 1, "input_tokens": 1, "min_clusters": 1, "cluster_size": 2}.items():
            if getattr(self, name) < least:
                raise SettingsError(f"index.aggregates.{name} is {getattr(self, name)}; it must be at least {least}.")
        if min(self.thresholds, default=-1) < 0:
            raise SettingsError(
                f"index.aggregates.threshold is {self.threshold}; it must be at least 0, or a list of such, not empty."
            )
        if self.seed < 0:
            raise SettingsError(f"index.aggregates.seed is {self.seed}; it must not be negative.")

    @property
    def thresholds(self) -> tuple[int, ...]:
        """τ by level."""
        return (self.threshold,) if isinstance(self.threshold, int) else self.threshold

    def above(self, level: int) -> int:
        """τ for the relations of `level`, counted from 1."""
        return self.thresholds[min(level, len(self.thresholds)) - 1]


@dataclass(frozen=True, slots=True)
class AggregateKeys:
    """The keys of what the part is made of; `settings` stands for those that it was made by."""

    hierarchy: str
    ancestry: str
    vectors: str
    described: str
    made_of: str
    settings: str


@dataclass(frozen=True)
class Ancestry:
    """Who is above whom, and which clusters are linked, by position.

    `home[i]` is the cluster that entity i is a member of, `parent[c]` the cluster above cluster c, −1 where there is
    none. The relations of cluster c to later ones are `links[start[c]:start[c + 1]]`, which lead to `other` at the
    same places.
    """

    home: Ints
    parent: Ints
    start: NDArray[np.int64]
    other: Ints
    links: Ints

    def among(self, clusters: Sequence[int]) -> list[tuple[int, int, int]]:
        """The relations between these clusters as (relation, one, other), in the order of the first of their ends."""
        wanted, found = set(clusters), list[tuple[int, int, int]]()
        for c in clusters:
            part = slice(int(self.start[c]), int(self.start[c + 1]))
            pairs = zip(self.links[part].tolist(), self.other[part].tolist(), strict=True)
            found += [(link, c, other) for link, other in pairs if other in wanted]
        return found


@dataclass(frozen=True, slots=True)
class Aggregates:
    """The hierarchy and the chains in it; `notes` say what a filter left out."""

    hierarchy: Hierarchy
    ancestry: Ancestry
    notes: tuple[str, ...] = ()

    def within(self, entities: Sequence[str], cut: Callable[[Cluster], Cluster | None]) -> Aggregates:
        """What is left inside a filter that leaves `entities`, and of each aggregate what `cut` does.

        A relation between aggregates is kept where both stay as they are: what is said of it may rest on all of them.
        """
        cuts = [(whole, left) for whole in self.hierarchy.clusters if (left := cut(whole))]
        same = {left.id for whole, left in cuts if left is whole}
        links = tuple(r for r in self.hierarchy.relations if r.source in same and r.target in same)
        found = replace(self.hierarchy, clusters=tuple(left for _, left in cuts), relations=links, notes=())
        changed = len(cuts) - len(same)
        note = (
            f"{changed} of {len(cuts)} aggregates drew on documents outside the filter and were left out; what is "
            "known of their members inside was read instead"
        )
        return Aggregates(found, make_ancestry.fn([(entities, found)])[0], (note,) if changed else ())


@step("aggregates.aggregates", version=1, form="tables")
def keep_aggregates(
    wholes: Sequence[Hierarchy], *, settings: AggregateSettings, writers: Sequence[str]
) -> list[Hierarchy]:
    """The finished hierarchy; `writers` are who wrote its aggregates and relations, and who made the vectors."""
    return list(wholes)


@step("aggregated.aggregated", version=1)
def keep_aggregate_keys(wholes: Sequence[AggregateKeys]) -> list[AggregateKeys]:
    """What the part is made of."""
    return list(wholes)


@step("aggregated.ancestry", version=1, form="arrays")
def make_ancestry(wholes: Sequence[tuple[Sequence[str], Hierarchy]]) -> list[Ancestry]:
    """The chains of each hierarchy over the entities with these ids."""
    results: list[Ancestry] = []
    for entities, hierarchy in wholes:
        place = {name: i for i, name in enumerate(entities)}
        found = list(hierarchy.clusters)
        number = {c.id: i for i, c in enumerate(found)}
        home = np.full(len(entities), -1, np.int32)
        for i, cluster in enumerate(found):
            if cluster.level == 0:
                home[[place[m] for m in cluster.members if m in place]] = i
        parent = np.array([number.get(c.parent, -1) for c in found], np.int32)
        ends = np.array([(number[r.source], number[r.target]) for r in hierarchy.relations], np.int64).reshape(-1, 2)
        order = np.lexsort((ends[:, 1], ends[:, 0]))
        start = np.concatenate(([0], np.cumsum(np.bincount(ends[:, 0], minlength=len(found))))).astype(np.int64)
        results.append(Ancestry(home, parent, start, ends[order, 1].astype(np.int32), order.astype(np.int32)))
    return results


def quote_statements(said: Iterable[Statement]) -> tuple[Description, ...]:
    """What is said as quotes, one for each span."""
    quotes = (Description(s.text.strip(), source) for s in said for source in s.sources)
    return tuple({q.source: q for q in quotes}.values())


def aggregate_texts(found: Sequence[Cluster], settings: AggregateSettings) -> list[str]:
    """What is embedded of aggregates (Eq. 3)."""
    return [_text_to_embed(c.title, "".join(s.text for s in c.summary).strip(), settings) for c in found]


def described_texts(graph: Graph, settings: AggregateSettings) -> list[str]:
    """What is embedded of entities (Eq. 3)."""
    return [_text_to_embed(e.name, e.description, settings) for e in graph.entities]


def _text_to_embed(name: str, description: str, settings: AggregateSettings) -> str:
    return description if settings.embed == "description" else f"{name}: {description}"


_LINE = 6  # tokens of a row besides its title and text
_QUOTES = 20  # sentences per row that an engine which quotes is given


@dataclass(frozen=True, slots=True)
class Node:
    """A node of one level: the `row` that stands for it, and what is said of it.

    `entities` and `chunks` are those below and behind it, ascending.
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


def ground_level(graph: Graph, rows: Elements) -> Level:
    """Level 0: the entities and relations of a graph, whose lines are `rows`."""

    def said(record: Entity | Relation, text: str) -> tuple[Statement]:
        return (Statement(text, (record.id,), tuple(dict.fromkeys(d.source for d in record.descriptions[:SOURCES]))),)

    nodes = [
        Node(rows.entity[e.id], e.type, said(e, e.description), (e.id,), tuple(sorted(e.chunks)))
        for e in graph.entities
    ]
    row = {line.passage.id: line for found in rows.relations.values() for line in found}
    return Level(nodes, [Link(row[r.id], said(r, row[r.id].passage.text)) for r in graph.relations])


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
