"""Choosing settings without seeing the set that they are measured on: leave one set out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sensegraph.errors import InputError
from sensegraph.lab.retrieval.retrieval_scores import Measured


@dataclass(frozen=True, slots=True)
class Held:
    """A set held out: the `method` that was best on the others, its `mean` here, and the `best` mean here."""

    name: str
    method: str
    mean: float
    best: float


def choose_held_out(results: Sequence[Measured], metric: str, among: Sequence[str]) -> tuple[Held, ...]:
    """Of every set the method of `among` with the highest mean over the other sets, and what it reaches on this one.

    Sets count alike, whatever their size; of equal methods the one named first is taken. The mean of the `mean`s is an
    honest figure of a grid of settings, the mean of the `best`s is not. Raises InputError with fewer than two sets, or
    for a method that was not measured.
    """
    if len(results) < 2:
        raise InputError("Leaving one set out needs two sets at least; measure on more.")
    table = []
    for found in results:
        scores = {s.method: s for s in found.scores}
        if missing := [name for name in among if name not in scores]:
            raise InputError(f"{missing[0]!r} was not measured on {found.judged.name}; name methods that were.")
        table.append({name: scores[name].means[metric].mean for name in among})
    held = []
    for i, found in enumerate(results):
        others = [row for j, row in enumerate(table) if j != i]
        chosen = max(among, key=lambda name: sum(row[name] for row in others))
        held.append(Held(found.judged.name, chosen, table[i][chosen], max(table[i].values())))
    return tuple(held)
