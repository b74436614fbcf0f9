"""Extractions out of replies: JSON or delimited tuples (edge2024, app. E.1), each record checked by itself."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any, TypeVar

import msgspec

from sensegraph.text import HAN, fold, sentences
from sensegraph.types import ExtractedClaim, ExtractedEntity, ExtractedRelation, Extraction, Mention

T = TypeVar("T")
R = TypeVar("R", bound=msgspec.Struct)
Value = str | int | float | None
Raw = tuple[str, Any]  # kind and fields, not yet checked

_LISTS = {"entities": "entity", "relations": "relation", "relationships": "relation", "claims": "claim"}
_KIND = r"[\"'“”‘’]?\s*+(entity|relationship|relation)\s*[\"'“”‘’]?"
_DELIMITER = r"\s*(?:<\|>|\|{1,2}|\t)\s*"
_START = re.compile(rf"[(（]?\s*+{_KIND}{_DELIMITER}", re.IGNORECASE)
_COMPLETE = re.compile(r"<\|?\s*COMPLETE\s*\|?>", re.IGNORECASE)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_DATE = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?)?")
_AROUND = " \t\r\n\"'“”‘’()（）[]{}"


class _Entity(msgspec.Struct, frozen=True):
    name: str
    type: str = ""
    description: str | None = ""


class _Relation(msgspec.Struct, frozen=True):
    source: str
    target: str
    description: str | None = ""
    strength: Value = None


class _Claim(msgspec.Struct, frozen=True):
    subject: str
    description: str
    object: str | None = ""
    type: str | None = ""
    status: str | None = ""
    starts: str | None = ""
    ends: str | None = ""
    quote: str | None = ""


@dataclass(frozen=True, slots=True)
class Found:
    """What a reply holds: an extraction, and how many records it offered."""

    extraction: Extraction
    offered: int

    @property
    def rejected(self) -> int:
        """How many of the records could not be used."""
        return sum(n for _, n in self.extraction.rejected)


def of_json(data: dict[str, Any], text: str) -> Found:
    """The extraction in a JSON reply about the chunk `text`."""
    raws: list[Raw] = []
    for kind, names in (
        ("entity", ("entities",)),
        ("relation", ("relations", "relationships")),
        ("claim", ("claims",)),
    ):
        for name in names:
            records = data.get(name)
            raws += [(kind, r) for r in records] if isinstance(records, list) else []
    return _found(raws, text)


def of_tuples(reply: str, text: str, truncated: bool = False) -> Found:
    """The extraction in a reply of delimited tuples; the last record of a truncated reply is left out.

    Kind words stand with or without quotes, brackets may be missing, a delimiter inside a description does not end
    it, and what precedes the first record or follows the end mark is ignored.
    """
    raws = list(_tuples(_COMPLETE.split(reply)[0]))
    if truncated and raws and not reply.rstrip().endswith((")", ">", "##")):
        raws.pop()
    return _found(raws, text)


def added(found: Extraction, more: Extraction) -> Extraction:
    """`found` with what is new in `more`; what was found first stays as it is (edge2024, §3.1.2)."""
    rejected = Counter(dict(found.rejected)) + Counter(dict(more.rejected))
    return Extraction(
        found.entities + _new(found.entities, more.entities, lambda e: (fold(e.name), e.type)),
        found.relations + _new(found.relations, more.relations, lambda r: {fold(r.source), fold(r.target)}),
        found.claims + _new(found.claims, more.claims, lambda c: (fold(c.subject), fold(c.description))),
        tuple(sorted(rejected.items())),
    )


def _new(found: tuple[T, ...], more: tuple[T, ...], name: Callable[[T], object]) -> tuple[T, ...]:
    """The records of `more` whose name is not among those of `found`."""
    known = [name(x) for x in found]
    return tuple(x for x in more if name(x) not in known)


def has_tuples(reply: str) -> bool:
    """Whether `reply` holds a delimited record, or says that it is complete without any."""
    return bool(_START.search(reply) or _COMPLETE.search(reply))


def number(value: Value, default: float) -> float:
    """The first finite number in `value`, else `default`."""
    match = _NUMBER.search(str(value)) if value is not None else None
    found = float(match[0]) if match else default
    return found if isfinite(found) else default


# ── tuples ──


def _tuples(reply: str) -> Iterator[Raw]:
    starts = list(_START.finditer(reply))
    ends = [*(s.start() for s in starts[1:]), len(reply)]
    for start, end in zip(starts, ends, strict=False):  # without a record there is still an end
        body = reply[start.end() : end]
        delimiter = re.escape(_delimiter(start[0]))
        fields = [_stripped(f) for f in re.split(rf"\s*{delimiter}\s*", _ended(body))]
        yield _entity(fields) if start[1].lower() == "entity" else _relation(fields)


def _delimiter(start: str) -> str:
    return next(d for d in ("<|>", "||", "|", "\t") if d in start)


def _ended(body: str) -> str:
    """One record without its closing bracket and the record delimiter."""
    body = body.partition("##")[0].rstrip(" \t\r\n,;")
    return body[:-1] if body.endswith((")", "）")) and body.count("(") < body.count(")") + body.count("）") else body


def _entity(fields: list[str]) -> Raw:
    name, kind, *rest = [*fields, "", ""]
    return "entity", {"name": name, "type": kind, "description": " ".join(rest).strip()}


def _relation(fields: list[str]) -> Raw:
    source, target, *rest = [*fields, "", ""]
    rest = [r for r in rest if r]
    strength = rest.pop() if len(rest) > 1 and _NUMBER.search(rest[-1]) else None
    return "relation", {"source": source, "target": target, "description": " ".join(rest), "strength": strength}


def _stripped(field: str) -> str:
    """A field without what is put around it; a closing bracket that belongs to its text stays."""
    field = field.strip(" \t\r\n\"'“”‘’")
    return field.strip(_AROUND) if field[:1] in "([{（" or field.count("(") != field.count(")") else field


# ── checking ──


def _found(raws: list[Raw], text: str) -> Found:
    place, rejected = _Place(text), Counter[str]()
    made: dict[str, list[Any]] = {"entity": [], "relation": [], "claim": []}
    makers = {"entity": _made_entity, "relation": _made_relation, "claim": _made_claim}
    for kind, raw in raws:
        record = makers[kind](raw, place)
        if isinstance(record, str):
            rejected[record] += 1
        else:
            made[kind].append(record)
    parts = (tuple(made["entity"]), tuple(made["relation"]), tuple(made["claim"]))
    return Found(Extraction(*parts, tuple(sorted(rejected.items()))), len(raws))


def _converted(raw: Any, kind: type[R]) -> R | None:
    try:
        return msgspec.convert(raw, kind, strict=False)
    except msgspec.ValidationError:
        return None


def _made_entity(raw: Any, place: _Place) -> ExtractedEntity | str:
    record = _converted(raw, _Entity)
    if record is None:
        return "an entity without name or of another form"
    name = _stripped(record.name)
    if not name:
        return "an entity without a name"
    mentions = place.mentions(name)
    start, end = place.around(mentions[:1])
    kind = _stripped(record.type).casefold() or "unknown"
    return ExtractedEntity(name, kind, (record.description or "").strip(), start, end, mentions)


def _made_relation(raw: Any, place: _Place) -> ExtractedRelation | str:
    record = _converted(raw, _Relation)
    if record is None:
        return "a relation without ends or of another form"
    source, target = _stripped(record.source), _stripped(record.target)
    if not source or not target:
        return "a relation without source or target"
    if source.casefold() == target.casefold():
        return "a relation of an entity with itself"
    start, end = place.together(source, target)
    strength = number(record.strength, 1.0)
    return ExtractedRelation(source, target, (record.description or "").strip(), strength, start, end)


def _made_claim(raw: Any, place: _Place) -> ExtractedClaim | str:
    record = _converted(raw, _Claim)
    if record is None or not _stripped(record.subject) or not record.description.strip():
        return "a claim without subject or description"
    status = (record.status or "").strip().upper()
    start, end = place.quote(record.quote or "")
    return ExtractedClaim(
        _stripped(record.subject),
        _stripped(record.object or "") or "none",
        (record.type or "").strip(),
        status if status in ("TRUE", "FALSE", "SUSPECTED") else "SUSPECTED",
        record.description.strip(),
        _date(record.starts),
        _date(record.ends),
        start,
        end,
    )


def _date(value: str | None) -> str:
    """The ISO date at the start of `value`; anything else is no date."""
    match = _DATE.match((value or "").strip())
    return match[0] if match else ""


# ── places in the chunk ──


class _Place:
    """Where names and quotes stand in a chunk's text."""

    def __init__(self, text: str) -> None:
        self._text, self._sentences = text, sentences(text)
        self._plain = text.lower() if len(text.lower()) == len(text) else ""  # a few letters grow in lower case
        self._starts = [start for start, _ in self._sentences]
        self._known: dict[str, tuple[Mention, ...]] = {}

    def mentions(self, name: str) -> tuple[Mention, ...]:
        """All places of `name`, in any case and spacing."""
        if name not in self._known:
            self._known[name] = tuple(self._found(name))
        return self._known[name]

    def _found(self, name: str) -> Iterator[Mention]:
        """Searched for in lower case, with no flag and no look-behind: so the pattern's first letters speed it up."""
        plain, flags = (self._plain, 0) if self._plain else (self._text, re.IGNORECASE)
        pattern, free = r"\s+".join(map(re.escape, name.lower().split())), bool(HAN.search(name))
        for match in re.finditer(pattern, plain, flags):
            start, end = match.span()
            if free or not (_wordy(self._text[max(0, start - 1) : start]) or _wordy(self._text[end : end + 1])):
                yield Mention(self._text[start:end], start, end)

    def around(self, mentions: tuple[Mention, ...]) -> tuple[int, int]:
        """The sentences from the first to the last of `mentions`; 0:0 for none."""
        if not mentions:
            return 0, 0
        first, last = min(m.start for m in mentions), max(m.end for m in mentions)
        inside = [s for s in self._sentences if s[0] < last and s[1] > first]
        return (inside[0][0], inside[-1][1]) if inside else (first, last)

    def together(self, one: str, other: str) -> tuple[int, int]:
        """The sentences from one name to the other where they are nearest; 0:0 when one is not in the text."""
        pairs = [(a, b) for a in self.mentions(one) for b in self.mentions(other)]
        return self.around(min(pairs, key=self._apart)) if pairs else (0, 0)

    def _apart(self, pair: tuple[Mention, ...]) -> tuple[int, int, int]:
        """How far two places are from each other: in sentences, then in characters; the earlier pair first."""
        one, other = (bisect_right(self._starts, m.start) for m in pair)
        return abs(one - other), abs(pair[0].start - pair[1].start), pair[0].start

    def quote(self, words: str) -> tuple[int, int]:
        """The place of a quotation, in any spacing; 0:0 when these are not the chunk's words."""
        pattern = r"\s+".join(map(re.escape, words.strip(" \t\r\n\"'“”").split()))
        match = re.search(pattern, self._text, re.IGNORECASE) if pattern else None
        return match.span() if match else (0, 0)


def _wordy(character: str) -> bool:
    """Whether a character (or none) belongs to a word."""
    return character.isalnum() or character == "_"
