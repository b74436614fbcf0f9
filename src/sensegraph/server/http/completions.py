"""The API that programs for OpenAI's speak: a corpus is a model, and `CORPUS:METHOD` one that answers by that method.

Citations are in a member `sensegraph` beside the choices; a model name that ends in `+sources`, or the header
`X-Sensegraph-Sources: text`, puts them at the end of the text too, for programs that show nothing else.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Sequence
from secrets import token_hex
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from sensegraph.errors import InputError, SensegraphError
from sensegraph.runtime.activity import StopToken
from sensegraph.server.http.bodies import ChatBody, ChatMessage, QueryBody, TurnBody
from sensegraph.server.http.corpora import JSON, Library, ServedCorpus
from sensegraph.server.http.failures import Refused, describe_failure
from sensegraph.server.http.guard import access_of
from sensegraph.server.http.question_routes import ask_corpus
from sensegraph.server.http.routes import Endpoint, pack_object, read_body
from sensegraph.server.http.streams import EventResponse, Teller, format_event, run_while_there, stream_events
from sensegraph.server.texts import name_figure

_SOURCES = "+sources"
_LINE = 300  # characters of a quotation in a list of sources
_TOLD = ("index", "method", "engine", "citations", "notes")


def pair_turns(messages: Sequence[ChatMessage]) -> tuple[str, list[TurnBody]]:
    """The question, which is the last message of the user, and the conversation before it.

    What a system message asks for is passed over: a corpus answers from its documents. Raises InputError where no user
    says anything.
    """
    turns, asked = list[TurnBody](), ""
    for message in messages:
        if message.role == "user":
            if asked:
                turns.append(TurnBody(question=asked))
            asked = message.text()
        elif message.role == "assistant" and asked:
            turns.append(TurnBody(question=asked, answer=message.text()))
            asked = ""
    if not asked.strip():
        raise InputError("The last message must be one of the user, with a text.")
    return asked, turns


def list_sources(citations: Sequence[JSON]) -> str:
    """The citations as the end of a text in Markdown; nothing where there are none."""
    if not citations:
        return ""
    lines = ["", "", "Sources", ""]
    for c in citations:
        quote = " ".join(str(c["quote"]).split())
        short = quote if len(quote) <= _LINE else quote[:_LINE].rstrip() + "…"
        page = f", p. {c['page']}" if c.get("page") else ""
        lines.append(f"- [{c['marker']}] {c['document']}{page}{name_figure(c)}, {c['start']}–{c['end']}: “{short}”")
    return "\n".join(lines)


class CompletionRoutes:
    """The handlers."""

    def __init__(self, library: Library) -> None:
        self._library, self._began = library, int(time.time())

    def endpoints(self) -> list[Endpoint]:
        """All of them."""
        chat = "/v1/chat/completions"
        return [
            Endpoint("GET", "/v1/models", self.list_models, "The corpora, and by which methods they answer."),
            Endpoint("GET", "/v1/models/{model:path}", self.show_model, "One of them."),
            Endpoint("POST", chat, self.complete, "Answer the last message of a conversation.", takes=ChatBody),
        ]

    # ── models ──

    def _view_model(self, name: str) -> JSON:
        return {"id": name, "object": "model", "created": self._began, "owned_by": "sensegraph"}

    async def list_models(self, request: Request) -> Response:
        """Every corpus, alone and with every method."""
        from sensegraph.methods import METHODS

        names = [n for c in self._library.corpora for n in (c, *(f"{c}:{method}" for method in METHODS))]
        return pack_object({"object": "list", "data": [self._view_model(name) for name in names]}, request)

    async def show_model(self, request: Request) -> Response:
        """One corpus, maybe with a method."""
        name = request.path_params["model"]
        self._find_model(name)
        return pack_object(self._view_model(name), request)

    def _find_model(self, name: str) -> tuple[ServedCorpus, str]:
        """The corpus and the method that a model names. Raises Refused for a corpus that there is not."""
        plain = name.removesuffix(_SOURCES)
        corpus, _, method = plain.partition(":")
        return self._library.find(corpus), method or "auto"

    # ── completions ──

    async def complete(self, request: Request) -> Response:
        """The answer as a completion, in one piece or in chunks."""
        body = await read_body(request, ChatBody)
        served, method = self._find_model(body.model)
        question, turns = pair_turns(body.messages)
        asked = QueryBody(question=question, method=method, history=turns)
        listed = body.model.endswith(_SOURCES) or request.headers.get("x-sensegraph-sources", "").lower() == "text"
        token, client = StopToken(), access_of(request).client
        head = {"id": f"chatcmpl-{token_hex(12)}", "created": int(time.time()), "model": body.model}
        if body.stream:
            wanted = body.stream_options.get("include_usage") if isinstance(body.stream_options, dict) else False
            pieces = self._stream(served, asked, client, token, head, listed, bool(wanted))
            return EventResponse(pieces, self._library.options.limits, token.stop)
        workers = self._library.workers

        async def ask() -> JSON:
            async with workers.place_for(client, token):
                return await workers.ask(lambda: ask_corpus(served, asked), token, spent=served.corpus.workspace.usage)

        told = await run_while_there(request, token, ask)
        text = told["answer"] + (list_sources(told["citations"]) if listed else "")
        message = {"role": "assistant", "content": text, "refusal": None}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        more = {"usage": _count_tokens(told), "sensegraph": _pick_told(told)}
        return pack_object({**head, "object": "chat.completion", "choices": [choice], **more}, request)

    async def _stream(
        self,
        served: ServedCorpus,
        asked: QueryBody,
        client: str,
        token: StopToken,
        head: JSON,
        listed: bool,
        usage: bool,
    ) -> AsyncGenerator[bytes]:
        """The chunks of an answer; the last one that has a choice tells the citations."""
        workers = self._library.workers

        def chunk(delta: JSON, finish: str | None = None, **more: Any) -> bytes:
            choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
            return format_event("", {**head, "object": "chat.completion.chunk", "choices": [choice], **more})

        async def ask(teller: Teller) -> None:
            def work() -> None:
                teller.tell("answer", ask_corpus(served, asked, lambda p: teller.tell("piece", p)))

            try:
                async with workers.place_for(client, token):
                    await workers.ask(work, token, spent=served.corpus.workspace.usage)
            except (SensegraphError, Refused, OSError) as e:
                await teller.say("error", describe_failure(e)[1])

        yield chunk({"role": "assistant", "content": ""})
        async for event in stream_events(ask, token, self._library.options.limits.heartbeat):
            match event:
                case None:
                    yield b": heartbeat\n\n"
                case ("piece", text):
                    yield chunk({"content": text})
                case ("error", told):
                    yield format_event("", {"error": told})
                case (_, told):
                    if listed and (sources := list_sources(told["citations"])):
                        yield chunk({"content": sources})
                    yield chunk({}, "stop", sensegraph=_pick_told(told))
                    if usage:
                        more = {"object": "chat.completion.chunk", "choices": [], "usage": _count_tokens(told)}
                        yield format_event("", {**head, **more})
        yield format_event("", b"[DONE]")


def _count_tokens(told: JSON) -> JSON:
    usage = told["usage"]
    read, written = usage["prompt_tokens"], usage["completion_tokens"]
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def _pick_told(told: JSON) -> JSON:
    return {name: told[name] for name in _TOLD}
