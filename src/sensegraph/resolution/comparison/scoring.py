"""How surely two mentioned things are one: their names and aliases, their types, and what they have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from numpy.typing import NDArray

from sensegraph.resolution.comparison.aligned import Lexis, count_words
from sensegraph.resolution.comparison.context import Context, Surroundings, collect_surroundings
from sensegraph.resolution.comparison.likeness import SHORT, compare_names
from sensegraph.resolution.comparison.name_reading import Name, read_name
from sensegraph.resolution.comparison.persons import compare_persons
from sensegraph.resolution.entity_kinds import compare_types, kind_of_type
from sensegraph.resolution.resolution_types import Judged, Mentioned, Resolving

_ASK = 0.8  # at most, where something speaks against one thing
_CALLED = 0.95  # where the texts themselves give the other name
_SURE = 0.9  # a short name of only one thing here, where the context agrees


@dataclass(frozen=True, slots=True, eq=False)
class Collection:
    """All things to resolve, ascending by id, with their names read (the aliases after it) and their contexts.

    `called` says, for the key of a name, by which other keys the texts call it.
    """

    items: Sequence[Mentioned]
    names: Sequence[tuple[Name, ...]]
    called: Mapping[str, frozenset[str]]
    words: Lexis
    around: Surroundings
    settings: Resolving

    def judge(self, a: int, b: int) -> Judged:
        """How surely two things are one, before rivals are looked at. Symmetric."""
        one, other = self.items[a], self.items[b]
        if one.listed and one.listed == other.listed:
            return Judged(0.0, f"both stand in {one.listed}, which names each thing once", "listed", veto=True)
        types = compare_types(one, other, self.settings)
        if types == "conflict":
            return Judged(0.0, f"different types: {one.type}, {other.type}", "types", veto=True)
        found = self._named(a, b)
        if found.veto:
            return found
        if types == "differ" and found.score > _ASK:
            found = replace(found, score=_ASK, why=f"{found.why}; types differ: {one.type}, {other.type}")
        return self._in_context(found, self.context(a, b))

    def context(self, a: int, b: int) -> Context:
        """What two things have in common."""
        return self.around.of((a, self.items[a]), (b, self.items[b]))

    def _named(self, a: int, b: int) -> Judged:
        """The surest of all pairs of a name and an alias; a veto between the names themselves holds."""
        person = "person" in (kind_of_type(self.items[a].type), kind_of_type(self.items[b].type))
        best = self._compared(self.names[a][0], self.names[b][0], person)
        if best.veto or best.score >= _CALLED:
            return best
        if said := self._declared(self.names[a][0], self.names[b][0]):
            return said
        if len(self.names[a]) + len(self.names[b]) == 2:
            return best
        for x in self.names[a]:
            for y in self.names[b]:
                found = self._compared(x, y, person)
                if min(found.score, _CALLED) > best.score and not found.veto:
                    why = f"{x.raw}, {y.raw}: {found.why}"
                    best = Judged(min(found.score, _CALLED), why, "alias" if found.score >= _CALLED else found.kind)
        return best

    def _declared(self, x: Name, y: Name) -> Judged | None:
        """Of two names of which the texts say somewhere that one is called the other."""
        if y.key in self.called.get(x.key, ()) or x.key in self.called.get(y.key, ()):
            return Judged(_CALLED, f"the texts call one the other: {x.raw}, {y.raw}", "alias")
        return None

    def _compared(self, x: Name, y: Name, person: bool) -> Judged:
        return compare_persons(x, y) if person else compare_names(x, y, self.words)

    def _in_context(self, found: Judged, context: Context) -> Judged:
        if context == "strange" and found.score > 0.6:
            return replace(found, score=0.6, why=f"{found.why}, but all that is known of them differs")
        if found.kind == "last" and context == "shared":
            return replace(found, score=0.7, why=f"{found.why}, and they have things in common")
        return found


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
    words = count_words(name for known in names for name in known)
    return Collection(items, names, MappingProxyType(called), words, collect_surroundings(items, vectors), settings)


def map_positions(items: Sequence[Mentioned]) -> Mapping[str, int]:
    """The position of each id."""
    return {item.id: place for place, item in enumerate(items)}
