"""Communities at every depth, afresh or from those of an earlier build (edge2024 §3.1.4; N12–N16, G12–G14)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sensegraph.algorithms.clustering import Start, Tree, carry_tree, hierarchical_leiden, leiden, project
from sensegraph.algorithms.graphs import Edges, canonical_edges, modularity
from sensegraph.errors import SettingsError
from sensegraph.index.hierarchy.packing import Group
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import Result, step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Graph

_TOLERANCE = 0.01  # an updated partition may lose this share of modularity against a fresh one
_LIGHTEST = 1e-9  # weights must be positive


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """Hierarchical Leiden: communities above `max_cluster_size` entities are divided again; `resolution` is γ."""

    max_cluster_size: int = 10
    resolution: float = 1.0
    randomness: float = 0.001
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("max_cluster_size", "resolution", "randomness"):
            if not 0 < getattr(self, name) < float("inf"):
                raise SettingsError(f"index.clusters.{name} is {getattr(self, name)}; it must be above 0.")
        if self.seed < 0:
            raise SettingsError(f"index.clusters.seed is {self.seed}; it must not be negative.")


@dataclass(frozen=True, slots=True)
class Communities:
    """All communities, in the order of (depth, smallest member); `modularity` is that of depth 0."""

    groups: Sequence[Group] = ()
    modularity: float = 0.0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Earlier:
    """What an update starts from: the communities of an earlier build and the graph that they were found in."""

    communities: Result[Communities]
    graph: Result[Graph]
    shape: str


@dataclass(frozen=True, slots=True)
class _Structure:
    """A graph as arrays: entity ids in order, and edges between their positions."""

    ids: Sequence[str]
    edges: Edges


@step("communities.structure", version=1)
def hash_structure(graphs: Sequence[Graph]) -> list[str]:
    """A hash of what clustering sees of a graph: its entities, relations and weights, no texts."""
    return [key([e.id for e in g.entities], [(r.source, r.target, r.weight) for r in g.relations]) for g in graphs]


@step("communities.communities", version=1, form="tables")
def cluster_graphs(wholes: Sequence[tuple[Graph, Earlier | None]], *, settings: ClusterSettings) -> list[Communities]:
    """The communities of each graph."""
    return [group_entities(graph, earlier, settings) for graph, earlier in wholes]


def find_communities(
    graph: Result[Graph], earlier: Earlier | None, rt: Runtime, settings: ClusterSettings
) -> Result[Communities]:
    """The communities of `graph`; with `earlier`, found by changing those as little as the new graph demands."""
    shape = rt.once(hash_structure, graph.value, names=(graph.key,)).value
    before = (earlier.communities.key,) if earlier else ()
    return rt.once(cluster_graphs, lambda: (graph.value, earlier), names=(shape, *before), settings=settings)


def group_entities(graph: Graph, earlier: Earlier | None, settings: ClusterSettings) -> Communities:
    """The communities of a graph; from `earlier` unless that costs more than 1 % of modularity."""
    now = _graph_arrays(graph)
    if earlier is None:
        return _name_communities(now, _leiden_tree(now.edges, None, settings), settings)
    # the earlier communities on the numbering of the graph of now
    before = _graph_arrays(earlier.graph.value)
    old = {name: i for i, name in enumerate(before.ids)}
    new = {name: i for i, name in enumerate(now.ids)}
    groups = list(earlier.communities.value.groups)
    number = {g.id: i for i, g in enumerate(groups)}
    members = [sorted(old[e] for e in g.entities) for g in groups]
    tree = Tree(
        parent=np.array([number.get(g.parent, -1) for g in groups], np.int32),
        depth=np.array([g.depth for g in groups], np.int32),
        start=np.cumsum([0, *map(len, members)], dtype=np.int64),
        members=np.array([m for ms in members for m in ms], np.int32),
        nodes=len(before.ids),
    )
    mapping = np.array([new.get(name, -1) for name in before.ids], np.int64)
    updated = _name_communities(
        now, _leiden_tree(now.edges, carry_tree(tree, before.edges, now.edges, mapping), settings), settings
    )
    flat = leiden(now.edges, resolution=settings.resolution, randomness=settings.randomness, seed=settings.seed)
    best = modularity(now.edges, flat, settings.resolution)
    if updated.modularity >= best - _TOLERANCE * abs(best):
        return updated
    note = f"clustered afresh: modularity {best:.4f}, against {updated.modularity:.4f} from the earlier communities"
    return _name_communities(now, _leiden_tree(now.edges, None, settings), settings, (note,))


def _leiden_tree(edges: Edges, start: Start | None, settings: ClusterSettings) -> Tree:
    return hierarchical_leiden(
        edges,
        max_cluster_size=settings.max_cluster_size,
        resolution=settings.resolution,
        randomness=settings.randomness,
        seed=settings.seed,
        previous=start,
    )


def _graph_arrays(graph: Graph) -> _Structure:
    ids = [e.id for e in graph.entities]
    place = {name: i for i, name in enumerate(ids)}
    links = [(place[r.source], place[r.target], max(r.weight, _LIGHTEST)) for r in graph.relations]
    columns = np.array(links, np.float64).reshape(-1, 3)
    edges = canonical_edges(columns[:, 0].astype(np.int64), columns[:, 1].astype(np.int64), columns[:, 2], len(ids))
    return _Structure(ids, edges)


def _name_communities(
    now: _Structure, tree: Tree, settings: ClusterSettings, notes: tuple[str, ...] = ()
) -> Communities:
    """The communities under ids that are keys of their members and depth."""
    members = [tuple(sorted(now.ids[m] for m in tree.of(i).tolist())) for i in range(len(tree))]
    ids = [key("community", int(tree.depth[i]), members[i])[:20] for i in range(len(tree))]
    children: list[list[str]] = [[] for _ in ids]
    for i, parent in enumerate(tree.parent.tolist()):
        if parent >= 0:
            children[parent].append(ids[i])
    groups = tuple(
        Group(ids[i], int(tree.depth[i]), ids[p] if p >= 0 else "", tuple(children[i]), members[i])
        for i, p in enumerate(tree.parent.tolist())
    )
    labels = project(tree, 0)
    quality = modularity(now.edges, labels, settings.resolution) if len(now.edges.source) else 0.0
    return Communities(groups, float(quality), notes)
