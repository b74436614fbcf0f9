"""Clustering that starts from an earlier tree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_graphs import graph, graphs, karate, planted, renumbered
from test_clustering import check_tree, same

from sensegraph.algorithms.clustering import Start, carry_tree, hierarchical_leiden, leiden
from sensegraph.algorithms.graphs import Edges, canonical_edges, modularity
from sensegraph.algorithms.trees import Tree, project


def identity(edges: Edges) -> np.ndarray:
    return np.arange(edges.nodes)


def with_pairs(edges: Edges, a: np.ndarray, b: np.ndarray, nodes: int) -> Edges:
    """`edges` and one more edge of weight 1 for each of these pairs."""
    columns = (np.concatenate(x) for x in ((edges.source, a), (edges.target, b), (edges.weight, np.ones(len(a)))))
    return canonical_edges(*columns, nodes)


def document(edges: Edges, added: int, new: int, seed: int) -> Edges:
    """`edges` after a document: `added` edges among a neighbourhood, `new` nodes and a few nodes from elsewhere."""
    rng = np.random.default_rng(seed)
    near = rng.integers(edges.nodes) + np.arange(max(added // 3, 3))
    pool = np.concatenate((near, rng.integers(edges.nodes, size=max(added // 10, 1)))) % edges.nodes
    pool = np.concatenate((pool, np.arange(edges.nodes, edges.nodes + new)))
    return with_pairs(edges, rng.choice(pool, added), rng.choice(pool, added), edges.nodes + new)


def inner_edges(edges: Edges, members: np.ndarray) -> bytes:
    inside = np.isin(edges.source, members) & np.isin(edges.target, members)
    return b"".join(getattr(edges, f)[inside].tobytes() for f in ("source", "target", "weight"))


def contents(tree: Tree, edges: Edges) -> set[tuple[bytes, bytes]]:
    """Members and inner edges of every community (node numbers must agree between two trees that are compared)."""
    return {(tree.of(i).tobytes(), inner_edges(edges, tree.of(i))) for i in range(len(tree))}


@st.composite
def edits(draw: st.DrawFn) -> tuple[Edges, Edges, np.ndarray]:
    """A graph, the graph after any edit (nodes and edges come and go, numbers change), and the mapping between."""
    before, rest = draw(graphs()), draw(graphs())
    keep = np.array(draw(st.lists(st.booleans(), min_size=before.nodes, max_size=before.nodes)), np.bool_)
    nodes = int(keep.sum()) + draw(st.integers(0, 4))
    places = draw(st.permutations(range(nodes)))[: int(keep.sum())]
    mapping = np.full(before.nodes, -1)
    mapping[keep] = places
    stay = (mapping[before.source] >= 0) & (mapping[before.target] >= 0)
    stay &= np.array(draw(st.lists(st.integers(0, 4), min_size=len(stay), max_size=len(stay))), np.int64) > 0
    more = (rest.source < nodes) & (rest.target < nodes)
    a = np.concatenate((mapping[before.source[stay]], rest.source[more][:5]))
    b = np.concatenate((mapping[before.target[stay]], rest.target[more][:5]))
    weight = np.concatenate((before.weight[stay], rest.weight[more][:5]))
    return before, canonical_edges(a, b, weight, nodes), mapping


@given(graphs(), st.integers(1, 10))
def test_without_a_change_the_tree_is_the_same(edges: Edges, size: int) -> None:
    tree = hierarchical_leiden(edges, max_cluster_size=size)
    start = carry_tree(tree, edges, edges, identity(edges))
    assert not len(start.touched)
    assert not start.changed.any()
    assert same(hierarchical_leiden(edges, max_cluster_size=size, previous=start), tree)


@given(edits(), st.integers(1, 10))
def test_after_any_edit_every_depth_is_a_partition_into_connected_communities(edit: tuple, size: int) -> None:
    before, after, mapping = edit
    start = carry_tree(hierarchical_leiden(before, max_cluster_size=size), before, after, mapping)
    tree = hierarchical_leiden(after, max_cluster_size=size, previous=start)
    check_tree(tree, after)
    assert (tree.sizes[np.unique(tree.parent[tree.parent >= 0])] > size).all()


@given(edits(), st.integers(1, 10))
def test_what_an_edit_leaves_as_it_was_keeps_its_whole_sub_tree(edit: tuple, size: int) -> None:
    before, after, mapping = edit
    old = hierarchical_leiden(before, max_cluster_size=size)
    start = carry_tree(old, before, after, mapping)
    tree = hierarchical_leiden(after, max_cluster_size=size, previous=start)
    assert len(tree.at(0)) == after.nodes
    earlier = {start.tree.of(i).tobytes(): i for i in range(len(start.tree)) if not start.changed[i]}
    for i in range(len(tree)):
        j = earlier.get(tree.of(i).tobytes())
        if j is None or tree.depth[i] != start.tree.depth[j]:
            continue
        ours, theirs = np.flatnonzero(tree.parent == i), np.flatnonzero(start.tree.parent == j)
        assert [tree.of(c).tolist() for c in ours] == [start.tree.of(c).tolist() for c in theirs]


@given(edits())
def test_a_carried_tree_says_exactly_which_communities_changed(edit: tuple) -> None:
    before, after, mapping = edit
    old = hierarchical_leiden(before, max_cluster_size=3)
    start = carry_tree(old, before, after, mapping)
    moved = renumbered(*kept_part(before, mapping), after.nodes)
    alive = [i for i in range(len(old)) if (mapping[old.of(i)] >= 0).any()]
    expected = {}
    for i in alive:
        here = mapping[old.of(i)]
        left = np.sort(here[here >= 0])
        lost = len(left) < len(here)
        expected[int(old.depth[i]), left.tobytes()] = lost or inner_edges(moved, left) != inner_edges(after, left)
    tree = start.tree
    found = {
        (int(tree.depth[i]), tree.of(i).astype(np.int64).tobytes()): bool(start.changed[i]) for i in range(len(tree))
    }
    assert found == expected


def kept_part(edges: Edges, mapping: np.ndarray) -> tuple[Edges, np.ndarray]:
    stay = (mapping[edges.source] >= 0) & (mapping[edges.target] >= 0)
    return Edges(edges.source[stay], edges.target[stay], edges.weight[stay], edges.nodes), mapping


@given(edits())
def test_touched_nodes_are_those_with_another_row(edit: tuple) -> None:
    before, after, mapping = edit
    start = carry_tree(hierarchical_leiden(before), before, after, mapping)

    def rows(edges: Edges, names: np.ndarray) -> list[dict[int, float]]:
        found: list[dict[int, float]] = [{} for _ in range(edges.nodes)]
        for a, b, w in zip(edges.source, edges.target, edges.weight, strict=True):
            found[a][int(names[b]) if names[b] >= 0 else -1 - int(b)] = float(w)
            found[b][int(names[a]) if names[a] >= 0 else -1 - int(a)] = float(w)
        return found

    old, new = rows(before, mapping), rows(after, identity(after))
    back = {int(m): v for v, m in enumerate(mapping) if m >= 0}
    expected = [v for v in range(after.nodes) if new[v] != (old[back[v]] if v in back else {})]
    assert start.touched.tolist() == expected


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("inner", "outer"), [(0.35, 0.002), (0.12, 0.002)])
def test_a_small_edit_changes_few_communities_and_costs_no_quality(seed: int, inner: float, outer: float) -> None:
    before = planted(30, 25, inner, outer, seed)
    old = hierarchical_leiden(before)
    after = document(before, 10, 2, seed)
    start = carry_tree(old, before, after, identity(before))
    tree = hierarchical_leiden(after, previous=start)
    ours, fresh = contents(tree, after), contents(hierarchical_leiden(after), after)
    known = contents(old, before)
    assert len(ours - known) <= 0.15 * len(ours)
    assert len(ours - known) < len(fresh - known)
    assert modularity(after, project(tree, 0)) >= 0.99 * modularity(after, leiden(after))


@pytest.mark.parametrize("seed", range(4))
def test_after_many_edits_the_quality_still_holds(seed: int) -> None:
    edges = planted(20, 20, 0.4, 0.005, seed)
    tree = hierarchical_leiden(edges)
    for step in range(8):
        after = document(edges, 10, 2, 100 * seed + step)
        tree = hierarchical_leiden(after, previous=carry_tree(tree, edges, after, identity(edges)))
        edges = after
    assert modularity(edges, project(tree, 0)) >= 0.99 * modularity(edges, leiden(edges))


def test_the_order_of_the_edges_does_not_matter() -> None:
    before = planted(8, 20, 0.3, 0.01, 2)
    after = document(before, 30, 3, 2)
    order = np.random.default_rng(0).permutation(len(after.weight))
    again = canonical_edges(after.target[order], after.source[order], after.weight[order], after.nodes)
    old = hierarchical_leiden(before)
    one, other = (hierarchical_leiden(e, previous=carry_tree(old, before, e, identity(before))) for e in (after, again))
    assert same(one, other)


def test_a_community_that_falls_apart_is_split() -> None:
    """Two cliques and the one edge between them in one earlier community; then the edge goes."""
    cliques = [(a, b) for s in (0, 5) for a in range(s, s + 5) for b in range(s, a)]
    before, after = graph([*cliques, (4, 5)]), graph(cliques)
    one = Tree(np.array([-1], np.int32), np.array([0], np.int32), np.array([0, 10]), np.arange(10, dtype=np.int32), 10)
    tree = hierarchical_leiden(after, previous=carry_tree(one, before, after, identity(before)))
    assert [tree.of(i).tolist() for i in range(len(tree))] == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]


def test_a_changed_leaf_above_the_size_is_divided_afresh() -> None:
    before = graph([(v, v + 1) for v in range(11)])
    after = with_pairs(before, np.array([0]), np.array([1]), 12)
    one = Tree(np.array([-1], np.int32), np.array([0], np.int32), np.array([0, 12]), np.arange(12, dtype=np.int32), 12)
    tree = hierarchical_leiden(after, previous=carry_tree(one, before, after, identity(before)))
    assert tree.sizes[tree.depth == 0].tolist() == [12]
    assert tree.depths == 2


def test_a_new_group_of_nodes_becomes_a_community() -> None:
    before = karate()
    ring = np.arange(34, 39)
    after = with_pairs(before, ring, np.roll(ring, 1), 39)
    tree = hierarchical_leiden(after, previous=carry_tree(hierarchical_leiden(before), before, after, identity(before)))
    assert ring.tolist() in [tree.of(i).tolist() for i in range(len(tree))]


def test_nodes_without_edges_join_as_communities_of_their_own() -> None:
    before = karate()
    after = Edges(before.source, before.target, before.weight, 36)
    old = hierarchical_leiden(before)
    tree = hierarchical_leiden(after, previous=carry_tree(old, before, after, identity(before)))
    assert contents(tree, after) - contents(old, before) == {(np.array([v], np.int32).tobytes(), b"") for v in (34, 35)}


def test_from_an_empty_tree_clustering_is_fresh() -> None:
    nothing = graph([], 0)
    start = carry_tree(hierarchical_leiden(nothing), nothing, karate(), np.zeros(0, np.int64))
    assert same(hierarchical_leiden(karate(), previous=start), hierarchical_leiden(karate()))


def test_the_depth_of_an_update_can_be_limited() -> None:
    edges = karate()
    start = carry_tree(hierarchical_leiden(edges), edges, edges, identity(edges))
    assert hierarchical_leiden(edges, previous=start, max_depth=1).depths == 1


def test_a_tree_of_another_graph_is_refused() -> None:
    tree = hierarchical_leiden(karate())
    with pytest.raises(ValueError, match="34 nodes, its graph 34, the mapping 3"):
        carry_tree(tree, karate(), karate(), np.arange(3))
    with pytest.raises(ValueError, match="previous is on 34 nodes, the graph has 2"):
        hierarchical_leiden(graph([(0, 1)]), previous=Start(tree, np.zeros(0, np.int32), np.zeros(len(tree), np.bool_)))
