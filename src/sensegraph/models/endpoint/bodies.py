"""What replies of an OpenAI-compatible endpoint look like, as far as they are more than a field, and what is none."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from io import StringIO
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from sensegraph.models.endpoint.incoming import WHOLE, Oversized
from sensegraph.models.endpoint.outcomes import (
    MOST_VALUES,
    Excessive,
    Kind,
    Outcome,
    classify_error,
    read_json,
    tell_error,
)

if TYPE_CHECKING:
    from sensegraph.models.endpoint.incoming import Incoming

MOST_TEXT = 1_000_000  # characters of a reply and its thoughts
MOST_NUMBERS = 16_384  # in one vector
VECTOR_BYTES = 16 * MOST_NUMBERS  # of one vector, as JSON; most have a fourth of the numbers
MOST_COUNT = 100_000_000  # tokens of a usage that is believed
MOST_BLANKS = 64  # that a reply in a form may hold in a row; a grammar allows any number
_CUT = (
    "length",
    "max_tokens",
    "model_length",
    "max_output_tokens",
)  # finish reasons, in lower case, of a reply cut at its limit
_REFUSED = (
    *("content_filter", "refusal", "safety", "recitation", "prohibited_content", "blocklist", "spii", "sensitive"),
    "guardrail_intervened",
)
_BROKEN = ("error", "network_error", "abort", "aborted", "cancelled", "insufficient_system_resource")
_REASONING = ("reasoning_content", "reasoning")
_READ = ("choices", "data", "results", "usage", "error")  # of a reply; the rest is let go
_PARTED = "thoughts_in_parts"  # a mark of ours on a reply put together from pieces

TAGS = "think|thinking|thought|reasoning|reflection|seed:think"
_CLOSED = re.compile(  # up to the last end of thoughts, whether or not their beginning is there
    rf"\A[\s\S]*(?:</(?:{TAGS})>|\[/THINK\]|<\|END_THINKING\|>|<channel\|>|<\|channel\|>final[^<]*<\|message\|>)",
    re.IGNORECASE,
)
_OPEN = re.compile(
    rf"\s*(?:<\|start\|>\s*assistant\s*)?(?:<(?:{TAGS})>|\[THINK\]|<\|START_THINKING\|>|<\|channel\|?>\s*(?:analysis|thought|commentary))",
    re.IGNORECASE,
)
_END = re.compile(r"<\|(?:return|end)\|>\s*\Z")


class Unusable(Exception):
    """What came is no reply; the outcome says what it is."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.words)
        self.outcome = outcome


class Parts:
    """A reply that comes in pieces, put together."""

    def __init__(self) -> None:
        self._text, self._thoughts = StringIO(), StringIO()  # a list of a million little pieces takes 60 MB
        self.count = 0
        self._parted = False
        self._refusal = ""
        self.finish = ""
        self.blanks = 0
        self._usage: dict[str, Any] | None = None

    def add(self, event: Mapping[str, Any]) -> str:
        """Take one more piece: its text, which may be empty. Raises Unusable where they are too many."""
        self._usage = _read_object(event, "usage") or self._usage
        first = _first_choice(event)
        native = first.get("native_finish_reason")
        self.finish = str(first.get("finish_reason") or "") or (native if native in _BROKEN else "") or self.finish
        delta = _read_object(first, "delta")
        self._refusal += _read_refusal(delta)
        for name in _REASONING:
            self._thoughts.write(said if isinstance(said := delta.get(name), str) else "")
        self._parted = self._parted or _has_thinking_part(delta.get("content"))
        text = _join_text(delta.get("content"))
        if text:
            self.count += 1
            self._text.write(text)
            kept = text.rstrip()
            self.blanks = len(text) - len(kept) + (0 if kept else self.blanks)
        check_length(self._text.tell() + self._thoughts.tell() + len(self._refusal))
        return text

    def reply(self) -> dict[str, Any]:
        """The whole reply in the form of one that was not cut into pieces."""
        message: dict[str, Any] = {"role": "assistant", "content": self._text.getvalue()}
        message |= {"refusal": self._refusal} if self._refusal else {}
        message |= {_REASONING[0]: self._thoughts.getvalue()} if self._thoughts.tell() else {}
        message |= {_PARTED: True} if self._parted else {}
        whole: dict[str, Any] = {"choices": [{"index": 0, "message": message, "finish_reason": self.finish}]}
        return whole | ({"usage": self._usage} if self._usage else {})


# ── what a reply says ──


def read_content(reply: Mapping[str, Any]) -> str:
    """The text of a chat reply or of a completion, without the parts that are no text, such as a model's thoughts.

    Where a server put all of a JSON object among the thoughts, that is the text.
    """
    message = _message(reply)
    return _join_text(message.get("content")) or _join_text(_first_choice(reply).get("text")) or read_misplaced(reply)


def read_misplaced(reply: Mapping[str, Any]) -> str:
    """The JSON object that stands where thoughts should, of a reply without content; empty where there is none."""
    message = _message(reply)
    if _join_text(message.get("content")).strip() or read_finish(reply) == "length":
        return ""
    said = next((t.strip() for name in _REASONING if isinstance(t := message.get(name), str)), "")
    return said if said[:1] == "{" and said[-1:] == "}" else ""


