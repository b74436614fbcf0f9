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


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Written by Ann Lee and Bo Isk.", True),
        ("The format was defined by Ann Lee.", True),
        ("Maintainer: Ann Lee", True),
        ("Copyright (C) 1997-1998 Ann Lee.", True),
        ("Ann Lee is now maintaining it.", True),
        ("It was put together by hand.", False),
        ("Ann Lee came by train.", False),
    ],
)
def test_who_made_something_is_named_behind_words_of_making(text: str, named: bool) -> None:
    assert cues.tells_maker(text) == named


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("$ git push", True),
        ("xz -dc a.xz | tar xf -", True),
        ("ssh-add takes the option -k", False),
        ("`xz -d`", False),  # it is marked as code already
        ("will be removed by -d.", False),
    ],
)
def test_a_command_without_prose_is_code(text: str, code: bool) -> None:
    assert cues.is_code(text) == code


def test_code_and_instructions_mark_what_tells_a_way() -> None:
    assert [cues.holds_code(t) for t in ("Use -d.", "Use `d`.", "$ d", "Use d.")] == [True, True, True, False]
    assert [cues.instructs(t) for t in ("You can undo it.", "Remove the file.", "It can be undone by hand.")] == [
        True,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("question", "asked"),
    [("Who wrote it?", True), ("Who is the author of it?", True), ("Who read it?", False), ("Whose is it?", False)],
)
def test_a_question_asks_who_made_something(question: str, asked: bool) -> None:
    assert cues.asks_for_maker(question) == asked


def test_who_made_something_has_a_name_of_two_words_or_one_behind_by() -> None:
    texts = ("Ann Lee came.", "It was drawn by Lee.", "It ran on Ubuntu 20.04.", "It ran on a Core i7-9700K CPU.")
    assert [cues.names_maker(text) for text in texts] == [True, True, False, False]
