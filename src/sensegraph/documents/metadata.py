"""Metadata: fields to sorted pairs of a name and a scalar; and dates, as they are written, to ISO 8601."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, time

from sensegraph.documents.decoding import clean_text
from sensegraph.language.word_lists import ENGLISH_MONTH, SHORT_MONTHS
from sensegraph.types import Scalar

_LARGEST = 2**63 - 1
_DAY, _YEAR = r"(?P<day>\d{1,2})", r"(?P<year>\d{4})"
_NAMED = rf"(?P<month>{ENGLISH_MONTH})\.?"
_DAYS = (
    re.compile(rf"{_DAY}(?:st|nd|rd|th)?\.?\s+(?:of\s+)?{_NAMED},?\s+{_YEAR}"),
    re.compile(rf"{_NAMED}\s+{_DAY}(?:st|nd|rd|th)?,?\s+{_YEAR}"),
    re.compile(rf"{_DAY}\.(?P<month>\d{{1,2}})\.{_YEAR}"),
)
_SEPARATED = re.compile(r"(\d{4})[/.](\d{1,2})[/.](\d{1,2})(?=$|[ T])")
_PARTIAL = re.compile(r"\d{4}(-(0[1-9]|1[0-2]))?")
_EPOCH = range(10**8, 10**14)  # seconds from 1973, or milliseconds up to the year 5138


def flatten_fields(fields: Mapping[str, object]) -> tuple[tuple[str, Scalar], ...]:
    """`fields` sorted by name; what is nested becomes compact JSON text, a number that is none becomes None."""
    return tuple(sorted(((clean_text(str(k)), to_scalar(v)) for k, v in fields.items()), key=lambda pair: pair[0]))


def to_scalar(value: object) -> Scalar:
    """`value` as a scalar that every reader can hold: larger integers than 64 bits become text."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _LARGEST:
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return clean_text(json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True, default=str))


def read_iso_date(value: object) -> str:
    """`value` as an ISO 8601 date or time, to the precision that it states, or "" where it is none.

    Reads ISO 8601, years and year-months, RFC 2822 (mail), `5 March 2024`, `March 5, 2024`, `2024/3/5`, `5.3.2024`,
    and numbers as seconds or milliseconds since 1970 (UTC). `3/5/2024` is two different days and is not read.
    """
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, int | float) and not isinstance(value, bool):
        if not _EPOCH[0] <= value <= _EPOCH[-1]:
            return ""
        return datetime.fromtimestamp(value / 1000 if value >= 10**11 else value, UTC).isoformat()
    text = " ".join(value.split()) if isinstance(value, str) else ""
    if not text or len(text) > 64:
        return ""
    if _PARTIAL.fullmatch(text):
        return text
    dashed = _SEPARATED.sub(lambda m: f"{m[1]}-{int(m[2]):02}-{int(m[3]):02}", text)
    try:  # ISO 8601 in its usual forms; a date alone stays a date
        when = datetime.fromisoformat(dashed)
        return when.date().isoformat() if len(dashed) <= 10 else when.isoformat()
    except ValueError:
        pass
    if (day := _read_named_day(text.casefold())) or ":" not in text:
        return day
    from email.utils import parsedate_to_datetime  # 20 ms to import: only where a date is of this kind

    try:
        return parsedate_to_datetime(text).isoformat()
    except (ValueError, TypeError, OverflowError):
        return ""


def _read_named_day(text: str) -> str:
    """A day with the month's English name, or as day.month.year."""
    match = next((m for days in _DAYS if (m := days.fullmatch(text))), None)
    if not match:
        return ""
    month = match["month"]
    number = int(month) if month.isdecimal() else SHORT_MONTHS.index(month[:3]) + 1
    try:
        return date(int(match["year"]), number, int(match["day"])).isoformat()
    except ValueError:
        return ""
