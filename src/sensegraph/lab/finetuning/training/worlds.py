"""A closed world as files: a tiny base model, examples, held-out questions, a corpus, and a 2 × 2 design over it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sensegraph.engines.local.local_model import require_extra
from sensegraph.lab.finetuning.data import example_forms
from sensegraph.lab.finetuning.data.example_files import Item, format_item_prompt
from sensegraph.lab.finetuning.data.example_types import Example
from sensegraph.lab.finetuning.training.tiny import Sizes, write_tiny_model
from sensegraph.lab.finetuning.training.world import LAYOUT, Scenes, World, draw_scenes, draw_state, make_world

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


def list_world_files(folder: Path) -> Files:
    """The files of a world in `folder`."""
    names = ("train.jsonl", "held-out.jsonl", "questions.jsonl", "prompt.md", "recipe.toml", "corpus.jsonl")
    return Files(folder / "base", *(folder / name for name in (*names, "asked.jsonl", "design.toml")))


def write_world_files(folder: Path, plan: Plan) -> Files:
    """Write all into `folder`. Raises SettingsError, before anything is written, without the extra `finetune`."""
    require_extra("A world's tiny model")
    place, to = make_world(seed=plan.seed), list_world_files(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_tiny_model(to.base, place.words, Sizes(seed=plan.seed))
    train = Scenes(plan.examples, (0, plan.distractors), plan.oracle_share, seed=plan.seed)
    watched = Scenes(plan.held_out, (0, plan.distractors), held_out=True, seed=plan.seed)
    write_completions(to.train, draw_scenes(place, train))
    write_completions(to.held_out, draw_scenes(place, watched))
    write_held_out_questions(to.questions, place, plan.held_out, plan.distractors, plan.seed + 1)
    # a document a town, of pairs that training never shows, and questions about one town (non-global) or all
    found = draw_state(place, plan.seed)
    documents = [{"_id": f.town, "title": f.town, "text": f"{f.text}"} for f in found]
    single = [_question_row(f.town, f"who {f.does} {f.town}", [f.person], "non-global", f.does) for f in found]
    verbs = dict.fromkeys(f.does for f in found)
    whole = [
        _question_row(v, f"who {v}", ["; ".join(f.person for f in found if f.does == v)], "global", v) for v in verbs
    ]
    _write_json_rows(to.corpus, documents)
    _write_json_rows(to.asked, [*single, *whole])
    to.prompt.write_text(LAYOUT.template, encoding="utf-8")
    to.recipe.write_text(RECIPE, encoding="utf-8")
    to.design.write_text(DESIGN, encoding="utf-8")
    return to


def _question_row(name: str, question: str, answers: list[str], kind: str, topic: str) -> dict[str, object]:
    return {"id": name, "question": question, "answers": answers, "type": kind, "topic": topic}


def _write_json_rows(path: Path, rows: Iterable[object]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def write_completions(path: Path, examples: Iterable[Example]) -> Path:
    """Write examples as prompt and completion, in the world's own prompt."""
    with path.open("w", encoding="utf-8") as file:
        for example in examples:
            shown = Item(example.id, example.question, example.answer, example.passages)
            row = {"prompt": format_item_prompt(shown, LAYOUT), "completion": f" {example.target}"}
            file.write(json.dumps(row) + "\n")
    return path


def write_held_out_questions(path: Path, place: World, count: int, distractors: int, seed: int) -> Path:
    """Write questions about held-out pairs, each among exactly so many distractors, in the evaluation form."""
    how = Scenes(count, (distractors, distractors), held_out=True, seed=seed)
    path.write_text(
        "".join(example_forms.format_example_line(e, "evaluation") for e in draw_scenes(place, how)), encoding="utf-8"
    )
    return path
