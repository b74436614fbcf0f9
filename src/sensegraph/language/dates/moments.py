"""Moments in ISO 8601 with the precision that they have: year, month, day, minute, second.

A moment is a stretch: `2020` is all of that year. Years before 1 and after 9999 are signed (`-0044` is 44 BC, `+12000`)
and have no months. A time is UTC unless it names its zone; a date has no zone.
"""

from __future__ import annotations

import re
from calendar import monthrange
from contextlib import suppress
from datetime import datetime, timedelta

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
    parts = _read_parts(moment)
    if parts is None:
        raise ValueError(f"{moment!r} is no ISO date such as 2023, 2023-05 or 2023-05-17")
    year, month, day, hour, minute, second = (*parts, *(0, 1, 1, 0, 0, 0)[len(parts) :])
    return year, month, day, hour, minute, second


def instant_after(moment: str) -> Instant:
    """The first instant after a moment."""
    following = moment_after(moment)
    return first_instant(following) if following else LAST


def moment_after(moment: str) -> str:
    """The moment of the same precision that follows: `2020-12` → `2021-01`; empty after the last that can be told."""
    parts = _read_parts(moment)
    if parts is None:
        raise ValueError(f"{moment!r} is no ISO date such as 2023, 2023-05 or 2023-05-17")
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
    parts = _read_parts(moment)
    if parts is None:
        raise ValueError(f"{moment!r} is no ISO date such as 2023, 2023-05 or 2023-05-17")
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


def days_of(year: int, month: int) -> int:
    """The days of a month."""
    return monthrange(year, month)[1]


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
