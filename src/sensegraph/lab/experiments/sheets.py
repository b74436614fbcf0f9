"""A report as values: sections of paragraphs, lists, tables, and texts side by side. Renderers make pages of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table. `shade` colours it from 0 (low) over 0.5 (even) to 1 (high); `strong` marks what counts.

    `words` says that it holds words, which may be broken into lines, rather than a figure.
    """

    text: str
    shade: float | None = None
    strong: bool = False
    words: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a caption; the first cell of a row names it. `note` says how it is to be read."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """Tables that are read together, with one note for all."""

    tables: tuple[Table, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Words:
    """A paragraph."""

    text: str


@dataclass(frozen=True, slots=True)
class Items:
    """A list of short lines."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Beside:
    """Texts to be read side by side, each under its name, below a title."""

    title: str
    texts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Fold:
    """Tables that are shown when somebody asks for them."""

    title: str
    tables: tuple[Table, ...]


Part = Table | Grid | Words | Items | Beside | Fold


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report under its own heading."""

    title: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Sheet:
    """A whole report."""

    title: str
    lead: tuple[str, ...]
    sections: tuple[Section, ...]


def make_table(caption: str, head: Sequence[str], rows: Sequence[Sequence[Cell | str]], note: str = "") -> Table:
    """A table whose plain cells may be given as texts."""
    cells = tuple(tuple(c if isinstance(c, Cell) else Cell(c) for c in row) for row in rows)
    return Table(caption, tuple(head), cells, note)


def holds_words(given: Table, column: int) -> bool:
    """Whether a column holds words, as the first one does."""
    return not column or any(row[column].words for row in given.rows)


# ── how numbers are written ──


def format_count(count: int, thing: str) -> str:
    """A count with the word for what is counted: 1 question, 4 questions."""
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


def format_number(value: float | None, digits: int = 2) -> str:
    """A figure with so many places; a dash where there is none."""
    return "–" if value is None else f"{value:,.{digits}f}".replace("-", "−")


def format_signed(value: float, digits: int = 2) -> str:
    """A difference with its sign."""
    return f"{value:+,.{digits}f}".replace("-", "−")


def format_p_value(p: float) -> str:
    """A p as the papers print it."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
