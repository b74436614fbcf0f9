"""What a run of documents says, in rows: of entities, of relations, claims.

What a run says depends on the run, and of the rest of the corpus only on what it is told: the usual type of names that
its chunks do not list, and what other names are one with its own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import msgspec

from sensegraph.index.graph.elements import entity_id, fold_name, source_span
from sensegraph.index.graph.graph_settings import GraphSettings
from sensegraph.resolution.aliases import Aliases, Binding, Called, Name, bind_aliases, name_entity
from sensegraph.runtime.keys import key
from sensegraph.types import Claim, Description, Extraction

S = TypeVar("S")
Pairs = Sequence[tuple[str, str, str, Extraction]]  # chunk, document, its text, what it says
# what rows hold of what a chunk says: its id, its text, what it says, between where, since and until when it holds
Say = Callable[[str, str, str, int, int, str, str], S]


@dataclass(frozen=True, slots=True)
class Said:
    """The names that a run of documents says: typed ones with how often, and ends that their chunk does not list."""

    listed: tuple[tuple[str, str, int], ...] = ()
    ends: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()

    @classmethod
    def of(cls, pairs: Pairs) -> Said:
        """The names in these chunks."""
        seen: Counter[Name] = Counter()
        ends: dict[str, None] = {}
        for _, _, _, x in pairs:
            here = set[str]()
            for e in x.entities:
                seen[fold_name(e.name), fold_name(e.type)] += max(1, len(e.mentions))
                here.add(fold_name(e.name))
            named = (fold_name(name) for r in x.relations for name in (r.source, r.target))
            ends.update((name, None) for name in named if name and name not in here)
            ends.update((name, None) for c in x.claims if (name := fold_name(c.subject)) and name not in here)
        documents = dict.fromkeys(document for _, document, _, _ in pairs)
        return cls(tuple((*name, n) for name, n in sorted(seen.items())), tuple(sorted(ends)), tuple(documents))


@dataclass(frozen=True, slots=True)
class Told:
    """What a run is told of the corpus, as far as it concerns its own names.

    `usual` are the types of its `ends`, `moved` and `groups` what `Binding` has of its names, `apart` the names of
    entities that are called otherwise than one of their names, and `ids` of those the ids that are not of that name.
    """

    usual: tuple[Name, ...] = ()
    moved: tuple[tuple[Name, str, Name], ...] = ()
    groups: tuple[tuple[Name, Name], ...] = ()
    apart: tuple[Name, ...] = ()
    ids: tuple[tuple[Name, str], ...] = ()


def tell_runs(said: Sequence[Said], aliases: Aliases, settings: GraphSettings) -> list[Told]:
    """What each run is told, but for `ids`."""
    usual = _find_usual(said, settings)
    bound = bind_aliases(aliases)
    moves: dict[Name, dict[str, Name]] = defaultdict(dict)
    for (name, document), new in bound.moved.items():
        moves[name][document] = new
    apart = {*bound.group.values(), *bound.moved.values(), *bound.shown, *bound.made}
    settled = apart | bound.group.keys() | moves.keys()
    found = []
    for run in said:
        ends = [(name, usual[name]) for name in run.ends if name in usual]
        own = settled.intersection((*ends, *((name, kind) for name, kind, _ in run.listed))) if settled else set[Name]()
        moved: dict[tuple[Name, str], Name] = {}
        if moves and own:
            documents, waiting = set(run.documents), sorted(own)
            while waiting:
                name = waiting.pop()
                for document in documents.intersection(moves.get(name, ())):
                    if (name, document) not in moved:
                        moved[name, document] = new = moves[name][document]
                        own.add(new)
                        waiting.append(new)
        groups = {name: bound.group[name] for name in own if name in bound.group}
        whose = apart.intersection((*own, *groups.values()))
        found.append(
            Told(
                tuple(ends),
                tuple(sorted((name, document, new) for (name, document), new in moved.items())),
                tuple(sorted(groups.items())),
                tuple(sorted(whose)),
            )
        )
    return found


def _find_usual(said: Sequence[Said], settings: GraphSettings) -> dict[str, str]:
    """The type of each name that some chunk does not list: the most frequent, of equal ones the first in order."""
    wanted = {name for run in said for name in run.ends}
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    for run in said if wanted else ():
        for name, kind, count in run.listed:
            if name in wanted:
                seen[name][kind] += count
    found = {name: min(kinds, key=lambda kind: (-kinds[kind], kind)) for name, kinds in seen.items()}
    return dict.fromkeys(wanted, "unknown") | found if settings.orphans == "create" else found


# ── rows ──


class MentionRow(msgspec.Struct, Generic[S], frozen=True, array_like=True):
    """What a chunk says of an entity, `whose` is its name: mentions (none: a relation of it to itself), a description.

    `own` is the name that the mention has by itself where that is another, `name` how it is written, so many `times`.
    """

    whose: Name
    own: Name | None
    name: str
    times: int
    surfaces: tuple[str, ...]
    chunk: str
    said: S | None


class LinkRow(msgspec.Struct, Generic[S], frozen=True, array_like=True):
    """What a chunk says of a relation; `forth` where the first of its ends, in the order of names, is its subject."""

    first: str
    second: str
    forth: bool
    strength: float
    label: str
    directed: bool
    chunk: str
    said: S | None


@dataclass(frozen=True, slots=True)
class Rows(Generic[S]):
    """What a run says, in order: mentions, and what ends of relations and claims say of entities; relations; claims."""

    mentions: list[MentionRow[S]] = field(default_factory=list)
    bound: list[MentionRow[S]] = field(default_factory=list)
    links: list[LinkRow[S]] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)


def describe_said(chunk: str, text: str, said: str, start: int, end: int, starts: str, ends: str) -> Description:
    """What a chunk says, as records hold it."""
    return Description(said, source_span(chunk, start, end, len(text)), starts, ends)


class RunReader(Generic[S]):
    """Reads a run into rows, which hold of what is said what `say` makes of it; without it no claims, and nothing."""

    def __init__(self, told: Told, say: Say[S] | None) -> None:
        self.say = say
        self.bound = Binding(dict(told.groups), {(name, document): new for name, document, new in told.moved})
        self.usual, self.ids = dict(told.usual), dict(told.ids)
        self.rows: Rows[S] = Rows()

    def read(self, chunk: str, document: str, text: str, x: Extraction) -> None:
        """Add what a chunk says."""
        rows, say, here, group = self.rows, self.say, dict[str, Name](), self.bound.group
        for e in x.entities:
            folded = fold_name(e.name)
            own = folded, fold_name(e.type)
            if self.bound.moved:
                own = self.bound.own(own, document)
            whose = group.get(own, own)
            here.setdefault(folded, whose)
            said = say(chunk, text, e.description, e.start, e.end, "", "") if say and e.description else None
            surfaces, other = tuple([m.surface for m in e.mentions]), None if own == whose else own
            rows.mentions.append(MentionRow(whose, other, e.name, len(surfaces) or 1, surfaces, chunk, said))
        for r in x.relations:
            a = here.get(fold_name(r.source)) or self._bind(r.source, here, chunk, document)
            b = here.get(fold_name(r.target)) or self._bind(r.target, here, chunk, document)
            if not (a and b):
                continue
            said = None
            if say and r.description:
                said = say(chunk, text, r.description, r.start, r.end, r.starts, r.ends)
            if a == b:  # a self-loop is text about the entity, not a link
                rows.bound.extend([MentionRow(a, None, "", 0, (), chunk, said)] if r.description else [])
                continue
            first, second = (a, b) if a < b else (b, a)
            ids = self.ids.get(first) or self.id_of(first), self.ids.get(second) or self.id_of(second)
            rows.links.append(LinkRow(*ids, a == first, r.strength, r.label, r.directed, chunk, said))
        for c in x.claims:
            if (subject := self._bind(c.subject, here, chunk, document)) and say:
                source = source_span(chunk, c.start, c.end, len(text))
                made = Claim(
                    "", self.id_of(subject), c.object, c.type, c.status, c.description, c.starts, c.ends, source
                )
                rows.claims.append(name_claim(made))

    def id_of(self, whose: Name) -> str:
        """The id of the entity with this name."""
        if (found := self.ids.get(whose)) is None:
            found = self.ids[whose] = entity_id(whose)
        return found

    def _bind(self, surface: str, here: dict[str, Name], chunk: str, document: str) -> Name | None:
        """The entity of an end: that of this name in the chunk, else the usual one, which the chunk then mentions."""
        name = fold_name(surface)
        if not name or name in here:
            return here.get(name)
        if (kind := self.usual.get(name)) is None:
            return None
        own = self.bound.own((name, kind), document)
        here[name] = whose = self.bound.group.get(own, own)
        self.rows.bound.append(MentionRow(whose, None if own == whose else own, surface, 1, (), chunk, None))
        return whose


def name_claim(claim: Claim) -> Claim:
    """The claim under the id that it has by all else that it says."""
    return replace(claim, id=key(replace(claim, id=""))[:20])


def read_run_rows(pairs: Pairs, told: Told, say: Say[S] | None) -> Rows[S]:
    """What a run says, given what it is told; without `say` names and relations alone."""
    reader = RunReader(told, say)
    for pair in pairs:
        reader.read(*pair)
    return reader.rows


# ── entities that are called otherwise ──


@dataclass(frozen=True, slots=True)
class Uses:
    """How often an entity is mentioned in a run: by each of its own names, and by each way of writing."""

    whose: Name
    own: tuple[tuple[Name, int], ...]
    names: tuple[tuple[str, int], ...]


def count_entity_uses(rows: Rows[Any], apart: Collection[Name]) -> list[Uses]:
    """The uses of the names of the entities that are `apart`."""
    own: dict[Name, Counter[Name]] = defaultdict(Counter)
    names: dict[Name, Counter[str]] = defaultdict(Counter)
    for row in (*rows.mentions, *rows.bound):
        if row.whose in apart and row.times:
            own[row.whose][row.own or row.whose] += row.times
            names[row.whose][row.name] += row.times
    return [Uses(n, tuple(sorted(own[n].items())), tuple(sorted(names[n].items()))) for n in sorted(own)]


def name_apart(used: Iterable[Uses], aliases: Aliases) -> dict[Name, Called]:
    """What the entities are called that have several names, or another than their own."""
    own: dict[Name, Counter[Name]] = defaultdict(Counter)
    names: dict[Name, Counter[str]] = defaultdict(Counter)
    for uses in used:
        own[uses.whose].update(dict(uses.own))
        names[uses.whose].update(dict(uses.names))
    bound = bind_aliases(aliases)
    return {name: name_entity(name, own[name], names[name], bound) for name in sorted(own)}


def tell_ids(told: Told, called: Mapping[Name, Called]) -> Told:
    """`told` with the ids of the entities that are called otherwise."""
    return replace(told, ids=tuple((name, entity_id(called[name].name)) for name in told.apart if name in called))
