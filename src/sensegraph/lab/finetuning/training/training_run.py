"""Training: a base model, examples and a recipe give a tuned model, its losses, and a manifest of what it came from.

Pairs of texts become the model's tokens, with a mask over what is learnt, in batches of the same order every time. A
run that was stopped goes on from its last checkpoint and ends with the same weights. The loop is our own: it is short,
and a checkpoint can be compared bit by bit.

source: the paper GRAFT, section 5.2 (R11, R12); loss on the answer as RAFT's
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sensegraph.engines.local.local_model import choose_device, require_extra, torch_type
from sensegraph.errors import InputError
from sensegraph.lab.finetuning.data.example_files import Pair
from sensegraph.lab.finetuning.training import models, training_recipes
from sensegraph.lab.finetuning.training.training_recipes import Recipe

IGNORED = -100  # what a loss of torch leaves out


@dataclass(frozen=True, slots=True)
class Encoded:
    """One example: its tokens, and where those that are learnt begin."""

    ids: tuple[int, ...]
    start: int

    @property
    def learnt(self) -> int:
        """How many tokens are learnt."""
        return len(self.ids) - self.start


def encode_pair(pair: Pair, tokenizer: Any, loss: str = "answer") -> Encoded:
    """The tokens of prompt and target, and the end of text; with loss `all` everything but the first token is learnt.

    Prompt and target are encoded apart: where the target begins never depends on it, and neither does what the model
    sees when it is asked.
    """
    before = list(tokenizer(pair.prompt)["input_ids"])
    before = before[:-1] if before and before[-1] == tokenizer.eos_token_id else before
    after = list(tokenizer(pair.target, add_special_tokens=False)["input_ids"])
    end = [tokenizer.eos_token_id] if tokenizer.eos_token_id is not None else []
    return Encoded((*before, *after, *end), 1 if loss == "all" else max(1, len(before)))


def encode_pairs(pairs: Sequence[Pair], tokenizer: Any, loss: str, most: int) -> tuple[list[Encoded], int]:
    """Those of at most `most` tokens, in order, and how many are longer. Raises InputError where none is left."""
    found = [encode_pair(pair, tokenizer, loss) for pair in pairs]
    kept = [e for e in found if len(e.ids) <= most]
    if not kept:
        shortest = min(len(e.ids) for e in found)
        raise InputError(f"No example fits {most} tokens, the shortest has {shortest}: raise max_tokens.")
    return kept, len(found) - len(kept)


def shuffle_epoch(count: int, epoch: int, seed: int) -> list[int]:
    """The order of the examples in one epoch."""
    places = list(range(count))
    random.Random(f"{seed} {epoch}").shuffle(places)
    return places


def count_steps(count: int, each: int, epochs: float) -> int:
    """How many steps of `each` examples there are: at least one; the last one of an epoch may have fewer."""
    return max(1, round(-(-count // each) * epochs))


def iterate_batches(count: int, each: int, seed: int, begin: int, end: int) -> Iterator[list[int]]:
    """The examples of the steps from `begin` up to `end`, whatever came before them."""
    whole = -(-count // each)
    epoch, places = -1, list[int]()
    for step in range(begin, end):
        if step // whole != epoch:
            epoch = step // whole
            places = shuffle_epoch(count, epoch, seed)
        at = step % whole * each
        yield places[at : at + each]


def make_tensors(examples: Sequence[Encoded], pad: int, device: str) -> dict[str, Any]:
    """A batch, padded on the right: input_ids, attention_mask and labels of shape (examples, tokens)."""
    import torch

    wide = max(len(e.ids) for e in examples)
    ids = [[*e.ids, *[pad] * (wide - len(e.ids))] for e in examples]
    mask = [[1] * len(e.ids) + [0] * (wide - len(e.ids)) for e in examples]
    labels = [[IGNORED] * e.start + [*e.ids[e.start :]] + [IGNORED] * (wide - len(e.ids)) for e in examples]
    given = {"input_ids": ids, "attention_mask": mask, "labels": labels}
    return {name: torch.tensor(rows, device=device) for name, rows in given.items()}


LOSSES = "losses.jsonl"


@dataclass(frozen=True, slots=True)
class Point:
    """A moment of a training: the mean loss of the step and, where it was taken, of held-out data (nats a token).

    `tokens` counts all tokens seen so far, `seconds` the time that training took (of all runs that led here).
    """

    step: int
    loss: float
    held_out: float | None = None
    tokens: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be trained: `model` on `data`, watched on `held_out`, into the folder `out`.

    `prompt` is a file with the template of the data's prompts, where they are not those of `tune data`: what the tuned
    model is asked with later.
    """

    data: Path
    model: str
    out: Path
    held_out: Path | None = None
    prompt: Path | None = None
    download: bool = False


