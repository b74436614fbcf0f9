"""`sensegraph eval questions`, as its users meet it (G30, N42)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from harbour import papers
from scripted import ScriptedServer
from sensegraph.cli import app
from sensegraph.corpus.corpus import Corpus
from sensegraph.lab.questions.grounded_questions import LACKING
from sensegraph.lab.retrieval import read_set
from wired import settings

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(app, ["eval", "questions", *map(str, words)])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    given = {"engine": "offline", "index": {"parts": ["graph", "reports"]}}
    with Corpus.open(tmp_path / "harbour", settings=given) as made:
        made.add(*papers())
        made.build()
    return tmp_path / "harbour"


def read_metadata(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line)["metadata"] for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_file_of_questions_is_written_and_told_of(run: Run, root: Path, tmp_path: Path):
    result = run("--root", root, "--each", 2, "--out", "q.jsonl", "--engine", "offline")
    assert result.exit_code == 0, result.stderr
    found = read_metadata(tmp_path / "q.jsonl")
    assert {q["type"] for q in found} >= {"local", "comparison", "global", "disambiguation"}
    assert not [q for q in found if q["type"] == "adversarial"]
    assert "local               2  by template" in result.stdout
    assert f"together        {len(found):>5}, to q.jsonl" in result.stdout


def test_what_could_not_be_made_is_said_with_its_reason_and_what_would_help(run: Run, root: Path):
    result = run("--root", root, "--classes", "linked", "--each", 50, "--out", "q.jsonl", "--engine", "offline")
    assert result.exit_code == 0, result.stderr
    reasons = re.findall(r"missing: \d+ × (\w+): (.*)", result.stdout)
    assert ("bridge", LACKING["bridge"]) in reasons
    assert "more come of a model (--set endpoint.model=…), or of more and longer texts" in result.stdout


def test_personas_need_a_model_and_that_is_said(run: Run, root: Path):
    result = run("--root", root, "--about", "Minutes of a harbour", "--out", "q.jsonl", "--engine", "offline")
    assert result.exit_code == 1
    assert "it needs a model (endpoint.model); questions from the graph need none (--from-graph)." in result.stderr


def test_a_folder_is_a_set_that_retrieval_is_measured_on(run: Run, root: Path, tmp_path: Path):
    result = run("--root", root, "--classes", "local,linked,adversarial", "--each", 2, "--out", "set", "--json")
    assert result.exit_code == 0, result.stderr
    told = json.loads(result.stdout)
    assert told["counts"]["adversarial"] == 2
    assert told["out"] == "set"
    assert len(told["questions"]) == sum(told["counts"].values())
    assert len(read_set(tmp_path / "set").queries) == len(told["questions"]) - 2
    words = ["evaluate", "retrieval", "--data", "set", "--root", str(root), "--methods", "bm25,naive", "--draws", "10"]
    measured = CliRunner().invoke(app, words)
    assert measured.exit_code == 0, measured.stderr
    assert "it was there" in measured.stdout


def test_personas_ask_by_a_description_without_any_index(run: Run, tmp_path: Path):
    with ScriptedServer() as server:
        (tmp_path / "empty").mkdir()
        _write(tmp_path / "empty", server)
        given = ("--root", "empty", "--about", "Letters of a harbour town.", "--personas", 2, "--tasks", 1)
        foreseen = run(*given, "--questions", 1, "--dry-run", "--json")
        assert foreseen.exit_code == 0, (foreseen.stderr, foreseen.exception)
        told = json.loads(foreseen.stdout)
        assert told["calls"] == 1 + 2 + 2
        assert server.calls == []
        result = run(*given, "--questions", 1, "--out", "q.jsonl")
    assert result.exit_code == 0, result.stderr
    assert "by persona" in result.stdout
    assert "cost: " in result.stdout
    found = read_metadata(tmp_path / "q.jsonl")
    assert {q["made"] for q in found} == {"persona"}


def _write(folder: Path, server: ScriptedServer) -> None:
    endpoint = settings(server)["endpoint"]
    lines = "".join(f"{k} = {json.dumps(v)}\n" for k, v in endpoint.items())
    (folder / "sensegraph.toml").write_text("[endpoint]\n" + lines)


def test_an_estimate_names_its_steps(run: Run, root: Path):
    result = run("--root", root, "--dry-run", "--engine", "offline")
    assert result.exit_code == 0, result.stderr
    assert "0 calls, 0 tokens in, 0 out, 0.0000 USD" in result.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--classes", "hard", "--out", "q.jsonl"), "--classes names 'hard'"),
        ((), "--out names where the questions go"),
    ],
)
def test_wrong_usage_is_explained(run: Run, root: Path, words: tuple[str, ...], said: str):
    result = run("--root", root, *words)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.replace("│", " ").split())


def test_offline_nobody_invents_personas(run: Run, root: Path):
    result = run("--root", root, "--engine", "offline", "--about", "Letters.", "--out", "q.jsonl")
    assert result.exit_code == 1
