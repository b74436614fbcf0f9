"""One row of a table, read column by column: whatever is wrong is an error that names table, row and column."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from sensegraph.errors import InputError
from sensegraph.graphs.interchange.tables import Raw

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Cells:
    """Row `row` (from 1) of `table`. Columns are asked for by their names in any release, the newest first."""

    table: str
    row: int
    record: Raw

    def text(self, *names: str, default: str | None = None) -> str:
        """A text; a number is read as its digits."""
        return self._read(names, _read_text, "a text", default)

    def integer(self, *names: str, default: int | None = None) -> int:
        """A whole number, also where it is written as a text or as a decimal without a rest."""

        def convert(value: Any) -> int | None:
            number = _read_number(value)
            return int(number) if number is not None and number == int(number) else None

        return self._read(names, convert, "a whole number", default)

    def number(self, *names: str, default: float | None = None) -> float:
        """A finite number."""
        return self._read(names, _read_number, "a finite number", default)

    def texts(self, *names: str) -> tuple[str, ...]:
        """A list of texts; empty where there is none."""
        return self._read(names, partial(_read_list, _read_text), "a list of texts", ())

    def findings(self) -> tuple[tuple[str, str], ...]:
        """The findings of a report: records of `summary` and `explanation`, or texts alone."""

        def convert(value: Any) -> tuple[str, str] | None:
            if isinstance(value, str):
                return value, ""
            if not isinstance(value, dict):
                return None
            summary, explanation = _read_text(value.get("summary", "")), _read_text(value.get("explanation", ""))
            return None if summary is None or explanation is None else (summary, explanation)

        return self._read(("findings",), partial(_read_list, convert), "a list of findings (summary, explanation)", ())

    def has(self, *names: str) -> bool:
        """Whether one of these columns says something."""
        return any(_has_value(self.record.get(n)) for n in names)

    def error(self, column: str, message: str) -> InputError:
        """What is wrong with a column, to be raised."""
        return InputError(f"{self.table}, row {self.row}, column {column!r}: {message}.")

    def _read(self, names: tuple[str, ...], convert: Callable[[Any], T | None], wanted: str, default: T | None) -> T:
        for name in names:
            if not _has_value(value := self.record.get(name)):
                continue
            if (found := convert(value)) is None:
                raise self.error(name, f"{wanted} is needed, not {str(value)[:60]!r}")
            return found
        if default is None:
            others = f" (nor {', '.join(map(repr, names[1:]))})" if names[1:] else ""
            raise self.error(names[0], f"it holds nothing{others}, and {wanted} is needed")
        return default


def _has_value(value: Any) -> bool:
    return value is not None and not (isinstance(value, float) and math.isnan(value))


def _read_text(value: Any) -> str | None:
    if isinstance(value, str):  # half of a surrogate pair cannot be stored
        return value if value.isascii() or not any("\ud800" <= c <= "\udfff" for c in value) else None
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _read_number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _read_list(convert: Callable[[Any], T | None], value: Any) -> tuple[T, ...] | None:
    if not isinstance(value, list | tuple):
        return None
    found = [item for v in value if (item := convert(v)) is not None]
    return tuple(found) if len(found) == len(value) else None
