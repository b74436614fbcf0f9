"""Identifiers in questions and texts: words of letters and digits with marks between, such as `CVE-2023-0361`.

They stand for one thing, and are compared whole. A number of a version ("zlib-1.2") is none: texts write it in several
ways; nor is a word beside a year or a number ("mid-2019", "3-year").
"""

from __future__ import annotations

import re
from functools import lru_cache

_IDENTIFIER = re.compile(
    r"(?<![\w.:/@-])(?=[\w.:/#-]*\d)(?=[\w.:/#-]*[^\W\d_])[^\W_]+(?:[-._:/#][^\W_]+)+(?![\w@]|[./]\w)"
)
_NONE = re.compile(
    r"(?:[^\W\d_][\w.+-]*?[-_/]?)?v?\d+(?:\.\d+)+(?:[-~_]?[a-z]+\.?\d*)?|\d+(?:st|nd|rd|th)?(?:-[^\W\d_]+)+|"
    r"(?:[^\W\d_]+-)+(?:1[5-9]|20)\d\ds?|https?:.*|www\..*|(?-i:\w*[a-zß-ÿ]\w*-\d{1,2})|[A-Z]{1,2}-\d{1,2}|\d+[.:]\d+[ap]m|"
    r"\d+[-.:/][^\W\d_]{3,9}[-.:/]\d+",
    re.IGNORECASE,
)
_BARE = re.compile(
    r"\W*(?:(?:please\s+)?(?:find|show(?:\s+me)?|explain|describe|what(?:['’]s|\s+(?:is|was|does|do\s+\w+\s+know\s+about))?|"
    r"tell\s+me\s+(?:more\s+)?about|wh(?:ere|ich\s+\w+|at\s+\w+)\s+(?:is|are|was|do(?:es)?)?|was\s+ist|wo\s+(?:steht|wird))\s+)?"
    r"(?:the\s+)?@(?:\s+(?:and|or|,)\s+@)*"
    r"(?:\s+(?:mean|about|stand|appear\w*|occur\w*|mentioned|named|found|listed|described|discussed|used|written|erwähnt|genannt))?\W*",
    re.IGNORECASE,
)  # fmt: skip


@lru_cache(maxsize=1 << 10)
def find_identifiers(text: str) -> tuple[str, ...]:
    """The identifiers in a text, each once, in order."""
    if not any(c.isdigit() for c in text):
        return ()
    return tuple(dict.fromkeys(m[0] for m in _IDENTIFIER.finditer(text) if not _NONE.fullmatch(m[0])))


@lru_cache(maxsize=1 << 8)
def write_identifier_pattern(name: str) -> re.Pattern[str]:
    """Where an identifier stands whole, also with a blank for a dash: "INC-1" stands not in "INC-12" nor "INC-1-2"."""
    whole = "".join("[-_‐‑–]?\\s?" if part in "-_" else re.escape(part) for part in re.split("([-_])", name))
    return re.compile(rf"(?<![\w#])(?<!\w[-_:]){whole}(?!\w|[-_:/#]\w|\.\d)", re.IGNORECASE)


def asks_for_identifier(question: str) -> bool:
    """Whether a question has nothing but identifiers and words that ask what they are, or where they stand."""
    bare = question
    for name in find_identifiers(question):
        bare = bare.replace(name, "@")
    return bare != question and _BARE.fullmatch(bare) is not None
