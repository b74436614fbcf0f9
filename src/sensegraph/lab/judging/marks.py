"""Scores of single answers, and how they vary: over runs and over questions, which are two things.

paper: Zhang et al. 2025, app. D.4 (L21). The paper prints one ±, presumably over runs; here both are told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean, stdev

from sensegraph.lab.judging.criteria import Rules


@dataclass(frozen=True, slots=True)
class Mark:
    """One score of the answer of `condition` to the question at this position; None without a verdict."""

    question: int
    criterion: str
    condition: str
    run: int
    score: float | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Marked:
    """The scores of a condition by a criterion; `mean` over all that there are, on the scale of the rules.

    `over_runs` is the standard deviation of the means of the runs, `over_questions` that of the means of the questions;
    None where there are fewer than two. `missing` counts scores that were asked for and not given; `questions` are
    the means by question, None without a score.
    """

    criterion: str
    condition: str
    mean: float | None
    over_runs: float | None
    over_questions: float | None
    missing: int
    questions: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Marks:
    """All scores of a run. `words` are the lengths of the answers by condition, one a question."""

    rules: Rules
    questions: int
    conditions: tuple[str, ...]
    marks: tuple[Mark, ...]
    words: Mapping[str, tuple[int, ...]]

    def marked(self) -> tuple[Marked, ...]:
        """The scores of each condition by each criterion, in their order."""
        cells = ((c.name, condition) for c in self.rules.criteria for condition in self.conditions)
        by_cell: dict[tuple[str, str], list[Mark]] = {cell: [] for cell in cells}
        for mark in self.marks:
            by_cell[mark.criterion, mark.condition].append(mark)
        found = []
        for cell, marks in by_cell.items():
            scores = [m.score for m in marks if m.score is not None]
            mean = fmean(scores) if scores else None
            runs = _mean_scores([(m.run, m.score) for m in marks], 1 + max((m.run for m in marks), default=-1))
            by_question = _mean_scores([(m.question, m.score) for m in marks], self.questions)
            missing = len(marks) - len(scores)
            found.append(
                Marked(*cell, mean, _standard_deviation(runs), _standard_deviation(by_question), missing, by_question)
            )
        return tuple(found)


def _mean_scores(scores: list[tuple[int, float | None]], count: int) -> tuple[float | None, ...]:
    """The mean score at each place, None where there is none."""
    at: list[list[float]] = [[] for _ in range(count)]
    for place, score in scores:
        if score is not None:
            at[place].append(score)
    return tuple(fmean(found) if found else None for found in at)


def _standard_deviation(means: tuple[float | None, ...]) -> float | None:
    found = [m for m in means if m is not None]
    return stdev(found) if len(found) > 1 else None
