"""Reading an index without a question: documents, reports, entities, their history, patterns, and the map of it."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from sensegraph.corpus.workspace import Builder, Workspace
from sensegraph.errors import InputError, NotIndexed
from sensegraph.index.browse.copies import find_originals
from sensegraph.index.browse.documents import DocumentTable, list_entities_at, read_named_spans
from sensegraph.index.browse.elements import (
    entity_row,
    find_entities,
    list_reports,
    rank_entities,
    read_entity,
    read_report,
)
from sensegraph.index.browse.pages import DocumentPage, DocumentRow, EntityRow
from sensegraph.index.hierarchy.communities import read_lineage
from sensegraph.index.restricted.arrivals import read_arrivals
from sensegraph.index.restricted.moment import restrict_to_time
from sensegraph.index.restricted.timeline import Change, Event, changes_between, entity_timeline
from sensegraph.language.text import fold
from sensegraph.questions import Scope
from sensegraph.runtime.results import take_records

if TYPE_CHECKING:
    from sensegraph.graphs.drawing.community_map import CommunityInside, CommunityMap, DepthMap, EntityDot
    from sensegraph.graphs.frames import GraphTables
    from sensegraph.graphs.match.matches import Matches, Request
    from sensegraph.index.browse.pages import EntityPage, ReportPage, ReportRow
    from sensegraph.index.index import Index
    from sensegraph.types import Entity

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class _Kept:
    """What was computed once from an index, by name, each under a lock of its own."""

    index: Index
    values: dict[str, object]
    locks: defaultdict[str, threading.Lock]


class Browser:
    """Reads the index of a corpus. Raises NotIndexed where there is none."""

    def __init__(self, workspace: Workspace, builder: Builder) -> None:
        self._workspace, self._builder = workspace, builder
        self._lock = threading.Lock()
        self._kept: _Kept | None = None

    def _keep(self, name: str, compute: Callable[[Index], V]) -> V:
        """What `compute` makes of the index of now, computed once by whichever thread asks first."""
        index = self._builder.index()
        with self._lock:
            if self._kept is None or self._kept.index is not index:
                self._kept = _Kept(index, {}, defaultdict(threading.Lock))
            kept = self._kept
            lock = kept.locks[name]
        with lock:
            if name not in kept.values:
                kept.values[name] = compute(index)
            found: V = kept.values[name]  # type: ignore[assignment]
            return found

    # ── documents ──

    def documents(self, sought: str = "", *, first: int = 0, limit: int = 50) -> tuple[list[DocumentRow], int]:
        """The documents, by id, whose id or title holds `sought` in any case: `limit` from `first`, and how many.

        Those that changed since the index was built say so, and new ones are found by their ids alone; without an index
        all are new.
        """
        now = self._workspace.document_keys()
        try:
            table = self._document_table()
        except NotIndexed:
            table = None
        entries = {d.id: d for d in table.entries} if table else {}
        copied = self._keep("copies", find_originals) if table else {}
        names = sorted(now.keys() | entries.keys())
        if wanted := fold(sought):
            names = [n for n in names if wanted in fold(n) or (n in entries and wanted in fold(entries[n].title))]
        rows = list[DocumentRow]()
        new = [name for name in names[first : first + limit] if name not in entries]
        read = {d.id: d for d in self._workspace.read_documents([now[name] for name in new])}
        for name in names[first : first + limit]:
            if table and name in entries:
                state = "removed" if name not in now else "changed" if now[name] != entries[name].key else "indexed"
                row = table.row(table.numbers[name], state)
                rows.append(replace(row, same_as=copied.get(name, "")))
            else:
                d = read[name]
                rows.append(DocumentRow(d.id, d.title, d.time, d.metadata, 0, "new"))
        return rows, len(names)

    def indexed_at(self) -> str:
        """When the documents of the index changed last (ISO 8601); empty where it has none."""
        versions = (v for found in read_arrivals(self._workspace.store).values() for v in found)
        return max((max(v.known_from, v.known_to) for v in versions), default="")

    def document(self, name: str, *, start: int = 0, end: int | None = None, mentions: bool = False) -> DocumentPage:
        """A document of the index, or its characters `start` to `end`; with `mentions` also where it names entities.

        Raises NotIndexed for one that is not in the index.
        """
        found = self._builder.index().document(name)
        low, high = (max(0, min(x, len(found.text))) for x in (start, len(found.text) if end is None else end))
        part = found.text[low:high]
        told = (found.id, found.title, found.time, found.metadata, part, low, low + len(part), len(found.text))
        page = DocumentPage(*told, found.pages or None)
        if not mentions:
            return page
        spans, entities = read_named_spans(self._builder.index(), self._document_table(), name, found.text)
        return replace(page, mentions=tuple(spans), entities=tuple(entities))

    def _document_table(self) -> DocumentTable:
        return self._keep("documents", DocumentTable.of)

    # ── the map ──

    def _map(self) -> CommunityMap:
        from sensegraph.graphs.drawing.community_map import CommunityMap

        return self._keep("map", lambda index: CommunityMap.of(index, self._workspace.root.resolve().name))

    def map_depth(self, depth: int = 0) -> DepthMap:
        """The communities of a depth (0 is the coarsest), each with its place on the map. Raises InputError for none.

        The map is laid out once for an index, and is the same for all depths.
        """
        return self._map().at_depth(depth)

    def map_community(self, name: str) -> CommunityInside:
        """A community from inside: those below it, its entities, and the links between them, each with its place."""
        return self._map().inside(name)

    def map_entities(self, ids: Sequence[str], places: Sequence[tuple[str, int, int]] = ()) -> list[EntityDot]:
        """Where entities are on the map: those with these ids, and those that chunks at these spans mention."""
        index = self._builder.index()
        named = list_entities_at(index, self._document_table(), places) if places else []
        more = [e.id for e in take_records(index.graph.entities, named)]
        return self._map().dots([*ids, *more])

    # ── reports and entities ──

    def reports(self, depth: int = 0) -> list[ReportRow]:
        """The reports of a depth (0 is the coarsest; of the deepest, where there are not so many), best rating first.

        They cover every entity once: a community that is not divided further stands for itself at the depths below it.
        """
        return list_reports(self._builder.index(), depth)

    def report(self, name: str, *, chunks: int | None = None) -> ReportPage:
        """A report with its sources and all that is below it: `chunks` bounds the chunks that are read.

        `name` is its id of now or of an earlier build, the beginning of it, or its title. Raises InputError where there
        is none, or several.
        """
        now = read_lineage(self._workspace.store).now.get(name, name)
        return read_report(self._builder.index(), now, chunks)

    def entities(self, name: str = "", *, type: str = "") -> list[Entity]:
        """The entities of a name (in any case) or an id, or all of them: those with most neighbours first.

        `type` narrows them. Raises InputError where none has the name, naming the nearest.
        """
        index = self._builder.index()
        if name:
            return find_entities(index, name, type)
        every = (e for e in index.graph.entities if fold(type) in ("", fold(e.type)))
        return sorted(every, key=lambda e: (-e.degree, e.name, e.id))

    def entity_rows(
        self, sought: str = "", *, type: str = "", first: int = 0, limit: int = 50
    ) -> tuple[list[EntityRow], int]:
        """The entities whose name holds `sought` in any case: `limit` from `first`, most neighbours first; how many."""
        ranked = self._keep("entities", rank_entities)
        wanted, kind = fold(sought), fold(type)
        found = [n for name, of, n in ranked if wanted in name and kind in ("", of)]
        records = take_records(self._builder.index().graph.entities, found[first : first + limit])
        return [entity_row(e) for e in records], len(found)

    def entity(self, name: str, *, type: str = "") -> EntityPage:
        """All that is known of the one entity of this name or id: what chunks say, neighbours, claims, communities.

        Raises InputError for a name that is unknown, or that several entities have: give its `type` or its id.
        """
        return read_entity(self._builder.index(), self._find_one_entity(name, type))

    def _find_one_entity(self, name: str, type: str) -> Entity:
        found = find_entities(self._builder.index(), name, type)
        if len(found) > 1:
            kinds = ", ".join(f"{e.type} ({e.id[:10]})" for e in found)
            raise InputError(f"{name!r} is the name of {len(found)} entities: {kinds}; give the type or the id of one.")
        return found[0]

    # ── history ──

    def timeline(self, entity: str, *, since: str = "", until: str = "", type: str = "") -> list[Event]:
        """The dated statements that name `entity` and may hold between two moments (ISO 8601), in order of time.

        Raises InputError for a name that is unknown, or that several entities have: give its `type` or its id.
        """
        return entity_timeline(self._builder.index(), self._find_one_entity(entity, type), since, until)

    def changes(self, first: str, last: str) -> list[Change]:
        """What began, ended or changed after the moment `first` and through `last` (ISO 8601)."""
        return changes_between(self._builder.index(), first, last)

    # ── patterns ──

    def graph(self) -> GraphTables:
        """The graph as tables; see `Corpus.graph`."""
        from sensegraph.graphs.frames import tabulate_graph

        return tabulate_graph(self._builder.index())

    def match(self, request: Request, scope: Scope, *, cite: bool) -> Matches:
        """The rows that match a query, of the documents inside `scope`; with `cite` each row has citations."""
        from sensegraph.graphs.match.facets import collect_facets
        from sensegraph.graphs.match.matches import match_patterns
        from sensegraph.graphs.match.shelf import GraphReader

        whole = self._builder.index()
        index = restrict_to_time(whole, scope)
        graph, space = whole.graph, self._workspace
        if space.store.readonly:
            every = collect_facets.fn([graph])[0]
        else:  # made by the first query over the whole graph, mapped by all others
            every = space.runtime().once(collect_facets, lambda: graph, names=(whole.manifest.graph,)).value
        part = every if index is whole else collect_facets.fn([index.graph])[0]
        found = match_patterns(request, GraphReader(index, part, every), citing=cite)
        return replace(found, notes=(*index.notes(), *found.notes))
