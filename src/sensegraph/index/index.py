"""The index: what a build leaves behind, read by methods without loading it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, TypeVar, get_args

import msgspec

from sensegraph.algorithms.approximate import Navigator
from sensegraph.algorithms.graphs import Floats
from sensegraph.algorithms.ranking import Bm25
from sensegraph.errors import NotIndexed, StoreError
from sensegraph.index import navigation as navigating
from sensegraph.index import vectors, words
from sensegraph.index.chunks import chunk
from sensegraph.index.graph import lookups
from sensegraph.index.graph import merging as graph
from sensegraph.index.graph.lookups import Lookups
from sensegraph.index.hierarchy import communities, reports
from sensegraph.index.navigation import Stretch
from sensegraph.language.stems import stems
from sensegraph.methods.hipporag import facts
from sensegraph.methods.hipporag.facts import Facts
from sensegraph.methods.hirag.layers import layers_of
from sensegraph.methods.lazygraphrag import concepts
from sensegraph.methods.lazygraphrag.concepts import Concepts
from sensegraph.methods.leanrag.aggregated import Aggregates, aggregates_of
from sensegraph.methods.linearrag import sentences
from sensegraph.methods.linearrag.sentences import Sentences
from sensegraph.methods.raptor import tree
from sensegraph.methods.raptor.tree import Tree
from sensegraph.methods.walk import naming
from sensegraph.methods.walk.naming import Names
from sensegraph.protocols import Embedder, Part, Store, Vectors
from sensegraph.runtime.results import Results, Table, recall, step
from sensegraph.types import Chunk, Cluster, Document, Entity, Graph, Hierarchy, Relation, Scalar

REF = "index"
# The method that messages name for a part: the one that reads it.
_READERS: Mapping[Part, str] = MappingProxyType(
    {"aggregates": "leanrag", "layers": "hirag", "tree": "raptor", "relations": "lightrag", "facts": "hipporag",
     "sentences": "linearrag", "names": "walk", "concepts": "lazygraphrag"}
)  # fmt: skip
Kind = Literal["chunk", "entity", "relation", "report", "fact", "sentence", "described", "aggregate", "leaf", "summary"]


@dataclass(frozen=True, slots=True)
class Manifest:
    """The keys of an index's parts, what it was built with, and its counts. `clusters` counts by depth.

    `clustering` is the key of the settings of clustering: an update starts only from communities made by the same.
    `vectors_by` is the fingerprint of the embedder: vectors of two embedders cannot be compared. Parts that were not
    built have an empty key. `ways` are graphs through the vectors of a kind that are very many: for each segment its
    first row and the graph's key. `quoted` says that descriptions and reports are the sources' own words.
    """

    documents: str
    chunks: str
    words: str
    vectors: str
    engine: str
    embedder: str
    vectors_by: str
    settings: str
    counts: dict[str, int]
    structure: str = ""
    graph: str = ""
    communities: str = ""
    clustering: str = ""
    hierarchy: str = ""
    lookups: str = ""
    entity_vectors: str = ""
    report_vectors: str = ""
    concepts: str = ""
    relations: str = ""
    names: str = ""
    facts: str = ""
    fact_vectors: str = ""
    sentences: str = ""
    sentence_vectors: str = ""
    aggregates: str = ""
    aggregate_vectors: str = ""
    described: str = ""
    layers: str = ""
    tree: str = ""
    leaf_vectors: str = ""
    summary_vectors: str = ""
    dates: str = ""
    ways: dict[Kind, tuple[Stretch, ...]] = field(default_factory=dict)
    quoted: bool = False
    clusters: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def parts(self) -> frozenset[Part]:
        """The parts that were built."""
        called = {"reports": "hierarchy"}
        return frozenset(part for part in get_args(Part) if getattr(self, called.get(part, part)))

    @property
    def stacks(self) -> dict[Kind, str]:
        """The key of the vectors of every kind; empty where there are none."""
        return {
            "chunk": self.vectors,
            "entity": self.entity_vectors,
            "relation": self.relations,
            "report": self.report_vectors,
            "fact": self.fact_vectors,
            "sentence": self.sentence_vectors,
            "described": self.described,
            "aggregate": self.aggregate_vectors,
            "leaf": self.leaf_vectors,
            "summary": self.summary_vectors,
        }


@dataclass(frozen=True, slots=True)
class DocumentEntry:
    """What a list of documents shows; the text stays in the object with this `key`."""

    id: str
    key: str
    title: str
    time: str
    metadata: tuple[tuple[str, Scalar], ...]


@dataclass(frozen=True, slots=True)
class ChunkEntry:
    """Where a chunk is: item `position` of the chunks of a document, in the object `key`."""

    id: str
    document: str
    key: str
    position: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All documents by id, and all chunks in the order of their documents."""

    documents: Sequence[DocumentEntry] = ()
    chunks: Sequence[ChunkEntry] = ()


@step("index.document", version=1)
def document(documents: Sequence[Document]) -> list[Document]:
    """Documents as they came: the objects that an index's catalogue points to."""
    return list(documents)


