"""An ordinary table, without a column that holds texts: its rows are told in words, in one document for the file."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from sensegraph.documents.cells import read_cell
from sensegraph.documents.decoding import clean_text
from sensegraph.documents.document_files import DocumentSettings
from sensegraph.documents.metadata import flatten_fields, read_iso_date
from sensegraph.errors import InputError
from sensegraph.language.tables import is_header, is_number, tell_row
from sensegraph.types import Document

_DELIMITERS = ",;\t|"
_SAMPLE = 64  # rows by which the delimiter and the header are found
_MOST_FIELDS = 1_000_000  # of one row
_BEGIN = 1 << 18  # characters that hold these rows
_BRACKETED = re.compile(r"\s*[(\[][^()\[\]]{1,12}[)\]]\s*|\s*")
_SEPARATORS = re.compile(r"[_\s]+|(?<=[^\W\d_])-(?=[^\W\d_])")

Row = tuple[int, list[str]]
"""A row with something in it, and the line on which it begins."""


def tell_table(
    name: str, text: str, settings: DocumentSettings, delimiter: str = ""
) -> Iterator[tuple[str, Document | str]]:
    """The table as one document, a paragraph a row, and the rows that cannot be told.

    Lines of one cell before the header and between the rows are kept as they are, and so are remarks (`# …`). A row of
    units in brackets below the header goes to the columns. `delimiter` is tried alone where it is given.
    """
    tried = delimiter or ("\t" + _DELIMITERS if name.lower().endswith(".tsv") else _DELIMITERS)
    quote = "'" if text.lstrip().startswith("'") else '"'
    begin = text[:_BEGIN]
    delimiter = max(tried, key=lambda d: _count_even_rows(begin, d, quote))
    width = _find_width(_sample_rows(begin, delimiter, quote))
    rows = _read_rows(text, delimiter, quote)
    told: list[str | list[str]] = []  # a list is of the lines of one paragraph
    columns: list[str] | None = None
    times: set[str] = set()
    when_named = settings.time_column.casefold()
    count = timed = remarked = 0  # `remarked` is the number of what is told when the last remark ends
    for line, row in rows:
        if _is_remark(row, width):
            remark = f"{delimiter.strip()} ".join(row).lstrip("#").strip()
            above = told[-1] if told else ""
            if remarked == len(told) and isinstance(above, list):
                above.append(remark)
            else:
                told.append([remark])
            remarked = len(told)
            continue
        if columns is None:
            if width > 1 and (len(row) < width or sum(map(bool, row)) == 1) and len(told) < _SAMPLE:
                told.append(tell_row((), row).removesuffix("."))
                continue
            row[0] = row[0].lstrip("# ") or row[0]
            columns = row if is_header(row) else []
            time_column = next((i for i, c in enumerate(columns) if c.casefold() == when_named), -1)
            if columns:
                continue
        if columns and not count and len(row) <= len(columns) and all(map(_BRACKETED.fullmatch, row)):
            columns = [f"{c} {u}".strip() for c, u in zip(columns, [*row, *[""] * len(columns)], strict=False)]
            continue
        if columns and len(row) > len(columns):
            sizes = f"{len(row)} fields where the header has {len(columns)}"
            yield f"line {line}", f"has {sizes}; quote fields that hold the delimiter."
            continue
        if len(row) == 1 < width:
            told.append(" ".join(row[0].split()))
            continue
        if 0 <= time_column < len(row):
            cell = row[time_column]
            seconds = cell.isdecimal() and is_number(cell) and 8 < len(cell) < 20  # since 1970
            when = read_iso_date(int(cell) if seconds else cell)
            row[time_column] = when or cell
            times.add(when)
            timed += 1
        told.append(tell_row(columns, row))
        count += 1
    if not count:
        raise InputError("holds no records below its header; there is nothing to read in it.")
    facts = {"rows": count, **({"columns": ", ".join(filter(None, columns))} if columns else {})}
    paragraphs = (one if isinstance(one, str) else "\n".join(one) for one in told)
    time = times.pop() if len(times) == 1 and timed == count else ""
    title = _SEPARATORS.sub(" ", name.rpartition("/")[2].rpartition(".")[0]).strip()
    yield "", Document(name, clean_text("\n\n".join(paragraphs).strip("\n")), title, flatten_fields(facts), time)


def _read_rows(text: str, delimiter: str, quote: str) -> Iterator[Row]:
    """The rows in which something stands, less the empty fields beyond the width of the first row of several."""
    width = 0
    for start, row in read_rows(text, delimiter, quote):
        cells = [read_cell(cell.strip()) for cell in row]
        while len(cells) > max(width, 1) and not cells[-1]:
            cells.pop()
        if any(cells):
            width = width or (len(cells) if len(cells) > 1 else 0)
            yield start, cells


def read_rows(text: str, delimiter: str, quote: str) -> Iterator[Row]:
    """The rows of a csv file, and the lines on which they begin. Raises InputError for one of very many fields."""
    marks = [0]  # of the row that is being read

    def count_marks() -> Iterator[str]:
        for line in io.StringIO(text, newline=""):
            marks[0] += line.count(delimiter)
            if marks[0] > _MOST_FIELDS:
                raise InputError(f"holds more than {_MOST_FIELDS:,} fields in one row; check its delimiter and quotes.")
            yield line

    reader, start = csv.reader(count_marks(), delimiter=delimiter, quotechar=quote), 1
    for row in reader:
        marks[0] = 0
        yield start, row
        start = reader.line_num + 1


def _sample_rows(text: str, delimiter: str, quote: str) -> list[list[str]]:
    """The first rows, without remarks that stand in one field."""
    rows = (row for _, row in _read_rows(text, delimiter, quote) if not _is_remark(row, 2))
    return list(islice(rows, _SAMPLE))


def _is_remark(row: Sequence[str], width: int) -> bool:
    """Whether a row is a remark: it begins with `#`, and holds fewer fields than `width`."""
    return row[0].startswith("#") and len(row) < width


def _find_width(rows: Sequence[Sequence[str]]) -> int:
    """The number of fields that most rows have; the larger one on a tie."""
    counts = Counter(map(len, rows))
    return max(counts, key=lambda n: (counts[n], n), default=0)


def _count_even_rows(text: str, delimiter: str, quote: str) -> int:
    """How many rows of the beginning have the width that most have, where that is more than one field."""
    widths = list(map(len, _sample_rows(text, delimiter, quote)))
    width = _find_width([[""] * n for n in widths])
    return widths.count(width) if width > 1 else 0
