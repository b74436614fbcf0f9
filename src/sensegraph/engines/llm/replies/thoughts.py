"""A reply without what the model thought before it: thoughts that stand in the text itself are no part of the reply."""

from __future__ import annotations

import re

TAGS = "think|thinking|thought|reasoning|reflection|seed:think"
_CLOSED = re.compile(  # up to the last end of thoughts, whether or not their beginning is there
    rf"\A[\s\S]*(?:</(?:{TAGS})>|\[/THINK\]|<channel\|>|<\|channel\|>final[^<]*<\|message\|>)", re.IGNORECASE
)
_OPEN = re.compile(
    rf"\s*(?:<\|start\|>\s*assistant\s*)?(?:<(?:{TAGS})>|\[THINK\]|<\|channel\|?>\s*(?:analysis|thought|commentary))",
    re.IGNORECASE,
)
_END = re.compile(r"<\|(?:return|end)\|>\s*\Z")


def without_thoughts(text: str) -> str:
    """`text` after the end of the thoughts at its beginning; empty where they have no end.

    The forms are tags, Mistral's brackets and the channels of gpt-oss and Gemma. A JSON object is no thought, so that
    one which speaks of such tags stays as it is.
    """
    if not text.lstrip().startswith("{"):
        text = _CLOSED.sub("", text)
    return "" if _OPEN.match(text) else _END.sub("", text).strip()


def why_empty(text: str) -> str:
    """Why nothing is left of a reply to read; empty where something is."""
    if without_thoughts(text):
        return ""
    return "it holds thoughts and no reply: switch them off or raise the limit" if text.strip() else "it is empty"