@step("index.catalogue", version=1, form="tables")
def catalogue(parts: Sequence[tuple[Results[Document], Results[tuple[Chunk, ...]]]]) -> list[Catalogue]:
    """The lists of documents and chunks."""
    return [_catalogue(documents, chunks) for documents, chunks in parts]


def _catalogue(documents: Results[Document], chunks: Results[tuple[Chunk, ...]]) -> Catalogue:
    listed = tuple(
        DocumentEntry(d.id, k, d.title, d.time, d.metadata) for d, k in zip(documents, documents.keys, strict=True)
    )
    cut = tuple(
        ChunkEntry(c.id, c.document, k, i, c.tokens)
        for found, k in zip(chunks, chunks.keys, strict=True)
        for i, c in enumerate(found)
    )
    return Catalogue(listed, cut)


R = TypeVar("R", ChunkEntry, Entity, Relation, Cluster)


class Index:
    """A finished index in a store. Opening it reads one small object; everything else is fetched when it is asked for.

    Raises NotIndexed when the store holds no index.
    """

    def __init__(self, store: Store, manifest: Manifest | None = None) -> None:
        self._store = store
        self.manifest = manifest or read_manifest(store)

    @cached_property
    def catalogue(self) -> Catalogue:
        """The lists of documents and chunks."""
        return recall(self._store, catalogue, self.manifest.documents)

    @cached_property
    def graph(self) -> Graph:
        """Entities, relations and claims. Raises NotIndexed where the index was built without."""
        return recall(self._store, graph.graph, self._part("graph", self.manifest.graph))

    @cached_property
    def communities(self) -> communities.Communities:
        """The groups behind the hierarchy, without their reports."""
        return recall(self._store, communities.communities, self._part("reports", self.manifest.communities))

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """The clusters with their reports. Raises NotIndexed where the index was built without."""
        return recall(self._store, reports.hierarchy, self._part("reports", self.manifest.hierarchy))

    @cached_property
    def lookups(self) -> Lookups:
        """Neighbours, communities and names of the entities, by position."""
        return recall(self._store, lookups.lookups, self._part("graph", self.manifest.lookups))

    @cached_property
    def concepts(self) -> Concepts:
        """The concept graph of LazyGraphRAG. Raises NotIndexed where the index was built without."""
        return recall(self._store, concepts.concepts, self._part("concepts", self.manifest.concepts))

    @cached_property
    def names(self) -> Names:
        """The names of the chunks, and the ways between them. Raises NotIndexed where the index was built without."""
        return recall(self._store, naming.names, self._part("names", self.manifest.names))

    @cached_property
    def facts(self) -> Facts:
        """What the relations state, for HippoRAG. Raises NotIndexed where the index was built without."""
        return recall(self._store, facts.facts, self._part("facts", self.manifest.facts))

    @cached_property
    def sentences(self) -> Sentences:
        """The sentences with the entities they name, for LinearRAG. Raises NotIndexed where they were not built."""
        return recall(self._store, sentences.sentence_graph, self._part("sentences", self.manifest.sentences))

    @cached_property
    def tree(self) -> Tree:
        """The tree of RAPTOR over the chunks. Raises NotIndexed where the index was built without."""
        return tree.tree(self._store, self._part("tree", self.manifest.tree))

    @cached_property
    def aggregates(self) -> Aggregates:
        """The hierarchy of LeanRAG. Raises NotIndexed where the index was built without."""
        return aggregates_of(self._store, self._part("aggregates", self.manifest.aggregates))

    @cached_property
    def layered(self) -> Index:
        """This index with HiRAG's summary entities in its graph. Raises NotIndexed where it was built without."""
        self._part("layers", self.manifest.layers)
        return Index(self._store, layers_of(self._store, self.manifest))

    @cached_property
    def words(self) -> Bm25:
        """The word index of the chunks, in the order of the catalogue."""
        return recall(self._store, words.words, self.manifest.words)

    @cached_property
    def vectors(self) -> Vectors:
        """The vectors of the chunks, shape (chunks, dim), in the order of the catalogue."""
        return recall(self._store, vectors.stack, self.manifest.vectors)

    def vectors_of(self, embedder: Embedder, kind: Kind = "chunk") -> Vectors:
        """The vectors of the records of a kind, in their order: of entities those of `name: description`.

        Raises NotIndexed where another embedder made them: a question's vector would not fit.
        """
        if embedder.fingerprint() != self.manifest.vectors_by:
            raise NotIndexed(
                f"The index has vectors of the embedder {self.manifest.embedder!r}, the settings name "
                f"{embedder.name!r}; run `sensegraph index` again, or set the embedder as it was."
            )
        return self._vectors(kind)

    def _vectors(self, kind: Kind) -> Vectors:
        if kind == "chunk":
            return self.vectors
        parts: dict[Kind, Part] = {
            "entity": "graph",
            "relation": "relations",
            "report": "reports",
            "fact": "facts",
            "sentence": "sentences",
            "described": "aggregates",
            "aggregate": "aggregates",
            "leaf": "tree",
            "summary": "tree",
        }
        return recall(self._store, vectors.stack, self._part(parts[kind], self.manifest.stacks[kind]))

    def navigator(self, kind: Kind) -> Navigator | None:
        """The way through the vectors of a kind; None where all of them are compared."""
        if kind not in self._navigators and (ways := self.manifest.ways.get(kind)):
            graphs = [(begin, recall(self._store, navigating.navigation, name)) for begin, name in ways]
            self._navigators[kind] = Navigator(self._vectors(kind), graphs)
        return self._navigators.get(kind)

    @cached_property
    def _navigators(self) -> dict[Kind, Navigator]:
        """Those that were opened: opening one reads a little of every node."""
        return {}

    def _part(self, part: Part, name: str) -> str:
        """The key of a part of the index. Raises NotIndexed where it was not built."""
        if not name:
            raise NotIndexed(
                f"This index was built without its part {part!r}, which is needed here; add {part!r} to index.parts "
                "and run `sensegraph index`, or build what one method reads: "
                f"`sensegraph index --method {_READERS.get(part, 'NAME')}`."
            )
        return name

    def scores_of_words(self, text: str) -> Floats:
        """The BM25 score of every chunk for `text`, in the order of the catalogue."""
        return self.words.score(stems(text))

    def document(self, name: str) -> Document:
        """One document with its text. Raises NotIndexed for an id that is not in the index."""
        entry = _table(self.catalogue.documents).find([name]).get(name)
        if entry is None:
            raise NotIndexed(f"No document {name!r} in this index; `sensegraph status --documents` lists them.")
        found = self._store.read([entry.key])
        if entry.key not in found:
            raise StoreError(f"The text of {name!r} is gone from the store; run `sensegraph index` again.")
        return document.decode(found[entry.key])

    def chunks(self, ids: Sequence[str]) -> dict[str, Chunk]:
        """The chunks with these ids; one that does not exist is absent."""
        places = _table(self.catalogue.chunks).find(ids)
        objects = self._store.read(sorted({p.key for p in places.values()}))
        decoded = {k: chunk.decode(value) for k, value in objects.items()}
        return {name: decoded[p.key][p.position] for name, p in places.items() if p.key in decoded}

    def documents_of(self, chunks: Sequence[str]) -> dict[str, str]:
        """The document of each of these chunks; a chunk that does not exist is absent."""
        return {name: entry.document for name, entry in _found(self.catalogue.chunks, chunks).items()}

    def tokens_of(self, chunks: Sequence[str]) -> dict[str, int]:
        """The tokens of each of these chunks; a chunk that does not exist is absent."""
        return {name: entry.tokens for name, entry in _found(self.catalogue.chunks, chunks).items()}

    def entities(self, ids: Sequence[str]) -> dict[str, Entity]:
        """The entities with these ids; one that does not exist is absent."""
        return _found(self.graph.entities, ids)

    def relations(self, ids: Sequence[str]) -> dict[str, Relation]:
        """The relations with these ids; one that does not exist is absent."""
        return _found(self.graph.relations, ids)

    def clusters(self, ids: Sequence[str]) -> dict[str, Cluster]:
        """The clusters with these ids; one that does not exist is absent."""
        return _found(self.hierarchy.clusters, ids)

    def clusters_at(self, depth: int) -> list[Cluster]:
        """The reports that a question at `depth` reads: its clusters, and the leaf of a branch that ends above it.

        They cover every entity exactly once (projection; D3, D4).
        """
        first = sum(self.manifest.clusters[: depth + 1])
        upper = self.hierarchy.clusters[:first]
        return [c for c in upper if c.depth == depth or c.level == 0]

    @property
    def depth(self) -> int:
        """The number of depths."""
        return len(self.manifest.clusters)


def read_manifest(store: Store) -> Manifest:
    """What the store's index is made of. Raises NotIndexed when there is none."""
    name = store.ref(REF)
    if name is None:
        raise NotIndexed("There is no index here yet; run `sensegraph index PATH` first.")
    found = store.read([name])
    if name not in found:
        raise StoreError("The index's list of parts is gone from the store; run `sensegraph index` again.")
    try:
        return msgspec.json.decode(found[name], type=Manifest)
    except msgspec.DecodeError as e:
        raise StoreError(f"The index was made by another version ({e}); run `sensegraph index` again.") from e


def _found(records: Sequence[R], ids: Sequence[str]) -> dict[str, R]:
    """Records by id, in the order of `ids`: from a stored table, or from a few in memory."""
    wanted = set(ids)
    found = records.find(ids) if isinstance(records, Table) else {r.id: r for r in records if r.id in wanted}
    return {name: found[name] for name in dict.fromkeys(ids) if name in found}


def _table(rows: Sequence[Any]) -> Table[Any]:
    if not isinstance(rows, Table):
        raise TypeError("this part of an index is always a stored table")
    return rows
