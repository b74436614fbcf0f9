"""From a folder to tables: `.jsonl` or `.parquet`, as releases 1.x to 3.x of the reference implementation name them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sensegraph.documents.metadata import flatten_fields
from sensegraph.errors import InputError
from sensegraph.graphs.interchange.cells import Cells
from sensegraph.graphs.interchange.parquet import read_parquet
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
from sensegraph.runtime.keys import encode_canonical
from sensegraph.types import Scalar

TableRow = DocumentRow | UnitRow | EntityRow | RelationRow | CommunityRow | ReportRow | ClaimRow

_NEEDED = ("entities", "relationships")


def read_tables(folder: str | Path) -> Tables:
    """The tables in `folder`. Entities and relationships must be there, the other five may be missing.

    Raises InputError for a folder without them, and for a row that cannot be read, naming table, row and column.
    """
    place = Path(folder)
    if not place.is_dir():
        raise InputError(f"{place} is no folder; name the folder that holds {_join_names(_NEEDED)}.")
    files = dict[str, Path]()
    for name in COLUMNS:
        stems = (name, f"create_final_{name}")  # release 1.x calls it so
        found = [p for stem in stems for end in (".jsonl", ".parquet") if (p := place / f"{stem}{end}").is_file()]
        if len(found) > 1:
            raise InputError(f"{place} holds the table {name} twice: {found[0].name} and {found[1].name}; keep one.")
        if found:
            files[name] = found[0]
    if missing := [name for name in _NEEDED if name not in files]:
        raise InputError(
            f"{place} holds no table {_join_names(missing)}: looked for {missing[0]}.jsonl and {missing[0]}.parquet; "
            "the reference implementation writes them to its folder output."
        )
    rows: dict[str, list[Any]] = {name: _read_rows(files[name], name) if name in files else [] for name in COLUMNS}
    return Tables(folder=str(place), **rows)


# ── files ──


def _join_names(names: Sequence[str]) -> str:
    return " and ".join(names)


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


def _read_lines(path: Path, table: str) -> Iterator[tuple[int, Raw]]:
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


def _make_row(c: Cells, number: int) -> TableRow:
    """A row of its table with the columns that mean something here, each under its name in any release."""
    record = c.record
    match c.table:
        case "documents":
            return DocumentRow(
                record, c.text("id"), number, c.text("title", default=""), c.text("text", "raw_content"),
                c.texts("text_unit_ids", "text_units"), c.text("creation_date", default=""), _read_metadata(record),
            )  # fmt: skip
        case "text_units":
            single = c.text("document_id", default="")
            documents = (single,) if single else c.texts("document_ids")
            return UnitRow(record, c.text("id"), number, c.text("text", "chunk"), documents)
        case "entities":
            if not (name := c.text("title", "name")).strip():
                raise c.error("title", "an entity needs a name")
            return EntityRow(
                record, c.text("id"), number, name, c.text("type", default=""), c.text("description", default=""),
                c.texts("text_unit_ids"), max(0, c.integer("frequency", "node_frequency", default=0)),
            )  # fmt: skip
        case "relationships":
            return RelationRow(
                record, c.text("id", default=f"relationship {number}"), number, c.text("source"), c.text("target"),
                c.text("description", default=""), c.number("weight", default=1.0), c.texts("text_unit_ids"),
            )  # fmt: skip
        case "communities":
            community = c.integer("community") if c.has("community") else c.integer("community", "id", default=number)
            return CommunityRow(
                record, c.text("id", default=str(community)), number, community, c.integer("level"),
                c.integer("parent", default=-1) if "parent" in record else None, c.text("title", default=""),
                c.texts("entity_ids"), c.texts("relationship_ids"),
            )  # fmt: skip
        case "community_reports":
            community = c.integer("community")
            return ReportRow(
                record, c.text("id", default=str(community)), number, community, c.text("title"),
                c.text("summary", default=""), c.findings(), c.number("rank", "rating", default=0.0),
                c.text("rating_explanation", "rank_explanation", default=""),
            )  # fmt: skip
        case _:
            return ClaimRow(
                record, c.text("id", default=f"covariate {number}"), number, c.text("subject_id", default=""),
                c.text("object_id", default=""), c.text("type", default=""), c.text("status", default=""),
                c.text("description", default=""), c.text("start_date", default=""), c.text("end_date", default=""),
                c.text("source_text", default=""), c.text("text_unit_id", default=""),
            )  # fmt: skip


def _read_metadata(record: Raw) -> tuple[tuple[str, Scalar], ...]:
    """The fields of a document; a table of Parquet may hold them as JSON."""
    found = record.get("raw_data") or record.get("metadata") or record.get("attributes")
    if isinstance(found, str) and found.startswith("{"):
        try:
            found = json.loads(found)
        except ValueError:
            return ()
    return flatten_fields(found) if isinstance(found, dict) else ()


__all__ = ["read_tables"]
