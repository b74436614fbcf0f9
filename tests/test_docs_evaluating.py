"""The example of docs/evaluating.md runs as it stands."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sensegraph.cli import app

PAGE = Path(__file__).resolve().parents[1] / "docs" / "evaluating.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_the_plan_of_the_page_is_carried_out_by_its_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("themes.toml").write_text(blocks("toml")[0])
    Path("questions.jsonl").write_text(blocks("json")[0])
    said = ""
    for line in blocks("sh")[0].splitlines() + blocks("sh")[1].splitlines():
        result = CliRunner().invoke(app, shlex.split(line)[1:])
        assert result.exit_code == 0, result.output
        said += result.stdout
    assert "3 conditions, 4 questions; engine offline" in said
    assert "no calls to a model, no cost" in said
    found = json.loads(Path("themes.results/results.json").read_text())
    assert {m["group"] for m in found["measures"]} == {
        *("Length", "Claims", "Clusters of claims", "Grounding", "Reference answers"),
    }
    contained = next(m for m in found["measures"] if m["name"] == "containment")
    assert contained["means"] == pytest.approx(dict.fromkeys(("C0", "local", "naive"), 2 / 3))  # as the page says
    assert not any(p["better"] for m in found["measures"] for p in m["pairs"])  # as the page says of four questions
    assert "with 4 questions p cannot be below 0.125" in said
    assert Path("themes.results/report.html").read_text().startswith("<!DOCTYPE html>")
    told = PAGE.read_text(encoding="utf-8").split("## JSON")[1]
    keys = [*found, *found["conditions"]["C0"], *found["measures"][0]]
    assert [k for k in keys if f"`{k}`" not in told] == []
