"""Expectation and maximisation, row by row, against what is done in arrays; and where the search for k ends."""

from __future__ import annotations

import math

import numpy as np
import pytest
from points import around

from sensegraph.algorithms import mixtures
from sensegraph.algorithms.mixtures import Mixture, assign_softly, choose_k, fit_mixture, nearest_mean, of_labels

Rows = list[list[float]]


def mean_of(rows: Rows) -> list[float]:
    return [math.fsum(column) / len(rows) for column in zip(*rows, strict=True)]


def start_by_hand(rows: Rows, means: Rows) -> tuple[list[int], list[float]]:
    """Labels after a step of k-means, and the mean variance inside the clusters."""
    labels = list[int]()
    for _ in range(2):
        far = [[math.dist(row, mean) for mean in means] for row in rows]
        labels = [each.index(min(each)) for each in far]
        labels = [sorted(set(labels)).index(label) for label in labels]
        means = [mean_of([r for r, own in zip(rows, labels, strict=True) if own == i]) for i in sorted(set(labels))]
    inside = [[(v - m) ** 2 for v, m in zip(r, means[i], strict=True)] for r, i in zip(rows, labels, strict=True)]
    middle = mean_of(rows)
    whole = [math.fsum((r[c] - middle[c]) ** 2 for r in rows) / len(rows) for c in range(len(middle))]
    least = 1e-6 * math.fsum(whole) / len(whole) + 1e-12
    return labels, [max(v, least) for v in mean_of(inside)]


def maximise_by_hand(rows: Rows, shares: Rows, prior: list[float]) -> list[tuple[float, list[float], list[float]]]:
    """Weight, means and variances of each component; `shares` says how much of every row it has."""
    found = []
    for share in zip(*shares, strict=True):
        held = math.fsum(share)
        mean = [math.fsum(s * r[c] for s, r in zip(share, rows, strict=True)) / held for c in range(len(prior))]
        scatter = [
            math.fsum(s * (r[c] - mean[c]) ** 2 for s, r in zip(share, rows, strict=True)) for c in range(len(prior))
        ]
        variance = [(v + 10 * p) / (held + 10) for v, p in zip(scatter, prior, strict=True)]
        found.append((held / len(rows), mean, variance))
    return found


def fit_by_hand(rows: Rows, means: Rows, gain: float, cycles: int):
    """The components and the trace of a mixture that starts around `means`."""
    labels, prior = start_by_hand(rows, means)
    shares = [[float(label == i) for i in range(max(labels) + 1)] for label in labels]
    trace = list[float]()
    while True:
        parts = maximise_by_hand(rows, shares, prior)
        densities = [
            [
                w
                * math.prod(
                    math.exp(-((r[c] - m[c]) ** 2) / 2 / v[c]) / math.sqrt(2 * math.pi * v[c]) for c in range(len(r))
                )
                for w, m, v in parts
            ]
            for r in rows
        ]
        penalty = 5 * math.fsum(math.log(v[c]) + prior[c] / v[c] for _, _, v in parts for c in range(len(prior)))
        trace.append(math.fsum(math.log(math.fsum(d)) for d in densities) - penalty)
        if len(trace) > cycles or (len(trace) > 1 and trace[-1] - trace[-2] <= gain * (trace[-1] - trace[0])):
            return parts, trace
        shares = [[each / math.fsum(d) for each in d] for d in densities]


@pytest.mark.parametrize(("gain", "cycles"), [(1e-3, 100), (0.2, 100), (-1.0, 3)])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_mixture_is_that_of_sums_row_by_row(
    monkeypatch: pytest.MonkeyPatch, seed: int, gain: float, cycles: int
) -> None:
    x, _ = around(40, 3, 2, spread=0.8, seed=seed)
    x = x + 5.0
    parts, trace = fit_by_hand(x.tolist(), x[:3].tolist(), gain, cycles)
    monkeypatch.setattr(mixtures, "_CYCLES", cycles)
    found = fit_mixture(x, 3, start=x[:3], gain=gain)
    assert len(found.trace) == len(trace) > 2
    assert found.trace == pytest.approx(trace)
    assert found.weights == pytest.approx([w for w, _, _ in parts])
    assert found.means == pytest.approx(np.array([m for _, m, _ in parts]))
    assert found.variances == pytest.approx(np.array([v for _, _, v in parts]))
    assert found != of_labels(x, found.assign(x))  # arrays are not compared as values


