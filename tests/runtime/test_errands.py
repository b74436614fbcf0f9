"""What a worker does with the runtime that came with it, and what it tells of it: tried in one process."""

from __future__ import annotations

import ctypes
import gc
import pickle
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

from sensegraph.engines.offline.engine import ClassicalEngine
from sensegraph.errors import ItemFailed
from sensegraph.protocols import Store
from sensegraph.runtime import delegating
from sensegraph.runtime.batches import SetAside
from sensegraph.runtime.delegating import Errand, Outcome, is_delegated, run_errand, work_on_worker
from sensegraph.runtime.executors.processes import SerialExecutor, attempt
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.stores.sqlite import SqliteStore
from wired import runtime

ASIDE = SetAside("k", "extract", "an item", "refused", "a reason")
LATER = replace(ASIDE, key="later")


@dataclass
class Elsewhere:
    """An executor whose workers are far, of which it only says so: batches run here."""

    elsewhere: Any = True
    waited: list[bool] = field(default_factory=list)

    def map(
        self, call: Callable[[Any], Any], batches: Sequence[Any], *, waits: bool
    ) -> Iterator[tuple[int, Any | BaseException]]:
        self.waited.append(waits)
        for position, batch in enumerate(batches):
            yield position, attempt(call, replace(batch, rt=pickle.loads(pickle.dumps(batch.rt))))


@dataclass
class SharedStore:
    """A store that other processes write to, of which it only says so."""

    shared: Any = True


@dataclass
class Ranking:
    """A reranker, of which it is only said whether it waits."""

    waits: bool = False


def share(rt: Runtime, shared: Any = True, elsewhere: Any = True) -> Runtime:
    return replace(rt, store=cast(Store, SharedStore(shared)), executor=Elsewhere(elsewhere))


