"""The concept graph of a corpus: the same for any order of work, mapped from the store, made without a model (N88)."""

from __future__ import annotations

from dataclasses import fields
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from scripted import ScriptedServer
from sensegraph.errors import SettingsError
from sensegraph.index.chunks import chunk_documents
from sensegraph.methods.lazygraphrag.concepts import (
    Concepts,
    ConceptSettings,
    cluster_concepts,
    concept_graph,
    make_concepts,
    note_run,
    prune_phrases,
    pruning_notes,
)
from sensegraph.runtime.results import recall_result
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Document
from wired import runtime, stories

TOPICS = ("tidal power", "wind farms", "labour market", "solar cells", "harbour board", "storm damage")

WORDS = "tidal wind solar coastal northern southern eastern western lunar marine rural urban civic royal local".split()


def documents() -> list[Document]:
    """Two topics that never meet, and a text without any concept."""
    sea = [f"They spoke of tidal power, wind farms and solar cells in {year}." for year in range(1990, 1996)]
    port = [f"They spoke of the harbour board, storm damage and the labour market in {year}." for year in range(5)]
    texts = [*sea, *port, "So it was.", sea[0]]
    return [Document(f"d{i:02}", text) for i, text in enumerate(texts)]


def made(store: SqliteStore, given: list[Document], **settings: Any) -> Concepts:
    rt = runtime(store)
    chunks = rt.each(chunk_documents, given, size=120, overlap=20)
    return concept_graph(chunks, rt, ConceptSettings(**settings)).value


def test_concepts_that_share_chunks_are_linked_and_clustered(store: SqliteStore) -> None:
    found = made(store, documents())
    names = found.names(range(len(found)))
    assert names == sorted(TOPICS)
    pairs = {(names[a], names[b]) for a, b in zip(found.source, found.target, strict=True)}
    sea, port = ("solar cells", "tidal power", "wind farms"), ("harbour board", "labour market", "storm damage")
    assert pairs == {*combinations(sea, 2), *combinations(port, 2)}
    assert sorted(set(found.weight.tolist())) == [5, 7]
    groups = {
        home: {n for n, h in zip(names, found.homes[:, 0], strict=True) if h == home} for home in found.homes[:, 0]
    }
    assert sorted(map(sorted, groups.values())) == [sorted(port), sorted(sea)]


def test_chunks_hold_their_concepts_and_equal_texts_are_one(store: SqliteStore) -> None:
    found = made(store, documents())
    assert found.chunks == 13
    assert found.names(found.of(0)) == ["solar cells", "tidal power", "wind farms"]
    assert len(found.of(11)) == 0
    assert found.same.tolist() == [*range(12), 0]
    assert found.document.tolist() == list(range(13))
    assert found.leading(2) == ["harbour board", "labour market"]
    assert found.find("tidal power") == found.names(range(len(found))).index("tidal power")
    assert found.find("tidal") is None
    assert sorted(found.names(found.around(found.find("tidal power") or 0))) == ["solar cells", "wind farms"]


def test_no_model_is_asked(store: SqliteStore, server: ScriptedServer) -> None:
    rt = runtime(store, server)
    concept_graph(rt.each(chunk_documents, stories(4), size=120, overlap=20), rt, ConceptSettings())
    assert server.calls == []


def test_it_is_recalled_as_mapped_arrays_and_computed_once(store: SqliteStore) -> None:
    rt = runtime(store)
    chunks = rt.each(chunk_documents, documents(), size=120, overlap=20)
    first = concept_graph(chunks, rt, ConceptSettings())
    again = runtime(store)
    assert concept_graph(chunks, again, ConceptSettings()).key == first.key
    assert not again.computed
    mapped = recall_result(store, make_concepts, first.key)
    for f in fields(Concepts):
        assert not getattr(mapped, f.name).flags.writeable
        assert np.array_equal(getattr(mapped, f.name), getattr(first.value, f.name))


def test_only_changed_documents_are_read_again_and_an_update_equals_a_rebuild(store: SqliteStore) -> None:
    made(store, documents())
    rt = runtime(store)
    changed = [*documents()[:-1], Document("d12", "They spoke of tidal power and storm damage.")]
    chunks = rt.each(chunk_documents, changed, size=120, overlap=20)
    updated = concept_graph(chunks, rt, ConceptSettings())
    assert rt.computed["nounphrases.note"] == 1
    run = note_run(_noted(changed))
    graph = prune_phrases(run, np.zeros(len(run.sizes), np.int64), ConceptSettings())
    (homes,) = cluster_concepts.fn([graph.pruned.edges], settings=ConceptSettings())
    (fresh,) = make_concepts.fn([(graph, homes)], settings=ConceptSettings())
    for f in fields(Concepts):
        assert np.array_equal(getattr(updated.value, f.name), getattr(fresh, f.name))


