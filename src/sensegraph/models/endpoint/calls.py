"""Requests on their way to a model: paced, tried again, journalled; and what every failure means for the caller.

A chat reply comes in pieces, as server-sent events, wherever the endpoint has them, so that it is known to be alive; it
is handed over as one JSON object either way.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from sensegraph.errors import BatchPending, EndpointDown, EndpointError
from sensegraph.models.endpoint import bodies
from sensegraph.models.endpoint.endpoint_settings import address_of, list_secrets
from sensegraph.models.endpoint.flow import Gate
from sensegraph.models.endpoint.incoming import WHOLE, Late, Oversized, Unreachable, WireError
from sensegraph.models.endpoint.limits import choose_pause, make_pace
from sensegraph.models.endpoint.outcomes import (
    MOST_VALUES,
    Kind,
    Outcome,
    Refusal,
    classify_error,
    find_rest,
    read_error,
)
from sensegraph.runtime.activity import check_stop, pause

if TYPE_CHECKING:
    from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
    from sensegraph.models.endpoint.incoming import Response
    from sensegraph.models.endpoint.limits import Journal
    from sensegraph.models.endpoint.wire import Wire

CHAT = "/chat/completions"
COMPLETIONS = "/completions"
SHARE = "batch_price_share"  # in a reply that came in a batch: how much of the price it has, below 0 if paid before
_FIRST_S, _FIRST_OF_BATCH_S = 5.0, 120.0
_LONGEST_WAIT = 600.0  # seconds; an endpoint that asks for more is down for this run
_FRUITLESS = 4  # pauses without any reply, as a multiple of the retries, after which an endpoint is given up


@dataclass(frozen=True, slots=True)
class Streaming:
    """How a reply comes in pieces: the fields that ask for it, who hears it, and whether it has to be JSON."""

    fields: dict[str, Any]
    hear: Callable[[str], None] | None = None
    formed: bool = False


@dataclass(frozen=True, slots=True)
class _Failure:
    """Why an attempt gave no reply; `again` says that another may, `once` that one more is enough.

    `paused` is when the pause ends that all callers make; such an attempt is not counted.
    """

    outcome: Outcome
    error: Exception
    again: bool
    once: bool = False
    paused: float = 0.0


class Calls:
    """Posts to one endpoint, safe to use from many threads. `retried` is called before each further attempt."""

    def __init__(
        self,
        settings: EndpointSettings,
        address: str,
        journal: Journal | None,
        api_key: str | None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.journal, self._api_key, self._further = journal, api_key, dict(headers or {})
        self.settings, self.address = settings, address
        self._lock = threading.Lock()
        self._alone = threading.RLock()  # held while a reply is long: sixteen of them would fill the memory
        self._pace = make_pace(settings, journal.limits if journal else None, address)
        self._gate = Gate(settings.concurrency)
        self._wire: Wire | None = None
        self._answers = 0

    def post(
        self,
        path: str,
        body: dict[str, Any],
        need: int,
        retried: Callable[[], None],
        streaming: Streaming | None = None,
        at_once: bool = False,
    ) -> dict[str, Any]:
        """The decoded reply, after as many attempts as are allowed; once a piece of it was heard there is no other.

        In a build by batches it waits for one, unless it is the first and asked `at_once`. Raises Refusal for what no
        other attempt can mend, EndpointDown or EndpointError for what else can go wrong, BatchPending while it waits,
        Stopped where the activity is asked to stop.
        """
        raw = msgspec.json.encode(body)
        if (left := self._recall(path, raw)) is None:
            left = self._recall_batched(path, raw, body, need, at_once)
        if left is not None:
            if streaming and streaming.hear:
                streaming.hear(bodies.read_content(left))
            return left
        attempt, pauses, answers, own_pause = 0, 0, self._answers, 0.0
        while True:
            admission = self._pace.admit(need)
            while (early := max(self._pace.wait(admission), 0.0 if own_pause else self._gate.left())) > 0:
                pause(early)
                if not self._pace.missed(admission):
                    break
                admission = self._pace.admit(need)
            found = self._attempt(path, raw, body, streaming)
            check_stop()
            if isinstance(found, dict):
                self._pace.settle(admission, bodies.read_usage(found, "total_tokens") or need)
                return found
            if not found.again:
                raise found.error
            if self._answers != answers:
                pauses, answers = 0, self._answers
            own_pause = found.paused
            attempt, pauses = (attempt, pauses + 1) if own_pause else (attempt + 1, pauses)
            if attempt > (1 if found.once else self.settings.max_retries) or pauses > self._patience:
                raise self._explain_giving_up(found, attempt + pauses)
            retried()
            pause(self._choose_pause(attempt + pauses - 1, found))

    @property
    def _patience(self) -> int:
        return _FRUITLESS * self.settings.max_retries

    def _choose_pause(self, before: int, failure: _Failure) -> float:
        """Seconds before the next attempt; longer than the endpoint asks for where that did not help."""
        asked = failure.outcome.wait
        if asked is not None and before > self.settings.max_retries:
            asked = max(asked, choose_pause(before - self.settings.max_retries, None, self.settings.backoff_s))
        return choose_pause(before, asked, self.settings.backoff_s)

    def _recall(self, path: str, body: bytes) -> dict[str, Any] | None:
        """The usable reply that an earlier run got and did not live to store; one that is none is asked for again."""
        left = self.journal.recall(self.journal.key(path, body)) if self.journal else None
        reply = msgspec.json.decode(left, type=dict[str, Any]) if left else None
        return reply if reply and bodies.is_usable(reply) else None

    @property
    def longest_first(self) -> float:
        """Seconds that other calls wait for the first one to show what the endpoint takes."""
        return _FIRST_OF_BATCH_S if self.journal and self.journal.batch else _FIRST_S

    def _recall_batched(
        self, path: str, raw: bytes, body: Mapping[str, Any], need: int, at_once: bool
    ) -> dict[str, Any] | None:
        """The reply that a batch brought; None for what is asked at once. Raises BatchPending for what must wait."""
        box = self.journal.batch if self.journal and path == CHAT else None
        if box is None or self.journal is None:
            return None
        key = self.journal.key(path, raw)
        if (found := box.recall(key)) is None:
            if box.may_ask(key, at_once):
                return None
            box.defer(key, raw, need)
            raise BatchPending("A call to the model waits for its batch.")
        told, first = found
        try:
            if told.status < 300:
                return bodies.decode_reply(bytes(told.reply), body) | {SHARE: box.share if first else -1.0}
            refused = read_error(bytes(told.reply))
            raise bodies.Unusable(classify_error(told.status, refused, {}, body.keys()))
        except bodies.Unusable as e:
            raise self._explain_outcome(e.outcome, time.monotonic()).error from None

    def _attempt(
        self, path: str, raw: bytes, body: Mapping[str, Any], streaming: Streaming | None
    ) -> dict[str, Any] | _Failure:
        """One request: the decoded reply, or why there is none."""
        heard = _CountingListener(streaming.hear if streaming else None)
        began, good = self._gate.enter(), False
        try:
            found = self._exchange(path, raw, body, streaming, heard, began)
            good = isinstance(found, dict)
            return found
        except Unreachable as e:
            why = f"({self.clean(str(e))}): check endpoint.base_url and that it is running."
            down = EndpointDown(f"Cannot reach {self.address} {why}", words=self.clean(str(e)))
            return _Failure(Outcome(Kind.DOWN, str(e)), down, bool(self._answers))
        except WireError as e:
            return self._end_if_heard(heard, self._explain_break(e))
        except bodies.Unusable as e:
            return self._end_if_heard(heard, self._explain_outcome(e.outcome, began))
        finally:
            self._answers += good
            self._gate.leave(good=good)

    def _exchange(
        self,
        path: str,
        raw: bytes,
        body: Mapping[str, Any],
        streaming: Streaming | None,
        heard: _CountingListener,
        began: float,
    ) -> dict[str, Any] | _Failure:
        with ExitStack() as held:
            if streaming is None:
                texts = len(body.get("input", ()))  # each is answered by a vector
                most, values = WHOLE + texts * bodies.VECTOR_BYTES, MOST_VALUES + texts * bodies.MOST_NUMBERS
                response = self.wire.post(path, raw, most=most, grown=lambda: held.enter_context(self._alone))
                if response.status >= 300:
                    return self._explain_status(response, body, began)
                self._gate.hold(self._rest(response.headers))
                held.enter_context(self._alone)
                found = bodies.decode_reply(response.body, body, values)
            else:
                with self.wire.open(path, msgspec.json.encode(dict(body) | streaming.fields)) as incoming:
                    if incoming.status >= 300:
                        return self._explain_status(incoming.read_whole(), dict(body) | streaming.fields, began)
                    self._gate.hold(self._rest(incoming.headers))
                    found = bodies.assemble_events(incoming, heard, body, streaming.formed)
            if self.journal and bodies.is_usable(found):  # as if it had come whole: either way recalls it
                self.journal.keep(self.journal.key(path, raw), msgspec.json.encode(found))
                if self.journal.batch and path == CHAT:  # a later round of this build recalls it
                    self.journal.batch.keep_live(self.journal.key(path, raw), msgspec.json.encode(found))
            return bodies.pack_vectors(found)

    def _rest(self, headers: Mapping[str, str]) -> float:
        rest = find_rest(headers)
        return rest if rest <= _LONGEST_WAIT else 0.0

    @property
    def wire(self) -> Wire:
        """The client, made on first use: the offline path never imports it.

        Raises EndpointDown where the endpoint was made without the key that it needs, to estimate with.
        """
        from sensegraph.models.endpoint.wire import Patience, Wire

        if self._api_key is None:
            raise EndpointDown(
                f"The endpoint {self.address} needs a key: set the environment variable {self.settings.api_key_env}."
            )
        with self._lock:
            if self._wire is None:
                s = self.settings
                patience = Patience(s.first_byte_s, s.silence_s, s.timeout_s)
                self._wire = Wire(s.base_url, self.headers, connections=s.concurrency, patience=patience)
            return self._wire

    @property
    def headers(self) -> dict[str, str]:
        """The headers that hold the key, and those of the settings."""
        key = self._api_key or ""
        found = {"bearer": {"Authorization": f"Bearer {key}"}, "api-key": {"api-key": key}}.get(self.settings.auth, {})
        return (found if key else {}) | self._further

    def narrow(self, slots: int) -> None:
        """Make no more calls at once than a server has places for, where that is known."""
        if slots:
            self._gate.narrow(slots)

    # ── what went wrong ──

    def _explain_break(self, error: Exception) -> _Failure:
        """A reply that did not come whole, or of which more came than any model sends; that is tried once more."""
        said = self.clean(str(error))
        if not isinstance(error, Oversized):
            why = said if isinstance(error, Late) else f"the connection broke ({said})"
            return _Failure(Outcome(Kind.BROKEN, why), EndpointError(why, Kind.BROKEN, why), True)
        why = f"{said}: no model sends as much, check that endpoint.base_url is the server that you mean"
        failed = EndpointError(why, Kind.BROKEN, said)
        down = EndpointDown(f"{self.address} sent {why}.", words=said)
        return _Failure(Outcome(Kind.BROKEN, said), failed if self._answers else down, True, once=True)

    def _end_if_heard(self, heard: _CountingListener, failure: _Failure) -> _Failure:
        """`failure`, final where a part of the reply was heard: it cannot be taken back."""
        if not heard.count or isinstance(failure.error, Refusal):
            return failure
        text = f"{self.address} broke off in the middle of a reply, after {heard.count} characters"
        words = self.clean(str(failure.error))
        error = EndpointError(f"{text}: {words}. Ask again.", failure.outcome.kind, words)
        return _Failure(failure.outcome, error, False)

    def _explain_status(self, response: Response, body: Mapping[str, Any], began: float) -> _Failure:
        if 300 <= response.status < 400:
            error = self._explain_redirect(response)
            return _Failure(Outcome(Kind.DOWN, str(error), response.status), error, False)
        told = read_error(response.body)
        found = classify_error(response.status, told, response.headers, body.keys())
        return self._explain_outcome(found, began)

    def _explain_outcome(self, found: Outcome, began: float) -> _Failure:
        """What is done about an outcome here: wait and try again; the rest is for who asked."""
        words = self.clean(found.words)
        said = f"HTTP {found.status}: {words}" if found.status else words
        if found.wait is not None and found.wait > _LONGEST_WAIT:
            asked = f"asks to wait {found.wait:.0f} s (HTTP {found.status}: {words}): run again later."
            return _Failure(found, EndpointDown(f"{self.address} {asked}", words=words), False)
        if found.kind == Kind.PACE:
            pause = found.wait if found.wait is not None else self.settings.backoff_s
            return _Failure(found, EndpointError(said, found.kind, words), True, paused=self._gate.brake(began, pause))
        if found.kind == Kind.BROKEN:
            if found.status in (503, 529):
                self._gate.brake(began, 0.0)
            return _Failure(found, EndpointError(said, found.kind, words), True, once=found.own)
        if found.field == "page":  # from one that has answered before it is something in between
            return _Failure(found, self.error(Refusal(found)), True, once=not self._answers)
        return _Failure(found, self.error(Refusal(found)) if found.kind == Kind.DOWN else Refusal(found), False)

    def _explain_redirect(self, response: Response) -> EndpointDown:
        """A redirect is not followed: it would take the key to an address that nobody has chosen."""
        to = self.clean(address_of(response.headers.get("location", "")) or "an address that it does not name")
        text = f"{self.address} (HTTP {response.status}) sends to {to}: set endpoint.base_url to where the endpoint is."
        return EndpointDown(text)

    def error(self, e: Refusal) -> EndpointError:
        """The error that a refusal means for the caller, with what to do next."""
        found, words = e.outcome, self.clean(e.outcome.words)
        where = f"{self.address} (HTTP {found.status})" if found.status else self.address
        downs = {
            "key": f"The key is not accepted by {where}: {words}. Check the API key, endpoint.auth and its rights.",
            "credit": f"There is no credit left at {where}: {words}. Add some and run again to resume.",
            "day": f"What {where} allows in a day is used up: {words}. Run again tomorrow to resume.",
            "model": f"No such model or address at {where}: {words}. Check endpoint.base_url and model.",
            "page": f"{where} answers with {words} and is no API: check endpoint.base_url (it usually ends with /v1).",
        }
        if found.kind == Kind.DOWN:
            return EndpointDown(downs.get(found.field, f"{where}: {words}."), words=words)
        text = f"The request was refused by {where}: {words}. Running again does not help by itself."
        if found.field in self.settings.extra_body:
            text = f"{where} refuses {found.field}, which stands in endpoint.extra_body: {words}. Take it out."
        return EndpointError(text, found.kind, words)

    def _explain_giving_up(self, last: _Failure, tries: int) -> Exception:
        text = f"{self.address} failed {tries} times, last with {last.error}. Run again to resume."
        error = last.error
        if isinstance(error, EndpointDown):
            return error
        return EndpointError(text, last.outcome.kind, self.clean(last.outcome.words))

    def clean(self, text: str) -> str:
        """`text` on one line, cut, without the key (a stand-in such as "none" is no secret) and the URL's password."""
        secrets = [(self._api_key or "", 8), *((value, 8) for value in self._further.values())]
        for secret, least in (*secrets, *list_secrets(self.settings.base_url)):
            text = text.replace(secret, "***") if len(secret) >= least else text
        return " ".join(text.split())[:300]


class _CountingListener:
    """Hands pieces on, and counts the characters that somebody heard."""

    def __init__(self, hear: Callable[[str], None] | None) -> None:
        self._hear, self.count = hear, 0

    def __call__(self, text: str) -> None:
        if text and self._hear:
            self.count += len(text)
            self._hear(text)
