from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from sensegraph.built_in_parts import BUILT_IN
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import NotIndexed, ResultGone, StoreError
from sensegraph.index.index import Index
from sensegraph.index.parts import find_part
from sensegraph.methods import load_method
from sensegraph.methods.raptor.tree_part import TREE
from sensegraph.models.embedders import RemoteEmbedder
from sensegraph.models.endpoint.client import Endpoint
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.runtime.stores.packs import delete_objects
from sensegraph.runtime.stores.sqlite import SqliteStore
from wired import stories


def test_d4_every_depth_has_exactly_one_report_for_each_entity(built: Corpus) -> None:
    """Not the union of all depths above."""
    index = built.index()
    entities = {e.id for e in index.graph.entities}
    assert index.depth >= 2
    for depth in range(index.depth + 3):
        covered = Counter(e for c in index.clusters_at(depth) for e in c.entities)
        assert covered.keys() == entities
        assert set(covered.values()) == {1}


def test_a_depth_beyond_the_deepest_is_the_deepest(built: Corpus) -> None:
    index = built.index()
    assert index.clusters_at(99) == index.clusters_at(index.depth - 1)


def test_documents_and_chunks_come_back_as_they_were(built: Corpus) -> None:
    index = built.index()
    texts = {d.id: d for d in stories(8)}
    assert [d.id for d in index.catalogue.documents] == sorted(texts)
    assert all(index.document(name) == d for name, d in texts.items())
    entries = list(index.catalogue.chunks)
    chunks = index.chunks([e.id for e in entries])
    assert list(chunks)
    assert all(c.text == texts[c.document].text[c.start : c.end] for c in chunks.values())
    assert [chunks[e.id].tokens for e in entries] == [e.tokens for e in entries]
    assert len(entries) == index.manifest.counts["chunks"] == len(index.vectors)


def test_ids_that_are_not_there_are_absent_or_named(built: Corpus) -> None:
    index = built.index()
    assert index.chunks(["nothing"]) == {}
    with pytest.raises(NotIndexed, match="No document 'nothing'"):
        index.document("nothing")


def test_a_part_that_was_not_built_names_a_method_that_reads_it(tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings={"engine": "offline", "index": {"parts": []}}) as made:
        made.add(*stories(2))
        made.build()
        index = made.index()
        with pytest.raises(NotIndexed, match="`sensegraph index --method raptor`"):
            assert index.part(TREE)
        with pytest.raises(NotIndexed, match="`sensegraph index --method NAME`"):  # many read it
            assert index.graph


@pytest.mark.parametrize("part", sorted(BUILT_IN))
def test_methods_that_messages_name_read_the_part(part: str) -> None:
    reads = load_method(find_part(part).reader).reads
    assert part in reads or part == "triples"  # which its reader uses where they are there, and never misses


def test_a_store_without_an_index_says_what_to_run(store: SqliteStore) -> None:
    with pytest.raises(NotIndexed, match="run `sensegraph index PATH` first"):
        Index(store)


def test_an_index_whose_list_of_parts_is_gone_is_named(store: SqliteStore) -> None:
    store.set_refs({"index": "nowhere"})
    with pytest.raises(StoreError, match="is gone from the store"):
        Index(store)


def test_an_index_of_another_version_is_named(store: SqliteStore) -> None:
    store.write({"old": b'{"documents": "x"}'})
    store.set_refs({"index": "old"})
    with pytest.raises(StoreError, match=r"made by another version .*run `sensegraph index` again"):
        Index(store)


def test_d7_vectors_of_another_embedder_are_refused(built: Corpus) -> None:
    index = built.index()
    other = RemoteEmbedder(Endpoint(EndpointSettings(base_url="http://127.0.0.1:9/v1", embedding_model="another")))
    with pytest.raises(NotIndexed, match="has vectors of the embedder 'hashed', the settings name 'another'"):
        index.vectors_of(other)
    assert index.vectors_of(built.runtime().embedder) is index.vectors


def test_opening_an_index_reads_no_texts(built: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    real = SqliteStore.read

    def read(self: SqliteStore, keys: list[str]) -> dict[str, bytes]:
        found = real(self, keys)
        asked.append(sum(map(len, found.values())))
        return found

    monkeypatch.setattr(SqliteStore, "read", read)
    index = Index(built.store)
    assert len(index.catalogue.chunks)
    assert len(index.graph.entities)
    assert len(index.hierarchy.clusters)
    assert sum(asked) < 3000


def test_an_index_stays_open_until_another_build(tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings={"engine": "offline", "index": {"parts": []}}) as made:
        made.add(stories(2))
        made.build()
        first = made.index()
        assert made.index() is first
        made.build()
        assert made.index() is first
        made.add(stories(3))
        made.build()
        assert len(made.index().catalogue.documents) == 3
        assert len(first.catalogue.documents) == 2
        made.remove(*made.document_keys())
        with pytest.raises(NotIndexed):
            made.index()


def test_what_was_collected_meanwhile_is_gone_and_not_left_out(built: Corpus, tmp_path: Path) -> None:
    shutil.copytree(built.root, tmp_path / "copy")
    with Corpus.open(tmp_path / "copy") as corpus:
        index = corpus.index()
        chunk, document = index.catalogue.chunks[0], index.catalogue.documents[0]
        assert isinstance(corpus.store, SqliteStore)
        with corpus.store.writing() as db:
            delete_objects(db, [chunk.key, document.key])
        with pytest.raises(ResultGone, match=r"chunks\.chunk are gone"):
            index.chunks([e.id for e in index.catalogue.chunks])
        with pytest.raises(ResultGone, match=r"The text of .* is gone"):
            index.document(document.id)
