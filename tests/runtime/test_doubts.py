"""Results that may be untrue are computed once more, stored beside the first ones, and then kept."""

from __future__ import annotations

from collections.abc import Sequence

from sensegraph.runtime.keys import key
from sensegraph.runtime.results import step
from sensegraph.runtime.stores.sqlite import SqliteStore
from wired import runtime

SEEN: list[int] = []


def _doubts(raw: bytes) -> bool:
    return b"0" in raw


@step("test_doubts.counted", version=1, doubts=_doubts)
def counted(items: Sequence[int]) -> list[int]:
    """0 for an odd number the first time, as if it had not been read; its double afterwards."""
    found = [0 if item % 2 and item not in SEEN else 2 * item for item in items]
    SEEN.extend(items)
    return found


def test_a_doubted_result_is_computed_once_more_and_then_kept(store: SqliteStore) -> None:
    SEEN.clear()
    rt = runtime(store)
    assert list(rt.each(counted, [1, 2, 3])) == [0, 4, 0]
    first = store.read(rt.keys(counted, [2]))
    assert len(first) == 1
    assert list(rt.each(counted, [1, 2, 3])) == [2, 4, 6]
    assert SEEN == [1, 2, 3, 1, 3]
    assert list(rt.each(counted, [3, 2, 1])) == [6, 4, 2]
    assert SEEN == [1, 2, 3, 1, 3]


def test_what_was_doubted_stays_replaced_where_the_first_result_is_gone(store: SqliteStore) -> None:
    SEEN.clear()
    rt = runtime(store)
    (plain,) = rt.keys(counted, [5])
    assert list(rt.each(counted, [5])) == [0]
    assert list(rt.each(counted, [5])) == [10]
    assert rt.keys(counted, [5]) == [key(plain, "again")]
    store.sweep({key(plain, "again")})
    assert not store.has([plain])
    assert rt.keys(counted, [5]) == [key(plain, "again")]
