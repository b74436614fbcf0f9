"""Bounds of a plan, and what answers took, by examples that are counted by hand."""

from __future__ import annotations

import pytest

from sensegraph.errors import InputError
from sensegraph.lab.experiments.conditions import Plan, Reply, sum_costs
from sensegraph.types import Answer, Usage

TWO = {"a": {"method": "naive"}, "b": {"method": "bm25"}}


def test_a_judge_compares_two_conditions_at_least() -> None:
    assert len(Plan("c", "q", TWO, metrics=("judge",)).conditions) == 2
    with pytest.raises(InputError, match="at least two conditions"):
        Plan("c", "q", {"a": TWO["a"]}, metrics=("judge",))


@pytest.mark.parametrize("name", ["limit", "context_tokens", "answer_words", "examples", "draws", "seed", "ask_above"])
def test_a_number_of_a_plan_has_a_least_value(name: str) -> None:
    least = 1 if name == "draws" else 0
    assert getattr(Plan("c", "q", TWO, **{name: least}), name) == least  # type: ignore[arg-type]
    with pytest.raises(InputError, match=f"{name} must be at least {least}, not {least - 1}"):
        Plan("c", "q", TWO, **{name: least - 1})  # type: ignore[arg-type]


def reply(seconds: float, calls: int, failure: str = "") -> Reply:
    return Reply(Answer("Said.", usage=Usage(calls, seconds=seconds)), failure)


def test_only_what_was_answered_has_a_cost() -> None:
    cost = sum_costs([reply(1.0, 2), reply(2.0, 1), reply(6.0, 4), reply(99.0, 50, "it failed")])
    assert (cost.usage.calls, cost.usage.seconds) == (7, 9.0)
    assert [getattr(cost, name) for name in cost.__dataclass_fields__][1:3] == [3.0, 2.0]


def test_where_nothing_was_answered_nothing_was_taken() -> None:
    cost = sum_costs([reply(99.0, 50, "it failed")])
    assert [getattr(cost, name) for name in cost.__dataclass_fields__] == [Usage(), 0.0, 0.0, 0.0]
