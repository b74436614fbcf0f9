"""Collecting: what nothing needs goes without a trace, what was paid for stays, and readers are told (N92, GDPR)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import NoReturn

import numpy as np
import pytest

from scripted import ScriptedServer
from sensegraph.corpus.corpus import Corpus
from sensegraph.corpus.garbage import GarbageCollector
from sensegraph.corpus.workspace import ORIGIN
from sensegraph.errors import BudgetExceeded, ResultGone, SettingsError, StoreError
from sensegraph.index.graph.lookups import keys_of_ties
from sensegraph.index.index import Index
from sensegraph.index.manifest import read_manifest
from sensegraph.index.tracing import TookTooLong
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import Results
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.stores.packs import list_objects
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.runtime.stores.sweeping import sweep_store
from sensegraph.types import Document, Usage
from stored import read_files
from wired import content, corpus, finished_corpus, stories, story

SECRET = Document("of-quorble", "Zyx Quorble sailed with Ada Harrow in the year 1899. Zyx Quorble paid Bram Harrow.")


@pytest.fixture
def made(tmp_path: Path, server: ScriptedServer) -> Iterator[Corpus]:
    with finished_corpus(tmp_path / "corpus", server, stories()) as opened:
        server.reset()
        yield opened


def traces(folder: Path, *words: bytes) -> list[str]:
    """The files that hold one of these words in any case, byte by byte."""
    return [name for name, held in read_files(folder) if any(word.lower() in held.lower() for word in words)]


def test_of_a_removed_document_no_byte_is_left_in_any_file(made: Corpus) -> None:
    """Cached answers that quote it, decisions about its names, free pages, the log and the index all included."""
    made.add(SECRET)
    made.store.set_refs({ORIGIN + SECRET.id: "/somewhere/of-quorble"})
    made.build()
    assert "Quorble" in made.query("Who is Zyx Quorble?", method="naive").text
    made.merge("Zyx Quorble", "Ada Harrow")
    made.remove(SECRET.id)
    made.build()
    assert traces(made.root, b"quorble") != []
    found = made.collect()
    assert traces(made.root, b"quorble") == []
    assert found.operations == 1
    assert found.after < found.before


def test_collecting_costs_nothing_and_leaves_the_index_as_it_was(made: Corpus, server: ScriptedServer) -> None:
    made.query("Who paid?", method="graphrag")
    made.collect()
    before = content(made)
    server.reset()
    assert made.build().computed == {}
    assert content(made) == before
    assert server.calls == []


def test_an_update_after_collecting_pays_for_no_more_than_one_without(made: Corpus, server: ScriptedServer) -> None:
    """Extractions, summaries and reports of the documents that are there stay, though only an update wants them."""
    new = Document("story-06", story(2, 99))
    with corpus(made.root.parent / "other", server) as other:
        other.add(stories())
        other.build()
        server.reset()
        other.add(new)
        other.build()
    expected = Counter(c.task for c in server.done())
    assert expected["extraction"]
    made.collect()
    server.reset()
    made.add(new)
    made.build()
    assert Counter(c.task for c in server.done()) == expected


def test_a_dry_run_tells_what_would_go_and_removes_nothing(made: Corpus) -> None:
    made.remove("story-00")
    made.build()
    files = {f: f.stat().st_size for f in made.root.rglob("*.npy")}
    told = made.collect(dry=True)
    assert {f: f.stat().st_size for f in made.root.rglob("*.npy")} == files
    done = made.collect()
    assert (told.by_step, told.total) == (done.by_step, done.total)
    assert done.by_step["extraction.extract"].objects == 2
    assert made.collect().total.objects == 0


STRANGERS = Document("of-strangers", "Zyx Quorble paid Wex Tarble. Wex Tarble wrote to Zyx Quorble in the year 1899.")
FROM_BEFORE = (
    "index",
    "lineage",
    "communities.communities",
    "reports.hierarchy",
    "lookups.lookups",
    "vectors.segments",
    "reports.trees",
)


def kept(made: Corpus) -> Counter[str]:
    """All objects, tables and arrays of a store by their keys; what is made from the index before, by its step.

    What a result was made from is looked for by who makes it again, and the index itself does not need it.
    """
    steps = {key: step for key, step, _ in list_objects(made.store)}
    names = [*steps, *(k for (k,) in made.store.select("SELECT key FROM part WHERE key <> '-'"))]
    names += [f.name for f in made.store.root.glob("arrays/*")]
    below = {key(name.partition(".")[0], "below") for name in names}
    parts = [name.partition(".") for name in names if name not in below]
    return Counter(f"{steps[k] if steps.get(k) in FROM_BEFORE else k}.{rest}" for k, _, rest in parts)


def test_after_collecting_there_is_what_a_store_has_that_never_saw_the_rest(made: Corpus) -> None:
    """Nothing less, and nothing more: what was built of strangers, and what was asked, has gone."""
    fresh = kept(made)
    made.add(STRANGERS)
    made.build()
    made.query("Who paid Wex Tarble?", method="naive")
    made.remove(STRANGERS.id)
    made.build()
    assert kept(made).total() > fresh.total() > 100
    made.collect()
    assert kept(made) == fresh


@pytest.mark.parametrize("needed", [[], ["a"], ["b", "d"], ["a", "b", "c", "d"]])
def test_a_sweep_takes_all_that_is_not_needed_and_nothing_that_is(store: SqliteStore, needed: list[str]) -> None:
    for name in "abcd":
        store.write({name: b"x"}, "step")
        store.write_rows(f"{name}.rows", [("1", b"x")])
        np.save(store.root / "arrays" / f"{name}.npy", np.zeros(1))
        np.save(store.root / "arrays" / f"{name}.more.npy", np.zeros(1))
    swept = sweep_store(store, needed)
    assert store.has(list("abcd")) == set(needed)
    assert [name for name in "abcd" if store.rows(f"{name}.rows") is not None] == needed
    files = {f.name for f in store.root.glob("arrays/*")}
    assert files == {f"{name}{end}" for name in needed for end in (".npy", ".more.npy")}
    gone = 4 - len(needed)
    assert (swept.total.objects, swept.total.tables, swept.total.arrays) == (gone, gone, 2 * gone)


def test_what_an_interrupted_build_has_paid_for_stays(tmp_path: Path, server: ScriptedServer) -> None:
    with corpus(tmp_path / "c", server, endpoint={"max_tokens_total": 12_000, "concurrency": 1}) as made:
        made.add(stories())
        with pytest.raises(BudgetExceeded):
            made.build()
        paid = len(server.done("extraction"))
        made.collect()
    server.reset()
    with corpus(tmp_path / "c", server) as made:
        made.build()
        assert paid > 0
        assert len(server.done("extraction")) == made.index().manifest.counts["chunks"] - paid


@pytest.mark.parametrize("read", [False, True])
def test_a_build_leaves_nothing_of_the_index_before_unless_somebody_reads_it(made: Corpus, read: bool) -> None:
    """What was paid for stays, and so does what documents, and the index of now, are made of."""
    before, was = made.store.ref("index") or "", made.index() if read else None
    graph, ties = read_manifest(made.store).graph, keys_of_ties(read_manifest(made.store), made.runtime())
    assert made.store.has(then := [before, graph, *ties]) == {*then}
    assert len(ties) == 2
    made.add(SECRET)
    made.build()
    assert made.store.has(then) == ({*then} if read else set())
    now = keys_of_ties(read_manifest(made.store), made.runtime())
    assert made.store.has(now) == {*now}
    assert len(now) == 2
    if was:
        assert [e.name for e in was.graph.entities]
    assert "Quorble" in made.query("Who is Zyx Quorble?", method="naive").text
    made.remove(SECRET.id)
    assert made.build().usage.calls == 0
    assert read_manifest(made.store).graph == graph


def test_documents_that_wait_for_a_build_keep_what_the_index_says_of_the_earlier_ones(
    made: Corpus, server: ScriptedServer
) -> None:
    made.remove("story-00")
    found = made.collect()
    assert "wait for a build" in found.notes[0]
    assert made.index().document("story-00").text
    made.build()
    assert server.done("extraction") == []


def test_an_index_with_the_parts_of_one_method_is_collected_as_it_is(tmp_path: Path, server: ScriptedServer) -> None:
    with corpus(tmp_path / "parts", server) as opened:
        opened.add(stories(2))
        opened.build(parts=("names",))
        opened.remove("story-00")
        opened.build(parts=())
        assert opened.collect().total.objects > 0
        assert opened.index().manifest.part_names == {"names"}
        assert server.done("extraction") == []


def test_an_index_of_other_settings_is_not_collected(made: Corpus, server: ScriptedServer) -> None:
    with (
        corpus(made.root, server, endpoint={"model": "another"}) as other,
        pytest.raises(SettingsError, match="sensegraph index"),
    ):
        other.collect()
    assert made.build().computed == {}


def test_replies_that_a_killed_build_left_are_not_thrown_away(made: Corpus) -> None:
    (made.store.root / "replies.jsonl").write_text(json.dumps({"key": "k", "reply": {}}) + "\n")
    with pytest.raises(StoreError, match="sensegraph index"):
        made.collect()


def test_a_build_that_runs_is_not_disturbed(made: Corpus) -> None:
    other = SqliteStore(made.store.root)
    with other.exclusive(), pytest.raises(StoreError, match="Another build"):
        made.collect()
    other.close()


# ── readers ──


def test_who_reads_the_index_that_went_is_told_and_asks_again(made: Corpus) -> None:
    with Corpus.open(made.root, create=False) as reader:
        old = Index(reader.store)
        entities = old.graph.entities
        vectors = old.vectors[:]
        mapped = old.vectors
        made.add(replace(stories()[0], text=story(0, 50)))
        made.build()
        made.collect()
        assert np.array_equal(mapped[:], vectors)  # what is mapped stays readable
        with pytest.raises(StoreError, match="Ask again"):
            list(entities)
        with pytest.raises(StoreError, match="Ask again"):
            entities[0]
        assert reader.index().document("story-00").text == story(0, 50)


def test_who_reads_the_index_of_now_does_not_notice(made: Corpus) -> None:
    with Corpus.open(made.root, create=False) as reader:
        index = reader.index()
        entities = index.graph.entities
        first = entities[0]
        made.query("Who paid?", method="graphrag")
        made.collect()
        assert entities[0] == first
        assert index.chunks(list(first.chunks)).keys() == set(first.chunks)


def test_a_question_whose_results_are_collected_while_it_is_asked_is_asked_again(
    made: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its answer is computed and written, then swept by another process, and only then read."""
    read, asked = Results._read, list[str]()

    def sweep_first(results: Results[object], keys: list[str], decode: Callable[[bytes], object]) -> list[object]:
        if results.step.name != "chunks.chunk":  # which are of the index, and stay
            asked.append(keys[0])
            if len(asked) == 1:
                made.collect()
        return read(results, keys, decode)

    monkeypatch.setattr(Results, "_read", sweep_first)
    assert made.query("Who paid?", method="walk").text
    assert asked.count(asked[0]) == 2


