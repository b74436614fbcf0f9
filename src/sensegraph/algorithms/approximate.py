"""Approximate nearest neighbours: navigable small-world graphs over vectors that are too many to read them all.

A graph is an array of bytes, so that it is stored and memory-mapped like any other; a long matrix has one for each of
its segments. It finds candidates by vectors of one byte a dimension; their scores are exact. The library behind it,
USearch, is the extra `ann`; without it every search is exact.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import Longs
from sensegraph.algorithms.ranking import Ranked, Stack, find_nearest_rows

Navigation = NDArray[np.uint8]
FORMAT = "usearch 2, i8, 16 links, 128 looked at"  # what a stored graph is: other formats need other graphs
NO_EXTRA = "the extra `ann` is not installed"
_LINKS, _BUILD, _SEARCH = 16, 128, 128  # of a node; how many nodes are looked at
_MANY = 64  # candidates of a graph at least
_FACTOR = 2  # and as many for each neighbour that is wanted
_AT_ONCE = 1 << 12  # rows that are in memory at once as a graph is built
_DEAR = 32  # rows that are read in a row while one candidate is found: bench/neighbours.py


def is_installed() -> bool:
    """Whether the library of the extra `ann` is there."""
    return find_spec("usearch") is not None


def build_navigation(vectors: NDArray[Any] | Stack) -> Navigation:
    """The navigable small-world graph over `vectors`, shape (n, dim) float32, rows of length 1 or 0, as bytes.

    Hierarchical navigable small worlds (Malkov and Yashunin 2020) by cosine. Built in one thread, in the order of
    rows, so that equal vectors give equal bytes with one version of the library. Rows of zeros are left out. Raises
    ModuleNotFoundError without the extra `ann`, ValueError for vectors that are no matrix of finite numbers.
    """
    if vectors.ndim != 2:
        raise ValueError(f"vectors of shape {vectors.shape} must be a matrix.")
    from usearch.index import Index

    index: Any = Index(
        ndim=vectors.shape[1],
        metric="cos",
        dtype="i8",
        connectivity=_LINKS,
        expansion_add=_BUILD,
        expansion_search=_SEARCH,
    )
    for begin in range(0, len(vectors), _AT_ONCE):
        rows = np.asarray(vectors[begin : begin + _AT_ONCE], np.float32)
        if len(bad := np.flatnonzero(~np.isfinite(rows).all(axis=1))):
            raise ValueError(f"row {begin + bad[0]} of the vectors is not finite; embed it again.")
        if len(there := np.flatnonzero(rows.any(axis=1))):
            index.add((begin + there).astype(np.uint64), rows[there], threads=1)
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # saved into memory it would be there twice
        index.save(file := Path(folder) / "graph")
        found: Navigation = np.memmap(file, np.uint8, "r")
    return found


@dataclass(frozen=True, eq=False)
class Navigator:
    """The rows of `vectors` nearest to a query, approximately: candidates from `graphs`, scored exactly.

    `graphs` holds for each segment of rows the first of them, ascending, and its graph. To be kept and used again:
    opening a graph reads a little of every node. Safe to use from many threads, which wait for each other. Raises
    ValueError when a graph is of other vectors.
    """

    vectors: NDArray[Any] | Stack
    graphs: Sequence[tuple[int, Navigation]]
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def nearest(self, query: NDArray[Any], top: int) -> Ranked:
        """Positions and scores of about the `top` nearest rows to `query`, of shape (dim,), best first."""
        asked = np.asarray(query, np.float32)
        if asked.shape != (self.vectors.shape[1],):
            raise ValueError(f"a query of shape {asked.shape} fits no vectors of shape {self.vectors.shape}.")
        if top < 1 or not asked.any():
            return np.zeros(0, np.int64), np.zeros(0, np.float64)
        candidates = self._candidates(asked, max(_MANY, _FACTOR * top))
        among, scores = find_nearest_rows(np.asarray(self.vectors[candidates]), asked, top)
        return candidates[among], scores

    def helps(self, top: int) -> bool:
        """Whether finding `top` neighbours by the graphs takes less than reading all vectors."""
        return _DEAR * len(self.graphs) * max(_MANY, _FACTOR * top) < len(self.vectors)

    def _candidates(self, asked: NDArray[np.float32], wanted: int) -> Longs:
        """The positions of what the graphs hold nearest, ascending: of each graph at most so many."""
        found = [np.zeros(0, np.int64)]
        with self._lock:
            for begin, index in self._opened:
                if many := min(wanted, len(index)):
                    index.expansion_search = max(_SEARCH, many)
                    found.append(np.asarray(index.search(asked, many, threads=1).keys).astype(np.int64) + begin)
        return np.sort(np.concatenate(found))

    @cached_property
    def _opened(self) -> list[tuple[int, Any]]:
        """The graphs over their bytes, not copied."""
        begins = [begin for begin, _ in self.graphs]
        ends = [*begins[1:], len(self.vectors)]
        return [(b, self._open(g, e - b)) for (b, g), e in zip(self.graphs, ends, strict=True)]

    def _open(self, graph: Navigation, rows: int) -> Any:
        from usearch.index import Index

        index = Index.restore(graph.data, view=True)
        if index is None or index.ndim != self.vectors.shape[1] or len(index) > rows:
            raise ValueError(f"this graph is not of {rows} vectors of {self.vectors.shape[1]} numbers; build it anew.")
        return index
