"""How much of a question a text holds, judged from the two alone: no corpus is at hand to count how rare a word is.

What stands in for rarity: names weigh most, then numbers, then words that no list calls common (lazygraphrag §6). The
weights and bounds were chosen by `bench/offline_relevance.py`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from types import MappingProxyType

from sensegraph.engines.offline.answers.question_rules import FRAME, SOFT
from sensegraph.engines.offline.reports.sentence_quality import stem_text, stem_word
from sensegraph.language.text import HAN, WORD, detect_by_stop_words
from sensegraph.language.word_lists import COMMON, VERY_COMMON

NAME, NUMBER, RARE, USUAL, EMPTY = 2.0, 1.5, 1.0, 0.6, 0.3  # what a word of the question weighs
SPEAKER = 0.3  # share of a name's weight where it labels who speaks: it says nothing of what is spoken about
WINDOW = 60  # words within which what a text holds counts together: two sentences or three

_CAMEL = re.compile(r"(?<=[a-zß-öø-ÿ])(?=[A-Z])|_")  # "WolfgangSchulz", "20260105_1100"
_LABEL = re.compile(r"^([^\W\d_][\w .’'\-]{1,40}):\s", re.MULTILINE)
TOKEN = re.compile(r"\w+(?:[’'\-]\w+)*|[^\w\s]")
_JOINS = frozenset("of the to in and de von van der la le al".split())
_PARTICLES = frozenset(
    "的了是在什么吗呢谁哪何怎为多少几个有和与及或等被把对从到于其之以而则但不也都就很最更这那他她它我你您请问关说会能可要让使给向"
)
_SAMPLE = 400  # characters that tell the language of a text


@dataclass(frozen=True, slots=True)
class WantedWords:
    """What a question asks for: stem → weight, and the names of two words or more, as their stems."""

    weights: Mapping[str, float]
    names: tuple[tuple[str, ...], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.weights)


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a text holds of a question: a share of its weight, 0–1, in the best window and in all of the text.

    `content` says that it holds a word that names something; `named` that it holds a whole name of two words or more,
    other than a speaker's.
    """

    near: float
    whole: float
    content: bool
    named: bool


@lru_cache(maxsize=1 << 10)
def read_wanted_words(question: str, code: str) -> WantedWords:
    """The words of `question`, read in the language `code`, that can find something; none in an overview question."""
    text = _CAMEL.sub(" ", question)
    weights: dict[str, float] = {}
    for i, word in enumerate(WORD.findall(text)):
        if word.casefold() in FRAME:
            continue
        for stem in stem_word(word, code):
            weight = weigh_rarity(stem, code)
            if HAN.search(stem):  # a pair of characters that only joins words finds nothing
                weight = 0.0 if stem[0] in _PARTICLES or stem[-1] in _PARTICLES else RARE
            elif stem.isdigit():
                weight = NUMBER
            elif word[0].isupper() and i and code != "de":  # German writes every noun so
                weight = NAME
            elif word.casefold() in SOFT:
                weight = EMPTY
            if weight:
                weights[stem] = max(weight, weights.get(stem, 0.0))
    # names: runs of two or more capitalised words inside the question, small words between them left out
    names: list[tuple[str, ...]] = []
    run: list[str] = []
    for i, word in enumerate([*(TOKEN.findall(text) if code != "de" else []), "?"]):
        if word[0].isupper() and i and word.casefold() not in FRAME:
            run += stem_word(word, code)
        elif not run or word not in _JOINS:
            if len(run) > 1:
                names.append(tuple(run))
            run = []
    return WantedWords(MappingProxyType(weights), tuple(names))


def find_han_runs(question: str) -> list[str]:
    """The stretches of a Han question that name something: all but the characters that only ask or join."""
    wanted = read_wanted_words(question, "zh").weights
    covered = [False] * len(question)
    for i in range(len(question) - 1):
        if question[i : i + 2] in wanted:
            covered[i] = covered[i + 1] = True
    runs = "".join(c if keep else " " for c, keep in zip(question, covered, strict=True)).split()
    return list(dict.fromkeys(runs))


def guess_language(text: str) -> str:
    """The language of a text, told from its beginning."""
    return detect_by_stop_words(text[:_SAMPLE])


def weigh_rarity(stem: str, code: str) -> float:
    """RARE, or less for the stem of a common word of English; other languages have no list of theirs."""
    if code != "en":
        return RARE
    return EMPTY if stem in _stem_words(VERY_COMMON) else USUAL if stem in _stem_words(COMMON) else RARE


@cache
def _stem_words(words: str) -> frozenset[str]:
    return frozenset(stem for word in words.split() for stem in stem_text(word, "en"))


def measure_coverage(wanted: WantedWords, text: str, code: str) -> Coverage:
    """What `text` holds of what is wanted.

    Speakers, who stand before a colon at the beginning of a line, count less.
    """
    plain = _CAMEL.sub(" ", text)
    places = _locate_stems(wanted.weights, plain, code)
    names = set(_LABEL.findall(plain)) if places else ()
    labels = {t for name in names for w in WORD.findall(name) for t in stem_word(w, code)} & places.keys()
    weights = {t: w * (SPEAKER if t in labels else 1.0) for t, w in wanted.weights.items()}
    total = sum(weights.values())
    if not total:
        return Coverage(0.0, 0.0, False, False)
    content = any(wanted.weights[t] > EMPTY and t not in labels for t in places)
    named = any(all(t in places for t in name) and labels.isdisjoint(name) for name in wanted.names)
    # the largest weight of distinct stems that stand within one window
    spots = sorted((at, stem) for stem, where in places.items() for at in where)
    inside: Counter[str] = Counter()
    best = near = 0.0
    first = 0
    for at, stem in spots:
        near += 0.0 if inside[stem] else weights[stem]
        inside[stem] += 1
        while spots[first][0] < at - WINDOW:
            out = spots[first][1]
            inside[out] -= 1
            near -= 0.0 if inside[out] else weights[out]
            first += 1
        best = max(best, near)
    return Coverage(best / total, sum(weights[t] for t in places) / total, content, named)


def _locate_stems(wanted: Mapping[str, float], text: str, code: str) -> dict[str, list[int]]:
    """Where each wanted stem stands, in words from the beginning; two characters of Han text count as a word."""
    found: dict[str, list[int]] = defaultdict(list)
    at = 0
    for word in WORD.findall(text.casefold()):
        if HAN.search(word):
            for i in range(max(1, len(word) - 1)):
                if word[i : i + 2] in wanted:
                    found[word[i : i + 2]].append(at + i // 2)
            at += len(word) // 2
        for stem in stem_word(word, code) if len(word) < _SAMPLE and not HAN.match(word) else ():
            if stem in wanted and at not in found[stem][-1:]:
                found[stem].append(at)
        at += 1
    return {stem: where for stem, where in found.items() if where}
