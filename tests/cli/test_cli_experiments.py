"""`sensegraph eval PLAN.toml`, as its users meet it."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner, Result

from judged_towns import documents
from scripted import Script, ScriptedServer
from scripted_replies import task_of
from sensegraph.cli import app
from sensegraph.cli.lab import evaluation_forecast, evaluation_setup
from sensegraph.cli.lab.evaluate import confirm_calls
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import EndpointDown, InputError
from sensegraph.lab.experiments import experiment
from sensegraph.lab.experiments.rehearsal import USUAL
from sensegraph.runtime.stores.sqlite import SqliteStore
from wired import stories

Run = Callable[..., Result]
ASKING = ("drift", "kag", "lazygraphrag", "hipporag", "lightrag", "fastgraphrag")  # methods that ask more than once
ASKED = "Who lights the lamp of Arle?\nWhat does the ferry of Brun carry?\nWho trims the wick of Corv?\n"
POSED = "Whom did Kara Harrow hire?\nWhat did Elsa Harrow buy?\nWho wrote to Iris Harrow?\n"
OFFLINE = """
corpus = "towns.jsonl"
questions = "asked.txt"
draws = 50
[conditions.words]
method = "bm25"
[conditions.vectors]
method = "naive"
top = 1
"""
WIRED = """
corpus = "stories.jsonl"
questions = "posed.txt"
metrics = ["claims", "judge", "scores", "grounding"]
draws = 50
[conditions.C0]
method = "graphrag"
depth = 0
[conditions.SS]
method = "naive"
[judge]
criteria = ["comprehensiveness", "directness"]
replicates = 2
[scores]
criteria = ["overall"]
runs = 2
[settings.endpoint]
base_url = "{url}"
model = "scripted"
seed = 1
concurrency = 4
[settings.index]
chunk_tokens = 120
[settings.model]
max_gleanings = 0
"""

POOR = """
corpus = "stories.jsonl"
questions = "posed.txt"
metrics = ["claims"]
draws = 50
[conditions.SS]
method = "naive"
[settings.endpoint]
base_url = "{url}"
model = "scripted"
[settings.index]
parts = []
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "towns.jsonl").write_text("".join(json.dumps(d) + "\n" for d in documents()))
    (tmp_path / "asked.txt").write_text(ASKED)
    (tmp_path / "posed.txt").write_text(POSED)
    told = [{"_id": d.id, "title": d.title, "text": d.text} for d in stories(2)]
    (tmp_path / "stories.jsonl").write_text("".join(json.dumps(d) + "\n" for d in told))
    return lambda *words: CliRunner().invoke(app, ["eval", *map(str, words)])


def plan(text: str, name: str = "plan.toml") -> str:
    Path(name).write_text(text)
    return name


# ── offline ──


def test_a_plan_is_carried_out_and_its_report_written(run: Run):
    result = run(plan(OFFLINE))
    assert result.exit_code == 0, result.output
    assert "2 conditions, 3 questions; engine offline, embedder hashed-terms; no judge." in result.stdout
    assert "claims (heuristic claims)" in result.stdout
    folder = Path("plan.results")
    written = {p.name for p in folder.iterdir() if p.is_file()}
    assert written == {"report.md", "report.html", "results.json", "answers.jsonl"}
    charts = sorted(p.name for p in (folder / "figures").iterdir())
    assert charts == ["means-claims.svg", "means-clusters-of-claims.svg", "means-length.svg"]
    assert (folder / "report.html").read_text().count("<svg") == 3
    report = (folder / "report.md").read_text()
    assert all(f"(figures/{name})" in report for name in charts)
    assert "Context: 8,000 tokens for every condition." in report
    assert "Engine offline, no judge; 3 questions; answers: 0 calls" in report
    answers = [json.loads(line) for line in (folder / "answers.jsonl").read_text().splitlines()]
    assert [(a["condition"], a["question"]) for a in answers[:2]] == [("words", "q1"), ("words", "q2")]
    assert "keeper of Arle" in answers[0]["answer"]


