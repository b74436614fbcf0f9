"""TF-IDF cosines as arrays: which of many short texts share the words, and the pairs of words, that say most.

A text is a unit vector over its words and its pairs of neighbouring words, each weighing its count times
ln((1 + N) / (1 + df)) + 1 (Salton and Buckley 1988, Term-weighting approaches in automatic text retrieval).
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import Floats, Ints, Longs, order_pairs
from sensegraph.algorithms.ranking import hash_words


@dataclass(frozen=True, slots=True, eq=False)
class Tfidf:
    """An index of texts (n), mapped: `words` are the ascending 64-bit hashes of the distinct terms (v).

    Term i stands in the texts `rows[start[i]:start[i + 1]]`, in each with the component `share` of its unit vector;
    uint64 (v,), int64 (v + 1,), int32 and float32 (p,).
    """

    words: NDArray[np.uint64]
    start: Longs
    rows: Ints
    share: NDArray[np.float32]
    texts: int

    @classmethod
    def build(cls, texts: Iterable[Sequence[str]]) -> Tfidf:
        """The index of texts that are given as their words, in order."""
        numbers: dict[str, int] = {}
        who, what, many, count = array("i"), array("i"), array("i"), 0
        for position, words in enumerate(texts):
            terms = Counter(_list_terms(words))
            who.extend([position] * len(terms))
            what.extend([numbers.setdefault(t, len(numbers)) for t in terms])
            many.extend(terms.values())
            count = position + 1
        hashes = hash_words(numbers)
        rank = np.empty(len(hashes), np.int64)
        rank[np.argsort(hashes)] = np.arange(len(hashes))
        term, row = rank[np.asarray(what, np.int64)], np.asarray(who, np.int64)
        order = order_pairs(term, row)
        start = np.concatenate(([0], np.cumsum(np.bincount(term, minlength=len(hashes))))).astype(np.int64)
        weight = np.asarray(many, np.float64) * _weigh_frequency(np.diff(start), count)[term]
        length = np.sqrt(np.bincount(row, weights=weight**2, minlength=count))
        share = (weight / length[row]).astype(np.float32)
        return cls(np.sort(hashes), start, row[order].astype(np.int32), share[order], count)

    def score(self, query: Sequence[str]) -> Floats:
        """The cosine of every text to a query, given as its words in order, shape (n,); 0 where no word is known."""
        total, squares = np.zeros(self.texts), 0.0
        for term, times in sorted(Counter(_list_terms(query)).items()):
            begin, end = self._postings(term)
            weight = times * float(_weigh_frequency(np.asarray(end - begin), self.texts))
            squares += weight * weight
            total[self.rows[begin:end]] += weight * self.share[begin:end].astype(np.float64)
        return np.minimum(total / math.sqrt(squares), 1.0) if squares else total

    def _postings(self, term: str) -> tuple[int, int]:
        """Where the texts of a term begin and end; an empty range if none has it."""
        (wanted,) = hash_words([term])
        i = int(np.searchsorted(self.words, wanted))
        if i == len(self.words) or self.words[i] != wanted:
            return 0, 0
        return int(self.start[i]), int(self.start[i + 1])


def _list_terms(words: Sequence[str]) -> list[str]:
    """Words and pairs of neighbouring words."""
    return [*words, *(f"{a} {b}" for a, b in pairwise(words))]


def _weigh_frequency(frequency: NDArray[np.integer], texts: int) -> Floats:
    return np.asarray(np.log((1 + texts) / (1 + frequency)) + 1, np.float64)
