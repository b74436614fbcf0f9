"""The seven tables in files, .jsonl or .parquet: whatever is wrong is an error that names table, row and column.

Tables are named as releases 1.x to 3.x of the reference implementation name them. Parquet is written in row groups of
a thousand, and needs pyarrow (the extra `parquet`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, TypeVar

from sensegraph.documents.metadata import flatten_fields
from sensegraph.errors import InputError
from sensegraph.graphs.interchange import tables
from sensegraph.graphs.interchange.extras import Row
from sensegraph.graphs.interchange.listing import split_blocks
from sensegraph.runtime.keys import encode_canonical
from sensegraph.types import Scalar

T = TypeVar("T")
_ROWS = 1_000  # of a row group
_KINDS = {
    **dict.fromkeys(("human_readable_id", "n_tokens", "frequency", "degree", "combined_degree"), "integer"),
    **dict.fromkeys(("community", "level", "parent", "size"), "integer"),
    **dict.fromkeys(("weight", "rank"), "number"),
    **dict.fromkeys(("text_unit_ids", "entity_ids", "relationship_ids", "covariate_ids"), "texts"),
    "children": "integers",
    "findings": "findings",
    "raw_data": "json",
}
_NEEDED = ("entities", "relationships")


@dataclass(frozen=True, slots=True)
class Cells:
    """Row `row` (from 1) of `table`. Columns are asked for by their names in any release, the newest first."""

    table: str
    row: int
    record: tables.Raw

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

    def error(self, column: str, message: str) -> InputError:
        """What is wrong with a column, to be raised."""
        return InputError(f"{self.table}, row {self.row}, column {column!r}: {message}.")

    def _read(self, names: tuple[str, ...], convert: Callable[[Any], T | None], wanted: str, default: T | None) -> T:
        for name in names:
            value = self.record.get(name)
            if value is None or (isinstance(value, float) and math.isnan(value)):
                continue
            if (found := convert(value)) is None:
                raise self.error(name, f"{wanted} is needed, not {str(value)[:60]!r}")
            return found
        if default is None:
            others = f" (nor {', '.join(map(repr, names[1:]))})" if names[1:] else ""
            raise self.error(names[0], f"it holds nothing{others}, and {wanted} is needed")
        return default


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


def write_rows(file: IO[bytes], table: str, rows: Iterable[Row]) -> tuple[int, list[str]]:
    """Write the columns of release 3.x; how many rows, and which further columns were left out.

    Metadata of documents, whose fields differ from one to the next, is written as JSON. Raises InputError where
    pyarrow is not installed.
    """
    parquet = _load_parquet()
    import pyarrow

    text = pyarrow.string()
    types = {
        "integer": pyarrow.int64(),
        "number": pyarrow.float64(),
        "texts": pyarrow.list_(text),
        "integers": pyarrow.list_(pyarrow.int64()),
        "findings": pyarrow.list_(pyarrow.struct([("explanation", text), ("summary", text)])),
    }
    schema = pyarrow.schema([(c, types.get(_KINDS.get(c, ""), text)) for c in tables.COLUMNS[table]])
    json_columns = [c for c in tables.COLUMNS[table] if _KINDS.get(c) == "json"]
    count, left = 0, dict[str, None]()
    with parquet.ParquetWriter(file, schema) as writer:
        for block in split_blocks(rows, _ROWS):
            count += len(block)
            left.update(dict.fromkeys(c for row in block for c in row if c not in tables.COLUMNS[table]))
            plain = [{c: row.get(c) for c in tables.COLUMNS[table]} for row in block]
            for row in plain:
                for c in json_columns:
                    if row[c] is not None and not isinstance(row[c], str):
                        row[c] = json.dumps(row[c], ensure_ascii=False)
            writer.write_table(pyarrow.Table.from_pylist(plain, schema=schema))
    return count, list(left)


def read_parquet(path: Path, table: str) -> Iterator[tuple[int, tables.Raw]]:
    """Each record of a file with its number from 1, read in batches. Raises InputError for a file that is damaged."""
    parquet = _load_parquet()
    try:
        batches = parquet.ParquetFile(path).iter_batches(batch_size=_ROWS)
        yield from enumerate((record for batch in batches for record in batch.to_pylist()), 1)
    except (OSError, ValueError) as e:  # what pyarrow raises is one of these
        raise InputError(f"{path} is no readable Parquet file ({e}); write the table {table} again.") from e


def _load_parquet() -> Any:
    """pyarrow's module for Parquet. Raises InputError, naming the extra, where pyarrow is not installed."""
    try:
        import pyarrow.parquet as parquet
    except ImportError as e:
        advice = "pip install 'sensegraph[parquet]', or use .jsonl tables."
        raise InputError(f"Parquet needs pyarrow, which is not installed: {advice}") from e
    return parquet


