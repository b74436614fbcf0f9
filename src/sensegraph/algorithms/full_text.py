"""Full text: which documents hold which words, in segments, and BM25 over them (N86).

Scores are the same to the bit however documents are cut into segments, and in whatever order words are asked.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import accumulate, count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import Floats, Ints, Longs, count_distinct
from sensegraph.algorithms.ranking import Ranked, hash_words, select_best


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """Which of some documents hold which words, all in arrays, so that it can be stored and mapped.

    `words` are the ascending 64-bit hashes of the distinct words (v,), `start` (v + 1,) where the postings of each
    begin, `documents` and `counts` the postings (p,), by word and then document, `lengths` the number of words of
    every document (n,).
    """

    words: NDArray[np.uint64]
    start: NDArray[Any]
    documents: NDArray[Any]
    counts: NDArray[Any]
    lengths: NDArray[Any]

    @classmethod
    def build(cls, documents: Iterable[Iterable[str]]) -> Postings:
        """The postings of documents that are given as their words; positions are those of `documents`."""
        numbers = defaultdict[str, int](count().__next__)
        what, lengths = array("i"), array("i")
        for words in documents:
            before = len(what)
            what.extend(map(numbers.__getitem__, words))
            lengths.append(len(what) - before)
        hashes = hash_words(numbers)
        rank = np.empty(len(hashes), np.int64)
        rank[np.argsort(hashes)] = np.arange(len(hashes))
        every, many = rank[np.asarray(what)], max(len(lengths), 1)
        every *= many
        every += np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
        held, counts = count_distinct(every)
        word, ids = np.divmod(held, many)  # documents ascend within a word
        start = np.concatenate(([0], np.cumsum(np.bincount(word, minlength=len(hashes))))).astype(np.int64)
        shown = ids.astype(np.int32), counts.astype(np.int32), np.asarray(lengths, np.int32)
        return cls(np.sort(hashes), start, *shown)

    def find(self, word: np.uint64) -> tuple[int, int]:
        """Where the postings of a word, given as its hash, begin and end; an empty range if no document has it."""
        i = int(np.searchsorted(self.words, word))
        if i == len(self.words) or self.words[i] != word:
            return 0, 0
        return int(self.start[i]), int(self.start[i + 1])

    def pack(self) -> NDArray[np.uint64]:
        """All in one array; numbers take the fewest bytes that hold them."""
        parts = [np.asarray(getattr(self, f.name)) for f in fields(self)]
        small = [part.astype(np.min_scalar_type(int(part.max(initial=0)))) for part in parts]
        head = [number for part in small for number in (len(part), part.itemsize)]
        filled = [np.frombuffer(part.tobytes() + bytes(-part.nbytes % 8), np.uint64) for part in small]
        return np.concatenate([np.asarray(head, np.uint64), *filled])

    @classmethod
    def unpack(cls, packed: NDArray[np.uint64]) -> Postings:
        """What was packed, without a copy."""
        count, parts = len(fields(cls)), []
        begin = 2 * count
        for length, size in packed[:begin].reshape(count, 2).tolist():
            end = begin + -(-length * size // 8)
            parts.append(packed[begin:end].view(np.dtype(f"u{size}"))[:length])
            begin = end
        return cls(*parts)


@dataclass(frozen=True, eq=False)
class Bm25:
    """BM25 over words: Σ_t ln(1 + (N − df + ½) / (df + ½)) · tf / (tf + k1 (1 − b + b l / l̄)).

    (Robertson and Zaragoza 2009; Lucene's idf.) The documents lie in `segments`, one after another; how they are cut
    changes no bit of a score.
    """

    segments: tuple[Postings, ...]
    k1: float = 1.5
    b: float = 0.75

    @classmethod
    def build(cls, documents: Iterable[Iterable[str]], k1: float = 1.5, b: float = 0.75) -> Bm25:
        """The index of documents that are given as their words; positions are those of `documents`."""
        return cls((Postings.build(documents),), k1, b)

    def __len__(self) -> int:
        return self._offsets[-1]

    @cached_property
    def _offsets(self) -> list[int]:
        """Where each segment begins, and the last ends."""
        return [0, *accumulate(len(s.lengths) for s in self.segments)]

    @cached_property
    def _mean(self) -> float:
        """The mean number of words of a document."""
        return sum(int(s.lengths.sum(dtype=np.int64)) for s in self.segments) / max(len(self), 1)

    def idf(self, word: str) -> float:
        """The weight of a word: ln(1 + (N − df + ½) / (df + ½)), largest for a word that no document has."""
        return self._rarity(self.count(word))

    def _rarity(self, held: int) -> float:
        return math.log1p((len(self) - held + 0.5) / (held + 0.5))

    def count(self, word: str) -> int:
        """How many documents hold a word."""
        (wanted,) = hash_words([word])
        return sum(end - begin for begin, end in (s.find(wanted) for s in self.segments))

    def score(self, query: Iterable[str]) -> Floats:
        """The score of every document, shape (n,); a word counts as often as the query has it, in any order."""
        total = np.zeros(len(self), np.float64)
        for times, (who, score) in self.hits(query):
            total[who] += times * score
        return total

    def hits(self, query: Iterable[str]) -> list[tuple[int, Ranked]]:
        """For each distinct word, in order: how often the query has it, and which documents, ascending, score what."""
        asked = sorted(Counter(query).items())
        return [
            (times, self._hit(wanted))
            for (_, times), wanted in zip(asked, hash_words(w for w, _ in asked), strict=True)
        ]

    def _hit(self, wanted: np.uint64) -> Ranked:
        """The documents that hold a word, ascending, and what they score."""
        who, counts, lengths = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for segment, offset in zip(self.segments, self._offsets, strict=False):
            begin, end = segment.find(wanted)
            if begin < end:
                places = segment.documents[begin:end].astype(np.int64)
                counts.append(segment.counts[begin:end])
                lengths.append(segment.lengths[places])
                who.append(places + offset)
        found = np.concatenate(who)
        return found, self._weights(self._rarity(len(found)), np.concatenate(lengths), np.concatenate(counts))

    def _weights(self, idf: float, lengths: NDArray[Any], counts: NDArray[Any]) -> Floats:
        """idf · tf / (tf + k1 (1 − b + b l / l̄)) for documents of these `lengths`, in one array from end to end."""
        weight: Floats = self.b * lengths.astype(np.float64)
        weight /= self._mean
        weight += 1 - self.b
        weight *= self.k1
        weight += counts
        np.divide(counts, weight, out=weight)
        weight *= idf
        return weight

    def top(self, query: Iterable[str], top: int) -> Ranked:
        """Positions and scores of the `top` best documents that share a word with the query, best first."""
        return select_best(self.score(query), top)


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
