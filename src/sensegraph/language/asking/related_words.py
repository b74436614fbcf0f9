"""Words that say the same thing as another: its other forms, words of its family, words for nearly the same thing.

Questions are seldom asked in the words of the text. How near two words are is told by the section of
`data/lexicons/same-meaning.txt` in which both stand; beside it words of one root that differ in a short ending, and
words that are written without their vowels.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache

from sensegraph.language.text import stem_run
from sensegraph.language.word_lists import ENGLISH, read_sections

NEARNESS: Mapping[str, float] = {"forms": 1.0, "families": 0.8, "near": 0.5}
COMPOUNDING = ("german", "dutch")
DERIVED = 0.6  # how near two words of one root are
_VOWELS, _FEWEST = frozenset("aeiouyäöüàâéèêîôû"), 3
_ROOT, _ENDING = 5, 3  # characters that both begin with, and the most that each has behind what they share


@cache
def _read_related() -> Mapping[str, Mapping[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for section, lines in read_sections("lexicons/same-meaning").items():
        for line in lines if section in NEARNESS else ():
            stems = list(dict.fromkeys(t for word in line.split() for t in stem_run(word, ENGLISH)))
            for one in stems:
                for other in stems:
                    if one != other:
                        near = found.setdefault(one, {})
                        near[other] = max(near.get(other, 0.0), NEARNESS[section])
    return found


def find_related(stem: str, held: Collection[str], spoken: str) -> dict[str, float]:
    """The stems in `held` that say what `stem` of the language `spoken` says, with how near they are, in (0, 1]."""
    listed = _read_related().get(stem, {}) if spoken == ENGLISH else {}
    found = {other: near for other, near in listed.items() if other in held}
    if not stem.isalpha():
        return found
    long = len(stem) >= _ROOT
    for other in held:
        if other[0] == stem[0] and (
            _abbreviates(stem, other) or (long and other[:_ROOT] == stem[:_ROOT] and _share_root(stem, other))
        ):
            found.setdefault(other, DERIVED)
        elif long and spoken in COMPOUNDING and len(other) > len(stem) and other.endswith(stem):
            found.setdefault(other, DERIVED)  # what a compound ends with is what it is
    return found


@cache
def _read_phrases() -> tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]:
    found = []
    for line in read_sections("lexicons/same-meaning")["phrases"]:
        phrase, _, meant = line.partition("=")
        found.append(
            (
                re.compile(rf"\b(?:{phrase.strip()})\b", re.IGNORECASE),
                tuple(stem for word in meant.split() for stem in stem_run(word, ENGLISH)),
            )
        )
    return tuple(found)


def find_phrases(text: str, spoken: str) -> list[tuple[str, tuple[str, ...]]]:
    """The phrases in a text that say more than their words, each with the stems of words that say the same."""
    if spoken != ENGLISH:
        return []
    return [(match[0], meant) for rule, meant in _read_phrases() for match in rule.finditer(text)]


def _abbreviates(one: str, other: str) -> bool:
    """Whether the shorter of two words has no vowels, and its letters stand in the longer one in their order."""
    if len(one) == len(other):
        return False
    short, long = (one, other) if len(one) < len(other) else (other, one)
    if len(short) < _FEWEST or not _VOWELS.isdisjoint(short) or not short.isalpha():
        return False
    rest = iter(long)
    return all(letter in rest for letter in short)


def _share_root(one: str, other: str) -> bool:
    """Whether two words that begin alike differ in a short ending."""
    if one == other or not other.isalpha():
        return False
    short = min(len(one), len(other))
    shared = next((i for i in range(short) if one[i] != other[i]), short)
    return max(len(one), len(other)) - shared <= _ENDING and (shared == short or short - shared <= 1)
