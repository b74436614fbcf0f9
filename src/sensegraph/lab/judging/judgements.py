"""Verdicts and marks, and what follows from them: scores, winners, majorities, reasons, and how marks vary.

Conditions are told apart here and nowhere before: a judge sees answers. A majority is compared with the larger of two
numbers: claims for comprehensiveness, clusters of claims for diversity; ties are left out (G50). Of reasons, examples,
quotes and citations decide empowerment (G43). Marks vary over runs and over questions, which are two things; the paper
prints one ±, presumably over runs (L21).

papers: Edge et al. 2024, §3.3, §4.1, §5.1, §5.2 (G32, G43, G50); Zhang et al. 2025, app. D.4 (L21); decision X6 on ties
and orders
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from statistics import fmean, stdev
from types import MappingProxyType

import numpy as np

from sensegraph.lab.judging.criteria import Rules
from sensegraph.lab.scores.statistics import Interval, resample_means, wilson_interval
from sensegraph.papers import paper_folder


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

    `numbers` are by (condition, question). The interval is that of the share over questions, by resampling them, or
    Wilson's of the comparisons where that reaches further, as it does where all agree.
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
        share = wilson_interval(tally["agreed"] / decided, decided)
        interval = Interval(share.mean, min(share.low, float(low)), max(share.high, float(high)))
    return Agreement(tally.total(), tally["tied"], tally["missing"], tally["even"], decided, tally["agreed"], interval)


WIN, TIE, LOSS = 100.0, 50.0, 0.0  # edge2024, §4.1
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Judged:
    """One verdict: the answers of `first` and `second` to the question at this position, shown in this order.

    `winner` is 1 or 2 by place, 0 for a tie, None without a verdict. `scores` are by place too, where asked for.
    """

    question: int
    criterion: str
    first: str
    second: str
    replicate: int
    winner: int | None
    reason: str = ""
    scores: tuple[float, ...] = ()

    @property
    def won(self) -> str | None:
        """The condition that won; empty for a tie, None without a verdict."""
        return None if self.winner is None else ("", self.first, self.second)[self.winner]


@dataclass(frozen=True, slots=True)
class Tally:
    """A comparison of two conditions by one criterion over the questions, from the side of the first.

    `scores` are by question, 0 to 100, None where no replicate had a verdict: those questions are `dropped`. Of the
    replicates, `lost` had none.
    """

    criterion: str
    pair: Pair
    scores: tuple[float | None, ...]
    lost: int

    @property
    def dropped(self) -> int:
        """Questions without a score."""
        return self.scores.count(None)

    @property
    def known(self) -> tuple[float, ...]:
        """The scores that there are."""
        return tuple(s for s in self.scores if s is not None)

    @property
    def mean(self) -> float | None:
        """The win rate of the first condition, 0 to 100; None without a score. The second's is 100 less that."""
        return sum(self.known) / len(self.known) if self.known else None


@dataclass(frozen=True)
class Judgements:
    """All verdicts of a comparison. `words` are the lengths of the answers by condition, one a question."""

    rules: Rules
    questions: int
    pairs: tuple[Pair, ...]
    verdicts: tuple[Judged, ...]
    words: Mapping[str, tuple[int, ...]]

    @property
    def criteria(self) -> tuple[str, ...]:
        """The names of the criteria."""
        return tuple(c.name for c in self.rules.criteria)

    @property
    def missing(self) -> int:
        """Verdicts that were asked for and not given."""
        return sum(v.winner is None for v in self.verdicts)

    @cached_property
    def cells(self) -> Mapping[tuple[str, Pair], tuple[Judged, ...]]:
        """The verdicts of each criterion and pair."""
        found: dict[tuple[str, Pair], list[Judged]] = {(c, p): [] for c in self.criteria for p in self.pairs}
        for v in self.verdicts:
            pair = (v.first, v.second)
            found[v.criterion, pair if (v.criterion, pair) in found else (v.second, v.first)].append(v)
        return {cell: tuple(verdicts) for cell, verdicts in found.items()}

    def one_order(self) -> Judgements:
        """The verdicts with the first condition of each pair in the first place: what a judge asked once would say."""
        kept = tuple(v for v in self.verdicts if (v.first, v.second) in self.pairs)
        return replace(self, rules=replace(self.rules, both_orders=False), verdicts=kept)


