"""`sensegraph eval papers` for studies: the resolution limit, gleaning, context size, seven methods in pairs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from judged_towns import written
from scripted import Script, ScriptedServer
from scripted_replies import task_of
from sensegraph.algorithms.clustering import partition_quality
from sensegraph.cli import app
from sensegraph.lab.reproduction.rings import JOINED, SIZE, link_cliques
from wired import stories

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(app, ["eval", "papers", *map(str, words)])


def wire(server: ScriptedServer) -> None:
    lines = ["[endpoint]", f'base_url = "{server.base_url}"', 'model = "scripted"', "[model]", "max_gleanings = 0"]
    Path("sensegraph.toml").write_text("\n".join(lines) + "\n")


def table_of(result: Result, place: int = 0) -> dict[str, Any]:
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)["tables"][place]
    columns = list(dict.fromkeys(f["column"] for f in found["figures"]))
    rows: dict[str, dict[str, list[Any]]] = {}
    for figure in found["figures"]:
        row = rows.setdefault(figure["row"], {"ours": [], "published": []})
        row["ours"].append(figure["ours"])
        row["published"] += [] if figure["published"] is None else [figure["published"]]
    return found | {"columns": columns, "rows": rows}


def test_the_resolution_limit_is_a_table_over_growing_rings_and_a_picture(run: Run, tmp_path: Path) -> None:
    found = table_of(run("cpm", "--json"))
    cliques = [float(n) for n in found["columns"]]
    assert cliques[0] < JOINED < cliques[-1]
    rows = {name: row["ours"] for name, row in found["rows"].items()}
    assert rows["cpm, γ 0.1"] == rows["cpm, γ 0.5"] == cliques
    pairs = zip(rows["modularity"], cliques, strict=True)
    assert [n < c for n, c in pairs] == [c >= JOINED for c in cliques]
    assert [n < c for n, c in zip(rows["modularity, γ 4"], cliques, strict=True)] == [c > 50 for c in cliques]
    assert found["as_before"]
    assert not found["changed"]
    assert all(row["published"] == [] for row in found["rows"].values())
    drawn = ElementTree.parse(tmp_path / "repro/traag2011/rings.svg").getroot()
    said = {"".join(e.itertext()) for e in drawn.iter()}
    assert {*rows, "cliques in the ring", "communities found"} <= said


def test_the_limit_stands_where_arithmetic_says() -> None:
    for count, gains in ((JOINED - 1, False), (JOINED + 1, True)):
        each = [node // SIZE for node in range(count * SIZE)]
        joined = [min(c, count - 2) for c in each]  # the last two are one
        ring = link_cliques(count)
        one, other = (partition_quality(ring, np.array(labels)) for labels in (each, joined))
        assert (other > one + 1e-12) == gains


def _mix(folder: Path) -> None:
    told = [{"_id": d.id, "title": d.title, "text": d.text} for d in stories(2)]
    asked = [{"_id": "q", "text": "Who wrote to whom?"}]
    written(folder, told, asked)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("paper", "table", "data", "published"),
    [
        ("edge2024", "sizes", "podcast", {"comprehensiveness": 58.1, "diversity": 52.4, "empowerment": 51.3}),
        ("zhang2025", "4", "mix", {"naive overall": 97.3, "hirag comprehensiveness": 56.2, "kag diversity": 98.8}),
    ],
)
def test_win_rates_of_a_study_stand_beside_the_published_ones_and_are_those_of_the_judge(
    run: Run, tmp_path: Path, paper: str, table: str, data: str, published: dict[str, float]
) -> None:
    _mix(tmp_path / "data" / data)
    without = run(paper, "--table", table)
    assert without.exit_code == 1
    assert "it needs a judge" in without.stderr
    with ScriptedServer() as server:
        wire(server)
        found = table_of(run(paper, "--table", table, "--json", "--yes"))
    rows = found["rows"]
    assert {name: rows[name]["published"][0] for name in published} == published
    assert len(rows) == (3 if data == "podcast" else 24)
    assert all(0 <= row["ours"][0] <= 100 for row in rows.values())
    assert (found["as_before"], found["changed"]) == (0, 0)  # nothing is pinned
    results = json.loads(next((tmp_path / "repro" / paper).glob(f"{data}.*/results.json")).read_text())
    ours = {name: row["ours"][0] for name, row in rows.items()}
    for criterion, pairs in results["verdicts"]["pairs"].items():
        wins = {p["first"]: p["means"][p["second"] in ("leanrag", "8k")] for p in pairs}
        assert len(wins) == len(pairs) == len(results["conditions"]) - 1
        if data == "mix":
            assert {name: ours[f"{name} {criterion}"] for name in wins} == wins
        elif criterion != "directness":
            assert ours[criterion] == pytest.approx(sum(wins.values()) / 3)
    (told,) = (note for note in found["notes"] if note.startswith("Mean tokens of a context: "))
    assert f"{next(iter(results['conditions']))} " in told


def _paragraphs(folder: Path) -> None:
    """Twenty stories in paragraphs: about a thousand tokens, each text far shorter than a chunk."""
    told = [{"_id": d.id, "title": d.title, "text": d.text} for d in stories(20)]
    written(folder, told, [{"_id": "q", "text": "Who wrote to whom?"}], [("q", told[0]["_id"], 1)])


def _gleans_two_rounds(body: dict[str, Any]) -> str | None:
    """Something is always missed; each of the first two further lists names a thing more."""
    if task_of(body) == "check":
        return "yes"
    rounds = sum("still missing" in m["content"] for m in body["messages"])
    if not rounds:
        return None
    entity = {"name": f"Gleaned {min(rounds, 2)}", "type": "thing", "description": "It was missed."}
    return json.dumps({"entities": [entity], "relations": []})


def test_references_by_size_of_chunks_are_counted_offline_without_gleaning_and_it_is_said(
    run: Run, tmp_path: Path
) -> None:
    _paragraphs(tmp_path / "data" / "hotpotqa")
    found = table_of(run("edge2024", "--table", "figure 3", "--json"))
    rows = {name: row["ours"] for name, row in found["rows"].items()}
    assert found["columns"] == ["0", "1", "2", "3"]
    assert all(row[0] > 0 and row[1:] == [None] * 3 for row in rows.values())
    assert rows["600 ÷ 2400"][0] == rows["chunks of 600"][0] / rows["chunks of 2400"][0]
    assert rows["chunks of 600"][0] > rows["chunks of 2400"][0]
    assert {name: row["published"] for name, row in found["rows"].items() if row["published"]} == {"600 ÷ 2400": [2.0]}
    assert any("does not glean" in note for note in found["notes"])
    assert any("This is no reproduction" in note for note in found["notes"])
    assert (found["as_before"], found["changed"]) == (0, 0)  # nothing is pinned


@pytest.mark.slow
def test_references_grow_with_the_rounds_of_gleaning_in_which_something_is_found(run: Run, tmp_path: Path) -> None:
    _paragraphs(tmp_path / "data" / "hotpotqa")
    with ScriptedServer(Script(reply=_gleans_two_rounds)) as server:
        wire(server)
        dry = run("edge2024", "--table", "figure 3", "--dry-run").stdout
        assert server.calls == []
        found = table_of(run("edge2024", "--table", "figure 3", "--json"))
        before = len(server.calls)
        assert table_of(run("edge2024", "--table", "figure 3", "--json")) == found
        assert len(server.calls) == before > 0
    assert all(f"chunks of {size}, {n} gleanings" in dry for size in (600, 1200, 2400) for n in range(4))
    rows = {name: row["ours"] for name, row in found["rows"].items()}
    for size in (600, 1200, 2400):
        none, one, two, three = rows[f"chunks of {size}"]
        assert none < one < two == three
    assert rows["chunks of 1200"] == [184, 188, 192, 192]
    assert rows["600 ÷ 2400"] == [a / b for a, b in zip(rows["chunks of 600"], rows["chunks of 2400"], strict=True)]
    assert not any("no reproduction" in note for note in found["notes"])
