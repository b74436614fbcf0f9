"""The one place that speaks HTTP to a model: chat and embeddings over an OpenAI-compatible endpoint.

Calls are synchronous and thread-safe. What goes over the wire is paced, retried, counted, and held to a budget here;
what is asked and how a reply is read is the business of the engines.
"""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import msgspec

from sensegraph import bodies
from sensegraph.errors import EndpointDown, EndpointError, SettingsError
from sensegraph.limits import Amount, Budget, Pace, pause, retry_after
from sensegraph.protocols import Vectors
from sensegraph.text import tokens
from sensegraph.types import Usage

if TYPE_CHECKING:
    from sensegraph.journal import Journal
    from sensegraph.wire import Response, Wire

Kind = Literal["chat", "embedding"]
Message = Mapping[str, str]

_HOPELESS = ("insufficient_quota", "billing_hard_limit_reached", "account_deactivated")
_LONGEST_WAIT = 600.0  # seconds; an endpoint that asks for more is down for this run


@dataclass(frozen=True, slots=True)
class EndpointSettings:
    """Where the models are and how to treat them. Prices are US dollars per million tokens; 0 means no limit.

    `temperature` None leaves it to the endpoint (some models refuse it). `max_tokens_total` and `max_cost_usd` bound
    what one run may spend; `timeout_s` bounds one attempt; before the next it waits as long as the endpoint asks, else
    about `backoff_s`, doubled each time.
    """

    base_url: str = field(default="https://api.openai.com/v1", repr=False)  # may hold a password
    api_key: str = field(default="", repr=False)
    model: str = ""
    embedding_model: str = ""
    temperature: float | None = 0.0
    seed: int | None = None
    concurrency: int = 16
    requests_per_minute: int = 0
    tokens_per_minute: int = 0
    timeout_s: float = 120.0
    max_retries: int = 6
    backoff_s: float = 0.5
    price_prompt: float = 0.0
    price_completion: float = 0.0
    price_embedding: float = 0.0
    max_tokens_total: int = 0
    max_cost_usd: float = 0.0

    def __post_init__(self) -> None:
        if not _readable(self.base_url):
            raise SettingsError("endpoint.base_url must be http:// or https:// and a host; it usually ends with /v1.")
        if self.concurrency < 1 or self.timeout_s <= 0 or self.backoff_s < 0 or self.max_retries < 0:
            raise SettingsError(
                "endpoint.concurrency must be at least 1, endpoint.timeout_s above 0, endpoint.backoff_s and "
                "endpoint.max_retries at least 0."
            )
        if self.max_cost_usd and not (self.price_prompt or self.price_completion or self.price_embedding):
            raise SettingsError("endpoint.max_cost_usd needs prices: set price_prompt, price_completion, …")
        if not all("!" <= c <= "~" for c in self.api_key):
            raise SettingsError("The API key holds a space or a character that no key has: copy it again.")


