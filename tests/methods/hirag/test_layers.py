"""The layers of HiRAG: clusters, summary entities, the larger graph, updates, filters (hirag §3, §6–§9)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from planted import Planted, planted

from harbour import TEXTS, papers
from scripted import Script, ScriptedServer
from scripted_replies import task_of
from scripted_tables import rows_of
from sensegraph.algorithms.graphs import smallest_members
from sensegraph.cli import show
from sensegraph.corpus.corpus import Corpus
from sensegraph.engines.offline.engine import ClassicalEngine
from sensegraph.errors import NotIndexed, SettingsError, StepFailed, UnsupportedTask
from sensegraph.index.hierarchy.communities import ClusterSettings
from sensegraph.index.hierarchy.reports import ReportSettings
from sensegraph.index.restricted.scope import restrict_to_scope
from sensegraph.methods.hirag.layered import LayerSettings, keep_layer_keys
from sensegraph.methods.hirag.layering import Layers, rows_of_clusters, stops_layers, summary_id
from sensegraph.methods.hirag.layers import (
    Before,
    earlier_layers,
    enlarge_graph,
    find_layers,
    keep_layers,
    layer_all,
    layers_made_of,
)
from sensegraph.methods.hirag.layers_part import LAYERS
from sensegraph.models.embedders import HashedTerms
from sensegraph.questions import Scope
from sensegraph.runtime.executors.processes import LocalExecutor
from sensegraph.runtime.results import recall_result
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Description, Graph
from wired import corpus, runtime, stories

SMALL = LayerSettings(cluster_size=4)
Body = dict[str, Any]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "store")
    yield opened
    opened.close()


@pytest.fixture
def rt(store: SqliteStore) -> Runtime:
    return Runtime(ClassicalEngine(), HashedTerms(), store, LocalExecutor(1, 1))


def built(made: Planted, rt: Runtime, settings: LayerSettings = SMALL, before: Before | None = None) -> Layers:
    return find_layers(made.named, made.embedded, lambda: made.chunks, rt, settings, before).value


def before(made: Planted, rt: Runtime, settings: LayerSettings = SMALL) -> Before:
    found = find_layers(made.named, made.embedded, lambda: made.chunks, rt, settings)
    return Before(found, layers_made_of(made.named.key, made.embedded.key, rt, settings))


def large(made: Planted, found: Layers) -> Graph:
    return enlarge_graph.fn([(made.graph, found)])[0]


def check(made: Planted, found: Layers) -> None:
    """What holds for all layers: every node below goes into a cluster, and every member of it to something above."""
    nodes = {e.id for e in made.graph.entities}
    known = nodes | {e.id for e in found.entities}
    links = {frozenset((r.source, r.target)) for r in found.relations}
    assert found.sizes[0] == len(nodes)
    for layer, size in enumerate(found.sizes[1:], 1):
        groups = [g for g in found.groups if g.layer == layer]
        assert {m for g in groups for m in g.members} == nodes
        for group in groups:
            assert group.made
            for member in group.members:
                assert member in group.made or any(frozenset((member, m)) in links for m in group.made)
        nodes = {m for g in groups for m in g.made}
        assert len(nodes) == size
        assert nodes <= known
    assert all(0 < e.level < len(found.sizes) for e in found.entities)
    assert all(r.source < r.target and {r.source, r.target} <= known for r in found.relations)
    assert len({r.id for r in found.relations}) == len(found.relations)


# ── layers: §3 step 4 ──


@pytest.mark.parametrize(("groups", "size"), [(1, 1), (1, 2), (1, 3), (2, 3), (6, 4), (12, 4), (30, 4), (7, 1)])
def test_every_entity_goes_up_or_belongs_to_what_is_above(groups: int, size: int, rt: Runtime) -> None:
    made = planted(groups, size, 3 * groups if groups * size > 1 else 0)
    check(made, built(made, rt))


def test_fewer_than_three_entities_have_no_layer(rt: Runtime) -> None:
    for few in (planted(0, 0), planted(1, 1), planted(1, 2)):
        found = built(few, rt)
        assert (list(found.groups), list(found.entities), found.sizes) == ([], [], (len(few.graph.entities),))
    assert not rt.computed["layering.abstract"]
    assert len(built(planted(1, 3), rt).sizes) == 2


def test_alike_entities_come_together(rt: Runtime) -> None:
    made = planted(8, 4, noise=0.01)
    group = dict(zip((e.id for e in made.graph.entities), made.group, strict=True))
    first = [g for g in built(made, rt).groups if g.layer == 1]
    assert len(first) == 8
    assert all(len({group[m] for m in g.members}) == 1 for g in first)


def test_clusters_are_disjoint_unless_soft_membership_is_asked_for() -> None:
    """Decision 1: what lies between two clusters is in both when membership is soft."""
    line = np.linspace(-2, 2, 21, dtype=np.float32)[:, None]
    labels = (line[:, 0] > 0).astype(np.int32)
    assert rows_of_clusters(line, labels, SMALL) == [list(range(11)), list(range(11, 21))]
    one, other = rows_of_clusters(line, labels, replace(SMALL, membership="soft"))
    assert {10} <= set(one) & set(other) < set(range(5, 16))
    assert set(one) | set(other) == set(range(21))
    assert rows_of_clusters(line, labels, replace(SMALL, membership="soft", threshold=0.9)) == rows_of_clusters(
        line, labels, SMALL
    )


def test_an_entity_of_several_clusters_belongs_to_what_stands_for_each(rt: Runtime) -> None:
    made = planted(6, 4, noise=2.5)
    soft = replace(SMALL, membership="soft", dims=2, threshold=0.02)
    found = built(made, rt, soft)
    check(made, found)
    held = Counter(m for g in found.groups if g.layer == 1 for m in g.members)
    assert max(held.values()) > 1
    assert all(sum(m in (r.source, r.target) for r in found.relations) >= held[m] - 1 for m in held)


def test_two_entities_with_identical_vectors_stay_two(rt: Runtime) -> None:
    made = planted(6, 5)
    same = replace(made, vectors=np.ones_like(made.vectors) / np.sqrt(24).astype(np.float32))
    found = built(same, rt)
    check(same, found)
    first = [m for g in found.groups if g.layer == 1 for m in g.members]
    assert sorted(first) == [e.id for e in made.graph.entities]


def hand_made(rt: Runtime, **settings: Any) -> Layers:
    """Three groups of three: sparsity 1 − 3 · 6 / 72 = 3/4, then of three summary entities in two clusters 2/3."""
    return built(planted(3, 3, noise=0.01), rt, LayerSettings(cluster_size=3, **settings))


def test_defect_8_the_sparsity_of_a_toy_clustering_is_that_computed_by_hand(rt: Runtime) -> None:
    found = hand_made(rt, stop="sparsity")
    assert found.sparsity == pytest.approx((3 / 4, 2 / 3))
    assert found.sizes == (9, 3, 2)  # 3/4 → 2/3 is a change of 11 %; then two entities remain


@pytest.mark.parametrize(
    ("settings", "sizes"),
    [
        ({}, (9, 3, 2)),
        ({"epsilon": 0.11}, (9, 3, 2)),  # |2/3 − 3/4| / (3/4) = 1/9 = 0.111…
        ({"epsilon": 0.12}, (9, 3)),
        ({"sparsity": 0.76}, (9, 3, 2)),
        ({"sparsity": 0.75}, (9,)),
        ({"layers": 1}, (9, 3)),
    ],
)
def test_defect_8_the_stop_rule_gives_the_layers_counted_by_hand(
    rt: Runtime, settings: dict[str, Any], sizes: tuple[int, ...]
) -> None:
    assert hand_made(rt, stop="sparsity", **settings).sizes == sizes


@pytest.mark.parametrize(
    ("found", "wanted"),
    [([0.5], False), ([0.98], True), ([0.5, 0.6], False), ([0.8, 0.84], True), ([0.8, 0.77], True), ([0.0, 0.0], True)],
)
def test_layers_end_where_sparsity_is_high_or_hardly_changes(found: list[float], wanted: bool) -> None:
    assert stops_layers(found, LayerSettings()) == wanted


@pytest.mark.slow
def test_the_papers_rule_would_leave_a_large_graph_without_any_layer(rt: Runtime) -> None:
    """Clusters of 4 among 240 entities have a sparsity above 0.98 before the first is summed up: hence `size`."""
    made = planted(60, 4, noise=0.01)
    assert built(made, rt, replace(SMALL, stop="sparsity")).sizes == (240,)
    assert len(built(made, rt).sizes) > 3


def each_its_own(body: Body) -> str | None:
    """As many summary entities as members."""
    if task_of(body) != "abstract":
        return None
    members = [cells for table, cells in rows_of(body["messages"][-1]["content"]) if table != "Relationships"]
    made = [
        {"name": f"Sort {c[1]}", "type": "sort", "description": f"It shines [{c[0]}].", "members": [{"id": int(c[0])}]}
        for c in members
    ]
    return msgspec.json.encode({"summary_entities": made}).decode()


def test_layers_end_where_one_is_hardly_smaller_than_that_below(store: SqliteStore) -> None:
    made = planted(6, 4, noise=0.01)
    with ScriptedServer(Script(reply=each_its_own)) as server:
        found = built(made, runtime(store, server))
    assert found.sizes == (24, 24)
    check(made, found)


def test_a_single_member_is_passed_on_without_a_call(rt: Runtime) -> None:
    """It is an entity of the next layer as it is: no other record stands for it."""
    made = planted(7, 5, noise=0.01)
    kept = [i for i, e in enumerate(made.graph.entities) if not e.id.startswith("g00") or e.id == "g00-e00"]
    entities = tuple(made.graph.entities[i] for i in kept)
    alone = replace(made, graph=Graph(entities), vectors=made.vectors[kept], group=tuple(made.group[i] for i in kept))
    found = built(alone, rt)
    (group,) = [g for g in found.groups if g.layer == 1 and g.members == ("g00-e00",)]
    assert group.made == ("g00-e00",)
    assert any("g00-e00" in g.members for g in found.groups if g.layer == 2)
    assert rt.computed["layering.abstract"] == sum(len(g.members) > 1 for g in found.groups)


# ── what is read of a cluster ──


def asked_of(server: ScriptedServer) -> list[list[str]]:
    """The names of the members that each call read, in order."""
    texts = [c.body["messages"][-1]["content"] for c in server.done("abstract")]
    return [[cells[1] for table, cells in rows_of(text) if table != "Relationships"] for text in texts]


def test_members_come_by_degree_and_relations_among_them_follow(store: SqliteStore) -> None:
    made = planted(2, 3, 9, noise=0.01)
    with ScriptedServer(Script(keep_bodies=True)) as server:
        built(made, runtime(store, server), LayerSettings(cluster_size=3, layers=1))
        asked = asked_of(server)
        texts = [c.body["messages"][-1]["content"] for c in server.done("abstract")]
    degree = {e.name: e.degree for e in made.graph.entities}
    assert len({degree[name] for name in degree}) > 1
    assert len(asked) == 2
    for names, text in zip(asked, texts, strict=True):
        assert names == sorted(names, key=lambda n: (-degree[n], n))
        for r in made.graph.relations:
            assert (r.description in text) == ({r.source.title(), r.target.title()} <= set(names))


def test_what_does_not_fit_into_one_call_forms_another(store: SqliteStore) -> None:
    """The authors' code drops members at random until the rest fits."""
    made = planted(2, 6, noise=0.01)
    with ScriptedServer(Script(keep_bodies=True)) as server:
        found = built(made, runtime(store, server), LayerSettings(cluster_size=6, input_tokens=100, layers=1))
        asked = asked_of(server)
    assert len(found.groups) == 2
    assert len(asked) == 4
    assert sorted(n for names in asked for n in names) == [e.name for e in made.graph.entities]
    assert [len(g.made) for g in found.groups] == [2, 2]
    check(made, found)


