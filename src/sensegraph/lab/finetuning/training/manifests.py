"""What a tuned model came from, written beside it: data by hash, base model, recipe, versions, and its prompt."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sensegraph.engines.local.local_engine import Layout
from sensegraph.engines.local.local_model import MANIFEST, render_talk
from sensegraph.errors import InputError, SettingsError
from sensegraph.lab.finetuning.data import example_files
from sensegraph.lab.finetuning.data.example_files import Pair
from sensegraph.lab.finetuning.training.training_recipes import Recipe

if TYPE_CHECKING:
    from sensegraph.lab.finetuning.training.training_run import Job

LIBRARIES = ("sensegraph", "torch", "transformers", "peft", "bitsandbytes")
_SAME = ("data", "held_out", "model", "recipe")  # what makes two trainings one


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a training is of. `data` and `held_out` are hashes (SHA-256); `prompt` is the template of the prompts,
    empty where the data has another than ours; `finished` says that the folder holds the trained model."""

    data: str
    held_out: str
    model: str
    recipe: dict[str, Any]
    prompt: str = ""
    targets: tuple[str, ...] = ()
    steps: int = 0
    examples: int = 0
    versions: dict[str, str] = field(default_factory=dict)
    finished: bool = False


def make_manifest(job: Job, recipe: Recipe) -> Manifest:
    """The manifest of a training that has not begun."""
    held_out = example_files.hash_file(job.held_out) if job.held_out else ""
    shape = _find_template(job)
    where = str(Path(job.model).resolve()) if Path(job.model).is_dir() else job.model
    versions = {}
    for name in LIBRARIES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "not installed"
    return Manifest(
        example_files.hash_file(job.data), held_out, where, _as_json(asdict(recipe)), shape, versions=versions
    )


def claim_folder(out: Path, about: Manifest) -> None:
    """Make the folder this training's own. Raises SettingsError, naming what differs, where it is another's."""
    path = out / MANIFEST
    if path.is_file():
        there = json.loads(path.read_text("utf-8"))
        mine = _as_json(asdict(about))
        if other := [name for name in _SAME if there.get(name) != mine[name]]:
            raise SettingsError(
                f"{out} holds another training ({', '.join(other)} differ): go on with what it was begun with, or name "
                "another folder with --out."
            )
        return
    if out.is_dir() and any(out.iterdir()):
        raise SettingsError(f"{out} is not empty and holds no training: name a folder that is, or a new one.")
    out.mkdir(parents=True, exist_ok=True)
    write_manifest(out, about)


def write_manifest(out: Path, about: Manifest) -> None:
    """Write the manifest into its folder."""
    text = json.dumps(asdict(about), ensure_ascii=False, indent=2)
    (out / MANIFEST).write_text(text + "\n", encoding="utf-8")


def read_training_pairs(path: Path, tokenizer: Any, template: str = "") -> list[Pair]:
    """The pairs of a data file: chats in the form that the tokenizer gives them, questions in that of the template."""
    shape = Layout(template) if template else example_files.completion_layout()
    return example_files.read_pairs(path, lambda messages: render_talk(messages, tokenizer), shape)


def _find_template(job: Job) -> str:
    """The template of the data's prompts: the one given, else ours where the first line has it, else none.

    Raises InputError for one that is given and that the first line does not have.
    """
    first = example_files.read_pairs(job.data, lambda messages: render_talk(messages, None))[0].prompt
    if job.prompt is None:
        ours = example_files.completion_layout().template
        return ours if _fits_template(first, ours) else ""
    given = job.prompt.read_text("utf-8")
    if not _fits_template(first, given):
        raise InputError(
            f"{job.prompt} is not what the prompts of {job.data} look like: it holds {{{{question}}}} and "
            "{{passages}} once each, and around them what every prompt has."
        )
    return given


def _fits_template(prompt: str, template: str) -> bool:
    """Whether a prompt is the template with something in its two places."""
    parts = re.split(r"\{\{(?:question|passages)\}\}", template)
    pattern = ".+".join(map(re.escape, parts))
    return len(parts) == 3 and re.fullmatch(pattern, prompt, re.DOTALL) is not None


def _as_json(value: Any) -> Any:
    """`value` as JSON gives it back."""
    return json.loads(json.dumps(value))
