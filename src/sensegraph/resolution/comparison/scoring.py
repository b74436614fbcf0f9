"""How surely two mentioned things are one: their names and aliases, their types, and what they have in common."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sensegraph.language import naming_words
from sensegraph.language.text import WORD, fold
from sensegraph.resolution.comparison.aligned import FEW_NAMES, Lexis
from sensegraph.resolution.comparison.likeness import SHORT, WEIGHED, Comparer, Comparison, Spoken, compare_spoken
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
_SURE = 0.9  # a short name of only one thing here, where the context agrees


@dataclass(frozen=True, slots=True, eq=False)
class Collection:
    """All things to resolve, ascending by id, with their names read (the aliases after it) and their contexts.

    `called` says, for the key of a name, by which other keys the texts call it, `degree` how many have each neighbour;
    `vectors` of descriptions, unit length, shape (n, dim), are in the order of the items.
    """

    items: Sequence[Mentioned]
    names: Sequence[tuple[Name, ...]]
    called: Mapping[str, frozenset[str]]
    words: Lexis
    degree: Mapping[str, int]
    settings: Resolving
    vectors: NDArray[Any] | None = None

    def judge(self, a: int, b: int, named: Judged | None = None) -> Judged:
        """How surely two things are one, before rivals are looked at; `named` says it of their names. Symmetric."""
        one, other = self.items[a], self.items[b]
        if one.listed and one.listed == other.listed:
            return Judged(0.0, f"both stand in {one.listed}, which names each thing once", "listed", veto=True)
        types = compare_types(one, other, self.settings)
        if types == "conflict":
            return Judged(0.0, f"different types: {one.type}, {other.type}", "types", veto=True)
        found = named or compare_spoken(self._spoken(a), self._spoken(b), self.names[a], self.names[b], self.words)
        if found.veto:
            return found
        if found.kind == "last" and "concept" in (one.type.casefold(), other.type.casefold()):
            return replace(found, score=_KIND, why=f"{found.why}, which is a kind of thing and no name")
        if not self.tells_lead(a, b):
            found = bound_alone(found)
        if types == "differ" and found.score > _ASK:
            found = replace(found, score=_ASK, why=f"{found.why}; types differ: {one.type}, {other.type}")
        if found.score <= 0.6 and found.kind != "last":
            return found
        context = self.context(a, b)
        if context == "strange" and found.score > 0.6:
            return replace(found, score=0.6, why=f"{found.why}, but all that is known of them differs")
        if found.kind == "last" and context == "shared":
            return replace(found, score=0.7, why=f"{found.why}, and they have things in common")
        return found

    def tells_lead(self, a: int, b: int) -> bool:
        """Whether it says something of two things that no other is likelier: they stand in lists, or in a long heap.

        What texts mention seldom has a second name, so there it says nothing.
        """
        one, other = self.items[a], self.items[b]
        if one.listed and other.listed:
            return True
        mentioned = (one.places or one.neighbours) and (other.places or other.neighbours)
        return len(self.items) >= _LIST and not mentioned

    def context(self, a: int, b: int) -> Context:
        """What two things have in common."""
        x, y, cosine = self.items[a], self.items[b], self._cosine(a, b)
        one, other = set(x.neighbours), set(y.neighbours)
        places = bool(x.places) and bool(y.places)
        if places and not set(x.places).isdisjoint(y.places):
            return "shared"
        jaccard = self._weight(one & other) / max(self._weight(one | other), 1e-9)
        if y.id in one or x.id in other or jaccard >= _NEIGHBOURS or (cosine is not None and cosine >= _CLOSE):
            return "shared"
        apart = one.isdisjoint(other) and (cosine is None or cosine < _FAR)
        if apart and min(len(one), len(other)) >= (_MANY if cosine is None else _MANY - 2):
            return "strange"
        return "none" if places or (one and other) or cosine is not None else "unknown"

    def _weight(self, neighbours: Iterable[str]) -> float:
        return sum(1 / self.degree[n] for n in sorted(neighbours))

    def _cosine(self, a: int, b: int) -> float | None:
        if self.vectors is None or not self.vectors[a].any() or not self.vectors[b].any():
            return None
        return float(np.dot(self.vectors[a], self.vectors[b]))

    def compare_pairs(self, pairs: Sequence[tuple[int, int]], compare: Comparer) -> dict[tuple[int, int], Judged]:
        """How alike the names of pairs are, but of those that are two things whatever they are called."""
        others: dict[int, list[int]] = defaultdict(list)
        for a, b in pairs:
            one, other = self.items[a], self.items[b]
            same_list = bool(one.listed) and one.listed == other.listed
            if not same_list and compare_types(one, other, self.settings) != "conflict":
                others[a].append(b)
        asked, rows = [], sorted({*others, *(b for bs in others.values() for b in bs)})
        spoken = {row: self._spoken(row) for row in rows}
        held = {row: {w for n in self.names[row] for w in (*n.core, *n.qualifier, *n.codes)} for row in rows}
        frequency = self.words.frequency
        for a, bs in others.items():
            words = sorted(set().union(held[a], *(held[b] for b in bs)))
            known = tuple((w, frequency[w]) for w in words if w in frequency)
            asked.append(Comparison(spoken[a], tuple(spoken[b] for b in bs), self.words.names, known))
        judged = zip(others.items(), compare(asked), strict=True)
        return {(a, b): one for (a, bs), row in judged for b, one in zip(bs, row, strict=True)}

    def _spoken(self, row: int) -> Spoken:
        item, names = self.items[row], self.names[row]
        called = tuple(sorted(self.called.get(names[0].key, ())))
        return Spoken((item.name, *item.aliases), kind_of_type(item.type) == "person", called)


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
    names = []
    for item in items:
        person = kind_of_type(item.type) == "person"
        names.append(tuple(dict.fromkeys(read_name(name, person) for name in (item.name, *item.aliases))))
    # For the key of each name the keys of all that the texts call it, whichever thing bears it.
    called: dict[str, frozenset[str]] = {}
    for first, *others in names:
        if others:
            called[first.key] = called.get(first.key, frozenset()) | {other.key for other in others}
    distinct = sorted({name.core for known in names for name in known})
    # to four binary digits: one name more changes how much words tell seldom, and not by every name
    counted = len(distinct) & -(1 << max(0, len(distinct).bit_length() - 4))
    words = Lexis(max(counted, FEW_NAMES), MappingProxyType(Counter(w for core in distinct for w in set(core))))
    degree = Counter(chain.from_iterable(set(item.neighbours) for item in items))
    return Collection(items, names, MappingProxyType(called), words, MappingProxyType(degree), settings, vectors)
