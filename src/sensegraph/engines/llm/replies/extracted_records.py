"""Extractions out of replies: JSON or delimited tuples (edge2024, app. E.1), each record checked by itself.

One without a record is believed only where the reply says in its form that there are none.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from math import isfinite
from typing import Any, TypeVar

import msgspec

from sensegraph.engines.llm.replies.dated_records import drop_foreign_dates
from sensegraph.engines.llm.replies.reply_text import (
    Reading,
    decode_json,
    describe_cut,
    is_truncated,
    list_in,
    lists_nothing,
    strip_wrapping,
)
from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import HAN, WORD, is_word_character
from sensegraph.models.endpoint.client import Reply
from sensegraph.types import Chunk, ExtractedClaim, ExtractedEntity, ExtractedRelation, Extraction, Mention

R = TypeVar("R", bound=msgspec.Struct)
Value = str | int | float | None
Raw = tuple[str, Any]  # kind and fields, not yet checked

_BLANKS = r"[^\S\t]{0,20}+"  # a tab may delimit
_KIND = rf"[\"'“”‘’]?{_BLANKS}(entity|relationship|relation|claim){_BLANKS}[\"'“”‘’]?"
_DELIMITER = rf"{_BLANKS}(?:<\|>|\|{{1,2}}|\t)\s*+"
_START = re.compile(rf"(?:[(（]\s{{0,20}}+)?{_KIND}{_DELIMITER}", re.IGNORECASE)
_COMPLETE = re.compile(r"<\|?\s*COMPLETE\s*\|?>", re.IGNORECASE)
_OF_KIND = re.compile(r"^(?:entity|relation(?:ship)?)_")  # what small models write before the names of fields
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?(?!\d)")
_STATUS = ("TRUE", "FALSE", "SUSPECTED")
_WORDS = re.compile(r"\S+")
_LONGEST_NAME = 1_000  # characters; a longer one names nothing
_AROUND = " \t\r\n\"'“”‘’()（）[]{}"


class _Entity(msgspec.Struct, frozen=True):
    name: str
    type: str = ""
    description: str | None = ""


class _Relation(msgspec.Struct, frozen=True):
    source: str
    target: str
    type: str | None = ""
    description: str | None = ""
    strength: Value = None
    starts: str | None = ""
    ends: str | None = ""


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


def collect_json_records(data: dict[str, Any], text: str) -> Found:
    """The extraction in a JSON reply about the chunk `text`."""
    raws = [(kind, record) for name, kind in _LISTS.items() for record in list_in(data, name)]
    return _check_records(raws, text)


def collect_tuple_records(reply: str, text: str, truncated: bool = False, *, typed: bool = False) -> Found:
    """The extraction in a reply of delimited tuples; the last record of a truncated reply is left out.

    `typed` says that relations were asked for with their type, between their ends and their description.
    Kind words stand with or without quotes, brackets may be missing, a delimiter inside a description does not end
    it, and what precedes the first record or follows the end mark is ignored.
    """
    body = _COMPLETE.split(reply)[0]
    starts = list(_START.finditer(body))
    ends = [*(s.start() for s in starts[1:]), len(body)]
    raws: list[Raw] = []
    for start, end in zip(starts, ends, strict=False):  # without a record there is still an end
        delimiter = re.escape(next(d for d in ("<|>", "||", "|", "\t") if d in start[0]))
        record = body[start.end() : end].partition("##")[0].rstrip(" \t\r\n,;")
        if record.endswith((")", "）")) and record.count("(") < record.count(")") + record.count("）"):
            record = record[:-1]
        fields = [_strip_field(f) for f in re.split(rf"{delimiter}\s*+", record)]
        raws.append(_name_fields(start[1].lower(), fields, typed))
    if truncated and raws and not reply.rstrip().endswith((")", ">", "##")):
        raws.pop()
    return _check_records(raws, text)


def has_tuples(reply: str) -> bool:
    """Whether `reply` holds a delimited record, or says that it is complete without any."""
    return bool(_START.search(reply) or _COMPLETE.search(reply))


def is_end_mark(reply: str) -> bool:
    """Whether `reply` is the end mark and nothing else: complete without any record."""
    return bool(_COMPLETE.search(reply)) and not WORD.search(_COMPLETE.sub("", reply))


def read_number(value: Value, default: float) -> float:
    """The first finite number in `value`, else `default`."""
    match = _NUMBER.search(str(value)) if value is not None else None
    found = float(match[0]) if match else default
    return found if isfinite(found) else default


# ── tuples ──


def _name_fields(kind: str, fields: list[str], typed: bool) -> Raw:
    """The fields of one tuple by their names.

    A claim has subject, object, type and status, then dates where they are given, the claim, and its quotation.
    """
    if kind == "entity":
        name, type_, *rest = [*fields, "", ""]
        return "entity", {"name": name, "type": type_, "description": " ".join(rest).strip()}
    if kind == "claim":
        subject, object_, type_, status, *rest = [*fields, "", "", "", ""]
        rest = rest[: max(0, len(fields) - 4)]
        starts, ends = (rest.pop(0), rest.pop(0)) if len(rest) > 2 else ("", "")
        description, quote = [*rest, "", ""][:2] if len(rest) < 3 else (" ".join(rest[:-1]), rest[-1])
        claim = {"subject": subject, "object": object_, "type": type_, "status": status, "starts": starts, "ends": ends}
        return "claim", claim | {"description": description, "quote": quote}
    source, target, *rest = [*fields, "", ""]
    rest = [r for r in rest if r]
    strength = rest.pop() if len(rest) > 1 and _NUMBER.search(rest[-1]) else None
    type_ = rest.pop(0) if typed and len(rest) > 1 else ""
    relation = {"source": source, "target": target, "type": type_, "strength": strength}
    return "relation", relation | {"description": " ".join(rest)}


def _strip_field(field: str) -> str:
    """A field without what is put around it; a closing bracket that belongs to its text stays."""
    field = field.strip(" \t\r\n\"'“”‘’")
    return field.strip(_AROUND) if field[:1] in "([{（" or field.count("(") != field.count(")") else field


# ── checking ──


def _read_name(field: str) -> str:
    """A name without what is put around it; none where it is too long to be one."""
    name = _strip_field(field)
    return name if len(name) <= _LONGEST_NAME else ""


def _check_records(raws: list[Raw], text: str) -> Found:
    place, rejected = _Place(text), Counter[str]()
    made: dict[str, list[Any]] = {"entity": [], "relation": [], "claim": []}
    makers = {"entity": _make_entity, "relation": _make_relation, "claim": _make_claim}
    for kind, raw in raws:
        record = makers[kind](raw, place)
        if isinstance(record, str):
            rejected[record] += 1
        else:
            made[kind].append(record)
    parts = (tuple(made["entity"]), tuple(made["relation"]), tuple(made["claim"]))
    return Found(Extraction(*parts, tuple(sorted(rejected.items()))), len(raws))


def convert_record(raw: Any, kind: type[R]) -> R | None:
    """A record in the form of `kind`, also where its names are `entity_name` or `Source`; None for another form."""
    if isinstance(raw, dict):
        raw = {_OF_KIND.sub("", str(name).casefold()): value for name, value in raw.items()} | raw
    try:
        return msgspec.convert(raw, kind, strict=False)
    except msgspec.ValidationError:
        return None


def _make_entity(raw: Any, place: _Place) -> ExtractedEntity | str:
    record = convert_record(raw, _Entity)
    if record is None:
        return "an entity without name or of another form"
    name = _read_name(record.name)
    if not name:
        return "an entity without a name"
    mentions = place.mentions(name)
    start, end = place.around(mentions[:1])
    kind = _strip_field(record.type).casefold() or "unknown"
    return ExtractedEntity(name, kind, (record.description or "").strip(), start, end, mentions)


def _make_relation(raw: Any, place: _Place) -> ExtractedRelation | str:
    record = convert_record(raw, _Relation)
    if record is None:
        return "a relation without ends or of another form"
    source, target = _read_name(record.source), _read_name(record.target)
    if not source or not target:
        return "a relation without source or target"
    if source.casefold() == target.casefold():
        return "a relation of an entity with itself"
    start, end = place.together(source, target)
    strength = read_number(record.strength, 1.0)
    label, dates = _strip_field(record.type or ""), (_read_iso_date(record.starts), _read_iso_date(record.ends))
    return ExtractedRelation(source, target, (record.description or "").strip(), strength, start, end, label, *dates)


def _make_claim(raw: Any, place: _Place) -> ExtractedClaim | str:
    record = convert_record(raw, _Claim)
    if record is None or not _read_name(record.subject) or not record.description.strip():
        return "a claim without subject or description"
    named = (_read_name(record.subject), _read_name(record.object or "") or "none", (record.type or "").strip())
    status = (record.status or "").strip().upper()
    said = (status if status in _STATUS else "SUSPECTED", record.description.strip())
    dates = (_read_iso_date(record.starts), _read_iso_date(record.ends))
    return ExtractedClaim(*named, *said, *dates, *place.quote(record.quote or ""))


def _read_iso_date(value: str | None) -> str:
    """The ISO date at the start of `value`; anything else is no date."""
    match = _DATE.match((value or "").strip())
    if match is None:
        return ""
    try:
        date(*(int(part or 1) for part in match.groups()))
    except ValueError:  # a month or day that no calendar has
        return match[1] if match[1] > "0000" else ""
    return match[0]


# ── places in the chunk ──


class _Place:
    """Where names and quotes stand in a chunk's text.

    Names are searched for by plain search in a copy of the text in lower case with single spaces, `_at` leads back.
    """

    def __init__(self, text: str) -> None:
        spans = split_sentences(text)
        self._text, self._starts, self._ends = text, [s for s, _ in spans], [e for _, e in spans]
        words = list(_WORDS.finditer(text))
        self._plain = _lower_same_length(" ".join(w[0] for w in words))
        self._at = [i for w in words for i in (*range(*w.span()), w.end())]
        self._known: dict[str, tuple[Mention, ...]] = {}

    def mentions(self, name: str) -> tuple[Mention, ...]:
        """All places of `name`, in any case and spacing."""
        if name not in self._known:
            wanted = " ".join(_lower_same_length(name).split())
            self._known[name] = tuple(self._find_places(wanted, bool(HAN.search(name)))) if wanted else ()
        return self._known[name]

    def _find_places(self, wanted: str, free: bool) -> Iterator[Mention]:
        """The places of `wanted`; those inside a longer word only where words have no borders (`free`)."""
        plain, end = self._plain, 0
        while (start := plain.find(wanted, end)) >= 0:
            end = start + len(wanted)
            if free or not (is_word_character(plain[start - 1 : start]) or is_word_character(plain[end : end + 1])):
                first, last = self._at[start], self._at[end - 1] + 1
                yield Mention(self._text[first:last], first, last)

    def around(self, mentions: tuple[Mention, ...]) -> tuple[int, int]:
        """The sentences from the first to the last of `mentions`; 0:0 for none."""
        if not mentions:
            return 0, 0
        return self._over(min(m.start for m in mentions), max(m.end for m in mentions))

    def _over(self, first: int, last: int) -> tuple[int, int]:
        """The sentences that `first:last` touches, else just that."""
        begin, stop = bisect_right(self._ends, first), bisect_left(self._starts, last)
        return (self._starts[begin], self._ends[stop - 1]) if begin < stop else (first, last)

    def together(self, one: str, other: str) -> tuple[int, int]:
        """The sentences from one name to the other where they are nearest; 0:0 when one is not in the text.

        Near is counted in sentences, then in characters; of pairs as near as each other the first is taken.
        """
        ones, others = self._numbered(one), self._numbered(other)
        pairs = [
            (abs(n - k), abs(a.start - b.start), a.start, b.start, max(a.end, b.end))
            for n, a in ones
            for k, b in others
        ]
        if not pairs:
            return 0, 0
        _, _, begin, start, end = min(pairs)
        return self._over(min(begin, start), end)

    def _numbered(self, name: str) -> list[tuple[int, Mention]]:
        """The places of a name, each with the number of its sentence."""
        return [(bisect_right(self._starts, m.start), m) for m in self.mentions(name)]

    def quote(self, words: str) -> tuple[int, int]:
        """The place of a quotation, in any spacing; 0:0 when these are not the chunk's words."""
        pattern = r"\s+".join(map(re.escape, words.strip(" \t\r\n\"'“”").split()))
        match = re.search(pattern, self._text, re.IGNORECASE) if pattern else None
        return match.span() if match else (0, 0)


