"""Two names word by word: what they share, exactly or nearly, and what each has alone.

Words weigh by how few names of the collection have them (TF-IDF; soft matching as in Cohen, Ravikumar and Fienberg
2003, A Comparison of String Distance Metrics for Name-Matching Tasks, §2.3, but each word is matched once).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, product

import msgspec

from sensegraph.language import naming_words
from sensegraph.language.text import make_stemmer
from sensegraph.language.word_lists import ENGLISH, STOP
from sensegraph.resolution.comparison.name_reading import Name

FEW_NAMES = 1000  # names: of a smaller collection, words weigh as in one of so many
_STOP = STOP[ENGLISH]
LIGHT = 0.5  # the weight of a function word
_CODE = 5  # letters and digits of a code that tell it, whatever its ending
_LONG, _LONGER = 7, 11  # letters of a word in which one slip, or two, may be a misspelling
_STEM = re.compile(r"(.*\d)[^\W\d]*")


@dataclass(frozen=True, slots=True)
class Lexis:
    """How many of `names` distinct names have each word, each pair of words joined, and each code without its end."""

    names: int
    frequency: Mapping[str, int]

    @property
    def most(self) -> float:
        """The greatest weight of a word."""
        return _rate_word(self.names, 1)

    def weight(self, word: str) -> float:
        """How much a word tells: its idf."""
        if word in _STOP or len(word) == 1:
            return LIGHT
        return _rate_word(self.names, self.frequency.get(word, 1))

    def known(self, word: str) -> bool:
        """Whether more than one name has the word: then it is hardly a misspelling."""
        return self.frequency.get(word, 0) > 1


def weighs_little(word: str) -> bool:
    """Whether a word says little, however few names have it."""
    return word in _STOP or len(word) == 1


@lru_cache(maxsize=1 << 14)
def _rate_word(names: int, count: int) -> float:
    return math.log1p(max(names, FEW_NAMES) / max(1, count))


class Aligned(msgspec.Struct, frozen=True):
    """What two names share: the `weight` of it, of it all `nearly` (not letter by letter), and the words of each alone.

    `pairs` are the words that match but are not equal, with how well, 0 to 1.
    """

    weight: float
    near: tuple[tuple[str, str, float], ...]
    one: tuple[str, ...]
    other: tuple[str, ...]
    alone: tuple[float, float]

    @property
    def jaccard(self) -> float:
        """What is shared, of all."""
        return self.weight / max(self.weight + sum(self.alone), 1e-9)

    @property
    def contained(self) -> float:
        """What is shared, of the name with less alone."""
        return self.weight / max(self.weight + min(self.alone), 1e-9)


def align_names(a: Name, b: Name, words: Lexis) -> Aligned:
    """The words of two names, each matched with at most one of the other's."""
    left, right = [*a.core, *a.qualifier], [*b.core, *b.qualifier]
    shared = 0.0
    for word in (*a.core, *a.qualifier):
        if word in right:
            left.remove(word)
            right.remove(word)
            shared += words.weight(word)
    # Words (or two words that the other name writes as one) that may match, with how well.
    similar = list[tuple[float, str, str]]()
    for x in left if right else ():
        begins = [y for y in right if x[0] == y[0]]
        similar += [(q, x, y) for y in begins if (q := compare_words(x, y, words.known(x) and words.known(y)))]
    if left and right and len(left) + len(right) > 2:
        similar += [(0.98, f"{x} {y}", x + y) for x, y in pairwise(left) if x + y in right]
        similar += [(0.98, x + y, f"{x} {y}") for x, y in pairwise(right) if x + y in left]
    near = []
    for quality, x, y in sorted(similar, key=lambda found: (-found[0], found[1:])) if similar else ():
        xs, ys = x.split(), y.split()
        if all(left.count(w) >= xs.count(w) for w in xs) and all(right.count(w) >= ys.count(w) for w in ys):
            near.append((x, y, quality))
            shared += quality * min(sum(map(words.weight, xs)), sum(map(words.weight, ys)))
            for w in xs:
                left.remove(w)
            for w in ys:
                right.remove(w)
    alone = (sum(map(words.weight, left)), sum(map(words.weight, right)))
    return Aligned(shared, tuple(near), tuple(left), tuple(right), alone)


