"""A drawing in pieces, for a page that asks for what it shows: communities of a depth, and what is inside one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sensegraph.errors import InputError
from sensegraph.graphs.drawing.drawing import MAP, Drawing, lay_out_drawing
from sensegraph.graphs.drawing.scene import bundle_links, choose_paints, find_inner_links
from sensegraph.graphs.drawing.shapes import find_colour
from sensegraph.index.index import Index

_COMMUNITIES, _MEMBERS = 500, 2000  # that are shown at most


@dataclass(frozen=True, slots=True)
class CommunityDisc:
    """A community on the map; `entities` counts all, drawn or not; one with radius 0 stands apart, without a disc."""

    id: str
    title: str
    entities: int
    parent: str | None
    x: float
    y: float
    r: float
    colour: str


@dataclass(frozen=True, slots=True)
class EntityDot:
    """An entity on the map, and its communities from the coarsest down where they were asked for."""

    id: str
    name: str
    type: str
    degree: int
    x: float
    y: float
    r: float
    communities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Link:
    """What two communities, or two entities, have to do with each other."""

    source: str
    target: str
    weight: float


@dataclass(frozen=True, slots=True)
class DepthMap:
    """The communities of one of `depths`, largest first, and the strongest links between them.

    `entities` and `relations` count the whole graph; `left_out` counts communities that are not shown.
    """

    depth: int
    depths: int
    width: float
    height: float
    entities: int
    relations: int
    communities: tuple[CommunityDisc, ...]
    bundles: tuple[Link, ...]
    left_out: int


@dataclass(frozen=True, slots=True)
class CommunityInside:
    """A community from inside: the communities below it, and its entities, those with most neighbours first.

    `links` are those that hold it together; `left_out` counts entities that are not shown.
    """

    disc: CommunityDisc
    depth: int
    summary: str
    communities: tuple[CommunityDisc, ...]
    bundles: tuple[Link, ...]
    members: tuple[EntityDot, ...]
    links: tuple[Link, ...]
    left_out: int


@dataclass(frozen=True, eq=False)
class CommunityMap:
    """A drawing with all depths of an index."""

    drawing: Drawing

    @classmethod
    def of(cls, index: Index, name: str) -> CommunityMap:
        """Lay out the communities of an index. Raises InputError where there is nothing to draw."""
        levels = [index.clusters_at(d) for d in range(index.depth)]
        return cls(lay_out_drawing(index.graph, levels, name=name))

    def at_depth(self, depth: int) -> DepthMap:
        """The map of a depth. Raises InputError for one that there is not."""
        d, drawing = self.drawing.depth(depth), self.drawing
        every = drawing.communities[d]
        shown = sorted(range(len(every)), key=lambda k: (-every[k].entities, every[k].id))[:_COMMUNITIES]
        counts = len(drawing.entities) + drawing.left_out, drawing.relations
        width = max(MAP, round(float(np.max(drawing.places.real, initial=1.0)), 1))
        left, links = len(every) - len(shown), self._bundle(d, shown)
        height = round(drawing.height, 1)
        return DepthMap(d, len(drawing.labels), width, height, *counts, self._discs(d, shown), links, left)

    def inside(self, community: str) -> CommunityInside:
        """A community from inside. Raises InputError for one that is not on the map."""
        depth, k = self._find(community)
        drawing = self.drawing
        below = depth + 1
        children = list[int]()
        if below < len(drawing.labels):
            named = drawing.communities[below]
            children = [i for i, c in enumerate(named) if c.parent == k and c.id != community]
        held = np.flatnonzero(drawing.labels[depth] == k)
        most = sorted(held.tolist(), key=lambda i: (-drawing.entities[i].degree, i))[:_MEMBERS]
        (disc,) = self._discs(depth, [k])
        edges, kept = drawing.edges, np.zeros(len(drawing.entities), np.bool_)
        kept[most] = True
        tree = np.flatnonzero(find_inner_links(drawing, depth) & kept[edges.source] & kept[edges.target])
        ids = [e.id for e in drawing.entities]
        links = [Link(ids[edges.source[e]], ids[edges.target[e]], _round_weight(edges.weight[e])) for e in tree]
        return CommunityInside(
            disc=disc,
            depth=depth,
            summary=drawing.communities[depth][k].summary,
            communities=self._discs(below, children) if children else (),
            bundles=self._bundle(below, children) if children else (),
            members=tuple(self.dot(i) for i in most),
            links=tuple(links),
            left_out=disc.entities - len(most),
        )

    def dots(self, entities: Iterable[str]) -> list[EntityDot]:
        """Where these entities are, each with its communities; those that are not drawn are left out."""
        found = sorted({self._number[name] for name in entities if name in self._number})
        return [self.dot(i, homes=True) for i in found]

    def dot(self, i: int, homes: bool = False) -> EntityDot:
        """The entity with this number in the drawing."""
        drawing = self.drawing
        e, at = drawing.entities[i], drawing.places[i]
        around = zip(drawing.communities, drawing.labels, strict=True) if homes else ()
        of = tuple(dict.fromkeys(named[label[i]].id for named, label in around))
        place = round(float(at.real), 1), round(float(at.imag), 1), round(float(drawing.radius[i]), 1)
        return EntityDot(e.id, e.name, e.type, e.degree, *place, of)

    @cached_property
    def _number(self) -> dict[str, int]:
        return {e.id: i for i, e in enumerate(self.drawing.entities)}

    @cached_property
    def _paints(self) -> dict[int, list[str]]:
        return {d: [find_colour(name)[0] for name in choose_paints(self.drawing, d)] for d in self._depths}

    @cached_property
    def _depths(self) -> range:
        return range(len(self.drawing.labels))

    def _find(self, community: str) -> tuple[int, int]:
        """The first depth of a community, and its number there."""
        for d, named in enumerate(self.drawing.communities):
            for k, c in enumerate(named):
                if c.id == community:
                    return d, k
        raise InputError(f"There is no community {community!r} on the map; ask for the map anew.")

    def _discs(self, depth: int, numbers: Sequence[int]) -> tuple[CommunityDisc, ...]:
        drawing = self.drawing
        above = drawing.communities[depth - 1] if depth else ()
        found = list[CommunityDisc]()
        for k in numbers:
            c, at, reach = drawing.communities[depth][k], drawing.discs[depth][k], drawing.reaches[depth][k]
            parent = above[c.parent].id if c.parent >= 0 else None
            place = round(float(at.real), 1), round(float(at.imag), 1), round(float(reach), 1)
            found.append(CommunityDisc(c.id, c.title, c.entities, parent, *place, self._paints[depth][k]))
        return tuple(found)

    def _bundle(self, depth: int, numbers: Sequence[int]) -> tuple[Link, ...]:
        """The links that are drawn between these communities of a depth."""
        bundles, named = bundle_links(self.drawing, depth), self.drawing.communities[depth]
        edges, shown = bundles.edges, np.asarray(sorted(numbers), np.int64)
        inside = np.isin(edges.source, shown) & np.isin(edges.target, shown)
        return tuple(
            Link(named[edges.source[e]].id, named[edges.target[e]].id, _round_weight(edges.weight[e]))
            for e in np.flatnonzero(bundles.drawn & inside)
        )


def _round_weight(weight: float) -> float:
    return float(f"{weight:.3g}")
