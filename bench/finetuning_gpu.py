"""The paper's training on a GPU, on random weights: `python bench/finetuning_gpu.py` (the extra `finetune`).

A model of Phi-2's configuration (2.7 billion weights, random) is written to a temporary folder, loaded in 4 bits and
trained by the preset `graft`: batch 1, accumulation 8, 2,048 tokens an example, paged AdamW in 8 bits. Prints the loss
of the first and the last step, tokens a second, and the peak of the GPU's memory. Random weights learn nothing worth
having: what is measured is whether and how fast it runs.

`--layers`, `--width`, `--vocabulary`, `--tokens` make it smaller; `--device cpu` tries the program without a GPU, with
no figure that means anything.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sensegraph.lab.finetuning.training import training_recipes, training_run, world

STEPS = 20


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("layers", 32), ("width", 2560), ("heads", 32), ("vocabulary", 51_200), ("tokens", 2048)):
        options.add_argument(f"--{name}", type=int, default=default)
    options.add_argument("--steps", type=int, default=STEPS)
    options.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    given = options.parse_args()
    import torch

    if given.device == "cuda" and not torch.cuda.is_available():
        sys.exit("no GPU is to be seen here; --device cpu with small sizes tries the program")
    with TemporaryDirectory() as folder:
        report(measured(Path(folder), given), given)


def measured(folder: Path, given: argparse.Namespace) -> training_run.Trained:
    import torch

    words = [f"w{n}" for n in range(min(given.vocabulary - 4, 5_000))]
    base = random_phi(folder / "base", words, given)
    if given.device == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()  # what making the model took is not of interest
    data = written(folder / "data.jsonl", words, given)
    recipe = replace(
        training_recipes.find_recipe("graft"), device=given.device, max_tokens=given.tokens, checkpoint_every=10**9
    )

    def tell(point: training_run.Point, steps: int) -> None:
        print(f"step {point.step}/{steps}  loss {point.loss:.3f}  {point.tokens / point.seconds:,.0f} tokens/s")

    return training_run.run_training(training_run.Job(data, str(base), folder / "out"), recipe, tell)


def random_phi(folder: Path, words: list[str], given: argparse.Namespace) -> Path:
    """A model of Phi-2's shape with random weights in 16 bits, and a tokenizer of these words."""
    import torch
    from transformers import PhiConfig, PhiForCausalLM

    config = PhiConfig(
        vocab_size=given.vocabulary,
        hidden_size=given.width,
        intermediate_size=4 * given.width,
        num_hidden_layers=given.layers,
        num_attention_heads=given.heads,
        max_position_embeddings=max(2048, given.tokens),
        rope_parameters={"rope_type": "default", "rope_theta": 10_000.0, "partial_rotary_factor": 0.4},
        resid_pdrop=0.1,
    )
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float16)
    with torch.device(given.device):
        model: Any = PhiForCausalLM(config)
    torch.set_default_dtype(torch.float32)
    print(f"{sum(p.numel() for p in model.parameters()) / 1e9:.2f} billion weights")
    world.write_tiny_model(folder, words, world.Sizes("phi", width=32, layers=1, heads=2))  # for its tokenizer
    model.save_pretrained(folder)
    return folder


def written(path: Path, words: list[str], given: argparse.Namespace) -> Path:
    """Examples of exactly so many tokens, of random words."""
    draw, recipe = random.Random(0), training_recipes.find_recipe("graft")
    with path.open("w") as file:
        for _ in range(given.steps * recipe.batch * recipe.accumulation):
            said = draw.choices(words, k=given.tokens - 1)  # and the end of the text
            file.write(json.dumps({"prompt": " ".join(said[:-8]), "completion": " " + " ".join(said[-8:])}) + "\n")
    return path


def report(done: training_run.Trained, given: argparse.Namespace) -> None:
    import torch

    last = done.points[-1]
    trained, of = done.weights
    print(f"trained {trained:,} of {of:,} weights as they are stored, in {', '.join(done.targets)}")
    size = f"{8 * given.tokens:,} tokens"
    print(f"loss {done.points[0].loss:.3f} at first, {last.loss:.3f} after {done.steps} steps of {size}")
    print(f"{last.tokens / last.seconds:,.0f} tokens/s, checkpoints apart")
    if given.device == "cuda":
        peak = torch.cuda.max_memory_allocated() / 2**30
        print(f"peak memory {peak:.1f} GiB on {torch.cuda.get_device_name()}")


if __name__ == "__main__":
    main()
