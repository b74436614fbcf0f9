"""The cases by which a judge is tried: in the papers' pattern, and told right from wrong (bench/judge_cases.py)."""

from __future__ import annotations

from pathlib import Path

import pytest

import judge_cases
from scripted import Script, ScriptedServer
from sensegraph.lab.judging.criteria import choose_rules


def folder(place: Path, server: ScriptedServer) -> Path:
    place.mkdir(exist_ok=True)
    endpoint = f'[endpoint]\nbase_url = "{server.base_url}"\nmodel = "scripted"\nmax_retries = 1\n'
    (place / "sensegraph.toml").write_text(endpoint, encoding="utf-8")
    return place


def test_the_cases_name_a_winner_for_each_criterion_of_their_preset() -> None:  # G42, L30
    for case in judge_cases.cases():
        assert set(case["wins"]) == {c.name for c in choose_rules(case["preset"]).criteria}
        assert set(case["wins"].values()) <= set(judge_cases.PAIR)
    wins = judge_cases.cases()[0]["wins"]
    assert [wins[c] for c in ("comprehensiveness", "diversity", "empowerment", "directness")] == [
        *["first"] * 3,
        "second",
    ]


def test_a_judge_that_reads_is_told_from_one_that_follows_the_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedServer() as server:
        judge_cases.main(["--root", str(folder(tmp_path / "fair", server)), "--replicates", "1"])
    fair = capsys.readouterr().out
    assert "ok   directness          0.0 for the first, 1 of 1 the same in both orders" in fair
    with ScriptedServer(Script(first_bias=1.0)) as server:
        assert judge_cases.main(["--root", str(folder(tmp_path / "biased", server)), "--replicates", "1"]) == 1
    biased = capsys.readouterr().out
    assert "FAIL comprehensiveness  50.0 for the first, 0 of 1" in biased
    assert "! The answer shown first wins 100.0%" in biased
    assert "8 winners missed" in biased