def _first_choice(reply: Mapping[str, Any]) -> dict[str, Any]:
    """The first choice of a reply or of an event; empty where there is none."""
    choices = reply.get("choices")
    return choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}


def _read_object(found: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The object in a field; empty where it holds none."""
    value = found.get(name)
    return value if isinstance(value, dict) else {}


def _message(reply: Mapping[str, Any]) -> dict[str, Any]:
    return _read_object(_first_choice(reply), "message")


def _join_text(said: Any) -> str:
    """The text in a field `content`: a string, or a list of parts of which those of text count."""
    if not isinstance(said, list):
        return str(said or "") if isinstance(said, str | int | float) else ""
    parts = [{"type": "text", "text": part} if isinstance(part, str) else part for part in said]
    texts = (p.get("text") for p in parts if isinstance(p, dict) and p.get("type", "text") in ("text", "output_text"))
    return "".join(text for text in texts if isinstance(text, str))


def without_thoughts(text: str) -> str:
    """`text` after the end of the thoughts at its beginning; empty where they have no end.

    The forms are tags, Mistral's brackets and the channels of gpt-oss and Gemma. A JSON object is no thought, so that
    one which speaks of such tags stays as it is.
    """
    if not text.lstrip().startswith("{"):
        text = _CLOSED.sub("", text)
    return "" if _OPEN.match(text) else _END.sub("", text).strip()


def find_thoughts(reply: Mapping[str, Any]) -> str:
    """Where the thoughts of a chat reply came: as parts, in a field, in the text (tag), hidden; empty for none."""
    message = _message(reply)
    details = _read_object(_read_object(reply, "usage"), "completion_tokens_details")
    if message.get(_PARTED) or _has_thinking_part(message.get("content")):
        return "parts"
    if any(isinstance(t := message.get(name), str) and t.strip() for name in _REASONING):
        return "field"
    text = _join_text(message.get("content"))
    if not text.lstrip().startswith("{") and (_OPEN.match(text) or _CLOSED.match(text)):
        return "tag"
    return "hidden" if details.get("reasoning_tokens") else ""


def _has_thinking_part(said: Any) -> bool:
    return isinstance(said, list) and any(isinstance(p, dict) and p.get("type") == "thinking" for p in said)


def _read_refusal(message: Mapping[str, Any]) -> str:
    """The words in which a message, or a part of one, refuses to be a reply; empty where it does not."""
    said = message.get("content")
    parts = [p.get("refusal") for p in said if isinstance(p, dict)] if isinstance(said, list) else []
    return "".join(r for r in (message.get("refusal"), *parts) if isinstance(r, str))


def read_finish(reply: Mapping[str, Any]) -> str:
    """Why a chat reply ended, in lower case: `length`, by whatever name, where it was cut at its limit."""
    reason = str(_first_choice(reply).get("finish_reason") or "").casefold()
    return "length" if reason in _CUT else reason


def name_refusal(reply: Mapping[str, Any]) -> str:
    """How the model or a filter refused a chat reply; empty where neither did."""
    words = _read_refusal(_message(reply))
    by_reason = f"finish_reason {read_finish(reply)}" if read_finish(reply) in _REFUSED else ""
    return "; ".join(why for why in (by_reason, " ".join(words.split())[:300]) if why)


def classify_reply(reply: Mapping[str, Any]) -> Outcome | None:
    """What a chat reply came to where it is none: refused, thoughts only, or run on; None for one to be read."""
    if why := name_refusal(reply):
        return Outcome(Kind.CONTENT, why)
    text, cut = read_content(reply), read_finish(reply) == "length"
    if not without_thoughts(text) and (cut or text.strip()):
        return Outcome(Kind.THOUGHTS, "thoughts and no reply")
    if cut and text[-MOST_BLANKS:].isspace() and len(text) > MOST_BLANKS:
        return Outcome(Kind.RUN_ON, "the reply ran on in blanks")
    return None


def is_usable(reply: Mapping[str, Any]) -> bool:
    """Whether a reply may be believed by a later run."""
    return not reply.get("choices") or classify_reply(reply) is None


# ── what is no reply ──


def decode_reply(raw: bytes, body: Mapping[str, Any], most: int = MOST_VALUES) -> dict[str, Any]:
    """The reply in `raw` to a request, of at most so many values.

    Raises Unusable where there is none, or one that ended in an error.
    """
    try:
        data = read_json(raw, most)
    except Excessive as e:
        raise Unusable(Outcome(Kind.BROKEN, str(e), own=True)) from None
    except msgspec.DecodeError:
        if raw.lstrip()[:1] == b"<":
            raise Unusable(Outcome(Kind.DOWN, "a web page", field="page")) from None
        raise Unusable(Outcome(Kind.BROKEN, "a reply that is no JSON")) from None
    data = {"results": data} if isinstance(data, list) else data
    if isinstance(data, dict) and any(data.get(name) for name in ("choices", "data", "results")):
        return check_reply({name: data[name] for name in _READ if name in data}, body)
    if isinstance(data, dict) and data.get("error"):
        raise Unusable(classify_told(data, body))
    told = data.get("message") if isinstance(data, dict) else None
    said = f" ({told})" if isinstance(told, str) and told else ""
    raise Unusable(Outcome(Kind.BROKEN, f"a reply without content{said}", own=bool(said)))


def check_reply(reply: dict[str, Any], body: Mapping[str, Any]) -> dict[str, Any]:
    """`reply`. Raises Unusable where it says that it ended in an error, or is none."""
    first = _first_choice(reply)
    if reply.get("choices") and not (first and isinstance(first.get("message") or {}, dict)):
        raise Unusable(Outcome(Kind.BROKEN, "a reply whose choices hold no message", own=True))
    message = _message(reply)
    said = [message.get(name) for name in (*_REASONING, "refusal")]
    check_length(len(_join_text(message.get("content"))) + sum(len(t) for t in said if isinstance(t, str)))
    reasons = [str(first.get(name) or "").casefold() for name in ("finish_reason", "native_finish_reason")]
    if not any(reason in _BROKEN for reason in reasons) and not reply.get("error"):
        return reply
    told = f": {classify_told(reply, body).words}" if reply.get("error") else ""
    why = next((f" (finish_reason {reason})" for reason in reasons if reason), "")
    raise Unusable(Outcome(Kind.BROKEN, f"a reply that ended in an error{why}{told}"))


def check_length(count: int) -> None:
    """Raise Unusable for so many characters where no reply has as many."""
    if count > MOST_TEXT:
        raise Unusable(Outcome(Kind.RUN_ON, f"the reply ran on past {MOST_TEXT:,} characters"))


def classify_told(found: Mapping[str, Any], body: Mapping[str, Any]) -> Outcome:
    """What an error means that came as a reply; its code is the status, where it is one."""
    error = found.get("error")
    code = str(error.get("code") or "") if isinstance(error, dict) else ""
    known = re.fullmatch("[45][0-9][0-9]", code) is not None
    outcome = classify_error(int(code) if known else 500, tell_error(dict(found)), {}, body.keys())
    return outcome if known else replace(outcome, status=0)


def read_usage(reply: Mapping[str, Any], name: str) -> int | None:
    """A number of the reply's usage, where it gives one that can be."""
    value = _read_object(reply, "usage").get(name)
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return int(value) if value is not None and whole and 0 <= value <= MOST_COUNT else None


def pack_vectors(reply: dict[str, Any]) -> dict[str, Any]:
    """`reply`, its vectors of numbers as arrays, which take an eighth of the memory; all else as it is."""
    rows = reply.get("data")
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict) and isinstance(row.get("embedding"), list):
            with suppress(ValueError), np.errstate(all="ignore"):  # lists of several lengths stay as they are
                found = np.asarray(row["embedding"])
                row["embedding"] = found.astype(np.float32) if found.dtype.kind in "fiu" else row["embedding"]
    return reply


