"""Small objects lie together: read, removed and damaged one by one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from zlib import crc32

import msgspec
import pytest

from sensegraph.errors import StoreError
from sensegraph.runtime.stores import mending
from sensegraph.runtime.stores.corpus_store import LOST
from sensegraph.runtime.stores.sealing import seal
from sensegraph.runtime.stores.sqlite import FORMAT, SqliteStore

OBJECTS = {f"k{i:03}": f'{{"text":"this is what number {i} says"}}'.encode() * 20 for i in range(100)}
OTHERS = {key: content for key, content in OBJECTS.items() if key != "k007"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(tmp_path)) as made:
        made.write(OBJECTS, "small")
        yield made


def count_packs(store: SqliteStore) -> int:
    ((count,),) = store.select("SELECT count(*) FROM pack")
    assert isinstance(count, int)
    return count


def test_small_objects_of_one_write_take_less_room_together(store: SqliteStore) -> None:
    alone = sum(len(seal(key, content)) for key, content in OBJECTS.items())
    ((together,),) = store.select("SELECT sum(length(value)) FROM pack")
    assert 1 < count_packs(store) < 10
    assert together < alone / 2
    assert store.read(list(OBJECTS)) == OBJECTS
    assert store.has([*OBJECTS, "none"]) == OBJECTS.keys()


def test_what_is_large_or_written_by_itself_lies_alone(store: SqliteStore) -> None:
    packs = count_packs(store)
    store.write({"one": b"1"}, "s")
    store.write({"large": b"x" * 9000, "other": b"y" * 9000}, "s")
    assert count_packs(store) == packs + 3
    assert store.read(["one", "large"]) == {"one": b"1", "large": b"x" * 9000}


def test_what_is_there_already_is_not_written_again(store: SqliteStore) -> None:
    packs = count_packs(store)
    store.write(dict.fromkeys(OBJECTS, b"other") | {"new": b"1"}, "s")
    assert count_packs(store) == packs + 1
    assert store.read([*OBJECTS, "new"]) == OBJECTS | {"new": b"1"}


@pytest.mark.parametrize("remove", ["sweep", "forget"])
def test_one_of_a_pack_goes_and_the_others_stay(store: SqliteStore, remove: str) -> None:
    if remove == "sweep":
        swept = store.sweep(set(OTHERS))
        assert swept.by_step["small"].objects == 1
        assert 0 < swept.by_step["small"].bytes < 200
    else:
        store.forget(["k007"])
    assert store.read(list(OBJECTS)) == OTHERS
    assert store.mend() == 0


def test_a_pack_of_which_nothing_is_needed_goes(store: SqliteStore) -> None:
    store.sweep({"k099"})
    assert count_packs(store) == 1
    store.sweep(set())
    assert count_packs(store) == 0


def test_of_a_damaged_pack_all_objects_go_and_no_others(store: SqliteStore) -> None:
    ((number,),) = store.select("SELECT number FROM object WHERE key = 'k007'")
    inside = {key for (key,) in store.select("SELECT key FROM object WHERE number = ?", (number,))}
    store.select("UPDATE pack SET value = CAST(substr(value, 1, 9) || x'00' AS BLOB) WHERE number = ?", (number,))
    with pytest.raises(StoreError, match=r"is damaged at k0\d\d\. Run `sensegraph index`"):
        store.read(list(OBJECTS))
    assert store.read(list(OBJECTS)) == {key: content for key, content in OBJECTS.items() if key not in inside}
    assert store.mend() == 0


def test_a_row_that_names_another_pack_or_none_is_damaged(store: SqliteStore) -> None:
    ((last,),) = store.select("SELECT max(number) FROM pack")
    for number in (last, last + 9):
        store.select("UPDATE object SET number = ? WHERE key = 'k007'", (number,))
        with pytest.raises(StoreError, match="is damaged at k007"):
            store.read(["k007"])
        assert store.read(list(OBJECTS)) == OTHERS
        store.write({"k007": OBJECTS["k007"]}, "small")


def test_mending_removes_packs_that_no_object_names(store: SqliteStore) -> None:
    packs = count_packs(store)
    store.select("INSERT INTO pack VALUES (NULL, '', 1, x'00')")
    assert store.mend() == 0
    assert count_packs(store) == packs
    assert store.read(list(OBJECTS)) == OBJECTS


def make_before(root: Path, number: int, packed: Mapping[str, bytes], alone: Mapping[str, bytes]) -> None:
    """A store of the second or third format, in which values stood in the rows of objects."""
    with closing(SqliteStore(root)) as made:
        made.write_rows("t", [("x", b"1"), ("y", b"2")])
        made.set_refs({"name": "value"})
        for table in ("object", "pack"):
            made.select(f"DROP TABLE {table}")
        made.select("CREATE TABLE object (key TEXT PRIMARY KEY, step TEXT NOT NULL, value BLOB NOT NULL)")
        if number > 2:
            made.select("CREATE TABLE pack (number INTEGER PRIMARY KEY, value BLOB NOT NULL)")
            together = [(crc32(key.encode()), content) for key, content in packed.items()]
            made.select("INSERT INTO pack VALUES (7, ?)", (seal("", msgspec.msgpack.encode(together)),))
        for key in packed:
            made.select("INSERT INTO object VALUES (?, 'small', 7)", (key,))
        for key, content in alone.items():
            made.select("INSERT INTO object VALUES (?, 'alone', ?)", (key, seal(key, content)))
        made.select("UPDATE format SET number = ?", (number,))
        made.select(f"PRAGMA user_version = {number}")


DIGITS = {f"{i:040x}": b"%d" % i * i for i in range(300)}


@pytest.mark.parametrize("number", [2, 3])
@pytest.mark.parametrize("mend", [True, False])
def test_a_store_whose_values_stood_in_the_rows_of_objects_is_upgraded_without_loss(
    tmp_path: Path, number: int, *, mend: bool
) -> None:
    objects = DIGITS | {"large": b"x" * 9000} | (OBJECTS if number > 2 else {})
    make_before(tmp_path, number, OBJECTS if number > 2 else {}, {k: objects[k] for k in objects if k not in OBJECTS})
    with pytest.raises(StoreError, match="format of an earlier version"):
        SqliteStore(tmp_path, readonly=True)
    for _ in range(2):
        with closing(SqliteStore(tmp_path, mend=mend)) as made:
            assert made.read(list(objects)) == objects
            assert (made.select("SELECT number FROM format"), made.find_format()) == ([(FORMAT,)], FORMAT)
            assert made.refs() == {"name": "value"}
            table = made.rows("t")
            assert table is not None
            assert list(table.scan()) == [b"1", b"2"]
            assert made.mend() == 0
            steps = {(key if isinstance(key, str) else key.hex()): step for key, step in made.select(
                "SELECT key, step FROM object JOIN pack USING (number)")}  # fmt: skip
            assert steps == {key: "small" if key in OBJECTS else "alone" for key in objects}
            assert made.select("PRAGMA freelist_count") == [(0,)]
    assert not tmp_path.with_name("store.damaged.sqlite").exists()


def test_what_is_damaged_in_a_store_of_the_format_before_goes_and_is_said_to_be_lost(tmp_path: Path) -> None:
    make_before(tmp_path, 3, OBJECTS, DIGITS)
    gone = f"{5:040x}"
    with closing(sqlite3.connect(tmp_path / "store.sqlite", isolation_level=None)) as db:
        db.execute("UPDATE object SET value = x'00' WHERE key = ?", (gone,))
        db.execute("UPDATE pack SET value = x'00'")
    with closing(SqliteStore(tmp_path)) as made:
        lost = made.ref(LOST)
        assert lost
        with suppress(StoreError):
            made.read(list(OBJECTS))
        assert made.read([*OBJECTS, *DIGITS]) == {key: content for key, content in DIGITS.items() if key != gone}
        assert made.ref(LOST) not in (None, lost)
        assert made.mend() == 0


def test_the_format_is_known_where_the_head_of_a_file_of_the_format_before_is_bad(tmp_path: Path) -> None:
    make_before(tmp_path, 3, OBJECTS, DIGITS)
    with closing(sqlite3.connect(tmp_path / "store.sqlite", isolation_level=None)) as db:
        db.execute("PRAGMA user_version = 77")
    with closing(SqliteStore(tmp_path)) as made:
        assert made.find_format() == FORMAT
        assert made.read([*OBJECTS, *DIGITS]) == OBJECTS | DIGITS


def test_an_upgrade_that_fails_leaves_the_store_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError("no room")

    make_before(tmp_path, 3, OBJECTS, DIGITS)
    with monkeypatch.context() as patched:
        patched.setattr(mending, "write_objects", fail)
        with pytest.raises(StoreError, match="no room"):
            SqliteStore(tmp_path)
    with closing(SqliteStore(tmp_path)) as made:
        assert made.read([*OBJECTS, *DIGITS]) == OBJECTS | DIGITS


def test_of_several_packs_no_trace_is_left_where_one_object_is_there_already(store: SqliteStore) -> None:
    packs = count_packs(store)
    large = {f"large {i}": bytes([i]) * 9000 for i in range(5)}
    store.write({**large, "k007": b"other", "last": b"1"}, "s")
    assert count_packs(store) == packs + 6
    assert store.read([*OBJECTS, *large, "last"]) == {**OBJECTS, **large, "last": b"1"}
    assert store.mend() == 0
