"""What marks a sentence of documentation, by worked examples."""

from __future__ import annotations

import pytest

from sensegraph.language.asking import sentence_cues as cues


@pytest.mark.parametrize(
    ("question", "way", "version"),
    [
        ("How do I undo a merge?", True, False),
        ("Which option lists it?", True, False),
        ("How old is it?", False, False),
        ("Which release brought it?", False, True),
    ],
)
def test_a_question_asks_for_a_way_or_for_a_version(question: str, way: bool, version: bool) -> None:
    assert (cues.asks_for_way(question), cues.asks_for_version(question)) == (way, version)


@pytest.mark.parametrize(
    ("text", "way", "rule", "on", "command", "literals"),
    [
        ("Pack it by --zstd.", True, False, False, False, {"--zstd"}),
        ("The moon is round.", False, False, False, False, set()),
        ("You must not sell it.", False, True, False, False, set()),
        ("It doesn’t matter.", False, True, True, False, set()),
        ("However, the lamp went out.", False, False, True, False, set()),
        ("`xz -d`", True, False, False, True, {"-d"}),
        ("$ git push", True, False, False, True, set()),
        ("xz -dc a | tar xf -", True, False, False, True, {"-dc"}),
        ("New in 2.14.1.", False, False, False, False, {"2.14.1"}),
    ],
)
def test_a_sentence_is_marked_by_words_and_signs(
    text: str, way: bool, rule: bool, on: bool, command: bool, literals: set[str]
) -> None:
    told = cues.tells_way(text), cues.rules_something(text), cues.goes_on(text), cues.is_command(text)
    assert told == (way, rule, on, command)
    assert cues.list_literals(text) == literals


def test_a_version_is_a_number_with_a_point_or_one_behind_its_word() -> None:
    assert [cues.tells_version(t) for t in ("since 2.14", "release 3", "in 3 days", "of 1.")] == [
        True,
        True,
        False,
        False,
    ]


def test_signs_of_syntax_are_measured_against_the_length_of_a_text_of_thirty_characters_at_least() -> None:
    assert cues.measure_syntax("a = b") == pytest.approx(10 / 30)
    assert cues.measure_syntax("a = b" + " " * 55) == pytest.approx(10 / 60)
    assert cues.measure_syntax("{}[]<>") == 1.0
    assert cues.measure_syntax("The moon is round.") == 0.0
