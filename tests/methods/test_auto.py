from pathlib import Path

import pytest

from sensegraph.corpus import Corpus
from sensegraph.methods.auto import choose
from sensegraph.types import Document


@pytest.mark.parametrize(
    "question",
    [
        "What are the main themes across the conversations?",
        "How often do guests speak of privacy?",
        "Summarise the collection.",
        "Was sind die Themen der Texte?",
        "Was sind die Hauptthemen?",
        "Worum geht es?",
        "这些文章的主题是什么？",
    ],
)
def test_a_question_about_the_whole_goes_to_graphrag(question: str) -> None:
    assert choose(question).method == "graphrag"


@pytest.mark.parametrize("question", ["Who founded the school?", "When was Marley buried?", "谁写了这本书？"])
def test_a_question_about_one_thing_goes_to_vector_search(question: str) -> None:
    assert choose(question).method == "naive"


def test_the_reason_quotes_what_decided() -> None:
    assert "“overall”" in choose("What is the mood overall?").reason


def test_where_the_reports_hold_nothing_passages_are_read(tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings={"engine": "offline"}) as corpus:
        corpus.add(
            Document("minutes", "The meeting voted seven to three against the well. Tobias Keller had asked for it.")
        )
        corpus.build()
        answer = corpus.query("How many voted against the well?", depth=None)
    assert answer.method == "naive"
    assert answer.citations
    assert any("passages were read" in note for note in answer.notes)
