"""Routes that ask a corpus: questions, in one piece or as they are answered, searches, and patterns in the graph."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from sensegraph.corpus import views
from sensegraph.errors import InputError, SensegraphError
from sensegraph.runtime.activity import StopToken
from sensegraph.server.http.bodies import MatchBody, QueryBody, SearchBody
from sensegraph.server.http.corpora import JSON, Library, ServedCorpus
from sensegraph.server.http.failures import Refused, describe_failure
from sensegraph.server.http.guard import access_of
from sensegraph.server.http.routes import Endpoint, pack_object, read_body
from sensegraph.server.http.streams import EventResponse, Teller, format_event, run_while_there, stream_events
from sensegraph.types import Usage

Hear = Callable[[str], None] | None


def ask_corpus(served: ServedCorpus, body: QueryBody, hear: Hear = None) -> JSON:
    """The answer to a question, as `query --json` prints it, with the key of the index that it was asked of."""
    corpus, scope = served.corpus, body.scope.scope()
    bounds = {"depth": body.depth, "report_tokens": body.budget}
    key = corpus.workspace.index_key()
    answer = corpus.query(body.question, method=body.method, scope=scope, history=body.turns(), hear=hear, **bounds)
    told = views.view_answer(answer, corpus.index())
    if body.check:
        before = corpus.engine.usage()
        found = corpus.check(answer, question=body.question)
        told |= views.view_checks(found, corpus.engine.usage() - before)
    return {"schema": views.SCHEMA, "index": key, **told}


class QuestionRoutes:
    """The handlers."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def endpoints(self) -> list[Endpoint]:
        """All of them."""
        c = "/api/v1/{corpus}"
        return [
            Endpoint("POST", f"{c}/query", self.query, "Answer a question, with citations.", takes=QueryBody),
            Endpoint("POST", f"{c}/search", self.search, "The evidence for a question.", takes=SearchBody),
            Endpoint("POST", f"{c}/match", self.match, "Rows that match a pattern in the graph.", takes=MatchBody),
        ]

    def _served(self, request: Request) -> ServedCorpus:
        return self._library.find(request.path_params["corpus"])

    async def query(self, request: Request) -> Response:
        """The answer to a question: one object, or events until it is there."""
        body, served, token = await read_body(request, QueryBody), self._served(request), StopToken()
        body.scope.scope()  # what is wrong with it is said before a stream begins
        if not body.question.strip():
            raise InputError("The question is empty; ask something.")
        if body.stream:
            events = self._stream(served, body, access_of(request).client, token)
            return EventResponse(events, self._library.options.limits, token.stop)
        return await self._work(request, token, lambda: ask_corpus(served, body), served.corpus.workspace.usage)

    async def _work(
        self, request: Request, token: StopToken, work: Callable[[], JSON], spent: Callable[[], Usage] | None = None
    ) -> Response:
        """What `work` gives in a place of its own; it is stopped when the client leaves."""
        workers, client = self._library.workers, access_of(request).client

        async def ask() -> JSON:
            async with workers.place_for(client, token):
                return await workers.ask(work, token, spent=spent)

        return pack_object(await run_while_there(request, token, ask), request)

    async def _stream(
        self, served: ServedCorpus, body: QueryBody, client: str, token: StopToken
    ) -> AsyncGenerator[bytes]:
        """The events of a question, with numbers."""
        workers = self._library.workers

        async def ask(teller: Teller) -> None:
            def work() -> None:
                told = ask_corpus(served, body, lambda piece: teller.tell("piece", {"text": piece}))
                for citation in told["citations"]:
                    teller.tell("citation", citation)
                teller.tell("answer", told)

            try:
                async with workers.place_for(client, token):
                    await workers.ask(work, token, teller.tell_stage, served.corpus.workspace.usage)
            except (SensegraphError, Refused, OSError) as e:
                await teller.say("error", describe_failure(e)[1])

        yield format_event("stage", {"name": "accepted", "detail": served.name}, 1)
        number = 1
        async for event in stream_events(ask, token, self._library.options.limits.heartbeat):
            number += event is not None
            yield format_event(*event, number) if event else b": heartbeat\n\n"

    async def search(self, request: Request) -> Response:
        """The evidence for a question, as `search --json` prints it."""
        body, served, token = await read_body(request, SearchBody), self._served(request), StopToken()
        scope = body.scope.scope()

        def work() -> JSON:
            return served.read(
                lambda corpus: views.view_evidence(
                    corpus.search(body.question, method=body.method, top=body.top, scope=scope), corpus.index()
                )
            )

        return await self._work(request, token, work, served.corpus.workspace.usage)

    async def match(self, request: Request) -> Response:
        """The rows that match a pattern, as `match --json` prints them."""
        body, served, token = await read_body(request, MatchBody), self._served(request), StopToken()
        given: dict[str, Any] = {
            "where": body.where, "returned": body.returns, "order": body.order, "skip": body.skip,
            "limit": body.limit, "parameters": body.parameters or None, "scope": body.scope.scope(), "cite": body.cite,
        }  # fmt: skip

        def work() -> JSON:
            return served.read(lambda corpus: views.view_matches(corpus.match(body.pattern, **given)))

        return await self._work(request, token, work)
