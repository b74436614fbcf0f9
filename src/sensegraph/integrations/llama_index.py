"""LlamaIndex: a retriever over a corpus, and its graph as a property graph store (the extra `llama-index`).

nodes = SensegraphRetriever(Corpus.open("notes"), similarity_top_k=5).retrieve("Who is poor?")
index = PropertyGraphIndex.from_existing(SensegraphGraphStore(Corpus.open("notes")), embed_kg_nodes=False)
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

from sensegraph.corpus.corpus import Corpus
from sensegraph.corpus.views import view_matches
from sensegraph.graphs.match.shelf import PROPERTIES
from sensegraph.index.passages import chunk_passage
from sensegraph.integrations.located import locate_passages, search_passages
from sensegraph.questions import Scope
from sensegraph.runtime.results import take_records
from sensegraph.types import Entity
from sensegraph.types import Relation as GraphRelation

try:
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.graph_stores.types import (
        TRIPLET_SOURCE_KEY,
        ChunkNode,
        EntityNode,
        LabelledNode,
        PropertyGraphStore,
        Relation,
        Triplet,
    )
    from llama_index.core.schema import (
        BaseNode,
        MetadataMode,
        NodeRelationship,
        NodeWithScore,
        QueryBundle,
        RelatedNodeInfo,
        TextNode,
    )
    from llama_index.core.vector_stores.types import VectorStoreQuery
except ImportError as e:
    raise ImportError(
        f"sensegraph.integrations.llama_index needs llama-index-core ({e}): pip install 'sensegraph[llama-index]'."
    ) from e

_UNNAMED = "RELATED"  # the label of a relation that has none
_NOT_SHOWN = ["spans", "metadata", "score", "kind", "id", "start", "end"]  # to a model that is given the node's text
_READ_ONLY = (
    "A corpus of sensegraph cannot be changed through LlamaIndex; add and remove documents with Corpus.add and "
    "Corpus.remove, then call Corpus.build."
)


class SensegraphRetriever(BaseRetriever):
    """Finds passages of a corpus: `similarity_top_k` nodes of LlamaIndex, best first.

    `method` is a retrieval method of sensegraph and `options` its settings; only documents inside `scope` are read. A
    node is related to the document that it is from (`ref_doc_id`), its `start_char_idx` and `end_char_idx` are a span
    of that document's text, and its metadata list all spans that the passage rests on. Raises what `Corpus.search`
    raises.
    """

    def __init__(
        self,
        corpus: Corpus,
        *,
        method: str = "auto",
        similarity_top_k: int = 10,
        scope: Scope | None = None,
        options: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.corpus, self.method, self.similarity_top_k = corpus, method, similarity_top_k
        self.scope, self.options = scope, options

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = search_passages(
            self.corpus,
            query_bundle.query_str,
            method=self.method,
            top=self.similarity_top_k,
            scope=self.scope,
            options=self.options,
        )
        return [NodeWithScore(node=make_text_node(f.passage.text, f.metadata()), score=f.passage.score) for f in found]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


def make_text_node(text: str, metadata: dict[str, Any]) -> TextNode:
    """A node of LlamaIndex from the text of a passage and the metadata of `LocatedPassage`."""
    whole = metadata["kind"] == "chunk"
    source = metadata["source"]
    return TextNode(
        id_=metadata["id"],
        text=text,
        metadata=metadata,
        start_char_idx=metadata["start"] if whole else None,
        end_char_idx=metadata["end"] if whole else None,
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=source)} if source else {},
        excluded_llm_metadata_keys=_NOT_SHOWN,
        excluded_embed_metadata_keys=_NOT_SHOWN,
    )


class SensegraphGraphStore(PropertyGraphStore):
    """The graph of a corpus for LlamaIndex, read only: what would change it raises NotImplementedError.

    Nodes are entities, called by their names, and chunks, called by their ids. The property `triplet_source_id` of the
    first node of a triplet is the chunk that states the relation, so that retrievers can show its text.
    `structured_query` takes the part of openCypher that `Corpus.match` takes.
    """

    supports_structured_queries = True
    supports_vector_queries = False

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus

    @property
    def client(self) -> Corpus:
        """The corpus."""
        return self.corpus

    def get(self, properties: dict[str, Any] | None = None, ids: list[str] | None = None) -> list[LabelledNode]:
        """The nodes with these ids (ids or names of entities in any case, ids of chunks) that have these properties.

        Without ids all entities are looked through; with neither, all of them are given.
        """
        index, wanted = self.corpus.index(), properties or {}
        if ids is None:
            entities: Sequence[Entity] = index.graph.entities
            if isinstance(name := wanted.get("name"), str):
                entities = take_records(index.graph.entities, index.lookups.called(name))
            chunks: list[LabelledNode] = []
        else:
            named = {p: None for name in ids for p in index.lookups.called(name)}
            known = {e.id: e for e in take_records(index.graph.entities, list(named))}
            entities = list((known | index.entities(ids)).values())
            chunks = [
                ChunkNode(text=node.get_content(MetadataMode.NONE), id_=node.node_id, properties=dict(node.metadata))
                for node in self.get_llama_nodes(ids)
            ]
        nodes = [*map(make_entity_node, entities), *chunks]
        return [n for n in nodes if all(n.properties.get(k) == v for k, v in wanted.items())]

    def get_llama_nodes(self, node_ids: list[str]) -> list[BaseNode]:
        """The chunks with these ids; what is no chunk is left out."""
        index = self.corpus.index()
        chunks = index.chunks(list(dict.fromkeys(node_ids)))
        located = locate_passages([chunk_passage(c) for c in chunks.values()], index)
        return [make_text_node(found.passage.text, found.metadata()) for found in located]

    async def aget_llama_nodes(self, node_ids: list[str]) -> list[BaseNode]:
        """The same, in a thread."""
        return await asyncio.to_thread(self.get_llama_nodes, node_ids)

    def get_triplets(
        self,
        entity_names: list[str] | None = None,
        relation_names: list[str] | None = None,
        properties: dict[str, Any] | None = None,
        ids: list[str] | None = None,
    ) -> list[Triplet]:
        """The relations that touch an entity of these names or ids, with one of these labels and with these properties.

        What is not given does not restrict.
        """
        index = self.corpus.index()
        wanted = [*(entity_names or ()), *(ids or ())]
        places = range(len(index.graph.relations))
        if wanted or entity_names is not None or ids is not None:
            called = dict.fromkeys(p for node in self.get(ids=wanted) for p in self._positions(node))
            places = sorted({int(r) for p in called for r in index.lookups.around(p)[1]})  # type: ignore[assignment]
        relations = take_records(index.graph.relations, list(places))
        return [
            t
            for t in self._triplets(relations)
            if (relation_names is None or t[1].label in relation_names)
            and all(t[1].properties.get(k) == v for k, v in (properties or {}).items())
        ]

    def get_rel_map(
        self,
        graph_nodes: list[LabelledNode],
        depth: int = 2,
        limit: int = 30,
        ignore_rels: list[str] | None = None,
    ) -> list[Triplet]:
        """At most `limit` relations within `depth` steps of these nodes: nearest first, then heaviest."""
        index, ignored = self.corpus.index(), set(ignore_rels or ())
        reached = {p for node in graph_nodes for p in self._positions(node)}
        border, seen, kept = set(reached), set[int](), list[GraphRelation]()
        for _ in range(depth):
            around = [index.lookups.around(p) for p in sorted(border)]
            new = {int(r) for _, relations in around for r in relations} - seen
            found = take_records(index.graph.relations, sorted(new))
            kept += sorted((r for r in found if (r.label or _UNNAMED) not in ignored), key=lambda r: (-r.weight, r.id))
            border = {int(n) for near, _ in around for n in near} - reached
            seen, reached = seen | new, reached | border
            if len(kept) >= limit or not border:
                break
        return list(self._triplets(kept[:limit]))

    def _positions(self, node: LabelledNode) -> list[int]:
        """The places of the entity that a node stands for; of all of its name where the node has no id."""
        index = self.corpus.index()
        places = index.lookups.called(node.properties.get("name") or node.id)
        wanted = node.properties.get("id")
        found = take_records(index.graph.entities, places)
        return [p for p, e in zip(places, found, strict=True) if wanted in (None, e.id)]

    def _triplets(self, relations: Sequence[GraphRelation]) -> Iterator[Triplet]:
        ends = self.corpus.index().entities(list(dict.fromkeys(e for r in relations for e in (r.source, r.target))))
        for r in relations:
            source, target = make_entity_node(ends[r.source], r.chunks), make_entity_node(ends[r.target])
            properties = {"id": r.id, "description": r.description, "weight": r.weight, "directed": r.directed}
            label = r.label or _UNNAMED
            yield (
                source,
                Relation(label=label, source_id=source.id, target_id=target.id, properties=properties),
                target,
            )

    def structured_query(self, query: str, param_map: dict[str, Any] | None = None) -> list[dict[str, Any]]:
        """The rows that match a query, each by the names of its columns. Raises InputError as `Corpus.match` does."""
        rows: list[dict[str, Any]] = view_matches(self.corpus.match(query, parameters=param_map))["rows"]
        return rows

    def vector_query(self, query: VectorStoreQuery, **kwargs: Any) -> tuple[list[LabelledNode], list[float]]:
        """Not served: the vectors of a corpus are those of its own embedder."""
        raise NotImplementedError(
            "The vectors of a corpus are those of its own embedder; search with SensegraphRetriever instead."
        )

    def get_schema(self, refresh: bool = False) -> dict[str, list[str]]:
        """The types of entities, the labels of relations, and the properties of either that queries can name."""
        types = self.structured_query("MATCH (a) RETURN DISTINCT a.type AS name")
        labels = self.structured_query("MATCH (a)-[r]-(b) RETURN DISTINCT r.label AS name")
        return {
            "entity types": sorted(row["name"] for row in types if row["name"]),
            "relation labels": sorted(row["name"] for row in labels if row["name"]),
            "entity properties": sorted(PROPERTIES["entity"]),
            "relation properties": sorted(PROPERTIES["relation"]),
        }

    def get_schema_str(self, refresh: bool = False) -> str:
        """The same as text, for a model that writes queries."""
        return "\n".join(f"{name}: {', '.join(values)}" for name, values in self.get_schema().items())

    def upsert_nodes(self, nodes: Sequence[LabelledNode]) -> NoReturn:
        """Not possible."""
        raise NotImplementedError(_READ_ONLY)

    def upsert_relations(self, relations: list[Relation]) -> NoReturn:
        """Not possible."""
        raise NotImplementedError(_READ_ONLY)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Not possible."""
        raise NotImplementedError(_READ_ONLY)


def make_entity_node(entity: Entity, chunks: Sequence[str] = ()) -> EntityNode:
    """An entity as a node of LlamaIndex; its source is the first of `chunks`, else the first chunk that names it."""
    source = next(iter((*chunks, *entity.chunks)), None)
    properties = {"id": entity.id, "name": entity.name, "description": entity.description, "degree": entity.degree}
    if source:
        properties[TRIPLET_SOURCE_KEY] = source
    return EntityNode(name=entity.name, label=entity.type or "entity", properties=properties)
