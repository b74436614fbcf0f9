"""Paired statistics: against scipy, against counting all signs, against the table of Edge et al. (2024)."""

from __future__ import annotations

from itertools import product
from math import erfc, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, rankdata, shapiro, wilcoxon

from sensegraph.lab.scores import statistics
from sensegraph.lab.scores.statistics import (
    EXACT,
    Interval,
    bootstrap_intervals,
    correct_by_holm,
    least_possible_p,
    mean_interval,
    midranks,
    resample_means,
    shapiro_wilk,
    sign_test,
    signed_rank_test,
    wilson_interval,
)

few = st.lists(st.integers(-3, 3), min_size=1, max_size=9)
ps = st.lists(st.floats(0, 1), max_size=12)

# Table 6, podcast, empowerment: z of the 15 pairs of one family, and the p that the authors print (G40; 0 is "< 0.001")
Z = (-4.3, -3.76, -2.2, -1.27, -3.71, -1.5, -0.55, -0.57, -4.1, -1.23, -2.54, -1.73, -1.78, 0, -0.86)
PRINTED = (0, 0.002, 0.281, 1, 0.003, 0.936, 1, 1, 0, 1, 0.12, 0.682, 0.682, 1, 1)


def test_ranks_of_equal_values_are_shared():
    assert midranks(np.array([3.0, 1.0, 3.0, 2.0])).tolist() == [3.5, 1.0, 3.5, 2.0]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30))
def test_ranks_are_those_of_scipy(values: list[int]):
    assert midranks(np.array(values, float)).tolist() == rankdata(values).tolist()


def test_a_few_differences_without_ties_give_the_exact_p_of_scipy():
    differences = np.array([1.5, -0.4, 2.1, 0.9, -1.1, 3.0, 0.2, -0.3, 2.5, 1.2])
    found = signed_rank_test(differences)
    assert found.exact
    assert found.p == pytest.approx(wilcoxon(differences, method="exact").pvalue)


@given(few)
def test_ties_and_zeros_give_the_p_of_counting_all_signs(values: list[int]):
    differences = np.array(values, float)
    kept = differences[differences != 0]
    found = signed_rank_test(differences)
    ranks = rankdata(np.abs(kept))
    observed = ranks[kept > 0].sum()
    sums = np.array(
        [sum(r for r, up in zip(ranks, ways, strict=True) if up) for ways in product((0, 1), repeat=len(kept))]
    )
    expected = min(1.0, 2 * min((sums <= observed).mean(), (sums >= observed).mean()))
    assert found.p == pytest.approx(expected)
    assert (found.n, found.wins) == (len(kept), int((kept > 0).sum()))


def test_many_differences_with_ties_give_the_normal_approximation_of_scipy():
    differences = np.random.default_rng(3).integers(-4, 7, 80).astype(float)
    found = signed_rank_test(differences)
    expected = wilcoxon(differences, zero_method="wilcox", correction=False, method="asymptotic")
    assert not found.exact
    assert found.p == pytest.approx(expected.pvalue)
    assert abs(found.z) == pytest.approx(abs(expected.zstatistic))
    assert found.z > 0


def test_the_approximation_begins_beyond_25_differences():
    assert signed_rank_test(np.ones(EXACT)).exact
    assert not signed_rank_test(np.ones(EXACT + 1)).exact


def test_without_any_difference_z_is_0_and_p_is_1():
    found = signed_rank_test(np.zeros(40))
    assert (found.z, found.p, found.n) == (0, 1, 0)


def test_thirds_that_differ_only_by_rounding_are_ties():
    assert signed_rank_test(np.array([1 / 3, -(1 - 2 / 3)])).z == 0


@given(few)
def test_turning_the_comparison_round_turns_z_and_keeps_p(values: list[int]):
    differences = np.array(values, float)
    one, other = signed_rank_test(differences), signed_rank_test(-differences)
    assert one.p == pytest.approx(other.p)
    assert one.z == pytest.approx(-other.z)


def test_holm_gives_the_p_values_that_the_paper_prints():
    corrected = correct_by_holm([erfc(abs(z) / sqrt(2)) for z in Z])
    assert len(corrected) == len(PRINTED)
    assert [p for p, printed in zip(corrected, PRINTED, strict=True) if abs(p - printed) > 0.0065] == []


def test_holm_by_hand_with_the_running_maximum():
    assert correct_by_holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@given(ps)
def test_holm_never_lowers_a_p_and_keeps_their_order(values: list[float]):
    corrected = correct_by_holm(values)
    assert len(corrected) == len(values)
    assert all(raw <= new <= 1 for raw, new in zip(values, corrected, strict=True))
    order = sorted(range(len(values)), key=lambda i: values[i])
    assert [corrected[i] for i in order] == sorted(corrected)


