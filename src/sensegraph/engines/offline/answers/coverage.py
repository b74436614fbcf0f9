"""How much of a question a text holds, judged from the two alone: no corpus is at hand to count how rare a word is.

What stands in for rarity: names weigh most, then numbers, then words that no list calls common (lazygraphrag §6). The
weights and bounds were chosen by `bench/offline_relevance.py`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from types import MappingProxyType

from sensegraph.engines.offline.answers.questions import FRAME, SOFT
from sensegraph.engines.offline.reports.prose import stems
from sensegraph.language.detection import detect_by_stop_words as language
from sensegraph.language.text import HAN, WORD
from sensegraph.language.word_lists import COMMON, VERY_COMMON

NAME, NUMBER, RARE, USUAL, EMPTY = 2.0, 1.5, 1.0, 0.6, 0.3  # what a word of the question weighs
SPEAKER = 0.3  # share of a name's weight where it labels who speaks: it says nothing of what is spoken about
WINDOW = 60  # words within which what a text holds counts together: two sentences or three

_CAMEL = re.compile(r"(?<=[a-zß-öø-ÿ])(?=[A-Z])|_")  # "WolfgangSchulz", "20260105_1100"
_LABEL = re.compile(r"^([^\W\d_][\w .’'\-]{1,40}):\s", re.MULTILINE)
_TOKEN = re.compile(r"\w+(?:[’'\-]\w+)*|[^\w\s]")
_JOINS = frozenset("of the to in and de von van der la le al".split())
_PARTICLES = frozenset(
    "的了是在什么吗呢谁哪何怎为多少几个有和与及或等被把对从到于其之以而则但不也都就很最更这那他她它我你您请问关说会能可要让使给向"
)
_SAMPLE = 400  # characters that tell the language of a text


@dataclass(frozen=True, slots=True)
class Sought:
    """What a question asks for: stem → weight, and the names of two words or more, as their stems."""

    weights: Mapping[str, float]
    names: tuple[tuple[str, ...], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.weights)


@dataclass(frozen=True, slots=True)
class Held:
    """What a text holds of a question: a share of its weight, 0–1, in the best window and in all of the text.

    `content` says that it holds a word that names something; `named` that it holds a whole name of two words or more,
    other than a speaker's.
    """

    near: float
    whole: float
    content: bool
    named: bool


@lru_cache(maxsize=1 << 10)
def sought(question: str, code: str) -> Sought:
    """The words of `question`, read in the language `code`, that can find something; none in an overview question."""
    weights: dict[str, float] = {}
    for i, word in enumerate(WORD.findall(_CAMEL.sub(" ", question))):
        if word.casefold() not in FRAME:
            for stem in _stems(word, code):
                weight = _weight(word, stem, code, first=i == 0)
                if weight:
                    weights[stem] = max(weight, weights.get(stem, 0.0))
    return Sought(MappingProxyType(weights), tuple(_names(question, code)))


def han_runs(question: str) -> list[str]:
    """The stretches of a Han question that name something: all but the characters that only ask or join."""
    wanted = sought(question, "zh").weights
    covered = [False] * len(question)
    for i in range(len(question) - 1):
        if question[i : i + 2] in wanted:
            covered[i] = covered[i + 1] = True
    runs = "".join(c if keep else " " for c, keep in zip(question, covered, strict=True)).split()
    return list(dict.fromkeys(runs))


def code_of(text: str) -> str:
    """The language of a text, told from its beginning."""
    return language(text[:_SAMPLE])


def _weight(word: str, stem: str, code: str, *, first: bool) -> float:
    """What one word of a question weighs; 0 for a pair of characters that only joins words."""
    if HAN.search(stem):
        return 0.0 if stem[0] in _PARTICLES or stem[-1] in _PARTICLES else RARE
    if stem.isdigit():
        return NUMBER
    if word[0].isupper() and not first and code != "de":  # German writes every noun so
        return NAME
    if word.casefold() in SOFT:
        return EMPTY
    return rarity(stem, code)


def rarity(stem: str, code: str) -> float:
    """RARE, or less for the stem of a common word of English; other languages have no list of theirs."""
    return _usual().get(stem, RARE) if code == "en" else RARE


@cache
def _usual() -> Mapping[str, float]:
    """The weight of the common English words, by stem."""
    common = {stem: USUAL for word in COMMON.split() for stem in stems(word, "en")}
    return MappingProxyType(common | {stem: EMPTY for word in VERY_COMMON.split() for stem in stems(word, "en")})


def _names(question: str, code: str) -> Iterator[tuple[str, ...]]:
    """Runs of two or more capitalised words inside the question, small words between them left out."""
    run: list[str] = []
    tokens = _TOKEN.findall(_CAMEL.sub(" ", question)) if code != "de" else []
    for i, word in enumerate([*tokens, "?"]):
        if word[0].isupper() and i and word.casefold() not in FRAME:
            run += _stems(word, code)
        elif not run or word not in _JOINS:
            if len(run) > 1:
                yield tuple(run)
            run = []


@lru_cache(maxsize=1 << 16)
def _stems(word: str, code: str) -> tuple[str, ...]:
    return tuple(stems(word, code))


def held(wanted: Sought, text: str, code: str) -> Held:
    """What `text` holds of what is wanted."""
    plain = _CAMEL.sub(" ", text)
    places = _places(wanted.weights, plain, code)
    labels = _labels(plain, code) & places.keys() if places else frozenset()
    weights = {t: w * (SPEAKER if t in labels else 1.0) for t, w in wanted.weights.items()}
    total = sum(weights.values())
    if not total:
        return Held(0.0, 0.0, False, False)
    content = any(wanted.weights[t] > EMPTY and t not in labels for t in places)
    named = any(all(t in places for t in name) and labels.isdisjoint(name) for name in wanted.names)
    return Held(_densest(weights, places) / total, sum(weights[t] for t in places) / total, content, named)


def _places(wanted: Mapping[str, float], text: str, code: str) -> dict[str, list[int]]:
    """Where each wanted stem stands, in words from the beginning; two characters of Han text count as a word."""
    found: dict[str, list[int]] = defaultdict(list)
    at = 0
    for word in WORD.findall(text.casefold()):
        if HAN.search(word):
            for i in range(max(1, len(word) - 1)):
                if word[i : i + 2] in wanted:
                    found[word[i : i + 2]].append(at + i // 2)
            at += len(word) // 2
        for stem in _stems(word, code) if len(word) < _SAMPLE and not HAN.match(word) else ():
            if stem in wanted and at not in found[stem][-1:]:
                found[stem].append(at)
        at += 1
    return {stem: where for stem, where in found.items() if where}


def _labels(text: str, code: str) -> frozenset[str]:
    """The stems of what stands before a colon at the beginning of a line."""
    return frozenset(t for name in set(_LABEL.findall(text)) for w in WORD.findall(name) for t in _stems(w, code))


def _densest(weights: Mapping[str, float], places: Mapping[str, list[int]]) -> float:
    """The largest weight of distinct stems that stand within one window."""
    spots = sorted((at, stem) for stem, where in places.items() for at in where)
    inside: Counter[str] = Counter()
    best = total = 0.0
    first = 0
    for at, stem in spots:
        total += 0.0 if inside[stem] else weights[stem]
        inside[stem] += 1
        while spots[first][0] < at - WINDOW:
            out = spots[first][1]
            inside[out] -= 1
            total -= 0.0 if inside[out] else weights[out]
            first += 1
        best = max(best, total)
    return best
