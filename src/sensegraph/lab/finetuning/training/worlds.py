"""A closed world as files: a tiny base model, examples, held-out questions, a corpus, and a 2 × 2 design over it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sensegraph.engines.local.local_model import needs_extra
from sensegraph.lab.finetuning.data import writing
from sensegraph.lab.finetuning.data.reading import Item, asked
from sensegraph.lab.finetuning.data.values import Example
from sensegraph.lab.finetuning.training.tiny import Sizes, tiny
from sensegraph.lab.finetuning.training.world import LAYOUT, Scenes, World, scenes, state, world

# what suffices for a random model of two layers; measured by bench/finetuning.py
RECIPE = "batch = 128\naccumulation = 1\nlearning_rate = 4e-3\nepochs = 3\nevaluate_every = 100\n"


# the corpus is indexed in the folder index, from where the models' folders are meant
DESIGN = """corpus = "index"
questions = "asked.jsonl"
gold = "the facts that the corpus was made from"
metrics = ["token-f1", "rouge-1", "semantic", "bertscore", "human"]
base = { engine = "local", local = { model = "../base", prompt = "auto" }, model = { answer_tokens = 4 } }
tuned = { engine = "local", local = { model = "../tuned" }, model = { answer_tokens = 4 } }
chunks = { method = "naive", top = 3 }
summaries = { method = "graft", top = 1 }
draws = 2000
"""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is written: examples to train on with 0 to `distractors` distractors and RAFT's P, and `held_out` examples
    and questions about pairs that training never shows, these with exactly `distractors`."""

    examples: int = 16_000
    distractors: int = 3
    oracle_share: float = 1.0
    held_out: int = 200
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Files:
    """Where everything is."""

    base: Path
    train: Path
    held_out: Path
    questions: Path
    prompt: Path
    recipe: Path
    corpus: Path
    asked: Path
    design: Path


def files(folder: Path) -> Files:
    """The files of a world in `folder`."""
    names = ("train.jsonl", "held-out.jsonl", "questions.jsonl", "prompt.md", "recipe.toml", "corpus.jsonl")
    return Files(folder / "base", *(folder / name for name in (*names, "asked.jsonl", "design.toml")))


def written(folder: Path, plan: Plan) -> Files:
    """Write all into `folder`. Raises SettingsError, before anything is written, without the extra `finetune`."""
    needs_extra("A world's tiny model")
    place, to = world(seed=plan.seed), files(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tiny(to.base, place.words, Sizes(seed=plan.seed))
    train = Scenes(plan.examples, (0, plan.distractors), plan.oracle_share, seed=plan.seed)
    watched = Scenes(plan.held_out, (0, plan.distractors), held_out=True, seed=plan.seed)
    completions(to.train, scenes(place, train))
    completions(to.held_out, scenes(place, watched))
    questions(to.questions, place, plan.held_out, plan.distractors, plan.seed + 1)
    # a document a town, of pairs that training never shows, and questions about one town (non-global) or all
    found = state(place, plan.seed)
    documents = [{"_id": f.town, "title": f.town, "text": f"{f.text}"} for f in found]
    single = [_row(f.town, f"who {f.does} {f.town}", [f.person], "non-global", f.does) for f in found]
    verbs = dict.fromkeys(f.does for f in found)
    whole = [_row(v, f"who {v}", ["; ".join(f.person for f in found if f.does == v)], "global", v) for v in verbs]
    _lines(to.corpus, documents)
    _lines(to.asked, [*single, *whole])
    to.prompt.write_text(LAYOUT.template, encoding="utf-8")
    to.recipe.write_text(RECIPE, encoding="utf-8")
    to.design.write_text(DESIGN, encoding="utf-8")
    return to


def _row(name: str, question: str, answers: list[str], kind: str, topic: str) -> dict[str, object]:
    return {"id": name, "question": question, "answers": answers, "type": kind, "topic": topic}


def _lines(path: Path, rows: Iterable[object]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


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
