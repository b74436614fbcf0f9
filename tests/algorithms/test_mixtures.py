"""Mixtures against a dense reference, EM that never falls, soft membership and the number of components."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from points import agreement, around
from scipy.stats import multivariate_normal

from sensegraph.algorithms import mixtures
from sensegraph.algorithms.mixtures import Mixture, assign_softly, choose_k, fit_mixture, of_labels


def density(mixture: Mixture, x: np.ndarray) -> np.ndarray:
    """Weight times density of each row under each component, by somebody else's formula."""
    columns = [
        w * multivariate_normal(mean, np.diag(variance)).pdf(x).reshape(len(x))
        for w, mean, variance in zip(mixture.weights, mixture.means, mixture.variances, strict=True)
    ]
    return np.stack(columns, axis=1)


def drawn(n: int, k: int, m: int, seed: int) -> tuple[np.ndarray, Mixture]:
    x, which = around(n, k, m, spread=0.6, seed=seed)
    return x, of_labels(x, np.unique(which, return_inverse=True)[1])


@given(st.integers(1, 40), st.integers(1, 5), st.integers(1, 4), st.integers(0, 10**6))
def test_posteriors_likelihood_and_bic_are_those_of_the_formula(n: int, k: int, m: int, seed: int) -> None:
    x, mixture = drawn(n, k, m, seed)
    joint = density(mixture, x)
    likelihood = float(np.log(joint.sum(axis=1)).sum())
    np.testing.assert_allclose(mixture.posteriors(x), joint / joint.sum(axis=1, keepdims=True), atol=1e-9)
    assert mixture.log_likelihood(x) == pytest.approx(likelihood, rel=1e-9, abs=1e-9)
    parameters = len(mixture) * m + len(mixture) * m + len(mixture) - 1
    assert mixture.bic(x) == pytest.approx(parameters * math.log(n) - 2 * likelihood, rel=1e-9, abs=1e-8)


def penalised(mixture: Mixture, x: np.ndarray, prior: np.ndarray) -> float:
    each = np.log(mixture.variances) + prior / mixture.variances
    return mixture.log_likelihood(x) - 0.5 * mixtures._PRIOR * float(each.sum())


