"""HiRAG's numbered equations (Huang et al. 2025), each worked out again by loops over records and by networkx."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

from sensegraph.algorithms.paths import find_paths_through
from sensegraph.corpus.corpus import Corpus
from sensegraph.index.graph.lookups import ties_of
from sensegraph.index.index import Index
from sensegraph.methods.hirag.hirag import HiRAG, bridge_relations, communities_around, find_candidates, key_entities
from sensegraph.methods.hirag.layers_part import LAYERS
from sensegraph.protocols import Vectors
from sensegraph.retrieval.assembling import ends_of
from sensegraph.types import Cluster, Question

QUESTION = Question("Whom did Ada Harrow pay, and who sailed with Iris Quay?")
FLOOR = 0.1


def seen(built: Corpus) -> Index:
    return built.index().part(LAYERS)


def query(built: Corpus) -> Vectors:
    return np.asarray(built.runtime().embedder.embed([QUESTION.sought], "query")[0], np.float32)


@pytest.fixture(scope="module")
def near(built: Corpus) -> list[float]:
    """The cosine of the question with each entity of all layers, the embedder asked for one text at a time."""
    question, found = query(built).tolist(), []
    for entity in seen(built).graph.entities:
        row = built.runtime().embedder.embed([f"{entity.name}: {entity.description}"], "document")[0].tolist()
        lengths = math.sqrt(math.fsum(a * a for a in row) * math.fsum(b * b for b in question))
        found.append(math.fsum(a * b for a, b in zip(row, question, strict=True)) / lengths if lengths else 0.0)
    return found


def similar(near: list[float], top: int, floor: float = FLOOR) -> list[int]:
    ranked = sorted(range(len(near)), key=lambda place: (-round(near[place], 6), place))
    return [place for place in ranked[:top] if near[place] >= floor]


def touched(built: Corpus, local: Iterable[int], deepest: int) -> list[Cluster]:
    """The communities down to a depth that share an entity with the local ones, by how many, then by rating."""
    index = seen(built)
    ids = {index.graph.entities[place].id for place in local}
    found = [c for c in index.hierarchy.clusters if c.depth <= deepest and ids.intersection(c.entities)]
    return sorted(found, key=lambda c: (-len(ids.intersection(c.entities)), -c.rating, c.id))


def first_inside(built: Corpus, candidates: list[int], communities: Iterable[Cluster], most: int) -> list[int]:
    index, chosen = seen(built), set[int]()
    for community in communities:
        inside = [place for place in candidates if index.graph.entities[place].id in community.entities]
        chosen.update(inside[:most])
    return [place for place in candidates if place in chosen]


def graph_of(index: Index) -> nx.MultiGraph:
    place = {entity.id: i for i, entity in enumerate(index.graph.entities)}
    made = nx.MultiGraph()
    made.add_nodes_from(place.values())
    made.add_edges_from((place[r.source], place[r.target], i) for i, r in enumerate(index.graph.relations))
    return made


def between(index: Index, keys: list[int]) -> tuple[list[list[int]], set[int]]:
    """A shortest path between each two key entities in turn, checked by networkx, and the edges among all nodes."""
    known = graph_of(index)
    paths = find_paths_through(index.lookups.start, index.lookups.neighbours, keys)
    joined = [(a, b) for a, b in pairwise(keys) if nx.has_path(known, a, b)]
    assert len(paths) == len(joined)
    for path, (a, b) in zip(paths, joined, strict=True):
        assert path in ([[a]] if a == b else list(nx.all_shortest_paths(nx.Graph(known), a, b)))
    nodes = {node for path in paths for node in path}
    return paths, {number for *_, number in known.subgraph(nodes).edges(keys=True)}


@pytest.mark.parametrize(("top", "floor"), [(200, FLOOR), (5, FLOOR), (200, 0.35), (200, -1.0)])
def test_equation_12_candidates_are_the_most_similar_entities_of_all_layers(
    built: Corpus, near: list[float], top: int, floor: float
) -> None:
    found = find_candidates(QUESTION, query(built), seen(built), built.runtime(), top, floor, "vectors")
    wanted = similar(near, top, floor)
    assert sorted(found, key=lambda place: (-round(near[place], 6), place)) == wanted
    assert list(found.values()) == pytest.approx([near[place] for place in found], abs=2e-5)
    assert list(found.values()) == sorted(found.values(), reverse=True)
    assert len(seen(built).graph.entities) > len(built.index().graph.entities)  # summary entities are among them


@pytest.mark.parametrize("deepest", [0, 1, 2])
def test_equation_13_communities_are_all_that_share_an_entity_with_the_local_ones(
    built: Corpus, near: list[float], deepest: int
) -> None:
    local = similar(near, 10)
    assert list(communities_around(local, seen(built), deepest).values()) == touched(built, local, deepest)
    assert touched(built, local, deepest)


@pytest.mark.parametrize("most", [1, 3, 10])
def test_equation_14_key_entities_are_the_first_candidates_of_each_community(
    built: Corpus, near: list[float], most: int
) -> None:
    candidates, local = similar(near, 200), similar(near, 10)
    found = key_entities(candidates, communities_around(local, seen(built), 2), seen(built).lookups, most)
    assert found == first_inside(built, candidates, touched(built, local, 2), most)
    assert found


@pytest.mark.parametrize("most", [1, 2, 4])
def test_equations_15_and_16_the_bridge_is_all_relations_among_the_nodes_of_shortest_paths(
    built: Corpus, near: list[float], most: int
) -> None:
    index, rt = seen(built), built.runtime()
    keys = first_inside(built, similar(near, 200), touched(built, similar(near, 10), 2), most)
    paths, wanted = between(index, keys)
    assert len(wanted) > len(paths) > 1
    joins, weight = ends_of(index, rt), ties_of(index, rt).weight
    found = bridge_relations(keys, index, joins, weight, path_only=False)
    assert set(found) == wanted
    degree = nx.Graph(graph_of(index)).degree
    place = {entity.id: i for i, entity in enumerate(index.graph.entities)}
    relations = index.graph.relations
    order = [(-degree[place[relations[r].source]] - degree[place[relations[r].target]], -weight[r]) for r in found]
    assert order == sorted(order)
    steps = {frozenset(step) for path in paths for step in pairwise(path)}
    ends = {r: frozenset((place[relations[r].source], place[relations[r].target])) for r in wanted}
    assert set(bridge_relations(keys, index, joins, weight, path_only=True)) == {r for r in wanted if ends[r] in steps}


@pytest.mark.parametrize(("top", "most"), [(3, 2), (10, 3)])
def test_equations_14_to_16_together_are_what_the_method_reads_of_the_bridge(
    built: Corpus, near: list[float], top: int, most: int
) -> None:
    """From the question to the relations of the bridge: all steps by loops, against `retrieve` of the bridge alone."""
    index = seen(built)
    candidates, local = similar(near, 10 * top), similar(near, 10 * top)[:top]
    keys = first_inside(built, candidates, touched(built, local, 2), most)
    _, wanted = between(index, keys)
    method = HiRAG(
        "hi_bridge", top=top, top_m=most, cosine_floor=FLOOR, by="vectors", report_tokens=10**6, bridge_tokens=10**6,
        context_tokens=10**7,
    )  # fmt: skip
    told = method.retrieve(QUESTION, built.index(), built.runtime())
    assert {p.id for p in told.passages if p.kind == "relation"} == {index.graph.relations[r].id for r in wanted}
    assert wanted
