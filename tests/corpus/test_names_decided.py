"""What is said of names that cannot be decided about so, and the operations that decisions are written as."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sensegraph.corpus import views
from sensegraph.corpus.corpus import Corpus
from sensegraph.corpus.names import NameDecisions
from sensegraph.errors import InputError
from sensegraph.index.manifest import read_manifest
from sensegraph.types import Document

SETTINGS = {"engine": "offline", "index": {"resolve": {"automatic": False}}}
TEXTS = (
    Document("one", "Ada Lovelace lives in Oslo. Ada Lovelace met Bo Holt in Oslo."),
    Document("two", "Ada Lovelace wrote to Bo Holt. Bo Holt lives in Bergen."),
    Document("three", "Bo Holt and Cleo Stone build ships in Bergen. Cleo Stone knows Oslo."),
)


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Corpus]:
    with Corpus.open(tmp_path / "c", settings=SETTINGS) as corpus:
        corpus.add(TEXTS)
        corpus.build()
        yield corpus


def decide(corpus: Corpus) -> NameDecisions:
    return corpus.names


def test_one_entity_is_neither_merged_with_itself_nor_kept_apart_from_itself(opened: Corpus) -> None:
    names = decide(opened)
    with pytest.raises(InputError, match="'Bo Holt', 'bo holt' are one entity already; name two that are not"):
        names.merge("Bo Holt", "bo holt")
    with pytest.raises(InputError, match="'Bo Holt' are one entity already"):
        names.merge("Bo Holt")
    with pytest.raises(InputError, match="'Bo Holt', 'Bo Holt' are one entity; `split` takes names out of it"):
        names.forbid("Bo Holt", "Bo Holt")
    assert names.operations() == ()


def test_two_entities_become_one_and_are_two_again(opened: Corpus) -> None:
    names = decide(opened)
    done = names.merge("Ada Lovelace", "Cleo Stone", called="A. C.")
    (operation,) = done.operations
    assert (operation.kind, operation.output) == ("merge", "A. C.")
    assert [name for name, _ in operation.names] == ["ada lovelace", "cleo stone"]
    assert done.entities == 1
    known = {e.name for e in opened.index().graph.entities}
    assert "A. C." in known
    assert not {"Ada Lovelace", "Cleo Stone"} & known
    with pytest.raises(InputError, match=r"'A\. C\.' was not merged from 'Bo Holt'; its names are 'ada lovelace', "):
        names.split("A. C.", ["Bo Holt"])
    with pytest.raises(InputError, match=r"Cannot split off every alias of 'A\. C\.'; keep at least one"):
        names.split("A. C.", ["Ada Lovelace", "Cleo Stone"])
    split = names.split("A. C.", ["Cleo Stone"], called="Cleopatra Stone")
    assert [o.kind for o in split.operations] == ["split", "rename"]
    assert "Cleopatra Stone" in {e.name for e in opened.index().graph.entities}
    for _ in range(3):
        names.undo()
    assert {"Ada Lovelace", "Cleo Stone"} <= {e.name for e in opened.index().graph.entities}
    assert names.operations()


def test_a_split_takes_aliases_or_documents_and_not_both_or_none(opened: Corpus) -> None:
    names = decide(opened)
    said = "Name the aliases ('bo holt') or documents to split off 'Bo Holt'."
    for others, documents in (((), ()), (("bo holt",), ("one",))):
        with pytest.raises(InputError) as raised:
            names.split("Bo Holt", others, documents=documents)
        assert str(raised.value) == said


def test_documents_are_split_off_under_a_name_that_is_free(opened: Corpus) -> None:
    names = decide(opened)
    with pytest.raises(InputError, match="'Cleo Stone' is not mentioned in 'one', 'two'; it is in 'three'"):
        names.split("Cleo Stone", documents=["one", "two", "three"])
    for every in (["three"], ["three", "three"]):
        with pytest.raises(InputError, match="Cannot split off every document of 'Cleo Stone'; keep at least one"):
            names.split("Cleo Stone", documents=every)
    with pytest.raises(InputError, match="There is an entity 'Ada Lovelace' already; choose another name"):
        names.split("Bo Holt", documents=["three"], called=" Ada Lovelace ")
    first = names.split("Bo Holt", documents=["three", "three"])
    assert [(o.kind, o.output, o.documents) for o in first.operations] == [("split", "Bo Holt (2)", ("three",))]
    assert "Bo Holt (2)" in {e.name for e in opened.index().graph.entities}
    second = names.split("Bo Holt", documents=["one"])
    assert second.operations[0].output == "Bo Holt (3)"


def test_a_new_name_is_given_and_its_blanks_are_cut(opened: Corpus) -> None:
    names = decide(opened)
    with pytest.raises(InputError, match="Say what 'Bo Holt' is to be called"):
        names.rename("Bo Holt", "  ")
    done = names.rename("Bo Holt", " Bob Holt ")
    assert [(o.kind, o.output) for o in done.operations] == [("rename", "Bob Holt")]
    assert (done.entities, done.relations, done.reports > 0) == (1, 0, True)
    known = {e.name: e.aliases for e in opened.index().graph.entities}
    assert "Bob Holt" in known
    assert "Bo Holt" not in known


def test_entities_that_are_kept_apart_are_written_down_by_their_first_names(opened: Corpus) -> None:
    names = decide(opened)
    (operation,) = names.forbid("Bo Holt", "Cleo Stone").operations
    assert (operation.kind, [name for name, _ in operation.names]) == ("forbid", ["bo holt", "cleo stone"])
    found = names.resolve()
    assert found.applied is None
    assert names.resolve(apply=True, ask=False).applied is None
    assert len(names.operations()) == 1


def test_what_was_found_of_names_is_shown_with_what_applying_it_did(opened: Corpus) -> None:
    names = decide(opened)
    found = names.resolve()
    shown = views.view_resolved(found)
    assert (shown["applied"], shown["compared"]) == (None, found.found.compared)
    done = names.merge("Ada Lovelace", "Cleo Stone", called="A. C.")
    applied = views.view_resolved(replace(found, applied=done))["applied"]
    assert applied == views.view_applied(done)
    (operation,) = applied["operations"]
    assert [one["name"] for one in operation["names"]] == ["ada lovelace", "cleo stone"]
    assert views.view_operations(names.operations())["operations"][0]["output"] == "A. C."
    assert views.view_documents([], 7) == {"documents": [], "found": 7}
    counts = {"documents", "indexed", "chunks", "entities", "relations", "claims", "clusters", "engine", "embedder"}
    status = views.view_status(opened.status(), None)
    assert counts <= set(status)
    assert (status["documents"], status["indexed"], "ids" in status) == (3, 3, False)
    assert views.view_status(opened.status(), ["one"])["ids"] == ["one"]


def test_where_a_text_says_of_the_same_names_the_same_nothing_is_asked_about_them_anew(tmp_path: Path) -> None:
    changed = (TEXTS[0], replace(TEXTS[1], text=TEXTS[1].text + "\n\n---\n"), TEXTS[2])
    added = (*changed, Document("four", "Ada Lovelace saw Dan Ferry in Oslo, and Dan Ferry saw Bergen."))
    steps = ("duplicates.candidates", "duplicates.sought", "ties.ties")
    with Corpus.open(tmp_path / "c", settings={"engine": "offline"}) as corpus:
        for texts, made in ((TEXTS, 1), (changed, 0), (added, 1)):
            corpus.add(texts)
            built = corpus.build()
            assert [built.computed.get(step, 0) for step in steps] == [made] * 3
            with Corpus.open(tmp_path / f"{len(texts)} {made}", settings={"engine": "offline"}) as fresh:
                fresh.add(texts)
                assert fresh.build().computed["ties.ties"] == 1
                assert read_manifest(fresh.store).graph == read_manifest(corpus.store).graph
