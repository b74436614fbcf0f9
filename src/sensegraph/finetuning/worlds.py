"""A closed world as files: a tiny base model, examples, held-out examples and questions, the prompt, and a recipe."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sensegraph.finetuning import writing
from sensegraph.finetuning.reading import Item, asked
from sensegraph.finetuning.tiny import Sizes, tiny
from sensegraph.finetuning.values import Example
from sensegraph.finetuning.world import LAYOUT, Scenes, World, scenes, world

# what suffices for a random model of two layers; measured by bench/finetuning.py
RECIPE = "batch = 128\naccumulation = 1\nlearning_rate = 4e-3\nepochs = 3\nevaluate_every = 100\n"


@dataclass(frozen=True, slots=True)
class Plan:
    """What is written: examples to train on with 0 to `distractors` distractors and RAFT's P, and `held_out` examples
    and questions about pairs that training never shows, these with exactly `distractors`."""

    examples: int = 16_000
    distractors: int = 3
    oracle_share: float = 1.0
    held_out: int = 200
    seed: int = 0


def written(folder: Path, plan: Plan) -> tuple[Path, ...]:
    """Write all into `folder`; the paths of base model, examples, held-out examples, questions, prompt and recipe."""
    place = world(seed=plan.seed)
    folder.mkdir(parents=True, exist_ok=True)
    base = tiny(folder / "base", place.words, Sizes(seed=plan.seed))
    train = Scenes(plan.examples, (0, plan.distractors), plan.oracle_share, seed=plan.seed)
    watched = Scenes(plan.held_out, (0, plan.distractors), held_out=True, seed=plan.seed)
    data = completions(folder / "train.jsonl", scenes(place, train))
    held_out = completions(folder / "held-out.jsonl", scenes(place, watched))
    asked_of = questions(folder / "questions.jsonl", place, plan.held_out, plan.distractors, plan.seed + 1)
    prompt, recipe = folder / "prompt.md", folder / "recipe.toml"
    prompt.write_text(LAYOUT.template, encoding="utf-8")
    recipe.write_text(RECIPE, encoding="utf-8")
    return base, data, held_out, asked_of, prompt, recipe


def completions(path: Path, examples: Iterable[Example]) -> Path:
    """Write examples as prompt and completion, in the world's own prompt."""
    with path.open("w", encoding="utf-8") as file:
        for example in examples:
            shown = Item(example.id, example.question, example.answer, example.passages)
            row = {"prompt": asked(shown, LAYOUT), "completion": f" {example.target}"}
            file.write(json.dumps(row) + "\n")
    return path


def questions(path: Path, place: World, count: int, distractors: int, seed: int) -> Path:
    """Write questions about held-out pairs, each among exactly so many distractors, in the evaluation form."""
    how = Scenes(count, (distractors, distractors), held_out=True, seed=seed)
    path.write_text("".join(writing.line(e, "evaluation") for e in scenes(place, how)), encoding="utf-8")
    return path
