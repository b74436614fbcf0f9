"""What the aggregates of an index would cost, before it is built: the same levels over texts that stand in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sensegraph.algorithms.graphs import Ints
from sensegraph.index.hierarchy.packing import elements_for
from sensegraph.index.parts import PartEstimate
from sensegraph.methods.leanrag.aggregated import AggregateSettings
from sensegraph.methods.leanrag.aggregates import (
    Before,
    Builder,
    aggregate_texts,
    described_texts,
    earlier_aggregates,
    write_aggregate_relations,
    write_aggregates,
)
from sensegraph.methods.leanrag.aggregating import Level, ground_level
from sensegraph.protocols import Task, Vectors
from sensegraph.runtime.results import Result, Step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Brief, Cluster, Report, Statement

if TYPE_CHECKING:
    from sensegraph.index.estimate import Foresight

AGGREGATE, RELATION = 450, 60  # tokens of what nobody has written yet
_NOTHING = np.zeros((0, 0), np.float32)


class ForeseenAggregates(Builder):
    """Builds a hierarchy without vectors: what is not known from an earlier build is grouped by its first chunk.

    `asked` holds the briefs whose results are not stored, by step.
    """

    def __init__(
        self, rt: Runtime, documents: Mapping[str, str], settings: AggregateSettings, before: Before | None
    ) -> None:
        super().__init__(rt, documents, settings, before.hierarchy.value if before else None)
        self.asked: dict[str, list[Brief]] = {write_aggregates.name: [], write_aggregate_relations.name: []}

    def ask(self, step: Step[Brief, Any], briefs: Sequence[Brief]) -> list[Any]:
        """Stored results; else a text of the usual length."""
        keys = self.rt.keys(step, briefs)
        stored = self.rt.store.read(keys)
        self.asked[step.name] += [b for b, k in zip(briefs, keys, strict=True) if k not in stored]
        return [
            step.decode(stored[k]) if k in stored else _stand_in_aggregate(step, b)
            for b, k in zip(briefs, keys, strict=True)
        ]

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
        """Nothing: vectors of texts that stand in say nothing."""
        return Result("", _NOTHING)


def foresee_aggregates(foresight: Foresight, settings: AggregateSettings, earlier: str) -> PartEstimate:
    """What would be asked of the engine and embedded; `earlier` is the key of the part as it is now."""
    rt, graph = foresight.rt, foresight.graph
    before = earlier_aggregates(rt.store, earlier, settings)
    documents = {c.id: c.document for c in foresight.chunks}
    builder = ForeseenAggregates(rt, documents, settings, before)
    found = builder.build(ground_level(graph, elements_for(rt.engine, graph, documents)), Result("", _NOTHING))
    texts = aggregate_texts(found.clusters, settings)
    texts += described_texts(graph, settings) if settings.embed == "description" else []
    kinds: list[tuple[str, Task, int]] = [
        (write_aggregates.name, "aggregate", AGGREGATE),
        (write_aggregate_relations.name, "relate", RELATION),
    ]
    steps = (foresight.step(n, task, builder.asked[n], [size] * len(builder.asked[n])) for n, task, size in kinds)
    return PartEstimate(tuple(steps), texts)


def _stand_in_aggregate(step: Step[Any, Any], brief: Brief) -> Any:
    tokens = AGGREGATE if step.name == write_aggregates.name else RELATION
    text = " ".join(" ".join(p.text for p in brief.context.passages).split()[: tokens * 2 // 3])
    said = (Statement(text, (brief.context.passages[0].id,)),)
    return Report(f"{brief.context.title} and others", said) if step.name == write_aggregates.name else said
