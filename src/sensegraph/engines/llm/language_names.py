"""What a language is called in English."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from sensegraph.language.text import BEGINNING, detect_language, split_small_letters
from sensegraph.language.word_lists import LANGUAGES, languages_by_word

_SPOKEN = "English German French Spanish Italian Dutch Portuguese Polish Czech Danish Swedish Russian Chinese"
_NAMES: Mapping[str, str] = MappingProxyType(dict(zip((*LANGUAGES, "zh"), _SPOKEN.split(), strict=True)))
_KANA = re.compile(r"[\u3040-\u30ff]")
_RUSSIAN, _NEAR_RUSSIAN = re.compile(r"[ыэЫЭ]"), re.compile(r"[іїєґўјљњђћџІЇЄҐЎЈЉЊЂЋЏ]")
_NORWEGIAN = frozenset("av hva etter mye noen ble meg deg seg".split())
_MOST_MARKED = 0.08  # of the words of an English text that may have letters with marks: foreign names
_LEAST_SHARE = 0.15  # of the words of a text that are small words of its language


def name_language(text: str) -> str:
    """The English name of the language that a text begins in, or "" where that is not sure.

    Two different small words of the language, and their share of the text, are what makes it sure. A language without
    lists is not to be taken for a neighbour: Norwegian for Danish, Ukrainian for Russian, or any for English.
    """
    text = text[:BEGINNING]
    code = detect_language(text)
    if code == "zh":
        return "Japanese" if _KANA.search(text) else _NAMES[code]
    if code == "ru":
        return _NAMES[code] if _RUSSIAN.search(text) and not _NEAR_RUSSIAN.search(text) else ""
    languages, words = languages_by_word(), split_small_letters(text)
    small = [word for word in words if code in languages.get(word, ())]
    if code == "en" and sum(not word.isascii() for word in words) > _MOST_MARKED * len(words):
        return ""
    if code == "da" and not _NORWEGIAN.isdisjoint(words):
        return ""
    return _NAMES.get(code, "") if len(set(small)) > 1 and len(small) >= _LEAST_SHARE * len(words) else ""
