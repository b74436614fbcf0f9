"""Products of tall matrices in portions that BLAS takes in one thread.

Many small products in several threads cost many times the CPU, because threads that have nothing to do wait busily
for more; and portions of a fixed size leave nothing that could depend on the number of threads.
"""

from __future__ import annotations

import numpy as np

from sensegraph.algorithms.graphs import Floats
from sensegraph.algorithms.ranking import count_rows, slice_rows

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
            count = len(deep) // rows
            whole = count * rows
            stacked = deep[:whole].reshape(count, rows, deep.shape[1])
            np.matmul(stacked, columns, out=out[:whole].reshape(count, rows, columns.shape[1]))
            np.matmul(deep[whole:], columns, out=out[whole:])
        found += part
    return found


def inner_product(left: Floats, right: Floats) -> Floats:
    """`left.T @ right`, of shapes (n, k) and (n, c), summed over portions of rows in order."""
    found = np.zeros((left.shape[1], right.shape[1]))
    for columns in slice_rows(left.shape[1], _ROWS * right.shape[1], _MOST):
        # Narrow enough for portions of `_ROWS` rows and more.
        part = np.ascontiguousarray(left[:, columns])
        rows = count_rows(part.shape[1] * right.shape[1], _MOST)
        count = len(part) // rows
        whole = count * rows
        stacked = part[:whole].reshape(count, rows, part.shape[1]).transpose(0, 2, 1)
        summed: Floats = np.matmul(stacked, right[:whole].reshape(count, rows, right.shape[1])).sum(axis=0)
        found[columns] = summed + part[whole:].T @ right[whole:]
    return found
