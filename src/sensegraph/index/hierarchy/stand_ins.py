"""Results that nobody has paid for yet, in an estimate: what is stored as it is, texts that stand in for the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from sensegraph.runtime.results import Step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Passage

A = TypeVar("A")
B = TypeVar("B")


def foresee_results(
    rt: Runtime, step: Step[A, B], items: Sequence[A], stand_in: Callable[[A], B]
) -> tuple[list[B], list[A]]:
    """The result of each item, where none is stored what `stand_in` makes of it; and the items without one."""
    keys = rt.keys(step, items)
    stored = rt.store.read(keys)
    pairs = list(zip(items, keys, strict=True))
    found = [step.decode(stored[k]) if k in stored else stand_in(item) for item, k in pairs]
    return found, [item for item, k in pairs if k not in stored]


def first_words(passages: Iterable[Passage], most: int) -> str:
    """As many words of passages as a text that stands in for them has."""
    return " ".join(" ".join(p.text for p in passages).split()[:most])
