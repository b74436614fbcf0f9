"""Which records stand in which table, in which order, under which number: the first pass of an export.

Pairs are put aside on disk, so that an index of a million entities needs no memory for them.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice
from types import TracebackType
from typing import Any, TypeVar

from sensegraph.errors import NotIndexed
from sensegraph.graphs.interchange.extras import Extras
from sensegraph.graphs.interchange.tables import COLUMNS
from sensegraph.index.index import Index
from sensegraph.runtime.results import Table
from sensegraph.types import Graph, Hierarchy

T = TypeVar("T")

BLOCK = 500  # records that are looked up at once


class PairFile:
    """Lists of texts under (topic, name), in the order in which they were put. Gone when it is closed."""

    def __init__(self) -> None:
        self._db = sqlite3.connect("", isolation_level=None)  # a nameless database is a file that nobody else sees
        for pragma in ("synchronous = OFF", "journal_mode = OFF", "cache_size = -16384"):  # nothing is to be recovered
            self._db.execute(f"PRAGMA {pragma}")
        self._db.execute("CREATE TABLE pair (topic TEXT, name TEXT, place INTEGER PRIMARY KEY, value TEXT)")
        self._db.execute("CREATE INDEX by_name ON pair (topic, name)")
        self._db.execute("CREATE INDEX by_place ON pair (topic, place)")

    def put(self, topic: str, pairs: Iterable[tuple[str, str]]) -> None:
        """Put each (name, value) under `topic`."""
        for block in split_blocks(pairs):
            self._db.execute("BEGIN")
            rows = ((topic, name, value) for name, value in block)
            self._db.executemany("INSERT INTO pair (topic, name, value) VALUES (?, ?, ?)", rows)
            self._db.execute("COMMIT")

    def find(self, topic: str, names: Sequence[str]) -> dict[str, list[str]]:
        """The values under each of these names; a name without any has an empty list."""
        found: dict[str, list[str]] = defaultdict(list)
        for block in split_blocks(dict.fromkeys(names)):
            marks = ",".join("?" * len(block))
            query = f"""SELECT name, value FROM pair INDEXED BY by_name
                WHERE topic = ? AND name IN ({marks}) ORDER BY place"""  # the other index would read the whole topic
            for name, value in self._db.execute(query, (topic, *block)):
                found[name].append(value)
        return found

    def first(self, topic: str, names: Sequence[str]) -> dict[str, str]:
        """The first value under each of these names; a name without any is absent."""
        return {name: values[0] for name, values in self.find(topic, names).items() if values}

    def scan(self, topic: str) -> Iterator[tuple[str, str]]:
        """All (name, value) of a topic in order."""
        query = """SELECT place, name, value FROM pair INDEXED BY by_place
            WHERE topic = ? AND place > ? ORDER BY place LIMIT ?"""
        last = 0
        while rows := self._db.execute(query, (topic, last, BLOCK)).fetchall():
            last = rows[-1][0]
            yield from ((name, value) for _, name, value in rows)

    def __enter__(self) -> PairFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._db.close()


def split_blocks(items: Iterable[T], size: int = BLOCK) -> Iterator[list[T]]:
    """`items` in lists of `size`, the last one shorter."""
    rest = iter(items)
    while block := list(islice(rest, size)):
        yield block


_WHOLE = "whole"


class Listing:
    """Records by table, and on a pairs their order, numbers and names, and what leads from one table to another."""

    def __init__(self, index: Index, beside: Extras, pairs: PairFile) -> None:
        self.index, self.beside, self.pairs = index, beside, pairs
        graph, hierarchy = Graph(), hierarchy_or_empty(index)
        with suppress(NotIndexed):
            graph = index.graph
        self.records: dict[str, Sequence[Any]] = {
            "documents": index.catalogue.documents,
            "text_units": index.catalogue.chunks,
            "entities": graph.entities,
            "relationships": graph.relations,
            "communities": hierarchy.clusters,
            "community_reports": hierarchy.clusters,
            "covariates": graph.claims,
        }
        for table in COLUMNS:
            self._number(table)
        self._join()

    def find(self, table: str, ids: Sequence[str]) -> dict[str, Any]:
        """The records of a table with these ids."""
        return find_records(self.records[table], ids)

    def ordered(self, table: str) -> Iterator[list[str]]:
        """The ids of a table in order, in blocks; those of rows that are no records are among them."""
        return split_blocks(name for name, _ in self.pairs.scan(f"order {table}"))

    def numbers(self, table: str, ids: Sequence[str]) -> dict[str, int]:
        """The number of each of these records that stands in the table."""
        found = self.pairs.first(f"order {table}", ids)
        return {name: int(n) for name, n in found.items() if n != _WHOLE}

    def names(self, table: str, lists: Iterable[tuple[str, Sequence[str]]]) -> dict[str, list[str]]:
        """Under each key the ids that the table has for its records, without those that stand in no table."""
        named: dict[str, list[str]] = {}
        for some in split_blocks(lists):
            ids = [i for _, listed in some for i in listed]
            known, other = self.pairs.first(f"order {table}", ids), self.pairs.first(f"name {table}", ids)
            named |= {key: [other.get(i, i) for i in listed if known.get(i, _WHOLE) != _WHOLE] for key, listed in some}
        return named

    def name(self, table: str, records: Sequence[str]) -> dict[str, str]:
        """The id that the table has for each record; its own where it stands in no table."""
        other = self.pairs.first(f"name {table}", records)
        return {record: other.get(record, record) for record in records}

    # ── order and numbers ──

    def _number(self, table: str) -> None:
        """Rows of the import first, in their order and under their numbers, then all others."""
        records = self.records[table]
        ids = records.ids() if isinstance(records, Table) else [r.id for r in records]
        self.pairs.put(f"is {table}", ((name, "") for name in ids))
        last = -1
        for block in split_blocks(self.beside.scan(table)):
            have = self.pairs.find(f"is {table}", [e.id for e in block])
            kept = [e for e in block if (e.whole is not None or e.id in have) and not e.made]
            self.pairs.put(f"order {table}", ((e.id, _WHOLE if e.whole is not None else str(e.number)) for e in kept))
            self.pairs.put(f"name {table}", ((e.id, e.name) for e in kept if e.name))
            last = max([last, *(e.number for e in kept)])
        for names in split_blocks(ids):
            beside = self.beside.find(table, names)
            new = [name for name in names if name not in beside]
            self.pairs.put(f"order {table}", ((name, str(last + 1 + i)) for i, name in enumerate(new)))
            last += len(new)

    # ── from one table to another ──

    def _join(self) -> None:
        self._put("document units", "text_units", lambda c: [(c.document, c.id)])
        self._put("unit entities", "entities", lambda e: [(c, e.id) for c in e.chunks])
        self._put("unit relationships", "relationships", lambda r: [(c, r.id) for c in r.chunks])
        self._put("unit covariates", "covariates", lambda c: [(c.source.chunk, c.id)])
        self._put("homes", "communities", lambda c: [(e, c.id) for e in c.entities])
        for ids in self.ordered("relationships"):
            relations = list(self.find("relationships", ids).values())
            homes = self.pairs.find("homes", [e for r in relations for e in (r.source, r.target)])
            inner = [(c, r) for r in relations for c in homes[r.source] if c in homes[r.target]]
            self.pairs.put("community relationships", ((c, r.id) for c, r in inner))
            self.pairs.put("community units", ((c, unit) for c, r in inner for unit in r.chunks))

    def _put(self, topic: str, table: str, pairs: Callable[[Any], Iterable[tuple[str, str]]]) -> None:
        """Put what each record of a table leads to, in the order of its rows."""
        for ids in self.ordered(table):
            records = self.find(table, ids)
            self.pairs.put(topic, chain.from_iterable(pairs(records[i]) for i in ids if i in records))


def hierarchy_or_empty(index: Index) -> Hierarchy:
    """The hierarchy of an index, empty where it was built without."""
    try:
        return index.hierarchy
    except NotIndexed:
        return Hierarchy()


def find_records(records: Sequence[Any], ids: Sequence[str]) -> dict[str, Any]:
    """Records by id; in memory only where there are none to speak of."""
    if isinstance(records, Table):
        return records.find(ids)
    wanted = set(ids)
    return {r.id: r for r in records if r.id in wanted}
