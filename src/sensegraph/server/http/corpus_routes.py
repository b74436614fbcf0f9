"""Routes that show a corpus: what it holds, its documents, entities, reports, changes, and the map of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from sensegraph.corpus import views
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import InputError
from sensegraph.server.http.bodies import PlacesBody
from sensegraph.server.http.corpora import JSON, Library, ServedCorpus
from sensegraph.server.http.failures import Refused
from sensegraph.server.http.guard import access_of
from sensegraph.server.http.routes import (
    Endpoint,
    answer_view,
    decode_name,
    pack_object,
    read_body,
    read_query_flag,
    read_query_number,
    read_tail,
)

_MOST = 500  # rows of a page of a list


class CorpusRoutes:
    """The handlers."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def endpoints(self) -> list[Endpoint]:
        """All of them."""
        c, lists = "/api/v1/{corpus}", ("q", "cursor", "limit")
        return [
            Endpoint("GET", "/api/v1/corpora", self.list_corpora, "The corpora that are served."),
            Endpoint("GET", "/api/v1/methods", self.list_methods, "The methods that answer questions."),
            Endpoint("GET", f"{c}/status", self.status, "What the corpus holds and has cost.", query=("documents",)),
            Endpoint("GET", f"{c}/documents", self.documents, "The documents, page by page.", query=lists),
            Endpoint(
                "GET", f"{c}/documents/{{document:path}}", self.document,
                "A document; below it, /original is its file.", query=("start", "end", "mentions"),
            ),
            Endpoint("GET", f"{c}/entities", self.entities, "The entities, page by page.", query=("type", *lists)),
            Endpoint(
                "GET", f"{c}/entities/{{entity:path}}", self.entity,
                "All that is known of an entity; below it, /timeline is what is dated.", query=("type",),
            ),
            Endpoint("GET", f"{c}/changes", self.changes, "What changed between two moments.", query=("from", "to")),
            Endpoint("GET", f"{c}/reports", self.reports, "The reports of a depth.", query=("depth",)),
            Endpoint("GET", f"{c}/reports/{{report:path}}", self.report, "A report with all that is below it."),
            Endpoint("GET", f"{c}/map", self.map, "The communities of a depth on the map.", query=("depth",)),
            Endpoint("GET", f"{c}/map/{{community}}", self.community, "A community of the map from inside."),
            Endpoint("POST", f"{c}/map/places", self.places, "Where entities are on the map.", takes=PlacesBody),
        ]  # fmt: skip

    def _served(self, request: Request) -> ServedCorpus:
        return self._library.find(request.path_params["corpus"])

    async def _view(
        self, request: Request, view: Callable[[Corpus], JSON], unknown: int = 0, cached: bool = True
    ) -> Response:
        return await answer_view(self._library, request, self._served(request), view, unknown=unknown, cached=cached)

    # ── the whole ──

    async def list_corpora(self, request: Request) -> Response:
        """All corpora."""
        writable = access_of(request).level == "write"

        def work() -> JSON:
            return {"corpora": [served.describe(writable) for served in self._library.corpora.values()]}

        return pack_object(await self._library.workers.read(work), request)

    async def list_methods(self, request: Request) -> Response:
        """All methods."""
        from sensegraph.methods import METHODS
        from sensegraph.plugins import list_plugins

        found = [p for p in list_plugins("methods") if p.name not in METHODS]
        return pack_object({"schema": views.SCHEMA, "methods": views.view_methods(METHODS, found)}, request)

    async def status(self, request: Request) -> Response:
        """The state of the corpus."""
        wanted = read_query_flag(request, "documents")
        return await self._view(
            request,
            lambda corpus: views.view_status(corpus.status(), list(corpus.document_keys()) if wanted else None),
            cached=False,
        )

    # ── documents ──

    async def documents(self, request: Request) -> Response:
        """A part of the list of documents."""
        sought, first, limit = _read_page(request)

        def view(corpus: Corpus) -> JSON:
            rows, found = corpus.browser.documents(sought, first=first, limit=limit)
            return _add_next(views.view_documents(rows, found), first, rows, found)

        return await self._view(request, view)

    async def document(self, request: Request) -> Response:
        """A document, or its file."""
        served = self._served(request)
        tail = read_tail(request)
        if tail.endswith("/original"):
            return await self._original(request, served, decode_name(tail.removesuffix("/original")))
        name, start = decode_name(tail), read_query_number(request, "start", 0)
        end = read_query_number(request, "end", 0) if "end" in request.query_params else None
        mentions = read_query_flag(request, "mentions")

        def view(corpus: Corpus) -> JSON:
            page = corpus.browser.document(name, start=start, end=end, mentions=mentions)
            there = served.original(name) is not None or (
                self._library.options.local and served.may_lie_elsewhere(name)
            )
            return views.view_document(page, there)

        return await self._view(request, view, 404)

    async def _original(self, request: Request, served: ServedCorpus, name: str) -> Response:
        """The file of a document, to be kept and not shown: what is in it must not act for this server."""
        if served.masked:
            raise Refused(403, "This corpus masks personal data: originals are not shown.")
        place = served.original(name)
        if place is None and self._library.options.local:
            place = await self._library.workers.read(lambda: served.origin(name))
        if place is None:
            why = (
                "it has gone or changed where it was read from"
                if self._library.options.local
                else "no other file is shown here"
            )
            raise Refused(404, f"The file of {name!r} is not in the folder input of this corpus, and {why}.")
        headers = {
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(place.name, safe='')}",
            "Content-Security-Policy": "sandbox; default-src 'none'",
        }

        def pieces() -> Any:
            with place.open("rb") as file:
                while piece := file.read(1 << 18):
                    yield piece

        return StreamingResponse(pieces(), 200, headers, "application/octet-stream")

    # ── entities ──

    async def entities(self, request: Request) -> Response:
        """A part of the list of entities."""
        sought, first, limit = _read_page(request)
        kind = request.query_params.get("type", "")

        def view(corpus: Corpus) -> JSON:
            rows, found = corpus.browser.entity_rows(sought, type=kind, first=first, limit=limit)
            return _add_next(views.view_entity_rows(rows, found), first, rows, found)

        return await self._view(request, view)

    async def entity(self, request: Request) -> Response:
        """All that is known of the entities of a name, or what is dated of one."""
        tail = read_tail(request)
        given = request.query_params
        kind, since, until = given.get("type", ""), given.get("since", ""), given.get("until", "")
        if tail.endswith("/timeline"):
            name = decode_name(tail.removesuffix("/timeline"))
            return await self._view(
                request,
                lambda c: views.view_timeline(name, c.timeline(name, since=since, until=until, type=kind)),
                404,
            )
        name = decode_name(tail)
        return await self._view(
            request,
            lambda c: views.view_entities([c.entity(e.id) for e in c.entities(name, type=kind)]),
            404,
        )

    async def changes(self, request: Request) -> Response:
        """What changed between two moments."""
        first, last = (request.query_params.get(name, "") for name in ("from", "to"))
        if not first or not last:
            raise InputError("changes needs two moments: ?from=2019&to=2021.")
        return await self._view(request, lambda c: views.view_changes(first, last, c.changes(first, last)))

    # ── reports, and the map ──

    async def reports(self, request: Request) -> Response:
        """The reports of a depth."""
        depth = read_query_number(request, "depth", 0, 1000)

        def view(corpus: Corpus) -> JSON:
            rows, depths = corpus.reports(depth), corpus.index().depth
            return views.view_reports(rows, min(depth, max(0, depths - 1)), depths)

        return await self._view(request, view)

    async def report(self, request: Request) -> Response:
        """A report."""
        name = decode_name(read_tail(request))
        return await self._view(request, lambda c: views.view_report(c.report(name)), 404)

    async def map(self, request: Request) -> Response:
        """The communities of a depth."""
        depth = read_query_number(request, "depth", 0, 1000)
        return await self._view(request, lambda c: views.view_map(c.browser.map_depth(depth)), 404)

    async def community(self, request: Request) -> Response:
        """A community from inside."""
        name = request.path_params["community"]
        return await self._view(request, lambda c: views.view_community(c.browser.map_community(name)), 404)

    async def places(self, request: Request) -> Response:
        """Where entities are."""
        body = await read_body(request, PlacesBody)
        spans = [(p.document, p.start, p.end) for p in body.places]
        return await self._view(
            request, lambda c: views.view_dots(c.browser.map_entities(body.entities, spans)), cached=False
        )


def _read_page(request: Request) -> tuple[str, int, int]:
    """What is sought, from where on, and how many rows."""
    limit = read_query_number(request, "limit", 50, _MOST)
    return request.query_params.get("q", ""), read_query_number(request, "cursor", 0), max(1, limit)


def _add_next(page: JSON, first: int, rows: Sequence[object], found: int) -> JSON:
    """The page with the cursor of the next, where there is one."""
    after = first + len(rows)
    return page | {"next": str(after) if rows and after < found else None}
