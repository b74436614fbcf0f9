"""Judges whose faults are known, on answers whose lengths are drawn: what warnings and headlines are tried on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sensegraph.lab.judging.criteria import choose_rules
from sensegraph.lab.judging.judgements import Judged, Judgements

PAIR = ("one", "other")
Draw = np.random.Generator
Judge = Callable[[int, int, Draw], int]
"""From the words of the answers shown first and second to the winner: 1, 2, or 0."""


def count_words(first: int, second: int, random: Draw) -> int:
    """The longer answer wins."""
    return 1 if first > second else 2 if second > first else 0


def mostly_count_words(first: int, second: int, random: Draw) -> int:
    """The longer answer wins in 85 of 100."""
    winner = count_words(first, second, random)
    return winner if random.random() < 0.85 else (0, 2, 1)[winner]


def take_first(first: int, second: int, random: Draw) -> int:
    """The answer shown first wins."""
    return 1


def mostly_take_first(first: int, second: int, random: Draw) -> int:
    """The answer shown first wins in 80 of 100."""
    return 1 if random.random() < 0.8 else 2


def toss_coins(first: int, second: int, random: Draw) -> int:
    """Neither is better."""
    return int(random.integers(1, 3))


@dataclass(frozen=True)
class Lengths:
    """How long the answers of the two are: means, spread, and how much longer the second always is than the first."""

    means: tuple[int, int] = (300, 300)
    spread: int = 60
    ratio: float = 0.0

    def draw(self, questions: int, random: Draw) -> tuple[list[int], list[int]]:
        """Words of each answer of both."""
        one, other = (random.normal(mean, self.spread, questions).clip(20).round().astype(int) for mean in self.means)
        if self.ratio:
            other = np.round(one * (1 + self.ratio)).astype(int)
        return one.tolist(), other.tolist()


def judge_run(
    judge: Judge, lengths: Lengths, seed: int, questions: int = 40, both: bool = True, quality: float | None = None
) -> Judgements:
    """One run by one criterion; with `quality` the first of the pair wins with that chance, whoever is shown first."""
    random = np.random.default_rng(seed)
    rules = choose_rules("sensegraph" if both else "edge2024", ["comprehensiveness"], replicates=1)
    words = dict(zip(PAIR, lengths.draw(questions, random), strict=True))
    found = []
    for question in range(questions):
        orders = [PAIR, PAIR[::-1]] if both else [PAIR if random.random() < 0.5 else PAIR[::-1]]
        for shown in orders:
            if quality is None:
                winner = judge(words[shown[0]][question], words[shown[1]][question], random)
            else:
                winner = 1 + ((shown[0] == PAIR[0]) != (random.random() < quality))
            found.append(Judged(question, "comprehensiveness", *shown, 0, winner))
    return Judgements(rules, questions, (PAIR,), tuple(found), {n: tuple(w) for n, w in words.items()})