@pytest.fixture
def released(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """How often memory was given back."""
    told: list[str] = []
    monkeypatch.setattr(delegating, "release_memory", lambda: told.append("released"))
    return told


@pytest.mark.parametrize("listed", [True, False])
def test_an_errand_tells_what_came_of_it_and_nothing_of_what_was_before(
    store: SqliteStore, released: list[str], listed: bool
) -> None:
    rt = replace(runtime(store), begun=Counter(old=2, more=1), aside=[ASIDE])

    def work() -> str:
        rt.begun.update(more=3, new=4)
        rt.aside.append(LATER)
        rt.computed.update(step=5)
        rt.lacking.append("lacking")
        rt.whole.now.add("run")
        rt.doubted.append("doubted")
        rt.inside[-1].append("inside")
        return "value"

    found = run_errand(Errand(rt, work, listed))
    inside = ["inside"] if listed else []
    assert found == Outcome(
        "value", Counter(step=5), Counter(more=3, new=4), [LATER], ["lacking"], ["doubted"], {"run"}, inside
    )
    assert released == ["released", "released"]  # before it, and after


def test_memory_is_given_back_after_an_errand_that_failed_too(store: SqliteStore, released: list[str]) -> None:
    def fail() -> None:
        raise ItemFailed("no")

    with pytest.raises(ItemFailed, match="no"):
        run_errand(Errand(runtime(store), fail, True))
    assert released == ["released", "released"]  # before it, and after


def test_memory_is_given_back_where_the_c_library_can(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    class Library:
        def __init__(self, name: object) -> None:
            asked.append(name)

        def malloc_trim(self, kept: int) -> None:
            asked.append(kept)

    def refuse(name: object) -> None:
        raise OSError("there is none")

    monkeypatch.setattr(gc, "collect", lambda: asked.append("collected"))
    for library in (Library, refuse, object):
        monkeypatch.setattr(ctypes, "CDLL", library)
        if library is object:
            monkeypatch.setattr(ctypes, "CDLL", lambda name: object())
        delegating.release_memory()
    assert asked == ["collected", None, 0, "collected", "collected"]


@pytest.mark.parametrize(
    ("shared", "elsewhere", "delegated"),
    [
        (True, True, True),
        (True, False, False),
        (False, True, False),
        (False, False, False),
        (1, 1, True),
        (0, 1, False),
    ],
)
def test_a_worker_does_what_is_work_where_the_store_is_shared_and_workers_are_far(
    store: SqliteStore, shared: Any, elsewhere: Any, delegated: bool
) -> None:
    rt = share(runtime(store), shared, elsewhere)
    assert is_delegated(rt) is delegated
    assert not is_delegated(rt, "engine")
    assert not is_delegated(rt, "embedder")
    assert is_delegated(replace(rt, engine=ClassicalEngine()), "engine") is delegated
    assert not is_delegated(replace(rt, engine=ClassicalEngine()), "embedder")


def test_where_nothing_is_said_of_a_store_or_an_executor_work_stays_here(store: SqliteStore) -> None:
    assert not is_delegated(runtime(store))
    assert not is_delegated(replace(share(runtime(store)), executor=SerialExecutor()))
    assert not is_delegated(replace(share(runtime(store)), store=store))


@pytest.mark.parametrize("inside", [False, True])
def test_what_was_counted_and_listed_on_a_worker_is_added_here(
    store: SqliteStore, inside: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rt = replace(share(runtime(store)), begun=Counter(old=2), aside=[ASIDE], lacking=["before"], doubted=["before"])
    rt.computed.update(step=1)
    if inside:
        rt.inside.extend([["outer"], ["own"]])
    errands: list[Errand[Any]] = []

    def note(errand: Errand[Any]) -> Outcome[str]:
        errands.append(errand)
        return Outcome("v", Counter(step=2), Counter(old=1, new=3), [LATER], ["l"], ["d"], {"run"}, ["i1", "i2"])

    monkeypatch.setattr(delegating, "run_errand", note)
    assert work_on_worker(rt, lambda: "here") == "v"
    assert (rt.computed, rt.begun) == (Counter(step=3), Counter(old=3, new=3))
    assert rt.whole.now == {"run"}
    assert (rt.aside, rt.lacking, rt.doubted) == ([ASIDE, LATER], ["before", "l"], ["before", "d"])
    assert rt.inside == ([["outer"], ["own", "i1", "i2"]] if inside else [])
    (errand,) = errands
    assert errand.listed is inside
    assert cast(Elsewhere, rt.executor).waited == [False]


def test_what_fails_on_a_worker_is_done_here_once(store: SqliteStore) -> None:
    rt = share(runtime(store))
    tries: list[int] = []

    def work() -> str:
        tries.append(len(tries))
        if len(tries) == 1:
            raise ItemFailed("there")
        return "here"

    assert work_on_worker(rt, work) == "here"
    assert tries == [0, 1]
    assert (rt.computed, rt.aside, rt.inside) == (Counter(), [], [])


def test_a_runtime_for_a_worker_knows_what_was_computed_and_what_failed(store: SqliteStore) -> None:
    rt = replace(
        share(runtime(store)), engine=ClassicalEngine(), reranker=cast(Any, Ranking()), most_failed=0.25, retry=True,
        numbers="int8", aside=[ASIDE], begun=Counter(old=2), computed=Counter(step=1), lacking=["l"], doubted=["d"],
        inside=[["i"]], noted=Counter(n=1), hear=print,
    )  # fmt: skip
    copy = pickle.loads(pickle.dumps(rt))
    assert (copy.most_failed, copy.retry, copy.numbers, copy.aside) == (0.25, True, "int8", [ASIDE])
    assert (copy.begun, copy.computed, copy.noted) == (Counter(old=2), Counter(step=1), Counter())
    assert (copy.lacking, copy.doubted, copy.inside, copy.hear) == ([], [], [], None)
    assert (type(copy.engine), copy.embedder, type(copy.reranker)) == (ClassicalEngine, None, Ranking)
    assert (copy.chunker, copy.store, copy.executor) == (None, SharedStore(), Elsewhere())
    for none in (None, cast(Any, Ranking(waits=True))):
        assert pickle.loads(pickle.dumps(replace(rt, reranker=none))).reranker is None
    made = cast(Any, delegating._reduce_runtime(rt)[0]).keywords
    rt.begun.update(old=1)
    rt.aside.append(LATER)
    assert (made["begun"], made["aside"]) == (Counter(old=2), [ASIDE])
