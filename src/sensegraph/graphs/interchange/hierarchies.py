"""Communities and community reports to our hierarchy: depth is their level, references lead to records (N59)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sensegraph.algorithms.graphs import canonical_edges, modularity
from sensegraph.errors import InputError
from sensegraph.graphs.interchange.knowledge import Knowledge, Texts, note_names
from sensegraph.graphs.interchange.tables import CommunityRow, Number, ReportRow, Resolver, Tables
from sensegraph.index.hierarchy.packing import Group
from sensegraph.language.text import count_tokens
from sensegraph.runtime.keys import key
from sensegraph.types import Claim, Cluster, Entity, Finding, Graph, Hierarchy, Source, Statement

_LIGHTEST = 1e-9  # weights must be positive


@dataclass(frozen=True, slots=True)
class Grouping:
    """The communities of the tables as groups, children listed in the order of rows.

    `made` are ids of groups of one entity each that no community of depth 0 holds.
    """

    groups: tuple[Group, ...]
    made: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Rows:
    """Community rows by number, with what is found about them."""

    by_number: dict[int, CommunityRow] = field(default_factory=dict)
    parent: dict[int, int] = field(default_factory=dict)  # −1 at the root
    depth: dict[int, int] = field(default_factory=dict)
    members: dict[int, dict[str, None]] = field(default_factory=lambda: defaultdict(dict))


def group_communities(tables: Tables, knowledge: Knowledge) -> Grouping:
    """The communities of the tables, made whole: every entity is in one of depth 0.

    An entity that only relations name joins the communities that hold such a relation, for they hold both its ends.
    Every entity that is still in none becomes a community of its own (specs: D3). Raises InputError for communities
    that are each other's parents.
    """
    rows, notes = _Rows({r.community: r for r in tables.communities}), list[str]()
    if len(rows.by_number) < len(tables.communities):
        raise InputError("communities, column 'community': two rows bear the same number; each needs its own.")
    _fill_members(rows, tables, knowledge, notes)
    _find_parents(rows, notes)
    for number in sorted(rows.depth, key=lambda n: -rows.depth[n]):
        if (parent := rows.parent[number]) >= 0:
            rows.members[parent].update(rows.members[number])
    children: dict[int, list[str]] = defaultdict(list)
    for number, row in rows.by_number.items():
        children[rows.parent[number]].append(row.id)
    ids = {n: row.id for n, row in rows.by_number.items()}
    groups = [
        Group(row.id, rows.depth[n], ids.get(rows.parent[n], ""), tuple(children[n]), tuple(rows.members[n]))
        for n, row in rows.by_number.items()
        if rows.members[n]
    ]
    held = {e for g in groups if not g.depth for e in g.entities}
    alone = [e.id for e in knowledge.graph.entities if e.id not in held]
    if alone:
        notes.append(f"{len(alone)} entities are in no community of level 0; each became one of its own")
    singles = tuple(Group(key("community of one", e)[:20], 0, "", (), (e,)) for e in alone)
    ordered = sorted((*groups, *singles), key=lambda g: (g.depth, g.id))
    return Grouping(tuple(ordered), tuple(g.id for g in singles), tuple(notes))


def _fill_members(rows: _Rows, tables: Tables, knowledge: Knowledge, notes: list[str]) -> None:
    entities = {e.id for e in knowledge.graph.entities}
    made = set(knowledge.made)
    ends = {r.id: (r.source, r.target) for r in knowledge.graph.relations}
    lost: list[str] = []
    for row in tables.communities:
        inner = [e for r in row.relations for e in ends.get(r, ())]
        stated = row.entities or tuple(inner)  # release 1.0 lists relations alone
        lost += [e for e in stated if e not in entities]
        rows.members[row.community].update(dict.fromkeys(e for e in stated if e in entities))
        rows.members[row.community].update(dict.fromkeys(e for e in inner if e in made))
        lost += [r for r in row.relations if r not in ends]
    note_names(notes, lost, "ids in communities name no entity or relationship")


def _find_parents(rows: _Rows, notes: list[str]) -> None:
    """Parents and depths; a parent that is not stated is the community one level up with the same first entity."""
    home: dict[tuple[int, str], int] = {(row.level, e): n for n, row in rows.by_number.items() for e in rows.members[n]}
    lost: list[str] = []
    for number, row in rows.by_number.items():
        parent = row.parent
        if parent is None:
            first = next(iter(rows.members[number]), "")
            parent = home.get((row.level - 1, first), -1)
        if parent >= 0 and parent not in rows.by_number:
            lost.append(str(parent))
            parent = -1
        rows.parent[number] = parent
    for number in rows.by_number:
        path = [number]
        while (parent := rows.parent[path[-1]]) >= 0:
            if parent in path:
                raise InputError(f"communities, column 'parent': community {number} is its own ancestor.")
            path.append(parent)
        rows.depth[number] = len(path) - 1
    note_names(notes, lost, "communities name a parent that is not there, and stand at the root")
    moved = [str(n) for n, row in rows.by_number.items() if rows.depth[n] != row.level]
    note_names(notes, moved, "communities have another depth than their level says")


# ── reports ──


def build_hierarchy(tables: Tables, grouping: Grouping, knowledge: Knowledge, texts: Texts) -> Hierarchy:
    """The hierarchy with the reports of the tables; a community without one has its title alone, and is counted."""
    graph, community_of = knowledge.graph, {r.community: r.id for r in tables.communities}
    reports = {community_of[r.community]: r for r in tables.community_reports if r.community in community_of}
    lost = [str(r.community) for r in tables.community_reports if r.community not in community_of]
    # what the numbers in reports stand for (a row that became no record has none), and the spans behind each record
    kept = {r.id for records in (graph.entities, graph.relations, graph.claims) for r in records}
    numbers: dict[Number, str] = {}
    for table in ("entities", "relationships", "covariates"):
        numbers |= {(table, row.number): row.id for row in getattr(tables, table) if row.id in kept}
    numbers |= {("communities", row.community): row.id for row in tables.communities}
    sources: dict[str, tuple[Source, ...]] = {e.id: tuple(d.source for d in e.descriptions) for e in graph.entities}
    sources |= {r.id: tuple(d.source for d in r.descriptions) for r in graph.relations}
    sources |= {c.id: (c.source,) for c in graph.claims}
    resolver = Resolver(numbers, lambda name: sources.get(name, ()))
    writer = _Writer(graph, texts, resolver, {r.id: r.title for r in tables.communities})
    clusters = writer.clusters(grouping.groups, reports)
    notes = list(grouping.notes)
    note_names(notes, lost, "reports are on communities that are not there, and were left out")
    silent = [g.id for g in grouping.groups if g.id not in reports and g.id not in set(grouping.made)]
    note_names(notes, silent, "communities have no report")
    note_names(notes, resolver.dangling, "references in reports name no record and were removed")
    note_names(notes, resolver.foreign, "references in reports lead out of their community and were removed")
    return Hierarchy(tuple(clusters), _measure_modularity(graph, grouping.groups), tuple(notes))


class _Writer:
    """Makes clusters of groups and report rows."""

    def __init__(self, graph: Graph, texts: Texts, resolver: Resolver, titles: Mapping[str, str]) -> None:
        self.entities: dict[str, Entity] = {e.id: e for e in graph.entities}
        self.claims: dict[str, list[Claim]] = defaultdict(list)
        for claim in graph.claims:
            self.claims[claim.subject].append(claim)
        self.around: dict[str, set[str]] = {e.id: {e.id} for e in graph.entities}  # ends, subjects, neighbours
        for r in graph.relations:
            self.around[r.id] = {r.source, r.target}
            self.around[r.source].add(r.target)
            self.around[r.target].add(r.source)
        self.around |= {c.id: {c.subject} for c in graph.claims}
        self.documents = {c.id: c.document for c in texts.all_chunks()}
        self.resolver, self.titles = resolver, titles

    def clusters(self, groups: Sequence[Group], reports: Mapping[str, ReportRow]) -> list[Cluster]:
        """All clusters in the order of `groups`, with levels counted from the leaves."""
        level: dict[str, int] = {}
        for g in sorted(groups, key=lambda g: -g.depth):
            level[g.id] = 1 + max((level[c] for c in g.children if c in level), default=-1)
        return [self._cluster(g, level[g.id], reports.get(g.id)) for g in groups]

    def _cluster(self, group: Group, level: int, report: ReportRow | None) -> Cluster:
        documents = {self.documents[c] for e in group.entities for c in self.entities[e].chunks}
        made = Cluster(
            group.id, level, group.depth, group.parent, group.children or group.entities, group.entities,
            documents=len(documents),
        )  # fmt: skip
        made = self._told(made, report) if report else self._silent(made)
        return replace(made, tokens=count_tokens(made.title) + count_tokens(made.text))

    def _told(self, made: Cluster, row: ReportRow) -> Cluster:
        members = set(made.entities)

        def near(name: str) -> bool:
            """Whether a record may have been read for the report: one of the cluster, or linked to one."""
            return name not in self.around or not members.isdisjoint(self.around[name])

        findings = tuple(Finding(summary, self.resolver.statements(text, near)) for summary, text in row.findings)
        return replace(
            made,
            title=row.title,
            summary=self.resolver.statements(row.summary, near),
            findings=findings,
            rating=min(10.0, max(0.0, row.rating)),
            rating_explanation=row.explanation,
        )

    def _silent(self, made: Cluster) -> Cluster:
        """A community that nobody reported on: its title, or its one entity's own words and claims."""
        if len(made.entities) > 1 or made.id in self.titles:
            return replace(made, title=self.titles.get(made.id, ""))
        entity = self.entities[made.entities[0]]
        claims = [Statement(f" {c.description}", (c.id,), (c.source,)) for c in self.claims[entity.id]]
        sources = tuple(d.source for d in entity.descriptions[:1])
        said = Statement(entity.description or entity.name, (entity.id,), sources)
        why = "one entity that is in no community"
        return replace(made, title=entity.name, summary=(said, *claims), rating_explanation=why)


def _measure_modularity(graph: Graph, groups: Sequence[Group]) -> float:
    """The modularity of depth 0."""
    place = {e.id: i for i, e in enumerate(graph.entities)}
    if not graph.relations:
        return 0.0
    ends = np.array([(place[r.source], place[r.target]) for r in graph.relations], np.int64)
    weights = np.array([max(r.weight, _LIGHTEST) for r in graph.relations])
    edges = canonical_edges(ends[:, 0], ends[:, 1], weights, len(place))
    labels = np.zeros(len(place), np.int32)
    for i, group in enumerate(g for g in groups if g.depth == 0):
        labels[[place[e] for e in group.entities]] = i
    return float(modularity(edges, labels))
