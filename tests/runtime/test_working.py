"""What a run does item by item: how many at once, what it tells, what it counts, what it says went wrong."""

from __future__ import annotations

import hashlib
import pickle
import threading
from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scripted import ScriptedServer
from sensegraph.errors import ItemFailed, StepFailed, StoreError
from sensegraph.index.vectors import embed_texts
from sensegraph.runtime.batches import Call, Encoded, GatheredResults, Stoppable, Work, cut_batches
from sensegraph.runtime.executors.processes import SerialExecutor
from sensegraph.runtime.joined_rows import JoinedRows
from sensegraph.runtime.keys import chunk_id, document_part, hash_files, key
from sensegraph.runtime.results import Step, Table, step, take_records
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.stores.rows import keep_some
from sensegraph.runtime.stores.sqlite import SqliteStore
from wired import runtime

SEEN: Counter[int] = Counter()


@step("test_working.counted", version=1)
def counted(items: Sequence[int]) -> list[int]:
    SEEN[len(items)] += 1
    return list(items)


@step("test_working.judged", version=1, uses="engine", task="judge")
def judged(items: Sequence[int], *, engine: object) -> list[int]:
    return list(items)


@step("test_working.used", version=1, uses="engine")
def used(items: Sequence[int], *, engine: object) -> list[int]:
    return list(items)


@step("test_working.refused", version=1)
def refused(items: Sequence[str]) -> list[str]:
    raise ItemFailed(items[0])


@pytest.fixture
def rt(store: SqliteStore) -> Runtime:
    SEEN.clear()
    return runtime(store)


def test_a_batch_holds_sixty_four_items_where_a_step_does_not_say(rt: Runtime) -> None:
    found = rt.each(counted, range(1100))
    assert Counter({64: 17, 12: 1}) == SEEN
    assert list(found) == list(range(1100))
    assert Step("name", counted.fn, 1).batch == 64


def test_what_is_done_once_is_told_and_counted_once(store: SqliteStore, rt: Runtime) -> None:
    told: list[tuple[str, int, int]] = []
    telling = replace(rt, progress=lambda *now: told.append(now))
    assert [telling.once(counted, 5).value for _ in range(2)] == [5, 5]
    assert told == [("test_working.counted", 0, 1), ("test_working.counted", 1, 1)]
    assert telling.computed == {"test_working.counted": 1}
    assert [telling.made(counted, n, lambda: 7) for n in (5, 6, 6)] == [5, 7, 7]
    assert telling.computed == {"test_working.counted": 2}


def test_what_is_done_once_costs_what_it_took_and_not_what_was_spent_before(
    store: SqliteStore, server: ScriptedServer
) -> None:
    rt = runtime(store, server)
    for text in ("one", "two", "three"):
        rt.once(embed_texts, text)
    assert store.ledger()["vectors.embed"] == rt.embedder.usage()
    assert rt.embedder.usage().embedding_calls == 3


def test_the_key_of_a_step_names_its_task_else_what_engines_extract_with(rt: Runtime) -> None:
    for one, task in ((judged, "judge"), (used, "extract")):
        recipe = key(one.name, 1, rt.engine.fingerprint(task), {})
        assert rt.keys(one, [1]) == [key(recipe, 1)]
    assert rt.engine.fingerprint("judge") != rt.engine.fingerprint("extract")
    assert rt.keys(counted, [1]) == [key(key("test_working.counted", 1, "", {}), 1)]


def test_batches_are_fetched_until_the_run_is_stopped() -> None:
    stopped = threading.Event()
    work = Work([10, 11, 12], {"a": 0, "b": 1, "c": 2}, [["a"], ["c", "b"], ["a"]], stopped)
    assert (len(work), work[1], work[0]) == (3, [12, 11], [10])
    with pytest.raises(IndexError):
        work[3]
    stopped.set()
    assert len(work) == 2
    assert work[1] == [12, 11]
    with pytest.raises(IndexError):
        work[2]
    assert len(Work([1], {"a": 0}, [["a"]], stopped)) == 0


def test_a_call_that_may_be_stopped_does_not_begin_afterwards() -> None:
    stopped = threading.Event()
    call = Stoppable(Encoded(Call(__name__, "counted", {}, {})), stopped)
    assert call([1, 2]) == [b"1", b"2"]
    stopped.set()
    with pytest.raises(ItemFailed, match="stopped before"):
        call([1])


