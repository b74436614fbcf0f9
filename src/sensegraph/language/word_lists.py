"""Word lists by language, and which language a text is in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files
from types import MappingProxyType

from sensegraph.language.text import HAN, WORD

_LETTER = re.compile(r"[^\W\d_]")
_FOREIGN = re.compile(r"[\u0370-\u1dff\u2c00-\ua6ff\ua720-\uabff\uac00-\ud7ff\uf900-\ufaff]")  # letters beyond Latin
_CYRILLIC = re.compile(r"[\u0400-\u04ff]")
LANGUAGES = ("en", "de", "fr", "es", "it", "nl", "pt")


@cache
def listed(name: str) -> frozenset[str]:
    """The words of `stopwords/<name>.txt`: a language code, or English words: `general`, `verbs`, …"""
    text = (files(__package__) / "stopwords" / f"{name}.txt").read_text(encoding="utf-8")
    return frozenset(text.split())


@cache
def _places() -> Mapping[str, tuple[int, ...]]:
    """Stop word → the places in LANGUAGES of those that have it."""
    words = sorted({word for code in LANGUAGES for word in listed(code)})
    return MappingProxyType({w: tuple(i for i, code in enumerate(LANGUAGES) if w in listed(code)) for w in words})


@lru_cache(maxsize=1 << 15)
def language(text: str) -> str:
    """The language of `text`: a code of LANGUAGES, "zh" (Han or kana), "ru", or "" for another script.

    Latin text is English unless another language has at least two different stop words in it, and more than English.
    """
    if not text.isascii() and _FOREIGN.search(text):
        letters = len(_LETTER.findall(text))
        if 3 * len(HAN.findall(text)) > letters:
            return "zh"
        if 2 * len(_FOREIGN.findall(text)) > letters:
            return "ru" if 2 * len(_CYRILLIC.findall(text)) > letters else ""
    hits, places = [0] * len(LANGUAGES), _places()
    for word in places.keys() & WORD.findall(text.casefold().replace("’", "'")):
        for place in places[word]:
            hits[place] += 1
    best = max(hits)
    return LANGUAGES[hits.index(best)] if best >= 2 else "en"
