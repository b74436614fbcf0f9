"""The ground that the parts of a corpus stand on: tools that are given or made, what they spent, what waits."""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.corpus.corpus import Corpus
from sensegraph.corpus.settings import Settings
from sensegraph.corpus.tools import _remote_tools
from sensegraph.corpus.workspace import STATE, GivenTools, Workspace
from sensegraph.errors import InputError
from sensegraph.index.chunks import chunk_documents
from sensegraph.index.index import keep_documents
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.runtime.executors.processes import LocalExecutor
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Document, Usage

SIZES = {"size": 600, "overlap": 100}
OFFLINE = {"engine": "offline", "embedder": "offline", "index": {"parts": []}}


def workspace(folder: Path, given: GivenTools | None = None) -> Workspace:
    return Workspace(folder, Settings(engine="offline"), SqliteStore(folder), lambda step, done, total: None, given)


def spent(calls: int, *notes: str) -> Any:
    return SimpleNamespace(usage=lambda: Usage(calls, seconds=0.5), notes=lambda: notes)


def test_tools_that_are_given_are_taken_and_others_made_on_first_use(tmp_path: Path) -> None:
    plain = workspace(tmp_path)
    assert (plain.chunker, plain.reranker, plain.engine.name, plain.wait) == (None, None, "offline", 0.0)
    assert plain.tools is plain.tools
    chunker, reranker, engine, embedder = (spent(i) for i in range(4))
    made = workspace(tmp_path, GivenTools(engine, embedder, reranker, chunker, executor := LocalExecutor(1, 1)))
    assert (made.chunker, made.reranker, made.tools) == (chunker, reranker, (engine, embedder))
    assert made.runtime().executor is executor
    assert (made.runtime().reranker, made.asking_runtime().reranker) == (None, reranker)
    assert (made.runtime().chunker, made.runtime().engine) == (chunker, engine)


def test_what_tools_spent_is_added_up_without_making_any(tmp_path: Path) -> None:
    made = workspace(tmp_path, GivenTools(spent(1), spent(2), spent(4)))
    assert made.usage() == Usage(3, seconds=1.0)
    assert made.reranker is not None
    assert made.usage() == Usage(7, seconds=1.5)


def test_what_an_engine_has_noted_since_is_told(tmp_path: Path) -> None:
    made = workspace(tmp_path, GivenTools(spent(1, "one", "two", "three"), spent(2)))
    assert made.notes_since(()) == ("one", "two", "three")
    assert made.notes_since(("two", "zero")) == ("one", "three")


@pytest.mark.parametrize(
    ("engine", "embedder", "model", "vectors", "remote"),
    [
        ("auto", "auto", "m", "v", (True, True)),
        ("auto", "auto", "m", "", (True, False)),
        ("auto", "auto", "", "v", (False, True)),
        ("offline", "auto", "m", "v", (False, False)),
        ("offline", "endpoint", "m", "v", (False, True)),
        ("model", "offline", "", "v", (True, False)),
        ("local", "auto", "m", "v", (False, True)),
    ],
)
def test_who_speaks_to_the_endpoint(
    engine: str, embedder: str, model: str, vectors: str, remote: tuple[bool, bool]
) -> None:
    table = EndpointSettings(model=model, embedding_model=vectors)
    assert _remote_tools(Settings(engine=engine, embedder=embedder, endpoint=table)) == remote


# ── documents and files ──


def write(folder: Path, **texts: str) -> None:
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text)


def test_what_is_new_changed_the_same_and_waits_is_told_apart(tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings=OFFLINE) as made:
        first = made.add(Document("a", "One."), [Document("b", "Two.")])
        assert (first.new, first.changed, first.same) == (("a", "b"), (), ())
        made.build()
        again = made.add(Document("a", "One."), Document("b", "Two, changed."), Document("c", "Three."))
        assert (again.new, again.changed, again.same) == (("c",), ("b",), ("a",))
        assert made.workspace.pending() == ["b", "c"]
        made.remove("a")
        assert made.workspace.pending() == ["a", "b", "c"]
        with pytest.raises(InputError, match="Not in the corpus: 'x'"):
            made.remove("b", "x")
        assert list(made.document_keys()) == ["b", "c"]
        made.remove("b", "c")
        assert made.manifest() is None


def test_files_that_came_changed_moved_and_went_are_told_apart(tmp_path: Path) -> None:
    files = tmp_path / "files"
    write(files, kept="The same.", edited="Before.", moved="It moves.", gone="It goes.")
    with Corpus.open(tmp_path / "corpus", settings=OFFLINE) as made:
        made.sync(files)
        made.add(Document("elsewhere", "From elsewhere."))
        write(files, edited="After.", added="New.", away="It moves.")
        for name in ("moved", "gone"):
            (files / f"{name}.txt").unlink()
        plan = made.plan(files)
        assert (plan.added, plan.edited) == (("added.txt",), ("edited.txt",))
        assert plan.renamed == (("moved.txt", "away.txt"),)
        assert (plan.removed, plan.same, plan.withheld, plan.unread) == (("gone.txt",), ("kept.txt",), (), ())
        assert made.sync(files) == plan
        assert sorted(made.document_keys()) == ["added.txt", "away.txt", "edited.txt", "elsewhere", "kept.txt"]
        for path in files.iterdir():
            path.unlink()
        with pytest.raises(InputError, match="Nothing could be read from"):
            made.plan(files)
        assert len(made.document_keys()) == 5


