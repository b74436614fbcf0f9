"""What kind of thing a question asks for (a date, a number, a person …), and the things of that kind in a sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from sensegraph.language.dates.stated_dates import find_numbers, find_times
from sensegraph.language.word_lists import read_alternatives, stop_words

AnswerType = Literal["date", "number", "person", "place", "reason", "thing"]
_ORDER: tuple[AnswerType, ...] = ("date", "number", "person", "place", "reason")
_PROPER = re.compile(
    r"[^\W\d_a-zß-öø-ÿ][\w’'\-]*(?:\.(?=\s[A-Z]))?"
    r"(?:\s+(?:of|the|de|von|van|der|la|du|di|del|and|&|für|und)(?=\s+[^\W\d_a-zß-öø-ÿ])|\s+[^\W\d_a-zß-öø-ÿ][\w’'\-]*(?:\.(?=\s[A-Z]))?)*"
)
_ASKS_HOW = re.compile(r"\W*how (?:do|does|did|can|could|should|to|would) ", re.IGNORECASE)
# "what is sent when the time is over" asks for no date
_JOINS = re.compile(r"when|where|wo", re.IGNORECASE)
_ASKS_BEFORE = re.compile(
    r"\W*(?:\w+ )?(?:what|which|who|how|why|do|does|did|is|are|can|could|should|may|will|was|welche\w*|wer|wie|warum)\b"
    r".*\w",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A thing of the asked kind: `text[start:end]` of the sentence."""

    text: str
    start: int
    end: int


@cache
def _asking() -> dict[str, re.Pattern[str]]:
    listed = read_alternatives("answer-types")
    return {kind: re.compile(listed[kind], re.IGNORECASE) for kind in (*_ORDER, "cause", "number words")}


def find_answer_type(question: str) -> AnswerType:
    """The kind of thing that a question asks for, by the first words that tell one; "thing" where none do.

    "How do I get back to where I was" asks for no place.
    """
    if _ASKS_HOW.match(question):
        return "thing"
    asking = _asking()
    found: list[tuple[int, AnswerType]] = [
        (m.start(), kind)
        for kind in _ORDER
        for m in asking[kind].finditer(question)
        if not (_JOINS.fullmatch(m[0]) and _ASKS_BEFORE.match(question[: m.start()]))
    ]
    return min(found, key=lambda item: item[0])[1] if found else "thing"


def find_names(text: str) -> list[Candidate]:
    """The runs of words with capitals in `text`; a function word at the beginning of one is left out."""
    stop = stop_words("xx")
    found = []
    for match in _PROPER.finditer(text):
        start, words = match.start(), match[0]
        while words and words.split(None, 1)[0].casefold() in stop:
            rest = words.split(None, 1)
            start, words = (start + words.index(rest[1], len(rest[0])), rest[1]) if len(rest) > 1 else (start, "")
        if len(words) > 1:
            found.append(Candidate(words, start, start + len(words)))
    return found


def find_candidates(kind: AnswerType, text: str, names: Sequence[Candidate]) -> list[Candidate]:
    """The things of a kind in a sentence, in order; `names` are its names. Any sentence holds a thing."""
    if kind == "date":
        return [Candidate(text[a:b], a, b) for a, b in find_times(text, 0, len(text))]
    if kind == "number":
        spans = [*find_numbers(text, 0, len(text)), *(m.span() for m in _asking()["number words"].finditer(text))]
        return [Candidate(text[a:b], a, b) for a, b in dict.fromkeys(spans)]
    if kind in ("person", "place"):
        # the first word of a sentence has its capital from there
        return [n for n in names if n.start or " " in n.text] or list(names)
    if kind == "reason":
        return [Candidate(m[0], m.start(), m.end()) for m in _asking()["cause"].finditer(text)]
    return [Candidate(text, 0, len(text))]
