"""A part of an index that one method reads: how it is built, foreseen, read and restricted, behind one interface.

A part is found by its name: among those that a program gives, in the table of the package, or among the entry points
`sensegraph.parts` of installed packages. It is imported when it is first used.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

import numpy as np

from sensegraph.algorithms.ranking import Stack
from sensegraph.built_in_parts import BUILT_IN
from sensegraph.errors import NotIndexed, SettingsError
from sensegraph.index.manifest import MadePart, Manifest, columns_of_catalogue
from sensegraph.index.vectors import open_stack
from sensegraph.plugins import load_plugin, plugin_names
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import Result, Results, Table
from sensegraph.types import Chunk, Graph, Hierarchy

if TYPE_CHECKING:
    from sensegraph.index.estimate import Foresight, StepEstimate
    from sensegraph.index.hierarchy.communities import Communities, Earlier
    from sensegraph.index.index import Index
    from sensegraph.index.manifest import Catalogue
    from sensegraph.index.restricted.moment import TimedIndex
    from sensegraph.index.restricted.scope import ScopedIndex
    from sensegraph.index.settings import IndexSettings
    from sensegraph.runtime.runtime import Runtime

SPINE = ("graph", "reports")  # what every index may have; all other parts stand on these and on the chunks
T = TypeVar("T")
S = TypeVar("S")
Stage = Literal["beside", "within", "over"]


@dataclass(frozen=True)
class Spine:
    """What all methods share of an index that is being built, before its vectors and lookups.

    `documents` are the keys of the documents, `by_document` the chunks of each. `quoted` says whether what is described
    and reported may be shown as the sources' own words; `fresh` that nothing starts from an earlier build. `made` are
    parts that are there already.
    """

    catalogue: Result[Catalogue]
    documents: Sequence[str]
    by_document: Results[tuple[Chunk, ...]]
    graph: Result[Graph] | None = None
    structure: str = ""
    communities: Result[Communities] | None = None
    hierarchy: Result[Hierarchy] | None = None
    quoted: bool = True
    notes: tuple[str, ...] = ()
    fresh: bool = False
    made: dict[str, MadePart] = field(default_factory=dict)

    def __reduce__(self) -> tuple[Any, ...]:
        # not what was found out since, maybe in another thread while this one travels
        return type(self), tuple(getattr(self, f.name) for f in fields(self))

    def chunks(self) -> Iterator[Chunk]:
        """All chunks in the order of the catalogue."""
        for found in self.by_document:
            yield from found

    @cached_property
    def sizes(self) -> list[int]:
        """How many chunks each document has."""
        held_by = columns_of_catalogue(self.catalogue.value).held_by
        found: list[int] = np.bincount(held_by, minlength=len(self.documents)).tolist()
        return found

    def texts(self, ids: Sequence[str]) -> dict[str, Chunk]:
        """The chunks with these ids; only the documents that hold one are read."""
        wanted, entries = set(ids), self.catalogue.value.chunks
        if not isinstance(entries, Table) or 4 * len(wanted) > len(entries):
            return {c.id: c for c in self.chunks() if c.id in wanted}
        holding = {e.key for e in entries.find(sorted(wanted)).values()}
        places = [place for place, name in enumerate(self.by_document.keys) if name in holding]
        return {c.id: c for found in self.by_document.at(places) for c in found if c.id in wanted}

    @cached_property
    def chunks_key(self) -> str:
        """What stands for all chunks."""
        return key(*self.by_document.keys)


@dataclass(frozen=True, slots=True)
class Building:
    """What a part is built from: the spine, and the index as far as it is (`manifest`; none beside the spine).

    `earlier` is the key of the part in the index that is there, empty where an update has nothing to start from.
    """

    spine: Spine
    rt: Runtime
    settings: IndexSettings
    earlier: str
    manifest: Manifest | None = None

    @property
    def chunks(self) -> Callable[[], Iterable[Chunk]]:
        """Reads all chunks in the order of the catalogue."""
        return self.spine.chunks

    @property
    def chunks_key(self) -> str:
        """What stands for all chunks."""
        return self.spine.chunks_key

    @property
    def graph(self) -> Result[Graph]:
        """The graph. Raises NotIndexed where there is none: a part that reads it `needs` it."""
        if self.spine.graph is None:
            raise NotIndexed("This index is built without a graph; a part that reads it must say that it needs it.")
        return self.spine.graph

    @property
    def whole(self) -> Manifest:
        """The index as far as it is. Raises NotIndexed for a part that is built beside the spine."""
        if self.manifest is None:
            raise NotIndexed("A part that is built beside the chunks' vectors cannot read the rest of the index.")
        return self.manifest

    def entity_vectors(self) -> Result[Stack]:
        """The vectors of the entities, shape (entities, dim)."""
        name = self.whole.entity_vectors
        return Result(name, open_stack(self.rt.store, name))


@dataclass(frozen=True, slots=True)
class PartEstimate:
    """What a part would take: its steps, the texts that it would embed, and graphs on whose communities reports are
    written for it, each with the communities of the build before.
    """

    steps: tuple[StepEstimate, ...] = ()
    texts: Sequence[str] = ()
    reported: tuple[tuple[Graph, Earlier | None], ...] = ()


@dataclass(frozen=True, slots=True)
class NoSettings:
    """The settings of a part that has none."""


class Part(ABC, Generic[T, S]):
    """One part of an index: a value of type T that a method reads with `index.part(PART)`, built by settings of type S.

    `name` stands in `index.parts` and in the manifest; it never changes. `needs` are the parts that it is made from.
    `reader` is the method that messages name for it. `kinds` are the kinds of vectors that it brings. `settings` is a
    frozen dataclass with defaults, whose table is `[index.NAME]`. `stage` says when it is built: `beside` the vectors
    of the chunks, from the chunks alone; `within` the index, whose own vectors are there; `over` all other parts.

    Everything that `build` computes must be a step (`rt.each`, `rt.once`): so it is resumed, updated and collected.
    """

    name: str
    needs: tuple[str, ...] = ()
    reader: str = "NAME"
    kinds: tuple[str, ...] = ()
    stage: Stage = "within"
    settings: type[S]

    @abstractmethod
    def build(self, building: Building, settings: S) -> MadePart:
        """Build the part, or find it built."""

    def estimate(self, foresight: Foresight, settings: S) -> PartEstimate:
        """What building it would take, where calls cost money; nothing is paid. Nothing, unless a part says more."""
        return PartEstimate()

    @abstractmethod
    def read(self, index: Index) -> T:
        """The part of an index, which has it."""

    @abstractmethod
    def restrict_to_scope(self, value: T, index: ScopedIndex) -> T:
        """What is left of the part inside a filter: `index` is what is left of the rest."""

    def restrict_to_moment(self, value: T, index: TimedIndex) -> T:
        """What is left of a part inside a filter at a moment; all of it where the part holds no statements."""
        return value

    def positions(self, kind: str, index: ScopedIndex) -> Sequence[int]:
        """The positions of the records of one of its `kinds` inside a filter, among those of the whole index."""
        raise NotImplementedError(f"The part {self.name!r} does not say which vectors of kind {kind!r} are left.")


# ── finding parts ──


def find_part(name: str, given: Iterable[Part[Any, Any]] = ()) -> Part[Any, Any]:
    """The part of this name: of those `given`, of ours, or of an installed package.

    Raises SettingsError for a name that nobody knows.
    """
    own = {part.name: part for part in given}
    if name in own:
        return own[name]
    if name not in BUILT_IN:
        if name in plugin_names("parts"):
            loaded: Part[Any, Any] = load_plugin("parts", name)
            return loaded
        known = list(known_parts(own.values()))
        near = get_close_matches(name, known, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}."
        raise SettingsError(
            f"No index has a part {name!r}; {hint} A part of a package that is not installed here can be neither built "
            "nor read."
        )
    module, _, attribute = BUILT_IN[name].place.partition(":")
    found: Part[Any, Any] = getattr(import_module(module), attribute)
    return found


def known_parts(given: Iterable[Part[Any, Any]] = ()) -> tuple[str, ...]:
    """The names of all parts, in the order in which they are built."""
    return tuple(dict.fromkeys([*SPINE, *BUILT_IN, *plugin_names("parts"), *(part.name for part in given)]))


def needs_of(name: str, given: Iterable[Part[Any, Any]] = ()) -> tuple[str, ...]:
    """The parts that a part is made from. Raises SettingsError for a name that nobody knows."""
    if name in SPINE:
        return SPINE[: SPINE.index(name)]
    return BUILT_IN[name].needs if name in BUILT_IN else find_part(name, given).needs


def sort_parts(names: Iterable[str], given: Iterable[Part[Any, Any]] = ()) -> tuple[str, ...]:
    """These names in the order in which the parts are built: what a part is made from comes before it.

    Raises SettingsError for a name that nobody knows.
    """
    left, given = set(names), tuple(given)
    if left <= {*SPINE, *BUILT_IN}:
        return tuple(name for name in (*SPINE, *BUILT_IN) if name in left)
    found: list[str] = []
    waiting = [name for name in known_parts(given) if name in left] + sorted(left - {*known_parts(given)})
    while waiting:
        ready = (name for name in waiting if left.isdisjoint(set(needs_of(name, given)).difference(found)))
        found.append(next(ready, waiting[0]))
        waiting.remove(found[-1])
    return tuple(found)


def settings_type(name: str, given: Sequence[Part[Any, Any]] = ()) -> type[Any] | None:
    """The type of the settings of a part, whose table is `[index.NAME]`; None where there is no such table."""
    if name not in BUILT_IN and (name in SPINE or name not in known_parts(given)):
        return None
    found = find_part(name, given).settings
    return found if fields(found) else None


def parts_with_needs(names: Iterable[str], given: Iterable[Part[Any, Any]] = ()) -> tuple[str, ...]:
    """These parts and those that they are made from, in the order in which they are built."""
    given, found, waiting = tuple(given), set[str](), list(names)
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting += [needed for needed in needs_of(name, given) if needed not in found]
    return sort_parts(found, given)


def part_of_kind(kind: str, given: Iterable[Part[Any, Any]] = ()) -> Part[Any, Any] | None:
    """The part that brings vectors of this kind, whether an index has it or not; None where nobody does."""
    given = tuple(given)
    own = (find_part(name, given) for name in known_parts(given) if name not in SPINE)
    return next((part for part in own if kind in part.kinds), None)
