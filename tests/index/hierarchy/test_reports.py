from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from small import small

from scripted import Script, ScriptedServer
from scripted_replies import asked_in
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import SettingsError, StepFailed
from sensegraph.index.hierarchy.communities import ClusterSettings, Communities, group_entities
from sensegraph.index.hierarchy.packing import report_statements
from sensegraph.index.hierarchy.reports import ReportSettings, Writer, report_all
from sensegraph.runtime.results import Result
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Chunk, Cluster, Context, Document, Finding, Graph, Report, Source, Statement
from wired import runtime

BIG = small(3, nodes=60, links=200)
FOUND = group_entities(BIG.graph, None, ClusterSettings(max_cluster_size=6))
CHUNKS = [Chunk(name, document, 0, 9, 2, "some text") for name, document in BIG.documents.items()]


def written(rt: Runtime, budget: int, reply: Report | None = None) -> tuple[dict[str, Context], dict[str, Cluster]]:
    """What each report is written from, and the clusters; the reports are all alike."""
    asked: list[Context] = []

    def write(contexts: Sequence[Context]) -> list[Report]:
        asked.extend(contexts)
        return [reply or Report("Title", (Statement("It is so.", (c.passages[0].id,)),)) for c in contexts]

    clusters = Writer(rt, BIG.graph, BIG.documents, ReportSettings(budget), write).write(list(FOUND.groups))
    by_members = {_members(c): c for c in asked}
    return {c.id: by_members[c.id] for c in clusters if c.id in by_members}, {c.id: c for c in clusters}


def _members(context: Context) -> str:
    """The community that a context is about: the smallest that holds all its records."""
    ends = {r.id: {r.source, r.target} for r in BIG.graph.relations}
    inside = {g.id: set(g.entities) for g in FOUND.groups}
    held: set[str] = set()
    for p in context.passages:
        held |= ends.get(p.id) or inside.get(p.id) or {p.id}
    claims = {c.id for c in BIG.graph.claims}
    return min((g for g in inside if held - claims <= inside[g]), key=lambda g: (len(inside[g]), g))


def report_(rt: Runtime, budget: int = 8000) -> Result[object]:
    return report_all(Result("c", FOUND), Result("g", BIG.graph), lambda: CHUNKS, rt, ReportSettings(budget))  # type: ignore[return-value]


def test_every_community_has_one_report(store: SqliteStore) -> None:
    _, clusters = written(runtime(store), 8000)
    assert clusters.keys() == {g.id for g in FOUND.groups}
    assert all(c.title and c.summary for c in clusters.values())


def test_clusters_come_by_depth_and_id_and_levels_count_from_the_leaves(store: SqliteStore) -> None:
    _, clusters = written(runtime(store), 8000)
    assert len(clusters) > 3
    order = [(c.depth, c.id) for c in clusters.values()]
    assert order == sorted(order)
    for c in clusters.values():
        below = [clusters[m].level for m in c.members if m in clusters]
        assert c.level == (1 + max(below) if below else 0)
        assert c.members == c.entities or {e for m in c.members for e in clusters[m].entities} == set(c.entities)


def test_d1_every_inner_relation_is_offered_to_its_report_and_no_foreign_one(store: SqliteStore) -> None:
    contexts, clusters = written(runtime(store), 10**6)
    assert len(contexts) > 3
    for name, context in contexts.items():
        members = set(clusters[name].entities)
        inner = {r.id for r in BIG.graph.relations if {r.source, r.target} <= members}
        assert {p.id for p in context.passages if p.kind == "relation"} == inner


def test_d2_an_overflowing_parent_is_written_from_its_childrens_reports(store: SqliteStore) -> None:
    contexts, clusters = written(runtime(store), 300)
    with_reports = {n: [p.id for p in c.passages if p.kind == "report"] for n, c in contexts.items()}
    parents = {n: ids for n, ids in with_reports.items() if ids}
    assert parents
    assert all(set(ids) <= set(clusters[n].members) for n, ids in parents.items())


def test_a_community_of_one_entity_needs_no_engine(store: SqliteStore) -> None:
    sparse = small(3, nodes=40, links=12)
    groups = group_entities(sparse.graph, None, ClusterSettings(max_cluster_size=6)).groups
    asked: list[Context] = []

    def write(contexts: Sequence[Context]) -> list[Report]:
        asked.extend(contexts)
        return [Report("Title", (Statement("It is so.", (c.passages[0].id,)),)) for c in contexts]

    clusters = Writer(runtime(store), sparse.graph, sparse.documents, ReportSettings(8000), write).write(list(groups))
    told = {c.subject for c in sparse.graph.claims}
    entities = {e.id: e for e in sparse.graph.entities}
    alone = [c for c in clusters if len(c.entities) == 1]
    silent = [c for c in alone if c.entities[0] not in told]
    assert len(alone) > len(silent) > 5
    assert len(asked) == len(clusters) - len(silent)
    for made in silent:
        entity = entities[made.entities[0]]
        assert (made.title, made.text, made.rating) == (entity.name, entity.description, 0.0)
        assert made.summary[0].sources == (entity.descriptions[0].source,)


