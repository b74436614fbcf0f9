"""Positions and shares against chance, beside scipy (graft §10)."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sensegraph.lab.finetuning.data.chances import chi_square_tail, compare_positions, expected_range


@given(st.floats(0.001, 400), st.integers(1, 60))
def test_the_tail_of_chi_square_is_scipys(value: float, freedom: int):
    assert chi_square_tail(value, freedom) == pytest.approx(float(stats.chi2.sf(value, freedom)), rel=1e-9, abs=1e-300)


@given(st.integers(0, 400), st.floats(0.01, 0.99))
def test_the_interval_of_a_count_is_scipys(count: int, share: float):
    low, high = expected_range(count, share)
    inside = stats.binom.cdf(high, count, share) - stats.binom.cdf(low - 1, count, share)
    assert inside >= 0.99 - 1e-9
    assert stats.binom.cdf(low - 1, count, share) <= 0.005 + 1e-9
    assert stats.binom.sf(high, count, share) <= 0.005 + 1e-9


def test_a_share_of_all_or_none_leaves_no_choice():
    assert expected_range(20, 1.0) == (20, 20)
    assert expected_range(20, 0.0) == (0, 0)
    assert expected_range(0, 0.5) == (0, 0)


def test_with_one_oracle_and_equal_lengths_the_statistic_is_pearsons():
    seen = [10, 12, 8, 9, 16]
    found = compare_positions({tuple(i == k for i in range(5)): n for k, n in enumerate(seen)})
    expected = stats.chisquare(seen)
    assert found.seen == tuple(seen)
    assert found.freedom == 4
    assert found.chi2 == pytest.approx(expected.statistic)
    assert found.p == pytest.approx(expected.pvalue)


def orders(seed: int, first: float = 0.0) -> Counter[tuple[bool, ...]]:
    """Orders of examples of several lengths; a share of them has its oracle passages first."""
    random, found = Random(seed), Counter[tuple[bool, ...]]()
    for _ in range(80):
        count, oracles = random.choice((4, 5, 6, 9)), random.choice((1, 2))
        marks = [True] * oracles + [False] * (count - oracles)
        if random.random() >= first:
            random.shuffle(marks)
        found[tuple(marks)] += 1
    return found


@pytest.mark.slow
def test_drawn_orders_are_called_uneven_as_often_as_chance_says_and_sorted_ones_always():
    """With lengths and numbers of oracle passages mixed: p is uniform, which Pearson's would not give."""
    drawn = [compare_positions(orders(seed)).p for seed in range(600)]
    assert 0.02 < sum(p < 0.05 for p in drawn) / len(drawn) < 0.08
    assert 0.44 < sum(p < 0.5 for p in drawn) / len(drawn) < 0.56
    assert all(compare_positions(orders(seed, first=0.4)).p < 0.01 for seed in range(20))


def test_orders_without_oracle_or_of_one_passage_say_nothing():
    for given_orders in ({}, {(False, False): 9}, {(True,): 9}):
        assert (compare_positions(given_orders).freedom, compare_positions(given_orders).p) == (0, 1.0)


@pytest.mark.parametrize("examples", range(1, 31))
def test_any_number_of_examples_can_be_compared_and_no_place_is_dropped(examples: int):
    found = compare_positions({(True, False, False): examples - examples // 2, (False, True, False): examples // 2})
    assert sum(found.seen) == examples
    assert 0 <= found.freedom <= 2
    assert 0 <= found.p <= 1


def test_a_first_place_that_is_due_too_few_joins_the_group_behind_it():
    """Twenty examples of five places are due 4 at each: the groups are the last two, and the first three."""
    seen = (10, 0, 0, 5, 5)
    found = compare_positions({tuple(i == k for i in range(5)): n for k, n in enumerate(seen) if n})
    assert (found.seen, found.freedom) == (seen, 1)
    assert found.chi2 == pytest.approx(stats.chisquare([10, 10], [12, 8]).statistic)


def test_places_with_little_due_count_as_one():
    found = compare_positions(
        {(True, False, False): 20, (False, True, False): 20, (False, False, True): 20, (True,) * 1: 1}
    )
    assert found.freedom == 2
    rare = compare_positions({(True, False): 30, (False, True): 30, (False, False, False, True): 1})
    assert rare.freedom == 1
    assert len(rare.seen) == 4
