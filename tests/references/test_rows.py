"""Rows of numbers beside scikit-learn and scipy: mixtures, clusters, principal components, nearest rows, diversity."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from points import agreement, around
from rouge_score.rouge_scorer import RougeScorer
from scipy.cluster.hierarchy import average, fcluster
from scipy.spatial.distance import squareform
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score, calinski_harabasz_score, pairwise_distances_argmin
from sklearn.metrics.cluster import pair_confusion_matrix
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import NearestNeighbors

from sensegraph.algorithms.diversity import rank_by_mmr
from sensegraph.algorithms.linkage import cluster_by_linkage
from sensegraph.algorithms.meaning import cluster_rows, measure_scatter, measure_sparsity
from sensegraph.algorithms.mixtures import Mixture, assign_softly, choose_k, fit_mixture, nearest_mean
from sensegraph.algorithms.ranking import nearest_each
from sensegraph.algorithms.reduction import fit_projection
from sensegraph.algorithms.similar import similar_rows
from sensegraph.lab.grounding.claims import count_linkage_clusters
from sensegraph.lab.scores.standard import rouge_distances

SEEDS = st.integers(0, 10**6)
few = settings(max_examples=25)


def unit_rows(random: np.random.Generator, n: int, m: int) -> np.ndarray:
    rows = random.standard_normal((n, m))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


# ── mixtures ──


def random_mixture(random: np.random.Generator, k: int, m: int) -> Mixture:
    return Mixture(random.dirichlet(np.ones(k)), random.standard_normal((k, m)), random.uniform(0.1, 2, (k, m)))


def as_library(mixture: Mixture) -> GaussianMixture:
    found = GaussianMixture(len(mixture), covariance_type="diag")
    found.weights_, found.means_, found.covariances_ = mixture.weights, mixture.means, mixture.variances
    found.precisions_cholesky_ = 1 / np.sqrt(mixture.variances)
    return found


@few
@given(SEEDS, st.integers(1, 5), st.integers(1, 4))
def test_densities_responsibilities_and_bic_of_given_parameters_are_those_of_scikit_learn(
    seed: int, k: int, m: int
) -> None:
    random = np.random.default_rng(seed)
    ours, rows = random_mixture(random, k, m), 2 * random.standard_normal((40, m))
    theirs = as_library(ours)
    assert np.allclose(ours.posteriors(rows), theirs.predict_proba(rows), atol=1e-10)
    assert ours.assign(rows).tolist() == theirs.predict(rows).tolist()
    assert ours.log_likelihood(rows) == pytest.approx(theirs.score_samples(rows).sum(), rel=1e-10)
    assert ours.bic(rows) == pytest.approx(theirs.bic(rows), rel=1e-10)
    for threshold in (0.1, 0.4):  # RAPTOR's soft membership
        shares = theirs.predict_proba(rows)
        member = (shares > threshold) | (shares == shares.max(axis=1, keepdims=True))
        wanted = sorted(np.flatnonzero(column).tolist() for column in member.T if column.any())
        assert [group.tolist() for group in assign_softly(ours, rows, threshold)] == wanted


@pytest.mark.parametrize("seed", range(3))
def test_a_fit_is_as_likely_as_that_of_scikit_learn_and_finds_the_same_groups(seed: int) -> None:
    """Ours has a prior on variances, which costs likelihood: less than a hundredth a row and column."""
    rows, which = around(200, 4, m=5, spread=0.4, seed=seed)
    ours = fit_mixture(rows, 4, seed=seed)
    theirs = GaussianMixture(4, covariance_type="diag", n_init=5, random_state=seed).fit(rows)
    assert ours.log_likelihood(rows) > theirs.score_samples(rows).sum() - 0.01 * rows.size
    assert adjusted_rand_score(ours.assign(rows), theirs.predict(rows)) > 0.96
    assert adjusted_rand_score(ours.assign(rows), which) > 0.8


@pytest.mark.parametrize(("seed", "k"), [(0, 2), (2, 4)])
def test_the_number_of_components_is_that_of_the_least_bic_of_scikit_learn(seed: int, k: int) -> None:
    rows, _ = around(30 * k, k, m=4, spread=0.1, seed=seed)
    wanted = min(range(1, 7), key=lambda n: GaussianMixture(n, covariance_type="diag", n_init=2, random_state=0)
                 .fit(rows).bic(rows))  # fmt: skip
    assert choose_k(rows, seed=seed) == wanted == k


@few
@given(SEEDS, st.integers(1, 6))
def test_the_nearest_mean_is_that_of_scikit_learn(seed: int, k: int) -> None:
    random = np.random.default_rng(seed)
    rows, means = random.standard_normal((30, 3)), random.standard_normal((k, 3))
    assert nearest_mean(rows, means).tolist() == pairwise_distances_argmin(rows, means).tolist()


# ── clusters ──


@few
@given(SEEDS, st.integers(2, 6))
def test_scatter_is_what_calinski_and_harabasz_weigh(seed: int, k: int) -> None:
    """Their score is ((T − W) / (k − 1)) / (W / (n − k)); ours is W / T."""
    random = np.random.default_rng(seed)
    rows, labels = random.standard_normal((30, 3)), np.arange(30) % k
    found = measure_scatter(rows, labels)
    assert ((1 - found) / (k - 1)) / (found / (30 - k)) == pytest.approx(calinski_harabasz_score(rows, labels))


def test_clusters_leave_hardly_more_scatter_than_k_means() -> None:
    rows, which = around(240, 12, m=6, spread=0.2, seed=5)
    labels = cluster_rows(rows, 20).labels
    k = int(labels.max()) + 1
    assert measure_scatter(rows, labels) < 1.2 * measure_scatter(
        rows, KMeans(k, n_init=5, random_state=0).fit_predict(rows)
    )
    assert adjusted_rand_score(labels, which) > 0.85


@few
@given(st.lists(st.integers(0, 5), min_size=2, max_size=30))
def test_sparsity_counts_the_pairs_that_scikit_learn_counts(labels: list[int]) -> None:
    """HiRAG's cluster sparsity is the share of ordered pairs of rows that no cluster joins."""
    counted = pair_confusion_matrix(labels, labels)
    sizes = [labels.count(label) for label in set(labels)]
    assert measure_sparsity(sizes, len(labels)) == pytest.approx(counted[0, 0] / counted.sum())


