"""Products of tall matrices in portions that BLAS takes in one thread.

Many small products in several threads cost many times the CPU, because threads that have nothing to do wait busily
for more; and portions of a fixed size leave nothing that could depend on the number of threads.
"""

from __future__ import annotations

import numpy as np

from sensegraph.algorithms.graphs import Floats

_MOST = 1 << 18  # multiplications up to which OpenBLAS keeps to one thread
_DEEP = 512  # numbers that a portion sums at once
_ROWS = 64  # of a portion, where the matrix on the right is wide


def product(left: Floats, right: Floats) -> Floats:
    """`left @ right`, of shapes (n, m) and (m, c), summed over portions of m in order."""
    found = np.zeros((len(left), right.shape[1]))
    for begin in range(0, len(right), _DEEP):
        found += _shallow(left[:, begin : begin + _DEEP], right[begin : begin + _DEEP])
    return found


def _shallow(left: Floats, right: Floats) -> Floats:
    found = np.empty((len(left), right.shape[1]))
    wide = max(1, _MOST // (_ROWS * max(1, len(right))))
    for begin in range(0, right.shape[1], wide):
        _stacked(left, np.ascontiguousarray(right[:, begin : begin + wide]), found[:, begin : begin + wide])
    return found


def inner(left: Floats, right: Floats) -> Floats:
    """`left.T @ right`, of shapes (n, k) and (n, c), summed over portions of rows in order."""
    found = np.zeros((left.shape[1], right.shape[1]))
    wide = max(1, _MOST // (_ROWS * max(1, right.shape[1])))
    for begin in range(0, left.shape[1], wide):
        part = np.ascontiguousarray(left[:, begin : begin + wide])
        found[begin : begin + wide] = _summed(part, right)
    return found


def _stacked(left: Floats, right: Floats, out: Floats) -> None:
    rows = max(1, _MOST // max(1, right.size))
    whole = len(left) // rows * rows
    np.matmul(left[:whole].reshape(-1, rows, left.shape[1]), right, out=out[:whole].reshape(-1, rows, right.shape[1]))
    np.matmul(left[whole:], right, out=out[whole:])


def _summed(left: Floats, right: Floats) -> Floats:
    """`left.T @ right` of matrices that are narrow enough for portions of `_ROWS` rows and more."""
    rows = max(1, _MOST // max(1, left.shape[1] * right.shape[1]))
    whole = len(left) // rows * rows
    stacked = left[:whole].reshape(-1, rows, left.shape[1]).transpose(0, 2, 1)
    found: Floats = np.matmul(stacked, right[:whole].reshape(-1, rows, right.shape[1])).sum(axis=0)
    return found + left[whole:].T @ right[whole:]
