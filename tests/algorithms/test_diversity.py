"""Greedy choices against their definitions, written out plainly."""

from __future__ import annotations

from itertools import combinations
from math import e

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensegraph.algorithms.diversity import choose_cover, rank_by_cover, rank_by_mmr

FAMILIES = st.lists(st.frozensets(st.integers(0, 7), max_size=5), min_size=1, max_size=7)
WEIGHTS = st.lists(st.integers(0, 9), min_size=8, max_size=8)


def arrays(family: list[frozenset[int]]) -> tuple[np.ndarray, np.ndarray]:
    start = np.cumsum([0, *map(len, family)])
    return start, np.asarray([x for s in family for x in sorted(s)], np.int64)


def units(seed: int, n: int, dim: int = 4) -> np.ndarray:
    rows = np.random.default_rng(seed).standard_normal((n, dim))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def plain_mmr(relevance: np.ndarray, rows: np.ndarray, top: int, balance: float) -> list[int]:
    chosen: list[int] = []
    while len(chosen) < min(top, len(rows)):
        value = {
            i: balance * relevance[i] - (1 - balance) * max((float(rows[i] @ rows[j]) for j in chosen), default=0.0)
            for i in range(len(rows))
            if i not in chosen
        }
        chosen.append(max(value, key=lambda i: (round(value[i], 9), -i)))
    return chosen


@given(st.integers(0, 10**6), st.integers(0, 12), st.integers(0, 14), st.sampled_from([0.0, 0.3, 0.5, 0.9, 1.0]))
def test_mmr_chooses_what_its_definition_chooses(seed: int, n: int, top: int, balance: float) -> None:
    rows, relevance = units(seed, n), np.random.default_rng(seed + 1).random(n)
    assert rank_by_mmr(relevance, rows, top, balance)[0].tolist() == plain_mmr(relevance, rows, top, balance)


@given(st.integers(0, 10**6), st.integers(1, 12))
def test_mmr_without_diversity_is_the_order_by_relevance(seed: int, n: int) -> None:
    relevance = np.random.default_rng(seed).integers(0, 4, n).astype(float)
    positions, values = rank_by_mmr(relevance, units(seed, n), n, balance=1.0)
    assert positions.tolist() == np.lexsort((np.arange(n), -relevance)).tolist()
    assert values.tolist() == relevance[positions].tolist()


def test_mmr_puts_a_repetition_last() -> None:
    rows = np.asarray([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    assert rank_by_mmr(np.asarray([0.9, 0.8, 0.3]), rows, 3, 0.5)[0].tolist() == [0, 2, 1]


@pytest.mark.parametrize(
    ("relevance", "rows", "balance"),
    [
        (np.ones(2), np.ones((3, 2)), 0.5),
        (np.ones(2), np.ones((2, 2)), 1.5),
        (np.full(2, np.nan), np.ones((2, 2)), 0.5),
    ],
)
def test_mmr_refuses_what_does_not_fit(relevance: np.ndarray, rows: np.ndarray, balance: float) -> None:
    with pytest.raises(ValueError):
        rank_by_mmr(relevance, rows, 2, balance)


def plain_cover(family: list[frozenset[int]], weights: list[int], top: int, costs: list[int]) -> list[int]:
    chosen: list[int] = []
    covered: set[int] = set()
    while len(chosen) < top:
        value = [sum(weights[x] for x in s - covered) / c for s, c in zip(family, costs, strict=True)]
        best = max(range(len(family)), key=lambda i: (value[i], -i))
        if value[best] == 0:
            break
        chosen.append(best)
        covered |= family[best]
    return chosen


@given(FAMILIES, WEIGHTS, st.integers(0, 8), st.data())
def test_cover_chooses_what_a_plain_greedy_search_chooses(
    family: list[frozenset[int]], weights: list[int], top: int, data: st.DataObject
) -> None:
    costs = data.draw(st.lists(st.sampled_from([1, 2, 4]), min_size=len(family), max_size=len(family)))
    chosen, gains = choose_cover(*arrays(family), np.asarray(weights, float), top, np.asarray(costs, float))
    assert chosen.tolist() == plain_cover(family, weights, top, costs)
    covered = frozenset().union(*(family[i] for i in chosen.tolist()))
    assert gains.sum() == sum(weights[x] for x in covered)


@settings(max_examples=60)
@given(FAMILIES, WEIGHTS, st.integers(1, 4))
def test_cover_reaches_its_bound_of_the_best_choice(family: list[frozenset[int]], weights: list[int], top: int) -> None:
    _, gains = choose_cover(*arrays(family), np.asarray(weights, float), top)
    choices = combinations(family, min(top, len(family)))
    optimum = max(sum(weights[x] for x in frozenset().union(*some)) for some in choices)
    assert gains.sum() >= (1 - 1 / e) * optimum - 1e-9


@given(FAMILIES, WEIGHTS)
def test_covering_ranks_every_set_once_and_the_useless_ones_last(
    family: list[frozenset[int]], weights: list[int]
) -> None:
    ranked = rank_by_cover(*arrays(family), np.asarray(weights, float)).tolist()
    assert sorted(ranked) == list(range(len(family)))
    useful = len(choose_cover(*arrays(family), np.asarray(weights, float), len(family))[0])
    assert ranked[useful:] == sorted(ranked[useful:])


def test_an_element_that_a_set_names_twice_counts_once() -> None:
    chosen, gains = choose_cover(np.asarray([0, 3, 5]), np.asarray([0, 0, 0, 1, 2]), np.ones(3), 2)
    assert (chosen.tolist(), gains.tolist()) == ([1, 0], [2.0, 1.0])


@pytest.mark.parametrize(
    ("start", "elements", "weights", "costs"),
    [
        ([1, 2], [0, 1], [1.0, 1.0], None),
        ([0, 2, 1], [0], [1.0], None),
        ([0, 1], [3], [1.0], None),
        ([0, 1], [0], [-1.0], None),
        ([0, 1], [0], [1.0], [0.0]),
        ([0, 1], [0], [1.0], [1.0, 1.0]),
    ],
)
def test_cover_refuses_what_does_not_fit(
    start: list[int], elements: list[int], weights: list[float], costs: list[float] | None
) -> None:
    with pytest.raises(ValueError):
        choose_cover(
            np.asarray(start),
            np.asarray(elements),
            np.asarray(weights),
            1,
            None if costs is None else np.asarray(costs),
        )
