"""Names as columns: what brings things together and what is compared of them, as hashes in arrays.

What a name is as it is compared takes most of the time of looking for those that are one thing. Columns hold what of it
all things are gone through for, so that they are read again only where a name is new.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import (
    Floats,
    Ints,
    Longs,
    count_distinct,
    locate_numbers,
    number_distinct,
    order_numbers,
)
from sensegraph.algorithms.minhash import Hashes, hash_bands, mix_hashes
from sensegraph.algorithms.ranking import hash_words
from sensegraph.algorithms.rounding import round_down, round_each_down
from sensegraph.algorithms.similar import GRID
from sensegraph.algorithms.walks import gather_entries, run_offsets
from sensegraph.resolution.comparison.aligned import FEW_NAMES, LIGHT, Lexis, weighs_little
from sensegraph.resolution.comparison.likeness import Spoken, read_spoken
from sensegraph.resolution.comparison.name_reading import Name

_SAME, _CODE, _PAIR, _BAND, _ACRONYM = 50.0, 8.0, 3.0, 3.0, 20.0  # beside the idf of a word, 0.5 to about 14
_WORD = np.uint64(0x2545F4914F6CDD1D)  # tells a word from another key of the same letters
_KEY = np.uint64((1 << 40) - 1 << 24)  # the bits of a key that are kept, 40: fewer are stored
# binary digits to which names are counted, and those that have a word: a word of 571 names weighs as one of 560
_DIGITS, _DIGITS_OF_WORDS = 4, 6
_ENDING = re.compile(r"(.*\d)[^\W\d]*")


@dataclass(frozen=True, slots=True, eq=False)
class NameColumns:
    """Of n things, each with a name or several.

    `spoken` (n) stands for how a thing is spelt and whether it is a person, `whole` (n) for its first name without
    blanks, `says` (n) for how much that says. `keys` bring together those that share one, `keyed` (n) of each thing,
    and weigh `sure`. Words do too, but what they weigh follows from all names: `cores` stands for the words of a name,
    `named` (n) of each thing; `words` are those of each core, `worded` of them, `light` where they say little. `held`
    are all words that are weighed when a thing is compared, `holding` (n) of each.
    """

    spoken: Hashes
    whole: Hashes
    says: Longs
    keys: Hashes
    sure: Floats
    keyed: Longs
    cores: Hashes
    named: Longs
    words: Hashes
    light: NDArray[np.bool_]
    worded: Longs
    held: Hashes
    holding: Longs

    def __len__(self) -> int:
        return len(self.spoken)

    def count_words(self) -> CountedWords:
        """How many distinct names have each word: of many about as many, so that one name more seldom changes it."""
        _, first, _ = number_distinct(self.cores)
        places, _ = gather_entries(run_offsets(self.worded), first)
        words, counts = count_distinct(self.words[places])
        counts = round_each_down(counts, _DIGITS_OF_WORDS)
        return CountedWords(max(round_down(len(first), _DIGITS), FEW_NAMES), WordCounts(words, counts))

    def list_keys(self, words: CountedWords) -> tuple[Hashes, Ints, Ints]:
        """What brings things together: keys, whose they are, and their weights, below 2,048, in units of 1 / `GRID`."""
        rows = np.arange(len(self), dtype=np.int32)
        heavy = np.log1p(words.names / words.frequency.look_up(self.words))
        weights, size = np.where(self.light, LIGHT, heavy), len(self.sure)
        owner = np.repeat(np.repeat(rows, self.named), self.worded)
        keys, units = np.concatenate((self.keys, self.words ^ _WORD)), np.empty(size + len(weights), np.int32)
        for part, weighs in ((units[:size], self.sure), (units[size:], weights)):
            np.rint(weighs * GRID, out=part, casting="unsafe")
        return keys, np.concatenate((np.repeat(rows, self.keyed), owner)), units

    def without_keys(self) -> NameColumns:
        """These without keys, which are looked at once and take most of the room."""
        return replace(self, keys=self.keys[:0].copy(), sure=self.sure[:0].copy(), keyed=np.zeros_like(self.keyed))

    def sign(self, words: CountedWords) -> Hashes:
        """What stands for all of each thing that decides how alike its name is to others."""
        many = words.frequency.look_up(self.held).astype(np.uint64)
        mixed = mix_hashes(self.held ^ mix_hashes(many))
        sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(mixed, dtype=np.uint64)))
        ends = run_offsets(self.holding)
        found: Hashes = mix_hashes(self.spoken + (sums[ends[1:]] - sums[ends[:-1]]))
        return found


@dataclass(frozen=True, eq=False)
class WordCounts(Mapping[str, int]):
    """How many names have each word, by the ascending `hashes` of words."""

    hashes: Hashes
    counts: Longs
    known: dict[str, int] = field(default_factory=dict)

    def look_up(self, hashes: Hashes) -> Longs:
        """The counts of words by their hashes, 0 of those that no name has."""
        if not len(self.hashes):
            return np.zeros(len(hashes), np.int64)
        at = np.minimum(locate_numbers(hashes, self.hashes), len(self.hashes) - 1)
        return np.where(self.hashes[at] == hashes, self.counts[at], 0)

    def get(self, word: str, default: Any = None) -> Any:
        """The count of a word."""
        if (found := self.known.get(word)) is None:
            found = self.known[word] = int(self.look_up(hash_words([word]))[0])
        return found or default

    def __getitem__(self, word: str) -> int:
        if not (found := self.get(word, 0)):
            raise KeyError(word)
        return int(found)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and bool(self.get(word, 0))

    def __iter__(self) -> Iterator[str]:
        raise TypeError("words are known by their hashes alone")

    def __len__(self) -> int:
        return len(self.hashes)


@dataclass(frozen=True, slots=True)
class CountedWords(Lexis):
    """The words of all names, which can be looked up by their hashes."""

    frequency: WordCounts


def read_columns(things: Iterable[tuple[Sequence[str], bool]]) -> NameColumns:
    """The columns of things, given as their names, the own one first, and whether they are persons."""
    spoken, whole, held, cores = list[str](), list[str](), list[str](), list[str]()
    says = list[int]()
    keys, sure, words, joined = list[str](), list[float](), list[str](), list[str]()
    keyed, named, worded, holding = list[int](), list[int](), list[int](), list[int]()
    for names, person in things:
        read = read_spoken(Spoken(tuple(names), person))
        spoken.append("\0".join((*names, str(person))))
        whole.append(read[0].joined or read[0].key)
        says.append(read[0].says)
        found = dict(key for name in read for key in _list_keys(name))
        keys += found
        sure += found.values()
        keyed.append(len(found))
        named.append(len(read))
        for name in read:
            own = sorted(set(name.core))
            cores.append("\0".join(name.core))
            words += own
            worded.append(len(own))
            joined.append(name.joined)
        weighed = sorted({w for name in read for w in (*name.core, *name.qualifier, *name.codes)})
        held += weighed
        holding.append(len(weighed))
    # the bands of trigrams of a name are keys too
    bands = hash_bands(joined)
    bands ^= np.arange(bands.shape[1], dtype=np.uint64) << np.uint64(58)
    rows = np.arange(len(named))
    owner = np.concatenate((np.repeat(rows, keyed), np.repeat(np.repeat(rows, named), bands.shape[1])))
    order = order_numbers(owner)
    return NameColumns(
        hash_words(spoken),
        hash_words(whole),
        np.array(says, np.int64),
        np.concatenate((hash_words(keys), bands.ravel()))[order] & _KEY,
        np.concatenate((np.array(sure, np.float64), np.full(bands.size, _BAND)))[order],
        np.bincount(owner, minlength=len(named)).astype(np.int64),
        hash_words(cores),
        np.array(named, np.int64),
        hash_words(words),
        np.fromiter(map(weighs_little, words), np.bool_, len(words)),
        np.array(worded, np.int64),
        hash_words(held),
        np.array(holding, np.int64),
    )


def _list_keys(name: Name) -> Iterator[tuple[str, float]]:
    """What brings a name together with others, but its single words, and how much each says."""
    yield f"={name.joined or name.key}", _SAME
    if name.letters:
        yield f"a{name.letters}", _ACRONYM
    else:
        for letters in name.acronyms:
            yield f"a{letters}", _ACRONYM
    for word in sorted(set(name.core)):
        if word in name.codes and (ending := _ENDING.fullmatch(word)) and len(ending[1]) >= 4:
            yield f"c{ending[1]}", _CODE
    for x, y in pairwise(name.plain):
        yield f"p{min(x, y)} {max(x, y)}", _PAIR
