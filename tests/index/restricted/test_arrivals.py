"""Known time: since when a document has been known, kept over indexing anew (valid time §2, §3.6)."""

from __future__ import annotations

from pathlib import Path

from sensegraph.index.manifest import DocumentEntry
from sensegraph.index.restricted.arrivals import (
    Arrival,
    forget_arrivals,
    known_then,
    note_arrivals,
    outdated_arrivals,
    read_arrivals,
)
from sensegraph.runtime.stores.sqlite import SqliteStore


def entry(name: str, key: str) -> DocumentEntry:
    return DocumentEntry(name, key, "", "", ())


def test_indexing_anew_changes_nothing_and_a_new_version_closes_the_old(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    note_arrivals(store, [entry("a", "1"), entry("b", "1")], "2020-01-01T00:00:00Z")
    note_arrivals(store, [entry("a", "1"), entry("b", "1")], "2020-06-01T00:00:00Z")
    note_arrivals(store, [entry("a", "2")], "2021-01-01T00:00:00Z")
    assert read_arrivals(store) == {
        "a": (Arrival("1", "2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z"), Arrival("2", "2021-01-01T00:00:00Z")),
        "b": (Arrival("1", "2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z"),),
    }


def test_what_comes_back_is_known_from_then_on_and_what_was_is_kept(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    for year, listed in (("2020", [entry("a", "1")]), ("2021", []), ("2022", [entry("a", "1")])):
        note_arrivals(store, listed, f"{year}-01-01T00:00:00Z")
    now = [entry("a", "1")]
    known = read_arrivals(store)
    assert [known_then(known, now, moment, True).inside for moment in ("2019", "2020", "2021-06", "2022")] == [
        frozenset(),
        frozenset({"a"}),
        frozenset(),
        frozenset({"a"}),
    ]


def test_earlier_versions_are_counted_and_what_nobody_noted_is_unknown(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    note_arrivals(store, [entry("a", "1")], "2020-01-01T00:00:00Z")
    note_arrivals(store, [entry("a", "2")], "2022-01-01T00:00:00Z")
    listed = [entry("a", "2"), entry("imported", "9")]
    then = known_then(read_arrivals(store), listed, "2021", True)
    assert (then.inside, then.changed, then.unknown) == (frozenset({"imported"}), 1, 1)
    assert known_then(read_arrivals(store), listed, "2021", False).inside == frozenset()


def test_what_is_forgotten_is_known_no_longer_and_says_under_which_key_it_stood(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    assert outdated_arrivals(store, ()) == ""
    note_arrivals(store, [entry("a", "1"), entry("b", "1")], "2020-01-01T00:00:00Z")
    assert outdated_arrivals(store, ("a", "b")) == outdated_arrivals(store, ("a", "b", "c")) == ""
    assert outdated_arrivals(store, ("a",)) == store.ref("arrivals")
    forget_arrivals(store, ("a", "c"))
    assert read_arrivals(store) == {"a": (Arrival("1", "2020-01-01T00:00:00Z"),)}