# ── summary entities ──


def replying(reply: str) -> Script:
    return Script(reply=lambda body: reply if task_of(body) == "abstract" else None)


ONE = '{"summary_entities": [{"name": "%s", "type": "%s", "description": "They shine [1].", "members": [%s]}]}'


def test_defect_3_summary_entities_have_the_chunks_and_sources_of_their_members(rt: Runtime) -> None:
    made = planted(10, 4, 20, noise=0.5)
    found = built(made, rt)
    known = {e.id: e for e in (*made.graph.entities, *found.entities)}
    length = {c.id: len(c.text) for c in made.chunks}
    assert found.entities
    for e in found.entities:
        ends = [r.source if r.target == e.id else r.target for r in found.relations if e.id in (r.source, r.target)]
        members = [known[m] for m in ends if known[m].level < e.level]
        assert {c for m in members for c in m.chunks} <= set(e.chunks)
        assert e.frequency == sum(m.frequency for m in members)
        assert e.descriptions
        assert all(0 <= d.source.start < d.source.end <= length[d.source.chunk] for d in e.descriptions)
        assert {d.source.chunk for d in e.descriptions} <= set(e.chunks)


def test_a_model_s_summary_entity_rests_on_the_records_it_cites(store: SqliteStore) -> None:
    made = planted(1, 3)
    with ScriptedServer(replying(ONE % ("Lamps", "Thing", "1, 2, 3"))) as server:
        found = built(made, runtime(store, server), replace(SMALL, cluster_size=3))
    (lamps,) = found.entities
    first = made.graph.entities[0].descriptions[0].source
    assert (lamps.name, lamps.type, lamps.level, lamps.description) == ("Lamps", "thing", 1, "They shine.")
    assert lamps.descriptions == (Description("They shine.", first),)


