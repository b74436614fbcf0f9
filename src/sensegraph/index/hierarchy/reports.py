"""Reports on communities, children before the parents that need them (edge2024 §3.1.5; N17–N22, G15–G20)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import msgspec

from sensegraph.errors import SettingsError
from sensegraph.index.graph.describing import distinct_descriptions
from sensegraph.index.hierarchy.communities import Communities, gather_members
from sensegraph.index.hierarchy.packing import (
    Elements,
    Group,
    elements_for,
    ground_statement,
    pack_community,
    pack_in_part,
    report_statements,
    resolve_report,
)
from sensegraph.index.hierarchy.report_runs import ReportRuns, cut_report_runs, keep_report_runs
from sensegraph.index.hierarchy.written_trees import (
    WrittenReport,
    batch_trees,
    cut_trees,
    place_elements,
    take_batches,
)
from sensegraph.index.left_out import quote_as_report
from sensegraph.index.manifest import Catalogue, ChunkEntry, columns_of_catalogue
from sensegraph.language.text import count_tokens
from sensegraph.protocols import LanguageEngine
from sensegraph.runtime.delegating import work_on_worker
from sensegraph.runtime.joined_rows import find_positions, order_hashes
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import Result, Results, Table, load_result, step, store_records
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import (
    Chunk,
    Cluster,
    Context,
    Entity,
    Finding,
    Graph,
    Hierarchy,
    Relation,
    Report,
    Source,
    Statement,
)

GATHERED = "gathered"  # the type of a community that no relations hold together
_decode_cluster = msgspec.json.Decoder(Cluster).decode


@dataclass(frozen=True, slots=True)
class ReportSettings:
    """`context_tokens`: the budget of what a report is written from (edge2024: 8,000)."""

    context_tokens: int = 8_000

    def __post_init__(self) -> None:
        if self.context_tokens < 1:
            raise SettingsError(f"index.reports.context_tokens is {self.context_tokens}; it must be at least 1.")


@step("reports.report", version=1, uses="engine", task="report")
def report_on_contexts(contexts: Sequence[Context], *, engine: LanguageEngine) -> list[Report]:
    """A report on each community."""
    return engine.report(contexts)


@step("reports.hierarchy", version=5, form="tables")
def keep_hierarchy(clusters: Sequence[Hierarchy], *, settings: ReportSettings, reporter: str) -> list[Hierarchy]:
    """The finished hierarchy; `reporter` is who wrote its reports."""
    return list(clusters)


@step("reports.trees", version=4)
def keep_written(
    found: Sequence[tuple[WrittenReport, ...]], *, settings: ReportSettings, reporter: str
) -> list[tuple[WrittenReport, ...]]:
    """Which communities were written about, from what."""
    return list(found)


def report_all(
    communities: Result[Communities],
    graph: Result[Graph],
    chunks: Callable[[], Iterable[Chunk | ChunkEntry]],
    rt: Runtime,
    settings: ReportSettings,
    earlier: Result[Hierarchy] | None = None,
) -> Result[Hierarchy]:
    """The hierarchy with a report on every community; paid for only where a context changed.

    Nothing is packed anew of communities in which nothing changed since the reports of the build before, `earlier`.
    """
    by = {"settings": settings, "reporter": rt.engine.fingerprint("report")}
    written: dict[str, WrittenReport] = {}

    def write() -> Hierarchy:
        groups = sorted(communities.value.groups, key=lambda g: (g.depth, g.id))
        placed = place_elements(graph.value, groups, communities.value.groups)
        known = {found.community: found for found in _recall_written(earlier, rt, by)} if earlier else {}
        kept = {g.id: known[g.id] for g in groups if g.id in known and known[g.id].key == placed.keys[g.id]}
        runs = cut_report_runs(groups, kept, earlier, rt)
        stored = _recall_clusters(earlier.value, kept, groups, runs, rt) if earlier else {}
        by_id = {g.id: g for g in groups}
        for g in reversed(groups):  # of those to write about, and of their children, the entities are told
            if not g.entities and (g.id not in kept or (g.parent and g.parent not in kept)):
                by_id[g.id] = replace(g, entities=gather_members(g, by_id))
        groups = list(by_id.values())
        rest, lost = [g for g in groups if g.id not in kept], sum(found.lost for found in kept.values())
        listed = chunks() if rest else ()
        partly, tell = dict[str, int](), _tell_documents(listed)
        if kept and isinstance(listed, Table):
            catalogue = columns_of_catalogue(Catalogue((), listed))
            large = list(_list_large(groups, kept, settings.context_tokens))
            partly = placed.count_mentioning(large, catalogue)

        def read(names: Collection[str]) -> tuple[Graph, Mapping[str, str]]:
            inside = placed.read_inside(graph.value, names)
            return inside, tell(inside)

        before = Standing(dict(kept), stored, partly, read)
        trees, held = cut_trees(groups), placed.take([g.id for g in rest if g.id not in partly], partly)
        batches = list(batch_trees(list(held), held))
        graphs = take_batches(graph.value, [[held[root] for root in some] for some in batches])
        records = dict(stored)
        for some, inside in zip(batches, graphs, strict=True):
            beside = placed.name_ends(inside, [held[root] for root in some]) if partly else {}
            writer = Writer(rt, inside, tell(inside), settings, before=before, beside=beside)
            records.update(store_records(writer.write(own := [g for root in some for g in trees[root]])))
            kept.update((found.community, found) for found in writer.list_written(own, placed.keys))
            lost += writer.lost.total()
        written.update(kept)
        clusters = keep_report_runs(runs, records, rt)
        removed = (f"{lost} references in reports named no record and were removed",) if lost else ()
        return Hierarchy(clusters, communities.value.modularity, (*communities.value.notes, *removed))

    def keep() -> str:
        k = rt.once(keep_hierarchy, write, names=(communities.key, graph.key), **by).key
        rt.once(keep_written, lambda: tuple(written[name] for name in sorted(written)), names=(k,), **by)
        return k

    k = work_on_worker(rt, keep, "engine")
    return Result(k, load_result(rt.store, keep_hierarchy, k))


def _tell_documents(chunks: Iterable[Chunk | ChunkEntry]) -> Callable[[Graph], Mapping[str, str]]:
    """What tells the document of each chunk that a graph names from others."""
    if not isinstance(chunks, Table):
        known = {c.id: c.document for c in chunks}
        return lambda graph: known
    columns = columns_of_catalogue(Catalogue((), chunks))  # no entry is read
    ordered = order_hashes(columns.chunks)

    def tell(graph: Graph) -> dict[str, str]:
        told: Iterable[Entity | Relation] = (*graph.entities, *graph.relations)
        named = {name for e in told for name in (*e.chunks, *(d.source.chunk for d in e.descriptions))}
        return {name: str(columns.held_by[at]) for name, at in find_positions(ordered, list(named)).items()}

    return tell


def _recall_written(earlier: Result[Hierarchy], rt: Runtime, by: dict[str, Any]) -> tuple[WrittenReport, ...]:
    """What was written about, where reports were written by these settings and by the same engine."""
    (k,) = rt.keys(keep_written, [()], [key(earlier.key)], **by)
    found = rt.store.read([k])
    return keep_written.decode(found[k]) if k in found else ()


def _recall_clusters(
    earlier: Hierarchy, kept: dict[str, WrittenReport], groups: Sequence[Group], runs: ReportRuns, rt: Runtime
) -> dict[str, bytes]:
    """What is to be stored of the communities that are `kept`: what is, but for those that have another parent now.

    That of runs that stand is left out, unless a report is to be written from it. One that is gone is no longer kept.
    """
    records = earlier.clusters
    asked = {name for ids in runs.changed().values() for name in ids if name in kept}
    asked.update(child for g in groups if g.id not in kept for child in g.children if child in kept)
    found = records.stored(sorted(asked)) if isinstance(records, Table) else dict(store_records(records))
    for name in asked - found.keys():
        del kept[name]
    rt.rely_on(reports := [of.report for of in kept.values() if of.report])
    rt.begun[report_on_contexts.name] += len(reports)
    there = {name: found[name] for name in asked if name in kept}
    moved = [g for g in groups if g.id in there and g.id in runs.moved]
    return there | dict(store_records(replace(_decode_cluster(found[g.id]), parent=g.parent) for g in moved))


@dataclass(frozen=True, slots=True)
class Standing:
    """What stands of the build before: which reports, and what is stored of them.

    Of communities that are read in `partly` it says how many documents mention them; `read` reads what is inside some,
    and tells the documents of that.
    """

    kept: Mapping[str, WrittenReport] = field(default_factory=dict)
    records: Mapping[str, bytes] = field(default_factory=dict)
    partly: Mapping[str, int] = field(default_factory=dict)
    read: Callable[[Collection[str]], tuple[Graph, Mapping[str, str]]] = lambda names: (Graph(), {})


def _list_large(groups: Sequence[Group], kept: Mapping[str, WrittenReport], budget: int) -> Iterator[str]:
    """The communities to write about below which so much is kept that reports stand in its place, whatever else is."""
    sizes = {g.id: len(g.entities) for g in groups}
    for g in groups:
        if g.id in kept or g.gathered:
            continue
        size = sum(kept[child].tokens for child in g.children if child in kept)
        if size > budget and sum(map(sizes.__getitem__, g.children)) == sizes[g.id]:
            yield g.id


class Writer:
    """Writes the reports of one hierarchy in waves: what fits at once, then parents whose children are written."""

    def __init__(
        self,
        rt: Runtime,
        graph: Graph,
        documents: Mapping[str, str],
        settings: ReportSettings,
        write: Callable[[Sequence[Context]], Sequence[Report]] | None = None,
        *,
        before: Standing | None = None,
        beside: Mapping[str, tuple[str, int]] | None = None,
    ) -> None:
        self.ask = write or (lambda contexts: rt.each(report_on_contexts, contexts, without=quote_as_report))
        self.rt, self.documents, self.settings, self.before = rt, documents, settings, before or Standing()
        self.entities = {e.id: e for e in graph.entities}
        self.relations = {r.id: r for r in graph.relations}
        self.claims = {c.id: c for c in graph.claims}
        self.elements: Elements = elements_for(rt.engine, graph, documents, beside)
        self.done: dict[str, Cluster] = {}
        self.level: dict[str, int] = {}
        self.lost = Counter[str]()  # by community
        self.asked: dict[str, str] = {}  # the key of the report on each community that was asked for

    def list_written(self, groups: Sequence[Group], keys: Mapping[str, int]) -> Iterator[WrittenReport]:
        """What was written about these communities, where nothing stands in the place of a report on them or below."""
        whole = set(self.before.kept)
        for g in sorted(groups, key=lambda g: -g.depth):
            if g.id not in whole and self.asked.get(g.id) != "" and whole.issuperset(g.children):
                whole.add(g.id)
                tokens = self.elements.count_tokens(g)
                yield WrittenReport(g.id, keys[g.id], self.asked.get(g.id, ""), self.lost[g.id], tokens)

    def write(self, groups: Sequence[Group]) -> list[Cluster]:
        """All clusters that do not stand yet, ordered by depth, then id."""
        by_id = {g.id: g for g in groups}
        for g in sorted(groups, key=lambda g: -g.depth):
            self.level[g.id] = 1 + max((self.level[c] for c in g.children), default=-1)
        missing = sorted((g for g in groups if g.id not in self.before.kept), key=lambda g: (g.depth, g.id))
        for name in {c for g in missing for c in g.children if c in self.before.kept}:
            self.done[name] = _decode_cluster(self.before.records[name])
        waiting: Sequence[Group] = [g for g in groups if g.id not in self.before.kept]
        while waiting:
            packed = {}
            for g in waiting:
                children = [(by_id[c], self.done.get(c)) for c in g.children]
                packed[g.id] = self._pack(g, children, self.settings.context_tokens)
            ready = [(g, context) for g in waiting if (context := packed[g.id]) is not None]
            self._wave(ready)
            waiting = [g for g in waiting if packed[g.id] is None]
        return [self.done[g.id] for g in missing]

    def _pack(self, group: Group, children: Sequence[tuple[Group, Cluster | None]], budget: int) -> Context | None:
        """The context for the report on a community; None while reports on its children that it needs are missing."""
        if group.id not in self.before.partly:
            return pack_community(group, self.elements, children, budget)
        written = [(child, cluster) for child, cluster in children if cluster is not None]
        if len(written) < len(children):
            return None
        kept = self.before.kept
        sizes = {c.id: kept[c.id].tokens if c.id in kept else self.elements.count_tokens(c) for c, _ in written}

        def load(names: Collection[str]) -> Elements:
            """The lines inside communities, which a report may refer to."""
            graph, documents = self.before.read(names)
            self.entities |= {e.id: e for e in graph.entities}
            self.relations |= {r.id: r for r in graph.relations}
            self.claims |= {c.id: c for c in graph.claims}
            return elements_for(self.rt.engine, graph, documents)

        return pack_in_part(group, self.elements, written, sizes, load, budget)

    def _wave(self, ready: Sequence[tuple[Group, Context]]) -> None:
        plain = [(g, c) for g, c in ready if _speaks_for_itself(c)]
        for g, context in plain:
            # of one entity without claims name and description are the report: no engine is needed
            (passage,) = context.passages
            quotes = distinct_descriptions(passage.quotes)
            said = [Statement(passage.text or passage.title, (passage.id,), tuple(q.source for q in quotes))]
            if len(quotes) > 1:  # each sentence leads to where it stands
                said = [Statement(f"{q.text} ", (passage.id,), (q.source,)) for q in quotes]
            why = "one entity without inner relations"
            own = Report(passage.title, tuple(said), rating=0.0, rating_explanation=why)
            self.done[g.id] = self._cluster(g, own, context)
        rest = [(g, c) for g, c in ready if not _speaks_for_itself(c)]
        known = len(self.rt.lacking)
        written = self.ask([c for _, c in rest])
        if isinstance(written, Results):  # another key than its own stands for what was not read, or set aside
            others = set(self.rt.lacking[known:])
            self.asked |= {g.id: "" if k in others else k for (g, _), k in zip(rest, written.keys, strict=True)}
        for (g, context), found in zip(rest, written, strict=True):
            kept, lost = resolve_report(found, {p.id for p in context.passages})
            self.lost[g.id] = lost
            self.done[g.id] = self._cluster(g, kept, context)

    def _cluster(self, group: Group, found: Report, context: Context) -> Cluster:
        ground = partial(ground_statement, spans=self._sources)
        count = self.before.partly.get(group.id)
        if count is None:
            count = len({self.documents[c] for e in group.entities for c in self.entities[e].chunks})
        made = Cluster(
            id=group.id,
            level=self.level[group.id],
            depth=group.depth,
            parent=group.parent,
            members=group.children or group.entities,
            entities=group.entities,
            title=found.title,
            summary=tuple(map(ground, found.summary)),
            findings=tuple(Finding(f.summary, tuple(map(ground, f.statements))) for f in found.findings),
            rating=min(10.0, max(0.0, found.rating)),
            rating_explanation=found.rating_explanation,
            documents=count,
            omitted=context.omitted,
            type=GATHERED if group.gathered else "",
        )
        return replace(made, tokens=count_tokens(made.title) + count_tokens(made.text))

    def _sources(self, name: str) -> Iterator[Source]:
        element = self.entities.get(name) or self.relations.get(name)
        if element is not None:
            return (d.source for d in element.descriptions)
        if name in self.claims:
            return iter([self.claims[name].source])
        return (s for statement in report_statements(self.done[name]) for s in statement.sources)


def _speaks_for_itself(context: Context) -> bool:
    return len(context.passages) == 1 and context.passages[0].kind == "entity" and not context.omitted


__all__ = ["ReportSettings", "Writer", "keep_hierarchy", "report_all", "report_on_contexts"]