def gives_impossible_usage(reply: Mapping[str, Any]) -> bool:
    """Whether the reply gives a number of tokens that cannot be."""
    given = _read_object(reply, "usage")
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    return any(given.get(name) is not None and read_usage(reply, name) is None for name in names)


# ── pieces of a reply ──


def assemble_events(
    incoming: Incoming, heard: Callable[[str], None], body: Mapping[str, Any], formed: bool
) -> dict[str, Any]:
    """The reply whose pieces come as events, as it would have come whole; a piece is heard as it comes.

    An endpoint that sends the reply whole all the same is understood. Raises Unusable for what is no reply, and for one
    that runs on in blanks where it is `formed`.
    """
    parts, rest = Parts(), bytearray()
    for line in incoming:
        if not line.startswith(b"data:"):
            rest += line + b"\n" if line.strip() and line[:1] != b":" else b""  # which keeps a connection alive
            if len(rest) > WHOLE:
                raise Oversized(f"a reply of more than {WHOLE // 1_000_000} MB")
            continue
        if (payload := line[5:].strip()) == b"[DONE]":
            return check_reply(parts.reply(), body)
        heard(_read_event(payload, parts, body))
        if formed and parts.blanks > MOST_BLANKS:
            raise Unusable(Outcome(Kind.RUN_ON, "the reply ran on in blanks"))
    if parts.count or not any(line.lstrip()[:1] in b"{[<" for line in rest.splitlines()):
        if parts.finish:
            return check_reply(parts.reply(), body)
        raise Unusable(Outcome(Kind.BROKEN, "the reply ended before its end"))
    data = decode_reply(bytes(rest), body)
    heard(read_content(data))
    return data


def _read_event(payload: bytes, parts: Parts, body: Mapping[str, Any]) -> str:
    """The text of one event. Raises Unusable for an error that is told as one."""
    try:
        event = read_json(payload)
    except msgspec.DecodeError:
        event = None
    if not isinstance(event, dict):
        raise Unusable(Outcome(Kind.BROKEN, "a piece of a reply that is no JSON"))
    if event.get("error"):
        raise Unusable(classify_told(event, body))
    return parts.add(event)
