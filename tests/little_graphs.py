"""Little graphs to match patterns in, and the index of one, without documents."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from sensegraph.graphs.match.facets import collect_facets
from sensegraph.graphs.match.matches import Matches, Request, match_patterns
from sensegraph.graphs.match.shelf import GraphReader
from sensegraph.index.graph.lookups import build_lookups
from sensegraph.index.index import Index
from sensegraph.types import Chunk, Claim, Description, Entity, Graph, Hierarchy, Relation, Source

NAMES = ("Ann", "Bo", "Cid", "Acme", "Orb", "Ostby")
TYPES = ("person", "firm", "place")
LABELS = ("founded", "WORKS_AT", "")


class Given(Index):
    """An index that is nothing but a graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.lookups = build_lookups.fn([(graph, Hierarchy())])[0]

    def documents_of(self, chunks):
        return {c: f"{c}.txt" for c in chunks}

    def chunks(self, ids):
        return {c: Chunk(c, f"{c}.txt", 10, 30, 5, "Twenty characters ...") for c in ids}

    def page(self, name, place):
        return None

    def figure(self, name, place):
        return None


@dataclass(frozen=True)
class Link:
    """A relation as it was made: `told` are the pairs of names that its texts tell in this order."""

    relation: Relation
    told: frozenset[tuple[str, str]]


@dataclass(frozen=True)
class Little:
    graph: Graph
    links: dict[str, Link]

    def shelf(self) -> GraphReader:
        found = collect_facets.fn([self.graph])[0]
        return GraphReader(Given(self.graph), found, found)

    def match(self, query: str, **given) -> Matches:
        return match_patterns(Request(query, **given), self.shelf())


def entity(i: int, name: str, type: str, aliases: tuple[str, ...] = (), degree: int = 0) -> Entity:
    said = (Description(f"{name} is a {type}.", Source(f"c{i}", 0, 5)),)
    return Entity(f"e{i}", name, type, said[0].text, said, (f"c{i}",), i + 1, degree, aliases)


def relation(
    i: int, a: Entity, b: Entity, texts: tuple[str, ...], label: str = "", weight: float = 1.0, directed: bool = True
) -> Relation:
    """A relation of which `a` is the subject."""
    said = tuple(Description(t, Source(f"c{i}", 0, len(t))) for t in texts)
    return Relation(f"r{i}", a.id, b.id, " ".join(texts), said, weight, (f"c{i}",), label, directed)


def little(seed: int) -> Little:
    """A random graph of up to six entities, eight relations and three claims."""
    random = Random(seed)
    count = random.randint(2, 6)
    aliases = [tuple(random.sample(("Boss", "Anna", NAMES[0]), random.randint(0, 2))) for _ in range(count)]
    others = [tuple(n for n in aliases[i] if n != NAMES[i]) for i in range(count)]
    entities = [entity(i, NAMES[i], random.choice(TYPES), others[i]) for i in range(count)]
    every = [(a, b) for a in entities for b in entities if a.id < b.id]
    pairs = random.sample(every, k=min(8, len(every)))
    pairs = pairs[: random.randint(0, len(pairs))]
    links = dict[str, Link]()
    for i, (a, b) in enumerate(pairs):
        told = [pair for pair in ((a.name, b.name), (b.name, a.name)) if random.random() < 0.5]
        texts = tuple(f"{x} saw {y} there." for x, y in told) or ("They met.",)
        source, target = (b, a) if told == [(b.name, a.name)] else (a, b)
        made = relation(i, source, target, texts, random.choice(LABELS), float(random.randint(1, 4)), len(told) == 1)
        links[made.id] = Link(made, frozenset(told))
    claims = [_claim(i, random.choice(entities), random, count) for i in range(random.randint(0, 3))]
    return Little(Graph(tuple(entities), tuple(link.relation for link in links.values()), tuple(claims)), links)


def _claim(i: int, subject: Entity, random: Random, count: int) -> Claim:
    named = random.choice((*NAMES[:count], "NONE", "nobody"))
    status = random.choice(("TRUE", "FALSE"))
    return Claim(f"k{i}", subject.id, named, "FACT", status, f"Claim {i}.", "", "", Source("c0", 0, 3))
