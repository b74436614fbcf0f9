"""Verdicts on pairs of answers, and what follows from them: a score for every question, winners, majorities.

papers: Edge et al. 2024, §3.3, §4.1, §5.2 (G32, G50); decision X6 on ties and orders. Conditions are told apart here
and nowhere before: a judge sees answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

from sensegraph.lab.judging.agreement import majority_label
from sensegraph.lab.judging.criteria import Rules

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


def majority_labels(judgements: Judgements, criterion: str, pair: Pair, of: int = 5) -> tuple[int | None, ...]:
    """The label of each question by its first `of` replicates (edge2024, §5.2): 1 or 2, 0 for a tie, None without one.

    A label needs more than half of the replicates that have a verdict; without such a majority it is a tie.
    """
    return tuple(majority_label(row[:of]) for row in winners_by_question(judgements, criterion, pair))


def list_pairs(conditions: Sequence[str], baseline: str = "") -> tuple[Pair, ...]:
    """All pairs of conditions in their order; with a baseline, each of the others against it."""
    if baseline:
        return tuple((c, baseline) for c in conditions if c != baseline)
    return tuple(combinations(conditions, 2))
