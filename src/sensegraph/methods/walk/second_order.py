"""The second ordering: the first chunks of a first one, by what they say word by word and by what the best of them say.

Four signs tell how well a chunk fits, each at most 1 for the best chunk: its `words` (BM25, with names written together
as their words, dates, and what is told of its document), the two `sentences` side by side that have most of the
question, the words of its `neighbours` in a series of documents, and the words that the best chunks add to the question
(`feedback`: relevance feedback, Rocchio 1971). Their weights are data that `bench/second_order.py` trains.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise

import msgspec
import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import Floats, Longs
from sensegraph.algorithms.ranking import Ranked, select_best
from sensegraph.algorithms.walks import gather_entries
from sensegraph.methods.walk.wording import Wording, ask_words

SIGNS = ("words", "sentences", "neighbours", "feedback")
_K1, _B = 1.5, 0.75
_NEAR = (0.6, 0.36, 0.2)  # what the words of the next chunk but so many count
_SOURCES = 5  # chunks whose words are added
_ADDED = 20  # words that they add
_LEAST = 1e-9
_LONG, _ALIKE = 20, 0.8  # stems of a chunk that may be a copy, and the share of them that another says


class Weights(msgspec.Struct, frozen=True):
    """How much each of the four signs counts where there is no walk, and feedback beside a walk's score, at most 1."""

    plain: tuple[float, ...]
    linked: float


@cache
def read_weights() -> Weights:
    """The weights that come with the package."""
    return msgspec.json.decode(files(__package__).joinpath("second_order.json").read_bytes(), type=Weights)


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """Chunks (c), ascending, with their words: `terms` (w), numbers of stems, and `rows` (w), which chunks say them."""

    chunks: Longs
    terms: NDArray[np.int32]
    rows: Longs
    wording: Wording

    def counts(self, numbers: Longs) -> NDArray[np.int64]:
        """How often each chunk says each of these stems, shape (c, stems)."""
        rows, which = self.where(numbers)
        size = len(numbers)
        return np.bincount(self.rows[rows] * size + which, minlength=len(self.chunks) * size).reshape(
            len(self.chunks), size
        )

    def where(self, numbers: Longs) -> tuple[Longs, Longs]:
        """Where the words are that are among these stems, ascending, and which of them each is."""
        slot = np.full(len(self.wording.keys) + 1, -1, np.int16)  # the last for the ends of sentences
        slot[numbers] = np.arange(len(numbers))
        which = slot[self.terms]
        there = np.flatnonzero(which >= 0)
        return there, which[there].astype(np.int64)

    def scores(self, numbers: Longs, weights: Floats) -> Floats:
        """Σ weight · tf / (tf + k1 (1 − b + b l / l̄)) of these stems, for each chunk."""
        counts = self.counts(numbers)
        long = self.wording.lengths[self.chunks] / self.wording.facts[1]
        found: Floats = (counts / (counts + (_K1 * (1 - _B + _B * long))[:, None])) @ weights
        return found


def take_pool(chunks: Longs, wording: Wording) -> Pool:
    """These chunks, ascending, with their words."""
    places, sizes = gather_entries(wording.at, chunks)
    return Pool(chunks, wording.said[places], np.repeat(np.arange(len(chunks)), sizes), wording)


def with_neighbours(chunks: Longs, wording: Wording) -> Longs:
    """Chunks and those that are near them in a series of documents, ascending."""
    found, before, after = [chunks], chunks, chunks
    for _ in _NEAR:
        before = before[wording.follows[before] == 2] - 1
        after = after[after + 1 < len(wording.follows)] + 1
        after = after[wording.follows[after] == 2]
        found += [before, after]
    return np.unique(np.concatenate(found))


def measure_signs(text: str, chunks: Longs, wording: Wording, documents: NDArray[np.int32]) -> Floats:
    """The signs of `chunks`, ascending, for the question `text`, shape (chunks, 4), in the order of `SIGNS`.

    Those with the best words, of different `documents`, are the chunks whose words are added to the question.
    """
    stems, dates = ask_words(text)
    asked = Counter([*stems, *dates])
    numbers, idf = wording.find(list(asked))
    whole, known = float(idf[: len(set(stems))].sum()), numbers >= 0
    pool, times = take_pool(chunks, wording), np.array(list(asked.values()), np.float64)
    numbers, idf, times = numbers[known], idf[known], times[known]
    words = pool.scores(numbers, times * idf)
    sentences = match_sentences(pool, numbers, idf) / max(whole, _LEAST)
    order = np.lexsort((chunks, -words))
    _, one = np.unique(documents[chunks[order]], return_index=True)
    first = order[np.sort(one)[:_SOURCES]]
    feedback = _add_words((chunks[first], words[first]), pool, numbers)
    top = max(float(words.max(initial=0)), _LEAST)
    return np.stack([words / top, sentences, spread_scores(words, chunks, wording) / top, feedback], axis=1)


