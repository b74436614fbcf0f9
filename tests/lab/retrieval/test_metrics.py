"""Measures of a ranking: cases counted by hand, and a dense second implementation."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.lab.retrieval.retrieval_scores import (
    all_gold,
    list_metrics,
    measure_ranking,
    ndcg,
    precision_at_k,
    recall_at_k,
    reciprocal_rank,
)

GOLD = {"a": 1, "b": 1, "c": 1, "d": 1}
CUTS = (1, 3, 5)

ids = st.integers(0, 12).map(str)
rankings = st.lists(ids, unique=True, max_size=13)
golds = st.dictionaries(ids, st.integers(1, 4), min_size=1, max_size=8)


def test_recall_counts_the_share_of_all_judged_documents():
    assert recall_at_k(["a", "x", "b"], GOLD, 3) == 0.5
    assert recall_at_k(["a", "x", "b"], GOLD, 2) == 0.25
    assert recall_at_k([], GOLD, 5) == 0


def test_all_gold_is_1_only_when_the_last_of_them_is_there():
    assert all_gold(["a", "b", "x", "c", "d"], GOLD, 4) == 0
    assert all_gold(["a", "b", "x", "c", "d"], GOLD, 5) == 1


def test_an_empty_place_of_a_short_ranking_counts_against_precision():
    assert precision_at_k(["a", "b"], GOLD, 4) == 0.5


def test_the_reciprocal_rank_is_that_of_the_first_relevant_document():
    assert reciprocal_rank(["x", "y", "b", "a"], GOLD) == pytest.approx(1 / 3)
    assert reciprocal_rank(["x"], GOLD) == 0


def test_ndcg_takes_the_grade_as_gain_and_discounts_by_the_logarithm_of_the_rank():
    gained = 1 / log2(2) + 3 / log2(4)
    best = 3 / log2(2) + 1 / log2(3)
    assert ndcg(["b", "x", "a"], {"a": 3, "b": 1}) == pytest.approx(gained / best)


def test_ndcg_looks_at_ten_places_and_its_ideal_does_too():
    gold = {f"g{i}": 1 for i in range(12)}
    assert ndcg([*(f"g{i}" for i in range(10)), "x"], gold) == 1
    assert ndcg([*(f"x{i}" for i in range(10)), "g0"], gold) == 0


def test_a_document_named_twice_counts_once_and_moves_nothing_down():
    assert measure_ranking(["x", "x", "a"], {"a": 1}, (2,)) == measure_ranking(["x", "a"], {"a": 1}, (2,))


def test_every_measure_has_a_name_in_its_place():
    found = dict(zip(list_metrics((1, 2)), measure_ranking(["x", "a"], {"a": 1, "b": 1}, (1, 2)), strict=True))
    assert found["recall@2"] == 0.5
    assert found["all@2"] == 0
    assert found["precision@1"] == 0
    assert found["precision@2"] == 0.5
    assert found["mrr"] == 0.5
    assert found["ndcg@10"] == pytest.approx((1 / log2(3)) / (1 + 1 / log2(3)))


def dense(ranked: list[str], gold: dict[str, int], cuts: tuple[int, ...]) -> list[float]:
    """The same from one vector of grades by rank, as long as the deepest cut."""
    grades = np.zeros(20)
    grades[: len(ranked)] = [gold.get(name, 0) for name in ranked]
    hits, total = np.cumsum(grades > 0), len(gold)
    best = np.zeros(20)
    best[:total] = np.sort(list(gold.values()))[::-1]
    discount = 1 / np.log2(np.arange(20) + 2)
    first = np.flatnonzero(grades)
    return [
        *(hits[k - 1] / total for k in cuts),
        *(float(hits[k - 1] == total) for k in cuts),
        *(hits[k - 1] / k for k in cuts),
        (grades * discount)[:10].sum() / (best * discount)[:10].sum(),
        1 / (first[0] + 1) if len(first) else 0.0,
    ]


@given(rankings, golds)
def test_measures_equal_a_dense_reference(ranked: list[str], gold: dict[str, int]):
    assert measure_ranking(ranked, gold, CUTS) == pytest.approx(dense(ranked, gold, CUTS))


@given(rankings, golds)
def test_every_measure_lies_between_0_and_1_and_recall_never_falls_with_depth(ranked: list[str], gold: dict[str, int]):
    assert recall_at_k(ranked, gold, len(ranked) or 1) == len(set(ranked) & set(gold)) / len(gold)
    assert all(0 <= m <= 1 + 1e-12 for m in measure_ranking(ranked, gold, CUTS))
    assert recall_at_k(ranked, gold, 1) <= recall_at_k(ranked, gold, 3) <= recall_at_k(ranked, gold, 5)


@given(golds)
def test_the_best_order_gives_ndcg_1(gold: dict[str, int]):
    assert ndcg(sorted(gold, key=lambda name: -gold[name]), gold) == pytest.approx(1)
