"""Algorithms over graphs beside networkx: walks, components, paths, ancestors, communities, shared groups."""

from __future__ import annotations

from itertools import combinations, pairwise
from random import Random

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_graphs import graphs, karate, planted, ring_of_cliques

from sensegraph.algorithms.clustering import hierarchical_leiden, leiden
from sensegraph.algorithms.cooccurrence import Pruning, prune_concepts
from sensegraph.algorithms.graphs import (
    Edges,
    build_adjacency,
    canonical_edges,
    induce_subgraph,
    label_components,
    modularity,
)
from sensegraph.algorithms.paths import (
    find_paths_through,
    list_ancestor_chains,
    list_paths_to_ancestor,
    shortest_path,
)
from sensegraph.algorithms.trees import project
from sensegraph.algorithms.walks import build_moves, build_paths, pagerank, run_offsets, walk_with_restart

NODES = 8
ARCS = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7), st.floats(0.1, 9)), max_size=25)
START = st.lists(st.floats(0, 5), min_size=NODES, max_size=NODES).filter(lambda r: sum(r) > 0.1)
few = settings(max_examples=40)


def networkx_graph(edges: Edges) -> nx.Graph:
    made = nx.Graph()
    made.add_nodes_from(range(edges.nodes))
    made.add_weighted_edges_from(zip(edges.source.tolist(), edges.target.tolist(), edges.weight.tolist(), strict=True))
    return made


def weighted(known: nx.Graph) -> Edges:
    numbered = nx.convert_node_labels_to_integers(known, ordering="sorted")
    rows = [(a, b, w) for a, b, w in numbered.edges(data="weight", default=1)]
    return canonical_edges(*columns(rows), len(numbered))


def directed(arcs: list[tuple[int, int, float]]) -> nx.DiGraph:
    """The arcs, those of one pair summed."""
    made = nx.DiGraph()
    made.add_nodes_from(range(NODES))
    for a, b, weight in arcs:
        made.add_edge(a, b, weight=weight + made.get_edge_data(a, b, {"weight": 0.0})["weight"])
    return made


def columns(arcs: list[tuple[int, int, float]]) -> tuple[list[int], list[int], list[float]]:
    return [a for a, _, _ in arcs], [b for _, b, _ in arcs], [w for _, _, w in arcs]


def partition(labels: np.ndarray) -> list[set[int]]:
    return [set(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)]


# ── walks ──


@few
@given(ARCS, START, st.floats(0.05, 0.9))
def test_the_walk_is_personalised_pagerank_with_weights_and_dead_ends(
    arcs: list[tuple[int, int, float]], start: list[float], damping: float
) -> None:
    """Parallel arcs add up, loops stay, and the mass of a dead end returns to the start."""
    wanted = nx.pagerank(
        directed(arcs), alpha=damping, personalization=dict(enumerate(start)), max_iter=2000, tol=1e-13
    )
    found = pagerank(build_moves(*columns(arcs), NODES), np.asarray(start), damping, 400)
    assert found == pytest.approx([wanted[i] for i in range(NODES)], abs=1e-9)


@given(st.integers(1, 12))
def test_steps_of_the_walk_are_steps_of_the_power_iteration(steps: int) -> None:
    """networkx stops where a step changes less than its tolerance: the walk may not stop earlier or later."""
    arcs = [(0, 1, 2.0), (1, 2, 1.0), (2, 0, 1.0), (2, 3, 3.0), (3, 3, 1.0)]
    google = nx.google_matrix(directed(arcs), alpha=1.0, personalization={0: 1.0}, nodelist=range(NODES))
    there = start = np.eye(NODES)[0]
    for _ in range(steps):
        there = 0.7 * there @ google + 0.3 * start
    assert pagerank(build_moves(*columns(arcs), NODES), start, 0.7, steps) == pytest.approx(np.ravel(there), abs=1e-12)


@few
@given(ARCS, START, st.floats(0.05, 0.9))
def test_the_walk_that_loses_the_mass_of_dead_ends_is_katz_centrality(
    arcs: list[tuple[int, int, float]], start: list[float], damping: float
) -> None:
    """x = d · A x + (1 − d) · r over shares: Katz with the restart as each node's own weight. Shares are float32."""
    shares = directed(arcs)
    for node in shares:
        out = sum(data["weight"] for *_, data in shares.out_edges(node, data=True))
        for *_, data in shares.out_edges(node, data=True):
            data["weight"] /= out
    own = {i: (1 - damping) * mass for i, mass in enumerate(start)}
    wanted = nx.katz_centrality(shares, damping, own, max_iter=5000, tol=1e-13, normalized=False, weight="weight")
    where, found = walk_with_restart(
        build_paths(*columns(arcs), NODES), np.arange(NODES), np.array(start), damping, 400
    )
    assert where.tolist() == list(range(NODES))
    assert found == pytest.approx([wanted[i] for i in range(NODES)], rel=1e-5, abs=1e-9)


