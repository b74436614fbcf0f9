"""How surely two mentioned things are one: their names and aliases, their types, and what they have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import Flags, Floats, Ints, keep_distinct, number_distinct
from sensegraph.language import naming_words
from sensegraph.language.text import WORD, fold
from sensegraph.resolution.comparison.likeness import (
    KINDS,
    SHORT,
    WEIGHED,
    Comparison,
    Spoken,
    compare_spoken,
    read_spoken,
)
from sensegraph.resolution.comparison.name_columns import CountedWords, NameColumns, read_columns
from sensegraph.resolution.comparison.name_reading import Name, read_name
from sensegraph.resolution.resolution_types import Judged, Mentioned, Resolving

_LIST = 100  # names of a heap from which it says something


Agreement = Literal["agree", "differ", "conflict"]
_SAYS_NOTHING = frozenset(("", "other", "misc", "miscellaneous", "unknown", "entity", "thing", "concept", "none"))


@lru_cache(maxsize=1 << 12)
def kind_of_type(type: str) -> str:
    """The kind of thing that a type names: person, organisation, place…; its own folded text if it names none of them.

    Empty for a type that says nothing, such as `other`.
    """
    said = fold(type)
    if said in _SAYS_NOTHING:
        return ""
    words = [word for match in WORD.findall(said.replace("_", " ")) for word in match.split("-")]
    return next((naming_words.KINDS[word] for word in reversed(words) if word in naming_words.KINDS), said)


def compare_types(a: Mentioned, b: Mentioned, settings: Resolving) -> Agreement:
    """Whether two types may be one thing's: types of different known kinds conflict, unless the settings pair them."""
    return _compare_kinds(a.type, b.type, settings.cross_types)


@lru_cache(maxsize=1 << 14)
def _compare_kinds(a: str, b: str, cross_types: tuple[tuple[str, str], ...]) -> Agreement:
    one, other = kind_of_type(a), kind_of_type(b)
    types = {fold(a), fold(b)}
    paired = any({fold(x), fold(y)} == types for x, y in cross_types)
    if not one or not other or one == other or paired:
        return "agree"
    known = frozenset(naming_words.KINDS.values())
    return "conflict" if one in known and other in known else "differ"


Context = Literal["shared", "none", "strange", "unknown"]
"""Something in common; nothing; nothing although much is known of both; nothing is known."""
_NEIGHBOURS = 0.1  # Jaccard of neighbours, each weighing by how few have it, from which two have them in common
_MANY = 5  # neighbours of each from which having none in common is strange
_CLOSE, _FAR = 0.6, 0.2  # cosines of descriptions


_KIND = 0.3  # of a meeting and a board meeting: nobody is asked about them
_ASK = 0.8  # at most, where something speaks against one thing
_NAMED = 0.6  # from here on names alone do not decide, but what is known of things does
_SHARED = 0.7  # the last word of a name, where they have things in common
_AT_ONCE = 1 << 20  # pairs of which it is looked up at once what else is known of them
_SURE = 0.9  # a short name of only one thing here, where the context agrees


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """How surely each of some pairs is one, and by which relation: its number among `KINDS`."""

    score: Floats
    kind: NDArray[np.uint8]

    @classmethod
    def of(cls, judged: Sequence[Judged]) -> Scores:
        """The scores of these judgements."""
        numbers = [_NUMBERS[one.kind] for one in judged]
        return cls(np.array([one.score for one in judged], np.float64), np.array(numbers, np.uint8))

    def are(self, kinds: Iterable[str]) -> NDArray[np.bool_]:
        """Which pairs have one of these relations."""
        asked = np.zeros(len(KINDS), np.bool_)
        asked[[_NUMBERS[kind] for kind in kinds]] = True
        return asked[self.kind]


_NUMBERS = {kind: number for number, kind in enumerate(KINDS)}


