"""What Leiden promises, held against what our calls return (Traag, Waltman and van Eck 2019; N30–N41, N66–N68).

Guaranteed after every cycle, and asserted for any graph: γ-separation at every depth and γ-connectivity. Guaranteed
only for a run that another cycle would not change, and asserted for those alone: no node gains by moving (N39). The
native code has no "until stable": on hard graphs our ten cycles may end a few moves too early, and the share of nodes
that could still move is bounded here. Not asserted, because it holds in the limit only: uniform γ-density and subset
optimality (N41).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from louvain import louvain
from numpy.testing import assert_array_equal
from numpy.typing import NDArray
from small_graphs import graph, graphs, karate, planted, renumbered, ring_of_cliques

from sensegraph.algorithms.clustering import hierarchical_leiden, leiden
from sensegraph.algorithms.graphs import Edges, canonical_edges, label_components, modularity, smallest_members
from sensegraph.algorithms.trees import Tree, project
from sensegraph.corpus.corpus import Corpus
from sensegraph.index.index import Index
from sensegraph.types import Cluster
from wired import content, stories

Matrix = NDArray[np.float64]
HARD = [planted(10, 20, 0.2, 0.05, seed) for seed in range(20)]


def matrix(edges: Edges) -> Matrix:
    """The dense symmetric matrix of weights."""
    dense = np.zeros((edges.nodes, edges.nodes))
    dense[edges.source, edges.target] = edges.weight
    return dense + dense.T


def links(edges: Edges, labels: NDArray[np.int_], resolution: float = 1.0) -> tuple[Matrix, Matrix, float]:
    """E(v, C) of every node and community, strengths K_C, and c = γ / 2m."""
    weights = matrix(edges)
    belongs = np.eye(int(labels.max(initial=-1)) + 1)[labels]
    return weights @ belongs, weights.sum(1) @ belongs, resolution / weights.sum()


def move_gains(edges: Edges, labels: NDArray[np.int_], resolution: float = 1.0) -> Matrix:
    """ΔQ of moving every node to every community, and (last column) to one of its own, shape (n, communities + 1)."""
    to, mass, c = links(edges, labels, resolution)
    strength, here = matrix(edges).sum(1), (np.arange(edges.nodes), labels)
    left = to[here] - c * strength * (mass[labels] - strength)
    gain = to - c * np.outer(strength, mass) - left[:, None]
    gain[here] = 0.0
    return np.column_stack((gain, -left)) / edges.weight.sum()


def merge_gains(edges: Edges, labels: NDArray[np.int_], resolution: float = 1.0) -> Matrix:
    """ΔQ of merging every pair of communities; 0 on the diagonal."""
    to, mass, c = links(edges, labels, resolution)
    between = np.eye(len(mass))[labels].T @ to
    gain = (between - c * np.outer(mass, mass)) / edges.weight.sum()
    np.fill_diagonal(gain, 0.0)
    return gain


def inside(edges: Edges, members: NDArray[np.int_]) -> Edges:
    """The sub-graph of these nodes, numbered in their order."""
    number = np.full(edges.nodes, -1)
    number[members] = np.arange(len(members))
    a, b = number[edges.source], number[edges.target]
    kept = (a >= 0) & (b >= 0)
    return canonical_edges(a[kept], b[kept], edges.weight[kept], len(members))


def torn(edges: Edges, labels: NDArray[np.int_]) -> int:
    """By how many the connected parts of the communities exceed the communities."""
    inner = labels[edges.source] == labels[edges.target]
    roots = smallest_members(edges.source[inner], edges.target[inner], edges.nodes)
    return len(np.unique(roots)) - len(np.unique(labels))


def divisions(tree: Tree) -> list[tuple[NDArray[np.int_], NDArray[np.int_]]]:
    """Of every community with children: its members, and the child that each is in."""
    found = []
    for parent in np.unique(tree.parent[tree.parent >= 0]):
        below = tree.at(int(tree.depth[parent]) + 1)[tree.of(int(parent))]
        found.append((tree.of(int(parent)), np.unique(below, return_inverse=True)[1]))
    return found


# ── the formulas ──


@given(graphs(), st.integers(0, 2**32 - 1), st.floats(0.2, 3.0))
def test_the_gain_of_a_move_is_the_difference_of_modularity(edges: Edges, seed: int, resolution: float) -> None:
    """Δ ∝ [E(v,B) − c k_v K_B] − [E(v,A∖v) − c k_v (K_A − k_v)]; alone, the first bracket is 0."""
    assume(len(edges.weight))
    rng = np.random.default_rng(seed)
    labels = np.unique(rng.integers(0, 4, edges.nodes), return_inverse=True)[1]
    gain, here = move_gains(edges, labels, resolution), modularity(edges, labels, resolution)
    for v in range(edges.nodes):
        label = int(rng.integers(0, gain.shape[1]))
        moved = np.where(np.arange(edges.nodes) == v, label, labels)
        assert modularity(edges, moved, resolution) - here == pytest.approx(gain[v, label], abs=1e-9)


@given(graphs(), st.integers(0, 2**32 - 1), st.floats(0.2, 3.0))
def test_the_gain_of_a_merge_is_the_difference_of_modularity(edges: Edges, seed: int, resolution: float) -> None:
    """Δ ∝ E(C,D) − c K_C K_D."""
    assume(len(edges.weight))
    labels = np.unique(np.random.default_rng(seed).integers(0, 5, edges.nodes), return_inverse=True)[1]
    gain, here = merge_gains(edges, labels, resolution), modularity(edges, labels, resolution)
    for a, b in combinations(range(len(gain)), 2):
        merged = np.where(labels == b, a, labels)
        assert modularity(edges, merged, resolution) - here == pytest.approx(gain[a, b], abs=1e-9)


def test_modularity_counts_edges_beyond_a_random_graph_of_the_same_degrees() -> None:
    """N68: two triangles joined by an edge. 6/7 of the edges are inside, 1/2 would be by chance."""
    edges = graph([(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5), (2, 3)])
    assert modularity(edges, np.array([0, 0, 0, 1, 1, 1])) == pytest.approx(6 / 7 - 1 / 2)
    assert modularity(edges, np.zeros(6, int)) == pytest.approx(0.0)


# ── what holds after every cycle ──


@settings(max_examples=40)
@given(graphs(40), st.integers(2, 8), st.sampled_from([1, 2, None]), st.floats(0.4, 2.5))
def test_no_two_siblings_gain_by_merging_at_any_depth(
    edges: Edges, size: int, cycles: int | None, resolution: float
) -> None:
    """N37 inside every divided community, by the modularity of its own sub-graph: E(C,D) ≤ c K_C K_D."""
    tree = hierarchical_leiden(edges, max_cluster_size=size, iterations=cycles, resolution=resolution)
    assert len(tree.at(0)) == edges.nodes
    for members, labels in divisions(tree):
        assert merge_gains(inside(edges, members), labels, resolution).max() <= 1e-9


@given(st.integers(0, 10**6))
@settings(max_examples=15)
def test_no_two_siblings_gain_by_merging_in_graphs_of_several_depths(seed: int) -> None:
    edges = planted(6, 24, 0.25, 0.03, seed)
    tree = hierarchical_leiden(edges, max_cluster_size=5, seed=seed)
    assert tree.depths >= 2
    for members, labels in divisions(tree):
        assert merge_gains(inside(edges, members), labels).max() <= 1e-9


def halves(weights: Matrix, c: float) -> bool:
    """Whether the nodes fall recursively into two parts with E(S, S′) ≥ c K_S K_S′, down to single nodes."""
    strength, n = weights.sum(1), len(weights)

    @cache
    def holds(mask: int) -> bool:
        if mask & (mask - 1) == 0:
            return True
        part = (mask - 1) & mask
        while part:
            rest = mask ^ part
            if part > rest and _linked(part, rest) and holds(part) and holds(rest):
                return True
            part = (part - 1) & mask
        return False

    def _linked(one: int, other: int) -> bool:
        a, b = ([v for v in range(n) if m >> v & 1] for m in (one, other))
        return bool(weights[np.ix_(a, b)].sum() >= c * strength[a].sum() * strength[b].sum() - 1e-9)

    found = holds((1 << n) - 1)
    holds.cache_clear()
    return found


def test_the_check_of_connectivity_refuses_what_nothing_joins() -> None:
    apart = matrix(graph([(0, 1), (2, 3)]))
    assert not halves(apart, 1 / apart.sum())
    assert halves(matrix(graph([(0, 1), (1, 2), (2, 3), (3, 0)])), 1 / 8)


@settings(max_examples=60)
@given(graphs(9), st.sampled_from([1, None]), st.floats(0.4, 2.0))
def test_every_community_is_well_connected_through_and_through(
    edges: Edges, cycles: int | None, resolution: float
) -> None:
    """N38: γ-connectivity, by trying all ways to halve a community; it implies that it is connected."""
    assume(len(edges.weight))
    labels = leiden(edges, iterations=cycles, resolution=resolution)
    weights = matrix(edges)
    for label in range(labels.max() + 1):
        members = np.flatnonzero(labels == label)
        inner = weights[np.ix_(members, members)]
        outer = np.diag(weights[members].sum(1) - inner.sum(1))  # so that rows sum to the strength in the whole graph
        assert halves(inner + outer, resolution / weights.sum())


@given(graphs(), st.integers(1, 6))
def test_no_community_of_any_depth_reaches_into_two_components(edges: Edges, size: int) -> None:
    tree, component = hierarchical_leiden(edges, max_cluster_size=size), label_components(edges)
    assert len(tree.at(0)) == edges.nodes
    for i in range(len(tree)):
        assert len(np.unique(component[tree.of(i)])) == 1


@given(graphs(), st.integers(1, 6))
def test_self_loops_change_nothing(edges: Edges, size: int) -> None:
    looped = np.arange(edges.nodes)
    again = canonical_edges(
        np.r_[edges.source, looped], np.r_[edges.target, looped], np.r_[edges.weight, 1.0 + looped], edges.nodes
    )
    one, other = (hierarchical_leiden(e, max_cluster_size=size) for e in (edges, again))
    assert_array_equal(one.members, other.members)
    assert_array_equal(one.start, other.start)


@pytest.mark.parametrize("sides", [(1, 1), (1, 7), (2, 3), (5, 9)])
def test_a_complete_bipartite_graph_is_one_community(sides: tuple[int, int]) -> None:
    a, b = sides
    assert leiden(graph([(i, a + j) for i in range(a) for j in range(b)])).max() == 0


# ── what holds for a run that another cycle would not change ──


def stable(edges: Edges, resolution: float = 1.0) -> NDArray[np.int_] | None:
    """The communities of ten cycles, where an eleventh changes nothing."""
    ten, eleven = (leiden(edges, iterations=n, resolution=resolution) for n in (10, 11))
    return ten if np.array_equal(ten, eleven) else None


@given(graphs(40), st.floats(0.3, 3.0))
def test_no_node_gains_by_moving_where_another_cycle_changes_nothing(edges: Edges, resolution: float) -> None:
    """N39, as it truly holds: at a stable run, not after any cycle."""
    labels = stable(edges, resolution)
    assume(labels is not None and len(edges.weight))
    assert move_gains(edges, labels, resolution).max() <= 1e-12


def test_most_runs_on_hard_graphs_are_stable_and_their_nodes_well_placed() -> None:
    runs = [(edges, labels) for edges in HARD if (labels := stable(edges)) is not None]
    assert len(runs) >= len(HARD) // 2
    assert max(move_gains(edges, labels).max() for edges, labels in runs) <= 1e-12


def test_one_cycle_alone_leaves_nodes_that_would_gain_by_moving() -> None:
    """Why a promise of local optimality "after each iteration" is not repeated here."""
    free = [int((move_gains(e, leiden(e, iterations=1)).max(1) > 1e-12).sum()) for e in HARD]
    assert min(free) >= 1


def test_at_most_one_node_in_twenty_could_still_move_after_the_cycles_of_a_usual_run() -> None:
    """What does not hold: graphs on which ten cycles are not enough; the gain that is missed is small."""
    missed = [move_gains(e, leiden(e)).max(1) for e in HARD]
    assert max((gain > 1e-12).mean() for gain in missed) <= 0.05
    assert max(gain.max() for gain in missed) <= 0.005


def test_quality_does_not_fall_with_more_cycles() -> None:
    quality = [np.mean([modularity(e, leiden(e, iterations=n)) for e in HARD]) for n in (1, 2, 10)]
    assert quality[0] < quality[1] < quality[2]


# ── known graphs ──


@settings(max_examples=40)
@given(st.permutations(range(34)), st.integers(0, 10**6))
def test_the_karate_club_reaches_its_optimum_under_every_numbering(order: list[int], seed: int) -> None:
    edges = renumbered(karate(), np.array(order, np.int64))
    assert modularity(edges, leiden(edges, seed=seed)) == pytest.approx(0.41979, abs=5e-6)


def bridged(far: int = 1500) -> Edges:
    """The situation in which Louvain was shown to fail (Traag, Waltman and van Eck 2019, §"Louvain algorithm").

    Node 0 holds 1–3 and 4–6 together, three strong links to each side, and has many weak ones to a dense rest. While
    the rest is still in pieces, 0 is with 1–6; when it has grown together, 0 goes there. The weight of a far pair
    makes m large.
    """
    rows = [(0, v, 3) for v in range(1, 7)]
    rows += [(a, b, 2) for side in ((1, 2, 3), (4, 5, 6)) for a, b in combinations(side, 2)]
    rows += [(a, b, 1) for a, b in combinations((0, *range(7, 57)), 2)]
    a, b, w = np.array([*rows, (57, 58, far)]).T
    return canonical_edges(a, b, w.astype(np.float64), 59)


def test_when_a_bridge_moves_away_louvain_keeps_two_halves_that_nothing_joins_and_leiden_parts_them() -> None:
    """N67. Each of nodes 1–6 is where it gains most, so moving single nodes never repairs it."""
    edges = bridged()
    broken, ours = np.array(louvain(edges)), leiden(edges)
    assert len({*broken[1:7].tolist()}) == 1
    assert broken[0] == broken[7] != broken[1]
    assert torn(edges, broken) == 1
    assert move_gains(edges, broken).max() <= 1e-12
    assert torn(edges, ours) == 0
    assert ours[1] == ours[2] == ours[3] != ours[4] == ours[5] == ours[6]
    assert modularity(edges, ours) > modularity(edges, broken)


@pytest.mark.parametrize("far", range(1350, 1651, 50))
def test_the_failure_of_louvain_does_not_hang_on_one_number(far: int) -> None:
    edges = bridged(far)
    assert torn(edges, np.array(louvain(edges))) == 1
    assert torn(edges, leiden(edges)) == 0


@pytest.mark.parametrize(("count", "size", "resolution"), [(16, 5, 1.0), (30, 5, 1.0), (30, 5, 2.0), (60, 5, 2.0)])
def test_cliques_in_a_ring_are_told_apart_up_to_the_resolution_limit(count: int, size: int, resolution: float) -> None:
    """Merging two neighbours gains iff count > γ (size (size − 1) + 2) (Fortunato and Barthélemy 2007)."""
    found = leiden(ring_of_cliques(count, size), resolution=resolution).max() + 1
    assert (found == count) == (count <= resolution * (size * (size - 1) + 2))


@pytest.mark.parametrize("make", [karate, lambda: planted(6, 20, 0.3, 0.05, 2), lambda: ring_of_cliques(24, 5)])
def test_communities_grow_in_number_with_the_resolution_on_average_over_seeds(make) -> None:
    """N36."""
    edges = make()
    rules = (0.2, 0.6, 1.5, 4.0)
    counts = [np.mean([leiden(edges, resolution=r, seed=s).max() + 1 for s in range(8)]) for r in rules]
    assert counts == sorted(counts)
    assert counts[0] < counts[1] < counts[-1]


@pytest.mark.parametrize(
    "make", [karate, lambda: ring_of_cliques(30, 5), lambda: HARD[0], lambda: planted(8, 40, 0.2, 0.01, 1)]
)
def test_no_deeper_partition_has_a_larger_modularity_than_the_root(make) -> None:
    """G14."""
    edges = make()
    tree = hierarchical_leiden(edges, max_cluster_size=3)
    quality = [modularity(edges, project(tree, d)) for d in range(tree.depths)]
    assert len(quality) > 1
    assert all(q < quality[0] for q in quality[1:])


# ── what an index holds ──


def recomputed(index: Index, communities: list[Cluster]) -> float:
    """Modularity from the relations of an index, by its definition and no code of ours."""
    home = {e: c.id for c in communities for e in c.entities}
    strength, within, total = Counter[str](), 0.0, 0.0
    for r in index.graph.relations:
        strength[home[r.source]] += r.weight
        strength[home[r.target]] += r.weight
        total += r.weight
        within += r.weight * (home[r.source] == home[r.target])
    return within / total - sum((k / (2 * total)) ** 2 for k in strength.values())


def test_the_modularity_that_an_index_reports_is_that_of_its_coarsest_communities(built: Corpus) -> None:
    """And no deeper depth has more of it (G14)."""
    index = built.index()
    quality = [recomputed(index, index.clusters_at(d)) for d in range(index.depth)]
    assert index.hierarchy.modularity == pytest.approx(quality[0], abs=1e-5)
    assert index.hierarchy.modularity > 0.1
    assert len(quality) > 1
    assert all(q <= quality[0] for q in quality)


def test_the_communities_of_an_index_are_nested_connected_and_cover_every_entity_once(built: Corpus) -> None:
    """N66, G12, G13, by walking the relations from one member to all others."""
    index = built.index()
    near = defaultdict(list)
    for r in index.graph.relations:
        near[r.source].append(r.target)
        near[r.target].append(r.source)
    clusters = {c.id: c for c in index.hierarchy.clusters}
    assert clusters
    assert index.depth > 1
    for c in clusters.values():
        members, reached = set(c.entities), {c.entities[0]}
        edge = [c.entities[0]]
        while edge:
            edge = [e for e in near[edge.pop()] if e in members and e not in reached] + edge
            reached.update(edge)
        assert reached == members
        assert not c.parent or members < set(clusters[c.parent].entities)
    for depth in range(index.depth):
        covered = sorted(e for c in index.clusters_at(depth) for e in c.entities)
        assert covered == [e.id for e in index.graph.entities]


def test_the_order_of_the_documents_changes_nothing(tmp_path: Path) -> None:
    """Two offline indexes of the same documents, added in opposite order and one by one."""
    rule = {"engine": "offline", "index": {"chunk_tokens": 120, "chunk_overlap": 20}}
    with Corpus.open(tmp_path / "a", settings=rule) as one, Corpus.open(tmp_path / "b", settings=rule) as other:
        one.add(stories(6))
        one.build()
        for document in reversed(stories(6)):
            other.add(document)
        other.build()
        assert one.index().manifest.communities == other.index().manifest.communities
        assert content(one) == content(other)
        assert len(one.index().hierarchy.clusters) > 5
