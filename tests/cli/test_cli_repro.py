"""`sensegraph eval papers`: tables of papers measured here, on small stand-ins for the measuring sets."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from judged_towns import written
from scripted import ScriptedServer
from sensegraph.cli import app
from sensegraph.cli.lab import table_measuring
from sensegraph.cli.lab.repro import format_printed, format_reproduction
from sensegraph.cli.lab.table_measuring import _KINDS, Bench, _set_beside_published, hash_measuring_sets
from sensegraph.cli.options import skip_progress
from sensegraph.corpus.settings import convert_settings
from sensegraph.errors import InputError
from sensegraph.lab.experiments.conditions import Plan
from sensegraph.lab.experiments.published import (
    Published,
    find_printed_table,
    list_papers,
    read_published_table,
    read_win_rate_comparisons,
)
from sensegraph.lab.reproduction.table_recipes import (
    Pinned,
    Recipe,
    ReproducedTable,
    list_figures,
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
    return lambda *words: CliRunner().invoke(app, ["eval", "papers", *map(str, words)])


def podcast(folder: Path) -> Path:
    asked = [{"_id": "q1", "text": "Who keeps the lamps?"}, {"_id": "q2", "text": "What do ferries carry?"}]
    return written(folder / "data" / "podcast", asked=asked)


def wired(server: ScriptedServer) -> None:
    lines = ["[endpoint]", f'base_url = "{server.base_url}"', 'model = "scripted"', "[model]", "max_gleanings = 0"]
    Path("sensegraph.toml").write_text("\n".join(lines) + "\n")


def table_of(result: Result, place: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(result.stdout)["tables"][place]
    return found


def ours_of(table: Mapping[str, Any], which: str = "ours") -> dict[str, list[float]]:
    """Our figures, row by row; or the published ones."""
    found: dict[str, list[float]] = {}
    for figure in table["figures"]:
        found.setdefault(figure["row"], []).append(figure[which])
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
            assert pins.command.startswith(f"sensegraph eval papers {paper} --table")
            assert ("--data" in pins.command) == bool(recipe.folders)
            assert pins.within >= 0
            assert isinstance(pins.measured, date)


def test_a_table_is_told_in_three_columns_with_what_ours_is_against_each() -> None:
    pins = Pinned("offline", date(2026, 1, 2), "sensegraph eval papers x --table 1", 1.0, {"a": (100.0, 50.0)})
    recipe = Recipe("1", "answers", "", {"a": "claims"}, 5.0, "GPT-4-turbo", pinned=(pins,))
    figures = list_figures(recipe, ("A", "B"), {"a": [100.0, 51.0]}, {"a": [90.0, 50.0]}, pins)
    lines = format_reproduction("x", ReproducedTable(recipe, figures, "offline", (), pins)).splitlines()
    assert [re.split(r"  +", line.strip()) for line in lines[1:4]] == [
        ["published", "ours", "our pin", "against published", "against our pin"],
        ["a A", "90", "100", "100", "not reproduced (+11.1 %)", "as before"],
        ["a B", "50", "51", "50", "reproduced (+2.0 %)", "changed"],
    ]
    assert lines[4] == "1 of 2 published figures are reproduced (± 5 %)."
    assert "are of GPT-4-turbo; these were made without a model" in lines[5]
    assert lines[6].startswith("1 of 2 pinned figures are as before (± 1 %; 2026-01-02: sensegraph eval papers x")
    assert recipe.pins("model") is None
    assert recipe.pins("offline", "other data") is None


def test_a_difference_is_shown_from_a_twentieth_of_a_percent_on_and_what_is_not_there_as_a_dash() -> None:
    recipe = Recipe("1", "answers", "", {"a": "claims"}, 5.0)
    ours = {"a": [2000.0, 2001.0, 2000.98, 2000.0, None]}
    printed = {"a": [2000.0, 2000.0, 2000.0, None, 2000.0]}
    found = ReproducedTable(recipe, list_figures(recipe, tuple("ABCDE"), ours, printed, None), "offline")
    lines = format_reproduction("x", found).splitlines()
    assert [re.split(r"  +", line.strip()) for line in lines[2:7]] == [
        ["a A", "2,000", "2,000", "–", "reproduced", "–"],
        ["a B", "2,000", "2,001", "–", "reproduced (+0.1 %)", "–"],
        ["a C", "2,000", "2,000.98", "–", "reproduced", "–"],
        ["a D", "–", "2,000", "–", "–", "–"],
        ["a E", "2,000", "–", "–", "not reproduced", "–"],
    ]


@pytest.mark.parametrize(
    ("most", "rows", "more"),
    [(0, "abc", ""), (3, "abc", ""), (2, "ab", "and 1 rows more: --table 2"), (1, "a", "and 2 rows more: --table 2")],
)
def test_of_the_published_figures_as_many_rows_are_shown_as_are_asked_for(
    most: int, rows: str, more: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = Published("", "2", "Counts", ("x", "y"), {"a": (1.0, None), "b": (2.5, 3.0), "c": (4.0, 5.0)})
    monkeypatch.setattr("sensegraph.lab.experiments.published.find_printed_table", lambda paper, table: known)
    recipe = Recipe("2", "answers", "", {})
    bench = Bench("edge2024", Path(), Path(), {}, skip_progress)
    lines = format_printed(recipe, bench, most).splitlines()
    assert lines[0] == f"edge2024, {recipe.title}, as published: Counts"
    assert lines[1].split() == ["published", "x", "y"]
    assert [line.split()[0] for line in lines[2:][: len(rows)]] == list(rows)
    assert lines[2].split() == ["a", "1", "–"]
    assert lines[2 + len(rows) :] == [more] * bool(more)
    monkeypatch.setattr("sensegraph.lab.experiments.published.find_printed_table", lambda paper, table: None)
    assert format_printed(recipe, bench, most) == ""


@pytest.mark.parametrize(
    ("paper", "table", "there"),
    [("edge2024", "6", True), ("edge2024", "2", True), ("edge2024", "99", False), ("zhang2025", "6", False),
     ("zhang2025", "2", True)],
)  # fmt: skip
def test_a_table_is_there_as_it_was_printed_or_it_is_none(paper: str, table: str, there: bool) -> None:
    found = find_printed_table(paper, table)
    assert (found is not None) is there
    assert found is None or (found.table == table and found.rows)


def test_without_a_pin_the_reason_is_said() -> None:
    recipe = Recipe("1", "answers", "", {"a": "claims"})
    said = format_reproduction("x", ReproducedTable(recipe, list_figures(recipe, ("A",), {"a": [1.0]}, {}, None), "m"))
    assert "Nothing that is published stands beside these figures." in said
    assert "No figure is compared with a pin: nothing is pinned for this engine on these data." in said


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
    assert (found["reproduced"], found["not_reproduced"], found["as_before"], found["changed"]) == (2, 0, 2, 0)
    assert ours_of(found) == {"numeric p within 0.01": [87.0], "p < 0.001 found so": [33.0]}
    assert "table 6 (wins) is left out: " in result.stderr
    assert "with a model: sensegraph eval papers edge2024 --table 6 --data data --yes --set endpoint" in result.stderr
    assert "47,075" in run("edge2024", "--table", "3").stdout


def test_where_data_are_missing_the_published_figures_are_shown_by_themselves(run: Run):
    result = run("zhang2025", "--table", "1", "--data", "none")
    assert "none/mix holds no corpus.jsonl" in result.stderr
    assert "zhang2025, table 1, as published: Mean score of an answer, 1 to 10" in result.stdout
    assert re.search(r"mix overall +8.59 +8.08 +7.47 +7.87 +7.61 +5.76 +7.25\n", result.stdout)
    planned = run("edge2024", "--data", "none", "--dry-run").stdout
    assert "rows more: --table 6" in planned
    assert re.search(r"podcast comprehensiveness, C0 – C1 +\d", planned) or "as published: Mean win scores" in planned
    told = json.loads(run("zhang2025", "--table", "1", "--data", "none", "--dry-run", "--json").stdout)
    assert told["tables"][0]["published"]["rows"]["mix overall"][0] == 8.59


def test_counts_of_table_6_are_said_of_how_many_they_are(run: Run):
    said = run("edge2024", "--table", "6").stdout
    assert re.search(r"numeric p within 0.01 +87 +87 +87 +reproduced +as before\n", said)
    assert re.search(r"p < 0.001 found so +33 +33 +33 +reproduced +as before\n", said)
    assert "120 of all 120 printed p follow from the printed z" in said


def test_one_cell_of_grafts_figures_does_not_fit_and_is_named(run: Run):
    said = run("graft").stdout
    assert said.startswith("graft2024, figures 2-4, joint")
    assert "human, RAFT: printed 0.403, computed 0.439" in said
    assert re.search(r"joint cells that fit +20 +19 +19 +not reproduced \(-5.0 %\) +as before\n", said)


# ── offline ──


def test_units_and_tokens_of_each_depth_stand_beside_the_published_ones(run: Run, tmp_path: Path):
    podcast(tmp_path)
    result = run("edge2024", "--table", "2", "--json", "--set", "endpoint.max_retries=1")
    assert result.exit_code == 0, result.output
    found = table_of(result)
    assert found["as_before"] == found["changed"] == 0  # other data than those of the pinned figures
    assert ours_of(found, "published")["podcast units"] == [34, 367, 969, 1310, 1669]
    assert ours_of(found)["podcast units"][-1] == 12
    assert ours_of(found)["podcast %"][-1] == 100
    verdicts = {(f["row"], f["column"]): f["against_published"] for f in found["figures"]}
    assert verdicts["podcast units", "TS"] == "not reproduced"
    assert verdicts["podcast %", "TS"] == "reproduced"


@pytest.mark.slow
def test_claims_and_clusters_of_six_conditions_share_their_answers(run: Run, tmp_path: Path):
    told = [{"_id": d.id, "title": d.title, "text": d.text} for d in stories(3)]
    written(tmp_path / "data" / "podcast", told, [{"_id": "q", "text": "Whom did Ada Harrow hire and pay?"}])
    three = table_of(run("edge2024", "--table", "3", "--json"), 1)
    four = table_of(run("edge2024", "--table", "4", "--json"))
    assert [f["column"] for f in three["figures"]] == ["C0", "C1", "C2", "C3", "TS", "SS"]
    claims, loosest = ours_of(three)["podcast"], ours_of(four)["podcast 0.8"]
    assert all(c is not None and g <= c for c, g in zip(claims, loosest, strict=True))
    assert max(claims) > 0
    assert (tmp_path / "repro/edge2024/podcast.experiment2/report.html").is_file()


def test_recall_of_methods_stands_beside_that_of_the_published_ones(run: Run, tmp_path: Path):
    for name in ("musique", "2wiki", "hotpotqa"):
        written(tmp_path / "data" / name)
    result = run("hipporag2", "--table", "1", "--json")
    assert result.exit_code == 0, result.output
    found = table_of(result)
    assert [f["column"] for f in found["figures"][:2]] == ["musique R@2", "musique R@5"]
    assert ours_of(found, "published")["BM25"] == [32.4, 43.5, 55.3, 65.3, 57.3, 74.8]
    assert ours_of(found)["BM25"][1] == 100
    assert "Judged questions asked: musique 4 of 4, 2wiki 4 of 4, hotpotqa 4 of 4." in found["notes"]


@pytest.mark.slow
def test_recall_of_the_first_questions_is_that_of_no_others(run: Run, tmp_path: Path):
    asked = [{"_id": "q0", "text": "Who lights the lamp of Arle?"}, {"_id": "q1", "text": "Who sank the moon?"}]
    for name in ("musique", "2wiki", "hotpotqa"):
        written(tmp_path / "data" / name, asked=asked, judged=[("q0", "k0", 1), ("q1", "f5", 1)])
    whole, one = (table_of(run("hipporag2", "--json", *more)) for more in ([], ["--limit", "1"]))
    assert [ours_of(f)["BM25"][1] for f in (whole, one)] == [50, 100]
    assert any(n.startswith("Judged questions asked: musique 1 of 2, ") for n in one["notes"])


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
    assert "pinned for all questions, not for these." in format_reproduction("edge2024", part)


def test_where_no_question_is_asked_a_number_of_them_is_said_to_change_nothing(run: Run):
    said = run("edge2024", "--table", "3", "--limit", "3").stdout
    assert "--limit changes nothing here" in said
    assert "1 of 1 pinned figures are as before" in said


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
    (units,) = re.findall(r"edge2024, table 2:.*?\n\n", said, re.DOTALL)
    assert "published: by GPT-4-turbo; reproduced within ± 5 %" in units
    assert "takes: no calls to a model, no cost; the time is this machine's own\n" in units
    assert (
        "with a model: sensegraph eval papers edge2024 --table 2 --data data --yes --set endpoint.base_url=URL" in units
    )
    assert re.search(r"which takes:\n +part +calls .*\n +index of podcast +[1-9]", units)
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
    found = table_of(result)
    assert ours_of(found, "published")["diversity"] == [59.6]
    assert found["figures"]
    assert all(0 <= f["ours"] <= 100 for f in found["figures"])
    before = len(server.calls)
    assert run("zhang2025", "--table", "2", "--json").exit_code == 0
    assert len(server.calls) == before


@pytest.mark.slow
def test_win_rates_of_six_conditions_stand_beside_those_of_table_6(run: Run, tmp_path: Path, server: ScriptedServer):
    told = [{"_id": d.id, "title": d.title, "text": d.text} for d in stories(2)]
    written(tmp_path / "data" / "podcast", told, [{"_id": "q", "text": "Who wrote to whom?"}])
    wired(server)
    found = table_of(run("edge2024", "--table", "6", "--json", "--yes"), 1)
    (cell,) = (f for f in found["figures"] if (f["row"], f["column"]) == ("comprehensiveness", "C0 – TS"))
    assert len(ours_of(found)["comprehensiveness"]) == 15
    assert cell["published"] == 50.24
    assert 0 <= cell["ours"] <= 100


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
    assert [f.ours for f in table.figures] == [pytest.approx(50.0)] * len(recipe.rows)
    assert any("60" in note and "140" in note for note in table.notes)
    assert [f.ours for f in compare({asked: 60.0}).figures] == [None] * len(recipe.rows)


@pytest.mark.parametrize(
    ("measured", "ours"),
    [
        ("empowerment", 60.0),  # the first pair, as it is named
        ("empowerment one two", 60.0),
        ("empowerment two one", 40.0),
        ("empowerment three one", 30.0),
        ("empowerment one *", 65.0),  # the mean against all with which it was compared
        ("empowerment two *", 25.0),
        ("empowerment one four", None),
        ("empowerment four *", None),
    ],
)
def test_a_condition_wins_against_one_or_against_all(
    measured: str, ours: float | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    recipe = replace(next(r for r in read_recipes("zhang2025") if r.kind == "win"), rows={"empowerment": measured})
    given = [("one", "two", 60.0, 5), ("one", "three", 70.0, 5), ("two", "three", 10.0, 5), ("four", "one", 0.0, 0)]
    pairs = [SimpleNamespace(first=a, second=b, means=(wins, 100 - wins), n=n) for a, b, wins, n in given]
    costs = {"one": SimpleNamespace(context_tokens=1200.0)}
    found = SimpleNamespace(verdicts=SimpleNamespace(pairs={"empowerment": pairs}), costs=costs, engine="offline")
    monkeypatch.setattr(table_measuring, "_run_recipe_plan", lambda *_: (found, ["a remark"]))
    table = _KINDS["win"](recipe, Bench("zhang2025", tmp_path, tmp_path, {}, skip_progress))
    assert [f.ours for f in table.figures] == [pytest.approx(ours)]
    assert table.notes == ("a remark", "Mean tokens of a context: one 1,200.")
