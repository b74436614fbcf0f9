"""What requests and replies of an OpenAI-compatible endpoint look like, as far as they are more than a field."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import numpy as np

from sensegraph.errors import EndpointError
from sensegraph.language.text import count_tokens
from sensegraph.protocols import Vectors

FORMS = ("json_schema", "json_object", "none")  # how a schema is demanded, best first
_ABLE = ("counts", "streams")
_CUT = ("length", "max_tokens", "model_length")  # finish reasons, in lower case, of a reply cut at its limit
_REFUSED = ("content_filter", "refusal", "safety", "recitation", "prohibited_content", "blocklist", "spii")
_BROKEN = ("error", "network_error")
_PER_MESSAGE = 4  # tokens that a chat format adds to each message


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What a chat call asks for: a reply of at most `max_tokens` in the form of `schema`, named `name`.

    `extra` are further fields, which the caller asks without when they are refused.
    """

    messages: Sequence[Mapping[str, str]]
    max_tokens: int
    schema: dict[str, Any] | None = None
    name: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)
    streamed: bool = False


@dataclass(frozen=True, slots=True)
class Dialect:
    """What an endpoint is known to understand; everything is tried until it is refused.

    `form` is the place in `FORMS`; `counts` says that a stream can be told to end with its usage; `streams` that there
    are streams.
    """

    form: int = 0
    limit: str = "max_tokens"
    counts: bool = True
    streams: bool = True

    def fields(self, request: ChatRequest) -> dict[str, Any]:
        """The fields of a request that depend on what the endpoint understands."""
        limit = {self.limit: request.max_tokens}
        if request.schema is None or self.form == 2:
            return limit
        if self.form == 1:
            return limit | {"response_format": {"type": "json_object"}}
        wanted = {"name": request.name, "schema": request.schema, "strict": True}
        return limit | {"response_format": {"type": "json_schema", "json_schema": wanted}}

    def streaming(self) -> dict[str, Any]:
        """The fields that ask for a reply in pieces."""
        return {"stream": True} | ({"stream_options": {"include_usage": True}} if self.counts else {})

    def easier(self, request: ChatRequest, known: Dialect, message: str, of_form: bool) -> Dialect | None:
        """What to try after a refusal that says `message`: one thing less; None when there is nothing to leave out.

        Where nothing else helps a stream, it is the stream that is refused: then all else is as `known` at first.
        """
        if self.limit == "max_tokens" and "max_completion_tokens" in message:
            return replace(self, limit="max_completion_tokens")
        if not of_form:
            return None
        if request.streamed and self.streams and self.counts and "response_format" not in message:
            return replace(self, counts=False)
        if request.schema and self.form < len(FORMS) - 1:
            return replace(self, form=self.form + 1)
        return replace(known, limit=self.limit, streams=False) if request.streamed and self.streams else None

    def without(self, other: Dialect) -> list[str]:
        """What `other` can that this one cannot, as notes."""
        lost = {
            "response_format": f"response_format {FORMS[other.form]}: using {FORMS[self.form]}",
            "counts": "stream_options: the usage of streamed replies may be our own estimate",
            "streams": "streams: answers come whole",
        }
        found = {"response_format": self.form > other.form}
        found |= {n: getattr(other, n) and not getattr(self, n) for n in _ABLE}
        return [f"The endpoint refuses {lost[name]}" for name, is_lost in found.items() if is_lost]

    def joined(self, other: Dialect) -> Dialect:
        """What both can."""
        limit = self.limit if self.limit != "max_tokens" else other.limit
        can = {n: getattr(self, n) and getattr(other, n) for n in _ABLE}
        return Dialect(max(self.form, other.form), limit, **can)


class Parts:
    """A reply that comes in pieces, put together."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._refusal = ""
        self.finish = ""
        self._usage: dict[str, Any] | None = None

    @property
    def count(self) -> int:
        """How many pieces had a text."""
        return len(self._texts)

    def add(self, event: Mapping[str, Any]) -> str:
        """Take one more piece: its text, which may be empty."""
        self._usage = event.get("usage") or self._usage
        choices = event.get("choices") or [{}]
        self.finish = choices[0].get("finish_reason") or self.finish
        delta = choices[0].get("delta") or {}
        self._refusal += _read_refusal(delta)
        text = _join_text(delta.get("content"))
        if text:
            self._texts.append(text)
        return text

    def reply(self) -> dict[str, Any]:
        """The whole reply in the form of one that was not cut into pieces."""
        message = {"role": "assistant", "content": "".join(self._texts)}
        message |= {"refusal": self._refusal} if self._refusal else {}
        whole: dict[str, Any] = {"choices": [{"index": 0, "message": message, "finish_reason": self.finish}]}
        return whole | ({"usage": self._usage} if self._usage else {})


def read_content(reply: Mapping[str, Any]) -> str:
    """The text of a whole chat reply, without the parts that are no text, such as a model's thoughts."""
    return _join_text((reply["choices"][0].get("message") or {}).get("content"))


