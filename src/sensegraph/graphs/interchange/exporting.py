"""From an index to the seven tables, with all columns of release 3.x: the second pass of an export."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal

from sensegraph.errors import InputError
from sensegraph.graphs.interchange.extras import Extras, Row, merge_row
from sensegraph.graphs.interchange.listing import Listing, PairFile
from sensegraph.graphs.interchange.table_files import write_rows
from sensegraph.graphs.interchange.tables import COLUMNS, Number, write_marks
from sensegraph.index.index import Index
from sensegraph.protocols import Store
from sensegraph.types import Claim, Cluster, Entity, Relation

Values = tuple[Any, ...]

_NONE = "NONE"  # how the tables say that a claim has no object, no date
_CITED = ("entities", "relationships", "covariates", "communities")


class Deriver:
    """Makes the rows of every table, in blocks of ids."""

    def __init__(self, listing: Listing) -> None:
        self.listing, self.index, self.pairs = listing, listing.index, listing.pairs

    def derived(self, table: str, ids: Sequence[str]) -> dict[str, Row]:
        """The rows of these records of a table, as they follow from the index alone."""
        records = self.listing.find(table, ids)
        numbers = self.listing.numbers(table, list(records))
        make = getattr(self, f"_{table}")
        made: dict[str, Values] = make([records[i] for i in ids if i in records], numbers)
        return {name: dict(zip(COLUMNS[table], values, strict=True)) for name, values in made.items()}

    def rows(self, table: str) -> Iterator[Row]:
        """All rows of a table in order, with what an import kept beside."""
        for ids in self.listing.ordered(table):
            derived, extras = self.derived(table, ids), self.listing.beside.find(table, ids)
            for name in ids:
                if name in derived:
                    yield merge_row(derived[name], extras.get(name), derive_late_columns)
                elif (whole := extras[name].whole) is not None:
                    yield whole

    # ── tables: by record the values of the columns, in their order ──

    def _documents(self, records: Sequence[Any], numbers: dict[str, int]) -> dict[str, Values]:
        ids = [d.id for d in records]
        names = self.listing.name("documents", ids)
        units = self.listing.names("text_units", self.pairs.find("document units", ids).items())
        found = dict[str, Values]()
        for d in records:
            text, metadata = self.index.document(d.id).text, dict(d.metadata) or None
            found[d.id] = (
                names[d.id], numbers[d.id], d.title or d.id, text, units.get(d.id, []), d.time or None, metadata,
            )  # fmt: skip
        return found

    def _text_units(self, records: Sequence[Any], numbers: dict[str, int]) -> dict[str, Values]:
        ids = [c.id for c in records]
        chunks, names = self.index.chunks(ids), self.listing.name("text_units", ids)
        documents = self.listing.name("documents", [c.document for c in records])
        linked = [
            self.listing.names(t, self.pairs.find(f"unit {t}", ids).items())
            for t in ("entities", "relationships", "covariates")
        ]
        found = dict[str, Values]()
        for name in ids:
            chunk, ids_of = chunks[name], [lists.get(name, []) for lists in linked]
            found[name] = (names[name], numbers[name], chunk.text, chunk.tokens, documents[chunk.document], *ids_of)
        return found

    def _entities(self, records: Sequence[Entity], numbers: dict[str, int]) -> dict[str, Values]:
        units = self.listing.names("text_units", ((e.id, e.chunks) for e in records))
        return {
            e.id: (e.id, numbers[e.id], e.name, e.type.upper(), e.description, units[e.id], e.frequency, e.degree)
            for e in records
        }

    def _relationships(self, records: Sequence[Relation], numbers: dict[str, int]) -> dict[str, Values]:
        ends = self.listing.find("entities", [e for r in records for e in (r.source, r.target)])
        units = self.listing.names("text_units", ((r.id, r.chunks) for r in records))
        found = dict[str, Values]()
        for r in records:
            a, b = ends[r.source], ends[r.target]
            told = (a.name, b.name, r.description, r.weight, a.degree + b.degree, units[r.id])
            found[r.id] = (r.id, numbers[r.id], *told)
        return found

    def _communities(self, records: Sequence[Cluster], numbers: dict[str, int]) -> dict[str, Values]:
        ids, places = [c.id for c in records], self._places(records)
        members = self.listing.names("entities", ((c.id, c.entities) for c in records))
        relations = self.listing.names("relationships", self.pairs.find("community relationships", ids).items())
        inner = ((c, list(dict.fromkeys(units))) for c, units in self.pairs.find("community units", ids).items())
        units = self.listing.names("text_units", inner)
        return {
            c: (
                c, *places[c], f"Community {numbers[c]}", members[c], sorted(relations.get(c, [])),
                sorted(units.get(c, [])), "", len(members[c]),
            )
            for c in ids
        }  # fmt: skip

    def _community_reports(self, records: Sequence[Cluster], numbers: dict[str, int]) -> dict[str, Values]:
        cited, places = self._cited(records), self._places(records)
        members = self.listing.names("entities", ((c.id, c.entities) for c in records))
        found = dict[str, Values]()
        for c in records:
            findings = [{"explanation": write_marks(f.statements, cited), "summary": f.summary} for f in c.findings]
            said = (c.title, write_marks(c.summary, cited), "", c.rating, c.rating_explanation, findings, "", "")
            found[c.id] = (c.id, *places[c.id], *said, len(members[c.id]))
        return found

    def _covariates(self, records: Sequence[Claim], numbers: dict[str, int]) -> dict[str, Values]:
        subjects = self.listing.find("entities", [c.subject for c in records])
        ids = list(dict.fromkeys(c.source.chunk for c in records))
        chunks, names = self.index.chunks(ids), self.listing.name("text_units", ids)
        found = dict[str, Values]()
        for c in records:
            text, start, end = chunks[c.source.chunk].text, c.source.start, c.source.end
            # on one line; nothing where the span is not known, which is then the whole chunk
            quote = "" if (start, end) == (0, len(text)) else " ".join(text[start:end].split())
            found[c.id] = (
                c.id, numbers[c.id], "claim", c.type, c.description, subjects[c.subject].name, c.object or _NONE,
                c.status, c.starts or _NONE, c.ends or _NONE, quote, names[c.source.chunk],
            )  # fmt: skip
        return found

    # ── parts ──

    def _places(self, records: Sequence[Cluster]) -> dict[str, Values]:
        """Where each community stands: its number twice, level, parent, children, as its report has them too."""
        children = {c.id: c.members if c.level else () for c in records}
        around = [name for c in records for name in (c.id, c.parent, *children[c.id])]
        number = self.listing.numbers("communities", around)
        found = dict[str, Values]()
        for c in records:
            below = [number[child] for child in children[c.id] if child in number]
            found[c.id] = (number[c.id], number[c.id], c.depth, number.get(c.parent, -1), below)
        return found

    def _cited(self, clusters: Sequence[Cluster]) -> dict[str, Number]:
        """The numbers of all records that the reports of these clusters refer to."""
        said = (s for c in clusters for s in (*c.summary, *(s for f in c.findings for s in f.statements)))
        names = list(dict.fromkeys(name for s in said for name in s.references))
        return {name: (t, n) for t in _CITED for name, n in self.listing.numbers(t, names).items()}


def derive_late_columns(row: Row) -> Row:
    """The columns of a report that are made of its others."""
    if "full_content" not in row:
        return {}
    parts = [f"# {row['title']}", row["summary"] or ""]
    parts += [f"## {f['summary']}\n\n{f['explanation']}" for f in row["findings"] or () if isinstance(f, dict)]
    said = {name: row[name] for name in ("title", "summary", "rating_explanation", "findings")}
    return {
        "full_content": "\n\n".join(parts),
        "full_content_json": json.dumps({**said, "rating": row["rank"]}, ensure_ascii=False, indent=4),
    }


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
    counts, notes = dict[str, int](), list[str]()
    files = {table: place / f"{table}.{form}" for table in COLUMNS}
    with PairFile() as pairs:
        deriver = Deriver(Listing(index, Extras(store, index.manifest.chunks), pairs))
        for table, path in files.items():
            if form == "parquet":
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
    return Exported(tuple(files.values()), counts, tuple(notes))


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
