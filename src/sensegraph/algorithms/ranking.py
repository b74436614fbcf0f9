"""Ranking: exact nearest neighbours, and the fusion of rankings (hybrid retrieval; N83–N85).

Everywhere higher scores are better, and equal scores are ordered by position (or by item, where there is no position),
so that equal input gives an equal order on every machine. A fusion is the same for any order of the rankings.
"""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import Floats, Longs, keep_distinct, order_numbers

Item = TypeVar("Item", int, str)
Ranked = tuple[Longs, Floats]
_BLOCK = 1 << 23  # numbers that are compared at once: 32 MB
_HOT = 1 << 19  # numbers that are turned to float32 at once: they stay in the processor's cache
_SPARSE = 16  # columns for each that a query is not 0 in, from which only those are read
_FEW = 8  # queries that are compared one by one
_SAMPLE = 20_000  # scores that are looked at first, to leave out most of very many
_TIMES = 30  # and as many more for each that is wanted


# ── rows of a matrix, some at a time ─────────────────────────────────────────────────────────────────────────────────


def slice_rows(count: int, width: int, most: int) -> Iterator[slice]:
    """Slices of `count` rows of `width` numbers that have no more than `most` numbers each, of one row at least."""
    rows = count_rows(width, most)
    return (slice(begin, min(begin + rows, count)) for begin in range(0, count, rows))


def count_rows(width: int, most: int) -> int:
    """How many rows of `width` numbers have no more than `most` numbers: one at least."""
    return max(1, most // max(1, width))


# ── nearest neighbours ───────────────────────────────────────────────────────────────────────────────────────────────


class PackedRows(ABC):
    """A segment of a `Stack` that holds its records in another form, and is indexed as they would be."""

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]:
        """The type of the records."""

    @abstractmethod
    def __len__(self) -> int:
        """The number of records."""

    @abstractmethod
    def __getitem__(self, where: Any) -> Any:
        """Some of them: packed where `where` is a slice."""

    @abstractmethod
    def records(self) -> NDArray[Any]:
        """All of them."""

    @abstractmethod
    def multiply(self, queries: NDArray[np.float32]) -> NDArray[np.float32]:
        """The inner products of `queries`, shape (q, dim), with all rows, shape (q, rows), up to rounding."""