def _join_text(said: Any) -> str:
    """The text in a field `content`: a string, or a list of parts of which those of text count."""
    if not isinstance(said, list):
        return str(said or "")
    parts = [{"type": "text", "text": part} if isinstance(part, str) else part for part in said]
    texts = (p.get("text") for p in parts if isinstance(p, dict) and p.get("type", "text") in ("text", "output_text"))
    return "".join(text for text in texts if isinstance(text, str))


def _read_refusal(message: Mapping[str, Any]) -> str:
    """The words in which a message, or a part of one, refuses to be a reply; empty where it does not."""
    said = message.get("content")
    parts = [p.get("refusal") for p in said if isinstance(p, dict)] if isinstance(said, list) else []
    return "".join(r for r in (message.get("refusal"), *parts) if isinstance(r, str))


def read_finish(reply: Mapping[str, Any]) -> str:
    """Why a chat reply ended, in lower case: `length`, by whatever name, where it was cut at its limit."""
    reason = str(reply["choices"][0].get("finish_reason") or "").casefold()
    return "length" if reason in _CUT else reason


def name_refusal(reply: Mapping[str, Any]) -> str:
    """How the model or a filter refused a chat reply; empty where neither did."""
    words = _read_refusal(reply["choices"][0].get("message") or {})
    by_reason = f"finish_reason {read_finish(reply)}" if read_finish(reply) in _REFUSED else ""
    return "; ".join(why for why in (by_reason, " ".join(words.split())[:300]) if why)


def name_error(reply: Mapping[str, Any]) -> str:
    """How a reply says that it ended in an error, whatever came before; empty where it does not."""
    reason = read_finish(reply) if reply.get("choices") else ""
    return f"a reply that ended in an error (finish_reason {reason})" if reason in _BROKEN else ""


def read_error(body: bytes) -> tuple[str, str]:
    """What the body of an error says: message and code, from the shapes in use."""
    try:
        found = msgspec.json.decode(body)
    except msgspec.DecodeError:
        found = body.decode(errors="replace")
    error = found.get("error", found) if isinstance(found, dict) else found
    if not isinstance(error, dict):
        return str(error or "no message"), ""
    message = error.get("message") or error.get("detail") or "no message"
    return str(message), str(error.get("code") or error.get("type") or "")


def read_usage(reply: Mapping[str, Any], name: str) -> int | None:
    """A number of the reply's usage, where it gives it."""
    value = (reply.get("usage") or {}).get(name)
    return int(value) if value is not None else None


def count_prompt_tokens(messages: Sequence[Mapping[str, str]]) -> int:
    """Our own count of the tokens of a prompt."""
    return sum(count_tokens(m["content"]) + _PER_MESSAGE for m in messages)


def read_relevances(reply: Mapping[str, Any], count: int) -> list[float]:
    """The scores of a rerank reply in the order of the documents, from the shapes in use.

    Raises EndpointError when a document has none, or more than one, or what is no number.
    """
    try:
        found = {int(r["index"]): float(r["relevance_score"]) for r in reply.get("results") or reply["data"]}
    except (KeyError, TypeError, ValueError) as e:
        raise EndpointError(f"A rerank reply without an index and a relevance_score for each document ({e!r}).") from e
    if sorted(found) != list(range(count)) or not all(map(math.isfinite, found.values())):
        raise EndpointError(f"Asked for {count} relevance scores, got {len(found)} that can be used; try again.")
    return [found[i] for i in range(count)]


def read_vectors(reply: Mapping[str, Any], count: int) -> Vectors:
    """The vectors of an embedding reply in the order asked for, shape `(count, dim)` float32.

    Raises EndpointError when they are too few or of different length.
    """
    rows = [r["embedding"] for r in sorted(reply["data"], key=lambda r: int(r.get("index", 0)))]
    sizes = sorted({len(r) for r in rows})
    if len(rows) != count or len(sizes) != 1:
        raise EndpointError(f"Asked for {count} vectors of one length, got {len(rows)} of lengths {sizes}; try again.")
    return np.asarray(rows, dtype=np.float32)
