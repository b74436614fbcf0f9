"""Questions with a date, read into a filter and left as they are elsewhere (valid time §4)."""

from __future__ import annotations

import pytest

from sensegraph.language.dates.stated_dates import describe_when, when_asked, without_date

TODAY = "2024-05-06"
READ = [
    ("Who was mayor of Ostby in 2013?", "2013", "2013", "Who was mayor of Ostby?"),
    ("In 2013, who was mayor of Ostby?", "2013", "2013", "Who was mayor of Ostby?"),
    ("Who was mayor of Ostby in March 2013?", "2013-03", "2013-03", "Who was mayor of Ostby?"),
    ("Who was mayor of Ostby on 5 March 2013?", "2013-03-05", "2013-03-05", "Who was mayor of Ostby?"),
    ("What did the bridge cost between 2005 and 2011?", "2005", "2011", "What did the bridge cost?"),
    ("Who has been mayor of Ostby since 2020?", "2020", "", "Who has been mayor of Ostby?"),
    ("Where was the office before 2010?", "", "2009", "Where was the office?"),
    ("Who was mayor last year?", "2023", "2023", "Who was mayor?"),
    ("Who is mayor now?", TODAY, TODAY, "Who is mayor?"),
    ("Wer war im Jahr 2013 Bürgermeister?", None, None, None),
    ("Wer war Bürgermeister im Jahr 2013?", "2013", "2013", "Wer war Bürgermeister?"),
    ("Wer ist derzeit Bürgermeister?", TODAY, TODAY, "Wer ist Bürgermeister?"),
]
LEFT = [
    "When did Norland join the league?",
    "Since when has Norland been in the league, 1994?",
    "Who directed the film released in 1995?",
    "Who was born in 1950?",
    "Who won the 1998 election?",
    "Who led the house built in 1890?",
    "Was it so in 2010 or in 2012?",
    "What are the main themes?",
    "Tell me about 2013.",
]


@pytest.mark.parametrize(("question", "first", "last", "rest"), READ)
def test_a_date_of_a_question_about_a_state_is_read(
    question: str, first: str | None, last: str | None, rest: str | None
) -> None:
    found = when_asked(question, TODAY)
    if first is None:
        assert found is None, "a date in the middle may belong to anything"
        return
    assert found is not None
    assert (found.first, found.last) == (first, last)
    assert found.phrase in question
    assert without_date(question, TODAY) == rest
    assert f"“{found.phrase}”" in describe_when(found)


@pytest.mark.parametrize("question", LEFT)
def test_what_tells_which_thing_is_meant_and_what_asks_for_a_date_is_left(question: str) -> None:
    assert when_asked(question, TODAY) is None
    assert without_date(question, TODAY) == question


def test_now_is_nothing_without_a_day() -> None:
    assert when_asked("Who is mayor now?") is None
