"""Fine-tuning from end to end on a CPU, by its commands: data, training, evaluation, serving, the 2 × 2 table."""

from __future__ import annotations

import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from closed_world import WITH, WITHOUT, Learner, found, interval
from sensegraph.cli import app
from sensegraph.corpus.corpus import Corpus
from sensegraph.engines.local.local_model import LocalModel, LocalSettings
from sensegraph.errors import EndpointError, InputError
from sensegraph.lab.finetuning.training.serving import serve_endpoint
from sensegraph.lab.finetuning.training.world import Files, list_world_files
from sensegraph.models.endpoint.client import Endpoint
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from tuned_here import TRAINS

pytestmark = [*TRAINS, pytest.mark.slow]
ENOUGH = Learner(examples=14_000, epochs=3.0, asked=100, among=(0, 3))


def run(*words: object) -> Result:
    result = CliRunner().invoke(app, [str(w) for w in words])
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """A world with its corpus indexed and a model trained on it, by commands alone."""
    folder = tmp_path_factory.mktemp("world")
    at = list_world_files(folder)
    run("tune", "sample", "--out", folder, "--examples", 14_000)
    how = ("--preset", "full", "--recipe", at.recipe, "--prompt", at.prompt, "--held-out", at.held_out, "--quiet")
    run("tune", "train", at.train, "--model", at.base, "--out", folder / "tuned", *how)
    run("index", at.corpus, "--root", folder / "index", "--quiet")
    return at


def test_a_model_trained_with_distractors_ignores_them_better_than_one_trained_without(tmp_path: Path):
    """R02, R29: on pairs that no example showed, three seeds, the interval of the difference by Student's t."""
    seeds = (0, 1, 2)
    both = {d: [found(tmp_path / "run", d, s, ENOUGH) for s in seeds] for d in (WITH, WITHOUT)}
    gaps = [a.exact[3] - b.exact[3] for a, b in zip(both[WITH], both[WITHOUT], strict=True)]
    mean, low, _ = interval(gaps)
    assert mean > 0.3
    assert low > 0.1
    assert min(r.exact[0] for r in both[WITHOUT]) > 0.9  # without distractors it reads the oracle passage as well


def test_the_tuned_model_answers_what_the_base_model_cannot(tuned: Files, tmp_path: Path):
    models = ("--model", tuned.base, "--model", tuned.base.parent / "tuned")
    said = run("tune", "eval", tuned.questions, *models, "--tokens", 4, "--answers", tmp_path, "--quiet", "--json")
    base, after = json.loads(said.stdout)["models"]
    assert base["exact"]["mean"] < 0.1
    assert after["exact"]["low"] > 0.3
    assert after["questions"] == 200
    assert after["above_first"]["low"] > 0.3
    assert "above_first" not in base
    rows = [json.loads(line) for line in (tmp_path / "2-tuned.jsonl").read_text("utf-8").splitlines()]
    assert sum(row["right"] for row in rows) / 200 == pytest.approx(after["exact"]["mean"])


def test_the_losses_are_drawn_and_written(tuned: Files):
    folder = tuned.base.parent / "tuned"
    assert (folder / "losses.svg").read_text("utf-8").startswith("<svg")
    rows = [json.loads(line) for line in (folder / "losses.jsonl").read_text("utf-8").splitlines()]
    watched = [row["held_out"] for row in rows if row["held_out"] is not None]
    assert watched[-1] < watched[0]


def test_any_method_answers_with_the_model_in_this_process_by_the_prompt_of_its_training(tuned: Files):
    settings: dict[str, Any] = {"engine": "local", "local": {"model": "../tuned"}, "model": {"answer_tokens": 4}}
    asked = [json.loads(line) for line in tuned.asked.read_text("utf-8").splitlines()][:12]
    with Corpus.open(tuned.base.parent / "index", settings=settings) as corpus:
        answers = [corpus.query(row["question"], method="naive", top=2) for row in asked]
    right = [row["answers"][0] in a.text for row, a in zip(asked, answers, strict=True)]
    assert sum(right) >= 6
    cited = [a for a in answers if a.citations]
    assert cited
    assert all(c.quote.split()[0] in a.text or c.document in a.text for a in cited for c in a.citations[:1])
    assert all(a.usage.calls == 1 and a.usage.prompt_tokens for a in answers)
    assert answers[0].engine == "tuned"


def test_other_tasks_and_other_prompts_go_the_way_of_every_model_and_what_is_degraded_is_said(tuned: Files):
    settings = {"engine": "local", "local": {"model": "../tuned", "prompt": "tables"}, "model": {"answer_tokens": 4}}
    with Corpus.open(tuned.base.parent / "index", settings=settings) as corpus:
        answer = corpus.query("who feeds", method="naive")
    said = " ".join(answer.notes)
    assert "replies to answer were asked for again" in said  # by words: nothing here enforces a form
    assert "refuses" not in said
    assert "cut off at the limit of its length" in said


