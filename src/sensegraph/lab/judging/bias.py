"""What a judge's verdicts owe to the order and the length of the answers, rather than to what they say.

evidence: of the 1,600 verdicts that HiRAG's authors publish for eight close comparisons, 72.6 % go to the answer shown
first, and of 800 pairs 53.8 % keep their winner when the answers change places. So this report goes with every table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from sensegraph.lab.judging.judgements import Judged, Judgements, Pair, tally_all_pairs, tally_pair, winners_by_question
from sensegraph.lab.judging.length_control import (
    FEWEST,
    ControlledRate,
    LengthEffect,
    control_length,
    measure_length_effects,
)
from sensegraph.lab.scores.statistics import (
    compare_judged_pairs,
    correct_by_holm,
    format_p_value,
    least_possible_p,
    signed_rank_test,
)

MOST_FIRST = 0.6  # share of wins of the answer shown first above which a judge is called biased
LEAST_CONSISTENT = 0.6
PLACE_LEVEL = 0.01  # of the test on places, in all, and corrected over the cells
_ORDERS = 5  # pairs of orders at least from which a single cell's consistency is told


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

    `agreement` is the share of pairs of replicates that say the same. `length` says by criterion how verdicts go with
    the lengths of answers, and `controlled` holds by criterion the win rates at equal length. `suspects` win by every
    criterion, the control too. `warnings` are of a judge that goes by place or length, or of a difference that cannot
    be told from one of length; `remarks` of noise, and of suspects. All are None, or empty, where nothing can be said.
    """

    whole: Places
    cells: Mapping[tuple[str, Pair], Places]
    agreement: float | None
    length: Mapping[str, LengthEffect]
    controlled: Mapping[str, tuple[ControlledRate, ...]]
    suspects: tuple[Pair, ...]
    warnings: tuple[str, ...]
    remarks: tuple[str, ...]


def assess_bias(judgements: Judgements) -> Bias:
    """The report on the verdicts of a judge."""
    cells = {cell: tally_places(verdicts) for cell, verdicts in judgements.cells.items()}
    whole = tally_places(judgements.verdicts)
    by_place = _goes_by_place(whole, place_p(judgements.verdicts))
    told = [_describe_place(whole, "")] if by_place else []
    if len(cells) > 1:
        corrected = correct_by_holm([place_p(judgements.cells[cell]) for cell in cells])
        for ((criterion, pair), found), p in zip(cells.items(), corrected, strict=True):
            if _goes_by_place(found, p):
                told.append(_describe_place(found, _name_cell(criterion, pair)))
    # both orders make up for a preferred place as long as most winners stay
    consistent = whole.consistent
    held = bool(told) and (consistent is None or consistent < LEAST_CONSISTENT)
    length = measure_length_effects(judgements)
    controlled = control_length(judgements, length, held=held)
    told += _warn_of_length(judgements, length, controlled)
    remarks = _remark_on_noise(whole, "")
    if len(cells) > 1:
        remarks += [r for (c, p), found in cells.items() for r in _remark_on_noise(found, _name_cell(c, p))]
    suspects = find_suspects(judgements)
    remarks += [
        f"{a} wins against {b} by every criterion, {judgements.rules.control} too, which runs against the others: "
        "look at the answers before believing it."
        for a, b in suspects
    ]
    agreement = replicate_agreement(judgements)
    return Bias(whole, cells, agreement, length, controlled, suspects, tuple(told), tuple(remarks))


def find_suspects(judgements: Judgements) -> tuple[Pair, ...]:
    """Winner and loser of the pairs where one wins by every criterion although one of them is a control."""
    found: list[Pair] = []
    if judgements.rules.control and len(judgements.criteria) > 1:
        means = {(t.criterion, t.pair): t.mean for t in tally_all_pairs(judgements)}
        for one, other in judgements.pairs:
            rates = [means[c, (one, other)] for c in judgements.criteria]
            if all(m is not None and m > 50 for m in rates):
                found.append((one, other))
            elif all(m is not None and m < 50 for m in rates):
                found.append((other, one))
    return tuple(found)


