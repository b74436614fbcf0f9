"""Twelve defects of a widely used implementation of GraphRAG, as requirements: each is shown here not to be ours.

Everything runs over a whole corpus with a scripted model at the other end of the wire. What a report or an answer is
written from is read off the requests, as a model would see it.
"""

from __future__ import annotations

import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from scripted import Call, Script, ScriptedServer
from scripted_replies import asked_in, talk_in
from scripted_tables import rows_of
from sensegraph.algorithms.graphs import canonical_edges, label_components
from sensegraph.corpus.corpus import Corpus
from sensegraph.engines.llm.prompts import read_packaged_template
from sensegraph.errors import EmptyCorpus, SensegraphError, SettingsError
from sensegraph.index.index import Index
from sensegraph.methods.graphrag.drift import Drift
from sensegraph.methods.graphrag.local_search import Local
from sensegraph.types import Cluster, Document, Entity, Question
from wired import content, corpus, stories, story

WIDE = "Who wrote to whom, and who paid?"
HERMIT = "Zebulon"  # named alone in its document: an entity without a neighbour
OUTSIDE = [
    Document("alone", f"{HERMIT} kept silent for years."),
    Document("apart", "Quentin Vale hired Rosa Thorne. Rosa Thorne paid Silas Moor. Silas Moor wrote to Quentin Vale."),
]


@pytest.fixture(scope="module")
def wire() -> Iterator[ScriptedServer]:
    with ScriptedServer(Script(keep_bodies=True)) as server:
        yield server


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory, wire: ScriptedServer) -> Iterator[Corpus]:
    """A corpus whose graph has several components and an entity alone; `wire` keeps the requests of its build."""
    with corpus(tmp_path_factory.mktemp("model"), wire) as made:
        made.add(stories(8), OUTSIDE)
        made.build()
        yield made


@pytest.fixture(scope="module")
def reports(model: Corpus, wire: ScriptedServer) -> list[Call]:
    """The requests for reports, in the order in which they were answered."""
    return wire.done("report")


@pytest.fixture
def asked(model: Corpus, wire: ScriptedServer, reports: list[Call]) -> ScriptedServer:
    """The wire, ready to count what a question sends."""
    wire.calls.clear()
    return wire


def prompt(call: Call) -> str:
    return asked_in(call.body)


def table(call: Call, name: str) -> list[list[str]]:
    """The rows of one table of a request, without their numbers."""
    return [cells[1:] for title, cells in rows_of(prompt(call)) if title == name]


def names(index: Index) -> dict[str, str]:
    return {e.id: e.name for e in index.graph.entities}


def outside_the_largest(index: Index) -> list[Entity]:
    """The entities that are not in the largest connected component."""
    entities = list(index.graph.entities)
    place = {e.id: i for i, e in enumerate(entities)}
    pairs = [(place[r.source], place[r.target]) for r in index.graph.relations]
    edges = canonical_edges([a for a, _ in pairs], [b for _, b in pairs], [1.0] * len(pairs), len(entities))
    of = label_components(edges).tolist()
    largest = Counter(of).most_common(1)[0][0]
    return [e for e, component in zip(entities, of, strict=True) if component != largest]


def by_members(index: Index) -> dict[frozenset[str], Cluster]:
    called = names(index)
    return {frozenset(called[e] for e in c.entities): c for c in index.hierarchy.clusters}


# ── what a report is written from ──


def test_d01_a_report_is_written_from_every_relation_inside_its_community_and_from_no_other(
    model: Corpus, reports: list[Call]
) -> None:
    index = model.index()
    called, found = names(index), by_members(index)
    shown = 0
    for call in reports:
        cluster = found[frozenset(name for name, _ in table(call, "Entities"))]
        members = set(cluster.entities)
        inner = [r for r in index.graph.relations if r.source in members and r.target in members]
        expected = Counter((called[r.source], called[r.target], r.description) for r in inner)
        assert Counter(tuple(row) for row in table(call, "Relationships")) == expected
        shown += len(inner)
    assert len(reports) == sum(len(c.entities) > 1 for c in index.hierarchy.clusters)
    assert shown > len(index.graph.relations)


