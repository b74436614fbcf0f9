"""An update packs and writes only about trees of communities in which something changed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from small import small

from scripted import Script, ScriptedServer
from scripted_replies import asked_in
from sensegraph.index.hierarchy import reports, written_trees
from sensegraph.index.hierarchy.communities import ClusterSettings, Communities, group_entities
from sensegraph.index.hierarchy.packing import Elements, list_elements, pack_community, pack_in_part
from sensegraph.index.hierarchy.reports import ReportSettings, report_all
from sensegraph.index.hierarchy.written_trees import TreeElements, batch_trees, cut_trees, place_elements, take_batches
from sensegraph.runtime.results import Result, Table, load_result, save_result, step
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Chunk, Cluster, Graph, Hierarchy, Statement
from wired import runtime

BIG = small(3, nodes=60, links=200)
FOUND = group_entities(BIG.graph, None, ClusterSettings(max_cluster_size=6))
CHUNKS = [Chunk(name, document, 0, 9, 2, "some text") for name, document in BIG.documents.items()]
TREES = cut_trees(list(FOUND.groups))
EVERY = [g.id for g in FOUND.groups]


@pytest.fixture
def packed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of the communities that are packed."""
    seen: list[str] = []
    pack = reports.pack_community

    def note(group: Any, *given: Any) -> Any:
        seen.append(group.id)
        return pack(group, *given)

    monkeypatch.setattr(reports, "pack_community", note)
    return seen


def told(rt: Runtime, graph: Graph, name: str, earlier: Result[Hierarchy] | None = None) -> Result[Hierarchy]:
    found: Result[Communities] = Result("communities", FOUND)
    return report_all(found, Result(name, graph), lambda: CHUNKS, rt, ReportSettings(), earlier)


def changed(entity: str) -> Graph:
    """The graph with another text on one entity."""
    entities = tuple(replace(e, description="Another text.") if e.id == entity else e for e in BIG.graph.entities)
    return replace(BIG.graph, entities=entities)


def test_each_element_is_placed_in_the_tree_that_it_is_inside_and_links_between_trees_in_none() -> None:
    held = place_elements(BIG.graph, FOUND.groups).take(EVERY)
    entities = sorted(place for tree in held.values() for place in tree.places[0])
    assert entities == list(range(len(BIG.graph.entities)))
    home = {e: root for root, groups in TREES.items() for e in groups[0].entities}
    for root, tree in held.items():
        inside = [i for i, r in enumerate(BIG.graph.relations) if home[r.source] == home[r.target] == root]
        assert tree.places[1].tolist() == inside
    assert 0 < sum(len(tree.places[1]) for tree in held.values()) < len(BIG.graph.relations)


def test_only_communities_that_changed_are_packed_and_the_rest_is_as_it_was(
    store: SqliteStore, server: ScriptedServer, packed: list[str]
) -> None:
    rt = runtime(store, server)
    before = told(rt, BIG.graph, "before")
    assert len(TREES) > 3
    for entity in ("e00", "e31"):
        del packed[:]
        name = f"after {entity}"
        after = told(rt, changed(entity), name, before)
        assert packed
        assert set(packed) == {g.id for g in FOUND.groups if entity in g.entities}
        afresh = told(rt, changed(entity), f"{name} afresh")
        assert list(after.value.clusters) == list(afresh.value.clusters)
        assert after.value.notes == afresh.value.notes
        again = told(rt, changed(entity), f"{name} again", after)
        assert list(again.value.clusters) == list(after.value.clusters)


