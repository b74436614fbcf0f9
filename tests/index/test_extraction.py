from __future__ import annotations

import pytest

from scripted import ScriptedServer
from sensegraph.index.chunks import chunk_documents
from sensegraph.index.extraction import Extracted, Sections, extract_all, extract_records, what_was_rejected
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import Results
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Document, ExtractedEntity, Extraction
from wired import runtime, stories, story

DOCUMENTS = [Document("long", story(0, 0, 700)), Document("empty", ""), Document("short", story(1, 1, 2))]


def test_each_chunk_comes_with_its_own_extraction(store: SqliteStore, server: ScriptedServer) -> None:
    rt = runtime(store, server)
    chunks = rt.each(chunk_documents, [*stories(3), Document("empty", "")], size=120, overlap=20)
    pairs = list(extract_all(chunks, rt))
    assert [c for c, _ in pairs] == [c for document in chunks for c in document]
    assert len(pairs) > 3
    assert all(rt.engine.extract([c])[0] == x for c, x in pairs)


def test_sections_are_the_documents_cut_where_they_are_long(store: SqliteStore) -> None:
    rt = runtime(store)
    chunks = rt.each(chunk_documents, DOCUMENTS, size=30, overlap=5)
    sections = Sections.of(chunks)
    assert 256 < len(chunks[0]) < 512
    assert [len(s) for s in sections] == [256, len(chunks[0]) - 256, 0, len(chunks[2])]
    assert [c for s in sections for c in s] == [c for document in chunks for c in document]
    assert len(set(sections.keys)) == len(sections)


@pytest.mark.parametrize(
    ("found", "note"),
    [
        ([Extraction((ExtractedEntity("Ada", "person"),))], ()),
        (
            [Extraction(rejected=(("no name", 2), ("one end", 1))), Extraction(rejected=(("no name", 1),))],
            ("4 records of extraction could not be used: 3 × no name; 1 × one end",),
        ),
        (
            [Extraction(outside=(("entity type city", 2),)), Extraction(outside=(("relation type OWNS", 3),))],
            ("5 records of extraction are of a type outside the schema: 3 × relation type OWNS; 2 × entity type city",),
        ),
        (
            [Extraction(outside=tuple((f"entity type {i}", 1) for i in range(11)))],
            (
                "11 records of extraction are of a type outside the schema: "
                + "; ".join(f"1 × entity type {i}" for i in (0, 1, 10, 2, 3, 4, 5, 6))
                + "; and 3 other kinds",
            ),
        ),
        (
            [Extraction(rounds=(2, 1)), Extraction(rounds=(0,)), Extraction()],
            ("gleaning: 3 rounds over 2 chunks found 3 entities that were missed",),
        ),
    ],
)
def test_what_could_not_be_used_what_is_outside_and_what_gleaning_found_is_counted(
    store: SqliteStore, found: list[Extraction], note: tuple[str, ...]
) -> None:
    rt = runtime(store)
    keys = [key(i) for i in range(len(found))]
    store.write({k: extract_records.encode(x) for k, x in zip(keys, found, strict=True)})
    no_chunks = Results(store, chunk_documents, ())
    whole = Extracted(no_chunks, Results(store, extract_records, keys), by_document=False)
    assert what_was_rejected(whole, rt) == note