@dataclass(frozen=True, slots=True)
class Trained:
    """What a training gave. `too_long` counts examples and held-out examples that were left out; `resumed` is the step
    of the checkpoint that this run went on from, 0 for none; `weights` counts those trained, and all. `notes` say what
    was done otherwise than the recipe says."""

    out: Path
    points: tuple[Point, ...]
    steps: int
    examples: int
    too_long: tuple[int, int]
    targets: tuple[str, ...]
    weights: tuple[int, int]
    resumed: int = 0
    already: bool = False
    notes: tuple[str, ...] = ()


Tell = Callable[[Point, int], None]


def run_training(job: Job, recipe: Recipe, tell: Tell = lambda point, steps: None) -> Trained:
    """Train, or go on where an earlier run of the same job stopped; `tell` hears every step and how many there are.

    Raises SettingsError without the extra `finetune`, for a layer that the model does not have, and where `out` holds
    another training; InputError for a model or data that cannot be read.
    """
    require_extra("Training")
    about = training_recipes.make_manifest(job, recipe)
    training_recipes.claim_folder(job.out, about)
    tokenizer, model, targets = models.prepare_model(job.model, recipe, job.download)
    learnt, watched, too_long = _encode_data(job, recipe, tokenizer, about.prompt)
    run = _Run(job, recipe, tokenizer, model, learnt, watched)
    resumed = run.resume()
    begun = resumed
    for point in run.points_from(resumed):
        tell(point, run.steps)
        begun = point.step
    # write the tuned model, its tokenizer, the losses and the manifest; then the folder is whole
    model.save_pretrained(job.out)
    tokenizer.save_pretrained(job.out)
    rows = [{"step": p.step, "loss": p.loss, "held_out": p.held_out, "tokens": p.tokens} for p in run.points]
    (job.out / LOSSES).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = replace(about, targets=targets, steps=run.steps, examples=len(learnt), finished=True)
    training_recipes.write_manifest(job.out, done)
    weights = (sum(p.numel() for p in models.list_trained_weights(model)), sum(p.numel() for p in model.parameters()))
    unpaged = recipe.optimiser.startswith("paged") and run.device == "cpu"
    notes = ("the states of the optimiser are not paged: there is no GPU",) if unpaged else ()
    points, already = tuple(run.points), begun == resumed
    return Trained(job.out, points, run.steps, len(learnt), too_long, targets, weights, resumed, already, notes)


def _encode_data(
    job: Job, recipe: Recipe, tokenizer: Any, template: str
) -> tuple[list[Encoded], list[Encoded], tuple[int, int]]:
    """What is learnt, what is watched, and how many of each were too long."""
    how = (tokenizer, recipe.loss, recipe.max_tokens)
    learnt, lost = encode_pairs(training_recipes.read_training_pairs(job.data, tokenizer, template), *how)
    learnt = learnt[: recipe.samples or None]
    if job.held_out is None:
        return learnt, [], (lost, 0)
    pairs = training_recipes.read_training_pairs(job.held_out, tokenizer, template)[: recipe.held_out]
    watched, more = encode_pairs(pairs, *how)
    return learnt, watched, (lost, more)


