"""Places for the nodes of a graph whose communities nest: discs inside discs, none over another, and no node outside.

A point of the plane is one complex number, x + iy. Forces follow Fruchterman and Reingold (1991), with repulsion and
gravity as in ForceAtlas2 (Jacomy et al. 2014). All groups of a depth are laid out at once, each about its own origin.
Equal input and seed give equal places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensegraph.algorithms.graphs import Edges, Floats, Longs, canonical_edges
from sensegraph.algorithms.linkage import find_root

Points = NDArray[np.complex128]
_PULLS = 70  # rounds of forces
_PUSHES = 180  # rounds of pushing discs apart, at most
_DRAWN = 80  # the first of them draw each group together, the others give it more room where it is needed
_PAIRS = 32  # in a larger group a node is repelled by this many others, drawn by lot, that stand for all
_TINY = 1e-9  # what is nearer has no direction
_GOLDEN = np.pi * (3 - np.sqrt(5))


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Places of n nodes, and centres and radii of the discs of their communities, one array a depth, coarsest first."""

    places: Points
    centres: tuple[Points, ...]
    radii: tuple[Floats, ...]


def lay_out_nested(
    edges: Edges, levels: list[Longs], radius: Floats, *, seed: int = 0, gap: float = 1.0, aspect: float = 1.0
) -> Layout:
    """Lay out nodes of these radii (n,) in the discs of their communities, and these in the discs of the next coarser.

    `levels[d]` (n,) numbers the community of every node at depth d from 0, without gaps; those of depth d + 1 must
    nest in those of depth d. Discs of one depth are `gap` apart at least, `aspect` is about the width of the whole
    over its height. Raises ValueError for communities that do not nest.
    """
    nodes = np.arange(len(radius))
    parents: list[Longs] = []  # the disc around every item of each depth, last of the nodes; the first has but one
    for depth, inner in enumerate([*levels, nodes]):
        outer = levels[depth - 1] if depth else np.zeros(len(radius), np.int64)
        parent = np.zeros(int(inner.max()) + 1 if len(radius) else 0, np.int64)
        parent[inner] = outer
        if not np.array_equal(parent[inner], outer):
            raise ValueError(f"the communities of depth {depth} do not lie inside those of depth {depth - 1}.")
        parents.append(parent)
    local: list[Points] = []
    sizes: list[Floats] = [radius]
    for depth in range(len(levels), -1, -1):  # from the nodes up to the one disc that holds everything
        item = levels[depth] if depth < len(levels) else nodes
        a, b = item[edges.source], item[edges.target]
        same = parents[depth][a] == parents[depth][b]  # the edges between items of one disc
        linked = canonical_edges(a[same], b[same], edges.weight[same], len(parents[depth]))
        wide = aspect if depth == 0 else 1.0
        places = arrange_discs(sizes[0] + gap / 2, parents[depth], linked, seed=seed + depth, aspect=wide)
        places, size = _enclose_groups(places, sizes[0], parents[depth])
        local.insert(0, places)
        sizes.insert(0, size + gap * 2)
    # Absolute places at every depth: each disc's content is turned (or mirrored) towards what it is linked to.
    placed = [local[0]]
    for depth in range(1, len(local)):
        item = levels[depth] if depth < len(levels) else nodes
        turned = _turn_contents(local[depth], parents[depth], placed[-1], item, edges)
        placed.append(placed[-1][parents[depth]] + turned)
    return Layout(placed[-1], tuple(placed[:-1]), tuple(s for s in sizes[1:-1]))


# ── one depth ────────────────────────────────────────────────────────────────────────────────────────────────────────