def feed_back(text: str, first: Ranked, chunks: Longs, wording: Wording) -> Floats:
    """What the best of `first`, as they say it, adds to each of `chunks`, ascending, for the question `text`; ≤ 1."""
    numbers, _ = wording.find(list(dict.fromkeys(ask_words(text)[0])))
    return _add_words((first[0][:_SOURCES], first[1][:_SOURCES]), take_pool(chunks, wording), numbers)


def match_sentences(pool: Pool, numbers: Longs, idf: Floats) -> Floats:
    """For each chunk the idf of the question's stems in the two neighbouring sentences that have most of it."""
    ended = pool.terms < 0
    number: Longs = np.cumsum(ended) - ended  # of the sentence that a word is in
    rows = pool.rows[ended]  # the chunk of each sentence
    head = np.diff(rows, prepend=-1) > 0
    where, which = pool.where(numbers)
    has = np.zeros((len(rows), len(numbers)), bool)
    has[number[where], which] = True
    has[head] = False  # what heads a chunk is none of its sentences
    has[1:] |= has[:-1] & ~head[1:, None]
    best = np.zeros(len(pool.chunks))
    np.maximum.at(best, rows, has @ idf)
    return best


def spread_scores(words: Floats, chunks: Longs, wording: Wording) -> Floats:
    """The scores of the neighbours of each chunk, each the less the farther it is."""
    follows = np.append((np.diff(chunks) == 1) & (wording.follows[chunks[1:]] == 2), False)
    after, before, total = words, words, np.zeros(len(words))
    for share in _NEAR:
        after = np.where(follows, np.append(after[1:], 0.0), 0.0)
        before = np.where(np.roll(follows, 1), np.append(0.0, before[:-1]), 0.0)
        total += share * (after + before)
    return total


def _add_words(first: Ranked, pool: Pool, asked: Longs) -> Floats:
    """How well chunks fit the words that tell most of the first ones, and that the question has not; 1 for the best."""
    wording, terms, gains = pool.wording, list[NDArray[np.int32]](), list[Floats]()
    for chunk, score in zip(first[0].tolist(), first[1].tolist(), strict=True):
        said = wording.said[int(wording.at[chunk]) : int(wording.at[chunk + 1])]
        said = said[int(np.argmax(said < 0)) :]  # not what heads it: what is told of a document is said by others
        said = said[said >= 0]
        terms.append(said)
        gains.append(np.full(len(said), score / max(len(said), 1)))
    told, which = np.unique(np.concatenate([np.zeros(0, np.int32), *terms]), return_inverse=True)
    idf = wording.idf(wording.held[told])
    gain = idf * np.bincount(which, weights=np.concatenate([np.zeros(0), *gains]), minlength=len(told))
    gain[np.isin(told, asked)] = 0
    best, weight = select_best(gain, _ADDED)
    if not len(best):
        return np.zeros(len(pool.chunks))
    found = pool.scores(told[best].astype(np.int64), weight * idf[best])
    return found / max(float(found.max(initial=0)), _LEAST)


def find_copies(chunks: Longs, wording: Wording) -> list[bool]:
    """Whether each chunk says over again, sentence by sentence, what one before it says; short ones never do."""
    seen: dict[bytes, list[int]] = {}
    found = []
    for place, chunk in enumerate(chunks.tolist()):
        said = wording.said[int(wording.at[chunk]) : int(wording.at[chunk + 1])]
        ends = np.flatnonzero(said < 0).tolist()
        sentences = {said[a + 1 : b].tobytes(): b - a - 1 for a, b in pairwise(ends)}  # not what heads it
        long, shared = sum(sentences.values()), Counter[int]()
        for sentence, size in sentences.items():
            shared.update(dict.fromkeys(seen.get(sentence, ()), size))
        copied = long >= _LONG and max(shared.values(), default=0) >= _ALIKE * long
        found.append(copied)
        for sentence in () if copied else sentences:
            seen.setdefault(sentence, []).append(place)
    return found
