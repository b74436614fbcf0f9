"""What the scripted server says of groups, and how it breaks the rules about them where a script asks for that."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from scripted_tables import Row, cite, words

Body = dict[str, Any]
_LENGTH = re.compile(r"\ALength: at most (\d+) words")
_RELATIONS = "Relationships"


def _members(rows: list[Row]) -> list[Row]:
    return [r for r in rows if r[0] != _RELATIONS]


def _said(row: Row) -> str:
    """What a record says; its name where it says nothing."""
    return row[1][-1] or row[1][1]


def _aggregate(rows: list[Row], data: str) -> Body:
    members = _members(rows)
    taken = {r[1][1].casefold() for r in members}
    name = f"Circle of {members[0][1][1].rpartition('Circle of ')[2]}"
    while name.casefold() in taken:
        name = f"Wider {name}"
    groups = [rows[i::6] for i in range(min(6, len(rows)))]
    return {
        "entity_name": name,
        "entity_description": " ".join(f"{words(_said(r), 12)} {cite([r])}." for r in members[:3]),
        "findings": [
            {"summary": words(_said(g[0]), 6), "explanation": f"{words(_said(g[0]), 30)} {cite(g)}."} for g in groups
        ],
    }


def _link(rows: list[Row], data: str) -> Body:
    """How many relations there are, without a name of a member; names are those of the groups."""
    groups, relations = [r for r in rows if r[0] != _RELATIONS], [r for r in rows if r[0] == _RELATIONS]
    text = f"{len(relations)} ties {cite(relations)}."
    between = " and ".join(g[1][1] for g in groups[:2])
    whole = f"{between} share {text}"
    return {"link": whole if len(whole.split()) <= _most(data) else text}


def _abstract(rows: list[Row], data: str) -> Body:
    """One summary entity for each ten members, the last member of each in the next as well."""
    members = _members(rows)
    made = []
    for at in range(0, len(members), 10):
        own = members[max(0, at - 1) : at + 10]
        held = [
            {"id": int(r[1][0]), "description": f"{r[1][1]} is one of them.", "strength": 1 + len(r[1][-1]) % 9}
            for r in own
        ]
        text = " ".join(f"{words(_said(r), 10)} {cite([r])}." for r in own[:3])
        kind = own[0][1][2] if len(own[0][1]) > 3 else "kind"
        made.append({"name": f"Kind of {own[0][1][1]}", "type": kind, "description": text, "members": held})
    return {"summary_entities": made}


def _condensed(rows: list[Row], data: str) -> Body:
    """The first words of each passage, as many as there is room for."""
    each = max(1, min(15, _most(data) // max(1, len(rows))))
    said = [f"{words(_said(r), each).rstrip('.')} {cite([r])}." for r in rows[: _most(data)]]
    return {"condensed": " ".join(said)}


def _most(data: str) -> int:
    """How many words are asked for at most."""
    found = _LENGTH.search(data)
    return int(found[1]) if found else 10**6


ABOUT_GROUPS: Mapping[str, Callable[[list[Row], str], Body]] = MappingProxyType(
    {"aggregate": _aggregate, "link": _link, "abstract": _abstract, "condensed": _condensed}
)


# ── rules broken ──


def planted(said: Body, rows: list[Row], against: Sequence[str]) -> Body:
    """A reply that breaks each rule of `against` that it is subject to: those of VIOLATIONS."""
    for rule in against:
        said = VIOLATIONS[rule](said, rows)
    return said


def _member_name(said: Body, rows: list[Row]) -> Body:
    return said | {"entity_name": rows[0][1][1].upper()} if "entity_name" in said else said


def _few(said: Body, rows: list[Row]) -> Body:
    return said | {"findings": said["findings"][:2]} if "entity_name" in said else said


def _long(said: Body, rows: list[Row]) -> Body:
    return said | {k: f"{said[k]} " * 99 for k in ("link", "condensed") if k in said}


def _named(said: Body, rows: list[Row]) -> Body:
    names = [r[1][1] for r in rows if r[0] == _RELATIONS]
    return said | {"link": f"{names[0]} leads it. {said['link']}"} if "link" in said and names else said


def _community(said: Body, rows: list[Row]) -> Body:
    return said | {"link": f"The Community helps. {said['link']}"} if "link" in said else said


def _left_out(said: Body, rows: list[Row]) -> Body:
    """The last member that is listed is listed nowhere."""
    if "summary_entities" not in said:
        return said
    last = said["summary_entities"][-1]["members"][-1]["id"]
    made = [e | {"members": [m for m in e["members"] if m["id"] != last]} for e in said["summary_entities"]]
    return {"summary_entities": made}


def _dangling(said: Body, rows: list[Row]) -> Body:
    cited = {k: f"{said[k]} It is so [Data: Reports (9999)]." for k in _TEXTS if k in said}
    strange = {"id": 9999, "description": "", "strength": 1}
    made = [e | {"members": [*e["members"], strange]} for e in said.get("summary_entities", ())]
    return said | cited | ({"summary_entities": made} if made else {})


_TEXTS = ("entity_description", "link", "condensed")
VIOLATIONS: Mapping[str, Callable[[Body, list[Row]], Body]] = MappingProxyType(
    {
        "member name": _member_name,
        "few findings": _few,
        "too long": _long,
        "names members": _named,
        "community": _community,
        "left out": _left_out,
        "dangling": _dangling,
    }
)