def test_a_second_run_gives_the_same_bytes(run: Run):
    run(plan(OFFLINE))
    first = {p.name: p.read_bytes() for p in Path("plan.results").iterdir() if p.is_file()}
    assert run("run", "plan.toml").exit_code == 0
    assert {p.name: p.read_bytes() for p in Path("plan.results").iterdir() if p.is_file()} == first


def test_one_evaluation_at_a_time_writes_results_and_a_dry_run_need_not_wait(run: Run):
    run(plan(OFFLINE))
    with closing(SqliteStore(Path("plan.results") / "store")) as held, held.exclusive():
        refused = run("run", "plan.toml")
        assert (refused.exit_code, "Another build" in refused.output) == (1, True)
        assert run("run", "plan.toml", "--dry-run").exit_code == 0


def test_the_object_holds_every_figure(run: Run):
    found = json.loads(run(plan(OFFLINE), "--json").stdout)
    assert (found["engine"], found["judge"], found["questions"]) == ("offline", None, 3)
    assert found["conditions"]["vectors"]["settings"]["top"] == 1
    claims = next(m for m in found["measures"] if m["name"] == "claims")
    assert len(claims["values"]["words"]) == 3
    assert claims["pairs"][0]["first"] == "words"
    assert "p_holm" in claims["pairs"][0]
    assert found["verdicts"] is None


def test_an_index_that_is_there_is_used_as_it_is(run: Run, tmp_path: Path):
    with Corpus.open(tmp_path / "made") as corpus:
        corpus.add(tmp_path / "towns.jsonl")
        corpus.build(parts=[])
        before = corpus.manifest()
    assert run(plan(OFFLINE.replace("towns.jsonl", "made"))).exit_code == 0
    assert not Path("plan.results/index").exists()
    with Corpus.open(tmp_path / "made", create=False) as corpus:
        assert corpus.manifest() == before


def test_a_part_that_an_index_lacks_is_an_error_with_the_command_that_adds_it(run: Run, tmp_path: Path):
    with Corpus.open(tmp_path / "made") as corpus:
        corpus.add(tmp_path / "towns.jsonl")
        corpus.build(parts=[])
    text = OFFLINE.replace("towns.jsonl", "made").replace('"bm25"', '"graphrag"')
    result = run(plan(text))
    assert result.exit_code == 1
    assert "lacks graph, outline, reports, which graphrag reads" in result.stderr
    assert "--method graphrag" in result.stderr


def test_conditions_of_one_method_each_keep_their_own_settings(run: Run):
    text = OFFLINE.replace('method = "bm25"', 'method = "naive"\ntop = 3')
    run(plan(text))
    answers = [json.loads(line) for line in Path("plan.results/answers.jsonl").read_text().splitlines()]
    read = {name: {len(a["documents"]) for a in answers if a["condition"] == name} for name in ("words", "vectors")}
    assert read == {"words": {3}, "vectors": {1}}


def test_answers_are_cut_to_the_bound_and_that_is_said(run: Run):
    Path("whole.txt").write_text("Who lights the lamp of Arle, and what does the ferry of Brun carry?\n")
    text = "answer_words = 5\n" + OFFLINE.replace("asked.txt", "whole.txt")
    found = json.loads(run(plan(text), "--json").stdout)
    assert any("cut to 5 words" in line for line in found["held"])
    assert found["conditions"]["words"]["cut"] > 0


def test_contexts_that_are_not_equal_are_said_not_to_be(run: Run):
    found = json.loads(run(plan(OFFLINE + "context_tokens = 500\n"), "--json").stdout)
    assert any("NOT equal, in tokens: words 8,000, vectors 500" in line for line in found["held"])


