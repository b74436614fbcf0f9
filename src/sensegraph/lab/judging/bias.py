"""What a judge's verdicts owe to the order and the length of the answers, rather than to what they say.

evidence: of the 1,600 verdicts that HiRAG's authors publish for eight close comparisons, 72.6 % go to the answer shown
first, and of 800 pairs 53.8 % keep their winner when the answers change places. So this report goes with every table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sensegraph.lab.judging.judgements import Judged, Judgements, Pair, tally_all_pairs, tally_pair, winners_by_question
from sensegraph.lab.scores.statistics import midranks, sign_test

MOST_FIRST = 0.6  # share of wins of the answer shown first above which a judge is called biased
LEAST_CONSISTENT = 0.6
_LEVEL = 0.05  # of the sign test that a single cell's share of first places has to pass
_ORDERS = 5  # pairs of orders at least from which a single cell's consistency is told
_FEWEST = 3  # points that a rank correlation needs


@dataclass(frozen=True, slots=True)
class Places:
    """How verdicts fall by place. Shares lie between 0 and 1, and are None where nothing can be said.

    `first` is of the verdicts with a winner (0.5 is fair), `ties` of all verdicts, `consistent` of the pairs of orders
    that were both judged: those with the same winner, or a tie, in both.
    """

    verdicts: int
    missing: int
    decided: int
    first_wins: int
    orders: int
    same: int

    @property
    def first(self) -> float | None:
        """The share of decided verdicts that the answer in the first place wins."""
        return _divide_or_none(self.first_wins, self.decided)

    @property
    def consistent(self) -> float | None:
        """The share of pairs with the same verdict in both orders."""
        return _divide_or_none(self.same, self.orders)

    @property
    def ties(self) -> float | None:
        """The share of verdicts that are ties."""
        return _divide_or_none(self.verdicts - self.missing - self.decided, self.verdicts - self.missing)


@dataclass(frozen=True, slots=True)
class Bias:
    """The report on a judge: by `cells` of criterion and pair, and in all.

    `agreement` is the share of pairs of replicates that say the same. `length` is Spearman's correlation of the
    difference in words with the score, by criterion: about 0 is fair, except for a control, which should be negative.
    `suspects` win by every criterion, the control too. All are None, or empty, where nothing can be said.
    """

    whole: Places
    cells: Mapping[tuple[str, Pair], Places]
    agreement: float | None
    length: Mapping[str, float | None]
    suspects: tuple[Pair, ...]
    warnings: tuple[str, ...]


def assess_bias(judgements: Judgements) -> Bias:
    """The report on the verdicts of a judge."""
    cells = {cell: tally_places(verdicts) for cell, verdicts in judgements.cells.items()}
    whole = tally_places(judgements.verdicts)
    length = {c: correlate_with_length(judgements, c) for c in judgements.criteria}
    # winner and loser of the pairs where one wins by every criterion although one of them is a control
    suspects: list[Pair] = []
    if judgements.rules.control and len(judgements.criteria) > 1:
        means = {(t.criterion, t.pair): t.mean for t in tally_all_pairs(judgements)}
        for one, other in judgements.pairs:
            rates = [means[c, (one, other)] for c in judgements.criteria]
            if all(m is not None and m > 50 for m in rates):
                suspects.append((one, other))
            elif all(m is not None and m < 50 for m in rates):
                suspects.append((other, one))
    told = [*_warn_of_bias(whole, "")]
    several = cells if len(cells) > 1 else {}
    told += [w for (c, p), found in several.items() for w in _warn_of_bias(found, f"{p[0]} against {p[1]} by {c}")]
    told += [
        f"{a} wins against {b} by every criterion, {judgements.rules.control} too, which runs against the others: "
        "look at the answers before believing it."
        for a, b in suspects
    ]
    return Bias(whole, cells, replicate_agreement(judgements), length, tuple(suspects), tuple(told))


def tally_places(verdicts: Sequence[Judged]) -> Places:
    """How these verdicts fall by place."""
    given = [v for v in verdicts if v.winner is not None]
    orders: dict[tuple[int, str, frozenset[str], int], list[str | None]] = {}
    for v in given:
        orders.setdefault((v.question, v.criterion, frozenset((v.first, v.second)), v.replicate), []).append(v.won)
    both = [won for won in orders.values() if len(won) == 2]
    decided = [v.winner for v in given if v.winner]
    missing, same = len(verdicts) - len(given), sum(a == b for a, b in both)
    return Places(len(verdicts), missing, len(decided), decided.count(1), len(both), same)


def replicate_agreement(judgements: Judgements) -> float | None:
    """The share of pairs of replicates, of one question, criterion and pair, that say the same."""
    same = count = 0
    for criterion, pair in judgements.cells:
        for row in winners_by_question(judgements, criterion, pair):
            told = [w for w in row if w is not None]
            count += len(told) * (len(told) - 1) // 2
            same += sum(a == b for a, b in combinations(told, 2))
    return _divide_or_none(same, count)


def correlate_with_length(judgements: Judgements, criterion: str) -> float | None:
    """Spearman's correlation between how much longer an answer is, in words, and its score against the other."""
    longer, scores = [], []
    for name, (one, other) in judgements.cells:
        if name != criterion or one not in judgements.words or other not in judgements.words:
            continue
        found = tally_pair(judgements, name, (one, other))
        for a, b, score in zip(judgements.words[one], judgements.words[other], found.scores, strict=True):
            if score is not None:
                longer.append(a - b)
                scores.append(score)
    return spearman(longer, scores)


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """The rank correlation of two rows, −1 to 1; None for fewer than three points, or where one row does not vary."""
    if len(first) < _FEWEST or len(set(first)) == 1 or len(set(second)) == 1:
        return None
    ranks = np.array([midranks(np.asarray(row, np.float64)) for row in (first, second)])
    return float(np.corrcoef(ranks)[0, 1])


def _warn_of_bias(found: Places, where: str) -> Iterable[str]:
    """What is to be said of verdicts that owe too much to the order; of a cell only what is more than chance."""
    first, consistent = found.first, found.consistent
    begin = f"{where}: t" if where else "T"
    beyond_chance = not where or sign_test(found.first_wins, found.decided - found.first_wins) < _LEVEL
    if first is not None and max(first, 1 - first) > MOST_FIRST and beyond_chance:
        place = "first" if first > MOST_FIRST else "second"
        share = max(first, 1 - first)
        yield f"{begin}he answer shown {place} wins {share:.1%} of the {found.decided} decided verdicts; 50 % is fair."
    if consistent is not None and consistent < LEAST_CONSISTENT and found.orders >= (_ORDERS if where else 1):
        yield (
            f"{begin}he verdict stays the same in both orders in {found.same} of {found.orders} pairs "
            f"({consistent:.1%}): differences that small are the judge's noise."
        )


def _divide_or_none(part: int, whole: int) -> float | None:
    return part / whole if whole else None