def test_d02_an_overflowing_parent_is_written_from_the_reports_of_its_children_which_come_first(
    tmp_path: Path, server: ScriptedServer
) -> None:
    server.script = Script(keep_bodies=True)
    with corpus(tmp_path, server, index={"reports": {"context_tokens": 500}}) as made:
        made.add(stories(8))
        made.build()
        clusters = {c.id: c for c in made.index().hierarchy.clusters}
    done = server.done("report")
    holding = [call for call in done if table(call, "Reports")]
    assert holding
    for call in holding:
        titles = {title for title, _ in table(call, "Reports")}
        texts = {text for _, text in table(call, "Reports")}
        parents = [c for c in clusters.values() if titles <= {clusters[m].title for m in c.members if m in clusters}]
        assert any(texts <= {clusters[m].text.replace("\n", " ") for m in c.members} for c in parents)
        below = [c for c in done if _title(c) in titles and c is not call]
        assert len(below) >= len(titles)
        assert all(c.finished <= call.finished for c in below)


def _title(call: Call) -> str:
    """The title that the scripted model gives the report which a request asks for."""
    return " and ".join(cells[1] for _, cells in rows_of(prompt(call))[:2])


# ── what a question reaches ──


@pytest.mark.parametrize("depth", [0, 1, 9])
def test_d03_every_entity_outside_the_largest_component_is_reached_by_global_search(
    model: Corpus, asked: ScriptedServer, depth: int
) -> None:
    index = model.index()
    outside = outside_the_largest(index)
    assert {HERMIT, "Quentin Vale", "Rosa Thorne", "Silas Moor"} <= {e.name for e in outside}
    model.query(f"{WIDE} {depth}", method="graphrag", depth=depth)
    read = {title for call in asked.done("points") for title, _ in table(call, "Reports")}
    home = {e: c for c in index.clusters_at(depth) for e in c.entities}
    assert [e.name for e in outside if home[e.id].title not in read] == []


def test_d03_every_entity_outside_the_largest_component_is_reached_by_local_search(model: Corpus) -> None:
    index, rt = model.index(), model.runtime()
    assert outside_the_largest(index)
    for entity in outside_the_largest(index):
        found = Local(context_tokens=2_000).retrieve(Question(f"Who is {entity.name}?"), index, rt)
        assert entity.id in {p.id for p in found.passages if p.kind == "entity"}


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_d04_global_search_reads_exactly_one_report_about_each_entity(
    model: Corpus, asked: ScriptedServer, depth: int
) -> None:
    index = model.index()
    model.query(f"{WIDE} Once {depth}.", method="graphrag", depth=depth)
    read = Counter((title, text) for call in asked.done("points") for title, text in table(call, "Reports"))
    assert read
    told: Counter[str] = Counter()
    for cluster in index.clusters_at(depth):
        key = (cluster.title, " ".join(cluster.text.split()))
        assert sum(n for (title, text), n in read.items() if (title, " ".join(text.split())) == key) >= 1
        told.update(cluster.entities)
    assert sum(read.values()) == len(index.clusters_at(depth))
    assert told == Counter(e.id for e in index.graph.entities)


def test_d05_shares_that_leave_nothing_for_entities_and_relations_are_an_error() -> None:
    for make in (Local, Drift):
        with pytest.raises(SettingsError, match=r"0\.9.*0\.1.*sum to less than 1: entities and relations get the rest"):
            make(text=0.9, reports=0.1)


def test_d05_every_local_search_shows_entities_and_relations_by_default(model: Corpus, asked: ScriptedServer) -> None:
    index, question = model.index(), Question("What has Ada Fenwick to do with Cora Fenwick?")
    kinds = Counter(p.kind for p in Local().retrieve(question, index, model.runtime()).passages)
    assert min(kinds["entity"], kinds["relation"], kinds["chunk"]) >= 1
    Drift(primer_folds=1, rounds=1, width=2).answer(question, index, model.runtime())
    local = [call for call in asked.done("lead") if not prompt(call).count("# Reports") or "# Sources" in prompt(call)]
    assert local
    assert all(table(call, "Entities") and table(call, "Relationships") for call in local)


@pytest.mark.parametrize("wanted", [1, 3, 10])
def test_d06_local_search_starts_from_as_many_entities_as_asked_for(model: Corpus, wanted: int) -> None:
    found = model.search(WIDE, method="local", top=999, top_entities=wanted, context_tokens=50_000)
    assert sum(p.kind == "entity" for p in found.passages) == wanted


# ── what is stored ──


