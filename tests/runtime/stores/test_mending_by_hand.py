"""A store that cannot be checked is copied as far as it can be read, and what cannot be written is not mended."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.errors import StoreError
from sensegraph.runtime.stores import mending, packs
from sensegraph.runtime.stores.corpus_store import LOST
from sensegraph.runtime.stores.mending import mend_store
from sensegraph.runtime.stores.sqlite import FORMAT, SqliteStore


def fail_on(store: SqliteStore, monkeypatch: pytest.MonkeyPatch, failing: str, times: int) -> None:
    """The first queries that hold these words fail."""
    select, left = store.select, [times]

    def read(query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        if failing in query and left[0]:
            left[0] -= 1
            raise StoreError("the disk is bad")
        return select(query, values)

    monkeypatch.setattr(store, "select", read)


@pytest.mark.parametrize("failing", ["integrity_check", "FROM ref"])
def test_a_store_that_cannot_be_looked_through_is_copied_and_what_is_whole_stays(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    store.write({"a": b"1", "b": b"2" * 9000}, "s")
    store.write_rows("t", [("x", b"1"), ("y", b"2")])
    store.set_refs({"name": "value"})
    fail_on(store, monkeypatch, failing, 1)
    assert mend_store(store) == 1
    assert store.read(["a", "b"]) == {"a": b"1", "b": b"2" * 9000}
    assert (store.ref("name"), bool(store.ref(LOST))) == ("value", True)
    found = store.rows("t")
    assert found is not None
    assert list(found.scan()) == [b"1", b"2"]
    assert not store.path.with_name("store.mended.sqlite").exists()


def test_a_whole_store_is_not_copied(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.write({"a": b"1"}, "s")
    monkeypatch.setattr(mending, "_copy_readable", lambda store: pytest.fail("it is whole"))
    assert mend_store(store) == 0
    assert store.ref(LOST) is None


@pytest.mark.parametrize(("more", "looked"), [(0, True), (-1, False)])
def test_what_is_larger_than_the_bound_or_read_only_is_not_looked_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: int, looked: bool
) -> None:
    with closing(SqliteStore(tmp_path)) as store:
        store.write({"a": b"1"}, "s")
        store.settle()
        store.select("UPDATE pack SET value = x'00'")
        store.settle()
        monkeypatch.setattr(mending, "_LARGEST", store.path.stat().st_size + more)
        assert mend_store(store) == int(looked)
    with closing(SqliteStore(tmp_path, readonly=True)) as store:
        assert mend_store(store) == 0


class Broken:
    """A database whose rows are listed from either end until a page is bad."""

    def __init__(self, forwards: list[int], backwards: list[int], *, ends: bool = False) -> None:
        self.forwards, self.backwards, self.ends = forwards, backwards, ends

    def execute(self, query: str) -> Iterator[tuple[int]]:
        listed = self.backwards if query.endswith("DESC") else self.forwards
        yield from ((place,) for place in listed)
        if not self.ends:
            raise sqlite3.DatabaseError("a page is bad")


@pytest.mark.parametrize(
    ("broken", "last", "most", "places"),
    [
        (Broken([0, 1, 5], [], ends=True), 5, 99, [0, 1, 5]),
        (Broken([], [], ends=True), 5, 99, []),
        (Broken([1, 2], [9, 8]), 9, 6, [1, 2, 9, 8, 3, 4, 5, 6, 7]),
        (Broken([1, 2], [9, 8]), 9, 5, [1, 2, 9, 8]),  # between are more than the file has room for
        (Broken([1, 2], [9, 8, 2, 1]), 9, 99, [1, 2, 9, 8, 3, 4, 5, 6, 7]),
        (Broken([1, 2], [9, 8, 8, 7]), 9, 99, [1, 2, 9, 8, 3, 4, 5, 6, 7]),
        (Broken([1, 2], [10, 8]), 9, 99, [1, 2, 3, 4, 5, 6, 7, 8, 9]),  # a damaged number, after the last
        (Broken([1, 4, 4, 5], [], ends=True), 6, 99, [1, 4, 5, 6]),  # a page that leads back to itself
        (Broken([1, 4, 3], [6]), 6, 99, [1, 4, 6, 5]),
        (Broken([], []), 3, 5, [0, 1, 2, 3]),
        (Broken([], []), 3, 4, []),
        (Broken([1, 2, 3], []), 3, 1, [1, 2, 3]),
        (Broken([], [3, 2, 1, 0]), 3, 99, [3, 2, 1, 0]),
    ],
)
def test_rows_are_listed_from_either_end_and_between_as_far_as_there_is_room(
    broken: Any, last: int, most: int, places: list[int]
) -> None:
    assert list(mending._list_places(broken, "object", last, most)) == places


def test_what_cannot_be_copied_of_a_table_is_counted_row_by_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, asked = tmp_path / "a.sqlite", []
    with closing(sqlite3.connect(path, isolation_level=None)) as old, closing(sqlite3.connect(":memory:")) as made:
        for db in (old, made):
            db.execute("CREATE TABLE t (key TEXT PRIMARY KEY, value INTEGER)")
            db.execute("CREATE TABLE empty (key TEXT)")
        made.execute("INSERT INTO t VALUES ('b', 0)")
        old.executemany("INSERT INTO t VALUES (?, ?)", [("a", 1), ("b", 2), ("c", 3)])

        def list_places(broken: object, table: str, last: int, most: int) -> list[int]:
            asked.append((table, last, most))
            return [1, 2, 3, 7, 9]

        assert mending._copy_table(path, made, "none") == 1
        assert mending._copy_table(path, made, "t") == 0
        assert made.execute("SELECT * FROM t ORDER BY key").fetchall() == [("a", 1), ("b", 0), ("c", 3)]
        monkeypatch.setattr(mending, "_list_places", list_places)
        assert mending._copy_table(path, made, "t") == 2
        assert mending._copy_table(path, made, "empty") == 5
        assert asked == [("t", 3, path.stat().st_size // 64), ("empty", 0, path.stat().st_size // 64)]


class BrokenKeys:
    """Rows of objects of which those with some first bytes are listed from either end until a page is bad."""

    text_factory: object = None

    def __init__(self, rows: dict[bytes, int], bad: set[int]) -> None:
        self.rows, self.bad = rows, bad

    def execute(self, query: str, bounds: tuple[Any, bytes]) -> Iterator[tuple[bytes, int]]:
        low = bounds[0] or b""
        held = [(key, n) for key, n in sorted(self.rows.items()) if low <= key < bounds[1]]
        if query.endswith("DESC"):
            held.reverse()
        for key, number in held:
            if number in self.bad:
                raise sqlite3.DatabaseError("a page is bad")
            yield key, number

    def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("bad", "lost", "gone"),
    [(set(), 0, set()), ({2}, 1, {2}), ({1, 3}, 1, {1, 2, 3}), ({0, 4}, 1, {0, 1, 2, 3, 4}), ({0, 7}, 2, {0, 7})],
)
def test_rows_of_objects_are_copied_from_either_end_of_what_begins_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bad: set[int], lost: int, gone: set[int]
) -> None:
    rows = {bytes([n // 5 * 255, n]): n for n in range(10)}  # five begin with 0, five with 255
    (tmp_path / "a.sqlite").write_bytes(bytes(1000))
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as made:
        made.execute(packs.OBJECTS[0])
        monkeypatch.setattr(mending.sqlite3, "connect", lambda path: BrokenKeys(rows, bad))
        assert mending._copy_keys(tmp_path / "a.sqlite", made) == lost
        found = dict(made.execute("SELECT key, number FROM object").fetchall())
    assert found == {key: n for key, n in rows.items() if n not in gone}


def test_rows_of_objects_under_keys_of_every_kind_are_copied(store: SqliteStore) -> None:
    keys = ["", "a", "é", "00" * 20, "ff" * 20, "7f" * 20, "FF" * 20]
    store.write({key: key.encode() for key in keys}, "s")
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as made:
        made.execute(packs.OBJECTS[0])
        assert mending._copy_keys(store.path, made) == 0
        assert sorted(key for key, _ in packs.find_objects(made, keys)) == sorted(keys)


@pytest.mark.parametrize(("of_each", "said"), [(0, 1), (1, 7)])
def test_a_store_that_was_copied_has_lost_something_though_no_row_is_missing(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, of_each: int, said: int
) -> None:
    copied: list[str] = []
    monkeypatch.setattr(mending, "_copy_table", lambda path, made, table: (copied.append(table), of_each)[1])
    monkeypatch.setattr(mending, "_copy_keys", lambda path, made: (copied.append("object"), of_each)[1])
    store.path.with_name("store.mended.sqlite").write_bytes(b"of a process that was killed")
    assert mending._copy_readable(store) == said
    assert copied == ["object", "pack", "part", "block", "list", "ref", "ledger"]
    assert store.has(["a"]) == set()


def test_what_was_found_whole_is_known_by_the_names_sizes_and_times_of_its_files(tmp_path: Path) -> None:
    (tmp_path / "arrays").mkdir()
    assert not mending.is_as_left(tmp_path)
    for name in ("store.sqlite", "store.sqlite-wal", "arrays/b.npy", "arrays/a.npy", "arrays/c.part"):
        (tmp_path / name).write_bytes(b"12" if name[0] == "a" else b"")
        os.utime(tmp_path / name, ns=(7, 9))
    (tmp_path / "store.sqlite").write_bytes(b"123")
    os.utime(tmp_path / "store.sqlite", ns=(7, 8))
    mending.note_as_left(tmp_path)
    assert (tmp_path / "whole.txt").read_text() == "store.sqlite 3 8\na.npy 2 9\nb.npy 2 9"
    assert mending.is_as_left(tmp_path)
    (tmp_path / "store.sqlite-wal").write_bytes(b"1")
    assert not mending.is_as_left(tmp_path)
    mending.note_as_left(tmp_path / "none")


@pytest.mark.parametrize(
    ("key", "lost"), [("CAST(x'ff41' AS TEXT)", 1), ("x'ff41'", 1), (f"x'{'00' * 20}'", 1), ("7", 1), ("'a'", 0)]
)
def test_an_object_under_a_damaged_name_goes_and_no_other(store: SqliteStore, key: str, lost: int) -> None:
    store.write({"a": b"1" * 9000}, "s")
    store.write({"b": b"2" * 9000}, "s")
    store.select(f"UPDATE object SET key = {key} WHERE key = 'a'")
    assert mend_store(store) == lost
    assert store.select("SELECT key FROM object ORDER BY number") == [("a",), ("b",)][lost:]
    assert store.select("SELECT count(*) FROM pack") == [(2 - lost,)]
    assert mend_store(store) == 0


@pytest.mark.parametrize("rows", [1, 2, 3, 5])
def test_packs_are_looked_through_some_at_once(store: SqliteStore, monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    monkeypatch.setattr(packs, "_WALKED", 2)
    for i in range(rows):
        store.write({f"k{i}": b"x" * 9000})
    store.select("UPDATE pack SET value = x'00'")
    assert [key for key, _ in packs.list_damaged(store)] == [f"k{i}" for i in range(rows)]
    assert mend_store(store) == rows
    assert store.read([f"k{i}" for i in range(rows)]) == {}


def test_a_file_that_is_moved_aside_leaves_no_log_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(db: object) -> None:
        raise sqlite3.DatabaseError("it holds a trigger")

    names = ["store.sqlite", "store.sqlite-shm", "store.sqlite-wal"]
    (tmp_path / "arrays").mkdir()
    for name in (*names, "arrays/v.npy"):
        (tmp_path / name).write_bytes(b"x")
    monkeypatch.setattr(mending, "check_inert", refuse)
    mending.move_unreadable(tmp_path / "store.sqlite", [], FORMAT)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["arrays", "store.damaged.sqlite"]
    (tmp_path / "store.sqlite").write_bytes(b"x")
    mending.move_unreadable(tmp_path / "store.sqlite", [], FORMAT)  # without a log, and with one that was moved before
    assert not (tmp_path / "store.sqlite").exists()


def test_a_file_that_is_busy_stays_with_its_arrays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(db: object) -> None:
        raise sqlite3.OperationalError("database is locked")

    (tmp_path / "arrays").mkdir()
    for name in ("store.sqlite", "arrays/v.npy"):
        (tmp_path / name).write_bytes(b"")
    monkeypatch.setattr(mending, "check_inert", refuse)
    mending.move_unreadable(tmp_path / "store.sqlite", [], FORMAT)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["arrays", "store.sqlite", "v.npy"]


@pytest.mark.parametrize(("size", "lost"), [(268_435_456, 1), (268_435_457, 0)])
def test_damage_is_looked_for_in_a_store_of_up_to_256_mebibytes(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, size: int, lost: int
) -> None:
    store.write({"a": b"1" * 9000, "b": b"2" * 9000}, "s")
    store.select("UPDATE pack SET value = x'00' WHERE number = (SELECT number FROM object WHERE key = 'a')")
    monkeypatch.setattr(store, "path", SimpleNamespace(stat=lambda: SimpleNamespace(st_size=size)))
    assert mend_store(store) == lost
    assert store.has(["a", "b"]) == ({"b"} if lost else {"a", "b"})
