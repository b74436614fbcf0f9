"""What is swept from a store is counted by step to the byte, and all else stays."""

from __future__ import annotations

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from sensegraph.errors import StoreError
from sensegraph.runtime.locking import is_writable
from sensegraph.runtime.stores.corpus_store import Freed, Swept
from sensegraph.runtime.stores.sqlite import FORMAT, SqliteStore
from sensegraph.types import Usage


def fill(store: SqliteStore) -> dict[str, int]:
    """Objects, tables and arrays; and the bytes of the arrays."""
    store.write({"a": b"123"}, "one")
    store.write({"b": b"45"}, "one")
    store.write({"c": b"6"}, "two")
    store.write_rows("a.t", [("x", b"12"), ("y", b"3")])
    store.write_rows("loose", [("z", b"9")])
    store.write_rows("b.kept", [("z", b"9")])
    store.write_rows("void", [])
    for name in ("c.v", "lone", "b.v"):
        store.write_array(name, np.ones(3))
    return {path.stem: path.stat().st_size for path in store.root.glob("arrays/*.npy")}


TABLE_BYTES = """
    SELECT number, (SELECT sum(length(value)) FROM block WHERE place / 2147483648 = part.number)
        + (SELECT sum(length(value)) FROM list WHERE list.number = part.number) FROM part ORDER BY number
"""


def test_what_goes_is_counted_by_the_step_that_made_it(store: SqliteStore) -> None:
    arrays = fill(store)
    tables = dict(zip(("a.t", "loose"), (n for _, n in store.select(TABLE_BYTES)), strict=False))
    objects = dict(store.select("SELECT key, length(value) FROM object JOIN pack USING (number)"))
    expected = {
        "arrays": Freed(arrays=1, bytes=arrays["lone"]),
        "one": Freed(objects=1, tables=1, bytes=objects["a"] + tables["a.t"]),
        "tables": Freed(tables=2, bytes=tables["loose"]),
        "two": Freed(objects=1, arrays=1, bytes=objects["c"] + arrays["c.v"]),
    }
    assert tables["a.t"] > tables["loose"] > 0
    tried = store.sweep({"b"}, dry=True)
    assert (tried.by_step, tried.before, tried.after, tried.busy) == (expected, store.size(), store.size(), False)
    assert list(tried.by_step) == sorted(expected)
    assert tried.total == sum(expected.values(), Freed())
    assert store.has(["a", "loose", "lone"]) == {"a", "loose", "lone"}
    (store.root / "arrays" / "half.1.part").write_bytes(b"half")
    before = store.size()
    swept = store.sweep({"b"})
    assert (swept.by_step, swept.before, swept.after, swept.busy) == (expected, before, store.size(), False)
    assert store.has(["a", "a.t", "b", "b.kept", "b.v", "c", "c.v", "loose", "lone"]) == {"b", "b.kept", "b.v"}
    assert [path.name for path in store.root.glob("arrays/*")] == ["b.v.npy"]


def test_a_sweep_of_nothing_counts_nothing(store: SqliteStore) -> None:
    fill(store)
    assert store.sweep({"a", "b", "c", "loose", "lone", "void"}).by_step == {}
    assert Swept() == Swept({}, 0, 0, False)
    assert Swept().total == Freed(0, 0, 0, 0)


def test_the_number_of_a_table_that_went_is_never_given_again(store: SqliteStore) -> None:
    """A reader may hold the number."""
    numbers = []
    for name in ("first", "second", "third"):
        store.write_rows(name, [("x", b"1")])
        numbers += store.select("SELECT number FROM part WHERE key = ?", [name])
        assert store.sweep(set()).total.tables == 1
        assert store.sweep(set()).total == Freed()
    assert len(set(numbers)) == 3


def test_a_store_that_can_only_be_read_is_not_swept(tmp_path: Path) -> None:
    fill(SqliteStore(tmp_path))
    with pytest.raises(StoreError, match="can only be read"):
        SqliteStore(tmp_path, readonly=True).sweep(set())


# ── large and small questions to a store ──


def test_many_keys_of_every_kind_are_found_in_one_question(store: SqliteStore) -> None:
    arrays = [f"v{i}" for i in range(3)]
    for name in arrays:
        store.write_array(name, np.ones(1))
    others = [f"none{i}" for i in range(120)]
    store.write({"object": b"1"})
    for asked in (others[:96], others[:97], others):
        assert store.has([*asked, *arrays, "object"]) == {*arrays, "object"}


def test_a_long_table_is_read_in_blocks_and_one_that_lost_rows_says_so(store: SqliteStore) -> None:
    rows = [(f"{i:04}", str(i).encode()) for i in range(1001)]
    store.write_rows("t", rows)
    table = store.rows("t")
    assert table is not None
    assert list(table.scan()) == [value for _, value in rows]
    assert table.at(list(range(1000, -1, -1))) == [value for _, value in rows[::-1]]
    number = store.select("SELECT number FROM part")[0][0]
    store.select("DELETE FROM block WHERE place % 2147483648 = 960")
    again = store.rows("t")
    assert again is not None
    assert again.at([959]) == [b"959"]
    with pytest.raises(StoreError, match="is damaged at t"):
        again.at([5, 1000])
    with pytest.raises(StoreError, match="gone from the store"):
        list(again.scan())  # it was forgotten, so that the next build makes it anew
    assert store.rows("t") is None
    assert store.select("SELECT count(*) FROM list WHERE number = ?", [number]) == [(0,)]


