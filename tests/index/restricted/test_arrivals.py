"""Known time: since when a document has been known, kept over indexing anew (valid time §2, §3.6)."""

from __future__ import annotations

from pathlib import Path

import pytest

from sensegraph.index.manifest import DocumentEntry
from sensegraph.index.restricted.arrivals import (
    Arrival,
    forget_arrivals,
    known_then,
    note_arrivals,
    read_arrivals,
)
from sensegraph.runtime.keys import encode_canonical
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


def test_what_is_forgotten_is_known_no_longer(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    note_arrivals(store, [entry("a", "1"), entry("b", "1")], "2020-01-01T00:00:00Z")
    forget_arrivals(store, ("a", "c"))
    assert read_arrivals(store) == {"a": (Arrival("1", "2020-01-01T00:00:00Z"),)}


def test_a_build_writes_down_the_documents_that_changed_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, written = SqliteStore(tmp_path), list[list[str]]()
    plain = store.set_refs
    monkeypatch.setattr(store, "set_refs", lambda refs: (written.append(sorted(refs)), plain(refs)))
    documents = [entry(name, "1") for name in "abcdef"]
    note_arrivals(store, documents, "2020-01-01T00:00:00Z")
    note_arrivals(store, documents, "2020-06-01T00:00:00Z")
    note_arrivals(store, [*documents[:-2], entry("e", "2")], "2021-01-01T00:00:00Z")
    assert written[1:] == [["arrival/e", "arrival/f"]]


@pytest.mark.parametrize("forget", [False, True])
def test_what_an_earlier_version_noted_in_one_object_is_still_known(tmp_path: Path, forget: bool) -> None:
    store = SqliteStore(tmp_path)
    earlier = {name: (Arrival("1", "2020-01-01T00:00:00Z"),) for name in ("a", "b", "c")}
    store.write({"k": encode_canonical(earlier)}, "arrivals")
    store.set_refs({"arrivals": "k"})
    assert read_arrivals(store) == earlier
    if forget:
        forget_arrivals(store, ("a", "b"))
        assert read_arrivals(store) == {name: earlier[name] for name in ("a", "b")}
    else:
        note_arrivals(store, [entry("a", "1"), entry("b", "2")], "2021-01-01T00:00:00Z")
        closed = (Arrival("1", "2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z"),)
        now = {"a": earlier["a"], "b": (*closed, Arrival("2", "2021-01-01T00:00:00Z")), "c": closed}
        assert read_arrivals(store) == now
    assert store.ref("arrivals") is None


@pytest.mark.parametrize("gone", [False, True])
@pytest.mark.parametrize("change", ["nothing", "an edit", "one more", "an edit and one more"])
def test_few_that_may_have_changed_are_noted_as_if_all_were_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str, gone: bool
) -> None:
    before = [entry(f"{i:02}", "1") for i in range(40)]
    now = [entry(e.id, "2") if e.id == "20" and "edit" in change else e for e in before if not gone or e.id != "21"]
    now = sorted([*now, *([entry("20b", "1")] if "more" in change else [])], key=lambda e: e.id)
    places = [i for i, e in enumerate(now) if "20" <= e.id < "22"]
    stores = [SqliteStore(tmp_path / name) for name in ("few", "all")]
    for store in stores:
        note_arrivals(store, before, "2020-01-01T00:00:00Z")
    read, plain = list[str](), SqliteStore.refs
    monkeypatch.setattr(SqliteStore, "refs", lambda self, prefix="": (read.append(prefix), plain(self, prefix))[1])
    note_arrivals(stores[0], now, "2021-01-01T00:00:00Z", places, len(before))
    assert read == ["arrival/"] * gone
    note_arrivals(stores[1], now, "2021-01-01T00:00:00Z")
    assert read_arrivals(stores[0]) == read_arrivals(stores[1])
