"""The 2 × 2 design: effects from the four arms, by type, with intervals over the questions (R14–R20)."""

from __future__ import annotations

import tomllib
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.errors import InputError
from sensegraph.lab.finetuning.factorial.design_effects import (
    ALL,
    ARMS,
    DesignQuestion,
    Measured,
    Reply,
    compute_rows,
    group_replies,
)

NAMES = [arm.name for arm in ARMS]
VALUE = st.floats(0, 1, allow_nan=False)


def measured(*columns: list[float | None]) -> Measured:
    return Measured("m", dict(zip(NAMES, columns, strict=False)))


def test_the_effects_of_the_papers_joint_figures_r20():
    """Single values have no spread: the table's own contrasts, e.g. BLEU .0166/.0331/.0265/.145."""
    table = tomllib.loads((files("sensegraph") / "methods/graft/figures.toml").read_text("utf-8"))
    rag, raft, graphrag, graft = table["tables"]["joint"]["bleu"]
    (row,) = compute_rows(measured([rag], [raft], [graphrag], [graft]), [""], draws=10)
    found = {name: effect.mean for name, effect in row.effects}
    assert found["tuning"] == pytest.approx(((raft - rag) + (graft - graphrag)) / 2)
    assert found["summaries"] == pytest.approx(((graphrag - rag) + (graft - raft)) / 2)
    assert found["interaction"] == pytest.approx(0.145 - 0.0331 - 0.0265 + 0.0166)


@given(st.lists(st.tuples(VALUE, VALUE, VALUE), min_size=1, max_size=20))
def test_factors_that_only_add_up_have_no_interaction(table: list[tuple[float, float, float]]):
    columns = ([b for b, _, _ in table], [b + t for b, t, _ in table], [b + s for b, _, s in table])
    both = [b + t + s for b, t, s in table]
    (row,) = compute_rows(measured(*columns, both), [""] * len(table), draws=20)
    effect = dict(row.effects)["interaction"]
    assert [effect.mean, effect.low, effect.high] == pytest.approx([0, 0, 0], abs=1e-9)
    assert dict(row.effects)["tuning"].mean == pytest.approx(sum(t for _, t, _ in table) / len(table))


def test_the_interval_is_of_differences_within_questions():
    """Questions that differ much, arms that differ always by the same: means spread, effects do not."""
    easy = [i / 40 for i in range(40)]
    (row,) = compute_rows(measured(easy, [e + 0.1 for e in easy], easy, [e + 0.1 for e in easy]), [""] * 40, draws=500)
    arms, effects = dict(row.arms), dict(row.effects)
    assert arms["rag"].high - arms["rag"].low > 0.1
    assert effects["tuning"].low == pytest.approx(0.1)
    assert effects["tuning"].high == pytest.approx(0.1)


def test_there_is_a_row_a_type_and_one_for_all_whose_mean_is_weighted_by_their_questions():
    """R20, R22: joint figures are means weighted by 29 and 38."""
    types = ["global"] * 29 + ["non-global"] * 38
    column: list[float | None] = [0.310] * 29 + [0.263] * 38
    found = compute_rows(measured(column, column, column, column), types, draws=10)
    assert [(r.type, r.questions) for r in found] == [("global", 29), ("non-global", 38), (ALL, 67)]
    assert dict(found[-1].arms)["rag"].mean == pytest.approx(0.284, abs=0.001)


def test_a_question_without_a_value_in_one_arm_is_left_out_of_all_and_counted():
    (row,) = compute_rows(measured([0.0, 1.0], [0.0, 1.0], [None, 1.0], [0.0, 1.0]), ["", ""], draws=10)
    assert (row.questions, row.undefined) == (1, 1)
    assert dict(row.arms)["rag"].mean == 1.0


def test_two_arms_have_means_and_no_effects():
    (row,) = compute_rows(Measured("m", {"rag": [0.5], "graphrag": [0.7]}), [""], draws=10)
    assert [name for name, _ in row.arms] == ["rag", "graphrag"]
    assert row.effects == ()


ASKED = [DesignQuestion("1", "a", ("x",)), DesignQuestion("2", "b", ("y",))]


def test_replies_are_put_in_the_order_of_the_questions():
    found = group_replies(ASKED, [Reply("2", "rag", "y"), Reply("1", "rag", "x")])
    assert [r.id for r in found["rag"]] == ["1", "2"]


@pytest.mark.parametrize(
    ("replies", "why"),
    [
        ([Reply("1", "rag", "x")], "no answer to 1 questions, such as '2'"),
        ([Reply("1", "rag", "x"), Reply("2", "rag", "y"), Reply("2", "rag", "z")], "1 questions twice"),
        ([Reply("1", "best", "x")], "No arm is called 'best'"),
    ],
    ids=["missing", "twice", "unknown"],
)
def test_an_arm_must_answer_every_question_once(replies: list[Reply], why: str):
    with pytest.raises(InputError, match=why):
        group_replies(ASKED, replies)