def test_summary_entities_of_one_name_and_type_are_one_on_a_layer(store: SqliteStore) -> None:
    """Step 4e: also from several clusters; what is said of them comes together."""
    made = planted(6, 4, noise=0.01)
    with ScriptedServer(replying(ONE % ("Lamps", "thing", "1, 2, 3, 4"))) as server:
        found = built(made, runtime(store, server), SMALL)
    (lamps,) = found.entities
    assert found.sizes == (24, 1)
    assert len(found.relations) == 24
    assert lamps.degree == 24
    assert set(lamps.chunks) == {f"c{g:02}" for g in range(6)}


def test_summary_entities_of_one_name_on_two_layers_are_two(store: SqliteStore) -> None:
    """§7: and none of them is an entity of that name that the texts speak of."""
    made = planted(4, 4, noise=0.01)
    kinds = count()

    def reply(body: Body) -> str | None:
        return ONE % ("G00-E00", f"kind {next(kinds)}", "1, 2, 3, 4, 5") if task_of(body) == "abstract" else None

    with ScriptedServer(Script(reply=reply)) as server:
        found = built(made, runtime(store, server), replace(SMALL, layers=2))
    named = [e for e in (*made.graph.entities, *found.entities) if e.name.casefold() == "g00-e00"]
    assert {e.level for e in named} == {0, 1, 2}
    assert len({e.id for e in named}) == len(named)
    assert summary_id(1, "Lamps", "Thing") == summary_id(1, "lamps", "thing") != summary_id(2, "Lamps", "Thing")


