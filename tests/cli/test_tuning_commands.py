"""What the commands of `tune` hand on to those who train, and what they print of it; nothing is trained."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from sensegraph.cli import app
from sensegraph.corpus.corpus import Corpus
from sensegraph.engines.local import local_model
from sensegraph.lab.finetuning import pictures
from sensegraph.lab.finetuning.data import example_files
from sensegraph.lab.finetuning.factorial import design_effects, designs
from sensegraph.lab.finetuning.training import model_trials, serving, training_run, world
from sensegraph.lab.finetuning.training.training_recipes import read_recipe
from sensegraph.lab.finetuning.training.training_run import Point, Trained


def run(*words: object) -> Result:
    return CliRunner().invoke(app, ["tune", *map(str, words)])  # type: ignore[return-value]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures are named and not drawn."""
    monkeypatch.setattr(pictures, "write_pictures", lambda scene, folder, name: [folder / f"{name}.svg"])


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch, drawn: None) -> list[Any]:
    """What was asked of a training: it ends at once."""
    jobs: list[Any] = []

    def train(job: Any, how: Any, tell: Any) -> Trained:
        tell(Point(5, 1.0, 0.1), 20)  # type: ignore[call-arg]
        jobs.append((job, how))
        points = (Point(1, 2.5, 0.1), Point(2, 1.5, 0.2))  # type: ignore[call-arg]
        return Trained(job.out, points, 2, 8, (0, 0), ("q",), (10, 100))

    monkeypatch.setattr(training_run, "run_training", train)
    return jobs


def test_a_training_is_told_with_what_to_do_next(trained: list[Any], tmp_path: Path) -> None:
    out = tmp_path / "tuned"
    done = run("train", "data.jsonl", "--model", "base", "--out", out)
    assert done.exit_code == 0
    ((job, how),) = trained
    assert job == training_run.Job(Path("data.jsonl"), "base", out, None, None, False)
    assert how == read_recipe("graft", None, {})
    assert done.stdout.endswith(f"next: sensegraph tune eval FILE --model base --model {out}\n")
    assert done.stderr == f"written: {out}, {out / 'losses.svg'}\n"


def test_what_is_said_of_a_training_is_handed_on(trained: list[Any], tmp_path: Path) -> None:
    words = ("--held-out", "h.jsonl", "--prompt", "p.md", "--download", "--preset", "lora", "--set", "rank=3")
    done = run("train", "d", "--model", "m", "--out", tmp_path, "--targets", " a, b,,", *words, "--json")
    ((job, how),) = trained
    assert job == training_run.Job(Path("d"), "m", tmp_path, Path("h.jsonl"), Path("p.md"), True)
    assert how == read_recipe("lora", None, {"rank": 3, "targets": ["a", "b"]})
    told = json.loads(done.stdout)
    assert (told["out"], told["last"]["step"], told["pictures"]) == (str(tmp_path), 2, [str(tmp_path / "losses.svg")])
    assert (told["recipe"]["rank"], told["steps"], "points" in told) == (3, 2, False)
    assert done.stderr == ""


def test_a_merged_model_is_told_with_how_to_serve_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    merged: list[Any] = []
    monkeypatch.setattr(serving, "merge_adapter", lambda *given: merged.append(given))
    monkeypatch.setattr(serving, "list_serving_commands", lambda folder: f"serve {folder}")
    plain, told = (run("merge", "tuned", "--out", tmp_path, *more) for more in ((), ("--json",)))
    assert merged == [(Path("tuned"), tmp_path)] * 2
    assert (plain.stdout, plain.stderr) == (f"serve {tmp_path}\n", f"written: {tmp_path}\n")
    assert json.loads(told.stdout) == {"schema": 1, "out": str(tmp_path), "serve": f"serve {tmp_path}"}


@dataclass(frozen=True, slots=True)
class Written:
    """Files of a world."""

    one: Path
    two: Path


