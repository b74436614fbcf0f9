"""Ranking: exact nearest neighbours, BM25, and the fusion of rankings (hybrid retrieval; N83–N86).

Everywhere higher scores are better, and equal scores are ordered by position (or by item, where there is no position),
so that equal input gives an equal order on every machine. A fusion is the same for any order of the rankings.
"""

from __future__ import annotations

import hashlib
import math
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import Floats, Ints, Longs

Item = TypeVar("Item", int, str)
Ranked = tuple[Longs, Floats]
_BLOCK_BYTES = 1 << 25
_FEW = 8  # queries that are compared one by one
_SAMPLE = 20_000  # scores that are looked at first, to leave out most of very many
_TIMES = 30  # and as many more for each that is wanted


# ── nearest neighbours ───────────────────────────────────────────────────────────────────────────────────────────────


def find_nearest_rows(vectors: NDArray[Any], query: NDArray[Any], top: int) -> Ranked:
    """Positions and scores of the `top` rows of `vectors` with the largest inner product with `query`, best first.

    `vectors` has shape (n, dim) and rows of length 1 (or 0), float32, and may be memory-mapped: it is read once, in
    blocks of 32 MB. Rows of zeros are never returned, and a query of zeros finds nothing. Scores are computed in
    float64 row by row, so neither the block nor the number of threads changes them. Raises ValueError for shapes that
    do not fit and for values that are not finite.
    """
    return nearest_each(vectors, np.asarray(query)[None, :], top)[0]