@pytest.mark.parametrize("rule", ["left out", "dangling"])
def test_whatever_a_model_breaks_every_member_belongs_and_nothing_dangles(store: SqliteStore, rule: str) -> None:
    made = planted(6, 4, 12, noise=0.01)
    with ScriptedServer(Script(against=(rule,), stubborn=True)) as server:
        found = built(made, runtime(store, server))
    check(made, found)


class Careless(ClassicalEngine):
    """An engine that breaks the contract: strangers among the members, a member left out, nothing of some groups."""

    def abstract(self, briefs: Any) -> Any:
        made = super().abstract(briefs)
        strangers = [
            tuple(replace(s, members=(*s.members[1:], replace(s.members[0], id="stranger"))) for s in found)
            for found in made
        ]
        return [() if "G01" in brief.context.title else s for brief, s in zip(briefs, strangers, strict=True)]


def test_what_an_engine_should_not_have_said_is_put_right_and_counted(rt: Runtime) -> None:
    made = planted(6, 4, noise=0.01)
    found = built(made, replace(rt, engine=Careless()), replace(SMALL, layers=1))
    check(made, found)
    assert any(re.match(r"5 references or members .* were removed", note) for note in found.notes)
    assert any(note.startswith("1 groups of entities got no summary entity") for note in found.notes)


