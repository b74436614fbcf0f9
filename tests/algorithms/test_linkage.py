"""Clusters with pairs that must and must not be together (N79)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.algorithms.linkage import cluster_by_linkage, connect_rows

COUNT = 7
PAIRS = [(a, b) for a in range(COUNT) for b in range(a + 1, COUNT)]
scores = st.lists(st.sampled_from((0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0)), min_size=len(PAIRS), max_size=len(PAIRS))
some_pairs = st.lists(st.sampled_from(PAIRS), max_size=4, unique=True)


def clusters(values: list[float], accept: float = 0.8, **given) -> list[list[int]]:
    return cluster_by_linkage(
        COUNT, [(a, b, s) for (a, b), s in zip(PAIRS, values, strict=True)], accept=accept, reject=0.3, **given
    )


def together(found: list[list[int]]) -> set[tuple[int, int]]:
    return {(a, b) for rows in found for a in rows for b in rows if a < b}


def test_one_good_link_does_not_pull_in_what_the_rest_is_unlike():
    chain = [(0, 1, 0.95), (1, 2, 0.9), (0, 2, 0.1)]
    assert cluster_by_linkage(3, chain, accept=0.8, reject=0.35) == [[0, 1], [2]]


def test_what_is_unknown_keeps_clusters_apart():
    assert cluster_by_linkage(3, [(0, 1, 0.95), (1, 2, 0.9)], accept=0.8, reject=0.0) == [[0, 1], [2]]


def test_the_mean_over_all_pairs_counts():
    assert cluster_by_linkage(3, [(0, 1, 1.0), (1, 2, 0.9), (0, 2, 0.8)], accept=0.85, reject=0.35) == [[0, 1, 2]]
    assert cluster_by_linkage(3, [(0, 1, 1.0), (1, 2, 0.9), (0, 2, 0.7)], accept=0.85, reject=0.35) == [[0, 1], [2]]


def test_rows_that_must_be_together_count_as_the_likest_of_them():
    assert cluster_by_linkage(
        3, [(0, 1, 0.1), (1, 2, 0.9), (0, 2, 0.0)], accept=0.8, reject=0.35, together=[(0, 1)]
    ) == [[0, 1, 2]]


def test_a_mean_that_was_good_before_a_join_is_forgotten_after_it():
    found = cluster_by_linkage(3, [(0, 1, 1.0), (1, 2, 0.9), (0, 2, 0.0)], accept=0.5, reject=0.0)
    assert found == [[0, 1], [2]]


@given(scores, some_pairs)
def test_it_is_a_partition_in_which_forbidden_pairs_are_apart(values: list[float], apart: list[tuple[int, int]]):
    found = clusters(values, apart=apart)
    assert sorted(row for rows in found for row in rows) == list(range(COUNT))
    assert not together(found) & set(apart)


@given(scores, some_pairs)
def test_no_pair_of_a_cluster_is_below_the_floor_and_every_cluster_has_a_good_pair(values: list[float], apart):
    score = dict(zip(PAIRS, values, strict=True))
    found = clusters(values, apart=apart)
    assert sum(map(len, found)) == COUNT
    for rows in found:
        inside = [score[a, b] for a in rows for b in rows if a < b]
        assert not inside or (min(inside) >= 0.3 and max(inside) >= 0.8)


@given(scores, some_pairs)
def test_what_was_joined_begins_joined_and_joins_nothing_more(values: list[float], apart: list[tuple[int, int]]):
    found = clusters(values, apart=apart)
    assert clusters(values, apart=apart, joined=sorted(together(found))) == found


@given(scores, some_pairs)
def test_what_is_joined_is_together_whatever_its_score(values: list[float], joined: list[tuple[int, int]]):
    assert set(joined) <= together(clusters(values, joined=joined))


@given(scores, some_pairs)
def test_pairs_may_come_in_any_order(values: list[float], apart: list[tuple[int, int]]):
    given_pairs = [(a, b, s) for (a, b), s in zip(PAIRS, values, strict=True)]
    turned = [(b, a, s) for a, b, s in reversed(given_pairs)]
    assert cluster_by_linkage(COUNT, turned, accept=0.8, reject=0.3, apart=apart[::-1]) == clusters(values, apart=apart)


@given(scores, some_pairs)
def test_a_higher_threshold_never_joins_more(values: list[float], apart: list[tuple[int, int]]):
    strict, lenient = (clusters(values, accept, apart=apart) for accept in (0.9, 0.7))
    assert sum(map(len, strict)) == sum(map(len, lenient)) == COUNT
    assert together(strict) <= together(lenient)


@given(some_pairs)
def test_components_are_what_pairs_connect(pairs: list[tuple[int, int]]):
    found = connect_rows(COUNT, pairs)
    assert found == sorted(found)
    assert sorted(row for rows in found for row in rows) == list(range(COUNT))
    assert set(pairs) <= together(found)
    assert len(found) >= COUNT - len(pairs)


def test_a_row_that_may_not_be_with_one_of_a_cluster_does_not_come_in_with_others():
    """0 and 1 join, then 2 and 3; of 1 and 2 nothing is known."""
    scores = [(0, 1, 0.95), (2, 3, 0.9), (0, 2, 0.85), (0, 3, 0.8), (1, 3, 0.8)]
    assert cluster_by_linkage(4, scores, accept=0.5, reject=0.25) == [[0, 1], [2, 3]]
    assert cluster_by_linkage(4, [*scores, (1, 2, 0.3)], accept=0.5, reject=0.25) == [[0, 1, 2, 3]]


@pytest.mark.parametrize(("score", "joined"), [(0.8, True), (0.8 - 1e-6, True), (0.8 - 3e-6, False)])
def test_scores_are_counted_in_millionths(score: float, joined: bool):
    assert cluster_by_linkage(2, [(0, 1, score)], accept=0.8, reject=0.1) == ([[0, 1]] if joined else [[0], [1]])
