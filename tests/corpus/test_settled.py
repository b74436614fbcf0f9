"""A build with nothing to do ends at once; whatever could give it something to do lets it look at everything."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scripted import Script, ScriptedServer
from sensegraph.corpus import settled
from sensegraph.corpus.corpus import Corpus
from sensegraph.corpus.settled import SETTLED
from sensegraph.corpus.workspace import Builder
from sensegraph.engines.offline.engine import ClassicalEngine
from sensegraph.errors import StoreError
from sensegraph.resolution.aliases import Operation
from sensegraph.resolution.log import record_operations
from sensegraph.runtime.stores import sqlite
from sensegraph.runtime.stores.packs import delete_objects, write_objects
from sensegraph.types import Document
from wired import corpus, stories

OFFLINE: dict[str, Any] = {"engine": "offline", "processes": 1, "index": {"parts": ["graph", "reports"]}}


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows whenever a build looks at everything."""
    plain, found = Builder._build_anew, list[str]()

    def noted(self: Builder, *values: Any) -> Any:
        found.append("looked")
        return plain(self, *values)

    monkeypatch.setattr(Builder, "_build_anew", noted)
    return found


@pytest.fixture
def made(tmp_path: Path, looked: list[str]) -> Iterator[Corpus]:
    with Corpus.open(tmp_path, settings=OFFLINE) as opened:
        opened.add(stories(3))
        opened.build()
        looked.clear()
        yield opened


def test_a_second_build_ends_at_once_with_what_the_first_said(made: Corpus, looked: list[str]) -> None:
    manifest = made.manifest()
    again = made.build()
    assert looked == []
    assert manifest is not None
    assert (again.counts, again.clusters, again.notes) == (manifest.counts, manifest.clusters, manifest.notes)
    assert (again.computed, again.fates, again.left_out) == ({}, (), ())
    assert made.manifest() == manifest


def test_it_ends_at_once_in_another_process_too(made: Corpus, looked: list[str]) -> None:
    with Corpus.open(made.root, settings=OFFLINE) as other:
        other.build()
    assert looked == []


@pytest.mark.parametrize("asked", [{"fresh": True}, {"retry": True}, {"parts": ["graph", "reports", "names"]}])
def test_what_is_asked_for_is_done(made: Corpus, looked: list[str], asked: dict[str, Any]) -> None:
    made.build(**asked)
    assert looked == ["looked"]
    assert ("names" in made.index().manifest.parts) == ("parts" in asked)
    made.build()
    assert looked == ["looked"]


@pytest.mark.parametrize(
    "changed",
    [{"chunk_tokens": 300}, {"temporal": {"dates": False}}, {"clusters": {"max_cluster_size": 4}}],
    ids=["chunks", "dates", "clusters"],
)
def test_other_settings_are_followed(made: Corpus, looked: list[str], changed: dict[str, Any]) -> None:
    with Corpus.open(made.root, settings={**OFFLINE, "index": {**OFFLINE["index"], **changed}}) as other:
        other.build()
    assert looked == ["looked"]
    made.build()  # and back
    assert looked == ["looked"] * 2


