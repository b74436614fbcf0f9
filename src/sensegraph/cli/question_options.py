"""Options of a question: which documents may be read, and the conversation before it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from sensegraph.questions import Condition, Scope
from sensegraph.types import Turn

Documents = Annotated[
    list[str] | None,
    typer.Option("--document", metavar="ID", help="Read only this document; * and ? stand for any characters."),
]
Where = Annotated[
    list[str] | None,
    typer.Option("--where", metavar="TEST", help="Read only documents whose metadata pass, as in --where year>=2020."),
]
Since = Annotated[
    str | None, typer.Option("--since", metavar="DATE", help="Read only documents of that time or later.")
]
Until = Annotated[
    str | None, typer.Option("--until", metavar="DATE", help="Read only documents of that time or earlier.")
]
AsOf = Annotated[
    str | None, typer.Option("--as-of", metavar="DATE", help="Answer from what held then, as the texts say.")
]
During = Annotated[
    str | None, typer.Option("--during", metavar="FROM/TO", help="Answer from what held at some time of these.")
]
KnownAt = Annotated[
    str | None, typer.Option("--known-at", metavar="DATE", help="Read only documents that were indexed by then.")
]
Unknown = Annotated[
    Literal["include", "exclude"], typer.Option("--unknown", help="Whether to read what states no date.")
]
History = Annotated[
    Path | None,
    typer.Option("--history", metavar="FILE", help='The conversation before: lines {"question": …, "answer": …}.'),
]

_TEST = re.compile(r"\s*([^=!<>]+?)\s*(!=|<=|>=|=|<|>)\s*((?![=!<>]).*?)\s*")
_DATE = re.compile(r"\d{4}(-\d{2}(-\d{2}([T ]\d{2}(:\d{2}(:\d{2}(\.\d+)?)?)?(Z|[+-]\d{2}:?\d{2})?)?)?)?")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")


def read_scope(
    documents: Sequence[str] | None, where: Sequence[str] | None, since: str | None, until: str | None
) -> Scope:
    """The filter that the flags of a question name. Raises BadParameter for a test or a date that cannot be read."""
    from sensegraph.questions import Scope

    conditions = tuple(map(_parse_condition, where or ()))
    return Scope(tuple(documents or ()), conditions, _check_date(since, "--since"), _check_date(until, "--until"))


def restrict_to_time(
    scope: Scope, as_of: str | None, during: str | None, known_at: str | None, unknown: Literal["include", "exclude"]
) -> Scope:
    """The filter with the time that facts must hold at. Raises BadParameter for what is no date, or two times."""
    from sensegraph.index.restricted.moment import ends_before_it_begins

    if as_of and during:
        raise typer.BadParameter("--as-of asks for one moment and --during for a stretch: choose one.")
    if unknown == "exclude" and not (as_of or during or known_at):
        raise typer.BadParameter("--unknown says what to do with facts without a date: name a time with --as-of.")
    first, slash, last = (during or "").partition("/")
    if during and not (slash and (first or last)):
        raise typer.BadParameter(f"--during {during!r} is no stretch such as 2015/2018, 2015/ or /2018.")
    moments = {n: _check_moment(m, n) for n, m in (("--as-of", as_of), ("--known-at", known_at))}
    between = (_check_moment(first, "--during"), _check_moment(last, "--during"))
    if ends_before_it_begins(first, last):
        raise typer.BadParameter(f"--during {during!r} ends before it begins: give the earlier moment first.")
    return replace(scope, as_of=moments["--as-of"], between=between, known_at=moments["--known-at"], unknown=unknown)


def _check_moment(text: str | None, flag: str) -> str:
    from sensegraph.language.dates.moments import is_readable

    if text and not is_readable(text):
        raise typer.BadParameter(f"{flag} {text!r} is no ISO date such as 2023, 2023-05 or 2023-05-17.")
    return text or ""


def _parse_condition(text: str) -> Condition:
    from sensegraph.questions import Condition

    found = _TEST.fullmatch(text)
    if not found:
        raise typer.BadParameter(f"--where {text!r} is no test such as year>=2020, author=Ann or lang!=de.")
    value: str | int | float | bool = found[3]  # a number or a truth value where the text is one
    if found[3].casefold() in ("true", "false"):
        value = found[3].casefold() == "true"
    elif _NUMBER.fullmatch(found[3]):
        value = int(found[3]) if re.fullmatch(r"[+-]?\d+", found[3]) else float(found[3])
    return Condition(found[1], found[2], value)


def _check_date(text: str | None, flag: str) -> str:
    if text and not (_DATE.fullmatch(text) and _is_calendar_day(text)):
        raise typer.BadParameter(f"{flag} {text!r} is no ISO date such as 2023, 2023-05 or 2023-05-17.")
    return text or ""


def _is_calendar_day(text: str) -> bool:
    """Whether the calendar has the day that a date begins with."""
    from datetime import date

    year, month, day = (*map(int, text[:10].split("-")), 1, 1)[:3]
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


def read_history(path: Path | None) -> tuple[Turn, ...]:
    """The conversation in a file of JSON lines. Raises InputError that names the line that cannot be read."""
    import msgspec

    from sensegraph.errors import InputError
    from sensegraph.types import Turn

    found: list[Any] = []
    lines = path.read_text(encoding="utf-8").splitlines() if path else []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found.append(msgspec.json.decode(line, type=Turn))
        except msgspec.MsgspecError as e:
            raise InputError(f'{path}, line {number}: not of the form {{"question": "…", "answer": "…"}} ({e}).') from e
    return tuple(found)
