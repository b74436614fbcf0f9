"""How surely two names name one thing, from the names alone, and why.

First the ways in which one thing is written twice (equal but for case, legal form, order, number of words; acronym;
plural), each with a score of its own; then, for names of several words, a logistic score of what they share.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from sensegraph.language import naming_words
from sensegraph.resolution.comparison.aligned import (
    Aligned,
    Lexis,
    align_names,
    is_plural,
    shared_code,
    veto_beside,
    veto_words,
)
from sensegraph.resolution.comparison.name_reading import Name, fold_word
from sensegraph.resolution.resolution_types import Judged

# The logistic score: fitted on pairs of names of the two tables that `bench/resolution.py` measures, each weighing
# alike, and moved so that `accept` stands where a little more than half of the pairs are right.
_BIAS, _SHARED, _CONTAINED, _CODE, _FIRST, _MORE = -8.2, 3.6, 4.9, 6.2, 1.7, -1.7
_SCALE = 7.0  # the weight of a word that one name in a thousand has
_EACH = 0.8  # at most, where each has a word of its own and nothing identifies them
_FEW = 5  # words of the shorter name up to which that is so
_WORDS = 3  # words from which what two names share is weighed
_ENGLISH = frozenset(("inc incorporated corp corporation co company ltd limited llc llp lp plc").split())

SHORT = frozenset(("alias", "acronym", "surname", "given", "initial", "bare", "title"))
"""Relations of a short name with a long one that others may have too: they hold while no rival does."""


def compare_names(a: Name, b: Name, words: Lexis) -> Judged:
    """How surely two names, no persons', are one. Symmetric."""
    if (b.core, b.raw) < (a.core, a.raw):
        a, b = b, a
    if not veto_beside(a, b) and (one := compare_keys(a, b) or compare_acronym(a, b)):
        return one
    found, code = align_names(a, b, words), shared_code(a, b, words)
    if why := veto_words(a, b, found, code):
        return Judged(0.0, why, "veto", veto=True)
    least = min(len(a.plain), len(b.plain))
    if one := _compare_rewritten(a, b, found):
        return one
    if not code and least < _WORDS and (one := _compare_part(found, a, b)):
        return one
    # Of names of several words, or with a code in common: a logistic score of what they share.
    z = _BIAS + _SHARED * math.log1p(found.weight / _SCALE) + _CONTAINED * found.contained + _CODE * bool(code)
    z += _FIRST * (a.plain[:1] == b.plain[:1]) + _MORE * (not found.one or not found.other)
    score = 1 / (1 + math.exp(-z))
    each = all(any(w not in naming_words.SMALL for w in words) for words in (found.one, found.other))
    if not code and least <= _FEW and each:
        score = min(score, _EACH)  # each says something that the other does not: Iowa, Colorado
    why = f"{100 * found.jaccard:.0f} % of their words by weight are shared"
    why += f"; both have {code}" if code else ""
    alone = [w for w in (" ".join(found.one[:4]), " ".join(found.other[:4])) if w]
    why += f"; alone: {' / '.join(alone)}" if alone else ""
    return Judged(score if code or least >= _WORDS else min(score, 0.3), why, "weighed")


def compare_keys(a: Name, b: Name) -> Judged | None:
    """Of names with equal keys, or equal but for blanks."""
    if a.key != b.key:
        if a.joined and a.joined == b.joined and a.digits == b.digits:
            sure = 0.95 if len(a.joined) > 4 or a.digits else 0.7
            return Judged(sure, "the same but for blanks and hyphens", "joined")
        return None
    # Names with equal keys may differ in what stands beside them.
    if fold_word(" ".join(a.raw.split())) == fold_word(" ".join(b.raw.split())):
        return Judged(0.99, "the same name", "same")
    if bool(a.qualifier) != bool(b.qualifier):
        sure = 0.8 if min(len(a.plain), len(b.plain)) <= _WORDS else 0.87
        return Judged(sure, f"only one is {' '.join(a.qualifier or b.qualifier)}", "bare")
    if a.legal and b.legal and a.legal != b.legal and not {*a.legal, *b.legal} <= _ENGLISH:
        return Judged(0.7, f"different legal forms: {' '.join(a.legal)}, {' '.join(b.legal)}", "legal")
    if a.kind != b.kind:
        return Judged(0.95, f"only one says that it is a {a.kind or b.kind}", "bare")
    if (a.woman, a.man) != (b.woman, b.man):
        return Judged(0.96, "the same name, one with a title", "title")
    return Judged(0.97, "the same name but for spelling, articles, titles or legal form", "key")


def compare_acronym(a: Name, b: Name) -> Judged | None:
    """Of an acronym and a name with these first letters."""
    for short, long in ((a, b), (b, a)):
        if short.letters and not long.letters and short.letters in long.acronyms:
            sure = 0.8 if len(short.letters) > 2 else 0.6
            return Judged(sure, f"{short.raw} has the first letters of {long.raw}", "acronym")
    return None


def _compare_rewritten(a: Name, b: Name, found: Aligned) -> Judged | None:
    """Of names whose words are all the other's, in another order, form or spelling."""
    if sorted(a.plain) == sorted(b.plain):
        return Judged(0.9, "the same words in another order", "order")
    if found.one or found.other or not found.near:
        return None
    quality = min(q for *_, q in found.near)
    changed = ", ".join(f"{x} as {y}" for x, y, _ in found.near)
    if all(q == 0.98 or is_plural(x, y) for x, y, q in found.near):
        lower = any(name.raw[-1:] and name.raw.split()[-1][0].islower() for name in (a, b))
        return Judged(0.93 if lower or len(a.plain) > 1 else 0.6, f"the same but for {changed}", "form")
    if quality >= 0.85 and min(len(a.plain), len(b.plain)) > 1:
        return Judged(0.9 if quality > 0.85 else 0.87, f"the same but for {changed}", "form")
    return Judged(0.6 if quality > 0.5 else 0.5, f"nearly the same: {changed}", "nearly")


