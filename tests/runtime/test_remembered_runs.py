"""Runs of results that the last build found whole are not looked for again, unless something of the store was lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.corpus.settled import remember_whole_runs
from sensegraph.errors import ItemFailed, ResultGone
from sensegraph.index.manifest import REF
from sensegraph.runtime import batches
from sensegraph.runtime.batches import WholeRuns
from sensegraph.runtime.keys import key, name_each
from sensegraph.runtime.results import step
from sensegraph.runtime.stores.corpus_store import LOST
from sensegraph.runtime.stores.sqlite import SqliteStore
from wired import runtime

FAILING: set[int] = set()


@step("test_remembered.double", version=1)
def double(items: Sequence[int]) -> list[int]:
    if FAILING & {*items}:
        raise ItemFailed("not this one")
    return [2 * i for i in items]


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    FAILING.clear()
    monkeypatch.setattr(batches, "_MANY", 8)


@pytest.fixture
def space(store: SqliteStore) -> Any:
    """As much of a workspace as is asked for."""
    return SimpleNamespace(store=store, index_key=lambda: store.ref(REF) or "")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The keys that the store is asked for."""
    plain, found = SqliteStore.has, list[str]()

    def has(self: SqliteStore, keys: Sequence[str]) -> set[str]:
        found.extend(keys)
        return plain(self, keys)

    monkeypatch.setattr(SqliteStore, "has", has)
    return found


def build(space: Any, items: Sequence[int]) -> list[int]:
    """What a build gives of these items, which makes the index of the same name."""
    with remember_whole_runs(space) as runs:
        rt = replace(runtime(space.store), whole=runs, most_failed=0.5)
        found = list(rt.each(double, items, without=lambda _: -1))
        space.store.set_refs({REF: key(list(items))})
    return found


def test_of_a_changed_item_its_run_alone_is_looked_for(space: Any, asked: list[str]) -> None:
    items = list(range(200))
    assert build(space, items) == [2 * i for i in items]
    asked.clear()
    assert build(space, items) == [2 * i for i in items]
    assert asked == []
    items[100] = 1000
    assert build(space, items) == [2 * i for i in items]
    assert 0 < len(asked) < 100


def test_nothing_is_remembered_of_another_index(space: Any, asked: list[str]) -> None:
    build(space, range(20))
    space.store.set_refs({REF: "another"})
    asked.clear()
    build(space, range(20))
    assert len(asked) == 20


def test_nothing_is_remembered_where_the_store_lost_something(space: Any, asked: list[str]) -> None:
    build(space, range(20))
    space.store.set_refs({LOST: "once"})
    asked.clear()
    build(space, range(20))
    assert len(asked) == 20


def test_a_build_that_fails_remembers_nothing(space: Any) -> None:
    build(space, range(20))
    gone = runtime(space.store).keys(double, range(20))
    space.store.drop(gone[:1])
    with pytest.raises(ResultGone, match="run index again"):
        build(space, range(20))
    assert build(space, range(20)) == [2 * i for i in range(20)]


def test_items_that_were_set_aside_are_tried_again(space: Any) -> None:
    FAILING.add(3)
    assert build(space, range(20))[3] == -1
    FAILING.clear()
    assert build(space, range(20))[3] == 6


def test_few_results_are_looked_for_one_by_one() -> None:
    runs = WholeRuns()
    assert runs.cut(["a"] * 7) == ([range(7)], [""])
    runs.note([range(7)], [""], [])
    assert runs.now == set()


@given(st.text(st.characters(exclude_categories=["Cs"])), st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_names_get_the_keys_that_each_gets_alone(first: str, names: list[str]) -> None:
    assert name_each(first, names) == [key(first, name) for name in names]
