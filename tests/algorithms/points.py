"""Rows drawn around centres, and how two partitions agree: what the tests of mixtures and clusters share."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter

import numpy as np


def around(n: int, k: int, m: int = 8, *, spread: float = 0.05, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """`n` rows around `k` random centres in m columns, and the centre of each."""
    random = np.random.default_rng(seed)
    centres, which = random.standard_normal((k, m)), random.integers(0, k, n)
    return centres[which] + spread * random.standard_normal((n, m)), which


def agreement(one: np.ndarray, other: np.ndarray) -> float:
    """The adjusted Rand index (Hubert and Arabie 1985): 1 for equal partitions, about 0 for unrelated ones."""

    def pairs(labels: list[object]) -> float:
        return sum(c * (c - 1) / 2 for c in Counter(labels).values())

    both, a, b = (pairs(list(x)) for x in (zip(one.tolist(), other.tolist(), strict=True), one, other))
    expected = a * b / max(1, len(one) * (len(one) - 1) / 2)
    return (both - expected) / ((a + b) / 2 - expected)


def groups(labels: np.ndarray) -> set[frozenset[int]]:
    """A partition whatever its numbers."""
    return {frozenset(np.flatnonzero(labels == v).tolist()) for v in np.unique(labels)}


def digest_with(threads: int, code: str) -> str:
    """What a program prints when the numeric libraries are given so many threads."""
    names = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
    env = {**os.environ, **dict.fromkeys(names, str(threads)), "PYTHONHASHSEED": str(threads)}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env).stdout
