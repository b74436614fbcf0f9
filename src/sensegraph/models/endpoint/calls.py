"""Requests on their way to a model: paced, tried again, journalled; and what every failure means for the caller.

A reply comes whole, or in pieces as server-sent events; either way it is handed over as one JSON object.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import msgspec

from sensegraph.errors import EndpointDown, EndpointError
from sensegraph.models.endpoint import bodies
from sensegraph.models.endpoint.endpoint_settings import address_of
from sensegraph.models.endpoint.limits import Pace, choose_pause, read_retry_after

if TYPE_CHECKING:
    from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
    from sensegraph.models.endpoint.limits import Journal
    from sensegraph.models.endpoint.wire import Incoming, Response, Wire

_HOPELESS = ("insufficient_quota", "billing_hard_limit_reached", "account_deactivated")
_LONGEST_WAIT = 600.0  # seconds; an endpoint that asks for more is down for this run


class Refusal(Exception):
    """A final error status with what the endpoint said."""

    def __init__(self, status: int, message: str, code: str) -> None:
        super().__init__(message)
        self.status, self.message, self.code = status, message, code

    @property
    def of_form(self) -> bool:
        """Whether it may be a field of the request that was refused, rather than its length or its content."""
        return self.status in (400, 422) and self.code != "context_length_exceeded"


@dataclass(frozen=True, slots=True)
class _Failure:
    """Why an attempt gave no reply; `again` says that another may; `after` is the wait that the endpoint asks for."""

    error: Exception
    again: bool
    after: float | None = None


@dataclass(frozen=True, slots=True)
class Listener:
    """Somebody who hears a reply while it is written; `fields` of the request ask for that."""

    hear: Callable[[str], None]
    fields: dict[str, Any]


class Calls:
    """Posts to one endpoint, safe to use from many threads. `retried` is called before each further attempt."""

    def __init__(self, settings: EndpointSettings, address: str, journal: Journal | None, api_key: str) -> None:
        self.journal, self._api_key = journal, api_key
        self.settings, self.address = settings, address
        self._lock = threading.Lock()
        self._pace = Pace(settings.requests_per_minute, settings.tokens_per_minute)
        self._slots = threading.BoundedSemaphore(settings.concurrency)
        self._wire: Wire | None = None
        self._answered = False

    def post(
        self, path: str, body: dict[str, Any], need: int, retried: Callable[[], None], listener: Listener | None = None
    ) -> dict[str, Any]:
        """The decoded reply, after as many attempts as are allowed; once a piece of it was heard there is no other.

        Raises Refusal for a final error status, EndpointDown or EndpointError for what else can go wrong.
        """
        attempt, raw = 0, msgspec.json.encode(body)
        if (left := self._recall(path, raw)) is not None:
            if listener:
                listener.hear(bodies.read_content(left))
            return left
        while True:
            admission = self._pace.admit(need)
            if (early := self._pace.wait(admission)) > 0:
                time.sleep(early)
            outcome = self._attempt(path, raw, listener)
            if isinstance(outcome, dict):
                self._pace.settle(admission, bodies.read_usage(outcome, "total_tokens") or need)
                self._answered = True
                return outcome
            if not outcome.again:
                raise outcome.error
            if attempt == self.settings.max_retries:
                raise self._explain_giving_up(outcome)
            retried()
            time.sleep(choose_pause(attempt, outcome.after, self.settings.backoff_s))
            attempt += 1

    def _recall(self, path: str, body: bytes) -> dict[str, Any] | None:
        """The usable reply that an earlier run got and did not live to store; one that is none is asked for again."""
        left = self.journal.recall(self.journal.key(path, body)) if self.journal else None
        reply = msgspec.json.decode(left, type=dict[str, Any]) if left else None
        return reply if reply and _is_usable(reply) else None

    def _attempt(self, path: str, body: bytes, listener: Listener | None) -> dict[str, Any] | _Failure:
        """One request: the decoded reply, or why there is none."""
        from sensegraph.models.endpoint.wire import Unreachable, WireError

        heard = _CountingListener(listener.hear) if listener else None
        try:
            with self._slots:
                if listener and heard:
                    return self._post_streamed(path, body, listener, heard)
                return self._post_whole(path, body)
        except Unreachable as e:
            why = f"({self._clean(str(e))}): check endpoint.base_url and that it is running."
            return _Failure(EndpointDown(f"Cannot reach {self.address} {why}"), self._answered)
        except WireError as e:
            return self._explain_break(e, heard)
        except _Unusable as e:
            return self._end_if_heard(heard, _Failure(EndpointError(str(e)), True))

    def _post_whole(self, path: str, body: bytes) -> dict[str, Any] | _Failure:
        response = self._connect().post(path, body)
        if response.status >= 300:
            return self._explain_status(response)
        found = _decode_reply(response.body)
        self._keep(path, body, found, response.body)
        return found

    def _post_streamed(
        self, path: str, body: bytes, listener: Listener, heard: _CountingListener
    ) -> dict[str, Any] | _Failure:
        raw = msgspec.json.encode(msgspec.json.decode(body, type=dict[str, Any]) | listener.fields)
        with self._connect().open(path, raw) as incoming:
            if incoming.status >= 300:
                return self._explain_status(incoming.response())
            found = _assemble_events(incoming, heard)
        self._keep(path, body, found, msgspec.json.encode(found))  # as if it had come whole: either way recalls it
        return found

    def _keep(self, path: str, body: bytes, reply: dict[str, Any], raw: bytes) -> None:
        if self.journal and _is_usable(reply):
            self.journal.keep(self.journal.key(path, body), raw)

    def _connect(self) -> Wire:
        """The client, made on first use: the offline path never imports it."""
        from sensegraph.models.endpoint.wire import Wire

        with self._lock:
            if self._wire is None:
                s = self.settings
                self._wire = Wire(s.base_url, self._api_key, connections=s.concurrency, timeout_s=s.timeout_s)
            return self._wire

    # ── what went wrong ──

    def _explain_break(self, error: Exception, heard: _CountingListener | None) -> _Failure:
        from sensegraph.models.endpoint.wire import Late

        late = f"no reply within {self.settings.timeout_s:g} s"
        why = late if isinstance(error, Late) else f"the connection broke ({self._clean(str(error))})"
        return self._end_if_heard(heard, _Failure(EndpointError(why), True))

    def _end_if_heard(self, heard: _CountingListener | None, failure: _Failure) -> _Failure:
        """`failure`, final where a part of the reply was heard: it cannot be taken back."""
        if not heard or not heard.count:
            return failure
        text = f"{self.address} broke off in the middle of a reply, after {heard.count} characters"
        return _Failure(EndpointError(f"{text}: {self._clean(str(failure.error))}. Ask again."), False)

    def _explain_status(self, response: Response) -> _Failure:
        status, (message, code) = response.status, bodies.read_error(response.body)
        refusal = Refusal(status, self._clean(message), code)
        if status in (401, 402, 403, 404) or code in _HOPELESS:
            return _Failure(self.error(refusal), False)
        if status < 400:
            return _Failure(self._explain_redirect(response), False)
        if status not in (408, 409, 429) and status < 500:
            return _Failure(refusal, False)
        after = read_retry_after(response.headers)
        if after is not None and after > _LONGEST_WAIT:
            text = f"{self.address} asks to wait {after:.0f} s (HTTP {status}: {refusal.message}): run again later."
            return _Failure(EndpointDown(text), False)
        return _Failure(EndpointError(f"HTTP {status}: {refusal.message}"), True, after)

    def _explain_redirect(self, response: Response) -> EndpointDown:
        """A redirect is not followed: it would take the key to an address that nobody has chosen."""
        to = self._clean(address_of(response.headers.get("location", "")) or "an address that it does not name")
        text = f"{self.address} (HTTP {response.status}) sends to {to}: set endpoint.base_url to where the endpoint is."
        return EndpointDown(text)

    def error(self, e: Refusal) -> EndpointError:
        """The error that a refusal means for the caller, with what to do next."""
        where = f"{self.address} (HTTP {e.status})"
        if e.status in (401, 403):
            return EndpointDown(f"The key is not accepted by {where}: check the API key and what it is allowed to use.")
        if e.status == 402 or e.code in _HOPELESS:
            return EndpointDown(f"There is no credit left at {where}: {e.message}. Add some and run again to resume.")
        if e.status == 404:
            return EndpointDown(f"No such model or address at {where}: {e.message}. Check endpoint.base_url and model.")
        return EndpointError(f"The request was refused by {where}: {e.message}. Running again does not help by itself.")

    def _explain_giving_up(self, last: _Failure) -> Exception:
        tries = self.settings.max_retries + 1
        text = f"{self.address} failed {tries} times, last with {last.error}. Run again to resume."
        return last.error if isinstance(last.error, EndpointDown) else EndpointError(text)

    def _clean(self, text: str) -> str:
        """`text` on one line, cut, without the key (a stand-in such as "none" is no secret) and the URL's password."""
        password = unquote(urlsplit(self.settings.base_url).password or "")
        for secret, least in ((self._api_key, 8), (password, 4)):
            text = text.replace(secret, "***") if len(secret) >= least else text
        return " ".join(text.split())[:300]


