"""The hierarchy of LeanRAG: clusters of alike entities, an aggregate for each, relations between aggregates; and again.

Zhang et al. 2025, *LeanRAG*, "Hierarchical Knowledge Graph Aggregation", Eq. 3–5; L03–L12.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sensegraph.algorithms.graphs import Ints
from sensegraph.errors import StoreError
from sensegraph.index.hierarchy.grounding import SOURCES
from sensegraph.index.hierarchy.packing import Elements, elements_for
from sensegraph.index.hierarchy.similar_clusters import group_vectors
from sensegraph.index.hierarchy.stand_ins import first_words, foresee_results
from sensegraph.index.manifest import MadePart, PartEntry
from sensegraph.index.parts import PartEstimate
from sensegraph.index.vectors import embed_records
from sensegraph.methods.leanrag.aggregates_part import (
    AggregateKeys,
    AggregateSettings,
    aggregate_texts,
    described_texts,
    keep_aggregate_keys,
    keep_aggregates,
    make_ancestry,
)
from sensegraph.methods.leanrag.aggregating import (
    Builder,
    Level,
    Link,
    Node,
    write_aggregate_relations,
    write_aggregates,
)
from sensegraph.protocols import Store, Task, Vectors
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import Result, Step, recall_result
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Brief, Chunk, Cluster, Entity, Graph, Hierarchy, Relation, Report, Statement

if TYPE_CHECKING:
    from sensegraph.index.estimate import Foresight


@dataclass(frozen=True, slots=True)
class Before:
    """What an update starts from: the aggregates of an earlier build, and what they were `made_of`."""

    hierarchy: Result[Hierarchy]
    made_of: str


def ground_level(graph: Graph, rows: Elements) -> Level:
    """Level 0: the entities and relations of a graph, whose lines are `rows`."""

    def said(record: Entity | Relation, text: str) -> tuple[Statement]:
        return (Statement(text, (record.id,), tuple(dict.fromkeys(d.source for d in record.descriptions[:SOURCES]))),)

    nodes = [
        Node(rows.entity[e.id], e.type, said(e, e.description), (e.id,), tuple(sorted(e.chunks)))
        for e in graph.entities
    ]
    row = {line.passage.id: line for found in rows.relations.values() for line in found}
    return Level(nodes, [Link(row[r.id], said(r, row[r.id].passage.text)) for r in graph.relations])


def aggregates_made_of(graph: str, vectors: str, rt: Runtime, settings: AggregateSettings) -> str:
    """What stands for everything that the aggregates of a graph with these keys depend on."""
    return key(
        "aggregates", keep_aggregates.version, group_vectors.version, graph, vectors, settings, _aggregate_writers(rt)
    )


def find_aggregates(
    graph: Result[Graph], vectors: Result[Vectors], chunks: Callable[[], Iterable[Chunk]], rt: Runtime,
    settings: AggregateSettings, before: Before | None = None,
) -> Result[Hierarchy]:  # fmt: skip
    """The aggregates over `graph`, whose entities have these vectors; paid for only where a brief changed.

    With `before`, clusters are changed as little as the new vectors demand. Raises StepFailed where the engine failed;
    what it had written is stored.
    """
    whole = aggregates_made_of(graph.key, vectors.key, rt, settings)
    if before and before.made_of == whole:
        return before.hierarchy

    def write() -> Hierarchy:
        documents = {c.id: c.document for c in chunks()}
        ground = ground_level(graph.value, elements_for(rt.engine, graph.value, documents))
        return Builder(rt, documents, settings, before.hierarchy.value if before else None).build(ground, vectors)

    names = (whole, before.hierarchy.key if before else "")
    return rt.once(keep_aggregates, write, names=names, settings=settings, writers=_aggregate_writers(rt))


def _aggregate_writers(rt: Runtime) -> tuple[str, ...]:
    return (rt.engine.fingerprint("aggregate"), rt.engine.fingerprint("relate"), rt.embedder.fingerprint())


def aggregate_all(
    graph: Result[Graph], vectors: Result[Vectors], chunks: Callable[[], Iterable[Chunk]], rt: Runtime,
    settings: AggregateSettings, before: Before | None,
) -> MadePart:  # fmt: skip
    """The part; `vectors` are those of the entities by name too.

    Raises UnsupportedTask where the engine does not write aggregates.
    """
    rt.check("the aggregates of leanrag", frozenset({"aggregate", "relate"}))
    if settings.embed == "description":
        texts = key("described", graph.key)
        vectors = embed_records(lambda: described_texts(graph.value, settings), rt, name=texts)
    found = find_aggregates(graph, vectors, chunks, rt, settings, before)
    embedded = embed_records(
        lambda: aggregate_texts(found.value.clusters, settings), rt, name=key("aggregates", found.key, settings.embed)
    )
    ids = [e.id for e in graph.value.entities]
    above = rt.once(make_ancestry, lambda: (ids, found.value), names=(graph.key, found.key))
    whole = aggregates_made_of(graph.key, vectors.key, rt, settings)
    keys = AggregateKeys(found.key, above.key, embedded.key, vectors.key, whole, key(settings))
    entry = PartEntry(rt.once(keep_aggregate_keys, keys).key, {"described": vectors.key, "aggregate": embedded.key})
    counts = {"aggregates": len(found.value.clusters), "aggregate_relations": len(found.value.relations)}
    return MadePart(entry, counts, found.value.notes)


def earlier_aggregates(store: Store, name: str, settings: AggregateSettings) -> Before | None:
    """The part under the key `name`, if it is there and was made by the same settings."""
    if not name:
        return None
    try:
        made = recall_result(store, keep_aggregate_keys, name)
        if made.settings != key(settings):
            return None  # an update keeps what it finds, and what it finds obeys other settings
        return Before(Result(made.hierarchy, recall_result(store, keep_aggregates, made.hierarchy)), made.made_of)
    except StoreError:
        return None  # gone or of another version: the build makes it anew instead of failing for ever


_NOTHING: Result[Vectors] = Result("", np.zeros((0, 0), np.float32))  # vectors of texts that stand in say nothing
# the task of each step, and the tokens of what nobody has written yet
_FORESEEN: dict[str, tuple[Task, int]] = {
    write_aggregates.name: ("aggregate", 450),
    write_aggregate_relations.name: ("relate", 60),
}


class ForeseenAggregates(Builder):
    """Builds a hierarchy without vectors: what is not known from an earlier build is grouped by its first chunk."""

    def ask(self, step: Step[Brief, Any], briefs: Sequence[Brief]) -> Sequence[Any]:
        """Stored results; else a text of the usual length."""

        def stand_in(brief: Brief) -> Any:
            passages, words = brief.context.passages, _FORESEEN[step.name][1] * 2 // 3
            said = (Statement(first_words(passages, words), (passages[0].id,)),)
            return Report(f"{brief.context.title} and others", said) if step.name == write_aggregates.name else said

        found, missing = foresee_results(self.rt, step, briefs, stand_in)
        self.asked[step.name] += missing
        return found

    def labels(self, level: Level, vectors: Result[Vectors]) -> Ints:
        """The earlier cluster of each node; new nodes in groups of the usual size."""
        found = self.followed.labels(len(self.done), [node.id for node in level.nodes])
        found = found.copy() if len(found) else np.full(len(level.nodes), -1, np.int32)
        first, size = int(found.max(initial=-1)) + 1, self.settings.cluster_size
        new = sorted(np.flatnonzero(found < 0).tolist(), key=lambda i: (level.nodes[i].chunks[:1], i))
        for rank, i in enumerate(new):
            found[i] = first + rank // size
        return np.unique(found, return_inverse=True)[1].astype(np.int32)

    def embedded(self, made: Sequence[Cluster]) -> Result[Vectors]:
        """Nothing."""
        return _NOTHING


def foresee_aggregates(foresight: Foresight, settings: AggregateSettings, earlier: str) -> PartEstimate:
    """What would be asked of the engine and embedded; `earlier` is the key of the part as it is now."""
    rt, graph = foresight.rt, foresight.graph
    documents = {c.id: c.document for c in foresight.chunks}
    before = earlier_aggregates(rt.store, earlier, settings)
    builder = ForeseenAggregates(rt, documents, settings, before.hierarchy.value if before else None)
    found = builder.build(ground_level(graph, elements_for(rt.engine, graph, documents)), _NOTHING)
    texts = aggregate_texts(found.clusters, settings)
    texts += described_texts(graph, settings) if settings.embed == "description" else []
    steps = (
        foresight.step(name, task, builder.asked[name], [tokens] * len(builder.asked[name]))
        for name, (task, tokens) in _FORESEEN.items()
    )
    return PartEstimate(tuple(steps), texts)
