"""What a sub-question binds: the kind of thing that it asks for, and the names that sentences offer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sensegraph.corpus.corpus import Corpus
from sensegraph.index.index import Index
from sensegraph.methods.kag.question_steps import SaidSentence, find_values, kind_wanted, split_passages
from sensegraph.types import Document

TEXTS = (
    "Big Eyes is a film directed by Tim Burton and produced by Lynette Howell.",
    "Black Hawk Township lies in Jefferson County, Iowa, United States. It was founded on 3 May 1852 by 40 settlers.",
    "Tim Burton was married to Helena Carter in London in April.",
    "Jefferson County lies in Iowa. Iowa is a state of the United States.",
)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder: Path = tmp_path_factory.mktemp("binding")
    with Corpus.open(folder, settings={"engine": "offline", "index": {"parts": ["graph"]}}) as made:
        made.add([Document(f"d{i}", text) for i, text in enumerate(TEXTS)])
        made.build()
        yield made.index()


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("When was it founded?", "when"), ("How many settlers founded it?", "number"), ("Big Eyes director", "person"),
        ("Which county is it located in?", "place"), ("Who or what is the spouse of Tim?", "person"),
        ("What company published it?", "organization"), ("Which film did he make?", "work"), ("What is it?", ""),
    ],
)  # fmt: skip
def test_a_question_tells_the_kind_of_thing_that_it_asks_for(question: str, kind: str) -> None:
    assert kind_wanted(question) == kind


def first(question: str, text: str, index: Index, title: str = "", *, told: bool = False) -> str:
    found = find_values(question, split_passages([(title, text, 1.0)]), index, told=told)
    return found[0].value if found else ""


@pytest.mark.parametrize(
    ("question", "text", "value"),
    [
        ("Who or what is the director of Big Eyes?", TEXTS[0], "Tim Burton"),
        ("Who is the spouse of Tim Burton?", TEXTS[2], "Helena Carter"),
        ("Which county is Black Hawk Township located in?", TEXTS[1], "Jefferson County"),
        ("When was the township founded?", TEXTS[1], "1852-05-03"),
        ("How many settlers founded the township?", "It was founded by 40 settlers.", "40 settlers"),
    ],
)
def test_the_name_that_fits_the_question_comes_first(question: str, text: str, value: str, index: Index) -> None:
    assert first(question, text, index) == value


def test_a_name_of_the_question_is_no_answer_to_it(index: Index) -> None:
    found = find_values("Who directed Big Eyes with Tim Burton?", split_passages([("", TEXTS[0], 1.0)]), index)
    assert "Tim Burton" not in [c.value for c in found]
    assert found


def test_shares_sum_to_one_and_fall(index: Index) -> None:
    found = find_values("Which state is Black Hawk Township located in?", split_passages([("", TEXTS[1], 1.0)]), index)
    assert len(found) > 1
    assert sum(c.score for c in found) == pytest.approx(1)
    assert [c.score for c in found] == sorted((c.score for c in found), reverse=True)


def test_a_sentence_without_a_word_of_the_question_offers_nothing_unless_it_is_the_answer(index: Index) -> None:
    assert first("Zzyzx?", TEXTS[0], index) == ""
    assert first("Who made that?", "Tim Burton did.", index, told=True) == "Tim Burton"


def test_the_passage_titled_by_the_question_counts_more(index: Index) -> None:
    said = [
        SaidSentence("Tim Burton is its director.", 1.0, "Big Eyes (film)"),
        SaidSentence("Helena Carter is its director.", 1.2),
    ]
    found = find_values("Who is the director of Big Eyes?", said, index)
    assert found[0].value == "Tim Burton"


def test_nothing_said_offers_nothing(index: Index) -> None:
    assert find_values("Who?", [], index) == []
    assert split_passages([("t", "One. Two.", 0.5)]) == [SaidSentence("One.", 0.5, "t"), SaidSentence("Two.", 0.5, "t")]
