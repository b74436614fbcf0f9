"""The one place that speaks HTTP to a model: chat, embeddings and reranking over an OpenAI-compatible endpoint.

Calls are synchronous and thread-safe. What goes over the wire is paced, retried, counted, and held to a budget here;
what is asked and how a reply is read is the business of the engines.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from sensegraph.errors import ReplyRefused, SettingsError
from sensegraph.language.text import count_tokens
from sensegraph.models.endpoint import bodies
from sensegraph.models.endpoint.calls import Calls, Listener, Refusal
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings, address_of, check_endpoint
from sensegraph.models.endpoint.limits import Amount, Budget
from sensegraph.protocols import Vectors
from sensegraph.types import Usage

if TYPE_CHECKING:
    from sensegraph.models.endpoint.limits import Journal

Kind = Literal["chat", "embedding", "rerank"]
Message = Mapping[str, str]

_NO_USAGE = "The endpoint reports no usage: tokens are our own estimate"


@dataclass(frozen=True, slots=True)
class Reply:
    """One chat reply; `finish_reason` is `length` where it was cut at `max_tokens`."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    finish_reason: str


class Notes:
    """What was degraded, each with how often; safe to write to from many threads."""

    def __init__(self) -> None:
        self._lock, self._counts = threading.Lock(), Counter[str]()

    def add(self, *notes: str) -> None:
        """Count each of these once more."""
        with self._lock:
            self._counts.update(notes)

    def read(self) -> tuple[str, ...]:
        """The notes in order, each with how often."""
        with self._lock:
            return tuple(f"{note} ({n} ×)" for note, n in sorted(self._counts.items()))


