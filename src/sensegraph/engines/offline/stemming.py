"""Words of a text, and the Snowball stemmers, each made once."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

from sensegraph.language.text import WORD, blank_others

_PARTED = re.compile("[İǰ\u0345ΐΰ\u1e96-\u1e99\u1f50-\u1ff7]")  # letters and marks that folded are the other too
_OF_WORDS = bytes(i if re.match(r"[\w'-]", chr(i), re.ASCII) else 32 for i in range(256))
_LOOSE = re.compile(r"['-](?:(?<!\w.)|(?!\w))")  # no part of a word


@cache
def load_stemmer(language: str) -> Any:
    """The Snowball stemmer of a language, by its English name ("german")."""
    import Stemmer  # an extension module: loaded on first use

    return Stemmer.Stemmer(language)


@cache
def remember_stems(language: str) -> Callable[[str], str]:
    """What gives the stem of a folded word, which is kept: most words of a text come again."""
    import Stemmer  # an extension module: loaded on first use

    find: Callable[[str], str] = Stemmer.Stemmer(language, 0).stemWord
    return lru_cache(maxsize=1 << 15)(find)


@lru_cache(maxsize=1 << 9)  # what rates a sentence and what stems it ask one after the other
def list_folded_words(text: str) -> tuple[str, ...]:
    """The words of a text folded, with straight apostrophes."""
    folded = text.casefold().replace("’", "'")
    if (blanked := blank_others(folded, _OF_WORDS)) is None:
        return tuple(WORD.findall(folded))
    if "'" in blanked or "-" in blanked:
        blanked = _LOOSE.sub(" ", blanked)
    return tuple(blanked.split())


@lru_cache(maxsize=1 << 14)  # a sentence is said of several things
def measure_words(text: str) -> int:
    """How many words a text has, one at least."""
    plain = text.isascii() or not _PARTED.search(text)
    return max(1, len(list_folded_words(text) if plain else WORD.findall(text)))
