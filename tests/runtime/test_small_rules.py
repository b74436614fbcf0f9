"""Small rules of running and storing by examples that are counted by hand."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import urlsplit

import pytest

from sensegraph.errors import ItemFailed, SettingsError, Stopped
from sensegraph.runtime import delegating
from sensegraph.runtime.activity import StopToken, begin_activity, take_lock
from sensegraph.runtime.batches import (
    Call,
    Doubts,
    Encoded,
    Kept,
    Orders,
    SetAside,
    Stoppable,
    Work,
    count_reasons,
    doubts_any,
    is_shared,
    replace_doubted,
)
from sensegraph.runtime.database_address import DatabaseAddress, is_database
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import step
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.store_place import StorePlace
from sensegraph.runtime.stores import postgres, postgres_replica, sqlite
from sensegraph.runtime.stores.corpus_store import Spent
from sensegraph.runtime.stores.sqlite import SqliteStore
from wired import runtime


class Taken:
    """A lock that is never got, and notes how long it was waited for."""

    def __init__(self) -> None:
        self.waited: list[float] = []

    def acquire(self, timeout: float) -> bool:
        self.waited.append(timeout)
        return False


def test_a_lock_is_never_waited_for_longer_than_was_said() -> None:
    lock = Taken()
    assert not take_lock(cast(threading.Lock, lock), 0.0)
    assert lock.waited == [0.0]
    lock = Taken()
    assert not take_lock(cast(threading.Lock, lock), 0.002)
    assert 0 <= max(lock.waited) <= 0.002
    assert take_lock(threading.Lock(), 0.0)


@step("small.measure", version=1, task="rate")
def measure(items: Any) -> list[int]:
    return [len(item) for item in items]


def too_many(most: float, begun: int, before: int, partial: int, now: int) -> bool:
    """Whether more of so many items may not fail, where so many failed before and others were read in part."""
    rt: Any = Runtime(cast(Any, None), cast(Any, None), cast(Any, None), cast(Any, None), most_failed=most)
    rt.begun["small.measure"] = begun
    rt.aside.extend(SetAside(f"k{i}", "rate", "x", "declined", "no") for i in range(before))
    rt.aside.extend(SetAside(f"p{i}", "rate", "x", "form", "cut", partial=True) for i in range(partial))
    rt.aside.append(SetAside("other", "answer", "x", "declined", "no"))
    return bool(rt._too_many_failed(measure, now))


def test_items_that_failed_count_against_the_share_that_may_and_those_read_in_part_do_not() -> None:
    assert not too_many(0.2, 10, 1, 0, 1)
    assert too_many(0.2, 10, 1, 0, 2)
    assert not too_many(0.2, 10, 1, 5, 1)
    assert not too_many(0.2, 2, 0, 3, 1)  # one may, however few they are
    assert too_many(0.2, 2, 0, 0, 2)
    assert too_many(0.0, 10, 0, 0, 1)


def test_a_store_with_a_damaged_page_is_not_whole(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "one")
    store.write({f"k{i}": bytes([i]) * 900 for i in range(50)})
    store.settle()
    assert store.is_whole()
    store.close()
    (file,) = [p for p in (tmp_path / "one").iterdir() if p.is_file() and p.read_bytes().startswith(b"SQLite")]
    data = bytearray(file.read_bytes())
    data[4096:] = b"\xa5" * (len(data) - 4096)
    file.write_bytes(data)
    assert not SqliteStore.is_whole(store)


@pytest.mark.parametrize(
    ("spent", "limit", "more", "full"),
    [
        ((90, 0.0), (100, 0.0), (10, 0.0), False),
        ((90, 0.0), (100, 0.0), (11, 0.0), True),
        ((90, 9.0), (0, 0.0), (10**9, 1e9), False),  # 0 is no limit
        ((0, 0.5), (0, 1.0), (10**9, 0.5), False),
        ((0, 0.5), (0, 1.0), (0, 0.500001), True),
        ((0, 0.1), (0, 0.3), (0, 0.2), False),  # of fractions that are not exact the sum is a little more
        ((0, 0.5), (0, 1.0), (0, 0.5 + 5e-12), True),
        ((90, 0.1), (100, 1.0), (20, 0.1), True),
        ((90, 0.9), (100, 1.0), (5, 0.2), True),
    ],
)
def test_a_budget_has_room_up_to_its_limit(
    spent: tuple[int, float], limit: tuple[int, float], more: tuple[int, float], full: bool
) -> None:
    assert Spent(*spent).leaves_no_room(limit, *more) is full


@pytest.mark.parametrize(
    ("url", "schema", "place", "here"),
    [
        ("postgresql://ann@db.example.org/texts", "sensegraph", "postgresql://db.example.org/texts", False),
        ("postgres://ann@10.0.0.7:5433/texts?schema=a_1", "a_1", "postgresql://10.0.0.7:5433/texts", False),
        ("postgresql://localhost/t", "sensegraph", "postgresql://localhost/t", True),
        ("postgresql://ann@127.0.0.1:/t", "sensegraph", "postgresql://127.0.0.1/t", True),
        ("postgresql://[::1]:5432/t", "sensegraph", "postgresql://[::1]:5432/t", True),
        ("postgresql:///t", "sensegraph", "postgresql:///t", True),
        ("postgresql:///t?host=/var/run&schema=s", "s", "postgresql:///var/run/t", True),
        ("postgresql://x/t?host=10.1.2.3", "sensegraph", "postgresql://10.1.2.3/t", False),
        ("postgresql://h/t?password=&schema=" + "s" * 63, "s" * 63, "postgresql://h/t", False),
    ],
)
def test_an_address_of_a_database_is_read(url: str, schema: str, place: str, here: bool) -> None:
    found = DatabaseAddress.parse(url)
    assert (found.schema, found.place, found.is_here) == (schema, place, here)
    assert str(found) == f"{place}?schema={schema}"
    assert "schema=" not in found.url
    assert urlsplit(found.url)[:3] == urlsplit(url)[:3]


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("postgresql://ann:secret@h/t", "holds a password"),
        ("postgresql://h/t?password=x", "holds a password"),
        ("postgresql://h/t?passfile=x", "holds a password"),
        ("postgresql://[h/t", "cannot be read"),
        ("mysql://h/t", "must begin with postgresql://"),
        ("postgresql://h/t?schema=Big", "the schema 'Big' must be small letters"),
        ("postgresql://h/t?schema=1a", "the schema '1a' must be small letters"),
        ("postgresql://h/t?schema=" + "s" * 64, "63 at most"),
    ],
)
def test_an_address_that_cannot_be_used_says_why_and_not_what_it_holds(url: str, said: str) -> None:
    with pytest.raises(SettingsError, match=said) as caught:
        DatabaseAddress.parse(url)
    assert "secret" not in str(caught.value)


def test_what_is_no_address_of_a_database_is_a_path() -> None:
    told = {text: is_database(text) for text in ("postgres://h/t", "postgresql://h", "postgres", "a/b", "http://h")}
    assert list(told.values()) == [True, True, False, False, False]


def test_a_place_opens_the_store_that_it_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def note(kind: str) -> Any:
        return lambda *args, **given: (kind, args, given)

    monkeypatch.setattr(postgres, "PostgresStore", note("one"))
    monkeypatch.setattr(postgres_replica, "ReplicatedStore", note("two"))
    folder, cache = tmp_path / "a" / "b", tmp_path / "cache"
    place = StorePlace(folder, "postgresql://h/t", cache, str, "s3://bucket")
    usual = {"readonly": False, "password": str, "arrays": "s3://bucket"}
    opened: Any = place.open(readonly=True)
    assert opened == ("one", ("postgresql://h/t", folder, cache), usual | {"readonly": True})
    assert not folder.exists()
    for _ in range(2):
        opened = place.open()
        assert opened == ("one", ("postgresql://h/t", folder, cache), usual)
        assert folder.is_dir()
    opened = StorePlace(folder, "postgresql://h/t", cache, str, "s3://bucket", "postgresql://other/t").open()
    assert opened == ("two", ("postgresql://h/t", folder, cache), usual | {"replica": "postgresql://other/t"})
    plain = StorePlace(folder)
    assert not plain.exists()
    plain.open().close()
    assert plain.exists()
    assert plain.open(readonly=True).readonly


@dataclass(frozen=True, slots=True)
class Names:
    names: tuple[str, ...] = ()


def is_short(stored: bytes) -> bool:
    return len(stored) < 2


@step("small.doubted", version=1, doubts=is_short)
def doubted(items: Any) -> list[int]:
    return [len(item) * 5 for item in items]


@step("small.tables", version=1, form="tables")
def tabled(items: Any) -> list[Names]:
    return [Names((item,)) for item in items]


def test_a_worker_stores_what_it_computes_and_says_what_is_doubted(store: SqliteStore) -> None:
    def kept(name: str) -> Kept:
        return Kept(Call(__name__, name, {}, {}), store)

    assert kept("doubted")((["a", "b"], ["x", "xxx"])) == [True, False]
    assert store.read(["a", "b"]) == {"a": b"5", "b": b"15"}
    assert kept("doubted")((["c"], lambda of: [of.read(["b"])["b"].decode()])) == [False]
    assert kept("tabled")((["d", "e"], ["x", "y"])) == [False, False]
    assert store.read(["d", "e"]) == {"d": b'{"names":["x"]}', "e": b'{"names":["y"]}'}
    told = [doubts_any(doubted, of) for of in (Doubts([False]), Doubts([False, True]), [b"15"], [b"15", b"5"])]
    assert told == [False, True, False, True]
    assert not doubts_any(measure, [b"5"])


def test_a_doubted_result_is_looked_for_under_another_name(store: SqliteStore) -> None:
    names = [f"k{i}" for i in range(5)]
    store.write({"k0": b"5", "k1": b"15", "k4": b"6", key("k2", "again"): b"5", key("k4", "again"): b"7"})
    again = [key(name, "again") for name in names]
    assert replace_doubted(store, doubted, names) == [again[0], "k1", again[2], "k3", again[4]]


@pytest.mark.parametrize(
    ("count", "cut"), [(0, []), (1, [1]), (255, [255]), (256, [256]), (257, [256, 1]), (600, [256, 256, 88])]
)
def test_stored_results_are_looked_through_256_at_a_time(store: SqliteStore, count: int, cut: list[int]) -> None:
    names = [f"k{i}" for i in range(count)]
    store.write({name: b"5" if i % 2 else b"15" for i, name in enumerate(names)})
    asked: list[int] = []
    source: Any = SimpleNamespace(read=lambda keys: asked.append(len(keys)) or store.read(keys), has=store.has)
    assert replace_doubted(source, doubted, names) == [key(n, "again") if i % 2 else n for i, n in enumerate(names)]
    assert asked == cut


@pytest.mark.parametrize(
    ("said", "counted"),
    [
        ([], {}),
        (["", ""], {"ValueError": 2}),
        (["a\n  b"], {"ValueError: a b": 1}),
        (["x" * 201, "x" * 202], {"ValueError: " + "x" * 200: 2}),
        (["'a' is odd", "'b' is odd", "it is odd"], {"ValueError: … is odd": 2, "ValueError: it is odd": 1}),
        (["'a' is odd", "'a' is odd"], {"ValueError: 'a' is odd": 2}),
        (["don't do 'a'", "don't do 'b'"], {"ValueError: don't do …": 2}),
        (["0123456789ab went", "ba9876543210 went"], {"ValueError: … went": 2}),
        (
            ["0123456789a went", "ba987654321 went"],
            {"ValueError: 0123456789a went": 1, "ValueError: ba987654321 went": 1},
        ),
        (
            ["12 records left", "7 records left", "7 rows left"],
            {"ValueError: … records left": 2, "ValueError: 7 rows left": 1},
        ),
    ],
)
def test_reasons_are_counted_as_one_where_only_names_differ(said: list[str], counted: dict[str, int]) -> None:
    assert count_reasons([ValueError(text) for text in said]) == counted


def test_work_ends_where_it_is_stopped_and_counts_what_was_begun() -> None:
    stopped = threading.Event()
    work = Work(["a", "b", "c", "d", "e"], {"k0": 4, "k1": 2, "k2": 0}, [["k0"], ["k1", "k2"], ["k2"]], stopped)
    orders = Orders(work)
    assert (len(work), len(orders)) == (3, 3)
    assert (work[1], orders[0]) == (["c", "a"], (["k0"], ["e"]))
    stopped.set()
    assert len(work) == 2
    with pytest.raises(IndexError):
        work[2]
    with pytest.raises(ItemFailed, match="2 results for 1 items"):
        Call(__name__, "twice", {}, {})(["a"])


@step("small.twice", version=1)
def twice(items: Any) -> list[int]:
    return [1] * (2 * len(items))


def test_what_is_missing_is_listed_by_its_first_place(store: SqliteStore) -> None:
    rt = runtime(store)
    assert rt.missing(measure, ["a", "bb", "a", "ccc", "bb"]) == [0, 1, 3]
    rt.each(measure, ["bb"])
    assert rt.missing(measure, ["a", "bb", "a", "ccc", "bb"]) == [0, 3]
    rt.each(measure, ["a", "ccc"])
    assert rt.missing(measure, ["a", "bb"]) == []


def test_a_store_is_read_where_nothing_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    usual = sqlite.sqlite3.connect

    def connect(place: Any, **given: Any) -> Any:
        opened.append(str(place).partition("?")[2])
        return usual(":memory:")

    monkeypatch.setattr(sqlite.sqlite3, "connect", connect)
    log = tmp_path / "store.sqlite-wal"
    for writable, bytes_of_log, mode in (
        (True, None, "mode=ro"), (False, None, "mode=ro&immutable=1"), (False, 0, "mode=ro&immutable=1"),
        (False, 1, "mode=ro"), (True, 0, "mode=ro"),
    ):  # fmt: skip
        log.unlink(missing_ok=True)
        if bytes_of_log is not None:
            log.write_bytes(b"x" * bytes_of_log)
        monkeypatch.setattr(sqlite.os, "access", lambda path, how, writable=writable: writable)
        SqliteStore(tmp_path, readonly=True).close()
        assert opened.pop() == mode


@pytest.mark.parametrize(
    ("delegated", "there", "told"), [(True, False, [(0, 1), (1, 1)]), (True, True, []), (False, True, [])]
)
def test_what_a_worker_does_is_told_as_one_thing(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, delegated: bool, there: bool, told: list[tuple[int, int]]
) -> None:
    steps: list[tuple[int, int]] = []
    quiet = runtime(store)
    if there:
        quiet.once(measure, "abc", names=["x"])
    rt = replace(quiet, progress=lambda step, done, total: steps.append((done, total)))
    monkeypatch.setattr(delegating, "is_delegated", lambda rt, asks: delegated)
    monkeypatch.setattr(
        delegating,
        "work_on_worker",
        lambda rt, work, asks: replace(rt, progress=quiet.progress).once(measure, "abc", names=["x"]).key,
    )
    found = delegating.once_on_worker(rt, measure, lambda: "abc", names=["x"])
    assert (found.value, steps) == (3, told)


def test_a_store_that_does_not_say_so_is_not_shared() -> None:
    found = [is_shared(SimpleNamespace(**given)) for given in ({}, {"shared": False}, {"shared": True})]  # type: ignore[arg-type]
    assert found == [False, False, True]


def test_a_call_that_waits_does_not_begin_in_an_activity_that_was_stopped() -> None:
    call = Stoppable(Encoded(Call(__name__, "measure", {}, {})), threading.Event())
    with begin_activity(token := StopToken()):
        assert call(["ab"]) == [b"2"]
        token.stop()
        with pytest.raises(Stopped):
            call(["ab"])
    call.stopped.set()
    with pytest.raises(ItemFailed, match="stopped before this was begun"):
        call(["ab"])
