"""The embedded store: one SQLite file for objects, tables, refs and the ledger, and a folder of mapped arrays.

Safe to kill at any moment: every write is one transaction (WAL), arrays appear by atomic rename. Readable with any
SQLite tool: objects are JSON, arrays are `.npy`.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import lru_cache
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensegraph.errors import StoreError
from sensegraph.runtime.stores.corpus_store import Swept
from sensegraph.runtime.stores.sweeping import sweep_store
from sensegraph.types import Usage

FORMAT = 1
_BLOCK = 500
_HEAD = 10  # bytes of an array file that say how long its head is
_LISTED = 100  # arrays from which the folder is listed instead of asked for each
_PAUSE = 0.1  # seconds between two looks at a lock
_LEDGER = tuple(f.name for f in fields(Usage))
_ANEW = "Move the folder away and run `sensegraph index` again: documents are read anew."
_GONE = (
    "A table of this index is gone from the store: the index was replaced and collected meanwhile, or the file is "
    "damaged. Ask again; if that fails too, run `sensegraph index`."
)
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS object (key TEXT PRIMARY KEY, step TEXT NOT NULL, value BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS part (number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, rows INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS row (
    part INTEGER NOT NULL, position INTEGER NOT NULL, id TEXT NOT NULL, value BLOB NOT NULL,
    PRIMARY KEY (part, position)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS row_id ON row (part, id);
CREATE TABLE IF NOT EXISTS ref (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ledger (step TEXT PRIMARY KEY, {", ".join(f"{n} REAL NOT NULL" for n in _LEDGER)});
"""


