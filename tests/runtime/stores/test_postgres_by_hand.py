"""What a store in PostgreSQL writes, holds, removes and copies, row by row; each bound on both sides."""

from __future__ import annotations

import asyncio
import pickle
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("asyncpg", reason='asyncpg is not installed: pip install "sensegraph[postgres]"')

from databases import corpus_url, database_store, forget_copies
from sensegraph.errors import Busy, ResultGone, StoreError
from sensegraph.runtime.stores import postgres, postgres_schema
from sensegraph.runtime.stores.array_files import PieceTable
from sensegraph.runtime.stores.corpus_store import LOST
from sensegraph.runtime.stores.postgres import PostgresStore
from sensegraph.runtime.stores.postgres_schema import Gone, delete_gone
from sensegraph.runtime.stores.postgres_wire import Session
from sensegraph.types import Usage


@pytest.fixture
def made(tmp_path: Path) -> Iterator[PostgresStore]:
    with closing(database_store(tmp_path)) as store:
        yield store


def list_keys(store: PostgresStore) -> str:
    """The keys of what is there: objects, tables, arrays, and the copies of arrays on this machine."""
    asked = ("SELECT key FROM object", "SELECT key FROM part", "SELECT DISTINCT key FROM piece")
    found = [" ".join(sorted(key for (key,) in store._ask(query))) for query in asked]
    return " | ".join([*found, " ".join(store._arrays.names())])