@lru_cache(maxsize=1 << 16)
def compare_words(x: str, y: str, known: bool = False) -> float:
    """How well one word stands for another, 0 to 1: another form, a code's ending, a slip. `known` are no slips.

    No word stands for one that denies ("with", "without").
    """
    if x in naming_words.NEGATIONS or y in naming_words.NEGATIONS:
        return 0.0
    if any(c.isdigit() for c in x + y):
        # Codes that differ in the letters at their end (a colour, a country), if enough is the same.
        one, other = _STEM.fullmatch(x), _STEM.fullmatch(y)
        if one is None or other is None or x.isdecimal() or y.isdecimal():
            return 0.0
        return 0.8 if one[1] == other[1] and len(one[1]) >= _CODE and not one[1].isdecimal() else 0.0
    if is_plural(x, y):
        return 0.95
    if stem_word(x) == stem_word(y):
        return 0.9
    short, long = sorted((x, y), key=len)
    if len(short) >= 3 and long.startswith(short) and len(long) >= len(short) + 2:
        return 0.5
    if known or min(len(x), len(y)) < _LONG:
        return 0.0
    from rapidfuzz.distance import OSA

    slips = OSA.distance(x, y)
    return 0.85 if slips <= 1 + (min(len(x), len(y)) >= _LONGER) else 0.0


def is_plural(x: str, y: str) -> bool:
    """Whether one is the other with an s, or with -ies for -y."""
    short, long = sorted((x, y), key=len)
    if len(short) < 3 or not long.endswith("s") or long.endswith("ss"):
        return False
    return long in (short + "s", short + "es") or (short.endswith("y") and long == short[:-1] + "ies")


@lru_cache(maxsize=1 << 16)
def stem_word(word: str) -> str:
    """The stem of a word of Latin letters."""
    return str(make_stemmer(ENGLISH).stemWord(word)) if word.isascii() and len(word) > 3 else word


_RARE = 4  # names that may share a code which tells a thing: one thing is not called many ways
_ARTICLE = 4  # digits from which a number, unless it is a year, may be one of a shop's list
_SHORT = 4  # words up to which a number that only one name has makes it another thing
_PREFIXES = ("non", "anti", "un", "pre", "post", "sub", "super", "inter", "intra", "pseudo", "semi", "micro", "macro")
# For each word with an opposite, a bit for each set of opposites that it is in.
_CONTRAST = {
    word: sum(1 << place for place, words in enumerate(naming_words.CONTRASTS) if word in words)
    for word in sorted(frozenset().union(*naming_words.CONTRASTS))
}


def veto_beside(a: Name, b: Name) -> str:
    """Why what stands beside two names makes them two things', or nothing; the words are not looked at."""
    if not (a.woman or a.man or a.kind or a.generation or a.qualifier):
        return ""
    return next(_compare_beside(a, b), "")


def is_article(number: str) -> bool:
    """Whether a number is long, and no year: likely that of an article in somebody's list."""
    return len(number) > _ARTICLE or (len(number) == _ARTICLE and number[:2] not in ("18", "19", "20"))


def shared_code(a: Name, b: Name, words: Lexis) -> str:
    """The longest code that both names, and few others, have: of five characters at least, two of them digits."""
    if not a.codes or not b.codes:
        return ""
    codes = [c for c in sorted(set(a.codes) & set(b.codes)) if len(c) >= 5 and sum(d.isdigit() for d in c) > 1]
    return max((c for c in codes if words.frequency.get(c, 0) <= _RARE), key=len, default="")


def _compare_beside(a: Name, b: Name) -> Iterator[str]:
    if (a.woman and b.man) or (a.man and b.woman):
        yield "one is a woman's title, the other a man's"
    if a.kind and b.kind and a.kind != b.kind:
        yield f"one is a {a.kind}, the other a {b.kind}"
    if a.generation and b.generation and a.generation != b.generation:
        yield f"different generations: {a.generation}, {b.generation}"
    if a.qualifier and b.qualifier and max(len(a.plain), len(b.plain)) <= _SHORT:
        for one, other in zip(_part_years(a.qualifier), _part_years(b.qualifier), strict=True):
            if one and other and not one & other:
                yield f"told apart in parentheses: {' '.join(a.qualifier)}, {' '.join(b.qualifier)}"


