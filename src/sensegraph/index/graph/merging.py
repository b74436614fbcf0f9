"""Extractions to one graph: merge by name, describe (edge2024 §3.1.3; specs: N09–N13, G09–G11, D11)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from sensegraph.index.graph.elements import (
    EntityNode,
    RelationLink,
    entity_id,
    fold_name,
    make_entity,
    make_relation,
    relation_id,
    source_span,
)
from sensegraph.index.graph.graph_settings import GraphSettings
from sensegraph.resolution.aliases import NO_ALIASES, Aliases, Name, bind_aliases, name_entity
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import step
from sensegraph.types import (
    Chunk,
    Claim,
    Description,
    Entity,
    ExtractedClaim,
    ExtractedEntity,
    ExtractedRelation,
    Extraction,
    Graph,
    Relation,
    Source,
)

Pairs = list[tuple[str, str, int, Extraction]]  # chunk, document, characters, what it says


@step("graph.graph", version=4, form="tables")
def describe_graphs(graphs: Sequence[Graph], *, settings: GraphSettings, describer: str) -> list[Graph]:
    """A merged graph whose elements are described; `describer` is who summarised what is said of them."""
    return list(graphs)


# ── merging ──


def merge_extractions(
    extracted: Iterable[tuple[Chunk, Extraction]], settings: GraphSettings, aliases: Aliases = NO_ALIASES
) -> Graph:
    """Entities of equal name and type, or that `aliases` make one, become one; so do relations of equal ends.

    All descriptions stay. Ends are bound to the entity of that name in the same chunk (the first listed), else to the
    most frequent one of that name in the corpus, else created or dropped (§3.5 of the specification). The result does
    not depend on the order of documents beyond the order in which descriptions are listed.
    """
    return Merger(extracted, settings).merge(aliases)


class Merger:
    """Merges the same extractions with one table of aliases after another: what a table leaves alone is kept."""

    def __init__(self, extracted: Iterable[tuple[Chunk, Extraction]], settings: GraphSettings) -> None:
        self._pairs: Pairs = [(c.id, c.document, len(c.text), x) for c, x in extracted]
        self._settings, self._aliases, self._bound = settings, NO_ALIASES, bind_aliases(NO_ALIASES)
        self._usual, self._places = _read_names(self._pairs)
        self._nodes: dict[Name, EntityNode] = {}
        self._links: dict[tuple[Name, Name], RelationLink] = {}
        self._said: list[tuple[Name, ExtractedClaim, Source]] = []
        self._changed: frozenset[Name] | None = None  # the entities that are gathered; None: all of them
        self._made: tuple[dict[Name, Entity], dict[tuple[Name, Name], Relation]] = ({}, {})
        self._most = 0

    def merge(self, aliases: Aliases = NO_ALIASES) -> Graph:
        """The graph of the extractions with these aliases."""
        pairs = self._pairs if not self._nodes else self._forget(aliases)
        self._aliases, self._bound = aliases, bind_aliases(aliases)
        for chunk, document, length, extraction in pairs:
            for e in extraction.entities:
                self._gather_entity((fold_name(e.name), fold_name(e.type)), document, e, chunk, length)
        for pair in pairs:
            self._bind_ends(*pair)
        graph = self._finish()
        self._changed = frozenset()
        return graph

    def _forget(self, aliases: Aliases) -> Pairs:
        """Forget the entities that other aliases concern; the chunks that name them."""
        bound = bind_aliases(aliases)
        names = _names_concerned(self._aliases, aliases)
        before = {self._bound.group.get(name, name) for name in names}
        self._changed = frozenset(bound.group.get(name, name) for name in names)
        gone = before | self._changed
        for name in gone:
            self._nodes.pop(name, None)
            self._made[0].pop(name, None)
        for link in [link for link in self._links if not gone.isdisjoint(link)]:
            del self._links[link]
            self._made[1].pop(link, None)
        self._said = [said for said in self._said if said[0] not in gone]
        own = names | {n for n, whose in bound.group.items() if whose in self._changed}
        own |= {n for (n, _), new in bound.moved.items() if bound.group.get(new, new) in self._changed}
        at = {place for name in own for place in self._places.get(name[0], ())}
        return [self._pairs[place] for place in sorted(at)]

    def _gather_entity(self, name: Name, document: str, e: ExtractedEntity, chunk: str, length: int) -> Name:
        """Add a mention to the entity that it is of, and say which."""
        own = self._bound.own(name, document)
        whose = self._bound.group.get(own, own)
        if self._changed is not None and whose not in self._changed:
            return whose
        if (node := self._nodes.get(whose)) is None:
            node = self._nodes[whose] = EntityNode()
        count = max(1, len(e.mentions))
        if self._bound:
            node.own[own] += count
        node.names[e.name] += count
        for m in e.mentions:
            node.surfaces[m.surface] += 1
        node.chunks[chunk] = None
        if e.description:
            node.descriptions.append(Description(e.description, source_span(chunk, e.start, e.end, length)))
        return whose

    def _bind_ends(self, chunk: str, document: str, length: int, extraction: Extraction) -> None:
        """Attach the relations and claims of a chunk to entities."""
        here: dict[str, Name] = {}
        for e in extraction.entities:
            name = (fold_name(e.name), fold_name(e.type))
            here.setdefault(name[0], self._bound.of(name, document))
        find = partial(self._bind_name, here=here, chunk=chunk, document=document)
        for r in extraction.relations:
            a, b = find(r.source), find(r.target)
            if a and b:
                self._gather_relation((a, b), r, source_span(chunk, r.start, r.end, length))
        for c in extraction.claims:
            subject = find(c.subject)
            if subject and (self._changed is None or subject in self._changed):
                self._said.append((subject, c, source_span(chunk, c.start, c.end, length)))

    def _bind_name(self, surface: str, *, here: dict[str, Name], chunk: str, document: str) -> Name | None:
        name = fold_name(surface)
        if not name or name in here:
            return here.get(name)
        found = self._usual.get(name)
        if found is None and self._settings.orphans == "create":
            found = self._usual[name] = (name, "unknown")
        if found is None:
            return None
        # this chunk names it without describing it: one mention
        here[name] = self._gather_entity(found, document, ExtractedEntity(surface, found[1]), chunk, 0)
        return here[name]

    def _gather_relation(self, ends: tuple[Name, Name], r: ExtractedRelation, source: Source) -> None:
        if self._changed is not None and self._changed.isdisjoint(ends):
            return
        a, b = sorted(ends)
        said = Description(r.description, source, r.starts, r.ends)
        if a == b:  # a self-loop is text about the entity, not a link
            if r.description:
                self._nodes[a].descriptions.append(said)
            return
        if (link := self._links.get((a, b))) is None:
            link = self._links[a, b] = RelationLink()
        link.strengths.append(r.strength)
        link.chunks[source.chunk] = None
        if r.description:
            link.descriptions.append(said)
        if r.label:
            link.labels[r.label] += 1
        if r.directed:
            link.told[r.label, ends[0] == a] += 1

    def _finish(self) -> Graph:
        """The graph of what was gathered; records that are as they were are not made again."""
        bound, (entities, relations) = self._bound, self._made
        # those have aliases, another name, or mentions that were split from another's
        apart = {*bound.group.values(), *bound.moved.values(), *bound.shown, *bound.made} & self._nodes.keys()
        named = {n: name_entity(n, self._nodes[n].own, self._nodes[n].names, bound) for n in sorted(apart)}
        ids = {name: entity_id(named[name].name if name in named else name) for name in self._nodes}
        degree = Counter(end for pair in self._links for end in pair)
        for n, node in self._nodes.items():
            if (known := entities.get(n)) is None:
                entities[n] = make_entity(ids[n], n, node, degree[n], named.get(n))
            elif known.degree != degree[n]:
                entities[n] = replace(known, degree=degree[n])
        most = max((len(link.strengths) for link in self._links.values()), default=1)
        if self._settings.weight == "normalised" and most != self._most:
            relations.clear()
        self._most = most
        for (a, b), link in self._links.items():
            if (a, b) not in relations:
                relations[a, b] = make_relation((ids[a], ids[b]), link, self._settings.weight, most)
        claims: dict[str, Claim] = {}
        for subject, c, source in self._said:
            made = Claim("", ids[subject], c.object, c.type, c.status, c.description, c.starts, c.ends, source)
            name = key(made)[:20]
            claims[name] = replace(made, id=name)
        return Graph(
            tuple(sorted(entities.values(), key=lambda e: e.id)),
            tuple(sorted(relations.values(), key=lambda r: r.id)),
            tuple(claims[name] for name in sorted(claims)),
        )


def _read_names(pairs: Pairs) -> tuple[dict[str, Name], dict[str, list[int]]]:
    """Of each folded name the most frequent type, of equal ones the first in order; and the pairs that say it."""
    seen: Counter[Name] = Counter()
    places: dict[str, list[int]] = defaultdict(list)
    for place, (*_, x) in enumerate(pairs):
        for e in x.entities:
            seen[fold_name(e.name), fold_name(e.type)] += max(1, len(e.mentions))
        said = {fold_name(e.name) for e in x.entities}
        said.update(fold_name(name) for r in x.relations for name in (r.source, r.target))
        said.update(fold_name(c.subject) for c in x.claims)
        for name in said:
            places[name].append(place)
    usual: dict[str, Name] = {}
    for typed in sorted(seen, key=lambda n: (n[0], -seen[n], n[1])):
        usual.setdefault(typed[0], typed)
    return usual, places


def _names_concerned(before: Aliases, now: Aliases) -> set[Name]:
    """The names that two tables do not make the same of."""
    names = {name for group in {*before.groups} ^ {*now.groups} for name in group}
    names |= {name for one, _, new in {*before.moved} ^ {*now.moved} for name in (one, new)}
    return names | {name for name, _ in ({*before.made} ^ {*now.made}) | ({*before.shown} ^ {*now.shown})}


__all__ = [
    "Merger", "describe_graphs", "entity_id", "merge_extractions", "relation_id",
]  # fmt: skip
