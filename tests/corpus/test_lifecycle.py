"""Running again, adding, editing, removing, being killed: one and the same thing, paid for once."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scripted import Script, ScriptedServer
from sensegraph.corpus.corpus import Corpus
from sensegraph.engines.llm.prompts import read_packaged_template
from sensegraph.errors import StoreError
from sensegraph.index.chunks import chunk_documents
from sensegraph.runtime.results import Step
from sensegraph.runtime.stores.packs import delete_objects
from sensegraph.types import Document
from wired import content, corpus, finished_corpus, settings, stories, story

EXACT = ("documents", "chunks", "texts", "entities", "relations", "claims", "vectors")  # equal without --fresh too


@pytest.fixture
def made(tmp_path: Path, server: ScriptedServer) -> Iterator[Corpus]:
    with finished_corpus(tmp_path / "corpus", server, stories()) as opened:
        server.reset()
        yield opened


def fresh(folder: Path, server: ScriptedServer, documents: list[Document]) -> dict[str, Any]:
    """The content of an index of these documents that was built in an empty folder."""
    with corpus(folder, server) as opened:
        opened.add(documents)
        opened.build()
        return content(opened)


def differing(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    return [name for name in one if one[name] != other[name]]


# ── running again ──


def test_a_second_build_computes_nothing_and_asks_nothing(made: Corpus, server: ScriptedServer) -> None:
    before = content(made)
    assert made.build().computed == {}
    assert server.calls == []
    assert content(made) == before


def test_documents_that_are_cut_anew_into_the_same_chunks_are_not_paid_for_again(
    made: Corpus, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    raised = property(lambda step: vars(step)["version"] + (step.name == chunk_documents.name))
    monkeypatch.setattr(Step, "version", raised, raising=False)
    monkeypatch.setattr("sensegraph.corpus.settled._describe_program", lambda: [("another version", 0, 0)])
    built = made.build()
    assert built.computed["chunks.chunk"] == len(stories())
    assert not {"extraction.extract", "vectors.embed", "reports.report"} & set(built.computed)
    assert server.calls == []


def test_two_builds_of_equal_corpora_are_equal_byte_for_byte(
    made: Corpus, server: ScriptedServer, tmp_path: Path
) -> None:
    assert fresh(tmp_path / "other", server, stories()) == content(made)


def test_the_order_of_documents_does_not_matter(made: Corpus, server: ScriptedServer, tmp_path: Path) -> None:
    assert fresh(tmp_path / "other", server, stories()[::-1]) == content(made)


@pytest.mark.slow
def test_the_seed_of_hashes_does_not_matter(server: ScriptedServer, tmp_path: Path) -> None:
    made = [_indexed_elsewhere(tmp_path / seed, server, {"PYTHONHASHSEED": seed}) for seed in ("1", "2")]
    assert made[0] == made[1]


# ── adding, removing, editing ──


def test_an_added_document_costs_its_chunks_and_the_reports_that_change(made: Corpus, server: ScriptedServer) -> None:
    before = _reports(made)
    made.add(Document("story-06", story(2, 99), "New"))
    built = made.build()
    chunks = [c for c in made.index().catalogue.chunks if c.document == "story-06"]
    assert len(server.done("extraction")) == len(chunks) == built.computed["extraction.extract"] > 1
    after = _reports(made)
    changed = [name for name in after if after[name] != before.get(name)]
    assert 0 < len(server.done("report")) <= len(changed)
    assert len(changed) < len(after)


def _reports(made: Corpus) -> dict[str, str]:
    return {c.id: json.dumps([c.title, c.text]) for c in made.index().hierarchy.clusters}


def test_an_update_leaves_no_reference_that_leads_nowhere(made: Corpus) -> None:
    """D8: no dangling ids, no links to communities of before."""
    made.add(replace(stories()[1], text=story(1, 77)), Document("story-06", story(2, 99)))
    made.remove("story-03")
    made.build()
    index = made.index()
    clusters = {c.id: c for c in index.hierarchy.clusters}
    known = {e.id for e in index.graph.entities} | {r.id for r in index.graph.relations} | clusters.keys()
    said = [s for c in clusters.values() for s in (*c.summary, *(s for f in c.findings for s in f.statements))]
    assert {name for s in said for name in s.references}
    assert {name for s in said for name in s.references} <= known
    assert all(c.parent in clusters or c.depth == 0 for c in clusters.values())
    assert all(m in known for c in clusters.values() for m in c.members)
    used = {x.chunk for s in said for x in s.sources}
    assert index.chunks(sorted(used)).keys() == used
    assert "story-03" not in {d.id for d in index.catalogue.documents}


def test_what_was_added_and_removed_leaves_no_trace(made: Corpus, server: ScriptedServer) -> None:
    before = content(made)
    made.add(Document("story-06", story(2, 99)))
    made.build()
    made.remove("story-06")
    server.reset()
    made.build()
    assert differing(content(made), before) in ([], ["communities", "clusters"], ["clusters"])
    assert server.done("extraction") == []
    assert len(server.done("embedding")) <= 1  # of reports on communities that stayed as the update had made them
    made.build(fresh=True)
    assert content(made) == before


@pytest.mark.parametrize(
    "edit",
    [
        lambda docs: [replace(docs[0], text=story(0, 50)), *docs[1:]],
        lambda docs: [replace(d, title="Other") if d.id == "story-02" else d for d in docs],
        lambda docs: docs[1:],
        lambda docs: [*docs, Document("a-new-one", story(3, 70))],
        lambda docs: [*docs[2:], Document("story-99", docs[0].text)],
        lambda docs: [replace(docs[0], metadata=(("year", 1843),), time="1843-12-19"), *docs[1:]],
    ],
    ids=["edit", "title", "remove", "add", "rename", "metadata"],
)
def test_d8_an_update_equals_a_fresh_build(
    made: Corpus, server: ScriptedServer, tmp_path: Path, edit: Callable[[list[Document]], list[Document]]
) -> None:
    after = edit(stories())
    made.remove(*[d.id for d in stories() if d.id not in {x.id for x in after}])
    made.add(after)
    made.build()
    expected = fresh(tmp_path / "fresh", server, after)
    assert [n for n in differing(content(made), expected) if n in EXACT] == []
    made.build(fresh=True)
    assert content(made) == expected


def test_an_update_that_leaves_the_graph_as_it_was_keeps_the_communities(made: Corpus) -> None:
    before = content(made)["communities"]
    made.add(replace(stories()[0], metadata=(("year", 1843),)))
    assert "communities.communities" not in made.build().computed
    assert content(made)["communities"] == before


def test_an_update_keeps_modularity_within_one_percent_of_a_fresh_run(made: Corpus) -> None:
    made.add(*[Document(f"more-{i}", story(i, 40 + i)) for i in range(4)])
    made.build()
    updated = made.index().hierarchy.modularity
    made.build(fresh=True)
    assert updated >= 0.99 * made.index().hierarchy.modularity


# ── what a key contains ──


def _asked(made: Corpus, server: ScriptedServer, **tables: Any) -> Counter[str]:
    """The calls by task when the corpus is built again under other settings."""
    server.reset()
    with corpus(made.root, server, **tables) as again:
        again.build()
    return Counter(c.task for c in server.done())


def test_d7_another_model_does_all_the_language_work_again_and_embeds_nothing(
    made: Corpus, server: ScriptedServer
) -> None:
    calls = _asked(made, server, endpoint={"model": "another"})
    assert calls["extraction"] == made.index().manifest.counts["chunks"]
    assert calls["report"] > 0
    assert calls["embedding"] == 0


def test_d7_another_temperature_does_all_the_language_work_again(made: Corpus, server: ScriptedServer) -> None:
    calls = _asked(made, server, endpoint={"temperature": 0.7})
    assert calls["extraction"] == made.index().manifest.counts["chunks"]
    assert calls["embedding"] == 0


def test_d7_another_embedding_model_embeds_again_and_asks_nothing_else(made: Corpus, server: ScriptedServer) -> None:
    assert _asked(made, server, endpoint={"embedding_model": "another"}).keys() == {"embedding"}


def test_another_address_or_pace_asks_nothing(made: Corpus, server: ScriptedServer) -> None:
    url = server.base_url.replace("127.0.0.1", "localhost")
    assert _asked(made, server, endpoint={"base_url": url, "concurrency": 3, "timeout_s": 9.0, "max_retries": 1}) == {}


def test_another_prompt_of_reports_asks_for_reports_alone(made: Corpus, server: ScriptedServer, tmp_path: Path) -> None:
    prompts = tmp_path / "prompts"
    prompts.mkdir()
    (prompts / "report.md").write_text(read_packaged_template("report") + "\nWrite for children.\n")
    calls = _asked(made, server, model={"prompts": str(prompts)})
    assert calls.keys() == {"report"}
    assert calls["report"] > 3


def test_another_prompt_of_extraction_extracts_again_and_reuses_the_reports(
    made: Corpus, server: ScriptedServer, tmp_path: Path
) -> None:
    prompts = tmp_path / "prompts"
    prompts.mkdir()
    (prompts / "extract.md").write_text("Be thorough.\n" + read_packaged_template("extract"))
    calls = _asked(made, server, model={"prompts": str(prompts)})
    assert calls == {"extraction": made.index().manifest.counts["chunks"]}  # equal extractions: equal contexts


def test_another_schema_extracts_again(made: Corpus, server: ScriptedServer) -> None:
    calls = _asked(made, server, model={"claims": True})
    assert calls["extraction"] == made.index().manifest.counts["chunks"]
    assert _asked(made, server, model={"entity_types": ("person",)})["extraction"] == calls["extraction"]


def test_another_prompt_of_answers_changes_nothing_in_the_index(
    made: Corpus, server: ScriptedServer, tmp_path: Path
) -> None:
    assert _asked(made, server, model={"response_type": "one sentence", "general_knowledge": True}) == {}


def test_another_cluster_size_writes_and_embeds_only_reports(made: Corpus, server: ScriptedServer) -> None:
    calls = _asked(made, server, index=settings(server)["index"] | {"clusters": {"max_cluster_size": 4}})
    assert calls.keys() == {"report", "embedding"}
    assert calls["embedding"] == 1  # one batch of texts


def test_an_index_whose_parts_are_gone_is_made_anew(made: Corpus, server: ScriptedServer) -> None:
    before = content(made)
    manifest = made.index().manifest
    with made.store.writing() as db:
        delete_objects(db, [manifest.communities, manifest.hierarchy])
    with pytest.raises(StoreError, match="run `sensegraph index` again"):
        made.query("Who paid?", method="graphrag")
    made.build()
    assert content(made) == before
    assert server.done() == []


def test_another_chunk_size_embeds_and_extracts_again(made: Corpus, server: ScriptedServer) -> None:
    calls = _asked(made, server, index=settings(server)["index"] | {"chunk_tokens": 80})
    assert calls["extraction"] > 6
    assert calls["embedding"] > 0


def test_a_file_that_looks_the_same_but_was_edited_is_read_again(
    made: Corpus, server: ScriptedServer, tmp_path: Path
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("Ada Harrow paid Bram Harrow in 1801.")
    made.add(path)
    made.build()
    times = path.stat()
    path.write_text("Ada Harrow paid Bram Harrow in 1802.")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    server.reset()
    assert made.add(path).changed == ("a.txt",)
    made.build()
    assert len(server.done("extraction")) == 1
    assert "1802" in made.index().document("a.txt").text


# ── being killed ──

INDEX = """
import json, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from wired import corpus, stories
with corpus(Path(sys.argv[1]), sys.argv[2]) as made:
    made.add(stories(6))
    made.build()
