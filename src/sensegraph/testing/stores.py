"""What stores and executors keep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sensegraph.errors import Busy, ResultGone
from sensegraph.protocols import Executor, Store
from sensegraph.runtime.stores.corpus_store import CorpusStore
from sensegraph.types import Usage


class StoreContract:
    """What every store keeps. Override `make`; `make` on the same folder again opens what is there."""

    def make(self, folder: Path) -> Store:
        """The store in `folder`, created when it is not there."""
        raise NotImplementedError

    def test_objects_come_back_as_they_were_written(self, tmp_path: Path) -> None:
        """A missing key is absent; bytes are kept to the last, also the empty ones; a second opening finds them."""
        store = self.make(tmp_path)
        objects = {"a": b"", "b": bytes(range(256)), "ü": "ü".encode()}
        store.write(objects, "step")
        assert store.read(["b", "missing", "a", "ü"]) == objects
        assert self.make(tmp_path).read(list(objects)) == objects
        assert store.has(["a", "missing"]) == {"a"}

    def test_a_key_keeps_its_first_value(self, tmp_path: Path) -> None:
        """Writing a key that exists changes nothing: its content is its name."""
        store = self.make(tmp_path)
        store.write({"a": b"first"})
        store.write({"a": b"second", "b": b"new"})
        assert store.read(["a", "b"]) == {"a": b"first", "b": b"new"}

    def test_many_keys_are_read_at_once(self, tmp_path: Path) -> None:
        """Thousands of keys are no trouble."""
        store = self.make(tmp_path)
        objects = {f"k{i}": str(i).encode() for i in range(3000)}
        store.write(objects)
        assert store.read(list(objects)) == objects
        assert store.has([*objects, "missing"]) == set(objects)

    def test_a_table_is_read_by_position_and_by_id(self, tmp_path: Path) -> None:
        """Order is kept; positions may repeat; an id that does not exist is absent."""
        store = self.make(tmp_path)
        rows = [(f"id{i:04}", f"record {i}".encode()) for i in range(1200)]
        store.write_rows("t", iter(rows))
        table = store.rows("t")
        assert table is not None
        assert len(table) == len(rows)
        assert table.at([1199, 0, 7, 0]) == [rows[i][1] for i in (1199, 0, 7, 0)]
        assert table.find(["id0003", "missing"]) == {"id0003": b"record 3"}
        assert list(table.scan()) == [r for _, r in rows]
        assert list(table.ids()) == [n for n, _ in rows]
        assert store.has(["t"]) == {"t"}

    def test_an_empty_table_is_a_table(self, tmp_path: Path) -> None:
        """It is there, and has no rows; a table that was never written is None."""
        store = self.make(tmp_path)
        store.write_rows("t", [])
        table = store.rows("t")
        assert table is not None
        assert (len(table), list(table.scan()), store.rows("missing")) == (0, [], None)

    def test_a_table_that_breaks_off_leaves_nothing(self, tmp_path: Path) -> None:
        """When the rows end in an error, none is stored, and the table can be written afterwards."""

        def broken() -> Iterator[tuple[str, bytes]]:
            yield "a", b"1"
            raise RuntimeError("no more")

        store = self.make(tmp_path)
        try:
            store.write_rows("t", broken())
        except RuntimeError:
            pass
        else:
            raise AssertionError("the error of the rows was lost")
        assert store.rows("t") is None
        assert store.has(["t"]) == set()
        store.write_rows("t", [("a", b"1")])
        assert len(store.rows("t") or ()) == 1

    def test_arrays_come_back_equal_and_read_only(self, tmp_path: Path) -> None:
        """Shape, type and values are kept, also of an array without rows; nobody can write into a stored array."""
        store = self.make(tmp_path)
        whole = np.arange(12, dtype=np.float32).reshape(3, 4)
        arrays = {"a": whole, "empty": whole[len(whole) :]}
        for name, array in arrays.items():
            store.write_array(name, array)
            found = store.array(name)
            assert found is not None
            assert (found.shape, found.dtype) == (array.shape, array.dtype)
            assert np.array_equal(found, array)
            assert not found.flags.writeable
        assert store.array("missing") is None
        assert store.has(["a", "missing"]) == {"a"}

    def test_refs_are_set_together_listed_in_order_and_deleted(self, tmp_path: Path) -> None:
        """A prefix lists only what begins with it; None deletes."""
        store = self.make(tmp_path)
        store.set_refs({"doc/b": "2", "doc/a": "1", "index": "x"})
        assert list(store.refs("doc/").items()) == [("doc/a", "1"), ("doc/b", "2")]
        store.set_refs({"doc/a": None, "doc/b": "3"})
        assert store.refs() == {"doc/b": "3", "index": "x"}
        assert (self.make(tmp_path).ref("doc/b"), store.ref("doc/a")) == ("3", None)

    def test_the_ledger_adds_up_by_step(self, tmp_path: Path) -> None:
        """Whole numbers stay whole."""
        store = self.make(tmp_path)
        for _ in range(2):
            store.spend("one", Usage(calls=1, prompt_tokens=10, cost_usd=0.5))
        store.spend("two", Usage(embedding_calls=1))
        expected = {"one": Usage(calls=2, prompt_tokens=20, cost_usd=1.0), "two": Usage(embedding_calls=1)}
        assert store.ledger() == expected
        assert isinstance(store.ledger()["one"].calls, int)


class CorpusStoreContract(StoreContract):
    """What every store of a corpus keeps: one builder at a time, replies, pins, and being swept."""

    def make(self, folder: Path) -> CorpusStore:
        """The store in `folder`, created when it is not there."""
        raise NotImplementedError

    def test_one_builds_at_a_time(self, tmp_path: Path) -> None:
        """Another is told so, and may when the first is done, however that ended."""
        one, other = self.make(tmp_path), self.make(tmp_path)
        try:
            with one.exclusive():
                one.set_refs({"index": "1"})
                try:
                    with other.exclusive(wait=0.05):
                        raise AssertionError("two build at once")
                except Busy:
                    raise ValueError from None
        except ValueError:
            pass
        assert other.ref("index") == "1"
        with other.exclusive():
            other.set_refs({"index": "2"})
        assert one.ref("index") == "2"

    def test_replies_outlive_who_got_them(self, tmp_path: Path) -> None:
        """They are there for the next run until they are cleared."""
        store = self.make(tmp_path)
        assert not store.replies.any()
        store.replies.keep("one", b'{"a": 1}')
        store.replies.keep("two", b'{"b": 2}')
        store.replies.rest()
        later = self.make(tmp_path)
        assert later.replies.any()
        assert later.replies.read() == {"one": b'{"a": 1}', "two": b'{"b": 2}'}
        with later.exclusive():
            later.replies.clear()
        assert (later.replies.any(), later.replies.read()) == (False, {})

    def test_what_is_not_needed_is_swept_and_counted_by_step(self, tmp_path: Path) -> None:
        """A table and an array belong to the key before their dot; objects of spared steps stay."""
        store = self.make(tmp_path)
        store.write({"a": b"1", "b": b"2"}, "one")
        store.write({"c": b"3"}, "paid")
        store.write_rows("a.t", [("x", b"1")])
        store.write_rows("b.t", [("x", b"1")])
        for name in ("a.v", "lone"):
            store.write_array(name, np.frombuffer(b"array", np.uint8))
        with store.exclusive():
            tried = store.sweep({"b"}, dry=True, spare=["paid"])
            assert store.has(["a", "a.t", "a.v", "lone"]) == {"a", "a.t", "a.v", "lone"}
            swept = store.sweep({"b"}, spare=["paid"])
        assert swept.by_step == tried.by_step
        found = {step: (n.objects, n.tables, n.arrays) for step, n in swept.by_step.items()}
        assert found == {"arrays": (0, 0, 1), "one": (1, 1, 1)}
        assert store.has(["a", "a.t", "a.v", "b", "b.t", "c", "lone"]) == {"b", "b.t", "c"}
        assert store.array_names() == []
        assert swept.total.bytes

    def test_what_comes_while_a_sweep_finds_out_stays(self, tmp_path: Path) -> None:
        """Somebody who asks a question may have just written it."""
        store = self.make(tmp_path)
        store.write({"old": b"1"})
        assert store.has(["old"])

        def needed() -> set[str]:
            store.write({"new": b"2"})
            store.write_rows("new.t", [("x", b"1")])
            store.write_array("new.v", np.ones(3))
            return set()

        with store.exclusive():
            store.sweep(needed)
        assert store.has(["old", "new", "new.t", "new.v"]) == {"new", "new.t", "new.v"}

    def test_a_reader_of_a_table_that_was_swept_is_told_so(self, tmp_path: Path) -> None:
        """Never is another table read in its place."""
        store = self.make(tmp_path)
        store.write_rows("a.t", [("x", b"1")])
        opened = self.make(tmp_path).rows("a.t")
        assert opened is not None
        with store.exclusive():
            store.sweep(())
        store.write_rows("b.t", [("x", b"2")])
        try:
            opened.at([0])
        except ResultGone:
            return
        raise AssertionError("the table was read after it was swept")

    def test_an_index_is_pinned_for_a_while(self, tmp_path: Path) -> None:
        """Whoever reads one says for how long; what has run out is no pin."""
        store = self.make(tmp_path)
        store.pin("read", 600.0)
        store.pin("left", -1.0)
        assert self.make(tmp_path).pinned() == {"read"}

    def test_arrays_are_listed_and_bytes_are_counted(self, tmp_path: Path) -> None:
        """Names come in order."""
        store = self.make(tmp_path)
        before = store.size()
        for name in ("b.v", "a.v"):
            store.write_array(name, np.random.default_rng(1).random(50_000))
        assert store.array_names() == ["a.v", "b.v"]
        assert before < 500_000 < store.settle()


class ExecutorContract:
    """What every executor keeps. Override `make`."""

    def make(self) -> Executor:
        """The executor under test."""
        raise NotImplementedError

    def test_every_position_comes_once_with_its_own_result(self) -> None:
        """Waiting and working alike, for none, one and many batches."""
        for waits in (True, False):
            for count in (0, 1, 40):
                found = list(self.make().map(_double, [[i, i + 100] for i in range(count)], waits=waits))
                expected = {i: [2 * i, 2 * i + 200] for i in range(count) if i != 13}
                assert sorted(p for p, _ in found) == list(range(count))
                assert {p: r for p, r in found if p != 13} == expected

    def test_an_exception_is_a_value_that_stops_no_other_batch(self) -> None:
        """The one bad batch yields its exception, the others their results."""
        for waits in (True, False):
            found = dict(self.make().map(_double, [[i] for i in range(30)], waits=waits))
            assert isinstance(found.pop(13), ValueError)
            assert len(found) == 29

    def test_closing_stops_what_has_not_begun(self) -> None:
        """After the iterator is closed, most of the batches were never asked for."""
        batches = _CountedBatches(500)
        results = self.make().map(_double, batches, waits=True)
        assert next(iter(results))
        results.close()  # type: ignore[attr-defined]
        assert len(batches.asked) <= 250


def _double(batch: Sequence[int]) -> list[int]:
    if 13 in batch:
        raise ValueError("thirteen")
    return [2 * i for i in batch]


class _CountedBatches(Sequence[list[int]]):
    """Batches that remember how far they were asked for."""

    def __init__(self, count: int) -> None:
        self.size, self.asked = count, set[int]()

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: Any) -> Any:
        if index not in range(self.size):
            raise IndexError(index)
        self.asked.add(index)
        return []
