"""Chains of ancestors in a tree whose leaves are all equally deep, and where they meet (LeanRAG, Eq. 7).

A tree is an array of parents: `parent[v]` is the parent of node v, −1 for the root.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sensegraph.algorithms.graphs import Ints


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
