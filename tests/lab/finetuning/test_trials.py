"""What a model said, scored: right answers, answers out of distractors, answers after a reasoning."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.lab.finetuning.data.example_files import Item, completion_layout, format_item_prompt
from sensegraph.lab.finetuning.data.example_types import Passage
from sensegraph.lab.finetuning.data.examples import ANSWER, REASON
from sensegraph.lab.finetuning.training.model_trials import (
    ModelAnswer,
    compare_exact,
    compare_trials,
    extract_final_answer,
    record_trial,
    run_trial,
    score_trial,
    write_trial,
)
from sensegraph.lab.scores.statistics import Interval

ITEM = Item(
    "1",
    "who rows",
    "Ada",
    (Passage("a", "Ada rows.", oracle=True), Passage("b", "Bram sails.")),
    answers=("Ada", "Ada H."),
)


def test_any_of_the_right_answers_is_right():
    assert [ModelAnswer(ITEM, text).right for text in ("ada", "Ada H.", "Bram", "")] == [1, 1, 0, 0]


def test_misled_is_wrong_with_the_words_of_a_distractor():
    said = {text: ModelAnswer(ITEM, text).misled for text in ("Bram", "Ada", "Cora", "", "Bram sails")}
    assert said == {"Bram": True, "Ada": False, "Cora": False, "": False, "Bram sails": True}


def test_the_answer_is_what_follows_a_reasoning():
    """RAFT's style of answer."""
    assert extract_final_answer(f"{REASON} It says so. {ANSWER} Ada ") == "Ada"
    assert extract_final_answer(" Ada ") == "Ada"


def test_means_are_over_all_questions_and_every_answer_is_written(tmp_path: Path):
    trial = score_trial(
        [
            ModelAnswer(ITEM, "Ada"),
            ModelAnswer(ITEM, "Bram", cut=True),
            ModelAnswer(ITEM, "Ada"),
            ModelAnswer(ITEM, "Cora"),
        ]
    )
    assert (trial.exact.mean, trial.misled, trial.cut) == (0.5, 0.25, 1)
    assert trial.exact.low < 0.5 < trial.exact.high
    assert trial.table(["rouge-1"]).column("rouge-1").mean == 0.5
    write_trial(trial, tmp_path / "said.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "said.jsonl").read_text("utf-8").splitlines()]
    assert [row["answer"] for row in rows] == ["Ada", "Bram", "Ada", "Cora"]
    assert rows[1]["misled"]


def test_few_answers_that_are_all_right_are_no_proof():
    trial = score_trial([ModelAnswer(ITEM, "Ada")])
    assert (trial.exact, trial.f1) == (Interval(1.0, pytest.approx(0.2065, abs=1e-4), 1.0),) * 2  # 1 / (1 + 1.96²)
    assert compare_trials([("tuned", trial)], []).startswith("1 question, with 95 % intervals (Wilson's")


def test_what_one_model_gains_over_another_is_of_the_same_questions():
    base = score_trial([ModelAnswer(ITEM, "Bram")] * 4 + [ModelAnswer(ITEM, "Ada")] * 4)
    tuned = score_trial([ModelAnswer(ITEM, "Ada")] * 8)
    assert compare_exact(tuned, base).mean == 0.5
    assert compare_exact(base, base).high == 0.0
    assert compare_exact(base, tuned).high < 0


def test_every_question_is_put_to_the_model_and_somebody_hears_how_many_are_done():
    asked, heard = list[Any](), list[int]()

    def continued(prompt: str, most: int) -> Any:
        asked.append((prompt, most))
        finish = "length" if len(asked) == 2 else "stop"
        return SimpleNamespace(text=f" {REASON} so. {ANSWER} Ada ", finish=finish, prompt_tokens=7, tokens=len(asked))

    model: Any = SimpleNamespace(continued=continued)
    trial = run_trial(model, [ITEM, ITEM], completion_layout(), 9, heard.append)
    assert heard == [1, 2]
    assert asked == [(format_item_prompt(ITEM, completion_layout()), 9)] * 2
    assert [(s.text, s.prompt_tokens, s.tokens, s.cut) for s in trial.said] == [
        ("Ada", 7, 1, False),
        ("Ada", 7, 2, True),
    ]
    run_trial(model, [ITEM], completion_layout())
    assert asked[-1][1] == 64


def test_of_several_models_each_is_recorded_with_what_it_is_above_the_first():
    first = score_trial([ModelAnswer(ITEM, "Ada"), ModelAnswer(ITEM, "Bram")])
    other = score_trial([ModelAnswer(ITEM, "Ada"), ModelAnswer(ITEM, "Ada H.", cut=True)])
    rows = [record_trial(name, trial, first, ["rouge-1"]) for name, trial in (("base", first), ("tuned", other))]
    assert [set(row) for row in rows] == [
        {"model", "questions", "exact", "f1", "misled", "cut", "rouge-1"},
        {"model", "questions", "exact", "f1", "misled", "cut", "rouge-1", "above_first"},
    ]
    assert [(r["model"], r["questions"], r["exact"]["mean"], r["misled"], r["cut"]) for r in rows] == [
        ("base", 2, 0.5, 0.5, 0),
        ("tuned", 2, 1.0, 0.0, 1),
    ]
    assert rows[1]["above_first"]["mean"] == 0.5
