"""Who or what holds what only one can hold at a time, as a sentence says it: "Anna Berg became CEO of Nordwind".

A functional type ("CEO of", "capital of", "price of") is declared in the settings; what follows it, owns it or
appoints to it is the thing, and the other name of the sentence the holder (valid time §3.4). A holder may be a value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sensegraph.language.dates.stated_dates import find_expressions
from sensegraph.language.text import WORD, fold

_LONGEST = 6  # words of a name
_OF = re.compile(r"\s*(?:(?:of|for|at|von|der|des|die|das|dem|vom|the)\s+)*")
_OWNS = re.compile(r"['’]s?\s+(?:\w+\s+){0,2}")
_OWN = re.compile(r"\b(?:its|their|his|her|sein\w*|ihr\w*)\s+(?:\w+\s+)?$", re.IGNORECASE)
_APPOINTS = re.compile(r"\b(?:appoint|nam|elect|ma[dk]e|hire|cho[os]se?|promot|ernann|wähl|berief)\w*", re.IGNORECASE)
_YIELDS = re.compile(
    r"\b(?:was|were|is|been|wurde)\b[^.;]{0,20}\b(?:succeeded|replaced|followed|abgelöst)\b|"
    r"\b(?:succeeded|replaced|followed|abgelöst)\s+(?:by|durch|von)\b|\bgave way to\b|\bmade way for\b",
    re.IGNORECASE,
)
_GOES = re.compile(r"\b(?:to|nach|is|was|ist|war|became|be)\s*$", re.IGNORECASE)
_VALUE = re.compile(r"(?<![\w.,])\d[\d.,]*(?:\s?%|\s+\w+)?")
_LAST_WORD = re.compile(r"\s+(?:of|for|at|von|der|des|in)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Held:
    """That `holder` is `type` of `thing`: ids of entities, or folded names where the graph has none."""

    type: str
    thing: str
    holder: str


@dataclass(frozen=True, slots=True)
class _Name:
    start: int
    end: int
    id: str


def held_in(sentence: str, types: Sequence[str], known: Mapping[str, str]) -> Held | None:
    """What a sentence says of the first functional type that it names; `known` has the ids of folded names."""
    for type in types:
        # The type's own words, without the preposition at its end.
        words = _LAST_WORD.sub("", type.strip()).split()
        pattern = r"\b" + r"\s+".join(map(re.escape, words)) + r"\b"
        for match in re.finditer(pattern, sentence, re.IGNORECASE):
            head, names = match.span(), list(_find_names(sentence, known, match.span()))
            thing = _find_thing(sentence, head, names)
            if thing is None:
                continue
            if holder := _find_holder(sentence, head, thing, [n for n in names if n.id != thing.id]):
                return Held(type, thing.id, holder)
    return None


def _find_thing(text: str, head: tuple[int, int], names: Sequence[_Name]) -> _Name | None:
    """The name right behind the type, or that owns it, or appoints to it."""
    behind = next((n for n in names if n.start >= head[1]), None)
    if behind and _OF.fullmatch(text[head[1] : behind.start]) and behind.start > head[1] + 1:
        return behind
    ahead = [n for n in names if n.end <= head[0]]
    if ahead and _OWNS.fullmatch(text[ahead[-1].end : head[0]]):
        return ahead[-1]
    if ahead and _OWN.search(text[: head[0]]):
        return ahead[0]
    if len(ahead) > 1 and _APPOINTS.search(text[ahead[0].end : ahead[1].start]):
        return ahead[0]
    return None


def _find_holder(text: str, head: tuple[int, int], thing: _Name, others: Sequence[_Name]) -> str:
    """Who yields is no holder: the next is. Of an owner's type what stands behind it; else who stands first."""
    ahead = [n for n in others if n.end <= head[0]]
    if len(ahead) > 1 and _YIELDS.search(text[ahead[0].end : ahead[1].start]):
        return ahead[1].id
    behind = [n for n in others if n.start >= head[1]]
    goes = [n for n in behind if _GOES.search(text[: n.start])]
    if thing.end <= head[0] and goes:
        return goes[0].id
    ranked = [*ahead, *goes, *behind]
    if ranked and not (ahead == [] and _find_value(text)):
        return ranked[0].id
    return _find_value(text)


def _find_value(text: str) -> str:
    """The first amount that is no date; empty where there is none."""
    dates = find_expressions(text)
    values = (m for m in _VALUE.finditer(text) if all(m.end() <= d.start or d.end <= m.start() for d in dates))
    return next((fold(m[0].strip(" .,")) for m in values), "")


def _find_names(text: str, known: Mapping[str, str], head: tuple[int, int]) -> Iterator[_Name]:
    """The names of a sentence in their order, the longest first where they overlap; the type's own words are none.

    A run of capitalised words that the graph does not know stands for itself.
    """
    words = [m for m in WORD.finditer(text) if m.end() <= head[0] or head[1] <= m.start()]
    at = 0
    while at < len(words):
        for size in range(min(_LONGEST, len(words) - at), 0, -1):
            run = words[at : at + size]
            name = text[run[0].start() : run[-1].end()]
            if name[:1].isupper() and not (run[0].start() < head[0] < run[-1].end()):
                plain = re.sub(r"['’]s?$", "", name)
                # By its capitals alone a run is a name where every word has one, and it is no first word of a sentence.
                parts = plain.split()
                capital = all(w[:1].isupper() for w in parts) and (len(parts) > 1 or run[0].start() > 0)
                if found := known.get(fold(plain), fold(plain) if capital else ""):
                    yield _Name(run[0].start(), run[0].start() + len(plain), found)
                    at += size
                    break
        else:
            at += 1
