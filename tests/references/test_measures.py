"""Measures and statistics beside scikit-learn, scipy, and figures that textbooks print."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import label_ranking_average_precision_score, ndcg_score, precision_score, recall_score

from sensegraph.lab.finetuning.data.chances import chi_square_tail
from sensegraph.lab.retrieval.retrieval_scores import ndcg, precision_at_k, recall_at_k, reciprocal_rank
from sensegraph.lab.scores.standard import rouge_1, rouge_2, rouge_l, token_f1
from sensegraph.lab.scores.statistics import (
    bootstrap_intervals,
    compare_all_pairs,
    correct_by_holm,
    resample_means,
    shapiro_wilk,
    sign_test,
    signed_rank_test,
    spearman,
    wilson_interval,
)
from sensegraph.lab.scores.tokenmatch import match_tokens, rescale_score, token_rarity

NAMES = [f"d{i}" for i in range(14)]
RANKED = st.permutations(NAMES).flatmap(lambda p: st.integers(0, 14).map(lambda n: list(p[:n])))
GOLD = st.dictionaries(st.sampled_from(NAMES), st.integers(1, 3), min_size=1, max_size=6)
few = settings(max_examples=40)


def indicators(ranked: list[str], gold: dict[str, int], k: int) -> tuple[list[bool], list[bool]]:
    return [name in gold for name in NAMES], [name in ranked[:k] for name in NAMES]


# ── rankings against judgements ──


@few
@given(RANKED, GOLD, st.integers(1, 12))
def test_ndcg_is_that_of_scikit_learn(ranked: list[str], gold: dict[str, int], k: int) -> None:
    """Linear gains. Places that a short ranking leaves empty stand before what it does not hold."""
    empty = [f"empty {i}" for i in range(len(NAMES))]
    order = [*ranked, *empty, *(name for name in NAMES if name not in ranked)]
    truth, scores = [[gold.get(name, 0) for name in order]], [[-place for place in range(len(order))]]
    assert ndcg(ranked, gold, k) == pytest.approx(ndcg_score(truth, scores, k=k))


@few
@given(RANKED, GOLD, st.integers(1, 12))
def test_recall_and_precision_are_those_of_scikit_learn(ranked: list[str], gold: dict[str, int], k: int) -> None:
    truth, found = indicators(ranked, gold, k)
    assert recall_at_k(ranked, gold, k) == pytest.approx(recall_score(truth, found))
    share = precision_score(truth, found, zero_division=0.0)  # of the places that are filled
    assert precision_at_k(ranked, gold, k) == pytest.approx(share * min(k, len(ranked)) / k)


@few
@given(RANKED, GOLD)
def test_the_reciprocal_rank_is_the_ranking_precision_of_the_first_relevant(
    ranked: list[str], gold: dict[str, int]
) -> None:
    first = next((name for name in ranked if name in gold), None)
    if first is None:
        assert reciprocal_rank(ranked, gold) == 0.0
        return
    wanted = label_ranking_average_precision_score(
        [[name == first for name in ranked]], [[-place for place in range(len(ranked))]]
    )
    assert reciprocal_rank(ranked, gold) == pytest.approx(wanted)


def test_ndcg_of_the_example_that_is_mostly_taught() -> None:
    """Grades 3, 2, 3, 0, 1, 2 of six documents, two more of 3 and 2 not found: DCG 6.861, best 8.740, nDCG 0.785."""
    gold = {"a": 3, "b": 2, "c": 3, "e": 1, "f": 2, "g": 3, "h": 2}
    assert ndcg(["a", "b", "c", "d", "e", "f"], gold, 6) == pytest.approx(6.861 / 8.740, abs=5e-4)


# ── answers ──


def test_overlaps_of_lin_s_example() -> None:
    """Lin 2004, §3: of `police killed the gunman` with ROUGE-2 and ROUGE-L of two candidates (β = 1)."""
    gold, one, other = "police killed the gunman", "police kill the gunman", "the gunman kill police"
    assert rouge_l(one, gold) == pytest.approx(3 / 4)
    assert rouge_l(other, gold) == pytest.approx(2 / 4)
    assert rouge_2(one, gold) == rouge_2(other, gold) == pytest.approx(1 / 3)
    assert rouge_1(one, gold) == rouge_1(other, gold) == pytest.approx(3 / 4)
    assert rouge_l("the gunman police killed", gold) == pytest.approx(2 / 4)
    passive = "the gunman was killed by police"  # six words: F1 is 2 · shared / (6 + 4)
    assert [f(passive, gold) for f in (rouge_1, rouge_2, rouge_l)] == pytest.approx([8 / 10, 2 / 8, 4 / 10])


def test_the_f1_of_words_by_hand() -> None:
    """Three words of four and of five are shared: precision 3/4, recall 3/5."""
    assert token_f1("red boat sailed home", ["red boat went home late"]) == pytest.approx(2 * 0.75 * 0.6 / (0.75 + 0.6))


@few
@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 5))
def test_tokens_are_matched_greedily_in_a_loop(seed: int, n: int, m: int) -> None:
    """BERTScore's recall, precision and F1 (Zhang et al. 2020, §3), with idf weights."""
    random = np.random.default_rng(seed)
    ours, theirs = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in
                    (random.standard_normal((n, 4)), random.standard_normal((m, 4))))  # fmt: skip
    idf, other = random.uniform(0.1, 2, n), random.uniform(0.1, 2, m)
    found = match_tokens(ours, theirs, idf, other)
    precision = sum(idf[i] * max(float(ours[i] @ t) for t in theirs) for i in range(n)) / sum(idf)
    recall = sum(other[j] * max(float(theirs[j] @ o) for o in ours) for j in range(m)) / sum(other)
    assert (found.precision, found.recall) == pytest.approx((precision, recall))
    assert found.f1 * (precision + recall) == pytest.approx(2 * precision * recall, abs=1e-12)