def test_reference_answers_are_compared_where_questions_have_them(run: Run):
    lines = [{"text": "Who lights the lamp of Arle?", "answers": ["The keeper of Arle"]}, {"text": "Why?"}]
    Path("gold.jsonl").write_text("".join(json.dumps(x) + "\n" for x in lines))
    text = OFFLINE.replace("asked.txt", "gold.jsonl").replace("draws", 'metrics = ["reference"]\ndraws')
    found = json.loads(run(plan(text), "--json").stdout)
    rouge = next(m for m in found["measures"] if m["name"] == "rouge-1")
    assert rouge["undefined"] == {"words": 1, "vectors": 1}
    assert rouge["means"]["words"] > 0


def test_types_of_question_are_told_apart_and_abstentions_counted(run: Run):
    lines = [
        {"text": "Who lights the lamp of Arle?", "type": "local"},
        {"text": "What do keeper and ferry of Esk do?", "type": "linked"},
        {"text": "Who sank the moon?", "metadata": {"type": "adversarial"}},
    ]
    Path("typed.jsonl").write_text("".join(json.dumps(x) + "\n" for x in lines))
    assert run(plan(OFFLINE.replace("asked.txt", "typed.jsonl"))).exit_code == 0
    report = Path("plan.results/report.md").read_text()
    assert "## Types of question" in report
    assert "| claims | adversarial | 1 |" in report
    assert re.search(r"\| words \| [01] of 1 \|", report)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("questions =", "question =", "unknown setting question; did you mean questions?"),
        ("draws", "drawz", "unknown setting drawz; did you mean draws?"),
        ('"bm25"', '"bm52"', "[conditions.words]"),
        ("top = 1", "tops = 1", "did you mean top?"),
        ("draws = 50", 'metrics = ["claim"]', "metrics cannot hold 'claim'; choose claims"),
        ("draws = 50", 'metrics = ["judge"]', "does not do"),
        ("draws = 50", 'baseline = "word"', "'word' is no condition"),
        ('method = "bm25"', "", "no method is named"),
        ('"asked.txt"', '"lost.txt"', "lost.txt; `questions` names a .txt or .jsonl file"),
        ('"towns.jsonl"', '"lost"', "`corpus` names the folder of an index"),
        ("draws = 50", "[settings.endpoint]\nmodle = 'x'", "endpoint.model"),
        ("draws = 50", "draws =", "is not valid TOML"),
        ('corpus = "towns.jsonl"', "", 'lacks the field `corpus`: write corpus = "…"'),
        ('questions = "asked.txt"', "", 'lacks the field `questions`: write questions = "…"'),
    ],
)
def test_a_field_that_is_wrong_is_named_with_the_nearest(run: Run, old: str, new: str, said: str):
    text = OFFLINE.replace(old, new) if "[settings" not in new else OFFLINE + new
    result = run(plan(text))
    assert result.exit_code == 1
    assert said in result.stderr
    assert not Path("plan.results/report.md").exists()


def test_a_plan_without_conditions_says_how_one_is_written(run: Run):
    result = run(plan(OFFLINE.partition("[conditions")[0]))
    assert result.exit_code == 1
    said = 'plan.toml lacks conditions: write a table [conditions.NAME] with method = "…" for each.\n'
    assert result.stderr == said


def test_a_mistake_in_a_flag_is_not_blamed_on_a_file(run: Run):
    result = run(plan(OFFLINE), "--set", "graphrag.depth=1")
    assert result.exit_code == 1
    assert "command line: unknown setting graphrag" in result.stderr
    assert "sensegraph.toml" not in result.stderr


@pytest.mark.parametrize("folder", ["notes/input", "notes"])
@pytest.mark.parametrize("flags", [[], ["--dry-run"]])
def test_a_corpus_with_settings_of_its_own_is_indexed_by_itself_before_it_is_asked(
    run: Run, folder: str, flags: list[str]
):
    Path(folder).mkdir(parents=True)
    Path("towns.jsonl").rename(Path(folder, "towns.jsonl"))
    Path("notes/sensegraph.toml").write_text("[index]\nchunk_tokens = 60\nchunk_overlap = 5\nparts = []\n")
    plan(OFFLINE.replace("towns.jsonl", "notes"))
    result = run("plan.toml", *flags)
    assert result.exit_code == 1
    notes = Path.cwd() / "notes"
    source = f" {notes}" if folder == "notes" else ""
    said = f"{notes} has settings (sensegraph.toml) but no index; run: sensegraph index{source} --root {notes}\n"
    assert said in result.stderr
    assert not Path("plan.results").exists()
    words = result.stderr.partition("run: sensegraph ")[2].split()
    assert CliRunner().invoke(app, words).exit_code == 0
    assert run("plan.toml", *flags).exit_code == 0


