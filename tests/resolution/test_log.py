"""The log of operations in a store: numbered, in order, taken back one by one, and never without what it names."""

from __future__ import annotations

import pytest

from sensegraph.errors import InputError, StoreError
from sensegraph.resolution.aliases import Operation
from sensegraph.resolution.log import read_operations, record_operations, revert_operation, rewrite_operations
from sensegraph.runtime.stores.sqlite import SqliteStore

MERGE = Operation("", "merge", (("ada", "person"), ("a. l.", "person")))
FORBID = Operation("", "forbid", (("ada", "person"), ("bo", "person")), time="2020")


def test_operations_are_numbered_on_and_have_the_time_that_they_were_done(store: SqliteStore) -> None:
    assert read_operations(store) == ()
    first = record_operations(store, [MERGE, FORBID], "2024")
    assert [(o.id, o.kind, o.time) for o in first] == [("1", "merge", "2024"), ("2", "forbid", "2020")]
    for number in range(3, 13):
        (made,) = record_operations(store, [MERGE], "2025")
        assert made.id == str(number)
    log = read_operations(store)
    assert [o.id for o in log] == [str(n) for n in range(1, 13)]
    assert log[:2] == first
    assert sorted(store.refs("operation/"))[0] == "operation/00000001"
    assert record_operations(store, [], "2026") == ()


def test_the_last_that_stands_or_the_one_that_is_named_is_taken_back(store: SqliteStore) -> None:
    with pytest.raises(InputError, match="No operation stands"):
        revert_operation(store, "", "2024")
    record_operations(store, [MERGE, FORBID, MERGE], "2024")
    assert (revert_operation(store, "", "t1").id, revert_operation(store, "", "t2").id) == ("3", "2")
    assert [o.reverted for o in read_operations(store)] == ["", "t2", "t1"]
    with pytest.raises(InputError, match="Operation 3 was taken back on t1; do it anew"):
        revert_operation(store, "3", "t3")
    with pytest.raises(InputError, match="no operation '4'; the numbers go from 1 to 3"):
        revert_operation(store, "4", "t3")
    assert revert_operation(store, "1", "t4").reverted == "t4"
    with pytest.raises(InputError, match="No operation stands"):
        revert_operation(store, "1", "t5")
    assert record_operations(store, [MERGE], "2025")[0].id == "4"


def test_an_operation_is_taken_out_for_good_and_one_that_is_gone_is_said(store: SqliteStore) -> None:
    record_operations(store, [MERGE, FORBID, MERGE], "2024")
    rewrite_operations(store, {"2": None, "3": Operation("3", "rename", MERGE.names, output="Ada")})
    assert [(o.id, o.kind) for o in read_operations(store)] == [("1", "merge"), ("3", "rename")]
    store.forget([store.refs("operation/")["operation/00000001"]])
    with pytest.raises(StoreError, match=r"^1 operations are gone from the store"):
        read_operations(store)
