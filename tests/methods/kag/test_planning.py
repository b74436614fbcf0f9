"""Plans by rules: what a question leaves unnamed becomes a step of its own (kag §4.1; N43, N45)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.methods.kag.logical_forms import parse_plan
from sensegraph.methods.kag.question_steps import MOST_PARTS, sketch_plan


@pytest.mark.parametrize(
    ("question", "lines"),
    [
        (
            "Who is the spouse of the director of Run for Amber?",
            ("Who or what is the director of Run for Amber?", "Who is the spouse of #1?"),
        ),
        (
            "When did Ada Finch's mother die?",
            ("Who or what is the mother of Ada Finch?", "When did #1 die?"),
        ),
        (
            "Who is the mayor of the town where Ada Finch was born?",
            ("Which town Ada Finch was born?", "Who is the mayor of #1?"),
        ),
        (
            "When did the state where Tarn Hollow is located become part of the Free Union?",
            ("Which state Tarn Hollow is located?", "When did #1 become part of the Free Union?"),
        ),
        (
            "What year did the company Novair is part of dissolve?",
            ("Which company Novair is part of?", "What year did #1 dissolve?"),
        ),
        (
            "When was the club founded by Ada Finch closed?",
            ("Which club founded by Ada Finch?", "When was #1 closed?"),
        ),
        (
            "Which competitor of Acme bought a firm that was founded by a person who was employed by Acme?",
            (
                "Which person was employed by Acme?",
                "Which firm was founded by #1?",
                "Which competitor of Acme bought #2?",
            ),
        ),
    ],
)  # fmt: skip
def test_relations_of_relations_are_taken_apart_from_the_inside(question: str, lines: tuple[str, ...]) -> None:
    found = sketch_plan(question)
    assert (found.rule, found.lines) == ("bridge", lines)


@pytest.mark.parametrize(
    "question",
    [
        "Who keeps the lighthouse of Skerry Point?",
        "What are the main themes across the papers?",
        "Who is the author of Brand?",
        "How do Ada Finch and Tom Reeve differ on the pier?",
        "Wer ist die Frau des Direktors von Big Eyes?",
        "谁是大眼睛的导演？",
        "",
    ],
)
def test_what_no_rule_covers_is_one_step(question: str) -> None:
    found = sketch_plan(question)
    assert (found.rule, found.lines) == ("single", (question,))


@pytest.mark.parametrize(
    ("question", "way", "options"),
    [
        ("Which film was released first, Big Eyes or Brand?", "first", "Big Eyes | Brand"),
        ("Who is older, Ada Finch or Tom Reeve?", "older", "Ada Finch | Tom Reeve"),
        ("Which of Oslo and Rome has more bridges?", "more", "Oslo | Rome"),
        ("Which film has the director who died later, Big Eyes or Brand?", "later", "Big Eyes | Brand"),
    ],
)
def test_comparisons_end_in_a_choice(question: str, way: str, options: str) -> None:
    found = sketch_plan(question)
    assert found.rule == "comparison"
    count = len(found.lines) - 1
    assert found.lines[-1] == f"Deduce(op=choice, content=`{way}: {options}`, inputs=#{count - 1} #{count})"
    assert parse_plan(found.lines).plan is not None


def test_what_is_compared_of_makers_takes_a_step_for_each_maker() -> None:
    lines = sketch_plan("Which film has the director who is older, Big Eyes or Brand?").lines
    assert lines[:4] == ("Big Eyes >> director", "Brand >> director", "When was #1 born?", "When was #2 born?")


def test_a_judgement_on_two_things_asks_for_the_same_of_each() -> None:
    found = sketch_plan("Are Tarnow and Rome located in the same province?")
    assert found.rule == "judgement"
    assert found.lines == (
        "What is the province of Tarnow?",
        "What is the province of Rome?",
        "Deduce(op=judgement, content=`the same province`, inputs=#1 #2)",
    )


def test_n43_two_conditions_are_two_steps_and_what_they_share() -> None:
    found = sketch_plan("Which drugs inhibit CYP3A4 and are contraindicated with Warfarin?")
    assert found.rule == "intersection"
    assert found.lines == (
        "Which drugs inhibit CYP3A4?",
        "Which drugs are contraindicated with Warfarin?",
        "Math(content=`both(#1, #2)`)",
    )


@given(st.text("ABcde '?,.#1 the of where is who", max_size=120))
def test_every_sketch_is_a_plan(question: str) -> None:
    found = sketch_plan(question)
    assert found.lines
    assert len(found.lines) <= MOST_PARTS + 5
    if question.strip() and found.rule == "bridge":
        assert parse_plan(found.lines).plan is not None