def test_an_estimate_offline_says_that_nothing_is_paid_and_leaves_nothing_behind(run: Run):
    result = run(plan(OFFLINE), "--dry-run")
    assert "no calls to a model, no cost" in result.stdout
    assert not Path("plan.results").exists()


REMOTE = ("--set", "endpoint.base_url=https://api.example.com/v1", "--set", "endpoint.model=large")


@pytest.mark.parametrize(
    "words",
    [
        ("eval", "run", "plan.toml", "--dry-run"),
        ("index", "towns.jsonl", "--root", "here", "--dry-run"),
        ("index", "towns.jsonl", "--root", "here", "--dry-run", "--sync"),
        ("eval", "papers", "edge2024", "--dry-run"),
    ],
)
def test_an_estimate_asks_nobody_and_needs_no_key(run: Run, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    plan(OFFLINE)
    result = CliRunner().invoke(app, [*words, *REMOTE, "--trust"])
    assert result.exit_code == 0, result.output
    assert "needs a key" not in result.output
    assert re.search(r"[1-9]\d* calls|in all +[1-9]|cannot be run now", result.stdout)


def test_what_was_estimated_without_a_key_is_not_built_without_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    settings = {"endpoint": {"base_url": "https://api.example.com/v1", "model": "large"}}
    with Corpus.open(tmp_path / "here", settings=settings) as corpus:
        assert corpus.estimate(stories(2)).calls > 0
        corpus.add(stories(2))
        with pytest.raises(EndpointDown, match="needs a key: set the environment variable OPENAI_API_KEY"):
            corpus.build()


@pytest.mark.parametrize("flags", [[], ["--dry-run"]])
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("draws = 50", 'metrics = ["judge"]', "The metric 'judge' needs judge, which the engine 'offline' does not do"),
        ("draws = 50", 'metrics = ["reference"]', "needs questions with reference answers"),
        ('"towns.jsonl"', '"empty"', "empty holds no document; put texts there"),
    ],
)
def test_what_a_run_refuses_an_estimate_refuses_too_and_before_an_index_is_built(
    run: Run, flags: list[str], old: str, new: str, said: str
):
    Path("empty").mkdir()
    result = run(plan(OFFLINE.replace(old, new)), *flags)
    assert result.exit_code == 1
    assert said in result.stderr
    assert not Path("plan.results").exists()


# ── over the wire ──


@pytest.mark.slow
def test_a_judge_compares_scores_and_is_reported_on(run: Run, server: ScriptedServer):
    result = run(plan(WIRED.format(url=server.base_url)), "--yes")
    assert result.exit_code == 0, result.output
    found = json.loads(Path("plan.results/results.json").read_text())
    assert found["judge"] == "scripted"
    given = found["verdicts"]
    assert given["verdicts"] == 3 * 2 * 2 * 2  # questions, criteria, replicates, orders
    assert set(given["pairs"]) == {"comprehensiveness", "directness"}
    assert given["bias"]["consistent"] == 1
    assert {m["group"] for m in found["measures"]} >= {"Claims", "Grounding", "Scores from 1 to 10"}
    lines = [json.loads(x) for x in Path("plan.results/verdicts.jsonl").read_text().splitlines()]
    assert sum("winner" in x for x in lines) == given["verdicts"]
    assert sum("score" in x for x in lines) == 3 * 2 * 2  # questions, conditions, runs
    html = Path("plan.results/report.html").read_text()
    ElementTree.fromstring(html.split("\n", 1)[1])  # well-formed
    assert not re.search(r"https?://|<script|<link|<img|url\(", html.replace(server.base_url, ""))
    assert "Can the judge be trusted?" in html
    assert "background:rgb(" in html


