"""What marks a sentence of documentation: that it rules something, tells a way or a version, or goes on with another.

And what a question asks for that such marks answer. The words are English; signs and numbers are of any language.
"""

from __future__ import annotations

import re

_RULES = re.compile(
    r"\b(?:may|must|shall|can|could|cannot|not|no|never|neither|nor|none|only|unless|without|required?|allowed|"
    r"permitted|\w+n['’]t)\b",
    re.IGNORECASE,
)
_ASKS_WAY = re.compile(
    r"^\W*(?:how (?:do|does|did|can|could|should|to|would|might|may|is|are|must)\b(?! (?:you )?(?:differ|compare))|"
    r"(?:what|which) (?:command|option|flag|switch|setting|should))\b",
    re.IGNORECASE,
)
_OPTION = r"(?<![\w-])--?[A-Za-z][\w-]*"
_WAY = re.compile(
    rf"{_OPTION}|`|^\s*[$#%>] |\b(?:use[ds]?|using|run|running|set|setting|specify|call|type|enter|add|put|"
    r"by \w+ing|to \w+)\b",
    re.IGNORECASE,
)
_COMMAND = re.compile(rf"^\W*[$%>] \S|^[`'‘]?[a-z][\w.+-]*(?: \S+)*? {_OPTION}|^`[^`]+`\W*$|\s\| [a-z]+\b")
_ASKS_VERSION = re.compile(r"\b(?:version|release)s?\b", re.IGNORECASE)
_VERSION = re.compile(r"\b\d+\.\d+|\b(?:version|release)s? \d", re.IGNORECASE)
_LITERAL = re.compile(rf"{_OPTION}\b|\b\d+(?:\.\d+)+")
_GOES_ON = re.compile(
    r"^\W*(?:but|however|instead|also|thus|therefore|then|and|or|so|for example|e\.g\.|this|these|that|those|it|they|"
    r"he|she|in this case|note that|otherwise|similarly|in addition|likewise)\b",
    re.IGNORECASE,
)
_SIGN = re.compile(r"[\[\]<>|={}$\\/_`#*~^]|--")
_FEWEST = 30  # characters that a text counts as having at least


def asks_for_way(question: str) -> bool:
    """Whether a question asks how to do something, or with which command."""
    return _ASKS_WAY.search(question) is not None


def asks_for_version(question: str) -> bool:
    """Whether a question speaks of versions."""
    return _ASKS_VERSION.search(question) is not None


def tells_way(text: str) -> bool:
    """Whether a text may tell how to do something: by an option, a command, or a word of doing."""
    return _WAY.search(text) is not None


def tells_version(text: str) -> bool:
    """Whether a text has the number of a version."""
    return _VERSION.search(text) is not None


def rules_something(text: str) -> bool:
    """Whether a text says what may, must or cannot be."""
    return _RULES.search(text) is not None


def goes_on(text: str) -> bool:
    """Whether a sentence begins as one does that goes on with what stands before it."""
    return _GOES_ON.search(text) is not None


def is_command(text: str) -> bool:
    """Whether a line is something to type: a prompt, a program with an option, a pipe, or code in backquotes."""
    return _COMMAND.search(text) is not None


def list_literals(text: str) -> frozenset[str]:
    """The options and the numbers of versions in a text, which stand for nothing but themselves."""
    return frozenset(_LITERAL.findall(text))


def measure_syntax(text: str) -> float:
    """How much of a text is signs of syntax, from 0 to 1."""
    return min(1.0, 10 * len(_SIGN.findall(text)) / max(_FEWEST, len(text)))