def read_tables(folder: str | Path) -> tables.Tables:
    """The tables in `folder`. Entities and relationships must be there, the other five may be missing.

    Raises InputError for a folder without them, and for a row that cannot be read, naming table, row and column.
    """
    place = Path(folder)
    if not place.is_dir():
        raise InputError(f"{place} is no folder; name the folder that holds {' and '.join(_NEEDED)}.")
    files = dict[str, Path]()
    for name in tables.COLUMNS:
        stems = (name, f"create_final_{name}")  # release 1.x calls it so
        found = [p for stem in stems for end in (".jsonl", ".parquet") if (p := place / f"{stem}{end}").is_file()]
        if len(found) > 1:
            raise InputError(f"{place} holds the table {name} twice: {found[0].name} and {found[1].name}; keep one.")
        if found:
            files[name] = found[0]
    if missing := [name for name in _NEEDED if name not in files]:
        raise InputError(
            f"{place} holds no table {' and '.join(missing)}: looked for {missing[0]}.jsonl and {missing[0]}.parquet; "
            "the reference implementation writes them to its folder output."
        )
    rows: dict[str, Any] = {name: _read_rows(path, name) for name, path in files.items()}
    return tables.Tables(folder=str(place), **rows)


# ── files ──


def _read_rows(path: Path, table: str) -> list[Any]:
    """All rows of a table. Raises InputError for two with the same id."""
    records = read_parquet(path, table) if path.suffix == ".parquet" else _read_lines(path, table)
    seen: dict[str, int] = {}
    rows = []
    for place, (number, record) in enumerate(records):
        cells = Cells(table, number, record)
        row = _make_row(cells, cells.integer("human_readable_id", default=place))
        if row.id in seen:
            raise cells.error("id", f"{row.id!r} is the id of row {seen[row.id]} too")
        seen[row.id] = number
        rows.append(row)
    return rows


def _read_lines(path: Path, table: str) -> Iterator[tuple[int, tables.Raw]]:
    """Each record with its line number; empty lines are passed over."""
    with path.open(encoding="utf-8-sig") as lines:
        try:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                try:
                    value = json.loads(line)
                except ValueError as e:
                    raise InputError(f"{table}, row {number}: no JSON ({e}); each line must hold one object.") from e
                if not isinstance(value, dict):
                    said = f"{type(value).__name__} is no object; each line must hold one."
                    raise InputError(f"{table}, row {number}: {said}")
                try:
                    encode_canonical(value)
                except UnicodeEncodeError as e:
                    said = f"it holds no valid Unicode ({e.reason}); write the table anew."
                    raise InputError(f"{table}, row {number}: {said}") from e
                yield number, value
        except UnicodeDecodeError as e:
            raise InputError(f"{path} is not UTF-8 ({e.reason} at byte {e.start}); write it as UTF-8.") from e


# ── rows ──


def _make_row(c: Cells, number: int) -> tables.TableRow:
    """A row of its table with the columns that mean something here, each under its name in any release."""
    record = c.record
    match c.table:
        case "documents":
            return tables.DocumentRow(
                record, c.text("id"), number, c.text("title", default=""), c.text("text", "raw_content"),
                c.texts("text_unit_ids", "text_units"), c.text("creation_date", default=""), _read_metadata(record),
            )  # fmt: skip
        case "text_units":
            single = c.text("document_id", default="")
            documents = (single,) if single else c.texts("document_ids")
            return tables.UnitRow(record, c.text("id"), number, c.text("text", "chunk"), documents)
        case "entities":
            if not (name := c.text("title", "name")).strip():
                raise c.error("title", "an entity needs a name")
            return tables.EntityRow(
                record, c.text("id"), number, name, c.text("type", default=""), c.text("description", default=""),
                c.texts("text_unit_ids"), max(0, c.integer("frequency", "node_frequency", default=0)),
            )  # fmt: skip
        case "relationships":
            return tables.RelationRow(
                record, c.text("id", default=f"relationship {number}"), number, c.text("source"), c.text("target"),
                c.text("description", default=""), c.number("weight", default=1.0), c.texts("text_unit_ids"),
            )  # fmt: skip
        case "communities":
            community = c.integer("community", "id", default=number)
            return tables.CommunityRow(
                record, c.text("id", default=str(community)), number, community, c.integer("level"),
                c.integer("parent", default=-1) if "parent" in record else None, c.text("title", default=""),
                c.texts("entity_ids"), c.texts("relationship_ids"),
            )  # fmt: skip
        case "community_reports":
            community = c.integer("community")
            return tables.ReportRow(
                record, c.text("id", default=str(community)), number, community, c.text("title"),
                c.text("summary", default=""), c.findings(), c.number("rank", "rating", default=0.0),
                c.text("rating_explanation", "rank_explanation", default=""),
            )  # fmt: skip
        case _:
            return tables.ClaimRow(
                record, c.text("id", default=f"covariate {number}"), number, c.text("subject_id", default=""),
                c.text("object_id", default=""), c.text("type", default=""), c.text("status", default=""),
                c.text("description", default=""), c.text("start_date", default=""), c.text("end_date", default=""),
                c.text("source_text", default=""), c.text("text_unit_id", default=""),
            )  # fmt: skip


def _read_metadata(record: tables.Raw) -> tuple[tuple[str, Scalar], ...]:
    """The fields of a document; a table of Parquet may hold them as JSON."""
    found = record.get("raw_data") or record.get("metadata") or record.get("attributes")
    if isinstance(found, str) and found.startswith("{"):
        try:
            found = json.loads(found)
        except ValueError:
            return ()
    return flatten_fields(found) if isinstance(found, dict) else ()