@pytest.mark.slow
def test_cost_columns_equal_what_the_server_was_asked_and_a_second_run_asks_nothing(run: Run, server: ScriptedServer):
    run(plan(WIRED.format(url=server.base_url)), "--yes")
    found = json.loads(Path("plan.results/results.json").read_text())
    tasks = server.stats()["tasks"]
    answering = sum(c["usage"]["calls"] for c in found["conditions"].values())
    measuring = sum(u["calls"] for u in found["spent"].values())
    building = sum(tasks.get(t, 0) for t in ("extraction", "summary", "report"))
    assert answering + measuring + building == sum(tasks.values())
    before = len(server.calls)
    assert run("plan.toml").exit_code == 0  # what is there needs no --yes
    assert len(server.calls) == before


@pytest.mark.slow
def test_an_estimate_over_an_index_foresees_every_call_of_answers_and_judge(run: Run, server: ScriptedServer):
    text = WIRED.format(url=server.base_url).replace('"claims", "judge", "scores", "grounding"', '"judge", "scores"')
    with Corpus.open("made", settings={"endpoint": {"base_url": server.base_url, "model": "scripted"}}) as corpus:
        corpus.add("stories.jsonl")
        corpus.build()
    server.reset()
    plan(text.replace("stories.jsonl", "made"))
    foreseen = json.loads(run("plan.toml", "--dry-run", "--json").stdout)
    assert server.calls == []
    assert not foreseen["least"]
    assert run("plan.toml", "--yes").exit_code == 0
    tasks = server.stats()["tasks"]
    assert foreseen["parts"]["measuring: judge"]["calls"] == tasks["judge"]
    assert foreseen["parts"]["measuring: score"]["calls"] == tasks["score"]
    answering = sum(part["calls"] for name, part in foreseen["parts"].items() if name.startswith("answers"))
    assert answering == tasks["answer"] + tasks["points"]
    assert json.loads(run("plan.toml", "--dry-run", "--json").stdout)["parts"]["all"]["calls"] == 0


MORE = POSED + "Whom did Elsa Harrow pay?\nWhat did Iris Harrow sell?\n"


def foreseen_and_made(run: Run, server: ScriptedServer) -> tuple[dict[str, Any], int]:
    """The estimate of plan.toml as it is printed for programs, and the calls of models that the run then made."""
    server.reset()
    foreseen = json.loads(run("plan.toml", "--dry-run", "--json").stdout)
    assert server.calls == []
    assert run("plan.toml", "--yes").exit_code == 0
    return foreseen, len([c for c in server.done() if c.task != "embedding"])


@pytest.mark.slow
@pytest.mark.parametrize(("corpus", "places"), [("made", 2), ("made", 6), ("stories.jsonl", 2)])
def test_a_plan_with_every_metric_of_a_model_is_foreseen_within_a_quarter_before_and_after_it_has_answers(
    run: Run, server: ScriptedServer, corpus: str, places: int
):
    if corpus == "made":  # else the run has to make an index first
        settings = {"endpoint": {"base_url": server.base_url, "model": "scripted"}, "index": {"chunk_tokens": 120}}
        with Corpus.open(corpus, settings=settings) as made_before:
            made_before.add(stories(places))
            made_before.build()
    plan(WIRED.format(url=server.base_url).replace("stories.jsonl", corpus))
    foreseen, made = foreseen_and_made(run, server)
    assert foreseen["sentences"] < USUAL  # there is less to read, and this model writes short reports
    assert {name.removeprefix("measuring: ") for name in foreseen["parts"]} >= {"claim", "support", "score", "judge"}
    assert 0.75 * made <= foreseen["parts"]["all"]["calls"] <= 1.25 * made
    Path("posed.txt").write_text(MORE)
    said = run("plan.toml", "--dry-run").stdout
    foreseen, made = foreseen_and_made(run, server)  # now by the answers that are there, which repeat each other
    assert f"with about {foreseen['sentences']} sentences each" in said
    assert foreseen["parts"].get("measuring: support", {"calls": 0})["calls"] < 5
    assert 0.75 * made <= foreseen["parts"]["all"]["calls"] <= 1.25 * made


