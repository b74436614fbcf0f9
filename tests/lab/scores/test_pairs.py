"""Conditions two by two: families, what is dropped, and when one may be called better (G33)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.lab.scores.statistics import (
    compare_all_pairs,
    compare_judged_pairs,
    correct_by_holm,
)

NUMBERS = st.lists(st.one_of(st.none(), st.integers(0, 9)), min_size=6, max_size=6)


def test_all_pairs_of_six_conditions_are_one_family_of_fifteen():
    random = np.random.default_rng(1)
    values = {f"C{i}": list(random.normal(i / 4, 1, 40)) for i in range(6)}
    found = compare_all_pairs(values, draws=50)
    assert len(found) == 15
    assert [p.p_holm for p in found] == correct_by_holm([p.p for p in found])
    assert [(p.first, p.second) for p in found[:2]] == [("C0", "C1"), ("C0", "C2")]


def test_a_question_that_one_of_two_lacks_is_dropped_from_that_pair_alone_and_counted():
    found = compare_all_pairs({"a": [1, 2, None], "b": [1, 1, 5], "c": [0, 0, 0]}, draws=10)
    by_names = {(p.first, p.second): p for p in found}
    assert (by_names["a", "b"].n, by_names["a", "b"].missing) == (2, 1)
    assert (by_names["b", "c"].n, by_names["b", "c"].missing) == (3, 0)
    assert by_names["a", "b"].means == (1.5, 1.0)


def test_a_difference_on_every_question_is_called_better_and_chance_is_not():
    steady = compare_all_pairs({"a": [i + 1 + i % 3 for i in range(20)], "b": list(range(20))}, draws=200)[0]
    assert (steady.better, steady.wins, steady.losses) == ("a", 20, 0)
    noise = list(np.random.default_rng(4).normal(size=20))
    assert compare_all_pairs({"a": noise, "b": [-n for n in noise[::-1]]}, draws=200)[0].better == ""


def test_the_effect_is_z_over_the_root_of_the_questions_compared():
    (found,) = compare_all_pairs({"a": [1, 2, 3, 5, None], "b": [0, 2, 3, 4, 0]}, draws=10)
    assert (found.n, found.ties) == (4, 2)
    assert found.effect == pytest.approx(found.z / 2)


@given(NUMBERS, NUMBERS)
def test_the_effect_lies_between_minus_one_and_one(a: list[float | None], b: list[float | None]):
    (found,) = compare_all_pairs({"x": a, "y": b}, draws=2)
    assert abs(found.effect) <= 1 + 1e-12


def test_equal_conditions_differ_by_nothing():
    (same,) = compare_all_pairs({"a": [1, 2, 3, 4], "b": [1, 2, 3, 4]}, draws=10)
    assert (same.z, same.p, same.effect, same.normal, same.sign_p, same.ties) == (0, 1, 0, None, 1, 4)
    assert same.better == ""


def test_without_any_common_question_nothing_is_claimed():
    (apart,) = compare_all_pairs({"a": [1, None], "b": [None, 1]}, draws=10)
    assert (apart.n, apart.missing, apart.p, apart.better) == (0, 2, 1, "")


def test_scores_of_a_judge_are_the_firsts_and_what_is_left_the_seconds():
    (one,) = compare_judged_pairs({("C0", "SS"): [100, 80, 50, None]})
    assert one.means == (pytest.approx(230 / 3), pytest.approx(70 / 3))
    assert (one.wins, one.ties, one.losses, one.missing) == (2, 1, 0, 1)
    assert one.rate.mean == pytest.approx(one.means[0])
    assert one.rate.low <= one.rate.mean <= one.rate.high <= 100


def test_a_win_rate_of_all_questions_still_has_an_interval_with_a_width():
    (one,) = compare_judged_pairs({("a", "b"): [0.0] * 32})
    assert (one.rate.mean, one.rate.low) == (0.0, 0.0)
    assert one.rate.high == pytest.approx(10.718, abs=1e-3)  # Wilson, 0 of 32


@given(NUMBERS, NUMBERS)
def test_who_comes_first_changes_only_the_sign(a: list[float | None], b: list[float | None]):
    (one,), (other,) = (compare_all_pairs({"x": u, "y": v}, draws=20) for u, v in ((a, b), (b, a)))
    assert one.p == pytest.approx(other.p)
    assert one.z == pytest.approx(-other.z)
    assert (one.wins, one.losses, one.missing) == (other.losses, other.wins, other.missing)
