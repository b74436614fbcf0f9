"""Parts of the index over a store: which vectors are kept one by one, and what dates rest on."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scripted import ScriptedServer
from sensegraph.corpus.corpus import Corpus
from sensegraph.engines.offline.engine import ClassicalEngine
from sensegraph.index.build import store_documents
from sensegraph.index.chunks import cut_documents
from sensegraph.index.index import keep_documents
from sensegraph.index.manifest import Catalogue, DocumentEntry, catalogue_of
from sensegraph.index.restricted.dates import TemporalSettings, find_dates
from sensegraph.index.vectors import embed_records, embed_texts
from sensegraph.models.embedders import HashedTerms
from sensegraph.runtime.executors.processes import LocalExecutor
from sensegraph.runtime.results import Result, Results
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Chunk, Document, Entity, Graph
from wired import corpus, runtime, stories

TEXTS = ["one lamp", "two lamps"]


def offline(folder: Path) -> Runtime:
    return Runtime(ClassicalEngine(), HashedTerms(), SqliteStore(folder), LocalExecutor(1, 1))


def test_vectors_that_are_paid_for_are_kept_one_by_one_too(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        paid = runtime(SqliteStore(tmp_path / "paid"), server)
        found = embed_records(lambda: TEXTS, paid, name="x")
        assert found.value.shape[0] == 2
        assert paid.missing(embed_texts, TEXTS) == []
        again = embed_records(lambda: [*TEXTS, "three"], paid, name="y")
        assert again.value[:2].tolist() == found.value[:].tolist()
        assert len(server.calls) == 2
    free = offline(tmp_path / "free")
    whole = embed_records(lambda: TEXTS, free, name="x")
    assert free.missing(embed_texts, TEXTS) == [0, 1]
    assert embed_records(lambda: pytest.fail("made again"), free, name="x").key == whole.key
    assert embed_records(lambda: TEXTS, free, name="y").key != whole.key


TEXT = "Anna Berg became chief executive of Nordwind in 2011. Bo Lind became chief executive of Nordwind in 2015."


def test_one_follows_another_where_a_graph_tells_who_holds_what(tmp_path: Path) -> None:
    rt = offline(tmp_path)
    documents = [Document("d", TEXT)]
    (key,) = store_documents(documents, rt)
    listed = Result("catalogue", Catalogue((DocumentEntry("d", key, "", "", ()),), ()))
    chunks = (Chunk("c", "d", 0, len(TEXT), 9, TEXT),)

    cut: Any = SimpleNamespace(keys=["chunks"], at=lambda places: [chunks for _ in places])
    people = (Entity(n, n, "p", "", (), ("c",), 1, 0) for n in ("Anna Berg", "Bo Lind", "Nordwind"))
    graph: Any = Result("graph", Graph(tuple(people)))
    how = TemporalSettings(functional=("chief executive of",))
    chained = find_dates(listed, [key], cut, graph, rt, how)
    assert [(f.holder, f.starts, f.ends, bool(f.superseded_by)) for f in chained.value.facts] == [
        ("Anna Berg", "2011", "2015", True),
        ("Bo Lind", "2015", "", False),
    ]
    plain = find_dates(listed, [key], cut, None, rt, how)
    assert [(f.holder, f.type, f.superseded_by) for f in plain.value.facts] == [("", "", "")] * 2
    other: Any = Result("another", Graph())
    keys = {find_dates(listed, [key], cut, g, rt, how).key for g in (graph, other, None)}
    assert len(keys) == 3
    same = {find_dates(listed, [key], cut, g, rt, TemporalSettings()).key for g in (graph, other)}
    assert len(same) == 1


def test_a_document_that_states_no_date_leaves_the_dates_as_they_were(tmp_path: Path) -> None:
    rt = offline(tmp_path)

    def dated(*documents: Document) -> str:
        keys = store_documents(documents, rt)
        stored = Results(rt.store, keep_documents, keys)
        cut = cut_documents(stored, rt, size=300, overlap=0)
        return find_dates(catalogue_of(stored, cut, rt), keys, cut, None, rt, TemporalSettings()).key

    one = dated(Document("d", TEXT))
    assert dated(Document("a", "Nobody knows when."), Document("d", TEXT)) == one
    assert dated(Document("a", "Nordwind began in 1999."), Document("d", TEXT)) != one
    assert dated(Document("e", TEXT)) != one
    assert rt.computed["dates.dates"] == 3


@pytest.mark.parametrize("parts", [["graph"], ["graph", "reports"], []])
def test_only_the_parts_that_are_built_are_foreseen(tmp_path: Path, server: ScriptedServer, parts: list[str]) -> None:
    with corpus(tmp_path, server, index={"parts": parts}) as made:
        made.add(stories(2))
        found = {s.step.partition(".")[2]: s.items for s in made.estimate().steps}
    assert ("extract" in found, "report" in found) == ("graph" in parts, "reports" in parts)
    assert found["embed"] > 1


def test_what_a_build_looks_for_names_what_its_chunks_say(tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings={"engine": "offline", "index": {"parts": ["graph"]}}) as made:
        made.add(Document("d", "Ada Finch met Tom Reeve in Lowmouth. Ada Finch thanked Tom Reeve."))
        made.build()
        assert {"ada finch", "tom reeve", "lowmouth"} <= made.garbage._kept().read_names()
        assert made.manifest() is not None
        made.store.set_refs({"index": None})
        assert "lowmouth" in made.garbage._kept().read_names()
