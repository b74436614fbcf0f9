"""What a build does besides the index: it collects where it is to, and estimates the methods that the index serves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.corpus.corpus import Corpus
from sensegraph.corpus.garbage import GarbageCollector
from sensegraph.corpus.settled import SETTLED
from sensegraph.corpus.workspace import Builder
from sensegraph.errors import SettingsError
from sensegraph.index import build as index_build
from sensegraph.index.graph.columns import forget_columns
from sensegraph.index.hierarchy import communities
from sensegraph.index.manifest import Manifest
from sensegraph.methods import load_method
from sensegraph.methods.auto import Able, rank_methods
from sensegraph.runtime import delegating, keys
from sensegraph.runtime.executors.processes import LocalExecutor
from sensegraph.types import Document, Graph

TEXTS = (
    Document("one", "Ada Lovelace lives in Oslo. Ada Lovelace met Bo Holt in Oslo."),
    Document("two", "Ada Lovelace wrote to Bo Holt. Bo Holt lives in Bergen."),
)
Made = Callable[..., Corpus]


@pytest.fixture
def make(tmp_path: Path) -> Made:
    """A corpus of the texts under these settings."""

    def opened(own: Any = None, **given: Any) -> Corpus:
        corpus = Corpus.open(tmp_path / "c", settings={"engine": "offline", **given}, method=own)
        corpus.add(TEXTS)
        return corpus

    return opened


@pytest.mark.parametrize("collects", [False, True])
def test_a_build_collects_only_where_it_is_set(make: Made, collects: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    with make(index={"collect": collects}) as corpus:
        monkeypatch.setattr(GarbageCollector, "collect_after", lambda self, before: asked.append("collect"))
        corpus.build()
        corpus.build()
    assert asked == ["collect"] * (2 * collects)


@pytest.mark.parametrize(
    ("table", "own", "names"),
    [
        ({"method": "auto"}, False, [rank_methods("plain", model=True)[0], "local", "graphrag"]),
        ({"method": "walk"}, False, ["walk", "local", "graphrag"]),
        ({"method": "local"}, False, ["local", "graphrag"]),
        ({"method": "walk"}, True, ["naive", "local", "graphrag"]),
        ({"method": "naive", "index": {"parts": []}}, False, ["naive"]),
        ({"method": "walk", "index": {"parts": []}}, False, []),
    ],
)
def test_what_a_question_costs_is_estimated_of_the_usual_method_and_two_more(
    make: Made, table: dict[str, Any], own: bool, names: list[str]
) -> None:
    with make(load_method("naive") if own else None, **table) as corpus:
        found = [method.name for method in corpus.builder._methods_of_interest()]
    assert found == names


@pytest.mark.parametrize("lack", ["", "lacking", "doubted"])
def test_a_build_is_settled_only_where_nothing_is_lacking(
    make: Made, lack: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with make() as corpus:
        build = corpus.builder._build_anew

        def build_with_lack(rt: Any, *given: Any) -> Any:
            found = build(rt, *given)
            if lack:
                held = getattr(rt, lack)
                held.append("it")
            return found

        monkeypatch.setattr(corpus.builder, "_build_anew", build_with_lack)
        corpus.build()
        assert bool(corpus.workspace.store.ref(SETTLED)) == (not lack)


def test_by_rules_no_model_is_at_hand_for_an_answer(make: Made) -> None:
    with make() as corpus:
        able = corpus.asker._able
        assert isinstance(able, Able)
        assert not able.model


def test_bounds_on_reports_ask_for_the_method_that_reads_them(make: Made) -> None:
    with make() as corpus:
        corpus.build()
        method, choice = corpus.asker.method("auto", "Who is Ada?", depth=0)
        assert method.name == "graphrag"
        assert choice
        assert (choice.method, choice.reason) == ("graphrag", "a depth was given")
        named, none = corpus.asker.method("walk", "Who is Ada?")
        assert (named.name, none) == ("walk", None)
        with pytest.raises(SettingsError):
            corpus.asker.method("walk", "Who is Ada?", nothing_such=1)


def test_of_documents_of_equal_content_each_is_found_under_one_new_name(tmp_path: Path) -> None:
    def named(*names: str) -> list[Document]:
        return [Document(name, "The seals of the bay sleep.") for name in names]

    with Corpus.open(tmp_path / "c", settings={"engine": "offline"}) as corpus:
        corpus.add([*named("a/x.txt", "a/y.txt", "a/z.txt"), Document("a/w.txt", "Another text.")])
        keys = corpus.workspace.document_keys()
        gone = ["a/w.txt", "a/x.txt", "a/y.txt", "a/z.txt"]
        found = corpus.mirror._renamed(gone, named("b/q.txt", "b/y.txt"), keys)
        assert found == [("a/x.txt", "b/q.txt"), ("a/y.txt", "b/y.txt")]
        found = corpus.mirror._renamed(gone, named("b/x.txt", "b/q.txt", "b/r.txt", "b/s.txt"), keys)
        assert found == [("a/x.txt", "b/x.txt"), ("a/y.txt", "b/q.txt"), ("a/z.txt", "b/r.txt")]
        assert corpus.mirror._renamed(gone[:1], named("b/x.txt"), keys) == []
        assert corpus.mirror._renamed([], named("b/x.txt"), keys) == []


@pytest.mark.parametrize(
    ("busy", "remains", "said"),
    [
        (False, "", []),
        (True, "", ["readers kept the store's log from being emptied: collect again when they are done"]),
        (False, "a file stays", ["a file stays"]),
        (True, "a file stays", ["readers kept", "a file stays"]),
    ],
)
def test_what_collecting_leaves_is_noted(
    make: Made, busy: bool, remains: str, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with make() as corpus:
        corpus.build()
        sweep = corpus.store.sweep
        asked: list[dict[str, Any]] = []

        def sweep_so(needed: Any, **given: Any) -> Any:
            asked.append(given)
            return replace(sweep(needed, **given), busy=busy, remains=remains)

        monkeypatch.setattr(type(corpus.store), "sweep", lambda _, needed, **given: sweep_so(needed, **given))
        notes = corpus.collect(dry=True).notes
        assert asked == [{"dry": True}]
        assert len(notes) == len(said)
        assert all(note.startswith(begin) for note, begin in zip(notes, said, strict=True))


def test_an_index_is_opened_after_its_documents_are_known_to_be_masked_as_now(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    space: Any = SimpleNamespace(open_pinned=lambda: said.append("opened") or "the index")
    privacy: Any = SimpleNamespace(require_masked_index=lambda: said.append("required"))
    assert Builder(space, privacy, None, None).index() == "the index"  # type: ignore[arg-type]
    assert said == ["required", "opened"]


@pytest.mark.parametrize("method", ["hybrid", "bm25", "local", "graphrag", "auto"])
@pytest.mark.parametrize("own", [None, "bm25", "local"])
def test_methods_of_interest_are_the_usual_one_and_those_of_entities_and_reports_each_once(
    tmp_path: Path, method: str, own: str | None
) -> None:
    given = {"engine": "offline", "method": method}
    with Corpus.open(tmp_path, settings=given, method=load_method(own) if own else None) as corpus:
        names = [m.name for m in corpus.builder._methods_of_interest()]
    usual = own or {"auto": rank_methods("plain", model=True)[0]}.get(method, method)
    assert names == [usual, *(name for name in ("local", "graphrag") if name != usual)]


def test_a_very_large_build_lets_go_what_it_can_read_again_and_gives_the_same_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone: list[int] = []

    def forget(graph: Graph) -> None:
        gone.append(len(graph.entities))
        forget_columns(graph)

    def build(name: str) -> Manifest | None:
        with Corpus.open(tmp_path / name, settings={"engine": "offline", "processes": 1}) as corpus:
            corpus.add(TEXTS)
            corpus.build()
            corpus.add(Document("three", "Bo Holt met Cy Lund in Bergen."))
            corpus.build()
            return corpus.manifest()

    for module in (index_build, communities):
        monkeypatch.setattr(module, "forget_columns", forget)
    plain = build("plain")
    assert gone == []
    monkeypatch.setattr(communities, "_LARGE", 0)
    monkeypatch.setattr(delegating, "VERY_MANY", 0)
    monkeypatch.setattr(keys, "_MANY", 1)
    assert build("large") == plain
    assert gone == [4, 4, 5, 5]  # for what stands beside the graph, and over it; communities are another process's


def test_an_update_of_very_many_documents_is_very_large_however_little_it_computes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []
    alone = LocalExecutor.run_alone

    def note(executor: LocalExecutor, *given: Any) -> Any:
        begun.append("begun")
        return alone(executor, *given)

    monkeypatch.setattr(LocalExecutor, "run_alone", note)
    with Corpus.open(tmp_path, settings={"engine": "offline", "processes": 1}) as corpus:
        corpus.add(TEXTS)
        corpus.build()
        corpus.add(Document("three", "Bo Holt met Cy Lund in Bergen."))
        monkeypatch.setattr(index_build, "VERY_MANY", len(TEXTS) + 1)
        corpus.build()
        assert begun == []
        corpus.add(Document("four", "Cy Lund met Di Moe in Bergen."))
        made = corpus.build()
        assert begun
        assert made.computed["extraction.observe"] == 1
        assert not any("process of its own" in note for note in made.notes)
