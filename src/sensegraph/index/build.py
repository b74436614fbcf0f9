"""From documents to an index: the one build that every method shares."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

import msgspec

from sensegraph.algorithms.segments import cut_keys
from sensegraph.errors import EmptyCorpus, ItemFailed, NotIndexed, StoreError
from sensegraph.index.browse.copies import find_same_texts, note_copies
from sensegraph.index.chunks import cut_documents
from sensegraph.index.extraction import extract_all, what_was_rejected
from sensegraph.index.graph.columns import forget_columns
from sensegraph.index.graph.duplicates import resolved_graph
from sensegraph.index.graph.lookups import find_lookups, find_ties
from sensegraph.index.graph.merging import describe_graphs
from sensegraph.index.hierarchy.communities import ClusterSettings, Earlier, cluster_graphs
from sensegraph.index.hierarchy.gathering import group_graph
from sensegraph.index.hierarchy.reports import keep_hierarchy, report_all
from sensegraph.index.index import WordRuns, index_words, keep_documents, list_words
from sensegraph.index.left_out import list_left_out, recovered_chunks
from sensegraph.index.manifest import REF, MadePart, Manifest, catalogue_of, note_left_out, read_manifest
from sensegraph.index.navigation import add_navigation
from sensegraph.index.parts import Building, Part, Spine, Stage
from sensegraph.index.restricted.arrivals import current_second, note_arrivals
from sensegraph.index.restricted.dates import find_dates
from sensegraph.index.settings import IndexSettings
from sensegraph.index.vectors import chunk_runs, embed_unopened, entity_runs, report_runs
from sensegraph.protocols import Store
from sensegraph.resolution.aliases import replay_operations
from sensegraph.resolution.log import read_operations
from sensegraph.runtime.background import run_in_background
from sensegraph.runtime.batches import ReadItems
from sensegraph.runtime.delegating import (
    VERY_MANY,
    is_very_large,
    make_each,
    release_between_parts,
    return_free_memory,
    work_on_worker,
)
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import Result, Results, recall_result
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Chunk, Document, Graph, Hierarchy

T = TypeVar("T")


def build_index(keys: Sequence[str], rt: Runtime, settings: IndexSettings, *, fresh: bool = False) -> Manifest:
    """Build the index of the documents with these keys and make it the one that readers see.

    Only what is missing is computed. `fresh` clusters without regard to the communities of the index before. Raises
    EmptyCorpus when there is no text, ItemFailed when no chunk holds an entity, StepFailed when items failed.
    """
    documents = Results(rt.store, keep_documents, keys)
    if not keys:
        raise EmptyCorpus(
            "There are no documents to index; add a folder or file: `sensegraph index PATH` (in Python: "
            "`corpus.add(PATH)`)."
        )
    rt = replace(rt, large=len(keys) > VERY_MANY)
    del keys  # of very many documents they are packed now
    chunks = cut_documents(documents, rt, size=settings.chunk_tokens, overlap=settings.chunk_overlap)
    listed = catalogue_of(documents, chunks, rt)
    if not len(listed.value.chunks):
        raise EmptyCorpus(f"None of the {len(documents)} documents holds any text; nothing to index.")
    spine = Spine(listed, documents.keys, chunks, fresh=fresh)
    with (
        run_in_background(lambda rt: embed_chunks(spine, rt), rt) as embedded,
        run_in_background(lambda rt: _build_beside(spine, rt, settings), rt, embeds=False) as beside,
    ):
        whole = _add_graph(spine, rt, settings) if "graph" in settings.parts else spine
        release_between_parts(rt)
        _release_columns(whole, rt)
        whole = replace(whole, made=beside())
        embedded()
    return complete_index(whole, rt, settings)


def _release_columns(spine: Spine, rt: Runtime) -> None:
    """In a very large build the columns of the graph are in memory only while steps ask for them."""
    if spine.graph and is_very_large(rt):
        forget_columns(spine.graph.value)
        return_free_memory(rt)


def _build_beside(spine: Spine, rt: Runtime, settings: IndexSettings) -> dict[str, MadePart]:
    """The parts that are built from the chunks alone, by their names."""
    parts = _parts_built("beside", settings)
    builders = [partial(_build_one_part, part, spine, rt, settings) for part in parts]
    return {part.name: work_on_worker(rt, build, "engine") for part, build in zip(parts, builders, strict=True)}


def _add_graph(spine: Spine, rt: Runtime, settings: IndexSettings) -> Spine:
    """The spine with a graph and, where the settings ask for them, reports; entities are embedded meanwhile."""
    extracted = work_on_worker(rt, partial(extract_all, spine.by_document, rt, spine.sizes), "engine")
    log = replay_operations(read_operations(rt.store))
    known, said = resolved_graph(extracted, rt, settings.graph, settings.resolve, log.aliases, spine.texts)
    return_free_memory(rt)
    if not len(known.value.entities):
        count = len(spine.catalogue.value.chunks)
        raise ItemFailed(f"No entity was found in {count} chunks; check the model's replies or the language.")
    notes = (*what_was_rejected(extracted, rt), *log.notes, *said)
    if "reports" not in settings.parts:
        return replace(spine, graph=known, notes=notes)
    with run_in_background(
        lambda rt: embed_unopened(lambda: entity_runs(known.value), rt, name=known.key), rt
    ) as embedded:
        # the communities of the last build where the shape of the graph is the same
        before = None if spine.fresh else earlier_build(rt, settings.clusters)
        shape, found = group_graph(known, before, rt, settings.clusters)
        return_free_memory(rt)
        earlier = None if spine.fresh else earlier_reports(rt)
        reported = report_all(found, known, lambda: spine.catalogue.value.chunks, rt, settings.reports, earlier)
        embedded()
    notes = (*notes, *reported.value.notes)
    return replace(spine, graph=known, structure=shape, communities=found, hierarchy=reported, notes=notes)


def embed_chunks(spine: Spine, rt: Runtime) -> str:
    """The key of the vectors of the chunks, in the order of the catalogue."""
    size = len(spine.catalogue.value.chunks)
    return embed_unopened(lambda: chunk_runs(spine.by_document, size), rt, name=spine.chunks_key)


def complete_index(spine: Spine, rt: Runtime, settings: IndexSettings) -> Manifest:
    """Give `spine` what searches need - vectors, words, lookups, parts - and publish it as what readers see."""
    graph, reported = spine.graph, spine.hierarchy
    words = _index_all_words(spine, rt)
    chunk_vectors = embed_chunks(spine, rt)
    entity_vectors = embed_unopened(lambda: entity_runs(graph.value), rt, name=graph.key) if graph else ""
    reports = embed_unopened(lambda: report_runs(reported.value), rt, name=reported.key) if reported else ""
    if graph:
        find_ties(graph, spine.catalogue, rt)
    known = graph.value if graph else Graph()
    manifest = Manifest(
        documents=spine.catalogue.key,
        chunks=spine.chunks_key,
        words=words.key,
        vectors=chunk_vectors,
        engine=rt.engine.name,
        embedder=rt.embedder.name,
        vectors_by=rt.embedder.fingerprint(),
        settings=settings.key,
        counts={
            "documents": len(spine.catalogue.value.documents),
            "chunks": len(spine.catalogue.value.chunks),
            "entities": len(known.entities),
            "relations": len(known.relations),
            "claims": len(known.claims),
        },
        structure=spine.structure,
        graph=graph.key if graph else "",
        communities=spine.communities.key if spine.communities else "",
        clustering=key(settings.clusters) if spine.communities else "",
        hierarchy=reported.key if reported else "",
        lookups=find_lookups(graph, reported, rt, communities=spine.communities).key if graph else "",
        entity_vectors=entity_vectors,
        report_vectors=reports,
        quoted=spine.quoted and rt.engine.quotes,
        clusters=_count_depths(reported.value) if reported else (),
        notes=spine.notes,
    )
    for name, made in spine.made.items():
        manifest = manifest.with_part(name, made)
    for part in _parts_built("within", settings):
        manifest = manifest.with_part(part.name, _build_one_part(part, spine, rt, settings, manifest))
    if settings.temporal.dates:
        dates = find_dates(spine.catalogue, spine.documents, spine.by_document, graph, rt, settings.temporal)
        manifest = replace(manifest, dates=dates.key)
    _release_columns(spine, rt)
    manifest = add_navigation(manifest, rt, settings.exact_below)
    release_between_parts(rt)
    for part in _parts_built("over", settings):
        manifest = manifest.with_part(part.name, _build_one_part(part, spine, rt, settings, manifest))
    left_out = list_left_out(rt.aside, known, spine.chunks)
    copies = find_same_texts(spine.documents, rt)
    notes = (*note_left_out(left_out), *note_copies(copies.value), *manifest.notes)
    manifest = replace(manifest, left_out=left_out, copies=copies.key, notes=notes)
    held = _count_earlier(rt)
    publish_manifest(manifest, rt)
    runs, digests = rt.whole.cut(spine.documents)  # those of the index before are known
    places = [place for run in runs for place in run]
    note_arrivals(rt.store, spine.catalogue.value.documents, current_second(), places, held)
    rt.whole.note(runs, digests, ())
    return manifest


def _count_depths(hierarchy: Hierarchy) -> tuple[int, ...]:
    """How many clusters there are at each depth; they come in this order."""
    clusters, ends = hierarchy.clusters, [0]
    while ends[-1] < len(clusters):
        ends.append(bisect_right(range(len(clusters)), len(ends) - 1, key=lambda place: clusters[place].depth))
    return tuple(end - begin for begin, end in pairwise(ends))


def _count_earlier(rt: Runtime) -> int:
    """How many documents the index of now holds; -1 where there is none that can be read."""
    try:
        return read_manifest(rt.store).counts["documents"]
    except (NotIndexed, StoreError, KeyError):
        return -1


def _index_all_words(spine: Spine, rt: Runtime) -> Result[WordRuns]:
    """The word index: the postings of each run of documents, so that a change concerns one or two of them."""
    by_document, size = spine.by_document, len(spine.catalogue.value.chunks)
    runs = cut_keys(by_document.keys, size)

    def find(places: Sequence[int]) -> ReadItems[list[Chunk]]:
        """The texts of these runs."""
        readers = [partial(read_run_chunks, by_document.reader(runs[i])) for i in places]
        return ReadItems(rt.store, len(places), readers.__getitem__)

    made = make_each(rt, index_words, find, [by_document.keys[run.start : run.stop] for run in runs])
    return rt.once(list_words, made, names=made)


def read_run_chunks(read: Callable[[Store], Sequence[tuple[Chunk, ...]]], store: Store) -> list[Chunk]:
    """The chunks of the documents that `read` finds in a store."""
    return [c for found in read(store) for c in found]


def _parts_built(stage: Stage, settings: IndexSettings) -> list[Part[Any, Any]]:
    return [part for part in settings.own_parts if part.stage == stage]


def _build_one_part(
    part: Part[Any, Any], spine: Spine, rt: Runtime, settings: IndexSettings, manifest: Manifest | None = None
) -> MadePart:
    """One part, made anew only as far as it must be."""
    earlier = "" if spine.fresh else made_part(rt, part.name)
    made = part.build(Building(spine, rt, settings, earlier, manifest), settings.settings_of(part))
    return_free_memory(rt)
    return replace(made, entry=replace(made.entry, needs=part.needs))


def made_part(rt: Runtime, part: str) -> str:
    """The key of a part of the index as it is now; empty where it has none, or another version made it."""
    try:
        made = read_manifest(rt.store) if rt.store.ref(REF) else None
        if made is None or recovered_chunks(made.left_out, rt.aside) or any(c.what != "chunk" for c in made.left_out):
            return ""  # what quotes in place of a text is no start
        return made.parts[part].key if part in made.parts else ""
    except StoreError:
        return ""


def iterate_chunks(chunks: Results[tuple[Chunk, ...]]) -> Iterator[Chunk]:
    """All chunks in order."""
    for found in chunks:
        yield from found


def publish_manifest(manifest: Manifest, rt: Runtime) -> None:
    """Store the manifest and let readers see it, in one change."""
    name = key("manifest", manifest)
    rt.store.write({name: msgspec.json.encode(manifest)}, "index")
    rt.store.set_refs({REF: name})


def store_documents(documents: Sequence[Document], rt: Runtime) -> list[str]:
    """Store documents as objects; their keys, in order."""
    return list(rt.each(keep_documents, documents).keys)


def earlier_build(rt: Runtime, settings: ClusterSettings) -> Earlier | None:
    """The communities and the graph of the index as it is now, if these settings made them and no more was missing."""
    if not rt.store.ref(REF):
        return None
    try:
        made = read_manifest(rt.store)
        if made.clustering != key(settings):
            return None  # an update keeps what it finds, and what it finds obeys other settings
        if recovered_chunks(made.left_out, rt.aside):
            return None  # what was missing is there: it becomes the index that it would have been
        found = Result(made.communities, recall_result(rt.store, cluster_graphs, made.communities))
        return Earlier(found, Result(made.graph, recall_result(rt.store, describe_graphs, made.graph)), made.structure)
    except StoreError:
        return None  # parts are gone or of another version: the build makes them anew instead of failing for ever


def earlier_reports(rt: Runtime) -> Result[Hierarchy] | None:
    """The reports of the index as it is now, if it has some."""
    try:
        made = read_manifest(rt.store) if rt.store.ref(REF) else None
        if made is None or not made.hierarchy:
            return None
        return Result(made.hierarchy, recall_result(rt.store, keep_hierarchy, made.hierarchy))
    except StoreError:
        return None
