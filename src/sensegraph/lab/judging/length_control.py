"""Win rates controlled for length: what a condition would win if its answers were as long as the other's.

Judges prefer longer answers, so a win rate alone does not tell quality from length. For each pair of conditions the
score of a question is modelled as logistic in the difference of lengths; the controlled win rate is the model's value
at equal length. Where one side is never the longer one, nothing tells the two apart, and no rate is claimed.

paper: Dubois et al. 2024, *Length-Controlled AlpacaEval*, whose covariate this is: tanh of the standardised difference.
The penalty that keeps a perfect fit finite is the log-F(1, 1) prior of Greenland and Mansournia 2015.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import erfc, sqrt

import numpy as np

from sensegraph.lab.judging.judgements import Judgements, Pair, tally_pair
from sensegraph.lab.scores.statistics import (
    LEVEL,
    Floats,
    Interval,
    Values,
    correct_by_holm,
    midranks,
    spearman,
    wilson_interval,
)

FEWEST = 5  # questions with each side not the longer one, from which length and condition can be told apart
LENGTH_LEVEL = 0.01  # of the test on length, corrected over the criteria
PERMUTATIONS = 2_000
_GRID = 801  # win rates that are tried for the ends of the interval
_STEPS = 40  # of Newton's method at most
_MOST = 3.841458820694124  # twice the log-likelihood that a 95 % interval may lose: chi-square with 1 degree of freedom


@dataclass(frozen=True, slots=True)
class ControlledRate:
    """A pair of conditions by one criterion at equal length, from the side of the first; rates are 0 to 100.

    `rate` is None where length and condition cannot be told apart: where one side is the longer one in (nearly) all
    questions. Of the `n` questions `longer` have the longer answer from the first, `shorter` from the second.
    `unaided` is the win rate of the one that is ahead in the questions where its answer is not the longer one, with
    Wilson's interval. `follows_length` says that the judge's verdicts by this criterion follow length: then only
    `unaided` decides. `held` says that the judge goes by place, so that nothing is said to be better.
    """

    criterion: str
    pair: Pair
    n: int
    longer: int
    shorter: int
    rate: Interval | None
    p: float
    unaided: Interval
    follows_length: bool
    held: bool = False
    p_holm: float = 1.0

    @property
    def can_tell(self) -> bool:
        """Whether length and condition can be told apart."""
        return self.rate is not None

    @property
    def often_longer(self) -> tuple[str, int]:
        """The one whose answer is the longer one in more questions, and in how many."""
        return max(((self.pair[0], self.longer), (self.pair[1], self.shorter)), key=lambda own: own[1])

    @property
    def better(self) -> str:
        """The one that is better at equal length by more than chance; "" where none is, or nothing can be told."""
        if self.rate is None or self.held or self.p_holm >= LEVEL or self.rate.low <= 50 <= self.rate.high:
            return ""
        if (self.unaided.low if self.follows_length else self.unaided.mean) <= 50:
            return ""
        return self.pair[0] if self.rate.mean > 50 else self.pair[1]

    @property
    def worse(self) -> str:
        """The other one, where one is better; else ""."""
        return {self.pair[0]: self.pair[1], self.pair[1]: self.pair[0]}.get(self.better, "")


@dataclass(frozen=True, slots=True)
class LengthEffect:
    """How a judge's verdicts by one criterion go with length.

    `longer_wins` of the `decided` comparisons (a question and a pair, the score not 50, the lengths unequal) go to the
    longer answer. `p` is that of a permutation test within pairs: whether scores follow lengths over the questions.
    `correlation`, −1 to 1, is the mean rank correlation within the pairs; None where nothing varies.
    """

    longer_wins: int
    decided: int
    correlation: float | None
    p: float
    p_holm: float = 1.0

    @property
    def share(self) -> Interval | None:
        """The share of decided comparisons that the longer answer wins, 0 to 1, with Wilson's interval."""
        return wilson_interval(self.longer_wins / self.decided, self.decided) if self.decided else None

    @property
    def is_certain(self) -> bool:
        """Whether the verdicts follow length by more than chance."""
        return self.p_holm < LENGTH_LEVEL