def test_rarity_and_rescaling_by_hand() -> None:
    """idf = ln((M + 1) / (df + 1)) over M gold answers; (x − b) / (1 − b)."""
    rarity = token_rarity([[1, 2, 2], [2, 3], [2]])
    assert [rarity(t) for t in (1, 2, 9)] == pytest.approx([np.log(4 / 2), np.log(4 / 4), np.log(4 / 1)])
    assert rescale_score(0.92, 0.84) == pytest.approx(0.5)


# ── statistics ──


@pytest.mark.parametrize(
    ("hits", "count", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilsons_interval_is_that_of_newcombes_table(hits: int, count: int, low: float, high: float) -> None:
    """Newcombe 1998, Table I, method 3."""
    found = wilson_interval(hits / count, count)
    assert (found.low, found.high) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(("value", "freedom"), [(3.841, 1), (5.991, 2), (11.070, 5), (18.307, 10), (43.773, 30)])
def test_the_tail_of_chi_square_is_that_of_printed_tables(value: float, freedom: int) -> None:
    assert chi_square_tail(value, freedom) == pytest.approx(0.05, abs=5e-5)


def test_the_signed_ranks_of_the_depression_scale() -> None:
    """Hollander and Wolfe 1973, p. 29: V = 40, one-sided p 0.01953 of nine patients."""
    before = np.array([1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30])
    after = np.array([0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29])
    found = signed_rank_test(before - after)
    assert found.p == pytest.approx(2 * 0.01953, abs=1e-5)
    assert found.z == pytest.approx((40 - 9 * 10 / 4) / np.sqrt(9 * 10 * 19 / 24))
    assert (found.n, found.wins, found.exact) == (9, 7, True)


def test_the_signed_ranks_of_darwins_maize() -> None:
    """Fifteen pairs of plants: the smaller rank sum is 24 (ranks 10 and 14), exact p 0.0413."""
    heights = np.array([6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75], np.float64)
    found = signed_rank_test(heights)
    assert found.p == pytest.approx(0.041259765625)
    assert found.z == pytest.approx((15 * 16 / 4 - 24) / np.sqrt(15 * 16 * 31 / 24))


@few
@given(st.lists(st.integers(-9, 9), min_size=26, max_size=60).filter(any))
def test_many_differences_with_ties_have_scipys_normal_p(values: list[int]) -> None:
    kept = [v for v in values if v]
    assert kept
    if len(kept) > 25:
        wanted = stats.wilcoxon(kept, correction=False, method="asymptotic")
        found = signed_rank_test(np.array(values, np.float64))
        assert found.p == pytest.approx(wanted.pvalue, rel=1e-9)
        assert not found.exact


def test_the_sign_test_of_the_deer() -> None:
    """Zar's legs of ten deer: eight longer, two shorter, two-sided p 0.109375."""
    assert sign_test(8, 2) == pytest.approx(0.109375)
    assert sign_test(2, 8) == pytest.approx(0.109375)


def test_holm_by_the_example_that_is_mostly_taught() -> None:
    """0.01, 0.04, 0.03, 0.005: the least by 4, the next by 3, by 2, by 1; never below the one before."""
    assert correct_by_holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@few
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_the_largest_of_all_smaller_ones_by_definition(ps: list[float]) -> None:
    """max over p_j ≤ p_i of (m − rank_j + 1) · p_j, at most 1, as each p is defined by Holm 1979."""
    ordered = sorted(ps)
    wanted = [min(1.0, max((len(ps) - j) * q for j, q in enumerate(ordered) if q <= p)) for p in ps]
    assert correct_by_holm(ps) == pytest.approx(wanted, abs=1e-15)


def test_the_normality_of_eleven_weights() -> None:
    """Shapiro and Wilk 1965: W = 0.79 for the weights of eleven men; R94's p is 0.0067."""
    found = shapiro_wilk(np.array([148, 154, 158, 160, 161, 162, 166, 170, 182, 195, 236], np.float64))
    assert found == pytest.approx((0.7888, 0.0067), abs=5e-4)


def test_the_rank_correlation_of_ten_persons() -> None:
    """IQ and hours of television: Σ d² = 194, so ρ = 1 − 6 · 194 / (10 · 99) = −29/165."""
    iq, hours = [106, 100, 86, 101, 99, 103, 97, 113, 112, 110], [7, 27, 2, 50, 28, 29, 20, 12, 6, 17]
    assert spearman(iq, hours) == pytest.approx(-29 / 165)
    assert spearman(iq, hours) == pytest.approx(stats.spearmanr(iq, hours).statistic)


def test_the_bootstrap_has_the_distribution_of_all_resamplings() -> None:
    """Of four values there are 256 resamplings: shares of means up to each bound, within four standard errors."""
    values = np.array([1.0, 2.0, 4.0, 9.0])
    every = np.sort([sum(drawn) / 4 for drawn in product(values, repeat=4)])
    drawn = resample_means(values[:, None], 20_000)[:, 0]
    for bound in np.unique(every):
        share = (every <= bound + 1e-9).mean()
        error = np.sqrt(share * (1 - share) / len(drawn))
        assert abs((drawn <= bound + 1e-9).mean() - share) <= 4 * error + 1e-12
    (found,) = bootstrap_intervals(values[:, None], 20_000)
    assert found.mean == 4.0
    near = np.percentile(every, [1.5, 3.5, 96.5, 98.5])
    assert near[0] <= found.low <= near[1] < found.mean < near[2] <= found.high <= near[3]


def test_pairs_of_conditions_are_tested_as_scipy_tests_them() -> None:
    """Every measure of a pair apart, and Holm over the family of three."""
    random = np.random.default_rng(3)
    values = {name: (random.integers(0, 100, 40) + shift).tolist() for name, shift in (("a", 0), ("b", 5), ("c", 30))}
    found = compare_all_pairs(values, draws=200)
    assert [(pair.first, pair.second) for pair in found] == list(combinations("abc", 2))
    raw = []
    for pair in found:
        apart = np.array(values[pair.first]) - np.array(values[pair.second])
        test = stats.wilcoxon(apart[apart != 0], correction=False, method="asymptotic")
        raw.append(test.pvalue)
        assert pair.p == pytest.approx(test.pvalue)
        assert pair.z == pytest.approx(np.sign(np.median(apart)) * abs(stats.norm.ppf(test.pvalue / 2)))
        assert pair.normal == pytest.approx(stats.shapiro(apart).pvalue, abs=1e-4)
        assert pair.sign_p == pytest.approx(stats.binomtest(pair.wins, pair.wins + pair.losses).pvalue)
        assert pair.effect == pytest.approx(pair.z / np.sqrt(40))
    assert [pair.p_holm for pair in found] == pytest.approx(
        [min(1, max((3 - j) * q for j, q in enumerate(sorted(raw)) if q <= p)) for p in raw]
    )
