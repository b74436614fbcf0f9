"""Which things are compared at all: those that share a rare word, a code, an acronym, their letters, or a direction.

The number of pairs grows with the number of things, not with its square: words that many names share bring none
together, and each name keeps only its best candidates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.minhash import hash_bands
from sensegraph.algorithms.similar import Candidates, Pairs, pair_by_shared_keys, similar_rows
from sensegraph.resolution.comparison.name_reading import Name
from sensegraph.resolution.comparison.scoring import Collection

_SAME, _CODE, _PAIR, _BAND, _ACRONYM = 50.0, 8.0, 3.0, 3.0, 20.0  # beside the idf of a word, 0.5 to about 14
_ENDING = re.compile(r"(.*\d)[^\W\d]*")


def block_pairs(found: Collection, vectors: NDArray[Any] | None = None) -> Candidates:
    """Pairs of positions to compare, each once, smaller first.

    Keys are the whole name, its words, neighbouring words, codes without their endings, first letters, and bands of
    trigrams; `vectors`, unit length, shape (n, dim), add the nearest of each. Of every thing the best
    `settings.near` are kept, and so many nearest.
    """
    settings = found.settings
    numbers: dict[str, int] = {}
    keys, rows, weight = [], [], []
    for row, names in enumerate(found.names):
        for name in names:
            for key, sure in _list_keys(name, found):
                keys.append(numbers.setdefault(key, len(numbers)))
                rows.append(row)
                weight.append(sure)
    # The bands of all names are keys too, numbered on from the others.
    made = hash_bands([name.joined for names in found.names for name in names])
    owner = np.array([row for row, names in enumerate(found.names) for _ in names], np.int64)
    tagged = made ^ (np.arange(made.shape[1], dtype=np.uint64) << np.uint64(58))
    _, number = np.unique(tagged.ravel(), return_inverse=True)
    lettered = number.reshape(-1).astype(np.int64) + len(numbers)
    count = len(found.items)
    paired = pair_by_shared_keys(
        np.concatenate((np.array(keys, np.int64), lettered)),
        np.concatenate((np.array(rows, np.int64), np.repeat(owner, made.shape[1]))),
        np.concatenate((np.array(weight, np.float64), np.full(len(lettered), _BAND))),
        count=count,
        most=settings.rare,
        near=settings.near,
    )
    if vectors is None:
        return paired
    near = similar_rows(vectors, settings.least, settings.near)
    one = np.concatenate((paired.pairs.one, near.one)).astype(np.int64)
    other = np.concatenate((paired.pairs.other, near.other)).astype(np.int64)
    code = np.unique(one * max(count, 1) + other)
    ones, others = np.divmod(code, max(count, 1))
    pairs = Pairs(ones.astype(np.int32), others.astype(np.int32), np.ones(len(code)))
    return Candidates(pairs, paired.passed_over, paired.crowded)


def _list_keys(name: Name, found: Collection) -> Iterator[tuple[str, float]]:
    yield f"={name.joined or name.key}", _SAME
    if name.letters:
        yield f"a{name.letters}", _ACRONYM
    else:
        for letters in sorted(name.acronyms):
            yield f"a{letters}", _ACRONYM
    for word in sorted(set(name.core)):
        yield f"w{word}", found.words.weight(word)
        if word in name.codes and (ending := _ENDING.fullmatch(word)) and len(ending[1]) >= 4:
            yield f"c{ending[1]}", _CODE
    plain = name.plain
    for x, y in pairwise(plain):
        yield f"p{min(x, y)} {max(x, y)}", _PAIR
