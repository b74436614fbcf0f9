"""Pairs put aside on disk while tables are written, so that an index of a million entities needs no memory for them."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from types import TracebackType
from typing import TypeVar

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
