"""An imported index is an index: every method reads it, its documents are the corpus's, its citations are exact."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import little_tables
from scripted import ScriptedServer
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import InputError
from sensegraph.graphs.interchange.importing import Imported, import_tables
from sensegraph.graphs.interchange.table_files import read_tables
from sensegraph.graphs.interchange.tables import Tables
from wired import settings


def brought(folder: Path, root: Path, given: little_tables.Tables, **opened: Any) -> tuple[Corpus, Imported]:
    corpus = Corpus.open(root, **opened)
    tables = read_tables(little_tables.write(given, folder))
    return corpus, import_tables(tables, corpus.runtime(), corpus.settings.index, corpus.add)


def test_status_shows_the_counts_and_no_document_waits(little: tuple[Corpus, Imported]):
    corpus, done = little
    found = corpus.status()
    assert found.counts == {"documents": 2, "chunks": 3, "entities": 5, "relations": 3, "claims": 2}
    assert found.clusters == (2, 2)
    assert found.pending == ()
    assert done.rows["entities"] == 4
    assert done.manifest.notes == done.notes


def test_documents_of_the_tables_become_documents_of_the_corpus(little: tuple[Corpus, Imported]):
    (note, story) = little[0].documents()
    assert (note.id, note.metadata) == ("note", (("author", "Elsa"), ("pages", 2)))
    assert (story.text, story.time) == (little_tables.STORY, "2024-03-05T10:00:00+01:00")


def test_questions_are_answered_with_exact_citations(little: tuple[Corpus, Imported]):
    answer = little[0].query("What does Ada do with the lamp?", method="naive")
    texts = {d.id: d.text for d in little[0].documents()}
    assert answer.citations
    assert all(c.quote == texts[c.document][c.start : c.end] for c in answer.citations)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["graphrag", "local", "drift", "naive"])
def test_an_index_of_the_reference_implementation_answers_questions(carol: tuple[Corpus, Imported], method: str):
    answer = carol[0].query("What are the main themes around Scrooge and the ghosts?", method=method)
    texts = {d.id: d.text for d in carol[0].documents()}
    assert answer.citations
    assert all(c.quote == texts[c.document][c.start : c.end] for c in answer.citations)


@pytest.mark.slow
def test_the_counts_of_an_index_of_the_reference_implementation_are_the_same(carol: tuple[Corpus, Imported]):
    corpus, done = carol
    assert done.rows["communities"] == done.rows["community_reports"] == 122
    graph = corpus.index().graph
    made = [e for e in graph.entities if e.type == "unknown"]
    assert len(graph.entities) - len(made) == 529
    assert len(graph.relations) == 978
    assert len(graph.claims) == 406 - 25  # that say nothing


def test_a_graph_of_ones_own_gets_communities_and_reports_from_the_engine(tmp_path: Path):
    given = little_tables.tables()
    bare = {t: given[t] for t in ("entities", "relationships", "text_units")}
    corpus, done = brought(tmp_path / "tables", tmp_path / "root", bare)
    with corpus:
        assert sum(done.manifest.clusters) > 0
        assert all(c.title and c.text for c in corpus.index().hierarchy.clusters)
        assert corpus.query("What is there?", method="graphrag").text


def test_a_graph_without_any_text_is_cited_from_its_own_descriptions(tmp_path: Path):
    given = little_tables.tables()
    bare = {t: given[t] for t in ("entities", "relationships")}
    corpus, _ = brought(tmp_path / "tables", tmp_path / "root", bare)
    with corpus:
        answer = corpus.query("Who keeps a lamp?", method="naive")
        assert {c.document for c in answer.citations} <= {"descriptions of entities", "descriptions of relationships"}
        assert any("keeps a lamp" in c.quote for c in answer.citations)


def test_communities_without_reports_get_reports_from_the_model_that_is_set(tmp_path: Path, server: ScriptedServer):
    given = {t: rows for t, rows in little_tables.tables().items() if t != "community_reports"}
    corpus, _ = brought(tmp_path / "tables", tmp_path / "root", given, settings=settings(server))
    with corpus:
        index = corpus.index()
        assert {"c0", "c1", "c2"} <= {c.id for c in index.hierarchy.clusters}
        assert corpus.engine.usage().calls > 0


def test_with_reports_a_model_is_asked_for_nothing_but_vectors(tmp_path: Path, server: ScriptedServer):
    corpus, _ = brought(tmp_path / "tables", tmp_path / "root", little_tables.tables(), settings=settings(server))
    with corpus:
        assert corpus.engine.usage().calls == 0


def test_building_after_an_import_makes_an_index_of_the_documents(tmp_path: Path):
    corpus, _ = brought(tmp_path / "tables", tmp_path / "root", little_tables.tables())
    with corpus:
        built = corpus.build()
        assert built.counts["documents"] == 2
        assert "e0" not in {e.id for e in corpus.index().graph.entities}


def test_no_entities_is_an_error(tmp_path: Path):
    with Corpus.open(tmp_path) as corpus, pytest.raises(InputError, match="entities in here is empty"):
        import_tables(Tables(folder="here"), corpus.runtime(), corpus.settings.index)
