"""Connections to a database that are kept, given up and closed; no database runs."""

from __future__ import annotations

from collections import deque
from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.errors import StoreError
from sensegraph.runtime.database_address import DatabaseAddress
from sensegraph.runtime.stores.postgres_wire import Database, Session


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
