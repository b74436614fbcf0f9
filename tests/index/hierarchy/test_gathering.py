"""Entities that little is related to are gathered, so that few reports are on one or two of them."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sensegraph.index.hierarchy.communities import ClusterSettings, Communities, Earlier, group_entities
from sensegraph.index.hierarchy.gathering import gather_components, group_graph, order_small
from sensegraph.index.hierarchy.packing import Group, list_elements, pack_community
from sensegraph.runtime.keys import chunk_id
from sensegraph.runtime.results import Result
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Description, Entity, Graph, Relation, Source
from wired import runtime

SEEDS = st.integers(0, 10**6)
USUAL = ClusterSettings()


def scattered(documents: int, seed: int = 0, prefix: str = "") -> Graph:
    """Documents of three passages; in each a well-linked group, pairs, and many entities without relations."""
    entities: dict[str, Entity] = {}
    relations = []
    for d in range(documents):
        random = Random(f"{seed} {d}")
        chunks = [chunk_id(f"{prefix}{d}", 100 * i, f"passage {i} of {d}") for i in range(3)]
        names = [f"{random.randrange(16**8):08x}" for _ in range(22)]
        shared = [f"common{random.randrange(5)}"]
        for i, name in enumerate([*names, *shared]):
            at = chunks[i % 3]
            held = entities[name].chunks if name in entities else ()
            said = (Description(f"{name} is told of.", Source(at, 0, 5)),)
            entities[name] = Entity(name, name.upper(), "thing", f"On {name}.", said, (*held, at), 1, 0)
        linked = [(names[i], names[j]) for i in range(4) for j in range(i)] + [(names[0], shared[0])]
        linked += [(names[i], names[i + 1]) for i in (4, 6, 8)]
        relations += [Relation(f"{a}{b}", *sorted((a, b)), "", (), 1.0, (chunks[0],)) for a, b in linked]
    ordered = sorted(entities.values(), key=lambda e: e.id)
    return Graph(tuple(ordered), tuple(sorted(relations, key=lambda r: r.id)))


def gathered(graph: Graph, most: int = 10) -> Communities:
    found = group_entities(graph, None, ClusterSettings(max_cluster_size=most))
    return gather_components(found, order_small(graph, most), most)


def at(found: Communities, depth: int) -> list[Group]:
    return [g for g in found.groups if g.depth == depth or (g.depth < depth and not g.children)]


@given(SEEDS, st.integers(1, 25), st.integers(2, 12))
@settings(max_examples=30)
def test_every_entity_is_in_exactly_one_community_at_every_depth(seed: int, documents: int, most: int) -> None:
    graph = scattered(documents, seed)
    found = gathered(graph, most)
    for depth in range(max(g.depth for g in found.groups) + 2):
        assert sorted(e for g in at(found, depth) for e in g.entities) == [e.id for e in graph.entities]


@given(SEEDS, st.integers(1, 25))
@settings(max_examples=20)
def test_children_divide_their_parent_and_ids_are_their_own(seed: int, documents: int) -> None:
    found = gathered(scattered(documents, seed))
    by_id = {g.id: g for g in found.groups}
    assert len(by_id) == len(found.groups)
    for g in found.groups:
        parts = [by_id[c] for c in g.children]
        assert all(p.parent == g.id and p.depth == g.depth + 1 for p in parts)
        assert not parts or sorted(e for p in parts for e in p.entities) == list(g.entities)
        assert (g.parent == "") == (g.depth == 0)


def test_entities_without_relations_and_pairs_are_gathered_and_the_root_is_small() -> None:
    graph = scattered(40)
    plain, found = group_entities(graph, None, USUAL), gathered(graph)
    assert len(at(plain, 0)) > 500
    assert len(at(found, 0)) < 60
    assert sum(len(g.entities) < 3 for g in at(plain, 2)) > 500
    assert sum(len(g.entities) < 3 for g in at(found, 2)) < 30
    leaves = [g for g in found.groups if g.gathered and not g.children]
    assert leaves
    assert all(2 <= len(g.entities) <= USUAL.max_cluster_size for g in leaves)


def test_what_stands_in_the_same_document_is_gathered_together() -> None:
    graph = scattered(12)
    home = {e.id: {c[:12] for c in e.chunks} for e in graph.entities}
    leaves = [g for g in gathered(graph).groups if g.gathered and not g.children]
    alone = sum(len(set[str]().union(*(home[e] for e in g.entities))) == 1 for g in leaves)
    assert alone > 0.6 * len(leaves)


def test_communities_of_related_entities_stay_as_they_were() -> None:
    graph = scattered(12)
    plain = group_entities(graph, None, USUAL)
    small = {e for c in order_small(graph, USUAL.max_cluster_size) for e in c}
    large = [g for g in plain.groups if not small & set(g.entities)]
    assert large
    assert set(large) <= set(gathered(graph).groups)


def changed_leaves(seed: int) -> tuple[int, int]:
    """How many gathered leaves there are of 40 documents, and how many of them a further document changes."""
    before, after = (gathered(scattered(n, seed)) for n in (40, 41))
    sets = [{g.entities for g in found.groups if g.gathered and not g.children} for found in (before, after)]
    return len(sets[0]), len(sets[0] - sets[1])


@given(SEEDS)
@settings(max_examples=15)
def test_one_more_document_leaves_most_gathered_communities_as_they_were(seed: int) -> None:
    count, changed = changed_leaves(seed)
    assert count > 60
    assert changed <= count / 4


def test_one_more_document_changes_few_gathered_communities_on_average() -> None:
    found = [changed_leaves(seed) for seed in range(20)]
    assert sum(count for count, _ in found) > 60 * 20
    assert sum(changed for _, changed in found) <= 2.5 * 20


@given(SEEDS)
@settings(max_examples=15)
def test_other_ids_of_the_documents_change_nothing(seed: int) -> None:
    assert gathered(scattered(8, seed)) == gathered(scattered(8, seed, prefix="other/"))


def test_where_nothing_is_small_nothing_is_gathered(store: SqliteStore) -> None:
    names = [f"n{i:02}" for i in range(14)]
    ring = Graph(
        tuple(Entity(n, n, "", "", (), (), 1, 2) for n in names),
        tuple(Relation(f"r{i:02}", a, b, "", (), 1.0, ()) for i, (a, b) in enumerate(pairwise(names))),
    )
    rt = runtime(store)
    _, found = group_graph(Result("g", ring), None, rt, USUAL)
    assert list(found.value.whole().groups) == list(group_entities(ring, None, USUAL).groups)
    assert rt.computed["communities.gathered"] == 0


def test_the_same_shape_is_not_clustered_again_and_an_update_gathers_as_a_build_afresh(store: SqliteStore) -> None:
    rt = runtime(store)
    before, after = scattered(12), scattered(13)
    shape, old = group_graph(Result("before", before), None, rt, USUAL)
    earlier = Earlier(old, Result("before", before), shape)
    assert group_graph(Result("texts", before), earlier, rt, USUAL) == (shape, old)
    _, new = group_graph(Result("after", after), earlier, rt, USUAL)
    _, fresh = group_graph(Result("after", after), None, rt, USUAL)
    small = {e for c in order_small(after, USUAL.max_cluster_size) for e in c}

    def inside(found: Any) -> set[Group]:
        return {g for g in found.value.whole().groups if small & set(g.entities)}

    assert inside(new) == inside(fresh)
    assert any(g.gathered for g in inside(new))


def test_a_report_on_what_is_gathered_is_asked_for_under_a_title_that_says_so() -> None:
    graph = scattered(3)
    lines = list_elements(graph, {}, quotes=False)
    groups = gathered(graph).groups
    assert {g.gathered for g in groups} == {True, False}
    for group in groups:
        context = pack_community(group, lines, [], 8000)
        assert context is not None
        assert context.title.endswith("gathered though little or nothing links them") == group.gathered


@given(SEEDS, st.integers(1, 25))
@settings(max_examples=20)
def test_what_is_stored_of_communities_has_entities_where_no_children_tell_them(seed: int, documents: int) -> None:
    found = gathered(scattered(documents, seed))
    stored = found.shortened()
    assert stored.whole() == found == found.whole()
    assert {g.id for g in stored.groups if not g.entities} == {g.id for g in found.groups if g.children}
