"""Win rates at equal length: what a judge that counts words, or takes the first, is called, and what a fair one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sensegraph.lab.judging.bias import Bias, assess_bias
from sensegraph.lab.judging.length_control import fit_controlled_rate, permutation_p, scale_lengths
from simulated_judges import (
    PAIR,
    Judge,
    Lengths,
    count_words,
    judge_run,
    mostly_take_first,
    take_first,
    toss_coins,
)

RUNS = 200
LIKE, LONGER, ALWAYS = Lengths(), Lengths((270, 330)), Lengths(ratio=0.3)
CRITERION = "comprehensiveness"


def assess(judge: Judge, lengths: Lengths, runs: int, *, both: bool = True, quality: float | None = None) -> list[Bias]:
    return [assess_bias(judge_run(judge, lengths, seed, 30, both, quality)) for seed in range(runs)]


def called_better(found: list[Bias]) -> list[str]:
    return [b.controlled[CRITERION][0].better for b in found]


def test_a_judge_that_counts_words_is_warned_of_and_nobody_is_better_by_it() -> None:
    found = [*assess(count_words, LIKE, 50), *assess(count_words, LONGER, 100), *assess(count_words, ALWAYS, 50)]
    assert len(found) == RUNS
    assert sum(bool(b.warnings) for b in found) >= 195
    assert set(called_better(found)) == {""}


@pytest.mark.parametrize("both", [True, False])
def test_a_judge_of_places_is_warned_of_and_nobody_is_better_by_it(both: bool) -> None:
    found = assess(take_first, LONGER, RUNS // 2, both=both)
    assert sum("the answer shown first" in w.lower() for b in found for w in b.warnings[:1]) >= 97
    assert set(called_better(found)) == {""}


def test_of_a_judge_that_mostly_goes_by_place_nothing_is_called_better() -> None:
    found = assess(mostly_take_first, LONGER, 40)
    assert sum(bool(b.warnings) for b in found) >= 39
    assert set(called_better(found)) == {""}


def test_a_fair_judge_is_hardly_ever_warned_of() -> None:
    found = [*assess(toss_coins, LIKE, RUNS // 2), *assess(toss_coins, LONGER, RUNS // 2, quality=0.7)]
    assert len(found) == RUNS
    assert sum(bool(b.warnings) for b in found) <= 10


def test_a_fair_judge_still_finds_what_is_better_whoever_is_longer() -> None:
    found = called_better(assess(toss_coins, LONGER, 40, quality=0.9))  # the other is longer
    assert found.count(PAIR[0]) >= 35


def test_where_one_side_is_always_longer_no_rate_is_given_and_the_warning_says_who() -> None:
    (found,) = assess(count_words, ALWAYS, 1)
    (rate,) = found.controlled[CRITERION]
    assert (rate.rate, rate.can_tell, rate.longer, rate.shorter) == (None, False, 0, 30)
    assert any("other has the longer answer in 30 of 30 questions" in w for w in found.warnings)


def test_five_questions_on_either_side_are_enough_to_tell() -> None:
    run = judge_run(toss_coins, LIKE, 1, 10)
    for longer, tells in ((5, True), (6, False), (4, False)):
        words = {"one": tuple(200 if q < longer else 100 for q in range(10)), "other": (150,) * 10}
        assert assess_bias(replace(run, words=words)).controlled[CRITERION][0].can_tell is tells


def test_without_any_difference_of_length_the_rate_is_that_of_the_wins() -> None:
    rate, p = fit_controlled_rate(np.array([1.0] * 30 + [0.0] * 10), np.zeros(40))
    assert rate.mean == pytest.approx(75, abs=1)
    assert rate.low < 60 < 75 < rate.high < 90
    assert p < 0.01


def test_wins_that_follow_length_alone_are_even_at_equal_length() -> None:
    apart = np.array([*range(1, 31), *range(-10, 0)], float)
    rate, p = fit_controlled_rate((apart > 0).astype(float), apart)
    assert rate.low < 50 < rate.high
    assert p > 0.2


def test_the_fit_is_that_of_a_search_over_both_parameters() -> None:
    random = np.random.default_rng(5)
    apart = random.normal(20, 50, 40)
    won = (random.random(40) < 1 / (1 + np.exp(-0.5 - apart / 60))).astype(float)
    x = scale_lengths(apart)
    level, slope = np.meshgrid(np.linspace(-3, 3, 601), np.linspace(-4, 8, 1201), indexing="ij")
    fit = level / 2 - np.logaddexp(0, level) + slope / 2 - np.logaddexp(0, slope)
    for w, length in zip(won, x, strict=True):
        inner = level + slope * length
        fit += w * inner - np.logaddexp(0, inner)
    best = level.ravel()[fit.argmax()]
    rate, _ = fit_controlled_rate(won, apart)
    assert rate.mean == pytest.approx(100 / (1 + np.exp(-best)), abs=0.5)
    profile = fit.max(axis=1)  # the ends lose 3.84 / 2 of log-likelihood, as scores are all wins and losses
    inside = level[:, 0][profile >= profile.max() - 3.8415 / 2]
    ends = 100 / (1 + np.exp(-inside[[0, -1]]))
    assert (rate.low, rate.high) == (pytest.approx(ends[0], abs=0.6), pytest.approx(ends[1], abs=0.6))


def test_the_permutation_test_counts_matchings_as_extreme_as_the_one_there_is() -> None:
    ranks = np.array([-1.5, -0.5, 0.5, 1.5])
    assert permutation_p(np.outer(ranks, ranks), 4000) == pytest.approx(2 / 24, abs=0.015)  # the same and its reverse
    assert permutation_p(np.zeros((4, 4))) == 1.0


def test_scores_that_never_leave_the_middle_are_certain_to_be_even() -> None:
    rate, p = fit_controlled_rate(np.full(20, 0.5), np.arange(20.0))
    assert (rate.mean, rate.low, rate.high, p) == (50, 50, 50, 1)
