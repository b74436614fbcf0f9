"""From documents to an index: the one build that every method shares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from sensegraph.errors import EmptyCorpus, ItemFailed, SettingsError, StoreError
from sensegraph.keys import key
from sensegraph.runtime import Result, Results, Runtime, recall
from sensegraph.steps.beside import beside
from sensegraph.steps.chunks import chunk
from sensegraph.steps.communities import ClusterSettings, Communities, Earlier, communities, find_communities, structure
from sensegraph.steps.extraction import Extracted, extract_all, what_was_rejected
from sensegraph.steps.graph import GraphSettings, graph, knowledge_graph
from sensegraph.steps.index import REF, Manifest, catalogue, document, read_manifest
from sensegraph.steps.reports import ReportSettings, report_all
from sensegraph.steps.vectors import embed_all
from sensegraph.types import Chunk, Document, Graph, Hierarchy


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """How an index is built; the defaults are those of edge2024."""

    chunk_tokens: int = 600
    chunk_overlap: int = 100
    graph: GraphSettings = field(default_factory=GraphSettings)
    clusters: ClusterSettings = field(default_factory=ClusterSettings)
    reports: ReportSettings = field(default_factory=ReportSettings)

    def __post_init__(self) -> None:
        if not 0 <= self.chunk_overlap < self.chunk_tokens:
            raise SettingsError(
                f"index.chunk_overlap ({self.chunk_overlap}) must be at least 0 and below index.chunk_tokens "
                f"({self.chunk_tokens})."
            )


def build(keys: Sequence[str], rt: Runtime, settings: IndexSettings, *, fresh: bool = False) -> Manifest:
    """Build the index of the documents with these keys and make it the one that readers see.

    Only what is missing is computed. `fresh` clusters without regard to the communities of the index before. Raises
    EmptyCorpus when there is no text, ItemFailed when no chunk holds an entity, StepFailed when items failed.
    """
    documents = Results(rt.store, document, keys)
    if not keys:
        raise EmptyCorpus("There are no documents to index; add a folder or file: `sensegraph index PATH`.")
    chunks = rt.each(chunk, documents, size=settings.chunk_tokens, overlap=settings.chunk_overlap)
    listed = rt.once(catalogue, (documents, chunks), names=(*documents.keys, *chunks.keys))
    if not len(listed.value.chunks):
        raise EmptyCorpus(f"None of the {len(keys)} documents holds any text; nothing to index.")
    extracted = extract_all(chunks, rt)
    with beside(lambda rt: embed_all([c.text for c in flat(chunks)], rt), rt) as embedded:
        known = _known(extracted, len(listed.value.chunks), rt, settings)
        shape, found = _communities(known, rt, settings, fresh=fresh)
        reported = report_all(found, known, lambda: flat(chunks), rt, settings.reports)
        vectors = embedded()
    counts = _counts(keys, len(listed.value.chunks), known.value)
    manifest = Manifest(
        documents=listed.key,
        chunks=key(*chunks.keys),
        structure=shape,
        graph=known.key,
        communities=found.key,
        clustering=key(settings.clusters),
        hierarchy=reported.key,
        vectors=vectors.key,
        engine=rt.engine.name,
        embedder=rt.embedder.name,
        vectors_by=rt.embedder.fingerprint(),
        settings=key(settings),
        counts=counts,
        clusters=_by_depth(reported.value),
        notes=(*what_was_rejected(extracted, rt), *reported.value.notes),
    )
    publish(manifest, rt)
    return manifest


def _known(extracted: Extracted, chunks: int, rt: Runtime, settings: IndexSettings) -> Result[Graph]:
    """The graph of what the chunks say. Raises ItemFailed when they name nothing."""
    known = knowledge_graph(extracted, rt, settings.graph)
    if not len(known.value.entities):
        raise ItemFailed(f"No entity was found in {chunks} chunks; check the model's replies or the language.")
    return known


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


def _counts(keys: Sequence[str], chunks: int, graph: Graph) -> dict[str, int]:
    return {
        "documents": len(keys),
        "chunks": chunks,
        "entities": len(graph.entities),
        "relations": len(graph.relations),
        "claims": len(graph.claims),
    }


def _by_depth(hierarchy: Hierarchy) -> tuple[int, ...]:
    depths = Counter(c.depth for c in hierarchy.clusters)
    return tuple(depths[d] for d in range(len(depths)))
