"""Gaussian mixtures with diagonal covariance: fitting, soft membership, the number of components by BIC.

Expectation and maximisation (Dempster, Laird and Rubin 1977) in log space, from greedy k-means++ (Arthur and
Vassilvitskii 2007). Variances carry a prior at the mean variance inside the clusters of the start (as Fraley and
Raftery 2007 do), so that a component of few rows does not collapse; what EM raises is the likelihood with that prior,
and it never falls. Rows are taken in blocks, so that n · k numbers never exist at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sensegraph.algorithms.graphs import Floats, Ints, Longs
from sensegraph.algorithms.products import inner_product, matrix_product
from sensegraph.algorithms.ranking import slice_rows

THRESHOLD = 0.1
GRID = (1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987)
_BLOCK = 1 << 16  # posteriors that exist at once: what stays in a core's own memory
_SAMPLE = 4096  # rows on which starts are compared
_TRIES = 2  # cycles of EM before starts are compared
_PRIOR = 10.0  # rows that the prior of a variance counts for
_FLOOR = 1e-6  # of the variance of all rows: the least mean variance inside clusters
_LEAST = 1e-12  # the least of all, where all rows are equal
_EQUAL = 1e-13  # share of their squares: rows that are nearer are equal
_NONE = 1e-300  # a weight or count of nothing: its logarithm is finite
_CYCLES = 100  # of EM, at most
_GAIN = 1e-3  # of what all cycles gained


@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    """A mixture of k normal distributions over m columns.

    `weights` (k,) sum to 1; `means` and `variances` have shape (k, m). `trace` holds the logarithm of the likelihood
    of the rows with its prior after each cycle of EM, never falling.
    """

    weights: Floats
    means: Floats
    variances: Floats
    trace: tuple[float, ...] = ()

    def __len__(self) -> int:
        return len(self.weights)

    def joint(self, x: Floats) -> Floats:
        """The logarithm of weight times density, shape (n, k), of rows of shape (n, m); for as many as fit."""
        middle = np.einsum("i,ij->j", self.weights, self.means)  # rows far from the origin would lose digits
        means, precision = self.means - middle, 1.0 / self.variances
        spread = (np.log(2 * math.pi * self.variances) + means**2 * precision).sum(axis=1)
        constant = np.log(np.maximum(self.weights, _NONE)) - 0.5 * spread
        factors = np.concatenate((-0.5 * precision, means * precision), axis=1)
        found: Floats = matrix_product(_with_squares(x - middle), factors.T) + constant
        return found

    def posteriors(self, x: Floats) -> Floats:
        """The probability of each component given each row, shape (n, k)."""
        return _normalize(self.joint(x))[0]

    def assign(self, x: Floats) -> Longs:
        """The most probable component of each row, shape (n,); of equal ones the first."""
        found = [self.joint(x[rows]).argmax(axis=1) for rows in slice_rows(len(x), len(self), _BLOCK)]
        return np.concatenate([np.zeros(0, np.int64), *found])

    def log_likelihood(self, x: Floats) -> float:
        """The logarithm of the density of all rows together."""
        blocks = slice_rows(len(x), len(self), _BLOCK)
        return math.fsum(float(_normalize(self.joint(x[rows]))[1].sum()) for rows in blocks)

    def bic(self, x: Floats) -> float:
        """The Bayesian information criterion (Schwarz 1978), p ln n − 2 ln L: lower is better."""
        parameters = len(self) * (2 * self.means.shape[1] + 1) - 1
        penalty: float = parameters * math.log(max(len(x), 1))
        return penalty - 2 * self.log_likelihood(x)


def fit_mixture(
    x: Floats, k: int, *, seed: int = 0, starts: int = 5, start: Floats | None = None, gain: float = _GAIN
) -> Mixture:
    """A mixture of `k` components for rows of shape (n, m), or of fewer, where fewer rows are distinct.

    The best of `starts` draws by k-means++, compared after some cycles on a sample of at most 4,096 rows, or the one
    whose means are `start`, shape (k, m). Then EM over all rows, for at most 100 cycles, until one gains less than
    `gain` times what all of them gained. Takes O(n k m) a cycle. Raises ValueError for no rows.
    """
    if x.ndim != 2 or not len(x) or k < 1:
        raise ValueError(f"{k} components cannot be fitted to rows of shape {x.shape}; give at least one of each.")
    shift = x.mean(axis=0)
    rows = x - shift
    random = np.random.default_rng(seed)
    if start is None:  # the best of some draws after some cycles, on a sample where rows are many
        some = rows if len(rows) <= _SAMPLE else rows[np.sort(random.choice(len(rows), _SAMPLE, replace=False))]
        drawn = [_start_around(some, _draw_seeds(some, k, random)) for _ in range(max(1, starts))]
        if len(drawn) > 1 and len(drawn[0][0]) > 1:
            drawn = [(_run_em(some, mixture, prior, _TRIES), prior) for mixture, prior in drawn]
        mixture, prior = max(drawn, key=lambda found: found[0].trace[-1:])
        if some is not rows:
            mixture, prior = _start_around(rows, mixture.means)
    else:
        mixture, prior = _start_around(rows, start - shift)
    return _shift_means(_run_em(rows, mixture, prior, _CYCLES, gain), shift)


def of_labels(x: Floats, labels: Longs | Ints) -> Mixture:
    """The mixture whose component i is the rows with label i; labels are 0 … k − 1, each there."""
    shift = x.mean(axis=0)
    return _shift_means(_maximise(*_count_labels(x - shift, labels), _variance_within(x - shift, labels)), shift)


def assign_softly(mixture: Mixture, x: Floats, threshold: float = THRESHOLD) -> tuple[Longs, ...]:
    """The rows of each component: those with a posterior above `threshold`, or for which it is the most probable.

    Ascending; in the order of first members; components without rows are left out.
    """
    found: list[tuple[Longs, Longs]] = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
    for rows in slice_rows(len(x), len(mixture), _BLOCK):
        posteriors = mixture.posteriors(x[rows])
        member = posteriors > threshold
        member[np.arange(len(member)), posteriors.argmax(axis=1)] = True
        row, component = np.nonzero(member)
        found.append((row + rows.start, component))
    rows_, components = (np.concatenate(part) for part in zip(*found, strict=True))
    order = np.argsort(components, kind="stable")
    groups = np.split(rows_[order], np.flatnonzero(np.diff(components[order])) + 1) if len(order) else []
    return tuple(sorted(groups, key=lambda group: group.tolist()))


def choose_k(x: Floats, *, seed: int = 0, grid: Sequence[int] = GRID, starts: int = 5) -> int:
    """The number of components with the least BIC: the best of `grid`, then between its neighbours, halving the gaps
    to one, or to a twentieth of it.

    At most min(n / 2, 4 √n); 1 for fewer than 4 rows. Takes O(n^1.5) for many rows.
    """
    most = max(1, int(min(len(x) / 2, 4 * math.sqrt(len(x)))))
    tried: dict[int, float] = {}

    def score(k: int) -> tuple[float, int]:
        if k not in tried:
            tried[k] = fit_mixture(x, k, seed=seed, starts=starts).bic(x)
        return tried[k], k

    if most == 1:
        return 1
    best = min(sorted({min(k, most) for k in grid} | {1}), key=score)
    while True:
        known = sorted(tried)
        at, fine = known.index(best), max(1, best // 20)
        gaps = [other for other in known[max(0, at - 1) : at + 2] if abs(best - other) > fine]
        if not gaps:
            return best
        middles = [(best + other) // 2 if other < best else (best + other + 1) // 2 for other in gaps]
        best = min([best, *middles], key=score)


# ── the parts of EM ──────────────────────────────────────────────────────────────────────────────────────────────────


def _with_squares(x: Floats) -> Floats:
    return np.concatenate((x**2, x), axis=1)


def _normalize(joint: Floats) -> tuple[Floats, Floats]:
    """Posteriors, in the place of `joint`, and the log density of each row."""
    most = joint.max(axis=1, keepdims=True)
    joint -= most
    np.exp(joint, out=joint)
    total = joint.sum(axis=1, keepdims=True)
    joint /= total
    return joint, (most + np.log(total))[:, 0]


def _draw_seeds(x: Floats, k: int, random: np.random.Generator) -> Floats:
    """At most `k` distinct rows by greedy k-means++: of some drawn by squared distance the one that helps most."""
    squares, many = np.einsum("ij,ij->i", x, x), 2 + int(math.log(k))
    chosen = [int(random.integers(len(x)))]
    far = _measure_distances(x, squares, np.array(chosen))[:, 0]
    while len(chosen) < k and far.max() > 0:
        upto = np.cumsum(far)
        drawn = np.minimum(np.searchsorted(upto, random.random(many) * upto[-1], side="right"), len(x) - 1)
        left = np.minimum(far[:, None], _measure_distances(x, squares, drawn))
        best = int(left.sum(axis=0).argmin())
        chosen.append(int(drawn[best]))
        far = left[:, best]
    return x[chosen]


def _measure_distances(x: Floats, squares: Floats, others: Longs) -> Floats:
    """Squared distances of all rows to some of them, shape (n, others); equal rows have none."""
    sums = squares[:, None] + squares[others]
    found = sums - 2 * matrix_product(x, x[others].T)
    return np.where(found > _EQUAL * sums, found, 0.0)


def nearest_mean(x: Floats, means: Floats) -> Longs:
    """The position of the mean nearest to each row, shape (n,)."""
    half = 0.5 * np.einsum("ij,ij->i", means, means)
    blocks = slice_rows(len(x), len(means), _BLOCK)
    found = [(matrix_product(x[rows], means.T) - half).argmax(axis=1) for rows in blocks]
    return np.concatenate([np.zeros(0, np.int64), *found])


def _count_labels(x: Floats, labels: Longs | Ints) -> tuple[Floats, Floats]:
    """How many rows have each label, shape (k,), and the sums of their squares and columns, (k, 2 m)."""
    k = int(labels.max()) + 1
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(k))
    return np.bincount(labels, minlength=k).astype(np.float64), np.add.reduceat(_with_squares(x)[order], starts, axis=0)


def _variance_within(x: Floats, labels: Longs | Ints) -> Floats:
    """The mean variance of each column inside the groups of `labels`, shape (m,), never nothing."""
    counts, sums = _count_labels(x, labels)
    means = sums[:, x.shape[1] :] / counts[:, None]
    inside = ((x - means[labels]) ** 2).mean(axis=0)
    floor = _FLOOR * float(x.var(axis=0).mean()) + _LEAST
    prior: Floats = np.maximum(inside, floor)
    return prior


def _start_around(x: Floats, means: Floats) -> tuple[Mixture, Floats]:
    """The mixture of the clusters around `means`, after a step of k-means, and the prior variance."""
    for _ in range(2):
        _, labels = np.unique(nearest_mean(x, means), return_inverse=True)
        counts, sums = _count_labels(x, labels)
        means = sums[:, x.shape[1] :] / counts[:, None]
    prior = _variance_within(x, labels)
    return _maximise(counts, sums, prior), prior


def _maximise(counts: Floats, sums: Floats, prior: Floats) -> Mixture:
    """The most probable mixture for rows shared out: `counts` (k,), `sums` (k, 2 m) of their squares and columns."""
    squares, columns = np.split(sums, 2, axis=1)
    held = np.maximum(counts, _NONE)[:, None]
    means = columns / held
    scatter = np.maximum(squares - columns * means, 0.0)
    return Mixture(counts / counts.sum(), means, (scatter + _PRIOR * prior) / (held + _PRIOR))


def _run_em(x: Floats, mixture: Mixture, prior: Floats, cycles: int, gain: float = _GAIN) -> Mixture:
    """`mixture` after EM: at most `cycles` since its start, until one gains less than `gain` of what all gained."""
    trace = list(mixture.trace[:-1])  # the last is of the mixture as it is
    while True:
        # Counts and sums of rows shared out by their posteriors, and the log likelihood, in blocks of rows.
        k, m = mixture.means.shape
        counts, sums, likelihood = np.zeros(k), np.zeros((k, 2 * m)), 0.0
        for rows in slice_rows(len(x), k, _BLOCK):
            posteriors, density = _normalize(mixture.joint(x[rows]))
            counts += posteriors.sum(axis=0)
            sums += inner_product(posteriors, _with_squares(x[rows]))
            likelihood += float(density.sum())
        # Minus the logarithm of the prior density of the variances, up to a constant.
        penalty = 0.5 * _PRIOR * float((np.log(mixture.variances) + prior / mixture.variances).sum())
        trace.append(likelihood - penalty)
        if len(trace) > cycles or (len(trace) > 1 and trace[-1] - trace[-2] <= gain * (trace[-1] - trace[0])):
            return replace(mixture, trace=tuple(trace))
        mixture = _maximise(counts, sums, prior)


def _shift_means(mixture: Mixture, by: Floats) -> Mixture:
    return replace(mixture, means=mixture.means + by)
