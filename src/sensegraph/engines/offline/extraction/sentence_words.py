"""The words and marks of sentences, read at once for a whole text, and what is counted of them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, compress, count
from operator import ne, not_
from zlib import crc32

import msgspec

from sensegraph.language.text import blank_others

TOKEN = re.compile(r"[^\W_]++(?:['’.\-&][^\W_]++)*+|[^\w\s]|_+")
_PARTS = re.compile(f"({TOKEN.pattern})")
_PLAIN_PARTS = re.compile(_PARTS.pattern.replace(r"[^\W_]", "[A-Za-z0-9]"))  # the same where no other letter stands


class Words(msgspec.Struct, frozen=True):
    """The words and marks of a sentence, or of several: what they are, and where they begin and end in the document.

    `lower` are they in lower case, `raised` the positions of those that may have a capital: most have none.
    """

    texts: Sequence[str]
    lower: Sequence[str]
    starts: Sequence[int]
    ends: Sequence[int]
    raised: Sequence[int]

    def part(self, first: int, last: int) -> Words:
        """The words from `first` on and before `last`."""
        raised = self.raised[bisect_left(self.raised, first) : bisect_left(self.raised, last)]
        texts, lower = self.texts[first:last], self.lower[first:last]
        return Words(texts, lower, self.starts[first:last], self.ends[first:last], [i - first for i in raised])

    def find_within(self, start: int, end: int) -> range:
        """The positions of the words that stand inside a span."""
        return range(bisect_left(self.starts, start), bisect_right(self.ends, end))

    def find_begun(self, start: int, end: int) -> range:
        """The positions of the words that begin inside a span."""
        return range(bisect_left(self.starts, start), bisect_left(self.starts, end))

    def find_touched(self, start: int, end: int) -> range:
        """The positions of the words of which a span holds any character."""
        return range(bisect_right(self.ends, start), bisect_left(self.starts, end))


def locate_words(text: str, spans: Sequence[tuple[int, int]]) -> tuple[Words, list[int]]:
    """Words and marks of sentences that stand one behind the other, and the bounds of each.

    Those of sentence i are the words from `bounds[i]` on and before `bounds[i + 1]`.
    """
    plain = blank_others(text) is not None
    parts = (_PLAIN_PARTS if plain else _PARTS).split(text)  # what stands between words, and words, in turn
    places = list(accumulate(map(len, parts)))
    every, begun, ended = parts[1::2], places[:-1:2], places[1::2]
    texts, starts, ends, bounds = list[str](), list[int](), list[int](), [0]
    begin = until = 0  # words that stand one behind the other in the sentences so far, and are not yet taken over
    for start, end in spans:
        first, last = bisect_left(begun, start, until), bisect_right(ended, end, until)
        cut = (first and ended[first - 1] > start) or (last < len(begun) and begun[last] < end)  # inside a word
        if cut or first > until:
            texts += every[begin:until]
            starts += begun[begin:until]
            ends += ended[begin:until]
            begin = first
        if cut:
            found = list(TOKEN.finditer(text, start, end))
            texts += [m[0] for m in found]
            starts += [m.start() for m in found]
            ends += [m.end() for m in found]
            begin = last
        until = last
        bounds.append(len(texts) + until - begin)
    texts += every[begin:until]
    starts += begun[begin:until]
    ends += ended[begin:until]
    lower = list(map(str.lower, texts))
    if plain:
        raised = list(compress(count(), map(ne, texts, lower)))
    else:  # some capitals of other scripts have no small letter
        others = compress(count(), map(not_, map(str.islower, texts)))
        raised = [i for i in others if texts[i][0].isupper() or len(texts[i]) > 2]
    return Words(texts, lower, starts, ends, raised), bounds


def find_opening_word(words: Sequence[str]) -> str:
    """The word that has its capital from its place, first in a sentence; "" where there is none."""
    return next((w for w in words if w[0].isalpha()), "")


def count_capitals(words: Sequence[str], opening: Sequence[str]) -> tuple[Counter[str], Counter[str]]:
    """How often words have a capital, but where they are `opening` a sentence, and how often they are in lower case."""
    opened, capitals, lowers = Counter(opening), Counter[str](), Counter[str]()
    for word, n in Counter(words).items():
        if word.islower():
            if len(word) > 1 and word[0].isalpha():
                lowers[word] = n
        elif word[0].isupper() and word[0].isalpha() and len(word) > 1 and n != opened[word]:
            capitals[word.lower()] += n - opened[word]
    return capitals, lowers


def hash_sentence(parts: Sequence[str]) -> tuple[int, int, int]:
    """Hashes of a sentence, given as its words, of its first and of its last eight; 0 where it has too few words."""
    whole = _hash_words(parts) if len(parts) >= 4 else 0
    return whole, *((_hash_words(parts[:8]), _hash_words(parts[-8:])) if len(parts) > 8 else (0, 0))


def _hash_words(parts: Sequence[str]) -> int:
    return crc32(" ".join(parts).encode("utf-8", "surrogatepass")) or 1