def test_a_description_that_many_clusters_give_together_is_summed_up(store: SqliteStore) -> None:
    made = planted(6, 4, noise=0.01)

    def reply(body: Body) -> str | None:
        if task_of(body) != "abstract":
            return "Many lamps." if task_of(body) == "summary" else None
        long = " ".join(f"{c[1]} shines over the harbour." for _, c in rows_of(body["messages"][-1]["content"]))
        return ONE.replace("They shine [1].", long) % ("Lamps", "thing", "1, 2, 3, 4")

    with ScriptedServer(Script(reply=reply)) as server:
        rt = runtime(store, server)
        (lamps,) = built(made, rt, replace(SMALL, describe_above=50)).entities
    assert rt.computed["graph.summarise"] == 1
    assert lamps.description != ""
    assert "shines" not in lamps.description
    assert len({d.text for d in lamps.descriptions}) == 6


# ── one graph: §3 step 5 ──


def test_the_larger_graph_holds_everything_in_order_and_counts_links(rt: Runtime) -> None:
    made = planted(8, 4, 20)
    found = built(made, rt)
    graph = large(made, found)
    assert len(graph.entities) > len(made.graph.entities) > 0
    assert [e.id for e in graph.entities] == sorted({e.id for e in (*made.graph.entities, *found.entities)})
    assert [r.id for r in graph.relations] == sorted({r.id for r in (*made.graph.relations, *found.relations)})
    ends = Counter(end for r in graph.relations for end in (r.source, r.target))
    assert all(e.degree == ends[e.id] for e in graph.entities)
    own = {e.id: e for e in made.graph.entities}
    assert all(replace(e, degree=own[e.id].degree) == own[e.id] for e in graph.entities if e.id in own)


def test_summary_entities_of_one_layer_are_not_linked(rt: Runtime) -> None:
    made = planted(12, 4, 20)
    graph = large(made, built(made, rt))
    level = {e.id: e.level for e in graph.entities}
    linked = [(level[r.source], level[r.target]) for r in graph.relations]
    assert any(a != b for a, b in linked)
    assert all(a != b for a, b in linked if a and b)


def test_a_link_to_a_member_weighs_as_much_as_a_relation_on_average(rt: Runtime) -> None:
    made = planted(8, 4, 20)
    found = built(made, rt)
    given = {r.id: r.weight for r in made.graph.relations}
    heavy = replace(
        made, graph=replace(made.graph, relations=tuple(replace(r, weight=7.0) for r in made.graph.relations))
    )
    links = [r.weight for r in large(heavy, found).relations if r.id not in given]
    assert np.mean(links) == pytest.approx(7.0)
    assert len(set(links)) > 1
    none = replace(made, graph=Graph(made.graph.entities))
    assert np.mean([r.weight for r in large(none, found).relations]) == pytest.approx(1.0)


# ── failures ──


def test_a_failed_cluster_is_an_error_that_names_it_and_the_rest_is_stored(store: SqliteStore) -> None:
    made = planted(6, 4, noise=0.01)

    def broken(body: Body) -> str | None:
        return "no" if any("G03-E00" in m["content"] for m in body["messages"]) else None

    with ScriptedServer(Script(reply=broken)) as server:
        rt = runtime(store, server)
        with pytest.raises(StepFailed, match=r"layering.abstract: 1 of 6 items failed.*G03-E0\d"):
            built(made, rt)
        assert rt.computed["layering.abstract"] == 5
    with ScriptedServer() as server:
        rt = runtime(store, server)
        found = built(made, rt)
    assert rt.computed["layering.abstract"] == 1 + sum(len(g.members) > 1 for g in found.groups if g.layer > 1)


def test_an_engine_that_writes_no_summary_entities_is_refused_before_any_work(rt: Runtime) -> None:
    made, dumb = planted(6, 4), replace(rt, engine=ClassicalEngine(tasks=frozenset({"extract", "report"})))
    with pytest.raises(UnsupportedTask, match=r"layers of hirag needs abstract"):
        layer_all(
            made.named, made.embedded, lambda: made.chunks, dumb, SMALL, ClusterSettings(), ReportSettings(), None
        )
    assert not dumb.computed


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cluster_size", 1), ("dims", 0), ("layers", 0), ("input_tokens", 0), ("describe_above", -1), ("seed", -1),
        ("threshold", 1.5), ("epsilon", -0.1), ("sparsity", 2.0),
    ],
)  # fmt: skip
def test_settings_that_cannot_work_are_refused(name: str, value: Any) -> None:
    with pytest.raises(SettingsError, match=f"index.layers.{name}"):
        LayerSettings(**{name: value})


