"""Which sentences of the retrieved passages answer a question of fact: two linear rankers, and a gate between them.

One ranker reads questions that a single sentence answers; the other questions whose answer stands in one passage, and
what leads there in another. The gate tells how much to trust the second. All weights are data: bench/answers.py trains
them, and prints what they are worth.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

import msgspec
import numpy as np

from sensegraph.engines.offline.answers.features import FEATURES, GATE, Floats, Read

READ, QUOTING = 5, 30  # chunks that are read, and records that quote others
HEADING = 2.0  # what a heading loses: it says nothing, whatever words it holds (the training texts have none)
OUTSIDE = 2.0  # what a sentence loses whose document is another than the question names by its file
HOLDING = ("bias", "union", "best", "passage", "gate", "long", "second", "chance")
TWO_HOPS = 0.5  # value of the gate from which a question is one of two hops
HOLDS = 0.28  # chance that the passages hold an answer, below which the answer abstains
HOLDS_BOTH, HOLDS_NAME = 0.1, 0.5  # the same for a question of two hops, and where a name of it stands nowhere
HOLDS_UNLISTED = 0.15  # the same where words that say the same as the question's are not known
WHOLE = 0.9  # share of a question that a sentence holds from which on it leads to no other one: at 1 it is of one hop
NEAR = 0.15  # share of the question that a sentence must hold with what stands around it
_USUAL_STEMS = 6  # stems of a question of usual length


class Weights(msgspec.Struct, frozen=True):
    """The trained weights: of the features for each ranker, of the gate, and of whether an answer is there at all."""

    single: tuple[float, ...]
    bridged: tuple[float, ...]
    gate: tuple[float, ...]
    holding: tuple[float, ...]


@cache
def load_weights() -> Weights:
    """The weights as they were trained last."""
    return msgspec.json.decode(files(__package__).joinpath("weights.json").read_bytes(), type=Weights)


def rate_sentences(read: Read, weights: Weights) -> tuple[Floats, float]:
    """The chance that each sentence holds the answer, which add up to 1, and how far the question is of two hops."""
    own = read.gate[GATE.index("own")]
    gate = _squash(read.gate, weights.gate) * min(1.0, max(0.0, 1 - own) / (1 - WHOLE))
    fall = HEADING * read.headings
    single = _softmax(read.features @ np.array(weights.single) - fall - OUTSIDE * read.outside)
    bridged = _softmax(read.features @ np.array(weights.bridged) - fall)
    return (1 - gate) * single + gate * bridged, gate


def rate_holding(read: Read, weights: Weights) -> float:
    """How likely it is, from 0 to 1, that the passages hold an answer at all; 0 where no sentence is near."""
    if read.union.max() < NEAR:
        return 0.0
    return _squash(describe_holding(read, weights), weights.holding)


def holds_answer(read: Read, weights: Weights, gate: float) -> bool:
    """Whether the passages hold an answer: surer where they lack a name of the question, less where they connect."""
    least = HOLDS_BOTH if gate >= TWO_HOPS else HOLDS_UNLISTED if read.unlisted else HOLDS
    least = HOLDS_NAME if read.unnamed else least
    return rate_holding(read, weights) >= least


def describe_holding(read: Read, weights: Weights) -> Floats:
    """What tells whether the passages hold an answer: the values of `HOLDING`."""
    scores, gate = rate_sentences(read, weights)
    long = max(0, len(read.stems) - _USUAL_STEMS) / 10
    best = scores.argmax()
    passage = read.features[:, FEATURES.index("passage")].max()
    values = [1.0, read.union.max(), read.union[best], passage, gate, long, read.second, scores[best]]
    return np.array(values, np.float64)


def _squash(values: Floats, weights: Sequence[float]) -> float:
    return float(1 / (1 + np.exp(-np.clip(values @ np.array(weights), -30, 30))))


def _softmax(values: Floats) -> Floats:
    grown = np.exp(values - values.max())
    return np.asarray(grown / grown.sum())