def _lower_same_length(text: str) -> str:
    """`text` in lower case, at the same length: a few letters would grow."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(c if len(c.lower()) > 1 else c.lower() for c in text)


MAX_REJECTED = 0.5  # share of the records of a reply (graphrag: our choice)
_LISTS = {"entities": "entity", "relations": "relation", "relationships": "relation", "claims": "claim"}
_NAMED = re.compile(r"(?<=[a-z,;:]\s)[A-Z][\w'’-]+")  # a word with a capital in the middle of a sentence
_MARKS = (("entities", "name"), ("relations", "source"), ("claims", "subject"))  # what a bare record is of


def read_extraction(reply: Reply, chunk: Chunk, *, typed: bool = False, further: bool = False) -> Reading[Extraction]:
    """Entities and relations of the chunk; `typed` says that relations were asked for with a type.

    A date whose year the chunk does not hold is removed and counted. That there is nothing in a passage with names is
    worth asking again, unless it was asked for what is left (`further`).

    Unusable when more than half of the records are, or when there are none and the reply does not say so.
    """
    reading = _read_listed_records(reply, chunk, typed, "entities", "relations", "relationships")
    if reading.value is None:
        return reading
    found, lost = drop_foreign_dates(replace(reading.value, claims=()), f"{chunk.title} {chunk.text}")
    problem = reading.problem
    if not (further or problem or found.entities) and (named := _NAMED.findall(chunk.text)):
        problem = f"it says that there is nothing, and the passage names {' and '.join(dict.fromkeys(named[:2]))}"
    return replace(reading, value=found, problem=problem, removed=reading.removed + lost)


def read_claims(reply: Reply, chunk: Chunk, *, further: bool = False) -> Reading[Extraction]:
    """Claims of the chunk, and nothing else; a date whose year the chunk does not hold is removed and counted."""
    reading = _read_listed_records(reply, chunk, False, "claims")
    if reading.value is None:
        return reading
    found, lost = drop_foreign_dates(reading.value, f"{chunk.title} {chunk.text}")
    only = Extraction(claims=found.claims, rejected=found.rejected)
    return replace(reading, value=only, removed=reading.removed + lost)


def _read_listed_records(reply: Reply, chunk: Chunk, typed: bool, *wanted: str) -> Reading[Extraction]:
    text = strip_wrapping(reply.text)
    data = None if has_tuples(text) else decode_json(reply)
    data = {str(name).casefold(): value for name, value in data.items()} if isinstance(data, dict) else data
    empty = is_end_mark(text) if data is None else lists_nothing(reply, data, *wanted)
    if isinstance(data, list):  # a bare list of records
        data = {name: [r for r in data if isinstance(r, dict) and mark in r] for name, mark in _MARKS}
    if isinstance(data, dict) and data.keys() & set(wanted):
        found = collect_json_records(data, chunk.text)
    elif has_tuples(text):
        found = collect_tuple_records(text, chunk.text, is_truncated(reply), typed=typed)
    else:
        return Reading(None, f"it holds no list of {' and '.join(wanted[:2])}")
    got = found.extraction
    if found.rejected > MAX_REJECTED * found.offered:
        why = "; ".join(f"{n} × {reason}" for reason, n in got.rejected)
        return Reading(None, f"{found.rejected} of its {found.offered} records are unusable: {why}", found.rejected)
    problem = describe_cut(reply)
    if problem and not (got.entities or got.claims):
        return Reading(None, problem, found.rejected)
    if not (empty or any(getattr(got, name, ()) for name in wanted)):
        return Reading(None, f"it holds no {' and no '.join(wanted[:2])}, nor says in its form that there are none")
    if problem:
        got = replace(got, rejected=(*got.rejected, ("a reply cut off at its limit, the rest of it lost", 1)))
    return Reading(got, problem, found.rejected)
