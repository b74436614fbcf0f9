"""Tables in a store: records in sealed blocks by position, and sealed lists that lead from ids to positions.

A record is found by its id through the list that covers the id; each list says where the next begins, so that a record
is either found or known not to exist. Where ids ascend with positions, lists hold the first id of each block alone.
"""

from __future__ import annotations

import re
import sqlite3
import typing
from bisect import bisect_right
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import msgspec

from sensegraph.errors import ResultGone
from sensegraph.runtime.stores.sealing import Damaged, seal, unseal

if TYPE_CHECKING:
    from sensegraph.runtime.stores.sqlite import SqliteStore

_ROWS = 80  # records in a block: larger ones leave less room in pages, and are shortened more
_ROWS_BEFORE = 16  # in those of tables whose head does not say it
_IDS = 256  # ids in a list
_KEPT = 64  # blocks, and lists, that a reader keeps decoded
_WIDEST = 127  # bytes of an id that is stored as a number: a block that begins with more holds ids as they are
_WIDE = 1 << 31  # more than a table has records: what stands between the numbers of two tables
Head = tuple[int, int, str]  # records of a table, those in a block, and the first of all ids
_Listed = tuple[str, list[str], list[int]]
List = tuple[str, str, list[tuple[str, int]]]  # its first id, that of the next list (empty: none), ids with positions
T = TypeVar("T")
_DIGITS = re.compile("[0-9a-f]+").fullmatch
_encode = msgspec.msgpack.Encoder().encode
_read_pairs = msgspec.msgpack.Decoder(list[tuple[str, bytes]]).decode
_read_cut = msgspec.msgpack.Decoder(tuple[bytes, list[tuple[int, bytes]]]).decode
_read_list = msgspec.msgpack.Decoder(List).decode

TABLES = (
    "CREATE TABLE IF NOT EXISTS part (number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, head BLOB NOT NULL)",
    "CREATE TABLE IF NOT EXISTS block (place INTEGER PRIMARY KEY, value BLOB NOT NULL)",
    "CREATE TABLE IF NOT EXISTS list (number INTEGER NOT NULL, first TEXT NOT NULL, value BLOB NOT NULL, "
    "UNIQUE (number, first))",
)


