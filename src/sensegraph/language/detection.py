"""Which language a text is in: detectors that tell different things, and that results depend on, side by side.

`detect_by_function_words` serves search and names languages as Snowball does. `detect_by_stop_words` serves the
reports and answers of the offline engine, by code and with scripts beyond Latin. `detect_script` serves its reading of
documents: it tells which rules for names apply. They look at different samples and count different lists, so that they
may differ on short or mixed texts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from types import MappingProxyType

from sensegraph.language.text import HAN, WORD
from sensegraph.language.word_lists import LANGUAGES, STOP, read_lexicon, read_list

ENGLISH = "english"
_SAMPLE = 64  # words of which the function words are counted
_SCANNED = 40_000  # characters that a document's language is told from
_LETTER = re.compile(r"[^\W\d_]")
_LETTERS = re.compile(r"[^\W\d_]+")
_FOREIGN = re.compile(r"[\u0370-\u1dff\u2c00-\ua6ff\ua720-\uabff\uac00-\ud7ff\uf900-\ufaff]")  # letters beyond Latin
_CYRILLIC = re.compile(r"[\u0400-\u04ff]")


def detect_by_function_words(words: Sequence[str]) -> str:
    """The language with most function words among the first of `words`; English unless another has at least two."""
    if len(words) < 2:
        return ENGLISH
    seen = frozenset(word.lower() for word in words[:_SAMPLE])
    counts = {name: len(seen & stop) for name, stop in STOP.items()}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] > 1 else ENGLISH


@cache
def _stop_word_places() -> Mapping[str, tuple[int, ...]]:
    """Stop word → the places in LANGUAGES of those that have it."""
    words = sorted({word for code in LANGUAGES for word in read_list(code)})
    return MappingProxyType({w: tuple(i for i, code in enumerate(LANGUAGES) if w in read_list(code)) for w in words})


@lru_cache(maxsize=1 << 15)
def detect_by_stop_words(text: str) -> str:
    """The language of `text`: a code of LANGUAGES, "zh" (Han or kana), "ru", or "" for another script.

    Latin text is English unless another language has at least two different stop words in it, and more than English.
    """
    if not text.isascii() and _FOREIGN.search(text):
        letters = len(_LETTER.findall(text))
        if 3 * len(HAN.findall(text)) > letters:
            return "zh"
        if 2 * len(_FOREIGN.findall(text)) > letters:
            return "ru" if 2 * len(_CYRILLIC.findall(text)) > letters else ""
    hits, places = [0] * len(LANGUAGES), _stop_word_places()
    for word in places.keys() & WORD.findall(text.casefold().replace("’", "'")):
        for place in places[word]:
            hits[place] += 1
    best = max(hits)
    return LANGUAGES[hits.index(best)] if best >= 2 else "en"


def detect_script(text: str) -> str:
    """`en`, `de`, `zh`, `xx` (another script with capitals) or `un` (a script without), from letters and stop words.

    A script has capitals when at least half of the letters have a capital form; very short texts count as English.
    """
    sample = text[:_SCANNED]
    found = _LETTERS.findall(sample)
    letters = "".join(found)
    if not letters:
        return "en"
    if not letters.isascii() and len(HAN.findall(letters)) > 0.2 * len(letters):
        return "zh"
    first = letters[:4000]
    if not first.isascii() and sum(n for c, n in Counter(first).items() if c.lower() != c.upper()) < 0.5 * len(first):
        return "un"
    # All words in lower case at once, since none holds a blank; but "İ" becomes two signs.
    words = _LETTERS.findall(sample.lower()) if "İ" in sample else " ".join(found).lower().split(" ")
    english, german = (sum(map(read_lexicon(name)["stop"].__contains__, words)) for name in ("english", "german"))
    if german > english and german / len(words) > 0.12:
        return "de"
    return "en" if english / len(words) > 0.12 or len(words) < 20 else "xx"
