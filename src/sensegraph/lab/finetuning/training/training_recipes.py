"""Recipes: everything about a training that can change its result, and the paper's under its name.

source: the paper GRAFT, section 5.2; QLoRA, Dettmers et al. 2023 (R11, R12)
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from sensegraph.corpus.settings import convert_settings
from sensegraph.engines.local.local_model import Device
from sensegraph.errors import SettingsError

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
    if name not in PRESETS:
        raise SettingsError(f"No preset of training is called {name!r}; there are {', '.join(PRESETS)}.")
    return PRESETS[name]


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
