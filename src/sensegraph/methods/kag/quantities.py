"""Numbers, dates and sets as values, and how they are read from texts and told."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from sensegraph.language.word_lists import ENGLISH_MONTH, SHORT_MONTHS

LARGEST = 1e18


@dataclass(frozen=True, slots=True)
class Number:
    """A number with its unit, empty where it has none."""

    value: float
    unit: str = ""


@dataclass(frozen=True, slots=True, order=True)
class Moment:
    """A date; month and day are 0 where they are not known."""

    year: int
    month: int = 0
    day: int = 0


@dataclass(frozen=True, slots=True)
class Unknown:
    """What could not be worked out, and why."""

    reason: str


Scalar = str | Number | Moment | bool
Value = Scalar | Unknown | tuple[Scalar, ...]


def read_date(text: str) -> Moment | None:
    """The first date or year that stands in `text`."""
    for pattern, order in _DATES:
        if found := pattern.search(text):
            given = {field: found[i + 1] for i, field in enumerate(order)}
            name = given.get("month", "")
            month = int(name) if name.isdigit() else SHORT_MONTHS.index(name[:3].casefold()) + 1 if name else 0
            moment = Moment(int(given["year"]), month, int(given.get("day", 0)))
            try:
                date(moment.year, moment.month or 1, moment.day or 1)
            except ValueError:
                return Moment(moment.year)
            return moment
    return None


def read_number(text: str) -> Number | None:
    """The first number that stands in `text`, with the word after it as unit; thousands may have commas."""
    found = _NUMBER.search(text)
    if not found:
        return None
    value = float(found[1].replace(",", "").replace("−", "-")) * _SCALES.get((found[2] or "").casefold(), 1.0)
    if not abs(value) <= LARGEST:
        return None
    unit = (found[3] or "").casefold()
    return Number(value, "" if unit in _NO_UNITS else unit)


def read_scalar(value: Scalar) -> Scalar:
    """A text as the date or number that it is, where it is one."""
    return (read_date(value) or read_number(value) or value) if isinstance(value, str) else value


def order_of_value(value: Scalar) -> tuple[float, ...]:
    """What numbers or dates are ordered by."""
    if isinstance(value, Moment):
        return (value.year, value.month, value.day)
    return (value.value,) if isinstance(value, Number) else (0.0,)


def write_value(value: Value) -> str:
    """A value as it is told; a set with commas."""
    if isinstance(value, tuple):
        return ", ".join(map(write_value, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Number):
        number = f"{value.value:,.0f}" if value.value == int(value.value) else f"{value.value:,.4g}"
        return f"{number} {value.unit}".strip()
    if isinstance(value, Moment):
        parts = (f"{value.year:04}", f"{value.month:02}", f"{value.day:02}")
        return "-".join(parts[: 3 if value.day else 2 if value.month else 1])
    return f"unknown ({value.reason})" if isinstance(value, Unknown) else value


_NAMED = rf"({ENGLISH_MONTH})\.?"
_YEAR = r"([12]\d{3}|[3-9]\d{2})"
_DATES = (
    (re.compile(r"\b([12]\d{3})-(\d{2})-(\d{2})\b"), ("year", "month", "day")),
    (re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_NAMED},?\s+{_YEAR}\b", re.I), ("day", "month", "year")),
    (re.compile(rf"\b{_NAMED}\s+(\d{{1,2}})(?:st|nd|rd|th)?,?\s+{_YEAR}\b", re.I), ("month", "day", "year")),
    (re.compile(rf"\b{_NAMED},?\s+{_YEAR}\b", re.I), ("month", "year")),
    (re.compile(r"\b(1\d{3}|20\d{2})\b(?![,.]\d)"), ("year",)),
)  # fmt: skip
_NUMBER = re.compile(
    r"(?<![\w.\-–])([-−]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|-?\d{1,18}(?:\.\d+)?)\s?(thousand|million|billion|trillion)?\s?(%|[^\W\d_]{1,20})?",
    re.I,
)
_NO_UNITS = frozenset("in of and the to by at on for was is are were with from or a an as that which".split())
_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
