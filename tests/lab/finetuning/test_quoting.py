"""Reasoning in verbatim quotes, and what becomes of one that is not verbatim (graft §3.6; RAFT)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from finetuning_towns import NO_PAD, asked, example, passage, pool
from sensegraph.lab.finetuning.data import examples
from sensegraph.lab.finetuning.data.example_types import DroppedQuestion, Passage
from sensegraph.lab.finetuning.data.examples import BEGIN, END, extract_quotes, find_quote_fault, make_example

COT = replace(NO_PAD, style="cot")
SHOWN = (Passage("a", "The ferry leaves\nat noon. It is red."),)


def test_reasoning_quotes_of_each_gold_passage_the_sentence_that_holds_the_answer():
    e = example(make_example(asked(2, golds=2), pool(), COT))
    assert extract_quotes(e.target) == [
        "Keeper Odd 2 Finch trims the lamp of town 2.",
        "Keeper Odd 3 Finch trims the lamp of town 3.",  # no answer in it: the one nearest to the question
    ]
    assert e.target.endswith(f"\n{examples.ANSWER} Odd 2 Finch")
    assert find_quote_fault(e.target, e.passages) == ""


def test_where_the_gold_passages_are_left_out_nothing_is_quoted():
    e = example(make_example(asked(2), pool(), replace(COT, oracle_share=0.0)))
    assert e.target == f"{examples.ANSWER} Odd 2 Finch"


@pytest.mark.parametrize(
    ("reasoning", "said"),
    [
        (f"{BEGIN} The ferry leaves at   noon. {END}", ""),
        (f"{BEGIN} leaves at noon {END} and {BEGIN} It is red. {END}", ""),
        (f"{BEGIN} The ferry leaves at nine. {END}", "a quote of the reasoning stands in no passage"),
        (f"{BEGIN} the ferry leaves at noon. {END}", "a quote of the reasoning stands in no passage"),
        (f"{BEGIN} {END}", "a quote of the reasoning stands in no passage"),
        (f"{BEGIN} The ferry leaves", "a quote of the reasoning has no end"),
        (f"{END} noon {BEGIN}", "a quote of the reasoning has no end"),
        ("The ferry leaves at noon.", "the reasoning quotes nothing"),
    ],
)
def test_a_quote_is_one_when_it_stands_in_a_passage_white_space_aside(reasoning: str, said: str):
    assert find_quote_fault(reasoning, SHOWN) == said


def test_reasoning_that_is_given_is_checked_and_a_false_quote_drops_the_example():
    true = f"The keeper is named: {BEGIN} Keeper Odd 4 Finch trims the lamp {END}."
    assert true in example(make_example(asked(4, reasoning=true), pool(), COT)).target
    false = true.replace("trims", "polishes")
    assert make_example(asked(4, reasoning=false), pool(), COT) == DroppedQuestion(
        "q4", "a quote of the reasoning stands in no passage", "keeper"
    )
    assert "polishes" not in example(make_example(asked(4, reasoning=false), pool(), NO_PAD)).target  # plain: not used


def test_a_quote_of_a_passage_that_is_not_shown_is_false():
    elsewhere = f"{BEGIN} {passage(99).text} {END}"
    assert isinstance(make_example(asked(4, reasoning=elsewhere), pool(), COT), DroppedQuestion)


def test_a_passage_without_sentences_is_quoted_whole():
    assert extract_quotes(examples.reason_by_quotes("What?", ["it"], [Passage("x", "a bare line")])) == ["a bare line"]


@pytest.mark.parametrize(
    ("answer", "quoted"), [("Oslo Harbour", "The harbour of Oslo was cold."), ("yes", "It rained.")]
)
def test_words_of_an_answer_say_which_sentence_is_near_but_not_a_mere_yes(answer: str, quoted: str):
    held = Passage("x", "It rained. The harbour of Oslo was cold. The sky said yes-no.")
    assert extract_quotes(examples.reason_by_quotes("Where was it?", [answer], [held])) == [quoted]
