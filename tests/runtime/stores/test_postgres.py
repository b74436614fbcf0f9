"""A store in PostgreSQL keeps what the embedded one keeps, and what several machines need besides."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("asyncpg", reason='asyncpg is not installed: pip install "sensegraph[postgres]"')

from databases import (
    corpus_url,
    database_store,
    database_url,
    forget_copies,
    kill_database,
    restart_database,
    start_database,
)
from sensegraph.errors import Busy, SettingsError, StoreError
from sensegraph.runtime.database_address import DatabaseAddress, is_database
from sensegraph.runtime.store_place import StorePlace
from sensegraph.runtime.stores.corpus_store import LOST
from sensegraph.runtime.stores.postgres import PostgresStore
from sensegraph.runtime.stores.postgres_wire import Database
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.testing import CorpusStoreContract
from sensegraph.types import Usage

BROKEN = sys.modules["asyncpg"].InternalClientError("cannot switch to state 12")
GONE = "postgresql://nobody@127.0.0.1:1/library"


@pytest.fixture
def made(tmp_path: Path) -> Iterator[PostgresStore]:
    with closing(database_store(tmp_path)) as store:
        yield store


class TestPostgresStore(CorpusStoreContract):
    def make(self, folder: Path) -> PostgresStore:
        self.opened.append(database_store(folder))
        return self.opened[-1]

    def setup_method(self) -> None:
        self.opened: list[PostgresStore] = []

    def teardown_method(self) -> None:
        for store in self.opened:
            store.close()


# ── addresses ──


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("postgresql://ada:secret@db/library", "holds a password: take it out"),
        ("postgresql://ada@db/library?password=secret", "holds a password: take it out"),
        ("mysql://db/library", "must begin with postgresql://"),
        ("postgresql://db/library?schema=Robert'); --", "the schema"),
        ("postgresql://[db/library", "cannot be read"),
    ],
)
def test_an_address_that_cannot_be_is_refused_without_its_secret(url: str, says: str) -> None:
    with pytest.raises(SettingsError, match=says) as raised:
        DatabaseAddress.parse(url)
    assert "secret" not in str(raised.value)


def test_an_address_names_host_database_and_schema_and_no_user() -> None:
    found = DatabaseAddress.parse("postgresql://ada@db:5433/library?sslmode=require&schema=novels")
    assert str(found) == "postgresql://db:5433/library?schema=novels"
    assert found.url == "postgresql://ada@db:5433/library?sslmode=require"
    assert (
        str(DatabaseAddress.parse("postgres:///library?host=/run/pg"))
        == "postgresql:///run/pg/library?schema=sensegraph"
    )


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("postgresql:///library", True),
        ("postgresql://localhost/library", True),
        ("postgresql://127.0.0.1:5433/library", True),
        ("postgresql:///library?host=/run/pg", True),
        ("postgresql://localhost/library?host=db.example", False),
        ("postgresql://db.example/library", False),
        ("postgresql://10.0.0.7/library", False),
    ],
)
def test_an_address_of_this_machine_is_known_as_one(url: str, here: bool) -> None:
    assert DatabaseAddress.parse(url).is_here is here


@pytest.mark.parametrize(("text", "is_one"), [("postgres://db/x", True), ("notes", False), ("postgresql", False)])
def test_what_is_an_address_is_no_folder(text: str, is_one: bool) -> None:
    assert is_database(text) is is_one


# ── opening ──


def test_a_database_that_is_away_is_named_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"127\.0\.0\.1:1/library.* Check that the database runs and can be reached"):
        PostgresStore(GONE, tmp_path, tmp_path)


def test_a_database_that_does_not_exist_is_to_be_created(tmp_path: Path) -> None:
    url = database_url().replace("/postgres?", "/library?")
    with pytest.raises(StoreError, match="Create the database first"):
        PostgresStore(url, tmp_path, tmp_path)


def test_a_store_of_another_format_is_not_opened(made: PostgresStore, tmp_path: Path) -> None:
    made._ask("UPDATE format SET number = 99")
    with pytest.raises(StoreError, match="has format 99, this version reads 2; upgrade sensegraph"):
        database_store(tmp_path)


def test_a_store_is_there_once_it_was_opened_for_writing(tmp_path: Path) -> None:
    place = StorePlace(tmp_path, corpus_url(tmp_path), tmp_path / "cache")
    assert not place.exists()
    with pytest.raises(StoreError, match="There is no store in"):
        place.open(readonly=True)
    place.open().close()
    assert place.exists()
    file = StorePlace(tmp_path)
    assert not file.exists()
    with closing(file.open()) as store:
        assert isinstance(store, SqliteStore)
    assert file.exists()


def test_a_store_that_can_only_be_read_keeps_what_is_written_in_memory(made: PostgresStore, tmp_path: Path) -> None:
    made.write({"a": b"1"})
    with closing(database_store(tmp_path, readonly=True)) as store:
        store.write({"b": b"2"})
        store.spend("step", Usage(calls=1))
        assert store.read(["a", "b"]) == {"a": b"1", "b": b"2"}
        assert store.has(["a", "b", "c"]) == {"a", "b"}
        with pytest.raises(StoreError, match="can only be read here"):
            store.set_refs({"a": "b"})
    assert made.has(["a", "b"]) == {"a"}
    assert made.ledger() == {}


def test_a_user_who_may_not_write_gets_a_store_that_can_only_be_read(made: PostgresStore, tmp_path: Path) -> None:
    schema = made.address.schema
    made._ask(f"CREATE ROLE reader_{schema} LOGIN")
    made._ask(f"GRANT USAGE ON SCHEMA {schema} TO reader_{schema}")
    made._ask(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO reader_{schema}")
    made.write({"a": b"1"})
    url = corpus_url(tmp_path).replace("postgres:@", f"reader_{schema}@").replace("postgres@", f"reader_{schema}@")
    with closing(PostgresStore(url, tmp_path, tmp_path / "cache")) as store:
        assert store.readonly
        assert store.read(["a"]) == {"a": b"1"}


def test_a_copy_in_another_process_holds_no_password_and_opens_its_own_connections(made: PostgresStore) -> None:
    made.write({"a": b"1"})
    with closing(pickle.loads(pickle.dumps(made))) as copy:
        assert copy.read(["a"]) == {"a": b"1"}
        assert copy.array("missing") is None


# ── arrays on several machines ──


def test_an_array_is_read_from_the_database_once_on_each_machine(made: PostgresStore, tmp_path: Path) -> None:
    array = np.arange(3_000_000, dtype=np.float64)  # in twelve pieces
    made.write_array("v", array)
    assert made._ask("SELECT count(*) FROM piece")[0][0] == 12
    forget_copies(tmp_path)
    with closing(database_store(tmp_path)) as elsewhere:
        found = elsewhere.array("v")
        assert found is not None
        assert np.array_equal(found, array)
        made._ask("DELETE FROM piece")
        assert np.array_equal(elsewhere.array("v"), array)


def test_a_copy_that_is_damaged_is_fetched_again(made: PostgresStore, tmp_path: Path) -> None:
    made.write_array("v", np.arange(10))
    (path,) = (tmp_path / "cache").rglob("v.npy")
    path.write_bytes(path.read_bytes()[:-9])
    with closing(database_store(tmp_path)) as later:
        assert np.array_equal(later.array("v"), np.arange(10))


def test_copies_of_swept_arrays_go_when_a_machine_opens_the_store_next(made: PostgresStore, tmp_path: Path) -> None:
    for name in ("kept", "gone"):
        made.write_array(name, np.arange(10))
    other = tmp_path / "other"
    with closing(PostgresStore(corpus_url(tmp_path), other, other)) as elsewhere:
        assert all(elsewhere.array(name) is not None for name in ("kept", "gone"))
    with made.exclusive():
        assert "free pages of the database" in made.sweep({"kept"}).remains
    assert [p.stem for p in (tmp_path / "cache").rglob("*.npy")] == ["kept"]
    assert len(list(other.rglob("*.npy"))) == 2
    PostgresStore(corpus_url(tmp_path), other, other).close()
    assert [p.stem for p in other.rglob("*.npy")] == ["kept"]


# ── damage ──


@pytest.mark.parametrize("table", ["object", "block", "list"])
def test_what_is_damaged_is_named_removed_and_noted(made: PostgresStore, table: str) -> None:
    made.write({"a": b"value"}, "step")
    made.write_rows("a.t", [("x", b"1")])
    made._ask(f"UPDATE {table} SET value = '\\x0001020304'::bytea")

    def read() -> object:
        rows = made.rows("a.t")
        assert rows is not None
        return made.read(["a"]), rows.at([0]), list(rows.ids())

    with pytest.raises(StoreError, match=r"is damaged at a.* Run `sensegraph index`"):
        read()
    assert made.ref(LOST)
    assert made.has(["a"]) == set()


def test_an_array_that_is_damaged_in_the_database_is_removed(made: PostgresStore, tmp_path: Path) -> None:
    made.write_array("v", np.arange(10))
    made._ask("UPDATE piece SET value = substr(value, 2)")
    forget_copies(tmp_path)
    with pytest.raises(StoreError, match="is damaged at v"):
        made.array("v")
    assert made.array("v") is None
    assert made.array_names() == []


# ── many at once ──


def test_threads_share_a_store(made: PostgresStore) -> None:
    def work(part: int) -> None:
        for i in range(20):
            made.write({f"{part}-{i}": b"x", "shared": b"y"})
            made.write_rows("table", [("x", b"1")])
            made.spend("step", Usage(calls=1))
            assert made.read([f"{part}-{i}"])

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert made.ledger()["step"].calls == 120
    assert len(made.rows("table") or ()) == 1


_HOLDER = """
import sys, time
sys.path[:0] = sys.argv[2:]
from pathlib import Path
from databases import database_store
from sensegraph.runtime.stores.postgres import PostgresStore
folder = Path(sys.argv[1])
import os
store = PostgresStore(os.environ["URL"], folder, folder / "cache")
with store.exclusive():
    print("held", flush=True)
    time.sleep(60)
