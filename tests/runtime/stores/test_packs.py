"""Small objects lie together: read, removed and damaged one by one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from sensegraph.errors import StoreError
from sensegraph.runtime.stores.sealing import seal
from sensegraph.runtime.stores.sqlite import SqliteStore

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
    assert count_packs(store) == packs
    assert store.read(["one", "large"]) == {"one": b"1", "large": b"x" * 9000}


def test_what_is_there_already_is_not_written_again(store: SqliteStore) -> None:
    packs = count_packs(store)
    store.write(dict.fromkeys(OBJECTS, b"other") | {"new": b"1"}, "s")
    assert count_packs(store) == packs
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
    ((number,),) = store.select("SELECT value FROM object WHERE key = 'k007'")
    inside = {key for (key,) in store.select("SELECT key FROM object WHERE value = ?", (number,))}
    store.select("UPDATE pack SET value = CAST(substr(value, 1, 9) || x'00' AS BLOB) WHERE number = ?", (number,))
    with pytest.raises(StoreError, match=r"is damaged at k0\d\d\. Run `sensegraph index`"):
        store.read(list(OBJECTS))
    assert store.read(list(OBJECTS)) == {key: content for key, content in OBJECTS.items() if key not in inside}
    assert store.mend() == 0


def test_a_row_that_names_another_pack_or_none_is_damaged(store: SqliteStore) -> None:
    ((last,),) = store.select("SELECT max(number) FROM pack")
    for number in (last, last + 1):
        store.select("UPDATE object SET value = ? WHERE key = 'k007'", (number,))
        with pytest.raises(StoreError, match="is damaged at k007"):
            store.read(["k007"])
        assert store.read(list(OBJECTS)) == OTHERS
        store.write({"k007": OBJECTS["k007"]}, "small")


def test_mending_removes_packs_that_no_object_names(store: SqliteStore) -> None:
    packs = count_packs(store)
    store.select("INSERT INTO pack VALUES (NULL, x'00')")
    assert store.mend() == 0
    assert count_packs(store) == packs
    assert store.read(list(OBJECTS)) == OBJECTS


def test_a_store_of_the_format_before_packs_is_read_and_gets_them(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path)) as made:
        made.write({"a": b"1"}, "s")
        for statement in ("DROP TABLE pack", "DELETE FROM format", "INSERT INTO format VALUES (2)"):
            made.select(statement)
        made.select("PRAGMA user_version = 2")
    with pytest.raises(StoreError, match="format of an earlier version"):
        SqliteStore(tmp_path, readonly=True)
    with closing(SqliteStore(tmp_path, mend=True)) as made:
        made.write(OBJECTS, "small")
        assert made.read(["a", *OBJECTS]) == OBJECTS | {"a": b"1"}
    with closing(SqliteStore(tmp_path, readonly=True)) as made:
        assert made.read(["a", *OBJECTS]) == OBJECTS | {"a": b"1"}
