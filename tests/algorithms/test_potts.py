"""Communities by the constant Potts model: a density as the resolution, and no limit of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_graphs import graph, graphs, karate, ring_of_cliques
from test_clustering import check_tree, same, sets

from sensegraph.algorithms.clustering import carry_tree, hierarchical_leiden, leiden, partition_quality
from sensegraph.algorithms.graphs import Edges, modularity
from sensegraph.algorithms.trees import project

TRIANGLES = graph([(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5), (2, 3)])
HALVES, WHOLE = np.array([0, 0, 0, 1, 1, 1]), np.zeros(6, np.int64)


@pytest.mark.parametrize("count", [30, 100, 300])
def test_modularity_joins_neighbouring_cliques_of_a_long_ring_and_the_potts_model_finds_each(count: int) -> None:
    """The resolution limit (Fortunato and Barthélemy 2007): two of them are joined where count > size (size−1) + 2."""
    ring = ring_of_cliques(count, 5)
    cliques = {frozenset(range(c * 5, c * 5 + 5)) for c in range(count)}
    for density in (0.1, 0.5):
        assert sets(leiden(ring, resolution=density, quality="cpm")) == cliques
    joined = leiden(ring)
    assert joined.max() + 1 < 0.7 * count
    assert len({*zip(joined.tolist(), (np.arange(count * 5) // 5).tolist(), strict=True)}) == count  # none is torn


def test_a_ring_that_is_short_enough_is_the_same_by_both() -> None:
    ring = ring_of_cliques(10, 5)
    assert sets(leiden(ring)) == sets(leiden(ring, resolution=0.1, quality="cpm"))


def test_quality_is_the_weight_inside_less_the_density_times_the_pairs() -> None:
    """Two triangles and a bridge: of 7 edges 6 are inside of 6 pairs, or 7 of 15; both are equal at γ = 1/9."""
    for density in (0.05, 0.5):
        assert partition_quality(TRIANGLES, HALVES, density, "cpm") == pytest.approx((6 - 6 * density) / 7)
        assert partition_quality(TRIANGLES, WHOLE, density, "cpm") == pytest.approx((7 - 15 * density) / 7)
    assert partition_quality(TRIANGLES, HALVES, 0.7) == modularity(TRIANGLES, HALVES, 0.7)
    assert partition_quality(graph([], 3), np.arange(3), 0.5, "cpm") == 0.0


@pytest.mark.parametrize(("density", "found"), [(0.10, WHOLE), (0.12, HALVES)])
def test_communities_part_where_their_density_falls_below_the_resolution(density: float, found: np.ndarray) -> None:
    assert leiden(TRIANGLES, resolution=density, quality="cpm").tolist() == found.tolist()
    heavy = Edges(TRIANGLES.source, TRIANGLES.target, TRIANGLES.weight * 8, TRIANGLES.nodes)
    assert leiden(heavy, resolution=density, quality="cpm").tolist() == found.tolist()


@given(graphs(), st.floats(0.05, 0.95))
def test_no_two_communities_gain_by_merging(edges: Edges, density: float) -> None:
    labels = leiden(edges, resolution=density, quality="cpm")
    here = partition_quality(edges, labels, density, "cpm")
    assert len(labels) == edges.nodes
    for a in range(labels.max(initial=-1) + 1):
        for b in range(a):
            merged = np.where(labels == a, b, labels)
            assert partition_quality(edges, merged, density, "cpm") <= here + 1e-9


@given(graphs(), st.integers(1, 12), st.floats(0.05, 0.95))
def test_every_depth_is_a_partition_into_connected_communities(edges: Edges, size: int, density: float) -> None:
    tree = hierarchical_leiden(edges, max_cluster_size=size, resolution=density, quality="cpm")
    check_tree(tree, edges)
    divided = np.unique(tree.parent[tree.parent >= 0])
    assert (tree.sizes[divided] > size).all()


def test_what_is_too_large_is_divided_into_what_is_denser_and_a_clique_is_not() -> None:
    """Two rings of six cliques, joined by nothing: a density of 0.005 finds the rings, then their cliques."""
    ring = ring_of_cliques(6, 5)
    both = graph([*zip(ring.source, ring.target, strict=True), *zip(ring.source + 30, ring.target + 30, strict=True)])
    tree = hierarchical_leiden(both, max_cluster_size=4, resolution=0.005, quality="cpm")
    assert [len(np.unique(project(tree, d))) for d in range(tree.depths)] == [2, 12]
    assert tree.sizes.tolist() == [30] * 2 + [5] * 12


def test_an_update_that_changes_nothing_keeps_the_tree_and_a_new_clique_leaves_the_others_as_they_were() -> None:
    settings = {"max_cluster_size": 4, "resolution": 0.1}
    for edges in (karate(), ring_of_cliques(12, 5)):
        tree = hierarchical_leiden(edges, **settings, quality="cpm")  # type: ignore[arg-type]
        start = carry_tree(tree, edges, edges, np.arange(edges.nodes))
        assert same(hierarchical_leiden(edges, **settings, quality="cpm", previous=start), tree)  # type: ignore[arg-type]
    before, after = ring_of_cliques(12, 5), ring_of_cliques(13, 5)
    start = carry_tree(tree, before, after, np.arange(before.nodes))
    grown = hierarchical_leiden(after, **settings, quality="cpm", previous=start)  # type: ignore[arg-type]
    assert same(grown, hierarchical_leiden(after, **settings, quality="cpm"))  # type: ignore[arg-type]


@given(graphs(), graphs(), st.floats(0.05, 0.95))
def test_an_update_to_any_graph_is_a_tree_of_it(before: Edges, after: Edges, density: float) -> None:
    mapping = np.where(np.arange(before.nodes) < after.nodes, np.arange(before.nodes), -1)
    tree = hierarchical_leiden(before, max_cluster_size=4, resolution=density, quality="cpm")
    start = carry_tree(tree, before, after, mapping)
    updated = hierarchical_leiden(after, max_cluster_size=4, resolution=density, quality="cpm", previous=start)
    assert updated.nodes == after.nodes
    check_tree(updated, after)


def test_a_quality_that_is_neither_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="quality is 'surprise'"):
        leiden(TRIANGLES, quality="surprise")  # type: ignore[arg-type]
