"""Documents of a corpus by name: what was not read is told with the next build, and what is not there is named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph import Corpus, Document
from sensegraph.corpus.sources import Plan, Sources
from sensegraph.corpus.workspace import Built
from sensegraph.documents.document_files import Skipped
from sensegraph.errors import InputError
from sensegraph.index.manifest import REF
from sensegraph.types import Usage

OFFLINE = {"engine": "offline", "embedder": "offline"}


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    with Corpus.open(tmp_path, settings=OFFLINE) as opened:
        yield opened


@pytest.mark.parametrize(("count", "more"), [(1, []), (20, []), (21, ["skipped 1 more, which `add` named"])])
def test_the_next_build_names_up_to_twenty_things_that_were_not_read(count: int, more: list[str]) -> None:
    nothing: Any = SimpleNamespace()
    sources = Sources(nothing, nothing)
    for number in range(count):
        sources.remember_skipped([Skipped(f"{number}.bin", "It is no text.")])
    built = Built({}, (), {}, Usage(), ("a note",))
    named = [f"skipped {number}.bin: It is no text." for number in range(min(count, 20))]
    assert sources.note_skipped(built).notes == (*named, *more, "a note")
    assert sources.note_skipped(built) is built  # it is said once


def test_of_documents_that_are_not_there_five_are_named_with_the_one_that_may_be_meant(corpus: Corpus) -> None:
    corpus.add(Document("harbour.txt", "The lamp is lit."), Document("other.txt", "The lamp is out."))
    with pytest.raises(InputError, match=r"^Not in the corpus: 'harbor.txt'; did you mean 'harbour.txt'\? `sensegraph"):
        corpus.remove("harbor.txt", "other.txt")
    with pytest.raises(
        InputError, match=r"^Not in the corpus: '0', '1', '2', '3', '4'; the corpus holds 2: `sensegraph"
    ):
        corpus.remove(*map(str, range(6)))
    assert list(corpus.document_keys()) == ["harbour.txt", "other.txt"]


def test_the_index_goes_with_the_last_document_and_not_before(corpus: Corpus) -> None:
    corpus.add(Document("a", "Ada keeps the lamp."), Document("b", "Bo keeps bees."))
    corpus.build()
    corpus.remove("a")
    assert corpus.store.ref(REF)
    corpus.remove("b")
    assert corpus.store.ref(REF) is None


def test_what_following_did_is_told_as_what_adding_does(corpus: Corpus) -> None:
    skipped = (Skipped("x", "It is no text."),)
    plan = Plan(("a",), ("b",), (("c", "d"),), ("e",), ("f",), skipped=skipped)
    added = plan.as_added()
    assert (added.new, added.changed, added.same, added.skipped) == (("a", "d"), ("b",), ("f",), skipped)


def test_files_that_changed_places_are_known_by_their_content_those_of_one_name_first(
    corpus: Corpus, tmp_path: Path
) -> None:
    files = tmp_path / "files"
    for name in ("one/a.txt", "one/b.txt"):
        (files / name).parent.mkdir(parents=True, exist_ok=True)
        (files / name).write_text("The lamp is lit.")
    corpus.sync(files)
    (files / "two").mkdir()
    (files / "one" / "b.txt").rename(files / "two" / "b.txt")
    (files / "one" / "a.txt").rename(files / "two" / "c.txt")
    plan = corpus.plan(files)
    assert plan.renamed == (("one/a.txt", "two/c.txt"), ("one/b.txt", "two/b.txt"))
    assert (plan.added, plan.removed, plan.edited) == ((), (), ())


def test_what_readers_of_an_index_before_hold_is_kept_and_of_now_it_is_kept_anyway(corpus: Corpus) -> None:
    corpus.add(Document("a", "Ada keeps the lamp."))
    corpus.build()
    first = corpus.workspace.index_key()
    corpus.store.pin(first, 600.0)
    assert corpus.garbage._held_elsewhere() == []
    corpus.add(Document("b", "Bo keeps bees."))
    corpus.build()
    held = corpus.garbage._held_elsewhere()
    assert first in held
    assert corpus.workspace.index_key() not in held


@pytest.mark.parametrize(
    ("paths", "gone"),
    [([""], ["a/x.txt", "ab/z.txt", "b/y.txt"]), (["a"], ["a/x.txt"]), (["a", "b"], ["a/x.txt", "b/y.txt"])],
)
def test_of_a_folder_that_is_followed_only_what_was_inside_the_paths_is_gone(
    tmp_path: Path, paths: list[str], gone: list[str]
) -> None:
    folder = tmp_path / "files"
    for name in ("a/x.txt", "a/kept.txt", "ab/z.txt", "ab/kept.txt", "b/y.txt", "b/kept.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"Of {name} Ada Finch wrote to Tom Reeve.")
    with Corpus.open(tmp_path / "corpus", settings={"engine": "offline", "embedder": "offline"}) as made:
        made.mirror.sync(folder, base=folder)
        for name in ("a/x.txt", "ab/z.txt", "b/y.txt"):
            (folder / name).unlink()
        plan = made.mirror.plan(*(folder / path for path in paths), base=folder)
        assert sorted(plan.removed) == gone
        assert (plan.withheld, plan.unread, plan.added) == ((), (), ())
