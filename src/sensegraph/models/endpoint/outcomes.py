"""What a request came to, told in one place from status, headers and body: a kind, the endpoint's words, and figures.

The order of evidence is the field that an error names, its code, the place of what is forbidden, its status, and last
the phrases that servers are known to use. What is done about a kind stands in `remedies`.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Any

import msgspec


class Kind(StrEnum):
    """What a request, or the reply to it, came to."""

    FIELD = "field refused"
    SCHEMA = "schema refused"
    WINDOW = "window"
    ROOM = "room for the reply"
    BATCH = "batch"
    PACE = "pace"
    CONTENT = "content refused"
    DECLINED = "declined"
    THOUGHTS = "thoughts only"
    CUT = "cut off"
    FORM = "form"
    RUN_ON = "ran on"
    BROKEN = "broken"
    REFUSED = "refused"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One kind with what is known of it.

    `words` are the endpoint's own. `field` is what it refuses; `most` what it takes at most (a window, a limit, a
    batch). Of a prompt, `need` is what it counted, `total` the same with the room for the reply, `over` what is too
    much. `wait` are the seconds that it asks for; `own` says that a form is refused for what is in it.
    """

    kind: Kind
    words: str
    status: int = 0
    field: str = ""
    most: int = 0
    need: int = 0
    total: int = 0
    over: int = 0
    wait: float | None = None
    own: bool = False


