"""Records that are kept as they are stored, and joined tables of which few parts stay open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from sensegraph.algorithms.ranking import hash_words
from sensegraph.errors import ResultGone
from sensegraph.index.hierarchy.written_trees import EncodedRows
from sensegraph.runtime import joined_rows
from sensegraph.runtime.joined_rows import JoinedRows, find_positions, order_hashes
from sensegraph.runtime.results import Table, load_result, save_result, step, store_records
from sensegraph.runtime.stores.sqlite import SqliteStore


@dataclass(frozen=True)
class Row:
    id: str
    number: int


@dataclass(frozen=True)
class Rows:
    rows: Sequence[Row] = ()


@step("rows", version=1, form="tables")
def keep_rows(found: Sequence[Rows]) -> list[Rows]:
    return list(found)


ROWS = [Row(f"r{i}", i) for i in range(5)]


def test_records_that_are_kept_as_they_are_stored_make_the_same_table(store: SqliteStore) -> None:
    pairs = list(store_records(ROWS))
    assert pairs[1] == ("r1", b'{"id":"r1","number":1}')
    kept: Table[Row] = Table(EncodedRows(pairs), Row)
    assert (len(kept), kept[1], kept[-1], kept[1:3], list(kept)) == (5, ROWS[1], ROWS[4], ROWS[1:3], ROWS)
    assert list(store_records(kept)) == pairs
    save_result(store, keep_rows, "kept", Rows(kept))
    save_result(store, keep_rows, "plain", Rows(ROWS))
    for name in ("kept", "plain"):
        rows = load_result(store, keep_rows, name).rows
        assert isinstance(rows, Table)
        assert list(rows) == ROWS
        assert rows.stored(["r3", "none"]) == kept.stored(["r3", "none"]) == {"r3": b'{"id":"r3","number":3}'}


def test_of_a_joined_table_few_parts_stay_open_and_all_records_are_found(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(joined_rows, "_OPENED", 2)
    for row in ROWS:
        store.write_rows(f"{row.id}.t", store_records([row]))
    opened: list[str] = []
    find = store.rows
    monkeypatch.setattr(store, "rows", lambda name: opened.append(name) or find(name))  # type: ignore[func-returns-value]
    joined = JoinedRows(store, [(f"{row.id}.t", 1, row.id) for row in ROWS])
    assert [joined.at([i]) for i in (0, 1, 0, 1)] == [[b'{"id":"r0","number":0}'], [b'{"id":"r1","number":1}']] * 2
    assert opened == ["r0.t", "r1.t"]
    assert list(joined.find([row.id for row in ROWS])) == [row.id for row in ROWS]
    assert joined.at([0, 4]) == [b'{"id":"r0","number":0}', b'{"id":"r4","number":4}']
    assert opened == ["r0.t", "r1.t", "r2.t", "r3.t", "r4.t", "r0.t"]


def test_records_whose_ids_do_not_ascend_are_found_by_hashes(store: SqliteStore) -> None:
    rows = [ROWS[i] for i in (3, 0, 4, 1, 2)]
    store.write_array("finder", order_hashes(hash_words(row.id for row in rows)))
    for name, part in (("one", rows[:2]), ("two", rows[2:])):
        store.write({name: b"head"})
        store.write_rows(f"{name}.t", store_records(part))
    joined = Table[Row](JoinedRows(store, [("one.t", 2, ""), ("two.t", 3, "")], finder="finder"), Row)
    save_result(store, keep_rows, "joined", Rows(joined))
    for table in (joined, load_result(store, keep_rows, "joined").rows):
        assert list(table) == rows
        assert isinstance(table, Table)
        assert table.find(["r4", "none", "r0", "r3"]) == {"r0": ROWS[0], "r3": ROWS[3], "r4": ROWS[4]}
        assert table.find(["none"]) == {}
    for lost in ("two", "finder"):
        store.forget([lost])
        with pytest.raises(ResultGone, match=f"The table {lost} is gone"):
            load_result(store, keep_rows, "joined")
        store.write({"two": b"head"})


def test_where_nothing_is_nothing_is_found() -> None:
    assert find_positions(order_hashes(hash_words(())), ["a"]) == {}
