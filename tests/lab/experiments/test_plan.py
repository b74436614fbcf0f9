"""What an evaluation is to do, and the questions that it asks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sensegraph.errors import InputError
from sensegraph.lab.experiments.conditions import JudgePlan, Plan, read_asked_questions

TWO = {"a": {"method": "naive"}, "b": {"method": "walk"}}


def test_lines_of_a_text_file_are_questions_and_empty_ones_are_not(tmp_path: Path):
    (tmp_path / "q.txt").write_text("Who came?\n\n  Why?  \n")
    assert [(q.id, q.text) for q in read_asked_questions(tmp_path / "q.txt")] == [("q1", "Who came?"), ("q2", "Why?")]


def test_objects_may_have_an_id_a_type_and_reference_answers_at_the_top_or_in_metadata(tmp_path: Path):
    records = [
        {"_id": "x", "text": "Who?", "metadata": {"type": "adversarial", "answer": "Nobody"}},
        {"question": "When?", "answers": ["In 1843", "1843", "1843"]},
    ]
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    one, other = read_asked_questions(tmp_path / "q.jsonl")
    assert (one.id, one.references, one.answerable) == ("x", ("Nobody",), False)
    assert (other.id, other.references, other.answerable) == ("2", ("In 1843", "1843"), True)


def test_parts_of_one_answer_are_no_alternatives_and_may_have_several_forms(tmp_path: Path):
    record = {"text": "Who and when?", "metadata": {"parts": ["Ada", ["1843", "in 1843"], ""]}}
    (tmp_path / "q.jsonl").write_text(json.dumps(record))
    (one,) = read_asked_questions(tmp_path / "q.jsonl")
    assert (one.references, one.parts) == ((), (("Ada",), ("1843", "in 1843")))


def test_a_folder_in_beirs_layout_is_read_by_its_queries_and_a_limit_takes_the_first(tmp_path: Path):
    (tmp_path / "queries.jsonl").write_text('{"_id": "1", "text": "A?"}\n{"_id": "2", "text": "B?"}\n')
    assert [q.text for q in read_asked_questions(tmp_path, limit=1)] == ["A?"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no question"),
        ("{", "line 1: not valid JSON"),
        ('{"text": " "}', "line 1: not a question"),
        ('["x"]', "not a question"),
        ('{"_id": 1, "text": "A?"}\n{"_id": 1, "text": "B?"}', "given twice"),
    ],
)
def test_what_is_no_question_is_named_with_its_line(tmp_path: Path, text: str, said: str):
    (tmp_path / "q.jsonl").write_text(text)
    with pytest.raises(InputError, match=said):
        read_asked_questions(tmp_path / "q.jsonl")


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path):
    with pytest.raises(InputError, match="There are no questions"):
        read_asked_questions(tmp_path / "q.jsonl")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"conditions": {}}, "No condition is given"),
        ({"baseline": "c"}, "'c' is no condition; there are a, b"),
        ({"limit": -1}, "limit must be at least 0"),
        ({"draws": 0}, "draws must be at least 1"),
        ({"metrics": ("claims", "claims")}, "'claims' is named twice"),
        ({"conditions": {"a": {}}, "metrics": ("judge",)}, "at least two conditions"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(given: dict[str, object], said: str):
    with pytest.raises(InputError, match=said):
        Plan(**({"corpus": "c", "questions": "q", "conditions": TWO} | given))  # type: ignore[arg-type]


def test_a_judge_compares_all_pairs_or_each_with_the_baseline():
    three = TWO | {"c": {"method": "bm25"}}
    assert Plan("c", "q", three).pairs == (("a", "b"), ("a", "c"), ("b", "c"))
    assert Plan("c", "q", three, baseline="b", judge=JudgePlan(pairs="baseline")).pairs == (("a", "b"), ("c", "b"))


def test_an_unknown_preset_or_criterion_is_an_error_before_any_work():
    with pytest.raises(InputError, match="edge2024"):
        _ = Plan("c", "q", TWO, judge=JudgePlan(preset="edge2042")).judging
    with pytest.raises(InputError, match="diversity"):
        _ = Plan("c", "q", TWO, judge=JudgePlan(criteria=("diversiti",))).judging
