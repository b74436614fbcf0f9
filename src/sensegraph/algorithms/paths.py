"""Paths: the shortest between nodes of an undirected graph, and chains of ancestors in a tree (LeanRAG, Eq. 7).

The neighbours of node v are `neighbours[start[v]:start[v + 1]]`, ascending; every edge stands in both rows.
A tree is an array of parents, whose leaves are all equally deep: `parent[v]` is the parent of node v, −1 for the root.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import NOWHERE, Ints, Longs
from sensegraph.algorithms.walks import gather_entries


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
        self.far: Ints = np.full(len(start) - 1, NOWHERE, np.int32)
        self.far[node] = 0
        self.front: NDArray[np.int64] = np.array([node], np.int64)

    @property
    def width(self) -> int:
        """How many edges the next level reads."""
        return int((self.start[self.front + 1] - self.start[self.front]).sum())

    def grow(self) -> bool:
        """Take the next level, ascending; whether there is one."""
        found = self.neighbours[gather_entries(self.start, self.front)[0]]
        level = int(self.far[self.front[0]]) + 1
        self.front = np.unique(found[self.far[found] < 0]).astype(np.int64)
        self.far[self.front] = level
        return bool(len(self.front))

    def back(self, node: int) -> list[int]:
        """The way from `node` to this end, over the smallest node each time."""
        way = [node]
        while self.far[way[-1]] > 0:
            begin, end = self.start[way[-1] : way[-1] + 2].tolist()
            beside = self.neighbours[begin:end]
            way.append(int(beside[self.far[beside] == self.far[way[-1]] - 1][0]))
        return way


def list_ancestor_chains(parent: Ints, start: Ints | Sequence[int]) -> Ints:
    """Row i is the chain of `start[i]`: itself, its parent, …, the root; one node a level, int32 of shape (s, levels).

    Raises ValueError where chains are not equally long, or a chain never ends.
    """
    rows, at = list[Ints](), np.asarray(start, np.int32)
    while len(at) and (at >= 0).all():
        if len(rows) > len(parent):
            raise ValueError("a chain of ancestors leads back to itself; parents must form a tree.")
        rows.append(at)
        at = np.asarray(parent, np.int32)[at]
    if (at >= 0).any():
        raise ValueError("chains of ancestors differ in length; every leaf must be equally far from the root.")
    return np.stack(rows, axis=1) if rows else np.zeros((len(at), 0), np.int32)


def find_meeting_level(found: Ints) -> int:
    """The lowest level on which all chains of shape (s, levels) have the same node: that of their common ancestor.

    The number of levels where they have none.
    """
    same = (found == found[:1]).all(axis=0)
    return int(np.argmax(same)) if same.any() else found.shape[1]


def list_paths_to_ancestor(found: Ints) -> list[list[int]]:
    """The nodes on the ways of chains of shape (s, levels) to their lowest common ancestors, by level (Eq. 7).

    Those of one level come in the order of the first chain that has them. The union over all pairs, each up to the
    ancestor of that pair, needs no pairs: it is that of all chains up to the ancestor of them all. For on the chain of
    a leaf lie the ancestors that it shares with each other leaf, and the highest of these is above all leaves. One
    chain alone goes up to its first parent.
    """
    distinct = len(np.unique(found[:, 0])) if found.size else 0
    top = find_meeting_level(found) if distinct > 1 else 1
    return [list(dict.fromkeys(found[:, level].tolist())) for level in range(min(top + 1, found.shape[1]))]
