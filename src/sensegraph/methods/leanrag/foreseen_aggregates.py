"""What the aggregates of an index would cost, before it is built: the same levels over texts that stand in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from sensegraph.algorithms.graphs import Ints
from sensegraph.index.hierarchy.packing import elements_for
from sensegraph.methods.leanrag.aggregates import AggregateSettings, Before, Builder, aggregate, relate
from sensegraph.methods.leanrag.aggregating import Level, ground_level
from sensegraph.protocols import Vectors
from sensegraph.runtime.results import Result, Step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Brief, Chunk, Cluster, Graph, Report, Statement

AGGREGATE, RELATION = 450, 60  # tokens of what nobody has written yet
_NOTHING = np.zeros((0, 0), np.float32)


class Foreseen(Builder):
    """Builds a hierarchy without vectors: what is not known from an earlier build is grouped by its first chunk.

    `asked` holds the briefs whose results are not stored, by step.
    """

    def __init__(
        self, rt: Runtime, documents: Mapping[str, str], settings: AggregateSettings, before: Before | None
    ) -> None:
        super().__init__(rt, documents, settings, before.hierarchy.value if before else None)
        self.asked: dict[str, list[Brief]] = {aggregate.name: [], relate.name: []}

    def ask(self, step: Step[Brief, Any], briefs: Sequence[Brief]) -> list[Any]:
        """Stored results; else a text of the usual length."""
        keys = self.rt.keys(step, briefs)
        stored = self.rt.store.read(keys)
        self.asked[step.name] += [b for b, k in zip(briefs, keys, strict=True) if k not in stored]
        return [
            step.decode(stored[k]) if k in stored else _stand_in(step, b) for b, k in zip(briefs, keys, strict=True)
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


def foresee(
    graph: Graph, chunks: Iterable[Chunk], rt: Runtime, settings: AggregateSettings, before: Before | None
) -> tuple[dict[str, list[Brief]], Sequence[Cluster]]:
    """What would be asked of the engine, by step, and the aggregates that would be embedded."""
    documents = {c.id: c.document for c in chunks}
    builder = Foreseen(rt, documents, settings, before)
    found = builder.build(ground_level(graph, elements_for(rt.engine, graph, documents)), Result("", _NOTHING))
    return builder.asked, found.clusters


def _stand_in(step: Step[Any, Any], brief: Brief) -> Any:
    tokens = AGGREGATE if step.name == aggregate.name else RELATION
    text = " ".join(" ".join(p.text for p in brief.context.passages).split()[: tokens * 2 // 3])
    said = (Statement(text, (brief.context.passages[0].id,)),)
    return Report(f"{brief.context.title} and others", said) if step.name == aggregate.name else said
