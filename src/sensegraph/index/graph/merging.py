"""What texts say, merged by name: from rows of mentions, links and claims to records (Edge et al. 2024, §3.1.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import msgspec

from sensegraph.index.graph.elements import EntityNode, RelationLink, entity_id, make_entity, make_relation
from sensegraph.index.graph.graph_settings import GraphSettings, Weight
from sensegraph.index.graph.slicing import (
    LinkRow,
    MentionRow,
    Said,
    count_entity_uses,
    describe_said,
    name_apart,
    name_claim,
    read_run_rows,
    tell_runs,
)
from sensegraph.index.graph.stored.packed_records import open_graph_rows
from sensegraph.resolution.aliases import NO_ALIASES, Aliases, Called, Name
from sensegraph.runtime.results import step
from sensegraph.types import Chunk, Claim, Description, Entity, Extraction, Graph, Relation

S = TypeVar("S")


@step("graph.graph", version=5, form="tables", opens=open_graph_rows)
def describe_graphs(graphs: Sequence[Graph], *, settings: GraphSettings, describer: str) -> list[Graph]:
    """A merged graph whose elements are described; `describer` is who summarised what is said of them."""
    return list(graphs)


def gather_entities(
    rows: Iterable[MentionRow[S]],
    degree_of: Callable[[str], int],
    called: Mapping[Name, Called],
    describe: Callable[[str, S], Description],
) -> list[Entity]:
    """The entities that mentions are of, with what is said of them and no description yet, in the order of ids.

    `describe` gives what is said as records hold it, from the id of its chunk and what rows hold.
    """
    nodes: dict[Name, EntityNode] = {}
    for row in rows:
        if (node := nodes.get(row.whose)) is None:
            node = nodes[row.whose] = EntityNode()
        if row.times:
            node.names[row.name] += row.times
            node.chunks[row.chunk] = None
        for surface in row.surfaces:
            node.surfaces[surface] += 1
        if row.said:
            node.descriptions.append(describe(row.chunk, row.said))
    made = []
    for whose, node in nodes.items():
        by = called.get(whose)
        name = entity_id(by.name if by else whose)
        made.append(make_entity(name, whose, node, degree_of(name), by))
    return sorted(made, key=lambda e: e.id)


def gather_relations(
    rows: Iterable[LinkRow[S]], weight: Weight, describe: Callable[[str, S], Description], most: int = 0
) -> list[Relation]:
    """The relations of links; `most` is the largest number of records that one has, 0 where that of these is meant.

    `describe` is that of `gather_entities`.
    """
    links: dict[tuple[str, str], RelationLink] = {}
    for row in rows:
        if (link := links.get((row.first, row.second))) is None:
            link = links[row.first, row.second] = RelationLink()
        link.strengths.append(row.strength)
        link.chunks[row.chunk] = None
        if row.said:
            link.descriptions.append(describe(row.chunk, row.said))
        if row.label:
            link.labels[row.label] += 1
        if row.directed:
            link.told[row.label, row.forth] += 1
    most = most or max((len(link.strengths) for link in links.values()), default=1)
    return sorted((make_relation(ends, link, weight, most) for ends, link in links.items()), key=lambda r: r.id)


def gather_claims(claims: Iterable[Claim]) -> list[Claim]:
    """Each claim once, in the order of ids."""
    found = {c.id: c for c in claims}
    return [found[name] for name in sorted(found)]


def merge_extractions(
    extracted: Iterable[tuple[Chunk, Extraction]], settings: GraphSettings, aliases: Aliases = NO_ALIASES
) -> Graph:
    """The graph of extractions that are no part of a store; `partitions` makes that of a corpus.

    Entities of equal name and type, or that `aliases` make one, become one; so do relations of equal ends. All
    descriptions stay. Ends are bound to the entity of that name in the same chunk (the first listed), else to the most
    frequent one of that name in the corpus, else created or dropped (§3.5 of the specification). The result does not
    depend on the order of documents beyond the order in which descriptions are listed.
    """
    pairs = [(c.id, c.document, c.text, x) for c, x in extracted]
    (told,) = tell_runs([Said.of(pairs)], aliases, settings)
    rows = read_run_rows(pairs, told, describe_said)
    called = name_apart(count_entity_uses(rows, frozenset(told.apart)), aliases)
    ids = {entity_id(name): entity_id(by.name) for name, by in called.items()}
    links = [
        msgspec.structs.replace(row, first=ids.get(row.first, row.first), second=ids.get(row.second, row.second))
        for row in rows.links
    ]
    claims = [name_claim(replace(c, subject=ids[c.subject])) if c.subject in ids else c for c in rows.claims]

    def keep(chunk: str, said: Description) -> Description:
        return said

    relations = gather_relations(links, settings.weight, keep)
    degrees = Counter(end for r in relations for end in (r.source, r.target))
    entities = gather_entities((*rows.mentions, *rows.bound), degrees.__getitem__, called, keep)
    return Graph(tuple(entities), tuple(relations), tuple(gather_claims(claims)))