def test_what_was_heard_of_an_answer_is_not_told_twice(made: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    told = list[str]()

    class Broken:
        name = "broken"
        reads = frozenset[str]()

        def answer(self, question: object, index: object, rt: Runtime) -> NoReturn:
            assert rt.hear
            rt.hear("half an answer")
            raise ResultGone("a result is gone")

    monkeypatch.setattr(made.asker, "method", lambda *_, **__: (Broken(), None))
    with pytest.raises(ResultGone):
        made.query("Who paid?", hear=told.append)
    assert told == ["half an answer"]


def test_the_number_of_a_table_that_went_is_given_to_no_other(store: SqliteStore) -> None:
    """Else who still holds it would read another table's records without noticing."""
    store.write_rows("a", [("1", b"x")])
    store.write_rows("b", [("1", b"old")])
    held = store.rows("b")
    assert held is not None
    sweep_store(store, ["a"])
    store.write_rows("c", [("1", b"new")])
    for ask in (lambda: held.find(["1"]), lambda: held.at([0])):
        with pytest.raises(StoreError, match="gone from the store"):
            ask()
    sweep_store(store, ["a"])
    store.write_rows("d", [("1", b"newer")])
    with pytest.raises(StoreError, match="gone from the store"):
        held.find(["1"])
    assert store.has(["a", "b", "c", "d"]) == {"a", "d"}


def test_unfinished_arrays_of_killed_builds_go(store: SqliteStore) -> None:
    (store.root / "arrays" / "k.77.part").write_bytes(b"x")
    sweep_store(store, [])
    assert not list(store.root.glob("arrays/*"))


@pytest.mark.parametrize(
    ("before", "grown", "after", "swept", "kept"),
    [
        (0, 9_000_000, 0, False, 9_000_000),  # the first time it is only measured
        (4_000_000, 4_000_000, 0, False, None),
        (4_000_000, 3_000_000, 0, False, 3_000_000),
        (4_000_000, 6_000_000, 0, False, None),  # not by more than half
        (4_000_000, 6_000_001, 3_500_000, True, 3_500_000),
        (4_000_000, 6_000_001, 5_000_000, True, None),  # what is left has not grown by half
        (4_000_000, 9_000_000, 8_000_000, True, 8_000_000),
        (4_000_000, 9_000_000, None, True, 9_000_000),  # where it takes too long
        (1_000_000, 2_000_000, 0, False, 2_000_000),  # more than half, but little
        (1_000_000, 2_000_001, 900_000, True, 900_000),
    ],
)
def test_a_store_collects_by_itself_where_it_has_grown_by_half_and_enough(
    before: int, grown: int, after: int | None, swept: bool, kept: int | None
) -> None:
    asked: list[list[str]] = []

    def sweep(needed: object, *, spare: list[str]) -> SimpleNamespace:
        asked.append(spare)
        if after is None:
            raise TookTooLong("too long")
        return SimpleNamespace(after=after)

    refs = {"collected": str(before)} if before else {}
    ledger = {"paid": Usage(cost_usd=0.1), "called": Usage(calls=1), "read": Usage(embedding_tokens=5)}
    store = SimpleNamespace(
        settle=lambda: grown, ref=refs.get, set_refs=refs.update, ledger=lambda: ledger, sweep=sweep,
        exclusive=lambda wait: nullcontext(),
    )  # fmt: skip
    GarbageCollector(SimpleNamespace(store=store, wait=0.0), None).collect_grown()  # type: ignore[arg-type]
    assert asked == ([["paid", "called"]] if swept else [])
    assert refs == ({"collected": str(before if kept is None else kept)})