# ── updates ──


def test_building_again_computes_nothing(rt: Runtime) -> None:
    made = planted(9, 4, 20)
    first = before(made, rt)
    again = replace(rt, computed=Counter())
    assert find_layers(made.named, made.embedded, lambda: made.chunks, again, SMALL, first) is first.layers
    assert not again.computed


def test_what_did_not_change_costs_nothing_again(rt: Runtime) -> None:
    """§6: clusters whose members did not change keep their summary entities."""
    first, more = planted(12, 4, 30, noise=0.01), planted(12, 4, 30, noise=0.01, extra=1)
    old = before(first, rt)
    again = replace(rt, computed=Counter())
    found = built(more, again, SMALL, old)
    check(more, found)
    assert old.layers
    kept = {g.id for g in old.layers.value.groups} & {g.id for g in found.groups}
    assert len([g for g in found.groups if g.id not in kept and g.layer == 1]) == 1
    assert 0 < again.computed["layering.abstract"] < len(found.sizes)  # one on each layer: what is above is told anew


@pytest.mark.slow
@pytest.mark.parametrize("extra", [3, 9])
def test_an_update_leaves_most_clusters_as_they_are(rt: Runtime, extra: int) -> None:
    first, more = planted(60, 4, 120, noise=0.3), planted(60, 4, 120, noise=0.3, extra=extra)
    old = before(first, rt)
    found = built(more, rt, SMALL, old)
    check(more, found)
    assert old.layers
    ids = {g.id for g in old.layers.value.groups}
    leaves = [g for g in found.groups if g.layer == 1]
    assert sum(g.id in ids for g in leaves) >= 0.8 * len(leaves)


def test_removing_leaves_layers_without_what_was_removed(rt: Runtime) -> None:
    more, less = planted(10, 4, 30, extra=7), planted(10, 4, 30)
    found = built(less, rt, SMALL, before(more, rt))
    check(less, found)
    assert not any("-X" in e.name or "-X" in e.description for e in found.entities)


def test_an_index_that_shrinks_to_a_few_entities_is_updated_too(rt: Runtime) -> None:
    old = before(planted(12, 4, 20), rt)
    for few in (planted(1, 1), planted(1, 2), planted(2, 2)):
        check(few, built(few, rt, SMALL, old))


# ── the part of an index ──


PARTS = {"parts": ["graph", "layers"], "chunk_tokens": 60, "chunk_overlap": 10, "layers": {"cluster_size": 4}}


def opened(folder: Path) -> Corpus:
    return Corpus.open(folder, settings={"engine": "offline", "index": PARTS})


def records(made: Corpus) -> list[bytes]:
    """All that the part holds."""
    index, embedder = made.index().part(LAYERS), made.embedder
    found = (*index.graph.entities, *index.graph.relations, *index.communities.groups, *index.hierarchy.clusters)
    vectors = [np.asarray(index.vectors_of(embedder, kind)).tobytes() for kind in ("entity", "report")]
    return [*(msgspec.json.encode(r) for r in found), *vectors]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    with opened(tmp_path_factory.mktemp("both")) as made:
        made.add([*papers(), *stories(3)])
        made.build()
        yield made


def test_the_index_is_seen_with_the_larger_graph_in_the_place_of_its_own(both: Corpus) -> None:
    index, embedder = both.index(), both.embedder
    seen = index.part(LAYERS)
    assert {e.id for e in index.graph.entities} < {e.id for e in seen.graph.entities}
    assert not any(e.level for e in index.graph.entities)
    assert len(seen.vectors_of(embedder, "entity")) == len(seen.graph.entities) == len(seen.lookups.start) - 1
    assert len(seen.vectors_of(embedder, "report")) == len(seen.hierarchy.clusters) == sum(seen.manifest.clusters)
    assert list(seen.catalogue.chunks) == list(index.catalogue.chunks)
    summary = next(e for e in seen.graph.entities if e.level)
    assert seen.entities([summary.id]) == {summary.id: summary}
    assert [seen.graph.entities[i].name for i in seen.lookups.called(summary.name)] == [summary.name]


