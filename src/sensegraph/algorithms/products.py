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


def matrix_product(left: Floats, right: Floats) -> Floats:
    """`left @ right`, of shapes (n, m) and (m, c), summed over portions of m in order."""
    found = np.zeros((len(left), right.shape[1]))
    for begin in range(0, len(right), _DEEP):
        deep, lower = left[:, begin : begin + _DEEP], right[begin : begin + _DEEP]
        part = np.empty((len(left), right.shape[1]))
        wide = _MOST // (_ROWS * len(lower))
        for first in range(0, right.shape[1], wide):
            columns, out = np.ascontiguousarray(lower[:, first : first + wide]), part[:, first : first + wide]
            rows = _MOST // columns.size
            whole = len(deep) // rows * rows
            stacked = deep[:whole].reshape(-1, rows, deep.shape[1])
            np.matmul(stacked, columns, out=out[:whole].reshape(-1, rows, columns.shape[1]))
            np.matmul(deep[whole:], columns, out=out[whole:])
        found += part
    return found


def inner_product(left: Floats, right: Floats) -> Floats:
    """`left.T @ right`, of shapes (n, k) and (n, c), summed over portions of rows in order."""
    found = np.zeros((left.shape[1], right.shape[1]))
    wide = max(1, _MOST // (_ROWS * max(1, right.shape[1])))
    for begin in range(0, left.shape[1], wide):
        # Narrow enough for portions of `_ROWS` rows and more.
        part = np.ascontiguousarray(left[:, begin : begin + wide])
        rows = max(1, _MOST // max(1, part.shape[1] * right.shape[1]))
        whole = len(part) // rows * rows
        stacked = part[:whole].reshape(-1, rows, part.shape[1]).transpose(0, 2, 1)
        summed: Floats = np.matmul(stacked, right[:whole].reshape(-1, rows, right.shape[1])).sum(axis=0)
        found[begin : begin + wide] = summed + part[whole:].T @ right[whole:]
    return found
