"""Counts to their first binary digits, so that one thing more seldom changes what follows from them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def round_count(count: Any, digits: int = 4) -> Any:
    """A count, or an array of them, to its first binary digits: with four those up to 16 stay, others within 6 percent.

    What counts the whole corpus is rounded before it is used: else one document more would change what all are told.
    """
    shift = _count_further_digits(count, digits)
    return count + (1 << shift >> 1) >> shift << shift


def round_down(count: int, digits: int = 3) -> int:
    """A count to its first binary digits, of which a share is a bound: so the bound seldom moves."""
    shift = max(count.bit_length() - digits, 0)
    return count >> shift << shift


def round_each_down(counts: NDArray[np.int64], digits: int) -> NDArray[np.int64]:
    """`round_down` of each of these counts."""
    shift = _count_further_digits(counts, digits)
    return counts >> shift << shift


def _count_further_digits(counts: Any, digits: int) -> NDArray[np.int64]:
    """How many binary digits each count has after its first `digits`."""
    return np.maximum(np.frexp(np.asarray(counts, dtype=np.float64))[1].astype(np.int64) - digits, 0)
