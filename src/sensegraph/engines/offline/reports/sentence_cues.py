"""Cues of English sentences: patterns that are tried only where words stand which they cannot do without.

A pattern of many phrases is tried at every character; which words a sentence has is known as soon as it is split.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property, lru_cache, partial
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from sensegraph.language.text import blank_others
from sensegraph.language.word_lists import lower_case, lower_pattern, read_list

_WORDS = re.compile(r"\w+")
_OF_WORDS = bytes(i if i < 128 and _WORDS.match(chr(i)) else 32 for i in range(256)).lower()
# In a phrase: the edge of a word, what may be anything or nothing, the beginning or end of a text, and white space.
_EDGE, _ANY, _END, _SPACE = "\0", "\1", "\2", "\3"
_WHOLE = re.compile(r"(?<=[^\w\x01])[a-z]+(?=[^\w\x01])")
_PAIR = re.compile(r"(?<=[^\w\x01])(?=([a-z]+)[^\w\x01]+([a-z]+)[^\w\x01])")
_FIRST = re.compile(r"^(\x02)([a-z]+)(?=[^\w\x01])")
_PIECE = re.compile(r"[^\x00-\x03]+")
_COUNT = re.compile(r"(?:[?*+]|\{[\d,]+\})\??")
_KIND = re.compile(r"(?:\?(?:[:=!]|<[=!]))?")


class Told(NamedTuple):
    """What a word tells by itself, and with the one behind it: the names of cues that are there, or may be there.

    With each that may be there stands a part of the text which it cannot do without.
    """

    sure: set[str]
    likely: list[tuple[str, str]]
    followed: dict[str, list[tuple[str, str]]]


class Cues:
    """Patterns for which case does not count, by their names, to be found in sentences.

    `marks` are shorter patterns of some of them, one of which is found in all that the longer one is found in.
    """

    def __init__(self, patterns: Mapping[str, str], marks: Mapping[str, str] = MappingProxyType({})) -> None:
        self.sources = {name: lower_pattern(pattern) for name, pattern in patterns.items()}
        self.marks = marks
        self.read = lru_cache(maxsize=1 << 4)(partial(CuesOfSentence, self))  # what rates a sentence asks several times

    @cached_property
    def patterns(self) -> dict[str, re.Pattern[str]]:
        """The patterns for sentences in lower case."""
        return {name: re.compile(source) for name, source in self.sources.items()}

    @cached_property
    def needs(self) -> tuple[dict[str, Told], dict[str, tuple[str, ...]]]:
        """What a sentence must have for a cue to be in it: a word or two, by the first one, or a part of its text."""
        told = defaultdict[str, Told](lambda: Told(set(), [], defaultdict(list)))
        signs = {name: set[str]() for name in self.sources}
        common = read_list("en")

        def measure_rareness(words: tuple[str, ...]) -> tuple[int, int, int]:
            return sum(word not in common for word in words), len(words), sum(map(len, words))

        for name, source in self.sources.items():
            marks = self.marks.get(name, "")
            for phrase in set(_Spelling(lower_pattern(marks) or source).list_phrases()):
                alone = [(word,) for word in _WHOLE.findall(phrase)]
                keys: list[tuple[str, ...]] = [*alone, *_PAIR.findall(phrase), *_FIRST.findall(phrase)]
                key = max(keys, key=measure_rareness, default=())
                pieces = _PIECE.findall(phrase)  # a figure is seldom, and so is a longer one with a common word
                sign = max(pieces, key=lambda piece: (any(map(str.isdigit, piece)), len(piece)), default="")
                if not marks and alone and phrase.strip(_EDGE) == alone[0][0]:
                    told[alone[0][0]].sure.add(name)
                elif len(key) > 1:
                    told[key[0]].followed[key[1]].append((name, sign))
                elif key and (key[0] not in common or sign == key[0]):
                    told[key[0]].likely.append((name, sign))
                else:
                    signs[name].add(sign)
        # of a sign that holds another the other is enough
        few = {name: [x for x in some if not any(y in x and x != y for y in some)] for name, some in signs.items()}
        return dict(told), {name: tuple(sorted(some)) for name, some in few.items()}


class CuesOfSentence:
    """Which cues are in a sentence."""

    __slots__ = ("cues", "likely", "low", "sure")

    def __init__(self, cues: Cues, sentence: str) -> None:
        self.cues, self.low = cues, lower_case(sentence)
        self.sure, self.likely = set[str](), set[str]()
        blanked, told = blank_others(sentence, _OF_WORDS), cues.needs[0]
        words = [_END, *(_WORDS.findall(self.low) if blanked is None else blanked.split()), _END]
        for word, behind in pairwise(words):
            if word in told:
                sure, likely, followed = told[word]
                self.sure |= sure
                for name, sign in (*likely, *followed.get(behind, ())):
                    if sign in self.low:
                        self.likely.add(name)

    def has(self, name: str) -> bool:
        """Whether the cue of this name is in the sentence."""
        if name in self.sure:
            return True
        if name not in self.likely and not any(map(self.low.__contains__, self.cues.needs[1][name])):
            return False
        return self.cues.patterns[name].search(self.low) is not None


class _Spelling:
    """Spells out the phrases of a pattern; what is no letter, group, class or optional part may be anything."""

    def __init__(self, pattern: str) -> None:
        self.pattern, self.at = pattern, 0

    def list_phrases(self) -> list[str]:
        """The phrases up to the end of a group."""
        found, phrases = list[str](), [""]
        while self.at < len(self.pattern):
            mark = self.pattern[self.at]
            if mark in "|)":
                self.at += 1
                found += phrases
                if mark == ")":
                    return found
                phrases = [""]
                continue
            parts = self.list_parts()
            count = self.skip(_COUNT)
            if count.startswith("?"):
                parts = [*parts, ""]
            elif count and (parts != [_SPACE] or count[0] != "+"):
                parts = [part + _ANY for part in parts] if count[0] == "+" else [_ANY]
            phrases = [phrase + part for phrase in phrases for part in parts]
        return found + phrases

    def list_parts(self) -> list[str]:
        """What a letter, a class or a group may be."""
        mark = self.pattern[self.at]
        self.at += 1
        if mark == "(":
            kind = self.skip(_KIND)
            found = self.list_phrases()
            return found if kind in ("", "?:") else [_ANY]
        if mark == "[":
            end = self.pattern.index("]", self.at + 1)
            inside, self.at = self.pattern[self.at : end], end + 1
            return [_ANY] if re.search(r"\\|^\^|\w-\w", inside) else list(inside)
        if mark == "\\":
            mark = self.pattern[self.at]
            self.at += 1
            return [{"b": _EDGE, "s": _SPACE, "B": ""}.get(mark, _ANY if mark.isalnum() else mark)]
        return [{"^": _END, "$": _END, ".": _ANY}.get(mark, mark)]

    def skip(self, pattern: re.Pattern[str]) -> str:
        """Go on behind what stands here, which is returned."""
        found = pattern.match(self.pattern, self.at)
        if found is None:
            return ""
        self.at = found.end()
        return found[0]
