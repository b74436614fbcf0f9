"""Checkpoints of a training: all that going on needs, each whole or not there, so that a kill costs a few steps."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

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


def remove_checkpoints(out: Path) -> None:
    """Remove all checkpoints: the training is done."""
    shutil.rmtree(out / _FOLDER, ignore_errors=True)
