"""What a question says to the index of names: the names and words in it, and what a passage leaves open of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sensegraph.algorithms.graphs import Floats, Longs
from sensegraph.algorithms.ranking import Ranked
from sensegraph.index.index import Index
from sensegraph.index.restricted.scope import ScopedIndex
from sensegraph.language.text import list_stems
from sensegraph.methods.walk.name_words import fold_words, write_letters
from sensegraph.methods.walk.names_part import NAMES
from sensegraph.methods.walk.naming import Hashes, Names, hash_words

_MOST = 12  # words of a name that is looked for


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A question over chunks (n): `names` are those of the index that it has, in its order.

    For each of its distinct stems (t), in the order of `keys`, their hashes: `hits`, which chunks, ascending, score
    what by BM25, and `idf`. `words` (n) is the BM25 score of every chunk, `plain` the hashes of the folded words.
    """

    names: tuple[int, ...]
    keys: Hashes
    hits: tuple[Ranked, ...]
    idf: Floats
    words: Floats
    plain: Hashes

    def aside(self, chunk: int, names: Names) -> float:
        """How many words of the parenthesis in a chunk's title the question has, less 0.01 for each that it has not."""
        mine = names.asides[int(names.aside[chunk]) : int(names.aside[chunk + 1])]
        there = int(np.isin(mine, self.plain).sum())
        return there - 0.01 * (len(mine) - there)

    def uncovered(self, chunk: int, names: Names, inside: float) -> Floats:
        """The weight of every stem, shape (t,), once this chunk is known: 0 in its title, `inside` its text, else 1."""
        titled = np.isin(self.keys, names.stems[int(names.title[chunk]) : int(names.title[chunk + 1])])
        places = [(who, int(np.searchsorted(who, chunk))) for who, _ in self.hits]
        there = np.array([at < len(who) and int(who[at]) == chunk for who, at in places], bool)
        return np.where(titled, 0.0, np.where(there, inside, 1.0))

    def scores(self, pool: Longs) -> Floats:
        """The BM25 score of each stem in each chunk of `pool`, ascending, shape (t, len(pool))."""
        found = np.zeros((len(self.hits), len(pool)))
        for row, (who, score) in zip(found, self.hits, strict=True):
            if len(pool) == len(self.words):
                row[who] = score
            elif len(who):
                at = np.minimum(np.searchsorted(who, pool), len(who) - 1)
                row[:] = np.where(who[at] == pool, score[at], 0.0)
        return found


def ask_names(text: str, index: Index, k1: float, b: float) -> Asked:
    """What `text` says to the names and words of an index; BM25 with `k1` and `b`."""
    names, words = index.part(NAMES), replace(index.words, k1=k1, b=b)
    found = list_stems(text)
    distinct = sorted(set(found))
    counted = [(times, _cut_hit(hit, index)) for times, hit in words.hits(found)]
    total = np.zeros(names.chunks)
    for times, (who, score) in counted:
        total[who] += score if times == 1 else times * score
    idf = np.array([words.idf(word) for word in distinct])
    hits = tuple(hit for _, hit in counted)
    return Asked(
        tuple(names_in_question(text, names)), hash_words(distinct), hits, idf, total, hash_words(fold_words(text))
    )


def names_in_question(text: str, names: Names) -> list[int]:
    """The names of the index in a text, each once, in its order: the longest at each word, from left to right.

    A single word counts where it has a capital, or is a name in the corpus wherever it has one.
    """
    words, letters = write_letters(text)
    most = min(names.longest, _MOST)
    spans = [(i, j) for i in range(len(words)) for j in range(i + 1, min(i + most, len(words)) + 1)]
    places = names.find([" ".join(words[i:j]) for i, j in spans])
    known = {span: place for span, place in zip(spans, places.tolist(), strict=True) if place >= 0}
    found: list[int] = []
    reached = 0
    for begin, end in sorted(known, key=lambda span: (span[0], -span[1])):
        place = known[begin, end]
        if begin >= reached and (end - begin > 1 or letters[2 * begin] in "CAZ" or names.proper[place]):
            found.append(place)
            reached = end
    return list(dict.fromkeys(found))


def _cut_hit(hit: Ranked, index: Index) -> Ranked:
    """The part of a hit that a filter leaves, on its own numbers."""
    if not isinstance(index, ScopedIndex):
        return hit
    who, score = hit
    places = np.asarray(index.places, np.int64)
    at = np.minimum(np.searchsorted(places, who), len(places) - 1)
    there = places[at] == who
    return at[there], score[there]
