"""Whether a judge and a count agree on which of two answers is better.

paper: Edge et al. 2024, §5.2 (G50). The verdicts of a comparison become one label by majority; ties are left out, and
the label is compared with the larger of two numbers: claims for comprehensiveness, clusters of claims for diversity.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sensegraph.lab.scores.statistics import Interval, resample_means


@dataclass(frozen=True, slots=True)
class Compared:
    """Two conditions on one question, and the winner of each replicate: 1, 2, 0 (tie), or None (no verdict)."""

    question: str
    pair: tuple[str, str]
    winners: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far the judge and the numbers agree; `share` is of `decided`, None where that is 0.

    Of `comparisons`, `tied` have no majority, `missing` no verdict or no number; in `even` the judge decides where the
    numbers are equal, which is neither agreement nor disagreement: they are no part of `decided`.
    """

    comparisons: int
    tied: int
    missing: int
    even: int
    decided: int
    agreed: int
    interval: Interval | None = None

    @property
    def share(self) -> float | None:
        """Agreements ÷ decided comparisons, 0 to 1."""
        return self.agreed / self.decided if self.decided else None

    @property
    def kept(self) -> float | None:
        """Comparisons where the judge decides ÷ those with a verdict and numbers, 0 to 1 (edge2024: .33 and .39)."""
        told = self.comparisons - self.missing
        return (told - self.tied) / told if told else None


def majority_label(winners: Sequence[int | None]) -> int | None:
    """The winner of more than half of the verdicts; 0 where there is none such; None without a verdict."""
    told = [w for w in winners if w is not None]
    if not told:
        return None
    label, count = Counter(told).most_common(1)[0]
    return label if 2 * count > len(told) else 0


def compare_with_counts(compared: Iterable[Compared], numbers: Mapping[tuple[str, str], float]) -> Agreement:
    """How often the majority of the judge's verdicts goes to the larger number.

    `numbers` are by (condition, question). The interval is that of the share over questions, by resampling them;
    questions with more comparisons weigh more, as in the share itself.
    """
    tally, by_question = Counter[str](), dict[str, list[int]]()
    for one in compared:
        first, second = (numbers.get((condition, one.question)) for condition in one.pair)
        label = majority_label(one.winners)
        if label is None or first is None or second is None:
            tally["missing"] += 1
        elif label == 0:
            tally["tied"] += 1
        elif first == second:
            tally["even"] += 1
        else:
            agreed = (first > second) == (label == 1)
            tally["agreed" if agreed else "disagreed"] += 1
            by_question.setdefault(one.question, []).append(int(agreed))
    decided = tally["agreed"] + tally["disagreed"]
    interval = None
    if decided:
        rows = np.array([[sum(v), len(v)] for v in by_question.values()], np.float64)
        drawn = resample_means(rows)
        low, high = np.percentile(drawn[:, 0] / drawn[:, 1], [2.5, 97.5])
        interval = Interval(float(rows[:, 0].sum() / rows[:, 1].sum()), float(low), float(high))
    return Agreement(tally.total(), tally["tied"], tally["missing"], tally["even"], decided, tally["agreed"], interval)