class Model:
    """A model that is not there; the second one that is named was tuned with a prompt of its own."""

    context = 100

    def __init__(self, settings: Any) -> None:
        self.name = settings.model
        self.manifest = {"prompt": "{question} of mine"} if "tuned" in self.name else {}


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The trials of models that are not there."""
    tried: list[Any] = []

    def try_model(name: str, one: Model, items: Any, shape: Any, most: int, tell: Any) -> str:
        tell(len(items))
        tried.append((one.name, list(items), shape, most))
        return f"trial of {one.name}"

    monkeypatch.setattr(local_model, "LocalModel", Model)
    monkeypatch.setattr(example_files, "read_items", lambda file: ["i1", "i2", "i3"])
    monkeypatch.setattr(example_files, "completion_layout", lambda: "usual layout")
    monkeypatch.setattr(model_trials, "run_trial", lambda *given: try_model(given[0].name, *given))
    monkeypatch.setattr(model_trials, "compare_trials", lambda found, names: f"{found} by {names}")
    monkeypatch.setattr(model_trials, "record_trial", lambda *given: list(given))
    monkeypatch.setattr(model_trials, "write_trial", lambda trial, path: path.write_text(trial))
    return tried


def test_models_are_asked_alike_with_the_prompt_of_the_first_that_was_tuned(models: list[Any], tmp_path: Path) -> None:
    answers = tmp_path / "a" / "b"
    words = ("eval", "f", "--model", "x/base", "--model", "x/tuned")
    done = run(*words, "--answers", answers, "--metrics", "bleu,,rouge-1", "--limit", 2, "--tokens", 9)
    found = [("x/base", "trial of x/base"), ("x/tuned", "trial of x/tuned")]
    assert done.stdout == f"{found} by ['bleu', 'rouge-1']\n"
    assert [(name, items, most) for name, items, _, most in models] == [
        ("x/base", ["i1", "i2"], 9), ("x/tuned", ["i1", "i2"], 9),
    ]  # fmt: skip
    assert models[0][2] == models[1][2] != "usual layout"
    assert {p.name: p.read_text() for p in answers.iterdir()} == {
        "1-base.jsonl": "trial of x/base", "2-tuned.jsonl": "trial of x/tuned",
    }  # fmt: skip
    models.clear()
    told = json.loads(run("eval", "f", "--model", "x/base", "--json").stdout)
    assert told["models"] == [["x/base", "trial of x/base", "trial of x/base", []]]
    assert models == [("x/base", ["i1", "i2", "i3"], "usual layout", 64)]


def test_a_model_that_is_served_is_told_with_the_settings_that_use_it(
    monkeypatch: pytest.MonkeyPatch, models: list[Any], tmp_path: Path
) -> None:
    served, waited = list[Any](), list[int]()

    @contextmanager
    def serve(loaded: Model, port: int) -> Iterator[str]:
        served.append((loaded.name, port))
        yield "http://127.0.0.1:1/v1"

    monkeypatch.setattr(serving, "serve_endpoint", serve)
    monkeypatch.setattr(threading, "Event", lambda: SimpleNamespace(wait=lambda: waited.append(1)))
    base, tuned = (run("serve", tmp_path / name) for name in ("base", "tuned"))
    address = "http://127.0.0.1:1/v1"
    line = (
        f'{address} serves {tmp_path}/base: set endpoint.base_url = "{address}" and endpoint.model = "{tmp_path}/base"'
    )
    assert base.stdout == f"{line}\n"
    assert tuned.stdout.splitlines() == [
        line.replace("/base:", "/tuned:").replace('/base"', '/tuned"'),
        f'to have answers asked as it was trained: set model.trained_prompt = "{tmp_path.resolve()}/tuned"',
    ]
    told = json.loads(run("serve", tmp_path / "base", "--port", 0, "--json").stdout)
    assert told == {"schema": 1, "address": address, "model": f"{tmp_path}/base", "trained_prompt": None}
    told = json.loads(run("serve", tmp_path / "tuned", "--json").stdout)
    assert told["trained_prompt"] == f"{tmp_path.resolve()}/tuned"
    assert [port for _, port in served] == [8000, 8000, 0, 8000]
    assert len(waited) == 4


def test_a_toy_world_is_told_with_the_command_that_trains_on_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plans: list[Any] = []

    def write(folder: Path, plan: Any) -> Any:
        plans.append(plan)
        return Written(folder / "a", folder / "b")

    monkeypatch.setattr(world, "write_world_files", write)
    done = run("sample", "--out", tmp_path)
    assert plans == [world.Plan(16_000, 3, 1.0, seed=0)]
    assert done.stderr == f"written: {tmp_path}/a, {tmp_path}/b\n"
    assert done.stdout == (
        f"next: sensegraph tune train {tmp_path}/train.jsonl --held-out {tmp_path}/held-out.jsonl --model "
        f"{tmp_path}/base --out {tmp_path}/tuned --preset full --recipe {tmp_path}/recipe.toml --prompt "
        f"{tmp_path}/prompt.md\n"
    )
    words = ("--examples", 5, "--distractors", 0, "--oracle-share", 0.5, "--seed", 4, "--json")
    assert json.loads(run("sample", "--out", tmp_path, *words).stdout) == {
        "schema": 1, "one": f"{tmp_path}/a", "two": f"{tmp_path}/b",
    }  # fmt: skip
    assert plans[1] == world.Plan(5, 0, 0.5, seed=4)


def test_a_comparison_hands_on_what_was_answered_and_writes_its_tables(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen: dict[str, Any] = {}
    plan = SimpleNamespace(
        questions="q", corpus=str(tmp_path), base={"engine": "offline"}, draws=7, seed=3, gold="told"
    )
    asked = [SimpleNamespace(type="local"), SimpleNamespace(type="global")]
    measured = [SimpleNamespace(metric="f1", how="by words"), SimpleNamespace(metric="human", how="by people")]

    class Opened:
        def __init__(self) -> None:
            self.workspace = SimpleNamespace(settings=None)

        def __enter__(self) -> Opened:
            return self

        def __exit__(self, *_: object) -> None:
            seen["closed"] = True

        def runtime(self) -> str:
            return "runtime"

    def answer(given: Any, questions: Any, file: Path, shown: Any, opening: Any) -> list[str]:
        seen["answers"] = file
        return ["r1", "r2"]

    def write_sheet(path: Path, questions: Any, replies: Any, seed: int) -> int:
        seen["sheet"] = (path, replies, seed)
        return 1_234

    def measure(given: Any, questions: Any, replies: Any, rt: str, judged: Any) -> Any:
        seen["judged"] = judged
        return measured, ["a note"]

    monkeypatch.setattr(Corpus, "open", lambda root, *, create: seen.update(opened=(root, create)) or Opened())
    monkeypatch.setattr(designs, "read_design", lambda file: plan)
    monkeypatch.setattr(designs, "read_design_questions", lambda path: asked)
    monkeypatch.setattr(designs, "read_ratings", lambda paths: f"ratings of {len(paths)}")
    monkeypatch.setattr(designs, "answer_in_arms", answer)
    monkeypatch.setattr(designs, "measure_design", measure)
    monkeypatch.setattr(designs, "write_sheet", write_sheet)
    monkeypatch.setattr(pictures, "write_answer_maps", lambda *given: [given[-1] / "map.svg"])
    monkeypatch.setattr(design_effects, "compute_rows", lambda one, *given: [(one.metric, *given)])
    monkeypatch.setattr(design_effects, "record_effects", lambda found: {"rows": found.rows, "how": found.how})
    monkeypatch.setattr(design_effects, "render_effects_page", lambda found: f"page: {found.notes}\n")
    monkeypatch.setattr(design_effects, "format_effects", lambda found: f"{found.gold}, {len(found.replies)}")
    design, out = tmp_path / "d.toml", tmp_path / "out"
    done = run("compare", design, "--out", out)
    assert (done.exit_code, done.stdout) == (0, "told, 2\n")
    assert done.stderr == f"written: {out / 'tables.md'}, {out / 'tables.json'}, {out / 'map.svg'}\n"
    assert (seen["answers"], seen["judged"], seen["opened"]) == (out / "answers.jsonl", None, (str(tmp_path), False))
    assert (out / "tables.md").read_text() == "page: ('a note',)\n"
    told = json.loads((out / "tables.json").read_text())
    assert told["rows"] == [["f1", ["local", "global"], 7, 3], ["human", ["local", "global"], 7, 3]]
    assert "sheet" not in seen
    more = ("--sheet", tmp_path / "s.csv", "--ratings", tmp_path / "r.csv", "--ratings", tmp_path / "t.csv", "--json")
    done = run("compare", design, "--out", out, *more)
    assert json.loads(done.stdout)["rows"] == told["rows"]
    assert seen["judged"] == "ratings of 2"
    assert seen["sheet"] == (tmp_path / "s.csv", ["r1", "r2"], 3)
    read = f"written: {tmp_path / 's.csv'}, 1,234 answers to judge; read it with --ratings {tmp_path / 's.csv'}"
    assert done.stderr.splitlines()[-1] == read