def test_communities_of_concepts_are_looked_for_again_only_where_their_graph_changed(
    store: SqliteStore,
):
    rt = runtime(store)

    def build(given: list[Document]) -> Concepts:
        chunks = rt.each(chunk_documents, given, size=120, overlap=20)
        return concept_graph(chunks, rt, ConceptSettings()).value

    before = build(documents())
    assert rt.computed["concepts.homes"] == 1
    beside = build([*documents(), Document("e", "An unheard-of word was said.")])  # what one chunk holds is not kept
    assert rt.computed["concepts.concepts"] == 2
    assert rt.computed["concepts.homes"] == 1
    assert np.array_equal(beside.homes, before.homes)
    assert len(beside.document) == len(before.document) + 1
    changed = build(documents()[:-3])
    assert rt.computed["concepts.homes"] == 2
    assert changed.homes.shape[0] != before.homes.shape[0] or not np.array_equal(changed.weight, before.weight)


def _noted(given: list[Document]) -> list[Any]:
    from sensegraph.methods.lazygraphrag.concepts import note

    return note.fn(chunk_documents.fn(given, size=120, overlap=20), one_word="none")


def test_a_corpus_without_concepts_has_an_empty_graph_that_can_be_stored(store: SqliteStore) -> None:
    found = made(store, [Document("a", "So it was."), Document("b", "And so it is.")])
    assert (len(found), found.chunks, len(found.source)) == (0, 2, 0)
    assert found.leading(5) == []
    assert np.diff(found.start).tolist() == [0, 0]


def test_pruning_less_than_asked_for_is_told(store: SqliteStore) -> None:
    full = made(store, documents())
    assert full.dropped.tolist() == [0, 0, 0, 0]
    assert pruning_notes(full) == ()
    assert "not at all" in pruning_notes(made(store, documents()[5:7]))[0]
    apart = [Document(f"{i}", f"They spoke of {a} and {b}.") for i, (a, b) in enumerate(combinations(TOPICS, 2))]
    weak = made(store, apart, hub_deviations=9.0)
    assert "less than asked for" in pruning_notes(weak)[0]
    assert len(weak.source) == 15


def test_hubs_are_dropped_and_counted(store: SqliteStore) -> None:
    given = [Document(f"{i}", f"Ada Finch on the {w} power and the {w} board.") for i, w in enumerate(WORDS * 2)]
    found = made(store, given, min_degree=1)
    assert found.dropped[0] == 1
    assert found.find("ada finch") is None
    assert len(found) == 2 * len(WORDS)


def test_a_part_of_the_chunks_keeps_only_what_those_hold(store: SqliteStore) -> None:
    found = made(store, documents())
    part = found.within(np.array([6, 7, 12]))
    assert part.chunks == 3
    assert [part.names(part.of(i)) for i in range(3)] == [found.names(found.of(i)) for i in (6, 7, 12)]
    assert part.same.tolist() == [0, 1, 2]
    assert part.document.tolist() == [6, 7, 12]
    assert set(found.within(np.array([6, 7])).leading(99)) == {"harbour board", "labour market", "storm damage"}
    port = found.within(np.array([6, 7]))
    assert len(port.source) == 3
    assert found.within(np.arange(13)).leading(99) == found.leading(99)


def test_every_home_is_a_community_whose_parent_is_the_home_above(store: SqliteStore) -> None:
    ring = [f"{a} {b}" for a in WORDS for b in ("power", "board", "damage", "market", "letter", "boat")]
    near = [", ".join((ring + ring[:2])[i : i + 3]) for i in range(len(ring))]
    given = [Document(f"{i:03}", f"On {text} in {year}.") for year in (1, 2) for i, text in enumerate(near)]
    found = made(store, given, max_cluster_size=4)
    assert len(found) == len(ring)
    assert found.depths >= 2
    for depth in range(1, found.depths):
        for home, above in zip(found.homes[:, depth], found.homes[:, depth - 1], strict=True):
            assert above in (home, found.parent[home])
    assert (found.parent[np.unique(found.homes[:, 0])] == -1).all()


@pytest.mark.parametrize(
    "bad", [{"min_weight": 1}, {"min_degree": 0}, {"cover": 1.5}, {"max_cluster_size": 0}, {"seed": -1}]
)
def test_settings_that_cannot_work_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=next(iter(bad))):
        ConceptSettings(**bad)


def test_inside_some_chunks_a_concept_of_a_single_chunk_stays_and_one_of_none_has_no_edge() -> None:
    none = np.zeros(0, np.int32)
    whole = Concepts(
        np.frombuffer(b"abc", np.uint8), np.array([1, 2, 3]), np.array([2, 2, 2], np.int32),
        np.array([0, 0, 1], np.int32), np.array([1, 2, 2], np.int32), np.array([3.0, 2.0, 1.0]),
        np.array([0, 2, 3, 4]), np.array([0, 1, 0, 2], np.int32), none, np.zeros((3, 0), np.int32),
        np.array([0, 0, 1], np.int32), np.array([0, 1, 1], np.int32), np.zeros(4, np.int64),
    )  # fmt: skip
    first = whole.within(np.array([0]))
    assert first.degree.tolist() == [2, 2, 0]
    assert list(zip(first.source.tolist(), first.target.tolist(), first.weight.tolist(), strict=True)) == [(0, 1, 3.0)]
    rest = whole.within(np.array([1, 2]))
    assert (rest.degree.tolist(), rest.same.tolist(), rest.document.tolist()) == ([2, 0, 2], [0, 0], [0, 1])
    assert [rest.of(chunk).tolist() for chunk in range(2)] == [[0], [2]]
    assert rest.leading(9) == ["a", "c"]
