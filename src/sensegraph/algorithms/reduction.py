"""Principal components of many vectors: fewer columns, the same for every order of rows, block and number of threads.

Vectors are rounded to whole numbers that are small enough for every sum of their products to be exact in float64. Exact
sums do not depend on the order in which they are taken. The axes come from a seeded subspace iteration (Halko,
Martinsson and Tropp 2011, Algorithm 4.4) on the exact covariance matrix, whose only decompositions are of matrices so
small that no library divides them among threads.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import Floats
from sensegraph.algorithms.products import inner_product, matrix_product
from sensegraph.algorithms.ranking import Stack, slice_rows

DIMS = 32
_BLOCK = 1 << 22  # numbers that are read at once: 32 MB
_BITS = 20  # of a rounded number: 2 · 20 for a product, 13 more for a sum over 8,192 columns
_EXACT = 53  # bits of a whole number in float64
_MORE = 8  # directions beside those that are wanted
_ROUNDS = 40  # of the subspace iteration
_FEW_ROUNDS = 2  # of a matrix of so low a rank that the first product holds every direction; the second is to spare
_NONE = 1e-11  # share of the second moment: less is what rounding leaves, no direction; of many columns 1e-7 is less


@dataclass(frozen=True, slots=True, eq=False)
class Projection:
    """What takes vectors of shape (n, d) to coordinates of shape (n, m), by falling variance.

    `axes`, shape (d, m), are whole numbers: unit vectors times 2²⁰, the largest entry of each positive. `centre`, shape
    (m,), is where the mean falls. `scale` is a power of two, at least the largest entry of all vectors.
    """

    axes: Floats
    centre: Floats
    scale: float

    def __call__(self, vectors: NDArray[Any] | Stack) -> Floats:
        """The coordinates of `vectors`, shape (n, m) float64; those of one row depend on that row alone."""
        found = [matrix_product(block, self.axes) for block in _round_blocks(vectors, self.scale, _BITS)]
        return (np.concatenate([np.zeros((0, self.axes.shape[1])), *found]) - self.centre) * (self.scale * 4.0**-_BITS)


def reduce_dimensions(vectors: NDArray[Any] | Stack, dims: int = DIMS, *, seed: int = 0) -> Floats:
    """The first `dims` principal components of `vectors`, shape (n, d), as shape (n, m) float64.

    m ≤ min(dims, d, n), and smaller where the vectors vary in fewer directions: a single column of zeros for equal
    vectors. Equal rows stay equal; the rows in another order give the same rows in that order, bit for bit. Needs 24 d²
    bytes beside the result. Columns of zeros, of which hashed words leave many, take no time. Raises ValueError for
    vectors that are no matrix of finite numbers, naming the row.
    """
    return fit_projection(vectors, dims, seed=seed)(vectors)


def fit_projection(vectors: NDArray[Any] | Stack, dims: int = DIMS, *, seed: int = 0) -> Projection:
    """The projection of `vectors` on the directions in which they vary most; see `reduce`."""
    if vectors.ndim != 2 or dims < 1:
        raise ValueError(f"vectors of shape {vectors.shape} cannot be reduced to {dims} columns; give a matrix.")
    n, d = vectors.shape
    largest = 0.0
    for begin, block in _read_blocks(vectors):
        finite = np.isfinite(block).all(axis=1)
        if not finite.all():
            raise ValueError(f"row {begin + int(np.argmin(finite))} of the vectors is not finite; embed it again.")
        largest = max(largest, float(np.abs(block).max(initial=0.0)))
    scale = 2.0 ** math.ceil(math.log2(largest)) if largest > 0 else 1.0
    # The sum of the rows and of their outer products, in units of `scale`.
    bits = min(_BITS, (_EXACT - n.bit_length()) // 2)
    total, moment = np.zeros(d), np.zeros((d, d))
    for rounded in _round_blocks(vectors, scale, bits):
        total += rounded.sum(axis=0)
        moment += rounded.T @ rounded
    total, moment = total * 2.0**-bits, moment * 4.0**-bits
    mean = total / max(n, 1)
    squares = moment / max(n, 1)
    covariance = squares - np.outer(mean, mean)
    filled = np.flatnonzero(moment.diagonal())
    found, variance = _find_eigenvectors(covariance[np.ix_(filled, filled)], min(dims, len(filled)), n, seed)
    there = variance > _NONE * float(np.trace(squares))
    whole = np.zeros((d, 1))
    if there.any():  # every column with its largest entry positive
        axes = np.zeros((np.count_nonzero(there), d)).T
        axes[filled] = found[:, there]
        greatest = np.argmax(np.abs(np.rint(axes * 2.0**_BITS)), axis=0)
        signs = np.where(axes[greatest, np.arange(axes.shape[1])] < 0, -1.0, 1.0)
        whole = np.rint(axes * signs * 2.0**_BITS)
    return Projection(whole, np.einsum("i,ij->j", mean * 2.0**_BITS, whole), scale)


def _read_blocks(vectors: NDArray[Any] | Stack) -> Iterator[tuple[int, Floats]]:
    for part in slice_rows(len(vectors), vectors.shape[1], _BLOCK):
        yield part.start, np.asarray(vectors[part], np.float64)


def _round_blocks(vectors: NDArray[Any] | Stack, scale: float, bits: int) -> Iterator[Floats]:
    """Blocks of `vectors` in units of scale · 2^−bits, rounded."""
    for _, block in _read_blocks(vectors):
        yield np.rint(block * (2.0**bits / scale))


def _find_eigenvectors(matrix: Floats, wanted: int, rank: int, seed: int) -> tuple[Floats, Floats]:
    """The leading eigenvectors, as columns, and eigenvalues, falling, of a symmetric matrix of at most this rank."""
    d, wanted = len(matrix), min(wanted, max(rank, 1))
    basis = np.eye(d)  # of few columns all; a product with the matrix would lose directions of a share below 1e-7
    if d > wanted + _MORE:
        basis = np.random.default_rng(seed).standard_normal((d, wanted + _MORE))
        for _ in range(_ROUNDS if rank > wanted + _MORE else _FEW_ROUNDS):
            basis = _orthonormalize(matrix_product(matrix, _orthonormalize(basis)))
    within = inner_product(basis, matrix_product(matrix, basis))
    values, turns = np.linalg.eigh((within + within.T) / 2)
    first = np.argsort(-values, kind="stable")[:wanted]
    return matrix_product(basis, turns[:, first]), values[first]


def _orthonormalize(columns: Floats) -> Floats:
    """An orthonormal basis of the columns, by the eigenvectors of their inner products; twice, for rounding."""
    for _ in range(2):
        values, turns = np.linalg.eigh(inner_product(columns, columns))
        there = values > 1e-14 * float(values.max(initial=0.0))
        columns = matrix_product(columns, turns[:, there] / np.sqrt(values[there]))
    return columns