def _part_years(words: tuple[str, ...]) -> tuple[set[str], set[str]]:
    """Years and other numbers, and all other words."""
    numbers = {word for word in words if word.isdecimal()}
    return numbers, set(words) - numbers


def list_reasons(a: Name, b: Name, found: Aligned, code: str) -> Iterator[str]:
    """Why the words of two names make them two things'; numbers do not count where they share a `code`."""
    shorter = min(len(a.plain), len(b.plain))
    if not code and a.numbers != b.numbers:
        one, other = Counter(a.numbers), Counter(b.numbers)
        left, right = sorted((one - other).elements()), sorted((other - one).elements())
        # A number of a shop's list of articles says nothing against one of the thing itself.
        if set(map(is_article, left)) & set(map(is_article, right)):
            yield f"different numbers: {', '.join(left)} and {', '.join(right)}"
        elif shorter <= _SHORT and any(len(x) < _ARTICLE for x in (*left, *right)):
            yield f"only one has the number {', '.join(left or right)}"
    if not code and (a.codes or b.codes):
        left = [word for word in found.one if word in a.codes]
        right = [word for word in found.other if word in b.codes]
        # Of two shops each has its own articles: codes of letters and digits say nothing against codes of digits.
        if {word.isdecimal() for word in left} & {word.isdecimal() for word in right} or (
            (left or right) and shorter <= 2
        ):
            yield f"different codes: {', '.join(left) or 'none'} and {', '.join(right) or 'none'}"
    if found.near or any(map(_may_tell, found.one)) or any(map(_may_tell, found.other)):
        yield from _contrast_words(found)


@lru_cache(maxsize=1 << 16)
def _may_tell(word: str) -> bool:
    """Whether a word that one name has alone may make two things of them."""
    opposed = word in _CONTRAST or len(word) == 1 or word in naming_words.GREEK
    return opposed or word.startswith(_PREFIXES) or word in naming_words.NEGATIONS


def _contrast_words(found: Aligned) -> Iterator[str]:
    """Why the words of two names that match, or that each has alone, are of two things."""
    both = [(x, y) for x, y, _ in found.near]
    if found.one and found.other:
        greek = naming_words.GREEK
        telling = [x for x in found.one if x in _CONTRAST or (len(x) == 1 and not x.isdigit()) or x in greek]
        both += product(telling, found.other)
    for x, y in both:
        if _CONTRAST.get(x, 0) & _CONTRAST.get(y, 0):
            yield f"{x} is not {y}"
        if (len(x) == len(y) == 1 and not (x + y).isdigit()) or (x in naming_words.GREEK and y in naming_words.GREEK):
            yield f"{x} is not {y}"
    for words, others in ((found.one, found.other), (found.other, found.one)):
        for word in words if others else ():  # linear, nonlinear
            for prefix in _PREFIXES if word.startswith(_PREFIXES) else ():
                if word.startswith(prefix) and word[len(prefix) :] in others:
                    yield f"{word} is not {word[len(prefix) :]}"
    if not (naming_words.NEGATIONS.isdisjoint(found.one) and naming_words.NEGATIONS.isdisjoint(found.other)):
        yield next(f"only one says {word}" for word in (*found.one, *found.other) if word in naming_words.NEGATIONS)


_SIDE_BY_SIDE = re.compile(
    r"\s*(?:,\s*)?(?P<word>and|or|nor|&|versus|vs\.?|than|unlike|but not|not|from|und|oder|et|ou|y|e|o|och|og|и|или|"
    r"和|与|與|跟|及|、|と|や|및|와|과)\s*(?:(?:the|a|an|its|his|her|in|die|der|das|le|la|les|el|los)\s+)?",
    re.IGNORECASE,
)
_LETTER = re.compile(r"[^\W_]")


def find_contrast(text: str, one: tuple[int, int], other: tuple[int, int]) -> str:
    """The word by which `text` sets two names, given as half-open spans, side by side; or nothing.

    Only what stands between them is looked at. Spans that overlap set nothing apart.
    """
    first, second = sorted((one, other))
    between = text[first[1] : second[0]]
    found = _SIDE_BY_SIDE.fullmatch(between) if first[1] < second[0] else None
    if found is None:
        return ""
    word = found["word"]
    glued = _LETTER.match(word) and word.isascii() and (not between[0].isspace() and between[0] != ",")
    return "" if glued else word.casefold().rstrip(".")
