"""Small rules of running and storing by examples that are counted by hand."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any, cast

from sensegraph.runtime.activity import take_lock
from sensegraph.runtime.batches import SetAside
from sensegraph.runtime.results import step
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.stores.sqlite import SqliteStore


class Taken:
    """A lock that is never got, and notes how long it was waited for."""

    def __init__(self) -> None:
        self.waited: list[float] = []

    def acquire(self, timeout: float) -> bool:
        self.waited.append(timeout)
        return False


def test_a_lock_is_never_waited_for_longer_than_was_said() -> None:
    lock = Taken()
    assert not take_lock(cast(threading.Lock, lock), 0.0)
    assert lock.waited == [0.0]
    lock = Taken()
    assert not take_lock(cast(threading.Lock, lock), 0.002)
    assert 0 <= max(lock.waited) <= 0.002
    assert take_lock(threading.Lock(), 0.0)


@step("small.measure", version=1, task="rate")
def measure(items: Any) -> list[int]:
    return [len(item) for item in items]


def too_many(most: float, begun: int, before: int, partial: int, now: int) -> bool:
    """Whether more of so many items may not fail, where so many failed before and others were read in part."""
    rt: Any = Runtime(cast(Any, None), cast(Any, None), cast(Any, None), cast(Any, None), most_failed=most)
    rt.begun["small.measure"] = begun
    rt.aside.extend(SetAside(f"k{i}", "rate", "x", "declined", "no") for i in range(before))
    rt.aside.extend(SetAside(f"p{i}", "rate", "x", "form", "cut", partial=True) for i in range(partial))
    rt.aside.append(SetAside("other", "answer", "x", "declined", "no"))
    return bool(rt._too_many_failed(measure, now))


def test_items_that_failed_count_against_the_share_that_may_and_those_read_in_part_do_not() -> None:
    assert not too_many(0.2, 10, 1, 0, 1)
    assert too_many(0.2, 10, 1, 0, 2)
    assert not too_many(0.2, 10, 1, 5, 1)
    assert not too_many(0.2, 2, 0, 3, 1)  # one may, however few they are
    assert too_many(0.2, 2, 0, 0, 2)
    assert too_many(0.0, 10, 0, 0, 1)


def test_a_store_with_a_damaged_page_is_not_whole(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "one")
    store.write({f"k{i}": bytes([i]) * 900 for i in range(50)})
    store.settle()
    assert store.is_whole()
    store.close()
    (file,) = [p for p in (tmp_path / "one").iterdir() if p.is_file() and p.read_bytes().startswith(b"SQLite")]
    data = bytearray(file.read_bytes())
    data[4096:] = b"\xa5" * (len(data) - 4096)
    file.write_bytes(data)
    assert not SqliteStore.is_whole(store)