@few
@given(st.lists(st.integers(0, 3), min_size=3, max_size=25), st.randoms(use_true_random=False))
def test_the_agreement_that_other_tests_measure_is_the_adjusted_rand_index(labels: list[int], random) -> None:  # type: ignore[no-untyped-def]
    other = [random.randrange(3) for _ in labels]
    assert agreement(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 2])) == pytest.approx(4 / 7)
    if len(set(labels)) > 1 and 1 < len(set(other)) < len(other):
        wanted = adjusted_rand_score(labels, other)
        assert agreement(np.array(labels), np.array(other)) == pytest.approx(wanted)


@few
@given(SEEDS, st.integers(3, 14), st.floats(0.1, 0.9))
def test_average_linkage_is_scipys_cut_at_the_same_height(seed: int, n: int, accept: float) -> None:
    random = np.random.default_rng(seed)
    score = np.triu(random.random((n, n)), 1)
    score += score.T
    tree = average(squareform(1 - score, checks=False))
    if (np.abs(1 - tree[:, 2] - accept) < 1e-4).any() or (np.diff(np.sort(tree[:, 2])) < 1e-4).any():
        return  # scores are counted in millionths
    labels = fcluster(tree, 1 - accept, "distance")
    wanted = sorted(np.flatnonzero(labels == label).tolist() for label in np.unique(labels))
    pairs = [(a, b, float(score[a, b])) for a in range(n) for b in range(a + 1, n)]
    assert cluster_by_linkage(n, pairs, accept=accept, reject=0.0) == wanted


CLAIMS = (
    "Ada paid the crew in May",
    "Ada paid the crew in June",
    "The crew was paid by Ada in May",
    "Ivo sold oak and elm",
    "Ivo sold elm and oak to the yard",
    "The harbour closed in 1911",
    "In 1911 the harbour closed for good",
    "Nobody bought boats",
)


