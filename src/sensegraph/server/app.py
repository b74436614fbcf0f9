"""The application: routes, the guard before them, and what begins and ends with the server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import anyio.to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from sensegraph import __version__
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import SensegraphError
from sensegraph.server.http.access import ServeOptions, Sessions
from sensegraph.server.http.bodies import SessionBody
from sensegraph.server.http.completions import CompletionRoutes
from sensegraph.server.http.corpora import Library
from sensegraph.server.http.corpus_routes import CorpusRoutes
from sensegraph.server.http.failures import render_failure
from sensegraph.server.http.guard import Guard, access_of
from sensegraph.server.http.metrics import Metrics
from sensegraph.server.http.openapi import describe_api
from sensegraph.server.http.pages import Page
from sensegraph.server.http.question_routes import QuestionRoutes
from sensegraph.server.http.routes import Endpoint, pack_object, read_body
from sensegraph.server.jobs.job_routes import JobRoutes
from sensegraph.server.jobs.jobs import Jobs
from sensegraph.server.jobs.watching import FolderWatch


class ServerRoutes:
    """What a server tells of itself, and the sessions of browsers."""

    def __init__(self, library: Library, sessions: Sessions) -> None:
        self._library, self._sessions = library, sessions
        self._cookie = f"sensegraph-{library.options.port}"

    def endpoints(self) -> list[Endpoint]:
        """All of them."""
        session = "/api/v1/session"
        return [
            Endpoint("GET", "/healthz", self.health, "Whether the server runs.", "", gives="text/plain"),
            Endpoint("GET", "/readyz", self.ready, "Whether its corpora can be read.", "", gives="text/plain"),
            Endpoint("GET", "/metrics", self.metrics, "Counts, in the form of Prometheus.", gives="text/plain"),
            Endpoint("GET", session, self.show_session, "Who one is, and whether a token is needed.", ""),
            Endpoint("POST", session, self.sign_in, "Sign a browser in with a token.", "", SessionBody),
            Endpoint("DELETE", session, self.sign_out, "Sign a browser out.", ""),
            Endpoint("GET", "/api/v1/openapi.json", self.describe, "This description.", ""),
        ]

    async def health(self, request: Request) -> Response:
        """The process answers."""
        return PlainTextResponse("ok\n")

    async def ready(self, request: Request) -> Response:
        """Every store can be read."""

        def work() -> None:
            for served in self._library.corpora.values():
                served.tag()

        await self._library.workers.read(work)
        return PlainTextResponse("ok\n")

    async def metrics(self, request: Request) -> Response:
        """All counts."""
        return PlainTextResponse(self._library.metrics.render())

    async def describe(self, request: Request) -> Response:
        """The API for programs."""
        return pack_object(describe_api(request.app.state.endpoints), request)

    async def show_session(self, request: Request) -> Response:
        """What this client may do."""
        auth = "token" if self._library.options.tokens else "none"
        return pack_object({"version": __version__, "auth": auth, "level": access_of(request).level}, request)

    async def sign_in(self, request: Request) -> Response:
        """A cookie for a token."""
        body, options = await read_body(request, SessionBody), self._library.options
        guard: Guard = request.app.state.guard
        level = options.tokens.level_of(body.token) if options.tokens else options.most
        guard.check_sign_in(level, request.client.host if request.client else "")
        told = {"version": __version__, "auth": "token" if options.tokens else "none"}
        answer = pack_object({**told, "level": "read" if options.read_only else level}, request)
        if options.tokens:
            safe = request.headers.get("origin", "").startswith("https://")
            name = self._sessions.begin(level)
            answer.set_cookie(self._cookie, name, httponly=True, samesite="strict", secure=safe, max_age=30 * 86_400)
        return answer

    async def sign_out(self, request: Request) -> Response:
        """The session is forgotten."""
        self._sessions.end(access_of(request).session)
        answer = pack_object({"level": ""}, request)
        answer.delete_cookie(self._cookie, httponly=True, samesite="strict")
        return answer


class ToolDoor:
    """Where assistants find the tools of a corpus (MCP). Their SDK takes longer to import than all else: it is, once
    somebody asks.
    """

    def __init__(self, corpus: Corpus, metrics: Metrics) -> None:
        self._corpus, self._metrics, self._opening = corpus, metrics, asyncio.Lock()
        self._answer: ASGIApp | None = None
        self._running: asyncio.Task[None] | None = None
        self._closed = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that the guard has let in."""
        async with self._opening:
            if self._answer is None:
                opened: asyncio.Future[ASGIApp] = asyncio.get_running_loop().create_future()
                self._running = asyncio.ensure_future(self._run(opened))
                self._answer = await opened
        await self._answer(scope, receive, send)

    async def _run(self, opened: asyncio.Future[ASGIApp]) -> None:
        """Keep the tools open until the end: what opens them must close them in the same task."""
        await anyio.to_thread.run_sync(import_module, "sensegraph.server.mcp")  # others are answered meanwhile
        from sensegraph.server.mcp import CorpusServer

        async with CorpusServer(self._corpus, meter=self._metrics).open_over_http() as answer:
            opened.set_result(answer)
            await self._closed.wait()

    async def close(self) -> None:
        """Answer no more."""
        self._closed.set()
        if self._running:
            await asyncio.wait([self._running])


def make_tool_doors(library: Library) -> dict[str, ToolDoor]:
    """The doors of all corpora, by path: that of the first has a short one too. None without the extra."""
    if not find_spec("mcp"):
        return {}
    doors = {f"/mcp/{name}": ToolDoor(served.corpus, library.metrics) for name, served in library.corpora.items()}
    return {"/mcp": next(iter(doors.values())), **doors}


async def _answer_failure(request: Request, error: Exception) -> Response:
    return render_failure(error)


def make_app(corpora: Mapping[str, Corpus], options: ServeOptions) -> Guard:
    """The application over corpora by name."""
    library, sessions = Library(corpora, options), Sessions()
    jobs = Jobs(lambda state: library.metrics.jobs.update([state]))
    endpoints = [
        *ServerRoutes(library, sessions).endpoints(),
        *CorpusRoutes(library).endpoints(),
        *QuestionRoutes(library).endpoints(),
        *JobRoutes(library, jobs).endpoints(),
        *CompletionRoutes(library).endpoints(),
    ]

    tools = make_tool_doors(library)

    watches = list[FolderWatch]()

    @asynccontextmanager
    async def live(app: Starlette) -> AsyncIterator[None]:
        if options.watch:
            watches.extend(FolderWatch(c, jobs, options.settings, options.watch) for c in library.corpora.values())
        try:
            yield
        finally:
            stop()
            for door in tools.values():
                await door.close()
            await jobs.close()
            for watch in watches:
                await watch.close()

    kinds = (HTTPException, SensegraphError, OSError, Exception)
    handlers: dict[Any, Callable[[Request, Exception], Awaitable[Response]]] = dict.fromkeys(kinds, _answer_failure)
    app = Starlette(
        routes=[
            *(e.make_route() for e in (*endpoints, *Page().endpoints())),
            *(Route(path, door) for path, door in tools.items()),
        ],
        exception_handlers=handlers,
        lifespan=live,
    )
    app.state.library = library
    app.state.endpoints = endpoints

    def stop() -> None:
        for watch in watches:
            watch.stop()
        library.workers.stop()
        jobs.stop()

    guard = Guard(app, options, sessions, library.metrics, stop)
    app.state.guard = guard
    return guard