class Endpoint:
    """An OpenAI-compatible endpoint: `chat`, `embed` and `rerank`, safe to call from many threads."""

    def __init__(self, settings: EndpointSettings, journal: Journal | None = None, api_key: str = "") -> None:
        check_endpoint(settings, api_key)
        self.settings, self.address = settings, address_of(settings.base_url)
        self._api_key = api_key
        self._calls = Calls(settings, self.address, journal, api_key)
        self._lock = threading.Lock()
        self._spent: dict[Kind, Usage] = {"chat": Usage(), "embedding": Usage(), "rerank": Usage()}
        self._notes = Notes()
        self._budget = Budget(settings.max_tokens_total, settings.max_cost_usd)
        self._dialect = bodies.Dialect()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.settings, None, self._api_key)  # a copy in another process counts for itself

    def __repr__(self) -> str:
        return f"Endpoint({self.address!r}, {self.settings.model!r})"

    def usage(self, kind: Kind | None = None) -> Usage:
        """What the calls so far have cost: of one kind, or of all."""
        with self._lock:
            return self._spent[kind] if kind else sum(self._spent.values(), Usage())

    def notes(self) -> tuple[str, ...]:
        """What was degraded, each with how often."""
        return self._notes.read()

    # ── calls ──

    def chat(
        self,
        messages: Sequence[Message],
        *,
        schema: dict[str, Any] | None = None,
        name: str = "",
        max_tokens: int,
        extra: Mapping[str, Any] | None = None,
        hear: Callable[[str], None] | None = None,
    ) -> Reply:
        """One reply to `messages`, in the form of `schema` (named `name`) where the endpoint can do that.

        `extra` are further fields of the request, which the endpoint may refuse. `hear` is told the reply piece by
        piece as it is written; the pieces joined are its text.
        Raises EndpointDown when no call can succeed, EndpointError for this call or when the reply breaks off after a
        piece was heard, ReplyRefused where its reply was refused by the model or a filter, BudgetExceeded before it is
        made.
        """
        if not self.settings.model:
            raise SettingsError("endpoint.model is empty: name the chat model to use.")
        request = bodies.ChatRequest(messages, max_tokens, schema, name, extra or {}, hear is not None)
        most, heard = self._bound(request), list[str]()

        def keep_and_hear(text: str) -> None:
            heard.append(text)
            if hear:
                hear(text)

        self._budget.reserve(most)
        used = None
        try:
            data = self._post_chat(request, most.tokens, keep_and_hear if hear else None)
            reply = self._reply(data, request.messages)
            used = self._spend(reply)
            if why := bodies.name_refusal(data):
                raise ReplyRefused(
                    f"The reply of {self.settings.model} was refused ({why}). Leave the text out, or ask another model."
                )
            return reply
        finally:
            if used is None and any(heard):
                self._notes.add("A streamed reply broke off: its tokens are our own estimate")
                used = self._spend(_estimate_reply("".join(heard), request.messages, ""))
            self._budget.settle(most, used or Amount())

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors of `texts`, shape `(n, dim)` float32, as the endpoint gives them (not normalised).

        Raises as `chat` does, and EndpointError when the vectors are too few or of different length.
        """
        s = self.settings
        if not s.embedding_model:
            raise SettingsError("endpoint.embedding_model is empty: name the embedding model to use.")
        body = {"model": s.embedding_model, "input": list(texts), "encoding_format": "float"}
        return bodies.read_vectors(self._read("embedding", "/embeddings", body, texts), len(texts))

    def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        """How well each of `texts`, at least one, fits the question: higher is better, in their order.

        The request is the one of Cohere and Jina, to `/rerank` under the base address. Raises as `chat` does, and
        EndpointError when a text has no score.
        """
        if not self.settings.rerank_model:
            raise SettingsError("endpoint.rerank_model is empty: name the reranking model to use.")
        body = {"model": self.settings.rerank_model, "query": question, "documents": list(texts)}
        read = [part for text in texts for part in (question, text)]  # it reads the question with each text
        return bodies.read_relevances(self._read("rerank", "/rerank", body, read), len(texts))

    def _read(self, kind: Kind, path: str, body: dict[str, Any], texts: Sequence[str]) -> dict[str, Any]:
        """The reply to a call that reads `texts` and writes nothing, within the budget and counted."""
        need = sum(map(count_tokens, texts)) if self._measured else 0
        most = Amount(need, self._price_reading(kind, need).cost_usd)
        self._budget.reserve(most)
        used = Amount()
        try:
            data = self._calls.post(path, body, need, partial(self._count, kind, Usage(retries=1)))
            named = [bodies.read_usage(data, name) for name in ("prompt_tokens", "total_tokens")]
            count = next((n for n in named if n is not None), None)
            if count is None:
                count = need or sum(map(count_tokens, texts))
                self._notes.add(_NO_USAGE)
            usage = self._price_reading(kind, count)
            used = Amount(count, usage.cost_usd)
            self._count(kind, usage)
        except Refusal as e:
            raise self._calls.error(e) from None
        finally:
            self._budget.settle(most, used)
        return data

    def _price_reading(self, kind: Kind, count: int) -> Usage:
        """What a call that read `count` tokens took."""
        if kind == "embedding":
            return self._price(Usage(embedding_calls=1, embedding_tokens=count))
        return Usage(1, count, cost_usd=count * self.settings.price_rerank / 1e6)

    def _post_chat(self, request: bodies.ChatRequest, need: int, hear: Callable[[str], None] | None) -> dict[str, Any]:
        """Post in the best way that the endpoint understands, leaving out one thing more where it refuses."""
        s, known, first = self.settings, self._dialect, None
        dialect = known
        body: dict[str, Any] = {"model": s.model, "messages": list(request.messages)}
        body |= {n: v for n, v in (("temperature", s.temperature), ("seed", s.seed)) if v is not None}
        body |= request.extra
        retried = partial(self._count, "chat", Usage(retries=1))
        while True:
            listener = Listener(hear, dialect.streaming()) if hear and dialect.streams else None
            try:
                data = self._calls.post("/chat/completions", body | dialect.fields(request), need, retried, listener)
            except Refusal as e:
                easier = dialect.easier(request, known, str(e), e.of_form)
                if easier is None:
                    raise self._calls.error(first or e) from None
                first = first or (e if easier.limit == dialect.limit else None)
                dialect = easier
            else:
                self._remember(dialect)
                if hear and not listener and not bodies.name_refusal(data):
                    hear(bodies.read_content(data))
                return data

    def _remember(self, dialect: bodies.Dialect) -> None:
        """Take what the endpoint was found not to understand for known, and note it once."""
        with self._lock:
            self._notes.add(*dialect.without(self._dialect))
            self._dialect = dialect.joined(self._dialect)

    # ── counting ──

    @property
    def _measured(self) -> bool:
        s = self.settings
        return bool(s.tokens_per_minute or s.max_tokens_total or s.max_cost_usd)

    def _bound(self, request: bodies.ChatRequest) -> Amount:
        """The most that a chat call can take; not measured where no limit asks for it."""
        if not self._measured:
            return Amount()
        form = count_tokens(msgspec.json.encode(request.schema).decode()) if request.schema else 0
        prompt = bodies.count_prompt_tokens(request.messages) + form
        return Amount(prompt + request.max_tokens, self._price(Usage(1, prompt, request.max_tokens)).cost_usd)

    def _reply(self, data: dict[str, Any], messages: Sequence[Message]) -> Reply:
        text = bodies.read_content(data)
        prompt, completion = bodies.read_usage(data, "prompt_tokens"), bodies.read_usage(data, "completion_tokens")
        reason = bodies.read_finish(data)
        if prompt is None or completion is None:
            self._notes.add(_NO_USAGE)
            return _estimate_reply(text, messages, reason)
        return Reply(text, prompt, completion, reason)

    def _spend(self, reply: Reply) -> Amount:
        """Count what a reply took."""
        usage = self._price(Usage(1, reply.prompt_tokens, reply.completion_tokens))
        self._count("chat", usage)
        return Amount(reply.prompt_tokens + reply.completion_tokens, usage.cost_usd)

    def _price(self, usage: Usage) -> Usage:
        s = self.settings
        cost = usage.prompt_tokens * s.price_prompt + usage.completion_tokens * s.price_completion
        return replace(usage, cost_usd=(cost + usage.embedding_tokens * s.price_embedding) / 1e6)

    def _count(self, kind: Kind, usage: Usage) -> None:
        with self._lock:
            self._spent[kind] += usage


def _estimate_reply(text: str, messages: Sequence[Message], reason: str) -> Reply:
    """A reply whose tokens we count ourselves."""
    return Reply(text, bodies.count_prompt_tokens(messages), count_tokens(text), reason)
