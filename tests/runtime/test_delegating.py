"""What is done for the whole corpus is done by a worker where workers are far: with the same keys, and counted."""

from __future__ import annotations

import os
import pickle
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("asyncpg", reason='asyncpg is not installed: pip install "sensegraph[postgres]"')

from databases import database_store
from sensegraph.engines.offline.engine import ClassicalEngine
from sensegraph.errors import ItemFailed
from sensegraph.runtime.background import run_in_background
from sensegraph.runtime.delegating import (
    make_each,
    once_by_content,
    once_on_worker,
    release_between_parts,
    release_memory,
    return_free_memory,
    work_on_worker,
)
from sensegraph.runtime.executors.processes import SerialExecutor, attempt
from sensegraph.runtime.joined_rows import JoinedRows
from sensegraph.runtime.keys import read_keys_below
from sensegraph.runtime.results import Table, step
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.stores.sqlite import SqliteStore
from wired import runtime

TEXTS = ["one", "three", "bad", "eleven"]


@dataclass(frozen=True)
class FarExecutor:
    """Every batch goes to another process, however few there are; a worker's own steps stay with it."""

    elsewhere: bool = True

    def __reduce__(self) -> tuple[Any, ...]:
        return SerialExecutor, ()

    def map(
        self, call: Callable[[Any], Any], batches: Sequence[Any], *, waits: bool
    ) -> Iterator[tuple[int, Any | BaseException]]:
        from loky import get_reusable_executor

        for position, batch in enumerate(batches):
            yield position, get_reusable_executor(max_workers=1, timeout=60).submit(attempt, call, batch).result()


@step("test.upper", version=1)
def raise_letters(texts: Sequence[str]) -> list[str]:
    """The texts in capitals."""
    if "bad" in texts:
        raise ItemFailed("a bad text")
    return [text.upper() for text in texts]


@step("test.joined", version=1)
def join_texts(wholes: Sequence[Sequence[str]]) -> list[tuple[str, int]]:
    """The texts as one, and which process joined them."""
    return [(" ".join(texts), os.getpid()) for texts in wholes]


@pytest.fixture
def far(tmp_path: Path) -> Iterator[Runtime]:
    """A runtime over a database whose workers are far."""
    with closing(SqliteStore(tmp_path / "file")) as file, closing(database_store(tmp_path)) as store:
        yield replace(runtime(file), store=store, executor=FarExecutor(), most_failed=0.5)


def join_good(rt: Runtime, without: Callable[[str], str] | None = None) -> tuple[str, tuple[str, int]]:
    """The key and the value of the texts in capitals, joined; `without` says what stands for a bad one."""
    texts = TEXTS if without else [text for text in TEXTS if text != "bad"]
    made = once_on_worker(rt, join_texts, lambda: list(rt.each(raise_letters, texts, without=without)), names=["all"])
    return made.key, made.value


def test_a_worker_makes_the_input_and_the_result_and_both_are_counted_here(far: Runtime) -> None:
    found, (text, process) = join_good(far)
    assert text == "ONE THREE ELEVEN"
    assert process != os.getpid()
    assert far.computed == {raise_letters.name: 3, join_texts.name: 1}
    assert join_good(far) == (found, (text, process))
    assert far.computed == {raise_letters.name: 3, join_texts.name: 1}


def test_keys_and_what_a_result_rests_on_are_those_of_one_process(far: Runtime, tmp_path: Path) -> None:
    far.inside.append([])
    found, _ = join_good(far)
    rests = far.inside.pop()
    with closing(SqliteStore(tmp_path / "other")) as file:
        here = replace(runtime(file), executor=SerialExecutor())
        here.inside.append([])
        own, (_, process) = join_good(here)
        assert (own, process) == (found, os.getpid())
        assert here.inside.pop() == rests
        assert rests == [own]
        assert len(read_keys_below(file, [own])) == 4  # what notes its input, and the three texts
        assert read_keys_below(file, [own]) == read_keys_below(far.store, [found])


def test_what_stands_for_a_failed_item_is_listed_here_and_has_a_key_of_its_own(far: Runtime, tmp_path: Path) -> None:
    found, (text, process) = join_good(far, without=str.title)
    assert (text, process != os.getpid()) == ("ONE THREE Bad ELEVEN", True)
    assert [(aside.item, aside.why) for aside in far.aside] == [("bad", "a bad text")]
    assert far.begun == {raise_letters.name: 4}
    assert len(far.lacking) == 1
    with closing(SqliteStore(tmp_path / "other")) as file:
        here = replace(runtime(file), executor=SerialExecutor(), most_failed=0.5)
        assert join_good(here, without=str.title)[0] == found


def test_what_fails_on_a_worker_is_tried_here_and_says_why(far: Runtime) -> None:
    def make() -> list[str]:
        raise ItemFailed(f"no input in {os.getpid()}")

    with pytest.raises(ItemFailed, match=f"no input in {os.getpid()}"):
        once_on_worker(far, join_texts, make, names=["none"])


def test_what_asks_a_tool_that_waits_stays_here_as_does_all_work_over_a_file(far: Runtime, tmp_path: Path) -> None:
    working = replace(far, engine=ClassicalEngine())
    assert (far.engine.waits, working.engine.waits) == (True, False)
    assert work_on_worker(working, os.getpid, "engine") != os.getpid()
    assert work_on_worker(far, os.getpid, "engine") == os.getpid()
    assert work_on_worker(far, os.getpid) != os.getpid()
    assert work_on_worker(replace(far, executor=SerialExecutor()), os.getpid) == os.getpid()
    with closing(SqliteStore(tmp_path / "other")) as file:
        assert work_on_worker(replace(far, store=file), os.getpid) == os.getpid()


