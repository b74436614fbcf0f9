"""Files of records: jsonl, json and csv, one document a record; a csv without texts is a table (see `tables`)."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from itertools import product

from sensegraph.documents.cells import read_cell
from sensegraph.documents.decoding import clean_text
from sensegraph.documents.document_files import DEFAULTS, DocumentSettings
from sensegraph.documents.metadata import flatten_fields, read_iso_date
from sensegraph.documents.tables import read_rows, tell_table
from sensegraph.errors import InputError
from sensegraph.runtime.keys import key
from sensegraph.types import Document

_DELIMITERS = ",;\t|"
_QUOTES = "\"'"
_MOST_VALUES = 10_000_000  # of one JSON text; each takes up to 80 bytes

Item = tuple[str, Document | str]
"""Where in the file (`line 3`), and what stands there: a document, or why there is none."""


def read_json_lines(name: str, text: str, settings: DocumentSettings) -> Iterator[Item]:
    """One document a line; a line that is no record is named, the others go on."""
    for number, line in _number_lines(text):
        try:
            yield f"line {number}", _make_document(name, _parse_json(line), settings)
        except InputError as e:
            yield f"line {number}", str(e)


def read_json_records(name: str, text: str, settings: DocumentSettings) -> Iterator[Item]:
    """The records of an array, of the `documents` of an object, or the one object that a file is.

    Raises InputError when the file is not JSON or of another shape.
    """
    value = _parse_json(text)
    if isinstance(value, dict) and isinstance(value.get("documents"), list):
        value = value["documents"]
    if isinstance(value, dict):
        yield "", _make_document(name, value, settings, alone=True)
        return
    if not isinstance(value, list):
        raise InputError("holds no records; give an array of objects, an object, or an object with `documents`.")
    for number, record in enumerate(value, start=1):
        try:
            yield f"record {number}", _make_document(name, record, settings)
        except InputError as e:
            yield f"record {number}", str(e)


def read_csv_rows(name: str, text: str, settings: DocumentSettings) -> Iterator[Item]:
    """One document a row of a csv or tsv file; the first row names the columns.

    The delimiter (`,` `;` tab `|`) and the quote (`"` or `'`) are those with which the header names the text column.
    Where none does, the rows are told in words, in one document for the file; where the settings name another column
    than `text`, that raises InputError.
    """
    # A process-wide limit of 128 KB a field: raised, never lowered, so that texts fit and nobody else's reading breaks.
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    text = text.replace("\r", "\n")
    hinted = re.match(r'"?sep=([^\w"\'\n ])"?\n', text)  # a line that spreadsheets write, which names the delimiter
    text, hint = (text[hinted.end() :], hinted[1]) if hinted else (text, "")
    first, wanted = next((line for _, line in _number_lines(text)), ""), settings.text_column
    for delimiter, quote in product(hint or _DELIMITERS, _QUOTES):
        columns = next(csv.reader([first], delimiter=delimiter, quotechar=quote), [])
        if wanted.casefold() in (c.strip().casefold() for c in columns):
            break
    else:
        if wanted != DEFAULTS.text_column:
            message = f"has no column {wanted!r} in its first line ({first[:80]}); name the column by text_column."
            raise InputError(message)
        yield from tell_table(name, text, settings, hint)
        return
    header: list[str] = []
    for start, row in read_rows(text, delimiter, quote):
        if header and any(row):
            if len(row) > len(header):
                sizes = f"{len(row)} fields where the header has {len(header)}"
                yield f"line {start}", f"has {sizes}; quote fields that hold the delimiter."
            else:
                fields = {c: read_cell(v) for c, v in zip(header, row, strict=False) if v or c}
                try:
                    yield f"line {start}", _make_document(name, fields, settings)
                except InputError as e:
                    yield f"line {start}", str(e)
        header = header or [read_cell(c.strip()) for c in row]


def _number_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, with their numbers; only \\n ends a line, as JSON may hold all other breaks."""
    return ((n, line.strip()) for n, line in enumerate(io.StringIO(text, newline="\n"), 1) if line.strip())


def _parse_json(text: str) -> object:
    if text.count(",") + text.count("[") + text.count("{") > _MOST_VALUES:  # counted before any is made
        raise InputError(
            f"holds more than {_MOST_VALUES:,} values in one JSON text; split it, or write a record a line."
        )
    try:
        return json.loads(text, parse_constant=lambda _: None)
    except json.JSONDecodeError as e:
        where = f"line {e.lineno}, column {e.colno}" if e.lineno > 1 else f"column {e.colno}"
        raise InputError(f"is not valid JSON ({e.msg}, {where}); fix or remove it.") from e
    except (ValueError, RecursionError) as e:
        raise InputError(f"is JSON that is too deep or holds too long a number ({e}); simplify it.") from e


def _make_document(name: str, record: object, settings: DocumentSettings, *, alone: bool = False) -> Document:
    """The document that `record` is; its fields beside text, id, title and time are metadata.

    A record without an id is named by its file and its content, so that it keeps its name when others come or go.
    """
    if not isinstance(record, dict):
        raise InputError(f"is {type(record).__name__}, not an object; give an object with a text in each place.")
    columns = {str(k).casefold(): str(k) for k in reversed(record)}
    wanted = settings.text_column
    if wanted.casefold() not in columns:
        found = ", ".join(sorted(columns.values()))[:80]
        raise InputError(f"has no {wanted!r} (it has: {found}); name the column by text_column.")
    value = record[columns[wanted.casefold()]]
    if not isinstance(value, str):
        raise InputError(f"has a {wanted!r} that is {type(value).__name__}, not a text; give a text.")
    if not value.strip():
        raise InputError(f"has an empty {wanted!r}; there is nothing to read in it.")
    text, id_column = clean_text(value), settings.id_column or ("_id" if "_id" in columns else "id")
    title = _read_short_field(record, columns, settings.title_column)
    ident = _read_short_field(record, columns, id_column)
    time_column = columns.get(settings.time_column.casefold(), "")
    time = read_iso_date(record.get(time_column))
    # all other columns are metadata; a time that cannot be read stays there, so that it is not lost
    names = [c.casefold() for c in (wanted, settings.title_column, id_column)]
    taken = {columns[name] for name in names if name in columns}
    if time_column and (time or not record[time_column]):
        taken.add(time_column)
    rest = {k: v for k, v in record.items() if k not in taken}
    nested = rest.pop("metadata", None)
    if nested is not None:
        rest |= nested if isinstance(nested, dict) else {"metadata": nested}
    metadata = flatten_fields(rest)
    ident = ident or (name if alone else f"{name}#{key(text, title, metadata)[:12]}")
    return Document(ident, text, title, metadata, time)


def _read_short_field(record: Mapping[str, object], columns: Mapping[str, str], wanted: str) -> str:
    """A short field as text: a string or a number; nothing where it is missing or null."""
    value = record.get(columns.get(wanted.casefold(), ""))
    if value is None or isinstance(value, str):
        return clean_text(value or "").strip()
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise InputError(f"has a {wanted!r} that is {type(value).__name__}; give a text or a number.")
