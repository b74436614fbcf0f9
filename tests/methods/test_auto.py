from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import pytest

from named import named, rows
from sensegraph.corpus.corpus import Corpus
from sensegraph.index.index import Index
from sensegraph.methods.auto import Choice, Kind, choose_method
from sensegraph.retrieval.signals import names_in_question, wholeness_signs
from sensegraph.types import Document

HERE = Path(__file__).parent
LABELLED = rows(HERE / "router.tsv")


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return named(tmp_path_factory.mktemp("named"), rows(HERE / "router_names.tsv"))


def test_n42_the_labelled_questions_hold_twelve_of_each_kind() -> None:
    assert Counter(kind for kind, _ in LABELLED) == dict.fromkeys(get_args(Kind), 12)
    assert len({question for _, question in LABELLED}) == 60


@pytest.mark.parametrize(("kind", "question"), [*LABELLED, *rows(HERE / "router_more.tsv")])
def test_n65_a_question_is_told_by_its_kind(kind: str, question: str, index: Index) -> None:
    assert choose_method(question, index).kind == kind


@pytest.mark.parametrize(
    ("question", "method"),
    [
        ("What are the main themes across the conversations?", "graphrag"),
        ("How often do guests speak of privacy?", "graphrag"),
        ("Summarise the collection.", "graphrag"),
        ("Was sind die Hauptthemen?", "graphrag"),
        ("Worum geht es?", "graphrag"),
        ("Who is Ada Lovelace?", "local"),
        ("What is known about Contoso?", "local"),
        ("When was Ada Lovelace born?", "hybrid"),
        ("Who founded the school?", "hybrid"),
        ("谁写了这本书？", "hybrid"),
        ("What do Ada Lovelace and Charles Babbage have in common?", "hybrid"),
    ],
)
def test_each_kind_has_its_method(question: str, method: str, index: Index) -> None:
    assert choose_method(question, index).method == method


def test_a_name_speaks_against_the_whole_and_a_common_noun_does_not(index: Index) -> None:
    assert choose_method("What are the main themes of Contoso's letters?", index).kind == "local"
    assert choose_method("What are the main themes of the trial?", index).kind == "global"


def test_what_is_listed_as_an_example_is_no_name_that_is_asked_about(index: Index) -> None:
    assert choose_method(
        "Which companies, such as Contoso or Northwind, are mentioned as recurring rivals?", index
    ).kind == ("global")


def test_names_that_the_index_does_not_know_speak_against_the_whole_too(index: Index) -> None:
    assert choose_method("Which topic did Greta Halvorsen choose for Oslo?", index).kind == "plain"


def test_n44_a_name_of_several_things_is_told_with_their_kinds(index: Index) -> None:
    choice = choose_method("Where does Jordan begin?", index)
    assert "“Jordan” is the name of 3 entities (country and person and river)" in choice.reason


def test_names_that_follow_each_other_are_one(tmp_path: Path) -> None:
    known = named(tmp_path, [("Kevin", "person"), ("Scott", "person")])
    assert [n.surface for n in names_in_question("Where does Kevin Scott live?", known)] == ["Kevin Scott"]
    assert choose_method("Where does Kevin Scott live?", known).kind == "local"


def test_a_name_is_known_before_a_possessive(index: Index) -> None:
    assert [n.surface for n in names_in_question("When did Charles Babbage's clerk retire?", index)] == [
        "Charles Babbage"
    ]


def test_a_common_word_that_somebody_bears_as_a_name_is_no_name_in_lower_case(tmp_path: Path) -> None:
    known = named(tmp_path, [("Technology", "organization"), ("May", "person")])
    assert choose_method("When may technology help with the washing?", known).kind == "plain"


def test_the_reason_quotes_what_decided(index: Index) -> None:
    assert choose_method("What is the mood overall?", index) == Choice(
        "graphrag", "“overall” asks about the whole corpus", "global", "whole", ("hybrid", "bm25")
    )


@pytest.mark.parametrize(
    ("question", "said"),
    [("What are the main themes?", ["graphrag"]), ("Who is Ada Lovelace?", ["local"])],
)
def test_only_methods_that_the_index_can_serve_are_chosen(question: str, said: Sequence[str], tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings={"engine": "offline", "index": {"parts": []}}) as corpus:
        corpus.add(Document("note", "The door was green."))
        corpus.build()
        choice = choose_method(question, corpus.index())
    assert choice.method == "bm25"
    assert choice.kind == "plain" or f"{said[0]} cannot read this index" in choice.reason


def test_words_for_the_whole_are_weighed() -> None:
    assert wholeness_signs("What are the recurring themes?") == (2, ["recurring", "themes"])
    assert wholeness_signs("Who is considered the first?") == (0.5, ["considered"])
    assert wholeness_signs("Who keeps the lamp?") == (0, [])


def test_the_choice_is_told_in_the_notes(tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings={"engine": "offline"}) as corpus:
        corpus.add(
            Document("minutes", "The meeting voted seven to three against the well. Tobias Keller had asked for it.")
        )
        corpus.build()
        answer = corpus.query("How many voted against the well?")
    assert answer.method == "walk"
    assert answer.citations
    assert answer.notes[0].startswith("method: walk (no known entity")


def test_where_the_reports_hold_nothing_passages_are_read(tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings={"engine": "offline"}) as corpus:
        corpus.add(
            Document("minutes", "The meeting voted seven to three against the well. Tobias Keller had asked for it.")
        )
        corpus.build()
        answer = corpus.query("How often was voted against the well?")
    assert answer.citations
    assert any("passages were read" in note for note in answer.notes)


@pytest.mark.parametrize(
    ("question", "method"),
    [
        ("What is the Analytical Engine?", "local"),
        ("Tell me more about Lisbon.", "local"),
        ("What happened to Tom Reeve?", "local"),
        ("Wer war Charles Babbage?", "local"),
        ("李明是谁？", "local"),
        ("What is Contoso's favourite colour?", "hybrid"),
        ("What does Tom Reeve describe as a shame?", "hybrid"),
        ("What did Contoso want to know about the game?", "hybrid"),
    ],
)
def test_a_detail_of_one_thing_is_sought_in_passages(question: str, method: str, index: Index) -> None:
    choice = choose_method(question, index)
    assert (choice.kind, choice.method) == ("local", method)