def test_cycles_of_a_fit_end_at_100_or_when_one_gains_less_than_a_thousandth() -> None:
    x, _ = around(300, 3, 2, spread=0.8, seed=1)
    long, usual, short = (fit_mixture(x, 3, start=x[:3], gain=g).trace for g in (-1.0, 1e-3, 0.2))
    assert len(long) == 101
    assert usual == fit_mixture(x, 3, start=x[:3]).trace
    assert long[: len(usual)] == usual
    assert usual[: len(short)] == short
    assert 2 <= len(short) < len(usual) < 101


def test_equal_rows_have_the_least_variance_and_a_column_without_any_a_share_of_that_of_all() -> None:
    assert fit_mixture(np.full((6, 2), 3.0), 2).variances.tolist() == [[pytest.approx(1e-12 * 10 / 16)] * 2]
    x = np.column_stack((np.tile([0.0, 4.0], 4), np.zeros(8)))
    assert of_labels(x, np.zeros(8, int)).variances[0] == pytest.approx([4.0, 2e-6 * 10 / 18])  # 1e-6 of (4 + 0) / 2


def test_of_some_draws_the_one_that_is_best_after_two_cycles_is_taken() -> None:
    x, _ = around(90, 6, 2, spread=0.5, seed=5)
    rows, random = x - x.mean(axis=0), np.random.default_rng(3)
    tried = [
        mixtures._run_em(rows, *mixtures._start_around(rows, mixtures._draw_seeds(rows, 6, random)), 2)
        for _ in range(5)
    ]
    after = [one.trace for one in tried]
    assert len({trace[-1] for trace in after}) > 2
    assert {len(trace) for trace in after} == {3}
    best = max(after, key=lambda trace: trace[-1])
    assert best is not after[0]
    for starts, wanted in ((1, after[0]), (2, max(after[:2], key=lambda t: t[-1])), (5, best)):
        assert fit_mixture(x, 6, seed=3, starts=starts).trace[:3] == pytest.approx(wanted)
    assert fit_mixture(x, 6, seed=3).trace[:3] == pytest.approx(best)
    assert fit_mixture(x, 6).trace == fit_mixture(x, 6, seed=0).trace


@pytest.mark.parametrize(("k", "many"), [(1, 2), (3, 3), (8, 4)])
def test_starts_are_drawn_by_how_far_rows_are_from_those_drawn_before(k: int, many: int) -> None:
    x, _ = around(30, 5, 2, spread=0.5, seed=2)
    random, rows = np.random.default_rng(9), x.tolist()
    chosen = [int(random.integers(30))]
    far = [math.dist(row, rows[chosen[0]]) ** 2 for row in rows]
    while len(chosen) < k:
        upto = np.cumsum(far)
        drawn = [int(np.searchsorted(upto, r * upto[-1], side="right")) for r in random.random(many)]
        left = [[min(f, math.dist(row, rows[d]) ** 2) for f, row in zip(far, rows, strict=True)] for d in drawn]
        best = min(range(many), key=lambda i: sum(left[i]))
        chosen.append(drawn[best])
        far = left[best]
    assert mixtures._draw_seeds(x, k, np.random.default_rng(9)).tolist() == x[chosen].tolist()


