"""Where the corpus of an evaluation is opened, what is drawn of means, and what parts of a table come to, by hand."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sensegraph.cli.lab import evaluate, evaluation_setup, table_measuring
from sensegraph.cli.lab.evaluate import PlanGroup, write_report
from sensegraph.cli.lab.evaluation_setup import _open_plan_corpus
from sensegraph.cli.lab.table_measuring import _describe_contexts, write_recipe_plan
from sensegraph.errors import InputError, NotIndexed
from sensegraph.graphs.drawing import interval_chart, rendering
from sensegraph.lab.experiments import sheets, table_files
from sensegraph.lab.reproduction import table_recipes
from sensegraph.lab.retrieval import retrieval_tables


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The folders that are opened, and whether only to be read."""
    found: list[Any] = []

    def open_folder(root: Path, settings: Any, *, readonly: bool, progress: Any) -> str:
        found.append((root, readonly, settings.index.chunk_tokens))
        return "corpus"

    monkeypatch.setattr(evaluation_setup, "open_settled", open_folder)
    return found


def open_plan(tmp_path: Path, *, dry: bool = False) -> Any:
    plan: Any = SimpleNamespace(corpus="texts", settings={"index": {"chunk_tokens": 177}})
    output, spare = tmp_path / "out", tmp_path / "spare"
    return _open_plan_corpus(plan, tmp_path / "plan.toml", (output, spare if dry else output), {}, lambda *_: None)


@pytest.mark.parametrize(
    ("there", "made", "writable", "dry", "root", "readonly"),
    [
        (True, False, True, False, "texts", False),
        (True, False, False, False, "texts", True),
        (True, True, True, True, "texts", True),
        (False, False, True, False, "out/index", False),
        (False, True, True, False, "out/index", False),
        (False, False, True, True, "spare/index", False),
        (False, True, True, True, "out/index", True),
    ],
)
def test_an_index_is_used_as_it_is_and_documents_have_one_with_the_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: list[Any],
    there: bool, made: bool, writable: bool, dry: bool, root: str, readonly: bool,
) -> None:  # fmt: skip
    (tmp_path / "texts").mkdir()
    if there:
        (tmp_path / "texts" / ".sensegraph").mkdir()
    if made:
        (tmp_path / "out" / "index" / ".sensegraph").mkdir(parents=True)
    monkeypatch.setattr(evaluation_setup, "can_write", lambda folder: writable)
    assert open_plan(tmp_path, dry=dry) == "corpus"
    assert opened == [(tmp_path / root, readonly, 177)]
    assert (tmp_path / root).is_dir()


def test_a_corpus_that_is_not_there_or_not_indexed_is_named(tmp_path: Path, opened: list[Any]) -> None:
    with pytest.raises(InputError, match="names the folder of an index, or documents to index"):
        open_plan(tmp_path)
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "sensegraph.toml").touch()
    with pytest.raises(NotIndexed, match=f"sensegraph index {tmp_path}/texts --root {tmp_path}/texts$"):
        open_plan(tmp_path)
    (tmp_path / "texts" / "input").mkdir()
    with pytest.raises(NotIndexed, match=f"run: sensegraph index --root {tmp_path}/texts$"):
        open_plan(tmp_path)
    assert opened == []


def test_means_are_drawn_with_the_baseline_marked_and_the_differences_beside_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr(interval_chart, "draw_interval_chart", lambda title, panels: drawn.append((title, panels)))
    monkeypatch.setattr(rendering, "render_svg", lambda scene: "<svg/>")
    monkeypatch.setattr(retrieval_tables, "describe_comparison", lambda c: f"differs by {c.method}")
    monkeypatch.setattr(retrieval_tables, "metric_label", lambda name: name.upper())

    def scores(method: str, mean: float) -> Any:
        return SimpleNamespace(method=method, means={"r": SimpleNamespace(mean=mean, low=mean - 0.1, high=mean + 0.1)})

    compared = [SimpleNamespace(method="b", metric="r"), SimpleNamespace(method="a", metric="other")]
    found = SimpleNamespace(
        judged=SimpleNamespace(name="set"), queries=[0] * 1_200, baseline="a", comparisons=compared,
        scores=[scores("a", 0.5), scores("b", 0.25)], runs=(),
    )  # fmt: skip
    how: Any = SimpleNamespace(primary="r")
    results: Any = [SimpleNamespace(found=found)]
    evaluate._write_extra_files(results, how, tmp_path / "p.svg", None, (None, {}))
    ((title, (panel,)),) = drawn
    assert title == "R in percent, with 95 % intervals; difference from a (p by Holm)"
    assert panel.title == "set, 1,200 questions"
    assert [(m.label, m.mean, m.low, m.high, m.note, m.base) for m in panel.rows] == [
        ("a", 0.5, 0.4, 0.6, "", True), ("b", 0.25, 0.15, 0.35, "differs by b", False),
    ]  # fmt: skip
    assert (tmp_path / "p.svg").read_text() == "<svg/>"