def test_trees_are_written_about_in_batches_of_elements_and_the_reports_are_the_same(
    store: SqliteStore, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = place_elements(BIG.graph, FOUND.groups).take(EVERY)
    sizes = {root: sum(map(len, tree.places)) for root, tree in held.items()}
    most = max(sizes.values()) + 1
    monkeypatch.setattr(written_trees, "_TOGETHER", most)
    batches = list(batch_trees(list(TREES), held))
    assert [root for batch in batches for root in batch] == list(TREES)
    assert len(batches) > 1
    assert all(sum(sizes[root] for root in batch) <= most for batch in batches)
    assert any(len(batch) > 1 for batch in batches)
    rt = runtime(store, server)
    some = told(rt, BIG.graph, "some")
    monkeypatch.setattr(written_trees, "_TOGETHER", 1)  # a tree that has more stands alone
    assert list(batch_trees(list(TREES), held)) == [[root] for root in TREES]
    monkeypatch.undo()
    assert list(batch_trees(list(TREES), held)) == [list(TREES)]
    assert list(told(rt, BIG.graph, "all").value.clusters) == list(some.value.clusters)


@step("graphs", version=1, form="tables")
def keep_graphs(graphs: Sequence[Graph]) -> list[Graph]:
    return list(graphs)


def inside_of(graph: Graph, some: Sequence[TreeElements]) -> Graph:
    """What stands inside some trees, of a graph in memory."""
    kinds = ((graph.entities, 0), (graph.relations, 1), (graph.claims, 2))
    taken = ([of[p] for p in sorted(p for tree in some for p in tree.places[kind])] for of, kind in kinds)
    return Graph(*map(tuple, taken))  # type: ignore[arg-type]


@pytest.mark.parametrize(("share", "spooled"), [(8, 1 << 18), (8, 1), (1, 1 << 18)])
def test_the_records_of_a_batch_are_those_inside_its_trees_however_they_are_read(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, share: int, spooled: int
) -> None:
    save_result(store, keep_graphs, "graph", BIG.graph)
    graph = load_result(store, keep_graphs, "graph")
    monkeypatch.setattr(written_trees, "_FEW", share)
    monkeypatch.setattr(written_trees, "_SPOOLED", spooled)
    held = place_elements(graph, FOUND.groups).take(EVERY)
    for batches in ([[tree] for tree in held.values()], [list(held.values())], [[tree] for tree in held.values()][:2]):
        assert list(take_batches(graph, batches)) == [inside_of(BIG.graph, some) for some in batches]


def test_many_batches_are_read_in_one_pass_and_few_records_are_looked_up(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_result(store, keep_graphs, "graph", BIG.graph)
    graph = load_result(store, keep_graphs, "graph")
    held = [[tree] for tree in place_elements(graph, FOUND.groups).take(EVERY).values()]
    passes: list[int] = []
    raw = Table.raw
    monkeypatch.setattr(Table, "raw", lambda table: passes.append(len(table)) or raw(table))  # type: ignore[func-returns-value]
    list(take_batches(graph, held))
    assert passes[:2] == [len(BIG.graph.entities), len(BIG.graph.relations)]
    passes.clear()
    list(take_batches(graph, [held[0]]))
    assert passes == []


def test_other_settings_start_from_nothing(store: SqliteStore, server: ScriptedServer, packed: list[str]) -> None:
    rt = runtime(store, server)
    before = told(rt, BIG.graph, "before")
    del packed[:]
    found: Result[Communities] = Result("communities", FOUND)
    report_all(found, Result("after", BIG.graph), lambda: CHUNKS, rt, ReportSettings(300), before)
    assert {g.id for g in FOUND.groups} == set(packed)


def test_what_has_a_report_that_was_set_aside_in_it_is_written_about_again(
    store: SqliteStore, server: ScriptedServer, packed: list[str]
) -> None:
    bad = next(e.name for e in BIG.graph.entities if e.degree > 5)
    server.script = Script(reply=lambda body: "I would rather not." if bad in asked_in(body) else None)
    rt = replace(runtime(store, server), most_failed=0.9)
    before = told(rt, BIG.graph, "before")
    assert rt.aside
    lacking = {g.id for g in FOUND.groups for a in rt.aside if _about(a.item, g)}
    server.script = Script()
    del packed[:]
    again = replace(runtime(store, server), most_failed=0.9)
    mended = told(again, BIG.graph, "after", before)
    assert lacking
    assert set(packed) == lacking
    assert not again.aside
    assert list(mended.value.clusters) == list(told(runtime(store, server), BIG.graph, "afresh").value.clusters)


def _about(context: Any, group: Any) -> bool:
    """Whether a context may be that of this community: it holds nothing else."""
    entities = {p.id for p in context.passages if p.kind == "entity"}
    return bool(entities) and entities <= set(group.entities)


def test_what_is_packed_of_a_community_that_is_read_in_part_is_what_is_packed_of_the_whole() -> None:
    whole, placed = list_elements(BIG.graph, BIG.documents, quotes=True), place_elements(BIG.graph, FOUND.groups)
    by_id, seen = {g.id: g for g in FOUND.groups}, 0

    def load(names: Collection[str]) -> Elements:
        return list_elements(placed.read_inside(BIG.graph, names), BIG.documents, quotes=True)

    for group in (g for g in FOUND.groups if g.children):
        below = [by_id[name] for name in group.children]
        sizes = {child.id: whole.count_tokens(child) for child in below}
        (held,) = placed.take([], [group.id]).values()
        inside = inside_of(BIG.graph, [held])
        lines = list_elements(inside, BIG.documents, quotes=True, beside=placed.name_ends(inside, [held]))
        for words, budget in product((5, 50, 500), (60, 200, 600, 1500)):
            told = (Statement("word " * words),)
            children = [
                (c, Cluster(c.id, 0, 1, group.id, c.entities, c.entities, c.id, told, tokens=words + place))
                for place, c in enumerate(below)
            ]
            if sum(sizes.values()) > budget:
                seen += 1
                expected = pack_community(group, whole, children, budget)
                assert pack_in_part(group, lines, children, sizes, load, budget) == expected
                assert lines.count_tokens(group) == whole.count_tokens(group)
    assert seen > 20
