"""Moments in ISO 8601 with the precision that they have, and dates as texts write them.

A moment is a stretch: `2020` is all of that year. Years before 1 and after 9999 are signed (`-0044` is 44 BC, `+12000`)
and have no months. A time is UTC unless it names its zone; a date has no zone.

A date in a text is an atom: its first and last unit. Read are English, German, ISO 8601, Chinese and Japanese. A
quarter goes from its first month through its third, a decade from its first year through its tenth.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from calendar import monthrange
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache, partial

from sensegraph.language import word_lists

Instant = tuple[int, int, int, int, int, int]
"""Year, month, day, hour, minute, second: the first instant of a stretch."""

FIRST: Instant = (-(10**9), 1, 1, 0, 0, 0)
LAST: Instant = (10**9, 1, 1, 0, 0, 0)

_SIGNED = re.compile(r"[+-]\d{4,9}")
_PLAIN = re.compile(
    r"(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[T ](\d{2})(?::(\d{2})(?::(\d{2})(?:\.\d+)?)?)?(Z|[+-]\d{2}:?\d{2})?)?)?)?"
)


def is_readable(moment: str) -> bool:
    """Whether this is a moment, of a day that the calendar has."""
    return _read_parts(moment) is not None


def first_instant(moment: str) -> Instant:
    """The first instant of a moment. Raises ValueError for what is none."""
    parts = _require_parts(moment)
    year, month, day, hour, minute, second = (*parts, *(0, 1, 1, 0, 0, 0)[len(parts) :])
    return year, month, day, hour, minute, second


def instant_after(moment: str) -> Instant:
    """The first instant after a moment."""
    following = moment_after(moment)
    return first_instant(following) if following else LAST


def moment_after(moment: str) -> str:
    """The moment of the same precision that follows: `2020-12` → `2021-01`; empty after the last that can be told."""
    parts = _require_parts(moment)
    if len(parts) == 1:
        return year_of(parts[0] + 1 if parts[0] != -1 else 1)
    if len(parts) == 2:
        year, month = parts
        if month < 12:
            return write_moment((year, month + 1))
        return write_moment((year + 1, 1)) if year < 9999 else "+10000"
    first = datetime(*(*parts, 0, 0, 0)[:6])  # type: ignore[arg-type]
    try:
        return _write_time(first + _step_of(parts), max(3, len(parts)))
    except OverflowError:
        return "+10000"


def moment_before(moment: str) -> str:
    """The moment of the same precision that precedes: `2021-01` → `2020-12`."""
    parts = _require_parts(moment)
    if len(parts) == 1:
        return year_of(parts[0] - 1 if parts[0] != 1 else -1)
    if len(parts) == 2:
        year, month = parts
        return write_moment((year, month - 1)) if month > 1 else write_moment((max(1, year - 1), 12))
    first = datetime(*first_instant(moment))
    step = _step_of(parts)
    return _write_time(first - step, len(parts)) if first - datetime.min > step else "-0001"


def count_parts(moment: str) -> int:
    """How many of year, month, day, hour, minute, second a moment has: 1–6, 0 for what is none."""
    return len(_read_parts(moment) or ())


def year_of(year: int) -> str:
    """A year as a moment; there is no year 0."""
    return f"{year:04}" if 0 < year <= 9999 else f"{year:+05}"


def write_moment(parts: tuple[int, ...]) -> str:
    """A moment from its parts; empty where the calendar has none such."""
    year, *rest = parts
    if not rest:
        return year_of(year)
    date = "-".join([f"{year:04}", *(f"{n:02}" for n in rest[:2])])
    time = ":".join(f"{n:02}" for n in rest[2:])
    moment = f"{date}T{time}" if time else date
    return moment if is_readable(moment) else ""


def are_same_moment(one: str, other: str) -> bool:
    """Whether two moments are the same at the coarser of their precisions."""
    a, b = _read_parts(one) or (), _read_parts(other) or ()
    n = min(len(a), len(b))
    return n > 0 and a[:n] == b[:n]


def _step_of(parts: tuple[int, ...]) -> timedelta:
    """How long a moment of these parts lasts, of days and shorter ones."""
    return timedelta(days=1) if len(parts) == 3 else timedelta(minutes=1) if len(parts) < 6 else timedelta(seconds=1)


def _write_time(when: datetime, precision: int) -> str:
    parts = (when.year, when.month, when.day, when.hour, when.minute, when.second)
    return write_moment(parts[: max(precision, 5) if precision > 3 else precision])


def _require_parts(moment: str) -> tuple[int, ...]:
    """The parts that a moment states. Raises ValueError for what is none."""
    if (parts := _read_parts(moment)) is None:
        raise ValueError(f"{moment!r} is no ISO date such as 2023, 2023-05 or 2023-05-17")
    return parts


def _read_parts(moment: str) -> tuple[int, ...] | None:
    """The parts that a moment states, in UTC; None where the calendar has no such moment."""
    if _SIGNED.fullmatch(moment):
        return (int(moment),) if int(moment) else None
    found = _PLAIN.fullmatch(moment)
    if not found or found[1] == "0000":
        return None
    parts = tuple(int(n) for n in found.groups()[:6] if n is not None)
    try:
        when = datetime(*(*parts, *(1, 1, 1)[len(parts) :]))  # type: ignore[arg-type]
    except ValueError:
        return None
    zone = found[7]
    if zone and zone != "Z":
        shift = timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))
        with suppress(OverflowError):  # at either end of the calendar it stays as it is
            when = when - shift if zone[0] == "+" else when + shift
        parts = (when.year, when.month, when.day, when.hour, when.minute, when.second)[: max(5, len(parts))]
    return parts


# ── dates as texts write them ─────────────────────────────────────────────────────────────────────────────────────────

_MONTHS = "|".join((*word_lists.ENGLISH_MONTHS, *word_lists.GERMAN_MONTHS))
_MONTH = rf"(?P<month>{'|'.join([_MONTHS, *(f'{s}(?:[.]|(?![a-zäöü]))' for s in word_lists.SHORT_FORMS)])})"
_DATES = word_lists.read_patterns("dates", MONTHS=_MONTHS, MONTH=_MONTH)
_ORDINALS, _GERMAN_ORDINALS, _NUMBERS, _GERMAN_NUMBERS = (
    _DATES[part][0].split("|") for part in ("ORDINALS", "GERMANORDINALS", "NUMBERS", "GERMANNUMBERS")
)
_HAN_NUMBERS = "一二三四"
_KINDS = [(kind, pattern) for kind, _, pattern in (line.partition(": ") for line in _DATES["kinds"])]
_compile = cache(partial(re.compile, flags=re.IGNORECASE))  # on first use: most texts hold few kinds
_DATED, _COUNTED = re.compile(r"[12]\d{3}"), re.compile(r"\d")
# What a kind cannot do without: most sentences hold none of it, and no pattern is tried on them.
_BY_WORD, _BY_NUMBER = ("ago", "near", "named"), ("era", "century")
_OF_DOCUMENTS = ("iso", "day", "month_day", "pointed", "slashed", "han", "month", "year")
_ALL = frozenset(kind for kind, _ in _KINDS)
_BY_YEAR = tuple(sorted(_ALL - {*_BY_WORD, *_BY_NUMBER}))
_NEEDED = {
    **dict.fromkeys(("days", "day", "month_days", "month_day", "months", "month"), sorted(word_lists.MONTH_BEGINNINGS)),
    **{kind: words.replace("_", " ").split(",") for kind, words in (line.split(": ") for line in _DATES["needed"])},
}
_WORDS = tuple(dict.fromkeys(word for kind in ("ago", "unit", "named") for word in _NEEDED[kind]))


@dataclass(frozen=True, slots=True)
class Atom:
    """A date in a text: `text[start:end]` says from `first` through `last`; both empty where it cannot be read."""

    start: int
    end: int
    first: str
    last: str
    kind: str


def find_hints(text: str) -> Sequence[int]:
    """Places in `text`, ascending, one of which at least is in each piece of it that `find_atoms` finds a date in."""
    small = text.lower()
    if len(small) != len(text):  # a small letter that takes more room moves what stands behind it
        return range(len(text))
    found = [match.start() for match in _COUNTED.finditer(text)]
    for word in _WORDS:
        at = small.find(word)
        while at >= 0:
            found.append(at)
            at = small.find(word, at + 1)
    return sorted(found)


def find_atoms(text: str, reference: str = "") -> list[Atom]:
    """The dates in `text` in their order, of overlapping ones the first kind; `reference` is when it was written.

    What needs a reference time and has none, and what no calendar has, is there without first and last.
    """
    small = text.lower()
    tried: Sequence[str] = _BY_WORD
    if _COUNTED.search(text):
        tried = (*_BY_WORD, *_BY_NUMBER, *(_BY_YEAR if _DATED.search(text) else ()))
    present = {kind for kind in tried if any(map(small.__contains__, _NEEDED.get(kind, ("",))))}
    if "near" in present and not any(map(small.__contains__, _NEEDED["unit"])):
        present.remove("near")
    if not present:
        return []
    found: list[Atom] = []
    for kind, pattern in _KINDS:
        if kind not in present:
            continue
        for match in _compile(pattern).finditer(text):
            start, end = match.span()
            place = bisect_right(found, start, key=lambda a: a.start)  # none overlaps another
            if (not place or found[place - 1].end <= start) and (place == len(found) or end <= found[place].start):
                first, last = _read_match(kind, match.groupdict(), reference)
                found.insert(place, Atom(start, end, first, last, kind))
    return found


def find_written(texts: Iterable[str]) -> str:
    """When a document was written, by its title and first lines: the first of the most precise dates, none to come."""
    dates = [a.first for text in texts for a in find_atoms(text) if a.first[:4] < "2100" and a.kind in _OF_DOCUMENTS]
    return max(filter(None, dates), key=lambda d: d.count("-"), default="")


def _read_match(kind: str, parts: dict[str, str | None], reference: str) -> tuple[str, str]:
    """The first and last unit of a matched date."""
    said = {name: value for name, value in parts.items() if value is not None}
    if kind in ("ago", "near", "named"):
        return _read_relative(kind, said, reference)
    if kind in ("iso", "slashed", "pointed", "han"):
        return _write_one([int(said[name]) for name in ("year", "m", "d") if name in said])
    if kind == "era":
        year = int(said["n"]) * (-1 if said["era"][0] in "bBvV" else 1)
        return (year_of(year), year_of(year)) if year else ("", "")
    if kind == "short_span":
        year, to = int(said["year"]), int(said["to"])
        last = year // 100 * 100 + to
        return (year_of(year), year_of(last)) if last > year else ("", "")
    if kind == "century":
        number = int(said.get("n") or said["g"])
        return (year_of(number * 100 - 99), year_of(number * 100)) if number else ("", "")
    if kind == "decade":
        return year_of(int(said["decade"])), year_of(int(said["decade"]) + 9)
    year = int(said["year"])
    if kind in ("quarter", "han_quarter", "half"):
        months, which = 6 if kind == "half" else 3, said["q"].casefold()
        number = _find_number(which, _ORDINALS, _GERMAN_ORDINALS, _HAN_NUMBERS) or int(which[0])
        return write_moment((year, (number - 1) * months + 1)), write_moment((year, number * months))
    if "month" not in said:
        return _write_one([year])
    month = _number_month(said["month"])
    if "day" in said:
        last_day = write_moment((year, month, int(said["day"])))
        first_day = write_moment((year, month, int(said["from"]))) if "from" in said else last_day
        return (first_day, last_day) if first_day and last_day else ("", "")
    if kind == "months":
        return write_moment((year, _number_month(said["first"]))), write_moment((year, month))
    return _write_one([year, month])


def _write_one(parts: list[int]) -> tuple[str, str]:
    moment = write_moment(tuple(parts))
    return moment, moment


def _number_month(name: str) -> int:
    plain = name.casefold().rstrip(".")
    return _find_number(plain, word_lists.ENGLISH_MONTHS, word_lists.GERMAN_MONTHS) or word_lists.SHORT_FORMS[plain]


def _find_number(word: str, *lists: Sequence[str]) -> int:
    """The place of a word, from 1, in the first list that has it; 0 in none."""
    return next((names.index(word) + 1 for names in lists if word in names), 0)


# ── dates that need the time of writing ──

_UNIT = {"jahr": "year", "monat": "month", "woche": "week", "tag": "day"}
_SHIFTS, _NAMED = word_lists.read_forms(_DATES["shifts"]), word_lists.read_forms(_DATES["named"])
_NEEDS = {"year": 1, "month": 2, "week": 3, "day": 3}


def _read_relative(kind: str, said: dict[str, str], reference: str) -> tuple[str, str]:
    """The year, month, week (from Monday) or day that a text calls by how far it is from when it was written."""
    if kind == "named":
        unit, far = _NAMED[said["word"].casefold()].split()
        shift = int(far)
    elif kind == "near":
        unit, shift = said["unit"].casefold(), int(_SHIFTS[said["which"].casefold()])
    else:
        count = said["n"].casefold()
        number = _find_number(count, _NUMBERS, _GERMAN_NUMBERS) or (int(count) if count.isdigit() else 1)
        unit, shift = said["unit"].casefold(), -number
    unit = _UNIT.get(unit, unit)
    if not is_readable(reference) or count_parts(reference) < _NEEDS[unit] or first_instant(reference)[0] < 1:
        return "", ""
    year, month, day = first_instant(reference)[:3]
    if unit == "year":
        return _write_one([year + shift])
    if unit == "month":
        place = year * 12 + month - 1 + shift
        return _write_one([place // 12, place % 12 + 1])
    there = date(year, month, min(day, monthrange(year, month)[1])) + timedelta(
        days=shift * (7 if unit == "week" else 1)
    )
    if unit == "day":
        return there.isoformat(), there.isoformat()
    monday = there - timedelta(days=there.weekday())
    return monday.isoformat(), (monday + timedelta(days=6)).isoformat()
