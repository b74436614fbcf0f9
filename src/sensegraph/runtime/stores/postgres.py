"""The store in PostgreSQL: one schema for a corpus, written and read from many machines.

Values and tables are sealed as in the embedded store. Arrays lie in the database in pieces; each machine keeps a copy
of those that it has read in a folder of its own, and maps it. The right to build is a lock of a connection, which the
server takes back when the connection ends, and names are set through that same connection: who has lost it cannot.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec
from numpy.typing import NDArray

from sensegraph.errors import TABLE_GONE, ResultGone, StoreError
from sensegraph.runtime.database_address import DatabaseAddress
from sensegraph.runtime.locking import wait_for_lock
from sensegraph.runtime.stores.array_files import Absent, ArrayBucket, ArrayFiles, PieceTable
from sensegraph.runtime.stores.corpus_store import LOST, Needed, Swept
from sensegraph.runtime.stores.postgres_limits import LimitTable
from sensegraph.runtime.stores.postgres_schema import REMAINS, Gone, ReplyTable, delete_gone, find_gone, prepare_schema
from sensegraph.runtime.stores.postgres_wire import LONG_S, Database, Session
from sensegraph.runtime.stores.rows import StoredRows, TablePacker, cut_blocks, read_head
from sensegraph.runtime.stores.sealing import Damaged, is_sealed_array, seal, unseal
from sensegraph.types import Usage

_LEDGER = tuple(f.name for f in fields(Usage))
_KEYS = 5000  # keys in one question
_BYTES = 1 << 26  # of values in one statement
_COPIED = 128  # blocks of a table that are copied at once
_HEALED = "Run `sensegraph index`: it computes anew what is damaged."
_SWEPT = "swept"  # ref: another value after each sweep, so that machines drop copies of arrays that are gone
_PLACE = "arrays"  # ref: the bucket in which arrays lie
_SWEPT_HERE = "swept.txt"  # of which sweep the copies on this machine know


class PostgresStore:
    """The store of one corpus in a schema of a database, which is made when it is missing unless `readonly`.

    `root` is the folder of this machine for what stands beside a corpus, `cache` that for copies of arrays, which lie
    in the database or in the bucket at `arrays`. `password` is asked whenever a connection is opened. A user who may
    not write, or a replica, gives a read-only store, which keeps what is written in memory. A copy in another process
    opens connections of its own. Raises StoreError when the database cannot be used, SettingsError for a `url` or
    `arrays` that is none.
    """

    def __init__(
        self,
        url: str,
        root: Path,
        cache: Path,
        *,
        readonly: bool = False,
        password: Callable[[], str] = str,
        arrays: str = "",
    ) -> None:
        self.address, self.root, self.shared = DatabaseAddress.parse(url), Path(root), True
        self._given = (url, Path(root), Path(cache), password, arrays)
        self._db = Database(self.address, password)
        self._aside: dict[str, bytes] = {}
        self._gate: Session | None = None  # of this process while it has the right to build
        with self._db.session() as session:
            self.readonly = prepare_schema(session, self.address, _LEDGER, readonly=readonly)
        place = hashlib.blake2b(str(self.address).encode(), digest_size=10).hexdigest()
        self._arrays = ArrayFiles(Path(cache) / place)
        self.replies = ReplyTable(self, self.address, self._db.session, self._fenced)
        self.limits = None if self.readonly else LimitTable(self, self._db)
        self._arrays.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._pieces = PieceTable(self._arrays, self._db.session, self._open_bucket(arrays))
        self._drop_copies()

    def __reduce__(self) -> tuple[Any, ...]:
        return _open_copy, (*self._given, self.readonly)

    def _open_bucket(self, url: str) -> ArrayBucket | None:
        """The bucket of the arrays, which stays the one that was first named."""
        known = self.ref(_PLACE) or ""
        if known != url and (known or self.readonly):
            where = f"in {known}" if known else "in the database"
            raise StoreError(f"The arrays of {self.address} lie {where}; set store.arrays to {known!r}.")
        if url and not known:
            self.set_refs({_PLACE: url})
        return ArrayBucket(url) if url else None

    # ── reading and writing at all ──

    def _ask(self, query: str, *values: Any) -> list[Any]:
        with self._db.session() as session:
            return session.fetch(query, *values)

    @contextmanager
    def _fenced(self) -> Iterator[Session]:
        """A connection to write with: while this process may build that which holds the right to."""
        if self.readonly:
            raise StoreError(f"{self.address} can only be read here; do this where it can be written.")
        if (gate := self._gate) is None:
            with self._db.session() as session:
                yield session
        elif gate.lost:
            raise StoreError(f"The connection to {self.address} broke, and with it the right to build; run this again.")
        else:
            yield gate

    @contextmanager
    def exclusive(self, wait: float = 0.0) -> Iterator[None]:
        """Hold the right to build: whoever asks for it meanwhile waits `wait` seconds, then Busy.

        The right ends with the process, however it ends: the server takes it back when the connection is gone.
        """
        gate, name = self._db.connect(), f"sensegraph builds {self.address.schema}"
        query = "SELECT pg_try_advisory_lock(hashtextextended($1, 0))"
        try:
            wait_for_lock(lambda: bool(gate.value(query, name)), f"Another build of {self.address}", wait)
            self._gate = gate
            yield
        finally:
            self._gate = None if self._gate is gate else self._gate
            with suppress(StoreError):  # the server notices a closed connection only after a while
                gate.value("SELECT pg_advisory_unlock_all()")
            gate.close()

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._db.closed

    def close(self) -> None:
        """Close the connections; the store cannot be used afterwards."""
        self._db.close()

    @contextmanager
    def checking(self, key: str, number: int | None = None) -> Iterator[None]:
        """Say that what is read under `key` is damaged, and forget it, so that the next build computes it again.

        `number` is that of a table, which may also be gone since a reader opened it.
        """
        try:
            yield
        except (Damaged, msgspec.DecodeError, ValueError, IndexError, KeyError) as e:
            if number is not None and not self._ask("SELECT 1 FROM part WHERE number = $1 AND key = $2", number, key):
                raise ResultGone(TABLE_GONE) from e
            with suppress(StoreError):
                self._forget(key)
            raise StoreError(f"{self.address} is damaged at {key}. {_HEALED}") from e

    def _forget(self, key: str) -> None:
        """Remove what is damaged, and what says that it is complete."""
        every = list({key, key.partition(".")[0]})
        with self._fenced() as session, session.transaction():
            delete_gone(session, Gone(dict.fromkeys(every, ("", 0)), dict.fromkeys(every, 0), dict.fromkeys(every, 0)))
        for name in every:
            self._arrays.path(name).unlink(missing_ok=True)
        self.set_refs({LOST: uuid4().hex})

    # ── objects ──

    def read(self, keys: Sequence[str]) -> dict[str, bytes]:
        """The objects present; a missing key is simply absent."""
        found = {k: self._aside[k] for k in keys if k in self._aside} if self._aside else {}
        for block in cut_blocks(keys, _KEYS):
            for key, value in self._ask("SELECT key, value FROM object WHERE key = ANY($1)", block):
                with self.checking(key):
                    found[key] = unseal(key, value)
        return found

    def has(self, keys: Sequence[str]) -> set[str]:
        """Which of these keys are present, as an object, a table or an array."""
        found = {k for k in keys if k in self._aside}
        query = (
            "SELECT key FROM object WHERE key = ANY($1) UNION ALL SELECT key FROM part WHERE key = ANY($1) "
            "UNION ALL SELECT key FROM piece WHERE number = 0 AND key = ANY($1)"
        )
        for block in cut_blocks(keys, _KEYS):
            found.update(key for (key,) in self._ask(query, block))
        return found

    def write(self, objects: Mapping[str, bytes], step: str = "") -> None:
        """Store all of `objects` or none. Writing a key that exists changes nothing."""
        if self.readonly:
            self._aside.update(objects)
            return
        sealed = [(key, seal(key, value)) for key, value in sorted(objects.items())]  # in one order: none waits in turn
        query = (
            "INSERT INTO object SELECT k, $3, v FROM unnest($1::text[], $2::bytea[]) AS t (k, v) ON CONFLICT DO NOTHING"
        )
        blocks = list(_cut_bytes(sealed))
        with self._db.session() as session:
            if len(blocks) == 1:
                session.execute(query, [k for k, _ in sealed], [v for _, v in sealed], step)
                return
            with session.transaction():
                for block in blocks:
                    session.execute(query, [k for k, _ in block], [v for _, v in block], step)

    # ── tables ──

    def write_rows(self, key: str, rows: Iterable[tuple[str, bytes]]) -> None:
        """Store a table of (id, record) in this order; nothing happens when it is there already."""
        packed = TablePacker(key, rows)
        query = "INSERT INTO part (key, head) VALUES ($1, '') ON CONFLICT DO NOTHING RETURNING number"
        with self._db.session() as session, session.transaction():
            if (number := session.value(query, key)) is None:
                return
            for blocks in cut_blocks(packed.blocks(), _COPIED):
                session.copy("block", ("number", "first", "value"), [(number, at, value) for at, value in blocks])
            for lists in cut_blocks(packed.lists(), _COPIED):
                session.copy("list", ("number", "first", "value"), [(number, first, value) for first, value in lists])
            session.execute("UPDATE part SET head = $1 WHERE number = $2", packed.head(), number)

    def rows(self, key: str) -> StoredRows | None:
        """The table under `key`, if it is there."""
        for number, head in self._ask("SELECT number, head FROM part WHERE key = $1", key):
            with self.checking(key):
                return StoredRows(self, key, number, read_head(key, head))
        return None

    def read_blocks(self, number: int, firsts: Sequence[int]) -> dict[int, bytes]:
        """The blocks of a table that begin at these positions, as they are stored."""
        query = "SELECT first, value FROM block WHERE number = $1 AND first = ANY($2::bigint[])"
        return dict(self._ask(query, number, list(map(int, firsts))))

    def read_lists(self, number: int, firsts: Sequence[str]) -> list[tuple[str, bytes]]:
        """The lists of a table that begin with these ids, as they are stored; all, in order, where none is named."""
        query = (
            "SELECT first, value FROM list WHERE number = $1 AND ($2::text[] IS NULL OR first = ANY($2)) ORDER BY first"
        )
        return [(first, value) for first, value in self._ask(query, number, list(firsts) or None)]

    def list_firsts(self, number: int) -> list[str]:
        """The first id of each list of a table, ascending."""
        return [first for (first,) in self._ask("SELECT first FROM list WHERE number = $1 ORDER BY first", number)]

    # ── arrays ──

    def write_array(self, key: str, array: NDArray[Any]) -> None:
        """Store an array; it is read back memory-mapped."""
        if self.readonly or self.has([key]):
            return
        self._pieces.write(key, array)

    def array(self, key: str) -> NDArray[Any] | None:
        """The array under `key`, memory-mapped read-only, if it is there: a copy of it on this machine."""
        with suppress(Damaged, ValueError):  # another copy is fetched
            if (found := self._arrays.open(key)) is not None:
                return found
        self._arrays.path(key).unlink(missing_ok=True)
        with self.checking(key):
            try:
                self._arrays.fill(key, lambda file: self._pieces.fetch(key, file))
            except Absent:
                return None
            except OSError as e:
                folder = self._arrays.folder
                raise StoreError(f"{folder} cannot hold a copy of an array ({e}). Set store.cache to another.") from e
            if not is_sealed_array(self._arrays.path(key)):
                self._arrays.path(key).unlink(missing_ok=True)
                raise Damaged(key)
            return self._arrays.open(key)

    def drop(self, keys: Collection[str], *, spare: Collection[str] = ()) -> None:
        """Remove nothing: readers on other machines may have opened what lies there; `sweep` finds it."""

    def array_names(self) -> list[str]:
        """The keys of the arrays that are there, sorted."""
        return [key for (key,) in self._ask("SELECT key FROM piece WHERE number = 0 ORDER BY key")]

    def _drop_copies(self) -> None:
        """Remove the copies of arrays on this machine that a sweep has removed since this was last looked at."""
        note, now = self._arrays.folder / _SWEPT_HERE, self.ref(_SWEPT) or ""
        if note.exists() and note.read_text() == now:
            return
        have = self._arrays.names()
        for key in set(have) - self.has(have):
            self._arrays.path(key).unlink(missing_ok=True)
        note.write_text(now)

    # ── refs, pins and the ledger ──

    def ref(self, name: str) -> str | None:
        """The value that `name` stands for now."""
        found = self._ask("SELECT value FROM ref WHERE name = $1", name)
        return str(found[0][0]) if found else None

    def set_refs(self, refs: Mapping[str, str | None]) -> None:
        """Set (or, with None, delete) all of these names at once."""
        kept = sorted((n, v) for n, v in refs.items() if v is not None)
        query = (
            "INSERT INTO ref SELECT * FROM unnest($1::text[], $2::text[]) "
            "ON CONFLICT (name) DO UPDATE SET value = excluded.value"
        )
        with self._fenced() as session, session.transaction():
            session.execute("DELETE FROM ref WHERE name = ANY($1)", sorted(n for n, v in refs.items() if v is None))
            session.execute(query, [n for n, _ in kept], [v for _, v in kept])

    def refs(self, prefix: str = "") -> dict[str, str]:
        """All names that begin with `prefix`, sorted."""
        query = "SELECT name, value FROM ref WHERE name >= $1 AND name < $2 ORDER BY name"
        return dict(self._ask(query, prefix, prefix + "\U0010ffff"))

    def pin(self, key: str, seconds: float) -> None:
        """Note that somebody reads the index with this key, and will for so long, by the clock of the database."""
        query = (
            "INSERT INTO pin VALUES ($1, now() + $2 * interval '1 second') "
            "ON CONFLICT (key) DO UPDATE SET until = greatest(pin.until, excluded.until)"
        )
        with self._fenced() as session:
            session.execute("DELETE FROM pin WHERE until < now()")
            session.execute(query, key, float(seconds))

    def pinned(self) -> set[str]:
        """The keys of indexes that somebody reads."""
        return {key for (key,) in self._ask("SELECT key FROM pin WHERE until >= now()")}

    def spend(self, step: str, usage: Usage) -> None:
        """Add to the ledger of what each step has cost."""
        if self.readonly:
            return
        marks = ", ".join(f"${i + 2}" for i in range(len(_LEDGER)))
        sums = ", ".join(f"{n} = ledger.{n} + excluded.{n}" for n in _LEDGER)
        query = f"INSERT INTO ledger VALUES ($1, {marks}) ON CONFLICT (step) DO UPDATE SET {sums}"
        with self._fenced() as session:
            session.execute(query, step, *(float(getattr(usage, n)) for n in _LEDGER))

    def ledger(self) -> dict[str, Usage]:
        """The sums of the ledger by step."""
        rows = self._ask(f"SELECT step, {', '.join(_LEDGER)} FROM ledger ORDER BY step")
        kinds: list[Any] = [float if name in ("cost_usd", "seconds") else int for name in _LEDGER]
        return {step: Usage(*(kind(v) for kind, v in zip(kinds, values, strict=True))) for step, *values in rows}

    # ── keeping it small and whole ──

    def mend(self) -> int:
        """Nothing is looked through: the database checks its own files; what is damaged is removed where it is met."""
        return 0

    def sweep(self, needed: Needed, *, dry: bool = False, spare: Collection[str] = ()) -> Swept:
        """Remove all whose key is not `needed` but objects of the steps in `spare`; with `dry` only count them.

        The database uses the room again; other machines drop their copies of arrays when they open the store next.
        """
        before = self.size()
        gone = find_gone(self._ask, needed, spare)
        if dry:
            return Swept(gone.count(), before, before)
        with self._fenced() as session:
            with session.transaction():
                delete_gone(session, gone)
            for table in ("object", "part", "block", "list", "piece", "reply"):
                session.execute(f"VACUUM {table}", timeout=LONG_S)
        self._pieces.remove(gone.arrays, self.array_names)
        self.set_refs({_SWEPT: uuid4().hex})
        self._drop_copies()
        return Swept(gone.count(), before, self.size(), remains=REMAINS if gone.count() else "")

    def settle(self) -> int:
        """The bytes that the store takes; the database puts what was written where it stays."""
        return self.size()

    def size(self) -> int:
        """The bytes that the tables of the store take in the database."""
        query = (
            "SELECT sum(pg_total_relation_size(oid)) FROM pg_class "
            "WHERE relkind = 'r' AND relnamespace = $1::regnamespace"
        )
        return int(self._ask(query, self.address.schema)[0][0] or 0)


_COPIES: dict[tuple[Any, ...], PostgresStore] = {}  # of this process, which is sent a copy with every batch


def _open_copy(*given: Any) -> PostgresStore:
    """The copy of a store in this process, made when it is first needed."""
    if given not in _COPIES or _COPIES[given].closed:
        url, root, cache, password, arrays, readonly = given
        _COPIES[given] = PostgresStore(url, root, cache, readonly=readonly, password=password, arrays=arrays)
    return _COPIES[given]


def _cut_bytes(sealed: Sequence[tuple[str, bytes]]) -> Iterator[list[tuple[str, bytes]]]:
    """Values in blocks of about `_BYTES`."""
    block, held = list[tuple[str, bytes]](), 0
    for key, value in sealed:
        block.append((key, value))
        held += len(value)
        if held >= _BYTES:
            yield block
            block, held = [], 0
    if block:
        yield block