@pytest.mark.slow
def test_answers_of_methods_that_ask_more_than_once_are_foreseen_within_a_quarter_without_an_index(
    run: Run, server: ScriptedServer
):
    Path("stories.jsonl").write_text("".join(json.dumps(asdict(d)) + "\n" for d in stories(30)))
    text = WIRED.format(url=server.base_url).replace('["claims", "judge", "scores", "grounding"]', '["scores"]')
    asking = "".join(f'[conditions.{name}]\nmethod = "{name}"\n' for name in ASKING)
    plan(f"limit = 2\n{text}".replace("[judge]", f"{asking}[judge]"))
    foreseen, _ = foreseen_and_made(run, server)
    assert foreseen["least"] == []
    made = json.loads(Path("plan.results/results.json").read_text())["conditions"]
    for name in ("C0", "SS", *ASKING):
        calls = made[name]["usage"]["calls"]
        assert calls == pytest.approx(foreseen["parts"][f"answers of {name}"]["calls"], rel=0.25), name


def test_what_a_judge_let_go_in_answers_that_are_there_is_foreseen_to_be_let_go_in_others(run: Run):
    def let_go(body: dict[str, Any]) -> str | None:
        about = body["messages"][-1]["content"].partition("Sentence: ")[2].partition("\n")[0]
        silent = task_of(body) == "claim-select" and not re.search(r"\d{4}", about)  # worth checking is what has a year
        return json.dumps({"reason": "It names no year.", "sentence": ""}) if silent else None

    told = [{"_id": d.id, "title": d.title, "text": d.text} for d in stories()]
    Path("stories.jsonl").write_text("".join(json.dumps(d) + "\n" for d in told))
    Path("posed.txt").write_text(MORE)
    with ScriptedServer(Script(reply=let_go)) as server:
        text = WIRED.format(url=server.base_url).replace(', "judge", "scores"', "")
        text = text.replace('method = "graphrag"\ndepth = 0', 'method = "naive"\ntop = 2')
        plan(f"limit = 3\n{text}")
        foreseen, made = foreseen_and_made(run, server)
        assert foreseen["parts"]["index"]["calls"] == 0  # these methods read chunks alone, and no more is built
        first = foreseen["parts"]["measuring: claim"]["calls"] / foreseen["sentences"] / (3 * 2)
        plan(text)
        foreseen, made = foreseen_and_made(run, server)
        then = foreseen["parts"]["measuring: claim"]["calls"] / foreseen["sentences"] / (2 * 2)
        assert then < first
        assert 0.75 * made <= foreseen["parts"]["all"]["calls"] <= 1.25 * made


def test_an_estimate_says_that_an_index_made_offline_stays_and_how_calls_for_claims_come_about(
    run: Run, server: ScriptedServer
):
    with Corpus.open("made", settings={"engine": "offline"}) as corpus:
        corpus.add("stories.jsonl")
        corpus.build()
    told = run(plan(WIRED.format(url=server.base_url).replace("stories.jsonl", "made")), "--dry-run").stdout
    assert "no index is made: that in made is used as it is, and offline made its graph; what one by scripted" in told
    assert "sensegraph index --root made --set endpoint.model=scripted --dry-run" in told
    assert "(no answer by this model is stored; answer a few first (limit = 5), and estimate again)" in told
    assert "claims take up to 5 calls a sentence: 2 to choose it, 2 to make clear what it refers to, 1 to part" in told
    own = run(plan(WIRED.format(url=server.base_url)), "--dry-run").stdout
    assert "no index is made" not in own


