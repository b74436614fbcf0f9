"""Where workers store what they compute, they read their own inputs: the index is the same, key by key."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from harbour import papers
from sensegraph.algorithms import approximate
from sensegraph.algorithms.segments import Segment
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import InputError, NotIndexed, ResultGone
from sensegraph.index import navigation, vectors
from sensegraph.index.browse.copies import find_originals
from sensegraph.index.browse.documents import DocumentTable, find_named_spans, list_entities_at, read_named_spans
from sensegraph.index.graph import partitions
from sensegraph.index.graph.lookups import build_lookups
from sensegraph.index.graph.part_inputs import read_slices
from sensegraph.index.index import Index
from sensegraph.index.navigation import add_navigation, navigate_segments
from sensegraph.index.restricted.scope import check_scope, restrict_to_scope
from sensegraph.index.vectors import nearest_to_each
from sensegraph.questions import Condition, Scope
from sensegraph.runtime import batches, runtime
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Document

GIVEN = {"engine": "offline", "index": {"chunk_tokens": 40, "chunk_overlap": 5}}


def build(folder: Path, parts: int) -> Corpus:
    """The corpus of a harbour with a copy of its first document, its graph merged in so many partitions."""
    corpus = Corpus.open(folder, settings=GIVEN)
    corpus.add(*papers())
    corpus.add(Document("z-copy", papers()[0].text, "A copy"))
    usual = partitions.count_partitions
    partitions.count_partitions = lambda chunks: parts  # type: ignore[assignment]
    try:
        corpus.build()
    finally:
        partitions.count_partitions = usual
    return corpus


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A corpus whose graph was merged in four partitions."""
    with build(tmp_path_factory.mktemp("here"), 4) as corpus:
        yield corpus


@pytest.fixture(scope="module")
def index(made: Corpus) -> Index:
    return made.index()