"""


def test_the_right_to_build_ends_with_a_process_that_is_killed(made: PostgresStore, tmp_path: Path) -> None:
    environment = {**os.environ, "URL": corpus_url(tmp_path)}
    command = [sys.executable, "-c", _HOLDER, str(tmp_path), *sys.path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(Busy), made.exclusive():
            raise AssertionError("two build at once")
        holder.send_signal(signal.SIGKILL)
    with made.exclusive(wait=10):
        made.set_refs({"index": "x"})


def test_who_has_lost_the_right_to_build_cannot_set_names(made: PostgresStore) -> None:
    with made.exclusive():
        made._ask("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted")
        until = time.monotonic() + 10
        while not made._gate.lost and time.monotonic() < until:  # type: ignore[union-attr]
            time.sleep(0.01)
        with pytest.raises(StoreError, match="the right to build; run this again"):
            made.set_refs({"index": "stale"})
    assert made.ref("index") is None
    with made.exclusive():
        made.set_refs({"index": "fresh"})
    assert made.ref("index") == "fresh"


def test_a_store_goes_on_after_its_database_was_killed_and_started_again(tmp_path: Path) -> None:
    server = start_database(lasting=True)
    store = PostgresStore(corpus_url(tmp_path, str(server.get_uri())), tmp_path, tmp_path / "cache")
    with closing(store):
        store.write({"a": b"1"})
        kill_database(server)
        with pytest.raises(StoreError, match="Check that the database runs"):
            store.read(["a"])
        restart_database(server)
        assert store.read(["a"]) == {"a": b"1"}
        store.write({"b": b"2"})
        assert store.has(["a", "b"]) == {"a", "b"}
    server.cleanup()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (TimeoutError(), "(TimeoutError). Check that the database runs"),  # some say nothing: their kind does
        (OSError("no\n  route."), "(no route). Check that the database runs"),
        (BROKEN, "(cannot switch to state 12). Check that the database runs"),
        (asyncio.IncompleteReadError(b"", 9), "(0 bytes read on a total of 9 expected bytes). Look into the log"),
    ],
)
def test_what_the_client_says_stands_in_one_line_with_what_to_do(error: Exception, said: str) -> None:
    database = Database(DatabaseAddress.parse("postgresql://here/x"), str)
    with closing(database), pytest.raises(StoreError) as told, database.explaining():
        raise error
    assert f"cannot be used {said}" in str(told.value)
