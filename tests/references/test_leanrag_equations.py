"""LeanRAG's numbered equations (Zhang et al. 2025), each worked out again by loops over records, texts and requests."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from scripted import Call
from scripted_tables import rows_of
from sensegraph.algorithms.graphs import Ints
from sensegraph.corpus.corpus import Corpus
from sensegraph.methods.leanrag.aggregated import (
    AggregateSettings,
    aggregate_texts,
    described_texts,
)
from sensegraph.methods.leanrag.aggregates_part import AGGREGATES
from sensegraph.methods.leanrag.leanrag import (
    AncestorPaths,
    LeanRAG,
    climb_to_ancestors,
    find_entity_seeds,
    relation_passages,
)
from sensegraph.types import Cluster, Hierarchy, Question

THRESHOLD = 2  # τ of the corpus
QUESTION = Question("Whom did Ada Harrow pay, and who sailed with Iris Quay?")


def hierarchy(built: Corpus) -> Hierarchy:
    return built.index().part(AGGREGATES).hierarchy


def embedded(built: Corpus, text: str, role: str = "document") -> list[float]:
    """Φ of one text, asked of the embedder once more."""
    row: Ints = np.asarray(built.runtime().embedder.embed([text], role))[0]  # type: ignore[arg-type]
    return [float(value) for value in row]


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    lengths = math.sqrt(math.fsum(a * a for a in one) * math.fsum(b * b for b in other))
    return math.fsum(a * b for a, b in zip(one, other, strict=True)) / lengths if lengths else 0.0


def said(cluster: Cluster) -> str:
    return "".join(statement.text for statement in cluster.summary).strip()


def plain(texts: Iterable[str]) -> list[str]:
    return sorted(" ".join(text.split()) for text in texts)


def asked(calls: list[Call], task: str) -> list[tuple[list[str], list[str]]]:
    """What each request for a task showed: the names of nodes, and the texts of relations."""
    found = []
    for call in (c for c in calls if c.task == task):
        rows = rows_of(call.body["messages"][-1]["content"])
        nodes = [cells[1] for table, cells in rows if table != "Relationships"]
        found.append((sorted(nodes), plain(cells[3] for table, cells in rows if table == "Relationships")))
    return sorted(found)


def level_below(built: Corpus, level: int) -> tuple[dict[str, str], list[tuple[str, str, str, str]]]:
    """The nodes of Gᵢ₋₁ by id with their names, and its relations: id, both ends, text. G₀ is the graph."""
    if level == 0:
        graph = built.index().graph
        return (
            {e.id: e.name for e in graph.entities},
            [(r.id, r.source, r.target, r.description) for r in graph.relations],
        )
    known = hierarchy(built)
    return (
        {c.id: c.title for c in known.clusters if c.level == level - 1},
        [(r.id, r.source, r.target, r.text) for r in known.relations if r.level == level - 1],
    )


def of_level(built: Corpus, level: int) -> list[Cluster]:
    return [c for c in hierarchy(built).clusters if c.level == level]


def levels(built: Corpus) -> range:
    return range(1 + max(c.level for c in hierarchy(built).clusters))


def test_equation_3_every_node_has_the_vector_of_its_own_text(built: Corpus, calls: list[Call]) -> None:
    """E = {Φ(d_v)}: rows of the index against the embedder asked one text at a time; the paper's are descriptions."""
    index, graph, clusters = built.index(), built.index().graph, hierarchy(built).clusters
    assert graph.entities
    assert clusters
    rows = index.vectors_of(built.embedder, "described")
    for row, entity in zip(rows, graph.entities, strict=True):
        assert row.tolist() == pytest.approx(embedded(built, f"{entity.name}: {entity.description}"), abs=2e-5)
    rows = index.vectors_of(built.embedder, "aggregate")
    for row, cluster in zip(rows, clusters, strict=True):
        assert row.tolist() == pytest.approx(embedded(built, f"{cluster.title}: {said(cluster)}"), abs=2e-5)
    paper = AggregateSettings(embed="description")
    assert described_texts(graph, paper) == [e.description for e in graph.entities]
    assert aggregate_texts(clusters, paper) == [said(c) for c in clusters]
    sent = {text for call in calls if call.task == "embedding" for text in call.body["input"]}
    assert {f"{e.name}: {e.description}" for e in graph.entities} <= sent
    assert {f"{c.title}: {said(c)}" for c in clusters if c.parent} <= sent  # what the levels above were grouped by


def test_equation_4_an_aggregate_is_asked_of_its_cluster_and_the_relations_inside(
    built: Corpus, calls: list[Call]
) -> None:
    """(α, d_α) = F(C, R_C): what `aggregate` is sent against a loop over all clusters and relations of each level."""
    wanted = []
    for level in levels(built):
        names, relations = level_below(built, level)
        for cluster in of_level(built, level):
            inside = [text for _, a, b, text in relations if a in cluster.members and b in cluster.members]
            if not cluster.promoted:
                wanted.append((sorted(names[m] for m in cluster.members), plain(inside)))
    assert len(levels(built)) > 2
    assert sum(bool(inside) for _, inside in wanted) > 3
    assert asked(calls, "aggregate") == sorted(wanted)
    assert sorted(m for c in hierarchy(built).clusters for m in c.members) == sorted(
        [*(e.id for e in built.index().graph.entities), *(c.id for c in hierarchy(built).clusters if c.parent)]
    )