def test_communities_are_of_both_and_each_has_a_report(both: Corpus) -> None:
    """Step 6; §7: a community without a report cannot occur."""
    seen = both.index().part(LAYERS)
    ids = sorted(e.id for e in seen.graph.entities)
    for depth in range(seen.depth):
        assert sorted(e for c in seen.clusters_at(depth) for e in c.entities) == ids
    assert all(c.title and c.text for c in seen.hierarchy.clusters)
    level = {e.id: e.level for e in seen.graph.entities}
    assert any(len({level[e] for e in c.entities}) > 1 for c in seen.hierarchy.clusters)
    assert all(len(c.entities) <= 10 for c in seen.hierarchy.clusters if c.level == 0)


def components(graph: Graph) -> int:
    place = {e.id: i for i, e in enumerate(graph.entities)}
    ends = np.array([(place[r.source], place[r.target]) for r in graph.relations], np.int32).reshape(-1, 2)
    return len(set(smallest_members(ends[:, 0], ends[:, 1], len(place)).tolist()))


def test_defect_4_no_component_is_left_out_and_layers_join_them(both: Corpus) -> None:
    """Every entity is below one of the last layer, so that there are no more components than that has entities."""
    index = both.index()
    made = recall_result(both.store, keep_layer_keys, index.manifest.parts["layers"].key)
    assert components(index.part(LAYERS).graph) <= recall_result(both.store, keep_layers, made.layers).sizes[-1]
    assert components(index.part(LAYERS).graph) < components(index.graph)
    homes = index.part(LAYERS).lookups.homes
    assert homes.size
    assert (homes >= 0).all()


def test_a_build_tells_what_it_made(tmp_path: Path) -> None:
    with opened(tmp_path) as made:
        made.add(papers())
        said = show.format_build(made.build())
    assert re.search(r", \d+ summary entities\b", said)
    assert re.search(r"summed up \d+ groups", said)


def test_a_part_that_was_not_built_is_named(tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings={"engine": "offline", "index": {"parts": ["graph"]}}) as made:
        made.add(papers())
        made.build()
        with pytest.raises(NotIndexed, match="'layers'"):
            _ = made.index().part(LAYERS)


def test_layers_need_the_graph(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="layers without graph"):
        Corpus.open(tmp_path, settings={"engine": "offline", "index": {"parts": ["layers"]}})


@pytest.mark.slow
def test_any_order_of_documents_gives_the_same_layers(tmp_path: Path, both: Corpus) -> None:
    with opened(tmp_path) as other:
        for document in reversed([*papers(), *stories(3)]):
            other.add(document)
        other.build()
        assert records(other) == records(both)


@pytest.mark.slow
def test_a_fresh_build_is_that_of_a_new_index(tmp_path: Path, both: Corpus) -> None:
    with opened(tmp_path) as one:
        one.add(papers())
        one.build()
        one.add(stories(3))
        one.build()
        one.build(fresh=True)
        assert records(one) == records(both)


@pytest.mark.slow
def test_an_updated_index_holds_nothing_of_what_was_removed(tmp_path: Path) -> None:
    with opened(tmp_path) as made:
        made.add([*papers(), *stories(2)])
        made.build()
        assert any(b"Harrow" in r or b"Fenwick" in r for r in records(made))
        made.remove("story-00", "story-01")
        counts = made.build().counts
        assert not any(b"Harrow" in r or b"Fenwick" in r for r in records(made))
        assert counts["summary_entities"] == sum(e.level > 0 for e in made.index().part(LAYERS).graph.entities)


@pytest.mark.slow
def test_defect_5_a_new_document_keeps_the_reports_and_summaries_that_it_does_not_touch(tmp_path: Path) -> None:
    index = {"parts": ["graph", "layers"]}
    with ScriptedServer() as server, corpus(tmp_path, server, index=index) as made:
        made.add(stories(30))
        made.build()
        first = Counter(c.task for c in server.done())
        kept = {c.id for c in made.index().part(LAYERS).hierarchy.clusters}
        server.reset()
        made.add(papers()[:1])
        made.build()
        then = Counter(c.task for c in server.done())
        clusters = list(made.index().part(LAYERS).hierarchy.clusters)
    for task in ("report", "abstract"):
        assert 0 < then[task] < first[task] / 2, task
    assert sum(c.id in kept for c in clusters) >= 0.8 * len(clusters)


