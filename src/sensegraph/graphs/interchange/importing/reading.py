"""From a folder to tables: `.jsonl` or `.parquet`, as releases 1.x to 3.x of the reference implementation name them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from sensegraph.documents.metadata import scalars
from sensegraph.errors import InputError
from sensegraph.graphs.interchange.cells import Cells
from sensegraph.graphs.interchange.tables import (
    COLUMNS,
    ClaimRow,
    CommunityRow,
    DocumentRow,
    EntityRow,
    Raw,
    RelationRow,
    ReportRow,
    Tables,
    UnitRow,
)
from sensegraph.runtime.keys import canonical
from sensegraph.types import Scalar

R = TypeVar("R", DocumentRow, UnitRow, EntityRow, RelationRow, CommunityRow, ReportRow, ClaimRow)

_NEEDED = ("entities", "relationships")


def read_tables(folder: str | Path) -> Tables:
    """The tables in `folder`. Entities and relationships must be there, the other five may be missing.

    Raises InputError for a folder without them, and for a row that cannot be read, naming table, row and column.
    """
    place = Path(folder)
    if not place.is_dir():
        raise InputError(f"{place} is no folder; name the folder that holds {_listed(_NEEDED)}.")
    files = {name: _file(place, name) for name in COLUMNS}
    if missing := [name for name in _NEEDED if files[name] is None]:
        raise InputError(
            f"{place} holds no table {_listed(missing)}: looked for {missing[0]}.jsonl and {missing[0]}.parquet; "
            "the reference implementation writes them to its folder output."
        )
    return Tables(
        folder=str(place),
        documents=_rows(files, "documents", _document),
        text_units=_rows(files, "text_units", _unit),
        entities=_rows(files, "entities", _entity),
        relationships=_rows(files, "relationships", _relation),
        communities=_rows(files, "communities", _community),
        community_reports=_rows(files, "community_reports", _report),
        covariates=_rows(files, "covariates", _claim),
    )


# ── files ──


def _listed(names: Sequence[str]) -> str:
    return " and ".join(names)


def _file(folder: Path, table: str) -> Path | None:
    """The file of a table; release 1.x calls it create_final_…"""
    stems = (table, f"create_final_{table}")
    found = [p for stem in stems for end in (".jsonl", ".parquet") if (p := folder / f"{stem}{end}").is_file()]
    if len(found) > 1:
        raise InputError(f"{folder} holds the table {table} twice: {found[0].name} and {found[1].name}; keep one.")
    return found[0] if found else None


def _rows(files: dict[str, Path | None], table: str, make: Callable[[Cells, int], R]) -> list[R]:
    """All rows of a table. Raises InputError for two with the same id."""
    path = files[table]
    if path is None:
        return []
    records = _from_parquet(path, table) if path.suffix == ".parquet" else _from_lines(path, table)
    seen: dict[str, int] = {}
    rows = []
    for place, (number, record) in enumerate(records):
        cells = Cells(table, number, record)
        row = make(cells, cells.integer("human_readable_id", default=place))
        if row.id in seen:
            raise cells.error("id", f"{row.id!r} is the id of row {seen[row.id]} too")
        seen[row.id] = number
        rows.append(row)
    return rows


def _from_lines(path: Path, table: str) -> Iterator[tuple[int, Raw]]:
    """Each record with its line number; empty lines are passed over."""
    with path.open(encoding="utf-8-sig") as lines:
        try:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield number, _record(line, table, number)
        except UnicodeDecodeError as e:
            raise InputError(f"{path} is not UTF-8 ({e.reason} at byte {e.start}); write it as UTF-8.") from e


def _record(line: str, table: str, number: int) -> Raw:
    try:
        value = json.loads(line)
    except ValueError as e:
        raise InputError(f"{table}, row {number}: no JSON ({e}); each line must hold one object.") from e
    if not isinstance(value, dict):
        raise InputError(f"{table}, row {number}: {type(value).__name__} is no object; each line must hold one.")
    try:
        canonical(value)
    except UnicodeEncodeError as e:
        raise InputError(f"{table}, row {number}: it holds no valid Unicode ({e.reason}); write the table anew.") from e
    return value


def _from_parquet(path: Path, table: str) -> Iterator[tuple[int, Raw]]:
    """Each record with its number from 1, read in batches."""
    parquet = parquet_module()
    try:
        number = 0
        for batch in parquet.ParquetFile(path).iter_batches(batch_size=1_000):
            for record in batch.to_pylist():
                number += 1
                yield number, record
    except (OSError, ValueError) as e:  # what pyarrow raises is one of these
        raise InputError(f"{path} is no readable Parquet file ({e}); write the table {table} again.") from e


def parquet_module() -> Any:
    """pyarrow's module for Parquet. Raises InputError, naming the extra, where pyarrow is not installed."""
    try:
        import pyarrow.parquet as parquet
    except ImportError as e:
        raise InputError(
            "Parquet needs pyarrow, which is not installed: pip install 'sensegraph[parquet]', or use .jsonl tables."
        ) from e
    return parquet


