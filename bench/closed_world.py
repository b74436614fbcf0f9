"""Models trained on a closed world with and without distractors: shared by bench/finetuning.py and its test."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.stats import t as student

from sensegraph.engines.local.local_model import LocalModel, LocalSettings
from sensegraph.lab.finetuning.data.example_files import read_items
from sensegraph.lab.finetuning.training import model_trials, training_recipes, training_run, world
from sensegraph.lab.finetuning.training.world import LAYOUT, Scenes, Sizes, draw_scenes, make_world, write_tiny_model


@dataclass(frozen=True)
class Diet:
    """What a model is trained on: so many distractors, and RAFT's P."""

    name: str
    distractors: tuple[int, int]
    oracle_share: float = 1.0


WITH = Diet("with at most 3 distractors", (0, 3))
WITHOUT = Diet("without distractors", (0, 0))
PARTLY = Diet("at most 3, P = 0.8", (0, 3), 0.8)
FEWER = Diet("with at most 1 distractor", (0, 1))
MORE = Diet("with at most 5 distractors", (0, 5))
DIETS = (WITHOUT, FEWER, WITH, MORE, PARTLY)


@dataclass(frozen=True)
class Learner:
    """How much is trained: the same for every diet."""

    examples: int = 16_000
    epochs: float = 3.0
    asked: int = 150
    among: tuple[int, ...] = (0, 1, 3, 5)


@dataclass(frozen=True)
class Found:
    """What a model of one seed did: exact match and share misled, by the number of distractors in the question."""

    diet: str
    seed: int
    exact: dict[int, float]
    misled: dict[int, float]
    held_out: float
    seconds: float


def trained(folder: Path, diet: Diet, seed: int, how: Learner) -> tuple[Path, training_run.Trained]:
    """A tiny random model of this seed, trained on this diet."""
    place = make_world(seed=seed)
    base = write_tiny_model(folder / "base", place.words, Sizes(seed=seed))
    data = Scenes(how.examples, diet.distractors, diet.oracle_share, seed=seed)
    learnt = world.write_completions(folder / "train.jsonl", draw_scenes(place, data))
    watched = Scenes(200, WITH.distractors, held_out=True, seed=seed)
    held_out = world.write_completions(folder / "held-out.jsonl", draw_scenes(place, watched))
    prompt = folder / "prompt.md"
    prompt.write_text(LAYOUT.template)
    given = {"batch": 128, "accumulation": 1, "learning_rate": 4e-3, "epochs": how.epochs, "seed": seed}
    recipe = replace(training_recipes.find_recipe("full"), device="cpu", **given)
    done = training_run.run_training(training_run.Job(learnt, str(base), folder / "tuned", held_out, prompt), recipe)
    return folder / "tuned", done


def found(folder: Path, diet: Diet, seed: int, how: Learner) -> Found:
    """Train one model, and ask it about held-out pairs among more and more distractors."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    where, done = trained(folder, diet, seed, how)
    model, place = LocalModel(LocalSettings(str(where))), make_world(seed=seed)
    exact, misled = {}, {}
    for count in how.among:
        path = world.write_held_out_questions(folder / f"asked-{count}.jsonl", place, how.asked, count, 1_000 + seed)
        trial = model_trials.run_trial(model, read_items(path), LAYOUT, 4)
        exact[count], misled[count] = trial.exact.mean, trial.misled
    last = done.points[-1]
    return Found(diet.name, seed, exact, misled, last.held_out or 0.0, last.seconds)


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """The mean over seeds with its 95 % interval by Student's t."""
    mean, count = float(np.mean(values)), len(values)
    if count < 2:
        return mean, float("-inf"), float("inf")
    half = float(student.ppf(0.975, count - 1) * np.std(values, ddof=1) / np.sqrt(count))
    return mean, mean - half, mean + half