def test_resampling_is_equal_for_equal_seeds_and_pairs_its_columns():
    values = np.random.default_rng(0).random((30, 1))
    both = resample_means(np.hstack([values, 2 * values]), 700, 5)
    assert both.shape == (700, 2)
    assert np.allclose(both[:, 1], 2 * both[:, 0])
    assert np.array_equal(both, resample_means(np.hstack([values, 2 * values]), 700, 5))
    assert not np.array_equal(both, resample_means(np.hstack([values, 2 * values]), 700, 6))


def test_draws_are_the_same_however_many_are_held_at_once(monkeypatch: pytest.MonkeyPatch):
    values = np.random.default_rng(0).random((7, 5))
    whole = resample_means(values, 41, 5)
    assert len(whole) == 41
    picked = np.random.default_rng(5).integers(0, 7, (41, 7))
    assert np.allclose(whole, values[picked].mean(axis=1))
    for block in (1, 10, 41):
        monkeypatch.setattr(statistics, "_BLOCK", block)
        assert np.array_equal(whole, resample_means(values, 41, 5))


def test_the_interval_of_a_mean_is_about_that_of_the_normal_law():
    values = np.random.default_rng(1).normal(3, 2, (400, 1))
    (found,) = bootstrap_intervals(values)
    half = 1.96 * values.std() / 20
    assert found.mean == pytest.approx(values.mean())
    assert (found.low, found.high) == pytest.approx((found.mean - half, found.mean + half), abs=0.03)


def test_one_question_has_an_interval_without_width():
    (found,) = bootstrap_intervals(np.array([[0.25]]), 50)
    assert (found.mean, found.low, found.high) == (0.25, 0.25, 0.25)


@pytest.mark.parametrize("count", [1, 4, 9, 10, 25, 26, 40])
def test_no_p_is_below_the_least_that_so_many_questions_allow_and_one_reaches_it(count: int):
    reached = [signed_rank_test(np.ones(k)).p for k in range(count + 1)]  # the others without a difference
    assert least_possible_p(count) == pytest.approx(min(reached))


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=14))
def test_whatever_was_measured_the_least_p_is_a_bound(values: list[int]):
    p = signed_rank_test(np.array(values, float)).p
    assert 0 < p <= 1
    assert p >= least_possible_p(len(values)) * (1 - 1e-9)


@given(st.integers(1, 200), st.data())
def test_an_interval_of_a_share_is_wilsons_as_scipy_has_it(count: int, data: st.DataObject):
    wins = data.draw(st.integers(0, count))
    found, expected = wilson_interval(wins / count, count), binomtest(wins, count).proportion_ci(method="wilson")
    assert (found.low, found.high) == (pytest.approx(expected.low, abs=1e-12), pytest.approx(expected.high, abs=1e-12))


@pytest.mark.parametrize(
    ("wins", "count", "low", "high"),
    [  # statsmodels 0.15: proportion_confint(wins, count, method="wilson")
        (32, 32, 0.8928208017449293, 1.0),
        (0, 32, 0.0, 0.10717919825507066),
        (21, 40, 0.37497362106692467, 0.6706452988732111),
        (1, 10, 0.017876213095072924, 0.40415002679523854),
        (63, 125, 0.41754774586666954, 0.5902137309836638),
    ],
)
def test_an_interval_of_a_share_is_wilsons_as_statsmodels_prints_it(wins: int, count: int, low: float, high: float):
    found = wilson_interval(wins / count, count)
    assert (found.low, found.high) == (pytest.approx(low, abs=1e-12), pytest.approx(high, abs=1e-12))


def test_of_no_trial_any_share_is_possible():
    found = wilson_interval(0.5, 0)
    assert (found.low, found.high) == (0.0, 1.0)


def test_a_mean_of_noughts_and_ones_has_the_interval_of_a_share_and_another_one_that_of_resampling():
    assert mean_interval([1.0, 1.0, None, 1.0], share=True) == wilson_interval(1.0, 3)
    assert mean_interval([1.0, 1.0, 1.0]) == Interval(1.0, 1.0, 1.0)  # counts, not shares
    assert (
        mean_interval([1.0, 0.5, 0.0], 200, share=True) == bootstrap_intervals(np.array([[1.0], [0.5], [0.0]]), 200)[0]
    )
    assert mean_interval([None, None]) is None


@given(st.integers(0, 40), st.integers(0, 40))
def test_the_sign_test_is_the_binomial_one(wins: int, losses: int):
    expected = binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    assert sign_test(wins, losses) == pytest.approx(expected)


@pytest.mark.parametrize("count", [3, 4, 5, 6, 11, 12, 40, 125])
def test_normality_is_that_of_scipy(count: int):
    random = np.random.default_rng(count)
    for values in (random.normal(size=count), random.exponential(size=count), random.integers(0, 9, count) / 3):
        expected = shapiro(values)
        assert shapiro_wilk(values) == pytest.approx((expected.statistic, expected.pvalue), abs=1e-7)


def test_of_equal_values_and_of_two_nothing_is_said_about_normality():
    assert shapiro_wilk(np.full(20, 3.0)) is None
    assert shapiro_wilk(np.array([1.0, 2.0])) is None
