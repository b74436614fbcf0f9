"""What is said of a judge that owes too much to the order, on both sides of each bound."""

from __future__ import annotations

import pytest

from sensegraph.lab.judging import bias
from sensegraph.lab.judging.bias import Places
from sensegraph.lab.judging.criteria import judging_presets
from sensegraph.lab.judging.judgements import Judged
from sensegraph.lab.scores.statistics import spearman


@pytest.mark.parametrize(
    ("first", "second", "rho"),
    [
        ([1, 2, 3], [1, 2, 3], 1.0), ([1, 2, 3], [3, 2, 1], -1.0), ([1, 2, 3], [1, 9, 4], 0.5), ([1, 2], [1, 2], None),
        ([1, 1, 1], [1, 2, 3], None), ([1, 2, 3], [2, 2, 2], None), ([1, 1, 2], [1, 2, 3], 0.8660254), ([], [], None),
    ],
)  # fmt: skip
def test_ranks_are_correlated_from_three_points_on_that_vary(
    first: list[float], second: list[float], rho: float | None
) -> None:
    assert spearman(first, second) == (rho if rho is None else pytest.approx(rho))


def places(decided: int, wins: int, orders: int = 0, same: int = 0) -> Places:
    return Places(decided + 4, 2, decided, wins, orders, same)


@pytest.mark.parametrize(
    ("found", "p", "by_place"),
    [
        (places(10, 6), 0.001, False), (places(10, 7), 0.001, True), (places(10, 4), 0.001, False),
        (places(10, 3), 0.001, True), (places(0, 0), 0.001, False), (places(10, 9), 0.01, False),
        (places(10, 9), 0.0099, True),
    ],
)  # fmt: skip
def test_a_judge_goes_by_place_beyond_six_tenths_and_beyond_chance(found: Places, p: float, by_place: bool) -> None:
    assert bias._goes_by_place(found, p) is by_place


@pytest.mark.parametrize(
    ("found", "where", "said"),
    [
        (places(0, 0, 5, 3), "", 0), (places(0, 0, 5, 2), "", 1), (places(0, 0, 1, 0), "", 1),
        (places(0, 0, 4, 0), "a against b", 0), (places(0, 0, 5, 0), "a against b", 1), (places(0, 0), "", 0),
    ],
)  # fmt: skip
def test_noise_is_told_below_six_tenths_and_of_a_cell_from_five_pairs_on(found: Places, where: str, said: int) -> None:
    told = bias._remark_on_noise(found, where)
    assert len(told) == said
    assert all(text.startswith(where or "The") for text in told)


def test_replicates_of_one_verdict_count_once_where_places_are_tested() -> None:
    verdicts = [Judged(q, "depth", "a", "b", r, 1) for q in range(7) for r in range(5)]
    assert bias.place_p(verdicts) == 1.0  # asked in one order, seven questions are too few to tell
    eight = [Judged(q, "depth", "a", "b", r, 1) for q in range(8) for r in range(5)]
    assert bias.place_p(eight) == pytest.approx(2 / 2**8)


def test_in_both_orders_four_questions_that_all_go_to_one_place_are_enough() -> None:
    verdicts = [Judged(q, "depth", *shown, 0, 2) for q in range(4) for shown in (("a", "b"), ("b", "a"))]
    assert bias.place_p(verdicts) == pytest.approx(2 / 4**4)
    assert bias.place_p(verdicts[:6]) == pytest.approx(2 / 4**3)


def test_shares_are_of_what_was_decided_and_of_what_was_judged_twice() -> None:
    found = places(10, 7, 5, 2)
    assert (found.first, found.consistent, found.ties) == (0.7, 0.4, 2 / 12)
    none = Places(2, 2, 0, 0, 0, 0)
    assert (none.first, none.consistent, none.ties) == (None, None, None)
    assert (bias.MOST_FIRST, bias.LEAST_CONSISTENT) == (0.6, 0.6)


def test_the_ways_to_judge_are_those_of_their_papers() -> None:
    rules = judging_presets()
    assert {name: (r.both_orders, r.tie, r.scored) for name, r in rules.items()} == {
        "sensegraph": (True, True, False), "edge2024": (False, True, False), "zhang2025": (False, False, False),
        "scored": (True, True, True),
    }  # fmt: skip
    assert (rules["scored"].low, rules["scored"].high) == (1, 5)
    assert rules["scored"].bands.count("\n") == rules["scored"].high - rules["scored"].low
