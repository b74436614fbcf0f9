"""What a picture shows, and where: entities, the communities around them, and their places on the canvas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import Edges, Floats, Longs, canonical_edges, label_components
from sensegraph.algorithms.layout import Layout, Points, arrange_discs, lay_out_nested
from sensegraph.errors import InputError
from sensegraph.types import Cluster, Entity, Graph

MAP = 1210.0  # units of width for the communities; texts and margins are measured in the same units
_APART = 12  # a component with fewer entities, and small beside the largest, stands apart below the others
_SMALL = 8  # … when the largest has this many times as many
_LARGEST = 2.4  # units for one of the layout, at most: a small graph is not blown up
_GAP = 2.6  # units of the layout between two entities, at least
_DOT = 1.6  # the least radius of an entity that stands apart
_BELOW = 46.0  # from the map to what stands apart


@dataclass(frozen=True, slots=True)
class Community:
    """A community as pictures name it; `entities` counts all, drawn or not; `parent` is its number one depth above."""

    id: str
    title: str
    summary: str
    entities: int
    parent: int


Communities = tuple[tuple[Community, ...], ...]  # by depth, coarsest first
Levels = Sequence[Sequence[Cluster]]


@dataclass(frozen=True, slots=True, eq=False)
class Drawing:
    """Entities with their places, without what single passages say of them.

    Arrays have one item an entity; lists of arrays and of communities one item a depth.
    `labels[d]` is the community of every entity at depth d, `discs[d]` and `reaches[d]` the middle and the radius of
    each community's disc (radius 0 for one that stands apart). `left_out` counts the entities beyond the limit, `apart`
    says which stand below the line `border`. Units are those of the canvas, y points down.
    """

    name: str
    entities: tuple[Entity, ...]
    relations: int
    edges: Edges
    labels: tuple[Longs, ...]
    communities: Communities
    places: Points
    radius: Floats
    discs: tuple[Points, ...]
    reaches: tuple[Floats, ...]
    apart: NDArray[np.bool_]
    border: float
    height: float
    left_out: int = 0

    def depth(self, wanted: int) -> int:
        """`wanted`, where it is one of the depths that were laid out. Raises InputError otherwise."""
        if not 0 <= wanted < len(self.labels):
            raise InputError(f"Depth {wanted} is not in this drawing; it has the depths 0 to {len(self.labels) - 1}.")
        return wanted


def lay_out_drawing(graph: Graph, levels: Levels, *, name: str = "", seed: int = 0, most: int = 12_000) -> Drawing:
    """Lay out the communities of each depth (`levels`, coarsest first) with the entities inside.

    Of more than `most` entities those of the highest degree are drawn. Raises InputError where there is none.
    """
    if not graph.entities or not levels:
        raise InputError("There are no entities to draw; index documents that name people, places or things.")
    shown = (replace(e, descriptions=(), chunks=()) for e in graph.entities)  # what it is drawn from, and no more
    every = sorted(shown, key=lambda e: (-e.degree, e.id))
    entities = tuple(sorted(every[:most], key=lambda e: e.id))
    number = {e.id: i for i, e in enumerate(entities)}
    ends = ((number.get(r.source, -1), number.get(r.target, -1), r.weight) for r in graph.relations)
    drawn = [(source, target, weight) for source, target, weight in ends if source >= 0 and target >= 0]
    source, target, weight = ([end[i] for end in drawn] for i in range(3))
    edges = canonical_edges(source, target, weight, len(entities))
    labels, communities = _label_entities(levels, entities)
    part = label_components(edges)
    size = np.bincount(part)
    apart = np.asarray(((size < _APART) & (size * _SMALL <= size.max()))[part], np.bool_)
    natural = 1.8 + 1.15 * np.sqrt([float(e.degree) for e in entities])
    kept, layout = _lay_out_main(edges, labels, natural, ~apart, seed)
    onto = _CanvasMap.fit(layout)
    radius = np.where(apart, np.maximum(natural * onto.scale, _DOT), natural * onto.scale)
    places = np.zeros(len(entities), np.complex128)
    places[~apart] = onto(layout.places)
    border = height = onto.height
    if apart.any():
        border = height + _BELOW
        shelf, rows = _lay_out_apart(edges, apart, radius, seed)
        places[apart], height = shelf + 1j * border, border + rows
    discs, reaches = _place_discs(layout, kept, communities, onto)
    return Drawing(
        name, entities, len(graph.relations), edges, labels, communities, places, radius, discs, reaches,
        apart, border, height, len(every) - len(entities),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _CanvasMap:
    """From the plane of a layout to the canvas: `corner` comes to the map's upper left, but for `aside`."""

    corner: complex
    scale: float
    aside: float
    height: float

    @classmethod
    def fit(cls, layout: Layout) -> _CanvasMap:
        """As large as fits the width of the map, in its middle."""
        reach = layout.radii[0] * (1 + 1j)
        corners = np.concatenate((layout.centres[0] - reach, layout.centres[0] + reach))
        width, height = float(np.ptp(corners.real)), float(np.ptp(corners.imag))
        scale = min(_LARGEST, MAP / width)
        low = complex(corners.real.min(), corners.imag.min())
        return cls(low, scale, (MAP - width * scale) / 2, height * scale)

    def __call__(self, points: Points) -> Points:
        return (points - self.corner) * self.scale + self.aside


