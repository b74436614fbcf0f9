"""Reading an index without a question: reports, entities, their history, and patterns in the graph."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sensegraph.corpus.workspace import Builder, Workspace
from sensegraph.errors import InputError
from sensegraph.index.browse.elements import find_entities, list_reports, read_entity, read_report
from sensegraph.index.hierarchy.communities import read_lineage
from sensegraph.index.restricted.moment import restrict_to_time
from sensegraph.index.restricted.timeline import Change, Event, changes_between, entity_timeline
from sensegraph.language.text import fold
from sensegraph.questions import Scope

if TYPE_CHECKING:
    from sensegraph.graphs.match.matches import Matches, Request
    from sensegraph.index.browse.pages import EntityPage, ReportPage, ReportRow
    from sensegraph.types import Entity


class Browser:
    """Reads the index of a corpus. Raises NotIndexed where there is none."""

    def __init__(self, workspace: Workspace, builder: Builder) -> None:
        self._workspace, self._builder = workspace, builder

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
        every = (e for e in index.graph.entities if type in ("", e.type) or fold(type) == fold(e.type))
        return sorted(every, key=lambda e: (-e.degree, e.name, e.id))

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
