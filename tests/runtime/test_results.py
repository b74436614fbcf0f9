"""Results as they are read again: by position, by slice, by id, from tables that are one, and from other processes."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from sensegraph.errors import ResultGone, StoreError
from sensegraph.protocols import Store
from sensegraph.runtime.batches import ReadItems
from sensegraph.runtime.joined_rows import JoinedRows
from sensegraph.runtime.keys import key, note_keys_below, read_keys_below
from sensegraph.runtime.results import (
    Table,
    load_result,
    recall_result,
    save_result,
    step,
    take_records,
)
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.stores.sqlite import SqliteStore
from wired import runtime


@dataclass(frozen=True, slots=True)
class Record:
    id: str
    size: int = 0


@dataclass(frozen=True, slots=True)
class Light:
    size: int


@dataclass(frozen=True, slots=True)
class Shelf:
    records: Sequence[Record] = ()
    names: Sequence[str] = ()
    total: int = 0


@dataclass(frozen=True, slots=True)
class Packed:
    records: Sequence[Record] = ()
    numbers: bytes = b""


@dataclass(frozen=True, slots=True)
class Sums:
    rows: NDArray[Any]
    columns: NDArray[Any]


@step("test_results.pack", version=1, form="tables")
def pack(wholes: Sequence[Packed]) -> list[Packed]:
    return list(wholes)


@step("test_results.count", version=1)
def count(texts: Sequence[str]) -> list[int]:
    return [len(text) for text in texts]


@step("test_results.raw", version=1)
def keep_raw(texts: Sequence[str]) -> list[bytes]:
    return [text.encode() for text in texts]


@step("test_results.shelve", version=1, form="tables")
def shelve(wholes: Sequence[int]) -> list[Shelf]:
    return [Shelf([Record(f"r{i:03}", i) for i in range(n)], ("a", "b"), n) for n in wholes]


@step("test_results.sum", version=1, form="arrays")
def sum_all(wholes: Sequence[NDArray[Any]]) -> list[Sums]:
    return [Sums(whole.sum(1), whole.sum(0)) for whole in wholes]


@pytest.fixture
def rt(store: SqliteStore) -> Runtime:
    return runtime(store)


def read_key(name: str, store: Store) -> bytes:
    return store.read([name])[name]


def find_key(names: Sequence[str], position: int) -> Callable[[Store], bytes]:
    return partial(read_key, names[position])


def test_items_that_are_read_when_they_are_asked_for(store: SqliteStore) -> None:
    store.write({f"k{i}": f"v{i}".encode() for i in range(5)})
    items = ReadItems(store, 5, partial(find_key, [f"k{i}" for i in range(5)]))
    assert (len(items), items[3]) == (5, b"v3")
    assert items[1:4:2] == [b"v1", b"v3"]
    assert items[-2:] == [b"v3", b"v4"]
    reader = pickle.loads(pickle.dumps(items.reader([4, 0])))
    assert reader(store) == [b"v4", b"v0"]


def test_many_results_are_read_in_order_and_by_a_reader_elsewhere(rt: Runtime) -> None:
    texts = ["x" * (i % 7) + str(i) for i in range(600)]
    found = rt.each(count, texts)
    lengths = [len(text) for text in texts]
    assert list(found) == lengths
    assert (found.at([599, 256, 0]), found[255:258]) == ([lengths[i] for i in (599, 256, 0)], lengths[255:258])
    assert pickle.loads(pickle.dumps(found.reader([3, 511])))(rt.store) == [lengths[3], lengths[511]]
    rt.store.forget([found.keys[2], found.keys[5]])  # type: ignore[attr-defined]
    with pytest.raises(ResultGone, match=r"^2 results of test_results\.count are gone"):
        list(found)
    assert found[0:2] == lengths[:2]


def test_bytes_are_stored_as_they_are(rt: Runtime) -> None:
    assert list(rt.each(keep_raw, ["a", "\u00e4"])) == [b"a", b"\xc3\xa4"]


def test_what_holds_bytes_is_stored_with_them_and_read_as_it_was_in_json(store: SqliteStore) -> None:
    made = Packed((Record("r", 3),), bytes(range(200, 250)))
    raw = save_result(store, pack, "k", made)
    assert made.numbers in raw
    for stored in (raw, msgspec.json.encode(Packed((), made.numbers))):
        found = load_result(store, pack, "k", stored)
        assert (found.numbers, tuple(found.records)) == (made.numbers, made.records)
    with pytest.raises(StoreError, match="another version"):
        load_result(store, pack, "k", raw[:-1])


def make_joined(store: SqliteStore) -> JoinedRows:
    """Three tables of 3, 0 and 2 records as one."""
    rows = [(f"r{i}", msgspec.json.encode(Record(f"r{i}", i))) for i in range(5)]
    for name, part in (("one.t", rows[:3]), ("none.t", []), ("two.t", rows[3:])):
        store.write_rows(name, part)
    return JoinedRows(store, [("one.t", 3, "r0"), ("none.t", 0, "r3"), ("two.t", 2, "r3")])


def test_tables_one_after_the_other_are_one(store: SqliteStore) -> None:
    rows = make_joined(store)
    table: Table[Record] = Table(rows, Record)
    assert len(table) == 5
    assert [r.size for r in table] == [0, 1, 2, 3, 4]
    assert [r.size for r in table.at([4, 0, 3, 2, 0])] == [4, 0, 3, 2, 0]
    assert table[-1] == table[4] == Record("r4", 4)
    assert [r.size for r in table[1:4]] == [1, 2, 3]
    assert table.ids() == ["r0", "r1", "r2", "r3", "r4"]
    assert [light.size for light in table.lightly(Light)] == [0, 1, 2, 3, 4]
    assert list(map(msgspec.json.decode, table.raw()))[3] == {"id": "r3", "size": 3}
    assert [(name, r.size) for name, r in table.find(["r4", "r1", "a", "r9", "r2x"]).items()] == [("r1", 1), ("r4", 4)]
    assert take_records(table, [3, 1]) == [Record("r3", 3), Record("r1", 1)]
    assert take_records(["a", "b", "c"], [2, 0]) == ["c", "a"]
    assert table.joined == rows.parts


def test_a_table_is_opened_once_and_one_that_is_gone_is_named(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    usual = store.rows
    monkeypatch.setattr(store, "rows", lambda name: opened.append(name) or usual(name))
    table = Table[Record](make_joined(store), Record)
    assert [r.size for _ in range(3) for r in table.at([0, 4])] == [0, 4] * 3
    assert opened == ["one.t", "two.t"]
    store.forget(["none.t"])
    with pytest.raises(ResultGone):
        JoinedRows(store, [("none.t", 1, "r3")]).at([0])


def test_a_joined_table_knows_the_results_that_it_is_made_of(store: SqliteStore) -> None:
    rows = make_joined(store)
    store.write({"one": b"1", "two": b"2"})
    with pytest.raises(ResultGone, match="The result none is gone"):
        rows.heads()
    store.write({"none": b"0"})
    assert Table[Record](rows, Record).heads() == [b"1", b"0", b"2"]
    whole = store.rows("one.t")
    assert whole is not None
    assert (Table[Record](whole, Record).heads(), Table[Record](whole, Record).joined) == ([], ())


def test_a_result_is_stored_with_its_tables_or_with_what_they_are_made_of(store: SqliteStore) -> None:
    save_result(store, shelve, "whole", shelve.fn([3])[0])
    found = load_result(store, shelve, "whole")
    assert list(found.records) == [Record(f"r00{i}", i) for i in range(3)]
    assert (list(found.names), found.total) == (["a", "b"], 3)
    joined: Table[Record] = Table(make_joined(store), Record)
    save_result(store, shelve, "joined", Shelf(joined, (), 7))
    again = load_result(store, shelve, "joined")
    assert ([r.size for r in again.records], again.total) == ([0, 1, 2, 3, 4], 7)
    assert store.rows("joined.records") is None
    store.forget(["two.t"])
    with pytest.raises(ResultGone, match=r"The table two\.t is gone"):
        load_result(store, shelve, "joined")
    store.write({"other": b'{"total": "many"}', "odd": b"no json"})
    for name in ("other", "odd"):
        with pytest.raises(StoreError, match=rf"The result {name} of test_results\.shelve is of another version"):
            load_result(store, shelve, name)


def test_arrays_of_one_result_are_stored_together(rt: Runtime, store: SqliteStore) -> None:
    made = rt.once(sum_all, np.arange(6).reshape(2, 3), names=["six"])
    assert (made.value.rows.tolist(), made.value.columns.tolist()) == ([3, 12], [3, 5, 7])
    assert store.read([made.key]) == {made.key: b"arrays"}
    assert recall_result(store, sum_all, made.key).rows.tolist() == [3, 12]
    store.array_path(f"{made.key}.rows").unlink()
    with pytest.raises(ResultGone, match=rf"The array {made.key}\.rows is gone"):
        recall_result(store, sum_all, made.key)
    with pytest.raises(ResultGone, match=r"The result no of test_results\.sum is gone"):
        recall_result(store, sum_all, "no")
    assert rt.once(sum_all, np.arange(6).reshape(2, 3), names=["six"]).value.rows.tolist() == [3, 12]


def test_what_a_result_was_made_from_is_noted_by_key(store: SqliteStore) -> None:
    one, two, three = (key("k", i) for i in range(3))
    store.write(note_keys_below({one: [two, three], two: []}), "count")
    assert read_keys_below(store, [one]) == [key(one, "below"), two, three]
    assert read_keys_below(store, [two]) == [key(two, "below")]
    assert read_keys_below(store, [three]) == []


def test_a_step_says_what_it_gives_and_travels_as_its_name() -> None:
    assert (count.result, count.batch, count.form, count.sees("a")) == (int, 64, "value", "a")
    assert (count.decode(b"3"), keep_raw.decode(b"3")) == (3, b"3")
    assert (count.encode(3), keep_raw.encode(b"x")) == (b"3", b"x")
    assert count.__reduce__()[1] == (__name__, "count")


def test_an_id_before_the_first_or_in_an_empty_table_is_not_found(store: SqliteStore) -> None:
    store.write_rows("t.some", [("m", b"1"), ("c", b"2")])
    store.write_rows("t.none", [])
    some, none = store.rows("t.some"), store.rows("t.none")
    assert some is not None
    assert none is not None
    assert some.find(["a", "", "c", "d", "m", "z"]) == {"c": b"2", "m": b"1"}
    assert (none.find(["a", ""]), list(none.ids()), list(none.scan()), len(none)) == ({}, [], [], 0)
    assert (list(some.ids()), some.at([1, 0])) == (["m", "c"], [b"2", b"1"])


class OneRowEach:
    """A store of tables of one row each, which counts how often each is opened."""

    def __init__(self) -> None:
        self.opened: list[str] = []

    def rows(self, name: str) -> Any:
        self.opened.append(name)
        return SimpleNamespace(
            at=lambda positions: [f"{name} {position}".encode() for position in positions],
            find=lambda names: {one: name.encode() for one in names},
            scan=lambda: iter([name.encode()]),
            ids=lambda: iter([name]),
        )


def test_a_joined_table_keeps_128_parts_open_those_used_last() -> None:
    store: Any = OneRowEach()
    joined = JoinedRows(store, [(f"t{i:03}", 1, f"t{i:03}") for i in range(130)])
    assert joined.at(list(range(128))) == [f"t{i:03} 0".encode() for i in range(128)]
    assert len(store.opened) == 128
    assert joined.find(["t000", "t127", "s"]) == {"t000": b"t000", "t127": b"t127"}
    assert len(store.opened) == 128
    assert joined.at([128, 0]) == [b"t128 0", b"t000 0"]
    assert store.opened[128:] == ["t128"]  # the first was used later than the second, which went
    assert joined.at([1]) == [b"t001 0"]
    assert store.opened[129:] == ["t001"]
    assert list(joined.ids()) == [f"t{i:03}" for i in range(130)]


def test_results_are_read_256_at_a_time_and_items_one_by_one(rt: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    found = rt.each(count, [f"{i}" * (i % 7) for i in range(514)])
    asked: list[int] = []
    read = SqliteStore.read

    def note(self: SqliteStore, keys: Sequence[str]) -> dict[str, bytes]:
        asked.append(len(keys))
        return read(self, keys)

    monkeypatch.setattr(SqliteStore, "read", note)
    assert list(found) == [len(f"{i}" * (i % 7)) for i in range(514)]
    assert asked == [256, 256, 2]
    asked.clear()
    assert (found[3], found[-1], found[1:3], found.at([5, 2])) == (3, 6, [1, 2], [5, 2])
    assert asked == [1, 1, 2, 2]


def test_a_stored_array_that_is_gone_and_a_result_of_another_version_are_named(rt: Runtime, store: SqliteStore) -> None:
    store.write({"old": b'{"other": 1}', "broken": b"{"}, "s")
    for name in ("old", "broken"):
        with pytest.raises(StoreError, match=rf"The result {name} of test_results\.count is of another version"):
            load_result(store, count, name)
    with pytest.raises(ResultGone, match=r"The result none of test_results\.count is gone from the store"):
        recall_result(store, count, "none")
    with pytest.raises(ResultGone, match=r"The array none\.rows is gone from the store"):
        load_result(store, sum_all, "none")
