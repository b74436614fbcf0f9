"""A tuned model as one folder of weights, which needs no adapter: for servers that know none."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from sensegraph.engines.local.local_model import MANIFEST, load_local_model, read_base_model, require_extra
from sensegraph.errors import InputError


def merge_adapter(tuned: Path, out: Path) -> Path:
    """Add the adapter in `tuned` to the weights of its base and write both as one model, in the base's own precision.

    The manifest goes with it, so that the prompt of the training stays known. Raises InputError for a folder without
    an adapter, and for an `out` that is not empty.
    """
    require_extra("Merging")
    if not read_base_model(tuned):
        raise InputError(f"{tuned} holds no adapter: a model whose weights were all trained is ready as it is.")
    if out.is_dir() and any(out.iterdir()):
        raise InputError(f"{out} is not empty: name a folder that is, or a new one.")
    import torch
    from transformers import AutoConfig

    tokenizer, model = load_local_model(str(tuned))
    stored = AutoConfig.from_pretrained(read_base_model(tuned), local_files_only=True).dtype
    whole = model.merge_and_unload().to(stored or torch.float32)  # 32 bits where the base model does not say
    out.mkdir(parents=True, exist_ok=True)
    whole.save_pretrained(out)
    tokenizer.save_pretrained(out)
    about = tuned / MANIFEST
    if about.is_file():
        told = json.loads(about.read_text("utf-8")) | {"merged_from": str(tuned)}
        (out / MANIFEST).write_text(json.dumps(told, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    return out


def list_serving_commands(folder: Path) -> str:
    """The ways to serve a model of one folder, and the settings that use it, as lines for a shell and a file."""
    name = shlex.quote(str(folder))
    return (
        f'in this process       engine = "local" and, under [local], model = {json.dumps(str(folder))}\n'
        f"as an endpoint        sensegraph tune serve {name}\n"
        f"by another server     vllm serve {name}\n"
        'then, under [endpoint]: base_url = "http://127.0.0.1:8000/v1", model = ' + json.dumps(folder.name)
    )