class Block:
    """Some records, as they are stored: without their own ids, which are hexadecimal digits mostly, and stand once.

    Such a block begins with the bytes of an id; then come all ids, and of each record where it holds its own, below 0
    for nowhere. One with other ids, and one of an earlier version, holds pairs of an id and a record.
    """

    def __init__(self, stored: bytes) -> None:
        width = stored[0] if stored else 0
        if width > _WIDEST:
            pairs = _read_pairs(stored)
            self.ids, self._records = [name for name, _ in pairs], [(-1, record) for _, record in pairs]
            self._length = 0
        else:
            ids, self._records = _read_cut(memoryview(stored)[1:])
            self._digits, self._length = ids.hex(), 2 * width
            if len(self._digits) != self._length * len(self._records):
                raise ValueError("a block with ids of other records")

    @cached_property
    def ids(self) -> list[str]:
        """The ids of all records in order."""
        return [self._digits[at : at + self._length] for at in range(0, len(self._digits), self._length)]

    def __len__(self) -> int:
        return len(self._records)

    def read(self, position: int) -> bytes:
        """The record at a position."""
        at, record = self._records[position]
        if at < 0:
            return record
        begin = position * self._length
        return record[:at] + self._digits[begin : begin + self._length].encode() + record[at:]

    def read_all(self) -> list[bytes]:
        """All records in order."""
        return [
            record if at < 0 else record[:at] + name.encode() + record[at:]
            for name, (at, record) in zip(self.ids, self._records, strict=False)
        ]

    @staticmethod
    def pack(pairs: Sequence[tuple[str, bytes]]) -> bytes:
        """Records with their ids as they are stored."""
        digits, length = "".join(name for name, _ in pairs), len(pairs[0][0])
        if length % 2 or length // 2 > _WIDEST or any(len(name) != length for name, _ in pairs) or not _DIGITS(digits):
            return _encode(pairs)
        places = [record.find(name.encode()) for name, record in pairs]
        cut = [
            (at, record if at < 0 else record[:at] + record[at + length :])
            for at, (_, record) in zip(places, pairs, strict=True)
        ]
        return bytes([length // 2]) + _encode((bytes.fromhex(digits), cut))


class TablePacker:
    """A table of (id, record) as it is stored: first all its `blocks`, then its `lists` and its `head`."""

    def __init__(self, key: str, rows: Iterable[tuple[str, bytes]]) -> None:
        self._key, self._rows = key, rows
        self._places: dict[str, int] = {}
        self._last, self._ascending = "", True

    def blocks(self) -> Iterator[tuple[int, bytes]]:
        """The position of the first record of each block, and the block."""
        rest = enumerate(self._rows)
        while taken := list(islice(rest, _ROWS)):
            first = taken[0][0]
            names = [self._last, *(name for _, (name, _) in taken)]
            self._ascending = self._ascending and all(a < b for a, b in pairwise(names))
            self._last = names[-1]
            self._places.update((name, place) for place, (name, _) in taken)
            block = [(name, bytes(record)) for _, (name, record) in taken]
            yield first, seal(f"{self._key} {first}", Block.pack(block))

    def lists(self) -> Iterator[tuple[str, bytes]]:
        """The first id of each list, and the list."""
        listed = sorted(self._places.items())[:: _ROWS if self._ascending else 1]
        firsts = [*(name for name, _ in listed[::_IDS]), ""]
        for i, (first, after) in enumerate(pairwise(firsts)):
            value = _encode((first, after, listed[i * _IDS : (i + 1) * _IDS]))
            yield first, seal(f"{self._key} from {first}", value)

    def head(self) -> bytes:
        """How many records there are, how many of them in a block, and the first of their ids."""
        return seal(f"{self._key} head", f"{len(self._places)}/{_ROWS} {min(self._places, default='')}".encode())


def write_table(db: sqlite3.Connection, key: str, rows: Iterable[tuple[str, bytes]]) -> None:
    """Write a table of (id, record) in this order, inside a transaction; nothing happens when it is there already."""
    if db.execute("SELECT 1 FROM part WHERE key = ?", (key,)).fetchone():
        return
    number = db.execute("INSERT INTO part (key, head) VALUES (?, '')", (key,)).lastrowid
    assert number is not None
    packed = TablePacker(key, rows)
    db.executemany("INSERT INTO block VALUES (?, ?)", ((number * _WIDE + at, value) for at, value in packed.blocks()))
    db.execute("UPDATE part SET head = ? WHERE number = ?", (packed.head(), number))
    db.executemany("INSERT INTO list VALUES (?, ?, ?)", ((number, first, value) for first, value in packed.lists()))


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


def read_head(key: str, head: bytes) -> Head:
    """What the head of a table says. Raises Damaged."""
    counts, _, first = unseal(f"{key} head", head).decode().partition(" ")
    length, _, rows = counts.partition("/")
    return int(length), int(rows or _ROWS_BEFORE), first


def check_table(store: SqliteStore, key: str, number: int, head: bytes) -> None:
    """Read a whole table. Raises Damaged, ValueError or MsgspecError for one that is not as it was written."""
    length, rows, first = read_head(key, head)
    names: list[str] = []
    query = "SELECT place, value FROM block WHERE place >= ? AND place < ? ORDER BY place"
    for place, value in store.select(query, (number * _WIDE, (number + 1) * _WIDE)):
        if place != number * _WIDE + len(names):
            raise Damaged(key)
        names += Block(unseal(f"{key} {len(names)}", value)).ids
    found: dict[str, int] = {}
    after = first
    for begins, value in store.select("SELECT first, value FROM list WHERE number = ? ORDER BY first", (number,)):
        if begins != after:
            raise Damaged(key)
        _, after, listed = _read_list(unseal(f"{key} from {begins}", value))
        found.update(listed)
    every = {name: place for place, name in enumerate(names)}
    firsts = {name: place for name, place in every.items() if not place % rows} if names == sorted(names) else every
    if len(names) != length or after or found not in (every, firsts):
        raise Damaged(key)


class TableSource(Protocol):
    """Where the blocks and lists of stored tables are read, by the number of the table."""

    def read_blocks(self, number: int, firsts: Sequence[int]) -> dict[int, bytes]:
        """The blocks that begin at these positions, as they are stored; one that does not exist is absent."""
        ...

    def read_lists(self, number: int, firsts: Sequence[str]) -> list[tuple[str, bytes]]:
        """The lists that begin with these ids, as they are stored; all, in order, where none is named."""
        ...

    def list_firsts(self, number: int) -> list[str]:
        """The first id of each list, ascending."""
        ...

    def rows(self, key: str) -> StoredRows | None:
        """The table under `key`, if it is there."""
        ...

    def checking(self, key: str, number: int | None = None) -> AbstractContextManager[None]:
        """Say that what is read under `key` is damaged, or gone since it was opened."""
        ...


class SqliteTables:
    """The blocks and lists of the tables of the embedded store."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store
        self.rows, self.checking = store.rows, store.checking

    def read_blocks(self, number: int, firsts: Sequence[int]) -> dict[int, bytes]:
        """The blocks that begin at these positions, as they are stored; one that does not exist is absent."""
        base, marks = number * _WIDE, ",".join("?" * len(firsts))
        query = f"SELECT place, value FROM block WHERE place IN ({marks})"
        return {place - base: value for place, value in self._store.select(query, [base + first for first in firsts])}

    def read_lists(self, number: int, firsts: Sequence[str]) -> list[tuple[str, bytes]]:
        """The lists that begin with these ids, as they are stored; all, in order, where none is named."""
        named = f"AND first IN ({','.join('?' * len(firsts))})" if firsts else ""
        query = f"SELECT first, value FROM list WHERE number = ? {named} ORDER BY first"
        return typing.cast(list[tuple[str, bytes]], self._store.select(query, (number, *firsts)))

    def list_firsts(self, number: int) -> list[str]:
        """The first id of each list, ascending."""
        query = "SELECT first FROM list WHERE number = ? ORDER BY first"
        return [first for (first,) in self._store.select(query, (number,))]


class _View:
    """A table as it lies under a number: what of it was read stays with it. `firsts` are the first ids of its lists."""

    def __init__(self, number: int) -> None:
        self.number, self.firsts = number, list[str]()
        self.blocks: OrderedDict[int, Block] = OrderedDict()
        self.lists: OrderedDict[str, _Listed] = OrderedDict()


class StoredRows:
    """A table in a store, read by position or by id without loading it."""

    def __init__(self, source: TableSource, key: str, number: int, head: Head) -> None:
        self._source, self._key, self._view, self._head = source, key, _View(number), head
        self._length, self._rows, self._first = head

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._source, self._key, self._view.number, self._head)

    def __len__(self) -> int:
        return self._length

    def at(self, positions: Sequence[int]) -> list[bytes]:
        """The records at these positions, in the order asked for."""
        wanted = sorted({p - p % self._rows for p in positions})
        found: dict[int, Block] = {}
        for start in range(0, len(wanted), _KEPT):
            found |= self._read_blocks(wanted[start : start + _KEPT])
        with self._source.checking(self._key, self._view.number):
            return [found[p - p % self._rows].read(p % self._rows) for p in positions]

    def find(self, ids: Sequence[str]) -> dict[str, bytes]:
        """The records with these ids; one that does not exist is absent."""
        asked = self._read(lambda view: self._place(view, ids))
        found: dict[str, bytes] = {}
        for some in cut_blocks(sorted(asked), _KEPT):
            for place, block in self._read_blocks(some).items():
                held = {name: at for at, name in enumerate(block.ids)}
                found.update((name, block.read(held[name])) for name in asked[place] if name in held)
        return {name: found[name] for name in sorted(found)}

    def _place(self, view: _View, ids: Sequence[str]) -> dict[int, list[str]]:
        """These ids by the block that holds them, if they exist. Raises Damaged."""
        firsts = view.firsts or self._source.list_firsts(view.number) or [""]
        if firsts[0] != self._first:
            raise Damaged(self._key)
        view.firsts = firsts
        covering: dict[str, list[str]] = {}
        for name in ids:
            if self._length and name >= self._first:
                covering.setdefault(firsts[bisect_right(firsts, name) - 1], []).append(name)
        asked: dict[int, list[str]] = {}
        for first, (after, listed, places) in self._read_lists(view, list(covering)).items():
            if after and max(covering[first]) >= after:
                raise Damaged(self._key)
            sparse = not any(place % self._rows for place in places)
            for name in covering[first]:
                nearest = bisect_right(listed, name) - 1
                if sparse or listed[nearest] == name:
                    asked.setdefault(places[nearest] // self._rows * self._rows, []).append(name)
        return asked

    def scan(self) -> Iterator[bytes]:
        """All records in order, read in blocks."""
        return (record for block in self._scan_blocks() for record in block.read_all())

    def _scan_blocks(self) -> Iterator[Block]:
        for start in range(0, self._length, self._rows * _KEPT):
            wanted = range(start, min(start + self._rows * _KEPT, self._length), self._rows)
            found = self._read_blocks(wanted, keep=False)
            yield from (found[first] for first in wanted)

    def ids(self) -> Iterator[str]:
        """All ids in order."""
        yield from self._read(self._list_ids)

    def _list_ids(self, view: _View) -> list[str]:
        names: list[str] = [""] * self._length
        for first, value in self._source.read_lists(view.number, ()):
            for name, place in _read_list(unseal(f"{self._key} from {first}", value))[2]:
                names[place] = name
        if not any(name for place, name in enumerate(names) if place % self._rows):
            names = [name for block in self._scan_blocks() for name in block.ids]
        if not all(names):
            raise Damaged(self._key)
        return names

    def _read_blocks(self, firsts: Sequence[int], *, keep: bool = True) -> dict[int, Block]:
        """The blocks that begin at these positions."""
        return self._read(lambda view: self._take_blocks(view, firsts, keep))

    def _take_blocks(self, view: _View, firsts: Sequence[int], keep: bool) -> dict[int, Block]:
        found = {first: view.blocks[first] for first in firsts if first in view.blocks}
        if missing := [first for first in firsts if first not in found]:
            stored = self._source.read_blocks(view.number, missing)
            for first in missing:
                if first not in stored:
                    raise Damaged(self._key)
                block = Block(unseal(f"{self._key} {first}", stored[first]))
                if len(block) != min(self._rows, self._length - first):
                    raise Damaged(self._key)
                found[first] = block
            if keep:
                keep_some(view.blocks, {first: found[first] for first in missing})
        return found

    def _read(self, read: Callable[[_View], T]) -> T:
        """What `read` gives; once more where the table was dropped since it was opened, and written again.

        An update that makes an index as it was earlier does so. Raises ResultGone, or StoreError for damage.
        """
        view = self._view
        try:
            with self._source.checking(self._key, view.number):
                return read(view)
        except ResultGone:
            again = self._source.rows(self._key)
            if again is None or again._head != self._head:
                self._view = _View(view.number)  # nothing of it stays
                raise
            self._view = view = again._view
        with self._source.checking(self._key, view.number):
            return read(view)

    def _read_lists(self, view: _View, firsts: Sequence[str]) -> dict[str, _Listed]:
        """Of the lists that begin so where the next begins, their ids, and the positions of these."""
        found = {first: view.lists[first] for first in firsts if first in view.lists}
        missing = [first for first in firsts if first not in found]
        for start in range(0, len(missing), _KEPT):
            for first, value in self._source.read_lists(view.number, missing[start : start + _KEPT]):
                _, after, listed = _read_list(unseal(f"{self._key} from {first}", value))
                found[first] = after, [name for name, _ in listed], [place for _, place in listed]
        keep_some(view.lists, {first: found[first] for first in missing})
        return found


def keep_some(kept: OrderedDict[Any, T], new: dict[Any, T]) -> None:
    """Add to what is kept; of more than `_KEPT` the oldest go."""
    kept.update(new)
    while len(kept) > _KEPT:
        kept.popitem(last=False)


def cut_blocks(values: Iterable[T], size: int) -> Iterator[list[T]]:
    """The values in lists of `size`, the last of which may be shorter."""
    rest = iter(values)
    while block := list(islice(rest, size)):
        yield block