def _compare_part(found: Aligned, a: Name, b: Name) -> Judged | None:
    """Of a name that is a part of the other, where it has too few words to be told by them."""
    if found.one and found.other:
        return None
    short, long = (a, b) if found.other else (b, a)
    more = found.other or found.one
    if len(short.core) == 1 and short.core[0] in naming_words.HEADS:
        return Judged(0.05, f"{short.raw} is a kind of thing, {long.raw} one of them", "head")
    after = next((w for w in more if w in naming_words.HEADS), "")
    if after:
        return Judged(0.05, f"a {after} is not what it is named after", "head")
    last = len(short.core) == 1 and len(long.core) in (2, 3) and long.core[-1] == short.core[0] and not long.numbers
    if last:
        return Judged(0.4, f"{short.raw} is the last word of {long.raw}", "last")
    return Judged(0.2, f"only one says {' '.join(more)}", "part")


@dataclass(frozen=True, slots=True)
class _Person:
    given: tuple[str, ...]
    family: str


def compare_persons(a: Name, b: Name) -> Judged:
    """How surely the names of two persons are one person's. Symmetric."""
    if (b.core, b.raw) < (a.core, a.raw):
        a, b = b, a
    if why := veto_beside(a, b):
        return Judged(0.0, why, "veto", veto=True)
    if a.numbers and b.numbers and a.numbers != b.numbers:
        return _judge_numbers(a, b)
    if bool(a.generation) != bool(b.generation):
        one, other = _read_person(a), _read_person(b)
        score = _judge_persons(one, other).score if one != other else 0.7
        return Judged(min(score, 0.7), f"only one is {a.generation or b.generation}", "generation")
    if alike := compare_keys(a, b) or compare_acronym(a, b):
        return alike
    if a.numbers != b.numbers:
        return _judge_numbers(a, b)
    return _judge_persons(_read_person(a), _read_person(b))


def _judge_numbers(a: Name, b: Name) -> Judged:
    said = " and ".join(" ".join(name.numbers) or "none" for name in (a, b))
    return Judged(0.0, f"different numbers: {said}", "veto", veto=True)


def _read_person(name: Name) -> _Person:
    words = list(name.core[:-1] if name.generation and len(name.core) > 1 else name.core)
    if not words:
        return _Person((), name.key)
    family = [words.pop()]
    while len(words) > 1 and words[-1] in naming_words.PARTICLES:
        family.insert(0, words.pop())
    return _Person(tuple(words), " ".join(family))


def _judge_persons(a: _Person, b: _Person) -> Judged:
    if not a.given and not b.given:
        return Judged(0.05, "different names", "different")
    if not a.given or not b.given:
        return _judge_one_name(a, b)
    if a.family.replace(" ", "") == b.family.replace(" ", ""):
        first = _judge_given(a.given[0], b.given[0])
        middles = (_judge_given(x, y) for x, y in zip(a.given[1:], b.given[1:], strict=False))
        vetoed = first if first.veto else next((middle for middle in middles if middle.veto), None)
        if vetoed:
            return vetoed
        if first.kind == "equal":
            return Judged(0.93, "one family and given name; the middle names agree", "middle names")
        return first
    one, other = sorted((*a.given, *a.family.split())), sorted((*b.given, *b.family.split()))
    if one == other:
        return Judged(0.7, "the same names in another order", "order")
    if a.given[0] == b.given[0] and (set(one) < set(other) or set(other) < set(one)):
        return Judged(0.6, "one has a further name", "further")
    return Judged(0.0, f"different family names: {a.family}, {b.family}", "veto", veto=True)


def _judge_one_name(a: _Person, b: _Person) -> Judged:
    """Of one name alone and a full name."""
    short, long = (a, b) if b.given else (b, a)
    full = f"{' '.join(long.given)} {long.family}"
    if short.family in (long.family, long.family.split()[-1]):
        return Judged(0.8, f"{short.family} is the family name of {full}", "surname")
    if short.family in long.given:
        first = short.family == long.given[0]
        score, kind = (0.7, "given") if first else (0.5, "middle")
        return Judged(score, f"{short.family} is a given name of {full}", kind)
    if long.given[0] in naming_words.NICKNAMES.get(short.family, ()):
        return Judged(0.6, f"{short.family} is short for {long.given[0]}", "nickname")
    return Judged(0.05, "different names", "different")


def _judge_given(x: str, y: str) -> Judged:
    short, long = sorted((x, y), key=len)
    if x == y:
        return Judged(0.95, f"both are {x}", "equal")
    if len(short) == 1 and long.startswith(short):
        return Judged(0.8, f"{short} may be the initial of {long}", "initial")
    if y in naming_words.NICKNAMES.get(x, ()) or x in naming_words.NICKNAMES.get(y, ()):
        return Judged(0.9, f"{short} is short for {long}", "nickname")
    if set(naming_words.NICKNAMES.get(x, ())) & set(naming_words.NICKNAMES.get(y, ())):
        return Judged(0.7, f"{short} and {long} are short for one name", "nickname")
    return Judged(0.0, f"different given names: {x}, {y}", "veto", veto=True)
