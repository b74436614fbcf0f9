"""Connections to a database that are kept, given up and closed; no database runs."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.errors import StoreError
from sensegraph.runtime.database_address import DatabaseAddress
from sensegraph.runtime.stores.postgres_wire import LONG_S, Database, Session


class Connection:
    """A connection that knows whether it was closed."""

    def __init__(self) -> None:
        self.closed = False

    def is_closed(self) -> bool:
        return self.closed

    def terminate(self) -> None:
        self.closed = True


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A database whose connections are none."""
    made: Any = Database.__new__(Database)
    made.address = DatabaseAddress.parse("postgresql://h/d")
    made._idle, made._end = deque(), SimpleNamespace(alive=True)
    made._loop = SimpleNamespace(call_soon_threadsafe=lambda work: work())
    made.opened = []

    def connect() -> Session:
        made.opened.append(Connection())
        return Session(made, made.opened[-1])

    monkeypatch.setattr(made, "connect", connect)
    return made


def test_a_connection_is_used_again_and_one_that_was_lost_is_not(database: Any) -> None:
    with database.session() as first:
        assert len(database._idle) == 0
    with database.session() as second:
        assert second.connection is first.connection
    assert (len(database.opened), len(database._idle)) == (1, 1)
    database._idle[0].closed = True
    with database.session() as third:
        assert third.connection is not first.connection
    assert (len(database.opened), len(database._idle)) == (2, 1)
    with database.session() as fourth:
        fourth.connection.terminate()
    assert list(database._idle) == []


def test_four_connections_are_kept_and_more_are_closed(database: Any) -> None:
    held = [database.session() for _ in range(6)]
    for one in held:
        one.__enter__()
    for one in held:
        one.__exit__(None, None, None)
    assert len(database._idle) == 4
    assert [c.closed for c in database.opened] == [False] * 4 + [True] * 2


def test_a_connection_of_a_closed_database_is_closed_and_none_is_opened(database: Any) -> None:
    with database.session() as one:
        database._end.alive = False
    assert one.connection.closed
    assert list(database._idle) == []
    with pytest.raises(StoreError, match="was closed; open it again"), database.session():
        pass
    assert database.closed


def test_a_connection_is_kept_where_what_it_was_used_for_failed(database: Any) -> None:
    with pytest.raises(ValueError, match="odd"), database.session():
        raise ValueError("odd")
    assert (len(database._idle), database.opened[0].closed) == (1, False)


@pytest.mark.parametrize(
    ("fails", "lost", "said"),
    [(False, False, ["BEGIN ", "COMMIT"]), (True, False, ["BEGIN ", "ROLLBACK"]), (True, True, ["BEGIN "])],
)
def test_a_change_is_made_whole_or_taken_back(
    database: Any, monkeypatch: pytest.MonkeyPatch, fails: bool, lost: bool, said: list[str]
) -> None:
    told: list[str] = []

    def execute(self: Session, query: str) -> None:
        told.append(query)
        if query == "ROLLBACK":
            raise StoreError("it is away")

    monkeypatch.setattr(Session, "execute", execute)
    session = database.connect()
    try:
        with session.transaction():
            session.connection.closed = lost
            if fails:
                raise ValueError("odd")
    except ValueError:
        assert fails
    assert told == said
    told.clear()
    with session.transaction("ISOLATION LEVEL SERIALIZABLE"):
        pass
    assert told[0] == "BEGIN ISOLATION LEVEL SERIALIZABLE"


# ── with the client, and without a database ──


@pytest.fixture
def real() -> Iterator[Database]:
    """A database that nothing was asked of yet."""
    pytest.importorskip("asyncpg", reason='asyncpg is not installed: pip install "sensegraph[postgres]"')
    made = Database(DatabaseAddress.parse("postgresql://ada@h:1/d?schema=novels"), lambda: "")
    yield made
    made.close()


def let_turn(database: Database) -> None:
    """Wait until the loop has done what it was given."""
    asyncio.run_coroutine_threadsafe(asyncio.sleep(0), database._loop).result(10.0)


@pytest.mark.parametrize(("password", "given"), [("", None), ("secret", "secret")])
def test_a_connection_is_opened_with_bounds_of_time_in_the_schema_of_the_corpus(
    real: Database, monkeypatch: pytest.MonkeyPatch, password: str, given: str | None
) -> None:
    asked: list[tuple[str, dict[str, Any]]] = []

    async def connect(url: str, **settings: Any) -> Connection:
        asked.append((url, settings))
        return Connection()

    monkeypatch.setattr(real._client, "connect", connect)
    monkeypatch.setattr(real, "_password", lambda: password)
    session = real.connect()
    assert not session.lost
    ((url, settings),) = asked
    assert url == "postgresql://ada@h:1/d"
    assert settings == {
        "password": given,
        "timeout": 15.0,
        "command_timeout": 600.0,
        "server_settings": {
            "application_name": "sensegraph",
            "search_path": "novels",
            "tcp_keepalives_idle": "20",
            "tcp_keepalives_interval": "10",
            "tcp_keepalives_count": "3",
        },
    }
    session.close()
    let_turn(real)
    assert session.lost