def test_a_second_build_waits_as_long_as_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = SqliteStore(tmp_path), SqliteStore(tmp_path)
    slept, sleep = list[float](), time.sleep

    def wait(seconds: float) -> None:
        slept.append(seconds)
        sleep(seconds)

    monkeypatch.setattr("sensegraph.runtime.locking.time.sleep", wait)
    with one.exclusive():
        with pytest.raises(StoreError, match="is running; wait"), other.exclusive():
            pass
        assert slept == []
        with pytest.raises(StoreError, match=r"is running for more than 0\.25 s;"), other.exclusive(0.25):
            pass
        assert 0 < max(slept) <= 0.1  # it looks again ten times a second, so that Ctrl-C is heard
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with one.exclusive():
            entered.set()
            leave.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    assert entered.wait(60)
    threading.Timer(0.05, leave.set).start()
    with other.exclusive(20):
        assert leave.is_set()
    thread.join()


def test_a_store_on_a_disk_that_can_only_be_read_is_opened_with_what_was_not_merged_yet(tmp_path: Path) -> None:
    writer = SqliteStore(tmp_path)
    writer.write({"a": b"1"})  # it stands in the log of the file
    writer.spend("s", Usage(calls=1, cost_usd=0.25, seconds=1.5))
    reader = SqliteStore(tmp_path, readonly=True)
    assert reader.read(["a"]) == {"a": b"1"}
    assert reader.ledger() == {"s": Usage(calls=1, cost_usd=0.25, seconds=1.5)}
    with ThreadPoolExecutor(1) as pool:  # questions are asked from several threads
        assert pool.submit(reader.read, ["a"]).result() == {"a": b"1"}
    assert reader.size() == sum(f.stat().st_size for f in tmp_path.rglob("*") if f.is_file())


def test_what_is_dropped_leaves_no_room_in_the_file_and_spared_steps_stay(store: SqliteStore) -> None:
    fill(store)
    store.write({"d": np.random.default_rng(0).bytes(200_000)}, "large")
    store.write({"paid": b"7"}, "paid")
    store.write_rows("paid.t", [("x", b"1")])
    store.settle()
    pages = store.select("PRAGMA page_count")[0][0]
    store.drop(["a", "c", "d", "paid", "none"], spare=["paid"])
    assert store.has(["a", "a.t", "c", "c.v", "d"]) == set()
    others = {"b", "b.kept", "b.v", "loose", "lone", "paid", "paid.t"}
    assert store.has(sorted(others)) == others
    assert store.select("PRAGMA freelist_count") == [(0,)]
    assert store.select("PRAGMA page_count")[0][0] < pages - 40
    assert store.mend() == 0


def test_where_little_is_dropped_its_room_stays_for_what_is_written_next(store: SqliteStore) -> None:
    draw = np.random.default_rng(0)
    store.write({"large": draw.bytes(400_000)}, "large")
    store.write({"small": draw.bytes(20_000)}, "small")
    pages = store.select("PRAGMA page_count")[0][0]
    store.drop(["small"])
    assert store.select("PRAGMA freelist_count")[0][0] >= 9
    store.write({"next": draw.bytes(15_000)}, "small")
    assert store.select("PRAGMA page_count")[0][0] == pages
    store.drop(["large"])
    assert store.select("PRAGMA freelist_count") == [(0,)]
    assert store.mend() == 0


def test_a_new_store_says_its_format_and_writes_as_a_log(store: SqliteStore) -> None:
    assert store.select("PRAGMA wal_autocheckpoint") == [(8192,)]
    assert store.select("PRAGMA user_version") == [(FORMAT,)] == [(4,)]
    assert store.select("PRAGMA journal_mode") == [("wal",)]
    assert store.select("PRAGMA synchronous") == [(1,)]  # a log loses nothing that was whole without waiting each time


def test_what_is_swept_leaves_no_room_in_the_file(store: SqliteStore) -> None:
    large = random.Random(1).randbytes(200_000)  # that cannot be shortened
    store.write({"large": large})
    ((size,),) = store.select("SELECT length(value) FROM pack")
    assert store.sweep(set()).total.bytes == size > 200_000
    assert store.select("PRAGMA freelist_count") == [(0,)]
    assert store.path.stat().st_size < 100_000


def test_no_array_of_python_objects_is_stored(store: SqliteStore) -> None:
    """Reading one would run what it says."""
    with pytest.raises(ValueError, match="allow_pickle"):
        store.write_array("v", np.array([print], dtype=object))
    assert store.array("v") is None


def test_a_folder_is_tried_for_writing_and_left_as_it_was(tmp_path: Path) -> None:
    assert is_writable(tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert not is_writable(tmp_path / "none")


def test_what_comes_while_it_is_found_out_what_is_needed_stays(store: SqliteStore) -> None:
    """A question of another process writes its answer, and reads it, while a build collects."""
    store.write({"old": b"x", "kept": b"x"}, "step")
    store.write_rows("old.rows", [("1", b"x")])

    def find_out() -> set[str]:
        store.write({"new": b"x"}, "step")
        store.write_rows("new.rows", [("1", b"x")])
        np.save(store.root / "arrays" / "new.npy", np.zeros(1))
        (store.root / "arrays" / "newer.npy.part").write_bytes(b"")
        return {"kept"}

    swept = store.sweep(find_out)
    assert store.has(["old", "kept", "new"]) == {"kept", "new"}
    assert store.rows("old.rows") is None
    assert store.rows("new.rows") is not None
    assert {f.name for f in store.root.glob("arrays/*")} == {"new.npy", "newer.npy.part"}
    assert (swept.total.objects, swept.total.tables) == (1, 1)
    assert store.sweep({"kept"}).total.objects == 1
