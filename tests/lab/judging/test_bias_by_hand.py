"""What is said of a judge that owes too much to the order, on both sides of each bound."""

from __future__ import annotations

import pytest

from sensegraph.lab.judging import bias
from sensegraph.lab.judging.bias import Places, spearman
from sensegraph.lab.judging.criteria import judging_presets


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
    ("found", "where", "said"),
    [
        (places(10, 6), "", []), (places(10, 7), "", ["first"]), (places(10, 4), "", []),
        (places(10, 3), "", ["second"]),
        (places(0, 0), "", []), (places(10, 8), "a against b", []),  # of a single cell no more than chance
        (places(10, 9), "a against b", ["first"]), (places(10, 1), "a against b", ["second"]),
        (places(9, 8), "a against b", ["first"]), (places(8, 7), "a against b", []),  # p 0.039 and 0.070
        (places(0, 0, 5, 3), "", []), (places(0, 0, 5, 2), "", ["same"]), (places(0, 0, 1, 0), "", ["same"]),
        (places(0, 0, 4, 0), "a against b", []), (places(0, 0, 5, 0), "a against b", ["same"]),
        (places(10, 9, 5, 1), "", ["first", "same"]),
    ],
)  # fmt: skip
def test_a_warning_is_given_beyond_six_tenths(found: Places, where: str, said: list[str]) -> None:
    told = list(bias._warn_of_bias(found, where))
    assert [next(w for w in ("first", "second", "same") if f" {w} " in text) for text in told] == said
    assert all(text.startswith(where or "The") for text in told)


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
