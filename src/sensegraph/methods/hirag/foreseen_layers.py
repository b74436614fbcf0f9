"""What HiRAG's layers would cost, before they are built: the same layers over texts that stand in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from sensegraph.methods.hirag.layer_clusters import Layers, LayerSettings
from sensegraph.methods.hirag.layering import A, B, Builder
from sensegraph.methods.hirag.layers import Before
from sensegraph.protocols import Vectors
from sensegraph.runtime.results import Result, Step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Brief, Chunk, Context, Graph, Membership, Statement, SummaryEntity

_EACH = 10  # members of a summary entity that nobody has written yet
_TEXT, _MEMBER = 60, 30  # tokens of its description, and of one of its members
_NOTHING = np.zeros((0, 0), np.float32)


class Foreseen(Builder):
    """Builds layers without vectors: what is not known from an earlier build is grouped by its first chunk.

    `asked` holds the briefs whose summary entities are not stored.
    """

    def __init__(
        self, rt: Runtime, graph: Graph, documents: Mapping[str, str], settings: LayerSettings, earlier: Layers | None
    ) -> None:
        super().__init__(rt, graph, documents, settings, earlier)
        self.asked: list[Brief] = []

    def ask(self, step: Step[A, B], items: Sequence[A]) -> Sequence[B]:
        """Stored results; else something of the usual length."""
        keys = self.rt.keys(step, items)
        stored = self.rt.store.read(keys)
        self.asked += [i for i, k in zip(items, keys, strict=True) if k not in stored and isinstance(i, Brief)]
        return [step.decode(stored[k]) if k in stored else _stand_in(i) for i, k in zip(items, keys, strict=True)]

    def clusters(self, nodes: Sequence[str], vectors: Result[Vectors]) -> list[list[str]]:
        """The earlier clusters of the nodes; new nodes in groups of the usual size."""
        labels = self.traced.labels(len(self.sizes), nodes)
        known = labels.tolist() if len(labels) else [-1] * len(nodes)
        found: dict[int, list[str]] = {}
        for node, label in zip(nodes, known, strict=True):
            found.setdefault(label, []).append(node)
        new = sorted(found.pop(-1, []), key=lambda name: (self.known[name].chunks[:1], name))
        size = max(2, min(self.settings.cluster_size, (len(new) + 1) // 2))  # two clusters at least
        return [*found.values(), *(new[i : i + size] for i in range(0, len(new), size))]

    def embedded(self, nodes: Sequence[str]) -> Result[Vectors]:
        """Nothing: vectors of texts that stand in say nothing."""
        return Result("", _NOTHING)


def foresee_layers(
    graph: Graph, chunks: Iterable[Chunk], rt: Runtime, settings: LayerSettings, before: Before | None
) -> tuple[list[Brief], list[int], Layers]:
    """The clusters that the engine would be asked about, the tokens of its replies, and layers that may come of it."""
    earlier = before.layers.value if before and before.layers else None
    builder = Foreseen(rt, graph, {c.id: c.document for c in chunks}, settings, earlier)
    found = builder.build(Result("", _NOTHING))
    return builder.asked, [_reply(brief) for brief in builder.asked], found


def _reply(brief: Brief) -> int:
    members = sum(p.kind != "relation" for p in brief.context.passages)
    return -(-members // _EACH) * _TEXT + members * _MEMBER


def _stand_in(item: Brief | Context | Any) -> Any:
    """Summary entities of some members each, or the first words of descriptions that are to be summed up."""
    if not isinstance(item, Brief):
        return " ".join(p.text for p in item.passages)[: 4 * _TEXT]
    members = [(p, kind) for p, kind in zip(item.context.passages, item.types, strict=True) if p.kind != "relation"]
    parts = [members[i : i + _EACH] for i in range(0, len(members), _EACH)]
    return tuple(
        SummaryEntity(
            f"{part[0][0].title} and others",
            part[0][1],
            (Statement(" ".join(" ".join(p.text for p, _ in part).split()[: _TEXT * 2 // 3]), (part[0][0].id,)),),
            tuple(Membership(p.id, "one of them", 5.0) for p, _ in part),
        )
        for part in parts
    )