# ── rows ──


def _document(c: Cells, number: int) -> DocumentRow:
    return DocumentRow(
        c.record, c.text("id"), number, c.text("title", default=""), c.text("text", "raw_content"),
        c.texts("text_unit_ids", "text_units"), c.text("creation_date", default=""), _metadata(c.record),
    )  # fmt: skip


def _metadata(record: Raw) -> tuple[tuple[str, Scalar], ...]:
    """The fields of a document; a table of Parquet may hold them as JSON."""
    found = record.get("raw_data") or record.get("metadata") or record.get("attributes")
    if isinstance(found, str) and found.startswith("{"):
        try:
            found = json.loads(found)
        except ValueError:
            return ()
    return scalars(found) if isinstance(found, dict) else ()


def _unit(c: Cells, number: int) -> UnitRow:
    single = c.text("document_id", default="")
    return UnitRow(
        c.record, c.text("id"), number, c.text("text", "chunk"), (single,) if single else c.texts("document_ids")
    )


def _entity(c: Cells, number: int) -> EntityRow:
    if not (name := c.text("title", "name")).strip():
        raise c.error("title", "an entity needs a name")
    return EntityRow(
        c.record, c.text("id"), number, name, c.text("type", default=""), c.text("description", default=""),
        c.texts("text_unit_ids"), max(0, c.integer("frequency", "node_frequency", default=0)),
    )  # fmt: skip


def _relation(c: Cells, number: int) -> RelationRow:
    return RelationRow(
        c.record, c.text("id", default=f"relationship {number}"), number, c.text("source"), c.text("target"),
        c.text("description", default=""), c.number("weight", default=1.0), c.texts("text_unit_ids"),
    )  # fmt: skip


def _community(c: Cells, number: int) -> CommunityRow:
    community = c.integer("community", "id", default=number) if not c.has("community") else c.integer("community")
    return CommunityRow(
        c.record, c.text("id", default=str(community)), number, community, c.integer("level"),
        c.integer("parent", default=-1) if "parent" in c.record else None, c.text("title", default=""),
        c.texts("entity_ids"), c.texts("relationship_ids"),
    )  # fmt: skip


def _report(c: Cells, number: int) -> ReportRow:
    community = c.integer("community")
    return ReportRow(
        c.record, c.text("id", default=str(community)), number, community, c.text("title"),
        c.text("summary", default=""), c.findings(), c.number("rank", "rating", default=0.0),
        c.text("rating_explanation", "rank_explanation", default=""),
    )  # fmt: skip


def _claim(c: Cells, number: int) -> ClaimRow:
    return ClaimRow(
        c.record, c.text("id", default=f"covariate {number}"), number, c.text("subject_id", default=""),
        c.text("object_id", default=""), c.text("type", default=""), c.text("status", default=""),
        c.text("description", default=""), c.text("start_date", default=""), c.text("end_date", default=""),
        c.text("source_text", default=""), c.text("text_unit_id", default=""),
    )  # fmt: skip


__all__ = ["parquet_module", "read_tables"]
