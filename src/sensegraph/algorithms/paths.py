"""Shortest ways between nodes of an undirected graph given as rows: over whole levels at once, from both ends.

The neighbours of node v are `neighbours[start[v]:start[v + 1]]`, ascending; every edge stands in both rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import Ints, Longs


def shortest_path(start: Longs, neighbours: Ints, source: int, target: int) -> list[int]:
    """The nodes of a shortest way from `source` to `target`, both included; empty where none leads there.

    Edges count alike. Of several such ways it is always the same one, whatever the order in which edges were given.
    """
    if source == target:
        return [source]
    sides = [_Side(start, neighbours, node) for node in (source, target)]
    while all(len(side.front) for side in sides):
        one, other = sorted(sides, key=lambda side: side.width)
        met = one.front[other.far[one.front] >= 0] if one.grow() else one.front
        if len(met):
            middle = int(met[0])
            return [*reversed(sides[0].back(middle)), *sides[1].back(middle)[1:]]
    return []


def find_paths_through(start: Longs, neighbours: Ints, stops: Sequence[int]) -> list[list[int]]:
    """A shortest way from each stop to the next; where none leads on, there is none (HiRAG, Eq. 15)."""
    ways = (shortest_path(start, neighbours, a, b) for a, b in pairwise(stops))
    return [way for way in ways if way]


class _Side:
    """What is known from one end: `far` is the number of edges to every node, −1 where it is not known."""

    def __init__(self, start: Longs, neighbours: Ints, node: int) -> None:
        self.start, self.neighbours = start, neighbours
        self.far: Ints = np.full(len(start) - 1, -1, np.int32)
        self.far[node] = 0
        self.front: NDArray[np.int64] = np.array([node], np.int64)

    @property
    def width(self) -> int:
        """How many edges the next level reads."""
        return int((self.start[self.front + 1] - self.start[self.front]).sum())

    def grow(self) -> bool:
        """Take the next level, ascending; whether there is one."""
        begin, count = self.start[self.front], self.start[self.front + 1] - self.start[self.front]
        before = np.cumsum(count) - count
        found = self.neighbours[np.repeat(begin - before, count) + np.arange(int(count.sum()))]
        level = int(self.far[self.front[0]]) + 1
        self.front = np.unique(found[self.far[found] < 0]).astype(np.int64)
        self.far[self.front] = level
        return bool(len(self.front))

    def back(self, node: int) -> list[int]:
        """The way from `node` to this end, over the smallest node each time."""
        way = [node]
        while self.far[way[-1]] > 0:
            beside = self.neighbours[int(self.start[way[-1]]) : int(self.start[way[-1] + 1])]
            way.append(int(beside[self.far[beside] == self.far[way[-1]] - 1][0]))
        return way
