"""Objects in the embedded store: large ones by themselves, small ones of one step together, which shortens them more.

The row of an object holds its sealed value, or the number of the pack that it lies in.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from sensegraph.runtime.stores.rows import cut_blocks
from sensegraph.runtime.stores.sealing import SMALL_LEVEL, Damaged, seal, unseal

if TYPE_CHECKING:
    from sensegraph.runtime.stores.sqlite import SqliteStore

_SMALL = 1 << 13  # bytes below which an object lies in a pack
_PACK = 1 << 15  # bytes of the objects of a pack: zlib looks no further back
_MANY = 500  # keys in a query
_PACKED = "typeof(object.value) = 'integer'"
_ROWS = f"object LEFT JOIN pack ON {_PACKED} AND pack.number = object.value"
_encode = msgspec.msgpack.Encoder().encode
_read_pack = msgspec.msgpack.Decoder(list[tuple[int, bytes]]).decode

OBJECTS = (
    "CREATE TABLE IF NOT EXISTS object (key TEXT PRIMARY KEY, step TEXT NOT NULL, value BLOB NOT NULL)",
    "CREATE TABLE IF NOT EXISTS pack (number INTEGER PRIMARY KEY, value BLOB NOT NULL)",
)
READ = f"SELECT object.key, object.value, pack.value FROM {_ROWS} WHERE object.key IN "
WALK = f"SELECT object.rowid, object.key, object.value, pack.value FROM {_ROWS} WHERE object.rowid > ? LIMIT ?"


class Opener:
    """Opens the values of objects, each pack once."""

    def __init__(self) -> None:
        self._opened: dict[int, dict[int, bytes]] = {}

    def open(self, key: str, value: Any, packed: Any) -> bytes:
        """The content of an object, from its row and the pack that this names. Raises Damaged."""
        if not isinstance(value, int):
            return unseal(key, value)
        try:
            if value not in self._opened:
                self._opened[value] = _open_pack(packed)
            return self._opened[value][_number_key(key)]
        except (Damaged, msgspec.DecodeError, KeyError) as e:
            raise Damaged(key) from e


def _open_pack(packed: Any) -> dict[int, bytes]:
    """The contents in a pack by the numbers of their keys. Raises Damaged or DecodeError."""
    return dict(_read_pack(unseal("", packed)))


def _number_key(key: str) -> int:
    """What stands for a key in a pack, so that a row that names another pack is found out."""
    return zlib.crc32(key.encode("utf-8", "replace"))


def write_objects(db: sqlite3.Connection, objects: Mapping[str, bytes], step: str) -> None:
    """Write those of `objects` that are not there, inside a transaction."""
    known = set[str]()
    for block in cut_blocks(objects, _MANY):
        marks = ",".join("?" * len(block))
        known.update(key for (key,) in db.execute(f"SELECT key FROM object WHERE key IN ({marks})", block))
    small: dict[str, bytes] = {}
    rows: list[tuple[str, str, bytes | int]] = []
    for key, content in objects.items():
        if key not in known:
            if len(content) < _SMALL:
                small[key] = content
            else:
                rows.append((key, step, seal(key, content)))
    for pack in _cut_packs(small):
        if len(pack) == 1:
            rows += [(key, step, seal(key, small[key])) for key in pack]
        else:
            number = db.execute("INSERT INTO pack VALUES (NULL, ?)", (_seal_pack(pack, small),)).lastrowid
            assert number is not None
            rows += [(key, step, number) for key in pack]
    db.executemany("INSERT INTO object VALUES (?, ?, ?)", rows)


def _seal_pack(keys: Iterable[str], contents: Mapping[str, bytes]) -> bytes:
    return seal("", _encode([(_number_key(key), contents[key]) for key in keys]), SMALL_LEVEL)


def _cut_packs(contents: Mapping[str, bytes]) -> Iterator[list[str]]:
    """The keys of contents that lie together, in order; no two in a pack have one number."""
    pack, size, numbers = list[str](), 0, set[int]()
    for key, content in contents.items():
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
    touched = set[int]()
    for block in cut_blocks(keys, _MANY):
        marks = ",".join("?" * len(block))
        found = db.execute(f"SELECT DISTINCT value FROM object WHERE {_PACKED} AND key IN ({marks})", block)
        touched.update(number for (number,) in found)
    db.executemany("DELETE FROM object WHERE key = ?", [(key,) for key in keys])
    left: dict[int, list[str]] = defaultdict(list)
    for key, number in db.execute(f"SELECT key, value FROM object WHERE {_PACKED}") if touched else ():
        if number in touched:
            left[number].append(key)
    for number in sorted(touched):
        (packed,) = db.execute("SELECT value FROM pack WHERE number = ?", (number,)).fetchone() or (None,)
        try:
            held, opener = {}, Opener()
            for key in left[number]:
                held[key] = opener.open(key, number, packed)
        except Damaged:
            db.execute(f"DELETE FROM object WHERE {_PACKED} AND value = ?", (number,))
            held = {}
        if held:
            db.execute("UPDATE pack SET value = ? WHERE number = ?", (_seal_pack(held, held), number))
        else:
            db.execute("DELETE FROM pack WHERE number = ?", (number,))


def delete_unnamed_packs(db: sqlite3.Connection) -> None:
    """Delete packs that no object names, inside a transaction."""
    db.execute(f"DELETE FROM pack WHERE number NOT IN (SELECT value FROM object WHERE {_PACKED})")


def list_objects(store: SqliteStore, last: int) -> list[tuple[str, str, int]]:
    """The key, the step and the bytes of each object up to a row, by key: of a pack each has its share."""
    number = f"CASE WHEN {_PACKED} THEN value END"
    rows = store.select(f"SELECT key, step, {number}, length(value) FROM object WHERE rowid <= ? ORDER BY key", (last,))
    packs = dict(store.select("SELECT number, length(value) FROM pack"))
    members = Counter(pack for _, _, pack, _ in rows)
    return [(k, step, size if pack is None else packs.get(pack, 0) // members[pack]) for k, step, pack, size in rows]
