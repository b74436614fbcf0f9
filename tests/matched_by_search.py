"""What a pattern means, spelt out: every choice of elements is tried, and kept if it is what the pattern says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from little_graphs import Little
from sensegraph.types import Claim, Entity


@dataclass(frozen=True)
class Node:
    name: str
    type: str = ""  # `Claim` for claims

    @property
    def text(self) -> str:
        return f"({self.name}{':' + self.type if self.type else ''})"


@dataclass(frozen=True)
class Edge:
    name: str
    type: str = ""
    direction: str = "-"
    bounds: tuple[int, int] | None = None

    @property
    def text(self) -> str:
        length = f"*{self.bounds[0]}..{self.bounds[1]}" if self.bounds else ""
        inside = f"[{self.name}{':' + self.type if self.type else ''}{length}]"
        return f"{'<' * (self.direction == '<')}-{inside}-{'>' * (self.direction == '>')}"


@dataclass(frozen=True)
class Path:
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    @property
    def text(self) -> str:
        return self.nodes[0].text + "".join(e.text + n.text for e, n in zip(self.edges, self.nodes[1:], strict=True))


def rows(graph: Little, paths: list[Path]) -> list[dict[str, tuple[str, ...]]]:
    """All matches: for every variable the ids that it stands for."""
    nodes: dict[str, list[Node]] = {}
    for path in paths:
        for node in path.nodes:
            nodes.setdefault(node.name, []).append(node)
    choices = [[x for x in _all(graph, said) if all(_is(x, n) for n in said)] for said in nodes.values()]
    found = []
    for chosen in product(*choices):
        bound = dict(zip(nodes, chosen, strict=True))
        found += _linked(graph, paths, bound)
    return found


def _all(graph: Little, said: list[Node]) -> tuple[Entity, ...] | tuple[Claim, ...]:
    return graph.graph.claims if any(n.type == "Claim" for n in said) else graph.graph.entities


def _is(x: Entity | Claim, node: Node) -> bool:
    return node.type in ("", "Claim") or x.type == node.type.lower()


def _linked(graph: Little, paths: list[Path], bound: dict) -> Iterator[dict[str, tuple[str, ...]]]:
    hops = (hop for p in paths for hop in zip(p.nodes, p.edges, p.nodes[1:], strict=False))
    edges = [(e, bound[a.name], bound[b.name]) for a, e, b in hops]
    for ways in product(*(list(_ways(graph, *edge)) for edge in edges)):
        used = [id for way in ways for id in way]
        if len(set(used)) == len(used):
            row = {name: (x.id,) for name, x in bound.items()}
            yield row | {edge.name: way for (edge, _, _), way in zip(edges, ways, strict=True)}


def _ways(graph: Little, edge: Edge, a, b) -> Iterator[tuple[str, ...]]:
    """The chains of edges from one element to another, by the ids of the edges."""
    if isinstance(a, Claim) or isinstance(b, Claim):
        yield from _ties(graph, edge, a, b)
        return
    low, high = edge.bounds or (1, 1)

    def on(at: Entity, way: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        if low <= len(way) and at.id == b.id:
            yield way
        if len(way) < high:
            for link in graph.links.values():
                ends = (link.relation.source, link.relation.target)
                if link.relation.id not in way and at.id in ends and _goes(graph, link, edge, at):
                    yield from on(_entity(graph, ends[at.id == ends[0]]), (*way, link.relation.id))

    yield from on(a, ())


def _entity(graph: Little, id: str) -> Entity:
    return next(e for e in graph.graph.entities if e.id == id)


def _goes(graph: Little, link, edge: Edge, at: Entity) -> bool:
    """Whether a relation may be followed from here."""
    label = link.relation.label.lower().replace("_", " ")
    if edge.type and label != edge.type.lower().replace("_", " "):
        return False
    if edge.direction == "-" or not link.told:
        return True
    other = _entity(graph, link.relation.target if at.id == link.relation.source else link.relation.source)
    return ((at.name, other.name) if edge.direction == ">" else (other.name, at.name)) in link.told


def _ties(graph: Little, edge: Edge, a, b) -> Iterator[tuple[str, ...]]:
    claim, entity = (a, b) if isinstance(a, Claim) else (b, a)
    if edge.direction != "-" and (edge.direction == ">") != isinstance(a, Claim):
        return
    if edge.type in ("", "ABOUT") and claim.subject == entity.id:
        yield (f"{claim.id} about",)
    if edge.type in ("", "OBJECT") and entity.id in called(graph, claim.object):
        yield (f"{claim.id} object {entity.id}",)


def called(graph: Little, name: str) -> list[str]:
    """The ids of the entities of a name or, where there is none, those with this alias."""
    named = [e.id for e in graph.graph.entities if e.name.lower() == name.lower()]
    return named or [e.id for e in graph.graph.entities if name.lower() in [a.lower() for a in e.aliases]]