def control_length(
    judgements: Judgements, effects: Mapping[str, LengthEffect], *, held: bool = False
) -> dict[str, tuple[ControlledRate, ...]]:
    """The controlled win rates of all pairs, by criterion: one family for Holm each."""
    found = {}
    for criterion in judgements.criteria:
        rates = []
        for pair in judgements.pairs:
            scores, apart = scores_and_lengths(judgements, criterion, pair)
            rates.append(_control_pair(criterion, pair, scores, apart, effects[criterion].is_certain, held))
        corrected = correct_by_holm([r.p for r in rates])
        found[criterion] = tuple(replace(r, p_holm=p) for r, p in zip(rates, corrected, strict=True))
    return found


def scores_and_lengths(judgements: Judgements, criterion: str, pair: Pair) -> tuple[Values, Floats]:
    """Of each question the score of the first, 0 to 100 or None, and how many words longer its answer is."""
    none = (0,) * judgements.questions
    one, other = (np.array(judgements.words.get(name, none), np.float64) for name in pair)
    return tally_pair(judgements, criterion, pair).scores, one - other


def _control_pair(
    criterion: str, pair: Pair, scores: Values, apart: Floats, follows_length: bool, held: bool
) -> ControlledRate:
    places = [i for i, s in enumerate(scores) if s is not None]
    won = np.array([scores[i] for i in places], np.float64) / 100
    apart = apart[places]
    longer, shorter = int((apart > 0).sum()), int((apart < 0).sum())
    rate, p, none = None, 1.0, Interval(50.0, 0.0, 100.0)
    if min(len(won) - longer, len(won) - shorter) >= FEWEST:
        rate, p = fit_controlled_rate(won, apart)
    ahead = (rate.mean if rate else 100 * float(won.mean()) if len(won) else 50.0) > 50
    own = won[apart <= 0] if ahead else 1 - won[apart >= 0]
    unaided = wilson_interval(float(own.mean()), len(own)) if len(own) else None
    shown = Interval(100 * unaided.mean, 100 * unaided.low, 100 * unaided.high) if unaided else none
    return ControlledRate(criterion, pair, len(won), longer, shorter, rate, p, shown, follows_length, held)


def fit_controlled_rate(won: Floats, apart: Floats) -> tuple[Interval, float]:
    """The win rate at equal length, 0 to 100, with its interval, and the two-sided p that it is 50.

    `won` are scores from 0 to 1, `apart` differences of lengths, one a question. The interval is that of the profile
    likelihood, and p that of the likelihood ratio. Scores between 0 and 1 vary less than wins and losses, so both are
    scaled by how decided the scores are: the mean of (2 · score − 1)².
    """
    covariate = scale_lengths(apart)
    decided = float(((2 * won - 1) ** 2).mean())
    if not decided:
        return Interval(50.0, 50.0, 50.0), 1.0
    rates = np.linspace(0.0, 1.0, _GRID + 2)[1:-1]
    levels = np.log(rates / (1 - rates))
    fits = _profile_likelihood(levels, won, covariate)
    best = int(fits.argmax())
    lost = 2 * (fits[best] - fits) / decided
    inside = np.flatnonzero(lost <= _MOST)
    low, high = float(rates[inside[0]]), float(rates[inside[-1]])
    middle = float(lost[len(rates) // 2])
    interval = Interval(
        100 * float(rates[best]), 0.0 if inside[0] == 0 else 100 * low, 100.0 if inside[-1] == _GRID - 1 else 100 * high
    )
    return interval, erfc(sqrt(max(0.0, middle) / 2))


def scale_lengths(apart: Floats) -> Floats:
    """tanh of the differences over their spread about 0, so that a few very long answers do not decide."""
    spread = sqrt(float((apart**2).mean())) if len(apart) else 0.0
    return np.tanh(apart / spread) if spread else np.zeros_like(apart)


def _profile_likelihood(levels: Floats, won: Floats, covariate: Floats) -> Floats:
    """The greatest penalised log-likelihood for each level, shape (levels,), over all slopes on the covariate."""
    slopes = fit_slopes(levels, won, covariate)
    inner = levels[:, None] + slopes[:, None] * covariate
    fit = (won * inner - np.logaddexp(0, inner)).sum(axis=1)
    penalty = levels / 2 - np.logaddexp(0, levels) + slopes / 2 - np.logaddexp(0, slopes)
    return np.asarray(fit + penalty, np.float64)


def fit_slopes(levels: Floats, won: Floats, covariate: Floats) -> Floats:
    """The slope on the covariate that fits best, for each level, by Newton's method."""
    slopes = np.zeros_like(levels)
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-np.clip(levels[:, None] + slopes[:, None] * covariate, -500, 500)))
        prior = 1 / (1 + np.exp(-slopes))
        gradient = ((won - chance) * covariate).sum(axis=1) + 0.5 - prior
        curvature = (chance * (1 - chance) * covariate**2).sum(axis=1) + prior * (1 - prior)
        step = np.clip(gradient / curvature, -1.0, 1.0)
        slopes = slopes + step
        if float(np.abs(step).max()) < 1e-8:
            break
    return slopes


