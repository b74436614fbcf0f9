from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.algorithms.ranking import Ranking, by_ranks, by_scores, by_shares, near_best

Fuse = Callable[[Sequence[Ranking], Sequence[float]], Ranking]
FUSIONS = [by_ranks, by_scores, by_shares, near_best]


def ranking(name: str, positions: Sequence[int], scores: Sequence[float] = ()) -> Ranking:
    given = list(scores) or [1 / (i + 1) for i in range(len(positions))]
    return Ranking(name, np.asarray(positions, np.int64), np.asarray(given, np.float64))


rankings = st.lists(st.lists(st.integers(0, 12), unique=True, max_size=9), min_size=1, max_size=4).map(
    lambda lists: [ranking(str(i), positions) for i, positions in enumerate(lists)]
)


def listed(found: Ranking) -> list[tuple[int, float]]:
    return list(zip(found.positions.tolist(), found.scores.tolist(), strict=True))


def test_n84_ranks_count_from_one() -> None:
    found = by_ranks([ranking("a", [7, 3]), ranking("b", [3, 9])], [1, 2], c=60)
    assert listed(found) == [
        (3, pytest.approx(1 / 62 + 2 / 61)),
        (9, pytest.approx(2 / 62)),
        (7, pytest.approx(1 / 61)),
    ]


def test_minmax_adds_scores_from_the_last_to_the_best() -> None:
    found = by_scores([ranking("a", [1, 2, 3], [9, 6, 3]), ranking("b", [3, 2], [0.8, 0.2])], [1, 2])
    assert listed(found) == [(3, 2), (1, 1), (2, 0.5)]


def test_shares_give_each_ranking_its_places() -> None:
    found = by_shares([ranking("a", [1, 2, 3, 4]), ranking("b", [11, 12, 13, 14])], [3, 1])
    assert set(found.positions[:4].tolist()) == {1, 2, 3, 11}


def test_shares_score_a_position_by_its_smallest_rank_over_share() -> None:
    found = by_shares([ranking("a", [1, 2]), ranking("b", [3, 2])], [3, 1])  # shares 3/4 and 1/4
    assert listed(found) == [(1, 3 / 4), (2, 3 / 8), (3, 1 / 4)]  # 2: rank 2 of 3/4 before rank 2 of 1/4


def test_what_is_far_from_the_best_hardly_counts() -> None:
    found = near_best([ranking("a", [1, 2], [10, 5])], [1])
    assert listed(found) == [(1, 1), (2, 0.125)]


@pytest.mark.parametrize("fuse", FUSIONS)
@given(rankings)
def test_the_order_of_the_rankings_does_not_matter(fuse: Fuse, given: list[Ranking]) -> None:
    weights = [1.0 + i / 2 for i in range(len(given))]
    forward, back = fuse(given, weights), fuse(given[::-1], weights[::-1])
    assert listed(forward) == listed(back)


@pytest.mark.parametrize("fuse", FUSIONS)
@given(rankings)
def test_every_position_stands_once_by_falling_scores(fuse: Fuse, given: list[Ranking]) -> None:
    found = fuse(given, [1.0] * len(given))
    assert set(found.positions.tolist()) == {p for r in given for p in r.positions.tolist()}
    assert len(set(found.positions.tolist())) == len(found)
    assert (np.diff(found.scores) <= 0).all()


@given(rankings, st.floats(0.1, 10))
def test_weights_that_grow_together_change_no_order(given: list[Ranking], factor: float) -> None:
    weights = [1.0 + i for i in range(len(given))]
    one, other = by_ranks(given, weights), by_ranks(given, [w * factor for w in weights])
    assert sorted(one.positions.tolist()) == sorted(other.positions.tolist())
    score = dict(listed(one))
    assert [pytest.approx(score[p]) for p in one.positions.tolist()] == [score[p] for p in other.positions.tolist()]


@given(st.permutations(range(8)), st.integers(1, 7))
def test_moving_up_in_one_list_never_lowers(order: list[int], place: int) -> None:
    raised = [*order[: place - 1], order[place], order[place - 1], *order[place + 1 :]]
    other = ranking("b", [3, 1, 2])
    before = by_ranks([ranking("a", order), other], [1, 1]).positions.tolist().index(order[place])
    assert by_ranks([ranking("a", raised), other], [1, 1]).positions.tolist().index(order[place]) <= before


def test_a_position_that_stands_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="once"):
        ranking("a", [1, 2, 1])