def test_a_sample_stands_for_very_many_rows_and_all_are_fitted_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    x, _ = around(60, 3, 2, spread=0.5, seed=1)
    whole = fit_mixture(x, 3, seed=2).trace
    monkeypatch.setattr(mixtures, "_SAMPLE", 60)
    assert fit_mixture(x, 3, seed=2).trace == whole
    monkeypatch.setattr(mixtures, "_SAMPLE", 20)
    rows, random = x - x.mean(axis=0), np.random.default_rng(2)
    some = rows[np.sort(random.choice(60, 20, replace=False))]
    tried = [mixtures._start_around(some, mixtures._draw_seeds(some, 3, random)) for _ in range(5)]
    best = max((mixtures._run_em(some, *one, 2) for one in tried), key=lambda mixture: mixture.trace[-1])
    wanted = mixtures._run_em(rows, *mixtures._start_around(rows, best.means), 100)
    assert fit_mixture(x, 3, seed=2).trace == pytest.approx(wanted.trace)


@pytest.mark.parametrize(
    ("n", "m", "k", "data", "seed"), [(60, 2, 4, 0, 1), (60, 2, 4, 3, 2), (80, 2, 5, 5, 2), (60, 1, 4, 1, 3)]
)
def test_of_several_starts_the_best_after_two_cycles_is_taken(n: int, m: int, k: int, data: int, seed: int) -> None:
    """Where another is the best after one cycle, and after all."""
    x = np.random.default_rng(data).standard_normal((n, m)).round(2)
    rows, random = x - x.mean(axis=0), np.random.default_rng(seed)
    starts = [mixtures._start_around(rows, mixtures._draw_seeds(rows, k, random)) for _ in range(5)]
    tried = [(mixtures._run_em(rows, mixture, prior, 2), prior) for mixture, prior in starts]
    assert {len(mixture.trace) for mixture, _ in tried} == {3}
    best = max(tried, key=lambda one: one[0].trace[2])
    assert best is not max(tried, key=lambda one: one[0].trace[1])
    assert fit_mixture(x, k, seed=seed).trace == mixtures._run_em(rows, *best, 100).trace


def test_a_row_is_of_every_component_above_a_tenth_and_of_the_most_probable() -> None:
    line = Mixture(np.array([0.5, 0.5]), np.array([[0.0], [1.0]]), np.ones((2, 1)))
    # of row x the second component has 1 / (1 + exp(0.5 - x)): a tenth at 0.5 - ln 9
    edge = 0.5 - math.log(9)
    x = np.array([[edge - 0.01], [edge + 0.01], [1 - edge - 0.01], [1 - edge + 0.01]])
    assert [rows.tolist() for rows in assign_softly(line, x)] == [[0, 1, 2], [1, 2, 3]]
    assert [rows.tolist() for rows in assign_softly(line, x, 0.95)] == [[0, 1], [2, 3]]
    assert nearest_mean(np.array([[0.4], [0.6], [0.5]]), line.means).tolist() == [0, 1, 0]
    assert line.assign(np.array([[0.4], [0.6], [0.5]])).tolist() == [0, 1, 0]


def test_rows_in_blocks_are_of_the_same_components(monkeypatch: pytest.MonkeyPatch) -> None:
    x, which = around(50, 3, 2, spread=0.8, seed=4)
    mixture = of_labels(x + 7, which)
    assert mixture.means == pytest.approx(np.stack([x[which == i].mean(axis=0) + 7 for i in range(3)]))
    mixture = of_labels(x, which)
    whole = [rows.tolist() for rows in assign_softly(mixture, x)]
    monkeypatch.setattr(mixtures, "_BLOCK", 21)
    assert [rows.tolist() for rows in assign_softly(mixture, x)] == whole
    assert nearest_mean(x, mixture.means).tolist() == [
        min(range(3), key=lambda i: math.dist(row, mixture.means[i])) for row in x.tolist()
    ]


def test_the_number_of_components_is_looked_for_up_to_half_of_the_rows() -> None:
    pairs = np.repeat(np.arange(5.0) ** 2, 2)[:, None] + np.tile([0.0, 1e-3], 5)[:, None]
    assert choose_k(pairs) == 5
    assert choose_k(pairs[:9]) == 4
    assert [choose_k(pairs, grid=(k,)) for k in (2, 4, 5, 999)] == [1, 4, 5, 5]
    assert [choose_k(pairs[:n]) for n in (0, 1, 2, 3)] == [1, 1, 1, 1]
    assert mixtures.GRID == (1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987)
