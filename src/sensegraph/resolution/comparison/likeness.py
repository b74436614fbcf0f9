"""How alike two names are, and the names of one thing to those of others: nothing else is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from sensegraph.language import naming_words
from sensegraph.resolution.comparison.aligned import (
    Aligned,
    Lexis,
    align_names,
    is_plural,
    list_reasons,
    shared_code,
    veto_beside,
)
from sensegraph.resolution.comparison.name_reading import Name, fold_word, read_name
from sensegraph.resolution.comparison.weighing import describe_pair, weigh_pair
from sensegraph.resolution.resolution_types import Judged

KINDS = (
    "", "listed", "types", "veto", "same", "joined", "bare", "legal", "title", "key", "acronym", "order", "form",
    "nearly", "head", "last", "part", "weighed", "own", "few", "within", "generation", "different", "middle names",
    "surname", "given", "middle", "initial", "nickname", "further", "alias",
)  # fmt: skip
"""Relations of two things by their names, types and lists, as they are numbered in columns."""
VETOES = frozenset(("listed", "types", "veto"))
"""Relations by which two things are two."""
_CALLED = 0.95  # where the texts themselves give the other name
_ENGLISH = frozenset(("inc incorporated corp corporation co company ltd limited llc llp lp plc").split())
_WORDS = 3  # words from which a name that is a part of the other may be its short form

_FEW = 5  # words of the shorter name up to which words of their own make them two things, if there is nothing else
WEIGHED = MappingProxyType({"weighed": 1.0, "own": 0.8, "few": 0.3, "within": 0.2})
"""Relations of names that are weighed, with how sure they may be where it says nothing that none is likelier."""

SHORT = frozenset(("alias", "acronym", "surname", "given", "initial", "nickname", "bare", "title"))
"""Relations of a short name with a long one that others may have too: they hold while no rival does."""


def compare_names(a: Name, b: Name, words: Lexis, *, explained: bool = True) -> Judged:
    """How surely two names, no persons', are one; why they are weighed so is left out unless `explained`. Symmetric."""
    if (b.core, b.raw) < (a.core, a.raw):
        a, b = b, a
    beside = veto_beside(a, b)
    if not beside and (one := compare_keys(a, b) or compare_acronym(a, b)):
        return one
    found, code = align_names(a, b, words), shared_code(a, b, words)
    if why := beside or next(list_reasons(a, b, found, code), ""):
        return Judged(0.0, why, "veto", veto=True)
    least = min(len(a.plain), len(b.plain))
    if one := _compare_rewritten(a, b, found):
        return one
    if not code and least < _WORDS and (one := _compare_part(found, a, b)):
        return one
    features = describe_pair(a, b, found, code, words)
    score = weigh_pair(features)
    kind = "weighed"
    if not code and least < _WORDS:
        kind = "few" if found.one and found.other else "within"
    elif not code and least <= _FEW:
        own = [not naming_words.SMALL.issuperset(alone) for alone in (found.one, found.other)]
        if least <= (_FEW if all(own) else _WORDS + 1) and any(own):
            kind = "own"  # one or each says something that the other does not: Iowa, Colorado
    why = ""
    if explained:
        alone = [w for w in (" ".join(found.one[:4]), " ".join(found.other[:4])) if w]
        why = f"{100 * features[0]:.0f} % of their words by weight are shared"
        why += (f"; both have {code}" if code else "") + (f"; alone: {' / '.join(alone)}" if alone else "")
    return Judged(score if code or least > 1 else min(score, 0.3), why, kind)


