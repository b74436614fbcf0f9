"""What the lab asks of an engine, with steps of it: to judge answers, to propose questions, to find claims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from sensegraph.answering.grounding.citations import SupportingEngine
from sensegraph.runtime.results import step
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


@step("judging.judge", 1, uses="engine", task="judge")
def judge_trials(trials: Sequence[Trial], engine: JudgingEngine) -> list[Verdict]:
    """The better of two answers, or neither."""
    return engine.judge(trials)


@step("judging.score", 1, uses="engine", task="score")
def score_trials(trials: Sequence[Trial], engine: JudgingEngine) -> list[Verdict]:
    """A score for one answer."""
    return engine.score(trials)


@step("judging.contrast", 1, uses="engine", task="contrast")
def contrast_trials(trials: Sequence[Trial], engine: JudgingEngine) -> list[Contrast]:
    """What two answers share, and what only one says."""
    return engine.contrast(trials)


@step("proposing.propose", version=1, uses="engine", task="propose")
def propose_lines(wishes: Sequence[Wish], *, engine: JudgingEngine) -> list[tuple[str, ...]]:
    """Lines for each wish."""
    return engine.propose(wishes)


@step("claimify.claim", version=1, uses="engine", task="claim")
def claim_excerpts(excerpts: Sequence[Excerpt], *, engine: JudgingEngine) -> list[tuple[str, ...]]:
    """What a stage makes of each sentence."""
    return engine.claim(excerpts)