@pytest.mark.parametrize(
    ("change", "again"),
    [
        ({}, set()),
        ({"endpoint": {"model": "another"}}, {"extraction", "report"}),
        ({"endpoint": {"temperature": 0.7}}, {"extraction", "report"}),
        ({"endpoint": {"embedding_model": "another"}}, {"embedding"}),
        ({"model": {"language": "Greek"}}, {"extraction", "report"}),
        ({"index": {"reports": {"context_tokens": 300}}}, {"report"}),
    ],
    ids=["nothing", "model", "temperature", "embedder", "language", "context"],
)
def test_d07_whatever_can_change_a_reply_or_a_vector_is_part_of_its_key(
    tmp_path: Path, server: ScriptedServer, change: dict[str, Any], again: set[str]
) -> None:
    with corpus(tmp_path, server) as made:
        made.add(stories(3))
        made.build()
    server.reset()
    with corpus(tmp_path, server, **change) as made:
        made.build()
    tasks = {c.task for c in server.done()}
    assert again <= tasks
    assert bool(tasks) == bool(again)


EDITS: dict[str, Callable[[list[Document]], list[Document]]] = {
    "edit": lambda docs: [replace(docs[0], text=story(0, 50)), *docs[1:]],
    "add": lambda docs: [*docs, Document("new", story(3, 70))],
    "delete": lambda docs: docs[1:],
}


@pytest.mark.parametrize("edit", EDITS)
def test_d08_an_update_equals_a_rebuild_and_leaves_no_reference_that_leads_nowhere(
    tmp_path: Path, server: ScriptedServer, edit: str
) -> None:
    after = EDITS[edit](stories(4))
    with corpus(tmp_path / "one", server) as updated, corpus(tmp_path / "other", server) as rebuilt:
        updated.add(stories(4))
        updated.build()
        updated.remove(*({d.id for d in stories(4)} - {d.id for d in after}))
        updated.add(after)
        updated.build()
        assert _dangling(updated.index()) == set()
        updated.build(fresh=True)
        rebuilt.add(after)
        rebuilt.build()
        assert content(updated) == content(rebuilt)


def _dangling(index: Index) -> set[str]:
    """The ids that something in the index refers to and that are not there."""
    clusters = {c.id: c for c in index.hierarchy.clusters}
    entities = {e.id: e for e in index.graph.entities}
    relations = {r.id: r for r in index.graph.relations}
    said = [s for c in clusters.values() for s in (*c.summary, *(s for f in c.findings for s in f.statements))]
    chunks = {s.chunk for x in said for s in x.sources} | {c for e in entities.values() for c in e.chunks}
    lost = chunks - index.chunks(sorted(chunks)).keys()
    used = {name for x in said for name in x.references} | {e for c in clusters.values() for e in c.entities}
    used |= {m for c in clusters.values() for m in c.members} | {c.parent for c in clusters.values() if c.parent}
    used |= {end for r in relations.values() for end in (r.source, r.target)}
    return lost | {name for name in used if not (name in clusters or name in entities or name in relations)}


# ── how it runs ──


def test_d09_nothing_measures_memory_or_time_while_an_index_is_built(tmp_path: Path, server: ScriptedServer) -> None:
    seen: list[tuple[bool, Any]] = []

    def progress(step: str, done: int, total: int) -> None:
        seen.append((tracemalloc.is_tracing(), sys.getprofile()))

    with corpus(tmp_path, server) as made:
        made.workspace.progress = progress
        made.add(stories(3))
        made.build()
        made.query(WIDE, method="graphrag")
    assert len(seen) > 5
    assert set(seen) == {(False, None)}


def test_d10_a_call_that_must_wait_holds_no_other_call_back(tmp_path: Path, server: ScriptedServer) -> None:
    script = {"fail_rate": 1.0, "fail_status": 500, "times": 1, "retry_after": "2"}  # a 429 would pause all calls
    server.script = Script(**script, only="Text:\\nJoss")  # type: ignore[arg-type]
    with corpus(tmp_path, server) as made:
        made.add(stories(6))
        made.build()
    refused = {c.sha for c in server.calls if c.status == 500}
    waited = [c.finished for c in server.done("extraction") if c.sha in refused]
    others = [c.finished for c in server.done("extraction") if c.sha not in refused]
    assert min(waited) >= 2 + min(c.finished for c in server.calls if c.status == 500)
    assert len(others) >= 8
    assert max(others) < min(waited)


# ── what is kept of what was paid for ──


