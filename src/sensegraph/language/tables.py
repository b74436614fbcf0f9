"""Tables: which row names the columns, and a row told in words.

A row is told as one sentence, "Name: Ada Finch; Born: 1815; Height: 1.63 m.", because a sentence is what is quoted: of
"Name: Ada Finch. Born: 1815." the second one would speak of nobody.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sensegraph.language.word_lists import read_list

_NUMBER = re.compile(r"[-+−–±~<>≤≥]?\s?\d[\d.,'’\s\xa0\u202f]*(?:[eE][-+]?\d+)?")
_YEAR = re.compile(r"1[5-9]\d\d|20\d\d")
_UNIT = re.compile(r"(.*\S)\s*[(\[]\s*(\S{1,6})\s*[)\]]", re.S)
_ENDS = (".", "!", "?", "…", "。", "！", "？", "।", "؟", "۔")
_RULED = re.compile(
    r"^(?P<head>[^\n|]*\|[^\n]*)\n[ \t]*+\|?[ \t]*+:?-{2,}+:?[ \t]*+(?:\|[ \t]*+:?-{2,}+:?[ \t]*+)+\|?[ \t]*+\n"
    r"(?P<rows>(?:[^\n|]*\|[^\n]*(?:\n|\Z))+)",
    re.M,
)
_PIPE = re.compile(r"(?<!\\)\|")
_MOST = 40  # characters of a column's name, on average, beyond which a row is a text and no header


def is_header(row: Sequence[str]) -> bool:
    """Whether a row can name columns: its cells differ, are short, and no number stands in them but a year."""
    named = [" ".join(cell.split()) for cell in row]
    known = [cell for cell in named if cell]
    if not known or len(known) < len(named) - 1 or len({cell.casefold() for cell in known}) < len(known):
        return False
    if all(map(_YEAR.fullmatch, named)):
        return False
    numbers = any(is_number(cell) and not _YEAR.fullmatch(cell) for cell in known)
    return not numbers and sum(map(len, known)) <= _MOST * len(known)


def is_number(cell: str) -> bool:
    """Whether a cell holds a number alone, in any way of writing thousands and decimals; "5 %" is one, "5 kg" not."""
    return bool(_NUMBER.fullmatch(cell.strip().rstrip("% ")))


def tell_row(columns: Sequence[str], cells: Sequence[str]) -> str:
    """The cells of a row as a sentence, each behind the name of its column; nothing where all are empty.

    A unit in brackets behind a column's name stands with the numbers of the column. A cell without a column stands
    alone, an empty one is left out.
    """
    told = []
    for number, cell in enumerate(cells):
        value = " ".join(cell.split())
        name = " ".join(columns[number].split()).rstrip(" :") if number < len(columns) else ""
        if not value:
            continue
        if name and (match := _UNIT.fullmatch(name)) and match[2] in read_list("units") and is_number(value):
            name = match[1]
            value = value if value.endswith(match[2]) else f"{value} {match[2]}"
        told.append(f"{name}: {value}" if name else value)
    sentence = "; ".join(told)
    return sentence + "." if sentence and not sentence.endswith(_ENDS) else sentence


def tell_ruled_rows(text: str) -> dict[tuple[int, int], str]:
    """The rows of the tables of Markdown, told with their headers, by their spans in `text` behind the first pipe."""
    if "|" not in text or "--" not in text:
        return {}
    told: dict[tuple[int, int], str] = {}
    for table in _RULED.finditer(text):
        columns = _split_cells(table["head"])
        place = table.start("rows")
        for line in table["rows"].splitlines(keepends=True):
            row = line.strip()
            start = place + len(line) - len(line.lstrip(" \t|"))
            told[start, place + len(line.rstrip())] = tell_row(columns, _split_cells(row))
            place += len(line)
    return told


def _split_cells(row: str) -> list[str]:
    """The cells between the pipes of a row."""
    return [cell.strip().replace("\\|", "|") for cell in _PIPE.split(row.strip().removeprefix("|").removesuffix("|"))]
