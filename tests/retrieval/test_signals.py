"""What a question shows: names, words for the whole, words that lead on, and what is only an example."""

from __future__ import annotations

from pathlib import Path

import pytest

from named import named
from sensegraph.corpus.corpus import Corpus
from sensegraph.index.index import Index
from sensegraph.retrieval import signals
from sensegraph.retrieval.signals import (
    asks_what_it_is,
    count_capital_runs,
    entities_named_in,
    keywords_of,
    named_in,
    names_in_question,
    relation_words,
    wholeness_signs,
    without_examples,
)
from sensegraph.types import Document, Question

SIX = "Amber Birch Cedar Dogwood Elder Fir"
KNOWN = [
    ("Harbour Council", "organization"),
    ("Port Ellery", "place"),
    ("Harbour Council of Port Ellery", "organization"),
    ("Ada Finch", "person"),
    ("Kevin", "person"),
    ("Scott", "person"),
    ("lantern", "concept"),
    ("brass lantern", "concept"),
    ("iPod", "product"),
    ("Q", "letter"),
    ("which", "band"),
    (SIX, "wood"),
    (f"Grey {SIX}", "wood"),
    ("李", "person"),
    ("李明", "person"),
    ("一二三四五六七八九十百千", "place"),
    ("万一二三四五六七八九十百千", "place"),
    ("Jordan", "river"),
    ("Jordan", "Country"),
    ("beacon", "concept"),
    ("beacon", "ship"),
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return named(tmp_path_factory.mktemp("named"), KNOWN)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Did Ada Finch lead the Harbour Council of Port Ellery?", ["Ada Finch", "Harbour Council of Port Ellery"]),
        ("Is Port Ellery led by the Harbour Council?", ["Port Ellery", "Harbour Council"]),
        ("Is there a Q, and which?", []),  # a letter alone and a function word alone are no names
        (f"Where is {SIX}?", [SIX]),
        (f"Where is Grey {SIX}?", [SIX]),  # of seven words none is looked for
        ("Is it Ada Finch's?", ["Ada Finch"]),
        ("李明是谁？", ["李明"]),
        ("李是谁？", []),
        ("在一二三四五六七八九十百千", ["一二三四五六七八九十百千"]),
        ("在万一二三四五六七八九十百千", ["一二三四五六七八九十百千"]),  # of thirteen characters none is looked for
        ("Ada Finch met Ada Finch", ["Ada Finch", "Ada Finch"]),
    ],
)
def test_names_stand_in_the_order_of_the_text_and_of_overlapping_ones_the_longest(
    text: str, found: list[str], index: Index
) -> None:
    assert [index.lookups.name(place) for place in entities_named_in(text, index)] == found


def test_a_name_is_named_once_also_before_a_possessive(index: Index) -> None:
    found = named_in("Is Ada Finch's lantern Ada Finch's, or Ada Finch's Harbour Council's?", index)
    assert [index.lookups.name(place) for place in found] == ["Ada Finch", "lantern", "Harbour Council"]


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Where does Kevin Scott live?", [("Kevin Scott", 11, True)]),
        ("Where do Kevin and Scott live?", [("Kevin", 9, True), ("Scott", 19, True)]),
        ("Did Scott, Kevin live?", [("Scott", 4, True), ("Kevin", 11, True)]),
        ("Who is kevin?", [("kevin", 7, False)]),
        ("who is ada  finch?", [("ada  finch", 7, True)]),  # all is in lower case: two words may be a name
        ("who is kevin?", [("kevin", 7, False)]),
        ("Who is ada finch?", [("ada finch", 7, False)]),
        ("Who lit the Lantern?", [("Lantern", 12, True)]),
        ("Who lit the lantern?", [("lantern", 12, False)]),
        ('"Lantern" or lamp, and who is asking about that?', [("Lantern", 1, True)]),
        ("Lantern or lamp, and who is asking about that?", [("Lantern", 0, False)]),  # a first word is always capital
        ("Wer hat die Lantern gesehen und wem gehört sie?", [("Lantern", 12, False)]),  # so is a German noun
        ("Who lit the brass lantern of kevin?", [("brass lantern", 12, False), ("kevin", 29, False)]),
        ("李明是谁？", [("李明", 0, True)]),
        ("Where is Jordan?", [("Jordan", 9, True)]),
        ("Who saw the beacon?", [("beacon", 12, True)]),  # one of two that bear it is a name
    ],
)
def test_a_name_in_a_question_is_proper_where_its_writing_shows_it(
    question: str, names: list[tuple[str, int, bool]], index: Index
) -> None:
    found = names_in_question(question, index)
    assert [(n.surface, n.start, n.proper) for n in found] == names
    assert all(question[n.start : n.end] == n.surface for n in found)


