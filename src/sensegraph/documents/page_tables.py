"""Tables of a page: which of them hold records, and their rows told in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sensegraph.language.tables import is_header, is_number, tell_row

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

PLACED = "h1, h2, h3, h4, h5, h6, ul, ol, dl, form, pre, blockquote, section, article, div div, p ~ p"
_MOST_SPANNED = 64  # columns or rows of one cell; more is a mistake of the page
_MOST_SPANNED_CELLS = 100_000  # places of a table that cells reach beyond their own
_MOST_REPEATED = 10_000  # characters of a cell that may stand in several places


@dataclass(frozen=True, slots=True)
class _Cell:
    """A cell in one place of the grid; `wide` where it only reaches there from a column at the left."""

    text: str
    heads: bool
    wide: bool = False


@dataclass(frozen=True, slots=True)
class _Grid:
    """The cells of a table by row and column; the first `above` rows are headers, `titles` stand over the whole."""

    rows: Sequence[Sequence[_Cell]]
    titles: Sequence[str]
    above: int


def tell_page_table(table: LexborNode, read_cell: Callable[[LexborNode], str]) -> list[str] | None:
    """The caption of a table and its rows as sentences, with the names of their columns; None for one that places text.

    A table of records has cells marked as headers above (`th`, `thead`) or at the left, or a first row that can only be
    one: short words above columns of numbers. One that holds tables, lists or headings places text.
    """
    if len(table.css("table")) > 1 or (table.attributes.get("role") or "") in ("presentation", "none"):
        return None
    if any(cell.css_first(PLACED) is not None for cell in table.css("td")):
        return None
    grid = _lay_out(table, read_cell)
    rows, above = grid.rows, grid.above
    if max(map(len, rows), default=0) < 2 or above == len(rows):
        return None
    if not above and not any(row[0].heads for row in rows):
        # no header is marked: there is one where all rows have one length, and a column of numbers stands below words
        if len(rows) < 3 or len(set(map(len, rows))) > 1 or not is_header([cell.text for cell in rows[0]]):
            return None
        if not any(all(is_number(row[n].text) for row in rows[1:]) for n in range(len(rows[0]))):
            return None
        above = 1
    heads = rows[:above]
    over = (
        (row[n].text for row in heads if n < len(row) and row[n].text) for n in range(max(map(len, heads), default=0))
    )
    columns = [", ".join(dict.fromkeys(names)) for names in over]
    caption = table.css_first("caption")
    told = [read_cell(caption)] if caption is not None else []
    told += grid.titles
    for row in rows[above:]:
        cells = [cell.text for cell in row]
        if _is_lone(row):
            told.append(cells[0])  # a heading over the rows below
        elif not columns and row[0].heads and len(row) == 2:
            told.append(tell_row(cells[:1], cells[1:]))
        else:
            told.append(tell_row(columns, ["" if cell.wide else cell.text for cell in row]))
    return [line for line in told if line]


def _lay_out(table: LexborNode, read_cell: Callable[[LexborNode], str]) -> _Grid:
    """The grid of a table: a cell stands in every row and column that it reaches."""
    rows, titles, reaching = list[list[_Cell]](), list[str](), dict[int, tuple[int, _Cell]]()
    above, counting, spare = 0, True, _MOST_SPANNED_CELLS
    for tr in table.css("tr"):
        row: list[_Cell] = []
        for node in (*(node for node in tr.iter() if node.tag in ("td", "th")), None):
            while reaching.get(len(row), (0, None))[0]:
                left, cell = reaching[len(row)]
                reaching[len(row)] = (left - 1, cell)
                row.append(cell)
            if node is not None:
                text, down, right = read_cell(node), _read_span(node, "rowspan"), _read_span(node, "colspan")
                if (cells := down * right - 1) > spare or len(text) > _MOST_REPEATED:
                    down = right = 1
                else:
                    spare -= cells
                for number in range(right):
                    reaching[len(row)] = (down - 1, _Cell(text, node.tag == "th", number > 0))
                    row.append(reaching[len(row)][1])
        if not any(cell.text for cell in row):
            continue
        if _is_lone(row) and not rows:
            titles.append(row[0].text)
            continue
        head = tr.parent is not None and tr.parent.tag == "thead"
        counting = counting and (head or all(cell.heads or not cell.text for cell in row))
        above += counting
        rows.append(row)
    return _Grid(rows, titles, above)


def _is_lone(row: Sequence[_Cell]) -> bool:
    """Whether a row is one cell over all columns."""
    return len(row) > 1 and all(cell.wide for cell in row[1:])


def _read_span(node: LexborNode, name: str) -> int:
    value = (node.attributes.get(name) or "").strip()
    return min(int(value), _MOST_SPANNED) if value.isdecimal() and int(value) else 1
