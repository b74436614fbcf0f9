"""`sensegraph repro`: tables of papers measured here, on small stand-ins for the measuring sets."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner, Result

from judged_towns import written
from scripted import ScriptedServer
from sensegraph.cli import app
from sensegraph.cli.lab import table_measuring
from sensegraph.cli.lab.repro import format_reproduction
from sensegraph.cli.lab.table_measuring import _KINDS, Bench, _set_beside_published, hash_measuring_sets
from sensegraph.cli.options import skip_progress
from sensegraph.corpus.settings import convert_settings
from sensegraph.errors import InputError
from sensegraph.lab.experiments.conditions import Plan
from sensegraph.lab.experiments.published import list_papers, read_published_table, read_win_rate_comparisons
from sensegraph.lab.reproduction.table_recipes import (
    Pinned,
    Recipe,
    ReproducedTable,
    Row,
    grade_figure,
    read_plan_text,
    read_recipes,
    select_recipes,
)
from wired import stories

Run = Callable[..., Result]
PAPERS = list_papers()


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(app, ["repro", *map(str, words)])


def podcast(folder: Path) -> Path:
    asked = [{"_id": "q1", "text": "Who keeps the lamps?"}, {"_id": "q2", "text": "What do ferries carry?"}]
    return written(folder / "data" / "podcast", asked=asked)


def wired(server: ScriptedServer) -> None:
    lines = ["[endpoint]", f'base_url = "{server.base_url}"', 'model = "scripted"', "[model]", "max_gleanings = 0"]
    Path("sensegraph.toml").write_text("\n".join(lines) + "\n")


def table_of(result: Result, place: int = 0) -> dict[str, object]:
    found: dict[str, object] = json.loads(result.stdout)[place]
    return found


# ── recipes ──


@pytest.mark.parametrize("paper", PAPERS)
def test_every_recipe_leads_from_published_rows_and_its_plan_is_a_plan(paper: str):
    assert read_recipes(paper)
    for recipe in read_recipes(paper):
        assert recipe.kind in _KINDS
        if recipe.plan:
            plan = convert_settings(
                {"corpus": "c", "questions": "q", **tomllib.loads(read_plan_text(paper, recipe.plan))}, Plan, paper
            )
            assert plan.conditions
            assert recipe.judge == bool({"judge", "scores"} & set(plan.metrics))
        if recipe.kind in ("units", "answers", "win", "contexts", "recall"):
            assert recipe.rows.keys() <= read_published_table(paper, recipe.table).rows.keys()
        if recipe.kind == "wins":
            assert recipe.rows.keys() == {r.metric for r in read_win_rate_comparisons()}


@pytest.mark.parametrize("paper", PAPERS)
def test_what_is_pinned_has_a_figure_for_every_row_and_names_a_command_that_exists(paper: str):
    assert read_recipes(paper)
    for recipe in read_recipes(paper):
        for pins in recipe.pinned:
            assert pins.rows.keys() == recipe.rows.keys()
            assert pins.command.startswith(f"sensegraph repro {paper} --table")
            assert ("--data" in pins.command) == bool(recipe.folders)
            assert pins.within >= 0
            assert isinstance(pins.measured, date)


def test_a_figure_is_ok_okish_or_fails_by_how_far_it_is_off():
    assert [grade_figure(v, 100.0, 2.0) for v in (100, 102, 98, 105.9, 106.1, None)] == [
        "ok", "ok", "ok", "okish", "fail", "fail",
    ]  # fmt: skip
    assert [grade_figure(v, 0.0, 5.0) for v in (0.0, 0.1)] == ["ok", "fail"]


def test_the_verdict_of_a_table_is_that_of_its_worst_figure_and_none_where_nothing_is_pinned():
    pins = Pinned("offline", date(2026, 1, 2), "sensegraph repro x --table 1", 1.0, {"a": (100.0, 50.0)})
    recipe = Recipe("1", "answers", "", {"a": "claims"}, pinned=(pins,))
    row = Row("a", (90.0, 40.0), (100.0, 51.0), (100.0, 50.0), 1.0)
    found = ReproducedTable(recipe, ("A", "B"), (row,), "offline", (), pins)
    assert found.grade == "okish"
    assert "okish: against our own figures of 2026-01-02 (sensegraph repro x --table 1), ± 1 %" in format_reproduction(
        found
    )
    assert ReproducedTable(recipe, ("A",), (Row("a", (), (1.0,)),), "model").grade == ""
    assert recipe.pins("model") is None
    assert recipe.pins("offline", "other data") is None


def test_an_unknown_paper_or_table_is_named_with_those_that_there_are(run: Run):
    result = run("edge2042")
    assert result.exit_code == 1
    assert "did you mean edge2024?" in result.stderr
    with pytest.raises(InputError, match="there are 2, 3, 4, 6"):
        select_recipes("edge2024", "7")
    assert select_recipes("graphrag", "Table 2")[0].kind == "units"


@pytest.mark.parametrize(
    ("paper", "written", "table"),
    [
        ("graft", "2-4", "figures 2-4"),
        ("graft", "Figure 2-4", "figures 2-4"),
        ("graft", "fig. 2-4", "figures 2-4"),
        ("leanrag", "Figure 3", "figure 3"),
        ("leanrag", "3", "3"),
    ],
)
def test_a_figure_goes_by_its_number_where_no_table_has_it(paper: str, written: str, table: str):
    assert [r.table for r in select_recipes(paper, written)] == [table]


def test_a_table_is_not_taken_for_a_figure():
    with pytest.raises(InputError, match="there are figures 2-4"):
        select_recipes("graft", "table 2-4")
    assert [r.title for r in read_recipes("leanrag")] == ["table 1", "table 2", "table 3", "figure 3", "table 4"]


# ── arithmetic ──


def test_holm_and_the_sum_of_claims_need_no_data_and_are_as_printed(run: Run):
    result = run("edge2024", "--table", "6", "--json")
    assert result.exit_code == 0
    found = table_of(result)
    assert found["grade"] == "ok"
    assert {n: r["ours"] for n, r in found["rows"].items()} == {  # type: ignore[attr-defined]
        "numeric p within 0.01": [87.0],
        "p < 0.001 found so": [33.0],
    }
    assert "table 6 (wins) is left out: " in result.stderr
    assert "47,075" in run("edge2024", "--table", "3").stdout


def test_counts_of_table_6_are_said_of_how_many_they_are(run: Run):
    said = run("edge2024", "--table", "6").stdout
    assert re.search(r"ours +87 of 87\n", said)
    assert re.search(r"ours +33 of 33\n", said)
    assert "120 of all 120 printed p follow from the printed z" in said
    assert "published" not in said.partition("120 of")[0]


def test_one_cell_of_grafts_figures_does_not_fit_and_is_named(run: Run):
    said = run("graft").stdout
    assert said.startswith("figures 2-4, joint")
    assert "human, RAFT: printed 0.403, computed 0.439" in said
    assert re.search(r"ours +19 of 20\n", said)


# ── offline ──


def test_units_and_tokens_of_each_depth_stand_beside_the_published_ones(run: Run, tmp_path: Path):
    podcast(tmp_path)
    result = run("edge2024", "--table", "2", "--json", "--set", "endpoint.max_retries=1")
    assert result.exit_code == 0, result.output
    found = table_of(result)
    assert found["grade"] == ""  # other data than those of the pinned figures
    rows = found["rows"]
    assert rows["podcast units"]["published"] == [34, 367, 969, 1310, 1669]  # type: ignore[index]
    assert rows["podcast units"]["ours"][-1] == 12  # type: ignore[index]
    assert rows["podcast %"]["ours"][-1] == 100  # type: ignore[index]


@pytest.mark.slow
def test_claims_and_clusters_of_six_conditions_share_their_answers(run: Run, tmp_path: Path):
    told = [{"_id": d.id, "title": d.title, "text": d.text} for d in stories(3)]
    written(tmp_path / "data" / "podcast", told, [{"_id": "q", "text": "Whom did Ada Harrow hire and pay?"}])
    three = table_of(run("edge2024", "--table", "3", "--json"), 1)
    four = table_of(run("edge2024", "--table", "4", "--json"))
    assert three["columns"] == ["C0", "C1", "C2", "C3", "TS", "SS"]
    claims = three["rows"]["podcast"]["ours"]  # type: ignore[index]
    loosest = four["rows"]["podcast 0.8"]["ours"]  # type: ignore[index]
    assert all(c is not None and g <= c for c, g in zip(claims, loosest, strict=True))
    assert max(claims) > 0
    assert (tmp_path / "repro/edge2024/podcast.experiment2/report.html").is_file()


def test_recall_of_methods_stands_beside_that_of_the_published_ones(run: Run, tmp_path: Path):
    for name in ("musique", "2wiki", "hotpotqa"):
        written(tmp_path / "data" / name)
    result = run("hipporag2", "--table", "1", "--json")
    assert result.exit_code == 0, result.output
    found = table_of(result)
    assert found["columns"][:2] == ["musique R@2", "musique R@5"]  # type: ignore[index]
    row = found["rows"]["BM25"]  # type: ignore[index]
    assert row["published"] == [32.4, 43.5, 55.3, 65.3, 57.3, 74.8]
    assert row["ours"][1] == 100
    assert found["notes"][-1] == "Judged questions asked: musique 4 of 4, 2wiki 4 of 4, hotpotqa 4 of 4."  # type: ignore[index]


@pytest.mark.slow
def test_recall_of_the_first_questions_is_that_of_no_others(run: Run, tmp_path: Path):
    asked = [{"_id": "q0", "text": "Who lights the lamp of Arle?"}, {"_id": "q1", "text": "Who sank the moon?"}]
    for name in ("musique", "2wiki", "hotpotqa"):
        written(tmp_path / "data" / name, asked=asked, judged=[("q0", "k0", 1), ("q1", "f5", 1)])
    whole, one = (table_of(run("hipporag2", "--json", *more)) for more in ([], ["--questions", "1"]))
    assert [f["rows"]["BM25"]["ours"][1] for f in (whole, one)] == [50, 100]  # type: ignore[index]
    assert one["notes"][-1].startswith("Judged questions asked: musique 1 of 2, ")  # type: ignore[index]


def test_the_first_questions_have_no_verdict_and_all_of_them_keep_theirs(tmp_path: Path):
    podcast(tmp_path)
    units, _, answers, *_ = read_recipes("edge2024")
    every, two, one = (Bench("edge2024", tmp_path / "data", tmp_path, {}, skip_progress, n) for n in (0, 2, 1))
    assert hash_measuring_sets(answers, every) == hash_measuring_sets(answers, two) != hash_measuring_sets(answers, one)
    assert hash_measuring_sets(units, every) == hash_measuring_sets(units, one)
    pins = Pinned("offline", date(2026, 1, 2), "", 1.0, {"podcast": (1.0,)}, hash_measuring_sets(answers, every))
    recipe = replace(answers, pinned=(pins,))
    known = read_published_table("edge2024", "3")
    found, part = (
        _set_beside_published(recipe, b, {"podcast": [1.0] * 6}, known.columns, "offline", known) for b in (two, one)
    )
    assert (found.pins, part.pins) == (pins, None)
    assert "pinned for all questions, not for these: no verdict" in format_reproduction(part)


def test_where_no_question_is_asked_a_number_of_them_is_said_to_change_nothing(run: Run):
    said = run("edge2024", "--table", "3", "--questions", "3").stdout
    assert "--questions changes nothing here" in said
    assert "ok: against our own figures" in said


def test_without_its_data_a_recipe_is_left_out_and_what_it_needs_is_said(run: Run):
    result = run("zhang2025", "--table", "figure 3")
    assert result.exit_code == 1
    assert "holds no corpus.jsonl; name the folder of the measuring sets by --data" in result.stderr


def test_a_dry_run_says_what_is_done_and_needed_and_does_nothing(run: Run, tmp_path: Path):
    podcast(tmp_path)
    said = run("edge2024", "--dry-run").stdout
    assert "edge2024, table 2: an index of the data" in said
    assert "data: data/podcast" in said
    assert "cannot be run now: it needs a judge" in said
    assert said.partition("table 3")[0].endswith(
        "takes: no calls to a model, no cost; the time is this machine's own\n\nedge2024, "
    )
    assert not (tmp_path / "repro").exists()


def test_a_dry_run_foresees_the_calls_of_an_index_and_none_once_it_is_there(
    run: Run, tmp_path: Path, server: ScriptedServer
):
    told = [{"_id": d.id, "title": d.title, "text": d.text} for d in stories(2)]
    written(tmp_path / "data" / "podcast", told)
    wired(server)
    dry = ("edge2024", "--table", "2", "--dry-run")
    said = run(*dry).stdout
    assert server.calls == []
    assert "takes:\n    part " in said
    assert not (tmp_path / "repro").exists()
    foreseen = re.search(r"in all +(\d+)", said)
    assert foreseen
    assert run("edge2024", "--table", "2").exit_code == 0
    assert sum(server.stats()["tasks"].values()) == int(foreseen[1])
    assert "no calls to a model" in run(*dry).stdout


# ── with a judge ──


@pytest.mark.slow
def test_a_judge_says_how_often_leanrag_wins_against_itself_without_relations(
    run: Run, tmp_path: Path, server: ScriptedServer
):
    told = [{"_id": d.id, "title": d.title, "text": d.text} for d in stories(2)]
    asked = [{"_id": "q", "text": "Who wrote to whom?"}, {"_id": "p", "text": "Who hired Ada Harrow?"}]
    written(tmp_path / "data" / "mix", told, asked)
    wired(server)
    dry = run("zhang2025", "--table", "2", "--dry-run").stdout
    assert "measuring: judge" in dry
    assert server.calls == []
    result = run("zhang2025", "--table", "2", "--json", "--yes")
    assert result.exit_code == 0, result.output
    rows = table_of(result)["rows"]
    assert {n: r["published"] for n, r in rows.items()}["diversity"] == [59.6]  # type: ignore[attr-defined]
    assert all(0 <= r["ours"][0] <= 100 for r in rows.values())  # type: ignore[attr-defined]
    before = len(server.calls)
    assert run("zhang2025", "--table", "2", "--json").exit_code == 0
    assert len(server.calls) == before


@pytest.mark.slow
def test_win_rates_of_six_conditions_stand_beside_those_of_table_6(run: Run, tmp_path: Path, server: ScriptedServer):
    told = [{"_id": d.id, "title": d.title, "text": d.text} for d in stories(2)]
    written(tmp_path / "data" / "podcast", told, [{"_id": "q", "text": "Who wrote to whom?"}])
    wired(server)
    found = table_of(run("edge2024", "--table", "6", "--json", "--yes"), 1)
    assert len(found["columns"]) == 15  # type: ignore[arg-type]
    row = found["rows"]["comprehensiveness"]  # type: ignore[index]
    place = found["columns"].index("C0 – TS")  # type: ignore[attr-defined]
    assert row["published"][place] == 50.24
    assert 0 <= row["ours"][place] <= 100


def test_contexts_are_set_beside_the_mean_of_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (recipe,) = (r for r in read_recipes("zhang2025") if r.kind == "contexts")
    (asked,) = set(recipe.rows.values())
    measured = {asked: 60.0, "one": 100.0, "two": 140.0}

    def compare(sizes: dict[str, float]) -> ReproducedTable:
        costs = {name: SimpleNamespace(context_tokens=size) for name, size in sizes.items()}
        found = SimpleNamespace(costs=costs, engine="offline")
        monkeypatch.setattr(table_measuring, "_run_recipe_plan", lambda *_: (found, []))
        return _KINDS["contexts"](recipe, Bench("zhang2025", tmp_path, tmp_path, {}, skip_progress))

    table = compare(measured)
    assert [row.ours for row in table.rows] == [(pytest.approx(50.0),)] * len(recipe.rows)
    assert any("60" in note and "140" in note for note in table.notes)
    assert [row.ours for row in compare({asked: 60.0}).rows] == [(None,)] * len(recipe.rows)
