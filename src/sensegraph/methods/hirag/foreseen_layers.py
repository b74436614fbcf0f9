"""What HiRAG's layers would cost, before they are built: the same layers over texts that stand in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sensegraph.index.parts import PartEstimate
from sensegraph.index.vectors import entity_texts
from sensegraph.methods.hirag.layer_clusters import Layers
from sensegraph.methods.hirag.layered import LayerSettings
from sensegraph.methods.hirag.layering import A, B, Builder, write_summary_entities
from sensegraph.methods.hirag.layers import earlier_layers, enlarge_graph
from sensegraph.protocols import Vectors
from sensegraph.runtime.results import Result, Step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Brief, Context, Graph, Membership, Statement, SummaryEntity

if TYPE_CHECKING:
    from sensegraph.index.estimate import Foresight

_EACH = 10  # members of a summary entity that nobody has written yet
_TEXT, _MEMBER = 60, 30  # tokens of its description, and of one of its members
_NOTHING = np.zeros((0, 0), np.float32)


class ForeseenLayers(Builder):
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
        return [
            step.decode(stored[k]) if k in stored else _stand_in_summaries(i) for i, k in zip(items, keys, strict=True)
        ]

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


def foresee_layers(foresight: Foresight, settings: LayerSettings, earlier: str) -> PartEstimate:
    """What would be asked of the engine and embedded; `earlier` is the key of the part as it is now.

    Reports are written on the communities of a larger graph, with layers that may come of it.
    """
    rt, graph = foresight.rt, foresight.graph
    before = earlier_layers(rt.store, earlier, settings, foresight.settings.clusters)
    made = before.layers.value if before and before.layers else None
    builder = ForeseenLayers(rt, graph, {c.id: c.document for c in foresight.chunks}, settings, made)
    large = enlarge_graph.fn([(graph, builder.build(Result("", _NOTHING)))])[0]
    members = [sum(p.kind != "relation" for p in brief.context.passages) for brief in builder.asked]
    sizes = [-(-count // _EACH) * _TEXT + count * _MEMBER for count in members]
    step = foresight.step(write_summary_entities.name, "abstract", builder.asked, sizes)
    return PartEstimate((step,), entity_texts(large), ((large, before.communities if before else None),))


def _stand_in_summaries(item: Brief | Context | Any) -> Any:
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