def _label_entities(levels: Levels, entities: Sequence[Entity]) -> tuple[tuple[Longs, ...], Communities]:
    """The community of every entity at each depth, and these communities; ones without an entity drawn are left out."""
    number = {e.id: i for i, e in enumerate(entities)}
    labels: list[Longs] = []
    named: list[tuple[Community, ...]] = []
    for clusters in levels:
        where = np.full(len(entities), -1, np.int64)
        for k, cluster in enumerate(clusters):
            where[[number[e] for e in cluster.entities if e in number]] = k
        if (where < 0).any():
            lost = entities[int(np.argmin(where))].name
            raise InputError(f"The entity {lost!r} is in no community; run `sensegraph index` again.")
        kept, label = np.unique(where, return_inverse=True)
        pairs = set(zip(label.tolist(), labels[-1].tolist(), strict=True)) if labels else set()
        above = dict(sorted(pairs))
        if len(above) < len(pairs):
            raise InputError(
                f"Communities of depth {len(labels)} do not lie inside those of depth {len(labels) - 1}; "
                "run `sensegraph index --fresh`."
            )
        communities = list[Community]()
        for i, k in enumerate(kept.tolist()):
            c = clusters[k]
            summary = "".join(s.text for s in c.summary).strip()
            communities.append(Community(c.id, c.title, summary, len(c.entities), above.get(i, -1)))
        named.append(tuple(communities))
        labels.append(label.astype(np.int64))
    return tuple(labels), tuple(named)


def _lay_out_main(
    edges: Edges, labels: Sequence[Longs], radius: Floats, main: NDArray[np.bool_], seed: int
) -> tuple[list[Longs], Layout]:
    """The layout of the entities that do not stand apart, and which communities (by their numbers) it has discs for."""
    inner = [np.unique(label[main], return_inverse=True) for label in labels]
    levels = [label.astype(np.int64) for _, label in inner]
    linked = _select_edges(edges, main)
    return [kept for kept, _ in inner], lay_out_nested(linked, levels, radius[main], seed=seed, gap=_GAP, aspect=1.3)


def _select_edges(edges: Edges, kept: NDArray[np.bool_]) -> Edges:
    """The edges between nodes that are kept, which are numbered anew."""
    number, both = np.cumsum(kept) - 1, kept[edges.source] & kept[edges.target]
    ends = number[edges.source[both]], number[edges.target[both]]
    return canonical_edges(*ends, edges.weight[both], int(kept.sum()))


def _place_discs(
    layout: Layout, kept: list[Longs], communities: Communities, onto: _CanvasMap
) -> tuple[tuple[Points, ...], tuple[Floats, ...]]:
    """The discs of every depth on the canvas, radius 0 for the communities that have none."""
    discs, reaches = [], []
    for there, named, at, size in zip(kept, communities, layout.centres, layout.radii, strict=True):
        middle, reach = np.zeros(len(named), np.complex128), np.zeros(len(named))
        middle[there], reach[there] = onto(at), size * onto.scale
        discs.append(middle)
        reaches.append(reach)
    return tuple(discs), tuple(reaches)


def _lay_out_apart(edges: Edges, apart: NDArray[np.bool_], radius: Floats, seed: int) -> tuple[Points, float]:
    """The components that stand apart in rows from the left, largest first, and the height of all rows."""
    linked = _select_edges(edges, apart)
    part = label_components(linked).astype(np.int64)
    size = radius[apart]
    places = arrange_discs(size + 1.2, part, linked, seed=seed)
    reach = np.zeros(int(part.max(initial=-1)) + 1)
    np.maximum.at(reach, part, abs(places) + size)
    # discs in rows of the map's width, largest first
    reach += 2.0
    middle = np.zeros(len(reach), np.complex128)
    x = y = row = 0.0
    for i in np.lexsort((np.arange(len(reach)), -reach)).tolist():
        if x > 0 and x + 2 * reach[i] > MAP:
            x, y, row = 0.0, y + row, 0.0
        row = max(row, 2 * float(reach[i]))
        middle[i] = complex(x + reach[i], y + row / 2)
        x += 2 * float(reach[i])
    return places + middle[part], y + row
