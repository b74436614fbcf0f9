from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest

from sensegraph.errors import ResultGone, StoreError
from sensegraph.runtime.stores.sealing import seal, sum_ref
from sensegraph.runtime.stores.sqlite import FORMAT, SqliteStore
from sensegraph.testing import CorpusStoreContract
from sensegraph.types import Usage


class TestSqliteStore(CorpusStoreContract):
    def make(self, folder: Path) -> SqliteStore:
        return SqliteStore(folder)


class TestReadonlyStoreKeepsWhatIsWrittenInMemory:
    def test_objects_are_found_in_this_run_and_not_on_disk(self, tmp_path: Path) -> None:
        SqliteStore(tmp_path).write({"a": b"1"})
        store = SqliteStore(tmp_path, readonly=True)
        store.write({"b": b"2"})
        store.spend("step", Usage(calls=1))
        assert store.read(["a", "b"]) == {"a": b"1", "b": b"2"}
        assert store.has(["a", "b", "c"]) == {"a", "b"}
        assert SqliteStore(tmp_path).has(["a", "b"]) == {"a"}

    def test_refs_cannot_be_set(self, tmp_path: Path) -> None:
        SqliteStore(tmp_path)
        with pytest.raises(StoreError, match="readonly"):
            SqliteStore(tmp_path, readonly=True).set_refs({"a": "b"})


def test_objects_written_in_one_call_are_stored_together_or_not_at_all(store: SqliteStore) -> None:
    with pytest.raises(TypeError):
        store.write({"a": b"1", "b": object()})  # type: ignore[dict-item]
    assert store.has(["a", "b"]) == set()


def test_refs_are_set_together_or_not_at_all(store: SqliteStore) -> None:
    with pytest.raises(StoreError):
        store.set_refs({"a": "1", "b": object()})  # type: ignore[dict-item]
    assert store.refs() == {}


def test_names_with_letters_of_every_script_are_refs(store: SqliteStore) -> None:
    names = {f"document/{n}": "k" for n in ("ä.txt", "東京", "😀", "a b/c%_", "")}
    store.set_refs(names)
    assert store.refs("document/") == dict(sorted(names.items()))


def test_a_store_is_a_sqlite_file_with_sealed_values_and_npy_beside_it(store: SqliteStore) -> None:
    store.write({"a": b'{"x":1}'}, "step.name")
    store.write_array("v", np.ones((2, 3), np.float32))
    rows = (
        sqlite3.connect(store.path).execute("SELECT key, step, value FROM object JOIN pack USING (number)").fetchall()
    )
    number = zlib.crc32(b"a")
    assert rows == [("a", "step.name", seal("", msgspec.msgpack.encode([[number, b'{"x":1}']])))]
    assert np.load(store.root / "arrays" / "v.npy").shape == (2, 3)


def test_threads_share_a_store(store: SqliteStore) -> None:
    def work(part: int) -> None:
        for i in range(50):
            store.write({f"{part}-{i}": b"x"})
            store.spend("step", Usage(calls=1))
            assert store.read([f"{part}-{i}"])

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert store.ledger()["step"].calls == 200


def test_a_reader_sees_the_old_index_until_the_new_one_is_published(tmp_path: Path) -> None:
    writer = SqliteStore(tmp_path)
    writer.set_refs({"index": "old"})
    reader = SqliteStore(tmp_path, readonly=True)
    with writer.writing() as db:
        db.execute("INSERT OR REPLACE INTO ref VALUES ('index', 'new', ?)", (sum_ref("index", "new"),))
        assert reader.ref("index") == "old"
    assert reader.ref("index") == "new"


# ── what can go wrong with the disk ──


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "store.sqlite").write_bytes(b"garbage " * 1000)
    with pytest.raises(StoreError, match=r"store\.sqlite cannot be used .*Move the folder away"):
        SqliteStore(tmp_path)