def test_a_name_of_several_things_has_all_of_them_and_their_types(index: Index) -> None:
    (jordan,) = names_in_question("Where is Jordan?", index)
    assert (len(jordan.entities), jordan.types) == (2, ("country", "river"))
    (both,) = names_in_question("Where is Kevin Scott?", index)
    assert [e.name for e in both.entities] == ["Kevin", "Scott"]


def test_without_a_graph_a_question_has_no_names(tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings={"engine": "offline", "index": {"parts": []}}) as made:
        made.add(Document("note", "The door was green."))
        made.build()
        assert names_in_question("Who is Ada Finch?", made.index()) == []


def test_a_known_word_is_a_name_only_with_a_capital_unless_the_question_has_none(index: Index, built: Corpus) -> None:
    def low(text: str) -> list[str]:
        found = keywords_of(Question(text), index, built.runtime(), refined=False)
        assert len(found.low) == len(found.called)
        return [f"{name} {len(places)}" for name, places in zip(found.low, found.called, strict=True)]

    assert low("who is kevin?") == ["Kevin 1"]
    assert low("is kevin at Port Ellery?") == ["Port Ellery 1"]
    assert low("Who is kevin?") == ["Kevin 1"]  # the first word is no sign
    assert low("Where is Jordan?") == ["Jordan 2"]
    assert low("Did Otto von Hagen see The Greta Moor's?") == ["Otto von Hagen 0", "Greta Moor 0"]
    assert low("Is it the Council?") == ["Council 0"]
    assert low("Is it the Harbour Council, or the Council?") == ["Harbour Council 1"]  # the shorter is the longer one


def test_themes_are_what_no_name_holds(index: Index, built: Corpus) -> None:
    def high(text: str) -> tuple[str, ...]:
        return keywords_of(Question(text), index, built.runtime(), refined=False).high

    assert high("What did Ada Finch repair at the old mill?") == ("repair old mill",)
    assert high("Who is Ada Finch?") == ()
    assert high("What of the x plan?") == ("plan",)  # a letter is no theme
    assert high("Which lantern did Ada Finch sell?") == ("lantern", "lantern sell")
    assert keywords_of(Question("?"), index, built.runtime(), refined=False).high == ("?",)


@pytest.mark.parametrize(
    ("question", "weight"),
    [
        ("What are the recurring themes?", 2.0),
        ("Which companies are mentioned in the summary?", 2.0),
        ("Who keeps the lamp?", 0.0),
        ("Which views are discussed?", 1.0),
        ("Who is it, such as those in the summary?", 0.0),
    ],
)
def test_a_word_for_the_whole_counts_one_and_a_hint_half(question: str, weight: float) -> None:
    assert wholeness_signs(question)[0] == weight
    assert bool(wholeness_signs(question)[1]) == (weight > 0)


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("Who is Kevin?", True),
        ("What is known about Kevin?", True),
        ("Describe Kevin.", True),
        ("Who is Kevin's clerk?", False),
        ("Where is Kevin?", False),
    ],
)
def test_a_question_asks_what_something_is_or_for_a_detail_of_it(question: str, asks: bool, index: Index) -> None:
    (name,) = names_in_question(question, index)
    assert asks_what_it_is(question, name) == asks


def test_examples_are_blanked_out_and_every_other_character_stays() -> None:
    question = "Which firms, such as Contoso or Moss, are large?"
    left = without_examples(question)
    assert len(left) == len(question)
    assert left.split() == ["Which", "firms,", ",", "are", "large?"]
    assert without_examples("Who is it?") == "Who is it?"


@pytest.mark.parametrize(
    ("question", "runs"),
    [
        ("Which topic did Greta Halvorsen choose for Oslo?", 2),
        ("Which firms, such as Contoso, are what Greta chose?", 1),
        ("Greta chose what?", 0),
        ("Was hat die Frau mit dem Haus in Oslo gemacht?", 0),
    ],
)
def test_runs_of_capitals_are_counted_but_not_in_german(question: str, runs: int) -> None:
    assert count_capital_runs(question) == runs


def test_words_that_lead_from_one_thing_to_another() -> None:
    assert relation_words("What do Ada and Bo have in common?") == ["in common"]
    assert relation_words("Compare Ada with Bo.") == ["Compare"]
    assert relation_words("Who keeps the lamp?") == []


@pytest.mark.parametrize(
    ("text", "known", "common"),
    [
        ("where stood kevin", ["Kevin"], []),
        ("Where stood kevin", ["Kevin"], []),
        ("where Stood kevin", [], ["Kevin"]),
        ("where stood kevin Then", [], ["Kevin"]),
        ("where Stood Kevin", ["Kevin"], []),
        ("where Stood ada finch", ["Ada Finch"], []),
    ],
)
def test_a_known_word_without_a_capital_is_a_name_where_the_text_has_none(
    text: str, known: list[str], common: list[str], index: Index
) -> None:
    low, nouns = signals._split_names(text, index)
    assert [name for name, places in low.items() if places] == known
    assert nouns == common
