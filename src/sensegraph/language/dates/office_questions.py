"""Questions for who held an office: "Who was treasurer in 2019?", "Who were the mayors of Skerry, in order?".

The office is the phrase that the question names, whatever it is; no list of offices is needed. English and German.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from sensegraph.language.dates.stated_dates import find_expressions
from sensegraph.language.word_lists import Patterns

OFFICE_PATTERNS = Patterns("offices", re.IGNORECASE)
_LONGEST = 5  # words of an office
_MARKS = " ?？.!,;:"
Relation = Literal["holder", "successor", "predecessor"]
Kind = Literal["at", "since", "before", "after", "now", "order"]


@dataclass(frozen=True, slots=True)
class OfficeQuestion:
    """Who held `office` (of `thing`, if it names one) from `first` through `last`; `kind` tells how the time is given.

    `kind` is at, since, before, after, now, or order for all of them. A successor or predecessor is asked for of
    `person`. `verb` says that the office is a verb ("led"); `earlier` that it is also asked what the holder was before.
    """

    office: str
    thing: str = ""
    kind: Kind = "order"
    first: str = ""
    last: str = ""
    relation: Relation = "holder"
    person: str = ""
    verb: bool = False
    earlier: bool = False


def read_office_question(question: str) -> OfficeQuestion | None:
    """What a question asks of an office; None where it does not ask for who held one."""
    text = " ".join(question.split()).strip(_MARKS)
    earlier = OFFICE_PATTERNS["earlier"].search(text)
    text = text[: earlier.start()] if earlier else text
    ordered = OFFICE_PATTERNS["ordered"].search(text)
    text = OFFICE_PATTERNS["others"].sub("", text[: ordered.start()] if ordered else text).strip(_MARKS)
    relation: Relation = "holder"
    person, verb = "", False
    if match := OFFICE_PATTERNS["heirs"].search(text):
        relation = "successor" if match["heir"].lower().startswith(("succ", "nach")) else "predecessor"
        person = match["owner"] or match["other"] or ""
    elif match := OFFICE_PATTERNS["follows"].search(text) or OFFICE_PATTERNS["precedes"].search(text):
        relation = "successor" if OFFICE_PATTERNS["follows"].search(text) else "predecessor"
        person = match["person"]
    elif match := OFFICE_PATTERNS["leads"].search(text):
        verb = True
    else:
        match = OFFICE_PATTERNS["state"].search(text) or (OFFICE_PATTERNS["lists"].search(text) if ordered else None)
    if match is None or (relation != "holder" and not person):
        return None
    kind, first, last, rest = _read_time(match["rest"], bool(OFFICE_PATTERNS["present"].search(text)), bool(ordered))
    if relation == "holder" and (
        way := OFFICE_PATTERNS["relative"].search(rest) or OFFICE_PATTERNS["inverted"].search(rest)
    ):
        relation = "predecessor" if way["way"].lower() in ("before", "vor") else "successor"
        rest, person = way["rest"], way["person"]
    office, thing = (match["verb"], _strip_article(rest)) if verb else _part_thing(rest)
    if (
        not office
        or OFFICE_PATTERNS["makers"].search(office)  # who made a thing holds no office of it
        or re.match(r"(?:at|in|on|with|for|of|by|from|to|nach|vor)\b", office, re.I)
        or len(office.split()) > _LONGEST
        or not (thing or not verb)
    ):
        return None
    return OfficeQuestion(office, thing, kind, first, last, relation, person.strip(_MARKS), verb, bool(earlier))


def _read_time(rest: str, present: bool, ordered: bool) -> tuple[Kind, str, str, str]:
    """How the time is given, from when until when, and the rest without it."""
    found = [e for e in find_expressions(rest) if not e.unread]
    if found:
        one = found[0]
        lead = re.search(
            r"\b(?:in|on|at|as of|during|by|around|im|am)(?: (?:the )?(?:year|jahre?))?\s*$", rest[: one.start], re.I
        )
        said = rest[one.start : one.end].lower()
        left = f"{rest[: lead.start() if lead else one.start]} {rest[one.end :]}"
        kind: Kind = "since" if one.kind == "since" else "before" if one.kind == "until" else "at"
        if said.startswith(("before", "prior", "vor")):
            kind = "before"
        elif said.startswith(("after", "nach")):
            kind = "after"
        elif ordered and kind == "at":
            kind = "order"
        return kind, one.first, one.last, " ".join(left.split()).strip(_MARKS)
    left = " ".join(OFFICE_PATTERNS["now"].sub(" ", rest).split()).strip(_MARKS)
    now = left != rest.strip(_MARKS) or (present and not ordered)
    return ("now" if now else "order"), "", "", left


def _strip_article(text: str) -> str:
    plain = OFFICE_PATTERNS["article"].sub("", text.strip(_MARKS))
    return OFFICE_PATTERNS["current"].sub("", plain)


def _part_thing(rest: str) -> tuple[str, str]:
    """The office and what it is an office of; no office where a name stands for it."""
    plain = _strip_article(rest)
    owner = re.match(r"(?P<thing>.+?)['’]s?\s+(?P<office>.+)", plain)
    if owner and not OFFICE_PATTERNS["of"].search(owner["thing"]):
        return owner["office"], owner["thing"]
    parts = OFFICE_PATTERNS["of"].split(plain, maxsplit=1)
    office, thing = parts[0], _strip_article(parts[1]) if len(parts) > 1 else ""
    words = office.split()
    name = (
        not thing
        and plain == rest.strip(_MARKS)
        and len(words) > 1
        and all(w[:1].isupper() and not w.isupper() for w in words)
    )
    return ("" if name else office), thing
