"""How common words are in English at large: what sets the words of a corpus apart from those of any text."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache

from sensegraph.language.text import make_stemmer
from sensegraph.language.word_lists import read_sections

_MILLION = 1_000_000
RAREST = 5.0 / _MILLION  # what is added to every share: what the table does not know is this rare


@lru_cache(maxsize=1 << 17)
def stem_of(word: str) -> str:
    """The English stem of a word."""
    return str(make_stemmer("english").stemWord(word.casefold()))


@cache
def read_background() -> Mapping[str, float]:
    """Stem → the share of the sentences of general English that hold it in a noun phrase."""
    found: dict[str, float] = {}
    for k, lines in read_sections("background").items():
        found |= dict.fromkeys(" ".join(lines).split(), 2 ** (int(k) / 2) / _MILLION)
    return found