class _Run:
    """The state of one training, from its first step to its last."""

    def __init__(
        self, job: Job, recipe: Recipe, tokenizer: Any, model: Any, learnt: Sequence[Encoded], watched: list[Encoded]
    ) -> None:
        import torch

        self.job, self.recipe, self.tokenizer, self.model = job, recipe, tokenizer, model
        self.learnt, self.watched = learnt, watched
        self.each = recipe.batch * recipe.accumulation
        self.steps = count_steps(len(learnt), self.each, recipe.epochs)
        self.device = choose_device(recipe.device)
        self.type = torch_type(self.device)
        self.optimiser = models.make_optimiser(model, recipe)
        self.scaler = torch.amp.GradScaler(self.device, enabled=self.type is torch.float16)
        self.points: list[Point] = []
        self.tokens, self.seconds = 0, 0.0

    # ── going on ──

    def resume(self) -> int:
        """Take up the newest checkpoint: its step, 0 where there is none."""
        import torch

        torch.manual_seed(self.recipe.seed + 1)  # of dropout; the adapter began with the seed itself
        stored = training_recipes.load_last_checkpoint(self.job.out)
        if stored is None:
            return 0
        step, state = stored
        self.model.load_state_dict(state["weights"], strict=False)
        self.optimiser.load_state_dict(state["optimiser"])
        self.scaler.load_state_dict(state["scaler"])
        torch.set_rng_state(state["random"])
        if self.device == "cuda":
            torch.cuda.set_rng_state(state["random_gpu"])
        self.points = [Point(*row) for row in state["points"]]
        self.tokens, self.seconds = state["tokens"], state["seconds"]
        return step

    def store(self, step: int) -> None:
        """Write a checkpoint."""
        import torch

        state = {
            "weights": {n: w.detach().cpu() for n, w in self.model.named_parameters() if w.requires_grad},
            "optimiser": self.optimiser.state_dict(),
            "scaler": self.scaler.state_dict(),
            "random": torch.get_rng_state(),
            "random_gpu": torch.cuda.get_rng_state() if self.device == "cuda" else None,
            "points": [[p.step, p.loss, p.held_out, p.tokens, p.seconds] for p in self.points],
            "tokens": self.tokens,
            "seconds": self.seconds,
        }
        training_recipes.save_checkpoint(self.job.out, step, state, self.recipe.checkpoints)

    # ── steps ──

    def points_from(self, begin: int) -> Iterator[Point]:
        """Train from step `begin` to the end; every step as it is done, its checkpoint stored."""
        groups = iterate_batches(len(self.learnt), self.each, self.recipe.seed, begin, self.steps)
        for step, places in enumerate(groups, begin + 1):
            start = time.perf_counter()
            loss = self._step(step, [self.learnt[i] for i in places])
            self.seconds += time.perf_counter() - start
            at_end = step == self.steps
            look = self.watched and (step % self.recipe.evaluate_every == 0 or at_end)
            held_out = self.loss_on(self.watched) if look else None
            self.points.append(Point(step, loss, held_out, self.tokens, round(self.seconds, 3)))
            if step % self.recipe.checkpoint_every == 0 or at_end:
                self.store(step)
            yield self.points[-1]

    def _step(self, step: int, examples: Sequence[Encoded]) -> float:
        """One step of the optimiser: the mean loss over all learnt tokens of its examples."""
        import torch

        whole, total = sum(e.learnt for e in examples), 0.0
        for at in range(0, len(examples), self.recipe.batch):
            loss = self._loss(examples[at : at + self.recipe.batch]) / whole
            self.scaler.scale(loss).backward()
            total += float(loss.detach())
        self.tokens += sum(len(e.ids) for e in examples)
        if self.recipe.clip:
            self.scaler.unscale_(self.optimiser)
            torch.nn.utils.clip_grad_norm_(models.list_trained_weights(self.model), self.recipe.clip)
        for group in self.optimiser.param_groups:
            group["lr"] = compute_learning_rate(self.recipe, step, self.steps)
        self.scaler.step(self.optimiser)
        self.scaler.update()
        self.optimiser.zero_grad(set_to_none=True)
        return total

    def _loss(self, examples: Sequence[Encoded]) -> Any:
        """The sum of the losses of the learnt tokens (nats)."""
        import torch

        pad = self.tokenizer.pad_token_id if self.tokenizer.pad_token_id is not None else 0
        batch = make_tensors(examples, pad, self.device)
        labels = batch.pop("labels")[:, 1:]
        with torch.autocast(self.device, self.type, enabled=self.type is not torch.float32):
            logits = self.model(**batch).logits[:, :-1]
        flat = logits.float().flatten(0, 1)
        return torch.nn.functional.cross_entropy(flat, labels.flatten(), ignore_index=IGNORED, reduction="sum")

    def loss_on(self, examples: Sequence[Encoded]) -> float:
        """The mean loss of the learnt tokens of `examples`, with dropout off (nats)."""
        import torch

        self.model.eval()
        with torch.no_grad():
            parts = [examples[i : i + self.recipe.batch] for i in range(0, len(examples), self.recipe.batch)]
            total = sum(float(self._loss(part)) for part in parts)
        self.model.train()
        return total / sum(e.learnt for e in examples)


def compute_learning_rate(recipe: Recipe, step: int, steps: int) -> float:
    """The learning rate of a step, from 1: rising over the warm-up, then constant or falling to 0 in a line."""
    if step <= recipe.warmup:
        return recipe.learning_rate * step / recipe.warmup
    if recipe.schedule == "constant":
        return recipe.learning_rate
    return recipe.learning_rate * (steps - step + 1) / max(1, steps - recipe.warmup)


def describe_training(done: Trained) -> str:
    """What came of a training, in lines for people."""
    last = done.points[-1]
    held_out = f", held out {last.held_out:.4f}" if last.held_out is not None else ""
    trained, of = done.weights
    lines = [
        f"steps        {done.steps:,}, {done.examples:,} examples, {last.tokens:,} tokens in {last.seconds:,.1f} s",
        f"loss         {done.points[0].loss:.4f} at first, {last.loss:.4f} at last{held_out} (nats a token)",
        f"trained      {trained:,} of {of:,} weights" + (f" ({', '.join(done.targets)})" if done.targets else ""),
    ]
    if done.resumed:
        lines.append("resumed      " + ("it was done already" if done.already else f"from step {done.resumed:,}"))
    if any(done.too_long):
        lines.append(f"left out     {done.too_long[0]:,} examples and {done.too_long[1]:,} held out: too long")
    return "\n".join([*lines, *(f"note         {note}" for note in done.notes)])
