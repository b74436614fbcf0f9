"""Work in a thread of its own: when it is begun, what it passes on, and how it ends early."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from sensegraph.engines.offline.engine import ClassicalEngine
from sensegraph.errors import ItemFailed
from sensegraph.runtime import background
from sensegraph.runtime.background import collect_cycles_seldom, run_in_background
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.stores.sqlite import SqliteStore
from wired import runtime


@pytest.fixture
def rt(store: SqliteStore) -> Runtime:
    return replace(runtime(store), lacking=["before"], inside=[["outer"]])


@pytest.fixture
def thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_what_lacks_beside_is_known_here_once_its_result_is_asked_for(rt: Runtime) -> None:
    given: list[Runtime] = []

    def work(own: Runtime) -> str:
        given.append(own)
        assert (own.lacking, own.inside) == ([], [])
        own.lacking.extend(["one", "two"])
        own.inside.append([])
        return threading.current_thread().name

    with run_in_background(work, rt) as result:
        assert result().startswith("beside")
        assert rt.lacking == ["before", "one", "two"]
        assert result().startswith("beside")
        assert rt.lacking == ["before", "one", "two"]
    assert (len(given), rt.inside, given[0].store is rt.store) == (1, [["outer"]], True)


def test_work_beside_is_stopped_at_its_next_step_when_nobody_waits_any_more(rt: Runtime) -> None:
    begun, told = threading.Event(), list[str]()

    def work(own: Runtime) -> None:
        own.progress("step", 1, 9)
        begun.set()
        try:
            for _ in range(10_000):
                own.progress("step", 2, 9)
                time.sleep(0.001)
        except ItemFailed as e:
            told.append(str(e))

    def leave() -> None:
        with run_in_background(work, rt):
            assert begun.wait(10)
            raise KeyError("left")

    with pytest.raises(KeyError, match="left"):
        leave()
    assert told == ["step was stopped at 2 of 9, because the build ended"]


@pytest.mark.parametrize(
    ("embeds", "waits", "far", "beside"),
    [(True, True, False, True), (False, True, False, False), (True, False, False, False), (False, False, False, False),
     (False, False, True, True), (False, True, True, True)],
)  # fmt: skip
def test_work_is_done_beside_where_it_waits_for_vectors_or_workers_are_far(
    rt: Runtime, monkeypatch: pytest.MonkeyPatch, embeds: bool, waits: bool, far: bool, beside: bool
) -> None:
    monkeypatch.setattr(background, "is_delegated", lambda rt: far)
    own = rt if waits else replace(rt, embedder=ClassicalEngine())  # type: ignore[arg-type]
    done: list[object] = []

    def work(given: Runtime) -> Runtime:
        done.append(threading.current_thread())
        return given

    with run_in_background(work, own, embeds=embeds) as result:
        assert (result() is own) is not beside
    assert (done[0] is threading.main_thread()) is not beside
    unasked: list[int] = []
    with run_in_background(lambda given: unasked.append(1), own, embeds=embeds):
        pass
    assert unasked in (([1], []) if beside else ([],))


@pytest.mark.parametrize(
    ("first", "meanwhile"),
    [(0, 0), (1, 1_000_000), (700, 1_000_000), (999_999, 1_000_000), (1_000_000, 1_000_000), (1_000_001, 1_000_001)],
)
def test_cycles_are_looked_for_at_a_million_objects(thresholds: None, first: int, meanwhile: int) -> None:
    gc.set_threshold(first, 11, 12)
    with collect_cycles_seldom():
        assert gc.get_threshold() == (meanwhile, 11, 12)
    assert gc.get_threshold() == (first, 11, 12)
