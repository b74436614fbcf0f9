"""Fine-tuning over corpora of few documents, from data to a served model, by its commands."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from sensegraph.cli import app
from sensegraph.corpus.corpus import Corpus
from sensegraph.engines.local.local_model import LocalModel, LocalSettings
from sensegraph.lab.finetuning.data.example_files import completion_layout
from sensegraph.lab.finetuning.training.serving import serve_endpoint
from sensegraph.lab.finetuning.training.world import Sizes, make_world, write_tiny_model
from sensegraph.lab.scores.standard import exact_match
from sensegraph.types import Document
from tuned_here import TRAINS

pytestmark = [*TRAINS, pytest.mark.slow]

SIZES = (1, 2, 5, 7, 20)
ASKED = 6
CITED = re.compile(r"\s*\[\d+\]")
PLACE = make_world(towns=max(SIZES), people=2 * max(SIZES))
TEXTS = tuple(
    f"{PLACE.people[2 * n]} guards the town of {town}. {PLACE.people[2 * n + 1]} feeds the dogs of {town}."
    for n, town in enumerate(PLACE.towns)
)
SHORT: dict[str, Any] = {"model": {"answer_tokens": 6}, "index": {"parts": []}}
# the passages that a question is asked over: its own, and the nearest of the others
AS_ASKED = ("--near", "naive", "--hard", 1, "--distractors", 1, "--no-pad", "--form", "evaluation")
RECIPE = ("epochs=30", "learning_rate=0.003", "batch=4", "accumulation=1")


def run(*words: object) -> Result:
    result = CliRunner().invoke(app, [str(w) for w in words])
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of random weights that knows every word of the texts, the questions and the prompt."""
    words = re.findall(r"\w+|[^\w\s]+", " ".join((completion_layout().template, *TEXTS, "Who guards feeds ?")))
    return write_tiny_model(tmp_path_factory.mktemp("base"), sorted(set(words)), Sizes(positions=1024))


def ask(folder: Path, rows: list[dict[str, Any]], settings: dict[str, Any]) -> list[str]:
    with Corpus.open(folder, settings=SHORT | settings) as corpus:
        return [corpus.query(row["text"], method="naive", top=2).text for row in rows]


@pytest.mark.parametrize("count", SIZES)
def test_a_corpus_of_any_size_is_tuned_on_and_the_served_model_answers_as_the_local_one(
    base: Path, tmp_path: Path, count: int
) -> None:
    notes, asked, tuned = tmp_path / "notes", tmp_path / "asked.jsonl", tmp_path / "tuned"
    train, held = tmp_path / "train.jsonl", tmp_path / "held.jsonl"
    with Corpus.open(notes, settings={"engine": "offline"} | SHORT) as corpus:
        corpus.add([Document(f"d{n}", text) for n, text in enumerate(TEXTS[:count])])
        corpus.build()
    facts = (("guards", "the town of {}"), ("feeds", "the dogs of {}"))[
        : 2 if count == 1 else 1
    ]  # two questions at least
    rows = [
        {"_id": f"{n} {does}", "text": f"Who {does} {what.format(town)}?", "answer": PLACE.people[2 * n + place]}
        | {"documents": [f"d{n}"]}
        for n, town in enumerate(PLACE.towns[:count])
        for place, (does, what) in enumerate(facts)
    ]
    asked.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    run("tune", "data", notes, "--questions", asked, "--out", train, "--held-out", held, *AS_ASKED, "--quiet")
    how: list[object] = ["--preset", "full", *(word for setting in RECIPE for word in ("--set", setting))]
    run("tune", "train", train, "--held-out", held, "--model", base, "--out", tuned, *how, "--quiet")
    models = ("--model", base, "--model", tuned, "--tokens", 6, "--quiet", "--json")
    before, after = json.loads(run("tune", "eval", train, *models).stdout)["models"]
    (_, apart) = json.loads(run("tune", "eval", held, *models).stdout)["models"]
    assert after["questions"] + apart["questions"] == len(rows)
    assert after["exact"]["mean"] > before["exact"]["mean"]

    learnt = {json.loads(line)["id"] for line in train.read_text("utf-8").splitlines()}
    few = sorted(rows, key=lambda row: row["_id"] not in learnt)[:ASKED]
    here = ask(notes, few, {"engine": "local", "local": {"model": str(tuned)}})
    with serve_endpoint(LocalModel(LocalSettings(str(tuned)))) as address:
        served = {"engine": "model", "endpoint": {"base_url": address, "model": "tuned", "max_retries": 0}}
        there = ask(notes, few, served | {"model": {"trained_prompt": str(tuned), **SHORT["model"]}})
    assert there == here
    right, right_there = (
        [exact_match(CITED.sub("", said), [row["answer"]]) for said, row in zip(texts, few, strict=True)]
        for texts in (here, there)
    )
    assert right_there == right
    assert sum(right) >= 1
