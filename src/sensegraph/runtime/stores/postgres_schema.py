"""The tables of a store in PostgreSQL, its replies, and what goes when it is swept."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from sensegraph.errors import StoreError
from sensegraph.runtime.database_address import DatabaseAddress
from sensegraph.runtime.stores.corpus_store import CorpusStore, Freed, Needed
from sensegraph.runtime.stores.postgres_limits import LIMIT_TABLES
from sensegraph.runtime.stores.postgres_wire import Session

FORMAT = 2
REMAINS = (
    "what was removed may still stand in free pages of the database, in its log and in its backups: "
    "docs/cluster.md says how it goes from there"
)
_TABLES = (
    'CREATE TABLE object (key text COLLATE "C" PRIMARY KEY, step text NOT NULL, value bytea NOT NULL)',
    "CREATE INDEX object_step ON object (step)",
    'CREATE TABLE part (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, key text COLLATE "C" NOT NULL UNIQUE, '
    "head bytea NOT NULL)",
    "CREATE TABLE block (number bigint, first bigint, value bytea NOT NULL, PRIMARY KEY (number, first))",
    'CREATE TABLE list (number bigint, first text COLLATE "C", value bytea NOT NULL, PRIMARY KEY (number, first))',
    'CREATE TABLE piece (key text COLLATE "C", number integer, value bytea NOT NULL, PRIMARY KEY (key, number))',
    'CREATE TABLE ref (name text COLLATE "C" PRIMARY KEY, value text NOT NULL)',
    'CREATE TABLE pin (key text COLLATE "C" PRIMARY KEY, until timestamptz NOT NULL)',
    'CREATE TABLE reply (key text COLLATE "C" PRIMARY KEY, body bytea NOT NULL)',
    *(f"ALTER TABLE {name} ALTER value SET STORAGE EXTERNAL" for name in ("object", "block", "list", "piece")),
)  # values are shortened already where that pays
_BLOCK = 5000
Ask = Callable[..., list[Any]]
Connecting = Callable[[], AbstractContextManager[Session]]


def prepare_schema(session: Session, address: DatabaseAddress, ledger: Sequence[str], *, readonly: bool) -> bool:
    """Make the tables where they are missing; whether the store can only be read.

    Raises StoreError for a store of another format, one that is missing where it may not be made, or a database whose
    texts are not UTF-8.
    """
    if (encoding := session.value("SHOW server_encoding")) != "UTF8":
        raise StoreError(f"{address} keeps texts as {encoding}: create the database with --encoding=UTF8.")
    replica = bool(session.value("SELECT pg_is_in_recovery()"))
    if not has_schema(session, address):
        if readonly or replica:
            raise StoreError(f"There is no store in {address}; run `sensegraph index` where it can be written.")
        _make_schema(session, address, ledger)
    found = session.value("SELECT number FROM format")
    if found not in (1, FORMAT):
        raise StoreError(f"{address} has format {found}, this version reads {FORMAT}; upgrade sensegraph.")
    if readonly or replica or not session.value("SELECT has_table_privilege('object', 'INSERT')"):
        return True
    if found == 1:  # nothing in it is another; an earlier version cannot read the arrays that come
        session.execute("UPDATE format SET number = $1", FORMAT)
    return False


def has_schema(session: Session, address: DatabaseAddress) -> bool:
    """Whether there is a store in the schema."""
    return session.value("SELECT to_regclass($1)", f"{address.schema}.format") is not None


def _make_schema(session: Session, address: DatabaseAddress, ledger: Sequence[str]) -> None:
    with session.transaction():
        session.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", f"sensegraph makes {address.schema}")
        if has_schema(session, address):
            return  # another process made it meanwhile
        session.execute(f"CREATE SCHEMA IF NOT EXISTS {address.schema}")
        columns = ", ".join(f"{name} double precision NOT NULL" for name in ledger)
        for statement in (*_TABLES, *LIMIT_TABLES, f"CREATE TABLE ledger (step text PRIMARY KEY, {columns})"):
            session.execute(statement)
        session.execute("CREATE TABLE format (number integer NOT NULL)")
        session.execute("INSERT INTO format VALUES ($1)", FORMAT)


class ReplyTable:
    """Replies of a model that are paid for and not stored yet, in the database: any machine goes on with them."""

    def __init__(self, owner: CorpusStore, address: DatabaseAddress, session: Connecting, fenced: Connecting) -> None:
        self._owner, self._address, self._session, self._fenced = owner, address, session, fenced

    def __reduce__(self) -> tuple[Any, ...]:
        return attrgetter("replies"), (self._owner,)

    @property
    def place(self) -> str:
        """The table and its database."""
        return f"the table reply of {self._address}"

    def any(self) -> bool:
        """Whether there are some."""
        with self._session() as session:
            return bool(session.value("SELECT EXISTS (SELECT 1 FROM reply)"))

    def read(self) -> dict[str, bytes]:
        """All of them."""
        with self._session() as session:
            return dict(session.fetch("SELECT key, body FROM reply"))

    def keep(self, key: str, reply: bytes) -> None:
        """Write one down."""
        with self._session() as session:
            session.execute("INSERT INTO reply VALUES ($1, $2) ON CONFLICT DO NOTHING", key, reply)

    def rest(self) -> None:
        """Nothing is held open."""

    def clear(self) -> None:
        """Remove all of them; only who has the right to build can."""
        with self._fenced() as session:
            session.execute("DELETE FROM reply")


# ── sweeping ──


@dataclass(frozen=True, slots=True)
class Gone:
    """What is to go: of objects step and bytes by key, of tables and arrays the bytes by key."""

    objects: Mapping[str, tuple[str, int]]
    tables: Mapping[str, int]
    arrays: Mapping[str, int]

    def count(self) -> dict[str, Freed]:
        """How much that is, by step."""
        found: dict[str, Freed] = {}
        for key, freed, other in self._list():
            step = self.objects[key][0] if key in self.objects else other
            found[step] = found.get(step, Freed()) + freed
        return dict(sorted(found.items()))

    def _list(self) -> Iterator[tuple[str, Freed, str]]:
        yield from ((k, Freed(objects=1, bytes=n), "") for k, (_, n) in self.objects.items())
        yield from ((k.partition(".")[0], Freed(tables=1, bytes=n), "tables") for k, n in self.tables.items())
        yield from ((k.partition(".")[0], Freed(arrays=1, bytes=n), "arrays") for k, n in self.arrays.items())


def find_gone(ask: Ask, needed: Needed, spare: Collection[str]) -> Gone:
    """All that is there and not `needed`, but objects of the steps in `spare`.

    Where `needed` is a function, what comes while it finds out is not among it.
    """
    objects = {k: (step, n) for k, step, n in ask("SELECT key, step, length(value) FROM object")}
    tables = dict(ask("SELECT key, 0 FROM part"))
    arrays = dict(ask("SELECT key, sum(length(value))::bigint FROM piece GROUP BY key"))
    keep = set(needed() if callable(needed) else needed)
    keep.update(k for k, (step, _) in objects.items() if step in spare)

    def unwanted(key: str) -> bool:
        return key.partition(".")[0] not in keep

    sizes = (
        "SELECT key, (SELECT coalesce(sum(length(value)), 0) FROM block b WHERE b.number = part.number)::bigint + "
        "(SELECT coalesce(sum(length(value)), 0) FROM list l WHERE l.number = part.number)::bigint "
        "FROM part WHERE key = ANY($1)"
    )
    return Gone(
        {k: found for k, found in objects.items() if unwanted(k)},
        dict(ask(sizes, [k for k in tables if unwanted(k)])),
        {k: n for k, n in arrays.items() if unwanted(k)},
    )


def delete_gone(session: Session, gone: Gone) -> None:
    """Delete it, inside a transaction."""
    tables = list(gone.tables)
    for table in ("block", "list"):
        session.execute(f"DELETE FROM {table} WHERE number IN (SELECT number FROM part WHERE key = ANY($1))", tables)
    for table, keys in (("part", tables), ("object", list(gone.objects)), ("piece", list(gone.arrays))):
        for at in range(0, len(keys), _BLOCK):
            session.execute(f"DELETE FROM {table} WHERE key = ANY($1)", keys[at : at + _BLOCK])