def test_of_equal_files_that_moved_those_of_one_name_belong_together(tmp_path: Path) -> None:
    files = tmp_path / "files"
    for name in ("a", "b"):
        (files / name).mkdir(parents=True)
    write(files / "a", one="Equal.", two="Equal.")
    with Corpus.open(tmp_path / "corpus", settings=OFFLINE) as made:
        made.sync(files)
        for name in ("one", "two"):
            os.rename(files / "a" / f"{name}.txt", files / "b" / f"{name}.txt")
        assert made.plan(files).renamed == (("a/one.txt", "b/one.txt"), ("a/two.txt", "b/two.txt"))


def test_what_was_computed_for_documents_that_wait_is_kept_and_for_those_that_are_gone_is_not(tmp_path: Path) -> None:
    one, two, three = (Document(name, f"{name} is a text of its own.") for name in ("one", "two", "three"))
    with Corpus.open(tmp_path, settings=OFFLINE) as made:

        def missing(document: Document) -> int:
            rt = made.runtime()
            return len(rt.missing(chunk_documents, [document], names=rt.keys(keep_documents, [document]), **SIZES))

        made.add(one)
        made.build()
        made.add(two)
        made.estimate(three)  # cuts what waits, and what was never added
        assert [missing(d) for d in (one, two, three)] == [0, 0, 0]
        found = made.collect()
        assert found.notes[0].startswith("documents wait for a build")
        assert [missing(d) for d in (one, two, three)] == [0, 0, 1]
        assert (found.dry, found.operations, made.collect(dry=True).dry) == (False, 0, True)


def test_an_index_that_is_asked_is_pinned_once_in_a_minute_and_another_one_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pins, clock = list[tuple[str, float]](), [1000.0]
    monkeypatch.setattr(SqliteStore, "pin", lambda self, name, seconds: pins.append((name, seconds)))
    monkeypatch.setattr(
        "sensegraph.corpus.workspace.time", SimpleNamespace(monotonic=lambda: clock[0], perf_counter=time.perf_counter)
    )
    with Corpus.open(tmp_path, settings=OFFLINE) as opened:
        opened.add(Document("a", "Ada keeps the lamp."))
        opened.build()
        pins.clear()
        space = opened.workspace
        first = space.index_key()
        assert space.open_pinned() is space.open_pinned()
        assert pins == [(first, 600.0)]
        clock[0] += 60.0
        space.open_pinned()
        assert len(pins) == 1
        clock[0] += 0.5
        space.open_pinned()
        assert pins == [(first, 600.0)] * 2
        opened.add(Document("b", "Bo keeps bees."))
        opened.build()
        pins.clear()
        assert space.open_pinned().manifest == space.manifest()
        assert pins == [(space.index_key(), 600.0)]
        assert space.index_key() != first
        monkeypatch.setattr(space.store, "readonly", True)
        clock[0] += 100.0
        space.open_pinned()
        assert len(pins) == 1


def test_a_reranker_that_asks_the_engine_is_not_counted_twice(tmp_path: Path) -> None:
    engine, embedder = spent(1), spent(10)
    own, shared = spent(100), SimpleNamespace(usage=lambda: Usage(100), engine=engine)
    for reranker, calls in ((own, 111), (shared, 11)):
        space = workspace(tmp_path, GivenTools(engine, embedder, reranker))
        assert space.usage().calls == 11  # nobody has asked for the reranker
        assert space.reranker is reranker
        assert space.usage().calls == calls


def test_what_waits_is_looked_for_once_for_each_state_of_the_documents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Corpus.open(tmp_path, settings=OFFLINE) as opened:
        space, looked = opened.workspace, list[int]()
        usual = space.document_keys
        monkeypatch.setattr(space, "document_keys", lambda: looked.append(1) or usual())
        opened.add(Document("a", "Ada keeps the lamp."))
        looked.clear()
        assert [space.pending(), space.pending(), len(looked)] == [["a"], ["a"], 1]
        opened.add(Document("b", "Bo keeps bees."))
        assert space.pending() == ["a", "b"]
        opened.build()
        looked.clear()
        assert space.built_state()
        assert [space.pending(), len(looked)] == [[], 0]  # nothing is read for that
        opened.remove("a")
        assert space.built_state() == ""
        assert space.pending() == ["a"]
        space.store.set_refs({STATE: None})  # as a corpus of before has none
        looked.clear()
        assert [space.pending(), space.pending(), len(looked)] == [["a"], ["a"], 2]


def test_what_was_damaged_is_told_once_and_looked_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked = list[int]()

    def mend(_: SqliteStore) -> int:
        looked.append(1)
        return 3

    monkeypatch.setattr(SqliteStore, "mend", mend)
    with Corpus.open(tmp_path, settings=OFFLINE) as made:
        made.add(Document("a", "Ada Finch keeps the lighthouse."))
        told = "3 things in the store were damaged, and were computed again or read anew"
        assert made.build().notes[:1] == (told,)
        assert told not in made.build().notes
    assert looked == [1]
    one = workspace(tmp_path)
    with workspace(tmp_path).store.exclusive():  # somebody builds
        one.mend_store()
    assert (one.mended, looked) == (0, [1])
    one.mended = 4
    one.mend_store()
    one.mend_store()
    assert (one.mended, looked) == (7, [1, 1])
