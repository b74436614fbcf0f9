"""Tables in the embedded store: records in sealed blocks by position, and sealed lists that lead from ids to positions.

A record is found by its id through the list that covers the id; each list says where the next begins, so that a record
is either found or known not to exist.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_right
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from sensegraph.runtime.stores.sealing import Damaged, seal, unseal

if TYPE_CHECKING:
    from sensegraph.runtime.stores.sqlite import SqliteStore

_ROWS = 16  # records in a block
_IDS = 256  # ids in a list
_KEPT = 128  # blocks, and lists, that a reader keeps decoded
_WIDE = 1 << 31  # more than a table has records: what stands between the numbers of two tables
Block = list[tuple[str, bytes]]
List = tuple[str, str, list[tuple[str, int]]]  # its first id, that of the next list (empty: none), ids with positions
T = TypeVar("T")
_encode = msgspec.msgpack.Encoder().encode
_read_block = msgspec.msgpack.Decoder(Block).decode
_read_list = msgspec.msgpack.Decoder(List).decode

TABLES = (
    "CREATE TABLE IF NOT EXISTS part (number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, head BLOB NOT NULL)",
    "CREATE TABLE IF NOT EXISTS block (place INTEGER PRIMARY KEY, value BLOB NOT NULL)",
    "CREATE TABLE IF NOT EXISTS list (number INTEGER NOT NULL, first TEXT NOT NULL, value BLOB NOT NULL, "
    "UNIQUE (number, first))",
)


def write_table(db: sqlite3.Connection, key: str, rows: Iterable[tuple[str, bytes]]) -> None:
    """Write a table of (id, record) in this order, inside a transaction; nothing happens when it is there already."""
    if db.execute("SELECT 1 FROM part WHERE key = ?", (key,)).fetchone():
        return
    number = db.execute("INSERT INTO part (key, head) VALUES (?, '')", (key,)).lastrowid
    assert number is not None
    places: dict[str, int] = {}

    def cut_blocks() -> Iterator[tuple[int, bytes]]:
        rest = enumerate(rows)
        while taken := list(islice(rest, _ROWS)):
            first = taken[0][0]
            places.update((name, place) for place, (name, _) in taken)
            block = [(name, bytes(record)) for _, (name, record) in taken]
            yield number * _WIDE + first, seal(f"{key} {first}", _encode(block))

    db.executemany("INSERT INTO block VALUES (?, ?)", cut_blocks())
    listed = sorted(places.items())
    head = f"{len(listed)} {listed[0][0] if listed else ''}"
    db.execute("UPDATE part SET head = ? WHERE number = ?", (seal(f"{key} head", head.encode()), number))
    firsts = [*(name for name, _ in listed[::_IDS]), ""]
    for i, (first, after) in enumerate(pairwise(firsts)):
        value = _encode((first, after, listed[i * _IDS : (i + 1) * _IDS]))
        db.execute("INSERT INTO list VALUES (?, ?, ?)", (number, first, seal(f"{key} from {first}", value)))


def delete_tables(db: sqlite3.Connection, numbers: Iterable[int]) -> None:
    """Delete the records of the tables with these numbers, inside a transaction."""
    for number in numbers:
        db.execute("DELETE FROM block WHERE place >= ? AND place < ?", (number * _WIDE, (number + 1) * _WIDE))
        db.execute("DELETE FROM list WHERE number = ?", (number,))


def delete_orphans(db: sqlite3.Connection) -> None:
    """Delete what is left of tables that are gone, inside a transaction, before another gets their numbers."""
    db.execute(f"DELETE FROM block WHERE place / {_WIDE} NOT IN (SELECT number FROM part WHERE number IS NOT NULL)")
    db.execute("DELETE FROM list WHERE number NOT IN (SELECT number FROM part WHERE number IS NOT NULL)")


def size_tables(store: SqliteStore) -> dict[int, int]:
    """The bytes of every table by its number."""
    query = f"SELECT place / {_WIDE}, sum(length(value)) FROM block GROUP BY place / {_WIDE}"
    found = Counter(dict(store.select(query)))
    found.update(dict(store.select("SELECT number, sum(length(value)) FROM list GROUP BY number")))
    return dict(found)


def read_head(key: str, head: bytes) -> tuple[int, str]:
    """How many records a table has, and the first of their ids. Raises Damaged."""
    length, _, first = unseal(f"{key} head", head).decode().partition(" ")
    return int(length), first


def check_table(store: SqliteStore, key: str, number: int, head: bytes) -> None:
    """Read a whole table. Raises Damaged, ValueError or MsgspecError for one that is not as it was written."""
    length, first = read_head(key, head)
    names: list[str] = []
    query = "SELECT place, value FROM block WHERE place >= ? AND place < ? ORDER BY place"
    for place, value in store.select(query, (number * _WIDE, (number + 1) * _WIDE)):
        if place != number * _WIDE + len(names):
            raise Damaged(key)
        names += (name for name, _ in _read_block(unseal(f"{key} {len(names)}", value)))
    found: dict[str, int] = {}
    after = first
    for begins, value in store.select("SELECT first, value FROM list WHERE number = ? ORDER BY first", (number,)):
        if begins != after:
            raise Damaged(key)
        _, after, listed = _read_list(unseal(f"{key} from {begins}", value))
        found.update(listed)
    if len(names) != length or after or found != {name: place for place, name in enumerate(names)}:
        raise Damaged(key)


class SqliteRows:
    """A table in the store, read by position or by id without loading it."""

    def __init__(self, store: SqliteStore, key: str, number: int, head: tuple[int, str]) -> None:
        self._store, self._key, self._number, (self._length, self._first) = store, key, number, head
        self._blocks: OrderedDict[int, Block] = OrderedDict()
        self._lists: OrderedDict[str, tuple[str, dict[str, int]]] = OrderedDict()

    def __len__(self) -> int:
        return self._length

    def at(self, positions: Sequence[int]) -> list[bytes]:
        """The records at these positions, in the order asked for."""
        wanted = sorted({p - p % _ROWS for p in positions})
        found: dict[int, Block] = {}
        for start in range(0, len(wanted), _KEPT):
            found |= self._read_blocks(wanted[start : start + _KEPT])
        with self._store.checking(self._key, self._number):
            return [found[p - p % _ROWS][p % _ROWS][1] for p in positions]

    def find(self, ids: Sequence[str]) -> dict[str, bytes]:
        """The records with these ids; one that does not exist is absent."""
        covering: dict[str, list[str]] = {}
        with self._store.checking(self._key, self._number):
            firsts = self._firsts
            if firsts[:1] != [self._first]:
                raise Damaged(self._key)
            for name in ids:
                if self._length and name >= self._first:
                    covering.setdefault(firsts[bisect_right(firsts, name) - 1], []).append(name)
            lists = self._read_lists(list(covering))
            places: dict[str, int] = {}
            for first, names in covering.items():
                after, places_of = lists[first]
                if after and max(names) >= after:
                    raise Damaged(self._key)
                places |= {name: places_of[name] for name in names if name in places_of}
        wanted = sorted(places)
        return dict(zip(wanted, self.at([places[name] for name in wanted]), strict=True))

    def scan(self) -> Iterator[bytes]:
        """All records in order, read in blocks."""
        for start in range(0, self._length, _ROWS * _KEPT):
            wanted = range(start, min(start + _ROWS * _KEPT, self._length), _ROWS)
            found = self._read_blocks(wanted, keep=False)
            for first in wanted:
                yield from (record for _, record in found[first])

    def ids(self) -> Iterator[str]:
        """All ids in order."""
        query = "SELECT first, value FROM list WHERE number = ? ORDER BY first"
        names: list[str] = [""] * self._length
        with self._store.checking(self._key, self._number):
            for first, value in self._store.select(query, (self._number,)):
                for name, place in _read_list(unseal(f"{self._key} from {first}", value))[2]:
                    names[place] = name
            if not all(names):
                raise Damaged(self._key)
        yield from names

    def _read_blocks(self, firsts: Sequence[int], *, keep: bool = True) -> dict[int, Block]:
        """The blocks that begin at these positions."""
        found = {first: self._blocks[first] for first in firsts if first in self._blocks}
        if missing := [first for first in firsts if first not in found]:
            marks = ",".join("?" * len(missing))
            query = f"SELECT place, value FROM block WHERE place IN ({marks})"
            base = self._number * _WIDE
            stored = dict(self._store.select(query, [base + first for first in missing]))
            with self._store.checking(self._key, self._number):
                for first in missing:
                    if base + first not in stored:
                        raise Damaged(self._key)
                    block = _read_block(unseal(f"{self._key} {first}", stored[base + first]))
                    if len(block) != min(_ROWS, self._length - first):
                        raise Damaged(self._key)
                    found[first] = block
            if keep:
                keep_some(self._blocks, {first: found[first] for first in missing})
        return found

    @cached_property
    def _firsts(self) -> list[str]:
        """The first id of each list, ascending."""
        query = "SELECT first FROM list WHERE number = ? ORDER BY first"
        return [first for (first,) in self._store.select(query, (self._number,))] or [""]

    def _read_lists(self, firsts: Sequence[str]) -> dict[str, tuple[str, dict[str, int]]]:
        """Of the lists that begin so where the next begins, and their positions by id."""
        found = {first: self._lists[first] for first in firsts if first in self._lists}
        missing = [first for first in firsts if first not in found]
        for start in range(0, len(missing), _KEPT):
            block = missing[start : start + _KEPT]
            query = f"SELECT first, value FROM list WHERE number = ? AND first IN ({','.join('?' * len(block))})"
            for first, value in self._store.select(query, (self._number, *block)):
                _, after, listed = _read_list(unseal(f"{self._key} from {first}", value))
                found[first] = (after, dict(listed))
        keep_some(self._lists, {first: found[first] for first in missing})
        return found


def keep_some(kept: OrderedDict[Any, T], new: dict[Any, T]) -> None:
    """Add to what is kept; of more than `_KEPT` the oldest go."""
    kept.update(new)
    while len(kept) > _KEPT:
        kept.popitem(last=False)