class SqliteStore:
    """The store of one corpus, in the folder `root` (created when missing unless `readonly`).

    A read-only store keeps what is written in memory, so that questions can be asked of an index on a read-only disk.
    Raises StoreError when the folder or the file cannot be used.
    """

    def __init__(self, root: str | Path, *, readonly: bool = False) -> None:
        self.root, self.readonly = Path(root), readonly
        self.path = self.root / "store.sqlite"
        self._lock = threading.RLock()
        self._aside: dict[str, bytes] = {}
        with self._guard():
            self._db = self._connect()
            found = self._format()
            if not readonly:
                self._prepare(found)

    def _connect(self) -> sqlite3.Connection:
        if self.readonly:
            # immutable: without a -shm file a WAL database cannot be opened where nothing may be written
            unwritten = self.path.with_name(f"{self.path.name}-wal")
            plain = os.access(self.root, os.W_OK) or (unwritten.exists() and unwritten.stat().st_size > 0)
            mode = "ro" if plain else "ro&immutable=1"
            return sqlite3.connect(f"{self.path.resolve().as_uri()}?mode={mode}", uri=True, check_same_thread=False)
        (self.root / "arrays").mkdir(parents=True, exist_ok=True)
        return sqlite3.connect(self.path, timeout=30, check_same_thread=False, isolation_level=None)

    def _format(self) -> int:
        """The file's format, 0 for a new one.

        Raises StoreError, before anything is written, for a file of another format or one that has lost its head."""
        (found,) = self._db.execute("PRAGMA user_version").fetchone()
        if found not in (0, FORMAT):
            raise StoreError(f"{self.path} has format {found}, this version reads {FORMAT}; upgrade sensegraph.")
        if found == 0 and any((self.root / "arrays").glob("*.npy")):
            raise StoreError(f"{self.path} is empty though the index beside it is not. {_ANEW}")
        return int(found)

    def _prepare(self, found: int) -> None:
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.executescript(_SCHEMA)
        if found != FORMAT:
            self._db.execute(f"PRAGMA user_version = {FORMAT}")

    @contextmanager
    def exclusive(self, wait: float = 0.0) -> Iterator[None]:
        """Hold the right to build: a second process that asks for it meanwhile waits `wait` seconds, then a StoreError.

        The right ends with the process, however it ends: it is a lock on a file that SQLite keeps for it.
        """
        with self._guard():
            gate = sqlite3.connect(self.root / "building.sqlite", timeout=0, isolation_level=None)
        try:
            self._enter(gate, wait)
            yield
        finally:
            gate.close()

    def _enter(self, gate: sqlite3.Connection, wait: float) -> None:
        until = time.monotonic() + wait
        while True:  # rather than SQLite's own timeout, which no signal interrupts
            try:
                gate.execute("BEGIN EXCLUSIVE")
                return
            except sqlite3.OperationalError as e:
                if (left := until - time.monotonic()) <= 0:
                    waited = f" for more than {wait:g} s" if wait else ""
                    raise StoreError(
                        f"Another build of {self.root.parent} is running{waited}; wait for its end (--wait SECONDS), "
                        "then run this again: what it has computed is not computed twice."
                    ) from e
            time.sleep(min(left, _PAUSE))

    def close(self) -> None:
        """Close the file; the store cannot be used afterwards."""
        self._db.close()

    @contextmanager
    def _guard(self) -> Iterator[None]:
        """Turn what SQLite and the disk say into one sentence that names the file."""
        try:
            with self._lock:
                yield
        except (sqlite3.Error, OSError) as e:
            damaged = isinstance(e, sqlite3.DatabaseError) and not isinstance(e, sqlite3.OperationalError)
            advice = _ANEW if damaged else "Check that the folder exists, is writable and has room."
            raise StoreError(f"{self.path} cannot be used ({e}). {advice}") from e

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._guard():
            self._db.execute("BEGIN IMMEDIATE")
            whole = False
            try:
                yield self._db
                whole = True
            finally:
                self._db.execute("COMMIT" if whole else "ROLLBACK")

    def sweep(self, needed: Collection[str], *, dry: bool = False) -> Swept:
        """Remove every object, table and array whose key is not `needed`; with `dry` only count them."""
        return sweep_store(self, needed, dry=dry)

    def size(self) -> int:
        """The bytes of all files of the store."""
        return sum(f.stat().st_size for f in self.root.rglob("*") if f.is_file())

    # ── objects ──

    def read(self, keys: Sequence[str]) -> dict[str, bytes]:
        """The objects present; a missing key is simply absent."""
        found = {k: self._aside[k] for k in keys if k in self._aside} if self._aside else {}
        with self._guard():
            for block in _cut_blocks(keys):
                found.update(
                    self._db.execute(f"SELECT key, value FROM object WHERE key IN ({_question_marks(block)})", block)
                )
        return found

    def has(self, keys: Sequence[str]) -> set[str]:
        """Which of these keys are present, as an object, a table or an array."""
        found = {k for k in keys if k in self._aside}
        with self._guard():
            for block in _cut_blocks(keys):
                for table in ("object", "part"):
                    query = f"SELECT key FROM {table} WHERE key IN ({_question_marks(block)})"
                    found.update(k for (k,) in self._db.execute(query, block))
        others = [k for k in keys if k not in found]
        if len(others) < _LISTED:
            return found | {k for k in others if self._array_path(k).exists()}
        arrays = {path.stem for path in self._array_path("").parent.glob("*.npy")}  # one listing for many questions
        return found | arrays.intersection(others)

    def write(self, objects: Mapping[str, bytes], step: str = "") -> None:
        """Store all of `objects` or none. Writing a key that exists changes nothing."""
        if self.readonly:
            self._aside.update(objects)
            return
        with self._writing() as db:
            rows = ((k, step, v) for k, v in objects.items())
            db.executemany("INSERT OR IGNORE INTO object VALUES (?, ?, ?)", rows)

    # ── tables ──

    def write_rows(self, key: str, rows: Iterable[tuple[str, bytes]]) -> None:
        """Store a table of (id, record) in this order; nothing happens when it is there already."""
        with self._writing() as db:
            if db.execute("SELECT 1 FROM part WHERE key = ?", (key,)).fetchone():
                return
            number = db.execute("INSERT INTO part (key, rows) VALUES (?, 0)", (key,)).lastrowid
            numbered = ((number, i, name, value) for i, (name, value) in enumerate(rows))
            count = db.executemany("INSERT INTO row VALUES (?, ?, ?, ?)", numbered).rowcount
            db.execute("UPDATE part SET rows = ? WHERE number = ?", (max(0, count), number))

    def rows(self, key: str) -> SqliteRows | None:
        """The table under `key`, if it is there."""
        with self._guard():
            found = self._db.execute("SELECT number, rows FROM part WHERE key = ?", (key,)).fetchone()
        return SqliteRows(self, *found) if found else None

    def select(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a reading query."""
        with self._guard():
            return self._db.execute(query, values).fetchall()

    # ── arrays ──

    def _array_path(self, key: str) -> Path:
        return self.root / "arrays" / f"{key}.npy"

    def write_array(self, key: str, array: NDArray[Any]) -> None:
        """Store an array; it is read back memory-mapped."""
        path = self._array_path(key)
        with self._guard():
            if path.exists():
                return
            unfinished = path.with_name(f"{key}.{os.getpid()}.part")
            with unfinished.open("wb") as file:
                np.save(file, np.ascontiguousarray(array), allow_pickle=False)
                file.flush()
                os.fsync(file.fileno())  # the name must not outlive the content when the power fails
            unfinished.replace(path)

    def array(self, key: str) -> NDArray[Any] | None:
        """The array under `key`, memory-mapped read-only, if it is there."""
        path = self._array_path(key)
        try:
            with path.open("rb") as file:  # what np.load does, which reads the head of the file anew each time
                start = file.read(_HEAD)
                shape, fortran, kind = _parse_head(start + file.read(int.from_bytes(start[8:], "little")))
                return np.memmap(file, kind, "r", file.tell(), shape, "F" if fortran else "C")
        except FileNotFoundError:
            return None
        except (ValueError, OSError, EOFError) as e:
            raise StoreError(f"{path} is damaged ({e}); delete it and run `sensegraph index` again.") from e

    # ── refs and the ledger ──

    def ref(self, name: str) -> str | None:
        """The value that `name` stands for now."""
        rows = self.select("SELECT value FROM ref WHERE name = ?", (name,))
        return rows[0][0] if rows else None

    def set_refs(self, refs: Mapping[str, str | None]) -> None:
        """Set (or, with None, delete) all of these names at once."""
        with self._writing() as db:
            db.executemany("DELETE FROM ref WHERE name = ?", [(n,) for n, v in refs.items() if v is None])
            kept = [(n, v) for n, v in refs.items() if v is not None]
            db.executemany("INSERT OR REPLACE INTO ref VALUES (?, ?)", kept)

    def refs(self, prefix: str = "") -> dict[str, str]:
        """All names that begin with `prefix`, sorted."""
        query = "SELECT name, value FROM ref WHERE name >= ? AND name < ? ORDER BY name"
        return dict(self.select(query, (prefix, prefix + "\U0010ffff")))

    def spend(self, step: str, usage: Usage) -> None:
        """Add to the ledger of what each step has cost."""
        if self.readonly:
            return
        sums = ", ".join(f"{n} = {n} + excluded.{n}" for n in _LEDGER)
        with self._writing() as db:
            values = (step, *(getattr(usage, n) for n in _LEDGER))
            marks = _question_marks(values)
            db.execute(f"INSERT INTO ledger VALUES ({marks}) ON CONFLICT (step) DO UPDATE SET {sums}", values)

    def ledger(self) -> dict[str, Usage]:
        """The sums of the ledger by step."""
        return {
            step: Usage(*(v if n in ("cost_usd", "seconds") else int(v) for n, v in zip(_LEDGER, values, strict=True)))
            for step, *values in self.select(f"SELECT step, {', '.join(_LEDGER)} FROM ledger ORDER BY step")
        }


class SqliteRows:
    """A table in the store, read by position or by id without loading it."""

    def __init__(self, store: SqliteStore, number: int, length: int) -> None:
        self._store, self._number, self._length = store, number, length

    def __len__(self) -> int:
        return self._length

    def at(self, positions: Sequence[int]) -> list[bytes]:
        """The records at these positions, in the order asked for."""
        found: dict[int, bytes] = {}
        for block in _cut_blocks(positions):
            query = f"SELECT position, value FROM row WHERE part = ? AND position IN ({_question_marks(block)})"
            found.update(self._store.select(query, (self._number, *block)))
        if any(p not in found for p in positions):
            raise StoreError(_GONE)
        return [found[p] for p in positions]

    def find(self, ids: Sequence[str]) -> dict[str, bytes]:
        """The records with these ids; one that does not exist is absent."""
        found: dict[str, bytes] = {}
        for block in _cut_blocks(ids):
            # named: SQLite would else scan the whole part by its primary key
            query = f"SELECT id, value FROM row INDEXED BY row_id WHERE part = ? AND id IN ({_question_marks(block)})"
            found.update(self._store.select(query, (self._number, *block)))
        return found

    def scan(self) -> Iterator[bytes]:
        """All records in order, read in blocks."""
        query = "SELECT value FROM row WHERE part = ? AND position >= ? ORDER BY position LIMIT ?"
        for start in range(0, self._length, _BLOCK):
            found = self._store.select(query, (self._number, start, _BLOCK))
            if len(found) < min(_BLOCK, self._length - start):
                raise StoreError(_GONE)
            yield from (value for (value,) in found)

    def ids(self) -> Iterator[str]:
        """All ids in order."""
        query = "SELECT id FROM row WHERE part = ? ORDER BY position"
        yield from (name for (name,) in self._store.select(query, (self._number,)))


@lru_cache(1000)
def _parse_head(head: bytes) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """The shape, the order and the type of the numbers of an array file that begins so."""
    file = BytesIO(head)
    if (version := np.lib.format.read_magic(file)) != (1, 0):
        raise ValueError(f"version {version} of the format of arrays")
    shape, fortran, kind = np.lib.format.read_array_header_1_0(file)
    if kind.hasobject:
        raise ValueError("it holds objects of Python")
    return shape, fortran, kind


def _cut_blocks(values: Sequence[Any]) -> Iterator[list[Any]]:
    rest = iter(values)
    while block := list(islice(rest, _BLOCK)):
        yield block


def _question_marks(values: Sequence[Any]) -> str:
    return ",".join("?" * len(values))


def is_writable(folder: Path) -> bool:
    """Whether files can be written in `folder`, found out by trying (permissions lie to a superuser)."""
    probe = folder / ".writable"
    try:
        probe.touch()
        probe.unlink()
    except OSError:
        return False
    return True
