"""Which of two conditions is better by more than chance, and what the pairs of a family are compared on."""

from __future__ import annotations

import pytest

from sensegraph.lab.scores.statistics import (
    Interval,
    Pair,
    compare_all_pairs,
    compare_judged_pairs,
    count_compared,
    least_p_values,
)


def pair(mean: float, low: float, high: float, p: float = 0.01, n: int = 9) -> Pair:
    return Pair("a", "b", (1.0, 0.5), Interval(mean, low, high), n, 0, 5, 2, 2, 1.0, 0.01, True, 0.3, None, 0.5, p)


@pytest.mark.parametrize(
    ("found", "better", "worse"),
    [
        (pair(0.5, 0.1, 0.9), "a", "b"),
        (pair(-0.5, -0.9, -0.1), "b", "a"),
        (pair(0.5, 0.0, 0.9), "", ""),
        (pair(-0.5, -0.9, 0.0), "", ""),
        (pair(0.5, 0.1, 0.9, p=0.05), "", ""),
        (pair(0.5, 0.1, 0.9, p=0.0499), "a", "b"),
    ],
)
def test_one_is_better_where_chance_and_its_interval_leave_no_doubt(found: Pair, better: str, worse: str) -> None:
    assert (found.better, found.worse) == (better, worse)
    assert found.rate == Interval(
        50 + found.difference.mean / 2, 50 + found.difference.low / 2, 50 + found.difference.high / 2
    )


def test_only_what_both_have_is_compared() -> None:
    values = {"a": (1.0, 0.5, None, 0.25, 1.0), "b": (0.0, 0.5, 1.0, None, 0.5), "c": (None,) * 5}
    ab, ac, bc = compare_all_pairs(values, draws=20)
    assert ((ab.first, ab.second), (ac.first, ac.second), (bc.first, bc.second)) == (("a", "b"), ("a", "c"), ("b", "c"))
    assert (ab.n, ab.missing, ab.wins, ab.ties, ab.losses) == (3, 2, 2, 1, 0)
    assert ab.means == (pytest.approx(2.5 / 3), pytest.approx(1 / 3))
    assert ab.difference.mean == pytest.approx(0.5)
    assert (ac.n, ac.missing, ac.means, ac.difference, ac.effect) == (0, 5, (0.0, 0.0), Interval(0.0, 0.0, 0.0), 0.0)


def test_scores_that_share_a_hundred_differ_by_twice_what_the_first_is_above_fifty() -> None:
    (found,) = compare_judged_pairs({("a", "b"): (100.0, 100.0, 50.0, None)})
    assert (found.n, found.missing, found.wins, found.ties, found.losses) == (3, 1, 2, 1, 0)
    assert found.means == (pytest.approx(250 / 3), pytest.approx(50 / 3))
    assert found.difference.low < found.difference.mean < found.difference.high <= 100
    (nothing,) = compare_judged_pairs({("a", "b"): (None, None)})
    assert (nothing.n, nothing.difference) == (0, Interval(0.0, 0.0, 0.0))


def test_the_least_p_is_that_of_the_pair_with_most_questions_times_the_pairs() -> None:
    assert (count_compared([]), least_p_values([])[1]) == (0, 1.0)
    listed = [pair(0.5, 0.1, 0.9, n=9), pair(0.5, 0.1, 0.9, n=12)]
    assert count_compared(listed) == 12
    bound, corrected = least_p_values(listed)
    assert (bound, corrected) == (2 / 2**12, 4 / 2**12)
    assert least_p_values(listed[:1]) == (2 / 2**9, 2 / 2**9)
