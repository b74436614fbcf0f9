"""What keeps two names apart however alike they are: numbers, codes, opposites, generations, kinds.

Every veto says which words it rests on. None looks at a score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product
from types import MappingProxyType

from sensegraph.language import naming_words
from sensegraph.resolution.comparison.aligned import Aligned, Lexis
from sensegraph.resolution.comparison.name_reading import Name

_FEW = 4  # names that may share a code which tells a thing: one thing is not called many ways
_SHORT = 4  # words up to which a number that only one name has makes it another thing
_PREFIXES = ("non", "anti", "un", "pre", "post", "sub", "super", "inter", "intra", "pseudo", "semi", "micro", "macro")
# For each word with an opposite, a bit for each set of opposites that it is in.
_CONTRAST = MappingProxyType(
    {
        word: sum(1 << place for place, words in enumerate(naming_words.CONTRASTS) if word in words)
        for word in sorted(frozenset().union(*naming_words.CONTRASTS))
    }
)


def veto_words(a: Name, b: Name, found: Aligned, code: str = "") -> str:
    """Why two names are two things, or nothing; numbers do not count where they share a `code`."""
    return next(_list_reasons(a, b, found, code), "")


def veto_beside(a: Name, b: Name) -> str:
    """Why what stands beside two names makes them two things', or nothing; the words are not looked at."""
    return next(_compare_beside(a, b), "")


def shared_code(a: Name, b: Name, words: Lexis) -> str:
    """The longest code that both names, and few others, have: of five characters at least, two of them digits."""
    if not a.codes or not b.codes:
        return ""
    codes = [c for c in sorted(set(a.codes) & set(b.codes)) if len(c) >= 5 and sum(d.isdigit() for d in c) > 1]
    return max((c for c in codes if words.frequency.get(c, 0) <= _FEW), key=len, default="")


def _compare_beside(a: Name, b: Name) -> Iterator[str]:
    if (a.woman and b.man) or (a.man and b.woman):
        yield "one is a woman's title, the other a man's"
    if a.kind and b.kind and a.kind != b.kind:
        yield f"one is a {a.kind}, the other a {b.kind}"
    if a.generation and b.generation and a.generation != b.generation:
        yield f"different generations: {a.generation}, {b.generation}"
    if a.qualifier and b.qualifier and not set(a.qualifier) & set(b.qualifier):
        yield f"told apart in parentheses: {' '.join(a.qualifier)}, {' '.join(b.qualifier)}"


def _list_reasons(a: Name, b: Name, found: Aligned, code: str) -> Iterator[str]:
    yield from _compare_beside(a, b)
    shorter = min(len(a.plain), len(b.plain))
    if not code:
        one, other = Counter(a.numbers), Counter(b.numbers)
        left, right = sorted((one - other).elements()), sorted((other - one).elements())
        if left and right:
            yield f"different numbers: {', '.join(left)} and {', '.join(right)}"
        elif (left or right) and shorter <= _SHORT:
            yield f"only one has the number {', '.join(left or right)}"
        left = [word for word in found.one if word in a.codes]
        right = [word for word in found.other if word in b.codes]
        if (left and right) or ((left or right) and shorter <= 2):
            yield f"different codes: {', '.join(left) or 'none'} and {', '.join(right) or 'none'}"
    telling = [x for x in found.one if x in _CONTRAST or len(x) == 1 or x in naming_words.GREEK]
    for x, y in [*((x, y) for x, y, _ in found.near), *product(telling, found.other)]:
        if _CONTRAST.get(x, 0) & _CONTRAST.get(y, 0):
            yield f"{x} is not {y}"
        if len(x) == len(y) == 1 or (x in naming_words.GREEK and y in naming_words.GREEK):
            yield f"{x} is not {y}"
    for words, others in ((found.one, found.other), (found.other, found.one)):
        for word, prefix in product(words, _PREFIXES):  # linear, nonlinear
            if word.startswith(prefix) and word[len(prefix) :] in others:
                yield f"{word} is not {word[len(prefix) :]}"
    for word in (*found.one, *found.other):
        if word in naming_words.NEGATIONS:
            yield f"only one says {word}"
