"""From documents to an index: the one build that every method shares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from sensegraph.errors import EmptyCorpus, ItemFailed, SettingsError, StoreError
from sensegraph.index.background import beside
from sensegraph.index.chunks import cut_documents
from sensegraph.index.extraction import Extracted, extract_all, what_was_rejected
from sensegraph.index.graph.duplicates import ResolveSettings, resolved_graph
from sensegraph.index.graph.lookups import find_lookups
from sensegraph.index.graph.merging import GraphSettings, graph
from sensegraph.index.graph.ties import find_ties
from sensegraph.index.hierarchy.communities import (
    ClusterSettings,
    Communities,
    Earlier,
    communities,
    find_communities,
    structure,
)
from sensegraph.index.hierarchy.reports import ReportSettings, report_all
from sensegraph.index.index import REF, Catalogue, Manifest, catalogue, document, read_manifest
from sensegraph.index.neighbours import EXACT_BELOW, with_ways
from sensegraph.index.restricted.arrivals import arrive, now
from sensegraph.index.restricted.dates import TemporalSettings, dates_part
from sensegraph.index.vectors import (
    chunk_texts,
    embed_all,
    embed_records,
    entity_texts,
    relation_texts,
    report_texts,
    stack,
)
from sensegraph.index.words import find_words
from sensegraph.methods.hipporag.facts import FactSettings, embed_facts, find_facts
from sensegraph.methods.hirag.layer_clusters import LayerSettings
from sensegraph.methods.hirag.layers import earlier_layers, in_place, layer_all, layered
from sensegraph.methods.lazygraphrag.concepts import Concepts, ConceptSettings, concept_graph, pruning_notes
from sensegraph.methods.leanrag.aggregated import aggregate_all, earlier_aggregates
from sensegraph.methods.leanrag.aggregates import AggregateSettings
from sensegraph.methods.linearrag.sentences import embed_sentences, find_sentences
from sensegraph.methods.raptor.gathering import TreeSettings
from sensegraph.methods.raptor.tree import plant
from sensegraph.methods.walk.naming import Names, NameSettings, name_graph
from sensegraph.protocols import Part
from sensegraph.resolution.aliases import replayed
from sensegraph.resolution.log import operations
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import Result, Results, recall
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Chunk, Document, Graph, Hierarchy


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """How an index is built; the defaults are those of edge2024.

    `parts` says what is built besides chunks, their vectors and their words: the graph, the reports on its
    communities (which need the graph), the concepts of LazyGraphRAG, the vectors of relations of LightRAG (which need
    the graph), the names of the walk, the facts of HippoRAG, the sentences of LinearRAG, the aggregates of LeanRAG and
    the layers of HiRAG (which need the graph), the tree of RAPTOR.
    From `exact_below` vectors of a kind on searches are approximate, where the extra `ann` is; 0 keeps them exact.
    """

    chunk_tokens: int = 600
    chunk_overlap: int = 100
    parts: tuple[Part, ...] = ("graph", "reports", "concepts", "names")
    graph: GraphSettings = field(default_factory=GraphSettings)
    resolve: ResolveSettings = field(default_factory=ResolveSettings)
    clusters: ClusterSettings = field(default_factory=ClusterSettings)
    reports: ReportSettings = field(default_factory=ReportSettings)
    concepts: ConceptSettings = field(default_factory=ConceptSettings)
    names: NameSettings = field(default_factory=NameSettings)
    facts: FactSettings = field(default_factory=FactSettings)
    aggregates: AggregateSettings = field(default_factory=AggregateSettings)
    layers: LayerSettings = field(default_factory=LayerSettings)
    tree: TreeSettings = field(default_factory=TreeSettings)
    temporal: TemporalSettings = field(default_factory=TemporalSettings)
    exact_below: int = EXACT_BELOW

    def __post_init__(self) -> None:
        if self.exact_below < 0:
            raise SettingsError(f"index.exact_below must be at least 0 (always exact), not {self.exact_below}.")
        if not 0 <= self.chunk_overlap < self.chunk_tokens:
            raise SettingsError(
                f"index.chunk_overlap ({self.chunk_overlap}) must be at least 0 and below index.chunk_tokens "
                f"({self.chunk_tokens})."
            )
        if "reports" in self.parts and "graph" not in self.parts:
            raise SettingsError("index.parts has reports without graph: reports are written on the graph, add it.")
        if "relations" in self.parts and "graph" not in self.parts:
            raise SettingsError("index.parts has relations without graph: they are the graph's relations, add it.")
        for part in ("facts", "sentences", "aggregates", "layers"):
            if part in self.parts and "graph" not in self.parts:
                raise SettingsError(f"index.parts has {part} without graph: they tell of its entities, add it.")


@dataclass(frozen=True, slots=True)
class Parts:
    """What an index is made of before its vectors and lookups: see `complete`.

    `chunks` reads all chunks in the order of the catalogue; `chunks_key` stands for them. `quoted` says whether what is
    described and reported may be shown as the sources' own words; `fresh` that nothing starts from an earlier build.
    """

    catalogue: Result[Catalogue]
    chunks: Callable[[], Iterable[Chunk]]
    chunks_key: str
    graph: Result[Graph] | None = None
    structure: str = ""
    communities: Result[Communities] | None = None
    hierarchy: Result[Hierarchy] | None = None
    concepts: Result[Concepts] | None = None
    names: Result[Names] | None = None
    quoted: bool = True
    notes: tuple[str, ...] = ()
    fresh: bool = False


def build(keys: Sequence[str], rt: Runtime, settings: IndexSettings, *, fresh: bool = False) -> Manifest:
    """Build the index of the documents with these keys and make it the one that readers see.

    Only what is missing is computed. `fresh` clusters without regard to the communities of the index before. Raises
    EmptyCorpus when there is no text, ItemFailed when no chunk holds an entity, StepFailed when items failed.
    """
    documents = Results(rt.store, document, keys)
    if not keys:
        raise EmptyCorpus("There are no documents to index; add a folder or file: `sensegraph index PATH`.")
    chunks = cut_documents(documents, rt, size=settings.chunk_tokens, overlap=settings.chunk_overlap)
    listed = rt.once(catalogue, (documents, chunks), names=(*documents.keys, *chunks.keys))
    if not len(listed.value.chunks):
        raise EmptyCorpus(f"None of the {len(keys)} documents holds any text; nothing to index.")
    parts = Parts(listed, lambda: flat(chunks), key(*chunks.keys), fresh=fresh)
    with beside(lambda rt: embed_all(chunk_texts(flat(chunks)), rt), rt) as embedded:
        if "graph" in settings.parts:
            parts = _with_graph(parts, chunks, rt, settings, fresh=fresh)
        if "concepts" in settings.parts:
            found = concept_graph(chunks, rt, settings.concepts)
            parts = replace(parts, concepts=found, notes=(*parts.notes, *pruning_notes(found.value)))
        if "names" in settings.parts:
            parts = replace(parts, names=name_graph(chunks, rt, settings.names))
        embedded()
    return complete(parts, rt, settings)


def _with_graph(
    parts: Parts, chunks: Results[tuple[Chunk, ...]], rt: Runtime, settings: IndexSettings, *, fresh: bool
) -> Parts:
    """The parts with a graph and, where the settings ask for them, reports; entities are embedded meanwhile."""
    extracted = extract_all(chunks, rt)
    known, said = _known(extracted, parts, rt, settings)
    notes = (*what_was_rejected(extracted, rt), *said)
    if "reports" not in settings.parts:
        return replace(parts, graph=known, notes=notes)
    with beside(lambda rt: embed_records(lambda: entity_texts(known.value), rt, name=known.key), rt) as embedded:
        shape, found = _communities(known, rt, settings, fresh=fresh)
        reported = report_all(found, known, parts.chunks, rt, settings.reports)
        embedded()
    notes = (*notes, *reported.value.notes)
    return replace(parts, graph=known, structure=shape, communities=found, hierarchy=reported, notes=notes)


def complete(parts: Parts, rt: Runtime, settings: IndexSettings) -> Manifest:
    """Give `parts` what searches need - vectors, words, lookups - and publish them as the index that readers see."""
    graph, reported = parts.graph, parts.hierarchy
    words = find_words(parts.chunks, [parts.chunks_key], rt)
    chunk_vectors = embed_all(chunk_texts(parts.chunks()), rt)
    entity_vectors = embed_records(lambda: entity_texts(graph.value), rt, name=graph.key).key if graph else ""
    reports = embed_records(lambda: report_texts(reported.value), rt, name=reported.key).key if reported else ""
    if graph:
        find_ties(graph, parts.catalogue, rt)
    relations = ""
    if graph and "relations" in settings.parts:
        relations = embed_records(lambda: relation_texts(graph.value), rt, name=key("relations", graph.key)).key
    found, told = _facts(parts, rt, settings)
    read, meant = _sentences(parts, rt, settings)
    manifest = Manifest(
        documents=parts.catalogue.key,
        chunks=parts.chunks_key,
        words=words.key,
        vectors=chunk_vectors.key,
        engine=rt.engine.name,
        embedder=rt.embedder.name,
        vectors_by=rt.embedder.fingerprint(),
        settings=key(settings),
        counts=_counts(parts),
        structure=parts.structure,
        graph=graph.key if graph else "",
        communities=parts.communities.key if parts.communities else "",
        clustering=key(settings.clusters) if parts.communities else "",
        hierarchy=reported.key if reported else "",
        lookups=find_lookups(graph, reported, rt).key if graph else "",
        entity_vectors=entity_vectors,
        report_vectors=reports,
        concepts=parts.concepts.key if parts.concepts else "",
        relations=relations,
        names=parts.names.key if parts.names else "",
        facts=found,
        fact_vectors=told,
        sentences=read,
        sentence_vectors=meant,
        quoted=parts.quoted and rt.engine.quotes,
        clusters=_by_depth(reported.value) if reported else (),
        notes=parts.notes,
    )
    manifest = _with_aggregates(_with_tree(manifest, parts, rt, settings), parts, rt, settings)
    manifest = replace(manifest, dates=dates_part(parts.catalogue, parts.chunks, graph, rt, settings.temporal))
    manifest = with_ways(manifest, rt, settings.exact_below)
    manifest = _with_layers(manifest, parts, rt, settings)
    publish(manifest, rt)
    arrive(rt.store, parts.catalogue.value.documents, now())
    return manifest


def _with_tree(manifest: Manifest, parts: Parts, rt: Runtime, settings: IndexSettings) -> Manifest:
    """The manifest with the tree over the chunks, where the settings ask for it."""
    if "tree" not in settings.parts:
        return manifest
    ids = [c.id for c in parts.catalogue.value.chunks]
    made = plant(parts.chunks, parts.chunks_key, ids, rt, settings.tree)
    return replace(
        manifest,
        tree=made.tree,
        leaf_vectors=made.leaf_vectors,
        summary_vectors=made.summary_vectors,
        counts={**manifest.counts, "leaves": made.leaves, "summaries": made.summaries},
        notes=(*manifest.notes, *made.notes),
    )


def _with_aggregates(manifest: Manifest, parts: Parts, rt: Runtime, settings: IndexSettings) -> Manifest:
    """The manifest with the aggregates over the graph, where the settings ask for them."""
    if not parts.graph or "aggregates" not in settings.parts:
        return manifest
    vectors = Result(manifest.entity_vectors, recall(rt.store, stack, manifest.entity_vectors))
    before = None if parts.fresh else earlier_aggregates(rt.store, made_part(rt, "aggregates"), settings.aggregates)
    name, made, found = aggregate_all(parts.graph, vectors, parts.chunks, rt, settings.aggregates, before)
    counts = {"aggregates": len(found.clusters), "aggregate_relations": len(found.relations)}
    return replace(
        manifest,
        aggregates=name,
        aggregate_vectors=made.vectors,
        described=made.described,
        counts={**manifest.counts, **counts},
        notes=(*manifest.notes, *found.notes),
    )


def _with_layers(manifest: Manifest, parts: Parts, rt: Runtime, settings: IndexSettings) -> Manifest:
    """The manifest with the layers over the graph, where the settings ask for them."""
    if not parts.graph or "layers" not in settings.parts:
        return manifest
    vectors = Result(manifest.entity_vectors, recall(rt.store, stack, manifest.entity_vectors))
    own = (settings.layers, settings.clusters)
    before = None if parts.fresh else earlier_layers(rt.store, made_part(rt, "layers"), *own)
    made, found, notes = layer_all(parts.graph, vectors, parts.chunks, rt, *own, settings.reports, before)
    ways = with_ways(in_place(manifest, made), rt, settings.exact_below).ways
    made = replace(made, ways={str(kind): found for kind, found in ways.items()})
    find_ties(Result(made.graph, recall(rt.store, graph, made.graph)), parts.catalogue, rt)
    counts = {**manifest.counts, "summary_entities": len(found.entities)}
    return replace(manifest, layers=rt.once(layered, made).key, counts=counts, notes=(*manifest.notes, *notes))


def made_part(rt: Runtime, part: str) -> str:
    """The key of a part of the index as it is now; empty where it has none, or another version made it."""
    try:
        return str(getattr(read_manifest(rt.store), part)) if rt.store.ref(REF) else ""
    except StoreError:
        return ""


def _facts(parts: Parts, rt: Runtime, settings: IndexSettings) -> tuple[str, str]:
    """The keys of the facts and of their vectors; empty where they are not asked for."""
    if not parts.graph or "facts" not in settings.parts:
        return "", ""
    found = find_facts(parts.graph, parts.chunks, parts.chunks_key, rt, settings.facts)
    return found.key, embed_facts(parts.graph, found, rt, settings.facts)


def _sentences(parts: Parts, rt: Runtime, settings: IndexSettings) -> tuple[str, str]:
    """The keys of the sentences and of their vectors; empty where they are not asked for."""
    if not parts.graph or "sentences" not in settings.parts:
        return "", ""
    found = find_sentences(parts.graph, parts.chunks, parts.chunks_key, rt)
    return found.key, embed_sentences(found, parts.chunks, rt)


def _known(
    extracted: Extracted, parts: Parts, rt: Runtime, settings: IndexSettings
) -> tuple[Result[Graph], tuple[str, ...]]:
    """The graph of what chunks say, merged as the log says, with notes. Raises ItemFailed when they name nothing."""

    def texts(ids: Sequence[str]) -> dict[str, Chunk]:
        wanted = set(ids)
        return {c.id: c for c in parts.chunks() if c.id in wanted}

    log = replayed(operations(rt.store))
    known, notes = resolved_graph(extracted, rt, settings.graph, settings.resolve, log.aliases, texts)
    if not len(known.value.entities):
        count = len(parts.catalogue.value.chunks)
        raise ItemFailed(f"No entity was found in {count} chunks; check the model's replies or the language.")
    return known, (*log.notes, *notes)


def flat(chunks: Results[tuple[Chunk, ...]]) -> Iterator[Chunk]:
    """All chunks in order."""
    for found in chunks:
        yield from found


def publish(manifest: Manifest, rt: Runtime) -> None:
    """Store the manifest and let readers see it, in one change."""
    name = key("manifest", manifest)
    rt.store.write({name: msgspec.json.encode(manifest)}, "index")
    rt.store.set_refs({REF: name})


def store_documents(documents: Sequence[Document], rt: Runtime) -> list[str]:
    """Store documents as objects; their keys, in order."""
    return list(rt.each(document, documents).keys)


def _communities(
    known: Result[Graph], rt: Runtime, settings: IndexSettings, *, fresh: bool
) -> tuple[str, Result[Communities]]:
    """The shape of the graph and its communities: those of the last build where the shape is the same."""
    shape = rt.once(structure, known.value, names=(known.key,)).value
    shape = key(shape, settings.clusters)
    before = None if fresh else earlier_build(rt, settings.clusters)
    if before and before.shape == shape:
        return shape, before.communities
    return shape, find_communities(known, before, rt, settings.clusters)


def earlier_build(rt: Runtime, settings: ClusterSettings) -> Earlier | None:
    """The communities and the graph of the index as it is now, if there is one that was clustered by these settings."""
    if not rt.store.ref(REF):
        return None
    try:
        made = read_manifest(rt.store)
        if made.clustering != key(settings):
            return None  # an update keeps what it finds, and what it finds obeys other settings
        found = Result(made.communities, recall(rt.store, communities, made.communities))
        return Earlier(found, Result(made.graph, recall(rt.store, graph, made.graph)), made.structure)
    except StoreError:
        return None  # parts are gone or of another version: the build makes them anew instead of failing for ever


def _counts(parts: Parts) -> dict[str, int]:
    graph = parts.graph.value if parts.graph else Graph()
    return {
        "documents": len(parts.catalogue.value.documents),
        "chunks": len(parts.catalogue.value.chunks),
        "entities": len(graph.entities),
        "relations": len(graph.relations),
        "claims": len(graph.claims),
    }


def _by_depth(hierarchy: Hierarchy) -> tuple[int, ...]:
    depths = Counter(c.depth for c in hierarchy.clusters)
    return tuple(depths[d] for d in range(len(depths)))