class Sending(SerialExecutor):
    """Sends what works to another process, as far as bytes go."""

    def map(self, call: Any, batches: Sequence[Any], *, waits: bool) -> Iterator[tuple[int, Any]]:
        return super().map(call if waits else pickle.loads(pickle.dumps(call)), batches, waits=waits)


def test_what_works_can_be_sent_to_another_process(store: SqliteStore, server: ScriptedServer) -> None:
    rt = replace(runtime(store, server), executor=Sending())
    assert list(rt.each(counted, [1, 2])) == [1, 2]
    assert len(rt.each(embed_texts, ["one"])) == 1


@step("test_working.once_more", version=1, doubts=lambda raw: raw == b"6")
def once_more(items: Sequence[int]) -> list[int]:
    SEEN[len(items)] += 1
    if 5 in items:
        raise ItemFailed("five")
    return [2 * item for item in items]


class Watching(SerialExecutor):
    """Keeps what is handed over and what comes back."""

    def __init__(self) -> None:
        self.handed: list[Any] = []
        self.back: list[Any] = []

    def map(self, call: Any, batches: Sequence[Any], *, waits: bool) -> Iterator[tuple[int, Any]]:
        self.handed += list(batches)
        for position, result in super().map(call, batches, waits=waits):
            self.back.append(result)
            yield position, result


def test_workers_read_by_key_and_store_what_they_compute_where_processes_share_a_store(
    store: SqliteStore, rt: Runtime
) -> None:
    plain = replace(rt, executor=SerialExecutor())
    expected = plain.each(once_more, plain.each(counted, range(3)))
    with closing(SqliteStore(store.root / "shared")) as shared:
        shared.shared = True
        watching = Watching()
        rt = replace(rt, store=shared, executor=watching, computed=Counter(), doubted=[])
        first = rt.each(counted, range(4))
        assert watching.handed[0] == ([first.keys[0]], [0])
        watching.handed.clear()
        watching.back.clear()
        found = rt.each(once_more, first)
        keys, reader = watching.handed[2]
        assert (keys, reader.args) == ([found.keys[2]], (counted, [first.keys[2]]))
        assert reader(shared) == [2]
        assert watching.back == [[False], [False], [False], [True]]
        assert list(found) == [0, 2, 4, 6]
        assert found.keys[:3] == expected.keys
        assert rt.computed == {"test_working.counted": 4, "test_working.once_more": 4}
        assert rt.doubted == ["test_working.once_more"]
        with pytest.raises(StepFailed, match="five"):
            rt.each(once_more, [5, 6, 8])
        assert rt.missing(once_more, [5, 6, 8]) == [0]


def test_no_more_is_asked_for_once_the_store_is_away(store: SqliteStore, server: ScriptedServer) -> None:
    rt = runtime(store, server)
    asked = []

    class Away(SerialExecutor):
        def map(self, call: Any, batches: Sequence[Any], *, waits: bool) -> Iterator[tuple[int, Any]]:
            for position, batch in enumerate(batches):
                asked.append(batch)
                yield position, StoreError("the database is away")

    with pytest.raises(StoreError, match="is away"):
        replace(rt, executor=Away()).each(counted, range(100))
    assert len(asked) == 1


def test_keys_are_cut_into_full_batches_and_a_rest() -> None:
    assert cut_batches(list("abcde"), 2) == [["a", "b"], ["c", "d"], ["e"]]
    assert cut_batches([], 2) == []


def test_a_reason_is_its_first_two_hundred_characters_and_counts_those_alike(rt: Runtime) -> None:
    long = "because " * 40
    with pytest.raises(StepFailed) as caught:
        rt.each(refused, [f"{long}{i}" for i in range(3)])
    assert f"3 × ItemFailed: {long[:200].strip()}" in str(caught.value)
    assert long[:210] not in str(caught.value)
    with pytest.raises(StepFailed, match="1 × ItemFailed"):
        rt.each(refused, [" "])
    with pytest.raises(StepFailed, match="2 × ItemFailed: … is odd; 1 × ItemFailed: 'c' is even"):
        rt.each(refused, ["'a' is odd", "'b' is odd", "'c' is even"])


