"""One level of LeanRAG's hierarchy: its nodes and links, parted by clusters in one pass, and the briefs about them.

Zhang et al. 2025, *LeanRAG*, Eq. 4 and 5. Levels are counted as the paper does: 0 are the entities of the graph, the
nodes of level i are the aggregates of level i − 1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sensegraph.index.hierarchy.grounding import SOURCES
from sensegraph.index.hierarchy.packing import Elements, Line, report_statements, shown_to
from sensegraph.language.text import count_tokens, take_within
from sensegraph.methods.leanrag.aggregates_part import AggregateSettings, quote_statements
from sensegraph.protocols import LanguageEngine
from sensegraph.types import (
    Brief,
    Cluster,
    ClusterRelation,
    Context,
    Entity,
    Finding,
    Graph,
    Passage,
    Relation,
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


# ── what is embedded ──


def aggregate_texts(found: Sequence[Cluster], settings: AggregateSettings) -> list[str]:
    """What is embedded of aggregates (Eq. 3)."""
    return [_text_to_embed(c.title, "".join(s.text for s in c.summary).strip(), settings) for c in found]


def described_texts(graph: Graph, settings: AggregateSettings) -> list[str]:
    """What is embedded of entities (Eq. 3)."""
    return [_text_to_embed(e.name, e.description, settings) for e in graph.entities]


def _text_to_embed(name: str, description: str, settings: AggregateSettings) -> str:
    return description if settings.embed == "description" else f"{name}: {description}"
