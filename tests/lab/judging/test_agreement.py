"""Agreement of a judge with counts of claims (G50)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.lab.judging.judgements import Compared, compare_with_counts, majority_label

NUMBERS = {("C0", "q1"): 30.0, ("SS", "q1"): 20.0, ("C0", "q2"): 10.0, ("SS", "q2"): 10.0}


@pytest.mark.parametrize(
    ("winners", "label"),
    [
        ((1, 1, 1, 2, 2), 1),
        ((1, 1, 2, 0, 0), 0),
        ((2, 2, 2, 0, 1), 2),
        ((0, 0, 0, 1, 2), 0),
        ((1, 1, None, None, 2), 1),
        ((1, 2), 0),
        ((None, None), None),
        ((), None),
    ],
)
def test_the_label_is_what_more_than_half_of_the_verdicts_say(winners: tuple[int | None, ...], label: int) -> None:
    assert majority_label(winners) == label


def test_ties_are_left_out_and_the_rest_is_compared_with_the_larger_number() -> None:
    found = compare_with_counts(
        [
            Compared("q1", ("C0", "SS"), (1, 1, 1, 1, 1)),
            Compared("q1", ("SS", "C0"), (1, 1, 1, 2, 2)),
            Compared("q1", ("C0", "SS"), (1, 1, 2, 2, 0)),
            Compared("q2", ("C0", "SS"), (1, 1, 1, 1, 1)),
            Compared("q3", ("C0", "SS"), (1,)),
            Compared("q1", ("C0", "SS"), (None,)),
        ],
        NUMBERS,
    )
    assert (found.comparisons, found.tied, found.missing, found.even, found.decided, found.agreed) == (6, 1, 2, 1, 2, 1)
    assert (found.share, found.kept) == (0.5, 0.75)


def test_without_a_decision_there_is_no_share() -> None:
    found = compare_with_counts([Compared("q1", ("C0", "SS"), (0, 0, 0))], NUMBERS)
    assert (found.share, found.interval, found.kept) == (None, None, 0.0)


@given(st.lists(st.lists(st.sampled_from([0, 1, 2, None]), max_size=5), max_size=12))
def test_every_comparison_is_counted_once_and_the_share_lies_in_its_interval(rows: list[list[int | None]]) -> None:
    found = compare_with_counts([Compared("q1", ("C0", "SS"), tuple(r)) for r in rows], NUMBERS)
    assert found.tied + found.missing + found.even + found.decided == found.comparisons == len(rows)
    if found.interval and found.share is not None:
        assert found.interval.low <= found.share <= found.interval.high


@given(st.lists(st.sampled_from([0, 1, 2, None]), max_size=7))
def test_exchanging_the_answers_exchanges_the_label(winners: list[int | None]) -> None:
    turned = [{1: 2, 2: 1}.get(w, w) if w is not None else None for w in winners]
    label = majority_label(winners)
    assert majority_label(turned) == ({1: 2, 2: 1}.get(label, label) if label is not None else None)