def test_the_same_model_behind_an_endpoint_says_the_same(tuned: Files):
    model = LocalModel(LocalSettings(str(tuned.base.parent / "tuned")))
    prompt = json.loads(tuned.held_out.read_text("utf-8").splitlines()[0])["prompt"]
    messages = [{"role": "user", "content": prompt}]
    with serve_endpoint(model) as address:
        endpoint = Endpoint(EndpointSettings(address, model="tuned", max_retries=0))
        reply = endpoint.chat(messages, max_tokens=3)
        heard: list[str] = []
        streamed = endpoint.chat(messages, max_tokens=3, hear=heard.append)
        with pytest.raises(EndpointError, match="A prompt has 1000 tokens and the context of tuned 512"):
            endpoint.chat([{"role": "user", "content": "who " * 998}], max_tokens=3)
    here = model.continued(model.prompt_of(messages), 3)
    assert (reply.text, reply.prompt_tokens, reply.completion_tokens) == (here.text, here.prompt_tokens, here.tokens)
    assert streamed.text == "".join(heard) == here.text
    assert any("streams" in note for note in endpoint.notes())


def test_a_served_model_that_is_asked_with_the_prompt_of_its_training_answers_as_the_local_one(tuned: Files):
    folder = tuned.base.parent
    rows = [json.loads(x) for x in tuned.questions.read_text("utf-8").splitlines()[:12]]
    short = {"answer_tokens": 4}
    local = {"engine": "local", "local": {"model": "../tuned"}, "model": short}
    with Corpus.open(folder / "index", settings=local) as corpus:
        here = [corpus.query(row["question"], method="naive").text for row in rows]
    with serve_endpoint(LocalModel(LocalSettings(str(folder / "tuned")))) as address:
        served = {"engine": "model", "endpoint": {"base_url": address, "model": "tuned", "max_retries": 0}}
        told = served | {"model": {"trained_prompt": "../tuned", **short}}
        with Corpus.open(folder / "index", settings=told) as corpus:
            there = [corpus.query(row["question"], method="naive").text for row in rows]
    assert there == here
    assert len(set(here)) > 4  # how often so small a model is right depends on how a machine adds, but it reads each


def test_a_port_that_is_taken_is_said(tuned: Files):
    model = LocalModel(LocalSettings(str(tuned.base)))
    with serve_endpoint(model) as address, pytest.raises(InputError, match="cannot be used"):
        serve_endpoint(model, int(address.rpartition(":")[2].partition("/")[0])).__enter__()


def test_threads_that_ask_at_once_share_one_model_and_get_what_each_alone_would(tuned: Files):
    model = LocalModel(LocalSettings(str(tuned.base.parent / "tuned")))
    prompts = [json.loads(x)["prompt"] for x in tuned.held_out.read_text("utf-8").splitlines()[:8]]
    assert prompts
    with ThreadPoolExecutor(4) as pool:
        said = list(pool.map(lambda p: model.continued(p, 3), prompts))
        loaded = list(pool.map(lambda _: model.loaded[1], range(4)))
    assert said == [model.continued(p, 3) for p in prompts]
    assert all(m is loaded[0] for m in loaded)


def test_the_design_gives_a_table_with_effects_a_blind_sheet_and_pictures(tuned: Files, tmp_path: Path):
    """R14–R20, R24, R25."""
    out, sheet = tmp_path / "out", tmp_path / "sheet.csv"
    said = run("tune", "compare", tuned.design, "--out", out, "--sheet", sheet, "--quiet", "--trust").stdout
    assert "34 questions, 4 arms; gold answers: the facts that the corpus was made from" in said
    assert "BERTScore was not measured" in said
    table = json.loads((out / "tables.json").read_text("utf-8"))
    assert table["arms"] == ["rag", "raft", "graphrag", "graft"]
    (row,) = [r for r in table["rows"] if (r["metric"], r["type"]) == ("token-f1", "non-global")]
    assert row["questions"] == 30
    assert row["effects"]["tuning"]["low"] > 0
    for name in ("answers-by-type.svg", "answers-by-topic.svg", "tables.md"):
        assert (out / name).stat().st_size > 500
    assert "### Baseline GraphRAG" in (out / "tables.md").read_text("utf-8")
    rated = sheet.read_text("utf-8").replace(",\r\n", ",yes\r\n").replace(",\n", ",yes\n")
    sheet.write_text(rated, encoding="utf-8")
    before = sorted(os.listdir(out)), (out / "answers.jsonl").read_bytes()
    again = run(
        "tune", "compare", tuned.design, "--out", out, "--ratings", sheet, "--quiet", "--trust", "--json"
    ).stdout
    human = [r for r in json.loads(again)["rows"] if r["metric"] == "human" and r["type"] == "joint"]
    assert human[0]["arms"]["graft"]["mean"] == 1.0
    assert (sorted(os.listdir(out)), (out / "answers.jsonl").read_bytes()) == before  # nothing was asked again


def test_without_a_tuned_model_there_are_the_two_base_arms_and_the_tables_say_so(tuned: Files, tmp_path: Path):
    plan = tuned.base.parent / "offline.toml"
    lines = [x for x in tuned.design.read_text("utf-8").splitlines() if not x.startswith(("base", "tuned", "metrics"))]
    plan.write_text("\n".join([*lines, 'base = { engine = "offline" }', 'metrics = ["token-f1", "rouge-1"]']))
    said = run("tune", "compare", plan, "--out", tmp_path / "out", "--quiet").stdout
    assert "34 questions, 2 arms" in said
    assert "Effects need all four arms" in said


def test_a_folder_that_was_moved_is_still_a_model(tuned: Files, tmp_path: Path):
    shutil.copytree(tuned.base.parent / "tuned", tmp_path / "elsewhere")
    model = LocalModel(LocalSettings(str(tmp_path / "elsewhere")))
    assert model.continued("who", 2).prompt_tokens == 1
    assert model.content == LocalModel(LocalSettings(str(tuned.base.parent / "tuned"))).content
