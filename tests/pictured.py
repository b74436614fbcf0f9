"""A small graph with two depths of communities, to draw."""

from __future__ import annotations

from random import Random

from sensegraph.types import Cluster, Entity, Graph, Relation, Statement


def entity(i: int, degree: int, name: str = "") -> Entity:
    return Entity(f"e{i:05}", name or f"Name {i}", "person", f"What is said of {i}.", (), ("c",), 1, degree)


def relation(a: int, b: int, weight: float = 1.0) -> Relation:
    return Relation(f"r{a:05}-{b:05}", f"e{a:05}", f"e{b:05}", "", (), weight, ("c",))


def cluster(depth: int, number: int, members: range, title: str = "") -> Cluster:
    inside = tuple(f"e{i:05}" for i in members)
    said = (Statement(f"A summary of {number}."),)
    return Cluster(f"k{depth}-{number}", 1 - depth, depth, "", (), inside, title or f"Community {number}", said)


def graph(nodes: int, size: int, seed: int = 0, apart: int = 0, names: dict[int, str] | None = None) -> Graph:
    """A graph whose nodes are linked mostly inside blocks of `size`; the last `apart` have no link at all."""
    lot, pairs = Random(seed), set()
    for i in range(1, nodes - apart):
        first = i // size * size
        pairs.add((lot.randrange(i), i) if i == first or lot.random() < 0.15 else (lot.randrange(first, i), i))
        if i - first > 2:
            pairs.add((lot.randrange(first, i), i))
    degree = [sum(i in p for p in pairs) for i in range(nodes)] if nodes < 500 else [0] * nodes
    if nodes >= 500:
        for a, b in sorted(pairs):
            degree[a] += 1
            degree[b] += 1
    entities = tuple(entity(i, degree[i], (names or {}).get(i, "")) for i in range(nodes))
    return Graph(entities, tuple(relation(a, b, 1 + lot.random()) for a, b in sorted(pairs)))


def levels(nodes: int, size: int, titles: dict[int, str] | None = None) -> list[tuple[Cluster, ...]]:
    """Communities of `size` at depth 0, and of a third of it at depth 1."""
    made = []
    for depth, some in enumerate((size, max(size // 3, 1))):
        starts = range(0, nodes, size)
        cuts = [range(b, min(b + some, s + size, nodes)) for s in starts for b in range(s, min(s + size, nodes), some)]
        named = titles or {} if depth == 0 else {}
        made.append(tuple(cluster(depth, n, cut, named.get(n, "")) for n, cut in enumerate(cuts)))
    return made