class Refusal(Exception):
    """A request gave no reply, and sending the same again would give none either."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.words)
        self.outcome = outcome

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.outcome,)


@dataclass(frozen=True, slots=True)
class Told:
    """What the body of an error says, whatever its shape."""

    message: str
    code: str = ""
    param: str = ""
    details: str = ""  # all of the body, as text


MOST_VALUES = 200_000  # that the JSON of a reply may hold beside its vectors
_DEEPEST = 64  # lists and objects inside each other
_SAID = 4000  # characters of an error that are looked at, of its beginning and of its end


class Excessive(msgspec.DecodeError):
    """JSON of more values, or deeper, than any reply has."""


def read_json(raw: bytes, most: int = MOST_VALUES) -> Any:
    """The value in `raw`, in which NaN may stand.

    Raises msgspec.DecodeError for what is no JSON, and Excessive where it is too much of it.
    """
    nested = raw.count(b"[") + raw.count(b"{")
    if nested + raw.count(b",") > most:
        raise Excessive(f"a reply of more than {most:,} values")
    try:
        odd = b"NaN" in raw or b"Infinity" in raw
        found = json.loads(raw) if odd else msgspec.json.decode(raw)
        if odd:  # what json reads beyond that, as halves of surrogate pairs, can be stored nowhere
            msgspec.json.encode(found)
    except RecursionError:
        raise Excessive(f"a reply nested more than {_DEEPEST} deep") from None
    except msgspec.DecodeError:
        raise
    except (ValueError, OverflowError) as e:  # what json raises, bytes that are no text, numbers beyond all bounds
        raise msgspec.DecodeError(str(e)) from None
    level, depth = [found], 0
    while level and nested > _DEEPEST:
        inner = (v.values() if isinstance(v, dict) else v for v in level if isinstance(v, (dict, list)))
        level, depth = [v for values in inner for v in values if isinstance(v, (dict, list))], depth + 1
        if depth > _DEEPEST:
            raise Excessive(f"a reply nested more than {_DEEPEST} deep")
    return found


def read_error(body: bytes) -> Told:
    """What the body of an error says, from the shapes in use: an object, a list of one, a string, JSON in a string."""
    try:
        found: Any = read_json(body)
    except msgspec.DecodeError:
        found = body.decode(errors="replace")
    return tell_error(found)


def _shorten(text: str) -> str:
    """The beginning and the end of what an error says: some repeat the whole request."""
    return text if len(text) <= 2 * _SAID else f"{text[:_SAID]} … {text[-_SAID:]}"


def tell_error(found: Any) -> Told:
    """The same of a decoded body."""
    told = _tell_error(found)
    return Told(*(_shorten(text) for text in (told.message, told.code, told.param, told.details)))


def _tell_error(found: Any) -> Told:
    details = found if isinstance(found, str) else msgspec.json.encode(found).decode()
    found = found[0] if isinstance(found, list) and found else found
    error = found.get("error") or found if isinstance(found, dict) else found
    if not isinstance(error, dict):
        return Told(str(error or "no message"), details=details)
    message = error.get("message") or error.get("detail") or "no message"
    if isinstance(message, str) and message[:1] == "{":
        with suppress(msgspec.DecodeError):
            message = read_json(message.encode(errors="replace"))
    param = str(error.get("param") or "")
    listed = message.get("detail") if isinstance(message, dict) else message
    first = listed[0] if isinstance(listed, list) and listed else None
    if isinstance(first, dict) and "msg" in first:
        place = [str(part) for part in loc] if isinstance(loc := first.get("loc"), list) else []
        param = param or (place[-1] if place else "")
        message = f"{first['msg']}: {'.'.join(place)}"
    code = " ".join(str(error[name]) for name in ("code", "type", "status") if error.get(name))
    return Told(message if isinstance(message, str) else str(message), code, param, details)


# ── what the words say ──

_FIELDS = (  # of the requests that are sent
    *("temperature", "seed", "logit_bias", "stream_options", "stream", "reasoning_effort", "chat_template_kwargs"),
    *("encoding_format", "response_format", "max_completion_tokens", "max_tokens", "top_n", "return_documents"),
)
_HOPELESS = ("insufficient_quota", "billing_hard_limit_reached", "account_deactivated")
_NUMBER = r"((?<!\d)\d[\d,_]*)"
_WINDOW = re.compile(
    r"context_length_exceeded|exceed_context_size|exceed context limit|maximum (?:context|prompt) (?:length|limit)|"
    r"maximum model length|requested token count exceeds|(?:longer|greater) than the (?:model's )?context length|"
    r"context length of only|input tokens exceed the configured limit|exceeds the (?:available context size|context "
    r"length|maximum number of tokens allowed)|prompt is too long|prompt exceeds max length|input is too long|length "
    r"limit exceeded|input text length should not exceed|max_tokens must be at least 1, got -|is too large to process|"
    r"request too large|exceeded model token limit|`?max_new_tokens`? must be <=|tokens in the prompt cannot exceed",
    re.IGNORECASE,
)
_POOL = re.compile(r"context size has been exceeded", re.IGNORECASE)  # of all that share a server's places
_MOST = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_NUMBER} maximum context length",
        rf"(?:maximum (?:context|prompt|model) (?:length|limit)|configured limit)\D{{0,20}}?{_NUMBER}",
        rf"(?:context length (?:of only )?\(?|tokens allowed \(|token limit: |must be <= |cannot exceed ){_NUMBER}",
        rf'"n_ctx"\s*:\s*{_NUMBER}',
        rf"tokens? > {_NUMBER} max",
        rf"limit:? {_NUMBER}, requested",
        rf"batch size: {_NUMBER}",
    )
]
_NEED = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:\(|: )?{_NUMBER} (?:in the messages|tokens from the input|`inputs` tokens)",
        rf"(?:prompt contains|request contains|input token count \(|prompt \(length|- received) ?{_NUMBER}",
        rf"request has {_NUMBER} input tokens",
        rf"messages resulted in {_NUMBER}",
        rf'"n_prompt_tokens"\s*:\s*{_NUMBER}',
        rf"{_NUMBER} tokens > ",
        rf"input \({_NUMBER} tokens\)",
    )
]
_REQUESTED = [re.compile(rf"requested {_NUMBER}", re.IGNORECASE)]
_BELOW = [re.compile(r"must be at least 1, got -(\d+)")]
_LITTLE_ROOM = re.compile(r"could not finish the message because max_tokens|increase max_tokens", re.IGNORECASE)
_MUCH_ROOM = re.compile(
    rf"(?:at most {_NUMBER} (?:completion|output) tokens|max_(?:completion_)?tokens`?\D{{0,40}}less than or equal to"
    rf"\D{{0,4}}{_NUMBER}|max_tokens: \d+ > {_NUMBER}|max_tokens (?:is|should be) \[1, ?{_NUMBER}\])",
    re.IGNORECASE,
)
_BATCH = re.compile(
    rf"(?:batch size (?:\d+ > maximum allowed batch size|is invalid, it should not be larger than)\D{{0,3}}{_NUMBER}|"
    rf"max {_NUMBER} tokens per request|input array\D{{1,200}}{_NUMBER}|at most {_NUMBER} (?:inputs|texts)|batch size|"
    r"too many (?:texts|inputs))",
    re.IGNORECASE,
)
_CONTENT = re.compile(
    r"content_filter|content_policy|content management policy|responsibleaipolicy|flagged_input|was flagged|moderation|"
    r"\"reasons\"|prohibited_content|sensitive content|content exists risk|data_?inspection_?failed|inappropriate "
    r"content|considered high risk|不安全或敏感",
    re.IGNORECASE,
)
_SYSTEM = re.compile(r"only user and assistant roles|system role (?:is )?not supported|no system role", re.IGNORECASE)
_SCHEMA = re.compile(r"response_format|json_schema|grammar|nesting depth|too many states|\bschema\b", re.IGNORECASE)
_OWN_SCHEMA = re.compile(r"nesting depth|too many states|too complex|schema is too", re.IGNORECASE)
_KEY = re.compile(
    r"\bkey\b|permission|region|countr|auth|credential|access|forbidden|subscription|api[-_ ]?token|no message|<html",
    re.IGNORECASE,
)
_NO_KEY = re.compile(r"api[ _]key not valid|(?:invalid|incorrect) api[ _]key", re.IGNORECASE)  # whatever the status
_NO_MODEL = re.compile(r"model\b.{0,60}\b(?:not found|does not exist|not exist)", re.IGNORECASE)
_ROUTE = re.compile(r"requested parameters|no endpoints found that", re.IGNORECASE)
_PER_DAY = re.compile(r'"quotaId"\s*:\s*"([^"]*PerDay[^"]*)"')
_AGAIN_IN = re.compile(
    r"(?:try again in|retry in|retry after|retryDelay\W{1,20})\s*"
    r"((?:\d{1,12}(?:\.\d{1,12})?\s{0,3}(?:ms|s|m|h)[a-z]{0,12}\s{0,3})+)",
    re.I,
)
_SPAN = re.compile(r"(\d{1,12}(?:\.\d{1,12})?)\s{0,3}(ms|s|m|h)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def classify_error(status: int, told: Told, headers: Mapping[str, str], sent: Collection[str]) -> Outcome:
    """What an error means; `sent` are the names of the fields of the request."""
    every = f"{told.message} {told.code} {told.details}"

    def came(kind: Kind, **known: Any) -> Outcome:
        return Outcome(kind, told.message, status, **known)

    if any(code in told.code for code in _HOPELESS) or (status == 402 and not headers.get("retry-after")):
        return came(Kind.DOWN, field="credit")
    if status in (400, 422) and (_NO_KEY.search(every) or _NO_MODEL.search(told.message)):
        return came(Kind.DOWN, field="key" if _NO_KEY.search(every) else "model")
    if day := _PER_DAY.search(told.details):
        return Outcome(Kind.DOWN, f"{told.message} ({day[1]})", status, "day")
    if _POOL.search(every):
        return came(Kind.PACE)
    if _WINDOW.search(every):
        read = {"most": _MOST, "need": _NEED, "total": _REQUESTED, "over": _BELOW}
        return came(Kind.WINDOW, **{name: find_figure(patterns, every) for name, patterns in read.items()})
    if found := _BATCH.search(every) if "input" in sent else None:
        return came(Kind.BATCH, most=_first_number(found), field="tokens" if "tokens per" in found[0] else "inputs")
    if _CONTENT.search(every) and status not in (401, 429) and status < 500:
        return came(Kind.CONTENT)
    if _LITTLE_ROOM.search(every):
        return came(Kind.ROOM)
    if found := _MUCH_ROOM.search(every):
        return came(Kind.ROOM, most=_first_number(found))
    if "json_validate_failed" in every:
        return came(Kind.FORM)
    if _SYSTEM.search(every):
        return came(Kind.FIELD, field="system")
    return _classify_status(status, told, headers, sent, came)


def _classify_status(status: int, told: Told, headers: Mapping[str, str], sent: Collection[str], came: Any) -> Outcome:
    """What is left: a field that is named, or what the status alone says."""
    if status in (400, 404, 422):
        if status != 404 and (named := find_refused_field(told, sent)):
            return came(Kind.SCHEMA if named == "response_format" else Kind.FIELD, field=named)  # type: ignore[no-any-return]
        if _ROUTE.search(told.message):
            return came(Kind.FIELD)  # type: ignore[no-any-return]
    made: Outcome
    if status == 401 or (status == 403 and _KEY.search(f"{told.message} {told.code}")):
        made = came(Kind.DOWN, field="key")
    elif status == 404:
        made = came(Kind.DOWN, field="model")
    elif status in (400, 422) and _SCHEMA.search(told.message) and "response_format" in sent:
        made = came(Kind.SCHEMA, own=bool(_OWN_SCHEMA.search(told.message)))
    elif status in (400, 422):
        made = came(Kind.FIELD)
    elif status == 402 or status == 429:
        made = came(Kind.PACE, wait=find_wait(headers, told))
    elif status in (408, 409) or status >= 500:
        made = came(Kind.BROKEN, wait=find_wait(headers, told))
    else:
        made = came(Kind.REFUSED)
    return made


def find_refused_field(told: Told, sent: Collection[str]) -> str:
    """The field of the request that an error refuses; empty where it names none that was sent."""
    names = [
        n for n in dict.fromkeys([*_FIELDS, *sorted(sent)]) if n in sent and n not in ("model", "messages", "input")
    ]
    if told.param in names:
        return told.param
    if told.message.startswith("think value"):
        return "reasoning_effort" if "reasoning_effort" in sent else ""
    return next((n for n in names if re.search(rf"(?<!\w){re.escape(n)}(?!\w)", told.message)), "")


def find_figure(patterns: list[re.Pattern[str]], text: str) -> int:
    """The first number that one of the patterns finds; 0 for none."""
    return next((_first_number(found) for p in patterns if (found := p.search(text))), 0)


def _first_number(found: re.Match[str]) -> int:
    digits = next((group for group in found.groups() if group), "0")
    return int(re.sub(r"\D", "", digits)[:12] or 0)


# ── how long to wait ──


def find_wait(headers: Mapping[str, str], told: Told) -> float | None:
    """The wait in seconds that an endpoint asks for, in any of its forms; None where it asks for none."""
    try:
        return max(0.0, float(headers["retry-after-ms"]) / 1000)
    except (KeyError, ValueError):
        pass
    if (asked := read_retry_after(headers)) is not None:
        return asked
    found = _AGAIN_IN.search(f"{told.message} {told.details}")
    return read_span(found[1]) if found else None


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """The wait in seconds that Retry-After names, as seconds or as an HTTP date."""
    value = headers.get("retry-after")
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None


def read_span(text: str) -> float | None:
    """Seconds out of `6m0s`, `20ms`, `1.2s` or a plain number."""
    parts = _SPAN.findall(text)
    if parts:
        return sum(float(number) * _SECONDS[unit] for number, unit in parts)
    try:
        return float(text)
    except ValueError:
        return None


def find_rest(headers: Mapping[str, str]) -> float:
    """The seconds until there is anything left of what an endpoint allows; 0 where something is."""
    waits = list[float]()
    for what in ("requests", "tokens"):
        if headers.get(f"x-ratelimit-remaining-{what}") == "0":
            waits.append(read_span(headers.get(f"x-ratelimit-reset-{what}", "")) or 0.0)
    return max(waits, default=0.0)