def label_replicates(verdicts: Iterable[Judged], pair: Pair, both_orders: bool) -> dict[tuple[int, int], int | None]:
    """What each replicate says, by question and number: 1 or 2 for the first or second of the pair, 0, or None.

    Of both orders, other winners, or a tie in one, are a tie; without a verdict in one there is none.
    """
    told: dict[tuple[int, int], list[str | None]] = {}
    for v in verdicts:
        told.setdefault((v.question, v.replicate), []).append(v.won)
    found: dict[tuple[int, int], int | None] = {}
    for place, won in told.items():
        if len(won) < (2 if both_orders else 1) or None in won:
            found[place] = None
        else:
            found[place] = pair.index(won[0]) + 1 if won[0] and len(set(won)) == 1 else 0
    return found


def tally_pair(judgements: Judgements, criterion: str, pair: Pair) -> Tally:
    """The comparison of a pair by a criterion: the score of a question is the mean over its replicates.

    A replicate without a verdict is left out, and a question without a replicate has no score.
    """
    rows = winners_by_question(judgements, criterion, pair)
    scores = []
    for row in rows:
        points = [(TIE, WIN, LOSS)[w] for w in row if w is not None]
        scores.append(sum(points) / len(points) if points else None)
    return Tally(criterion, pair, tuple(scores), sum(row.count(None) for row in rows))


def tally_all_pairs(judgements: Judgements) -> tuple[Tally, ...]:
    """Every comparison, by criterion and pair."""
    return tuple(tally_pair(judgements, criterion, pair) for criterion, pair in judgements.cells)


def winners_by_question(judgements: Judgements, criterion: str, pair: Pair) -> tuple[tuple[int | None, ...], ...]:
    """What the replicates say of each question: 1 or 2 for the first or second of the pair, 0 for a tie, None."""
    found = label_replicates(judgements.cells[criterion, pair], pair, judgements.rules.both_orders)
    count = judgements.rules.replicates
    return tuple(tuple(found.get((q, r)) for r in range(count)) for q in range(judgements.questions))


def list_pairs(conditions: Sequence[str], baseline: str = "") -> tuple[Pair, ...]:
    """All pairs of conditions in their order; with a baseline, each of the others against it."""
    if baseline:
        return tuple((c, baseline) for c in conditions if c != baseline)
    return tuple(combinations(conditions, 2))


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


_CUES = tomllib.loads((paper_folder("edge2024") / "themes.toml").read_text("utf-8"))
THEMES: Mapping[str, re.Pattern[str]] = MappingProxyType({n: re.compile(p, re.IGNORECASE) for n, p in _CUES.items()})


@dataclass(frozen=True, slots=True)
class Reason:
    """Why an answer won, in the judge's words, which call the answers by their places; no winner means a tie."""

    question: int
    criterion: str
    winner: str
    loser: str
    shown_first: str
    text: str


def reasons_by_criterion(judgements: Judgements) -> Mapping[str, tuple[Reason, ...]]:
    """The reasons for every verdict that there is, by criterion."""
    found: dict[str, list[Reason]] = {c: [] for c in judgements.criteria}
    for v in judgements.verdicts:
        if v.won is None or not v.reason:
            continue
        loser = "" if not v.won else v.second if v.won == v.first else v.first
        found[v.criterion].append(Reason(v.question, v.criterion, v.won, loser, v.first, v.reason))
    return {criterion: tuple(listed) for criterion, listed in found.items()}


def theme_shares(listed: Sequence[Reason]) -> dict[str, float]:
    """The share of the reasons that appeal to each theme, 0 to 1; empty without a reason. It knows English only."""
    if not listed:
        return {}
    return {name: sum(bool(p.search(r.text)) for r in listed) / len(listed) for name, p in THEMES.items()}
