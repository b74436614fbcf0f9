"""Local moving from a given partition: Leiden's first phase (Traag et al. 2019), begun only where something changed.

It is what lets an update keep its communities: labels start as they were, a queue holds the nodes near a change, and
only what they set in motion is looked at. There is no chance in it: the queue begins in the order of the nodes, and of
equal gains the smaller label wins.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import (
    Adjacency,
    Flags,
    Floats,
    Longs,
    build_adjacency,
    canonical_edges,
    number_distinct,
)

_TOLERANCE = 1e-10  # a gain below this share of a node's mass is rounding


def settle_labels(
    graph: Adjacency, labels: NDArray[Any], frontier: Flags, penalty: Floats, masses: Floats | None = None
) -> tuple[Longs, Flags]:
    """Labels from which no node in reach of `frontier` gains by moving, then no community by joining another.

    Joining u and v costs `penalty[v]` times their `masses`: γ / 2m of the graph that v belongs to, and strengths (where
    none are given), for modularity. All arrays have shape (n,). Returns the labels, and which nodes moved, alone or
    with their community. Quality never falls.
    """
    masses = graph.strength if masses is None else masses
    labels, moved = _move_nodes(graph, masses, labels, frontier, penalty)
    names, first, whose = number_distinct(labels)
    rows = graph.rows
    between = (rows < graph.indices) & (whose[rows] != whose[graph.indices])
    ends = whose[rows[between]], whose[graph.indices[between]]
    coarse = build_adjacency(canonical_edges(*ends, graph.data[between], len(names)))
    near = np.bincount(whose, weights=frontier | moved) > 0
    mass = np.asarray(np.bincount(whose, weights=masses), np.float64)
    joined, shifted = _move_nodes(coarse, mass, np.arange(len(names)), near, penalty[first])
    return joined[whose], moved | shifted[whose]


def _move_nodes(
    graph: Adjacency, masses: Floats, labels: NDArray[Any], frontier: Flags, penalty: Floats
) -> tuple[Longs, Flags]:
    """The labels after local moving, and the nodes whose label is another one now."""
    mover = _Mover(graph, masses, labels, penalty)
    mover.run(np.flatnonzero(frontier).tolist())
    after = np.array(mover.labels, np.int64)
    return after, after != labels


class _Mover:
    """The state of one local moving."""

    def __init__(self, graph: Adjacency, masses: Floats, labels: NDArray[Any], penalty: Floats) -> None:
        self.graph = graph
        self.masses: list[float] = masses.tolist()
        self.penalty: list[float] = penalty.tolist()
        self.labels: list[int] = labels.tolist()
        self.totals: list[float] = np.bincount(labels, weights=masses).tolist()

    def run(self, nodes: list[int]) -> None:
        """Empty the queue: move its first node, append the neighbours that are not in the community it moved to."""
        queue, waiting = deque(nodes), set(nodes)
        while queue:
            v = queue.popleft()
            waiting.discard(v)
            neighbours = self._neighbours(v)
            if not self._move(v, self._best(v, neighbours)):
                continue
            for u in neighbours:
                if u not in waiting and self.labels[u] != self.labels[v]:
                    waiting.add(u)
                    queue.append(u)

    def _neighbours(self, v: int) -> dict[int, float]:
        begin, end = self.graph.indptr[v : v + 2].tolist()
        return dict(zip(self.graph.indices[begin:end].tolist(), self.graph.data[begin:end].tolist(), strict=True))

    def _best(self, v: int, neighbours: dict[int, float]) -> int:
        """The label with the largest gain, its own if none is larger, a new one if every gain is negative."""
        own, k = self.labels[v], self.masses[v]
        links: dict[int, float] = {}
        for u, weight in neighbours.items():
            links[self.labels[u]] = links.get(self.labels[u], 0.0) + weight
        rate, least = self.penalty[v] * k, _TOLERANCE * k
        best, top = own, links.pop(own, 0.0) - rate * (self.totals[own] - k) + least
        for label in sorted(links):
            gain = links[label] - rate * self.totals[label]
            if gain > top:
                best, top = label, gain
        return len(self.totals) if top < 0 else best

    def _move(self, v: int, label: int) -> bool:
        """Whether `v` had another label than `label`, which it has now."""
        own, k = self.labels[v], self.masses[v]
        if label == own:
            return False
        if label == len(self.totals):
            self.totals.append(0.0)
        self.totals[own] -= k
        self.totals[label] += k
        self.labels[v] = label
        return True