@dataclass(frozen=True, eq=False)
class Stack:
    """A matrix in segments, shape (n, dim), whose numbers take one or two bytes; what is read of it is float32.

    A segment is a float32 matrix, or an array of records, whose whole numbers `values`, shape (dim,), times their
    `scale` are a row, or `PackedRows`; all have the same `dim`. Indexed by a position, a slice or
    an array of positions, it gives rows.
    """

    segments: Sequence[NDArray[Any] | PackedRows] = ()
    ndim = 2

    @cached_property
    def starts(self) -> Longs:
        """The position of the first row of each segment, and the number of rows, shape (segments + 1,)."""
        return np.cumsum([0, *map(len, self.segments)], dtype=np.int64)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of columns."""
        return len(self), unpack_rows(self.segments[0][:0]).shape[1] if self.segments else 0

    def __len__(self) -> int:
        return int(self.starts[-1])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self[:], dtype or np.float32)

    def __getitem__(self, where: Any) -> NDArray[np.float32]:
        if isinstance(where, slice) and where.step is None and self.segments:
            begin, end, _ = where.indices(len(self))
            return np.concatenate([unpack_rows(part) for part in self.head(end, begin).segments])
        places = np.arange(len(self))[where]
        found = unpack_rows(self.take(np.atleast_1d(places)).segments[0])
        return found if np.ndim(places) else found[0]

    def head(self, end: int, begin: int = 0) -> Stack:
        """The rows before `end`, from `begin` on; nothing is copied."""
        cuts = [(max(begin - s, 0), max(end - s, 0)) for s in self.starts.tolist()]
        kept = [part[b:e] for part, (b, e) in zip(self.segments, cuts, strict=False) if b < min(e, len(part))]
        return Stack(kept or [part[:0] for part in self.segments[:1]])

    def take(self, places: Sequence[int] | Longs) -> Stack:
        """The rows at these positions, in the order asked for, as records or a matrix."""
        wanted = np.asarray(places, np.int64)
        kind = _read_records(self.segments[0][:0]) if self.segments else np.zeros((0, 0), np.float32)
        found = np.zeros((len(wanted), *kind.shape[1:]), kind.dtype)
        owners = np.searchsorted(self.starts, wanted, "right") - 1
        for owner in keep_distinct(owners).tolist():
            mine = owners == owner
            found[mine] = self.segments[owner][wanted[mine] - self.starts[owner]]
        return Stack([found])

    @cached_property
    def _texts(self) -> tuple[NDArray[np.uint64], Longs]:
        """What stands for the texts, ascending, and the position of each."""
        names = np.concatenate([part["text"] for part in self.segments])
        order = order_numbers(names[:, 0])
        return names[order], order

    def find_texts(self, names: NDArray[np.uint64]) -> tuple[Longs, NDArray[Any]]:
        """Which of the texts for which these stand, shape (n, 2), have a row, as positions, and their records."""
        if not len(self):
            return np.zeros(0, np.int64), np.zeros(0)
        known, order = self._texts
        at = np.searchsorted(known[:, 0], names[:, 0])
        at[at == len(known)] = 0
        places = np.flatnonzero((known[at] == names).all(axis=1))
        return places, _read_records(self.take(order[at[places]]).segments[0])

    def multiply(self, queries: NDArray[np.float32], begin: int, end: int) -> NDArray[np.float32]:
        """The inner products of `queries`, shape (q, dim), with rows `begin` to `end`, shape (q, end - begin).

        Of queries that are nearly all zeros, as those of words are, only the other columns are read.
        """
        used = np.flatnonzero(queries.any(axis=0))
        columns = used if _SPARSE * len(used) <= queries.shape[1] else slice(None)
        asked, found = np.ascontiguousarray(queries[:, columns]), list[NDArray[Any]]()
        for part in self.head(end, begin).segments:
            if isinstance(part, PackedRows):
                found.append(part.multiply(queries))
                continue
            values = np.asarray(_values_of(part))
            for rows in slice_rows(len(part), asked.shape[1], _HOT):
                scores = _multiply(asked, values[rows, columns].astype(np.float32))
                found.append(scores * part["scale"][rows] if part.dtype.names else scores)
        return np.concatenate(found, axis=1) if found else np.zeros((len(queries), 0), np.float32)


def unpack_rows(packed: NDArray[Any] | PackedRows) -> NDArray[np.float32]:
    """The rows of records, or of a float32 matrix, shape (n, dim)."""
    records = _read_records(packed)
    rows = _values_of(records).astype(np.float32)
    return rows * records["scale"][:, None] if records.dtype.names else rows


def _read_records(segment: NDArray[Any] | PackedRows) -> NDArray[Any]:
    return segment.records() if isinstance(segment, PackedRows) else segment


def _values_of(segment: NDArray[Any]) -> NDArray[Any]:
    return segment["values"] if segment.dtype.names else segment


def _multiply(queries: NDArray[np.float32], rows: NDArray[Any]) -> NDArray[Any]:
    """Inner products, shape (q, n). A few queries one by one, in one thread: by memory bound, more would only wait."""
    if 0 < len(queries) <= _FEW:
        return np.stack([np.einsum("ij,j->i", rows, one) for one in queries])
    products: NDArray[Any] = queries @ rows.T
    return products


def find_nearest_rows(vectors: NDArray[Any] | Stack, query: NDArray[Any], top: int) -> Ranked:
    """Positions and scores of the `top` rows of `vectors` with the largest inner product with `query`, best first.

    `vectors` has shape (n, dim) and rows of length 1 (or 0), float32, and may be memory-mapped: it is read once, in
    blocks of 32 MB. Rows of zeros are never returned, and a query of zeros finds nothing. Scores are computed in
    float64 row by row, so neither the block nor the number of threads changes them. Raises ValueError for shapes that
    do not fit and for values that are not finite.
    """
    return nearest_each(vectors, np.asarray(query)[None, :], top)[0]


def nearest_each(vectors: NDArray[Any] | Stack, queries: NDArray[Any], top: int) -> list[Ranked]:
    """`nearest` for every row of `queries`, shape (q, dim), reading `vectors` only once."""
    if vectors.ndim != 2 or queries.ndim != 2 or vectors.shape[1] != queries.shape[1]:
        raise ValueError(f"vectors of shape {vectors.shape} cannot be compared with queries of {queries.shape}.")
    best = [_Best(query, top) for query in queries.astype(np.float64)]
    asked = np.ascontiguousarray(queries, np.float32)
    for rows in slice_rows(len(vectors) if top > 0 else 0, max(queries.shape), _BLOCK):
        if isinstance(vectors, Stack):
            scores = vectors.multiply(asked, rows.start, rows.stop)
        else:
            scores = _multiply(asked, np.asarray(vectors[rows]))
        if not np.isfinite(scores).all():
            raise ValueError(f"a query, or a vector of rows {rows.start} to {rows.stop - 1}, is not finite.")
        for found, rough in zip(best, scores, strict=True):
            found.add(vectors, rough, rows.start)
    return [(found.positions, found.scores) for found in best]


class _Best:
    """The best rows that one query has found so far."""

    def __init__(self, query: Floats, top: int) -> None:
        self.query, self.top = query, top
        self.slack = 2 * len(query) * float(np.finfo(np.float32).eps) * float(np.linalg.norm(query))
        self.positions, self.scores = np.zeros(0, np.int64), np.zeros(0, np.float64)

    def add(self, vectors: NDArray[Any] | Stack, rough: NDArray[Any], begin: int) -> None:
        """Take in the rows from `begin` on, of which `rough` are the scores up to rounding."""
        if not self.query.any():
            return
        near = np.flatnonzero(rough >= self._least(rough) - self.slack) + begin
        rows = np.asarray(vectors[near])
        there = rows.any(axis=1)
        exact = (rows[there].astype(np.float64) * self.query).sum(axis=1)  # one row's sum knows of no other row
        positions = np.concatenate((self.positions, near[there]))
        scores = np.concatenate((self.scores, exact))
        order = np.lexsort((positions, -scores))[: self.top]
        self.positions, self.scores = positions[order], scores[order]

    def _least(self, rough: NDArray[Any]) -> float:
        """What a row of this block must reach to be among the best, up to rounding."""
        least = float(self.scores[-1]) if len(self.scores) == self.top else -math.inf
        # A row of zeros scores 0 and is dropped later, so that 0 may not displace a lower score here.
        scores = rough[rough != 0]
        if len(scores) >= self.top:
            least = max(least, float(np.partition(scores, -self.top)[-self.top]))
        return least


# ── the best of many scores ──────────────────────────────────────────────────────────────────────────────────────────


def hash_words(words: Iterable[str]) -> NDArray[np.uint64]:
    """A 64-bit BLAKE2b hash of every word; a million words collide with a chance of 3 in 10⁸."""
    begin, digests = hashlib.blake2b(digest_size=8).copy, list[bytes]()
    for word in words:
        begun = begin()
        begun.update(word.encode() if word.isascii() else word.encode("utf-8", "surrogatepass"))
        digests.append(begun.digest())
    return np.frombuffer(b"".join(digests), np.dtype("<u8")).astype(np.uint64)


def select_best(scores: Floats, top: int) -> Ranked:
    """Positions and scores of the `top` largest scores above 0, best first, of equal ones the earlier."""
    # Of very many scores first those not below the `top`-th of a few of them.
    few = scores[:: max(1, len(scores) // (_SAMPLE + _TIMES * max(top, 0)))]
    bound = float(np.partition(few, -top)[-top]) if 0 < top < len(few) < len(scores) else 0.0
    positions = np.flatnonzero(scores >= bound if bound > 0 else scores > 0)
    if 0 < top < len(positions):
        least = np.partition(scores[positions], -top)[-top]
        positions = positions[scores[positions] >= least]
    order = np.lexsort((positions, -scores[positions]))[: max(top, 0)]
    return positions[order].astype(np.int64), scores[positions[order]]


# ── fusion ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def fuse_by_reciprocal_rank(
    rankings: Sequence[Sequence[Item]], c: float = 60, weights: Sequence[float] | None = None
) -> list[tuple[Item, float]]:
    """Reciprocal rank fusion: score(x) = Σ_i w_i / (c + rank_i(x)), ranks from 1, best first (Cormack et al. 2009).

    A ranking that lacks an item adds nothing to it; equal scores are ordered by item; the order of the rankings does
    not matter. Raises ValueError for an item that a ranking holds twice, and for weights that do not fit.
    """
    share = [1.0] * len(rankings) if weights is None else list(weights)
    if len(share) != len(rankings) or c < 0 or not all(w >= 0 and math.isfinite(w) for w in share):
        raise ValueError(f"{len(rankings)} rankings need as many weights, none negative, and c ≥ 0: {share}, c = {c}.")
    terms: dict[Item, list[float]] = {}
    for i, (ranking, weight) in enumerate(zip(rankings, share, strict=True)):
        if len(set(ranking)) < len(ranking):
            twice = next(item for item, count in Counter(ranking).items() if count > 1)
            raise ValueError(f"ranking {i} holds {twice!r} more than once; rank and de-duplicate it first.")
        for rank, item in enumerate(ranking, 1):
            terms.setdefault(item, []).append(weight / (c + rank))
    fused = [(item, math.fsum(found)) for item, found in terms.items()]
    return sorted(fused, key=lambda pair: (-pair[1], pair[0]))


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Positions, best first, each once, with their scores, both of shape (n,); `name` says whose ranking it is.

    Raises ValueError for lengths that differ and for a position that stands twice.
    """

    name: str
    positions: Longs
    scores: Floats

    def __post_init__(self) -> None:
        if len(self.positions) != len(self.scores) or len(np.unique(self.positions)) != len(self.positions):
            raise ValueError(f"the ranking {self.name!r} needs a score for each position, and each position once.")

    def __len__(self) -> int:
        return len(self.positions)


