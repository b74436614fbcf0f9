"""Patterns over the index of a corpus: sources, filters, read-only folders, collecting (N87)."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from asked_in_time import officeholders
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import InputError, NotIndexed
from sensegraph.graphs.match.facets import collect_facets
from sensegraph.index.browse.pages import EntityRow
from sensegraph.questions import Scope
from sensegraph.types import Description, Document, Entity, Graph, Relation, Source


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    with officeholders(tmp_path_factory.mktemp("matching")) as made:
        yield made


def test_rows_cite_the_exact_words_of_documents(corpus: Corpus):
    found = corpus.match("(a {name: 'Nordwind'})-[r]-(b:Person)", cite=True)
    assert found.rows
    assert all(found.marks)
    for mark in {m for marks in found.marks for m in marks}:
        citation = found.citations[mark - 1]
        assert citation.marker == mark
        assert corpus.index().document(citation.document).text[citation.start : citation.end] == citation.quote
    for (_, relation, person), marks in zip(found.rows, found.marks, strict=True):
        chunks = {c for r in corpus.index().relations([relation.id]).values() for c in r.chunks}
        homes = set(corpus.index().documents_of(sorted(chunks)).values())
        assert isinstance(person, EntityRow)
        assert {found.citations[m - 1].document for m in marks} <= homes


def test_claims_entities_and_totals_are_cited_too(corpus: Corpus):
    claims = corpus.match("(k:Claim)-[:ABOUT]->(a {name: 'Nordwind'})", cite=True)
    for (claim, _, _), marks in zip(claims.rows, claims.marks, strict=True):
        (citation,) = [claims.citations[m - 1] for m in marks]
        assert (citation.document, citation.start) == (claim.place.document, claim.place.start)
    assert all(corpus.match("(a:Person) RETURN a.name", cite=True).marks)
    assert corpus.match("(a)-[r]-(b) RETURN count(*)", cite=True).marks[0]
    assert corpus.match("(a)-[r]-(b) RETURN a.name", cite=False).citations == ()


def test_what_is_not_cited_is_counted(corpus: Corpus):
    found = corpus.match("(a)-[r]-(b) RETURN count(*)", cite=True)
    assert len(found.marks[0]) <= 6
    assert any("more texts tell of these rows than are cited" in note for note in found.notes)


def test_a_filter_leaves_what_the_documents_inside_tell(corpus: Corpus):
    inside = corpus.match("(a)-[r]-(b) RETURN r.id, r.documents", scope=Scope(documents=("nordwind-*",)))
    every = corpus.match("(a)-[r]-(b) RETURN r.id, r.documents")
    assert 0 < inside.found < every.found
    assert {d.split("-")[0] for _, documents in inside.rows for d in documents} == {"nordwind"}
    assert any("documents" in note for note in inside.notes)


def test_a_type_that_a_filter_leaves_none_of_is_known_and_has_no_rows(corpus: Corpus):
    documents = [d.id for d in corpus.documents()]
    kinds = {kind for (kind,) in corpus.match("(a) RETURN DISTINCT a.type").rows}
    assert len(kinds) > 1
    assert documents
    for document in documents:
        scope = Scope(documents=(document,))
        left = {kind for (kind,) in corpus.match("(a) RETURN DISTINCT a.type", scope=scope).rows}
        for kind in sorted(kinds - left):
            assert corpus.match(f"(a:`{kind}`)", scope=scope).rows == ()


def test_a_time_leaves_what_held_then(corpus: Corpus):
    query = "(a {name: 'Nordwind'})-[r]-(b:Person) RETURN b.name"
    then = {name for (name,) in corpus.match(query, scope=Scope(as_of="2005", unknown="exclude")).rows}
    now = {name for (name,) in corpus.match(query, scope=Scope(as_of="2015", unknown="exclude")).rows}
    assert "Anna Berg" in then
    assert "Bo Lind" in now
    assert "Anna Berg" not in now


def test_equal_questions_have_equal_answers_in_equal_order(corpus: Corpus):
    query = "(a)-[r]-(b)-[s]-(c) RETURN a.id, r.id, b.id, s.id, c.id"
    assert corpus.match(query) == corpus.match(query)
    turned = "(c)-[s]-(b)-[r]-(a) RETURN a.id, r.id, b.id, s.id, c.id"
    assert sorted(corpus.match(query).rows) == sorted(corpus.match(turned).rows)


def test_the_facets_are_made_by_the_first_query_and_kept(tmp_path: Path):
    with officeholders(tmp_path, parts=["graph"]) as made:
        rt = made.runtime()
        (key,) = rt.keys(collect_facets, [None], [_name(made)])
        assert not made.store.has([key])
        first = made.match("(a)-[r]->(b)")
        assert made.store.has([key])
        assert made.match("(a)-[r]->(b)") == first
        made.collect()
        assert not made.store.has([key])
        assert made.match("(a)-[r]->(b)") == first


def _name(corpus: Corpus) -> str:
    from sensegraph.runtime.keys import key

    return key(corpus.index().manifest.graph)


def test_an_index_that_cannot_be_written_can_be_asked(corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    shutil.copytree(corpus.root, tmp_path / "copy")
    monkeypatch.setattr("sensegraph.corpus.tools.can_write", lambda folder: False)
    with Corpus.open(tmp_path / "copy", create=False) as sealed:
        assert sealed.store.readonly
        assert sealed.match("(a)-[r]->(b)").rows == corpus.match("(a)-[r]->(b)").rows


def test_an_index_without_a_graph_says_so(tmp_path: Path):
    with Corpus.open(tmp_path, settings={"index": {"parts": []}}) as made:
        with pytest.raises(NotIndexed):
            made.match("(a)")
        made.add(Document("one", "Ann met Bo."))
        made.build()
        with pytest.raises(NotIndexed, match="'graph'"):
            made.match("(a)")


def test_a_filter_that_leaves_nothing_is_an_error(corpus: Corpus):
    for scope, said in (
        (Scope(documents=("nowhere", "x")), "document nowhere or x"),
        (Scope(since="9999"), "since 9999"),
    ):
        with pytest.raises(InputError, match=rf"leaves none of the \d+ documents: {said}\."):
            corpus.match("(a)", scope=scope)


def test_facets_hold_each_entity_and_relation_in_its_place():
    def told(text: str) -> tuple[Description, ...]:
        return (Description(text, Source("c", 0, len(text))),)

    ann = Entity("a", "Ann Berg", "person", "", (), ("c",), 5, 2, ("Ann", " "))
    acme = Entity("b", "Acme", "firm", "", (), ("c",), 3, 1)
    bo = Entity("d", "Bo", "person", "", (), ("c",), 1, 1)
    founded = Relation("r", "a", "b", "", told("Ann founded Acme."), 2.5, ("c",), "founded")
    known = Relation("s", "d", "a", "", told("Bo knows Ann Berg."), 1.0, ("c",))
    hired = Relation("t", "b", "d", "", told("Acme hired Bo."), 0.5, ("c",), "employs")
    both = Relation("u", "a", "d", "", told("Ann met Bo.") + told("Bo met Ann."), 4.0, ("c",), "met", directed=False)
    (found,) = collect_facets.fn([Graph((ann, acme, bo), (founded, known, hired, both))])
    assert (found.types, found.kinds.tolist()) == (("firm", "person"), [1, 0, 1])
    assert (found.names, found.labels.tolist()) == (("", "employs", "founded", "met"), [2, 0, 1, 3])
    assert (found.degrees.tolist(), found.frequencies.tolist()) == ([2, 1, 1], [5, 3, 1])
    assert found.weights.tolist() == [2.5, 1.0, 0.5, 4.0]
    assert (found.sources.tolist(), found.directed.tolist()) == ([0, 2, 1, 0], [True, True, True, False])
