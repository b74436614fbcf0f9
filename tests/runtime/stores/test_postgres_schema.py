"""What is asked of a database when a store is opened or made there, and what is locked: no database runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from sensegraph.errors import StoreError
from sensegraph.runtime.database_address import DatabaseAddress
from sensegraph.runtime.stores.corpus_store import Freed
from sensegraph.runtime.stores.postgres_limits import LimitTable
from sensegraph.runtime.stores.postgres_schema import Gone, delete_gone, find_gone, prepare_schema

ADDRESS = DatabaseAddress.parse("postgresql://h/d?schema=novels")


class Server:
    """A connection whose answers are given, and which notes what it is told."""

    def __init__(self, exists: list[bool], **answers: Any) -> None:
        self.exists, self.told = exists, list[str]()
        self.answers = {"encoding": "UTF8", "recovery": False, "format": 2, "privilege": True} | answers
        self.rows: list[list[Any]] = []

    def value(self, query: str, *given: Any) -> Any:
        if "to_regclass" in query:
            assert given == ("novels.format",)
            return "there" if self.exists.pop(0) else None
        if query.startswith("INSERT"):
            self.told.append(query.split(" (")[0])
            return 7
        return next(answer for name, answer in self.answers.items() if name in query)

    def execute(self, query: str, *given: Any, **more: Any) -> str:
        self.told.append(" ".join([query.split(" (")[0], *map(str, given)]))
        return ""

    def fetch(self, query: str, *given: Any) -> list[Any]:
        self.told.append(" ".join(query.split()[:2]))
        return self.rows.pop(0)

    @contextmanager
    def transaction(self, kind: str = "") -> Iterator[Any]:
        self.told.append("BEGIN")
        yield self
        self.told.append("COMMIT")

    @property
    def lost(self) -> bool:
        return False


def prepare(server: Any, *, readonly: bool = False) -> bool:
    return prepare_schema(server, ADDRESS, ("calls", "cost"), readonly=readonly)


LOCK = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))"


def test_tables_are_made_once_under_a_lock_and_the_format_last() -> None:
    server = Server([False, False])
    assert prepare(server) is False
    assert server.told[:3] == ["BEGIN", f"{LOCK} sensegraph makes novels", "CREATE SCHEMA IF NOT EXISTS novels"]
    assert server.told[-4:] == [
        "CREATE TABLE ledger", "CREATE TABLE format", "INSERT INTO format VALUES 2", "COMMIT"
    ]  # fmt: skip
    made = {said for said in server.told if said.startswith("CREATE TABLE")}
    names = "object part block list piece ref pin reply admission budget reservation ledger format"
    assert made == {f"CREATE TABLE {name}" for name in names.split()}
    stored = [said for said in server.told if said.startswith("ALTER")]
    assert stored == [f"ALTER TABLE {n} ALTER value SET STORAGE EXTERNAL" for n in ("object", "block", "list", "piece")]


def test_tables_that_another_process_made_meanwhile_are_not_made_again() -> None:
    server = Server([False, True])
    assert prepare(server) is False
    assert server.told == ["BEGIN", f"{LOCK} sensegraph makes novels", "COMMIT"]


@pytest.mark.parametrize(
    ("readonly", "replica", "may", "found"),
    [
        (False, False, True, False),
        (True, False, True, True),
        (False, True, True, True),
        (False, False, False, True),
        (True, True, False, True),
    ],
)
def test_a_store_is_only_read_where_that_is_asked_or_nothing_can_be_written(
    readonly: bool, replica: bool, may: bool, found: bool
) -> None:
    server = Server([True], recovery=replica, privilege=may)
    assert prepare(server, readonly=readonly) is found
    assert server.told == []


@pytest.mark.parametrize(("readonly", "replica"), [(True, False), (False, True), (True, True)])
def test_a_store_is_not_made_where_it_is_only_read(readonly: bool, replica: bool) -> None:
    server = Server([False], recovery=replica)
    with pytest.raises(
        StoreError, match=r"There is no store in postgresql://h/d\?schema=novels; run `sensegraph index`"
    ):
        prepare(server, readonly=readonly)
    assert server.told == []


@pytest.mark.parametrize(("readonly", "told"), [(False, ["UPDATE format SET number = $1 2"]), (True, [])])
def test_a_store_of_the_first_format_is_read_and_says_the_one_of_now_once_it_is_written(
    readonly: bool, told: list[str]
) -> None:
    server = Server([True], format=1)
    assert prepare(server, readonly=readonly) is readonly
    assert server.told == told


def test_a_database_of_other_letters_or_format_is_refused() -> None:
    with pytest.raises(StoreError, match="keeps texts as LATIN1: create the database with --encoding=UTF8"):
        prepare(Server([True], encoding="LATIN1"))
    for other in (0, 3):
        with pytest.raises(StoreError, match=f"has format {other}, this version reads 2; upgrade sensegraph"):
            prepare(Server([True], format=other))


# ── pace and budget ──


class Connections:
    """A database whose connections are one server."""

    def __init__(self, server: Server) -> None:
        self.server, self.opened = server, 0

    @contextmanager
    def session(self) -> Iterator[Any]:
        yield self.server

    def connect(self) -> Any:
        self.opened += 1
        return self.server


def test_a_place_and_a_reservation_are_taken_alone_and_by_a_process_that_is_known_to_live() -> None:
    server = Server([])
    database: Any = Connections(server)
    table = LimitTable(None, database)  # type: ignore[arg-type]
    server.rows = [[(256, -0.5)], [(257, 2.5)]]
    assert table.admit("n", 5, 1, 0, 10.0) == (256, 0.0)
    begin = ["BEGIN", f"{LOCK} sensegraph limits n"]
    cleared = "DELETE FROM admission WHERE name = $1 AND start < clock_timestamp() - $2 * interval '1 second' n 20.0"
    assert server.told == [*begin, "WITH seen", cleared, "COMMIT"]
    server.told.clear()
    assert table.admit("n", 5, 1, 0, 10.0) == (257, 2.5)
    assert server.told == [*begin, "WITH seen", "COMMIT"]
    server.told.clear()
    server.rows = [[], [(0, 0.0, 0, 0.0)], [], [(0, 0.0, 0, 0.0)]]
    for _ in range(2):
        assert table.reserve("n", (1, 0.0), (0, 0.0))[0] == 7
    first, *rest = server.told
    assert first == f"SELECT pg_advisory_lock($1) {table._holder}"
    assert 0 < table._holder < 1 << 62
    assert rest == [*begin, "DELETE FROM", "SELECT coalesce((SELECT", "INSERT INTO reservation", "COMMIT"] * 2
    assert database.opened == 1
    server.told.clear()
    server.rows = [[(5, 0.5), (2, 0.25)], [(7, 0.75, 1, 0.25)]]
    assert table.reserve("n", (1, 0.0), (8, 0.0))[0] == 0
    assert [said for said in server.told if "INSERT" in said] == [
        next(said for said in server.told if said.rstrip().endswith("n 7 0.75"))
    ]
    server.told.clear()
    server.rows = [[(7,)], []]
    for _ in range(2):
        table.settle("n", 7, (5, 0.5), (2, 0.25))
    spent = [said.rsplit(" n ", 1)[1] for said in server.told if "INSERT" in said]
    assert spent == ["2 0.25", "-3 -0.25"]
    table.settle_place(3, 40)
    assert server.told[-1] == "UPDATE admission SET tokens = $2 WHERE number = $1 3 40"


# ── what goes ──


def test_what_goes_is_counted_under_the_step_of_its_object() -> None:
    gone = Gone({"b": ("s", 5), "a": ("r", 1)}, {"b.t": 7, "b.u": 1, "c.t": 2}, {"a.v": 9, "d.v": 3})
    assert list(gone.count().items()) == [
        ("arrays", Freed(arrays=1, bytes=3)), ("r", Freed(1, 0, 1, 10)), ("s", Freed(1, 2, 0, 13)),
        ("tables", Freed(tables=1, bytes=2)),
    ]  # fmt: skip
    assert Gone({}, {}, {}).count() == {}


@pytest.mark.parametrize("function", [True, False])
def test_what_is_not_needed_is_found_by_the_key_before_its_dot(function: bool) -> None:
    asked: list[Any] = []
    rows = [
        [("a", "s", 1), ("b", "s", 2), ("c", "paid", 3)], [("a.t", 0), ("b.t", 0), ("c.t", 0)], [("a.v", 8), ("b", 9)],
        [("b.t", 5)],
    ]  # fmt: skip

    def ask(query: str, *given: Any) -> list[Any]:
        asked.append(given)
        return rows.pop(0)

    found = find_gone(ask, (lambda: {"a"}) if function else {"a"}, ["paid"])
    assert (found.objects, found.tables, found.arrays) == ({"b": ("s", 2)}, {"b.t": 5}, {"b": 9})
    assert asked == [(), (), (), (["b.t"],)]


def test_blocks_and_lists_go_before_the_tables_that_name_them() -> None:
    server: Any = Server([])
    delete_gone(server, Gone({"a": ("s", 1)}, {"a.t": 1}, {"a.v": 1}))
    inner = "WHERE number IN"
    assert server.told == [
        f"DELETE FROM block {inner} ['a.t']", f"DELETE FROM list {inner} ['a.t']",
        "DELETE FROM part WHERE key = ANY($1) ['a.t']", "DELETE FROM object WHERE key = ANY($1) ['a']",
        "DELETE FROM piece WHERE key = ANY($1) ['a.v']",
    ]  # fmt: skip


@pytest.mark.parametrize(("count", "cut"), [(0, []), (5000, [5000]), (5001, [5000, 1])])
def test_five_thousand_keys_are_deleted_at_once(count: int, cut: list[int]) -> None:
    server: Any = Server([])
    delete_gone(server, Gone(dict.fromkeys(map(str, range(count)), ("s", 1)), {}, {}))
    assert [said.count("'") // 2 for said in server.told if said.startswith("DELETE FROM object")] == cut
