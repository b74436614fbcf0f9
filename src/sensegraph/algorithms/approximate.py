"""Approximate nearest neighbours: a navigable small-world graph over vectors that are too many to read them all.

The graph is an array of bytes, so that it is stored and memory-mapped like any other. It finds candidates; their scores
are exact. The library behind it, USearch, is the extra `ann`; without it every search is exact.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import Floats, Longs
from sensegraph.algorithms.ranking import nearest

Navigation = NDArray[np.uint8]
EXACT_BELOW = 200_000
_FACTOR = 4  # candidates for each neighbour that is wanted
_LINKS, _BUILD, _SEARCH = 16, 128, 128  # of a node; how many nodes are looked at


@dataclass(frozen=True, slots=True, eq=False)
class Neighbours:
    """Positions and scores, best first, of shape (at most top,); `note` says why a search was not the usual one."""

    positions: Longs
    scores: Floats
    note: str = ""


def installed() -> bool:
    """Whether the library of the extra `ann` is there."""
    return find_spec("usearch") is not None


def navigation(vectors: NDArray[Any]) -> Navigation:
    """The navigable small-world graph over `vectors`, shape (n, dim) float32, rows of length 1 or 0, as bytes.

    Hierarchical navigable small worlds (Malkov and Yashunin 2020) by inner product. Built in one thread, in the order
    of rows, so that equal vectors give equal bytes with one version of the library. Rows of zeros are left out.
    Raises ModuleNotFoundError without the extra `ann`, ValueError for vectors that are no matrix of finite numbers.
    """
    if vectors.ndim != 2 or not np.isfinite(vectors).all():
        raise ValueError(f"vectors of shape {vectors.shape} must be a matrix of finite numbers.")
    there = np.flatnonzero(np.asarray(vectors).any(axis=1))
    index = _empty(vectors.shape[1])
    if len(there):
        index.add(there.astype(np.uint64), np.asarray(vectors, np.float32)[there], threads=1)
    return np.frombuffer(bytes(index.save()), np.uint8)


@dataclass(frozen=True, eq=False)
class Navigator:
    """The rows of `vectors` nearest to a query, approximately: candidates from `graph`, scored exactly.

    To be kept and used again: opening a graph reads a little of every node. Safe to use from many threads, which wait
    for each other. Raises ValueError when `graph` is of other vectors.
    """

    vectors: NDArray[Any]
    graph: Navigation
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def nearest(self, query: NDArray[Any], top: int) -> Neighbours:
        """About the `top` nearest rows to `query`, of shape (dim,); the score of a row is the one of `nearest`."""
        asked = np.asarray(query, np.float32)
        wanted = min(_FACTOR * top, len(self._index))
        if asked.shape != (self.vectors.shape[1],):
            raise ValueError(f"a query of shape {asked.shape} fits no vectors of shape {self.vectors.shape}.")
        if wanted < 1 or not asked.any():
            return Neighbours(np.zeros(0, np.int64), np.zeros(0, np.float64))
        with self._lock:
            self._index.expansion_search = max(_SEARCH, wanted)
            found = self._index.search(asked, wanted, threads=1).keys
        candidates = np.sort(np.asarray(found).astype(np.int64))
        among, scores = nearest(np.asarray(self.vectors[candidates]), asked, top)
        return Neighbours(candidates[among], scores)

    @cached_property
    def _index(self) -> Any:
        """The graph over its bytes, not copied."""
        from usearch.index import Index

        index = Index.restore(self.graph.data, view=True)
        if index is None or index.ndim != self.vectors.shape[1] or len(index) > len(self.vectors):
            raise ValueError(f"this graph is not of vectors of shape {self.vectors.shape}; build it anew.")
        return index


def nearest_of(
    vectors: NDArray[Any],
    query: NDArray[Any],
    top: int,
    *,
    exact_below: int = EXACT_BELOW,
    navigator: Navigator | None = None,
) -> Neighbours:
    """The nearest rows: exact below `exact_below` rows; from there on by `navigator`, where there is one.

    Where it cannot be by the navigator, it is exact and the note says why.
    """
    if len(vectors) >= exact_below and navigator is not None and installed():
        return navigator.nearest(query, top)
    note = ""
    if len(vectors) >= exact_below:
        missing = "no graph of them was built" if installed() else "the extra `ann` is not installed"
        note = f"all {len(vectors):,} vectors were compared: {missing}"
    return Neighbours(*nearest(vectors, query, top), note)


def _empty(dim: int) -> Any:
    from usearch.index import Index

    return Index(
        ndim=dim, metric="ip", dtype="f32", connectivity=_LINKS, expansion_add=_BUILD, expansion_search=_SEARCH
    )
