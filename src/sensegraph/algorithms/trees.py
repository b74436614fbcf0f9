"""A hierarchy of communities as flat arrays, its projection to one partition a depth, and partitions compared.

Groups of one partition are those of another where they overlap most: Greene, Doyle, Cunningham 2010, "Tracking the
evolution of communities in dynamic social networks" (ASONAM), §3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import NOWHERE, Ints, Longs, number_distinct, order_numbers


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """Communities of `nodes` nodes at every depth, ordered by (depth, smallest member).

    `parent` (−1 at depth 0) and `depth` are int32 of shape (c,); the members of community i are
    `members[start[i]:start[i + 1]]`, ascending. Communities of one depth are disjoint; the children of a community
    partition it; in a finished tree those of depth 0 cover every node.
    """

    parent: Ints
    depth: Ints
    start: Longs
    members: Ints
    nodes: int

    def __len__(self) -> int:
        return len(self.parent)

    @property
    def depths(self) -> int:
        """The number of depths, 0 for a tree without communities."""
        return int(self.depth[-1]) + 1 if len(self) else 0

    @property
    def sizes(self) -> Longs:
        """The number of members of every community."""
        return np.diff(self.start)

    def of(self, community: int) -> Ints:
        """The members of one community, ascending."""
        return self.members[self.start[community] : self.start[community + 1]]

    def at(self, depth: int) -> Ints:
        """The community of every node at exactly this depth, −1 where it has none, shape (nodes,)."""
        first, last = np.searchsorted(self.depth, (depth, depth + 1))
        labels = np.full(self.nodes, NOWHERE, np.int32)
        owner = np.repeat(np.arange(first, last, dtype=np.int32), self.sizes[first:last])
        labels[self.members[self.start[first] : self.start[last]]] = owner
        return labels


def project(tree: Tree, depth: int) -> Ints:
    """The community of every node at `depth`, or its deepest one above where it has none there, shape (nodes,).

    Every depth is so a partition of all nodes (Edge et al. 2024, §3.1.4).
    """
    labels = tree.at(0)
    for d in range(1, min(depth + 1, tree.depths)):
        deeper = tree.at(d)
        labels = np.where(deeper >= 0, deeper, labels)
    return labels


def roots_of(labels: NDArray[Any]) -> Ints:
    """Labels (−1 for none) renamed to the smallest node that bears them."""
    root = np.full(len(labels), NOWHERE, np.int32)
    known = np.flatnonzero(labels >= 0)
    _, first, where = number_distinct(labels[known])
    root[known] = known[first][where]
    return root


def find_unchanged(tree: Tree, before: Tree, number: NDArray[Any]) -> Longs:
    """Of each community of `tree` the one of `before` that has its members at its depth, −1 where there is none.

    `number[v]` is what node v of `before` is in `tree`, −1 where it is gone.
    """
    found = np.full(len(tree), NOWHERE, np.int64)
    for depth in range(min(tree.depths, before.depths)):
        labels = np.full(tree.nodes + 1, NOWHERE, np.int64)  # the last for what is gone
        labels[number] = before.at(depth)
        here, own = tree.at(depth), np.flatnonzero(tree.depth == depth)
        found[own] = labels[tree.members[tree.start[own]]]
        alike = np.flatnonzero((here >= 0) & (labels[:-1] == found[here]))
        whole = (np.bincount(here[alike], minlength=len(tree)) == tree.sizes)[own]
        found[own[~whole | (before.sizes[found[own]] != tree.sizes[own])]] = NOWHERE
    return found


def tree_of(levels: list[Ints], nodes: int) -> Tree:
    """The tree of these depths; `levels[d][v]` is the smallest member of the community of v at depth d, or −1."""
    parents: list[NDArray[Any]] = []
    sizes: list[NDArray[Any]] = []
    members: list[NDArray[Any]] = []
    above, base = np.full(nodes, NOWHERE, np.int32), 0
    for root in levels:
        inside = np.flatnonzero(root >= 0)
        first = np.flatnonzero(root == np.arange(nodes))
        parents.append(above[first])
        members.append(inside[order_numbers(root[inside])].astype(np.int32))
        sizes.append(np.bincount(root[inside], minlength=nodes)[first])
        number = np.zeros(nodes, np.int32)
        number[first] = np.arange(base, base + len(first))
        above, base = np.where(root >= 0, number[root], NOWHERE).astype(np.int32), base + len(first)
    depth = np.repeat(np.arange(len(levels), dtype=np.int32), [len(p) for p in parents])
    start = np.concatenate(([0], np.cumsum(_concatenate_ints(sizes)))).astype(np.int64)
    return Tree(_concatenate_ints(parents), depth, start, _concatenate_ints(members), nodes)


def _concatenate_ints(parts: list[NDArray[Any]]) -> Ints:
    return np.concatenate([np.zeros(0, np.int32), *parts]).astype(np.int32)


LEAST = 0.3  # Jaccard coefficient from which a group is another's successor (the paper's θ, §4)
_MOST = 0.5  # share of a group's members that must be in another for it to be a part of that


@dataclass(frozen=True, slots=True)
class Followed:
    """By position: `successor` pairs (old, new); `parts` of old groups that split and `sources` of those that merged,
    pairs (old, new) each without a successor of their own."""

    successor: tuple[tuple[int, int], ...] = ()
    parts: tuple[tuple[int, int], ...] = ()
    sources: tuple[tuple[int, int], ...] = ()


def match_groups(
    old: Sequence[frozenset[str]], new: Sequence[frozenset[str]], apart: Sequence[Sequence[int]] = ((), ())
) -> Followed:
    """Match each new group with at most one old, best overlap first; ties go to the same depth, then to the first.

    `apart` are the depths of the old and of the new groups: groups of different depths are matched only where no group
    of the same depth is as alike, and neither split nor merge into one another.
    """
    depths = (apart[0] or [0] * len(old), apart[1] or [0] * len(new))
    after: dict[int, int] = {}
    before: dict[int, int] = {}
    same: dict[tuple[int, frozenset[str]], list[int]] = {}
    for b, members in enumerate(new):
        same.setdefault((depths[1][b], members), []).append(b)
    for a, members in enumerate(old):  # most are as they were, and as alike as can be
        if members and (left := same.get((depths[0][a], members))):
            after[a] = left.pop(0)
            before[after[a]] = a
    others = (
        *(old[a] for a in range(len(old)) if a not in after),
        *(new[b] for b in range(len(new)) if b not in before),
    )
    changed = frozenset[str]().union(*others)  # nothing else is asked of pairs of which both are matched
    homes: dict[str, list[int]] = {}
    for a, members in enumerate(old):
        for m in members & changed:
            homes.setdefault(m, []).append(a)
    shared = Counter((a, b) for b, members in enumerate(new) for m in members & changed for a in homes.get(m, ()))
    ranked = sorted(
        (-n / (len(old[a]) + len(new[b]) - n), abs(depths[0][a] - depths[1][b]), a, b)
        for (a, b), n in shared.items()
        if a not in after and b not in before
    )
    for distance, _, a, b in ranked:
        if -distance >= LEAST and a not in after and b not in before:
            after[a], before[b] = b, a
    level = {pair: n for pair, n in shared.items() if depths[0][pair[0]] == depths[1][pair[1]]}
    known = Counter[int]()
    for (_, b), n in level.items():
        known[b] += n
    parts = [(a, b) for (a, b), n in level.items() if a in after and b not in before and n > _MOST * known[b]]
    sources = [(a, b) for (a, b), n in level.items() if a not in after and b in before and n > _MOST * len(old[a])]
    return Followed(tuple(sorted(after.items())), tuple(sorted(parts)), tuple(sorted(sources)))