def test_what_needs_no_other_work_is_done_beside_it_where_workers_are_far(far: Runtime) -> None:
    def tell_thread(rt: Runtime) -> threading.Thread:
        return threading.current_thread()

    with run_in_background(tell_thread, far, embeds=False) as done:
        assert done() is not threading.main_thread()
    assert far.embedder.waits
    near = replace(far, executor=SerialExecutor())
    with run_in_background(tell_thread, near, embeds=False) as done:
        assert done() is threading.main_thread()
    with run_in_background(tell_thread, near) as done:
        assert done() is not threading.main_thread()


def test_tables_travel_as_what_names_them(far: Runtime) -> None:
    records = [(f"id{i:03}", b'{"id":"id%03d","size":%d}' % (i, i)) for i in range(40)]
    for name, part in (("one", records[:25]), ("two", records[25:])):
        far.store.write_rows(name, part)
    rows = far.store.rows("one")
    assert rows is not None
    joined = JoinedRows(far.store, [("one", 25, "id000"), ("two", 15, "id025")])
    table: Table[dict[str, Any]] = Table(joined, dict[str, Any])
    assert [record["size"] for record in table] == list(range(40))
    packed = pickle.dumps((Table(rows, dict[str, Any]), table))
    assert len(packed) < 2_000
    part, whole = pickle.loads(packed)
    assert [record["size"] for record in part] == list(range(25))
    assert whole.at([39, 3])[0] == {"id": "id039", "size": 39}
    assert whole.joined == table.joined


def test_a_runtime_travels_without_tools_that_wait_and_without_those_who_are_told(far: Runtime) -> None:
    told: list[str] = []
    rt = replace(far, engine=ClassicalEngine(), progress=lambda step, done, total: told.append(step), retry=True)
    copy = pickle.loads(pickle.dumps(rt))
    copy.progress("test", 0, 1)
    assert told == []
    assert isinstance(copy.engine, ClassicalEngine)
    assert (copy.embedder, copy.retry, copy.most_failed) == (None, True, 0.5)
    assert isinstance(copy.executor, SerialExecutor)


def remember(count: int) -> Callable[[], int]:
    """A function remembers so many results; asked, how many it does."""
    remembering = lru_cache(maxsize=None)(str)
    for number in range(count):
        remembering(number)
    return lambda: remembering.cache_info().currsize


def test_what_functions_remember_of_much_is_forgotten_and_of_little_is_kept() -> None:
    much, little = remember(4_097), remember(4_096)
    release_memory()
    assert (much(), little()) == (0, 4_096)


def test_between_the_parts_of_a_build_this_is_so_once_it_has_computed_much(tmp_path: Path) -> None:
    rt, much, little = runtime(SqliteStore(tmp_path)), remember(4_097), remember(4_096)
    rt.computed.update(one=4_000, other=96)
    release_between_parts(rt)
    assert (much(), little()) == (4_097, 4_096)
    rt.computed.update(other=1)
    release_between_parts(rt)
    assert (much(), little()) == (0, 4_096)


def test_within_a_build_of_very_many_results_what_functions_remember_and_free_memory_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rt, some, few, trimmed = runtime(SqliteStore(tmp_path)), remember(17), remember(16), list[int]()
    library = SimpleNamespace(malloc_trim=trimmed.append)
    monkeypatch.setattr("sensegraph.runtime.delegating.ctypes", SimpleNamespace(CDLL=lambda _: library))
    rt.computed.update(one=1 << 17, other=1 << 17)
    return_free_memory(rt)
    assert (trimmed, some()) == ([], 17)
    rt.computed.update(other=1)
    return_free_memory(rt)
    assert (trimmed, some(), few()) == ([0], 0, 16)


def test_a_result_stays_where_what_is_read_says_what_it_did(tmp_path: Path) -> None:
    rt, asked = runtime(SqliteStore(tmp_path)), list[str]()

    def find(text: str, name: str) -> str:
        def read() -> str:
            asked.append(text)
            return text.strip()

        return once_by_content(rt, raise_letters, read, str, str.title, names=(name,))

    first = find("one", "a")
    assert find("one", "a") == find(" one", "b") == first
    assert asked == ["one", " one"]  # what stands for it by name is read once
    other = find("two", "b2")
    assert other != first
    assert rt.computed["test.upper"] == 2
    assert rt.recall(raise_letters, [first, other])[other].value == "TWO"
    (told,) = read_keys_below(rt.store, [other])[1:]  # the result rests on what was told of its contents
    assert rt.store.has([told]) == {told}


def test_no_worker_is_asked_for_what_is_there_by_its_content(far: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    def find() -> str:
        return once_by_content(far, raise_letters, lambda: "one", str, str.title, names=("a",))

    far.inside.append([])
    first, asked = find(), list[object]()
    rests = far.inside.pop()
    monkeypatch.setattr(FarExecutor, "map", lambda *given, **how: asked.append(given) or iter(()))
    far.inside.append([])
    assert find() == first
    assert set(far.inside.pop()) == set(rests)
    assert asked == []


def test_of_runs_that_are_there_keys_alone_are_told(tmp_path: Path) -> None:
    rt, asked = runtime(SqliteStore(tmp_path)), list[list[int]]()

    def find(places: Sequence[int]) -> list[str]:
        asked.append(list(places))
        return [TEXTS[i] for i in places]

    names = [("x", str(i)) for i in (0, 1, 3)]
    first = make_each(rt, raise_letters, find, names[:2])
    assert make_each(rt, raise_letters, find, names[:2]) == first
    assert asked == [[0], [1]]  # one after the other, so that no two are in memory
    assert [rt.recall(raise_letters, first)[k].value for k in first] == ["ONE", "THREE"]
