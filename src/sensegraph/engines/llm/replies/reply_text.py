"""What a reply says, whatever a model puts around or into its JSON, and what is wrong with it.

A reading is a value, a problem, or both: a value with a problem is used only when asking again brings none better.
Thoughts that stand in the text itself are no part of the reply.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec

from sensegraph.models.endpoint.bodies import without_thoughts
from sensegraph.models.endpoint.client import Reply


def why_empty(text: str) -> str:
    """Why nothing is left of a reply to read; empty where something is."""
    if without_thoughts(text):
        return ""
    return "it holds thoughts and no reply: switch them off or raise the limit" if text.strip() else "it is empty"


T = TypeVar("T")

_FENCE = re.compile(r"```[a-z]*\s*\n?([\s\S]*?)(?:```|$)", re.IGNORECASE)
_TOKEN = re.compile(r"""(?P<string>"(?:[^"\\]++|\\u[0-9a-fA-F]{4}|\\[^u])*+(?P<end>")?)|[{}\[\]]""")
_CLOSERS = {"{": "}", "[": "]"}
_WRAPPERS = ("properties", "model", "response", "result", "output", "json", "arguments")  # around what was asked for
_ESCAPE = 6  # characters of the longest escape in a string
_LONGEST_REPAIRED = 30_000  # characters; the library takes the square of some texts: of these, 5 s
_DEEPEST = 50  # braces left open; our forms nest four deep
_DECLINES = re.compile(  # "I'm sorry, I can't help with that" and its like, at the beginning of a reply
    r"\W*(?:I|sorry|as an AI|unfortunately)\b[^\n]{0,60}?"
    r"\b(?:can(?:not|['’]?t| not)|unable to|not able to|won['’]t)\s+(?:\w+\s+)?"
    r"(?:help|assist|comply|do (?:that|this|it|so)|fulfil|provide|continue|discuss|process|summari[sz]e)\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[\s\S]*[.!?。！？](?=\s|$)")


@dataclass(frozen=True, slots=True)
class Reading(Generic[T]):
    """What a reply gave: `value` where it can be used, `problem` where it is worth asking again.

    `removed` counts what named nothing or could not be read; `mended` says what had to be changed in the value;
    `doubtful` is a value that may be none, such as a refusal in words; `instead` is what a run may go on with where no
    reply gives a value, though it is not the result.
    """

    value: T | None
    problem: str = ""
    removed: int = 0
    mended: tuple[str, ...] = ()
    doubtful: bool = False
    instead: T | None = None


def decode_json(reply: Reply) -> Any:
    """The JSON value in a reply, repaired where it must be, without an object around it; None where there is none.

    Of a truncated reply, only what comes before the end of its last complete record is taken.
    """
    return _unwrap_value(_decode_json_text(reply))


def _unwrap_value(data: Any) -> Any:
    """`data` without the object that a small model put around it, such as `{"Model": …}` or `{"properties": …}`."""
    if not isinstance(data, dict) or len(data) != 1:
        return data
    ((name, inner),) = data.items()
    wraps = isinstance(inner, dict) and (str(name)[:1].isupper() or name in _WRAPPERS)
    return inner if wraps else data


def _decode_json_text(reply: Reply) -> Any:
    text = strip_wrapping(reply.text)
    start = min((i for i in (text.find("{"), text.find("[")) if i >= 0), default=-1)
    if start < 0:
        return None
    try:
        return msgspec.json.decode(text[start:])
    except msgspec.DecodeError:
        whole = text.rfind("}") + 1 if is_truncated(reply) and text.count("{") > 1 else len(text)
        return _repair_json(text[start:whole])
    except RecursionError:  # a model that runs on in brackets
        return None


def _repair_json(text: str) -> Any:
    """The value of JSON that is cut off or otherwise broken; None where there is none."""
    if text.count("{") - text.count("}") > _DEEPEST:
        return None  # repairing what only opens takes the square of its length
    try:
        return msgspec.json.decode(_close_json(text)) or None
    except (msgspec.DecodeError, RecursionError):
        pass
    if len(text) > _LONGEST_REPAIRED:
        return None
    from json_repair import loads

    try:
        return _mend_characters(loads(text)) or None
    except (ValueError, RecursionError):
        return None


def _mend_characters(value: Any) -> Any:
    """`value` with halves of characters, which no text may hold, put together or marked as lost."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_mend_characters(v) for v in value]
    return {_mend_characters(k): _mend_characters(v) for k, v in value.items()} if isinstance(value, dict) else value


def _close_json(text: str) -> str:
    """JSON that was cut off, with what it left open closed: all that most broken replies need, and quickly done."""
    open_: list[str] = []
    for token in _TOKEN.finditer(text):
        if token["string"] is not None:
            if token["end"] is None:
                cut = len(text) - token.end() < _ESCAPE  # else it is no JSON string, and a quote would not mend it
                return text[: token.end()] + '"' + "".join(reversed(open_)) if cut else text
        elif token[0] in _CLOSERS:
            open_.append(_CLOSERS[token[0]])
        elif open_:
            open_.pop()
    return text.rstrip(", \t\r\n") + "".join(reversed(open_))


def strip_wrapping(text: str) -> str:
    """A reply without a model's thoughts and code fences."""
    text = without_thoughts(text)
    fenced = _FENCE.search(text)
    return fenced[1].strip() if fenced and ("{" in fenced[1] or "<|>" in fenced[1]) else text


def is_truncated(reply: Reply) -> bool:
    """Whether the endpoint cut the reply at its limit."""
    return reply.finish_reason == "length"


def read_one_text(reply: Reply, name: str) -> str:
    """The one text that a reply is about: a field of its JSON, or all of it when it is none."""
    text = strip_wrapping(reply.text)
    if not text.startswith(("{", "[")) and f'"{name}"' not in text:
        return text
    data = decode_json(reply)
    value = data.get(name) if isinstance(data, dict) else None
    return value.strip() if isinstance(value, str) else ""


def lists_nothing(reply: Reply, data: Any, *names: str) -> bool:
    """Whether `data`, read from a reply that nothing had to be closed in, holds empty lists under `names`.

    The first must be there, the others may be missing.
    """
    if not isinstance(data, dict) or data.get(names[0]) != [] or is_truncated(reply):
        return False
    text = strip_wrapping(reply.text)
    closed = all(text.count(a) == text.count(b) for a, b in ("{}", "[]"))
    return closed and all(data.get(name, []) == [] for name in names)


def declines_in_words(reply: Reply) -> bool:
    """Whether a reply in plain words declines to be one."""
    text = strip_wrapping(reply.text)
    return "{" not in text and bool(_DECLINES.match(text))


def list_in(data: Any, name: str) -> list[Any]:
    """The list under `name`; empty where there is none."""
    value = data.get(name) if isinstance(data, dict) else None
    return value if isinstance(value, list) else []


def keep_whole_sentences(text: str) -> str:
    """`text` up to the end of its last whole sentence."""
    match = _SENTENCE_END.match(text)
    return match[0] if match else text


def describe_cut(reply: Reply) -> str:
    """What is wrong with a reply that ended at its limit; empty for one that did not."""
    if not is_truncated(reply):
        return ""
    return f"it was cut off after {reply.completion_tokens} tokens; write less, the most important first"