@settings(max_examples=50)
@given(st.integers(2, 120), st.integers(1, 12), st.integers(1, 5), st.integers(0, 10**6))
def test_em_never_falls(n: int, k: int, m: int, seed: int) -> None:
    x, _ = around(n, max(1, k // 2), m, spread=0.5, seed=seed)
    start, prior = mixtures._start_around(x, x[: min(n, k)])
    values = [penalised(mixtures._run_em(x, start, prior, cycles, -1.0), x, prior) for cycles in range(9)]
    assert len(values) == 9
    slack = 1e-9 * max(1.0, *map(abs, values))
    assert all(b >= a - slack for a, b in pairwise(values)), values
    trace = fit_mixture(x, k, seed=seed).trace
    assert trace
    assert all(b >= a - slack for a, b in pairwise(trace))


def test_the_trace_is_the_likelihood_with_its_prior() -> None:
    x, _ = around(200, 4, 3, spread=0.4)
    x = x - x.mean(axis=0)
    mixture, prior = mixtures._start_around(x, x[:4])
    raised = mixtures._run_em(x, mixture, prior, 5)
    assert raised.trace[0] == pytest.approx(penalised(mixture, x, prior))
    assert raised.trace[-1] == pytest.approx(penalised(raised, x, prior))


def test_centres_that_are_far_apart_are_found() -> None:
    x, which = around(2000, 12, 16)
    mixture = fit_mixture(x, 12)
    assert agreement(mixture.assign(x), which) == 1.0
    assert mixture.weights.sum() == pytest.approx(1.0)
    for i in range(12):
        rows = x[which == i]
        nearest = np.linalg.norm(mixture.means - rows.mean(axis=0), axis=1).argmin()
        np.testing.assert_allclose(mixture.means[nearest], rows.mean(axis=0), atol=1e-9)


def test_rows_far_from_the_origin_lose_nothing() -> None:
    x, which = around(500, 6, 4)
    assert agreement(fit_mixture(x + 1e5, 6).assign(x + 1e5), which) == 1.0


def test_a_start_is_taken_instead_of_a_draw() -> None:
    x, which = around(300, 3, 4)
    means = np.stack([x[which == i].mean(axis=0) for i in (2, 0, 1)])
    found = fit_mixture(x, 3, start=means)
    assert (found.assign(x) == np.array([1, 2, 0])[which]).all()


def test_no_more_components_than_distinct_rows() -> None:
    x = np.repeat(np.arange(3.0)[:, None], 5, axis=0)
    assert len(fit_mixture(x, 7)) == 3
    assert len(fit_mixture(np.zeros((4, 2)), 3)) == 1
    assert len(fit_mixture(np.zeros((1, 2)), 1)) == 1


def test_equal_arguments_give_equal_bytes_and_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    x, _ = around(400, 9, 5, spread=0.3)
    once, again = fit_mixture(x, 9, seed=3), fit_mixture(x, 9, seed=3)
    assert once.means.tobytes() == again.means.tobytes()
    monkeypatch.setattr(mixtures, "_BLOCK", 70)
    np.testing.assert_allclose(fit_mixture(x, 9, seed=3).means, once.means, atol=1e-9)
    assert (once.assign(x) == once.posteriors(x).argmax(axis=1)).all()


def test_many_rows_are_tried_on_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    x, which = around(1000, 5, 6)
    monkeypatch.setattr(mixtures, "_SAMPLE", 100)
    assert agreement(fit_mixture(x, 5).assign(x), which) == 1.0


@settings(max_examples=50)
@given(st.integers(1, 80), st.integers(1, 8), st.floats(0.01, 0.9), st.integers(0, 10**6))
def test_soft_membership_holds_the_most_probable_component_and_all_above_the_threshold(
    n: int, k: int, threshold: float, seed: int
) -> None:
    x, mixture = drawn(n, k, 2, seed)
    found, posteriors = assign_softly(mixture, x, threshold), mixture.posteriors(x)
    member = (posteriors > threshold) | np.eye(len(mixture), dtype=bool)[posteriors.argmax(axis=1)]
    wanted = [np.flatnonzero(column).tolist() for column in member.T if column.any()]
    assert [rows.tolist() for rows in found] == sorted(wanted)
    assert set(np.concatenate(found).tolist()) == set(range(n))


def test_soft_membership_of_nothing_is_nothing() -> None:
    _, mixture = drawn(20, 3, 2, 0)
    assert assign_softly(mixture, np.zeros((0, 2))) == ()


def test_the_number_of_centres_is_found() -> None:
    for k in (1, 4, 9):
        x, _ = around(60 * k, k, 6)
        assert choose_k(x) == k


@settings(max_examples=8)
@given(st.integers(4, 60), st.integers(1, 4), st.integers(0, 1000))
def test_what_is_chosen_has_no_worse_bic_than_its_grid_and_its_neighbours(n: int, k: int, seed: int) -> None:
    x, _ = around(n, k, 3, spread=0.3, seed=seed)
    found = choose_k(x, seed=seed, starts=1)
    most = int(min(n / 2, 4 * math.sqrt(n)))
    bic = {i: fit_mixture(x, i, seed=seed, starts=1).bic(x) for i in range(1, most + 1)}
    assert 1 <= found <= most
    assert all(bic[found] <= bic[i] for i in (found - 1, found + 1, *mixtures.GRID) if i in bic)


def test_few_rows_are_one_component() -> None:
    for n in range(1, 4):
        assert choose_k(np.arange(float(n))[:, None]) == 1
    assert choose_k(np.zeros((50, 3))) == 1


def test_no_rows_cannot_be_fitted() -> None:
    with pytest.raises(ValueError, match=r"rows of shape \(0, 3\)"):
        fit_mixture(np.zeros((0, 3)), 2)
    with pytest.raises(ValueError, match="0 components"):
        fit_mixture(np.zeros((4, 3)), 0)


@pytest.mark.slow
def test_a_large_number_is_found_to_a_twentieth_of_it() -> None:
    centres = np.arange(45.0)[:, None] * 100
    x = (centres[:, None] + np.random.default_rng(45).normal(size=(45, 5, 1))).reshape(-1, 1)
    assert choose_k(x, starts=1) == 46  # 45 is no further from it than 46 // 20
