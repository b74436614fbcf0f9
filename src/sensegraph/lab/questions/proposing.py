"""Asking an engine for lines and for support, so that each is paid once; or foreseeing what that would cost.

`Proposer` asks and remembers. `Foreseen` asks nobody: what the store holds is taken from there, the rest is counted and
stands in, so that the same code that makes questions also estimates them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from sensegraph.answering.grounding.citations import support_statements
from sensegraph.index.estimate import StepEstimate
from sensegraph.index.vectors import embed_texts, read_vectors
from sensegraph.lab.scores.standard import Floats
from sensegraph.lab.tasks import propose_lines
from sensegraph.language.text import count_tokens, fold
from sensegraph.protocols import PricedEngine, Task
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import Step
from sensegraph.runtime.runtime import Runtime
from sensegraph.trials import Check, Support, Wish

B = TypeVar("B")

_LINE = 30  # tokens of a line that nobody has written yet
_REASON = 40  # tokens of a reply about support


@dataclass(frozen=True, slots=True)
class Proposer:
    """Asks the engine of a runtime; what was asked before comes from the store."""

    rt: Runtime

    def lines(self, wishes: Sequence[Wish]) -> list[tuple[str, ...]]:
        """The lines for each wish."""
        return list(self.rt.each(propose_lines, wishes))

    def supports(self, checks: Sequence[Check], expected: bool) -> list[Support]:
        """Whether each check holds; `expected` is what a question that is kept needs."""
        return list(self.rt.each(support_statements, checks))

    def fresh(self, lines: Sequence[str], known: Sequence[str], near: float) -> list[int]:
        """The places of the lines that are new: below `near` by cosine to all known ones and to those before."""
        texts = [*known, *lines]
        rows = read_vectors(self.rt.each(embed_texts, texts)).astype(np.float64)
        return first_of_each(texts, np.array(rows), len(known), near)


def first_of_each(texts: Sequence[str], rows: Floats, known: int, near: float) -> list[int]:
    """Of the texts behind the first `known`, the places of those that are new, counted from there.

    A text is new where its row is nearer than `near` to no known one and to none that was new before; equal texts are
    never new twice. `rows` are unit vectors, shape (texts, d).
    """
    kept, said = list(range(known)), {fold(t) for t in texts[:known]}
    for i in range(known, len(texts)):
        close = bool(kept) and float((rows[kept] @ rows[i]).max()) >= near
        if not close and fold(texts[i]) not in said:
            kept.append(i)
            said.add(fold(texts[i]))
    return [i - known for i in kept[known:]]


@dataclass(frozen=True, slots=True)
class Foreseen(Proposer):
    """Asks nobody, and counts what would be asked; what is stored is taken from there."""

    asked: list[StepEstimate] = field(default_factory=list)

    def lines(self, wishes: Sequence[Wish]) -> list[tuple[str, ...]]:
        """Stored lines; else as many stand-ins as are wished for."""
        stored = self._stored(propose_lines, "propose", wishes, [_LINE * w.count for w in wishes])
        lines = []
        for found, wish in zip(stored, wishes, strict=True):
            stem = f"of about as many words as one has, {key(wish)[:6]}"
            lines.append(found if found is not None else tuple(f"{wish.wanted} {n} {stem}" for n in range(wish.count)))
        return lines

    def supports(self, checks: Sequence[Check], expected: bool) -> list[Support]:
        """What is stored; else what is expected."""
        stored = self._stored(support_statements, "support", checks, [_REASON] * len(checks))
        return [s or Support(expected) for s in stored]

    def fresh(self, lines: Sequence[str], known: Sequence[str], near: float) -> list[int]:
        """All of them: what comes twice cannot be foreseen. What would be embedded is counted."""
        texts = [*known, *lines]
        sizes = [count_tokens(texts[i]) for i in self.rt.missing(embed_texts, texts)] if self.rt.embedder.waits else []
        self.asked.append(StepEstimate(embed_texts.name, len(sizes), 0, sum(sizes)))
        return list(range(len(lines)))

    @property
    def steps(self) -> tuple[StepEstimate, ...]:
        """What would be asked, summed by step."""
        by_step: dict[str, list[tuple[int, int, int, int]]] = {}
        for s in self.asked:
            if s.items:
                by_step.setdefault(s.step, []).append((s.items, s.calls, s.prompt_tokens, s.completion_tokens))
        return tuple(StepEstimate(step, *map(sum, zip(*rows, strict=True))) for step, rows in by_step.items())

    def _stored(
        self, one: Step[Any, B], task: Task, items: Sequence[Wish | Check], replies: Sequence[int]
    ) -> list[B | None]:
        """The stored result of each item; what is missing is counted, with the tokens foreseen of its reply."""
        keys = self.rt.keys(one, items)
        found = self.rt.store.read(keys)
        absent = {k: i for i, k in reversed(list(enumerate(keys))) if k not in found}
        engine = self.rt.engine
        if isinstance(engine, PricedEngine):
            prompts = sum(engine.prompt_tokens(task, items[i]) for i in absent.values())
            calls = sum(engine.calls(task, items[i]) for i in absent.values())
            written = sum(replies[i] for i in absent.values())
            self.asked.append(StepEstimate(one.name, len(absent), calls, prompts, written))
        return [one.decode(found[k]) if k in found else None for k in keys]