def test_an_index_is_the_same_whoever_reads_its_inputs(
    made: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders: list[Any] = []
    usual = batches.Work.order
    monkeypatch.setattr(batches.Work, "order", lambda self, at: orders.append(usual(self, at)) or orders[-1])
    for module in (batches, runtime):
        monkeypatch.setattr(module, "is_shared", lambda store: True)
    with build(tmp_path, 4) as corpus:
        assert corpus.store.ref("index") == made.store.ref("index")
        assert sum(callable(given) for _, given in orders) > 20  # so many batches were read by who computed them
        monkeypatch.undo()
        with build(tmp_path, 4) as again:
            assert again.store.ref("index") == made.store.ref("index")
    with pytest.raises(ResultGone, match=r"The slices none are gone"):
        read_slices(["none"], [], 4, 0, 0, made.store)


# ── the documents of an index ──


def test_a_table_of_documents_says_which_entities_each_document_and_chunk_mentions(index: Index) -> None:
    table = DocumentTable.of(index)
    entities = list(index.graph.entities)
    documents, chunks = list(index.catalogue.documents), list(index.catalogue.chunks)
    assert table.numbers == {d.id: i for i, d in enumerate(documents)}
    for number, document in enumerate(documents):
        own = [c.id for c in chunks if c.document == document.id]
        assert list(table.chunks_in(number)) == own
        wanted = [i for i, e in enumerate(entities) if set(own) & set(e.chunks)]
        assert table.entities_in(number).tolist() == wanted
        assert table.mentioned[number] == len(wanted)
        for position, chunk in enumerate(own):
            assert table.entities_of_chunk(number, position).tolist() == [
                i for i, e in enumerate(entities) if chunk in e.chunks
            ]
        row = table.row(number, "new")
        assert (row.id, row.title, row.entities, row.state) == (document.id, document.title, len(wanted), "new")
    bare = SimpleNamespace(catalogue=index.catalogue, manifest=replace(index.manifest, graph=""))
    none = DocumentTable.of(bare)  # type: ignore[arg-type]
    assert (none.mentioned.tolist(), none.first.tolist()) == ([0] * len(documents), table.first.tolist())


def test_entities_are_listed_that_stand_in_chunks_which_spans_touch(index: Index) -> None:
    table, entities = DocumentTable.of(index), list(index.graph.entities)
    counted = Counter(c.document for c in index.catalogue.chunks)
    name = max(sorted(counted), key=lambda document: counted[document])
    chunks = [c for c in index.chunks([e.id for e in index.catalogue.chunks]).values() if c.document == name]
    first, second = sorted(chunks, key=lambda c: c.start)[:2]

    def listed(*places: tuple[str, int, int]) -> list[int]:
        return list_entities_at(index, table, places)

    def held(*found: Any) -> list[int]:
        ids = {c.id for c in found}
        return [i for i, e in enumerate(entities) if ids & set(e.chunks)]

    assert held(first) != held(first, second) != held(second)
    assert listed((name, 0, 1)) == listed((name, 0, 0)) == held(first)
    assert listed((name, second.start, second.start)) == held(*(c for c in chunks if c.start <= second.start < c.end))
    assert listed((name, second.start - 1, second.start)) == held(first)
    assert listed((name, first.end, first.end + 1)) == held(*(c for c in chunks if c.start <= first.end < c.end))
    assert listed((name, first.end - 1, first.end)) == held(*(c for c in chunks if c.start < first.end <= c.end))
    assert listed((name, 0, 1), (name, second.end - 1, second.end)) == held(
        first, *(c for c in chunks if c.start < second.end <= c.end)
    )
    assert listed(("nobody", 0, 10**6), (name, 10**6, 10**6 + 1)) == []


def test_a_text_names_its_entities_and_the_later_of_two_copies_has_an_original(index: Index) -> None:
    table = DocumentTable.of(index)
    document = index.document(papers()[0].id)
    spans, rows = read_named_spans(index, table, document.id, document.text)
    entities = [list(index.graph.entities)[i] for i in table.entities_in(table.numbers[document.id])]
    assert spans == find_named_spans(document.text, entities)
    assert {row.id for row in rows} == {span.entity for span in spans}
    assert len(spans) > 3
    first = papers()[0].id
    assert find_originals(index) == {"z-copy": first}
    bare: Any = SimpleNamespace(manifest=replace(index.manifest, copies=""))
    assert find_originals(bare) == {}


# ── parts of an index ──


def test_what_an_index_lacks_is_named(index: Index) -> None:
    with pytest.raises(NotIndexed, match="No index has vectors of kind 'odd'"):
        index._vectors("odd")
    assert index.part_with("odd") is None
    with pytest.raises(NotIndexed, match="did you mean 'minutes-2019'"):
        index.document("minutes-201")
    with pytest.raises(NotIndexed, match=r"No document 'qqq' in this index; `sensegraph"):
        index.document("qqq")
    some = [c.id for c in index.catalogue.chunks][:2]
    assert list(index.documents_of([some[1], "none", some[0], some[1]])) == [some[1], some[0]]
    assert index.tokens_of(some) == {c.id: c.tokens for c in list(index.catalogue.chunks)[:2]}


def test_vectors_are_navigated_from_a_number_on_and_noted_without_the_extra(
    made: Corpus, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    rt, ways = made.runtime(), list[Any]()
    monkeypatch.setattr(navigation, "navigate_segments", lambda name, rt: ways.append(name) or ((0, "k"),))
    kinds, count = index.manifest.stacks, len(index.catalogue.chunks)
    sizes = {kind: len(index.vectors_of(rt.embedder, kind)) for kind in kinds}
    assert sizes["chunk"] == count
    for least in (0, max(sizes.values()) + 1):
        assert add_navigation(index.manifest, rt, least).ways == {}
    found = add_navigation(index.manifest, rt, count)
    assert found.ways == {kind: ((0, "k"),) for kind, size in sizes.items() if size >= count}
    assert "chunk" in found.ways
    assert ways == [kinds[kind] for kind in found.ways]
    monkeypatch.setattr(navigation, "is_installed", lambda: False)
    lacking = add_navigation(index.manifest, rt, count)
    assert lacking.ways == {}
    assert [note for note in lacking.notes if note not in index.manifest.notes] == [
        f"{size:,} vectors of kind {kind} are compared one by one: {approximate.NO_EXTRA}"
        for kind, size in sizes.items()
        if size >= count
    ]


def test_each_segment_has_a_graph_under_where_it_begins(made: Corpus, index: Index, monkeypatch: Any) -> None:
    rt, built, name = made.runtime(), list[int](), index.manifest.stacks["chunk"]
    stack = index.vectors_of(rt.embedder)
    parts = [Segment(0, 4, "a"), Segment(4, len(stack), "b")]
    monkeypatch.setattr(navigation, "cut", lambda vectors: parts)
    monkeypatch.setattr(
        approximate, "build_navigation", lambda rows: built.append(len(rows)) or np.full(3, len(rows), np.uint8)
    )
    found = navigate_segments(name, rt)
    assert [begin for begin, _ in found] == [0, 4]
    assert built == [4, len(stack) - 4]
    assert [made.store.array(k)[0] for _, k in found] == built  # type: ignore[index]


class Navigator:
    """A way through vectors that helps for few rows."""

    def helps(self, top: int) -> bool:
        return top < 5

    def nearest(self, query: Any, top: int) -> tuple[str, int]:
        return "sought", top


def test_a_search_by_a_way_through_vectors_is_noted(made: Corpus, index: Index, monkeypatch: Any) -> None:
    rt: Runtime = made.runtime()
    stack = index.vectors_of(rt.embedder)
    shown: Any = SimpleNamespace(vectors_of=lambda embedder, kind: stack, navigator=lambda kind: Navigator())
    queries = stack[0:2]
    exact = nearest_to_each(queries, index, rt, 3)
    assert int(exact[0][0][0]) == 0
    assert len(nearest_to_each(queries, shown, rt, 5)) == 2
    assert rt.noted == {}
    assert nearest_to_each(queries, shown, rt, 3) == [("sought", 3)] * 2
    several = f"of {len(stack):,} vectors of kind chunk the nearest were sought approximately"
    assert rt.noted == {several: 1}
    monkeypatch.setattr(approximate, "is_installed", lambda: False)
    again = nearest_to_each(queries, shown, rt, 3)
    assert [found[0].tolist() for found in again] == [found[0].tolist() for found in exact]
    assert rt.noted[f"all {len(stack):,} vectors of kind chunk were compared: {approximate.NO_EXTRA}"] == 1
    assert vectors.nearest_to(stack[0], index, rt, 1)[0].tolist() == [0]


# ── filters ──


def test_a_filter_that_cannot_be_says_what_is_wrong(index: Index) -> None:
    count = len(index.catalogue.documents)
    cases: list[tuple[Scope, str]] = [
        (
            Scope(where=(Condition("colour", "=", "red"),)),
            "No document has the field 'colour'; there are .*id.*time, title",
        ),
        (Scope(documents=("x", "y*")), f"leaves none of the {count} documents: document x or y"),
        (Scope(since="2999"), "documents: since 2999"),
        (Scope(until="1000", where=(Condition("id", "=", "q"),)), "documents: id = 'q', until 1000"),
        (Scope(since="-1"), "since of the scope is '-1'"),
        (Scope(until="soon"), "until of the scope is 'soon'"),
        (Scope(between=("2020", "soon")), "between of the scope is 'soon'"),
        (Scope(as_of="soon"), "as_of of the scope is 'soon'"),
        (Scope(known_at="soon"), "known_at of the scope is 'soon'"),
    ]
    for scope, said in cases:
        with pytest.raises(InputError, match=said):
            restrict_to_scope(index, scope)
    with pytest.raises(InputError, match="scope is a value such as"):
        check_scope("letters")
    assert restrict_to_scope(index, Scope()) is index


def test_a_part_of_an_index_holds_what_its_documents_hold(made: Corpus, index: Index) -> None:
    names = [d.id for d in index.catalogue.documents if d.id.startswith(("letter", "report"))]
    inside = restrict_to_scope(index, Scope(documents=("letter*", "report*")))
    assert [d.id for d in inside.catalogue.documents] == names
    assert inside.manifest.counts["documents"] == len(names) < index.manifest.counts["documents"]
    every = list(index.catalogue.chunks)
    places = [i for i, c in enumerate(every) if c.document in names]
    assert list(inside.positions("chunk")) == places
    embedder = made.runtime().embedder
    whole = index.vectors_of(embedder)
    assert np.array_equal(inside.vectors_of(embedder)[0 : len(places)], np.stack([whole[i] for i in places]))
    assert inside.navigator("chunk") is None
    assert inside.scores_of_words("herring").tolist() == index.scores_of_words("herring")[places].tolist()
    with pytest.raises(InputError, match="The document 'minutes-2019' is outside the filter"):
        inside.document("minutes-2019")
    assert inside.document(names[0]) == index.document(names[0])
    assert set(inside.chunks([c.id for c in every])) == {every[i].id for i in places}
    for kind, held, other in (
        ("entity", inside.graph.entities, index.graph.entities),
        ("report", inside.hierarchy.clusters, index.hierarchy.clusters),
    ):
        known = [e.id for e in other]
        assert list(inside.positions(kind)) == [known.index(e.id) for e in held if e.id in known]
    assert set(chain.from_iterable(e.chunks for e in inside.graph.entities)) <= {every[i].id for i in places}
    (wanted,) = build_lookups.fn([(inside.graph, inside.hierarchy)])
    for name in wanted.__dataclass_fields__:
        assert np.array_equal(getattr(inside.lookups, name), getattr(wanted, name)), name
    assert (wanted.homes >= 0).any()
