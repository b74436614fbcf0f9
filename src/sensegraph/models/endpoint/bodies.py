"""What replies of an OpenAI-compatible endpoint look like, as far as they are more than a field, and what is none."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec

from sensegraph.models.endpoint.outcomes import Kind, Outcome, classify_error, tell_error

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
        self._texts: list[str] = []
        self._thoughts: list[str] = []
        self._parted = False
        self._refusal = ""
        self.finish = ""
        self.blanks = 0
        self._usage: dict[str, Any] | None = None

    @property
    def count(self) -> int:
        """How many pieces had a text."""
        return len(self._texts)

    def add(self, event: Mapping[str, Any]) -> str:
        """Take one more piece: its text, which may be empty."""
        self._usage = event.get("usage") or self._usage
        choices = event.get("choices") or [{}]
        native = choices[0].get("native_finish_reason")
        self.finish = choices[0].get("finish_reason") or (native if native in _BROKEN else "") or self.finish
        delta = choices[0].get("delta") or {}
        self._refusal += _read_refusal(delta)
        self._thoughts += [t for name in _REASONING if isinstance(t := delta.get(name), str)]
        self._parted = self._parted or _has_thinking_part(delta.get("content"))
        text = _join_text(delta.get("content"))
        if text:
            self._texts.append(text)
            kept = text.rstrip()
            self.blanks = len(text) - len(kept) + (0 if kept else self.blanks)
        return text

    def reply(self) -> dict[str, Any]:
        """The whole reply in the form of one that was not cut into pieces."""
        message: dict[str, Any] = {"role": "assistant", "content": "".join(self._texts)}
        message |= {"refusal": self._refusal} if self._refusal else {}
        message |= {_REASONING[0]: "".join(self._thoughts)} if self._thoughts else {}
        message |= {_PARTED: True} if self._parted else {}
        whole: dict[str, Any] = {"choices": [{"index": 0, "message": message, "finish_reason": self.finish}]}
        return whole | ({"usage": self._usage} if self._usage else {})


# ── what a reply says ──


def read_content(reply: Mapping[str, Any]) -> str:
    """The text of a whole chat reply, without the parts that are no text, such as a model's thoughts.

    Where a server put all of a JSON object among the thoughts, that is the text.
    """
    message = _message(reply)
    return _join_text(message.get("content")) or read_misplaced(reply)


def read_misplaced(reply: Mapping[str, Any]) -> str:
    """The JSON object that stands where thoughts should, of a reply without content; empty where there is none."""
    message = _message(reply)
    if _join_text(message.get("content")).strip() or read_finish(reply) == "length":
        return ""
    said = next((t.strip() for name in _REASONING if isinstance(t := message.get(name), str)), "")
    return said if said[:1] == "{" and said[-1:] == "}" else ""


def _message(reply: Mapping[str, Any]) -> dict[str, Any]:
    return reply["choices"][0].get("message") or {}


def _join_text(said: Any) -> str:
    """The text in a field `content`: a string, or a list of parts of which those of text count."""
    if not isinstance(said, list):
        return str(said or "")
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
    message, details = _message(reply), (reply.get("usage") or {}).get("completion_tokens_details") or {}
    if message.get(_PARTED) or _has_thinking_part(message.get("content")):
        return "parts"
    if any(isinstance(t := message.get(name), str) and t.strip() for name in _REASONING):
        return "field"
    text = _join_text(message.get("content"))
    if not text.lstrip().startswith("{") and (_OPEN.match(text) or _CLOSED.match(text)):
        return "tag"
    return "hidden" if isinstance(details, dict) and details.get("reasoning_tokens") else ""


def _has_thinking_part(said: Any) -> bool:
    return isinstance(said, list) and any(isinstance(p, dict) and p.get("type") == "thinking" for p in said)


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


def decode_reply(raw: bytes, body: Mapping[str, Any]) -> dict[str, Any]:
    """The reply in `raw` to a request. Raises Unusable where there is none, or one that ended in an error."""
    try:
        data = msgspec.json.decode(raw)
    except msgspec.DecodeError:
        if raw.lstrip()[:1] == b"<":
            raise Unusable(Outcome(Kind.DOWN, "a web page", field="page")) from None
        raise Unusable(Outcome(Kind.BROKEN, "a reply that is no JSON")) from None
    data = {"results": data} if isinstance(data, list) else data
    if isinstance(data, dict) and any(data.get(name) for name in ("choices", "data", "results")):
        return check_reply(data, body)
    if isinstance(data, dict) and data.get("error"):
        raise Unusable(classify_told(data, body))
    told = data.get("message") if isinstance(data, dict) else None
    said = f" ({told})" if isinstance(told, str) and told else ""
    raise Unusable(Outcome(Kind.BROKEN, f"a reply without content{said}", own=bool(said)))


def check_reply(reply: dict[str, Any], body: Mapping[str, Any]) -> dict[str, Any]:
    """`reply`. Raises Unusable where it says that it ended in an error."""
    choices = reply.get("choices")
    first = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    reasons = [str(first.get(name) or "").casefold() for name in ("finish_reason", "native_finish_reason")]
    if not any(reason in _BROKEN for reason in reasons) and not reply.get("error"):
        return reply
    said = f": {classify_told(reply, body).words}" if reply.get("error") else ""
    why = next((f" (finish_reason {reason})" for reason in reasons if reason), "")
    raise Unusable(Outcome(Kind.BROKEN, f"a reply that ended in an error{why}{said}"))


def classify_told(found: Mapping[str, Any], body: Mapping[str, Any]) -> Outcome:
    """What an error means that came as a reply; its code is the status, where it is one."""
    error = found.get("error")
    code = str(error.get("code") or "") if isinstance(error, dict) else ""
    known = code.isdigit() and 400 <= int(code) < 600
    outcome = classify_error(int(code) if known else 500, tell_error(dict(found)), {}, body.keys())
    return outcome if known else replace(outcome, status=0)


def read_usage(reply: Mapping[str, Any], name: str) -> int | None:
    """A number of the reply's usage, where it gives it."""
    value = (reply.get("usage") or {}).get(name)
    return int(value) if value is not None else None