def by_ranks(rankings: Sequence[Ranking], weights: Sequence[float], c: float = 60) -> Ranking:
    """Reciprocal rank fusion: Σ_i w_i / (c + rank_i), ranks from 1 (Cormack et al. 2009; N83, N84)."""
    found = fuse_by_reciprocal_rank([r.positions.tolist() for r in rankings], c, weights)
    return Ranking("rrf", np.asarray([p for p, _ in found], np.int64), np.asarray([s for _, s in found], np.float64))


def by_scores(rankings: Sequence[Ranking], weights: Sequence[float]) -> Ranking:
    """The weighted sum of scores, those of each ranking from 0 for its last to 1 for its best."""
    parts = []
    for ranking, weight in zip(rankings, weights, strict=True):
        scores = ranking.scores
        if len(scores):
            low, high = float(scores.min()), float(scores.max())
            scores = (scores - low) / (high - low) if high > low else np.ones(len(scores))
        parts.append((ranking.positions, weight * scores))
    return _add_scores("minmax", parts)


def by_shares(rankings: Sequence[Ranking], weights: Sequence[float], c: float = 60) -> Ranking:
    """Places shared out: of any first places each ranking has filled its share, w_i of all, with its own best.

    The score of a position is 1 / (the smallest rank ÷ share that it has); equal ones are ordered by their ranks in
    all rankings.
    """
    kept = [(r, w) for r, w in zip(rankings, weights, strict=True) if w > 0]
    whole = sum(w for _, w in kept)
    first: dict[int, float] = {}
    for ranking, weight in kept:
        for rank, position in enumerate(ranking.positions.tolist(), 1):
            first[position] = min(first.get(position, np.inf), rank * whole / weight)
    order = sorted(by_ranks(rankings, weights, c).positions[: len(first)].tolist(), key=lambda p: first[p])
    return Ranking("quota", np.asarray(order, np.int64), np.asarray([1 / first[p] for p in order], np.float64))


def near_best(rankings: Sequence[Ranking], weights: Sequence[float], power: float = 3) -> Ranking:
    """The weighted sum of scores, each as a share of its ranking's best, to the `power`: what is near the best counts.

    Scores must not be negative. The weak prior of a walk.
    """
    parts = [(r.positions, w * r.scores / r.scores.max()) for r, w in zip(rankings, weights, strict=True) if len(r)]
    added = _add_scores("text", parts)
    return Ranking(added.name, added.positions, np.asarray(added.scores**power, np.float64))


def _add_scores(name: str, parts: Sequence[tuple[Longs, NDArray[Any]]]) -> Ranking:
    """The sum of the scores of every position that has one, best first; exact for any order of the parts."""
    places = np.concatenate([np.zeros(0, np.int64), *(p for p, _ in parts)])
    scores = np.concatenate([np.zeros(0), *(s for _, s in parts)])
    order = np.lexsort((scores, places))
    positions, inverse = np.unique(places[order], return_inverse=True)
    total = np.asarray(np.bincount(inverse, weights=scores[order], minlength=len(positions)), np.float64)
    best = np.lexsort((positions, -total))
    return Ranking(name, positions[best], total[best])
