"""Pairs of texts as the model's tokens, with a mask over what is learnt, in batches of the same order every time."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sensegraph.errors import InputError
from sensegraph.lab.finetuning.data.example_files import Pair

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
