"""`sensegraph eval retrieval`, as its users meet it."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner, Result

from judged_towns import documents, qrels, queries, written
from scripted import ScriptedServer
from sensegraph.cli import app
from sensegraph.cli.lab.retrieval_measuring import IndexPlace, measure_set
from sensegraph.corpus.corpus import Corpus
from sensegraph.corpus.settings import Settings
from sensegraph.errors import SettingsError
from sensegraph.lab.retrieval import Cost, Measuring, Named, read_set
from sensegraph.lab.retrieval.runs import cpu_seconds
from sensegraph.methods.basic.naive import Naive

Run = Callable[..., Result]
METHODS = ("--methods", "naive,naive:top=1", "--draws", "50")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return written(tmp_path / "towns")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(app, ["eval", "retrieval", *map(str, words)])


def test_the_text_says_what_was_measured_the_figures_and_the_differences(run: Run, data: Path):
    result = run("--data", data, *METHODS, "--cutoffs", "1,2")
    assert result.exit_code == 0, result.stderr
    said = result.stdout
    assert "towns (dev): 4 questions (1 left out: adversarial; 1 left out: not judged)" in said
    assert "12 documents, 12 chunks; engine offline, embedder hashed-terms; built in " in said
    assert " R@1    R@2  all@1  all@2  nDCG@10    MRR  CPU ms  tokens" in said
    assert "R@2 − naive" in said
    assert "R@2 by type" in said
    assert "- naive:top=1: 4 of 4 rankings were made with a wider context" in said
    rows = {line.split()[0]: line.split()[1:] for line in said.splitlines() if line.startswith("naive")}
    assert rows["naive"][:4] == ["87.5", "100.0", "75.0", "100.0"]


def test_the_text_names_what_is_missing_and_counts_it(run: Run, tmp_path: Path):
    docs = [*documents(), {"_id": "void", "text": ""}]
    judged = [*qrels(), *((f"q{i}", f"gone{n}", 1) for i in range(3) for n in range(3)), ("lost", "k0", 1)]
    asked = [*queries(), {"_id": "qw", "text": "Where is the west?", "metadata": {"shore": "west"}}]
    data = written(tmp_path / "holes", docs, asked, [*judged, ("qw", "k0", 1)])
    said = run("--data", data, *METHODS, "--within", "shore").stdout
    assert "1 left out: without a document to be asked of" in said
    assert "documents that could not be read: 1, the first: line 13" in said
    assert "judgements of what is not there: 10: document gone0 of question q0" in said
    assert " and 5 more" in said


def test_the_object_holds_settings_scores_comparisons_and_every_question(run: Run, data: Path):
    found = json.loads(run("--data", data, *METHODS, "--json").stdout)
    assert found["measuring"]["metric"] == "recall@5"
    given = {"top": 1, "context_tokens": 8000, "diversify": "none", "balance": 0.7}
    assert found["methods"]["naive:top=1"] == {"method": "naive", "settings": given}
    (one,) = found["sets"]
    assert one["types"] == {"one": 3, "two": 1}
    assert one["left_out"] == {"adversarial": 1, "not judged": 1}
    assert one["scores"]["naive"]["means"]["recall@5"] == {"mean": 1, "low": 1, "high": 1}
    assert one["scores"]["naive"]["by_type"]["two"]["recall@2"] == 1
    assert {c["method"] for c in one["comparisons"]} == {"naive:top=1"}
    assert one["queries"][0]["gold"] == {"k0": 1}
    assert one["queries"][0]["methods"]["naive"]["documents"][0] == "k0"
    assert one["queries"][0]["methods"]["naive"]["mrr"] == 1


def test_several_sets_are_summed_up_in_one_table(run: Run, data: Path, tmp_path: Path):
    other = written(tmp_path / "villages", judged=[("q0", "f0", 1)])
    said = run("--data", data, "--data", other, *METHODS, "--metric", "recall@2").stdout
    assert said.splitlines()[-3].split() == ["R@2", "towns", "villages", "mean"]
    assert said.splitlines()[-2].split()[:2] == ["naive", "100.0"]


def test_an_index_that_is_kept_is_used_again(run: Run, data: Path, tmp_path: Path):
    first = run("--data", data, *METHODS, "--root", tmp_path / "kept").stdout
    again = run("--data", data, *METHODS, "--root", tmp_path / "kept").stdout
    assert "built in " in first
    assert "it was there" in again
    with Corpus.open(tmp_path / "kept", create=False) as corpus:
        assert corpus.status().indexed == 12


def test_of_several_sets_each_has_a_folder(run: Run, data: Path, tmp_path: Path):
    run("--data", data, "--data", written(tmp_path / "villages"), *METHODS, "--root", tmp_path / "kept")
    assert sorted(p.name for p in (tmp_path / "kept").iterdir()) == ["towns", "villages"]


def test_measuring_takes_no_part_from_an_index_and_adds_those_that_are_read(run: Run, data: Path, tmp_path: Path):
    graph = "index.parts=['graph']"
    assert "entities" in run("--data", data, *METHODS, "--root", tmp_path / "kept", "--set", graph).stdout
    assert "entities" in run("--data", data, *METHODS, "--root", tmp_path / "kept").stdout
    assert "entities" in run("--data", data, "--methods", "local", "--draws", 20).stdout
    assert "entities" not in run("--data", data, *METHODS).stdout


def test_a_part_that_no_index_has_is_an_error(tmp_path: Path, data: Path):
    strange = Named("strange", Naive(reads=frozenset({"runes"})))  # type: ignore[arg-type]
    place = IndexPlace(tmp_path / "kept", Settings(engine="offline"), (), lambda step, done, total: None)
    with pytest.raises(SettingsError, match="No index has a part 'runes'"):
        measure_set(read_set(data), [strange], Measuring(), place)


def test_a_folder_with_other_documents_stays_as_it_is(run: Run, data: Path, tmp_path: Path):
    run("--data", data, *METHODS, "--root", tmp_path / "kept")
    result = run("--data", data, *METHODS, "--root", tmp_path / "kept", "--delete-titles")
    assert result.exit_code == 1
    assert "holds other documents than towns as it is measured; choose an empty --root" in result.stderr
    with Corpus.open(tmp_path / "kept", create=False) as corpus:
        assert all(d.title for d in corpus.documents())


def test_titles_can_be_taken_away_before_indexing(run: Run, data: Path, tmp_path: Path):
    assert run("--data", data, *METHODS, "--root", tmp_path / "bare", "--delete-titles").exit_code == 0
    with Corpus.open(tmp_path / "bare", create=False) as corpus:
        assert not any(d.title for d in corpus.documents())


def test_without_a_root_nothing_stays(run: Run, data: Path, tmp_path: Path):
    before = sorted(p.name for p in tmp_path.iterdir())
    assert run("--data", data, *METHODS).exit_code == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == before


def test_the_settings_of_the_root_hold_for_its_indexes(run: Run, data: Path, tmp_path: Path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "sensegraph.toml").write_text("[methods.naive]\ntop = 3\n")
    found = json.loads(run("--data", data, *METHODS, "--root", tmp_path / "kept", "--json").stdout)
    assert found["methods"]["naive"]["settings"]["top"] == 3
    assert found["methods"]["naive:top=1"]["settings"]["top"] == 1


def test_pictures_and_runs_are_written_and_named(run: Run, data: Path, tmp_path: Path):
    result = run("--data", data, *METHODS, "--picture", "chart.svg", "--runs", "runs")
    assert result.stderr == "written: runs/towns.naive.trec, runs/towns.naive-top=1.trec, chart.svg\n"
    chart = ElementTree.fromstring((tmp_path / "chart.svg").read_text(encoding="utf-8"))
    texts = [e.text for e in chart.iter() if e.tag.endswith("}text")]
    assert {"naive", "naive:top=1", "towns, 4 questions", "100.0", "+0.0 (p 1.000)"} <= set(texts)
    assert (tmp_path / "runs" / "towns.naive.trec").read_text().startswith("q0 Q0 k0 1 1.000000 naive\n")


def test_a_report_is_written_with_tables_for_other_programs(run: Run, data: Path, tmp_path: Path):
    other = written(tmp_path / "villages")
    result = run("--data", data, "--data", other, *METHODS, "--out", "report", "--json")
    assert result.exit_code == 0, result.output
    assert "written: report/report.md, report/report.html, report/results.json, report/tables" in result.stderr
    folder = tmp_path / "report"
    assert json.loads((folder / "results.json").read_text()) | {"schema": 1} == json.loads(result.stdout)
    said = (folder / "report.md").read_text()
    assert "towns, R@5: no difference from naive that is more than chance." in said
    assert "towns: R@5 is 100 by every method in 4 of 4 questions: too easy." in said
    tables = sorted(p.name for p in (folder / "tables").iterdir())
    assert tables[:5] == [
        "01-sets.csv", "02-towns-means.csv", "03-towns-differences.csv", "04-towns-types.csv", "05-villages-means.csv"
    ]  # fmt: skip
    rows = list(csv.DictReader((folder / "tables" / "02-towns-means.csv").open()))
    assert (rows[0]["method"], float(rows[0]["R@5 mean"]), float(rows[0]["R@5 high"])) == ("naive", 100.0, 100.0)
    assert r"\label{tab:towns-differences}" in (folder / "tables" / "all.tex").read_text()
    assert (folder / "figures" / "means-towns.svg").is_file()
    ElementTree.fromstring((folder / "report.html").read_text().split("\n", 1)[1])


def test_an_estimate_names_the_calls_of_index_and_questions_and_measures_nothing(run: Run, data: Path, tmp_path: Path):
    result = run("--data", data, *METHODS, "--dry-run", "--root", "kept")
    assert result.exit_code == 0, result.output
    assert "no calls to a model, no cost" in result.stdout
    words = ("--set", "endpoint.model=large", "--methods", "bm25,hipporag", "--set", 'index.parts=["graph"]')
    told = json.loads(run("--data", data, *words, "--dry-run", "--json").stdout)["parts"]
    assert told["index of towns"]["calls"] >= 12  # one a chunk
    assert told["4 questions of towns by bm25"]["calls"] == 0
    assert told["4 questions of towns by hipporag"]["calls"] == 4
    assert not (tmp_path / "kept").exists()


def test_a_field_keeps_questions_to_their_documents(run: Run, data: Path):
    found = json.loads(run("--data", data, *METHODS, "--within", "shore", "--json").stdout)
    assert found["measuring"]["within"] == "shore"
    documents = {d for q in found["sets"][0]["queries"][:3] for d in q["methods"]["naive"]["documents"]}
    assert documents == {f"{kind}{i}" for kind in "kf" for i in range(3)}


def test_the_same_seed_gives_the_same_object_but_for_times(run: Run, data: Path):
    def timeless(value: object) -> object:
        if isinstance(value, dict):
            return {k: timeless(v) for k, v in value.items() if k not in ("cpu_ms", "cpu_s", "s_per_mb")}
        return [timeless(v) for v in value] if isinstance(value, list) else value

    one, other = (json.loads(run("--data", data, *METHODS, "--json").stdout) for _ in range(2))
    assert timeless(one) == timeless(other)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--methods", "naiv"), 1, "did you mean 'naive'"),
        (("--methods", "naive,naive"), 2, "each once"),
        (("--methods", ","), 2, "at least one method"),
        (("--methods", "naive:tip=3"), 1, "did you mean top"),
        (("--methods", "naive", "--cutoffs", "0,5"), 2, "no list of numbers above 0"),
        (("--methods", "naive", "--picture", "x.png"), 2, "ends in .svg"),
        (("--methods", "naive", "--baseline", "bm25"), 1, "The baseline 'bm25' is not among the methods naive"),
        (("--methods", "naive", "--metric", "f1"), 1, "No measure is called 'f1'; there are recall@2"),
        (("--methods", "naive", "--within", "coast"), 1, "'coast'"),
        (("--methods", "naive", "--split", "test"), 1, "name one of dev by --split"),
    ],
)
def test_a_mistake_is_explained(words: tuple[str, ...], code: int, said: str, run: Run, data: Path):
    result = run("--data", data, *words)
    assert result.exit_code == code
    assert said in " ".join(result.stderr.replace("│", " ").split())


def test_two_sets_of_one_name_are_refused(run: Run, data: Path, tmp_path: Path):
    other = written(tmp_path / "elsewhere" / "towns")
    result = run("--data", data, "--data", other, *METHODS)
    assert result.exit_code == 2
    assert "two folders called 'towns'" in " ".join(result.stderr.replace("│", " ").split())


def test_cpu_seconds_grow_with_work_here_and_in_processes_below():
    import subprocess
    import sys

    begun = cpu_seconds()
    sum(i * i for i in range(300_000))
    here = cpu_seconds()
    code = "import time\nwhile time.process_time() < 0.3: pass\nprint(flush=True)\ninput()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as worker:
        assert worker.stdout is not None
        worker.stdout.readline()
        alive = cpu_seconds()
        worker.communicate(b"\n")
    assert here > begun
    assert alive - here >= 0.25
    assert cpu_seconds() - here >= 0.25


def test_a_cost_without_text_has_no_rate():
    assert Cost(2.0, 4.0, 1).s_per_mb == 0.5
    assert Cost(2.0, 0.0, 1).s_per_mb == 0


def test_a_model_and_its_vectors_are_used_where_the_settings_of_the_root_name_them(
    run: Run, data: Path, tmp_path: Path, server: ScriptedServer
):
    (tmp_path / "kept").mkdir()
    table = f'[endpoint]\nbase_url = "{server.base_url}"\nmodel = "scripted"\nembedding_model = "hashed"\n'
    (tmp_path / "kept" / "sensegraph.toml").write_text(table)
    result = run("--data", data, "--methods", "naive,local", "--draws", 20, "--root", tmp_path / "kept")
    assert result.exit_code == 0, result.stderr
    assert "engine scripted, embedder hashed; built in" in result.stdout
    assert "entities" in result.stdout


def test_help_shows_no_default_that_nobody_can_read(run: Run):
    shown = run("--help").stdout
    assert "default: " in shown
    assert "default: ()" not in shown
