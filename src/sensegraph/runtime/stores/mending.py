"""Keeping a store whole: from an earlier format to this one, and from damage back to what can be built on."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import msgspec

from sensegraph.errors import StoreError
from sensegraph.runtime.stores.corpus_store import LOST
from sensegraph.runtime.stores.foreign import check_inert
from sensegraph.runtime.stores.packs import WALK, Opener, delete_unnamed_packs
from sensegraph.runtime.stores.rows import check_table, delete_orphans, write_table
from sensegraph.runtime.stores.sealing import Damaged, decode_text, is_sealed_array, seal, seal_array, sum_ref

if TYPE_CHECKING:
    from sensegraph.runtime.stores.sqlite import SqliteStore

_LARGEST = 1 << 28  # bytes of a file up to which a build reads all of it to find damage before it is met
_BLOCK = 500
_ROW = 64  # bytes that a row takes, or more
_BROKEN = (sqlite3.DatabaseError, UnicodeDecodeError)  # SQLite may say what is wrong in words of the file
_LEFT = "whole.txt"  # names, sizes and times of the files of a store that was found whole


def upgrade_store(store: SqliteStore, schema: Sequence[str]) -> None:
    """Bring a store of the first format to this one: everything is shortened and sealed, nothing is lost."""
    for path in store.root.glob("arrays/*.npy"):
        if not is_sealed_array(path):
            seal_array(path)
    with store.writing() as db:
        if db.execute("PRAGMA user_version").fetchone() != (1,):
            return  # another process did it meanwhile
        for statement in ("ALTER TABLE part RENAME TO old_part", "ALTER TABLE ref RENAME TO old_ref", *schema):
            db.execute(statement)
        (last,) = db.execute("SELECT coalesce(max(rowid), 0) FROM object").fetchone()
        for start in range(0, last + 1, _BLOCK):
            query = "SELECT rowid, key, value FROM object WHERE rowid >= ? AND rowid < ?"
            found = db.execute(query, (start, start + _BLOCK)).fetchall()
            sealed = [(seal(key, value), number) for number, key, value in found]
            db.executemany("UPDATE object SET value = ? WHERE rowid = ?", sealed)
        for number, key in db.execute("SELECT number, key FROM old_part ORDER BY number").fetchall():
            write_table(db, key, _read_old_rows(db, number))
        refs = db.execute("SELECT name, value FROM old_ref").fetchall()
        db.executemany("INSERT INTO ref VALUES (?, ?, ?)", [(n, v, sum_ref(n, v)) for n, v in refs])
        for table in ("row", "old_part", "old_ref"):
            db.execute(f"DROP TABLE {table}")
        db.execute("PRAGMA user_version = 2")
    store.select("VACUUM")
    store.select("PRAGMA wal_checkpoint(TRUNCATE)")


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
    objects, refs = list(_damaged_objects(store)), []
    for number, name, value, total in store.select("SELECT rowid, name, value, sum FROM ref"):
        refs += [number] * (sum_ref(name, value) != total)
    others = [*_damaged_tables(store), *_damaged_arrays(store)]
    store.forget([*(key for _, key in objects), *others])
    with store.writing() as db:  # by number: a damaged name names nothing
        db.executemany("DELETE FROM object WHERE rowid = ?", [(number,) for number, _ in objects])
        db.executemany("DELETE FROM ref WHERE rowid = ?", [(number,) for number in refs])
        delete_orphans(db)
        delete_unnamed_packs(db)
    return len(objects) + len(refs) + len(others)


def _damaged_objects(store: SqliteStore) -> Iterator[tuple[int, str]]:
    """The numbers and keys of objects that are not as they were written."""
    last = 0
    while found := store.select(WALK, (last, _BLOCK)):
        last, opener = found[-1][0], Opener()
        for number, *row in found:
            try:
                opener.open(*row)
            except Damaged:
                yield number, row[0]


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


def move_unreadable(path: Path, schema: Sequence[str]) -> None:
    """Move a file aside that is no database any more, or an empty one, beside itself as `store.damaged.sqlite`."""
    if not path.exists():
        return
    try:
        with closing(sqlite3.connect(path, timeout=30)) as db:
            check_inert(db)
            if found := _read_schema(db):
                if "format" in found:
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
        store.prepare(made)
        for table in ("object", "pack", "part", "block", "list", "ref", "ledger"):
            lost += _copy_table(store.path, made, table)
    store.replace_file(fresh)
    return max(lost, 1)


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
