"""What goes from a store with some keys, and what a sweep counts: objects, tables and arrays of each."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from sensegraph.errors import StoreError
from sensegraph.runtime.stores.corpus_store import Freed
from sensegraph.runtime.stores.sqlite import SqliteStore


@pytest.fixture(autouse=True)
def _filled(store: SqliteStore) -> None:
    for key, step in (("a", "first"), ("b", "second"), ("c", "second")):
        store.write({key: key.encode() * 3}, step)
    for key in ("a.t", "b.t", "b.u", "d.t"):
        store.write_rows(key, [("x", b"1"), ("y", b"22")])
    for key in ("a", "b.v", "e"):
        store.write_array(key, np.arange(5))


def list_left(store: SqliteStore) -> str:
    objects = store.has(["a", "b", "c"]) - set(store.array_names())
    tables = [key for (key,) in store.select("SELECT key FROM part WHERE key <> '-' ORDER BY number")]
    held = [key for (key,) in store.select("SELECT key FROM object ORDER BY key")]
    assert objects <= set(held)
    return f"{' '.join(held)} | {' '.join(tables)} | {' '.join(store.array_names())}"


WHOLE = "a b c | a.t b.t b.u d.t | a b.v e"


@pytest.mark.parametrize(
    ("keys", "spare", "left"),
    [
        ([], [], WHOLE),
        (["none"], [], WHOLE),
        (["a"], [], "b c | b.t b.u d.t | b.v e"),
        (["b", "e"], [], "a c | a.t d.t | a"),
        (["a", "b", "c", "d", "e"], [], " |  | "),
        (["a", "b", "c"], ["second"], "b c | b.t b.u d.t | b.v e"),
        (["a", "b"], ["first", "second"], WHOLE),
        (["d"], ["second"], "a b c | a.t b.t b.u | a b.v e"),
    ],
)
def test_what_lies_under_keys_goes_but_for_spared_steps(
    store: SqliteStore, keys: list[str], spare: list[str], left: str
) -> None:
    store.drop(keys, spare=spare)
    assert list_left(store) == left


def test_a_store_that_is_only_read_is_not_swept(store: SqliteStore, tmp_path: Path) -> None:
    store.settle()
    said = "can only be read here; collect where it can be written"
    with closing(SqliteStore(store.root, readonly=True)) as read, pytest.raises(StoreError, match=said):
        read.sweep(set())
    assert list_left(store) == WHOLE


@pytest.mark.parametrize("dry", [True, False])
def test_a_sweep_counts_what_goes_by_step_and_unfinished_arrays_go_with_it(store: SqliteStore, dry: bool) -> None:
    unfinished = store.root / "arrays" / "x.17.part"
    unfinished.write_bytes(b"half")
    swept = store.sweep({"b"}, dry=dry, spare=["none"])
    size = (store.root / "arrays" / "e.npy").stat().st_size if dry else swept.by_step["arrays"].bytes
    counts = {step: (freed.objects, freed.tables, freed.arrays) for step, freed in swept.by_step.items()}
    assert counts == {"arrays": (0, 0, 1), "first": (1, 1, 1), "second": (1, 0, 0), "tables": (0, 1, 0)}
    assert list(swept.by_step) == ["arrays", "first", "second", "tables"]
    assert swept.by_step["arrays"] == Freed(arrays=1, bytes=size)
    assert swept.by_step["first"].bytes > swept.by_step["tables"].bytes > 0
    assert list_left(store) == (WHOLE if dry else "b | b.t b.u | b.v")
    assert unfinished.exists() is dry
    assert swept.busy is False


def test_a_part_that_is_gone_already_is_no_error(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    path = store.array_path("e")
    find = type(path).unlink

    def unlink(self: Path, missing_ok: bool = False) -> None:
        find(self, missing_ok=True)
        find(self, missing_ok=missing_ok)

    monkeypatch.setattr(type(path), "unlink", unlink)
    store.drop(["e"])
    (store.root / "arrays" / "x.17.part").write_bytes(b"half")
    store.sweep({"b"})
    assert list_left(store) == "b | b.t b.u | b.v"


def test_a_store_that_is_only_read_drops_nothing(store: SqliteStore) -> None:
    with closing(SqliteStore(store.root, readonly=True)) as reader:
        reader.drop(["a"])
    assert list_left(store) == WHOLE


def test_what_is_dropped_is_overwritten(store: SqliteStore) -> None:
    store.select("PRAGMA secure_delete = OFF")
    store.drop(["a"])
    assert store.select("PRAGMA secure_delete") == [(1,)]


def test_the_number_of_the_last_table_is_kept_when_it_goes_and_only_then(store: SqliteStore) -> None:
    def kept() -> list[tuple[str, int]]:
        return [(key, number) for key, number in store.select("SELECT key, number FROM part ORDER BY number")]

    assert kept() == [("a.t", 1), ("b.t", 2), ("b.u", 3), ("d.t", 4)]
    store.drop(["a"])
    assert kept() == [("b.t", 2), ("b.u", 3), ("d.t", 4)]
    store.drop(["d"])
    assert kept() == [("b.t", 2), ("b.u", 3), ("-", 4)]
    store.write_rows("e.t", [("x", b"1")])
    store.drop(["e", "b"])
    assert kept() == [("-", 5)]
    assert store.sweep(set()).by_step.keys() == {"second"}
    assert kept() == [("-", 5)]


def test_what_a_ref_names_stays(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path)) as store:
        store.write({"a": b"1", "b": b"2"}, "t")
        store.set_refs({"document/x": "a"})
        store.drop(["a", "b"])
        assert store.read(["a", "b"]) == {"a": b"1"}
