"""Which names are one entity: a log of operations, replayed into a table that merging reads (N79, N80).

Nothing edits an entity. An operation is taken back by leaving it out of the replay, so an index is the same whichever
way its log came about.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product
from typing import Literal

from sensegraph.language.text import fold
from sensegraph.resolution.comparison.name_reading import read_name
from sensegraph.resolution.comparison.scoring import kind_of_type
from sensegraph.resolution.resolution_types import Mentioned
from sensegraph.runtime.keys import key

Name = tuple[str, str]
"""(folded name, folded type): what makes two mentions one entity."""
Kind = Literal["merge", "split", "rename", "forbid"]
Decider = Literal["rule", "engine", "user"]


@dataclass(frozen=True, slots=True)
class Operation:
    """One decision about names; it holds for the same names and types however often the texts are indexed anew.

    merge: `names` are one entity, called `output` where that is given. split: `others` are not `names`; with
    `documents` these are the mentions of `names` there, under a new name. rename: `names` are called `output`.
    forbid: no two of `names` are one. `evidence` says why, `score` how surely, `time` and `reverted` are ISO 8601.
    """

    id: str
    kind: Kind
    names: tuple[Name, ...]
    others: tuple[Name, ...] = ()
    documents: tuple[str, ...] = ()
    output: str = ""
    evidence: str = ""
    score: float = 1.0
    by: Decider = "user"
    time: str = ""
    reverted: str = ""

    @property
    def said(self) -> str:
        """What is written of it: its number, kind and names."""
        names = ", ".join(name for name, _ in self.names)
        away = f" from {', '.join(name for name, _ in self.others)}" if self.others else ""
        return f"operation {self.id} ({self.kind} {names}{away})"


@dataclass(frozen=True, slots=True)
class Aliases:
    """What a log makes of names: `groups` are one entity each, `moved` the mentions of a name in a document that have
    another name, `made` what such names are called, `shown` how the group of a name is called; `apart` are two things.
    """

    groups: tuple[tuple[Name, ...], ...] = ()
    moved: tuple[tuple[Name, str, Name], ...] = ()
    made: tuple[tuple[Name, str], ...] = ()
    shown: tuple[tuple[Name, str], ...] = ()
    apart: tuple[tuple[Name, Name], ...] = ()

    @property
    def key(self) -> str:
        """What stands for its effect on a graph; empty where it has none."""
        effect = (self.groups, self.moved, self.made, self.shown)
        return key("aliases", *effect) if any(effect) else ""

    def group(self, name: Name) -> tuple[Name, ...]:
        """All names of the entity that has this one."""
        return next((group for group in self.groups if name in group), (name,))


NO_ALIASES = Aliases()


@dataclass(frozen=True, slots=True)
class Replayed:
    """The table that a log makes; `notes` say which operations were skipped or overruled, and why."""

    aliases: Aliases = NO_ALIASES
    notes: tuple[str, ...] = ()


def replay_operations(operations: Sequence[Operation]) -> Replayed:
    """What the operations of a log that are not taken back make together, in their order.

    Of operations that contradict one another the user's counts, then the later one. One that rests on an operation
    that was taken back is skipped. Both are noted.
    """
    kept: list[Operation] = []
    notes: list[str] = []
    made = {name for o in operations if o.documents for name in o.others}
    there: set[Name] = set()
    for operation in operations:
        if operation.reverted:
            continue
        gone = any(name in made and name not in there for name in operation.names)
        idle = False
        if operation.kind == "split" and not operation.documents and not _are_together(operation, kept):
            # What it takes out was one with the rest only by operations that were taken back since.
            idle = _are_together(operation, operations[: operations.index(operation)])
        if gone or idle:
            notes.append(f"{operation.said} rests on an operation that was taken back: it is skipped")
            continue
        there.update(operation.others if operation.documents else ())
        kept.append(operation)
    place = {o.id: i for i, o in enumerate(kept)}
    parts = _Parts()
    for operation in sorted(kept, key=lambda o: (o.by != "user", -place[o.id])):
        parts.take(operation, notes)
    return Replayed(parts.table(kept), tuple(notes))


def with_groups(aliases: Aliases, groups: Iterable[Sequence[Name]]) -> Aliases:
    """The table with these groups joined as well."""
    parts, ignored = _Parts(), list[str]()
    for number, names in enumerate([*aliases.groups, *groups]):
        parts.take(Operation(str(number), "merge", tuple(names)), ignored)
    return replace(aliases, groups=parts.groups())


# ── replaying ──


def _are_together(split: Operation, before: Sequence[Operation]) -> bool:
    """Whether any of what a split takes apart is one entity by the operations before it."""
    parts = _Parts()
    for earlier in reversed(before):
        parts.take(earlier, [])
    return any(parts.root(a) == parts.root(b) for a, b in product(split.names, split.others))


@dataclass(frozen=True, slots=True)
class _Parts:
    """Groups of names while operations are taken, those that count most first."""

    parent: dict[Name, Name] = field(default_factory=dict)
    members: dict[Name, list[Name]] = field(default_factory=dict)
    foes: dict[Name, dict[Name, str]] = field(default_factory=lambda: defaultdict(dict))
    joined: dict[Name, str] = field(default_factory=dict)

    def root(self, name: Name) -> Name:
        """What stands for the group of a name."""
        while (above := self.parent.get(name, name)) != name:
            name = above
        return name

    def take(self, operation: Operation, notes: list[str]) -> None:
        """Take an operation as far as those before it let it be."""
        if operation.kind == "merge":
            against = self._merge(operation)
        elif operation.kind == "rename":
            return
        else:
            others = operation.others
            pairs = product(operation.names, others) if others else combinations(operation.names, 2)
            against = [found for a, b in pairs if (found := self._part(a, b, operation))]
        if against:
            notes.append(f"{operation.said} contradicts {against[0]}, which counts more: it is overruled")

    def _merge(self, operation: Operation) -> list[str]:
        """Join each name to the first of the operation that it may join; what stood in the way."""
        against: list[str] = []
        kinds: list[Name] = []
        for name in operation.names:
            roots = [self.root(kind) for kind in kinds]
            if self.root(name) in roots:
                continue
            foes = [self._foe(root, self.root(name)) for root in roots]
            free = [root for root, foe in zip(roots, foes, strict=True) if not foe]
            if free:
                self._join(free[0], self.root(name), operation)
            else:
                against += foes[:1]
                kinds.append(name)
        return against

    def _join(self, a: Name, b: Name, operation: Operation) -> None:
        self.joined[a] = self.joined.get(a, operation.said)
        if len(self._members(a)) < len(self._members(b)):
            a, b = b, a
        self.joined[a] = self.joined.get(a, operation.said)
        self.parent[b] = a
        self.members[a] = [*self._members(a), *self._members(b)]

    def _members(self, root: Name) -> list[Name]:
        return self.members.get(root, [root])

    def _foe(self, a: Name, b: Name) -> str:
        """The operation that keeps two groups apart; empty where none does."""
        small, other = (a, b) if len(self._members(a)) <= len(self._members(b)) else (b, a)
        for name in self._members(small):
            for foe, said in self.foes.get(name, {}).items():
                if self.root(foe) == other:
                    return said
        return ""

    def _part(self, a: Name, b: Name, operation: Operation) -> str:
        """Keep two names apart; or what made them one."""
        if a == b:
            return ""
        if self.root(a) == self.root(b):
            return self.joined.get(self.root(a), "another operation")
        self.foes[a].setdefault(b, operation.said)
        self.foes[b].setdefault(a, operation.said)
        return ""

    def groups(self) -> tuple[tuple[Name, ...], ...]:
        """The groups of several names, in order."""
        roots = sorted({self.root(name) for name in self.parent})
        return tuple(sorted(tuple(sorted(self._members(root))) for root in roots))

    def table(self, kept: Sequence[Operation]) -> Aliases:
        """The table that these operations make, which were taken before."""
        moved: dict[tuple[Name, str], Name] = {}
        made: dict[Name, str] = {}
        shown: dict[Name, tuple[bool, str]] = {}
        for operation in kept:
            if operation.documents:
                (new,) = operation.others
                made[new] = operation.output
                moved |= {(name, document): new for name in operation.names for document in operation.documents}
            elif operation.output:
                root, user = self.root(operation.names[0]), operation.by == "user"
                if user or not shown.get(root, (False, ""))[0]:
                    shown[root] = user, operation.output
        first = {root: min(self._members(root)) for root in shown}
        return Aliases(
            self.groups(),
            tuple(sorted((name, document, new) for (name, document), new in moved.items())),
            tuple(sorted(made.items())),
            tuple(sorted((first[root], said) for root, (_, said) in shown.items())),
            tuple(sorted((a, b) for a, foes in self.foes.items() for b in foes if a < b)),
        )


# ── naming ──


@dataclass(frozen=True, slots=True)
class Binding:
    """Aliases ready to be looked up: the group of a name, and where mentions of it have another name."""

    group: Mapping[Name, Name] = field(default_factory=dict)
    moved: Mapping[tuple[Name, str], Name] = field(default_factory=dict)
    made: Mapping[Name, str] = field(default_factory=dict)
    shown: Mapping[Name, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.group or self.moved or self.shown)

    def own(self, name: Name, document: str) -> Name:
        """The name that a mention in a document has by itself."""
        for _ in self.moved:  # what was moved may have been moved again
            if (new := self.moved.get((name, document))) is None:
                break
            name = new
        return name

    def of(self, name: Name, document: str) -> Name:
        """What stands for the entity that a mention in a document is of."""
        own = self.own(name, document)
        return self.group.get(own, own)


def bind_aliases(aliases: Aliases) -> Binding:
    """The lookups of a table."""
    group = {name: names[0] for names in aliases.groups for name in names}
    moved = {(name, document): new for name, document, new in aliases.moved}
    shown = {group.get(name, name): said for name, said in aliases.shown}
    return Binding(group, moved, dict(aliases.made), shown)


@dataclass(frozen=True, slots=True)
class Called:
    """What an entity is called: `name` gives its id; `shown` and `type` are for readers."""

    name: Name
    shown: str
    type: str


def name_entity(group: Name, own: Counter[Name], surfaces: Counter[str], bound: Binding) -> Called:
    """The canonical name of a group: see `canonical_name`; `own` counts its names, `surfaces` how they are written.

    Its id is that of the name among its own which is most like that, so that no entity outside can have it too.
    """
    type = canonical_type([Mentioned("", "", name[1], n) for name, n in sorted(own.items())])
    best = canonical_name([Mentioned("", surface, type, n) for surface, n in sorted(surfaces.items())])
    folded = fold(best)
    name = min(own, key=lambda n: (n[0] != folded, n[1] != type, -own[n], n))
    shown = bound.shown.get(group) or (bound.made.get(name, best) if name[0] != folded else best)
    asked = fold(shown)
    if (asked, type) in own:
        name = (asked, type)
    return Called(name, shown, type)


def canonical_name(members: Sequence[Mentioned]) -> str:
    """The name most often mentioned, then the longest, then the first in order; of persons one of two words."""
    counts: Counter[str] = Counter()
    for member in members:
        counts[member.name] += member.count
    person = any(kind_of_type(m.type) == "person" for m in members)
    full = {name: not person or len(read_name(name, True).core) > 1 for name in counts}
    return min(counts, key=lambda name: (not full[name], -counts[name], -len(name), name))


def canonical_type(members: Sequence[Mentioned]) -> str:
    """The type most often given among those that say something, then the first in order."""
    counts: Counter[str] = Counter()
    for member in members:
        counts[member.type] += member.count
    return min(counts, key=lambda type: (not kind_of_type(type), -counts[type], type))