def test_other_contexts_are_foreseen_to_give_other_answers_each_of_them_judged(run: Run, server: ScriptedServer):
    with Corpus.open("made", settings={"index": {"parts": [], "chunk_tokens": 60, "chunk_overlap": 5}}) as corpus:
        corpus.add("stories.jsonl")
        corpus.build()
    text = WIRED.format(url=server.base_url).replace("stories.jsonl", "made").replace('"claims", ', "")
    text = text.replace('method = "graphrag"\ndepth = 0', 'method = "naive"\ntop = 1')
    foreseen = json.loads(run(plan(text), "--dry-run", "--json").stdout)["parts"]
    assert foreseen["measuring: judge"]["calls"] == 3 * 2 * 2 * 2  # questions, criteria, replicates, orders
    assert foreseen["measuring: score"]["calls"] == 3 * 2 * 2  # questions, conditions, runs
    assert foreseen["measuring: support"]["calls"] > 0
    assert foreseen["all"]["calls"] == sum(part["calls"] for name, part in foreseen.items() if name != "all")


def test_what_differs_is_foreseen_apart_for_every_two_answers(run: Run, server: ScriptedServer):
    with Corpus.open("made", settings={"index": {"parts": [], "chunk_tokens": 60, "chunk_overlap": 5}}) as corpus:
        corpus.add("stories.jsonl")
        corpus.build()
    text = (
        WIRED.format(url=server.base_url)
        .replace("stories.jsonl", "made")
        .replace('method = "graphrag"\ndepth = 0', 'method = "naive"\ntop = 1')
    )
    text = text.replace('"claims", "judge", "scores", "grounding"', '"judge"').replace(
        "[judge]", '[conditions.two]\nmethod = "naive"\ntop = 2\n[judge]\ndifferential = true'
    )
    foreseen = json.loads(run(plan(text), "--dry-run", "--json").stdout)["parts"]
    assert run("plan.toml", "--yes").exit_code == 0
    tasks = server.stats()["tasks"]
    assert tasks["judge"] == 3 * 3 * 2 * 2 * 2  # questions, pairs, criteria, replicates, orders
    assert foreseen["measuring: judge"]["calls"] == tasks["judge"]
    assert foreseen["measuring: contrast"]["calls"] == tasks["contrast"] == 3 * 3


def test_many_calls_begin_only_with_yes(run: Run, server: ScriptedServer):
    result = run(plan(WIRED.format(url=server.base_url)))
    assert result.exit_code == 1
    assert "more than ask_above = 100: add --yes" in result.stderr
    assert "measuring: judge" in result.stderr
    assert server.calls == []


@pytest.mark.slow
def test_another_model_may_judge_and_answers_stay_with_the_first(run: Run):
    with ScriptedServer(Script(keep_bodies=True)) as server:
        text = WIRED.format(url=server.base_url).replace("[judge]", '[judge]\nmodel = "strict"')
        assert run(plan(text), "--yes").exit_code == 0
        asked = {c.task: c.body["model"] for c in server.done() if c.task != "embedding"}
    assert (asked["judge"], asked["score"], asked["answer"], asked["extraction"]) == (
        "strict", "strict", "scripted", "scripted",
    )  # fmt: skip
    assert json.loads(Path("plan.results/results.json").read_text())["judge"] == "strict"


@pytest.mark.slow
def test_an_answer_that_fails_is_counted_and_asked_for_again_by_the_next_run(run: Run):
    bad = Script(fail_rate=1.0, fail_status=400, only="did Elsa Harrow buy")
    with ScriptedServer() as server:
        text = WIRED.format(url=server.base_url).replace('"claims", "judge", "scores", "grounding"', '"judge"')
        text = text.replace('method = "graphrag"\ndepth = 0', 'method = "naive"\ntop = 2')
        plan(text.replace("concurrency = 4", "concurrency = 4\nmax_retries = 0"))
        server.script = bad
        result = run("plan.toml", "--yes")
        assert result.exit_code == 0, result.output
        found = json.loads(Path("plan.results/results.json").read_text())
        assert {c["failed"] for c in found["conditions"].values()} == {1}
        assert found["verdicts"]["pairs"]["directness"][0]["missing"] == 1
        assert "C0 failed: " in Path("plan.results/report.md").read_text()
        server.script = Script()
        before = len(server.done("answer"))
        assert run("plan.toml", "--yes").exit_code == 0
        assert len(server.done("answer")) > before
    found = json.loads(Path("plan.results/results.json").read_text())
    assert {c["failed"] for c in found["conditions"].values()} == {0}


