"""Dates as words: of a day, and of a question."""

from __future__ import annotations

import pytest

from sensegraph.language.dates.date_words import asked_date_words, find_own_date, list_date_words


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What was said on 20260521?", ["@2026-05-21"]),
        ("What was said on 2026-05-21 and 2026/05/22?", ["@2026-05-21", "@2026-05-22"]),
        ("What was said on April 15, 2026?", ["@2026-04-15"]),
        ("What was said on March 7th?", ["@-03-07"]),
        ("What was said on the 5th of June?", ["@-06-05"]),
        ("Was wurde am 3. Mai 2021 gesagt?", ["@2021-05-03"]),
        ("What was said in March 2020?", ["@2020-03"]),
        ("What was said in May, and during August?", ["@-05", "@-08"]),
        ("May I ask what may be said of May Smith, and what the march cost?", []),
        ("What is 20261399, and 12345678901?", []),
    ],
)
def test_a_question_has_a_word_for_each_of_its_dates(question: str, words: list[str]) -> None:
    assert asked_date_words(question) == words


def test_a_day_can_be_asked_for_in_five_ways() -> None:
    assert list_date_words("2026-05-21T10:00") == ["@2026", "@2026-05", "@-05", "@2026-05-21", "@-05-21"]
    assert list_date_words("2026-05") == ["@2026", "@2026-05", "@-05"]
    assert list_date_words("2026") == ["@2026"]
    assert list_date_words("") == list_date_words("soon") == []


def test_a_document_is_of_the_first_day_in_digits_else_of_the_most_precise() -> None:
    assert find_own_date(["Minutes", "Time: 20260521_20:00 to 2026-05-22"]) == "2026-05-21"
    assert find_own_date(["Minutes of May 2021", "held on 3 May 2021"]) == "2021-05-03"
    assert find_own_date(["Minutes", ""]) == ""