def test_another_engine_embedder_or_program_looks_at_everything(
    made: Corpus, looked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Other(ClassicalEngine):
        def fingerprint(self, task: Any) -> str:
            return f"other {super().fingerprint(task)}"

    with Corpus.open(made.root, settings=OFFLINE, engine=Other()) as other:
        other.build()
    with Corpus.open(made.root, settings=OFFLINE, embedder=replace(made.embedder, dim=64)) as other:  # type: ignore[type-var]
        other.build()
    assert looked == ["looked"] * 2
    made.build()
    monkeypatch.setattr(settled, "_describe_program", lambda: [("new.py", 1, 1)])
    made.build()
    assert looked == ["looked"] * 4


def test_documents_and_decisions_about_names_are_followed(made: Corpus, looked: list[str]) -> None:
    made.add(Document("more", "Iris Fenwick lives in Delft."))
    made.build()
    made.remove("more")
    made.build()
    names = sorted({(e.name.casefold(), e.type) for e in made.index().graph.entities})[:2]
    record_operations(made.store, [Operation("", "merge", tuple(names))], "2024-01-01")
    made.build()
    assert looked == ["looked"] * 3


def test_what_was_lost_is_made_again(made: Corpus, looked: list[str]) -> None:
    words = made.index().words.score(["a"]).tobytes()
    next((made.root / ".sensegraph" / "arrays").glob("*.npy")).unlink()
    made.build()
    assert looked == ["looked"]
    made.store.forget([made.index().manifest.words])  # type: ignore[attr-defined]
    assert made.build().computed["words.words"] == 1
    assert looked == ["looked"] * 2
    with Corpus.open(made.root, settings=OFFLINE) as other:
        assert other.index().words.score(["a"]).tobytes() == words


def test_an_index_of_another_form_says_what_to_do(made: Corpus) -> None:
    words = made.index().manifest.words
    with made.store.writing() as db:  # type: ignore[attr-defined]
        delete_objects(db, [words])
        write_objects(db, {words: b"arrays"}, "words.words")
    with Corpus.open(made.root, settings=OFFLINE) as other, pytest.raises(StoreError, match="run `sensegraph index`"):
        other.query("Who wrote to whom?", method="bm25")


def test_a_store_that_was_left_whole_is_not_read_through_again(made: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    made.build()
    made.close()
    monkeypatch.setattr(sqlite, "mend_store", lambda store: pytest.fail("it was read through"))
    with Corpus.open(made.root, settings=OFFLINE) as other:
        assert other.build().counts["documents"] > 0


def test_replies_that_an_interrupted_build_left_are_taken_up(made: Corpus, looked: list[str]) -> None:
    (made.root / ".sensegraph" / "replies.jsonl").write_text("{}\n")
    made.build()
    assert looked == ["looked"]
    assert not made.workspace.journal.left_behind()


def test_what_was_set_aside_is_asked_for_by_every_build(tmp_path: Path, looked: list[str]) -> None:
    def garbled(body: Any) -> str | None:
        return "a list of names" if "the mark" in json.dumps(body.get("messages", [])) else None

    with ScriptedServer(Script(reply=garbled)) as server, corpus(tmp_path, server) as made:
        made.add(stories(8), Document("marked", "Iris Fenwick saw the mark in Delft."))
        assert len(made.build().left_out) == 1
        made.build()
        assert made.store.ref(SETTLED) is None
        server.script = Script()
        made.build()
        assert looked == ["looked"] * 3
        server.calls.clear()
        made.build()
        made.build()
        assert server.calls == []
        assert made.store.ref(SETTLED)
        assert len(looked) <= 4


@pytest.mark.parametrize(
    ("built", "foreign", "told"), [("b i", False, True), ("", False, False), ("b i", True, False), ("", True, False)]
)
def test_what_is_built_of_other_documents_or_by_other_packages_is_never_settled(
    monkeypatch: pytest.MonkeyPatch, built: str, foreign: bool, told: bool
) -> None:
    class Own:
        """A part of an index."""

    Own.__module__ = "other.parts" if foreign else "sensegraph.parts"
    tool = SimpleNamespace(name="n", tasks=["b", "a"], fingerprint=lambda *task: f"print {task}")
    store = SimpleNamespace(has=set, array_names=lambda: ["v"])
    monkeypatch.setattr(settled, "read_operations", lambda store: ["a decision"])
    space: Any = SimpleNamespace(
        store=store, built_state=lambda: built, tools=(tool, tool), chunker=None, manifest=lambda: None
    )
    settings: Any = SimpleNamespace(own_parts=(Own(),), key="k")
    first = settled.fingerprint_build(space, settings, "")
    assert bool(first) is told
    if told:
        made = SimpleNamespace(documents="d", graph="g", communities="c", hierarchy="h")
        other: dict[str, Any] = {
            "chunker": tool, "tools": (tool, replace_name(tool)), "manifest": lambda: made, "built_state": lambda: "b j"
        }  # fmt: skip
        changed = [SimpleNamespace(**(vars(space) | {name: value})) for name, value in other.items()]
        found = [settled.fingerprint_build(one, settings, "") for one in changed]
        found += [settled.fingerprint_build(space, settings, "lost"), first]
        found.append(settled.fingerprint_build(space, SimpleNamespace(own_parts=(), key="l"), ""))  # type: ignore[arg-type]
        assert len({*found}) == len(found) == 7


def replace_name(tool: SimpleNamespace) -> SimpleNamespace:
    return SimpleNamespace(**(vars(tool) | {"name": "other"}))


def test_the_program_is_known_by_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("b.py", "a.pyc", "deep/a.toml", "__init__.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x" * len(name))
        os.utime(tmp_path / name, ns=(1, len(name)))
    monkeypatch.setattr(settled.sensegraph, "__file__", str(tmp_path / "__init__.py"))
    settled._describe_program.cache_clear()
    found = settled._describe_program()
    settled._describe_program.cache_clear()
    assert found == [("__init__.py", 11, 11), ("b.py", 4, 4), ("deep/a.toml", 11, 11)]