@pytest.mark.slow
def test_a_limit_stops_the_run_and_more_of_it_goes_on(run: Run, server: ScriptedServer):
    plan(WIRED.format(url=server.base_url))
    stopped = run("plan.toml", "--yes", "--max-tokens", 60_000)
    assert stopped.exit_code == 5
    assert "limit" in stopped.stderr
    before = len(server.done())
    assert run("plan.toml", "--yes").exit_code == 0
    shas = [c.sha for c in server.done()]
    assert not set(shas[:before]) & set(shas[before:])


@pytest.mark.slow
def test_a_killed_evaluation_pays_for_nothing_twice(run: Run, server: ScriptedServer, tmp_path: Path):
    text = WIRED.format(url=server.base_url)
    (tmp_path / "whole.toml").write_text(text)
    assert run("whole.toml", "--yes").exit_code == 0
    total, expected = len(server.done()), Path("whole.results/verdicts.jsonl").read_text()
    for share in (0.15, 0.45, 0.8):
        server.reset()
        server.script = Script(latency_s=0.01)
        plan(text, name := f"plan-{share}.toml")
        program = "from sensegraph.cli import main; main()"
        words = [sys.executable, "-c", program, "evaluate", name, "--yes", "--quiet"]
        running = subprocess.Popen(words, cwd=tmp_path)
        while len(server.done()) < share * total and running.poll() is None:
            time.sleep(0.002)
        moment = time.time()
        running.kill()
        assert running.wait() == -9
        time.sleep(0.1)  # what was on its way at the server ends by itself
        before = {c.sha for c in server.done()}
        stored = {c.sha for c in server.done() if c.finished < moment - 0.3}  # long enough ago on a busy machine too
        assert before
        server.reset()
        server.script = Script()
        assert run(name, "--yes").exit_code == 0
        again = [c.sha for c in server.done()]
        assert not stored & set(again)
        assert len(before & set(again)) <= 2 * 4  # what was on its way, or just in: as many as run side by side, twice
        assert len(again) <= total - len(before) + 2 * 4
        assert Path(f"plan-{share}.results/verdicts.jsonl").read_text() == expected


def test_replies_of_an_evaluation_that_is_interrupted_are_kept_with_its_results(
    run: Run, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
):
    """And not with the index, which may be somebody else's."""
    ask = experiment.ask_condition

    def answer_and_stop(*given: Any, **more: Any) -> Any:
        found = ask(*given, **more)
        if server.done():  # what is foreseen asks nobody
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr(experiment, "ask_condition", answer_and_stop)
    plan(POOR.format(url=server.base_url))
    stopped = run("plan.toml", "--yes")
    assert stopped.exit_code == 130, stopped.output
    with closing(SqliteStore(Path("plan.results") / "store")) as store:
        assert store.replies.any()


def test_as_many_calls_as_the_plan_allows_are_made_without_asking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(evaluation_setup, "read_plan", lambda file: SimpleNamespace(ask_above=6))
    monkeypatch.setattr(evaluation_forecast, "format_forecast", lambda foreseen: f"{foreseen.whole.calls} calls")
    monkeypatch.setattr("sys.stdin", io.StringIO())
    for calls, yes in ((0, False), (6, False), (7, True)):
        confirm_calls(tmp_path, SimpleNamespace(whole=SimpleNamespace(calls=calls)), yes=yes)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="7 calls are estimated, more than ask_above = 6"):
        confirm_calls(tmp_path, SimpleNamespace(whole=SimpleNamespace(calls=7)), yes=False)  # type: ignore[arg-type]
