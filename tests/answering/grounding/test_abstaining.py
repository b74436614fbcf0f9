"""Whether an answer says that it has none, and how often where it should."""

import pytest

from sensegraph.answering.asking import NOTHING
from sensegraph.answering.grounding.checking import count_abstentions, says_no_answer


@pytest.mark.parametrize(
    "text",
    [
        NOTHING,
        "I find nothing on boats in the sources that I was given.",
        "The documents do not mention the price of the boat.",
        "Based on the provided data, there is no information about this.",
        "I don't know.",
        "It is not possible to answer this from the context.",
        "Das ist nicht bekannt; es gibt keine Angaben dazu.",
        "根据所给文本，无法回答这个问题。",
        "The sources do not answer this.\n\nWhat comes nearest: The boat was blue. It was new. It had oars. [1]",
        "Most likely: I don't know.",
        "",
    ],
)
def test_short_answers_that_have_none_abstain(text: str) -> None:
    assert says_no_answer(text)


@pytest.mark.parametrize(
    "text",
    [
        "The boat cost 200 pounds.",
        "Most likely: The boat cost 200 pounds. [1]",
        "What comes nearest: The boat was sold with its oars. [1]",
        "Scrooge and he were partners for I don't know how many years.",
        "I find nothing that speaks of all of it; what comes nearest is this. The boat was blue. [1]",
        "There is no record of a fire. The mill stood until 1911. It was sold. Then it was a school. Now it is gone.",
    ],
)
def test_answers_that_say_something_do_not(text: str) -> None:
    assert not says_no_answer(text)


def test_abstentions_are_counted_by_whether_there_was_an_answer() -> None:
    found = count_abstentions([(True, "Blue."), (True, NOTHING), (False, NOTHING), (False, "Blue."), (False, NOTHING)])
    assert (found.rate, found.false_rate, found.precision) == (2 / 3, 0.5, 2 / 3)


def test_without_such_questions_a_rate_is_undefined() -> None:
    found = count_abstentions([(True, "Blue.")])
    assert (found.rate, found.false_rate, found.precision) == (None, 0.0, None)
