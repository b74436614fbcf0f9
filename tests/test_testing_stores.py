"""The contract of stores holds of the embedded one, and finds out each that breaks one rule of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from canned import holds
from sensegraph.runtime.stores.corpus_store import Swept
from sensegraph.runtime.stores.rows import StoredRows
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.testing import CorpusStoreContract, StoreContract
from sensegraph.types import Usage

PLAIN = SqliteStore
TESTS = {
    name.removeprefix("test_"): name
    for contract in (StoreContract, CorpusStoreContract)
    for name in vars(contract)
    if name.startswith("test_")
}


@pytest.mark.parametrize("test", TESTS.values())
def test_the_embedded_store_keeps_the_contract(test: str, tmp_path: Path) -> None:
    assert holds(test, SqliteStore, tmp_path, of=CorpusStoreContract)


def spoiled(**methods: Callable[..., Any]) -> Callable[..., Any]:
    """A store with other methods."""
    return type("Spoiled", (SqliteStore,), methods)


class Elsewhere:
    """Makes a new store each time."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, folder: Path) -> SqliteStore:
        self.count += 1
        return SqliteStore(folder / str(self.count))


def table(**methods: Callable[..., Any]) -> Callable[..., Any]:
    """A store whose tables have other methods, each given the rows as they should be."""

    class Rows(StoredRows):
        pass

    for name, method in methods.items():
        setattr(Rows, name, method)

    def rows(self: SqliteStore, key: str) -> Any:
        found = PLAIN.rows(self, key)
        return Rows(*found.__reduce__()[1]) if found else None

    return spoiled(rows=rows)


def catch(self: SqliteStore, key: str, rows: Any) -> None:
    try:
        PLAIN.write_rows(self, key, rows)
    except RuntimeError:
        return


def once(self: SqliteStore, key: str, rows: Any) -> None:
    """Nothing can be written under a key that was tried."""
    tried = vars(self).setdefault("tried", set())
    if key not in tried:
        tried.add(key)
        PLAIN.write_rows(self, key, rows)


def preload(self: SqliteStore, key: str) -> Any:
    """A table that is read when it is opened."""
    found = PLAIN.rows(self, key)
    held = list(found.scan()) if found else []
    return SimpleNamespace(at=lambda positions: [held[p] for p in positions]) if found else None


def replies(**methods: Callable[..., Any]) -> Callable[..., Any]:
    class Replying(SqliteStore):
        def __init__(self, root: Path) -> None:
            super().__init__(root)
            for name, method in methods.items():
                plain = getattr(self.replies, name)
                setattr(self.replies, name, lambda *given, m=method, p=plain: m(p, *given))

    return Replying


def sweep(change: Callable[..., Swept]) -> Callable[..., Any]:
    """A store that sweeps as `change` does, which is given the store and what it was asked."""

    def swept(self: SqliteStore, needed: Any, *, dry: bool = False, spare: Any = ()) -> Swept:
        return change(self, needed, dry, spare)

    return spoiled(sweep=swept)


def miscount(found: Swept, **changes: int) -> Swept:
    return replace(found, by_step={step: replace(n, **changes) for step, n in found.by_step.items()})


OBJECTS, FIRST, MANY = (
    "objects_come_back_as_they_were_written", "a_key_keeps_its_first_value", "many_keys_are_read_at_once"
)  # fmt: skip
ROWS, EMPTY = "a_table_is_read_by_position_and_by_id", "an_empty_table_is_a_table"
BROKEN, ARRAYS = "a_table_that_breaks_off_leaves_nothing", "arrays_come_back_equal_and_read_only"
REFS, LEDGER = "refs_are_set_together_listed_in_order_and_deleted", "the_ledger_adds_up_by_step"
BUILDS, REPLIES = "one_builds_at_a_time", "replies_outlive_who_got_them"
SWEPT, COMES = "what_is_not_needed_is_swept_and_counted_by_step", "what_comes_while_a_sweep_finds_out_stays"
READER, PINNED = "a_reader_of_a_table_that_was_swept_is_told_so", "an_index_is_pinned_for_a_while"
LISTED = "arrays_are_listed_and_bytes_are_counted"