def arrange_discs(radius: Floats, group: Longs, edges: Edges, *, seed: int = 0, aspect: float = 1.0) -> Points:
    """Places of discs of these radii, each group about the origin, linked ones near, none over another of its group.

    `edges` join discs of the same group; only the order of magnitude of their weights matters (square roots pull).
    """
    area = np.bincount(group, radius**2)
    reach = np.sqrt(area / 0.72)  # the share of a disc that packed discs cover, about
    lot = np.random.default_rng(seed)
    places = _place_on_spirals(radius, group, reach) * np.exp(2j * np.pi * lot.random(len(reach)))[group]
    repel = _draw_repelling(radius, group, lot)
    # How strongly each edge draws its source and its target: as a share of all that draw there.
    root = np.sqrt(edges.weight)
    total = np.bincount(edges.source, root, edges.nodes) + np.bincount(edges.target, root, edges.nodes)
    mean = total.mean() if edges.nodes else 1.0
    to_source, to_target = root / (total[edges.source] + mean), root / (total[edges.target] + mean)
    n = len(places)
    for left in np.linspace(1.0, 0.03, _PULLS):
        # Like charges in the plane: with gravity that grows with distance they fill a disc evenly.
        apart = places[repel.i] - places[repel.j]
        push = repel.mass / np.maximum(_squares(apart), repel.least)
        force = _gravity(places, aspect) - _sum_by(repel.i, apart * push, n) * (reach**2 / area)[group]
        apart = places[edges.target] - places[edges.source]
        force -= 4 * (_sum_by(edges.source, to_source * apart, n) - _sum_by(edges.target, to_target * apart, n))
        step = 0.35 * force
        most = 0.25 * left * reach[group]
        places = places - step * np.minimum(1, most / np.maximum(abs(step), _TINY))
    # Each group as wide as a disc that it fills evenly: links draw it together more than its discs have room for.
    width = np.sqrt(np.bincount(group, _squares(places)) / np.bincount(group))  # of a full disc: reach / √2
    factor: Floats = np.maximum(1.0, reach / np.sqrt(2) / np.maximum(width, _TINY * reach))
    return _push_apart(places * factor[group], radius, group, aspect)


def _place_on_spirals(radius: Floats, group: Longs, reach: Floats) -> Points:
    """A sunflower in every group, its largest discs in the middle."""
    order = np.lexsort((-radius, group))
    count = np.bincount(group)
    rank = np.arange(len(group)) - (np.cumsum(count) - count)[group[order]]
    places = np.zeros(len(group), np.complex128)
    spread = np.sqrt((rank + 0.5) / count[group[order]]) * reach[group[order]]
    places[order] = np.where(count[group[order]] > 1, spread, 0) * np.exp(1j * _GOLDEN * rank)
    return places


@dataclass(frozen=True, slots=True, eq=False)
class _Repelling:
    """Pairs of which j pushes i away with its mass, never harder than from half of where their rims touch."""

    i: Longs
    j: Longs
    mass: Floats
    least: Floats


def _draw_repelling(radius: Floats, group: Longs, lot: np.random.Generator) -> _Repelling:
    """All pairs of small groups; in larger ones some others for every node, with the mass of all of them."""
    order = np.argsort(group, kind="stable")
    count = np.bincount(group)
    begin = np.cumsum(count) - count
    others = count[group] - 1
    drawn = np.minimum(others, _PAIRS)
    i = np.repeat(np.arange(len(group)), drawn)
    nth = np.arange(len(i)) - np.repeat(np.cumsum(drawn) - drawn, drawn)
    own = np.empty(len(group), np.int64)
    own[order] = np.arange(len(group)) - begin[group[order]]
    offset = 1 + np.where(others[i] > _PAIRS, (lot.random(len(i)) * others[i]).astype(np.int64), nth)
    j = order[begin[group[i]] + (own[i] + offset) % (others[i] + 1)]
    mass = radius[j] ** 2 * others[i] / np.maximum(drawn[i], 1)
    return _Repelling(i, j, mass, (0.5 * (radius[i] + radius[j])) ** 2)


def _gravity(places: Points, aspect: float) -> Points:
    return places.real / aspect + 1j * places.imag * aspect


def _squares(points: Points) -> Floats:
    """The squares of the distances from the origin."""
    return points.real**2 + points.imag**2


def _find_directions(points: Points, lost: ArrayLike = 0) -> Points:
    """The points on the unit circle in the direction of others; `lost` where they are at the origin."""
    far = abs(points)
    return np.where(far > _TINY, points / np.maximum(far, _TINY), lost)


def _sum_by(index: NDArray[Any], value: Points, n: int) -> Points:
    return np.bincount(index, value.real, n) + 1j * np.bincount(index, value.imag, n)


# ── no disc over another ─────────────────────────────────────────────────────────────────────────────────────────────


