from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensegraph.algorithms.clustering import leiden
from sensegraph.algorithms.graphs import Edges, Ints, canonical_edges
from sensegraph.errors import SettingsError
from sensegraph.index.graph.columns import columns_of
from sensegraph.index.graph.graph_settings import GraphSettings
from sensegraph.index.graph.merging import merge_extractions
from sensegraph.index.hierarchy import communities
from sensegraph.index.hierarchy.communities import (
    ClusterSettings,
    Communities,
    Earlier,
    find_communities,
    group_briefly,
    group_entities,
)
from sensegraph.index.hierarchy.packing import Group
from sensegraph.runtime.results import Result
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Chunk, Entity, ExtractedEntity, ExtractedRelation, Extraction, Graph, Relation
from wired import runtime

SMALL = ClusterSettings(max_cluster_size=5)
SEEDS = st.integers(0, 10**6)


def graph(seed: int, nodes: int = 30, links: int = 45, without: int = -1) -> Graph:
    """A random graph with isolated nodes and several components; `without` leaves one node out."""
    random = Random(seed)
    pairs = [random.sample(range(nodes - 3), 2) for _ in range(links)]
    pairs = [(a, b) for a, b in pairs if a // 9 == b // 9 or random.random() < 0.1]
    pairs = [(a, b) for a, b in pairs if without not in (a, b)]
    entities = tuple(ExtractedEntity(f"N{i}", "thing", f"text {i}") for i in range(nodes) if i != without)
    relations = tuple(ExtractedRelation(f"N{a}", f"N{b}", "linked") for a, b in pairs)
    return merge_extractions(
        [(Chunk("c", "d", 0, 9, 2, "some text"), Extraction(entities, relations))], GraphSettings()
    )


def at(found: Communities, depth: int) -> list[Group]:
    """The communities of a depth, and the leaves above it: the projection."""
    return [g for g in found.groups if g.depth == depth or (g.depth < depth and not g.children)]


@given(SEEDS, st.integers(3, 12))
@settings(max_examples=40)
def test_every_entity_is_in_exactly_one_community_at_every_depth(seed: int, size: int) -> None:
    made = graph(seed)
    found = group_entities(made, None, ClusterSettings(max_cluster_size=size))
    for depth in range(max(g.depth for g in found.groups) + 2):
        members = [e for g in at(found, depth) for e in g.entities]
        assert sorted(members) == [e.id for e in made.entities]


@given(SEEDS)
@settings(max_examples=40)
def test_children_divide_their_parent(seed: int) -> None:
    found = group_entities(graph(seed), None, SMALL)
    by_id = {g.id: g for g in found.groups}
    assert len(by_id) == len(found.groups)
    for g in found.groups:
        parts = [by_id[c] for c in g.children]
        assert all(p.parent == g.id and p.depth == g.depth + 1 for p in parts)
        assert not parts or sorted(e for p in parts for e in p.entities) == list(g.entities)
        assert g.parent == "" or g.id in by_id[g.parent].children
        assert (g.parent == "") == (g.depth == 0)


def test_d3_what_is_outside_the_largest_component_has_its_community() -> None:
    made = graph(1)
    alone = {e.id for e in made.entities if e.degree == 0}
    found = group_entities(made, None, SMALL)
    assert alone
    assert {g.entities for g in found.groups if set(g.entities) & alone} == {(e,) for e in sorted(alone)}


def test_a_graph_without_relations_is_a_community_for_each_entity() -> None:
    made = graph(1, links=0)
    found = group_entities(made, None, SMALL)
    assert sorted(g.entities for g in found.groups) == sorted((e.id,) for e in made.entities)
    assert found.modularity == 0.0


def test_equal_graphs_have_equal_communities_whatever_their_texts() -> None:
    one, other = graph(4), graph(4)
    assert group_entities(one, None, SMALL) == group_entities(other, None, SMALL)


def test_the_shape_decides_whether_communities_are_computed(store: SqliteStore) -> None:
    rt = runtime(store)
    first = find_communities(Result("a", graph(4)), None, rt, SMALL)
    again = find_communities(Result("b", graph(4)), None, rt, SMALL)  # other texts, say: another key
    other = find_communities(Result("c", graph(5)), None, rt, SMALL)
    assert first.key == again.key != other.key
    assert rt.computed["communities.communities"] == 2


def test_each_setting_changes_the_key(store: SqliteStore) -> None:
    rt = runtime(store)
    rules = [
        SMALL,
        ClusterSettings(),
        ClusterSettings(5, 2.0),
        ClusterSettings(5, 1.0, 0.5),
        ClusterSettings(5, seed=3),
        ClusterSettings(5, 0.5),
        ClusterSettings(5, 0.5, quality="cpm"),
    ]
    keys = {find_communities(Result("a", graph(4)), None, rt, rule).key for rule in rules}
    assert len(keys) == len(rules)


def _updated(rt: Runtime, before: Graph, after: Graph) -> tuple[Communities, Communities]:
    old = find_communities(Result("before", before), None, rt, SMALL)
    earlier = Earlier(old, Result("before", before), "shape")
    return old.value.whole(), find_communities(Result("after", after), earlier, rt, SMALL).value.whole()


@given(SEEDS, st.integers(-1, 29), st.integers(-1, 29))
@settings(max_examples=40)
def test_an_update_is_the_same_from_communities_as_they_are_stored_as_from_whole_ones(
    seed: int, gone: int, come: int
) -> None:
    before, after = graph(seed, without=come), graph(seed, without=gone)
    old = group_entities(before, None, SMALL)
    stored = old.shortened()
    assert group_briefly(before, None, SMALL) == stored
    (one, other) = (
        group_briefly(after, Earlier(Result("found", found), Result("before", before), "shape"), SMALL)
        for found in (old, stored)
    )
    assert one == other == one.whole().shortened()


@pytest.mark.parametrize("seed", range(6))
def test_an_update_keeps_the_communities_that_the_change_does_not_touch(store: SqliteStore, seed: int) -> None:
    whole, less = graph(seed, 60, 160), graph(seed, 60, 160, without=5)
    old, new = _updated(runtime(store), whole, less)
    kept = {g.id for g in old.groups} & {g.id for g in new.groups}
    assert len(kept) >= 0.6 * len(list(old.groups))
    gone = {e.id for e in whole.entities} - {e.id for e in less.entities}
    assert not any(gone & set(g.entities) for g in new.groups)


@pytest.mark.parametrize("seed", range(6))
def test_an_updated_hierarchy_is_a_partition_near_the_best_modularity(store: SqliteStore, seed: int) -> None:
    after = graph(seed, 60, 160)
    _, new = _updated(runtime(store), graph(seed, 60, 160, without=5), after)
    for depth in range(max(g.depth for g in new.groups) + 1):
        assert sorted(e for g in at(new, depth) for e in g.entities) == [e.id for e in after.entities]
    assert new.modularity >= 0.99 * group_entities(after, None, SMALL).modularity


def test_clustering_afresh_for_want_of_modularity_is_said(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sensegraph.index.hierarchy.communities._TOLERANCE", -0.5)  # asks for more than there can be
    after = graph(2, 60, 160)
    _, new = _updated(runtime(store), graph(2, 60, 160, without=5), after)
    assert new.notes[0].startswith("clustered afresh: modularity")
    assert list(new.groups) == list(group_entities(after, None, SMALL).groups)


@pytest.mark.parametrize("bad", [{"max_cluster_size": 0}, {"resolution": 0.0}, {"randomness": -1.0}, {"seed": -1}])
def test_a_setting_that_cannot_work_is_refused_by_name(bad: dict[str, float]) -> None:
    with pytest.raises(SettingsError, match=rf"index\.clusters\.{next(iter(bad))}"):
        ClusterSettings(**bad)  # type: ignore[arg-type]


def _cliques(count: int) -> Graph:
    """A ring of cliques of five entities, each joined to the next by one relation."""
    names = [f"{c:02}{i}" for c in range(count) for i in range(5)]
    inner = [(names[c * 5 + a], names[c * 5 + b]) for c in range(count) for a, b in combinations(range(5), 2)]
    ends = sorted(inner + [(names[c * 5], names[(c * 5 + 6) % len(names)]) for c in range(count)])
    return Graph(
        tuple(Entity(n, n, "", "", (), (), 1, 4) for n in names),
        tuple(Relation(f"{a}{b}", a, b, "", (), 1.0, ()) for a, b in ends),
    )


def test_by_cpm_each_clique_of_a_long_ring_is_a_community_and_by_modularity_neighbours_are_joined() -> None:
    ring, density = _cliques(40), ClusterSettings(resolution=0.2, quality="cpm")
    cliques = [tuple(f"{c:02}{i}" for i in range(5)) for c in range(40)]
    found = group_entities(ring, None, density)
    assert [g.entities for g in at(found, 0)] == cliques
    assert found.modularity == pytest.approx((400 - 0.2 * 400) / 440)  # of 440 relations 400 are inside, of 400 pairs
    assert len(at(group_entities(ring, None, ClusterSettings()), 0)) < 30


def test_by_cpm_an_update_keeps_what_it_does_not_touch_and_is_as_good_as_clustering_afresh(store: SqliteStore) -> None:
    rt, settings = runtime(store), ClusterSettings(resolution=0.2, quality="cpm")
    before, after = _cliques(20), _cliques(21)
    old = find_communities(Result("before", before), None, rt, settings)
    earlier = Earlier(old, Result("before", before), "shape")
    new = find_communities(Result("after", after), earlier, rt, settings).value.whole()
    assert list(new.groups) == list(group_entities(after, None, settings).groups)
    assert len({g.id for g in old.value.groups} & {g.id for g in new.groups}) == 20
    assert new.notes == ()


def test_a_fresh_partition_to_compare_with_is_found_again_once_a_thousandth_of_the_weight_has_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ring, asked = _cliques(400), list[int]()
    plain = communities.leiden
    monkeypatch.setattr(communities, "leiden", lambda edges, **of: asked.append(edges.nodes) or plain(edges, **of))
    found = group_entities(ring, None, ClusterSettings())
    assert (found.fresh, found.moved) == (found.modularity, 0.0)
    for less in (1, 2, 3, 4, 5):  # of 4,400 relations
        after = replace(ring, relations=ring.relations[less:])
        before = replace(ring, relations=ring.relations[less - 1 :])
        earlier = Earlier(Result("found", found), Result("before", before), "shape")
        found = group_entities(after, earlier, ClusterSettings())
        assert found.moved == pytest.approx(less / 4_400 if less < 5 else 0.0, rel=1e-2)
    assert asked == [2_000]
    assert found.fresh == communities.partition_quality(*_flat(after))
    unknown = replace(found, fresh=0.0, moved=1.0)  # as an earlier version stored them
    group_entities(after, Earlier(Result("found", unknown), Result("before", before), "shape"), ClusterSettings())
    low = replace(found, fresh=0.9999)  # what falls short of it is compared anew
    again = group_entities(after, Earlier(Result("found", low), Result("before", before), "shape"), ClusterSettings())
    assert asked == [2_000] * 3
    assert (again.fresh, again.moved, again.notes) == (found.fresh, 0.0, ())


def _flat(graph: Graph) -> tuple[Edges, Ints]:
    """The edges of a graph, and a fresh partition of it."""
    columns = columns_of(graph)
    edges = canonical_edges(columns.source, columns.target, columns.relations.weight, len(columns.entities.ids))
    return edges, leiden(edges)


@pytest.mark.parametrize("bad", [{"quality": "surprise"}, {"quality": "cpm"}, {"quality": "cpm", "resolution": 1.5}])
def test_a_quality_that_is_not_known_or_a_density_that_none_reaches_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=r"index\.clusters\.(quality is 'surprise'|resolution is 1\.\d; with the)"):
        ClusterSettings(**bad)
