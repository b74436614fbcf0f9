"""Names of persons: family and given names, initials, short forms, and who cannot be the other."""

from __future__ import annotations

from dataclasses import dataclass

from sensegraph.language import naming_words
from sensegraph.resolution.comparison.likeness import compare_acronym, compare_keys
from sensegraph.resolution.comparison.name_reading import Name
from sensegraph.resolution.comparison.vetoes import veto_beside
from sensegraph.resolution.resolution_types import Judged


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
        return Judged(
            0.7 if first else 0.5, f"{short.family} is a given name of {full}", "given" if first else "middle"
        )
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
