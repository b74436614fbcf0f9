"""What keeps two names apart however alike they are: numbers, codes, opposites, generations, kinds.

Every veto says which words it rests on. None looks at a score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from types import MappingProxyType

from sensegraph.language import name_words
from sensegraph.resolution.comparison.aligned import Aligned, Lexis
from sensegraph.resolution.comparison.names import Name

_FEW = 4  # names that may share a code which tells a thing: one thing is not called many ways
_SHORT = 4  # words up to which a number that only one name has makes it another thing
_PREFIXES = ("non", "anti", "un", "pre", "post", "sub", "super", "inter", "intra", "pseudo", "semi", "micro", "macro")
# For each word with an opposite, a bit for each set of opposites that it is in.
_CONTRAST = MappingProxyType(
    {
        word: sum(1 << place for place, words in enumerate(name_words.CONTRASTS) if word in words)
        for word in sorted(frozenset().union(*name_words.CONTRASTS))
    }
)


def veto(a: Name, b: Name, found: Aligned, code: str = "") -> str:
    """Why two names are two things, or nothing; numbers do not count where they share a `code`."""
    return next(_reasons(a, b, found, code), "")


def beside(a: Name, b: Name) -> str:
    """Why what stands beside two names makes them two things', or nothing; the words are not looked at."""
    return next(_beside(a, b), "")


def shared_code(a: Name, b: Name, words: Lexis) -> str:
    """The longest code that both names, and few others, have: of five characters at least, two of them digits."""
    if not a.codes or not b.codes:
        return ""
    codes = [c for c in sorted(set(a.codes) & set(b.codes)) if len(c) >= 5 and sum(d.isdigit() for d in c) > 1]
    return max((c for c in codes if words.frequency.get(c, 0) <= _FEW), key=len, default="")


def _beside(a: Name, b: Name) -> Iterator[str]:
    if (a.woman and b.man) or (a.man and b.woman):
        yield "one is a woman's title, the other a man's"
    if a.kind and b.kind and a.kind != b.kind:
        yield f"one is a {a.kind}, the other a {b.kind}"
    if a.generation and b.generation and a.generation != b.generation:
        yield f"different generations: {a.generation}, {b.generation}"
    if a.qualifier and b.qualifier and not set(a.qualifier) & set(b.qualifier):
        yield f"told apart in parentheses: {' '.join(a.qualifier)}, {' '.join(b.qualifier)}"


def _reasons(a: Name, b: Name, found: Aligned, code: str) -> Iterator[str]:
    yield from _beside(a, b)
    if not code:
        yield from _numbers(a, b)
        yield from _codes(a, b, found)
    yield from _words(found)


def _numbers(a: Name, b: Name) -> Iterator[str]:
    one, other = Counter(a.numbers), Counter(b.numbers)
    left, right = sorted((one - other).elements()), sorted((other - one).elements())
    if left and right:
        yield f"different numbers: {', '.join(left)} and {', '.join(right)}"
    elif (left or right) and min(len(a.plain), len(b.plain)) <= _SHORT:
        yield f"only one has the number {', '.join(left or right)}"


def _codes(a: Name, b: Name, found: Aligned) -> Iterator[str]:
    left = [word for word in found.one if word in a.codes]
    right = [word for word in found.other if word in b.codes]
    if (left and right) or ((left or right) and min(len(a.plain), len(b.plain)) <= 2):
        yield f"different codes: {', '.join(left) or 'none'} and {', '.join(right) or 'none'}"


def _words(found: Aligned) -> Iterator[str]:
    pairs = [(x, y) for x, y, _ in found.near]
    pairs += [(x, y) for x in found.one if _telling(x) for y in found.other]
    for x, y in pairs:
        if _CONTRAST.get(x, 0) & _CONTRAST.get(y, 0):
            yield f"{x} is not {y}"
        if len(x) == len(y) == 1 or (x in name_words.GREEK and y in name_words.GREEK):
            yield f"{x} is not {y}"
    yield from _prefixed(found)
    for word in (*found.one, *found.other):
        if word in name_words.NEGATIONS:
            yield f"only one says {word}"


def _telling(word: str) -> bool:
    return word in _CONTRAST or len(word) == 1 or word in name_words.GREEK


def _prefixed(found: Aligned) -> Iterator[str]:
    """Linear, nonlinear."""
    for left, right in ((found.one, found.other), (found.other, found.one)):
        for word in left:
            for prefix in _PREFIXES:
                if word.startswith(prefix) and word[len(prefix) :] in right:
                    yield f"{word} is not {word[len(prefix) :]}"