@pytest.mark.slow
@pytest.mark.parametrize("changed", [{"layers": {"cluster_size": 6}}, {"clusters": {"max_cluster_size": 5}}])
def test_what_others_made_by_other_settings_is_not_started_from(tmp_path: Path, changed: dict[str, Any]) -> None:
    with opened(tmp_path / "one") as one:
        one.add([*papers(), *stories(2)])
        one.build()
        before = records(one)
    settings = {"engine": "offline", "index": {**PARTS, **changed}}
    with (
        Corpus.open(tmp_path / "one", settings=settings) as one,
        Corpus.open(tmp_path / "two", settings=settings) as two,
    ):
        two.add([*papers(), *stories(2)])
        one.build()
        two.build()
        assert records(one) == records(two) != before


def test_layers_that_are_gone_from_the_store_are_made_anew(store: SqliteStore) -> None:
    assert earlier_layers(store, "gone", SMALL, ClusterSettings()) is None
    assert earlier_layers(store, "", SMALL, ClusterSettings()) is None


@pytest.mark.parametrize("style", ["tuple", "json"])
def test_defect_9_the_index_is_built_whatever_the_form_of_records(tmp_path: Path, style: str) -> None:
    with ScriptedServer(Script(style=style)) as server, corpus(tmp_path, server, index=PARTS) as made:
        made.add(stories(3))
        assert made.build().counts["summary_entities"]


# ── filters ──


def test_a_summary_entity_is_seen_where_all_its_chunks_are_inside(both: Corpus) -> None:
    index = both.index()
    left = restrict_to_scope(index, Scope(documents=("story-*",))).part(LAYERS)
    inside = {c.id for c in left.catalogue.chunks}
    whole = {e.id: e for e in index.part(LAYERS).graph.entities if e.level}
    shown = {e.id for e in left.graph.entities if e.level}
    assert shown
    assert shown == {e.id for e in whole.values() if inside.issuperset(e.chunks)}
    assert shown < whole.keys()
    ends = {end for r in left.graph.relations for end in (r.source, r.target)}
    assert ends <= {e.id for e in left.graph.entities}
    assert len(left.vectors_of(both.embedder, "entity")) == len(left.graph.entities)


def test_what_is_left_out_is_counted_in_the_notes(both: Corpus) -> None:
    answer = both.query("Who keeps the lighthouse?", method="hirag", scope=Scope(documents=("minutes-*",)))
    left = [n for n in answer.notes if re.match(r"(\d+) of \1 summary entities rest on documents outside", n)]
    assert len(left) == 1
    assert any(re.match(r"\d+ of \d+ reports drew on documents outside", n) for n in answer.notes)


def test_a_filter_that_leaves_everything_leaves_every_layer(both: Corpus) -> None:
    index = both.index()
    everything = restrict_to_scope(index, Scope(documents=("*",))).part(LAYERS)
    assert everything.graph.entities
    assert everything.hierarchy.clusters
    assert list(everything.graph.entities) == list(index.part(LAYERS).graph.entities)
    assert list(everything.graph.relations) == list(index.part(LAYERS).graph.relations)
    assert list(everything.hierarchy.clusters) == list(index.part(LAYERS).hierarchy.clusters)


def test_no_word_of_an_outside_document_is_in_a_filtered_layer(both: Corpus) -> None:
    left = restrict_to_scope(both.index(), Scope(documents=("letter-*",))).part(LAYERS)
    assert left.graph.entities
    shown = "\n".join(f"{e.name} {e.description} {[d.text for d in e.descriptions]}" for e in left.graph.entities)
    shown += "\n".join(f"{c.title} {c.text}" for c in left.hierarchy.clusters)
    outside = [n for n in TEXTS if not n.startswith("letter-")]
    assert [n for n in outside if TEXTS[n].rsplit(" ", 1)[1].rstrip(".") in shown] == []
