"""An index to files: the seven tables, or a property graph in one of four formats (N59)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal

from sensegraph.errors import InputError
from sensegraph.graphs.interchange.exporting.derived_rows import Deriver
from sensegraph.graphs.interchange.exporting.listing import Listing
from sensegraph.graphs.interchange.extras import Extras
from sensegraph.graphs.interchange.pair_file import PairFile
from sensegraph.graphs.interchange.tables import COLUMNS
from sensegraph.index.index import Index
from sensegraph.protocols import Store

TableForm = Literal["jsonl", "parquet"]


@dataclass(frozen=True, slots=True)
class Exported:
    """The files that were written, how many records each kind has, and what could not be written as it is."""

    files: tuple[Path, ...]
    counts: Mapping[str, int]
    notes: tuple[str, ...] = field(default=())


def export_tables(
    index: Index, store: Store, folder: str | Path, form: TableForm = "jsonl", *, force: bool = False
) -> Exported:
    """Write `index` as the seven tables, with all columns of release 3.x, one file each.

    `store` holds the index: what an import kept beside it is given back, where what we would write is what it was then.
    Rows are written as they are made. Raises InputError for a folder that is not empty, unless `force` is given.
    """
    place = prepare_folder(folder, force=force)
    counts: dict[str, int] = {}
    notes: list[str] = []
    files = []
    with PairFile() as pairs:
        deriver = Deriver(Listing(index, Extras(store, index.manifest.chunks), pairs))
        for table in COLUMNS:
            path = place / f"{table}.{form}"
            files.append(path)
            if form == "parquet":
                from sensegraph.graphs.interchange.parquet import write_rows

                with write_whole_file(path, "wb") as file:
                    counts[table], left = write_rows(file, table, deriver.rows(table))
                if left:
                    said = "columns that Parquet has no type for here were left out"
                    notes.append(f"{table}: {said}: {', '.join(left)}")
                continue
            counts[table] = 0
            with write_whole_file(path) as file:
                for row in deriver.rows(table):
                    file.write(json.dumps(row, ensure_ascii=False) + "\n")
                    counts[table] += 1
    return Exported(tuple(files), counts, tuple(notes))


def prepare_folder(folder: str | Path, *, force: bool) -> Path:
    """The folder, made where there is none. Raises InputError for one with something in it, unless forced."""
    place = Path(folder)
    if place.exists() and not place.is_dir():
        raise InputError(f"{place} is a file; name a folder to export to.")
    if place.is_dir() and any(place.iterdir()) and not force:
        raise InputError(f"{place} is not empty; export to another folder, or write over it with --force.")
    place.mkdir(parents=True, exist_ok=True)
    return place


@contextmanager
def write_whole_file(path: Path, mode: str = "w") -> Iterator[IO[Any]]:
    """A file to write that appears under its name only when all of it is written; else nothing of it stays."""
    unfinished = path.with_name(f"{path.name}.part")
    text = {} if "b" in mode else {"encoding": "utf-8", "newline": ""}
    try:
        with unfinished.open(mode, **text) as file:  # type: ignore[call-overload]
            yield file
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


__all__ = ["Exported", "TableForm", "export_tables", "prepare_folder", "write_whole_file"]
