"""A store from somebody who wishes harm: links, names that lead out, programs in SQL, bombs, values of other kinds."""

from __future__ import annotations

import os
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from backports import zstd

from sensegraph.errors import StoreError
from sensegraph.models.batches.batch_box import BatchBox, BatchPlan
from sensegraph.runtime import shortening
from sensegraph.runtime.stores import sealing
from sensegraph.runtime.stores.sealing import Damaged, seal, unseal
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Usage


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    """A file of numbers of the user's, outside of the corpus."""
    (tmp_path / "home").mkdir()
    path = tmp_path / "home" / "precious.npy"
    np.save(path, np.arange(100))
    return path


@pytest.mark.parametrize("key", ["../../../home/precious", "{home}/precious", "../arrays/../../../home/precious"])
def test_a_key_that_leads_out_of_the_folder_reads_and_removes_nothing_there(
    tmp_path: Path, precious: Path, key: str
) -> None:
    store = SqliteStore(tmp_path / "corpus" / ".sensegraph")
    key = key.format(home=precious.parent)
    assert store.array(key) is None
    assert store.has([key]) == set()
    store.forget([key])
    store.write_array(key, np.arange(3))
    assert (np.load(precious) == np.arange(100)).all()
    assert {p.parent for p in tmp_path.rglob("*.npy")} == {precious.parent, store.root / "arrays"}
    db = sqlite3.connect(store.path)
    db.execute("INSERT INTO object VALUES (?, 9)", (key,))
    db.execute("INSERT INTO object VALUES (x'ff00', 'a text')")
    db.execute("INSERT INTO object VALUES (5, x'00')")
    db.commit()
    db.close()
    with store.exclusive():
        assert store.mend() == 3
    assert precious.exists()


@pytest.mark.parametrize("name", ["arrays", "store.sqlite", "whole.txt", "replies.jsonl", "building.sqlite", "batches"])
def test_a_link_in_place_of_a_file_or_folder_of_the_store_is_refused(tmp_path: Path, precious: Path, name: str) -> None:
    root = tmp_path / "corpus" / ".sensegraph"
    root.mkdir(parents=True)
    (root / name).symlink_to(precious.parent)
    for readonly in (True, False):
        with pytest.raises(StoreError, match="leads out of its folder"):
            SqliteStore(root, readonly=readonly, mend=not readonly)
    assert os.listdir(precious.parent) == ["precious.npy"]


def test_a_store_that_is_a_link_or_holds_an_array_that_is_one_is_refused(tmp_path: Path, precious: Path) -> None:
    root = tmp_path / "corpus" / ".sensegraph"
    root.parent.mkdir()
    root.symlink_to(precious.parent)
    with pytest.raises(StoreError, match="leads out of its folder"):
        SqliteStore(root)
    assert os.listdir(precious.parent) == ["precious.npy"]
    root.unlink()
    (root / "arrays").mkdir(parents=True)
    (root / "arrays" / "a.npy").symlink_to(precious)
    with pytest.raises(StoreError, match="leads out of its folder"):
        SqliteStore(root)


def test_a_folder_that_is_reached_by_a_link_may_hold_a_store(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    SqliteStore(tmp_path / "link" / ".sensegraph").write({"a": b"1"})
    assert SqliteStore(tmp_path / "real" / ".sensegraph").has(["a"]) == {"a"}


_ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, i, i FROM n"


@pytest.mark.parametrize(
    "statement",
    [
        f"CREATE TRIGGER t BEFORE INSERT ON object BEGIN INSERT INTO ref {_ENDLESS}; END",
        f"CREATE TRIGGER t BEFORE INSERT ON format BEGIN INSERT INTO ref {_ENDLESS}; END",
        f"CREATE VIEW t (name, value, sum) AS {_ENDLESS}",
        "CREATE VIRTUAL TABLE t USING fts5(x)",
    ],
)
def test_a_database_with_programs_in_it_is_not_read(tmp_path: Path, statement: str) -> None:
    store = SqliteStore(tmp_path)
    store.write({"a": b"1"})
    store.close()
    db = sqlite3.connect(store.path)
    try:
        db.execute(statement)
    except sqlite3.OperationalError:
        pytest.skip("this SQLite has no such tables")
    db.commit()
    db.close()
    for readonly in (True, False):
        with pytest.raises(StoreError, match="as no store does"):
            SqliteStore(tmp_path, readonly=readonly)
    assert SqliteStore(tmp_path, mend=True).has(["a"]) == set(), "what built it builds it anew"
    assert (tmp_path / "store.damaged.sqlite").exists()


@pytest.mark.parametrize("packed", [zlib.compress(bytes(2_000_000)), zstd.compress(bytes(2_000_000))])
def test_what_unpacks_to_very_much_is_damaged(monkeypatch: pytest.MonkeyPatch, packed: bytes) -> None:
    body = b"\1" + packed
    bomb = zlib.crc32(body, zlib.crc32(b"a")).to_bytes(4, "little") + body
    assert len(unseal("a", bomb)) == 2_000_000
    monkeypatch.setattr(shortening, "LONGEST", 1_000_000)
    monkeypatch.setattr(sealing, "LONGEST", 1_000_000)
    with pytest.raises(Damaged):
        unseal("a", bomb)
    assert unseal("a", seal("a", bytes(1_000_001))) == bytes(1_000_001), "what is written can be read"
    assert unseal("a", seal("a", bytes(1_000_000))) == bytes(1_000_000)


@pytest.mark.parametrize("value", ["many", float("inf"), b"\xff"])
def test_a_ledger_of_other_values_is_an_explained_error(tmp_path: Path, value: object) -> None:
    store = SqliteStore(tmp_path)
    store.spend("step", Usage(calls=1))
    store.select("UPDATE ledger SET calls = ?", (value,))
    with pytest.raises(StoreError, match="ledger"):
        store.ledger()


def test_names_of_batches_lead_to_no_other_file(tmp_path: Path) -> None:
    (tmp_path / "secret.jsonl").write_text("a secret")
    folder = tmp_path / "batches"
    folder.mkdir()
    (folder / "batches.json").write_text('[{"name": "../secret"}, {"name": "%s"}]' % ("a" * 40))

    unreached = SimpleNamespace(settings=SimpleNamespace(batch_price=0.5))
    box = BatchBox(folder, unreached, BatchPlan(), lambda *_: None)  # type: ignore[arg-type]
    assert [one.name for one in box._sent()] == ["a" * 40]


@pytest.mark.parametrize("readonly", [False, True])
def test_what_a_database_says_of_itself_is_not_trusted(tmp_path: Path, readonly: bool) -> None:
    SqliteStore(tmp_path).close()
    with closing(SqliteStore(tmp_path, readonly=readonly)) as store:
        assert store.select("PRAGMA trusted_schema") == [(0,)]
