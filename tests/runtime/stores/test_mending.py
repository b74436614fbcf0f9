"""A store of the first format is brought to this one; what is damaged is found, said, and computed again."""

from __future__ import annotations

import random
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import SensegraphError, StoreError
from sensegraph.runtime.stores.mending import (
    _list_places,
    is_as_left,
    mend_store,
    move_unreadable,
    note_as_left,
    upgrade_store,
)
from sensegraph.runtime.stores.packs import list_damaged
from sensegraph.runtime.stores.sealing import Damaged, is_sealed_array, seal, unseal
from sensegraph.runtime.stores.sqlite import _SCHEMA, FORMAT, SqliteStore
from sensegraph.types import Usage
from wired import stories


@pytest.mark.parametrize("content", [b"", b"x", b"{}" * 400, random.Random(1).randbytes(1000)])
def test_what_is_sealed_comes_back_and_any_flipped_bit_is_found(content: bytes) -> None:
    sealed = seal("name", content)
    assert unseal("name", sealed) == content
    assert len(sealed) <= len(content) + 5
    with pytest.raises(Damaged):
        unseal("other", sealed)
    for bit in range(0, 8 * len(sealed), 7):
        flipped = bytearray(sealed)
        flipped[bit // 8] ^= 1 << bit % 8
        with pytest.raises(Damaged):
            unseal("name", bytes(flipped))
    with pytest.raises(Damaged):
        unseal("name", sealed[:-1])


def test_text_is_stored_shorter(store: SqliteStore) -> None:
    text = b"The keeper of the light wrote to the harbour master. " * 400
    store.write({"text": text})
    ((size,),) = store.select("SELECT length(value) FROM pack")
    assert size < len(text) / 20
    assert store.read(["text"]) == {"text": text}


def test_a_store_of_the_first_format_is_upgraded_without_loss(tmp_path: Path) -> None:
    (tmp_path / "arrays").mkdir()
    db = sqlite3.connect(tmp_path / "store.sqlite")
    db.executescript("""
        CREATE TABLE object (key TEXT PRIMARY KEY, step TEXT NOT NULL, value BLOB NOT NULL);
        CREATE TABLE part (number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, rows INTEGER NOT NULL);
        CREATE TABLE row (part INTEGER NOT NULL, position INTEGER NOT NULL, id TEXT NOT NULL, value BLOB NOT NULL,
            PRIMARY KEY (part, position)) WITHOUT ROWID;
        CREATE INDEX row_id ON row (part, id);
        CREATE TABLE ref (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
        INSERT INTO ref VALUES ('index', 'k'), ('document/a', 'b');
        PRAGMA user_version = 1;
    """)
    columns = ", ".join(f"{name} REAL NOT NULL" for name in Usage.__dataclass_fields__)
    db.execute(f"CREATE TABLE ledger (step TEXT PRIMARY KEY, {columns})")
    db.execute(f"INSERT INTO ledger VALUES ('s', {', '.join('2' for _ in Usage.__dataclass_fields__)})")
    objects = {f"k{i}": str(i).encode() * i for i in range(1000)}
    db.executemany("INSERT INTO object VALUES (?, 'step', ?)", objects.items())
    records = [(f"id{i:04}", f"record {i}".encode()) for i in range(1200)]
    db.execute("INSERT INTO part VALUES (1, 't.rows', 1200), (2, 't.none', 0)")
    db.executemany("INSERT INTO row VALUES (1, ?, ?, ?)", [(i, n, v) for i, (n, v) in enumerate(records)])
    db.commit()
    db.close()
    np.save(tmp_path / "arrays" / "v.npy", np.arange(5))
    with pytest.raises(StoreError, match="format of an earlier version"):
        SqliteStore(tmp_path, readonly=True)
    for _ in range(2):
        store = SqliteStore(tmp_path)
        assert store.select("PRAGMA freelist_count") == [(0,)]
        assert store.read(list(objects)) == objects
        table, none = store.rows("t.rows"), store.rows("t.none")
        assert table is not None
        assert none is not None
        assert list(zip(table.ids(), table.scan(), strict=True)) == records
        assert list(none.ids()) == []
        assert store.refs() == {"index": "k", "document/a": "b"}
        assert store.ledger()["s"].calls == 2
        assert (store.array("v") == np.arange(5)).all()  # type: ignore[union-attr]
        assert store.mend() == 0
        assert {name for (name,) in store.select("SELECT name FROM sqlite_master WHERE type = 'table'")} == {
            "object", "pack", "part", "block", "list", "ref", "ledger", "format", "pin"
        }  # fmt: skip
        store.close()
    assert is_sealed_array(tmp_path / "arrays" / "v.npy")
    with closing(SqliteStore(tmp_path)) as store:
        upgrade_store(store, [], FORMAT)  # another process did it meanwhile
        assert store.read(list(objects)) == objects


def test_mending_removes_what_is_left_of_tables_that_are_gone_and_nothing_else(store: SqliteStore) -> None:
    for name in ("kept", "gone"):
        store.write_rows(f"{name}.rows", [(f"{name}{i:03}", b"x" * 40) for i in range(600)])
    blocks = len(store.select("SELECT place FROM block"))
    store.select("DELETE FROM part WHERE key = 'gone.rows'")
    store.mend()
    assert 0 < len(store.select("SELECT place FROM block")) < blocks
    table = store.rows("kept.rows")
    assert table is not None
    assert list(table.scan()) == [b"x" * 40] * 600


OF_A = "number = (SELECT number FROM object WHERE key = 'a')"


def test_what_is_damaged_is_named_when_it_is_read_and_gone_afterwards(store: SqliteStore) -> None:
    store.write({"a": b"1" * 50}, "step")
    store.write({"b": b"2"}, "step")
    store.write_rows("a.rows", [(f"{i:03}", b"x") for i in reversed(range(600))])
    store.write_array("a.v", np.arange(100))
    store.set_refs({"index": "a"})
    store.select(f"UPDATE pack SET value = CAST(substr(value, 1, 5) || x'00' AS BLOB) WHERE {OF_A}")
    with pytest.raises(StoreError, match=r"is damaged at a\. Run `sensegraph index`"):
        store.read(["a", "b"])
    assert store.has(["a", "b"]) == {"b"}
    store.select("UPDATE list SET value = x'0102' WHERE first = '256'")
    table = store.rows("a.rows")
    assert table is not None
    assert table.find(["001"]) == {"001": b"x"}
    with pytest.raises(StoreError, match=r"damaged at a\.rows"):
        table.find(["001", "300"])
    store.select("UPDATE ref SET value = 'c' WHERE name = 'index'")
    with pytest.raises(StoreError, match="damaged at the name 'index'"):
        store.ref("index")
    for value in ("NULL", "5", "x'ff'"):
        store.select("DROP TABLE ref")
        store.select("CREATE TABLE ref (name TEXT PRIMARY KEY, value, sum)")
        store.select(f"INSERT INTO ref VALUES ('index', {value}, 7)")
        with pytest.raises(StoreError, match="damaged at the name 'index'"):
            store.refs("in")
    path = store.array_path("a.v")
    path.write_bytes(path.read_bytes()[:-30] + bytes(30))
    with pytest.raises(StoreError, match=r"a\.v\.npy is damaged"):
        store.array("a.v")
    assert store.array("a.v") is None


def test_a_file_that_cannot_be_opened_for_want_of_room_is_not_called_damaged(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.write_array("v", np.arange(9))

    def refuse(self: Path, *args: object) -> None:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(StoreError, match=r"cannot be read \(.*Too many open files.*ulimit") as caught:
        store.array("v")
    assert "damaged" not in str(caught.value)
    monkeypatch.undo()
    assert store.array("v") is not None


def test_a_column_that_is_called_otherwise_is_damage(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path)) as made:
        made.write({"a": b"x"}, "made")
    with closing(sqlite3.connect(tmp_path / "store.sqlite")) as db:
        db.execute("ALTER TABLE object RENAME COLUMN number TO numbes")
    with (
        closing(SqliteStore(tmp_path)) as opened,
        pytest.raises(StoreError, match=r"no such column: number.*Move the"),
    ):
        opened.read(["a"])


QUESTIONS = ("Who wrote to whom in the year 1800?", "What does Ada do?")


def ask(root: Path) -> list[str]:
    """What is answered, each by a corpus opened anew."""
    with Corpus.open(root, create=False) as asked:
        return [str(asked.query(q, method=m).text) for q in QUESTIONS for m in ("walk", "local")]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    root = tmp_path_factory.mktemp("whole")
    with Corpus.open(root) as made:
        made.add(stories(3))
        made.build()
    return root, ask(root)


@pytest.mark.parametrize("seed", range(20))
def test_flipped_bits_change_no_answer_without_a_word_and_the_next_index_mends_them(
    tmp_path: Path, whole: tuple[Path, list[str]], seed: int
) -> None:
    root, right = tmp_path / "copy", whole[1]
    shutil.copytree(whole[0], root)
    drawn = random.Random(seed)
    files = sorted(p for p in (root / ".sensegraph").rglob("*") if p.suffix in (".sqlite", ".npy") and p.stat().st_size)
    for path in drawn.choices(files, [p.stat().st_size for p in files], k=30):
        content = bytearray(path.read_bytes())
        content[drawn.randrange(len(content))] ^= 1 << drawn.randrange(8)
        path.write_bytes(content)
    said = ""
    try:
        found = ask(root)
    except SensegraphError as e:
        found, said = right, str(e)
    assert found == right
    assert not said or re.search(r"damaged|gone|sensegraph index", said)
    with Corpus.open(root, mend=True) as again:
        again.add(stories(3))
        again.build()
    assert ask(root) == right


class Pages:
    """A table whose rows can be listed so far from either end, where its pages are damaged."""

    def __init__(self, rising: list[int], falling: list[int] | None) -> None:
        self.rising, self.falling = rising, falling

    def execute(self, query: str) -> Iterator[tuple[int]]:
        yield from ((place,) for place in ((self.falling or []) if "DESC" in query else self.rising))
        if self.falling is not None:
            raise sqlite3.DatabaseError("malformed")


@pytest.mark.parametrize(
    ("rising", "falling", "listed"),
    [
        ([1, 2, 5], None, [1, 2, 5]),  # nothing is damaged
        ([1, 2], [9, 8], [1, 2, 9, 8]),  # more may lie between than the file has room for
        ([1, 2], [9, 6], [1, 2, 9, 6, 3, 4, 5]),
        ([1, 2], [9, 5, 7], [1, 2, 9, 5, 3, 4]),  # a page leads back
        ([1, 3, 2], [9, 6, 3], [1, 3, 9, 6, 4, 5]),
        ([], [2], [2, 0, 1]),
    ],
)
def test_rows_are_listed_from_both_ends_and_then_what_may_lie_between(
    rising: list[int], falling: list[int] | None, listed: list[int]
) -> None:
    pages: Any = Pages(rising, falling)
    assert list(_list_places(pages, "object", 9, 4)) == listed


def test_each_kind_of_thing_that_is_damaged_is_counted_and_removed_and_nothing_else(store: SqliteStore) -> None:
    for i in range(1100):
        store.write({f"k{i}": f"{i}".encode() * 9}, "step")
    for name in ("a", "b"):
        store.write_rows(f"{name}.rows", [(f"{i:03}", b"x") for i in range(40)])
        store.write_array(f"{name}.v", np.arange(9))
    store.set_refs({"index": "a", "other": "b"})
    assert store.mend() == 0
    kept = store.read([f"k{i}" for i in range(1100)])
    numbers = [number for (number,) in store.select("SELECT number FROM pack ORDER BY number")]
    for number in (numbers[0], numbers[99], numbers[100], numbers[-1]):
        store.select(f"UPDATE pack SET value = CAST(value || x'00' AS BLOB) WHERE number = {number}")
    store.select("UPDATE ref SET value = 'c' WHERE name = 'index'")
    store.select("UPDATE part SET head = x'00' WHERE key = 'a.rows'")
    path = store.array_path("a.v")
    path.write_bytes(path.read_bytes()[:-1])
    assert mend_store(store) == 7
    left = store.read(list(kept))
    assert len(left) == 1096
    assert left.items() <= kept.items()
    assert store.refs().keys() == {"other", "lost"}
    assert (store.rows("a.rows"), store.array("a.v")) == (None, None)
    assert store.rows("b.rows") is not None
    assert store.array("b.v") is not None
    assert mend_store(store) == 0


def test_a_row_that_names_the_pack_of_another_object_leaves_nothing_damaged(store: SqliteStore) -> None:
    for key in "abc":
        store.write({key: key.encode() * 9}, "step")
    store.select("UPDATE object SET number = (SELECT number FROM object WHERE key = 'a') WHERE key = 'b'")
    assert mend_store(store) >= 1
    assert list(list_damaged(store)) == []
    assert store.read(["a", "b", "c"])["c"] == b"c" * 9
    assert mend_store(store) == 0


@pytest.mark.parametrize("damage", ["other place", "gone", "more", "list gone", "list elsewhere", "no number"])
def test_a_table_whose_blocks_and_lists_do_not_follow_each_other_is_removed(store: SqliteStore, damage: str) -> None:
    store.write_rows("a.rows", [(f"{i:03}", b"x") for i in reversed(range(600))])
    ((number, last),) = store.select("SELECT part.number, max(place) FROM part, block")
    statements = {
        "other place": f"UPDATE block SET place = place + 1 WHERE place = {last}",
        "gone": f"DELETE FROM block WHERE place = {last}",
        "more": f"INSERT INTO block SELECT place + 8, value FROM block WHERE place = {last}",
        "list gone": "DELETE FROM list WHERE first = '512'",
        "list elsewhere": "UPDATE list SET first = '300' WHERE first = '256'",
        "no number": "UPDATE part SET head = 'x'",
    }
    assert mend_store(store) == 0
    store.select(statements[damage])
    assert mend_store(store) == 1
    assert store.rows("a.rows") is None
    assert store.select("SELECT count(*) FROM block WHERE place >= ?", (number << 31,)) == [(0,)]


def test_a_store_is_looked_through_up_to_256_megabytes() -> None:
    class Asked(Exception):
        """It is looked through."""

    def select(query: str) -> None:
        raise Asked

    def mend(size: int, *, readonly: bool = False) -> int:
        path = SimpleNamespace(stat=lambda: SimpleNamespace(st_size=size))
        store: Any = SimpleNamespace(readonly=readonly, path=path, select=select)
        return mend_store(store)

    assert mend(268_435_457) == 0
    assert mend(100, readonly=True) == 0
    for size in (268_435_456, 100):
        with pytest.raises(Asked):
            mend(size)


def test_a_store_is_as_it_was_left_until_one_of_its_files_is_touched(store: SqliteStore) -> None:
    store.write_array("v", np.arange(9))
    assert not is_as_left(store.root)
    note_as_left(store.root)
    assert is_as_left(store.root)
    (store.root / "arrays" / "empty.npy").touch()
    assert is_as_left(store.root)  # an empty file says nothing
    store.write_array("w", np.arange(9))
    assert not is_as_left(store.root)
    note_as_left(store.root)
    store.write({"k": b"x"})
    assert not is_as_left(store.root)
    note_as_left(store.root)
    assert [line.split()[0] for line in (store.root / "whole.txt").read_text().splitlines()] == [
        "store.sqlite", "store.sqlite-wal", "v.npy", "w.npy",
    ]  # fmt: skip


def test_a_file_that_is_a_database_of_something_else_stays_and_what_is_none_is_moved_aside(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "store.sqlite")) as db:
        db.execute("CREATE TABLE other (a)")
    with closing(sqlite3.connect(tmp_path / "store.sqlite")) as db:
        move_unreadable(tmp_path / "store.sqlite", _SCHEMA, FORMAT)
        assert db.execute("SELECT count(*) FROM other").fetchone() == (0,)
    (tmp_path / "arrays").mkdir()
    (tmp_path / "arrays" / "v.npy").touch()
    for name in ("store.sqlite", "store.sqlite-wal", "store.sqlite-shm"):
        (tmp_path / name).write_bytes(b"no database" * 100)
    move_unreadable(tmp_path / "store.sqlite", _SCHEMA, FORMAT)
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["arrays", "store.damaged.sqlite"]
    (tmp_path / "arrays" / "v.npy").touch()
    move_unreadable(tmp_path / "store.sqlite", _SCHEMA, FORMAT)  # there is none: nothing is done
    assert (tmp_path / "arrays" / "v.npy").exists()
    (tmp_path / "store.sqlite").touch()
    move_unreadable(tmp_path / "store.sqlite", _SCHEMA, FORMAT)  # an empty one: arrays beside it are of nothing
    assert not (tmp_path / "arrays" / "v.npy").exists()
    with closing(SqliteStore(tmp_path)) as made:
        made.write_array("v", np.arange(3))
        made.close()
    with closing(sqlite3.connect(tmp_path / "store.sqlite")) as db:
        db.execute("DROP TABLE ledger")
    move_unreadable(tmp_path / "store.sqlite", _SCHEMA, FORMAT)  # what is missing can be made
    assert (tmp_path / "arrays" / "v.npy").exists()
    with closing(sqlite3.connect(tmp_path / "store.sqlite")) as db:
        db.execute("ALTER TABLE object RENAME COLUMN number TO numbes")
    move_unreadable(tmp_path / "store.sqlite", _SCHEMA, FORMAT)
    assert not (tmp_path / "store.sqlite").exists()
    assert not (tmp_path / "arrays" / "v.npy").exists()
