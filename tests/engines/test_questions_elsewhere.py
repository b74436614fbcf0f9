"""Questions about the whole, to texts that are not English."""

from __future__ import annotations

import pytest

from sensegraph.engines.offline.answers.questions import understand_question


@pytest.mark.parametrize(
    ("question", "code"),
    [
        ("Was sind die Hauptthemen?", "de"),
        ("Worum geht es in den Texten?", "de"),
        ("What are the main themes?", "de"),
        ("这些文章的主题是什么？", "zh"),
    ],
)
def test_a_question_for_the_themes_is_an_overview_in_any_language(question: str, code: str) -> None:
    assert understand_question(question, code).shape == "overview"


def test_a_question_for_one_thing_is_none() -> None:
    asked = understand_question("Wer lehnt den Ausbau der Radwege ab?", "de")
    assert asked.shape != "overview"
    assert asked.terms
