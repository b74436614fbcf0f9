"""An update reads what it computes anew, and little else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from itertools import pairwise
from pathlib import Path

import pytest

from sensegraph.corpus.corpus import Corpus
from sensegraph.index.chunks import cut_documents
from sensegraph.index.index import keep_documents
from sensegraph.index.manifest import CatalogueColumns, catalogue_of, columns_of_catalogue
from sensegraph.index.parts import Spine
from sensegraph.runtime.results import Results
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Document

PEOPLE = (
    "Ada Harrow|Bram Fenwick|Cora Stone|Dirk Millar|Elsa Quay|Finn Berg|Gwen Hart|Hugo Lind|Iris Vale|Jan Reed|Kit Moor"
).split("|")
HELD = [
    Document(f"d{i}", f"{one} met {other} in Delft. {other} wrote to {one} about the year {1900 + i}.", f"Letter {i}")
    for i, (one, other) in enumerate(pairwise(PEOPLE))
]


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    made = Corpus.open(tmp_path, settings={"engine": "offline", "embedder": "offline", "processes": 1})
    made.add(HELD)
    made.build()
    return made


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The keys of the objects that are read from now on."""
    keys, plain = list[str](), SqliteStore.read

    def noting(store: SqliteStore, wanted: Sequence[str]) -> dict[str, bytes]:
        keys.extend(wanted)
        return plain(store, wanted)

    monkeypatch.setattr(SqliteStore, "read", noting)
    return keys


def test_no_document_is_read_that_was_there_before(corpus: Corpus, read: list[str]) -> None:
    before = set(corpus.workspace.document_keys().values())
    corpus.add(Document("new", "Ada Harrow met Hugo Lind in Gouda."))
    read.clear()
    assert corpus.build().counts["documents"] == len(HELD) + 1
    (new,) = set(corpus.workspace.document_keys().values()) - before
    assert new in read
    assert before.isdisjoint(read)


def test_chunks_are_found_by_their_ids_and_only_their_documents_are_read(corpus: Corpus, read: list[str]) -> None:
    rt = corpus.workspace.runtime()
    documents = Results(rt.store, keep_documents, list(corpus.workspace.document_keys().values()))
    settings = corpus.workspace.settings.index
    chunks = cut_documents(documents, rt, size=settings.chunk_tokens, overlap=settings.chunk_overlap)
    spine = Spine(catalogue_of(documents, chunks, rt), documents.keys, chunks)
    every = {c.id: c for c in spine.chunks()}
    assert spine.sizes == [1] * len(HELD) == [len(found) for found in chunks]
    one = next(iter(every))
    read.clear()
    assert spine.texts([one, "nobody"]) == {one: every[one]}
    assert len(set(read) & set(chunks.keys)) == 1
    assert spine.texts(list(every)) == every


def test_summaries_of_a_part_that_is_as_it_was_are_taken_together(corpus: Corpus) -> None:
    told = [
        f"Ada Harrow met Bram Fenwick in town number {i}, where {'they talked at length and ' * 9}left."
        for i in range(40)
    ]
    corpus.add([Document(f"long {i}", text) for i, text in enumerate(told)])
    first = corpus.build().computed
    assert first["graph.summaries"] > 0
    corpus.add(Document("other", "Zoe Marsh sailed to Riga."))
    again = corpus.build().computed
    assert again.get("graph.summarise", 0) == 0
    assert again.get("graph.summaries", 0) < first["graph.summaries"]


def test_of_a_catalogue_the_run_that_changed_is_listed_anew(corpus: Corpus) -> None:
    corpus.add([Document(f"x{i:03}", f"Note {i}.", f"Title {i} (a note)" * (i % 2)) for i in range(300)])
    corpus.build()
    before = list(corpus.workspace.open_index().catalogue.documents)
    corpus.add([Document("x100", "Another note.", "Another"), Document("x200b", "One more.")])
    assert corpus.build().computed["index.run"] <= 3
    after = corpus.workspace.open_index().catalogue
    assert list(after.documents) != before
    read, made = columns_of_catalogue(after), CatalogueColumns.of(list(after.documents), list(after.chunks))
    assert [getattr(read, f.name).tolist() for f in fields(read)] == [
        getattr(made, f.name).tolist() for f in fields(made)
    ]
    rt = corpus.workspace.runtime()
    documents = Results(rt.store, keep_documents, list(corpus.workspace.document_keys().values()))
    assert [(d.id, d.title) for d in after.documents] == [(d.id, d.title) for d in documents]
    assert {c.id: c.document for c in after.chunks} == corpus.index().documents_of([c.id for c in after.chunks])