def _push_apart(places: Points, radius: Floats, group: Longs, aspect: float) -> Points:
    """Push overlapping discs of a group apart, drawing all together at first and giving ever more room at last."""
    if not len(places):
        return places
    reach = 2 * float(radius.max())
    for round_ in range(_PUSHES):
        i, j = _find_near(places, group, reach)
        hit = _squares(places[j] - places[i]) < (radius[i] + radius[j]) ** 2 * (1 - 1e-6)
        if round_ < _DRAWN:
            places = places - 0.03 * _gravity(places, aspect)
        elif not hit.any():
            break
        else:
            crowded = np.bincount(group[i[hit]], minlength=len(places)) > 0  # by group; there are no more than nodes
            places = places * np.where(crowded, 1.01, 1.0)[group]
        # Each disc moves to clear the ones that it overlaps; the smaller of two moves more.
        i, j = i[hit], j[hit]
        apart, touch = places[j] - places[i], radius[i] + radius[j]
        far = abs(apart)
        lot = np.exp(1j * (i + 2 * j))  # somewhere, for two in one place
        push = np.asarray(0.9 * np.maximum(touch - far, 0) * _find_directions(apart, lot), np.complex128)
        back: Points = push * (radius[j] / touch)
        places = places + (_sum_by(j, push - back, len(places)) - _sum_by(i, back, len(places)))
    # Enlarge each group until no two of its discs overlap.
    i, j = _find_near(places, group, reach)
    factor = np.ones(len(np.bincount(group)))
    np.maximum.at(factor, group[i], (radius[i] + radius[j]) / np.maximum(abs(places[j] - places[i]), _TINY))
    return places * (factor * (1 + 1e-9))[group]


def _find_near(places: Points, group: Longs, reach: float) -> tuple[Longs, Longs]:
    """All pairs of a group that may be less than `reach` apart, each once: those in neighbouring cells of a grid."""
    if len(places) < 2:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    x = np.floor((places.real - places.real.min()) / reach).astype(np.int64)
    y = np.floor((places.imag - places.imag.min()) / reach).astype(np.int64)
    wide, tall = int(x.max()) + 3, int(y.max()) + 3
    cell = (group * tall + y) * wide + x
    order = np.argsort(cell, kind="stable")
    cell = cell[order]
    ones, others = [], []
    for offset in (0, 1, wide - 1, wide, wide + 1):
        # Every node with every node of the cell that is `offset` further on, or with the later ones of its own cell.
        first = np.arange(1, len(cell) + 1) if offset == 0 else np.searchsorted(cell, cell + offset, "left")
        count = np.searchsorted(cell, cell + offset, "right") - first
        nth = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        ones.append(np.repeat(order, count))
        others.append(order[np.repeat(first, count) + nth])
    return np.concatenate(ones), np.concatenate(others)


# ── discs inside discs ───────────────────────────────────────────────────────────────────────────────────────────────


def _enclose_groups(places: Points, radius: Floats, group: Longs) -> tuple[Points, Floats]:
    """The places about the middle of the smallest disc that holds each group, nearly, and the radii of these discs."""
    sizes = np.bincount(group)
    middle = np.zeros(len(sizes), np.complex128)
    for round_ in range(1, 40):  # towards the farthest, ever less (Badoiu and Clarkson 2003)
        away = places - middle[group]
        far = abs(away) + radius
        order = np.lexsort((far, group))
        last = order[np.cumsum(sizes) - 1]
        middle = middle + _find_directions(away[last]) * far[last] / (round_ + 1) * 0.5
    size = np.zeros(len(sizes))
    np.maximum.at(size, group, abs(places - middle[group]) + radius)
    alone = sizes == 1
    return np.where(alone[group], 0, places - middle[group]), np.where(alone, np.bincount(group, radius), size)


def _turn_contents(places: Points, parent: Longs, outer: Points, item: Longs, edges: Edges) -> Points:
    """Turn the content of every disc so that its links outwards are short: the angle has a closed form."""
    a, b = item[np.r_[edges.source, edges.target]], item[np.r_[edges.target, edges.source]]
    leaving = parent[a] != parent[b]
    a, b, weight = a[leaving], b[leaving], np.r_[edges.weight, edges.weight][leaving]
    away = outer[parent[b]] - outer[parent[a]]
    wanted = weight * _find_directions(away)
    turn = _sum_by(parent[a], wanted * places[a].conj(), len(outer))
    mirror = _sum_by(parent[a], wanted * places[a], len(outer))
    flip = abs(mirror) > abs(turn)
    angle = _find_directions(np.where(flip, mirror, turn), 1)
    return np.where(flip[parent], places.conj(), places) * angle[parent]


# ── what to draw ─────────────────────────────────────────────────────────────────────────────────────────────────────


def find_backbone(edges: Edges) -> NDArray[np.bool_]:
    """Which edges form a maximum spanning forest, shape (m,): the heaviest that hold every component together."""
    root = list(range(edges.nodes))
    kept = np.zeros(len(edges.weight), np.bool_)
    source, target = edges.source.tolist(), edges.target.tolist()
    for e in np.argsort(-edges.weight, kind="stable").tolist():
        a, b = find_root(root, source[e]), find_root(root, target[e])
        if a != b:
            root[max(a, b)] = min(a, b)
            kept[e] = True
    return kept
