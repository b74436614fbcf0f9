"""What came next is not told of a cause, and a heading answers no question."""

from __future__ import annotations

import pytest

from form_corpora import answer_lines, ask
from town_corpora import INTERVIEWS, PROGRAMS, RAILWAY, WORKS


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("What was the cause of FX-2?", "cause"),
        ("What is the failure after FX-2?", "succession"),
        ("What is the following failure to FX-2?", "succession"),
    ],
)
def test_what_is_asked_of_a_number_is_not_what_came_after_it(question: str, form: str) -> None:
    assert ask(question, RAILWAY)[0] == form


def test_a_word_for_the_way_stands_before_the_kind() -> None:
    assert answer_lines("What is the preceding order to 66?", PROGRAMS)[1][0].startswith("**65**: ")
    assert ask("What is the size of 66?", PROGRAMS)[0] == "fact"


def test_a_heading_behind_a_question_is_not_its_answer() -> None:
    assert ask("Where can I buy a queen bee?", INTERVIEWS)[0] == "fact"
    assert answer_lines("Who checks the hives?", INTERVIEWS)[1][-1] == "- He is strict."


def test_who_stands_twice_in_a_sentence_is_named_once() -> None:
    (line,) = answer_lines("Who sold the bricks of Saint Ann?", WORKS)[1]
    assert line.startswith("**Otto Braun**: ")