"""
PROGRAM = INDEX.format(tests=str(Path(__file__).parents[1]))


def _started(folder: Path, server: ScriptedServer, env: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
    paths = {k: v for k, v in os.environ.items() if k == "PYTHONPATH"}  # the package that is tested, and nothing else
    env = None if env is None else paths | env
    return subprocess.Popen([sys.executable, "-c", PROGRAM, str(folder), server.base_url], env=env)


def _indexed_elsewhere(folder: Path, server: ScriptedServer, env: dict[str, str]) -> dict[str, Any]:
    assert _started(folder, server, env).wait(200) == 0
    with corpus(folder, server) as made:
        return content(made)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_killed_run_goes_on_where_it_stopped(tmp_path: Path, server: ScriptedServer, seed: int) -> None:
    """Killed after so many calls, at no particular moment; no finished call is repeated, and the index is the same."""
    expected = fresh(tmp_path / "whole", server, stories(6))
    total = len(server.done())
    server.reset()
    server.script = Script(latency_s=0.02, piece=400)
    calls = random.Random(seed).randrange(1, total)
    running = _started(tmp_path / "killed", server)
    while len(server.done()) < calls and running.poll() is None:
        time.sleep(0.001)
    moment = time.time()
    running.kill()
    running.wait()
    time.sleep(0.1)  # calls on their way at the server end by themselves
    finished = {c.sha for c in server.done() if c.finished < moment - 0.2}  # received and written by then
    stored = _stored(tmp_path / "killed")
    server.reset()
    server.script = Script()
    assert _indexed_elsewhere(tmp_path / "killed", server, {}) == expected
    assert len(server.done()) <= total - stored  # less what came in and was not stored: the journal has it
    assert not finished & {c.sha for c in server.done()}


def _stored(folder: Path) -> int:
    """The model calls whose results a killed run left in the store."""
    path = folder / ".sensegraph" / "store.sqlite"
    if not path.exists():
        return 0
    found = dict(
        sqlite3.connect(path)
        .execute("SELECT step, COUNT(*) FROM object JOIN pack USING (number) GROUP BY step")
        .fetchall()
    )
    return found.get("extraction.extract", 0) + found.get("reports.report", 0) + (found.get("vectors.embed", 0) > 0)


# ── without a model ──


def _offline(folder: Path, documents: list[Document]) -> Corpus:
    made = Corpus.open(folder, settings={"index": settings("")["index"], "processes": 1})
    made.add(documents)
    made.build()
    return made


@pytest.mark.slow
def test_the_offline_engine_keeps_the_same_promises(tmp_path: Path) -> None:
    made = _offline(tmp_path / "life", stories())
    before = content(made)
    assert made.build().computed == {}
    assert content(_offline(tmp_path / "turned", stories()[::-1])) == before
    made.add(Document("story-06", story(2, 99)), replace(stories()[1], text=story(1, 50)))
    made.build()
    after = [stories()[0], replace(stories()[1], text=story(1, 50)), *stories()[2:], Document("story-06", story(2, 99))]
    expected = content(_offline(tmp_path / "fresh", after))
    assert [n for n in differing(content(made), expected) if n in EXACT] == []
    made.remove("story-06")
    made.add(stories())
    made.build(fresh=True)
    assert content(made) == before


OFFLINE = """
import sys
from pathlib import Path
sys.path[:0] = [sys.argv[2], sys.argv[2] + "/corpus"]
from test_lifecycle import _offline
from wired import stories
_offline(Path(sys.argv[1]), stories())
"""


@pytest.mark.slow
def test_the_seed_of_hashes_does_not_matter_without_a_model_either(tmp_path: Path) -> None:
    found = []
    for seed in ("1", "2"):
        arguments = [sys.executable, "-c", OFFLINE, str(tmp_path / seed), str(Path(__file__).parents[1])]
        subprocess.run(arguments, env={"PYTHONHASHSEED": seed}, check=True)
        with Corpus.open(tmp_path / seed) as made:
            found.append(content(made))
    assert found[0] == found[1]