@dataclass(frozen=True, slots=True, eq=False)
class Traits:
    """What is known of each of n things besides its names: the number of its type among `types`, that of the list which
    names each of its things once (0: it stands in none), and whether it is known where texts mention it.
    """

    types: Sequence[str]
    typed: Ints
    listed: Ints
    mentioned: NDArray[np.bool_]

    @classmethod
    def of(cls, items: Sequence[Mentioned]) -> Traits:
        """The traits of these things."""
        types = sorted({item.type for item in items})
        numbers = {kind: number for number, kind in enumerate(types)}
        lists = {name: number for number, name in enumerate(sorted({"", *(item.listed for item in items)}))}
        return cls(
            types,
            np.array([numbers[item.type] for item in items], np.int32),
            np.array([lists[item.listed] for item in items], np.int32),
            np.array([bool(item.places or item.neighbours) for item in items], np.bool_),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Collection:
    """All things to resolve, ascending by id, with the columns of their names (the aliases after it) and their traits.

    `called` says, for the key of a name, by which other keys the texts call it, `degree` how many have each neighbour;
    `vectors` of descriptions, unit length, shape (n, dim), are in the order of the items. `shown` are the names and
    aliases of each, which are known without what else its item tells; what they were `read_from` may have a key, and of
    ids the `hashes` may be known.
    """

    ids: Sequence[str]
    shown: Sequence[tuple[str, ...]]
    items: Sequence[Mentioned]
    columns: NameColumns
    traits: Traits
    called: Mapping[str, frozenset[str]]
    words: CountedWords
    degree: Mapping[str, int]
    settings: Resolving
    vectors: NDArray[Any] | None = None
    read_from: str = ""
    hashes: NDArray[np.uint64] | None = None

    def names(self, row: int) -> tuple[Name, ...]:
        """The names of a thing, read, its own first."""
        return read_spoken(self.speak(row))

    def judge(self, a: int, b: int) -> Judged:
        """How surely two things are one, before rivals are looked at. Symmetric."""
        one, other = self.items[a], self.items[b]
        if one.listed and one.listed == other.listed:
            return Judged(0.0, f"both stand in {one.listed}, which names each thing once", "listed", veto=True)
        types = compare_types(one, other, self.settings)
        if types == "conflict":
            return Judged(0.0, f"different types: {one.type}, {other.type}", "types", veto=True)
        found = compare_spoken(self.speak(a), self.speak(b), self.names(a), self.names(b), self.words)
        if found.veto:
            return found
        if found.kind == "last" and "concept" in (one.type.casefold(), other.type.casefold()):
            return replace(found, score=_KIND, why=f"{found.why}, which is a kind of thing and no name")
        if not self.tells_lead(a, b):
            found = bound_alone(found)
        if types == "differ" and found.score > _ASK:
            found = replace(found, score=_ASK, why=f"{found.why}; types differ: {one.type}, {other.type}")
        if found.score <= _NAMED and found.kind != "last":
            return found
        context = self.context(a, b)
        if context == "strange" and found.score > _NAMED:
            return replace(found, score=_NAMED, why=f"{found.why}, but all that is known of them differs")
        if found.kind == "last" and context == "shared":
            return replace(found, score=_SHARED, why=f"{found.why}, and they have things in common")
        return found

    def judge_each(self, one: Ints, other: Ints, compare: PairComparer) -> Scores:
        """`judge` of many pairs at once, given how alike their names are by `compare`."""
        score, kind = np.zeros(len(one)), np.full(len(one), _NUMBERS["types"], np.uint8)
        asked, differ = np.empty(len(one), np.bool_), np.empty(len(one), np.bool_)
        blocks = [slice(at, at + _AT_ONCE) for at in range(0, len(one), _AT_ONCE)]
        for block in blocks:
            listed, conflict, differ[block] = self._compare_traits(one[block], other[block])
            kind[block][listed], asked[block] = _NUMBERS["listed"], ~listed & ~conflict
        named = compare(self, one, other) if asked.all() else compare(self, one[asked], other[asked])
        kind[asked], score[asked] = named.kind, named.score
        del named
        for block in blocks:
            self._weigh_knowledge(one[block], other[block], asked[block], differ[block], kind[block], score[block])
        return Scores(score, kind)

    def _compare_traits(self, one: Ints, other: Ints) -> tuple[Flags, Flags, Flags]:
        """Which pairs stand in a list that names each thing once, and of which the types conflict or differ."""
        traits, size = self.traits, max(len(self.traits.types), 1)
        typed = traits.typed[one].astype(np.int64) * size + traits.typed[other]
        pairs, _, where = number_distinct(typed)
        kinds = [(traits.types[pair // size], traits.types[pair % size]) for pair in pairs.tolist()]
        found = [_compare_kinds(a, b, self.settings.cross_types) for a, b in kinds]
        said = (np.array([agreement == wanted for agreement in found], np.bool_) for wanted in ("conflict", "differ"))
        conflict, differ = (of[where] for of in said)
        return (traits.listed[one] > 0) & (traits.listed[one] == traits.listed[other]), conflict, differ

    def _weigh_knowledge(
        self, one: Ints, other: Ints, asked: Flags, differ: Flags, kind: NDArray[np.uint8], score: Floats
    ) -> None:
        """Bound the `score` of pairs, in place, by what is known of the things besides their names."""
        traits = self.traits
        concepts = np.array([name.casefold() == "concept" for name in traits.types], np.bool_)
        of_kinds = asked & (kind == _NUMBERS["last"]) & (concepts[traits.typed[one]] | concepts[traits.typed[other]])
        score[of_kinds] = _KIND
        free = asked & (kind != _NUMBERS["veto"]) & ~of_kinds
        alone = free & ~self.tell_leads(one, other)
        for name, most in WEIGHED.items():
            score[alone & (kind == _NUMBERS[name]) & (score > most)] = most
        score[free & differ & (score > _ASK)] = _ASK
        last = kind == _NUMBERS["last"]
        for i in np.flatnonzero(free & ((score > _NAMED) | last)).tolist():
            context = self.context(int(one[i]), int(other[i]))
            if context == "strange" and score[i] > _NAMED:
                score[i] = _NAMED
            elif last[i] and context == "shared":
                score[i] = _SHARED

    def tells_lead(self, a: int, b: int) -> bool:
        """Whether it says something of two things that no other is likelier: they stand in lists, or in a long heap.

        What texts mention seldom has a second name, so there it says nothing.
        """
        return bool(self.tell_leads(np.array([a], np.int32), np.array([b], np.int32))[0])

    def tell_leads(self, one: Ints, other: Ints) -> NDArray[np.bool_]:
        """`tells_lead` of many pairs."""
        listed, mentioned = self.traits.listed, self.traits.mentioned
        both = (listed[one] > 0) & (listed[other] > 0)
        return both | ((len(self.items) >= _LIST) & ~(mentioned[one] & mentioned[other]))

    def context(self, a: int, b: int) -> Context:
        """What two things have in common."""
        x, y, cosine = self.items[a], self.items[b], self._cosine(a, b)
        one, other = set(x.neighbours), set(y.neighbours)
        places = bool(x.places) and bool(y.places)
        if places and not set(x.places).isdisjoint(y.places):
            return "shared"
        both = one & other
        jaccard = self._weight(both) / max(self._weight(one | other), 1e-9) if both else 0.0
        if y.id in one or x.id in other or jaccard >= _NEIGHBOURS or (cosine is not None and cosine >= _CLOSE):
            return "shared"
        apart = not both and (cosine is None or cosine < _FAR)
        if apart and min(len(one), len(other)) >= (_MANY if cosine is None else _MANY - 2):
            return "strange"
        return "none" if places or (one and other) or cosine is not None else "unknown"

    def _weight(self, neighbours: Iterable[str]) -> float:
        return sum(1 / self.degree[n] for n in sorted(neighbours))

    def _cosine(self, a: int, b: int) -> float | None:
        if self.vectors is None or not self.vectors[a].any() or not self.vectors[b].any():
            return None
        return float(np.dot(self.vectors[a], self.vectors[b]))

    def make_comparison(self, row: int, others: Iterable[int]) -> Comparison:
        """A thing with those that it is compared with."""
        frequency = self.words.frequency
        one, *spoken = map(self.speak, (row, *others))
        words = sorted({w for said in (one, *spoken) for n in read_spoken(said) for w in (*n.core, *n.qualifier)})
        known = [(w, many) for w in words if (many := frequency.get(w, 0))]
        return Comparison(one, tuple(spoken), self.words.names, tuple(known))

    def speak(self, row: int) -> Spoken:
        """The names of a thing, and what else decides how alike they are to others."""
        names, person = self.shown[row], kind_of_type(self.traits.types[self.traits.typed[row]]) == "person"
        called = self.called.get(read_name(names[0], person).key, ()) if self.called else ()
        return Spoken(names, person, tuple(sorted(called)))


PairComparer = Callable[[Collection, Ints, Ints], Scores]
"""Says how alike the names of pairs of a collection are, whatever else is known of them; in the order of the first."""


def compare_pairs(found: Collection, one: Ints, other: Ints) -> Scores:
    """How alike the names of these pairs are."""
    rows = keep_distinct(np.concatenate((one, other))).tolist()
    spoken = {row: (said := found.speak(row), read_spoken(said)) for row in rows}
    ends = ((spoken[a], spoken[b]) for a, b in zip(one.tolist(), other.tolist(), strict=True))
    return Scores.of([compare_spoken(a[0], b[0], a[1], b[1], found.words, explained=False) for a, b in ends])


class Comparisons(Sequence[Comparison]):
    """Each thing of some pairs with those that it is compared with, made when it is asked for.

    The pairs of a thing stand together, by the first of each.
    """

    def __init__(self, found: Collection, one: Ints, other: Ints) -> None:
        self._found, self._one, self._other = found, one, other
        self._begin = [*np.flatnonzero(np.diff(one, prepend=-1)).tolist(), len(one)]

    def __len__(self) -> int:
        return len(self._begin) - 1

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(len(self))[index]]
        row, others = self._at(range(len(self))[index])
        return self._found.make_comparison(row, others.tolist())

    def _at(self, index: int) -> tuple[int, Ints]:
        begin, end = self._begin[index : index + 2]
        return int(self._one[begin]), self._other[begin:end]


def bound_alone(found: Judged) -> Judged:
    """A judgement of names that were weighed, where nothing is known of others that may be likelier."""
    most = WEIGHED.get(found.kind, 1.0)
    return found if found.score <= most else replace(found, score=most)


def weigh_rival(found: Judged, rival: str, context: Context) -> Judged:
    """A judgement of a short name once rivals are known: `rival` is another thing that it may be short for, or empty.

    Without a rival, a family name, an acronym or an initial is taken for the one thing that it fits, unless the
    contexts are known and have nothing in common; a given name only where they have something in common.
    """
    if found.kind not in SHORT:
        return found
    if rival:
        return replace(found, score=min(found.score, _ASK), why=f"{found.why}; so may be {rival}")
    if context == "shared" and found.score >= 0.6:
        return replace(found, score=max(found.score, _SURE), why=f"{found.why}; they have things in common")
    if context == "unknown" and found.kind in ("acronym", "surname") and found.score >= _ASK:
        return replace(found, score=max(found.score, 0.87), why=f"{found.why}; nothing else here fits")
    return found


def prepare_collection(
    items: Sequence[Mentioned], settings: Resolving, vectors: NDArray[Any] | None = None
) -> Collection:
    """Things, ascending by id, ready to be compared; `vectors` of their descriptions in the same order."""
    columns = read_columns(((item.name, *item.aliases), kind_of_type(item.type) == "person") for item in items)
    # For the key of each name the keys of all that the texts call it, whichever thing bears it.
    called: dict[str, frozenset[str]] = {}
    for item in items:
        if item.aliases:
            read = (read_name(name, kind_of_type(item.type) == "person") for name in (item.name, *item.aliases))
            first, *others = dict.fromkeys(read)
            if others:
                called[first.key] = called.get(first.key, frozenset()) | {other.key for other in others}
    degree = Counter(chain.from_iterable(set(item.neighbours) for item in items))
    words = columns.count_words()
    ids, shown = [item.id for item in items], [(item.name, *item.aliases) for item in items]
    return Collection(ids, shown, items, columns, Traits.of(items), called, words, degree, settings, vectors)
