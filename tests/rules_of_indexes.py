"""What an index of a small corpus is made of, in a form that stands in a line of JSON."""

from __future__ import annotations

from typing import Any

import outline_examples
import rules
from sensegraph.engines.offline.extraction import corpus_reading
from sensegraph.index.chunks import chunk_documents
from sensegraph.index.graph.graph_settings import GraphSettings
from sensegraph.index.graph.lookups import build_lookups, build_ties, entity_salience, tie_chunks
from sensegraph.index.graph.merging import merge_extractions
from sensegraph.index.graph.seen_names import NameGraph
from sensegraph.index.graph.told_names import list_short_forms
from sensegraph.index.hierarchy import gathering
from sensegraph.index.hierarchy.communities import ClusterSettings, group_entities
from sensegraph.index.hierarchy.gathering import gather_components, order_small
from sensegraph.index.manifest import Catalogue, ChunkEntry, DocumentEntry
from sensegraph.types import Chunk, Document, Graph, Hierarchy


def cut(text: str, times: int, size: int, overlap: int) -> list[Any]:
    """The chunks of a text that is written so many times: where each begins and ends, and its tokens."""
    (chunks,) = chunk_documents.fn([Document("d", text * times)], size=size, overlap=overlap)
    return [[c.start, c.end, c.tokens, c.text[:12], c.text[-12:]] for c in chunks]


def _read(corpus: str, settings: dict[str, Any]) -> tuple[list[tuple[Chunk, ...]], Graph]:
    texts = rules.read_texts(corpus)
    documents = [outline_examples.cut_chunks(name, text, name.title()) for name, text in texts.items()]
    seen = corpus_reading.observe_documents(documents)
    told, _ = corpus_reading.survey_documents(seen)
    found = corpus_reading.read_documents(list(zip(documents, seen, told, strict=True)), values=True)
    pairs = ((c, x) for chunks, read in zip(documents, found, strict=True) for c, x in zip(chunks, read, strict=True))
    return documents, merge_extractions(pairs, GraphSettings(**settings))


def merge(corpus: str, settings: dict[str, Any], most: int) -> list[Any]:
    """The graph of a corpus: its counts, and the first of each of its elements."""
    _, graph = _read(corpus, settings)
    name = {e.id: e.name for e in graph.entities}
    return [
        [len(graph.entities), len(graph.relations), len(graph.claims)],
        [[e.name, e.type, e.frequency, e.degree, len(e.descriptions), len(e.chunks), e.aliases]
         for e in graph.entities[:most]],
        [[name[r.source], name[r.target], r.label, r.directed, r.weight, len(r.descriptions), len(r.chunks)]
         for r in graph.relations[:most]],
        [[name[c.subject], c.object, c.type, c.starts, c.ends, c.source.start, c.source.end]
         for c in graph.claims[:most]],
    ]  # fmt: skip


def group(corpus: str, settings: dict[str, Any], gathered: int) -> list[Any]:
    """The communities of a corpus: depth, size and parent of each; and those of small components, gathered."""
    _, graph = _read(corpus, {})
    found = group_entities(graph, None, ClusterSettings(**settings))
    small = order_small(graph, gathered)
    both = [found, gather_components(found, small, gathered)]
    place = [{g.id: i for i, g in enumerate(one.groups)} for one in both]
    return [
        [[g.depth, len(g.entities), at.get(g.parent, -1), len(g.children), g.gathered] for g in one.groups]
        for one, at in zip(both, place, strict=True)
    ]


def look_up(corpus: str) -> list[Any]:
    """What is looked up in the graph of a corpus: neighbours, and what ties its chunks."""
    documents, graph = _read(corpus, {})
    catalogue = Catalogue(
        [DocumentEntry(chunks[0].document, "", chunks[0].title, "", ()) for chunks in documents],
        [ChunkEntry(c.id, c.document, "", i, c.tokens) for chunks in documents for i, c in enumerate(chunks)],
    )
    (found,), (ties,) = build_lookups.fn([(graph, Hierarchy())]), build_ties.fn([tie_chunks(graph, catalogue)])
    first, names = range(min(9, len(graph.entities))), NameGraph.of(graph)
    texts = {c.id: c for chunks in documents for c in chunks}
    defined = [rule for short in list_short_forms(names) for rule in short.find_rules(texts)]
    return [
        found.degree, [[found.name(i), *found.around(i)] for i in first], [found.told(i) for i in first],
        found.called_each([e.name for e in graph.entities[:5]] + ["nobody"]),
        [[ties.mentioning(i), ties.titled(i)] for i in first], ties.walk.share[:60], float(ties.walk.share.sum()),
        ties.source[:60], ties.target[:60], entity_salience(ties, list(first), len(catalogue.chunks)),
        [[r.kind, r.why] for r in defined],
        [[m.name, m.type, m.count, len(m.neighbours), len(m.places)] for m in (names.mentioned(row) for row in first)],
    ]  # fmt: skip


def grow(sizes: list[int], most: int) -> list[Any]:
    """The communities that small components of so many entities are gathered in: sizes, nested as they are."""
    components = [tuple(f"{i:04}-{n}" for n in range(size)) for i, size in enumerate(sizes)]

    def show(branch: Any) -> Any:
        return [show(part) for part in branch.parts] if branch.parts else len(branch.entities)

    return [show(branch) for branch in gathering._grow_branches(components, most)]