# ── what is joined ──


@few
@given(graphs())
def test_components_and_strengths_are_those_of_networkx(edges: Edges) -> None:
    known, labels = networkx_graph(edges), label_components(edges)
    assert partition(labels) == sorted(nx.connected_components(known), key=min)
    strength = build_adjacency(edges).strength
    assert strength.tolist() == [known.degree(v, weight="weight") for v in range(edges.nodes)]


@few
@given(graphs(), st.integers(0, 1000))
def test_an_induced_graph_is_the_union_of_networkx_subgraphs(edges: Edges, seed: int) -> None:
    block = np.array([Random(seed + v).randrange(-1, 3) for v in range(edges.nodes)], np.int64)
    found, nodes = induce_subgraph(build_adjacency(edges), block)
    known, wanted = networkx_graph(edges), set()
    for members in partition(block):
        inside = members if block[min(members)] >= 0 else set()
        wanted |= {(min(a, b), max(a, b), w) for a, b, w in known.subgraph(inside).edges(data="weight")}
    rows, upper = found.rows, found.rows < found.indices
    ends = zip(
        nodes[rows[upper]].tolist(), nodes[found.indices[upper]].tolist(), found.data[upper].tolist(), strict=True
    )
    assert set(ends) == wanted
    assert len(found.data) == 2 * len(wanted)


@few
@given(st.integers(0, 10**6), st.integers(2, 40), st.integers(0, 60))
def test_a_path_is_among_the_shortest_of_networkx(seed: int, nodes: int, edges: int) -> None:
    known = nx.gnm_random_graph(nodes, edges, seed)
    rows, random = build_adjacency(weighted(known)), Random(seed)
    for source, target in ((random.randrange(nodes), random.randrange(nodes)) for _ in range(8)):
        found = shortest_path(rows.indptr, rows.indices, source, target)
        if nx.has_path(known, source, target):
            assert len(found) == nx.shortest_path_length(known, source, target) + 1
            assert nx.is_path(known, found)
            assert (found[0], found[-1]) == (source, target)
        else:
            assert found == []


@few
@given(graphs(), st.data())
def test_paths_through_stops_are_shortest_between_each_two(edges: Edges, data: st.DataObject) -> None:
    """HiRAG's Eq. 15: the union of a shortest path from each key entity to the next, where there is one."""
    stops = data.draw(st.lists(st.integers(0, max(edges.nodes - 1, 0)), max_size=6)) if edges.nodes else []
    rows, known = build_adjacency(edges), networkx_graph(edges)
    found = find_paths_through(rows.indptr, rows.indices, stops)
    joined = [(a, b) for a, b in pairwise(stops) if nx.has_path(known, a, b)]
    assert [(path[0], path[-1]) for path in found] == joined
    for path, (a, b) in zip(found, joined, strict=True):
        assert nx.is_path(known, path)
        assert len(path) == nx.shortest_path_length(known, a, b) + 1


def random_tree(random: Random, leaves: int) -> list[int]:
    """Parents of a tree whose first nodes are its leaves, all equally deep; the root is last."""
    parent, level = [], list(range(leaves))
    while len(level) > 1:
        count = random.randint(1, len(level) - 1)
        homes = sorted({*range(count), *(random.randrange(count) for _ in level)})
        above = [random.randrange(count) if i >= count else i for i, _ in enumerate(level)]
        first = level[-1] + 1
        parent += [first + home for home in above]
        level = [first + home for home in homes]
    return [*parent, -1]


@few
@given(st.integers(0, 10**6), st.integers(2, 25), st.data())
def test_paths_to_ancestors_are_those_of_networkx_over_all_pairs(seed: int, leaves: int, data: st.DataObject) -> None:
    """LeanRAG's Eq. 7: the union over all pairs of both paths up to their lowest common ancestor."""
    parent = random_tree(Random(seed), leaves)
    tree = nx.DiGraph((above, node) for node, above in enumerate(parent) if above >= 0)
    seeds = data.draw(st.lists(st.integers(0, leaves - 1), min_size=2, max_size=6, unique=True))
    wanted: set[int] = set()
    for a, b in combinations(seeds, 2):
        meeting = nx.lowest_common_ancestor(tree, a, b)
        wanted |= {*nx.shortest_path(tree, meeting, a), *nx.shortest_path(tree, meeting, b)}
    found = list_paths_to_ancestor(list_ancestor_chains(np.array(parent, np.int32), seeds))
    assert {node for level in found for node in level} == wanted
    depth = nx.single_source_shortest_path_length(tree, len(parent) - 1)
    assert all(len({depth[node] for node in level}) == 1 for level in found)