def test_a_truncated_file_is_refused_when_what_is_missing_is_read(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    objects = {f"k{i}": bytes(2000) for i in range(200)}
    store.write(objects)
    store.close()
    path = tmp_path / "store.sqlite"
    os.truncate(path, path.stat().st_size // 2)
    with pytest.raises(StoreError, match="Move the folder away"):
        SqliteStore(tmp_path).read(list(objects))


def test_an_empty_file_beside_arrays_is_no_new_store(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    store.write_array("v", np.ones(3))
    store.close()
    os.truncate(tmp_path / "store.sqlite", 0)
    with pytest.raises(StoreError, match="is empty though the index beside it is not"):
        SqliteStore(tmp_path)


def test_a_store_from_a_newer_version_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    db = sqlite3.connect(tmp_path / "store.sqlite")
    db.execute(f"PRAGMA user_version = {FORMAT + 1}")
    db.execute("CREATE TABLE other (x)")
    db.commit()
    db.close()
    before = (tmp_path / "store.sqlite").read_bytes()
    for readonly in (False, True):
        with pytest.raises(StoreError, match=f"has format {FORMAT + 1}, this version reads {FORMAT}; upgrade"):
            SqliteStore(tmp_path, readonly=readonly)
    assert (tmp_path / "store.sqlite").read_bytes() == before


@pytest.mark.parametrize("damage", [lambda b: b"", lambda b: b[:40], lambda b: b[:-8], lambda b: b"x" * len(b)])
def test_a_damaged_array_is_named(store: SqliteStore, damage: Callable[[bytes], bytes]) -> None:
    store.write_array("v", np.arange(1000, dtype=np.float32))
    path = store.root / "arrays" / "v.npy"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(StoreError, match=r"v\.npy is damaged"):
        store.array("v")


@pytest.mark.parametrize("damage", [(b"NUMPY\x01", b"NUMPY\x02"), (b"'<f4'", b"'|O' ")])
def test_an_array_file_of_another_kind_is_damaged(store: SqliteStore, damage: tuple[bytes, bytes]) -> None:
    """A format of which no array is written, and one whose numbers would be read as places in memory."""
    store.write_array("v", np.arange(1000, dtype=np.float32))
    path = store.root / "arrays" / "v.npy"
    was = path.read_bytes()
    path.write_bytes(was.replace(*damage))
    assert path.read_bytes() != was
    with pytest.raises(StoreError, match=r"v\.npy is damaged"):
        store.array("v")


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match=r"file/store\.sqlite cannot be used .*Check that the folder exists"):
        SqliteStore(tmp_path / "file")


def test_a_missing_store_is_not_made_by_reading(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        SqliteStore(tmp_path / "none", readonly=True)
    assert not (tmp_path / "none").exists()


KILLED = """
import os, sys
from pathlib import Path
from sensegraph.runtime.stores.sqlite import SqliteStore
store = SqliteStore(Path(sys.argv[1]))
store.write({"whole": b"1"})
store.set_refs({"a": "1"})
def rows():
    yield "a", b"1"
    os.kill(os.getpid(), 9)
store.write_rows("half", rows())
"""


def test_a_killed_writer_leaves_whole_writes_only(tmp_path: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)])
    assert ended.returncode == -9
    store = SqliteStore(tmp_path)
    assert store.has(["whole", "half"]) == {"whole"}
    assert store.refs() == {"a": "1"}
    assert store.rows("half") is None


def test_an_array_is_on_the_disk_before_it_has_its_name(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[tuple[int, bool]] = []

    def wait(file: int) -> None:
        waited.append((os.fstat(file).st_size, (store.root / "arrays" / "v.npy").exists()))

    monkeypatch.setattr(os, "fsync", wait)
    store.write_array("v", np.ones(1000, np.float32))
    assert waited == [((store.root / "arrays" / "v.npy").stat().st_size, False)]


def test_an_array_that_was_half_written_is_not_there(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(file: object, *_: object, **__: object) -> None:
        file.write(b"half")  # type: ignore[attr-defined]
        raise OSError("No space left on device")

    monkeypatch.setattr(np, "save", broken)
    with pytest.raises(StoreError, match="No space left"):
        store.write_array("v", np.ones(3))
    assert store.array("v") is None
    assert store.has(["v"]) == set()


def test_two_builds_of_one_corpus_do_not_run_at_once(tmp_path: Path) -> None:
    one, other = SqliteStore(tmp_path), SqliteStore(tmp_path)
    with one.exclusive():
        with pytest.raises(StoreError, match="Another build"), other.exclusive():
            pass
        other.write({"k": b"v"})  # writing and reading go on
    with other.exclusive():
        pass


def test_a_store_that_is_closed_says_so_whatever_is_asked_and_also_where_it_happens_meanwhile(tmp_path: Path) -> None:
    store, again = SqliteStore(tmp_path / "a"), SqliteStore(tmp_path / "a")
    said = r"was closed; open it again \(`Corpus.open`\)"
    store.close()
    for ask in (lambda: store.ref("x"), lambda: store.read(["x"]), lambda: store.write({"x": b"1"}), store.settle):
        with pytest.raises(StoreError, match=said):
            ask()

    with pytest.raises(StoreError, match=said):
        store.write_array("x", np.arange(3))
    assert again.array_names() == []

    def close_meanwhile() -> None:
        again.close()
        raise sqlite3.ProgrammingError("Cannot operate on a closed database.")

    with pytest.raises(StoreError, match=said), again._guard():
        close_meanwhile()
    store.close()
    assert not (tmp_path / "a" / "whole.txt").exists()


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (sqlite3.DatabaseError("malformed"), "Move the folder away and run"),
        (sqlite3.OperationalError("disk I/O"), "Check that the folder exists, is writable and has room"),
        (OSError("no room"), "Check that the folder exists, is writable and has room"),
    ],
)
def test_what_the_disk_or_the_file_refuses_is_told_with_what_to_do(
    store: SqliteStore, error: Exception, advice: str
) -> None:
    with pytest.raises(StoreError, match=rf"store\.sqlite cannot be used \({error}\)\. {advice}"), store._guard():
        raise error
    with pytest.raises(StoreError, match=r"no such column.*Move the folder away"):
        store.select("SELECT other FROM object")


def test_only_a_store_that_was_looked_through_is_noted_as_whole(tmp_path: Path) -> None:
    for mended in (False, True):
        store = SqliteStore(tmp_path)
        if mended:
            with store.exclusive():
                assert store.mend() == 0
        store.close()
        assert (tmp_path / "whole.txt").exists() is mended


def test_what_is_damaged_goes_with_what_says_that_it_is_complete(store: SqliteStore) -> None:
    store.write({"a": b"1", "a.t": b"2", "b": b"3"})
    for key in ("a.t", "a.u", "b.t"):
        store.write_rows(key, [("x", b"1")])
    for key in ("a", "a.t", "a.u"):
        store.array_path(key).write_bytes(b"an array")
    store.forget(["a.t", b"no text"])  # type: ignore[list-item]
    assert store.read(["a", "a.t", "b"]) == {"b": b"3"}
    assert store.select("SELECT key FROM part ORDER BY key") == [("a.u",), ("b.t",)]
    assert store.select("SELECT (SELECT count(*) FROM block), (SELECT count(*) FROM list)") == [(2, 2)]
    assert store.array_names() == ["a.u"]
    lost = store.ref("lost")
    assert lost
    store.forget([7])  # type: ignore[list-item]
    assert store.ref("lost") == lost


def test_a_table_that_is_gone_since_it_was_opened_is_gone_and_not_damaged(store: SqliteStore) -> None:
    store.write_rows("a.t", [("x", b"1")])
    ((number,),) = store.select("SELECT number FROM part")
    for key, other in (("a.t", number + 1), ("a.u", number)):
        with pytest.raises(ResultGone), store.checking(key, other):
            raise KeyError("x")
    assert store.select("SELECT key FROM part") == [("a.t",)]
    with (
        pytest.raises(StoreError, match=r"elsewhere is damaged at a\.t"),
        store.checking("a.t", path=Path("elsewhere")),
    ):
        raise IndexError
    assert store.rows("a.t") is None
    store.select("DROP TABLE part")
    store.select("CREATE TABLE part (number, key, head)")
    store.select("INSERT INTO part VALUES ('one', 'b.t', x'00')")
    with pytest.raises(StoreError, match=r"store\.sqlite is damaged at b\.t"):
        store.rows("b.t")
