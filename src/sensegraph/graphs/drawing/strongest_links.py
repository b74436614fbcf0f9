"""What a picture of one depth shows of the graph: colours by community, and only the strongest links.

A graph of communities has far more relations than a picture has room for. Drawn are, inside each community, those of
a maximum spanning forest; between communities, the pairs of a maximum spanning forest and then the strongest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import Edges, Longs, canonical_edges
from sensegraph.algorithms.layout import find_backbone
from sensegraph.graphs.drawing.colours import name_paint
from sensegraph.graphs.drawing.drawing import Drawing

Flags = NDArray[np.bool_]
_BUNDLES = 90  # pairs of communities that are drawn, at most


@dataclass(frozen=True, slots=True, eq=False)
class Bundles:
    """The pairs of communities with relations between them, their weights summed, and which pairs are drawn."""

    edges: Edges
    drawn: Flags


def find_inner_links(drawing: Drawing, depth: int) -> Flags:
    """Which relations hold a community of this depth together, shape (m,): a maximum spanning forest of each."""
    label, edges = drawing.labels[depth], drawing.edges
    within = label[edges.source] == label[edges.target]
    kept = np.zeros(len(within), np.bool_)
    part = canonical_edges(edges.source[within], edges.target[within], edges.weight[within], edges.nodes)
    kept[within] = find_backbone(part)
    return kept


def bundle_links(drawing: Drawing, depth: int) -> Bundles:
    """The relations between communities of this depth, by pairs, and which pairs are strong enough to be drawn."""
    label, count = drawing.labels[depth], len(drawing.communities[depth])
    pairs = canonical_edges(
        label[drawing.edges.source], label[drawing.edges.target], drawing.edges.weight, count
    )  # fmt: skip
    seen = drawing.reaches[depth] > 0
    first = np.lexsort((-pairs.weight, ~find_backbone(pairs)))
    drawn = np.zeros(len(first), np.bool_)
    drawn[first[seen[pairs.source[first]] & seen[pairs.target[first]]][: min(_BUNDLES, int(1.5 * seen.sum()))]] = True
    return Bundles(pairs, drawn)


def rank_hues(drawing: Drawing) -> Longs:
    """The rank, by entities, of every community of depth 0: its hue, shape (c,)."""
    size = np.array([c.entities for c in drawing.communities[0]])
    rank = np.empty(len(size), np.int64)
    rank[np.argsort(-size, kind="stable")] = np.arange(len(size))
    return rank


def choose_paints(drawing: Drawing, depth: int) -> list[str]:
    """The colour of every community of this depth: the hue of the one of depth 0 around it, in a tone of its own."""
    root = np.zeros(len(drawing.communities[depth]), np.int64)
    root[drawing.labels[depth]] = drawing.labels[0]
    hue = rank_hues(drawing)[root].tolist()
    if depth == 0:
        return [name_paint(h) for h in hue]
    tone = np.zeros(len(root), np.int64)
    angle = np.angle(drawing.discs[depth] - drawing.discs[0][root])  # siblings side by side differ
    order = np.lexsort((angle, root))
    first = np.searchsorted(root[order], root[order])
    tone[order] = np.arange(len(order)) - first
    return [name_paint(h, t) for h, t in zip(hue, tone.tolist(), strict=True)]