def test_records_are_taken_at_their_places_from_a_list_or_a_table(store: SqliteStore) -> None:
    store.write_rows("t", [(str(i), str(i).encode()) for i in range(5)])
    rows = store.rows("t")
    assert rows is not None
    assert take_records(Table(rows, int), [3, 0, 3]) == take_records(range(5), [3, 0, 3]) == [3, 0, 3]


# ── keys ──


def test_the_hash_of_files_is_of_their_places_sizes_and_bytes(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    big = bytes(range(256)) * 5000  # more than is read at once
    (tmp_path / "b").write_bytes(big)
    (tmp_path / "sub" / "a").write_bytes(b"xy")
    whole = b"b 1280000\n" + big + b"sub/a 2\nxy"
    assert hash_files(tmp_path, "**/*") == hashlib.blake2b(whole, digest_size=20).hexdigest()
    assert hash_files(tmp_path) == hashlib.blake2b(whole[: -len(b"sub/a 2\nxy")], digest_size=20).hexdigest()


def test_the_id_of_a_chunk_begins_with_twelve_digits_of_its_document() -> None:
    one, other = chunk_id("d", 0, "text"), chunk_id("d", 5, "text")
    assert one == key("document", "d")[:12] + key(0, "text")[:12]
    assert document_part(one) == document_part(other) == key("document", "d")[:12]
    assert one[12:] != other[12:]


def test_a_whole_table_is_made_of_no_others_and_a_joined_one_of_its_parts(store: SqliteStore) -> None:
    for name in ("a", "b"):
        store.write({name: name.encode()}, "made")
        store.write_rows(f"{name}.rows", [(name, b"1")])
    whole = store.rows("a.rows")
    assert whole is not None
    assert Table(whole, int).heads() == []
    joined = JoinedRows(store, (("a.rows", 1, "a"), ("b.rows", 1, "b")))
    assert Table(joined, int).heads() == [b"a", b"b"]


def test_what_was_written_stays_in_one_file_when_it_is_settled(store: SqliteStore) -> None:
    log = store.path.with_name(store.path.name + "-wal")
    store.write({"a": np.random.default_rng(1).bytes(50_000)}, "made")
    assert log.stat().st_size > 50_000
    assert store.settle() >= store.path.stat().st_size > 30_000
    assert log.stat().st_size == 0


def test_a_reader_keeps_the_last_blocks_decoded_and_no_more(store: SqliteStore) -> None:
    kept = OrderedDict[int, int]()
    keep_some(kept, dict.fromkeys(range(100), 1))
    keep_some(kept, dict.fromkeys(range(100, 300), 1))
    assert list(kept) == list(range(236, 300))


def test_results_of_several_batches_are_written_together_and_all_of_them_at_the_end(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr("sensegraph.runtime.batches.time.monotonic", lambda: now)
    with GatheredResults(store, "made", at_once=False) as written:
        written.add({"a": b"1"})
        written.add({"b": b"2"})
        assert store.read(["a", "b"]) == {}
        written.add({"large": bytes(1 << 20)})
        assert store.has(["a", "b", "large"]) == {"a", "b", "large"}
        written.add({"c": b"3"})
        assert store.has(["c"]) == set()
        now = 1.5
        written.add({"d": b"4"})
        assert store.has(["c", "d"]) == {"c", "d"}
        now = 3.0
        written.add({"slow": b"5"})  # a batch that took long waits for no other
        assert store.has(["slow"]) == {"slow"}
        written.add({"last": b"6"})
    assert store.read(["a", "last"]) == {"a": b"1", "last": b"6"}


def stop_after_one(store: SqliteStore) -> None:
    """Gather a result, then be interrupted."""
    with GatheredResults(store, "made", at_once=False) as written:
        written.add({"made": b"1"})
        raise KeyboardInterrupt


def test_what_was_paid_for_is_written_at_once_and_what_is_there_when_an_error_comes(store: SqliteStore) -> None:
    with GatheredResults(store, "made", at_once=True) as written:
        written.add({"paid": b"1"})
        assert store.has(["paid"]) == {"paid"}
    with pytest.raises(KeyboardInterrupt):
        stop_after_one(store)
    assert store.has(["made"]) == {"made"}


def test_an_error_on_its_way_is_told_though_the_store_fails_too(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(store, "write", refuse)
    with pytest.raises(KeyboardInterrupt):
        stop_after_one(store)
    with pytest.raises(StoreError, match="full"), GatheredResults(store, "made", at_once=False) as written:
        written.add({"made": b"1"})
