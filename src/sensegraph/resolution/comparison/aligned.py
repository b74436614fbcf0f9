"""Two names word by word: what they share, exactly or nearly, and what each has alone.

Words weigh by how few names of the collection have them (TF-IDF; soft matching as in Cohen, Ravikumar and Fienberg
2003, A Comparison of String Distance Metrics for Name-Matching Tasks, §2.3, but each word is matched once).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType

from sensegraph.language.text import ENGLISH, make_stemmer
from sensegraph.language.word_lists import STOP
from sensegraph.resolution.comparison.name_reading import Name

_FEW = 1000  # names: of a smaller collection, words weigh as in one of so many
_LIGHT = 0.5  # the weight of a function word
_CODE = 5  # letters and digits of a code that tell it, whatever its ending
_LONG, _LONGER = 7, 11  # letters of a word in which one slip, or two, may be a misspelling
_STEM = re.compile(r"(.*\d)[^\W\d]*")


@dataclass(frozen=True, slots=True)
class Lexis:
    """How many of `names` distinct names have each word, each pair of words joined, and each code without its end."""

    names: int
    frequency: Mapping[str, int]

    def weight(self, word: str) -> float:
        """How much a word tells: its idf."""
        if word in STOP[ENGLISH] or len(word) == 1:
            return _LIGHT
        return math.log1p(max(self.names, _FEW) / max(1, self.frequency.get(word, 1)))

    def known(self, word: str) -> bool:
        """Whether more than one name has the word: then it is hardly a misspelling."""
        return self.frequency.get(word, 0) > 1


def count_words(names: Iterable[Name]) -> Lexis:
    """The words of a collection, each counted once in a name."""
    distinct = {name.core for name in names}
    return Lexis(len(distinct), MappingProxyType(Counter(w for core in sorted(distinct) for w in set(core))))


@dataclass(frozen=True, slots=True)
class Aligned:
    """What two names share: the `weight` of it, of it all `nearly` (not letter by letter), and the words of each alone.

    `pairs` are the words that match but are not equal, with how well, 0 to 1.
    """

    weight: float
    near: tuple[tuple[str, str, float], ...]
    one: tuple[str, ...]
    other: tuple[str, ...]
    alone: tuple[float, float]

    @property
    def jaccard(self) -> float:
        """What is shared, of all."""
        return self.weight / max(self.weight + sum(self.alone), 1e-9)

    @property
    def contained(self) -> float:
        """What is shared, of the name with less alone."""
        return self.weight / max(self.weight + min(self.alone), 1e-9)


def align_names(a: Name, b: Name, words: Lexis) -> Aligned:
    """The words of two names, each matched with at most one of the other's."""
    left, right = list(a.core), list(b.core)
    shared = 0.0
    for word in a.core:
        if word in right:
            left.remove(word)
            right.remove(word)
            shared += words.weight(word)
    # Words (or two words that the other name writes as one) that may match, with how well.
    similar = [
        (quality, x, y)
        for x in left
        for y in right
        if x[0] == y[0] and (quality := compare_words(x, y, words.known(x) and words.known(y)))
    ]
    similar += [(0.98, f"{x} {y}", x + y) for x, y in pairwise(left) if x + y in right]
    similar += [(0.98, x + y, f"{x} {y}") for x, y in pairwise(right) if x + y in left]
    near = []
    for quality, x, y in sorted(similar, key=lambda found: (-found[0], found[1:])):
        xs, ys = x.split(), y.split()
        if all(left.count(w) >= xs.count(w) for w in xs) and all(right.count(w) >= ys.count(w) for w in ys):
            near.append((x, y, quality))
            shared += quality * min(sum(map(words.weight, xs)), sum(map(words.weight, ys)))
            for w in xs:
                left.remove(w)
            for w in ys:
                right.remove(w)
    alone = (sum(map(words.weight, left)), sum(map(words.weight, right)))
    return Aligned(shared, tuple(near), tuple(left), tuple(right), alone)


@lru_cache(maxsize=1 << 18)
def compare_words(x: str, y: str, known: bool = False) -> float:
    """How well one word stands for another, 0 to 1: another form, a code's ending, a slip. `known` are no slips."""
    if any(c.isdigit() for c in x + y):
        # Codes that differ in the letters at their end (a colour, a country), if enough is the same.
        one, other = _STEM.fullmatch(x), _STEM.fullmatch(y)
        if one is None or other is None or x.isdecimal() or y.isdecimal():
            return 0.0
        return 0.8 if one[1] == other[1] and len(one[1]) >= _CODE and not one[1].isdecimal() else 0.0
    if is_plural(x, y):
        return 0.95
    if stem_word(x) == stem_word(y):
        return 0.9
    short, long = sorted((x, y), key=len)
    if len(short) >= 3 and long.startswith(short) and len(long) >= len(short) + 2:
        return 0.5
    if known or min(len(x), len(y)) < _LONG:
        return 0.0
    from rapidfuzz.distance import OSA

    slips = OSA.distance(x, y)
    return 0.85 if slips <= 1 + (min(len(x), len(y)) >= _LONGER) else 0.0


def is_plural(x: str, y: str) -> bool:
    """Whether one is the other with an s, or with -ies for -y."""
    short, long = sorted((x, y), key=len)
    if len(short) < 3 or not long.endswith("s") or long.endswith("ss"):
        return False
    return long in (short + "s", short + "es") or (short.endswith("y") and long == short[:-1] + "ies")


@lru_cache(maxsize=1 << 18)
def stem_word(word: str) -> str:
    """The stem of a word of Latin letters."""
    return str(make_stemmer(ENGLISH).stemWord(word)) if word.isascii() and len(word) > 3 else word
