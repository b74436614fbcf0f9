"""Texts as the words they are found by: folded, without function words, stemmed in their own language."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from typing import Any

from sensegraph.language.detection import ENGLISH, detect_by_function_words
from sensegraph.language.word_lists import STOP

# Scripts that write no blanks between words, or join particles to them: Kana, Han, Hangul, Thai, Lao, Burmese, Khmer.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
# Vowel signs and accents that stand inside words but that `\w` leaves out: Latin, Hebrew, Arabic, Indian scripts.
_MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
_TERM = re.compile(rf"[{_UNSPACED}]+|(?:(?![_{_UNSPACED}])[\w{_MARKS}])+")
_RUN = re.compile(f"[{_UNSPACED}]")
_SCRIPTS = (
    ("Ѐ", "ԯ", "russian"),
    ("Ͱ", "Ͽ", "greek"),
    ("؀", "ۿ", "arabic"),
    ("ऀ", "ॿ", "hindi"),
    ("԰", "֏", "armenian"),
)


def list_stems(text: str) -> list[str]:
    """The terms of `text` in order: stems (Snowball), and pairs of characters where no blanks part words.

    Function words are left out unless there is nothing else (The Who). The language is told from the function words.
    """
    found = split_runs(text)
    spoken = detect_by_function_words(found)
    return [t for word in found for t in stem_run(word, spoken)] or [t for word in found for t in stem_run(word, "")]


def split_runs(text: str) -> list[str]:
    """The runs of letters and digits of `text`; one of a script without blanks is one run."""
    return _TERM.findall(text if text.isascii() else unicodedata.normalize("NFC", text))


@lru_cache(maxsize=1 << 18)
def stem_run(word: str, spoken: str) -> tuple[str, ...]:
    """The terms of one run: none for a function word of the language `spoken`, several where no blanks part words."""
    if is_unspaced(word):
        run = unicodedata.normalize("NFKC", word)
        return tuple(run[i : i + 2] for i in range(max(1, len(run) - 1)))
    folded = unicodedata.normalize("NFKD", word.casefold())
    if not folded.isascii():
        folded = "".join(c for c in folded if not unicodedata.combining(c))
    abbreviation = len(word) > 1 and word.isupper()  # US, IT and WHO are no function words
    stop = STOP.get(spoken, frozenset())
    if not folded or (not stop.isdisjoint((word.lower(), folded)) and not abbreviation):
        return ()
    of_script = next((name for low, high, name in _SCRIPTS if low <= folded[0] <= high), "")
    return (make_stemmer(of_script or spoken or ENGLISH).stemWord(folded),)


def is_unspaced(word: str) -> bool:
    """Whether a run is of a script that writes no blanks between words."""
    return _RUN.match(word) is not None


@cache
def make_stemmer(spoken: str) -> Any:
    """The Snowball stemmer of a language."""
    from Stemmer import Stemmer

    return Stemmer(spoken, 0)