@dataclass(frozen=True, slots=True)
class Reply:
    """One chat reply; `finish_reason` is `length` where it was cut at `max_tokens`."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    finish_reason: str


class _Refusal(Exception):
    """A final error status with what the endpoint said."""

    def __init__(self, status: int, message: str, code: str) -> None:
        super().__init__(message)
        self.status, self.message, self.code = status, message, code


@dataclass(frozen=True, slots=True)
class _Failure:
    """Why an attempt gave no reply; `again` says that another may; `after` is the wait that the endpoint asks for."""

    error: Exception
    again: bool
    after: float | None = None


class Endpoint:
    """An OpenAI-compatible endpoint: `chat` and `embed`, safe to call from many threads."""

    def __init__(self, settings: EndpointSettings, journal: Journal | None = None) -> None:
        self.journal = journal
        self.settings, self.address = settings, _address(settings.base_url)
        self._lock = threading.Lock()
        self._spent: dict[Kind, Usage] = {"chat": Usage(), "embedding": Usage()}
        self._notes: Counter[str] = Counter()
        self._pace = Pace(settings.requests_per_minute, settings.tokens_per_minute)
        self._budget = Budget(settings.max_tokens_total, settings.max_cost_usd)
        self._slots = threading.BoundedSemaphore(settings.concurrency)
        self._wire: Wire | None = None
        self._form = 0  # of bodies.FORMS, the best that the endpoint is known to understand
        self._limit_name = "max_tokens"
        self._answered = False

    def __reduce__(self) -> tuple[type[Endpoint], tuple[EndpointSettings]]:
        return type(self), (self.settings,)  # a copy in another process counts for itself

    def __repr__(self) -> str:
        return f"Endpoint({self.address!r}, {self.settings.model!r})"

    def usage(self, kind: Kind | None = None) -> Usage:
        """What the calls so far have cost: of one kind, or of both."""
        with self._lock:
            return self._spent[kind] if kind else self._spent["chat"] + self._spent["embedding"]

    def notes(self) -> tuple[str, ...]:
        """What was degraded, each with how often."""
        with self._lock:
            return tuple(f"{note} ({n} ×)" for note, n in sorted(self._notes.items()))

    # ── calls ──

    def chat(
        self, messages: Sequence[Message], *, schema: dict[str, Any] | None = None, name: str = "", max_tokens: int
    ) -> Reply:
        """One reply to `messages`, in the form of `schema` (named `name`) where the endpoint can do that.

        Raises EndpointDown when no call can succeed, EndpointError for this call, BudgetExceeded before it is made.
        """
        s = self.settings
        if not s.model:
            raise SettingsError("endpoint.model is empty: name the chat model to use.")
        body: dict[str, Any] = {"model": s.model, "messages": list(messages)}
        body |= {n: v for n, v in (("temperature", s.temperature), ("seed", s.seed)) if v is not None}
        most = self._most(messages, schema, max_tokens)
        self._budget.reserve(most)
        used = Amount()
        try:
            reply = self._reply(self._chat(body, schema, name, max_tokens, most.tokens), messages)
            usage = self._priced(Usage(1, reply.prompt_tokens, reply.completion_tokens))
            used = Amount(reply.prompt_tokens + reply.completion_tokens, usage.cost_usd)
            self._count("chat", usage)
            return reply
        finally:
            self._budget.settle(most, used)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors of `texts`, shape `(n, dim)` float32, as the endpoint gives them (not normalised).

        Raises as `chat` does, and EndpointError when the vectors are too few or of different length.
        """
        s = self.settings
        if not s.embedding_model:
            raise SettingsError("endpoint.embedding_model is empty: name the embedding model to use.")
        need = sum(map(tokens, texts)) if self._measured else 0
        most = Amount(need, need * s.price_embedding / 1e6)
        self._budget.reserve(most)
        used = Amount()
        try:
            body = {"model": s.embedding_model, "input": list(texts), "encoding_format": "float"}
            data = self._embeddings(body, need)
            count = bodies.counted(data, "prompt_tokens")
            if count is None:
                count = need or sum(map(tokens, texts))
                self._note("The endpoint reports no usage: tokens are our own estimate")
            usage = self._priced(Usage(embedding_calls=1, embedding_tokens=count))
            used = Amount(count, usage.cost_usd)
            self._count("embedding", usage)
        finally:
            self._budget.settle(most, used)
        return bodies.vectors(data, len(texts))

    def _chat(
        self, body: dict[str, Any], schema: dict[str, Any] | None, name: str, max_tokens: int, need: int
    ) -> dict[str, Any]:
        """Post with the best form that the endpoint understands, going down where it refuses one."""
        form, limit, first = (self._form if schema else 2), self._limit_name, None
        while True:
            try:
                wanted = body | {limit: max_tokens} | bodies.form(form, schema, name)
                data = self._post("chat", "/chat/completions", wanted, need)
            except _Refusal as e:
                if limit == "max_tokens" and "max_completion_tokens" in e.message:
                    limit = "max_completion_tokens"
                elif form < 2 and e.status in (400, 422) and e.code != "context_length_exceeded":
                    form, first = form + 1, first or e
                else:
                    raise self._error(first or e) from None
            else:
                self._remember(form if schema else 0, limit)
                return data

    def _embeddings(self, body: dict[str, Any], need: int) -> dict[str, Any]:
        try:
            return self._post("embedding", "/embeddings", body, need)
        except _Refusal as e:
            raise self._error(e) from None

    def _remember(self, form: int, limit: str) -> None:
        with self._lock:
            self._limit_name = limit
            if form > self._form:
                self._notes[
                    f"The endpoint refuses response_format {bodies.FORMS[self._form]}: using {bodies.FORMS[form]}"
                ] += 1
                self._form = form

    # ── the wire ──

    def _post(self, kind: Kind, path: str, body: dict[str, Any], need: int) -> dict[str, Any]:
        """The decoded reply, after as many attempts as are allowed. Raises _Refusal for a final error status."""
        attempt, raw = 0, msgspec.json.encode(body)
        if (left := self._recalled(path, raw)) is not None:
            return left
        while True:
            admission = self._pace.admit(need)
            if (early := self._pace.wait(admission)) > 0:
                time.sleep(early)
            outcome = self._attempt(path, raw)
            if isinstance(outcome, dict):
                self._pace.settle(admission, bodies.counted(outcome, "total_tokens") or need)
                self._answered = True
                return outcome
            if not outcome.again:
                raise outcome.error
            if attempt == self.settings.max_retries:
                raise self._given_up(outcome)
            self._count(kind, Usage(retries=1))
            time.sleep(pause(attempt, outcome.after, self.settings.backoff_s))
            attempt += 1

    def _recalled(self, path: str, body: bytes) -> dict[str, Any] | None:
        """The usable reply that an earlier run got and did not live to store."""
        left = self.journal.recall(self.journal.key(path, body)) if self.journal else None
        return msgspec.json.decode(left, type=dict[str, Any]) if left else None

    def _attempt(self, path: str, body: bytes) -> dict[str, Any] | _Failure:
        """One request: the decoded reply, or why there is none."""
        from sensegraph.wire import Broken, Late, Unreachable

        try:
            with self._slots:
                response = self._connected().post(path, body)
        except Late:
            return _Failure(EndpointError(f"no reply within {self.settings.timeout_s:g} s"), True)
        except Broken as e:
            return _Failure(EndpointError(f"the connection broke ({self._clean(str(e))})"), True)
        except Unreachable as e:
            return self._unreachable(str(e))
        if response.status >= 300:
            return self._refused(response)
        try:
            data = msgspec.json.decode(response.body)
        except msgspec.DecodeError:
            return _Failure(EndpointError("a reply that is no JSON"), True)
        if isinstance(data, dict) and (data.get("choices") or data.get("data")):
            if self.journal:
                self.journal.keep(self.journal.key(path, body), response.body)
            return data
        return _Failure(EndpointError("a reply without content"), True)

    def _connected(self) -> Wire:
        """The client, made on first use: the offline path never imports it."""
        from sensegraph.wire import Wire

        with self._lock:
            if self._wire is None:
                s = self.settings
                self._wire = Wire(s.base_url, s.api_key, connections=s.concurrency, timeout_s=s.timeout_s)
            return self._wire

    # ── what went wrong ──

    def _unreachable(self, reason: str) -> _Failure:
        text = f"Cannot reach {self.address} ({self._clean(reason)}): check endpoint.base_url and that it is running."
        return _Failure(EndpointDown(text), self._answered)

    def _refused(self, response: Response) -> _Failure:
        status, (message, code) = response.status, bodies.said(response.body)
        refusal = _Refusal(status, self._clean(message), code)
        if status in (401, 402, 403, 404) or code in _HOPELESS:
            return _Failure(self._error(refusal), False)
        if status < 400:
            return _Failure(self._moved(response), False)
        if status not in (408, 409, 429) and status < 500:
            return _Failure(refusal, False)
        after = retry_after(response.headers)
        if after is not None and after > _LONGEST_WAIT:
            text = f"{self.address} asks to wait {after:.0f} s (HTTP {status}: {refusal.message}): run again later."
            return _Failure(EndpointDown(text), False)
        return _Failure(EndpointError(f"HTTP {status}: {refusal.message}"), True, after)

    def _moved(self, response: Response) -> EndpointDown:
        """A redirect is not followed: it would take the key to an address that nobody has chosen."""
        to = self._clean(_address(response.headers.get("location", "")) or "an address that it does not name")
        text = f"{self.address} (HTTP {response.status}) sends to {to}: set endpoint.base_url to where the endpoint is."
        return EndpointDown(text)

    def _error(self, e: _Refusal) -> EndpointError:
        """The error that a refusal means for the caller, with what to do next."""
        where = f"{self.address} (HTTP {e.status})"
        if e.status in (401, 403):
            return EndpointDown(f"The key is not accepted by {where}: check the API key and what it is allowed to use.")
        if e.status == 402 or e.code in _HOPELESS:
            return EndpointDown(f"There is no credit left at {where}: {e.message}. Add some and run again to resume.")
        if e.status == 404:
            return EndpointDown(f"No such model or address at {where}: {e.message}. Check endpoint.base_url and model.")
        return EndpointError(f"The request was refused by {where}: {e.message}. Running again does not help by itself.")

    def _given_up(self, last: _Failure) -> Exception:
        tries = self.settings.max_retries + 1
        text = f"{self.address} failed {tries} times, last with {last.error}. Run again to resume."
        return last.error if isinstance(last.error, EndpointDown) else EndpointError(text)

    def _clean(self, text: str) -> str:
        """`text` on one line, cut, and without the key (a stand-in such as "none" is no secret)."""
        text, key = " ".join(text.split())[:300], self.settings.api_key
        return text.replace(key, "***") if len(key) > 7 else text

    # ── counting ──

    @property
    def _measured(self) -> bool:
        s = self.settings
        return bool(s.tokens_per_minute or s.max_tokens_total or s.max_cost_usd)

    def _most(self, messages: Sequence[Message], schema: dict[str, Any] | None, max_tokens: int) -> Amount:
        """The most that a chat call can take; not measured where no limit asks for it."""
        if not self._measured:
            return Amount()
        prompt = bodies.prompt_tokens(messages) + (tokens(msgspec.json.encode(schema).decode()) if schema else 0)
        return Amount(prompt + max_tokens, self._priced(Usage(1, prompt, max_tokens)).cost_usd)

    def _reply(self, data: dict[str, Any], messages: Sequence[Message]) -> Reply:
        choice = data["choices"][0]
        text = (choice.get("message") or {}).get("content") or ""
        prompt, completion = bodies.counted(data, "prompt_tokens"), bodies.counted(data, "completion_tokens")
        if prompt is None or completion is None:
            self._note("The endpoint reports no usage: tokens are our own estimate")
            prompt, completion = bodies.prompt_tokens(messages), tokens(text)
        return Reply(text, prompt, completion, choice.get("finish_reason") or "")

    def _priced(self, usage: Usage) -> Usage:
        s = self.settings
        cost = usage.prompt_tokens * s.price_prompt + usage.completion_tokens * s.price_completion
        return replace(usage, cost_usd=(cost + usage.embedding_tokens * s.price_embedding) / 1e6)

    def _count(self, kind: Kind, usage: Usage) -> None:
        with self._lock:
            self._spent[kind] += usage

    def _note(self, note: str) -> None:
        with self._lock:
            self._notes[note] += 1


def _address(url: str) -> str:
    """The URL without anything that may be secret: user, password, query."""
    return re.sub(r"(?<=://)[^/]*@|[?#].*", "", url, flags=re.DOTALL)


def _readable(url: str) -> bool:
    """Whether `url` names a host, and its port is a number."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