def nearest_each(vectors: NDArray[Any], queries: NDArray[Any], top: int) -> list[Ranked]:
    """`nearest` for every row of `queries`, shape (q, dim), reading `vectors` only once."""
    if vectors.ndim != 2 or queries.ndim != 2 or vectors.shape[1] != queries.shape[1]:
        raise ValueError(f"vectors of shape {vectors.shape} cannot be compared with queries of {queries.shape}.")
    best = [_Best(query, top) for query in queries.astype(np.float64)]
    asked = np.ascontiguousarray(queries, np.float32)
    rows = max(1, _BLOCK_BYTES // (4 * max(*queries.shape, 1)))
    for begin in range(0, len(vectors) if top > 0 else 0, rows):
        block = np.asarray(vectors[begin : begin + rows])
        # A few queries one by one, each in one thread: bound by memory, more threads would only wait.
        few = 0 < len(asked) <= _FEW
        scores = np.stack([np.einsum("ij,j->i", block, one) for one in asked]) if few else asked @ block.T
        if not np.isfinite(scores).all():
            raise ValueError(f"a query, or a vector of rows {begin} to {begin + len(block) - 1}, is not finite.")
        for found, rough in zip(best, scores, strict=True):
            found.add(block, rough, begin)
    return [(found.positions, found.scores) for found in best]


class _Best:
    """The best rows that one query has found so far."""

    def __init__(self, query: Floats, top: int) -> None:
        self.query, self.top = query, top
        self.slack = 2 * len(query) * float(np.finfo(np.float32).eps) * float(np.linalg.norm(query))
        self.positions, self.scores = np.zeros(0, np.int64), np.zeros(0, np.float64)

    def add(self, block: NDArray[Any], rough: NDArray[Any], begin: int) -> None:
        """Take in the rows of a block, of which `rough` are the scores up to rounding."""
        if not self.query.any():
            return
        near = np.flatnonzero(rough >= self._least(rough) - self.slack)
        rows = block[near]
        there = rows.any(axis=1)
        exact = (rows[there].astype(np.float64) * self.query).sum(axis=1)  # one row's sum knows of no other row
        positions = np.concatenate((self.positions, near[there] + begin))
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


# ── words ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, eq=False)
class Bm25:
    """An index of words for BM25: Σ_t ln(1 + (N − df + ½) / (df + ½)) · tf / (tf + k1 (1 − b + b l / l̄)).

    All arrays, so that it can be stored and mapped: `words` the ascending 64-bit hashes of the distinct words (v,),
    `start` (v + 1,) where the postings of each begin, `documents` and `counts` the postings (p,), by word and then
    document, `lengths` the number of words of every document (n,). (Robertson and Zaragoza 2009; Lucene's idf.)
    """

    words: NDArray[np.uint64]
    start: Longs
    documents: Ints
    counts: Ints
    lengths: Ints
    k1: float = 1.5
    b: float = 0.75

    @classmethod
    def build(cls, documents: Iterable[Iterable[str]], k1: float = 1.5, b: float = 0.75) -> Bm25:
        """The index of documents that are given as their words; positions are those of `documents`."""
        numbers: dict[str, int] = {}
        who, what, many, lengths = array("i"), array("i"), array("i"), array("i")
        for position, words in enumerate(documents):
            count = Counter(words)
            who.extend([position] * len(count))
            what.extend([numbers.setdefault(word, len(numbers)) for word in count])
            many.extend(count.values())
            lengths.append(count.total())
        hashes = hash_words(numbers)
        rank = np.empty(len(hashes), np.int64)
        rank[np.argsort(hashes)] = np.arange(len(hashes))
        word = rank[np.asarray(what)]
        order = np.argsort(word, kind="stable")  # documents ascend within a word
        start = np.concatenate(([0], np.cumsum(np.bincount(word, minlength=len(hashes))))).astype(np.int64)
        ids, counts = np.asarray(who, np.int32)[order], np.asarray(many, np.int32)[order]
        return cls(np.sort(hashes), start, ids, counts, np.asarray(lengths, np.int32), k1, b)

    def __len__(self) -> int:
        return len(self.lengths)

    def idf(self, word: str) -> float:
        """The weight of a word: ln(1 + (N − df + ½) / (df + ½)), largest for a word that no document has."""
        held = self.count(word)
        return math.log1p((len(self) - held + 0.5) / (held + 0.5))

    def count(self, word: str) -> int:
        """How many documents hold a word."""
        begin, end = self._postings(word)
        return end - begin

    def score(self, query: Iterable[str]) -> Floats:
        """The score of every document, shape (n,); a word counts as often as the query has it, in any order."""
        total = np.zeros(len(self), np.float64)
        for times, (who, score) in self.hits(query):
            total[who] += times * score
        return total

    def hits(self, query: Iterable[str]) -> list[tuple[int, Ranked]]:
        """For each distinct word, in order: how often the query has it, and which documents, ascending, score what."""
        mean = float(self.lengths.mean()) if self.lengths.any() else 1.0
        found = []
        for word, times in sorted(Counter(query).items()):
            begin, end = self._postings(word)
            who, count = np.asarray(self.documents[begin:end], np.int64), self.counts[begin:end]
            found.append((times, (who, self._weights(self.idf(word), self.lengths[who], count, mean))))
        return found

    def _weights(self, idf: float, lengths: Ints, counts: Ints, mean: float) -> Floats:
        """idf · tf / (tf + k1 (1 − b + b l / l̄)) for documents of these `lengths`, in one array from end to end."""
        weight: Floats = self.b * lengths.astype(np.float64)
        weight /= mean
        weight += 1 - self.b
        weight *= self.k1
        weight += counts
        np.divide(counts, weight, out=weight)
        weight *= idf
        return weight

    def top(self, query: Iterable[str], top: int) -> Ranked:
        """Positions and scores of the `top` best documents that share a word with the query, best first."""
        return select_best(self.score(query), top)

    def _postings(self, word: str) -> tuple[int, int]:
        """Where the postings of a word begin and end; an empty range if no document has it."""
        wanted = hash_words([word])
        i = int(np.searchsorted(self.words, wanted[0]))
        if i == len(self.words) or self.words[i] != wanted[0]:
            return 0, 0
        return int(self.start[i]), int(self.start[i + 1])


def hash_words(words: Iterable[str]) -> NDArray[np.uint64]:
    """A 64-bit BLAKE2b hash of every word; a million words collide with a chance of 3 in 10⁸."""
    digests = [hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest() for word in words]
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


@dataclass(frozen=True)
class WordRows:
    """Which of many texts hold a word that begins, ends or has within it some letters.

    `letters` are the distinct words in UTF-8, each behind a line end; the texts that hold the word at
    `letters[begin[i]:begin[i + 1]]` are `rows[start[i]:start[i + 1]]`, ascending.
    """

    letters: NDArray[np.uint8]
    begin: Longs
    start: Longs
    rows: Ints

    @classmethod
    def build(cls, texts: Iterable[Iterable[str]]) -> WordRows:
        """The index of texts that are given as their words."""
        held: dict[str, array[int]] = {}
        for row, words in enumerate(texts):
            for word in dict.fromkeys(words):
                held.setdefault(word, array("i")).append(row)
        known = sorted(held)
        encoded = [f"\n{word}".encode("utf-8", "replace") for word in known]
        begin = np.concatenate(([0], np.cumsum([len(e) for e in encoded], dtype=np.int64))).astype(np.int64)
        start = np.concatenate(([0], np.cumsum([len(held[w]) for w in known], dtype=np.int64))).astype(np.int64)
        rows = np.asarray([row for word in known for row in held[word]], np.int32)
        return cls(np.frombuffer(b"".join(encoded), np.uint8), begin, start, rows)

    @cached_property
    def _text(self) -> bytes:
        return self.letters.tobytes() + b"\n"

    def find(self, part: str) -> Ints:
        """The texts, ascending, with a word that has `part` in it; at its beginning, or end, where a line ends."""
        mark, at, words = part.encode("utf-8", "replace"), 0, list[int]()
        while mark and (at := self._text.find(mark, at)) >= 0:
            words.append(int(np.searchsorted(self.begin, at, side="right")) - 1)
            at = int(self.begin[words[-1] + 1])
        found = [self.rows[self.start[w] : self.start[w + 1]] for w in words]
        return np.unique(np.concatenate([np.zeros(0, np.int32), *found]))
