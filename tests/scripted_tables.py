"""The tables of a prompt, as the scripted server reads them."""

from __future__ import annotations

import csv
import re

Row = tuple[str, list[str]]  # table, cells; the first cell is the id


def rows_of(data: str) -> list[Row]:
    """The rows of all tables of a context."""
    rows: list[Row] = []
    for block in re.split(r"\n\s*\n", data):
        lines = block.strip().split("\n")
        if lines[0].startswith("# ") and len(lines) > 2 and lines[1].startswith("id,"):
            rows += [(lines[0][2:], cells) for cells in csv.reader(lines[2:])]
    return rows


def cite(rows: list[Row]) -> str:
    """A reference to the first five of these rows."""
    tables: dict[str, list[str]] = {}
    for table, cells in rows[:5]:
        tables.setdefault(table, []).append(cells[0])
    more = ", +more" if len(rows) > 5 else ""
    return "[Data: " + "; ".join(f"{t} ({', '.join(ids)}{more})" for t, ids in tables.items()) + "]"


def words(text: str, count: int) -> str:
    """The first `count` words of `text`."""
    return " ".join(text.split()[:count])
