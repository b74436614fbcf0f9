"""How long a store waits, how much it asks for at once, and how its tables are cut: each bound on both sides."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pytest

from sensegraph.errors import ResultGone, StoreError
from sensegraph.runtime.stores import array_files, mending, rows, sealing, sqlite
from sensegraph.runtime.stores.rows import StoredRows, cut_blocks
from sensegraph.runtime.stores.sealing import seal
from sensegraph.runtime.stores.sqlite import SqliteStore


def fill_table(count: int) -> list[tuple[str, bytes]]:
    return [(f"i{n:05}", b"%d" % n) for n in range(count)]


@dataclass
class Noting:
    """The source of a table, which notes what is asked of it."""

    source: Any
    asked: list[Any] = field(default_factory=list)

    def read_blocks(self, number: int, firsts: Any) -> Any:
        self.asked.append(("blocks", firsts[0], len(firsts)))
        return self.source.read_blocks(number, firsts)

    def read_lists(self, number: int, firsts: Any) -> Any:
        self.asked.append(("lists", firsts[0], len(firsts)))
        return self.source.read_lists(number, firsts)

    def list_firsts(self, number: int) -> Any:
        self.asked.append("firsts")
        return self.source.list_firsts(number)

    def rows(self, key: str) -> Any:
        return self.source.rows(key)

    def checking(self, *given: Any) -> Any:
        return self.source.checking(*given)


def open_noting(store: SqliteStore, key: str) -> tuple[StoredRows, list[Any]]:
    found = store.rows(key)
    assert isinstance(found, StoredRows)
    noting = Noting(found._source)
    return StoredRows(noting, key, found._view.number, found._head), noting.asked


@pytest.mark.parametrize(
    ("count", "blocks", "lists"),
    [(0, 0, 1), (1, 1, 1), (80, 1, 1), (81, 2, 1), (256, 4, 1), (257, 4, 2), (560, 7, 3), (561, 8, 3)],
)
def test_eighty_records_are_a_block_and_256_ids_a_list(store: SqliteStore, count: int, blocks: int, lists: int) -> None:
    records = fill_table(count)[::-1]
    store.write_rows("other", fill_table(40))
    store.write_rows("t", records)
    ((number,),) = store.select("SELECT number FROM part WHERE key = 't'")
    wide = 1 << 31
    places = store.select("SELECT place FROM block WHERE place >= ? ORDER BY place", (number * wide,))
    assert [place - number * wide for (place,) in places] == list(range(0, count, 80))
    assert len(places) == blocks
    firsts = [first for (first,) in store.select("SELECT first FROM list WHERE number = ? ORDER BY first", (number,))]
    assert firsts == [f"i{n:05}" for n in range(0, count, 256)]
    assert len(firsts) == (lists if count else 0)
    found = store.rows("t")
    assert found is not None
    assert (len(found), list(found.ids()), list(found.scan())) == (
        count,
        [i for i, _ in records],
        [r for _, r in records],
    )
    names = [name for n in (0, 79, 80, 255, 256, 257, 511, 512) for name in (f"i{n:05}", f"i{n:05}x", f"h{n}")]
    assert found.find(names) == {name: record for name, record in records if name in names}
    last = [n for n in (0, 79, 80, 255, 256, 511, 512, count - 1) if 0 <= n < count]
    assert found.at(last[::-1]) == [b"%d" % (count - 1 - n) for n in last[::-1]]
    with pytest.raises(StoreError, match="is damaged at t"):
        found.at([count])


def test_a_reader_asks_for_64_blocks_at_once_and_keeps_as_many(store: SqliteStore) -> None:
    store.write_rows("t", fill_table(80 * 65 + 5))
    found, asked = open_noting(store, "t")
    assert list(found.scan()) == [b"%d" % n for n in range(80 * 65 + 5)]
    assert asked == [("blocks", 0, 64), ("blocks", 5120, 2)]
    asked.clear()
    firsts = list(range(0, 80 * 65, 80))
    assert found.at(firsts) == [b"%d" % n for n in firsts]  # what was read in passing is not kept
    assert asked == [("blocks", 0, 64), ("blocks", 5120, 1)]
    asked.clear()
    found.at([80, 159, 5121, 0])
    assert asked == [("blocks", 0, 1)]  # the oldest went
    asked.clear()
    found.at([79])
    assert asked == []


READINGS: dict[str, Callable[[StoredRows], Any]] = {
    "at": lambda table: table.at([0, 170, 85]),
    "find": lambda table: table.find(["i00003", "i00171", "x"]),
    "ids": lambda table: list(table.ids()),
    "scan": lambda table: list(table.scan()),
}


def drop_and_write_again(store: SqliteStore, records: list[tuple[str, bytes]]) -> None:
    store.drop(["a"])
    store.write_rows("b.t", fill_table(200))
    store.write_rows("a.t", records)


@pytest.mark.parametrize("before", ["", "at", "find"])
@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("step", [1, -1])
def test_who_opened_a_table_reads_it_where_it_was_dropped_and_written_again(
    store: SqliteStore, before: str, reading: str, step: int
) -> None:
    records = fill_table(200)[::step]
    store.write_rows("a.t", records)
    opened, unread = store.rows("a.t"), store.rows("a.t")
    assert isinstance(opened, StoredRows)
    assert isinstance(unread, StoredRows)
    number = opened._view.number
    if before:
        READINGS[before](opened)
    store.drop(["a"])
    with pytest.raises(ResultGone, match="Ask again"):
        READINGS[reading](unread)
    drop_and_write_again(store, records)
    again = store.rows("a.t")
    assert isinstance(again, StoredRows)
    assert again._view.number != number
    for table in (opened, unread):
        assert READINGS[reading](table) == READINGS[reading](again)
        assert READINGS["find"](table) == {"i00003": b"3", "i00171": b"171"}


@pytest.mark.parametrize("reading", READINGS)
def test_a_table_is_read_again_that_was_forgotten_and_written_under_its_number(
    store: SqliteStore, reading: str
) -> None:
    store.write_rows("a.t", fill_table(200))
    opened = store.rows("a.t")
    assert isinstance(opened, StoredRows)
    store.forget(["a.t"])
    with pytest.raises(ResultGone, match="Ask again"):
        READINGS[reading](opened)
    store.write_rows("a.t", fill_table(200))
    again = store.rows("a.t")
    assert isinstance(again, StoredRows)
    assert again._view.number == opened._view.number
    assert READINGS[reading](opened) == READINGS[reading](again)


@pytest.mark.parametrize("asked", ["rows", "list_firsts", "read_lists", "read_blocks"])
def test_two_threads_find_a_table_again_at_once(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    store.write_rows("a.t", fill_table(200))
    opened = store.rows("a.t")
    assert isinstance(opened, StoredRows)
    drop_and_write_again(store, fill_table(200))
    ask, others = getattr(opened._source, asked), list[Any]()

    def ask_after_another(*given: Any) -> Any:
        got = ask(*given)
        monkeypatch.undo()
        with ThreadPoolExecutor(1) as pool:  # it finds the table while this one has the answer of before
            others.append(pool.submit(READINGS["find"], opened).result(60))
        return got if asked != "rows" else ask(*given)

    monkeypatch.setattr(opened._source, asked, ask_after_another)
    expected = {"i00003": b"3", "i00171": b"171"}
    assert [READINGS["find"](opened), READINGS["find"](opened)] == [expected, expected]
    assert others == [expected]
    assert store.rows("a.t") is not None


def test_what_was_read_of_a_table_before_it_was_written_again_is_read_again(store: SqliteStore) -> None:
    store.write_rows("a.t", fill_table(200))
    opened = store.rows("a.t")
    assert opened is not None
    assert opened.at([0]) == [b"0"]
    drop_and_write_again(store, [(name, b"new " + record) for name, record in fill_table(200)])
    assert opened.at([0, 170]) == [b"new 0", b"new 170"]


def test_damage_of_a_table_that_is_found_again_is_told(store: SqliteStore) -> None:
    store.write_rows("a.t", fill_table(200))
    opened = store.rows("a.t")
    assert opened is not None
    drop_and_write_again(store, fill_table(200))
    store.select("UPDATE block SET value = x'00'")
    with pytest.raises(StoreError, match=r"is damaged at a\.t"):
        opened.at([3])


def test_a_table_that_was_written_again_in_another_form_is_gone(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.write_rows("a.t", fill_table(200))
    opened = store.rows("a.t")
    assert opened is not None
    store.drop(["a"])
    store.write_rows("b.t", fill_table(200))
    monkeypatch.setattr(rows, "_ROWS", 16)
    store.write_rows("a.t", fill_table(200))
    with pytest.raises(ResultGone, match="Ask again"):
        opened.at([3])
    assert store.rows("a.t").at([3]) == [b"3"]  # type: ignore[union-attr]


@pytest.mark.parametrize("count", [0, 1, 16, 17, 300])
@pytest.mark.parametrize("step", [1, -1])
def test_a_table_whose_head_says_nothing_of_blocks_has_sixteen_records_in_each(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, count: int, step: int
) -> None:
    records = fill_table(count)[::step]
    monkeypatch.setattr(rows, "_ROWS", 16)
    store.write_rows("t", records)
    monkeypatch.undo()
    first = min((name for name, _ in records), default="")
    store.select("UPDATE part SET head = ?", (sealing.seal("t head", f"{count} {first}".encode()),))
    ((number, head),) = store.select("SELECT number, head FROM part")
    assert rows.read_head("t", head) == (count, 16, first)
    found = store.rows("t")
    assert found is not None
    assert (list(found.ids()), list(found.scan())) == ([i for i, _ in records], [r for _, r in records])
    assert found.at(range(count)) == [record for _, record in records]
    assert found.find([name for name, _ in fill_table(count + 1)]) == dict(records)
    rows.check_table(store, "t", number, head)


@pytest.mark.parametrize("count", [1, 80, 81, 20480, 20481])
def test_of_ids_that_ascend_only_the_first_of_each_block_is_listed(store: SqliteStore, count: int) -> None:
    records = fill_table(2 * count)[1::2]
    store.write_rows("t", records)
    found, asked = open_noting(store, "t")
    firsts = [first for (first,) in store.select("SELECT first FROM list ORDER BY first")]
    assert firsts == [records[n][0] for n in range(0, count, 20480)]
    listed = [of for first in firsts for of in found._read_lists(found._view, [first])[first][1]]
    assert listed == [name for name, _ in records[::80]]
    whole = store.rows("t")
    assert whole is not None
    assert list(whole.ids()) == [name for name, _ in records]
    assert found.find([name for name, _ in fill_table(2 * count + 1)]) == dict(records)
    asked.clear()
    last = records[-1][0]
    assert found.find([last, f"{last}x", "a"]) == {last: records[-1][1]}
    assert asked in ([], [("blocks", (count - 1) // 80 * 80, 1)])
    rows.check_table(store, "t", found._view.number, store.select("SELECT head FROM part")[0][0])


def test_ids_are_looked_up_in_the_lists_that_cover_them_each_read_once(store: SqliteStore) -> None:
    store.write_rows("t", fill_table(600)[::-1])
    found, asked = open_noting(store, "t")
    assert found.find(["i00300", "i00001", "a", "i00299", "z"]) == {
        "i00001": b"1", "i00299": b"299", "i00300": b"300"
    }  # fmt: skip
    assert asked == ["firsts", ("lists", "i00256", 3), ("blocks", 240, 2)]
    asked.clear()
    assert list(found.find(["i00598", "i00255", "none"])) == ["i00255", "i00598"]
    assert asked == [("blocks", 0, 2)]
    asked.clear()
    assert found.find(["a", "b"]) == {}
    assert asked == []


def test_tables_beside_each_other_are_deleted_alone_and_have_sizes_of_their_own(store: SqliteStore) -> None:
    for key, count in (("a", 20), ("b", 40), ("c", 0), ("d", 300)):
        store.write_rows(key, fill_table(count))
    numbers = dict(store.select("SELECT key, number FROM part"))

    def size(key: str) -> int:
        low, high = numbers[key] << 31, (numbers[key] + 1) << 31
        ((blocks,),) = store.select("SELECT sum(length(value)) FROM block WHERE place >= ? AND place < ?", (low, high))
        ((lists,),) = store.select("SELECT sum(length(value)) FROM list WHERE number = ?", (numbers[key],))
        return (blocks or 0) + (lists or 0)

    assert rows.size_tables(store) == {numbers[key]: size(key) for key in "abd"}
    kept = {numbers[key]: size(key) for key in "ad"}
    with store.writing() as db:
        rows.delete_tables(db, [numbers["b"], numbers["c"]])
    assert rows.size_tables(store) == kept
    store.select("DELETE FROM part WHERE key = 'a'")
    with store.writing() as db:
        rows.delete_orphans(db)
    assert rows.size_tables(store) == {numbers["d"]: kept[numbers["d"]]}
    again = store.rows("d")
    assert again is not None
    assert list(again.scan()) == [b"%d" % n for n in range(300)]


@pytest.mark.parametrize(
    ("count", "size", "cut"),
    [(0, 3, []), (1, 3, [1]), (3, 3, [3]), (4, 3, [3, 1]), (6, 3, [3, 3]), (2, 1, [1, 1])],
)
def test_values_are_cut_into_full_lists_and_a_rest(count: int, size: int, cut: list[int]) -> None:
    found = list(cut_blocks(iter(range(count)), size))
    assert [len(block) for block in found] == cut
    assert [value for block in found for value in block] == list(range(count))


def test_who_writes_waits_five_minutes_for_another_and_who_builds_for_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(SqliteStore(tmp_path)) as store:
        assert store.select("PRAGMA busy_timeout") == [(300_000,)]
        assert store.select("PRAGMA synchronous") == [(1,)]
        assert store.select("PRAGMA auto_vacuum") == [(2,)]
        waits: list[Any] = []
        connect = sqlite3.connect

        def note(path: Any, **given: Any) -> sqlite3.Connection:
            waits.append((Path(path).name, given.get("timeout")))
            return connect(path, **given)

        monkeypatch.setattr(sqlite.sqlite3, "connect", note)
        with store.exclusive():
            pass
        assert waits == [("building.sqlite", 0)]
    waits.clear()
    mending.move_unreadable(tmp_path / "store.sqlite", sqlite._SCHEMA, sqlite.FORMAT)
    assert waits[0] == ("store.sqlite", 30)


@pytest.mark.parametrize("count", [99, 100, 101])
def test_from_a_hundred_missing_keys_on_arrays_are_listed_and_not_asked_for_one_by_one(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    store.write_array("there", np.arange(3))
    store.write({"object": b"1"})
    listed: list[int] = []
    names = store._arrays.names
    monkeypatch.setattr(store._arrays, "names", lambda: listed.append(1) or names())  # type: ignore[func-returns-value]
    keys = ["object", "there", *(f"none{i}" for i in range(count - 1))]
    assert store.has(keys) == {"object", "there"}
    assert len(listed) == (count >= 100)


@pytest.mark.parametrize(("more", "refused"), [(0, True), (-1, False), (1, True)])
def test_the_checksum_of_an_array_is_read_up_to_a_length_and_once(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, more: int, refused: bool
) -> None:
    store.write_array("a", np.arange(100))
    path = store.array_path("a")
    raw = bytearray(path.read_bytes())
    raw[-40] ^= 1
    path.write_bytes(bytes(raw))
    monkeypatch.setattr(array_files, "_CHECKED", len(raw) + more)
    if refused:
        with pytest.raises(StoreError, match="is damaged at a"):
            store.array("a")
    else:
        assert store.array("a") is not None
    store.write_array("b", np.arange(100))
    assert store.array("b") is not None
    path = store.array_path("b")
    path.write_bytes(path.read_bytes()[:-40] + b"x" * 40)
    assert store.array("b") is not None


def test_what_reads_is_pinned_until_its_time_has_passed(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000.0]
    monkeypatch.setattr(sqlite, "time", SimpleNamespace(time=lambda: now[0]))
    store.pin("a", 10)
    store.pin("b", 20)
    store.pin("b", 15)
    for now[0], pinned in ((1_000.0, {"a", "b"}), (1_010.0, {"a", "b"}), (1_010.5, {"b"}), (1_015.5, set())):
        assert store.pinned() == pinned
    assert store.select("SELECT count(*) FROM pin") == [(2,)]
    store.pin("c", 1)
    assert store.select("SELECT key, until FROM pin") == [("c", now[0] + 1)]


@pytest.mark.parametrize("count", [0, 1, 499, 500, 501, 1_201])
def test_so_many_keys_are_read_and_forgotten_as_there_are(store: SqliteStore, count: int) -> None:
    store._db.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 999)  # as SQLite had it for long
    objects = {f"k{i:04}": b"%d" % i for i in range(count)}
    store.write(objects | {"other": b"1"}, "s")
    store.write_rows("k0000.t", fill_table(3))
    assert store.read([*objects, "none"]) == objects
    assert store.has([*objects, "none", "k0000.t"]) == {*objects, "k0000.t"}
    store.drop(["none", *objects], spare=["t"])
    assert store.read([*objects, "other"]) == {"other": b"1"}
    assert store.has(["k0000.t"]) == (set() if count else {"k0000.t"})
    store.write(objects, "s")
    store.forget(objects)
    assert store.read([*objects, "other"]) == {"other": b"1"}


@pytest.mark.parametrize("said", [0, 1, 2, 7, 99])
def test_a_file_whose_head_says_another_format_is_of_that_which_its_table_says(tmp_path: Path, said: int) -> None:
    with closing(SqliteStore(tmp_path)) as store:
        store.write({"a": b"1"}, "s")
        store.write_rows("t", fill_table(3))
        store.select(f"PRAGMA user_version = {said}")
    with closing(SqliteStore(tmp_path, readonly=True)) as store:
        assert store.read(["a"]) == {"a": b"1"}
    with closing(SqliteStore(tmp_path)) as store:
        assert store.read(["a"]) == {"a": b"1"}
        assert store.select("PRAGMA user_version") == [(4,)]
        found = store.rows("t")
        assert found is not None
        assert list(found.scan()) == [b"0", b"1", b"2"]


@pytest.mark.parametrize("said", [5, 6])
def test_a_format_that_is_not_known_is_refused_whatever_the_head_says(tmp_path: Path, said: int) -> None:
    with closing(SqliteStore(tmp_path)) as store:
        store.select(f"INSERT INTO format VALUES ({said})")
        store.select("PRAGMA user_version = 7")
    with pytest.raises(StoreError, match=f"has format {said}, this version reads 4; upgrade sensegraph"):
        SqliteStore(tmp_path)


HEX = [f"{n:020x}" for n in range(80)]


@pytest.mark.parametrize(
    ("ids", "width"),
    [
        (HEX, 10),
        (["00"], 1),
        (["ab" * 127], 127),
        (["ab" * 128], 0),
        (["abc"], 0),
        (["00", "0000"], 0),
        (["0g"], 0),
        (["AB"], 0),
        ([""], 0),
        (["d0.txt", "d1.txt"], 0),
        (["é0"], 0),
    ],
)
@pytest.mark.parametrize("form", ["{}", "", "a record", '{{"id":"{}"}}', "{} {}", "é{}", '["x","{}"]'])
def test_records_of_a_block_are_stored_without_their_ids_where_these_are_digits(
    ids: list[str], width: int, form: str
) -> None:
    pairs = [(name, form.format(name, name).encode()) for name in ids]
    stored = rows.Block.pack(pairs)
    block = rows.Block(stored)
    assert [(name, block.read(at)) for at, name in enumerate(block.ids)] == pairs
    assert len(block) == len(ids)
    assert (stored[0] == width) if width else stored == msgspec.msgpack.encode(pairs)


def test_a_block_is_shorter_without_the_ids_in_its_records() -> None:
    drawn = random.Random(1)
    ids = [drawn.randbytes(10).hex() for _ in range(80)]
    pairs = [(name, f'{{"id":"{name}","of":"{drawn.randbytes(9).hex()}"}}'.encode()) for name in ids]
    before = len(msgspec.msgpack.encode(pairs))
    assert 0.5 * before < len(rows.Block.pack(pairs)) < 0.65 * before


ONE = msgspec.msgpack.encode((b"ab", [(-1, b"")]))


@pytest.mark.parametrize("stored", [b"", b"\0", b"\x01", b"\0" + ONE, b"\x02" + ONE[:-1], b"\x01" + ONE, b"\xc1"])
def test_what_is_no_block_is_found_out(store: SqliteStore, stored: bytes) -> None:
    store.write_rows("t", [("ab", b"1")])
    store.select("UPDATE block SET value = ?", (seal("t 0", stored),))
    found = store.rows("t")
    assert found is not None
    with pytest.raises(StoreError, match="is damaged at t"):
        found.at([0])


def test_a_table_of_pairs_is_read_as_it_was_written_before(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    records = [(name, f'{{"id":"{name}"}}'.encode()) for name in HEX]
    with monkeypatch.context() as patched:
        patched.setattr(rows.Block, "pack", msgspec.msgpack.encode)
        store.write_rows("t", records)
    found = store.rows("t")
    assert found is not None
    assert list(zip(found.ids(), found.scan(), strict=True)) == records
    assert found.find([HEX[7], "none"]) == dict(records[7:8])
    assert store.mend() == 0
