"""`tune factorial` without training: the offline engine as the base, a model behind an endpoint as the tuned one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from scripted import ScriptedServer
from sensegraph.cli import app
from sensegraph.corpus.corpus import Corpus
from sensegraph.lab.finetuning.factorial.design_effects import ARMS
from wired import stories

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index made offline, and questions about it."""
    root = tmp_path_factory.mktemp("design")
    with Corpus.open(root / "index") as corpus:
        corpus.add(stories(4))
        corpus.build()
    rows = [
        {"id": "1", "question": "Who paid Ada Harrow?", "answer": "Bram Harrow", "type": "local", "topic": "money"},
        {"id": "2", "question": "Who sailed?", "answers": ["Cora Stone", "Finn"], "type": "global", "topic": "sea"},
        {"id": "3", "question": "Whom did Elsa hire?", "answer": "Nils Stone", "type": "local", "topic": "work"},
    ]
    (root / "asked.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return root


def design(folder: Path, server: ScriptedServer | None, more: str = "") -> Path:
    lines = ['corpus = "index"', 'questions = "asked.jsonl"', 'gold = "made up"', "draws = 100"]
    lines += ['metrics = ["rouge-1", "semantic", "bertscore", "human"]', 'base = { engine = "offline" }']
    if server:
        at = f'{{ base_url = "{server.base_url}", model = "scripted", max_retries = 0 }}'
        lines.append(f'tuned = {{ engine = "model", endpoint = {at} }}')
    path = folder / f"design-{'four' if server else 'two'}.toml"
    path.write_text("\n".join([*lines, more]))
    return path


def run(*words: object) -> Result:
    result = CliRunner().invoke(app, ["tune", "compare", *(str(w) for w in words), "--quiet"])
    assert result.exit_code == 0, result.output
    return result


def test_all_arms_answer_and_the_tables_say_what_each_factor_does_r17(
    folder: Path, server: ScriptedServer, tmp_path: Path
):
    said = run(design(folder, server), "--out", tmp_path / "out").stdout
    assert "3 questions, 4 arms; gold answers: made up" in said
    for word in ("Baseline RAG", "GRAFT", "tuning", "interaction", "local (2)", "global (1)", "joint (3)"):
        assert word in said
    assert {call.task for call in server.calls} == {"answer"}
    lines = [json.loads(x) for x in (tmp_path / "out" / "answers.jsonl").read_text("utf-8").splitlines()]
    assert [(x["arm"], x["id"]) for x in lines] == [(a.name, n) for a in ARMS for n in "123"]
    page = (tmp_path / "out" / "tables.md").read_text("utf-8")
    assert page.count("Gold:") == 2  # one question a type
    assert all(f"### {arm.title}" in page for arm in ARMS)


def test_what_was_answered_is_kept_and_a_line_cut_by_a_kill_is_asked_again(
    folder: Path, server: ScriptedServer, tmp_path: Path
):
    plan, answers = design(folder, server), tmp_path / "out" / "answers.jsonl"
    run(plan, "--out", tmp_path / "out")
    whole = answers.read_text("utf-8")
    first, _, rest = whole.partition("\n")
    edited = json.dumps(json.loads(first) | {"answer": "as it was"}) + "\n" + rest
    answers.write_text(edited[:-40], encoding="utf-8")
    run(plan, "--out", tmp_path / "out")
    assert answers.read_text("utf-8") == edited
    assert edited != whole


def test_without_a_tuned_model_there_are_the_base_arms_and_the_tables_say_so(folder: Path, tmp_path: Path):
    said = json.loads(run(design(folder, None), "--out", tmp_path / "out", "--json").stdout)
    assert said["arms"] == ["rag", "graphrag"]
    assert all(row["effects"] == {} for row in said["rows"])
    assert "Effects need all four arms" in (tmp_path / "out" / "tables.md").read_text("utf-8")


def test_a_sheet_is_written_filled_in_and_read(folder: Path, server: ScriptedServer, tmp_path: Path):
    """R16: the human metric."""
    plan, sheet = design(folder, server), tmp_path / "sheet.csv"
    run(plan, "--out", tmp_path / "out", "--sheet", sheet)
    sheet.write_text(sheet.read_text("utf-8").replace(",\r\n", ",no\r\n").replace(",\n", ",no\n"), encoding="utf-8")
    said = json.loads(run(plan, "--out", tmp_path / "out", "--ratings", sheet, "--json").stdout)
    human = [row for row in said["rows"] if row["metric"] == "human"]
    assert {row["type"] for row in human} == {"local", "global", "joint"}
    assert all(arm["mean"] == 0.0 for row in human for arm in row["arms"].values())


def test_a_question_nobody_rated_is_counted(folder: Path, server: ScriptedServer, tmp_path: Path):
    plan, sheet = design(folder, server), tmp_path / "sheet.csv"
    run(plan, "--out", tmp_path / "out", "--sheet", sheet)
    said = run(plan, "--out", tmp_path / "out", "--ratings", sheet).stdout
    assert "human, joint: 3 questions without a value left out" in said
