"""A corpus that follows its files (N92): plan, sync, and what is not touched."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from scripted import ScriptedServer
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import InputError
from sensegraph.types import Document
from wired import content, corpus, story


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "texts"
    (made / "more").mkdir(parents=True)
    for i in range(4):
        (made / f"{i}.txt").write_text(story(i, i))
    return made


@pytest.fixture
def made(tmp_path: Path, folder: Path, server: ScriptedServer) -> Iterator[Corpus]:
    with corpus(tmp_path / "corpus", server) as opened:
        opened.sync(folder)
        opened.build()
        server.reset()
        yield opened


def test_a_plan_tells_added_edited_renamed_and_removed_and_does_nothing(made: Corpus, folder: Path) -> None:
    (folder / "0.txt").unlink()
    (folder / "1.txt").write_text(story(1, 50))
    (folder / "2.txt").rename(folder / "more" / "two.txt")
    (folder / "4.txt").write_text(story(4, 4))
    before = made.document_keys()
    plan = made.plan(folder, estimate=True)
    assert (plan.added, plan.edited, plan.removed, plan.same) == (("4.txt",), ("1.txt",), ("0.txt",), ("3.txt",))
    assert plan.renamed == (("2.txt", "more/two.txt"),)
    assert plan.estimate is not None
    calls = {s.step: s.items for s in plan.estimate.steps}
    assert 0 < calls["extraction.extract"] <= 4  # two documents of about two chunks each
    assert made.document_keys() == before


def test_after_sync_the_index_equals_one_of_the_files_as_they_are(
    made: Corpus, folder: Path, tmp_path: Path, server: ScriptedServer
) -> None:
    (folder / "0.txt").unlink()
    (folder / "1.txt").write_text(story(1, 50))
    (folder / "2.txt").rename(folder / "more" / "two.txt")
    plan = made.plan(folder)
    assert made.sync(folder) == plan
    made.build(fresh=True)
    with corpus(tmp_path / "fresh", server) as other:
        other.add(folder)
        other.build()
        assert content(made) == content(other)
    assert made.plan(folder).same == ("1.txt", "3.txt", "more/two.txt")


def test_a_renamed_file_costs_no_call_and_citations_lead_to_its_new_name(
    made: Corpus, folder: Path, server: ScriptedServer
) -> None:
    (folder / "2.txt").rename(folder / "zwei.txt")
    assert made.sync(folder).renamed == (("2.txt", "zwei.txt"),)
    made.build()
    assert server.done("extraction") == []
    assert server.done("report") == []
    answer = made.query(story(2, 2).split(".")[0] + "?", method="naive")
    assert "zwei.txt" in {c.document for c in answer.citations}
    assert "2.txt" not in {c.document for c in answer.citations}


def test_of_equal_files_that_moved_each_is_one_rename_and_those_of_one_file_name_go_together(
    tmp_path: Path, server: ScriptedServer
) -> None:
    folder = tmp_path / "texts"
    (folder / "old").mkdir(parents=True)
    (folder / "new").mkdir()
    for name in ("a.txt", "b.txt"):
        (folder / "old" / name).write_text(story(1, 1))
    with corpus(tmp_path / "c", server) as made:
        made.sync(folder)
        (folder / "old" / "b.txt").rename(folder / "new" / "b.txt")
        (folder / "old" / "a.txt").rename(folder / "new" / "z.txt")
        assert made.sync(folder).renamed == (("old/a.txt", "new/z.txt"), ("old/b.txt", "new/b.txt"))
        assert list(made.document_keys()) == ["new/b.txt", "new/z.txt"]


def test_documents_that_came_from_elsewhere_stay(made: Corpus, folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "x.txt").write_text(story(3, 9))
    made.sync(other)
    made.add(Document("by-hand", story(0, 9)))
    (folder / "0.txt").unlink()
    assert made.sync(folder).removed == ("0.txt",)
    assert {"x.txt", "by-hand"} <= made.document_keys().keys()


def _unreadable(folder: Path) -> None:
    (folder / "0.txt").unlink()
    os.mkfifo(folder / "0.txt")


def _too_large(folder: Path) -> None:
    (folder / "0.txt").write_text("x" * 5000)


def _half_a_file_of_records(folder: Path) -> None:
    (folder / "0.txt").unlink()
    (folder / "records.jsonl").write_text('{"id": "r1", "text": "Ada Harrow paid Bram Harrow."}\n{"id": "r2", "te')


@pytest.mark.parametrize("spoil", [_unreadable, _too_large, _half_a_file_of_records])
def test_what_may_be_in_a_file_that_cannot_be_read_is_not_removed(
    tmp_path: Path, folder: Path, server: ScriptedServer, spoil: Callable[[Path], None]
) -> None:
    with corpus(tmp_path / "c", server, documents={"max_bytes": 4000}) as made:
        made.sync(folder)
        spoil(folder)
        plan = made.sync(folder)
        assert (plan.withheld, plan.removed) == (("0.txt",), ())
        assert plan.unread
        assert "0.txt" in made.document_keys()


def test_a_folder_that_is_empty_all_at_once_removes_nothing(made: Corpus, folder: Path, tmp_path: Path) -> None:
    """A disk that is not mounted looks like that."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "x.txt").write_text(story(3, 9))
    made.sync(folder, other)
    for file in folder.rglob("*"):
        file.unlink() if file.is_file() else None
    (folder / "more").rmdir()
    with pytest.raises(InputError, match="Nothing could be read"):
        made.sync(folder)
    assert len(made.sync(folder, other).withheld) == 4
    assert len(made.document_keys()) == 5


def test_a_decision_that_speaks_of_a_renamed_document_is_pointed_out(made: Corpus, folder: Path) -> None:
    (folder / "4.txt").write_text(story(0, 9))
    made.sync(folder)
    made.build()
    places = {e.name: sorted(set(made.index().documents_of(e.chunks).values())) for e in made.index().graph.entities}
    name, homes = max(places.items(), key=lambda x: len(x[1]))
    assert len(homes) > 1
    made.split(name, documents=[homes[0]])
    (folder / homes[0]).rename(folder / "elsewhere.txt")
    assert "operation 1" in made.plan(folder).notes[0]


def test_an_edit_of_metadata_alone_is_an_edit(tmp_path: Path, server: ScriptedServer) -> None:
    file = tmp_path / "d.jsonl"
    file.write_text('{"id": "a", "text": "Ada Harrow paid Bram Harrow.", "time": "1801"}\n')
    with corpus(tmp_path / "c", server) as made:
        made.sync(file)
        file.write_text('{"id": "a", "text": "Ada Harrow paid Bram Harrow.", "time": "1802"}\n')
        plan = made.sync(file)
        assert (plan.edited, plan.renamed) == (("a",), ())
        assert replace(next(iter(made.documents())), metadata=()).time.startswith("1802")