def test_equation_5_relations_between_clusters_are_summed_up_above_the_threshold_else_joined(
    built: Corpus, calls: list[Call]
) -> None:
    """λ counted by two loops over all pairs of clusters; what `relate` is sent, and the texts below τ."""
    known, strong = {(r.source, r.target): r for r in hierarchy(built).relations}, []
    pairs = joined = 0
    for level in levels(built):
        _, relations = level_below(built, level)
        for one, other in combinations(of_level(built, level), 2):
            ends = ((one, other), (other, one))
            between = [r for r in relations if any(r[1] in a.members and r[2] in b.members for a, b in ends)]
            found = known.get((min(one.id, other.id), max(one.id, other.id)))
            assert (found.count if found else 0) == len(between)
            if found is None:
                continue
            pairs += 1
            assert sorted(found.relations) == sorted(name for name, *_ in between)
            if found.count > THRESHOLD:
                strong.append((sorted((one.title, other.title)), plain(text for *_, text in between)))
            else:
                joined += found.count > 1
                assert plain(found.text.splitlines()) == plain(
                    {line for *_, text in between for line in text.split("\n")}
                )
    assert len(known) == pairs > len(strong) > 0 < joined
    assert asked(calls, "link") == sorted(strong)


def seeds_and_paths(built: Corpus, top: int = 8) -> tuple[dict[int, float], AncestorPaths]:
    index, rt = built.index(), built.runtime()
    query = np.asarray(embedded(built, QUESTION.sought, "query"), np.float32)
    seeds = find_entity_seeds(QUESTION, query, index, rt, top, "vectors")
    return seeds, climb_to_ancestors(seeds, query, "on", index, rt)


@pytest.mark.parametrize("top", [1, 5, 20])
def test_equation_6_seeds_are_the_most_similar_entities_one_cosine_at_a_time(built: Corpus, top: int) -> None:
    question = embedded(built, QUESTION.sought, "query")
    texts = [f"{e.name}: {e.description}" for e in built.index().graph.entities]
    near = {place: cosine(question, embedded(built, text)) for place, text in enumerate(texts)}
    wanted = sorted(near, key=lambda place: (-round(near[place], 6), place))[:top]
    found, _ = seeds_and_paths(built, top)
    assert sorted(found, key=lambda place: (-round(near[place], 6), place)) == wanted
    assert found == pytest.approx({place: near[place] for place in wanted}, abs=2e-5)
    told = LeanRAG(seeds=top, by="vectors", context_tokens=10**6).retrieve(QUESTION, built.index(), built.runtime())
    assert {p.id for p in told.passages if p.kind == "entity"} == {built.index().graph.entities[p].id for p in wanted}


def retrieved_nodes(built: Corpus, seeds: Iterable[str]) -> set[str]:
    """V_ret by networkx: all nodes on the paths from each two seeds to their lowest common ancestor."""
    tree = nx.DiGraph((c.id, member) for c in hierarchy(built).clusters for member in c.members)
    assert nx.is_arborescence(tree)
    found: set[str] = set()
    for one, other in combinations(seeds, 2):
        meeting = nx.lowest_common_ancestor(tree, one, other)
        found |= {*nx.shortest_path(tree, meeting, one), *nx.shortest_path(tree, meeting, other)}
    return found


@pytest.mark.parametrize("top", [2, 3, 8, 20])
def test_equations_7_and_9_the_nodes_are_those_on_networkx_paths_to_lowest_common_ancestors(
    built: Corpus, top: int
) -> None:
    _, found = seeds_and_paths(built, top)
    wanted = retrieved_nodes(built, [e.id for e in found.entities])
    assert {*(e.id for e in found.entities), *(c.id for c in found.clusters)} == wanted
    named = {c.id: c for c in found.clusters}
    for entity, home in zip(found.entities, found.home, strict=True):
        assert entity.id in named[found.named[home].id].members


def retrieved_relations(built: Corpus, nodes: set[str]) -> set[str]:
    """R_ret by a loop over all relations of all levels: the texts of those whose ends are both retrieved."""
    found = {r.description for r in built.index().graph.relations if r.source in nodes and r.target in nodes}
    return found | {r.text for r in hierarchy(built).relations if r.source in nodes and r.target in nodes}


@pytest.mark.parametrize("top", [3, 8, 20])
def test_equation_10_relations_are_all_between_retrieved_nodes_of_a_level(built: Corpus, top: int) -> None:
    _, found = seeds_and_paths(built, top)
    nodes = retrieved_nodes(built, [e.id for e in found.entities])
    texts = [p.text for p in relation_passages(found, built.index())]
    assert len(texts) == len(set(texts)) > 0
    assert set(texts) == retrieved_relations(built, nodes)
    told = {p.id for p in relation_passages(found, built.index())}
    stated = {r.id: r.description for r in built.index().graph.relations if {r.source, r.target} <= nodes}
    assert len(set(stated.values())) == len(stated) > 0  # what aggregates repeat of it is left out, not it
    assert told & {r.id for r in built.index().graph.relations} == {*stated}


@pytest.mark.parametrize("top", [3, 20])
def test_equation_8_what_is_read_is_the_retrieved_nodes_and_relations_and_no_other(built: Corpus, top: int) -> None:
    """G_ret = (V_ret, R_ret); a promoted node repeats the one below it and is read once."""
    method = LeanRAG(seeds=top, chunks=0, by="vectors", root="on", context_tokens=10**6)
    told = method.retrieve(QUESTION, built.index(), built.runtime()).passages
    _, found = seeds_and_paths(built, top)
    nodes = retrieved_nodes(built, [e.id for e in found.entities])
    promoted = {c.id for c in hierarchy(built).clusters if c.promoted}
    assert {p.id for p in told if p.kind in ("entity", "report")} == nodes - promoted
    assert {p.text for p in told if p.kind == "relation"} == retrieved_relations(built, nodes)
    assert {p.kind for p in told} == {"entity", "report", "relation"}
