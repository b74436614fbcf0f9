"""Options of a question: which documents may be read, and the conversation before it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from sensegraph.filters import Condition, Scope
from sensegraph.types import Turn

Documents = Annotated[
    list[str] | None,
    typer.Option("--document", metavar="ID", help="Read only this document; * and ? stand for any characters."),
]
Where = Annotated[
    list[str] | None,
    typer.Option("--where", metavar="TEST", help="Read only documents whose metadata pass, as in --where year>=2020."),
]
Since = Annotated[str | None, typer.Option("--since", metavar="DATE", help="Read only documents from then on.")]
Until = Annotated[str | None, typer.Option("--until", metavar="DATE", help="Read only documents until then.")]
History = Annotated[
    Path | None,
    typer.Option("--history", metavar="FILE", help='The conversation before: lines {"question": …, "answer": …}.'),
]

_TEST = re.compile(r"\s*([^=!<>]+?)\s*(!=|<=|>=|=|<|>)\s*((?![=!<>]).*?)\s*")
_DATE = re.compile(r"\d{4}(-\d{2}(-\d{2}([T ]\d{2}(:\d{2}(:\d{2}(\.\d+)?)?)?(Z|[+-]\d{2}:?\d{2})?)?)?)?")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")


def scope_of(
    documents: Sequence[str] | None, where: Sequence[str] | None, since: str | None, until: str | None
) -> Scope:
    """The filter that the flags of a question name. Raises BadParameter for a test or a date that cannot be read."""
    from sensegraph.filters import Scope

    conditions = tuple(map(_condition, where or ()))
    return Scope(tuple(documents or ()), conditions, _date(since, "--since"), _date(until, "--until"))


def _condition(text: str) -> Condition:
    from sensegraph.filters import Condition

    found = _TEST.fullmatch(text)
    if not found:
        raise typer.BadParameter(f"--where {text!r} is no test such as year>=2020, author=Ann or lang!=de.")
    return Condition(found[1], found[2], _value(found[3]))


def _value(text: str) -> str | int | float | bool:
    """A number or a truth value where the text is one, else the text."""
    if text.casefold() in ("true", "false"):
        return text.casefold() == "true"
    if not _NUMBER.fullmatch(text):
        return text
    return int(text) if re.fullmatch(r"[+-]?\d+", text) else float(text)


def _date(text: str | None, flag: str) -> str:
    if text and not (_DATE.fullmatch(text) and _exists(text)):
        raise typer.BadParameter(f"{flag} {text!r} is no ISO date such as 2023, 2023-05 or 2023-05-17.")
    return text or ""


def _exists(text: str) -> bool:
    """Whether the calendar has the day that a date begins with."""
    from datetime import date

    year, month, day = (*map(int, text[:10].split("-")), 1, 1)[:3]
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


def turns_of(path: Path | None) -> tuple[Turn, ...]:
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