# ── communities ──


@few
@given(graphs(), st.integers(0, 1000), st.floats(0.1, 4))
def test_modularity_is_that_of_networkx(edges: Edges, seed: int, resolution: float) -> None:
    labels = np.array([Random(seed + v).randrange(4) for v in range(edges.nodes)], np.int64)
    if len(edges.weight):
        wanted = nx.community.modularity(networkx_graph(edges), partition(labels), resolution=resolution)
        assert modularity(edges, labels, resolution) == pytest.approx(wanted, abs=1e-12)
    else:
        assert modularity(edges, labels, resolution) == 0.0


KNOWN = {
    "karate": karate(),
    "les miserables": weighted(nx.les_miserables_graph()),
    "florentine families": weighted(nx.florentine_families_graph()),
    "caves": weighted(nx.connected_caveman_graph(8, 6)),
    "ring of cliques": ring_of_cliques(10, 5),
    "planted": planted(6, 15, 0.5, 0.03, seed=4),
    "gaussian": weighted(nx.gaussian_random_partition_graph(120, 15, 5, 0.4, 0.02, seed=3)),
    "small world": weighted(nx.connected_watts_strogatz_graph(100, 6, 0.1, seed=5)),
    "scale free": weighted(nx.barabasi_albert_graph(120, 3, seed=6)),
}


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("resolution", [0.7, 1.0, 1.6])
def test_leiden_is_no_worse_than_the_louvain_of_networkx(name: str, resolution: float) -> None:
    """Louvain is random: the best of three of its runs, and of three of ours. Both climb the same quality."""
    edges = KNOWN[name]
    known = networkx_graph(edges)
    assert known.number_of_edges() > 3
    theirs = max(
        nx.community.modularity(known, nx.community.louvain_communities(known, resolution=resolution, seed=seed),
                                resolution=resolution)
        for seed in range(3)
    )  # fmt: skip
    ours = [leiden(edges, resolution=resolution, seed=seed) for seed in range(3)]
    quality = max(nx.community.modularity(known, partition(labels), resolution=resolution) for labels in ours)
    assert quality >= theirs - 2e-3
    assert quality > 0
    assert all(nx.is_connected(known.subgraph(members)) for labels in ours for members in partition(labels))


def test_the_karate_club_has_the_published_best_modularity() -> None:
    """0.4198 (Brandes et al. 2008 prove it optimal); networkx measures the partition that we find."""
    labels = project(hierarchical_leiden(karate()), 0)
    assert nx.community.modularity(networkx_graph(karate()), partition(labels)) == pytest.approx(0.419790, abs=1e-6)


# ── what occurs together ──

GROUPS = st.lists(st.lists(st.integers(0, 9), max_size=6, unique=True), min_size=1, max_size=14)


@few
@given(GROUPS, st.integers(1, 4), st.integers(1, 4))
def test_what_shares_groups_is_the_bipartite_projection_of_networkx(
    groups: list[list[int]], least: int, degree: int
) -> None:
    """Weights are numbers of shared groups; light edges go before sparse concepts (no hub is dropped here)."""
    both = nx.Graph([(concept, f"group {i}") for i, group in enumerate(groups) for concept in group])
    both.add_nodes_from([*range(10), "an empty group"])
    shared = nx.bipartite.weighted_projected_graph(both, range(10))
    heavy = nx.Graph((a, b, d) for a, b, d in shared.edges(data=True) if d["weight"] >= max(2, least))
    full = heavy.subgraph([c for c in heavy if heavy.degree(c) >= degree])
    weak = shared.subgraph([c for c in range(10) if both.degree(c) > 1])
    extent, wanted = next(
        (n, g) for n, g in [("full", full), ("weak", weak), ("none", shared)] if g.size() or n == "none"
    )
    start, held = run_offsets([len(g) for g in groups]), np.array([c for g in groups for c in sorted(g)], np.int64)
    found = prune_concepts(start, held, 10, Pruning(1e9, least, degree, cover=0.0))
    ours = zip(found.edges.source.tolist(), found.edges.target.tolist(), found.edges.weight.tolist(), strict=True)
    assert found.extent == extent
    assert set(ours) == {(min(a, b), max(a, b), w) for a, b, w in wanted.edges(data="weight")}
