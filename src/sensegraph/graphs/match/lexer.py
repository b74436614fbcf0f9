"""The text of a query to tokens with their places."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from sensegraph.graphs.match.syntax import Spot

LONGEST = 10_000  # characters of a query
_TOKEN = re.compile(
    r"""(?P<space>\s+)
    |(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
    |(?P<name>[^\W\d]\w*)
    |`(?P<quoted>[^`]+)`
    |\$(?P<parameter>\w+)
    |(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    |(?P<symbol><>|<=|>=|!=|=~|\.\.|[()\[\]{}:,.|*<>=+\-/%;&])""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\([\\'\"nt])")  # any other backslash stays, as regular expressions need it

Kind = Literal["number", "name", "quoted", "parameter", "text", "symbol", "end"]


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a query; `text` is without quotes and escapes. A name in backquotes is `quoted`: never a keyword."""

    kind: Kind
    text: str
    at: Spot


def tokenize_query(text: str, piece: str) -> list[Token]:
    """The tokens of `text`, the last of which is its end. Raises InputError at what cannot be read."""
    if len(text) > LONGEST:
        raise Spot(piece, text, LONGEST).error(
            f"a query may have {LONGEST:,} characters; give long lists as parameters."
        )
    found, offset = list[Token](), 0
    while offset < len(text):
        spot = Spot(piece, text, offset)
        match = _TOKEN.match(text, offset)
        if match is None:
            c = text[offset]
            if c in "'\"`":
                raise spot.error("this quotation has no end.")
            if c == "$":
                raise spot.error("a parameter needs a name, as in $name.")
            raise spot.error(
                f"{c!r} has no meaning here; put texts into quotes, and types with other signs into `backquotes`."
            )
        kind: Kind = match.lastgroup  # type: ignore[assignment]
        if match.lastgroup != "space":
            read = match[kind]
            if kind == "text":
                read = _ESCAPE.sub(lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), read[1:-1])
            found.append(Token(kind, read, spot))
        offset = match.end()
    return [*found, Token("end", "", Spot(piece, text, len(text)))]