def test_a_database_that_is_closed_ends_its_connections_and_its_thread(real: Database) -> None:
    kept = [Connection(), Connection()]
    real._idle.extend(kept)
    assert not real.closed
    assert {thread.daemon for thread in threading.enumerate() if thread.name == "postgres"} == {True}
    real.close()
    for _ in range(1000):
        if not real._loop.is_running():
            break
        time.sleep(0.005)
    assert real.closed
    assert [one.closed for one in kept] == [True, True]
    assert not real._loop.is_running()
    with pytest.raises(StoreError, match="was closed; open it again"):
        real.connect()
    real.close()


class Failing(Connection):
    """A connection on which each question ends in an error, or never."""

    def __init__(self, error: BaseException | None) -> None:
        super().__init__()
        self.error, self.given = error, list[Any]()

    async def fetch(self, query: str, *values: Any, **given: Any) -> list[Any]:
        self.given.append((query, values, given))
        if self.error:
            raise self.error
        return [(1,)]

    fetchval = execute = fetch


CHECK = "Check that the database runs and can be reached from here, then run this again: what was computed is kept."
LOOK = "Look into the log of the database."


@pytest.mark.parametrize(
    ("name", "lost", "advice"),
    [
        ("InvalidPasswordError", False, "Check the user in store.url, and set the variable SENSEGRAPH_STORE_PASSWORD."),
        ("InvalidAuthorizationSpecificationError", False, "Check the user in store.url, and set the variable "
         "SENSEGRAPH_STORE_PASSWORD."),
        ("InvalidCatalogNameError", False, "Create the database first (createdb), or correct store.url."),
        ("InsufficientPrivilegeError", False, "Grant the user what it lacks, or use one that may write there."),
        ("ReadOnlySQLTransactionError", False, "Grant the user what it lacks, or use one that may write there."),
        ("DiskFullError", False, "Give the database room, then run this again: what was computed is kept."),
        ("TooManyConnectionsError", False, "Give the database room, then run this again: what was computed is kept."),
        ("ConnectionDoesNotExistError", False, CHECK),
        ("AdminShutdownError", False, CHECK),
        ("InternalClientError", True, CHECK),
        ("UndefinedTableError", False, LOOK),
        ("InterfaceError", True, LOOK),
    ],
)  # fmt: skip
def test_each_error_says_what_to_do_and_a_connection_that_the_server_answers_stays_open(
    real: Database, name: str, lost: bool, advice: str
) -> None:
    connection = Failing(getattr(real._client.exceptions, name)("it says\n so."))
    session = Session(real, connection)  # type: ignore[arg-type]
    for ask in (session.fetch, session.value, session.execute):
        with pytest.raises(StoreError) as raised:
            ask("SELECT 1")
        assert str(raised.value) == f"{real.address} cannot be used (it says so). {advice}"
    let_turn(real)
    assert connection.closed is lost


def test_a_statement_has_ten_minutes_unless_it_is_given_more(real: Database) -> None:
    connection = Failing(None)
    session = Session(real, connection)  # type: ignore[arg-type]
    assert session.fetch("a", 1, "x") == [(1,)]
    session.execute("b", 2)
    session.execute("c", timeout=LONG_S)
    assert connection.given == [
        ("a", (1, "x"), {}), ("b", (2,), {"timeout": 600.0}), ("c", (), {"timeout": 86_400.0})
    ]  # fmt: skip
    assert not connection.closed


def test_a_question_that_is_interrupted_gives_its_connection_up(
    real: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection, cancelled = Failing(None), list[bool]()

    def interrupt(work: Any, loop: Any) -> Any:
        work.close()
        return SimpleNamespace(result=lambda: [].pop(), cancel=lambda: cancelled.append(True))

    session = Session(real, connection)  # type: ignore[arg-type]
    with monkeypatch.context() as patched:
        patched.setattr(asyncio, "run_coroutine_threadsafe", interrupt)
        with pytest.raises(IndexError):
            session.fetch("SELECT 1")
    let_turn(real)
    assert (cancelled, connection.closed) == ([True], True)
