"""Extractions merged chunk by chunk into one table: what merging by slices is compared with."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sensegraph.index.graph.elements import EntityNode, RelationLink, entity_id, make_entity, make_relation, source_span
from sensegraph.index.graph.graph_settings import GraphSettings
from sensegraph.language.text import fold
from sensegraph.resolution.aliases import NO_ALIASES, Aliases, Name, bind_aliases, name_entity
from sensegraph.runtime.keys import key
from sensegraph.types import Chunk, Claim, Description, Extraction, Graph


def find_usual(extracted: Sequence[tuple[Chunk, Extraction]]) -> dict[str, Name]:
    """Of each folded name the most frequent type, of equal ones the first in order."""
    seen: Counter[Name] = Counter()
    for _, x in extracted:
        for e in x.entities:
            seen[fold(e.name), fold(e.type)] += max(1, len(e.mentions))
    usual: dict[str, Name] = {}
    for typed in sorted(seen, key=lambda n: (n[0], -seen[n], n[1])):
        usual.setdefault(typed[0], typed)
    return usual


def merge_plainly(
    extracted: Sequence[tuple[Chunk, Extraction]], settings: GraphSettings, aliases: Aliases = NO_ALIASES
) -> Graph:
    """The graph of extractions."""
    usual, bound = find_usual(extracted), bind_aliases(aliases)
    nodes: dict[Name, EntityNode] = defaultdict(EntityNode)
    own: dict[Name, Counter[Name]] = defaultdict(Counter)
    links: dict[tuple[Name, Name], RelationLink] = defaultdict(RelationLink)
    said: list[tuple[Name, Any, Any]] = []

    def mention(name: Name, shown: str, times: int, chunk: Chunk) -> Name:
        mine = bound.own(name, chunk.document)
        whose = bound.group.get(mine, mine)
        own[whose][mine] += times
        nodes[whose].names[shown] += times
        nodes[whose].chunks[chunk.id] = None
        return whose

    heres: list[dict[str, Name]] = []
    for chunk, x in extracted:
        here: dict[str, Name] = {}
        for e in x.entities:
            whose = mention((fold(e.name), fold(e.type)), e.name, max(1, len(e.mentions)), chunk)
            here.setdefault(fold(e.name), whose)
            nodes[whose].surfaces.update(m.surface for m in e.mentions)
            if e.description:
                span = source_span(chunk.id, e.start, e.end, len(chunk.text))
                nodes[whose].descriptions.append(Description(e.description, span))
        heres.append(here)
    for (chunk, x), here in zip(extracted, heres, strict=True):

        def bind(surface: str, here: dict[str, Name] = here, chunk: Chunk = chunk) -> Name | None:
            name = fold(surface)
            if not name or name in here:
                return here.get(name)
            if name not in usual and settings.orphans == "create":
                usual[name] = (name, "unknown")
            if name in usual:
                here[name] = mention(usual[name], surface, 1, chunk)
            return here.get(name)

        for r in x.relations:
            one, other = bind(r.source), bind(r.target)
            if not (one and other):
                continue
            told = Description(r.description, source_span(chunk.id, r.start, r.end, len(chunk.text)), r.starts, r.ends)
            if one == other:
                nodes[one].descriptions.extend([told] if r.description else [])
                continue
            first, second = sorted((one, other))
            link = links[first, second]
            link.strengths.append(r.strength)
            link.chunks[chunk.id] = None
            link.descriptions.extend([told] if r.description else [])
            link.labels.update([r.label] if r.label else [])
            link.told.update([(r.label, one == first)] if r.directed else [])
        bound_claims = [(bind(c.subject), c, source_span(chunk.id, c.start, c.end, len(chunk.text))) for c in x.claims]
        said.extend((subject, c, source) for subject, c, source in bound_claims if subject)
    apart = {*bound.group.values(), *bound.moved.values(), *bound.shown, *bound.made} & nodes.keys()
    called = {n: name_entity(n, own[n], nodes[n].names, bound) for n in apart}
    ids = {n: entity_id(called[n].name if n in called else n) for n in nodes}
    degree = Counter(end for pair in links for end in pair)
    most = max((len(link.strengths) for link in links.values()), default=1)
    claims = {}
    for subject, c, source in said:
        made = Claim("", ids[subject], c.object, c.type, c.status, c.description, c.starts, c.ends, source)
        claims[key(made)[:20]] = replace(made, id=key(made)[:20])
    entities = [make_entity(ids[n], n, node, degree[n], called.get(n)) for n, node in nodes.items()]
    relations = [make_relation((ids[a], ids[b]), link, settings.weight, most) for (a, b), link in links.items()]
    return Graph(
        tuple(sorted(entities, key=lambda e: e.id)),
        tuple(sorted(relations, key=lambda r: r.id)),
        tuple(claims[name] for name in sorted(claims)),
    )