def test_statements_lead_to_the_sources_of_what_they_refer_to(store: SqliteStore) -> None:
    contexts, clusters = written(runtime(store), 8000)
    entities = {e.id: e for e in BIG.graph.entities}
    name, context = next((n, c) for n, c in contexts.items() if c.passages[0].kind == "entity")
    (statement,) = clusters[name].summary
    assert statement.sources == tuple(d.source for d in entities[context.passages[0].id].descriptions)


def test_references_to_what_a_report_was_not_written_from_are_removed_and_counted(store: SqliteStore) -> None:
    foreign = Report(
        "T", (Statement("a", ("nowhere",)),), (Finding("f", (Statement("b", ("elsewhere",)),)),), dangling=1
    )
    made = Writer(runtime(store), BIG.graph, BIG.documents, ReportSettings(), lambda cs: [foreign for _ in cs])
    clusters = made.write(list(FOUND.groups))
    calls = sum(c.title == "T" for c in clusters)
    assert not any(s.references for c in clusters if c.title == "T" for s in report_statements(c))
    assert calls > 3
    assert made.lost.total() == 3 * calls


@pytest.mark.parametrize(("given", "kept"), [(-3.0, 0.0), (4.5, 4.5), (99.0, 10.0), (float("nan"), 0.0)])
def test_a_rating_stays_between_0_and_10(store: SqliteStore, given: float, kept: float) -> None:
    _, clusters = written(runtime(store), 8000, Report("T", (Statement("a"),), rating=given))
    assert {c.rating for c in clusters.values() if c.title == "T"} == {kept}


def test_a_failed_report_does_not_sink_the_others(store: SqliteStore, server: ScriptedServer) -> None:
    bad = next(e.name for e in BIG.graph.entities if e.degree > 5)

    def reply(body: dict[str, list[dict[str, str]]]) -> str | None:
        return "I would rather not." if bad in asked_in(body) else None

    server.script = Script(reply=reply)  # type: ignore[arg-type]
    rt = runtime(store, server)
    with pytest.raises(StepFailed, match=r"reports\.report: .* items failed .*the community") as caught:
        report_(rt)
    assert rt.computed["reports.report"] > 3
    server.script = Script()
    server.reset()
    again = runtime(store, server)
    report_(again)
    assert caught.value.failed == again.computed["reports.report"] == len(server.done("report"))


def test_a_second_run_writes_no_report(store: SqliteStore, server: ScriptedServer) -> None:
    report_(runtime(store, server))
    again = runtime(store, server)
    report_(again)
    assert again.computed == {}


def test_another_budget_asks_only_where_the_context_is_another(store: SqliteStore, server: ScriptedServer) -> None:
    rt = runtime(store, server)
    report_(rt, 8000)
    first = rt.computed["reports.report"]
    report_(rt, 300)
    assert 0 < rt.computed["reports.report"] - first < first


def test_a_change_far_away_writes_no_report_again(store: SqliteStore, server: ScriptedServer) -> None:
    rt = runtime(store, server)
    report_(rt)
    first = rt.computed["reports.report"]
    entities = tuple(replace(e, degree=e.degree + (e.id == "e00")) for e in BIG.graph.entities)
    other = Result("other", Graph(entities, BIG.graph.relations, BIG.graph.claims))
    found: Result[Communities] = Result("c", FOUND)
    report_all(found, other, lambda: CHUNKS, rt, ReportSettings())
    home = [g for g in FOUND.groups if "e00" in g.entities]
    assert rt.computed["reports.report"] - first <= len(home)


def test_stored_references_all_lead_to_records_and_stored_sources_to_chunks(built: Corpus) -> None:
    index = built.index()
    known = {e.id for e in index.graph.entities} | {r.id for r in index.graph.relations}
    known |= {c.id for c in index.hierarchy.clusters}
    said = [s for c in index.hierarchy.clusters for s in report_statements(c)]
    references = {name for s in said for name in s.references}
    sources: set[Source] = {source for s in said for source in s.sources}
    chunks = index.chunks(sorted({s.chunk for s in sources}))
    assert references
    assert references <= known
    assert all(0 <= s.start < s.end <= len(chunks[s.chunk].text) for s in sources)
    assert all(s.sources for s in said if s.references)


def test_a_budget_below_one_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"index\.reports\.context_tokens is 0"):
        ReportSettings(0)


def test_of_a_lone_entity_each_sentence_leads_to_where_it_stands(tmp_path: Path) -> None:
    texts = {
        "a": "Ada Harrow slept all day.",
        "b": "Nobody woke Ada Harrow before noon.",
        "c": "Ada Harrow came too late.",
    }
    with Corpus.open(tmp_path, settings={"engine": "offline"}) as corpus:
        corpus.add(*(Document(name, text) for name, text in texts.items()))
        corpus.build()
        index = corpus.index()
        (report,) = index.hierarchy.clusters
        said = report_statements(report)
        assert {s.text.strip() for s in said} == set(texts.values())
        for statement in said:
            (place,) = statement.sources
            assert statement.text.strip() == index.chunks([place.chunk])[place.chunk].text[place.start : place.end]
        assert report.text == " ".join(s.text.strip() for s in said)
