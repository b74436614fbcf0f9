"""The embedded store: one SQLite file for objects, tables, refs and the ledger, and a folder of mapped arrays.

Safe to kill at any moment: every write is one transaction (WAL), arrays appear by atomic rename. Readable with any
SQLite tool: objects are JSON, arrays are `.npy` where they are large.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields
from pathlib import Path
from typing import Any, NoReturn
from uuid import uuid4
from weakref import WeakValueDictionary

import msgspec
from numpy.typing import NDArray

from sensegraph.errors import TABLE_GONE, ResultGone, StoreError
from sensegraph.runtime.locking import hold_lock
from sensegraph.runtime.stores.array_files import ArrayFiles
from sensegraph.runtime.stores.corpus_store import LOST, Needed, Swept
from sensegraph.runtime.stores.foreign import check_inert, check_links
from sensegraph.runtime.stores.mending import is_as_left, mend_store, move_unreadable, note_as_left, upgrade_store
from sensegraph.runtime.stores.packs import OBJECTS, delete_objects, find_objects, read_objects, write_objects
from sensegraph.runtime.stores.replies import REPLIES, ReplyFile
from sensegraph.runtime.stores.rows import (
    TABLES,
    SqliteTables,
    StoredRows,
    cut_blocks,
    delete_tables,
    read_head,
    write_table,
)
from sensegraph.runtime.stores.sealing import Damaged, check_refs, decode_text, question_marks, sum_ref
from sensegraph.runtime.stores.sweeping import drop_keys, sweep_store
from sensegraph.types import Usage

FORMAT = 4
_PAGE, _FREE = 2048, 16  # bytes of a page: larger ones leave more room; free ones leave the file above 1/16 of all
_BLOCK, _LISTED = 500, 100  # keys in one query; arrays from which the folder is listed instead of asked for each
_LEDGER = tuple(f.name for f in fields(Usage))
_ANEW = "Move the folder away and run `sensegraph index` again: documents are read anew."
_HEALED = "Run `sensegraph index`: it computes anew what is damaged."
_REFS = "SELECT CAST(ifnull(name, '') AS BLOB), CAST(ifnull(value, '') AS BLOB), sum FROM ref WHERE name"
_SCHEMA = (
    *OBJECTS,
    *TABLES,
    "CREATE TABLE IF NOT EXISTS pin (key TEXT PRIMARY KEY, until REAL NOT NULL)",
    "CREATE TABLE IF NOT EXISTS format (number INTEGER PRIMARY KEY)",
    f"INSERT OR IGNORE INTO format VALUES ({FORMAT})",
    "CREATE TABLE IF NOT EXISTS ref (name TEXT PRIMARY KEY, value TEXT NOT NULL, sum INTEGER NOT NULL)",
    f"CREATE TABLE IF NOT EXISTS ledger (step TEXT PRIMARY KEY, {', '.join(f'{n} REAL NOT NULL' for n in _LEDGER)})",
)
_OPEN: WeakValueDictionary[tuple[type[SqliteStore], Path, bool], SqliteStore] = WeakValueDictionary()  # of this process


class SqliteStore:
    """The store of one corpus, in the folder `root` (created when missing unless `readonly`).

    A read-only store keeps what is written in memory, so that questions can be asked of an index on a read-only disk.
    With `mend` a file that cannot be opened as a database any more is moved aside, and a new one begun.
    Raises StoreError when the folder or the file cannot be used.
    """

    def __init__(self, root: str | Path, *, readonly: bool = False, mend: bool = False) -> None:
        self.root, self.readonly, self.limits = Path(root), readonly, None
        self.shared, self.reopens = False, not readonly  # one process writes, and those that it waits for
        self.path = self.root / "store.sqlite"
        check_links(self.root)
        if mend:
            move_unreadable(self.path, _SCHEMA, FORMAT)
        self._lock, self._aside = threading.RLock(), dict[str, bytes]()
        _OPEN[type(self), self.root.resolve(), readonly] = self
        self._arrays, self.replies = ArrayFiles(self.root / "arrays"), ReplyFile(self.root / REPLIES)
        self._whole = self._closed = False  # whether all of it was looked through; whether `close` was called
        with self._guard():
            self._db = self._connect()
            check_inert(self._db)
            found = self.find_format()
            if not readonly:
                if not found:
                    self.lay_out(self._db)
                self._db.execute("PRAGMA journal_mode = WAL")
                self._db.execute("PRAGMA synchronous = NORMAL")
                self._db.execute("PRAGMA wal_autocheckpoint = 8192")  # pages: most are written several times
                if 0 < found < FORMAT:
                    upgrade_store(self, _SCHEMA, FORMAT)
                self.prepare(self._db)

    def __reduce__(self) -> tuple[Any, ...]:
        return _open_again, (type(self), self.root.resolve(), self.readonly)

    def _connect(self) -> sqlite3.Connection:
        if self.readonly:
            # immutable: without a -shm file a WAL database cannot be opened where nothing may be written
            unwritten = self.path.with_name(f"{self.path.name}-wal")
            plain = os.access(self.root, os.W_OK) or (unwritten.exists() and unwritten.stat().st_size > 0)
            mode = "ro" if plain else "ro&immutable=1"
            db = sqlite3.connect(f"{self.path.resolve().as_uri()}?mode={mode}", uri=True, check_same_thread=False)
        else:
            (self.root / "arrays").mkdir(parents=True, exist_ok=True)
            db = sqlite3.connect(self.path, timeout=300, check_same_thread=False, isolation_level=None)
        db.text_factory = decode_text
        return db

    def find_format(self) -> int:
        """The file's format, 0 for a new one. Raises StoreError, before anything is written, for another or none."""
        (found,) = self._db.execute("PRAGMA user_version").fetchone()
        if found != FORMAT and self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'format'").fetchone():
            (found,) = self._db.execute("SELECT max(number) FROM format").fetchone()  # the head of the file is bad
        if 0 < found < FORMAT and self.readonly:
            raise StoreError(
                f"{self.path} has the format of an earlier version. Run `sensegraph status` once where it can be "
                "written: that brings it to the one of now."
            )
        if not 0 <= found <= FORMAT:
            raise StoreError(f"{self.path} has format {found}, this version reads {FORMAT}; upgrade sensegraph.")
        if found == 0 and any((self.root / "arrays").glob("*.npy")):
            raise StoreError(f"{self.path} is empty though the index beside it is not. {_ANEW}")
        return int(found)

    @staticmethod
    def lay_out(db: sqlite3.Connection) -> None:
        """Say how a new file is laid out: in small pages, and so that what is dropped leaves no room."""
        db.execute(f"PRAGMA page_size = {_PAGE}")
        db.execute("PRAGMA auto_vacuum = INCREMENTAL")

    @staticmethod
    def prepare(db: sqlite3.Connection) -> None:
        """Make the tables of a store where they are missing, and say its format."""
        for statement in _SCHEMA:
            db.execute(statement)
        if db.execute("PRAGMA user_version").fetchone() != (FORMAT,):
            db.execute(f"PRAGMA user_version = {FORMAT}")

    def mend(self) -> int:
        """Remove what is damaged, so that a build computes it again; how many things. Called inside `exclusive`."""
        with self._guard():
            lost = 0 if is_as_left(self.root) else mend_store(self)
            self._whole = True
            return lost

    def replace_file(self, fresh: Path) -> None:
        """Go on with another file in place of this one."""
        self._db.close()
        for end in ("-wal", "-shm"):
            self.path.with_name(self.path.name + end).unlink(missing_ok=True)
        fresh.replace(self.path)
        self._db = self._connect()

    @contextmanager
    def exclusive(self, wait: float = 0.0) -> Iterator[None]:
        """Hold the right to build: a second process that asks for it meanwhile waits `wait` seconds, then a StoreError.

        The right ends with the process, however it ends: it is a lock on a file that SQLite keeps for it.
        """
        with self._guard():
            gate = sqlite3.connect(self.root / "building.sqlite", timeout=0, isolation_level=None)
        with hold_lock(gate, f"Another build of {self.root.parent}", wait):
            yield

    def close(self) -> None:
        """Close the file; the store cannot be used afterwards."""
        self._closed = True
        self._db.close()
        if self._whole:
            note_as_left(self.root)

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError(f"The corpus in {self.root.parent} was closed; open it again (`Corpus.open`).")

    @contextmanager
    def _guard(self) -> Iterator[None]:
        """Turn what SQLite and the disk say into one sentence that names the file."""
        try:
            with self._lock:
                self._check_open()
                yield
        except (sqlite3.Error, OSError) as e:
            self._check_open()  # another thread may have closed it meanwhile
            # an operation that SQL itself refuses: the definition of a table is another
            refused = getattr(e, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR
            damaged = refused or (isinstance(e, sqlite3.DatabaseError) and not isinstance(e, sqlite3.OperationalError))
            advice = _ANEW if damaged else "Check that the folder exists, is writable and has room."
            raise StoreError(f"{self.path} cannot be used ({e}). {advice}") from e

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One change of the file: all of it, or nothing where it ends in an error."""
        with self._guard():
            self._db.execute("BEGIN IMMEDIATE")
            whole = False
            try:
                yield self._db
                whole = True
            finally:
                self._db.execute("COMMIT" if whole else "ROLLBACK")

    def sweep(self, needed: Needed, *, dry: bool = False, spare: Collection[str] = ()) -> Swept:
        """Remove all whose key is not `needed` but objects of the steps in `spare`; with `dry` only count them."""
        return sweep_store(self, needed, dry=dry, spare=spare)

    def drop(self, keys: Collection[str], *, spare: Collection[str] = ()) -> None:
        """Remove what lies under these keys, but for the steps in `spare`."""
        drop_keys(self, keys, spare)
        free, pages = (self.select(f"PRAGMA {name}")[0][0] for name in ("freelist_count", "page_count"))
        if not self.readonly and _FREE * free > pages:  # fewer are soon written again
            with self._guard():
                self._db.executescript("PRAGMA incremental_vacuum")  # by `execute` one page would become free

    def pin(self, key: str, seconds: float) -> None:
        """Note that somebody reads the index with this key, and will for so long."""
        with self.writing() as db:
            db.execute("DELETE FROM pin WHERE until < ?", (time.time(),))
            db.execute("INSERT OR REPLACE INTO pin VALUES (?, ?)", (key, time.time() + seconds))

    def pinned(self) -> set[str]:
        """The keys of indexes that somebody reads."""
        return {key for (key,) in self.select("SELECT key FROM pin WHERE until >= ?", (time.time(),))}

    def settle(self) -> int:
        """Put everything that was written where it stays; the bytes that the store takes then."""
        self.select("PRAGMA wal_checkpoint(TRUNCATE)")
        return self.size()

    def is_whole(self) -> bool:
        """Whether SQLite finds no damage in the file."""
        try:
            return self.select("PRAGMA quick_check(1)") == [("ok",)]
        except StoreError:
            return False

    def size(self) -> int:
        """The bytes of all files of the store."""
        return sum(f.stat().st_size for f in self.root.rglob("*") if f.is_file())

    # ── objects ──

    def read(self, keys: Sequence[str]) -> dict[str, bytes]:
        """The objects present; a missing key is simply absent."""
        found = {k: self._aside[k] for k in keys if k in self._aside} if self._aside else {}
        with self._guard():
            try:
                return found | read_objects(self._db, keys)
            except Damaged as e:
                self._say_damaged(e.args[0], self.path, e)

    def has(self, keys: Sequence[str]) -> set[str]:
        """Which of these keys are present, as an object, a table or an array."""
        found = {k for k in keys if k in self._aside} if self._aside else set[str]()
        others = sorted({*keys} - found)  # in their order each page of an index is read once
        with self._guard():
            found.update(key for key, _ in find_objects(self._db, others))
        others = [k for k in others if k not in found]
        for block in cut_blocks(others, _BLOCK):
            query = f"SELECT key FROM part WHERE key IN ({question_marks(block)})"
            found.update(k for (k,) in self.select(query, block))
        others = [k for k in others if k not in found]
        if len(others) < _LISTED:
            return found | {k for k in others if self.array_path(k).exists()}
        return found.union(set(self._arrays.names()).intersection(others))  # one listing for many questions

    def write(self, objects: Mapping[str, bytes], step: str = "") -> None:
        """Store all of `objects` or none. Writing a key that exists changes nothing."""
        if self.readonly:
            self._aside.update(objects)
            return
        with self.writing() as db:
            write_objects(db, objects, step)

    # ── tables ──

    def write_rows(self, key: str, rows: Iterable[tuple[str, bytes]]) -> None:
        """Store a table of (id, record) in this order; nothing happens when it is there already."""
        with self.writing() as db:
            write_table(db, key, rows)

    def rows(self, key: str) -> StoredRows | None:
        """The table under `key`, if it is there."""
        found = self.select("SELECT number, head FROM part WHERE key = ?", (key,))
        if not found:
            return None
        ((number, head),) = found
        with self.checking(key):
            if not isinstance(number, int):
                raise Damaged(key)
            return StoredRows(SqliteTables(self), key, number, read_head(key, head))

    @contextmanager
    def checking(self, key: str, number: int | None = None, path: Path | None = None) -> Iterator[None]:
        """Say that what is read under `key` is damaged, and forget it, so that the next build computes it again.

        `number` is that of a table, which may also be gone since a reader opened it; `path` the file of an array.
        """
        try:
            yield
        except (Damaged, msgspec.DecodeError, ValueError, IndexError, KeyError) as e:
            if number is not None and not self.select("SELECT 1 FROM part WHERE number = ? AND key = ?", (number, key)):
                raise ResultGone(TABLE_GONE) from e
            self._say_damaged(key, path or self.path, e)

    def _say_damaged(self, key: str, place: Path, why: Exception) -> NoReturn:
        """Forget what is damaged. Raises StoreError, which names it."""
        with suppress(StoreError):
            self.forget([key])
        raise StoreError(f"{place} is damaged at {key}. {_HEALED}") from why

    def forget(self, keys: Iterable[str]) -> None:
        """Remove what is damaged: objects, tables and arrays, and what says that they are complete."""
        if self.readonly:
            return
        texts = [key for key in keys if isinstance(key, str)]  # a damaged one may be no text
        every = {name for key in texts for name in (key, key.partition(".")[0])}
        with self.writing() as db:
            for block in cut_blocks(list(every), _BLOCK):
                marks = question_marks(block)
                numbers = db.execute(f"SELECT number FROM part WHERE key IN ({marks})", block).fetchall()
                delete_tables(db, [n for (n,) in numbers if isinstance(n, int)])
                db.execute(f"DELETE FROM part WHERE key IN ({marks})", block)
            delete_objects(db, every)
        for key in every:
            self.array_path(key).unlink(missing_ok=True)
        if every:
            self.set_refs({LOST: uuid4().hex})

    def select(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a reading query."""
        with self._guard():
            return self._db.execute(query, values).fetchall()

    # ── arrays ──

    def array_path(self, key: str) -> Path:
        """The file of the array under `key`; whatever a damaged store takes for a key, it lies in the same folder."""
        return self._arrays.path(key)

    def write_array(self, key: str, array: NDArray[Any]) -> None:
        """Store an array; it is read back memory-mapped."""
        with self._guard():
            self._arrays.write(key, array)

    def array(self, key: str) -> NDArray[Any] | None:
        """The array under `key`, memory-mapped read-only, if it is there."""
        with self.checking(key, path=self.array_path(key)):
            return self._arrays.open(key)

    def array_names(self) -> list[str]:
        """The keys of the arrays that are there, sorted."""
        return self._arrays.names()

    # ── refs and the ledger ──

    def ref(self, name: str) -> str | None:
        """The value that `name` stands for now."""
        return check_refs(self.path, self.select(f"{_REFS} = ?", (name,)), _HEALED).get(name)

    def set_refs(self, refs: Mapping[str, str | None]) -> None:
        """Set (or, with None, delete) all of these names at once."""
        with self.writing() as db:
            db.executemany("DELETE FROM ref WHERE name = ?", [(n,) for n, v in refs.items() if v is None])
            kept = [(n, v, sum_ref(n, v)) for n, v in refs.items() if v is not None]
            db.executemany("INSERT OR REPLACE INTO ref VALUES (?, ?, ?)", kept)

    def refs(self, prefix: str = "") -> dict[str, str]:
        """All names that begin with `prefix`, sorted."""
        query = f"{_REFS} >= ? AND name < ? ORDER BY name"
        return check_refs(self.path, self.select(query, (prefix, prefix + "\U0010ffff")), _HEALED)

    def spend(self, step: str, usage: Usage) -> None:
        """Add to the ledger of what each step has cost."""
        if self.readonly:
            return
        sums = ", ".join(f"{n} = {n} + excluded.{n}" for n in _LEDGER)
        with self.writing() as db:
            values = (step, *(getattr(usage, n) for n in _LEDGER))
            marks = question_marks(values)
            db.execute(f"INSERT INTO ledger VALUES ({marks}) ON CONFLICT (step) DO UPDATE SET {sums}", values)

    def ledger(self) -> dict[str, Usage]:
        """The sums of the ledger by step."""
        rows = self.select(f"SELECT step, {', '.join(_LEDGER)} FROM ledger ORDER BY step")
        kinds: list[Any] = [float if name in ("cost_usd", "seconds") else int for name in _LEDGER]
        try:
            return {step: Usage(*(kind(v) for kind, v in zip(kinds, values, strict=True))) for step, *values in rows}
        except (ValueError, OverflowError, TypeError) as e:
            raise StoreError(f"{self.path} is damaged in its ledger of costs ({e}). {_ANEW}") from e


def _open_again(kind: type[SqliteStore], root: Path, readonly: bool) -> SqliteStore:
    """The store that was pickled: in a process that has it open that one."""
    found = _OPEN.get((kind, root, readonly))
    return found if found and not found._closed else kind(root, readonly=readonly)
