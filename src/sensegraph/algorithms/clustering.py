"""Hierarchical Leiden over arrays: communities of communities, fresh or starting from those of an earlier build.

Leiden is Traag, Waltman and van Eck, "From Louvain to Leiden" (2019); the recursion is GraphRAG's (Edge et al. 2024,
§3.1.4): a community with more than `max_cluster_size` members is clustered again by itself, until Leiden returns it
whole. The inner loop is `graspologic_native`; what it does not promise is secured here: canonical input, isolated
nodes, connected communities, and a result that is the same for every order of the edges.

All communities of one depth are clustered in a single call, as the blocks of one block-diagonal matrix. A move inside
block b gains E − γ k K / 2m_b by itself, and s_b E − γ′ (s_b k)(s_b K) / 2M in the joint matrix whose block b is
multiplied by s_b. With B blocks, s_b = M / (B m_b) and γ′ = B γ the second is s_b times the first: the same moves.

The quality is modularity, or the constant Potts model (Traag, Van Dooren and Nesterov 2011),
Σ_c [e_c − γ n_c(n_c−1)/2], which has no resolution limit: γ is a density, in units of the mean weight of an edge,
whatever the size of the graph. A community that is optimal at γ has no better division at γ; what is too large is
divided into what is denser than it is as a whole, at γ_b = e_b / (n_b(n_b−1)/2). A move gains E − γ_b n N, so block b
is multiplied by γ′ / γ_b.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import (
    NOWHERE,
    Adjacency,
    Edges,
    Flags,
    Floats,
    Ints,
    build_adjacency,
    canonical_edges,
    induce_subgraph,
    keep_distinct,
    modularity,
    number_distinct,
    number_roots,
    smallest_members,
)
from sensegraph.algorithms.mapped import map_large
from sensegraph.algorithms.moving import settle_labels
from sensegraph.algorithms.trees import Tree, project, roots_of, tree_of

__all__ = ["Quality", "Start", "Tree", "carry_tree", "hierarchical_leiden", "leiden", "partition_quality", "project"]

Quality = Literal["modularity", "cpm"]

_WORK = 400_000  # edges × cycles of the root call where the caller sets no number; below it a quarter of that
_LEAST = 1e-9  # a division that gains no more modularity is none: a complete bipartite graph falls into pairs for 0


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """An earlier tree on the new numbering: what `hierarchical_leiden` may start from.

    `touched` are the nodes where an edge came, went or changed its weight. `changed[i]` says that community i of
    `tree` has lost a member, or that an edge inside it is no longer what it was. `moved` is the weight of what came and
    what went as a share of all weight.
    """

    tree: Tree
    touched: Ints
    changed: Flags
    moved: float = 1.0


@dataclass(frozen=True, slots=True)
class _Rule:
    """The settings of one run."""

    resolution: float
    randomness: float
    iterations: int | None
    seed: int
    quality: Quality = "modularity"
    sweeps: int | None = None

    def __post_init__(self) -> None:
        for name in ("resolution", "randomness", "iterations", "sweeps"):
            _check_positive(name, getattr(self, name))
        if self.quality not in ("modularity", "cpm"):
            raise ValueError(f"quality is {self.quality!r}; it must be 'modularity' or 'cpm'.")
        if self.seed < 0:
            raise ValueError(f"seed is {self.seed}; it must not be negative.")

    def cycles(self, edges: int, depth: int) -> int:
        """Leiden's cycles over one call: 10 where that is cheap, at least 2 at the root and 1 below it."""
        least, work = (1, _WORK // 4) if depth else (2, _WORK)
        return self.iterations or min(10, max(least, work // edges))


def _check_positive(name: str, value: float | None) -> None:
    if value is not None and not (value > 0 and math.isfinite(value)):
        raise ValueError(f"{name} is {value}; it must be a finite number above 0.")


@dataclass(frozen=True, slots=True, eq=False)
class _Frame:
    """What is to be clustered at one depth: the communities to divide, as blocks 0…blocks−1 of one graph."""

    graph: Adjacency
    nodes: Ints  # of the whole graph
    block: Ints
    blocks: int


_Split = Callable[[_Frame, int], tuple[Ints, Flags]]  # and which blocks have a larger quality in them than whole


def hierarchical_leiden(
    edges: Edges,
    *,
    max_cluster_size: int = 10,
    resolution: float = 1.0,
    randomness: float = 0.001,
    iterations: int | None = None,
    seed: int = 0,
    quality: Quality = "modularity",
    previous: Start | None = None,
    max_depth: int | None = None,
    sweeps: int | None = None,
) -> Tree:
    """The hierarchy of communities of all components of a graph.

    A community of more than `max_cluster_size` members is divided by its own modularity (by `quality` "cpm" into what
    is denser than it is) until Leiden returns it whole, so a few stay larger. `iterations` are Leiden's full cycles; by
    default 10, but on graphs above 40,000 edges (10,000 below the root) fewer, down to 2 (1). `max_depth` limits the
    number of depths, `sweeps` how often Leiden goes through all nodes before communities become nodes: by default until
    none moves, of clear communities seldom more than four times. Isolated nodes are communities of their own. With
    `previous`, only nodes near a change are reconsidered, and a community whose members and inner edges are as before
    keeps its whole sub-tree; the caller compares `partition_quality` with that of `leiden` and may run afresh. Raises
    ValueError for a setting that is not positive.
    """
    _check_positive("max_cluster_size", max_cluster_size)
    rule = _Rule(resolution, randomness, iterations, seed, quality, sweeps)
    frame = _frame_whole(build_adjacency(edges))
    update = _Update(previous, rule, edges.nodes) if previous is not None else None
    split: _Split = update.split if update else _split_afresh(rule)
    levels: list[Ints] = []
    while len(frame.nodes) and (max_depth is None or len(levels) < max_depth):
        root, gains = split(frame, len(levels))
        divided = gains[frame.block] | (not levels)
        level = np.full(edges.nodes, NOWHERE, np.int32)
        level[frame.nodes[divided]] = frame.nodes[root[divided]]
        levels.append(level)
        done = update.keep(frame, root, len(levels) - 1) if update else np.zeros(len(root), np.bool_)
        # The communities of this depth that are still to be divided are the blocks of the next.
        large = divided & ~done & (np.bincount(root, minlength=len(root)) > max_cluster_size)[root]
        block = np.where(large, root, NOWHERE)
        graph, nodes = induce_subgraph(frame.graph, block)
        blocks, _, number = number_distinct(block[nodes])
        frame = _Frame(graph, frame.nodes[nodes], number.astype(np.int32), len(blocks))
    if update:
        levels = update.overlaid(levels, max_depth)
    return tree_of(levels, edges.nodes)


def leiden(
    edges: Edges,
    *,
    resolution: float = 1.0,
    randomness: float = 0.001,
    iterations: int | None = None,
    seed: int = 0,
    quality: Quality = "modularity",
) -> Ints:
    """One flat partition: the community of every node, numbered in the order of their smallest members, shape (n,)."""
    split = _split_afresh(_Rule(resolution, randomness, iterations, seed, quality))
    return number_roots(split(_frame_whole(build_adjacency(edges)), 0)[0])


def partition_quality(
    edges: Edges, labels: NDArray[Any], resolution: float = 1.0, quality: Quality = "modularity"
) -> float:
    """What `leiden` makes as large as it can, as a share of all weight: at most 1, and 0 without edges.

    Modularity, or Σ_c [e_c − γ n_c(n_c−1)/2] / m with γ in units of the mean weight. `labels` are ≥ 0, one a node.
    """
    if quality == "modularity" or not len(edges.weight):
        return modularity(edges, labels, resolution)
    inner = edges.weight[labels[edges.source] == labels[edges.target]].sum() / edges.weight.sum()
    sizes = np.bincount(labels).astype(np.float64)
    return float(inner - resolution * (sizes * (sizes - 1)).sum() / 2 / len(edges.weight))


def carry_tree(tree: Tree, before: Edges, after: Edges, mapping: NDArray[Any]) -> Start:
    """The start of an update: `tree`, made on `before`, told on the nodes of `after`.

    `mapping[v]` is the new number of the old node v, −1 where it is gone. Raises ValueError if it does not fit.
    """
    if len(mapping) != tree.nodes or before.nodes != tree.nodes:
        raise ValueError(f"the tree has {tree.nodes} nodes, its graph {before.nodes}, the mapping {len(mapping)}.")
    # The ends of the edges between surviving nodes that differ, and all nodes at which any edge differs.
    a, b = mapping[before.source], mapping[before.target]
    stay = (a >= 0) & (b >= 0)
    edges = canonical_edges(a[stay], b[stay], before.weight[stay], after.nodes)
    j = np.minimum(np.searchsorted(after.keys, edges.keys), max(len(after.keys) - 1, 0))
    i = np.flatnonzero(after.keys[j] == edges.keys) if len(after.keys) else np.zeros(0, np.int64)
    j = j[i]
    equal = edges.weight[i] == after.weight[j]
    keys = keep_distinct(np.concatenate((np.delete(edges.keys, i[equal]), np.delete(after.keys, j[equal]))))
    lost = before.weight[~stay].sum() + np.delete(edges.weight, i).sum() + np.delete(after.weight, j).sum()
    moved = float(lost + np.abs(edges.weight[i] - after.weight[j]).sum()) / max(float(after.weight.sum()), 1e-9)
    one, other = np.divmod(keys, after.nodes)
    bereft = np.concatenate((a[~stay], b[~stay]))
    touched = keep_distinct(np.concatenate((one, other, bereft[bereft >= 0]))).astype(np.int32)
    levels: list[Ints] = []
    changed: list[Flags] = []
    for depth in range(tree.depths):
        old = tree.at(depth)
        here = np.full(after.nodes, NOWHERE, np.int32)
        here[mapping[mapping >= 0]] = old[mapping >= 0]
        broken = np.zeros(len(tree), np.bool_)
        broken[old[(mapping < 0) & (old >= 0)]] = True
        broken[here[one[(here[one] >= 0) & (here[one] == here[other])]]] = True
        levels.append(roots_of(here))
        alive = np.flatnonzero(levels[-1] == np.arange(after.nodes))
        changed.append(broken[here[alive]])
    return Start(tree_of(levels, after.nodes), touched, np.concatenate([np.zeros(0, np.bool_), *changed]), moved)


# ── one depth ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _frame_whole(graph: Adjacency) -> _Frame:
    return _Frame(graph.mapped(), np.arange(graph.nodes, dtype=np.int32), np.zeros(graph.nodes, np.int32), 1)


def _split_afresh(rule: _Rule) -> _Split:
    """The split of every block by Leiden; the result names each community by its smallest member."""

    def split(frame: _Frame, depth: int) -> tuple[Ints, Flags]:
        graph, n = frame.graph, frame.graph.nodes
        if not len(graph.data):  # the native code panics on nodes without edges
            root = _root_components(graph, np.arange(n, dtype=np.int32))
            return root, _gains_quality(frame, root, rule, depth)
        from graspologic_native import leiden_csr

        # All blocks in one call: see the head of this file.
        block, by_modularity = np.repeat(frame.block, np.diff(graph.indptr)), rule.quality == "modularity"
        if by_modularity:
            total = np.bincount(block, weights=graph.data, minlength=frame.blocks) * frame.blocks
            scaled = graph.data * len(block)
            scaled /= total[block]  # the mean weight is 1, so that no unit of weight matters
            gamma = rule.resolution * frame.blocks
        else:
            scaled = graph.data / _penalties(frame, rule, depth)[block]
            gamma = float(len(block) / scaled.sum())
            scaled *= gamma
        scaled = map_large(scaled)
        del block  # of a large graph it takes room that the native code needs, as weights do
        cycles = rule.cycles(len(graph.data) // 2, depth)
        given = (graph.indptr, graph.indices, scaled, n, gamma, rule.randomness, cycles, by_modularity)
        _, found = leiden_csr(*given, rule.seed + depth, max_local_moving_iterations=rule.sweeps)
        labels = np.empty(n, np.int32)
        labels[np.fromiter(found.keys(), np.int32, n)] = np.fromiter(found.values(), np.int32, n)
        root = _root_components(graph, labels if by_modularity else _join_denser(frame, labels, rule, depth))
        return root, _gains_quality(frame, root, rule, depth)

    return split


def _join_denser(frame: _Frame, labels: Ints, rule: _Rule, depth: int) -> NDArray[Any]:
    """Communities of which no two gain by merging: by the constant Potts model the native code may leave such pairs."""
    penalty, moved = _penalties(frame, rule, depth)[frame.block], np.ones(len(labels), np.bool_)
    found: NDArray[Any] = _root_components(frame.graph, labels)
    while moved.any():
        found, moved = settle_labels(frame.graph, found, moved, penalty, _masses(frame, rule))
    return found


def _root_components(graph: Adjacency, labels: NDArray[Any]) -> Ints:
    """The smallest member of every node's community, where a disconnected community counts as its components."""
    rows = graph.rows
    inner = (rows < graph.indices) & (labels[rows] == labels[graph.indices])
    return smallest_members(rows[inner], graph.indices[inner], graph.nodes)


def _masses(frame: _Frame, rule: _Rule) -> Floats:
    """What a node adds to its community: its strength by modularity, 1 by the constant Potts model; shape (n,)."""
    return frame.graph.strength if rule.quality == "modularity" else np.ones(len(frame.nodes))


def _penalties(frame: _Frame, rule: _Rule, depth: int) -> Floats:
    """What joining two nodes of mass 1 costs in each block: γ / 2m_b, or the γ_b at the head of this file."""
    total = np.bincount(frame.block, weights=frame.graph.strength, minlength=frame.blocks)
    total[total == 0] = 1.0
    if rule.quality == "modularity":
        return np.asarray(rule.resolution / total, np.float64)
    if not depth:
        return np.full(frame.blocks, rule.resolution * (frame.graph.data.mean() if len(frame.graph.data) else 1.0))
    size = np.bincount(frame.block, minlength=frame.blocks)
    return np.asarray(total / np.maximum(size * (size - 1.0), 1.0), np.float64)


def _gains_quality(frame: _Frame, root: Ints, rule: _Rule, depth: int) -> Flags:
    """Which blocks have a larger quality in these communities than whole, by their own weights."""
    rows, strength, mass = frame.graph.rows, frame.graph.strength, _masses(frame, rule)
    inner = root[rows] == root[frame.graph.indices]
    total = np.bincount(frame.block, weights=strength, minlength=frame.blocks)
    within = np.bincount(frame.block[rows[inner]], weights=frame.graph.data[inner], minlength=frame.blocks)
    group = np.bincount(root, weights=mass, minlength=len(root))
    squares = np.bincount(frame.block, weights=group * group, minlength=frame.blocks)
    whole = np.bincount(frame.block, weights=mass, minlength=frame.blocks) ** 2
    penalty = _penalties(frame, rule, depth)
    better: Flags = within - penalty * squares > total - penalty * whole + _LEAST * total
    return better


# ── starting from an earlier tree ────────────────────────────────────────────────────────────────────────────────────


class _Update:
    """The split of an update, and its memory: which nodes are near a change, and which sub-trees stay as they were.

    The first phase of Leiden runs from the earlier communities and only near what changed, so that all others stay
    recognisable. A block of which less than half is known, or which would stay whole, is split afresh.
    """

    def __init__(self, start: Start, rule: _Rule, nodes: int) -> None:
        if start.tree.nodes != nodes:
            raise ValueError(f"previous is on {start.tree.nodes} nodes, the graph has {nodes}; carry it over first.")
        self.start, self.tree = start, start.tree
        self.rule = rule
        self.fresh = _split_afresh(rule)
        self.near = np.zeros(self.tree.nodes, np.bool_)
        self.near[start.touched] = True
        self.near |= self.tree.at(0) < 0
        self.kept = np.full(self.tree.nodes, NOWHERE, np.int32)  # the depth at which a community was found unchanged

    def split(self, frame: _Frame, depth: int) -> tuple[Ints, Flags]:
        """The communities of every block, named by their smallest members, and which blocks gain by them."""
        known = self.tree.at(depth)[frame.nodes]
        enough = 2 * np.bincount(frame.block, weights=known >= 0, minlength=frame.blocks)
        warm = enough >= np.bincount(frame.block, minlength=frame.blocks)
        root = np.arange(len(known), dtype=np.int32)
        self._apply(frame, warm, lambda part: self._settle(part, depth), root)
        gains = _gains_quality(frame, root, self.rule, depth)
        stuck = ~warm | (~gains & (depth > 0))
        self._apply(frame, stuck, lambda part: self.fresh(part, depth)[0], root)
        return root, _gains_quality(frame, root, self.rule, depth) if stuck.any() else gains

    def _apply(self, frame: _Frame, which: Flags, split: Callable[[_Frame], Ints], root: Ints) -> None:
        """Split the blocks that `which` marks, and write the result into `root`."""
        if not which.any():
            return
        if which.all():
            root[:] = split(frame)
            return
        number = np.cumsum(which) - 1
        graph, nodes = induce_subgraph(frame.graph, np.where(which[frame.block], frame.block, NOWHERE))
        part = _Frame(graph, frame.nodes[nodes], number[frame.block[nodes]].astype(np.int32), int(which.sum()))
        root[nodes] = nodes[split(part)]

    def _settle(self, frame: _Frame, depth: int) -> Ints:
        """Local moving from the earlier communities until none of them is disconnected."""
        penalty, mass = _penalties(frame, self.rule, depth)[frame.block], _masses(frame, self.rule)
        known = self.tree.at(depth)[frame.nodes]
        alone = np.arange(len(self.tree), len(self.tree) + len(known), dtype=np.int32)
        root = _root_components(frame.graph, np.where(known >= 0, known, alone))
        frontier = self.near[frame.nodes] | (known < 0)
        while frontier.any():
            labels, moved = settle_labels(frame.graph, root, frontier, penalty, mass)
            self._spread(frame, moved)
            root = _root_components(frame.graph, labels)
            # Communities that were found disconnected have one label, but more than one root.
            names, _, where = number_distinct(labels)
            heads = np.bincount(where[root == np.arange(len(root))], minlength=len(names))
            frontier = heads[where] > 1
        return root

    def _spread(self, frame: _Frame, moved: Flags) -> None:
        """What moved, and its neighbours, are near a change at the depths below."""
        self.near[frame.nodes[moved]] = True
        self.near[frame.nodes[frame.graph.indices[moved[frame.graph.rows]]]] = True

    def keep(self, frame: _Frame, root: Ints, depth: int) -> Flags:
        """The nodes whose community is one of the earlier tree, with the same inner edges: its sub-tree stays."""
        known = self.tree.at(depth)[frame.nodes]
        same = np.ones(len(root), np.bool_)
        same[root[known != known[root]]] = False
        sizes = np.append(self.tree.sizes, -1)[known]
        same &= (sizes == np.bincount(root, minlength=len(root))) & ~np.append(self.start.changed, True)[known]
        unchanged: Flags = same[root]
        self.kept[frame.nodes[unchanged]] = depth
        return unchanged

    def overlaid(self, levels: list[Ints], max_depth: int | None) -> list[Ints]:
        """`levels`, and below every community that was kept its earlier sub-tree."""
        last = self.tree.depths if max_depth is None else min(self.tree.depths, max_depth)
        levels = levels + [np.full(self.tree.nodes, NOWHERE, np.int32) for _ in range(last - len(levels))]
        for depth in range(last):
            below = (self.kept >= 0) & (self.kept < depth)
            levels[depth] = np.where(below, roots_of(self.tree.at(depth)), levels[depth])
        return [level for level in levels if (level >= 0).any()]
