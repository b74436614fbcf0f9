"""Which objects lie in one pack, what is left of it when some go, and how large each is said to be."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from sensegraph.runtime.stores import packs
from sensegraph.runtime.stores.packs import (
    OBJECTS,
    delete_objects,
    delete_unnamed,
    find_objects,
    list_objects,
    name_key,
    open_pack,
    read_objects,
    store_key,
    write_objects,
)
from sensegraph.runtime.stores.sealing import Damaged, seal
from sensegraph.runtime.stores.sqlite import SqliteStore

ALIKE = ("plumless", "buckeroo")  # two words of one CRC-32


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as made:
        for statement in OBJECTS:
            made.execute(statement)
        made.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 999)  # as SQLite had it for long
        yield made


def list_packs(db: sqlite3.Connection) -> list[list[str]]:
    """The keys of each pack."""
    found: dict[int, list[str]] = {}
    for key, number in db.execute("SELECT key, number FROM object ORDER BY number, key"):
        found.setdefault(number, []).append(key)
    return list(found.values())


def read_all(db: sqlite3.Connection) -> dict[str, bytes]:
    return read_objects(db, [name_key(key) for (key,) in db.execute("SELECT key FROM object")])


def sized(sizes: Iterable[int]) -> dict[str, bytes]:
    return {f"k{i}": bytes([65 + i]) * size for i, size in enumerate(sizes)}


@pytest.mark.parametrize(
    ("sizes", "together"),
    [
        ((), []),
        ((0,), [["k0"]]),
        ((0, 0), [["k0", "k1"]]),
        ((8191, 8191), [["k0", "k1"]]),
        ((8191, 8192), [["k1"], ["k0"]]),
        ((8192, 8192), [["k0"], ["k1"]]),
        ((8000, 8000, 8000, 8000, 768, 5), [["k0", "k1", "k2", "k3", "k4"], ["k5"]]),
        ((8000, 8000, 8000, 8000, 769, 5), [["k0", "k1", "k2", "k3"], ["k4", "k5"]]),
        ((8000, 8000, 8000, 8000, 8000, 8000, 8000, 8000, 1000), [["k0", "k1", "k2", "k3"], ["k4", "k5", "k6", "k7"],
                                                                    ["k8"]]),
        ((*[8000] * 8, 768, 5), [["k0", "k1", "k2", "k3"], ["k4", "k5", "k6", "k7", "k8"], ["k9"]]),
        ((*[8000] * 8, 769, 5), [["k0", "k1", "k2", "k3"], ["k4", "k5", "k6", "k7"], ["k8", "k9"]]),
        ((5, 9000, 5), [["k1"], ["k0", "k2"]]),
    ],
)  # fmt: skip
def test_objects_below_8_kilobytes_lie_together_up_to_32(
    db: sqlite3.Connection, sizes: tuple[int, ...], together: list[list[str]]
) -> None:
    write_objects(db, sized(sizes), "s")
    assert sorted(list_packs(db)) == sorted(together)
    assert read_all(db) == sized(sizes)
    assert db.execute("SELECT count(*) FROM pack").fetchone() == (len(together),)
    assert {step for (step,) in db.execute("SELECT step FROM pack")} == ({"s"} if sizes else set())


def test_no_two_of_a_pack_have_one_number(db: sqlite3.Connection) -> None:
    objects = {"a": b"1", ALIKE[0]: b"2", "b": b"3", ALIKE[1]: b"4", "c": b"5"}
    write_objects(db, objects, "s")
    assert list_packs(db) == [sorted(["a", ALIKE[0], "b"]), sorted([ALIKE[1], "c"])]
    assert read_all(db) == objects
    write_objects(db, dict.fromkeys(objects, b"other"), "t")
    assert read_all(db) == objects


def test_each_pack_is_opened_once(db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    write_objects(db, {"a": b"1", "b": b"2", "c": b"3"}, "s")
    write_objects(db, {"d": b"4"}, "s")
    opened: list[object] = []
    monkeypatch.setattr(packs, "open_pack", lambda value: (opened.append(value), open_pack(value))[1])
    assert read_objects(db, ["c", "d", "none", "a"]) == {"a": b"1", "c": b"3", "d": b"4"}
    assert sorted(opened) == sorted(value for (value,) in db.execute("SELECT value FROM pack"))  # type: ignore[type-var]


@pytest.mark.parametrize(
    "pack", [None, b"", b"xxxxxx", seal("", b"no list"), seal("other", b"\x90"), seal("", b"\x90")]
)
def test_what_is_not_in_the_pack_that_its_row_names_is_damaged(db: sqlite3.Connection, pack: bytes | None) -> None:
    write_objects(db, {"a": b"1"}, "s")
    write_objects(db, {"b": b"2"}, "s")
    ((_, number),) = find_objects(db, ["b"])
    if pack is None:
        db.execute("DELETE FROM pack WHERE number = ?", (number,))
    else:
        db.execute("UPDATE pack SET value = ? WHERE number = ?", (pack, number))
    with pytest.raises(Damaged, match=r"^b$"):
        read_objects(db, ["a", "b"])
    assert read_objects(db, ["a"]) == {"a": b"1"}


DIGITS = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("key", "stored"),
    [
        (DIGITS, bytes.fromhex(DIGITS)),
        (DIGITS.upper(), DIGITS.upper()),
        (DIGITS[1:], DIGITS[1:]),
        (DIGITS + "0", DIGITS + "0"),
        (DIGITS[:-1] + "g", DIGITS[:-1] + "g"),
        (DIGITS + "\n", DIGITS + "\n"),
        ("", ""),
    ],
)
def test_the_key_of_a_result_takes_20_bytes_and_any_other_stands_as_it_is(
    db: sqlite3.Connection, key: str, stored: bytes | str
) -> None:
    assert (store_key(key), name_key(stored)) == (stored, key)
    write_objects(db, {key: b"1", "other": b"2"}, "s")
    assert db.execute("SELECT key FROM object WHERE key <> 'other'").fetchall() == [(stored,)]
    assert read_objects(db, [key]) == {key: b"1"}
    delete_objects(db, [key])
    assert find_objects(db, [key, "other"]) == [("other", 1)]


def test_many_more_keys_are_written_and_deleted_than_fit_in_a_query(db: sqlite3.Connection) -> None:
    objects = {f"k{i:04}": b"%d" % i for i in range(2_500)}
    write_objects(db, dict(list(objects.items())[::2]), "even")
    write_objects(db, objects, "all")
    assert read_all(db) == objects
    query = "SELECT step, count(*) FROM object JOIN pack USING (number) GROUP BY step"
    assert dict(db.execute(query)) == {"even": 1_250, "all": 1_250}
    gone = list(objects)[:2_400]
    delete_objects(db, gone)
    assert read_all(db) == {key: objects[key] for key in objects if key not in set(gone)}
    delete_objects(db, list(objects))
    assert [db.execute(f"SELECT count(*) FROM {table}").fetchone() for table in ("object", "pack")] == [(0,), (0,)]


def deleted(db: sqlite3.Connection, objects: Mapping[str, bytes], keys: list[str]) -> list[list[str]]:
    for group in ("a", "b", "c"):
        write_objects(db, {key: content for key, content in objects.items() if key[0] == group}, "s")
    delete_objects(db, keys)
    return list_packs(db)


OBJECTS_OF_PACKS = {f"{group}{i}": f"{group} {i}".encode() for group in "abc" for i in range(3)}


@pytest.mark.parametrize(
    ("keys", "left"),
    [
        ([], [["a0", "a1", "a2"], ["b0", "b1", "b2"], ["c0", "c1", "c2"]]),
        (["none"], [["a0", "a1", "a2"], ["b0", "b1", "b2"], ["c0", "c1", "c2"]]),
        (["b1"], [["a0", "a1", "a2"], ["b0", "b2"], ["c0", "c1", "c2"]]),
        (["a0", "a2", "c0", "none"], [["a1"], ["b0", "b1", "b2"], ["c1", "c2"]]),
        (["b0", "b1", "b2"], [["a0", "a1", "a2"], ["c0", "c1", "c2"]]),
    ],
)
def test_packs_are_written_anew_without_what_is_deleted(
    db: sqlite3.Connection, keys: list[str], left: list[list[str]]
) -> None:
    assert deleted(db, OBJECTS_OF_PACKS, keys) == left
    assert read_all(db) == {key: OBJECTS_OF_PACKS[key] for pack in left for key in pack}
    held = [open_pack(value) for (value,) in db.execute("SELECT value FROM pack ORDER BY number")]
    assert [list(one.values()) for one in held] == [[OBJECTS_OF_PACKS[key] for key in pack] for pack in left]


@pytest.mark.parametrize("pack", [None, b"", b"xxxxxx", seal("", b"no list"), seal("other", b"\x90")])
def test_deleting_one_of_a_damaged_pack_deletes_all_of_it(db: sqlite3.Connection, pack: bytes | None) -> None:
    for group in "abc":
        write_objects(db, {key: content for key, content in OBJECTS_OF_PACKS.items() if key[0] == group}, "s")
    ((_, number),) = find_objects(db, ["b0"])
    if pack is None:
        db.execute("DELETE FROM pack WHERE number = ?", (number,))
    else:
        db.execute("UPDATE pack SET value = ? WHERE number = ?", (pack, number))
    delete_objects(db, ["a0"])
    assert list_packs(db) == [["a1", "a2"], ["b0", "b1", "b2"], ["c0", "c1", "c2"]]
    delete_objects(db, ["b1"])
    assert list_packs(db) == [["a1", "a2"], ["c0", "c1", "c2"]]
    assert db.execute("SELECT count(*) FROM pack").fetchone() == (2,)


def test_only_packs_that_no_object_names_are_deleted(db: sqlite3.Connection) -> None:
    assert len(deleted(db, OBJECTS_OF_PACKS, [])) == 3
    write_objects(db, {"large": b"x" * 9000}, "s")
    db.execute("DELETE FROM object WHERE key IN ('a0', 'a1', 'b0', 'b1', 'b2')")
    delete_unnamed(db, [])
    assert list_packs(db) == [["a2"], ["c0", "c1", "c2"], ["large"]]
    assert db.execute("SELECT count(*) FROM pack").fetchone() == (3,)


def test_each_of_a_pack_has_its_share_of_the_size_and_what_came_later_is_not_listed(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path)) as store:
        store.write({"b": b"1" * 50, "a": b"2" * 60, "c": b"3" * 70}, "first")
        store.write({"large": b"x" * 9000}, "second")
        (first, size), (last, alone) = store.select("SELECT number, length(value) FROM pack ORDER BY number")
        share = size // 3
        assert share * 3 < size + 3
        listed = [("a", "first", share), ("b", "first", share), ("c", "first", share), ("large", "second", alone)]
        assert list_objects(store, last) == listed
        assert list_objects(store, last - 1) == listed[:3]
        assert list_objects(store, first - 1) == []
        store.select("DELETE FROM pack WHERE number = ?", (first,))
        assert list_objects(store, last) == [*((key, "", 0) for key in "abc"), listed[3]]


def test_of_a_pack_that_is_gone_nothing_is_counted(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path)) as store:
        store.write({"a": b"1", "b": b"2"}, "s")
        store.select("DELETE FROM pack")
        store.select("DELETE FROM object WHERE key = 'b'")
        assert list_objects(store, 9) == [("a", "", 0)]