def test_d11_a_name_with_two_types_keeps_what_was_said_of_either(tmp_path: Path, server: ScriptedServer) -> None:
    kinds = {"Seine": "geo", "Troy": "person"}

    def reply(body: dict[str, Any]) -> str | None:
        text = str(body["messages"][-1]["content"])
        found = [(word, kind) for word, kind in kinds.items() if f"Paris of {word}" in text]
        if not found or "Text:" not in text:
            return None
        entities = [{"name": "Paris", "type": kind, "description": f"Paris of {word}."} for word, kind in found]
        return msgspec.json.encode({"entities": entities, "relations": []}).decode()

    server.script = Script(reply=reply)
    with corpus(tmp_path, server, model={"max_gleanings": 0}) as made:
        made.add(*[Document(w, f"Paris of {w} is well known.") for w in kinds], Document("again", "Paris of Troy ran."))
        made.build()
        found = {e.type: e for e in made.index().graph.entities if e.name == "Paris"}
    assert {kind: e.frequency for kind, e in found.items()} == {"geo": 1, "person": 2}
    assert {d.text for d in found["geo"].descriptions} == {"Paris of Seine."}
    assert {d.text for d in found["person"].descriptions} == {"Paris of Troy."}
    assert len(found["person"].chunks) == 2


def test_d12_claims_that_gleaning_finds_are_kept(tmp_path: Path, server: ScriptedServer) -> None:
    """The usual reply holds three claims of each chunk; here the first asking holds none and a second is asked for."""

    def reply(body: dict[str, Any]) -> str | None:
        first, last = str(body["messages"][0]["content"]), str(body["messages"][-1]["content"])
        if "yes or no" in last:
            return "yes" if "`claims`" in first else "no"
        return '{"claims": []}' if "`claims`" in first and len(talk_in(body)) == 2 else None

    counts = {}
    for rounds in (0, 1):
        server.script = Script(reply=reply)
        with corpus(tmp_path / str(rounds), server, model={"claims": True, "max_gleanings": rounds}) as made:
            made.add(stories(2))
            made.build()
            counts[rounds] = len(made.index().graph.claims)
    assert counts[0] == 0
    assert counts[1] > 0


def test_d12_the_prompt_that_a_user_edits_is_the_one_that_is_sent(tmp_path: Path, server: ScriptedServer) -> None:
    own = tmp_path / "prompts"
    own.mkdir()
    for name in ("extract", "report", "rate", "answer"):
        (own / f"{name}.md").write_text(f"OWN {name.upper()} WORDS\n{read_packaged_template(name)}", "utf-8")
    server.script = Script(keep_bodies=True)
    with corpus(tmp_path / "c", server, model={"prompts": str(own)}) as made:
        made.add(stories(3))
        made.build()
        made.query(WIDE, method="graphrag")
    for task, name in (("extraction", "extract"), ("report", "report"), ("points", "rate"), ("answer", "answer")):
        sent = [str(c.body["messages"][0]["content"]) for c in server.done(task)]
        assert sent
        assert all(text.startswith(f"OWN {name.upper()} WORDS\n") for text in sent)


@pytest.mark.parametrize(
    ("tables", "told"),
    [
        ({"index": {"chunk_token": 5}}, r"chunk_token\b.*chunk_tokens"),
        ({"model": {"max_gleaning": 1}}, r"max_gleaning\b.*max_gleanings"),
        ({"methods": {"local": {"top_entites": 3}}}, r"top_entites\b.*top_entities"),
    ],
)
def test_d12_a_setting_that_would_have_no_effect_is_an_error(
    tmp_path: Path, server: ScriptedServer, tables: dict[str, Any], told: str
) -> None:
    with pytest.raises(SettingsError, match=told):
        _used(tmp_path, server, tables)


def _used(folder: Path, server: ScriptedServer, tables: dict[str, Any]) -> None:
    """Open, build and ask with these settings."""
    with corpus(folder, server, **tables) as made:
        made.add(stories(2))
        made.build()
        made.query(WIDE, method="local")


def test_d12_a_build_that_finds_nothing_is_an_error_and_no_success(tmp_path: Path, server: ScriptedServer) -> None:
    with corpus(tmp_path, server) as made:
        with pytest.raises(EmptyCorpus):
            made.build()
        server.script = Script(reply=lambda body: '{"entities": [], "relations": []}')
        made.add(stories(2))
        with pytest.raises(SensegraphError, match="No entity was found in 4 chunks"):
            made.build()
        assert made.status().indexed == 0


def test_d12_an_update_builds_what_was_added(tmp_path: Path, server: ScriptedServer) -> None:
    with corpus(tmp_path, server) as made:
        made.add(stories(2))
        before = made.build()
        made.add(Document("more", "Yolanda Frost paid Xavier Stone."))
        after = made.build()
        assert after.counts["documents"] == before.counts["documents"] + 1
        assert after.computed["extraction.extract"] == 1
        assert "Yolanda Frost" in names(made.index()).values()