@pytest.mark.parametrize(
    ("test", "store"),
    [
        (OBJECTS, spoiled(has=lambda self, keys: set(keys))),
        (OBJECTS, spoiled(has=lambda self, keys: set())),
        (OBJECTS, spoiled(read=lambda self, keys: dict.fromkeys(keys, b"") | PLAIN.read(self, keys))),
        (OBJECTS, spoiled(read=lambda self, keys: {k: v.rstrip(b"\xff") for k, v in PLAIN.read(self, keys).items()})),
        (OBJECTS, Elsewhere()),
        (FIRST, spoiled(write=lambda self, objects, step="": PLAIN.write(self, objects) if len(objects) < 2 else None)),
        (MANY, spoiled(has=lambda self, keys: set(keys))),
        (MANY, spoiled(has=lambda self, keys: PLAIN.has(self, keys[:2000]))),
        (MANY, spoiled(read=lambda self, keys: PLAIN.read(self, keys[:2999]))),
        (ROWS, table(__len__=lambda self: StoredRows.__len__(self) + 1)),
        (ROWS, table(at=lambda self, positions: StoredRows.at(self, sorted(positions)))),
        (ROWS, table(find=lambda self, ids: dict.fromkeys(ids, b"") | StoredRows.find(self, ids))),
        (ROWS, table(find=lambda self, ids: {})),
        (ROWS, table(scan=lambda self: reversed(list(StoredRows.scan(self))))),
        (ROWS, table(ids=lambda self: reversed(list(StoredRows.ids(self))))),
        (ROWS, spoiled(has=lambda self, keys: set())),
        (ROWS, spoiled(rows=lambda self, key: None)),
        (EMPTY, spoiled(rows=lambda self, key: PLAIN.rows(self, key) or None)),
        (EMPTY, spoiled(rows=lambda self, key: PLAIN.rows(self, "t"))),
        (EMPTY, table(scan=lambda self: iter([b"row"]))),
        (BROKEN, spoiled(write_rows=catch)),
        (BROKEN, spoiled(write_rows=once)),
        (BROKEN, spoiled(has=lambda self, keys: set(keys))),
        (ARRAYS, spoiled(write_array=lambda self, key, array: PLAIN.write_array(self, key, array.astype(np.float64)))),
        (ARRAYS, spoiled(write_array=lambda self, key, array: PLAIN.write_array(self, key, array.ravel()))),
        (ARRAYS, spoiled(write_array=lambda self, key, array: PLAIN.write_array(self, key, np.ones_like(array)))),
        (ARRAYS, spoiled(write_array=lambda self, key, rows: PLAIN.write_array(self, key, rows) if len(rows) else 0)),
        (ARRAYS, spoiled(array=lambda self, key: PLAIN.array(self, "a"))),
        (ARRAYS, spoiled(has=lambda self, keys: set(keys))),
        (REFS, spoiled(refs=lambda self, prefix="": PLAIN.refs(self))),
        (REFS, spoiled(refs=lambda self, prefix="": dict(reversed(PLAIN.refs(self, prefix).items())))),
        (REFS, spoiled(set_refs=lambda self, refs: PLAIN.set_refs(self, {k: v for k, v in refs.items() if v}))),
        (REFS, spoiled(set_refs=lambda self, refs: PLAIN.set_refs(self, {**PLAIN.refs(self), **refs, "more": "x"}))),
        (REFS, spoiled(ref=lambda self, name: PLAIN.ref(self, name) or "")),
        (REFS, Elsewhere()),
        (LEDGER, spoiled(ledger=lambda self: {k: replace(v, calls=float(v.calls)) for k, v in
                                              PLAIN.ledger(self).items()})),
        (LEDGER, spoiled(ledger=lambda self: {k: replace(v, cost_usd=0.5) for k, v in PLAIN.ledger(self).items()})),
        (LEDGER, spoiled(spend=lambda self, step, usage: PLAIN.spend(self, "one", usage))),
        (LEDGER, spoiled(spend=lambda self, step, usage: PLAIN.spend(self, step, Usage(calls=usage.calls)))),
        (BUILDS, spoiled(exclusive=lambda self, wait=0.0: nullcontext())),
        (BUILDS, Elsewhere()),
        (REPLIES, replies(any=lambda plain: True)),
        (REPLIES, replies(any=lambda plain: False)),
        (REPLIES, replies(keep=lambda plain, key, reply: plain("one", reply))),
        (REPLIES, replies(read=lambda plain: {**plain(), "more": b""})),
        (REPLIES, replies(read=lambda plain: plain() or {"more": b""})),
        (REPLIES, replies(clear=lambda plain: None)),
        (REPLIES, replies(rest=lambda plain: plain.__self__._path.unlink())),
        (REPLIES, Elsewhere()),
        (SWEPT, sweep(lambda self, needed, dry, spare: PLAIN.sweep(self, needed, spare=spare))),
        (SWEPT, sweep(lambda self, needed, dry, spare: PLAIN.sweep(self, needed, dry=dry))),
        (SWEPT, sweep(lambda self, needed, dry, spare: PLAIN.sweep(self, needed, dry=True, spare=spare))),
        (SWEPT, sweep(lambda self, needed, dry, spare: PLAIN.sweep(self, (), dry=dry, spare=spare))),
        (SWEPT, sweep(lambda self, needed, dry, spare: PLAIN.sweep(self, {*needed, "lone"}, dry=dry, spare=spare))),
        *((SWEPT, sweep(lambda self, needed, dry, spare, name=name:
                        miscount(PLAIN.sweep(self, needed, dry=dry, spare=spare), **{name: 2})))
          for name in ("objects", "tables", "arrays")),
        (SWEPT, sweep(lambda self, needed, dry, spare:
                      miscount(PLAIN.sweep(self, needed, dry=dry, spare=spare), bytes=0))),
        (SWEPT, sweep(lambda self, needed, dry, spare:
                      miscount(PLAIN.sweep(self, needed, dry=dry, spare=spare), bytes=1 + dry))),
        (SWEPT, spoiled(array_names=lambda self: ["lone"])),
        (COMES, sweep(lambda self, needed, dry, spare: PLAIN.sweep(self, needed(), dry=dry))),
        (COMES, sweep(lambda self, needed, dry, spare: PLAIN.sweep(self, lambda: {*needed(), "old"}, dry=dry))),
        (COMES, sweep(lambda self, needed, dry, spare: needed())),
        (READER, spoiled(rows=preload)),
        (READER, sweep(lambda self, needed, dry, spare: PLAIN.sweep(self, {"a"}))),
        (PINNED, spoiled(pinned=lambda self: {key for (key,) in self.select("SELECT key FROM pin")})),
        (PINNED, spoiled(pinned=lambda self: set())),
        (PINNED, Elsewhere()),
        (LISTED, spoiled(array_names=lambda self: PLAIN.array_names(self)[::-1])),
        (LISTED, spoiled(array_names=lambda self: PLAIN.array_names(self)[1:])),
        (LISTED, spoiled(size=lambda self: 600_000)),
        (LISTED, spoiled(settle=lambda self: 400_000)),
        (LISTED, spoiled(settle=lambda self: PLAIN.settle(self) * 11 // 20)),
    ],
)  # fmt: skip
def test_a_store_that_breaks_one_rule_is_found_out(test: str, store: Callable[..., Any], tmp_path: Path) -> None:
    assert not holds(TESTS[test], store, tmp_path, of=CorpusStoreContract)