def compare_keys(a: Name, b: Name) -> Judged | None:
    """Of names with equal keys, or equal but for blanks."""
    if a.key != b.key:
        first, second = (a.core or " ")[0][:1], (b.core or " ")[0][:1]  # where these differ, so do what they begin
        if (
            (first == second or first in " ." or second in " .")
            and a.joined
            and a.joined == b.joined
            and a.digits == b.digits
        ):
            sure = 0.95 if len(a.joined) > 4 or a.digits else 0.7
            return Judged(sure, "the same but for blanks and hyphens", "joined")
        return None
    # Names with equal keys may differ in what stands beside them.
    if fold_word(" ".join(a.raw.split())) == fold_word(" ".join(b.raw.split())):
        return Judged(0.99, "the same name", "same")
    if bool(a.qualifier) != bool(b.qualifier):
        sure = 0.8 if len(a.plain) <= _WORDS else 0.87
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
    if not a.letters and not b.letters:
        return None
    for short, long in ((a, b), (b, a)):
        if short.letters and not long.letters and short.letters in long.acronyms:
            sure = 0.8 if len(short.letters) > 2 else 0.6
            return Judged(sure, f"{short.raw} has the first letters of {long.raw}", "acronym")
    return None


def _compare_rewritten(a: Name, b: Name, found: Aligned) -> Judged | None:
    """Of names whose words are all the other's, in another order, form or spelling."""
    if len(a.plain) == len(b.plain) and sorted(a.plain) == sorted(b.plain):
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
    if len(short.plain) > 1:
        return None
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
        score = min(0.7, _judge_persons(one, other).score) if one != other else 0.7
        return Judged(score, f"only one is {a.generation or b.generation}", "generation")
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
        return vetoed or first
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
        return Judged(0.93, "one family and given name; the middle names agree", "middle names")
    if len(short) == 1 and long.startswith(short):
        return Judged(0.8, f"{short} may be the initial of {long}", "initial")
    if y in naming_words.NICKNAMES.get(x, ()) or x in naming_words.NICKNAMES.get(y, ()):
        return Judged(0.9, f"{short} is short for {long}", "nickname")
    if set(naming_words.NICKNAMES.get(x, ())) & set(naming_words.NICKNAMES.get(y, ())):
        return Judged(0.7, f"{short} and {long} are short for one name", "nickname")
    return Judged(0.0, f"different given names: {x}, {y}", "veto", veto=True)


@dataclass(frozen=True, slots=True)
class Spoken:
    """The names of a thing, its own first, whether it is a person, and by which keys texts call who has its own."""

    names: tuple[str, ...]
    person: bool
    called: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """A thing and those that it is compared with by name, and all that decides how alike they are.

    `distinct` and `frequency` are of the collection: how many names it has, and how many have each word of these.
    """

    one: Spoken
    others: tuple[Spoken, ...]
    distinct: int
    frequency: tuple[tuple[str, int], ...]

    def judge(self) -> tuple[Judged, ...]:
        """How alike the thing is to each of the others; why is left out for names that are weighed."""
        words, read = Lexis(self.distinct, dict(self.frequency)), read_spoken(self.one)
        judge = partial(compare_spoken, self.one, names=read, words=words, explained=False)
        return tuple(judge(other, others=read_spoken(other)) for other in self.others)


def read_spoken(one: Spoken) -> tuple[Name, ...]:
    """The names of a thing, each once."""
    read = [read_name(name, one.person) for name in one.names]
    return tuple(read if len(read) == 1 else dict.fromkeys(read))


def compare_spoken(
    one: Spoken, other: Spoken, names: Sequence[Name], others: Sequence[Name], words: Lexis, *, explained: bool = True
) -> Judged:
    """The surest of all pairs of a name and an alias; a veto between the names themselves holds.

    Why names are weighed so is left out unless `explained`.
    """
    compare = (
        compare_persons if one.person or other.person else partial(compare_names, words=words, explained=explained)
    )
    own, its = names[0], others[0]
    best = compare(own, its)
    if best.veto or best.score >= _CALLED:
        return best
    if its.key in one.called or own.key in other.called:
        return Judged(_CALLED, f"the texts call one the other: {own.raw}, {its.raw}", "alias")
    if len(names) + len(others) == 2:
        return best
    for x in names:
        for y in others:
            found = compare(x, y)
            if min(found.score, _CALLED) > best.score and not found.veto:
                why = f"{x.raw}, {y.raw}: {found.why}"
                best = Judged(min(found.score, _CALLED), why, "alias" if found.score >= _CALLED else found.kind)
    return best
