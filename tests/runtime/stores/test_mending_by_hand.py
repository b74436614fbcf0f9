"""A store that cannot be checked is copied as far as it can be read, and what cannot be written is not mended."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sensegraph.errors import StoreError
from sensegraph.runtime.stores import mending
from sensegraph.runtime.stores.corpus_store import LOST
from sensegraph.runtime.stores.mending import mend_store
from sensegraph.runtime.stores.sqlite import SqliteStore


def fail_on(store: SqliteStore, monkeypatch: pytest.MonkeyPatch, failing: str, times: int) -> None:
    """The first queries that hold these words fail."""
    select, left = store.select, [times]

    def read(query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        if failing in query and left[0]:
            left[0] -= 1
            raise StoreError("the disk is bad")
        return select(query, values)

    monkeypatch.setattr(store, "select", read)


@pytest.mark.parametrize("failing", ["integrity_check", "FROM ref"])
def test_a_store_that_cannot_be_looked_through_is_copied_and_what_is_whole_stays(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    store.write({"a": b"1", "b": b"2" * 9000}, "s")
    store.write_rows("t", [("x", b"1"), ("y", b"2")])
    store.set_refs({"name": "value"})
    fail_on(store, monkeypatch, failing, 1)
    assert mend_store(store) == 1
    assert store.read(["a", "b"]) == {"a": b"1", "b": b"2" * 9000}
    assert (store.ref("name"), bool(store.ref(LOST))) == ("value", True)
    found = store.rows("t")
    assert found is not None
    assert list(found.scan()) == [b"1", b"2"]
    assert not store.path.with_name("store.mended.sqlite").exists()


def test_a_whole_store_is_not_copied(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.write({"a": b"1"}, "s")
    monkeypatch.setattr(mending, "_copy_readable", lambda store: pytest.fail("it is whole"))
    assert mend_store(store) == 0
    assert store.ref(LOST) is None


@pytest.mark.parametrize(("more", "looked"), [(0, True), (-1, False)])
def test_what_is_larger_than_the_bound_or_read_only_is_not_looked_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: int, looked: bool
) -> None:
    with closing(SqliteStore(tmp_path)) as store:
        store.write({"a": b"1"}, "s")
        store.settle()
        store.select("UPDATE object SET value = x'00'")
        store.settle()
        monkeypatch.setattr(mending, "_LARGEST", store.path.stat().st_size + more)
        assert mend_store(store) == int(looked)
    with closing(SqliteStore(tmp_path, readonly=True)) as store:
        assert mend_store(store) == 0
