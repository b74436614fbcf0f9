"""Small random graphs with groups and reports: what tests of packing and reports start from."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from sensegraph.index.hierarchy.packing import Group
from sensegraph.language.text import count_tokens
from sensegraph.types import Claim, Cluster, Description, Entity, Finding, Graph, Relation, Source, Statement

_WORDS = "lamp harbour letter boat storm keeper board paid broke sailed wrote".split()


@dataclass(frozen=True, slots=True)
class Small:
    graph: Graph
    parent: Group
    children: tuple[Group, ...]
    documents: dict[str, str]

    def reports(self, seed: int) -> list[tuple[Group, Cluster | None]]:
        """The children, each with a report of its own."""
        return [(g, cluster(g, Random(seed + i))) for i, g in enumerate(self.children)]

    def inner(self, group: Group) -> set[str]:
        """Ids of the relations with both ends in the group."""
        members = set(group.entities)
        return {r.id for r in self.graph.relations if {r.source, r.target} <= members}


def words(random: Random, most: int) -> str:
    return " ".join(random.choice(_WORDS) for _ in range(random.randint(1, most)))


def small(seed: int, nodes: int = 14, links: int = 24, claims: int = 6) -> Small:
    """A graph whose first `nodes − 3` entities are one group, cut into three children."""
    random = Random(seed)
    names = [f"e{i:02}" for i in range(nodes)]
    pairs = sorted({tuple(sorted(random.sample(names, 2))) for _ in range(links)})
    degree = {n: sum(n in p for p in pairs) for n in names}
    entities = [_entity(n, degree[n], random) for n in names]
    relations = [_relation(a, b, random) for a, b in pairs]
    told = [_claim(f"k{i}", random.choice(names), random) for i in range(claims)]
    graph = Graph(tuple(entities), tuple(sorted(relations, key=lambda r: r.id)), tuple(told))
    inside = names[: nodes - 3]
    cuts = sorted(random.sample(range(1, len(inside)), 2))
    parts = [inside[: cuts[0]], inside[cuts[0] : cuts[1]], inside[cuts[1] :]]
    children = tuple(Group(f"g{i}", 1, "top", (), tuple(p)) for i, p in enumerate(parts))
    parent = Group("top", 0, "", tuple(c.id for c in children), tuple(inside))
    return Small(graph, parent, children, {f"c{i}": f"d{i % 4}" for i in range(9)})


def _said(random: Random) -> tuple[Description, ...]:
    return (Description(words(random, 20), Source(f"c{random.randrange(9)}", 0, 5)),)


def _entity(name: str, degree: int, random: Random) -> Entity:
    said = _said(random)
    return Entity(name, f"Name {name}", "person", said[0].text, said, (said[0].source.chunk,), 1, degree)


def _relation(a: str, b: str, random: Random) -> Relation:
    said = _said(random)
    return Relation(f"r{random.randrange(10**9)}", a, b, said[0].text, said, 1.0, (said[0].source.chunk,))


def _claim(name: str, subject: str, random: Random) -> Claim:
    return Claim(name, subject, "none", "kind", "TRUE", words(random, 12), "", "", Source("c0", 0, 3))


def cluster(group: Group, random: Random) -> Cluster:
    """A report on a group."""
    summary = (Statement(words(random, 25), (group.entities[0],), (Source("c0", 0, 5),)),)
    findings = (Finding("So", (Statement(words(random, 40), (group.entities[0],), (Source("c1", 0, 5),)),)),)
    made = Cluster(
        group.id, 0, group.depth, group.parent, group.entities, group.entities, "Report", summary, findings, 5.0
    )
    size = count_tokens(made.title) + count_tokens(made.text)
    return Cluster(
        group.id, 0, group.depth, group.parent, group.entities, group.entities, "Report", summary, findings, 5.0,
        tokens=size,
    )  # fmt: skip
