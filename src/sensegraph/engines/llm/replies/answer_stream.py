"""An answer while it is written: from the pieces of a reply to whole statements with their references.

Whole replies are read in the same way (`spoken`), so that a streamed answer is the one that would have come whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from sensegraph.engines.llm.replies.cited_records import Records
from sensegraph.engines.llm.replies.thoughts import TAGS
from sensegraph.types import Statement

_START = re.compile(  # thoughts in their tags, a fence, and the form that was asked for
    rf'\A\s*(?:<({TAGS})>[\s\S]*?</\1>\s*|\[THINK\][\s\S]*?\[/THINK\]\s*)?(?:```[a-z]*\s*)?\{{\s*"answer"\s*:\s*"',
    re.IGNORECASE,
)
_PLAIN = re.compile(r'[^"\\]+')
_CLOSES = re.compile(r'\s*(?:\}|,\s*"[^"\\\n]{0,60}"\s*:)')  # what follows the end of a text, and not a quote in it
_MAY_CLOSE = re.compile(r'\s*(?:,\s*(?:"[^"\\\n]{0,60}(?:"\s*)?)?)?\Z')
_UNIT = re.compile(r"\\u([0-9a-fA-F]{4})")
_UNIT_BEGUN = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_LOST = "\ufffd"  # for half a character


class AnswerText:
    """The text of `{"answer": "…"}`, as far as it is known; what does not begin like that has none."""

    def __init__(self) -> None:
        self._raw, self._blank = "", ""
        self._begun = self._spoken = self.closed = False

    @property
    def begun(self) -> bool:
        """Whether the reply has the form that can be read while it comes."""
        return self._begun

    def feed(self, piece: str, *, last: bool = False) -> str:
        """What `piece` adds to the text, without white space around the text; `last` says that no other comes."""
        self._raw += piece
        if not self._begun and '"' in piece and (start := _START.match(self._raw)):
            self._begun, self._raw = True, self._raw[start.end() :]
        if not self._begun or self.closed:
            return ""
        text, at, self.closed = _read_json_text(self._raw, last)
        self._raw = self._raw[at:]
        return self._without_ends(text)

    def _without_ends(self, text: str) -> str:
        """`text` after the blanks that were held back; its own last blanks are held back until more follows."""
        text = self._blank + text if self._spoken else text.lstrip()
        kept = text.rstrip()
        self._spoken = self._spoken or bool(kept)
        self._blank = text[len(kept) :]
        return kept


def read_streamed_answer(reply: str) -> str | None:
    """The text of a whole reply in the form `{"answer": "…"}`, however it is cut off; None for any other form."""
    reading = AnswerText()
    text = reading.feed(reply, last=True)
    return text if reading.begun else None


class AnswerStream:
    """Tells the statements of an answer as its pieces come; each is told when nothing that follows can change it."""

    def __init__(self, cited: Records, tell: Callable[[Statement], None]) -> None:
        self._cited, self._tell = cited, tell
        self._reading, self._text = AnswerText(), ""
        self.count = 0

    def hear(self, piece: str) -> None:
        """Take the next piece of the reply."""
        self._text += self._reading.feed(piece)
        statements, at = self._cited.resolve_beginning(self._text)
        self._text = self._text[at:]
        self.tell(statements)

    def tell(self, statements: Sequence[Statement]) -> None:
        """Tell these."""
        self.count += len(statements)
        for statement in statements:
            self._tell(statement)


# ── a text in JSON ──


def _read_json_text(raw: str, last: bool) -> tuple[str, int, bool]:
    """The text at the beginning of `raw`, how much of `raw` it takes, and whether it has ended.

    As far as it is certain: what could yet turn out otherwise is left, unless this is the `last` of it. A quote that
    nothing of the form follows belongs to the text, and so does a backslash that begins no escape.
    """
    parts: list[str] = []
    at = 0
    while at < len(raw):
        if plain := _PLAIN.match(raw, at):
            parts.append(plain[0])
            at = plain.end()
        elif raw[at] == "\\":
            character, size = _read_escape(raw, at, last)
            if not size:
                break
            parts.append(character)
            at += size
        elif _CLOSES.match(raw, at + 1) or (last and _MAY_CLOSE.match(raw, at + 1)):
            return "".join(parts), len(raw), True
        elif not last and _MAY_CLOSE.match(raw, at + 1):
            break
        else:
            parts.append('"')
            at += 1
    return "".join(parts), at, False


def _read_escape(raw: str, at: int, last: bool) -> tuple[str, int]:
    """The character of the escape at `at` and its length in `raw`; length 0 where more of it is to come."""
    if _UNIT_BEGUN.match(raw, at):
        return "", 0
    if not (unit := _UNIT.match(raw, at)):
        known = _ESCAPES.get(raw[at + 1])
        return (known, 2) if known else ("\\", 1)
    code = int(unit[1], 16)
    if not 0xD800 <= code < 0xE000:
        return chr(code), 6
    if code >= 0xDC00:
        return _LOST, 6
    other = _UNIT.match(raw, at + 6)  # a character that two halves make; the first alone is lost
    if other and 0xDC00 <= (low := int(other[1], 16)) < 0xE000:
        return chr(0x10000 + ((code - 0xD800) << 10) + low - 0xDC00), 12
    unknown = not last and not other and (at + 6 == len(raw) or _UNIT_BEGUN.match(raw, at + 6))
    return ("", 0) if unknown else (_LOST, 6)
