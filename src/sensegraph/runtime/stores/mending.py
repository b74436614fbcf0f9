"""Keeping a store whole: from an earlier format to this one, and from damage back to what can be built on."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from itertools import groupby, islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import msgspec

from sensegraph.errors import StoreError
from sensegraph.runtime.stores.corpus_store import LOST
from sensegraph.runtime.stores.foreign import check_inert
from sensegraph.runtime.stores.packs import delete_unnamed, list_damaged, store_key, write_objects
from sensegraph.runtime.stores.rows import check_table, delete_orphans, write_table
from sensegraph.runtime.stores.sealing import Damaged, decode_text, is_sealed_array, seal_array, sum_ref, unseal

if TYPE_CHECKING:
    from sensegraph.runtime.stores.sqlite import SqliteStore

_LARGEST = 1 << 28  # bytes of a file up to which a build reads all of it to find damage before it is met
_BLOCK = 500
_OLD = 100  # objects of an earlier format that are written anew together
_ROW = 64  # bytes that a row takes, or more
_KEY_ROW = 16  # bytes that the row of an object takes, or more
_BROKEN = (sqlite3.DatabaseError, UnicodeDecodeError)  # SQLite may say what is wrong in words of the file
_LEFT = "whole.txt"  # names, sizes and times of the files of a store that was found whole


def upgrade_store(store: SqliteStore, schema: Sequence[str], number: int) -> None:
    """Bring a store of an earlier format to that of this number; nothing is lost but objects that are damaged."""
    with store.writing() as db:
        if (found := store.find_format()) == number:
            return  # another process did it meanwhile
        held = _read_schema(db)
        for table in ("object", "pack", *(("part", "ref") if found == 1 else ())):
            if table in held:
                db.execute(f"ALTER TABLE {table} RENAME TO old_{table}")
        for statement in schema:
            db.execute(statement)
        db.execute("DELETE FROM format WHERE number < ?", (number,))
        if found == 1:
            _upgrade_first(store.root, db)
        if "pack" in held:
            _upgrade_packs(db)
        if _upgrade_objects(db, sealed=found > 1):
            lost = uuid4().hex
            db.execute("INSERT OR REPLACE INTO ref VALUES (?, ?, ?)", (LOST, lost, sum_ref(LOST, lost)))
        db.execute(f"PRAGMA user_version = {number}")
    store.select("VACUUM")
    store.select("PRAGMA wal_checkpoint(TRUNCATE)")


def _upgrade_first(root: Path, db: sqlite3.Connection) -> None:
    """The arrays, tables and refs of the first format, which had no checksums."""
    for path in root.glob("arrays/*.npy"):
        if not is_sealed_array(path):
            seal_array(path)
    for number, key in db.execute("SELECT number, key FROM old_part ORDER BY number").fetchall():
        write_table(db, key, _read_old_rows(db, number))
    refs = db.execute("SELECT name, value FROM old_ref").fetchall()
    db.executemany("INSERT INTO ref VALUES (?, ?, ?)", [(n, v, sum_ref(n, v)) for n, v in refs])
    for table in ("row", "old_part", "old_ref"):
        db.execute(f"DROP TABLE {table}")


def _upgrade_packs(db: sqlite3.Connection) -> None:
    """The packs of the third format, and the rows that named them."""
    db.create_function("store_key", 1, store_key, deterministic=True)
    packed = "FROM old_object JOIN old_pack ON number = old_object.value WHERE typeof(old_object.value) = 'integer'"
    db.execute(f"INSERT INTO pack SELECT number, step, count(*), old_pack.value {packed} GROUP BY number")
    db.execute(f"INSERT INTO object SELECT store_key(key), number {packed}")
    db.execute("DROP TABLE old_pack")


def _upgrade_objects(db: sqlite3.Connection, *, sealed: bool) -> bool:
    """The objects of earlier formats that lie in their rows; whether one is lost."""
    last, lost = 0, False
    query = "SELECT rowid, key, step, value FROM old_object WHERE rowid > ? AND typeof(value) <> 'integer' LIMIT ?"
    while rows := db.execute(query, (last, _OLD)).fetchall():
        last = rows[-1][0]
        for step, some in groupby(rows, key=lambda row: str(row[2])):
            opened: dict[str, bytes] = {}
            for _, key, _, value in some:
                try:
                    opened[key] = unseal(key, value) if sealed else value
                except Damaged:
                    lost = True
            write_objects(db, opened, step)
    db.execute("DROP TABLE old_object")
    return lost


def _read_old_rows(db: sqlite3.Connection, number: int) -> Iterator[tuple[str, bytes]]:
    query = "SELECT id, value FROM row WHERE part = ? AND position >= ? ORDER BY position LIMIT ?"
    start = 0
    while found := db.execute(query, (number, start, _BLOCK)).fetchall():
        yield from found
        start += len(found)


def mend_store(store: SqliteStore) -> int:
    """Remove what is damaged, so that a build computes it again; how many things that were.

    A file that SQLite cannot read is copied as far as it can. Large stores are not read through: what is damaged in
    them is removed where it is met. Call it inside `exclusive`.
    """
    if store.readonly or store.path.stat().st_size > _LARGEST:
        return 0
    try:
        whole = store.select("PRAGMA integrity_check(1)") == [("ok",)]
        lost = _remove_damaged(store) if whole else 0
    except StoreError:
        whole, lost = False, 0
    if not whole:
        lost += _copy_readable(store)
        lost += _remove_damaged(store)
        store.set_refs({LOST: uuid4().hex})
    return lost


def note_as_left(root: Path) -> None:
    """Note how the files of a store are that was found whole, so that the next build need not read them through."""
    with suppress(OSError):
        (root / _LEFT).write_text(_describe_files(root))


def is_as_left(root: Path) -> bool:
    """Whether no file of a store was touched since it was found whole."""
    try:
        return (root / _LEFT).read_text() == _describe_files(root)
    except OSError:
        return False


def _describe_files(root: Path) -> str:
    files = [root / "store.sqlite", *root.glob("store.sqlite-wal"), *sorted(root.glob("arrays/*.npy"))]
    found = [(f.name, f.stat()) for f in files]  # an open file has an empty log beside it, and an index of the log
    return "\n".join(f"{name} {s.st_size} {s.st_mtime_ns}" for name, s in found if s.st_size)


def _remove_damaged(store: SqliteStore) -> int:
    """Remove what is not as it was written; how many things."""
    objects, refs = list(list_damaged(store)), []
    for number, name, value, total in store.select("SELECT rowid, name, value, sum FROM ref"):
        refs += [number] * (sum_ref(name, value) != total)
    others = [*_damaged_tables(store), *_damaged_arrays(store)]
    store.forget([*(key for key, _ in objects), *others])
    with store.writing() as db:  # by number: a damaged name names nothing
        db.executemany("DELETE FROM ref WHERE rowid = ?", [(number,) for number in refs])
        delete_orphans(db)
        delete_unnamed(db, objects)
    return len(objects) + len(refs) + len(others)


def _damaged_tables(store: SqliteStore) -> Iterator[str]:
    for number, key, head in store.select("SELECT number, key, head FROM part WHERE key <> '-'"):
        try:
            if not isinstance(number, int):
                raise Damaged(key)
            check_table(store, key, number, head)
        except (Damaged, ValueError, msgspec.MsgspecError):
            yield key


def _damaged_arrays(store: SqliteStore) -> Iterator[str]:
    for path in sorted(store.root.glob("arrays/*.npy")):
        if not is_sealed_array(path):
            yield path.stem


# ── a file that SQLite cannot read ──


def _read_schema(db: sqlite3.Connection) -> dict[str, str]:
    return dict(db.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"))


def _check_schema(db: sqlite3.Connection, schema: Sequence[str]) -> None:
    """Make what is missing. Raises DatabaseError where the definition of a table is not as it was written."""
    with closing(sqlite3.connect(":memory:")) as sound:
        for statement in schema:
            db.execute(statement)
            sound.execute(statement)
        if not _read_schema(db).items() >= _read_schema(sound).items():
            raise sqlite3.DatabaseError("the definition of a table is damaged")


def move_unreadable(path: Path, schema: Sequence[str], number: int) -> None:
    """Move a file aside that is no database any more, or an empty one, beside itself as `store.damaged.sqlite`."""
    if not path.exists():
        return
    try:
        with closing(sqlite3.connect(path, timeout=30)) as db:
            check_inert(db)
            if found := _read_schema(db):
                if "format" in found and not db.execute("SELECT 1 FROM format WHERE number < ?", (number,)).fetchone():
                    _check_schema(db, schema)
                return
    except sqlite3.OperationalError:
        return  # it is busy, or the disk has a fault: the file may be whole
    except sqlite3.DatabaseError:
        path.replace(path.with_name("store.damaged.sqlite"))
        for end in ("-wal", "-shm"):
            path.with_name(path.name + end).unlink(missing_ok=True)
    for array in path.parent.glob("arrays/*.npy"):
        array.unlink()


def _copy_readable(store: SqliteStore) -> int:
    """Put in place of a broken file a new one with all that can be read of it; how many rows could not."""
    fresh = store.path.with_name("store.mended.sqlite")
    fresh.unlink(missing_ok=True)
    lost = 0
    with closing(sqlite3.connect(fresh, isolation_level=None)) as made:
        store.lay_out(made)
        store.prepare(made)
        lost += _copy_keys(store.path, made)
        for table in ("pack", "part", "block", "list", "ref", "ledger"):
            lost += _copy_table(store.path, made, table)
    store.replace_file(fresh)
    return max(lost, 1)


def _copy_keys(path: Path, made: sqlite3.Connection) -> int:
    """Copy the rows of objects: of keys that begin alike from either end; of how many of these some may be lost."""
    lost, most = 0, path.stat().st_size // _KEY_ROW
    with closing(sqlite3.connect(path)) as broken:
        broken.text_factory = decode_text
        for bounds in pairwise(("", *(bytes([first]) for first in range(256)), b"\xff" * 99)):
            for order in ("ASC", "DESC"):
                query = f"SELECT key, number FROM object WHERE key >= ? AND key < ? ORDER BY key {order}"
                with suppress(*_BROKEN):
                    rows = islice(broken.execute(query, bounds), most)  # a page may lead back to itself
                    made.executemany("INSERT OR IGNORE INTO object VALUES (?, ?)", rows)
                    break
            else:
                lost += 1
    return lost


def _copy_table(path: Path, made: sqlite3.Connection, table: str) -> int:
    """Copy the rows of one table, each by itself where several cannot be read together; how many are lost."""
    most = path.stat().st_size // _ROW
    with closing(sqlite3.connect(path, isolation_level=None)) as broken:
        broken.text_factory = decode_text
        try:
            (last,) = broken.execute(f"SELECT max(rowid) FROM {table}").fetchone()
        except _BROKEN:
            return 1
        lost = 0
        for place in _list_places(broken, table, last or 0, most):
            row: Any = None
            with suppress(*_BROKEN):
                row = broken.execute(f"SELECT * FROM {table} WHERE rowid = ?", (place,)).fetchone()
            if row is None:
                lost += 1
            else:
                marks = ",".join("?" * len(row))
                with suppress(sqlite3.DatabaseError):
                    made.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", row)
    return lost


def _list_places(broken: sqlite3.Connection, table: str, last: int, most: int) -> Iterator[int]:
    """The numbers of the rows of a table as far as they can be listed from either end; then those that may be between.

    Between are at most `most`, which the file has room for: a damaged number may be any.
    """
    seen, least = -1, last + 1
    try:
        for (place,) in broken.execute(f"SELECT rowid FROM {table} ORDER BY rowid"):
            if place <= seen:  # a page leads back to itself
                break
            seen = place
            yield place
        else:
            return
    except _BROKEN:
        pass
    with suppress(*_BROKEN):
        for (place,) in broken.execute(f"SELECT rowid FROM {table} ORDER BY rowid DESC"):
            if not seen < place < least:
                break
            least = place
            yield place
    if least - seen <= most:
        yield from range(seen + 1, least)
