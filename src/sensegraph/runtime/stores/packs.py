"""Objects in the embedded store: in packs, large ones by themselves, small ones of one step together.

What lies together is shortened more. The row of an object is its key and the number of its pack, so that to look for
many keys reads little.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from sensegraph.runtime.stores.rows import cut_blocks
from sensegraph.runtime.stores.sealing import Damaged, question_marks, seal, unseal

if TYPE_CHECKING:
    from sensegraph.runtime.stores.sqlite import SqliteStore

_SMALL = 1 << 13  # bytes below which an object lies together with others
_PACK = 1 << 15  # bytes of the objects of a pack
_MANY = 500  # keys in a query
_LAST = (1 << 63) - 1  # the largest number of a row
_WALKED = 100  # packs that are looked through at once
_DIGITS = 40  # hexadecimal digits of the key of a result
_INSERT = "INSERT INTO object VALUES (?, ?)"
_encode = msgspec.msgpack.Encoder().encode
_read_pack = msgspec.msgpack.Decoder(list[tuple[int, bytes]]).decode

OBJECTS = (
    "CREATE TABLE IF NOT EXISTS object (key BLOB PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS pack (number INTEGER PRIMARY KEY, step TEXT NOT NULL, held INTEGER NOT NULL, "
    "value BLOB NOT NULL)",
)


def store_key(key: str) -> bytes | str:
    """A key as it stands in a row: that of a result, of 40 hexadecimal digits, takes 20 bytes."""
    try:
        stored = bytes.fromhex(key) if len(key) == _DIGITS else b""
    except ValueError:
        return key
    return stored if stored and stored.hex() == key else key


def name_key(stored: Any) -> str:
    """The key that stands in a row; a damaged one is another."""
    return stored.hex() if isinstance(stored, bytes) else str(stored)


def find_objects(db: sqlite3.Connection, keys: Iterable[str]) -> list[tuple[str, int]]:
    """Those of these keys that are there, with the numbers of their packs."""
    found: list[tuple[str, int]] = []
    for block in cut_blocks(keys, _MANY):
        names = {store_key(key): key for key in block}
        rows = db.execute(f"SELECT key, number FROM object WHERE key IN ({question_marks(names)})", list(names))
        found += [(names[key], number) for key, number in rows]
    return found


def read_objects(db: sqlite3.Connection, keys: Iterable[str]) -> dict[str, bytes]:
    """The contents of the objects that are there; each pack is opened once. Raises Damaged."""
    members: dict[int, list[str]] = defaultdict(list)
    for key, number in find_objects(db, keys):
        members[number].append(key)
    found: dict[str, bytes] = {}
    for block in cut_blocks(members, _MANY):
        packs = dict(db.execute(f"SELECT number, value FROM pack WHERE number IN ({question_marks(block)})", block))
        for number in block:
            held = open_pack(packs.get(number))
            for key in members[number]:
                if (content := held.get(_number_key(key))) is None:
                    raise Damaged(key)
                found[key] = content
    return found


def open_pack(value: Any) -> dict[int, bytes]:
    """The contents in a pack by the numbers of their keys; none where it is damaged."""
    try:
        return dict(_read_pack(unseal("", value)))
    except (Damaged, msgspec.MsgspecError):
        return {}


def _number_key(key: str) -> int:
    """What stands for a key in a pack, so that a row that names another pack is found out."""
    return zlib.crc32(key.encode("utf-8", "replace"))


def write_objects(db: sqlite3.Connection, objects: Mapping[str, bytes], step: str) -> None:
    """Write those of `objects` that are not there, inside a transaction: they are looked for where one is."""
    rows = _insert_packs(db, objects, step)
    try:
        db.executemany(_INSERT, rows)
    except sqlite3.IntegrityError:  # undone by hand: a savepoint would copy every page of every write
        db.executemany("DELETE FROM object WHERE key = ? AND number = ?", rows)
        db.executemany("DELETE FROM pack WHERE number = ?", [(number,) for number in {n for _, n in rows}])
        known = {key for key, _ in find_objects(db, objects)}
        rest = {key: content for key, content in objects.items() if key not in known}
        db.executemany(_INSERT, _insert_packs(db, rest, step))


def _insert_packs(db: sqlite3.Connection, objects: Mapping[str, bytes], step: str) -> list[tuple[bytes | str, int]]:
    """Write the packs of objects; the rows that are to name them."""
    rows: list[tuple[bytes | str, int]] = []
    for pack in _cut_packs(objects):
        row = (step, len(pack), seal("", _encode([(_number_key(key), objects[key]) for key in pack])))
        number = db.execute("INSERT INTO pack VALUES (NULL, ?, ?, ?)", row).lastrowid
        assert number is not None
        rows += [(store_key(key), number) for key in pack]
    return rows


def _cut_packs(contents: Mapping[str, bytes]) -> Iterator[list[str]]:
    """The keys of contents that lie together, in order; no two in a pack have one number."""
    pack, size, numbers = list[str](), 0, set[int]()
    for key, content in contents.items():
        if len(content) >= _SMALL:
            yield [key]
            continue
        number = _number_key(key)
        if pack and (size + len(content) > _PACK or number in numbers):
            yield pack
            pack, size, numbers = [], 0, set()
        pack.append(key)
        numbers.add(number)
        size += len(content)
    if pack:
        yield pack


def delete_objects(db: sqlite3.Connection, keys: Collection[str]) -> None:
    """Delete objects, inside a transaction: packs that they lie in are written anew without them.

    Of a damaged pack all objects are deleted.
    """
    gone: dict[int, set[int]] = defaultdict(set)  # by pack, the numbers of the keys
    for key, number in find_objects(db, keys):
        gone[number].add(_number_key(key))
    db.executemany("DELETE FROM object WHERE key = ?", [(store_key(key),) for key in keys])
    held: dict[int, int] = {}
    for block in cut_blocks(gone, _MANY):
        held.update(db.execute(f"SELECT number, held FROM pack WHERE number IN ({question_marks(block)})", block))
    db.executemany("DELETE FROM pack WHERE number = ?", [(n,) for n, count in held.items() if count == len(gone[n])])
    for number in [n for n in gone if held.get(n) != len(gone[n])]:
        (packed,) = db.execute("SELECT value FROM pack WHERE number = ?", (number,)).fetchone() or (None,)
        found = open_pack(packed)
        rest = [(name, content) for name, content in found.items() if name not in gone[number]]
        if rest and len(found) == held[number]:
            row = (len(rest), seal("", _encode(rest)), number)
            db.execute("UPDATE pack SET held = ?, value = ? WHERE number = ?", row)
        else:
            db.execute("DELETE FROM object WHERE number = ?", (number,))
            db.execute("DELETE FROM pack WHERE number = ?", (number,))


def delete_unnamed(db: sqlite3.Connection, damaged: Iterable[tuple[str, bytes]]) -> None:
    """Delete the rows of objects whose keys are those of no object, or whose pack is gone, and packs that no row names.

    A pack may have gone with an object that a damaged row said to be the only one in it.
    """
    odd = [(stored,) for key, stored in damaged if store_key(key) != stored]
    db.executemany("DELETE FROM object WHERE CAST(key AS BLOB) = ?", odd)
    db.execute("DELETE FROM object WHERE number NOT IN (SELECT number FROM pack)")
    db.execute("DELETE FROM pack WHERE number NOT IN (SELECT number FROM object)")


def list_damaged(store: SqliteStore) -> Iterator[tuple[str, bytes]]:
    """The keys of objects that are not as they were written, and the bytes of these keys in their rows."""
    members: dict[Any, list[tuple[str, bytes]]] = defaultdict(list)
    for key, stored, number in store.select("SELECT key, CAST(key AS BLOB), number FROM object"):
        members[number].append((name_key(key), stored))
    last, query = 0, "SELECT number, value FROM pack WHERE number > ? ORDER BY number LIMIT ?"
    while found := store.select(query, (last, _WALKED)):
        last = found[-1][0]
        for number, value in found:
            held = open_pack(value)
            yield from (names for names in members.pop(number, ()) if _number_key(names[0]) not in held)
    for lost in members.values():
        yield from lost


def list_objects(store: SqliteStore, last: int = _LAST) -> list[tuple[str, str, int]]:
    """The key, the step and the bytes of each object up to a pack, by key: of a pack each has its share."""
    packs = {number: found for number, *found in store.select("SELECT number, step, length(value) FROM pack")}
    rows = store.select("SELECT key, number FROM object WHERE number <= ?", (last,))
    members = Counter(number for _, number in rows)
    found = []
    for key, number in rows:
        step, size = packs.get(number, ("", 0))
        found.append((name_key(key), step, size // members[number]))
    return sorted(found)
