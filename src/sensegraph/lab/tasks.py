"""What the lab asks of an engine: to judge answers, to propose questions, to find claims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from sensegraph.answering.grounding.entailment import SupportingEngine
from sensegraph.trials import Contrast, Excerpt, Trial, Verdict, Wish


@runtime_checkable
class JudgingEngine(SupportingEngine, Protocol):
    """An engine that can judge answers; those that think in rules have only some of these tasks (see `tasks`)."""

    def judge(self, trials: Sequence[Trial]) -> list[Verdict]:
        """The better of the two answers of each trial, by its criterion; never who wrote them, always in this order."""
        ...

    def score(self, trials: Sequence[Trial]) -> list[Verdict]:
        """A score for the one answer of each trial, from `low` to `high`, by its criterion."""
        ...

    def contrast(self, trials: Sequence[Trial]) -> list[Contrast]:
        """What the two answers of each trial share, and what only one of them says."""
        ...

    def propose(self, wishes: Sequence[Wish]) -> list[tuple[str, ...]]:
        """At most `count` lines for each wish, in the engine's order, none of them known."""
        ...

    def claim(self, excerpts: Sequence[Excerpt]) -> list[tuple[str, ...]]:
        """What the stage makes of each sentence: one sentence, several claims (`decompose`), or nothing."""
        ...
