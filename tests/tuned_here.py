"""What tests of training share: a mark for those that need its libraries, and a small world on disk."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from sensegraph.lab.finetuning.training.world import Files, Plan, write_world_files

THERE = all(find_spec(name) for name in ("torch", "transformers", "peft", "bitsandbytes"))
needs_extra = pytest.mark.skipif(not THERE, reason="needs the extra finetune")
TRAINS = [pytest.mark.finetune, needs_extra]


def small_world(folder: Path, examples: int = 200, seed: int = 0) -> Files:
    """A world with few examples: enough to train a few steps."""
    return write_world_files(folder, Plan(examples, held_out=20, seed=seed))
