"""In a very large build a process of its own does what is work for one process: same keys, counted and told here."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from sensegraph.engines.offline.engine import ClassicalEngine
from sensegraph.errors import ItemFailed
from sensegraph.runtime.delegating import (
    needs_own_process,
    once_by_content,
    once_on_worker,
    store_separately,
    work_on_worker,
)
from sensegraph.runtime.executors.processes import LocalExecutor, SerialExecutor
from sensegraph.runtime.keys import read_keys_below
from sensegraph.runtime.results import step
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.stores.sqlite import SqliteStore
from wired import runtime

MANY = (1 << 18) + 1


@step("test.upper", version=1)
def raise_letters(texts: Sequence[str]) -> list[str]:
    """The texts in capitals."""
    return [text.upper() for text in texts]


@step("test.joined", version=1)
def join_texts(wholes: Sequence[Sequence[str]]) -> list[tuple[str, int]]:
    """The texts as one, and which process joined them."""
    return [(" ".join(texts), os.getpid()) for texts in wholes]


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Runtime]:
    """A runtime over a file, of a build that has computed little."""
    with closing(SqliteStore(tmp_path / "file")) as file:
        yield replace(runtime(file), executor=LocalExecutor(processes=1))


@pytest.fixture
def large(small: Runtime) -> Runtime:
    """The same of a very large build."""
    small.computed["before"] = MANY
    return small


def join_all(rt: Runtime) -> tuple[str, tuple[str, int]]:
    """The key and the value of texts in capitals, joined."""
    made = once_on_worker(rt, join_texts, lambda: list(rt.each(raise_letters, ["one", "two"])), names=["all"])
    return made.key, made.value


def test_another_process_makes_the_input_and_the_result_and_both_are_counted_here(large: Runtime) -> None:
    found, (text, process) = join_all(large)
    assert text == "ONE TWO"
    assert process != os.getpid()
    assert large.computed == {"before": MANY, raise_letters.name: 2, join_texts.name: 1}
    assert join_all(large) == (found, (text, process))  # it is there
    assert large.computed[join_texts.name] == 1


def test_keys_and_what_a_result_rests_on_are_those_of_a_small_build(large: Runtime, tmp_path: Path) -> None:
    large.inside.append([])
    found, _ = join_all(large)
    rests = large.inside.pop()
    with closing(SqliteStore(tmp_path / "other")) as file:
        here = replace(runtime(file), executor=LocalExecutor(processes=1))
        here.inside.append([])
        own, (_, process) = join_all(here)
        assert (own, process) == (found, os.getpid())
        assert here.inside.pop() == rests == [own]
        assert read_keys_below(file, [own]) == read_keys_below(large.store, [found])


def test_work_inside_of_that_is_done_by_a_process_of_its_own_again(large: Runtime) -> None:
    def work() -> tuple[int, int]:
        return os.getpid(), work_on_worker(large, os.getpid)

    assert len({*work_on_worker(large, work), os.getpid()}) == 3


def test_small_builds_what_waits_and_stores_that_keep_nothing_stay_here(
    small: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not needs_own_process(small)
    small.computed["before"] = MANY
    working = replace(small, engine=ClassicalEngine())
    assert (small.engine.waits, working.engine.waits) == (True, False)
    assert work_on_worker(working, os.getpid, "engine") != os.getpid()
    assert work_on_worker(small, os.getpid, "engine") == os.getpid()
    with closing(SqliteStore(small.store.root, readonly=True)) as kept:  # type: ignore[attr-defined]
        assert work_on_worker(replace(small, store=kept), os.getpid) == os.getpid()
    assert work_on_worker(replace(small, executor=SerialExecutor()), os.getpid) == os.getpid()  # that begins none here
    assert not small.noted
    monkeypatch.delattr(SqliteStore, "__reduce__")
    assert work_on_worker(small, os.getpid) == os.getpid()  # a store that cannot travel: it is noted
    (note,) = small.noted
    assert "a process of its own ended with TypeError" in note


def test_what_fails_there_is_tried_here_and_says_why(large: Runtime) -> None:
    def make() -> list[str]:
        raise ItemFailed(f"no input in {os.getpid()}")

    with pytest.raises(ItemFailed, match=f"no input in {os.getpid()}"):
        once_on_worker(large, join_texts, make, names=["none"])


def test_progress_there_is_told_here(large: Runtime) -> None:
    told: list[tuple[str, int, int]] = []
    rt = replace(large, progress=lambda *progress: told.append(progress))
    work_on_worker(rt, lambda: rt.each(raise_letters, ["one", "two", "three"]).keys)
    assert told[0] == (raise_letters.name, 0, 3)
    assert told[-1] == (raise_letters.name, 3, 3)


def test_what_is_stored_by_another_process_is_read_by_whoever_does_the_work_then(large: Runtime) -> None:
    def find() -> tuple[str, int]:
        return large.once(join_texts, lambda: ["one"], names=["one"]).value

    store_separately(large, find)
    _, process = find()
    assert process != os.getpid()
    assert large.computed[join_texts.name] == 1


def test_in_a_small_build_nothing_is_done_before(small: Runtime) -> None:
    asked: list[str] = []
    store_separately(small, lambda: asked.append("asked"))
    assert asked == []


def test_no_process_is_begun_for_what_is_there_by_its_content(large: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    def find() -> str:
        return once_by_content(large, raise_letters, lambda: "one", str, str.title, names=("a",))

    first, asked = find(), list[object]()
    assert large.computed[raise_letters.name] == 1
    monkeypatch.setattr(LocalExecutor, "run_alone", lambda *given: asked.append(given))
    assert find() == first
    assert asked == []


def test_what_comes_back_reads_from_the_store_that_is_open_here(large: Runtime) -> None:
    made = work_on_worker(large, lambda: large.each(raise_letters, ["one", "two"]))
    assert made._store is large.store
    assert list(made) == ["ONE", "TWO"]


def test_a_store_that_travels_is_the_same_folder_wherever_the_program_is_and_writes_no_more_than_it_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with closing(SqliteStore("store")) as store, closing(SqliteStore("store", readonly=True)) as kept:
        assert pickle.loads(pickle.dumps(store)) is store
        packed, read_only = pickle.dumps(store), pickle.dumps(kept)
        store.write({"k": b"value"})
    (tmp_path / "else").mkdir()
    monkeypatch.chdir(tmp_path / "else")
    for raw, only_reads in ((packed, False), (read_only, True)):
        with closing(pickle.loads(raw)) as again:
            assert again.has(["k"]) == {"k"}
            assert (again.readonly, again.reopens) == (only_reads, not only_reads)
    assert list((tmp_path / "else").iterdir()) == []
