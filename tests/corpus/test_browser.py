"""What is read of an index without a question: documents by their state, parts of texts, entities, stored facets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph import Corpus, Document
from sensegraph.corpus import browser
from sensegraph.corpus.browser import Browser
from sensegraph.errors import InputError, NotIndexed

OFFLINE = {"engine": "offline", "embedder": "offline"}
KEEPER = "Ada Finch keeps the lighthouse of Skerry Point. Tom Reeve wrote to Ada Finch."
STORM = "A storm broke the lamp of Skerry Point. Tom Reeve sailed there from Port Ellery."


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    with Corpus.open(tmp_path, settings=OFFLINE) as opened:
        opened.add(
            Document("keeper", KEEPER, "The Keeper", (("year", 2020),), "2020-05-01"),
            Document("copy", KEEPER),
            Document("storm", STORM),
        )
        yield opened


def test_documents_are_new_until_they_are_indexed_and_then_say_what_became_of_them(corpus: Corpus) -> None:
    rows, found = corpus.browser.documents()
    assert [(r.id, r.title, r.time, r.metadata, r.entities, r.state, r.same_as) for r in rows] == [
        ("copy", "", "", (), 0, "new", ""),
        ("keeper", "The Keeper", "2020-05-01", (("year", 2020),), 0, "new", ""),
        ("storm", "", "", (), 0, "new", ""),
    ]
    assert found == 3
    assert corpus.browser.indexed_at() == ""
    corpus.build()
    rows, found = corpus.browser.documents()
    assert [(r.id, r.state, r.same_as) for r in rows] == [
        ("copy", "indexed", ""),
        ("keeper", "indexed", "copy"),
        ("storm", "indexed", ""),
    ]
    assert rows[1].entities == rows[0].entities > 0
    corpus.remove("copy")
    corpus.add(Document("storm", STORM + " It was dark."), Document("late", "Bo keeps bees.", "The Keeper of Bees"))
    rows, found = corpus.browser.documents()
    assert [(r.id, r.state) for r in rows] == [
        ("copy", "removed"), ("keeper", "indexed"), ("late", "new"), ("storm", "changed"),
    ]  # fmt: skip
    assert found == 4


def test_documents_are_listed_from_any_place_and_found_by_id_or_title(corpus: Corpus) -> None:
    def listed(sought: str = "", **more: int) -> tuple[list[str], int]:
        rows, found = corpus.browser.documents(sought, **more)
        return [r.id for r in rows], found

    assert listed("keeper") == (["keeper"], 1)
    corpus.build()
    corpus.add(Document("late", "Bo keeps bees.", "The Keeper of Bees"))
    assert listed(limit=2) == (["copy", "keeper"], 4)
    assert listed(first=1, limit=2) == (["keeper", "late"], 4)
    assert listed(first=3) == (["storm"], 4)
    assert listed(first=4) == ([], 4)
    assert listed("THE keeper") == (["keeper"], 1)  # what is new is found by its id alone
    assert listed("LATE") == (["late"], 1)
    assert listed("o") == (["copy", "storm"], 2)
    assert corpus.browser.indexed_at() > "2020"


def test_a_part_of_a_document_lies_inside_its_text(corpus: Corpus) -> None:
    with pytest.raises(NotIndexed):
        corpus.browser.document("keeper")
    corpus.build()

    def part(**span: int | None) -> tuple[str, int, int, int]:
        page = corpus.browser.document("keeper", **span)  # type: ignore[arg-type]
        return page.text, page.start, page.end, page.length

    size = len(KEEPER)
    assert part() == (KEEPER, 0, size, size)
    assert part(start=4, end=9) == ("Finch", 4, 9, size)
    assert part(start=-5, end=3) == ("Ada", 0, 3, size)
    assert part(start=size - 6, end=size + 9) == ("Finch.", size - 6, size, size)
    assert part(start=9, end=4) == ("", 9, 9, size)
    assert part(start=size + 9) == ("", size, size, size)
    page = corpus.browser.document("keeper")
    assert (page.pages, page.mentions, page.entities) == (None, None, None)
    named = corpus.browser.document("keeper", mentions=True)
    assert named.mentions
    assert named.entities
    assert "Ada Finch" in {e.name for e in named.entities}


def test_entities_of_a_type_are_found_in_any_case_and_one_name_of_several_is_asked_for_its_type(corpus: Corpus) -> None:
    corpus.build()
    every = corpus.browser.entities()
    people = corpus.browser.entities(type="PERSON")
    assert {e.name for e in people} == {"Ada Finch", "Tom Reeve"}
    assert corpus.browser.entities(type="person") == people == [e for e in every if e.type == "person"]
    assert [(-e.degree, e.name) for e in every] == sorted((-e.degree, e.name) for e in every)
    rows, found = corpus.browser.entity_rows("e", type="Person")
    assert ([r.name for r in rows], found) == (["Tom Reeve"], 1)
    rows, found = corpus.browser.entity_rows(first=1, limit=1)
    assert ([r.name for r in rows], found) == ([every[1].name], len(every))
    assert corpus.browser.entity_rows("finch")[0][0].name == "Ada Finch"
    assert corpus.browser.entity_rows("finch", type="place") == ([], 0)
    with pytest.raises(InputError, match="Ada Finhc"):
        corpus.browser.entities("Ada Finhc")


def test_what_patterns_are_matched_with_is_stored_by_the_first_query_alone(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus.build()

    def stored() -> int:
        with corpus.store.exclusive():
            swept = corpus.store.sweep(set(), dry=True).by_step
        return sum(n.objects for step, n in swept.items() if "facets" in step)

    assert stored() == 0
    first = corpus.match("(a:person)-[r]-(b)")
    kept = stored()
    assert first.rows
    assert kept > 0
    assert corpus.match("(a:person)-[r]-(b)") == first
    assert stored() == kept
    corpus.add(Document("late", "Ada Finch met Bo Quill in Port Ellery."))
    corpus.build()
    monkeypatch.setattr(corpus.store, "readonly", True)  # as of a disk that cannot be written
    assert len(corpus.match("(a:person)-[r]-(b)").rows) > len(first.rows)
    monkeypatch.undo()
    assert stored() == kept


def test_an_index_is_as_old_as_the_last_that_came_or_went(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(known_from: str, known_to: str = "") -> SimpleNamespace:
        return SimpleNamespace(known_from=known_from, known_to=known_to)

    made = Browser(SimpleNamespace(store=None), SimpleNamespace())  # type: ignore[arg-type]
    arrivals = {"a": [version("2024-03-01"), version("2024-01-01", "2024-03-01")], "b": [version("2024-02-01")]}
    for found, newest in (
        (arrivals, "2024-03-01"),
        (arrivals | {"c": [version("2024-01-01", "2024-05-01")]}, "2024-05-01"),
        ({}, ""),
    ):
        monkeypatch.setattr(browser, "read_arrivals", lambda store, found=found: found)
        assert made.indexed_at() == newest


def test_what_is_made_of_an_index_is_made_once_for_each_name_and_anew_for_another_index() -> None:
    current, made = ["one"], list[str]()
    reader = Browser(SimpleNamespace(), SimpleNamespace(index=lambda: current[0]))  # type: ignore[arg-type]

    def compute(index: Any) -> str:
        made.append(index)
        return f"of {index}"

    assert [reader._keep("a", compute), reader._keep("a", compute), reader._keep("b", compute)] == ["of one"] * 3
    assert made == ["one", "one"]
    current[0] = "two"
    assert [reader._keep("a", compute), reader._keep("a", compute)] == ["of two"] * 2
    assert made == ["one", "one", "two"]
