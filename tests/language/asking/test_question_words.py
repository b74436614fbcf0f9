"""What questions surely ask for, and whether a text may give it."""

from __future__ import annotations

import pytest

from sensegraph.language.asking.answer_types import AnswerType
from sensegraph.language.asking.question_words import (
    asks_whether,
    gives_type,
    is_question_word,
    read_asked_type,
    stem_asking_words,
)


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("When did the mill close?", ("date", "When")),
        ("in which year did the mill close?", ("date", "which year")),
        ("How many looms are there?", ("number", "How many")),
        ("What is the population of Ostby?", ("number", "What is the population")),
        ("Who owned the mill?", ("person", "Who")),
        ("Where is the mill?", ("place", "Where")),
        ("Wann schloss die Mühle?", ("date", "Wann")),
        ("Wie viele Webstühle gibt es?", ("number", "Wie viele")),
        ("Quand le moulin a-t-il fermé ?", ("date", "Quand")),
        ("¿Cuántos telares hay?", ("number", "Cuántos")),
        ("What happened when the mill closed?", ("thing", "")),
        ("What is the name of the man who owned the mill?", ("thing", "")),
        ("Did anybody say who owned the mill?", ("thing", "")),
        ("How large was the mill?", ("thing", "")),
        ("Of all the mills in that town, when did one close?", ("thing", "")),
        ("Is it known when the mill closed?", ("thing", "")),
    ],
)
def test_only_what_a_question_opens_with_says_what_it_asks_for(question: str, asked: tuple[AnswerType, str]) -> None:
    assert read_asked_type(question) == asked


@pytest.mark.parametrize(
    ("kind", "text", "gives"),
    [
        ("date", "It closed in 1911.", True),
        ("date", "It closed in the nineteenth of its summers.", True),
        ("date", "It closed after the flood.", True),
        ("date", "Es schloss im März.", True),
        ("date", "The mill is closed.", False),
        ("number", "There are forty.", True),
        ("number", "There are 40.", True),
        ("number", "Es gibt mehrere.", True),
        ("number", "The looms are blue.", False),
        ("person", "Ada Lind owned it.", True),
        ("person", "It belonged to a weaver.", True),
        ("person", "The mill was blue.", False),
        ("place", "It stands at the river.", True),
        ("place", "Ostby has one.", True),
        ("place", "The mill burnt.", False),
        ("thing", "Anything.", True),
    ],
)
def test_a_text_gives_what_is_asked_for(kind: AnswerType, text: str, gives: bool) -> None:
    assert gives_type(kind, text, frozenset({"the", "mill", "ada"})) is gives


def test_a_name_of_the_question_is_nobody_new_but_of_a_choice() -> None:
    known = frozenset("who sang ada lind".split())
    assert not gives_type("person", "Ada Lind sang.", known)
    assert gives_type("person", "Ada Lind sang.", known | {"or"})
    assert gives_type("person", "ada lind sang.", known)  # without capitals no name can be told


def test_openers_of_yes_or_no_questions_are_known() -> None:
    assert all(map(asks_whether, ("Did it close?", "isn’t it blue?", "Hat sie gesungen?", "¿Es azul?")))
    assert not any(map(asks_whether, ("Who did it?", "Wer hat gesungen?", "")))
    assert is_question_word("Whose")
    assert not is_question_word("mill")


def test_words_of_asking_are_known_by_their_stems() -> None:
    assert "document" in stem_asking_words("english")
    assert "mill" not in stem_asking_words("english")
    assert stem_asking_words("german") > {"wann", "document"}