class _Unusable(Exception):
    """What came is no reply; the message says why."""


class _CountingListener:
    """Hands pieces on, and counts their characters."""

    def __init__(self, hear: Callable[[str], None]) -> None:
        self._hear, self.count = hear, 0

    def __call__(self, text: str) -> None:
        if text:
            self.count += len(text)
            self._hear(text)


def _decode_reply(body: bytes) -> dict[str, Any]:
    """The reply in `body`. Raises _Unusable where there is none, or one that ended in an error."""
    try:
        data = msgspec.json.decode(body)
    except msgspec.DecodeError:
        raise _Unusable("a reply that is no JSON") from None
    if isinstance(data, dict) and any(data.get(name) for name in ("choices", "data", "results")):
        return _check_unbroken(data)
    raise _Unusable("a reply without content")


def _check_unbroken(reply: dict[str, Any]) -> dict[str, Any]:
    """`reply`. Raises _Unusable where it says that it ended in an error."""
    if why := bodies.name_error(reply):
        raise _Unusable(why)
    return reply


def _is_usable(reply: dict[str, Any]) -> bool:
    """Whether a reply may be believed by a later run: it neither broke nor was refused."""
    return not (bodies.name_error(reply) or (reply.get("choices") and bodies.name_refusal(reply)))


def _assemble_events(incoming: Incoming, heard: _CountingListener) -> dict[str, Any]:
    """The reply whose pieces come as events, as it would have come whole; a piece is heard as it comes.

    An endpoint that sends the reply whole all the same is understood. Raises _Unusable for what is no reply.
    """
    parts, rest = bodies.Parts(), list[bytes]()
    for line in incoming:
        if not line.startswith(b"data:"):
            rest.append(line)
            continue
        if (payload := line[5:].strip()) == b"[DONE]":
            return _check_unbroken(parts.reply())
        heard(_read_event(payload, parts))
    if parts.count or not any(r.lstrip()[:1] == b"{" for r in rest):
        if parts.finish:
            return _check_unbroken(parts.reply())
        raise _Unusable("the reply ended before its end")
    data = _decode_reply(b"\n".join(rest))
    heard(bodies.read_content(data))
    return data


def _read_event(payload: bytes, parts: bodies.Parts) -> str:
    """The text of one event. Raises _Unusable for an error that is told as one."""
    try:
        event = msgspec.json.decode(payload, type=dict[str, Any])
    except (msgspec.DecodeError, msgspec.ValidationError):
        raise _Unusable("a piece of a reply that is no JSON") from None
    if event.get("error"):
        raise _Unusable(bodies.read_error(payload)[0])
    return parts.add(event)