@few
@given(st.lists(st.sampled_from(CLAIMS), min_size=2, max_size=8, unique=True), st.sampled_from([0.5, 0.6, 0.7, 0.8]))
def test_clusters_of_claims_are_those_of_the_papers_library(claims: list[str], threshold: float) -> None:
    """Edge et al. 2024, §4.2: complete linkage of scikit-learn over 1 − ROUGE-L, at the paper's four thresholds."""
    apart = rouge_distances(claims)
    rouge = RougeScorer(["rougeL"])
    wanted = [[1 - rouge.score(a, b)["rougeL"].fmeasure for b in claims] for a in claims]
    assert np.allclose(apart, wanted, atol=1e-12)
    found = AgglomerativeClustering(
        n_clusters=None, metric="precomputed", linkage="complete", distance_threshold=threshold
    ).fit(apart)
    assert count_linkage_clusters(apart, threshold) == found.n_clusters_


# ── components, nearest rows ──


@few
@given(SEEDS, st.integers(8, 40), st.integers(2, 10), st.integers(1, 5))
def test_principal_components_are_those_of_scikit_learn(seed: int, n: int, d: int, dims: int) -> None:
    random = np.random.default_rng(seed)
    # variances apart from each other, so that no two axes may turn
    rows = random.standard_normal((n, d)) @ np.diag(3.0 ** -np.arange(d)) + random.standard_normal(d)
    dims = min(dims, d, n - 1)
    theirs = PCA(d if d < n else n - 1, svd_solver="full").fit(rows)
    if any(a < 1.5 * b for a, b in pairwise(theirs.explained_variance_[: dims + 1])):
        return
    ours, wanted = fit_projection(rows, dims)(rows), theirs.transform(rows)[:, :dims]
    signs = np.sign((ours * wanted).sum(axis=0))
    assert np.allclose(ours, wanted * signs, atol=2e-4 * np.abs(rows).max())


@few
@given(SEEDS, st.integers(1, 30), st.integers(1, 30))
def test_the_nearest_rows_are_those_of_scikit_learn(seed: int, n: int, top: int) -> None:
    random = np.random.default_rng(seed)
    rows, queries = unit_rows(random, n, 6), unit_rows(random, 4, 6)
    distances, places = NearestNeighbors(n_neighbors=min(top, n), metric="cosine").fit(rows).kneighbors(queries)
    assert len(places) == 4
    for (found, scores), where, apart in zip(nearest_each(rows, queries, top), places, distances, strict=True):
        assert found.tolist() == where.tolist()
        assert scores == pytest.approx(1 - apart, abs=1e-6)


@few
@given(SEEDS, st.integers(2, 25), st.floats(0.1, 0.9))
def test_pairs_of_alike_rows_are_those_within_scikit_learns_radius(seed: int, n: int, least: float) -> None:
    rows = unit_rows(np.random.default_rng(seed), n, 3)
    near = NearestNeighbors(radius=1 - least, metric="cosine").fit(rows).radius_neighbors(return_distance=False)
    found = similar_rows(rows, least, n)
    wanted = {(min(i, int(j)), max(i, int(j))) for i, row in enumerate(near) for j in row}
    assert set(zip(found.one.tolist(), found.other.tolist(), strict=True)) == wanted


# ── diversity ──


def test_marginal_relevance_by_hand() -> None:
    """Carbonell and Goldstein's formula with λ = ½ on three rows at 0°, 0° and 90°."""
    rows = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    order, values = rank_by_mmr(np.array([0.9, 0.8, 0.3]), rows, 3, 0.5)
    assert order.tolist() == [0, 2, 1]
    assert values.tolist() == pytest.approx([0.5 * 0.9, 0.5 * 0.3 - 0.5 * 0, 0.5 * 0.8 - 0.5 * 1])


@few
@given(SEEDS, st.integers(1, 9), st.floats(0, 1))
def test_marginal_relevance_is_its_definition_in_a_loop(seed: int, n: int, balance: float) -> None:
    random = np.random.default_rng(seed)
    rows, fit = unit_rows(random, n, 3).astype(np.float64).tolist(), random.random(n).tolist()
    chosen: list[int] = []
    while len(chosen) < n:

        def worth(i: int) -> float:
            alike = [math.fsum(a * b for a, b in zip(rows[i], rows[j], strict=True)) for j in chosen]
            return balance * fit[i] - (1 - balance) * max(alike, default=0.0)

        left = [i for i in range(n) if i not in chosen]
        chosen.append(max(left, key=worth))
    assert rank_by_mmr(np.array(fit), np.array(rows), n, balance)[0].tolist() == chosen
