"""Cells of CSV files that a spreadsheet would take for formulas: written so that it does not, and read as they were."""

from __future__ import annotations

import re

# what a spreadsheet computes or hands on to other programs; a plain number with a sign is none
_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
_PLAIN_NUMBER = re.compile(r"[+-]?\d[\d.,]*(?:[eE][+-]?\d+)?")


def write_cell(value: object) -> object:
    """A cell as it is written: a text that begins a formula behind an apostrophe, which spreadsheets do not show.

    A text that begins with apostrophes and then a formula gets one more, so that `read_cell` gives each text back.
    """
    if isinstance(value, str) and _FORMULA.match(value) and not _PLAIN_NUMBER.fullmatch(value):
        return f"'{value}"
    return value


def read_cell(cell: str) -> str:
    """What `write_cell` was given; any other cell stays as it is."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell
