"""What collecting asks for, keeps and says, with a store and traces that are written down: each branch of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.corpus import garbage
from sensegraph.corpus.garbage import Collected, GarbageCollector, keep_descriptions
from sensegraph.errors import Busy, SettingsError, StoreError
from sensegraph.runtime.stores.corpus_store import Freed, Swept
from sensegraph.types import Usage


class Store:
    """A store that notes what is asked of it."""

    def __init__(self, *, shared: bool = False, refs: Mapping[str, str] | None = None, swept: Any = None) -> None:
        self.shared, self.kept_refs, self.swept = shared, dict(refs or {}), swept
        self.said: list[Any] = []
        self.pins: set[str] = set()
        self.busy = False

    @contextmanager
    def exclusive(self, wait: float) -> Any:
        if self.busy:
            raise Busy("another build")
        self.said.append(("exclusive", wait))
        yield

    def refs(self, prefix: str = "") -> dict[str, str]:
        return {name: value for name, value in sorted(self.kept_refs.items()) if name.startswith(prefix)}

    def ref(self, name: str) -> str | None:
        return self.kept_refs.get(name)

    def set_refs(self, refs: Mapping[str, str | None]) -> None:
        self.said.append(("set", dict(refs)))

    def sweep(self, needed: Any, *, dry: bool = False, spare: Any = ()) -> Any:
        self.said.append(("sweep", list(needed), dry))
        return self.swept

    def drop(self, keys: Any, *, spare: Any = ()) -> None:
        self.said.append(("drop", sorted(keys), list(spare)))

    def pinned(self) -> set[str]:
        return self.pins

    def ledger(self) -> dict[str, Usage]:
        return {"paid": Usage(cost_usd=0.5), "called": Usage(calls=1), "free": Usage(seconds=3.0)}

    def read(self, keys: Any) -> dict[str, bytes]:
        return {}


SWEPT = Swept({"a": Freed(1, 2, 3, 40), "b": Freed(1, 0, 0, 2)}, 100, 60)


def collector(store: Store, **space: Any) -> Any:
    given = {"wait": 7.0, "index_key": lambda: "now", "document_keys": lambda: {"d1": "k1", "d2": "k2"}} | space
    builder = SimpleNamespace(build=lambda **parts: store.said.append(("build", parts)))
    return GarbageCollector(SimpleNamespace(store=store, **given), builder)  # type: ignore[arg-type]


@pytest.mark.parametrize("dry", [False, True])
@pytest.mark.parametrize("less", [{}, {3: None}])
@pytest.mark.parametrize(
    ("shared", "swept", "held", "notes"),
    [
        (False, SWEPT, ["h"], ("kept note",)),
        (True, SWEPT, ["h"], ("kept note", "what only an index needs that is being read stays: collect again ten "
                              "minutes later")),
        (True, SWEPT, [], ("kept note",)),
        (False, Swept({}, 5, 5, True), ["h"], ("kept note", "readers kept the store's log from being emptied: collect "
                                               "again when they are done")),
        (False, Swept({}, 5, 5, remains="it remains"), ["h"], ("kept note", "it remains")),
    ],
)  # fmt: skip
def test_collecting_forgets_names_and_refs_sweeps_what_is_not_needed_and_says_what_stays(
    monkeypatch: pytest.MonkeyPatch,
    dry: bool,
    less: dict[int, None],
    shared: bool,
    swept: Swept,
    held: list[str],
    notes: tuple[str, ...],
) -> None:
    store = Store(shared=shared, refs={"index": "now", "x": "v"}, swept=swept)
    made = collector(store)
    monkeypatch.setattr(garbage, "rewrite_operations", lambda store, less: store.said.append(("rewrite", less)))
    monkeypatch.setattr(garbage, "forget_arrivals", lambda store, have: store.said.append(("arrivals", have)))
    made._no_replies = lambda: store.said.append("replies")
    made._kept = lambda: store.said.append("kept") or SimpleNamespace(keys=["k", "now"], notes=("kept note",))
    made._forgettable = lambda kept: less
    made._idle_refs = lambda: ["idle"]
    made._documents = lambda: {"d1"}
    made._held_elsewhere = lambda: held
    found = made.collect(dry=dry)
    again: list[Any] = [("rewrite", less), ("build", {"parts": ()}), "kept"] if less and not dry else []
    forgotten: list[Any] = [] if dry else [("set", {"idle": None}), ("arrivals", {"d1"})]
    needed = list(dict.fromkeys(["k", "now", *(held if shared else []), "v"]))
    assert store.said == [
        "replies", ("exclusive", 7.0), "kept", *again, ("exclusive", 7.0), *forgotten, ("sweep", needed, dry)
    ]  # fmt: skip
    assert found == Collected(swept.by_step, swept.total, swept.before, swept.after, len(less), dry, notes)


@pytest.mark.parametrize(
    ("before", "pins", "dropped"),
    [
        ("", set(), None),
        ("now", set(), None),
        ("then", set(), ["then", "then.1"]),
        ("then", {"other"}, ["then"]),  # what the other index needs as well stays
        ("then", {"then"}, None),  # somebody reads it
    ],
)
def test_the_index_before_goes_with_what_only_it_needed_unless_somebody_reads_it(
    monkeypatch: pytest.MonkeyPatch, before: str, pins: set[str], dropped: list[str] | None
) -> None:
    store = Store(refs={"index": "now"})
    store.pins = pins
    below = {"now": ["now.1"], "then": ["then.1"], "other": ["then.1"]}
    asked: list[tuple[str, set[str]]] = []

    def follow(store: Store, name: str, needed: set[str]) -> dict[str, None]:
        asked.append((name, set(needed)))
        return dict.fromkeys(k for k in (name, *below[name]) if k not in needed)

    monkeypatch.setattr(garbage, "follow_keys", follow)
    made = collector(store)
    grown: list[str] = []
    made.collect_grown = lambda: grown.append("grown")
    made.collect_after(before)
    assert grown == ["grown"]
    drops = [said for said in store.said if said[0] == "drop"]
    assert drops == ([("drop", dropped, ["paid", "called"])] if dropped else [])
    assert all(name not in needed for name, needed in asked)
    assert [name for name, _ in asked if name not in (before, "now", *pins)] == []
    store.said.clear()
    store.busy = True
    made.collect_after(before)
    assert (store.said, grown) == ([], ["grown", "grown"])


def test_what_was_told_of_figures_is_kept_for_the_documents_that_say_so() -> None:
    store: Any = Store(refs={"figure/a\nk1": "k1", "figure/a\nk2": "k2", "figure/b\nk3": "k3", "figure/a\nb\nk4": "k4"})
    described = {"a": ["k2", "k5"], "c": ["k6"], "other": ["k7"]}
    found = keep_descriptions(store, ["a", "c", "d"], described)
    assert found == {"figure/a\nk1": None, "figure/a\nk2": "k2", "figure/a\nk5": "k5", "figure/c\nk6": "k6"}
    assert keep_descriptions(store, [], described) == {}


def test_refs_of_what_is_gone_are_idle() -> None:
    refs = [
        "origin/d1", "origin/gone", "masked/d2", "masked/gone", "figure/d1\nk", "figure/gone\nk", "figure/gone\nd1",
        "interchange/c", "interchange/old", "index",
    ]  # fmt: skip
    store = Store(refs=dict.fromkeys(refs, "v"))
    made = collector(store, manifest=lambda: SimpleNamespace(chunks="c"))
    gone = ["origin/gone", "masked/gone", "figure/gone\nd1", "figure/gone\nk", "interchange/old"]
    assert made._idle_refs() == gone
    made = collector(store, manifest=lambda: None)
    assert made._idle_refs() == [*gone[:-1], "interchange/c", "interchange/old"]


@pytest.mark.parametrize(("decided", "names", "less"), [(3, ["a"], {2: None, 3: "c"}), (3, [], {}), (0, ["a"], {})])
def test_decisions_about_names_that_no_document_holds_are_forgotten_where_all_of_it_is_known(
    monkeypatch: pytest.MonkeyPatch, decided: int, names: list[str], less: dict[int, Any]
) -> None:
    log, read = [SimpleNamespace(id=i + 1) for i in range(decided)], list[bool]()
    monkeypatch.setattr(garbage, "read_operations", lambda store: log)
    monkeypatch.setattr(garbage, "forget_names", lambda log, known: [log[0], None, "c"])
    kept = SimpleNamespace(read_names=lambda: read.append(True) or names)
    assert collector(Store())._forgettable(kept) == less
    assert len(read) == (decided > 0)


def test_indexes_that_others_read_hold_their_keys_and_one_that_is_gone_none(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(refs={"index": "now"})
    store.pins = {"now", "then"}
    made = collector(store)
    assert made._keys_held("then") == []
    made._keys_held = lambda name: [name, f"{name}.1"]
    assert made._held_elsewhere() == ["then", "then.1"]
    until: list[float] = []
    made._kept = lambda ends: until.append(ends) or SimpleNamespace(keys=["k", "now"])
    monkeypatch.setattr(garbage.time, "monotonic", lambda: 100.0)
    store.pins = {"then"}
    assert list(made._find_needed()) == ["k", "now", "then", "then.1"]
    assert until == [160.0]


def test_replies_that_are_left_behind_stop_it() -> None:
    left: Callable[[], bool] = lambda: True  # noqa: E731
    store: Any = Store()
    store.replies = SimpleNamespace(place="the file")
    with pytest.raises(StoreError, match="left replies that are paid for in the file; run `sensegraph index`"):
        collector(store, journal=SimpleNamespace(left_behind=left))._no_replies()
    assert collector(store, journal=SimpleNamespace(left_behind=lambda: False))._no_replies() is None


def test_documents_of_the_index_count_while_they_wait_for_a_build() -> None:
    catalogue = SimpleNamespace(documents=[SimpleNamespace(id="old"), SimpleNamespace(id="d1")])
    opened = SimpleNamespace(catalogue=catalogue)
    made = collector(Store(), manifest=lambda: SimpleNamespace(), open_index=lambda: opened)
    assert made._documents() == {"d1", "d2", "old"}
    assert collector(Store(), manifest=lambda: None)._documents() == {"d1", "d2"}


# ── what the index and the documents need ──


@pytest.mark.parametrize(
    ("indexed", "before", "own", "whole", "imported", "asked", "keys"),
    [
        (False, None, "own", True, False, [(["k1", "k2"], "plain")], ["k1", "k2", "t"]),
        (True, ["k1", "k2"], "plain", True, False, [(["k1", "k2"], "plain")], ["i", "k1", "k2", "t"]),
        (True, ["k1", "k2"], "own", True, False, [(["k1", "k2"], "own"), (["k1", "k2"], "plain")],
         ["i", "k1", "k2", "t", "t"]),
        (True, ["k0"], "plain", True, False, [(["k0"], "plain"), (["k1", "k2"], "plain")], ["i", "k1", "k2", "t", "t"]),
        (True, ["k1", "k2"], "plain", False, True, [(["k1", "k2"], "plain")], ["i", "k1", "k2", "t"]),
        (True, ["k1", "k2"], "plain", False, False, [(["k1", "k2"], "plain")], None),
        (False, None, "own", False, False, [(["k1", "k2"], "plain")], ["k1", "k2", "t"]),
    ],
)  # fmt: skip
def test_documents_and_index_are_traced_and_together_only_where_they_differ(
    monkeypatch: pytest.MonkeyPatch,
    indexed: bool,
    before: list[str] | None,
    own: str,
    whole: bool,
    imported: bool,
    asked: list[Any],
    keys: list[str] | None,
) -> None:
    traced: list[Any] = []

    def trace(documents: list[str], rt: object, settings: str, until: float) -> Any:
        traced.append((documents, settings))
        assert (rt, until) == ("rt", 9.0)
        return SimpleNamespace(keys=["t"], whole=whole)

    monkeypatch.setattr(garbage, "trace_build", trace)
    monkeypatch.setattr(garbage, "read_said_names", lambda documents, rt, settings: {*documents, rt, settings})
    monkeypatch.setattr(garbage, "keys_behind_index", lambda store, manifest, name: ["i"] if name == "now" else [])
    store = Store(refs={"index": "now"} | ({"interchange/c": "x"} if imported else {}))
    manifest = SimpleNamespace(chunks="c", engine="e", embedder="v") if indexed else None
    catalogue = SimpleNamespace(documents=[SimpleNamespace(key=k) for k in before or ()])
    made = collector(
        store,
        runtime=lambda: "rt",
        manifest=lambda: manifest,
        open_index=lambda: SimpleNamespace(catalogue=catalogue),
    )
    made._builder.index_settings = lambda *parts: own if parts else "plain"
    if keys is None:
        with pytest.raises(SettingsError, match="Settings differ from those of the index, which e and v built"):
            made._kept(9.0)
        return
    kept = made._kept(9.0)
    waits = before == ["k0"]
    assert traced == asked
    assert list(kept.keys) == keys
    assert kept.read_names() == ({*asked[0][0], "rt", asked[0][1]} if whole and not waits else set())
    assert kept.notes == (
        ("documents wait for a build: what the index says of the earlier ones stays until then",) if waits else ()
    )


def test_nothing_is_collected_while_another_build_runs() -> None:
    store = Store(swept=SWEPT)
    store.busy = True
    made = collector(store)
    made._no_replies = lambda: None
    with pytest.raises(Busy):
        made.collect()
    assert store.said == []
    assert made._list_paid() == ["paid", "called"]
