"""What a document that was written later says of an earlier time, and dates that only bound when something was."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sensegraph.corpus.corpus import Corpus
from sensegraph.questions import Scope
from sensegraph.types import Document

TEXTS = {
    "2021-11-04": "Ruth Castell is the chief executive of Lowmere Ferries. Ruth Castell said that the landing must be "
    "finished no later than June 2022. Lowmere Ferries hopes to open a line to Arn after 2024.",
    "2022-08-15": "Idris Vaughan is the chief executive of Lowmere Ferries. Lowmere Ferries reported 33 vacancies, "
    "after 48 in April 2022. Since 2018 Lowmere Ferries has had nine ships.",
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    with Corpus.open(tmp_path_factory.mktemp("ferries")) as made:
        made.add(Document(time, text, time=time) for time, text in TEXTS.items())
        made.build()
        yield made


def test_a_document_says_nothing_of_an_earlier_time_but_where_it_states_a_date(corpus: Corpus) -> None:
    asked = "Who is the chief executive of Lowmere Ferries?"
    early = corpus.query(asked, scope=Scope(as_of="2022-03-01"))
    assert "Ruth Castell" in early.text
    assert "Vaughan" not in early.text
    assert {c.document for c in early.citations} == {"2021-11-04"}
    assert any("written later" in note and "1 document" in note for note in early.notes)
    late = corpus.query(asked, scope=Scope(as_of="2022-09-01"))
    assert "Idris Vaughan" in late.text
    assert not any("written later" in note for note in late.notes)
    ships = corpus.query("How many ships does Lowmere Ferries have?", scope=Scope(as_of="2020"))
    assert "nine ships" in ships.text
    hits = corpus.search("chief executive Lowmere", scope=Scope(as_of="2020"), top=9).passages
    assert hits
    assert not [p for p in hits if "chief executive" in p.text]


def test_a_bound_begins_nothing(corpus: Corpus) -> None:
    told = {e.text.split(".")[0]: e.when for e in corpus.timeline("Lowmere Ferries")}
    assert told == {
        "Since 2018 Lowmere Ferries has had nine ships": "since 2018",
        "Lowmere Ferries hopes to open a line to Arn after 2024": "not before 2025",
    }
    assert [c.what for c in corpus.changes("2017", "2030")] == ["began"]
