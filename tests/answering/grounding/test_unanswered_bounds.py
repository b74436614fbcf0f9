"""How much of a question its answer must hold: weights of words, names, what stands around, and titles in capitals."""

from __future__ import annotations

import pytest

from sensegraph.answering.grounding.unanswered import AnswerTexts, PosedQuestion, find_unanswered, is_terse
from sensegraph.types import WordCounts

LONG = (
    "The baker of the northern village painted eleven wooden boats green and sold them to strangers, who rowed away "
    "singing before dawn."
)


def reasons(question: str, said: str = LONG, counted: WordCounts | None = None, **texts: tuple[str, ...]) -> str:
    return "; ".join(find_unanswered(PosedQuestion(question, counted), AnswerTexts(said, **texts)))


def test_an_answer_of_ten_stems_is_terse() -> None:
    words = "baker village boat stranger dawn wood gate wheel river mill castle".split()
    assert is_terse(" ".join(words[:10]))
    assert not is_terse(" ".join(words))


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Which surgeon cleaned zebras yesterday?", True),  # none of four words
        ("Which baker cleaned zebras?", True),  # one of three is not enough
        ("Which baker painted zebras?", False),
        ("Which baker fed zebras, lions, giraffes and elephants?", True),  # one of six
        ("Which baker painted zebras and lions?", False),
        ("WHICH BAKER FED ZEBRAS, LIONS, GIRAFFES AND ELEPHANTS?", True),
        ("Which Baker Painted Zebras And Lions?", False),
        ("What are the main themes?", False),
        ("", False),
    ],
)
def test_more_than_a_third_of_the_words_of_a_question_is_enough(question: str, told: bool) -> None:
    assert bool(reasons(question)) is told


def test_what_stands_around_a_quote_counts_half() -> None:
    question = "Which surgeon cleaned zebras?"
    assert reasons(question)
    assert reasons(question, around=("The surgeon came.",))
    assert not reasons(question, around=("The surgeon cleaned zebras.",))
    assert not reasons(question, said=f"{LONG} The surgeon cleaned it.")


def test_what_stands_around_a_terse_answer_counts_whole_and_no_more() -> None:
    question = "Which surgeon fed zebras, lions, giraffes and elephants?"
    assert reasons(question, "Bo Berg.", around=(LONG, "The surgeon came."))  # one of six
    assert not reasons(question, "Bo Berg.", around=(LONG, "The surgeon fed lions and giraffes."))


def test_a_name_in_a_fifth_of_the_corpus_is_what_it_is_about() -> None:
    question = "What did Eva Holm write to the bishop of Bremen?"

    def told(many: int) -> str:
        words = (("eva", many), ("holm", many), ("bremen", 3), ("bishop", 9), ("write", 9))
        return reasons(question, counted=WordCounts(100, words))

    assert "Eva Holm, Bremen" in told(20)
    assert "Bremen" in told(21)
    assert "Eva" not in told(21)


def test_other_times_and_numbers_are_told_with_those_of_the_answer() -> None:
    assert reasons("Who was baker in 1950?", "In 1913 Bo Berg was baker.") == (
        "the question is about 1950, and the answer only about 1913"
    )
    assert reasons("Who was baker in 1950?", "From 1940 to 1960 Bo Berg was baker.") == ""
    assert reasons("Who was baker in 1950?", "Bo Berg was baker.") == ""
    assert reasons("What does rule 7 say?", "Rule 3 forbids it, and rule 3 is old.") == (
        "the question is about rule 7, and the answer only about Rule 3, rule 3"
    )
    assert reasons("What does rule 7 say?", "Rule 7.5 forbids it, and rule 7 is old.") == ""
    assert reasons("What does rule 7 say?", "Act 3 forbids it.") == ""
    assert "rule 7" in reasons("What does rule 7 say?", "Rule 17 forbids it.")


def test_six_missing_words_are_shown() -> None:
    told = reasons("Which surgeon fed zebras, lions, giraffes, elephants, camels and ostriches?")
    assert told.endswith("surgeon, fed, zebras, lions, giraffes, elephants")


@pytest.mark.parametrize(
    ("asked", "said", "held"),
    [
        ("NHS", "The National Health Service", True), ("Unit Nord", "The U.N.", True),
        ("NHS", "The National Bank", False),
        ("German Bank", "A GB", True), ("Ada Lind", "Lind", True), ("Oz Ek", "Ozark", False),
    ],
)  # fmt: skip
def test_a_name_stands_there_by_a_part_or_by_initials(asked: str, said: str, held: bool) -> None:
    question = f"What did the carpenters tell {asked} yesterday?"
    assert ("names of" not in reasons(question, f"{said} built the boat house near the old harbour.")) is held
