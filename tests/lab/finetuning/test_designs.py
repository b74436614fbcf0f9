"""Designs: what a file must say, and metrics that never stand for others (R14–R16, R23)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sensegraph.cli import app
from sensegraph.engines.offline.engine import ClassicalEngine
from sensegraph.errors import InputError, SettingsError
from sensegraph.lab.finetuning.factorial import designs
from sensegraph.lab.finetuning.factorial.design_effects import ARMS, DesignQuestion, Reply
from sensegraph.lab.finetuning.factorial.designs import (
    BertModel,
    Design,
    Ratings,
    rating_line,
    read_design,
    remove_markers,
)
from sensegraph.models.embedders import HashedTerms
from sensegraph.runtime.executors.processes import LocalExecutor
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Answer, Citation

ASKED = [
    DesignQuestion("1", "who rows", ("Ada rows the boat",), "local"),
    DesignQuestion("2", "who sails", ("Bram sails",), "global"),
]
REPLIES = [Reply(p.id, arm.name, p.answers[0] if arm.model == "tuned" else "nobody") for arm in ARMS for p in ASKED]
PLAN = Design("index", "asked.jsonl", "written by hand", metrics=("rouge-1", "semantic", "bertscore", "human"))


@pytest.fixture
def rt(store: SqliteStore) -> Runtime:
    return Runtime(ClassicalEngine(), HashedTerms(), store, LocalExecutor(1, 1))


def test_without_a_model_for_it_bertscore_is_not_measured_and_what_stands_there_has_its_own_name_r23(rt: Runtime):
    found, notes = designs.measure_design(PLAN, ASKED, REPLIES, rt)
    assert [m.metric for m in found] == ["rouge-1", "semantic", "token-match F1"]
    assert "BERTScore was not measured: the design names no model for it; token-match F1 stands in its place" in notes
    assert "rescaled by 1,000 random pairs" in found[2].how
    assert [v > 0.99 for v in (*found[2].values["graft"], *found[2].values["rag"])] == [True, True, False, False]


def test_a_model_of_bertscore_that_is_not_there_is_an_error_and_never_another_metric(rt: Runtime, tmp_path: Path):
    plan = Design("i", "q", "g", metrics=("bertscore",), bertscore=BertModel(str(tmp_path / "none")))
    with pytest.raises(InputError, match="BERTScore needs a model's folder"):
        designs.measure_design(plan, ASKED, REPLIES, rt)


def test_without_ratings_the_human_metric_is_left_out_and_that_is_said(rt: Runtime):
    _, notes = designs.measure_design(PLAN, ASKED, REPLIES, rt)
    assert any(note.startswith("human: not rated") for note in notes)
    ratings = Ratings({rating_line(r): float(r.answer != "nobody") for r in REPLIES}, 1, 0)
    found, _ = designs.measure_design(PLAN, ASKED, REPLIES, rt, ratings)
    assert found[-1].values["raft"] == [1.0, 1.0]
    assert found[-1].values["rag"] == [0.0, 0.0]


def put(folder: Path, text: str, **rows: Any) -> Path:
    path = folder / "design.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('corpus = "i"\nquestions = "q"', "gold is missing"),
        ('corpus = "i"\nquestions = "q"\ngold = " "', "gold is empty"),
        ('corpus = "i"\nquestions = "q"\ngold = "g"\nmetrics = ["best"]', "No metric is called 'best'"),
        ('corpus = "i"\nquestions = "q"\ngold = "g"\nchunks = {top = 3}', "chunks names no method"),
        ('corpus = "i"\nquestions = "q"\ngold = "g"\nchunk = {top = 3}', "did you mean chunks"),
        ("corpus =", "is not valid TOML"),
    ],
    ids=lambda text: text[:40],
)
def test_a_design_that_lacks_something_is_an_error_that_names_it(tmp_path: Path, text: str, why: str):
    with pytest.raises(SettingsError, match=why):
        read_design(put(tmp_path, text))


def test_the_design_that_the_documentation_shows_can_be_read(tmp_path: Path):
    page = (Path(__file__).parents[3] / "docs" / "finetuning.md").read_text("utf-8")
    shown = [b for b in re.findall(r"^```toml\n(.*?)^```", page, re.MULTILINE | re.DOTALL) if "summaries" in b]
    assert len(shown) == 1
    found = read_design(put(tmp_path, shown[0]))
    assert set(found.metrics) == set(designs.METRICS)
    assert found.tuned


def test_paths_of_a_design_are_meant_from_its_file(tmp_path: Path):
    found = read_design(put(tmp_path, 'corpus = "i"\nquestions = "q"\ngold = "g"\nbertscore = {model = "m"}'))
    assert (found.corpus, found.questions) == (str(tmp_path / "i"), str(tmp_path / "q"))
    assert found.bertscore is not None
    assert (found.bertscore.model, found.bertscore.baseline) == (str(tmp_path / "m"), "")


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (["{"], "line 1"),
        ([{"id": "1", "question": "q"}], "line 1: a question has id, question and answer"),
        ([{"id": "1", "question": "q", "answer": "a"}] * 2, "ids that differ"),
        ([], "one question at least"),
    ],
    ids=["no JSON", "no answer", "twice", "none"],
)
def test_questions_that_cannot_be_used_are_named(tmp_path: Path, lines: list[Any], why: str):
    path = tmp_path / "q.jsonl"
    path.write_text("\n".join(x if isinstance(x, str) else json.dumps(x) for x in lines))
    with pytest.raises(InputError, match=why):
        designs.read_design_questions(path)


def test_a_corpus_that_is_not_indexed_is_said_in_one_sentence(tmp_path: Path):
    (tmp_path / "q.jsonl").write_text(json.dumps({"id": "1", "question": "q", "answer": "a"}))
    path = put(tmp_path, 'corpus = "i"\nquestions = "q.jsonl"\ngold = "g"')
    result = CliRunner().invoke(app, ["tune", "compare", str(path), "--out", str(tmp_path / "out")])
    assert result.exit_code == 1
    assert "There is no index" in result.stderr


def test_the_numbers_of_citations_are_no_part_of_what_is_judged():
    citations = (Citation(1, "d", 0, 1, "x"),)
    assert remove_markers(Answer("Ada [1] rowed [2] in [1865].", citations)) == "Ada rowed [2] in [1865]."