def note_statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The first words of statements that change something, as they are made, and the seconds that they are given."""
    execute, noted = Session.execute, list[str]()

    def note(self: Session, query: str, *values: Any, **given: Any) -> str:
        noted.append(" ".join([*query.split()[:3], *map(str, given.values())]))
        return execute(self, query, *values, **given)

    monkeypatch.setattr(Session, "execute", note)
    return noted


# ── objects ──


@pytest.mark.parametrize(
    ("lengths", "cut"),
    [
        ([], []),
        ([0], [[0]]),
        ([9], [[9]]),
        ([10], [[10]]),
        ([9, 1], [[9, 1]]),
        ([9, 1, 1], [[9, 1], [1]]),
        ([10, 0], [[10], [0]]),
        ([30, 5, 5, 9, 0], [[30], [5, 5], [9, 0]]),
        ([5, 4, 9, 1], [[5, 4, 9], [1]]),
    ],
)
def test_values_are_cut_into_blocks_of_so_many_bytes(
    monkeypatch: pytest.MonkeyPatch, lengths: list[int], cut: list[list[int]]
) -> None:
    monkeypatch.setattr(postgres, "_BYTES", 10)
    blocks = list(postgres._cut_bytes([(f"k{i}", b"x" * length) for i, length in enumerate(lengths)]))
    assert [[len(value) for _, value in block] for block in blocks] == cut
    assert [key for block in blocks for key, _ in block] == [f"k{i}" for i in range(len(lengths))]


@pytest.mark.parametrize(
    ("most", "statements"),
    [(1000, ["INSERT INTO object"]), (16, ["BEGIN", *["INSERT INTO object"] * 2, "COMMIT"])],
)
def test_what_is_written_in_one_statement_is_no_transaction_and_in_several_is_one(
    made: PostgresStore, monkeypatch: pytest.MonkeyPatch, most: int, statements: list[str]
) -> None:
    monkeypatch.setattr(postgres, "_BYTES", most)
    made.write({"b": b"first"}, "early")
    noted = note_statements(monkeypatch)
    made.write({"c": b"333", "a": b"111", "b": b"222"}, "late")
    assert noted == statements
    assert made.read(["a", "b", "c"]) == {"a": b"111", "b": b"first", "c": b"333"}
    steps = [("a", "late"), ("b", "early"), ("c", "late")]
    assert [tuple(row) for row in made._ask("SELECT key, step FROM object ORDER BY key")] == steps


def test_so_many_keys_are_asked_for_as_there_are(made: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "_KEYS", 2)
    made.write({"a": b"1", "b": b"2", "c": b"3"})
    made.write_rows("d.t", [("x", b"1")])
    made.write_rows("d.empty", [])
    made.write_array("e", np.arange(3))
    keys = ["none", "a", "b", "c", "d.t", "d.empty", "e"]
    assert made.read(keys) == {"a": b"1", "b": b"2", "c": b"3"}
    assert made.has(keys) == set(keys[1:])
    assert made.has([]) == set()
    assert made.read([]) == {}


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5])
def test_blocks_and_lists_of_a_table_are_copied_so_many_at_once(
    made: PostgresStore, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.setattr(postgres, "_COPIED", 2)
    copied: list[tuple[str, int]] = []
    copy = Session.copy

    def note(self: Session, table: str, columns: Any, records: Any) -> None:
        copied.append((table, len(records)))
        copy(self, table, columns, records)

    monkeypatch.setattr(Session, "copy", note)
    rows = [(f"i{n:04}", b"%d" % n) for n in reversed(range(count * 256))]
    made.write_rows("t", rows)
    pairs = lambda n: [2] * (n // 2) + [1] * (n % 2)  # noqa: E731
    assert copied == [*(("block", n) for n in pairs(-(-count * 256 // 80))), *(("list", n) for n in pairs(count))]
    found = made.rows("t")
    assert found is not None
    assert (len(found), list(found.ids()), list(found.scan())) == (
        len(rows), [i for i, _ in rows], [r for _, r in rows]
    )  # fmt: skip
    copied.clear()
    made.write_rows("t", [("other", b"1")])
    assert copied == []


# ── refs, pins and the ledger ──


def test_names_are_set_and_deleted_at_once_and_listed_by_how_they_begin(made: PostgresStore) -> None:
    made.set_refs({"a": "1", "ab": "2", "b": "3", "ab\U0010fffe": "4"})
    made.set_refs({"a": None, "b": "5", "none": None})
    assert made.refs() == {"ab": "2", "ab\U0010fffe": "4", "b": "5"}
    assert made.refs("ab") == {"ab": "2", "ab\U0010fffe": "4"}
    assert made.refs("c") == {}
    assert (made.ref("a"), made.ref("b")) == (None, "5")


def test_what_reads_is_pinned_for_the_longest_time_that_was_asked_for(made: PostgresStore) -> None:
    made.pin("a", 1000)
    made.pin("a", 10)
    made.pin("b", 10)
    made.pin("b", 2000)
    made._ask("INSERT INTO pin VALUES ('passed', now() - interval '1 second')")
    assert made.pinned() == {"a", "b"}
    assert made._ask("SELECT count(*) FROM pin")[0][0] == 3
    made.pin("c", 10.5)
    left = "SELECT key, extract(epoch FROM until - now())::double precision FROM pin ORDER BY key"
    seconds = dict(made._ask(left))
    assert list(seconds) == ["a", "b", "c"]
    assert (990 < seconds["a"] <= 1000, 1990 < seconds["b"] <= 2000, 0 < seconds["c"] <= 10.5) == (True,) * 3


def test_what_steps_cost_is_summed_number_by_number(made: PostgresStore) -> None:
    first = Usage(*(n if n not in (6, 9) else n + 0.5 for n in range(1, 1 + len(fields(Usage)))))
    made.spend("b", first)
    made.spend("b", first)
    made.spend("a", first)
    assert list(made.ledger().items()) == [("a", first), ("b", first + first)]
    kinds = {f.name: type(getattr(made.ledger()["a"], f.name)) for f in fields(Usage)}
    assert {name for name, kind in kinds.items() if kind is float} == {"cost_usd", "seconds"}


# ── damage ──


def test_what_is_damaged_goes_with_what_says_that_it_is_complete(made: PostgresStore) -> None:
    made.write({"a": b"1", "t": b"2", "b": b"3"})
    for key in ("a.t", "a.u", "b.t"):
        made.write_rows(key, [("x", b"1")])
    for key in ("c", "c.v", "d"):
        made.write_array(key, np.arange(3))
    for key in ("a", "a.t", "t"):
        made._arrays.path(key).write_bytes(b"a copy")
    with pytest.raises(StoreError, match=r"damaged at a\.t"), made.checking("a.t"):
        raise KeyError("x")
    assert list_keys(made) == "b t | a.u b.t | c c.v d | c c.v d t"
    assert made._ask("SELECT count(*) FROM block")[0][0] == made._ask("SELECT count(*) FROM list")[0][0] == 2
    lost = made.ref(LOST)
    with pytest.raises(StoreError, match="damaged at t"), made.checking("t"):
        raise IndexError
    assert list_keys(made) == "b | a.u b.t | c c.v d | c c.v d"
    assert made.ref(LOST) not in (None, lost)
    with pytest.raises(StoreError, match=r"damaged at c.v"), made.checking("c.v"):
        raise ValueError
    assert list_keys(made) == "b | a.u b.t | d | d"


def test_a_table_that_is_gone_since_it_was_opened_is_gone_and_not_damaged(made: PostgresStore) -> None:
    made.write_rows("a.t", [("x", b"1")])
    number = made._ask("SELECT number FROM part")[0][0]
    for key, other in (("a.t", number + 1), ("a.u", number)):
        with pytest.raises(ResultGone), made.checking(key, other):
            raise KeyError("x")
    assert list_keys(made) == " | a.t |  | "
    with pytest.raises(StoreError, match=r"is damaged at a\.t"), made.checking("a.t", number):
        raise KeyError("x")
    assert list_keys(made) == " |  |  | "
    with pytest.raises(TypeError), made.checking("a.t"):
        raise TypeError


def test_damage_that_cannot_be_removed_is_named_all_the_same(made: PostgresStore, tmp_path: Path) -> None:
    made.write({"a": b"1"})
    with closing(database_store(tmp_path, readonly=True)) as reader:
        made._ask("UPDATE object SET value = '\\x00'::bytea")
        with pytest.raises(StoreError, match=r"is damaged at a.*sensegraph index"):
            reader.read(["a"])
    assert list_keys(made) == "a |  |  | "


# ── arrays ──


def test_copies_of_arrays_lie_in_a_folder_for_their_owner_that_is_named_after_the_database(tmp_path: Path) -> None:
    folders = []
    for name in ("a", "b", "a"):
        with closing(PostgresStore(corpus_url(tmp_path / name), tmp_path, tmp_path / "deep" / "cache")) as store:
            folders.append(store._arrays.folder)
    assert folders[0] == folders[2] != folders[1]
    for folder in folders:
        assert folder.parent == tmp_path / "deep" / "cache"
        assert (len(folder.name), folder.stat().st_mode & 0o7777) == (20, 0o700)


@pytest.mark.parametrize("name", ["gone", "kept"])
def test_a_copy_that_another_process_removes_meanwhile_is_no_error(
    made: PostgresStore, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for key in ("gone", "kept", "other"):
        made.write_array(key, np.arange(10))
    has = PostgresStore.has

    def remove(self: PostgresStore, keys: Any) -> set[str]:
        self._arrays.path(name).unlink()
        return has(self, keys)

    monkeypatch.setattr(PostgresStore, "has", remove)
    made.sweep({"kept", "other"})
    assert made._arrays.names() == sorted({"kept", "other"} - {name})
    monkeypatch.undo()
    assert list(made.array("kept")) == list(range(10))  # type: ignore[arg-type]


def test_copies_are_looked_through_once_after_each_sweep(made: PostgresStore, tmp_path: Path) -> None:
    made.write_array("a", np.arange(3))
    note = made._arrays.folder / "swept.txt"
    assert note.read_text() == ""
    made._arrays.path("b").write_bytes(b"left by hand")
    database_store(tmp_path).close()
    assert made._arrays.names() == ["a", "b"]
    note.unlink()
    database_store(tmp_path).close()
    assert made._arrays.names() == ["a"]
    made.sweep({"a"})
    first = note.read_text()
    assert first == made.ref("swept") != ""
    made.sweep({"a"})
    assert note.read_text() == made.ref("swept") != first


def test_a_copy_that_cannot_be_kept_is_an_error_that_names_the_setting(
    made: PostgresStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made.write_array("a", np.arange(3))
    shutil.rmtree(made._arrays.folder)
    with pytest.raises(StoreError, match=r"cannot hold a copy of an array \(.*\)\. Set store\.cache to another"):
        made.array("a")
    made._arrays.folder.mkdir()
    assert made.array("b") is None
    assert list(made.array("a")) == [0, 1, 2]  # type: ignore[arg-type]


def test_a_copy_that_came_damaged_is_removed_with_its_rows(made: PostgresStore, tmp_path: Path) -> None:
    made.write({"a": b"1"})
    made.write_array("a.v", np.arange(100))
    forget_copies(tmp_path)
    made._ask("UPDATE piece SET value = substr(value, 1, 200)")
    with pytest.raises(StoreError, match=r"is damaged at a\.v"):
        made.array("a.v")
    assert list_keys(made) == " |  |  | "
    assert list(made._arrays.folder.glob("*.part")) == []


def test_an_array_lies_in_pieces_of_two_mebibytes(made: PostgresStore) -> None:
    chance = np.random.default_rng(1)
    for key, length in (("a", (2 << 20) - 128 - 16), ("b", (2 << 20) - 128 - 15), ("c", 0)):
        made.write_array(key, np.frombuffer(chance.bytes(length), np.uint8))
    found = made._ask("SELECT key, number, length(value) FROM piece ORDER BY key, number")
    assert [tuple(row) for row in found] == [("a", 0, 2 << 20), ("b", 0, 2 << 20), ("b", 1, 1), ("c", 0, 144)]
    made.write_array("a", np.ones(3))
    assert made._ask("SELECT count(*) FROM piece WHERE key = 'a'")[0][0] == 1


class Bucket:
    """A bucket that notes what is removed from it."""

    def __init__(self) -> None:
        self.removed: list[list[str]] = []

    def remove(self, names: Any) -> None:
        self.removed.append(list(names))

    def list_older(self, moment: Any) -> set[str]:
        return {"z.npy", "kept.npy", "b.npy"}


def test_what_is_gone_and_what_was_left_behind_is_removed_from_a_bucket(made: PostgresStore) -> None:
    bucket: Any = Bucket()
    PieceTable(made._arrays, made._db.session, bucket).remove(["gone", "b"], lambda: ["kept"])
    assert bucket.removed == [["gone.npy", "b.npy"], ["b.npy", "z.npy"]]
    PieceTable(made._arrays, made._db.session, None).remove(["gone"], lambda: pytest.fail("there is no bucket"))


# ── sweeping ──


def fill(store: PostgresStore) -> None:
    for key, step in (("a", "first"), ("b", "second"), ("c", "second")):
        store.write({key: key.encode() * 3}, step)
    for key in ("a.t", "b.t", "b.u", "d.t"):
        store.write_rows(key, [("x", b"1"), ("y", b"22")])
    for key in ("a.v", "b.v", "e.v"):
        store.write_array(key, np.arange(5))


@pytest.mark.parametrize("dry", [True, False])
def test_a_sweep_counts_by_step_what_goes_and_leaves_what_is_needed(
    made: PostgresStore, monkeypatch: pytest.MonkeyPatch, dry: bool
) -> None:
    fill(made)
    before, noted = made.size(), note_statements(monkeypatch)
    swept = made.sweep(lambda: {"b"}, dry=dry)
    vacuumed = [] if dry else ["object", "part", "block", "list", "piece", "reply"]
    assert [said for said in noted if "VACUUM" in said] == [f"VACUUM {table} 86400.0" for table in vacuumed]
    found = {step: (freed.objects, freed.tables, freed.arrays) for step, freed in swept.by_step.items()}
    assert found == {"arrays": (0, 0, 1), "first": (1, 1, 1), "second": (1, 0, 0), "tables": (0, 1, 0)}
    assert list(swept.by_step) == ["arrays", "first", "second", "tables"]
    assert swept.by_step["second"].bytes == 8
    assert swept.by_step["first"].bytes == 8 + swept.by_step["tables"].bytes + swept.by_step["arrays"].bytes
    assert (swept.before, swept.after == before) == (before, dry)
    whole = "a b c | a.t b.t b.u d.t | a.v b.v e.v | a.v b.v e.v"
    assert list_keys(made) == (whole if dry else "b | b.t b.u | b.v | b.v")
    assert bool(swept.remains) is not dry
    counted = made._ask("SELECT (SELECT count(*) FROM block), (SELECT count(*) FROM list)")[0]
    assert tuple(counted) == ((4, 4) if dry else (2, 2))


def test_a_sweep_that_removes_nothing_says_that_nothing_remains(made: PostgresStore) -> None:
    fill(made)
    swept = made.sweep({"a", "b", "c", "d", "e"})
    assert (swept.by_step, swept.remains) == ({}, "")
    assert list_keys(made) == "a b c | a.t b.t b.u d.t | a.v b.v e.v | a.v b.v e.v"
    made.drop(["a"])
    assert made.has(["a", "a.t"]) == {"a", "a.t"}
    made.sweep({"d"}, spare=["second"])
    assert list_keys(made) == "b c | b.t b.u d.t | b.v | b.v"


def test_what_comes_while_it_is_found_out_what_is_needed_stays(made: PostgresStore) -> None:
    fill(made)

    def find_needed() -> set[str]:
        made.write({"new": b"1"}, "late")
        made.write_rows("new.t", [("x", b"1")])
        made.write_array("new.v", np.arange(3))
        return {"d"}

    made.sweep(find_needed)
    assert list_keys(made) == "new | d.t new.t | new.v | new.v"


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5])
def test_keys_are_deleted_so_many_at_once(made: PostgresStore, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(postgres_schema, "_BLOCK", 2)
    keys = [f"k{i}" for i in range(count)]
    made.write(dict.fromkeys([*keys, "other"], b"1"))
    noted = note_statements(monkeypatch)
    with made._fenced() as session:
        delete_gone(session, Gone(dict.fromkeys(keys, ("", 1)), {}, {}))
    assert noted.count("DELETE FROM object") == (count + 1) // 2
    assert made.has([*keys, "other"]) == {"other"}


def test_the_size_is_that_of_the_tables_of_its_schema(made: PostgresStore) -> None:
    names = [
        name for (name,) in made._ask("SELECT tablename FROM pg_tables WHERE schemaname = $1", made.address.schema)
    ]
    assert "object" in names
    query = "SELECT pg_total_relation_size($1::regclass)"
    assert made.size() == made.settle() == sum(made._ask(query, name)[0][0] for name in names) > 0
    assert made.mend() == 0


# ── the right to build, and copies of the store ──


def test_the_right_to_build_is_given_back_and_waited_for(made: PostgresStore, tmp_path: Path) -> None:
    with closing(database_store(tmp_path)) as other:
        with made.exclusive():
            gate = made._gate
            assert gate is not None
            with made._fenced() as session:
                assert session is gate
            with pytest.raises(Busy), other.exclusive():
                pass
            assert other._gate is None
        assert made._gate is None
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0), made._db._loop).result(10.0)
        assert gate.lost
        with other.exclusive(), other._fenced() as session:
            assert session is other._gate


def test_a_copy_is_opened_once_in_a_process_and_again_when_it_was_closed(made: PostgresStore) -> None:
    sent = pickle.dumps(made)
    copy = pickle.loads(sent)
    assert pickle.loads(sent) is copy is not made
    assert copy.readonly is made.readonly is False
    assert (copy.root, copy._arrays.folder, copy.address) == (made.root, made._arrays.folder, made.address)
    assert not copy.closed
    copy.close()
    assert copy.closed
    again = pickle.loads(sent)
    assert again is not copy
    assert not again.closed
    again.close()


def test_replies_are_kept_once_and_cleared_together(made: PostgresStore) -> None:
    replies = made.replies
    assert (replies.any(), replies.read()) == (False, {})
    replies.keep("a", b"1")
    replies.keep("a", b"2")
    replies.keep("b", b"3")
    assert (replies.any(), replies.read()) == (True, {"a": b"1", "b": b"3"})
    assert replies.place == f"the table reply of {made.address}"
    assert replies.rest() is None  # type: ignore[func-returns-value]
    replies.clear()
    assert (replies.any(), replies.read()) == (False, {})


def test_a_new_store_has_no_names_and_one_that_is_only_read_no_limits(made: PostgresStore, tmp_path: Path) -> None:
    assert made.refs() == {}
    assert made.limits is not None
    with closing(database_store(tmp_path, readonly=True)) as reader:
        assert reader.readonly
        assert reader.limits is None


def test_the_right_to_build_is_a_lock_that_is_given_back(made: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    value, asked = Session.value, list[str]()

    def note(self: Session, query: str, *values: Any) -> Any:
        asked.append(" ".join([query.split("(")[0], *map(str, values)]))
        return value(self, query, *values)

    monkeypatch.setattr(Session, "value", note)
    with made.exclusive():
        pass
    name = f"sensegraph builds {made.address.schema}"
    assert asked == [f"SELECT pg_try_advisory_lock {name}", "SELECT pg_advisory_unlock_all"]


# ── how much at once ──


class Long(bytes):
    """A value of 32 MiB that takes no room."""

    def __len__(self) -> int:
        return 1 << 25


def test_a_statement_holds_64_mebibytes() -> None:
    blocks = postgres._cut_bytes([(key, Long()) for key in "abcde"])
    assert [[key for key, _ in block] for block in blocks] == [["a", "b"], ["c", "d"], ["e"]]


@pytest.mark.parametrize(("count", "asked"), [(5000, 1), (5001, 2)])
def test_a_question_holds_five_thousand_keys(
    made: PostgresStore, monkeypatch: pytest.MonkeyPatch, count: int, asked: int
) -> None:
    questions: list[int] = []
    monkeypatch.setattr(made, "_ask", lambda query, *values: questions.append(len(values[0])) or [])
    keys = [f"k{i}" for i in range(count)]
    assert (made.read(keys), made.has(keys)) == ({}, set())
    assert questions == [5000, 1][:asked] * 2


def test_128_blocks_of_a_table_are_copied_at_once(made: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    copied: list[tuple[str, int]] = []
    monkeypatch.setattr(Session, "copy", lambda self, table, columns, rows: copied.append((table, len(rows))))
    made.write_rows("t", ((f"i{n:05}", b"") for n in reversed(range(80 * 128 + 1))))
    assert copied == [("block", 128), ("block", 1), ("list", 41)]
