"""What a run of documents says, in rows: of entities, of relations, claims.

What a run says depends on the run, and of the rest of the corpus only on what it is told: the usual type of names that
its chunks do not list, and what other names are one with its own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from sensegraph.index.graph.elements import entity_id, fold_name, source_span
from sensegraph.index.graph.graph_settings import GraphSettings
from sensegraph.resolution.aliases import Aliases, Binding, Called, Name, bind_aliases, name_entity
from sensegraph.runtime.keys import key
from sensegraph.types import Claim, Description, Extraction

Pairs = Sequence[tuple[str, str, str, Extraction]]  # chunk, document, its text, what it says


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


class MentionRow(NamedTuple):
    """What a chunk says of an entity, `whose` is its name: mentions (none: a relation of it to itself), a description.

    `own` is the name that the mention has by itself, `name` how it is written, so many `times`.
    """

    whose: Name
    own: Name
    name: str
    times: int
    surfaces: tuple[str, ...]
    chunk: str
    said: Description | None


class LinkRow(NamedTuple):
    """What a chunk says of a relation; `forth` where the first of its ends, in the order of names, is its subject."""

    first: str
    second: str
    forth: bool
    strength: float
    label: str
    directed: bool
    chunk: str
    said: Description | None


@dataclass(frozen=True, slots=True)
class Rows:
    """What a run says, in order: mentions, and what ends of relations and claims say of entities; relations; claims."""

    mentions: list[MentionRow] = field(default_factory=list)
    bound: list[MentionRow] = field(default_factory=list)
    links: list[LinkRow] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)


class RunReader:
    """Reads a run into rows; where they are `bare` without claims, and without what is said."""

    def __init__(self, told: Told, *, bare: bool = False) -> None:
        self.bare = bare
        self.bound = Binding(dict(told.groups), {(name, document): new for name, document, new in told.moved})
        self.usual, self.ids = dict(told.usual), dict(told.ids)
        self.rows = Rows()

    def read(self, chunk: str, document: str, text: str, x: Extraction) -> None:
        """Add what a chunk says."""
        rows, here, length = self.rows, dict[str, Name](), len(text)
        for e in x.entities:
            own = self.bound.own((fold_name(e.name), fold_name(e.type)), document)
            whose = self.bound.group.get(own, own)
            here.setdefault(fold_name(e.name), whose)
            said = None
            if e.description and not self.bare:
                said = Description(e.description, source_span(chunk, e.start, e.end, length))
            surfaces = tuple(m.surface for m in e.mentions)
            rows.mentions.append(MentionRow(whose, own, e.name, max(1, len(e.mentions)), surfaces, chunk, said))
        for r in x.relations:
            a, b = (self._bind(name, here, chunk, document) for name in (r.source, r.target))
            if not (a and b):
                continue
            said = None
            if r.description and not self.bare:
                source = source_span(chunk, r.start, r.end, length)
                said = Description(r.description, source, r.starts, r.ends)
            if a == b:  # a self-loop is text about the entity, not a link
                rows.bound.extend([MentionRow(a, a, "", 0, (), chunk, said)] if r.description else [])
                continue
            first, second = sorted((a, b))
            ids = self.id_of(first), self.id_of(second)
            rows.links.append(LinkRow(*ids, a == first, r.strength, r.label, r.directed, chunk, said))
        for c in x.claims:
            if (subject := self._bind(c.subject, here, chunk, document)) and not self.bare:
                source = source_span(chunk, c.start, c.end, length)
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
        self.rows.bound.append(MentionRow(whose, own, surface, 1, (), chunk, None))
        return whose


def name_claim(claim: Claim) -> Claim:
    """The claim under the id that it has by all else that it says."""
    return replace(claim, id=key(replace(claim, id=""))[:20])


def read_run_rows(pairs: Pairs, told: Told, *, bare: bool = False) -> Rows:
    """What a run says, given what it is told; `bare` rows tell names and relations alone."""
    reader = RunReader(told, bare=bare)
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


def count_entity_uses(rows: Rows, apart: Collection[Name]) -> list[Uses]:
    """The uses of the names of the entities that are `apart`."""
    own: dict[Name, Counter[Name]] = defaultdict(Counter)
    names: dict[Name, Counter[str]] = defaultdict(Counter)
    for row in (*rows.mentions, *rows.bound):
        if row.whose in apart and row.times:
            own[row.whose][row.own] += row.times
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
