"""Types of things as plural nouns: "organizations", "people"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

_NO_KIND = frozenset("other others misc miscellaneous unknown none null n/a na undefined unspecified general".split())
_SAME = frozenset(
    "advice aeronautics agriculture aircraft data deer economics education electronics equipment ethics evidence "
    "finance fish food furniture genetics hardware headquarters health information infrastructure knowledge "
    "legislation literature livestock logistics mathematics means mechanics media money music nature news offspring "
    "people personnel physics police politics research robotics series sheep software species staff statistics "
    "transportation weather".split()
)
_IRREGULAR = MappingProxyType({
    "person": "people", "per": "people", "man": "men", "woman": "women", "child": "children", "foot": "feet",
    "tooth": "teeth", "mouse": "mice", "criterion": "criteria", "phenomenon": "phenomena", "medium": "media",
    "index": "indices", "matrix": "matrices", "bacterium": "bacteria", "curriculum": "curricula", "hero": "heroes",
    "echo": "echoes", "potato": "potatoes", "tomato": "tomatoes", "leaf": "leaves", "life": "lives", "half": "halves",
    "wolf": "wolves", "knife": "knives", "shelf": "shelves", "thief": "thieves", "quiz": "quizzes", "ox": "oxen",
    "org": "organizations", "loc": "places", "geo": "places", "gpe": "places", "fac": "facilities",
    "normal entity": "things", "entity": "things",
})  # fmt: skip
_OF = re.compile(r"(\w+)( (?:of|in|for|at|on|to|by|with) .+)")


def pluralize(kind: str) -> str:
    """The plural of an English type, in small letters; "" where it is none ("other") or no words of Latin script.

    Of several words the last is put in the plural, or the one before "of": "works of art".
    """
    words = " ".join(kind.casefold().replace("_", " ").split())
    if not words or words in _NO_KIND or not re.fullmatch(r"[a-z][a-z /&-]*", words):
        return ""
    if words in _IRREGULAR:
        return _IRREGULAR[words]
    if match := _OF.fullmatch(words):
        return pluralize(match[1]) + match[2]
    before, blank, last = words.rpartition(" ")
    return f"{before}{blank}{_noun(last)}"


@cache
def _noun(word: str) -> str:
    """The plural of one noun."""
    head, mark, last = word.rpartition("/") if "/" in word else word.rpartition("-")
    if mark:
        return f"{_noun(head) if mark == '/' else head}{mark}{_noun(last)}"
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word in _SAME or (word.endswith("s") and not word.endswith(("ss", "us", "is", "as", "os"))):
        return word
    if word.endswith("is"):
        return f"{word[:-2]}es"
    if word.endswith(("man", "men")) and word not in ("human", "german", "roman", "ottoman"):
        return f"{word[:-3]}men"
    if word.endswith("y") and word[-2:-1] not in tuple("aeiou"):
        return f"{word[:-1]}ies"
    return f"{word}{'es' if word.endswith(('s', 'x', 'z', 'ch', 'sh')) else 's'}"


def find_commonest_type(counts: Mapping[str, int]) -> str:
    """The commonest of some types, of equally common ones the first by name; "" where there is none."""
    return min(counts, key=lambda kind: (-counts[kind], kind), default="")
