"""The hierarchy of LeanRAG: levels, aggregates, relations between them, updates (L03–L12; leanrag §3, §7, §8)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planted import Planted, planted

from harbour import papers
from scripted import Script, ScriptedServer
from scripted_replies import task_of
from sensegraph.algorithms.paths import list_ancestor_chains
from sensegraph.corpus.corpus import Corpus
from sensegraph.corpus.settings import load_settings
from sensegraph.engines.offline.engine import ClassicalEngine
from sensegraph.errors import SettingsError, StepFailed, UnsupportedTask
from sensegraph.index.hierarchy.packing import Line, elements_for, list_elements
from sensegraph.methods.leanrag.aggregated import (
    AggregateSettings,
    Level,
    Link,
    Node,
    aggregate_brief,
    ground_level,
    make_ancestry,
    part_links,
    relation_brief,
)
from sensegraph.methods.leanrag.aggregates import Before, Builder, aggregate_all, aggregates_made_of, find_aggregates
from sensegraph.methods.leanrag.aggregates_part import AGGREGATES
from sensegraph.models.embedders import HashedTerms
from sensegraph.runtime.executors.processes import LocalExecutor
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Cluster, ClusterRelation, Graph, Hierarchy, Passage, Statement
from wired import runtime, stories

SMALL = AggregateSettings(cluster_size=4, threshold=2)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "store")
    yield opened
    opened.close()


@pytest.fixture
def rt(store: SqliteStore) -> Runtime:
    return Runtime(ClassicalEngine(), HashedTerms(), store, LocalExecutor(1, 1))


def built(made: Planted, rt: Runtime, settings: AggregateSettings = SMALL, before: Before | None = None) -> Hierarchy:
    return find_aggregates(made.named, made.embedded, lambda: made.chunks, rt, settings, before).value


def before(made: Planted, rt: Runtime, settings: AggregateSettings = SMALL) -> Before:
    found = find_aggregates(made.named, made.embedded, lambda: made.chunks, rt, settings)
    return Before(found, aggregates_made_of(made.named.key, made.embedded.key, rt, settings))


def at_level(hierarchy: Hierarchy, level: int) -> list[Cluster]:
    return [c for c in hierarchy.clusters if c.level == level]


def levels(hierarchy: Hierarchy) -> int:
    return 1 + max((c.level for c in hierarchy.clusters), default=-1)


def check(hierarchy: Hierarchy, ids: Sequence[str]) -> None:
    """What holds for every hierarchy: one root, one parent each, each level a partition of the one below."""
    below = sorted(ids)
    for level in range(levels(hierarchy)):
        clusters = at_level(hierarchy, level)
        assert sorted(m for c in clusters for m in c.members) == below
        assert sorted(e for c in clusters for e in c.entities) == sorted(ids)
        assert {c.depth for c in clusters} == {levels(hierarchy) - 1 - level}
        below = sorted(c.id for c in clusters)
    roots = [c for c in hierarchy.clusters if not c.parent]
    assert len(roots) == (1 if len(ids) > 1 else 0)
    parents = {c.id: c for c in hierarchy.clusters}
    assert all(c.id in parents[c.parent].members for c in hierarchy.clusters if c.parent)
    assert [c.id for c in hierarchy.clusters] == [
        c.id for c in sorted(hierarchy.clusters, key=lambda c: (c.depth, c.id))
    ]
    for r in hierarchy.relations:
        assert r.source < r.target
        assert parents[r.source].level == parents[r.target].level == r.level
        assert r.count == len(r.relations) > 0


# ── levels: §3 step 4, 5 ──


@pytest.mark.parametrize(("groups", "size"), [(1, 1), (1, 2), (1, 3), (2, 3), (6, 4), (12, 4), (30, 4), (7, 1)])
def test_every_level_is_a_partition_and_there_is_one_root(groups: int, size: int, rt: Runtime) -> None:
    made = planted(groups, size, 3 * groups if groups * size > 1 else 0)
    check(built(made, rt), [e.id for e in made.graph.entities])


def test_an_empty_graph_and_a_single_entity_have_no_aggregate(rt: Runtime) -> None:
    for nothing in (planted(0, 0), planted(1, 1)):
        hierarchy = built(nothing, rt)
        assert (list(hierarchy.clusters), list(hierarchy.relations), hierarchy.notes) == ([], [], ())


def test_two_entities_have_a_root_and_nothing_else(rt: Runtime) -> None:
    (root,) = built(planted(1, 2), rt).clusters
    assert (root.level, root.depth, root.members) == (0, 0, ("g00-e00", "g00-e01"))


def test_fewer_clusters_than_wanted_leave_the_root_alone(rt: Runtime) -> None:
    made = planted(4, 4)
    assert len(built(made, rt).clusters) == 1
    assert len(built(made, rt, replace(SMALL, min_clusters=4)).clusters) == 5


def test_alike_entities_come_together(rt: Runtime) -> None:
    made = planted(8, 4, noise=0.01)
    group = dict(zip((e.id for e in made.graph.entities), made.group, strict=True))
    leaves = at_level(built(made, rt), 0)
    assert len(leaves) > 1
    assert all(len({group[m] for m in c.members}) == 1 for c in leaves)


def test_no_cluster_is_larger_than_twice_its_size(rt: Runtime) -> None:
    hierarchy = built(planted(20, 7, noise=0.3), rt)
    assert max(len(c.members) for c in hierarchy.clusters if c.parent) <= 8


def test_the_number_of_levels_is_bounded(rt: Runtime) -> None:
    """round(ln n / ln cluster_size) + 1, and the root."""
    hierarchy = built(planted(50, 4), rt, replace(SMALL, min_clusters=1))
    assert 1 < levels(hierarchy) <= round(np.log(200) / np.log(4)) + 2


def test_equal_vectors_are_parted_all_the_same(rt: Runtime) -> None:
    made = planted(6, 5)
    same = replace(made, vectors=np.ones_like(made.vectors) / np.sqrt(24).astype(np.float32))
    hierarchy = built(same, rt, replace(SMALL, min_clusters=2))
    check(hierarchy, [e.id for e in made.graph.entities])
    assert max(len(c.members) for c in at_level(hierarchy, 0)) <= 8


def test_the_same_seed_gives_the_same_hierarchy(rt: Runtime, tmp_path: Path) -> None:
    made = planted(9, 5, 20)
    other = replace(rt, store=SqliteStore(tmp_path / "other"))
    again, first = built(made, other), built(made, rt)
    assert list(again.clusters) == list(first.clusters)
    assert list(again.relations) == list(first.relations)
    store = other.store
    assert isinstance(store, SqliteStore)
    store.close()


def test_every_chain_climbs_one_level_at_a_time_to_the_root(rt: Runtime) -> None:
    """Defects 1 and 2: the length of every chain is the level of the root and one."""
    made = planted(12, 4)
    hierarchy = built(made, rt)
    ids = [e.id for e in made.graph.entities]
    above = make_ancestry.fn([(ids, hierarchy)])[0]
    assert list_ancestor_chains(above.parent, above.home).shape == (len(ids), levels(hierarchy))


def test_who_is_above_whom_is_known_by_position_and_nobody_is_above_the_top() -> None:
    leaf, other, top = (
        Cluster("a", 0, 1, "t", ("e1", "e0"), ("e0", "e1")),
        Cluster("b", 0, 1, "t", ("e3",), ("e3",)),
        Cluster("t", 1, 0, "", ("a", "b"), ("e0", "e1", "e3")),
    )
    ends = (("b", "t"), ("a", "t"), ("a", "b"))
    relations = tuple(ClusterRelation(f"r{i}", one, end, 0, (), 1) for i, (one, end) in enumerate(ends))
    hierarchy = Hierarchy((leaf, other, top), relations=relations)
    found = make_ancestry.fn([(["e0", "e1", "e2", "e3"], hierarchy)])[0]
    assert found.home.tolist() == [0, 0, -1, 1]
    assert found.parent.tolist() == [2, 2, -1]
    assert found.start.tolist() == [0, 2, 3, 3]
    assert (found.other.tolist(), found.links.tolist()) == ([1, 2, 2], [2, 1, 0])
    assert found.among([0, 2]) == [(1, 0, 2)]


# ── aggregates: §3.1 ──


def lone() -> Planted:
    """Groups of five, and one entity that is like no other."""
    made = planted(7, 5, noise=0.01)
    kept = [i for i, e in enumerate(made.graph.entities) if not e.id.startswith("g00") or e.id == "g00-e00"]
    entities = tuple(made.graph.entities[i] for i in kept)
    return replace(made, graph=Graph(entities), vectors=made.vectors[kept], group=tuple(made.group[i] for i in kept))


def test_defect_1_a_lone_member_is_passed_on_without_a_call_and_reaches_the_root(rt: Runtime) -> None:
    made = lone()
    hierarchy = built(made, rt)
    (alone,) = [c for c in at_level(hierarchy, 0) if c.members == ("g00-e00",)]
    entity = made.graph.entities[0]
    assert alone.promoted == entity.id
    assert alone.id != entity.id
    assert (alone.title, alone.text, alone.type) == (entity.name, entity.description, entity.type)
    assert alone.summary[0].sources == (entity.descriptions[0].source,)
    parents = {c.id: c for c in hierarchy.clusters}
    assert alone.parent != alone.id
    assert not parents[alone.parent].parent or parents[parents[alone.parent].parent]
    assert rt.computed["aggregates.aggregate"] == sum(not c.promoted for c in hierarchy.clusters)


def test_defect_6_an_aggregate_rests_on_all_chunks_of_its_members(rt: Runtime) -> None:
    made = planted(7, 6, noise=0.6)
    hierarchy = built(made, rt)
    behind = {e.id: set(e.chunks) for e in made.graph.entities}
    assert hierarchy.clusters
    for cluster in hierarchy.clusters:
        wanted = {chunk for m in cluster.members for chunk in behind[m]} if cluster.level == 0 else None
        assert wanted is None or set(cluster.chunks) == wanted
        assert set(cluster.chunks) == {chunk for e in cluster.entities for chunk in behind[e]}
        assert cluster.documents == len(cluster.chunks)


def test_the_type_of_an_aggregate_is_that_of_most_members(rt: Runtime) -> None:
    made = planted(8, 4, noise=0.01)
    types = {e.id: e.type for e in made.graph.entities}
    leaves = at_level(built(made, rt), 0)
    assert leaves
    for cluster in leaves:
        assert Counter(types[m] for m in cluster.members)[cluster.type] * 2 >= len(cluster.members)


def node(name: str, tokens: int, rank: int, kind: str = "thing") -> Node:
    row = Line(Passage("entity", name, "text", title=f"Name {name}"), tokens, (name,), rank)
    return Node(row, kind, (Statement("text", (name,)),), (name,), ("c00",))


def link(one: str, other: str, tokens: int, rank: int = 0) -> Link:
    name = f"{one}~{other}"
    row = Line(Passage("relation", name, f"from {one} to {other}", title=name), tokens, (one, other), rank)
    return Link(row, (Statement(f"from {one} to {other}", (name,)),))


@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=12),
    st.lists(st.integers(1, 60), max_size=12),
    st.integers(1, 300),
)
def test_no_brief_exceeds_its_budget_and_halves_pass_on_what_they_leave(
    members: list[int], inner: list[int], budget: int
) -> None:
    nodes = [node(f"n{i:02}", size, -i) for i, size in enumerate(members)]
    links = [link(f"n{i:02}", f"m{i:02}", size) for i, size in enumerate(inner)]
    brief = aggregate_brief(nodes, links, budget)
    size = {n.id: n.row.tokens for n in nodes} | {k.id: k.row.tokens for k in links}
    shown = [p.id for p in brief.context.passages]
    taken = sum(size[name] for name in shown)
    assert taken <= budget
    assert len(brief.types) == len(shown)
    assert brief.context.omitted == len(nodes) + len(links) - len(shown)
    kept, told = [s for s in shown if s in {n.id for n in nodes}], [s for s in shown if "~" in s]
    assert kept == [n.id for n in nodes][: len(kept)]
    assert told == [k.id for k in links][: len(told)]
    for rows, found in ((nodes, kept), (links, told)):
        if len(found) < len(rows):  # nothing more would fit
            assert taken + rows[len(found)].row.tokens > budget


def test_members_come_by_degree_and_relations_after_them() -> None:
    brief = aggregate_brief([node("a", 5, 1), node("b", 5, 3), node("c", 5, 2)], [link("a", "b", 5)], 100)
    assert [p.id for p in brief.context.passages] == ["b", "c", "a", "a~b"]
    assert brief.types == ("thing", "thing", "thing", "")
    assert brief.context.title == "Name b, Name c, Name a"


def test_an_aggregate_sees_the_relations_inside_its_cluster_and_no_others(store: SqliteStore) -> None:
    made = planted(6, 3, 30, noise=0.01)
    with ScriptedServer(Script(keep_bodies=True)) as server:
        built(made, runtime(store, server), AggregateSettings(cluster_size=3))
        asked = [b["messages"][-1]["content"] for b in (c.body for c in server.done("aggregate"))]
    inner = {r.id: r for r in made.graph.relations if r.source[:3] == r.target[:3]}
    first = [text for text in asked if "G00-E00" in text and "G01-E00" not in text]
    assert len(first) == 1
    for r in made.graph.relations:
        assert (r.description in first[0]) == (r.id in inner and r.source.startswith("g00"))


# ── names ──


def replying(**texts: str) -> Script:
    """A script whose replies to some tasks are fixed."""
    return Script(reply=lambda body: texts.get(task_of(body)))


NAMED = '{"entity_name": "%s", "entity_description": "They are lamps [1].", "findings": []}'


def test_defect_3_two_aggregates_with_one_name_stay_two_nodes(store: SqliteStore) -> None:
    made = planted(8, 4, 20)
    with ScriptedServer(replying(aggregate=NAMED % "Lamps")) as server:
        hierarchy = built(made, runtime(store, server))
    leaves = at_level(hierarchy, 0)
    assert len(leaves) >= 5
    assert {c.title for c in leaves if not c.promoted} == {"Lamps"}
    assert len({c.id for c in leaves}) == len(leaves)
    check(hierarchy, [e.id for e in made.graph.entities])


def test_a_name_that_a_member_has_gets_the_type_of_most_members(store: SqliteStore) -> None:
    """Also where the member had no room in the brief, so that the engine could not know (L07)."""
    made = planted(1, 3)
    with ScriptedServer(replying(aggregate=NAMED % "g00-E02")) as server:
        (root,) = (hierarchy := built(made, runtime(store, server), AggregateSettings(input_tokens=60))).clusters
    assert root.title == "g00-E02 (person)"
    assert root.omitted == 1
    assert any("called like a member" in note for note in hierarchy.notes)
    assert any("1 rows had no room" in note for note in hierarchy.notes)


def test_references_to_what_was_not_shown_are_removed_and_counted(store: SqliteStore) -> None:
    made = planted(1, 3)
    said = '{"entity_name": "Lamps", "entity_description": "They shine [Data: Entities (1, 77)].", "findings": []}'
    with ScriptedServer(replying(aggregate=said)) as server:
        (root,) = (hierarchy := built(made, runtime(store, server))).clusters
    assert {name for s in root.summary for name in s.references} <= {e.id for e in made.graph.entities}
    assert any(re.match(r"\d+ references in aggregates named no record", note) for note in hierarchy.notes)


# ── relations between aggregates: §3.2 ──


def bridged(links: int, seed: int = 5) -> tuple[Planted, dict[tuple[int, int], int]]:
    """Groups with relations between them, and how many there are for each pair of groups."""
    made = planted(6, 4, links, seed, noise=0.01)
    ends = [(int(r.source[1:3]), int(r.target[1:3])) for r in made.graph.relations]
    return made, Counter((min(a, b), max(a, b)) for a, b in ends if a != b)


def test_two_clusters_are_linked_as_often_as_their_members(rt: Runtime) -> None:
    """λ is the size of the bucket, and there is one relation a pair (Eq. 5, defect 10)."""
    made, wanted = bridged(60)
    hierarchy = built(made, rt)
    group = {c.id: int(c.members[0][1:3]) for c in at_level(hierarchy, 0)}
    found = {tuple(sorted((group[r.source], group[r.target]))): r.count for r in hierarchy.relations if r.level == 0}
    assert found
    assert found == wanted
    assert len([r for r in hierarchy.relations if r.level == 0]) == len(wanted)


def test_few_relations_are_joined_by_line_ends_and_many_summed_up(store: SqliteStore) -> None:
    made, _ = bridged(40)
    texts = {r.id: r.description for r in made.graph.relations}
    with ScriptedServer(replying(link='{"link": "They light each other [3]."}')) as server:
        rt = runtime(store, server)
        hierarchy = built(made, rt)
    few = [r for r in hierarchy.relations if r.count <= 2]
    many = [r for r in hierarchy.relations if r.count > 2]
    assert few
    assert many
    for r in few:
        assert sorted(r.text.split("\n")) == sorted(texts[name] for name in r.relations)
        assert {s.references[0] for s in r.statements} == set(r.relations)
        assert all(s.sources for s in r.statements)
    assert {r.text for r in many} == {"They light each other."}
    assert rt.computed["aggregates.relate"] == len(many)
    assert all(s.sources for r in many for s in r.statements if s.references)


def test_the_threshold_may_differ_by_level(rt: Runtime) -> None:
    settings = AggregateSettings(threshold=(3, 9))
    assert [settings.above(level) for level in (1, 2, 3, 7)] == [3, 9, 9, 9]
    made, wanted = bridged(60)
    assert max(wanted.values()) > 2
    built(made, rt, replace(SMALL, threshold=(10**6, 0)))
    assert rt.computed["aggregates.relate"] == 0


def test_a_relation_is_asked_for_in_words_that_rise_with_its_level(store: SqliteStore) -> None:
    """(i + 1) · 40, counted from the entities."""
    made = planted(40, 3, 400, noise=0.2)
    with ScriptedServer(Script(keep_bodies=True)) as server:
        hierarchy = built(made, runtime(store, server), AggregateSettings(cluster_size=3, threshold=2, min_clusters=3))
        asked = [b["messages"][-1]["content"] for b in (c.body for c in server.done("link"))]
    assert levels(hierarchy) > 2
    limits = {int(m[1]) for text in asked if (m := re.search(r"at most (\d+) words", text))}
    assert limits == {40 * (r.level + 2) for r in hierarchy.relations if r.count > 2}
    assert {80, 120} <= limits


def test_the_two_descriptions_come_before_the_relations() -> None:
    one, other = node("one", 5, 1), node("other", 5, 1)
    brief = relation_brief(one, other, [link("a", "b", 5), link("c", "d", 5)], 80, 1000)
    assert [(p.kind, p.id) for p in brief.context.passages] == [
        ("report", "one"),
        ("report", "other"),
        ("relation", "a~b"),
        ("relation", "c~d"),
    ]
    assert (brief.words, brief.types, brief.context.omitted) == (80, ("thing", "thing", "", ""), 0)
    assert relation_brief(one, other, [link("a", "b", 5), link("c", "d", 500)], 80, 100).context.omitted == 1


class Counted(Sequence[Link]):
    """Links that count how often each was looked at."""

    def __init__(self, links: Sequence[Link]) -> None:
        self.links, self.passes = links, 0

    def __len__(self) -> int:
        return len(self.links)

    def __getitem__(self, index: Any) -> Any:
        return self.links[index]

    def __iter__(self) -> Iterator[Link]:
        self.passes += 1
        return iter(self.links)


def test_defect_4_relations_are_parted_in_one_pass() -> None:
    made = planted(20, 5, 200)
    level = ground_level(made.graph, list_elements(made.graph, {c.id: c.document for c in made.chunks}, quotes=False))
    counted = Counted(level.links)
    found = part_links(Level(level.nodes, counted), made.group, 20)
    assert counted.passes == 1
    assert sum(map(len, found.inner)) + sum(map(len, found.between.values())) == len(level.links)


@given(st.integers(0, 10**6))
@settings(max_examples=25)
def test_every_relation_is_inside_one_cluster_or_between_two(seed: int) -> None:
    made = planted(5, 4, 25, seed)
    random = Random(seed)
    home = [random.randrange(6) for _ in made.graph.entities]
    level = ground_level(made.graph, list_elements(made.graph, {c.id: c.document for c in made.chunks}, quotes=True))
    place = {e.id: home[i] for i, e in enumerate(made.graph.entities)}
    found = part_links(level, home, 6)
    told = [level.links[i].id for part in (*found.inner, *found.between.values()) for i in part]
    assert sorted(told) == sorted(r.id for r in made.graph.relations)
    for (a, b), part in found.between.items():
        assert a < b
        assert all({place[end] for end in level.links[i].row.ends} == {a, b} for i in part)


# ── failures ──


def test_defect_5_a_failed_aggregate_is_an_error_that_names_it_and_the_rest_is_stored(store: SqliteStore) -> None:
    made = planted(6, 4, noise=0.01)

    def broken(body: dict[str, Any]) -> str | None:
        return "no" if any("G03-E00" in m["content"] for m in body["messages"]) else None

    with ScriptedServer(Script(reply=broken)) as server:
        rt = runtime(store, server)
        with pytest.raises(StepFailed, match=r"aggregates.aggregate: 1 of 6 items failed.*G03-E0\d"):
            built(made, rt)
        assert rt.computed["aggregates.aggregate"] == 5
    with ScriptedServer() as server:
        rt = runtime(store, server)
        hierarchy = built(made, rt)
        assert rt.computed["aggregates.aggregate"] == 2  # what had failed, and the root
    assert all(c.text for c in hierarchy.clusters)


def test_an_engine_that_writes_no_aggregates_is_refused_before_any_work(rt: Runtime) -> None:
    made, dumb = planted(6, 4), replace(rt, engine=ClassicalEngine(tasks=frozenset({"extract", "relate"})))
    with pytest.raises(UnsupportedTask, match=r"aggregates of leanrag needs aggregate"):
        aggregate_all(made.named, made.embedded, lambda: made.chunks, dumb, SMALL, None)
    assert not dumb.computed


@pytest.mark.parametrize(
    ("bad", "named"),
    [
        ({"cluster_size": 1}, "cluster_size"),
        ({"threshold": -1}, "threshold"),
        ({"threshold": ()}, "threshold"),
        ({"threshold": (3, -1)}, "threshold"),
        ({"dims": 0}, "dims"),
        ({"input_tokens": 0}, "input_tokens"),
        ({"min_clusters": 0}, "min_clusters"),
        ({"seed": -1}, "seed"),
    ],
)
def test_settings_that_cannot_work_are_refused(bad: dict[str, Any], named: str) -> None:
    with pytest.raises(SettingsError, match=f"index.aggregates.{named}"):
        AggregateSettings(**bad)


def test_a_threshold_for_each_level_can_be_set_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "sensegraph.toml").write_text("[index.aggregates]\nthreshold = [3, 9]\n")
    assert load_settings(tmp_path).index.settings_of(AGGREGATES).thresholds == (3, 9)
    with pytest.raises(SettingsError, match="threshold"):
        load_settings(tmp_path, {"index": {"aggregates": {"threshold": "many"}}})


# ── updates ──


def test_building_again_computes_nothing(rt: Runtime) -> None:
    made = planted(9, 4, 20)
    first = before(made, rt)
    again = replace(rt, computed=Counter())
    assert find_aggregates(made.named, made.embedded, lambda: made.chunks, again, SMALL, first) is first.hierarchy
    assert not again.computed


def test_what_did_not_change_costs_nothing_again(rt: Runtime) -> None:
    """Same members, same id, same brief: no call (§7)."""
    first, more = planted(12, 4, 30, noise=0.01), planted(12, 4, 30, noise=0.01, extra=1)
    old = before(first, rt)
    again = replace(rt, computed=Counter())
    hierarchy = built(more, again, SMALL, old)
    check(hierarchy, [e.id for e in more.graph.entities])
    kept = {c.id for c in old.hierarchy.value.clusters} & {c.id for c in hierarchy.clusters}
    changed = levels(hierarchy)
    assert len(kept) == len(hierarchy.clusters) - changed
    assert again.computed["aggregates.aggregate"] == changed


@pytest.mark.parametrize("extra", [3, 9])
def test_an_update_leaves_most_aggregates_as_they_are(rt: Runtime, extra: int) -> None:
    first, more = planted(60, 4, 120, noise=0.3), planted(60, 4, 120, noise=0.3, extra=extra)
    old = before(first, rt)
    hierarchy = built(more, rt, SMALL, old)
    check(hierarchy, [e.id for e in more.graph.entities])
    ids = {c.id for c in old.hierarchy.value.clusters}
    leaves = at_level(hierarchy, 0)
    assert sum(c.id in ids for c in leaves) >= 0.8 * len(leaves)


def test_removing_leaves_a_whole_hierarchy_without_what_was_removed(rt: Runtime) -> None:
    more, less = planted(10, 4, 30, extra=7), planted(10, 4, 30)
    hierarchy = built(less, rt, SMALL, before(more, rt))
    check(hierarchy, [e.id for e in less.graph.entities])
    assert not any("-x" in e for c in hierarchy.clusters for e in c.entities)
    assert not any("-X" in c.title or "-X" in c.text for c in hierarchy.clusters)


def test_an_index_that_shrinks_to_a_few_entities_is_updated_too(rt: Runtime) -> None:
    old = before(planted(12, 4, 20), rt)
    for few in (planted(1, 1), planted(1, 2), planted(2, 2)):
        check(built(few, rt, SMALL, old), [e.id for e in few.graph.entities])


PARTS = {"parts": ["graph", "aggregates"], "chunk_tokens": 60, "chunk_overlap": 10, "aggregates": {"cluster_size": 4}}


def opened(folder: Path) -> Corpus:
    return Corpus.open(folder, settings={"engine": "offline", "index": PARTS})


def records(made: Corpus) -> list[bytes]:
    found = made.index().part(AGGREGATES).hierarchy
    return [msgspec.json.encode(r) for r in (*found.clusters, *found.relations)]


def test_any_order_of_documents_gives_the_same_hierarchy(tmp_path: Path) -> None:
    documents = [*papers(), *stories(2)]
    with opened(tmp_path / "one") as one, opened(tmp_path / "other") as other:
        one.add(documents)
        one.build()
        for document in reversed(documents):
            other.add(document)
        other.build()
        assert len(records(one)) > 6
        assert records(one) == records(other)


def test_a_fresh_build_is_that_of_a_new_index(tmp_path: Path) -> None:
    with opened(tmp_path / "one") as one, opened(tmp_path / "other") as other:
        one.add(papers())
        one.build()
        one.add(stories(2))
        one.build()
        one.build(fresh=True)
        other.add([*papers(), *stories(2)])
        other.build()
        assert records(one) == records(other)


def test_an_updated_index_holds_nothing_of_what_was_removed(tmp_path: Path) -> None:
    with opened(tmp_path) as made:
        made.add([*papers(), *stories(2)])
        made.build()
        assert any(b"Harrow" in r or b"Fenwick" in r for r in records(made))
        made.remove("story-00", "story-01")
        built = made.build()
        assert not any(b"Harrow" in r or b"Fenwick" in r for r in records(made))
        index = made.index()
        check(index.part(AGGREGATES).hierarchy, [e.id for e in index.graph.entities])
        assert built.counts["aggregates"] == len(index.part(AGGREGATES).hierarchy.clusters)


def test_the_papers_vectors_are_of_descriptions_alone(tmp_path: Path) -> None:
    """Eq. 3: `embed` = description gives the part vectors of its own."""
    index = {**PARTS, "aggregates": {"cluster_size": 4, "embed": "description"}}
    with Corpus.open(tmp_path, settings={"engine": "offline", "index": index}) as made:
        made.add(papers())
        made.build()
        found, embedder = made.index(), made.embedder
        wanted = embedder.embed([e.description for e in found.graph.entities], "document")
        assert np.allclose(found.vectors_of(embedder, "described")[:], wanted, atol=1e-4)
        assert not np.allclose(found.vectors_of(embedder, "entity")[:], wanted, atol=1e-2)


def test_what_is_made_anew_succeeds_the_aggregate_that_it_comes_from(rt: Runtime) -> None:
    first, more = planted(60, 4, 120, noise=0.3), planted(60, 4, 120, noise=0.3, extra=3)
    old = before(first, rt).hierarchy.value
    documents = {c.id: c.document for c in more.chunks}
    builder = Builder(rt, documents, SMALL, old)
    hierarchy = builder.build(ground_level(more.graph, elements_for(rt.engine, more.graph, documents)), more.embedded)
    succeeds = builder.followed.succeeds
    assert succeeds
    assert set(succeeds) <= {c.id for c in hierarchy.clusters} - {c.id for c in old.clusters}
    assert set(succeeds.values()) <= {c.id for c in old.clusters} - {c.id for c in hierarchy.clusters}
