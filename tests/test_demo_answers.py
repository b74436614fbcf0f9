"""The thirty questions of the demonstration, asked of its forty documents as a user asks them, without a model."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

from sensegraph import Answer, Corpus
from test_demo_corpus import QUESTIONS, holds

# numbers of the questions that are answered rightly
RIGHT = {*range(1, 13), *range(14, 24), 25, *range(27, 31)}


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> list[Answer]:
    root: Path = tmp_path_factory.mktemp("demo")
    with Corpus.open(root, settings={"engine": "offline"}) as corpus:
        corpus.add(str(files("sensegraph") / "data" / "demo"))
        corpus.build()
        return [corpus.query(question["question"]) for question in QUESTIONS]


@pytest.mark.parametrize("number", sorted(RIGHT))
def test_the_answer_holds_what_it_must_and_nothing_wrong(answers: list[Answer], number: int) -> None:
    question, answer = QUESTIONS[number - 1], answers[number - 1]
    if question.get("abstains"):
        assert answer.abstained
        return
    assert not answer.abstained
    for alternatives in question["keys"]:
        assert any(holds(answer.text, key) for key in alternatives), (alternatives, answer.text)
    assert [wrong for wrong in question["forbidden"] if holds(answer.text, wrong)] == []


def test_nobody_is_quoted_who_does_not_speak(answers: list[Answer]) -> None:
    """Only the two interviews have somebody who speaks."""
    told = [a for a in answers if a.citations]
    assert len(told) == len(QUESTIONS)
    spoken = {name.strip() for a in told for name in re.findall(r"” — ([^\n\[]+)", a.text)}
    assert spoken - {"Tomas Lindqvist", "Samir Haddad"} == set()
    fields = re.compile(r"\b(?:Present|From|To|Subject|kind|Date) (?:said|says|adds|argues)")
    assert [a.text for a in told if fields.search(a.text)] == []