def place_p(verdicts: Sequence[Judged]) -> float:
    """The p that the place decides nothing: signed ranks of how often the first place wins more than the second.

    A question, criterion and pair is one value, since replicates of it may all be one verdict. Of too few values for
    such a p to be small, the p is another one: asked in both orders, a place wins all verdicts of a value in a quarter
    of the cases at most, even if coins are tossed.
    """
    winners: dict[tuple[int, str, frozenset[str]], list[int]] = {}
    turned: dict[tuple[int, str, frozenset[str]], set[str]] = {}
    for v in verdicts:
        if v.winner is not None:
            unit = (v.question, v.criterion, frozenset((v.first, v.second)))
            winners.setdefault(unit, []).append(v.winner)
            turned.setdefault(unit, set()).add(v.first)
    ahead = [2 * own.count(1) - len(own) + own.count(0) for own in winners.values()]
    if least_possible_p(len(ahead)) < PLACE_LEVEL:
        return signed_rank_test(np.array(ahead, np.float64)).p
    both = [winners[unit] for unit, shown in turned.items() if len(shown) == 2]
    most = max(sum(set(own) == {place} for own in both) for place in (1, 2))
    tail = sum(comb(len(both), k) * 0.25**k * 0.75 ** (len(both) - k) for k in range(most, len(both) + 1))
    return min(1.0, 2 * tail)


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


def _goes_by_place(found: Places, p: float) -> bool:
    return found.first is not None and max(found.first, 1 - found.first) > MOST_FIRST and p < PLACE_LEVEL


def _name_cell(criterion: str, pair: Pair) -> str:
    return f"{pair[0]} against {pair[1]} by {criterion}"


def _describe_place(found: Places, where: str) -> str:
    share = found.first or 0.0
    place = "first" if share > MOST_FIRST else "second"
    begin = f"{where}: t" if where else "T"
    return (
        f"{begin}he answer shown {place} wins {max(share, 1 - share):.1%} of the {found.decided} decided verdicts; "
        "50 % is fair."
    )


def _remark_on_noise(found: Places, where: str) -> list[str]:
    """What is to be said of verdicts that change with the order."""
    consistent = found.consistent
    if consistent is None or consistent >= LEAST_CONSISTENT or found.orders < (_ORDERS if where else 1):
        return []
    begin = f"{where}: t" if where else "T"
    return [
        f"{begin}he verdict stays the same in both orders in {found.same} of {found.orders} pairs "
        f"({consistent:.1%}): differences that small are the judge's noise."
    ]


def _warn_of_length(
    judgements: Judgements, length: Mapping[str, LengthEffect], controlled: Mapping[str, tuple[ControlledRate, ...]]
) -> Iterable[str]:
    """What is to be said of verdicts that follow length; a control may follow the shorter answer, as it should."""
    for criterion, effect in length.items():
        longer = (effect.correlation or 0.0) > 0
        if effect.is_certain and (longer or criterion != judgements.rules.control) and (share := effect.share):
            rate = share.mean if longer else 1 - share.mean
            yield (
                f"By {criterion} the judge prefers the {'longer' if longer else 'shorter'} answer: it wins {rate:.1%} "
                f"of the {effect.decided} decided comparisons of unequal length, and scores follow length within the "
                "pairs (p Holm "
                f"{format_p_value(effect.p_holm)}). Believe the win rates at equal length only."
            )
    for criterion, rates in controlled.items():
        scores = {r.pair: tally_pair(judgements, criterion, r.pair).scores for r in rates}
        for plain, own in zip(compare_judged_pairs(scores), rates, strict=True):
            if plain.better == own.often_longer[0] and not own.can_tell and own.longer + own.shorter:
                yield (
                    f"By {criterion} {describe_confounding(own)}: bound both by answer_words, or judge what differs "
                    "(differential)."
                )


def describe_confounding(rate: ControlledRate) -> str:
    """Why a difference by verdicts cannot be told from one of length."""
    name, count = rate.often_longer
    return (
        f"{rate.pair[0]} against {rate.pair[1]} cannot be told apart from length, since {name} has the longer answer "
        f"in {count} of {rate.n} questions and at least {FEWEST} in which it has not are needed"
    )


def _divide_or_none(part: int, whole: int) -> float | None:
    return part / whole if whole else None
