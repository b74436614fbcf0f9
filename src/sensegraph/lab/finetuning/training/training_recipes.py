"""What stands beside a training: its recipe, the manifest of what the model came from, and checkpoints.

A recipe is everything about a training that can change its result, and the paper's is there under its name. A manifest
has the data by hash, the base model, the recipe, versions, and the prompt. A checkpoint is whole or not there, so that
a kill costs a few steps.

source: the paper GRAFT, section 5.2; QLoRA, Dettmers et al. 2023 (R11, R12)
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from sensegraph.corpus.settings import convert_settings
from sensegraph.engines.llm.trained_prompt import MANIFEST, Layout
from sensegraph.engines.local.local_model import Device, render_talk
from sensegraph.errors import InputError, SettingsError
from sensegraph.lab.finetuning.data import example_files
from sensegraph.lab.finetuning.data.example_files import Pair
from sensegraph.lab.finetuning.data.example_types import choose_by_name

if TYPE_CHECKING:
    from sensegraph.lab.finetuning.training.training_run import Job


AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a model is trained on examples.

    `adapter` trains small matrices of rank `rank` beside the frozen weights (LoRA), scaled by `alpha` / `rank`, or all
    weights (`full`). `targets` are the layers that get them; `auto` stands for the paper's names and their equivalents
    as far as the model has them. `loss` counts the tokens of the answer, or of the prompt too (`all`). One step of the
    optimiser sees `batch` × `accumulation` examples; `samples` bounds the examples used, 0 takes all. `epochs` may be a
    fraction. Examples of more than `max_tokens` of the model's tokens are left out and counted, never cut. Every
    `evaluate_every` steps the loss on `held_out` examples is taken, and every `checkpoint_every` steps everything is
    stored that going on needs. `clip` bounds the gradient's norm, 0 does not.
    """

    adapter: Literal["lora", "full"] = "lora"
    rank: int = 32
    alpha: int = 32
    dropout: float = 0.05
    targets: tuple[str, ...] = (AUTO,)
    quantisation: Literal["none", "4bit"] = "none"
    loss: Literal["answer", "all"] = "answer"
    samples: int = 0
    epochs: float = 1.0
    batch: int = 1
    accumulation: int = 8
    learning_rate: float = 2e-4
    schedule: Literal["constant", "linear"] = "constant"
    warmup: int = 0
    optimiser: Literal["adamw", "paged_adamw_8bit"] = "adamw"
    weight_decay: float = 0.0
    clip: float = 1.0
    max_tokens: int = 2048
    evaluate_every: int = 100
    held_out: int = 200
    checkpoint_every: int = 100
    checkpoints: int = 2
    recompute: bool = False
    seed: int = 0
    device: Device = "auto"

    def __post_init__(self) -> None:
        whole = ("rank", "alpha", "batch", "accumulation", "max_tokens", "evaluate_every", "held_out")
        for name in (*whole, "checkpoint_every", "checkpoints"):
            if getattr(self, name) < 1:
                raise SettingsError(f"{name} must be at least 1, not {getattr(self, name)}.")
        if not (0 <= self.dropout < 1 and self.learning_rate > 0 and self.epochs > 0 and self.clip >= 0):
            raise SettingsError(
                f"dropout ({self.dropout}) must lie in 0–1, learning_rate ({self.learning_rate}) and epochs "
                f"({self.epochs}) above 0, and clip ({self.clip}) be at least 0."
            )
        if min(self.samples, self.warmup) < 0 or not self.targets:
            raise SettingsError(
                f"samples ({self.samples}) and warmup ({self.warmup}) start from 0; targets name layers."
            )
        if self.adapter == "full" and self.quantisation != "none":
            raise SettingsError('adapter = "full" trains the weights themselves, which "4bit" freezes: take "lora".')


PRESETS: Mapping[str, Recipe] = MappingProxyType(
    {
        # rank, α, dropout, epochs, batch, accumulation, rate and optimiser as printed; NF4 and double quantisation are
        # QLoRA's, the schedule is not stated; the paper's out_proj is no layer of the Phi that it names, see `targets`
        "graft": Recipe(quantisation="4bit", optimiser="paged_adamw_8bit", samples=20_000, recompute=True),
        "lora": Recipe(),
        "full": Recipe(adapter="full", dropout=0.0),
    }
)


def find_recipe(name: str) -> Recipe:
    """The recipe of a preset. Raises SettingsError for one that does not exist."""
    return choose_by_name(PRESETS, name, "preset of training")


def read_recipe(preset: str, file: Path | None, given: Mapping[str, Any]) -> Recipe:
    """The preset with a file and settings laid over it. Raises SettingsError for what is no recipe."""
    table: dict[str, Any] = {}
    if file is not None:
        try:
            table = tomllib.loads(file.read_text("utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
            raise SettingsError(f"{file} is not valid TOML: {e}.") from e
        convert_settings(table, Recipe, str(file))
    base = {n: list(v) if isinstance(v, tuple) else v for n, v in asdict(find_recipe(preset)).items()}
    return convert_settings({**base, **table, **given}, Recipe, "recipe")


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


_FOLDER, _PREFIX, _FILE = "checkpoints", "step-", "state.pt"


def checkpoint_folder(out: Path, step: int) -> Path:
    """Where the checkpoint of `step` lies."""
    return out / _FOLDER / f"{_PREFIX}{step:08}"


def list_checkpoints(out: Path) -> list[int]:
    """The steps that have a checkpoint, ascending."""
    names = (p.name.removeprefix(_PREFIX) for p in (out / _FOLDER).glob(f"{_PREFIX}*") if (p / _FILE).is_file())
    return sorted(int(n) for n in names if n.isdecimal())


def save_checkpoint(out: Path, step: int, state: dict[str, Any], keep: int) -> None:
    """Store `state` under `step` and remove all but the `keep` newest, and what a kill left half written."""
    import torch

    place = checkpoint_folder(out, step)
    half = place.with_suffix(".half")
    shutil.rmtree(half, ignore_errors=True)
    half.mkdir(parents=True)
    with (half / _FILE).open("wb") as file:
        torch.save(state, file)
        file.flush()
        os.fsync(file.fileno())
    shutil.rmtree(place, ignore_errors=True)
    half.rename(place)
    for old in list_checkpoints(out)[:-keep]:
        shutil.rmtree(checkpoint_folder(out, old))


def load_last_checkpoint(out: Path) -> tuple[int, dict[str, Any]] | None:
    """The newest checkpoint: its step and what was stored; None where there is none."""
    import torch

    steps = list_checkpoints(out)
    if not steps:
        return None
    state = torch.load(checkpoint_folder(out, steps[-1]) / _FILE, map_location="cpu", weights_only=True)
    return steps[-1], dict(state)
