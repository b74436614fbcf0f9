"""The forms on disk (R04; graft §3.7)."""

from __future__ import annotations

import json

import pytest

from finetuning_towns import NO_PAD, asked, example, pool
from sensegraph.errors import SettingsError
from sensegraph.lab.finetuning.data.example_types import (
    FORMS,
    Passage,
    format_example_line,
    format_prompt,
    parse_form,
    read_instruction,
    record_example,
)
from sensegraph.lab.finetuning.data.examples import make_example

EXAMPLE = example(make_example(asked(5), pool(), NO_PAD))


def test_a_prompt_is_instruction_question_and_passages_in_this_order_and_the_answer_follows():
    """R04."""
    found = record_example(EXAMPLE, "completion")
    said = found["prompt"] + found["completion"]
    places = [said.index(part) for part in (read_instruction(), EXAMPLE.question, EXAMPLE.passages[0].text)]
    assert places == sorted(places)
    assert said.endswith(f"Answer: {EXAMPLE.target}")


def test_every_form_shows_all_passages_in_the_same_order_and_only_an_evaluation_says_which_are_gold():
    for form in FORMS:
        said = format_example_line(EXAMPLE, form)
        places = [said.index(p.text) for p in EXAMPLE.passages]
        assert places == sorted(places)
        assert ("oracle" in said) == (form == "evaluation")
        assert said.endswith("\n")
        assert said.count("\n") == 1


def test_a_chat_has_a_system_a_user_and_an_assistant():
    messages = record_example(EXAMPLE, "chat")["messages"]
    assert [m["role"] for m in messages] == ["system", "user", "assistant"]
    assert messages[2]["content"] == EXAMPLE.target


def test_an_evaluation_keeps_the_answers_apart_from_the_passages():
    found = json.loads(format_example_line(EXAMPLE, "evaluation"))
    assert (found["id"], found["question"], found["answer"]) == ("q5", EXAMPLE.question, "Odd 5 Finch")
    assert found["answers"] == ["Odd 5 Finch"]
    assert [p["oracle"] for p in found["passages"]] == [p.oracle for p in EXAMPLE.passages]


def test_what_looks_like_a_placeholder_in_a_text_stays_as_it_is():
    said = format_prompt("What is {{passages}}?", [Passage("x", "It is {{question}}.", "T")])
    assert "What is {{passages}}?" in said
    assert "T\nIt is {{question}}." in said


def test_a_form_that_does_not_exist_is_refused_by_name():
    assert parse_form("chat") == "chat"
    with pytest.raises(SettingsError, match="No form is called 'alpaca'; there are completion, chat, evaluation"):
        parse_form("alpaca")