def measure_length_effects(judgements: Judgements) -> dict[str, LengthEffect]:
    """How the verdicts by each criterion go with length; one family for Holm."""
    found = {criterion: _measure_length_effect(judgements, criterion) for criterion in judgements.criteria}
    corrected = correct_by_holm([e.p for e in found.values()])
    return {c: replace(e, p_holm=p) for (c, e), p in zip(found.items(), corrected, strict=True)}


def _measure_length_effect(judgements: Judgements, criterion: str) -> LengthEffect:
    products = np.zeros((judgements.questions, judgements.questions))
    longer_wins = decided = 0
    correlations = []
    for pair in judgements.pairs:
        if not set(pair) <= judgements.words.keys():
            continue
        scores, apart = scores_and_lengths(judgements, criterion, pair)
        known = np.array([s is not None for s in scores], bool)
        won = np.array([50.0 if s is None else s for s in scores])
        decisive = known & (won != 50) & (apart != 0)
        decided += int(decisive.sum())
        longer_wins += int(((won > 50) == (apart > 0))[decisive].sum())
        ranks = [_centre_ranks(values, known) for values in (apart, won)]
        products += np.outer(*ranks)
        within = spearman(apart[known].tolist(), won[known].tolist())
        correlations += [] if within is None else [within]
    correlation = sum(correlations) / len(correlations) if correlations else None
    return LengthEffect(longer_wins, decided, correlation, permutation_p(products))


def _centre_ranks(values: Floats, known: Sequence[bool] | Floats) -> Floats:
    """Ranks of the known values less their mean; 0 for the others."""
    ranks, places = np.zeros(len(values)), np.flatnonzero(known)
    if len(places):
        own = midranks(values[places])
        ranks[places] = own - own.mean()
    return ranks


def permutation_p(products: Floats, draws: int = PERMUTATIONS, seed: int = 0) -> float:
    """The two-sided p that the diagonal of `products`, shape (n, n), is as any other matching of rows and columns.

    Row q holds the lengths of question q times the scores of every question; all pairs of conditions are matched
    alike, so that answers that stand in several pairs count as what they are.
    """
    count = len(products)
    if count < 2 or not products.any():
        return 1.0
    random = np.random.default_rng(seed)
    orders = random.permuted(np.tile(np.arange(count), (draws, 1)), axis=1)
    sums = products[orders, np.arange(count)].sum(axis=1)
    reached = abs(float(np.trace(products))) * (1 - 1e-9)
    return float(1 + (np.abs(sums) >= reached).sum()) / (1 + draws)
