"""Answers of an evaluation: stored once, failures counted, refusals kept, lengths bounded."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sensegraph.errors import BudgetExceeded, EndpointError
from sensegraph.lab.experiments.conditions import (
    Asked,
    Condition,
    Reply,
    ask_condition,
    find_unanswered,
    shorten_reply,
    sum_costs,
)
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Answer, Citation, Evidence, Usage
from wired import runtime

ASKED = tuple(Asked(f"q{i}", f"Question {i}?") for i in range(3))
CITED = tuple(Citation(n, "d", 0, 1, "x") for n in (1, 2, 3))


def condition(ask: Callable[[str], Answer], key: str = "k") -> Condition:
    return Condition("C", "naive", {}, ask, key)


def test_an_answer_is_asked_for_once_whatever_the_number_of_runs(store: SqliteStore):
    asked: list[str] = []

    def ask(question: str) -> Answer:
        asked.append(question)
        return Answer(f"About {question}", evidence=Evidence(tokens=7), usage=Usage(calls=1, prompt_tokens=5))

    rt = runtime(store)
    assert find_unanswered(condition(ask), ASKED, rt) == list(ASKED)
    first = ask_condition(condition(ask), ASKED, rt)
    assert ask_condition(condition(ask), ASKED, rt) == first
    assert (len(asked), find_unanswered(condition(ask), ASKED, rt)) == (3, [])
    assert ask_condition(condition(ask, "other"), ASKED[:1], rt)[0].text == "About Question 0?"
    assert len(asked) == 4


def test_a_failure_is_counted_and_asked_for_again_by_the_next_run(store: SqliteStore):
    broken = [True]

    def ask(question: str) -> Answer:
        if broken[0] and "1" in question:
            raise EndpointError("The endpoint said 400 for this call.")
        return Answer("Yes.")

    found = ask_condition(condition(ask), ASKED, runtime(store))
    assert [r.failure for r in found] == ["", "The endpoint said 400 for this call.", ""]
    assert not found[1].refused
    broken[0] = False
    assert not any(r.failure for r in ask_condition(condition(ask), ASKED, runtime(store)))


def test_a_budget_that_is_reached_ends_the_run_and_keeps_what_was_answered(store: SqliteStore):
    def ask(question: str) -> Answer:
        if "2" in question:
            raise BudgetExceeded("The limit of 10 tokens is reached.")
        return Answer("Yes.")

    with pytest.raises(BudgetExceeded):
        ask_condition(condition(ask), ASKED, runtime(store))
    assert find_unanswered(condition(ask), ASKED, runtime(store)) == [ASKED[2]]


def test_an_answer_that_says_it_has_none_is_a_refusal_and_a_long_one_is_not():
    assert Reply(Answer("Nothing in this corpus helps to answer the question.")).refused
    assert Reply(Answer("")).refused
    assert not Reply(Answer("Scrooge gives a turkey [1]. He laughs [2]. He sings. He is another man.")).refused


def test_words_are_counted_without_the_marks_of_citations():
    assert Reply(Answer("He came [1, 2]. She went [3].")).words == 4


def test_a_long_answer_is_cut_at_a_sentence_with_the_citations_that_are_left():
    long = Reply(Answer("One two three [1]. Four five six. [2] Seven eight nine [3].", citations=CITED))
    cut = shorten_reply(long, 6)
    assert cut.answer.text == "One two three [1]. Four five six. [2]"
    assert [c.marker for c in cut.answer.citations] == [1, 2]
    assert (cut.words, cut.cut) == (6, 3)


def test_the_first_sentence_stays_whatever_its_length_and_a_short_answer_stays_as_it_is():
    one = Reply(Answer("One two three four five."))
    assert shorten_reply(one, 2).text == one.text
    assert shorten_reply(one, 5) is one
    assert shorten_reply(one, 0) is one


def test_costs_are_sums_and_seconds_means_and_medians():
    made = [
        Reply(Answer("a", evidence=Evidence(tokens=t), usage=Usage(2, 10, 3, seconds=s))) for t, s in [(4, 1), (8, 5)]
    ]
    found = sum_costs([*made, Reply(Answer("", usage=Usage(9)), failure="down")])
    assert (found.usage.calls, found.usage.prompt_tokens) == (4, 20)
    assert (found.seconds_mean, found.seconds_median, found.context_tokens) == (3, 3, 6)
