"""Where questions come from: test collections, and files in the form of HotpotQA (R13; graft §3)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from finetuning_towns import hops
from judged_towns import qrels, queries, written
from sensegraph.errors import InputError
from sensegraph.lab.finetuning.data import sources
from sensegraph.lab.finetuning.data.example_types import DroppedQuestion, SourceQuestion
from sensegraph.lab.finetuning.data.sources import (
    add_near_passages,
    read_answers,
    read_hotpot_source,
    read_judged_source,
    stream_records,
)

ANSWERED = [{**q, "metadata": {**q.get("metadata", {}), "answer": ["the keeper", "keeper"]}} for q in queries()]


@pytest.fixture
def towns(tmp_path: Path) -> Path:
    return written(tmp_path / "towns", asked=ANSWERED)


def test_of_a_test_collection_the_judged_documents_are_the_gold_passages(towns: Path):
    _, found = read_judged_source(towns)
    questions = {q.id: q for q in found.questions if isinstance(q, SourceQuestion)}
    assert sorted(questions) == ["q0", "q1", "q2", "q9"]
    assert questions["q0"].answers == ("the keeper", "keeper")
    assert [(p.id, p.oracle, p.title) for p in questions["q9"].oracles] == [
        ("k4", True, "Keeper 4"),
        ("f4", True, "Ferry 4"),
    ]
    assert found.left_out == (("adversarial", 1), ("not judged", 1))
    assert len(found.pool) == 12
    assert not any(p.oracle for p in found.pool)


def test_passages_are_counted_by_title_or_by_a_field(towns: Path):
    assert {p.topic for p in read_judged_source(towns)[1].pool} == {
        f"{k} {i}" for k in ("Keeper", "Ferry") for i in range(6)
    }
    assert {p.topic for p in read_judged_source(towns, topic="shore")[1].pool} == {"north", "south"}


def test_a_field_that_no_document_has_is_an_error_that_names_those_that_there_are(towns: Path):
    with pytest.raises(InputError, match="No document has the field 'coast' to count by; there are shore"):
        read_judged_source(towns, topic="coast")


def test_a_question_whose_gold_passage_is_not_there_is_dropped(tmp_path: Path):
    data = written(tmp_path / "holes", asked=ANSWERED, judged=[*qrels(), ("q0", "gone", 1)])
    dropped = [q for q in read_judged_source(data)[1].questions if isinstance(q, DroppedQuestion)]
    assert dropped == [DroppedQuestion("q0", "1 of its gold passages are not in the corpus", "one")]


def test_the_errors_of_a_ranking_stand_beside_each_question_without_its_gold_passages(towns: Path):
    _, found = read_judged_source(towns)
    nearer = add_near_passages(found, {"q0": ("f0", "k0", "k1", "unknown"), "q9": ("k4",)}, "walk")
    near = {q.id: [(p.id, p.kind) for p in q.near] for q in nearer.questions if isinstance(q, SourceQuestion)}
    assert near["q0"] == [("f0", "hard"), ("k1", "hard")]
    assert near["q9"] == near["q1"] == []
    assert nearer.near == "walk"


@pytest.mark.parametrize(
    ("record", "answers"),
    [
        ({"answer": "yes "}, ("yes",)),
        ({"metadata": {"answer": ["a", "a", " ", "b"]}}, ("a", "b")),
        ({"answer": "own", "metadata": {"answer": "other"}}, ("own",)),
        ({"answer": []}, ()),
        ({"parts": ["a", ["b", "B"]]}, ("a; b",)),
        ({}, ()),
    ],
)
def test_answers_are_a_text_or_a_list_of_the_question_or_its_metadata(record: dict[str, Any], answers: tuple):
    found, parts = read_answers(record)
    assert found == answers
    assert parts == (("a", "b") if "parts" in record else ())


# ── HotpotQA ──


def columns(record: dict[str, Any]) -> dict[str, Any]:
    """The other public form: columns in place of pairs."""
    context = {"title": [t for t, _ in record["context"]], "sentences": [s for _, s in record["context"]]}
    facts = {"title": [t for t, _ in record["supporting_facts"]], "sent_id": [n for _, n in record["supporting_facts"]]}
    return {**{k: v for k, v in record.items() if k != "_id"}, "id": record["_id"]} | {
        "context": context,
        "supporting_facts": facts,
    }


def test_both_forms_of_hotpotqa_give_the_same_questions(tmp_path: Path):
    one, other = tmp_path / "one.json", tmp_path / "other.jsonl"
    one.write_text(json.dumps([hops(1), hops(2)], indent=1))
    other.write_text("\n".join(json.dumps(columns(hops(n))) for n in (1, 2)))
    first, second = (list(read_hotpot_source(path).questions) for path in (one, other))
    assert first == second
    question = first[0]
    assert isinstance(question, SourceQuestion)
    assert [(p.title, p.oracle) for p in question.oracles] == [("Page 1-1", True), ("Page 1-3", True)]
    assert question.oracles[0].text == "Sentence 1-1 one. And 1-1 two."
    assert [(p.title, p.kind) for p in question.near] == [(f"Page 1-{i}", "own") for i in (0, 2, 4)]
    assert question.type == "bridge"


def test_the_pool_is_a_sample_of_all_paragraphs_without_a_mark_of_whose_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "many.json"
    path.write_text(json.dumps([hops(n // 2) | {"_id": f"h{n}"} for n in range(20)]))  # every text twice
    whole = read_hotpot_source(path).pool
    assert len(whole) == len({p.text for p in whole}) == 50
    assert not any(p.oracle or p.kind for p in whole)
    monkeypatch.setattr(sources, "_POOL", 10)
    few = [read_hotpot_source(path, seed).pool for seed in (0, 0, 1)]
    assert few[0] == few[1] != few[2]
    assert len({p.text for p in few[0]}) == 10


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (hops(1, context=None), "record 2: not in the form of HotpotQA"),
        ({k: v for k, v in hops(1).items() if k != "supporting_facts"}, r"record 2: .*supporting_facts"),
        (hops(1, _id=""), "record 2: .*no _id"),
        ([1], "where an object is due"),
    ],
)
def test_a_record_that_has_not_the_form_is_named(tmp_path: Path, broken: Any, said: str):
    path = tmp_path / "broken.json"
    path.write_text(json.dumps([hops(0), broken]))
    with pytest.raises(InputError, match=said):
        list(read_hotpot_source(path).questions)


def test_objects_are_read_one_at_a_time_however_the_file_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "pieces.json"
    values = [{"n": i, "text": 'brackets ], [ and "quotes" é ' * i} for i in range(6)]
    path.write_text("\ufeff" + json.dumps(values, ensure_ascii=False), encoding="utf-8")
    for size in (1, 7, 1 << 20):
        monkeypatch.setattr(sources, "_READ", size)
        assert list(stream_records(path)) == values
    path.write_text('[{"n": 0}, {"n": ')
    with pytest.raises(InputError, match="not valid JSON near"):
        list(stream_records(path))