def test_a_report_takes_the_place_of_an_earlier_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sheets, "render_markdown", lambda sheet: "md")
    monkeypatch.setattr(sheets, "render_html", lambda sheet: "html")
    monkeypatch.setattr(table_files, "render_latex", lambda sheet: "tex")
    monkeypatch.setattr(table_files, "render_csv", lambda table: f"csv {table}")
    monkeypatch.setattr(table_files, "list_tables", lambda sheet: [("one", 1)])
    sheet: Any = SimpleNamespace(sections=[SimpleNamespace(parts=["text"])])
    folder = tmp_path / "deep" / "report"
    for stale in ("tables/old.csv", "tables/old.tex", "figures/old.svg", "figures/kept.txt"):
        (folder / stale).parent.mkdir(parents=True, exist_ok=True)
        (folder / stale).touch()
    written = write_report(sheet, folder, {"a.json": "{}", "none.txt": ""})
    assert [str(p.relative_to(folder)) for p in written] == ["report.md", "report.html", "a.json", "tables"]
    left = {str(p.relative_to(folder)): p.read_text() for p in folder.rglob("*") if p.is_file()}
    assert left == {
        "report.md": "md", "report.html": "html", "a.json": "{}", "tables/all.tex": "tex", "tables/one.csv": "csv 1",
        "figures/kept.txt": "",
    }  # fmt: skip


def test_a_name_that_ends_in_toml_stands_for_a_run_with_that_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PlanGroup.__mro__[1], "resolve_command", lambda self, ctx, args: args)
    group: Any = PlanGroup(name="eval", commands={"odd.toml": None})  # type: ignore[dict-item]
    told = [group.resolve_command(None, words.split()) for words in ("p.toml --json", "run p.toml", "odd.toml", "")]
    assert told == [["run", "p.toml", "--json"], ["run", "p.toml"], ["odd.toml"], []]


def test_the_plan_of_a_recipe_is_a_file_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_recipes, "read_plan_text", lambda paper, name: f"# {paper} {name}\n")
    recipe: Any = SimpleNamespace(data="set", plan="deep.toml")
    bench: Any = SimpleNamespace(data=tmp_path / "data", root=tmp_path / "made" / "here", paper="p", questions=9)
    file = write_recipe_plan(recipe, bench)
    folder = (tmp_path / "data" / "set").resolve()
    assert file == tmp_path / "made" / "here" / "deep.toml"
    assert file.read_text().splitlines() == [
        f"corpus = {json.dumps(str(folder / 'corpus.jsonl'))}",
        f"questions = {json.dumps(str(folder / 'queries.jsonl'))}",
        "limit = 9", 'output = "set.deep"', "# p deep.toml",
    ]  # fmt: skip
    costs = {"a": SimpleNamespace(context_tokens=1234.4), "b": SimpleNamespace(context_tokens=0.0)}
    assert _describe_contexts(SimpleNamespace(costs=costs)) == "Mean tokens of a context: a 1,234, b 0."  # type: ignore[arg-type]


def test_a_limit_that_changes_nothing_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    made = table_measuring.ReproducedTable(None, (), "e", ("n",))  # type: ignore[arg-type]
    monkeypatch.setattr(table_measuring, "check_measuring_sets", lambda recipe, bench: None)
    monkeypatch.setattr(table_measuring, "_KINDS", {"k": lambda recipe, bench: made})
    for questions, asks, noted in ((5, False, True), (5, True, False), (0, False, False)):
        recipe: Any = SimpleNamespace(kind="k", asks=asks)
        found = table_measuring.reproduce_table(recipe, SimpleNamespace(questions=questions))  # type: ignore[arg-type]
        assert (len(found.notes) == 2) == noted
