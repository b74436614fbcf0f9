"""The part `layers` of an index: the graph with HiRAG's summary entities in it, its communities and their reports.

Huang et al. 2025, *HiRAG*, §4.1. What is found in a graph - communities, reports, lookups, vectors - is found in the
larger one by the same functions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sensegraph.algorithms.ranking import Stack
from sensegraph.errors import StoreError
from sensegraph.index.graph.columns import columns_of
from sensegraph.index.graph.lookups import find_lookups, find_ties
from sensegraph.index.hierarchy.communities import (
    ClusterSettings,
    Earlier,
    cluster_graphs,
    find_communities,
)
from sensegraph.index.hierarchy.reports import ReportSettings, report_all
from sensegraph.index.hierarchy.similar_clusters import group_vectors
from sensegraph.index.hierarchy.stand_ins import first_words, foresee_results
from sensegraph.index.manifest import MadePart, PartEntry
from sensegraph.index.navigation import add_navigation
from sensegraph.index.parts import Building, PartEstimate
from sensegraph.index.vectors import embed_records, entity_texts, report_texts
from sensegraph.methods.hirag.layered import LayerKeys, LayerSettings, in_place, keep_layer_keys
from sensegraph.methods.hirag.layering import A, B, Builder, Layers, write_summary_entities
from sensegraph.protocols import Store
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import Result, Step, recall_result, step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Brief, Chunk, Context, Graph, Membership, Statement, SummaryEntity

if TYPE_CHECKING:
    from sensegraph.index.estimate import Foresight


@dataclass(frozen=True, slots=True)
class Before:
    """What an update starts from: the layers of an earlier build, what they were `made_of`, the communities above."""

    layers: Result[Layers] | None
    made_of: str
    communities: Earlier | None = None


@step("layers.layers", version=1, form="tables")
def keep_layers(wholes: Sequence[Layers], *, settings: LayerSettings, writers: Sequence[str]) -> list[Layers]:
    """The finished layers; `writers` are who wrote summary entities, and who made the vectors."""
    return list(wholes)


@step("layers.enlarged", version=1, form="tables")
def enlarge_graph(wholes: Sequence[tuple[Graph, Layers]]) -> list[Graph]:
    """A graph with the summary entities of its layers among its entities, and their members' links to them."""
    results: list[Graph] = []
    for graph, found in wholes:
        degree = Counter(end for r in found.relations for end in (r.source, r.target))
        own = [replace(e, degree=e.degree + degree[e.id]) for e in graph.entities]
        new = [replace(e, degree=degree[e.id]) for e in found.entities]
        scale = _mean_weight([r.weight for r in graph.relations]) / _mean_weight([r.weight for r in found.relations])
        links = [replace(r, weight=r.weight * scale) for r in found.relations]
        entities = tuple(sorted((*own, *new), key=lambda e: e.id))
        relations = tuple(sorted((*graph.relations, *links), key=lambda r: r.id))
        results.append(Graph(entities, relations, graph.claims))
    return results


def layers_made_of(graph: str, vectors: str, rt: Runtime, settings: LayerSettings) -> str:
    """What stands for everything that the layers of a graph with these keys depend on."""
    return key("layers", keep_layers.version, group_vectors.version, graph, vectors, settings, _layer_writers(rt))


def find_layers(
    graph: Result[Graph], vectors: Result[Stack], chunks: Callable[[], Iterable[Chunk]], rt: Runtime,
    settings: LayerSettings, before: Before | None = None,
) -> Result[Layers]:  # fmt: skip
    """The layers over `graph`, whose entities have these vectors; paid for only where a brief changed.

    With `before`, clusters are changed as little as the new vectors demand. Raises StepFailed where the engine failed;
    what it had written is stored.
    """
    whole = layers_made_of(graph.key, vectors.key, rt, settings)
    earlier = before.layers if before else None
    if before and earlier and before.made_of == whole:
        return earlier

    def write() -> Layers:
        documents = {c.id: c.document for c in chunks()}
        return Builder(rt, graph.value, documents, settings, earlier.value if earlier else None).build(vectors)

    names = (whole, earlier.key if earlier else "")
    return rt.once(keep_layers, write, names=names, settings=settings, writers=_layer_writers(rt))


def build_layers(building: Building, settings: LayerSettings) -> MadePart:
    """The part: its layers, what is found in the graph with them, and the stretches of its vectors.

    Raises UnsupportedTask where the engine writes no summary entities or reports.
    """
    rt, how, vectors = building.rt, building.settings, building.entity_vectors()
    before = earlier_layers(rt.store, building.earlier, settings, how.clusters)
    made, found, notes = layer_all(
        building.graph, vectors, building.chunks, rt, settings, how.clusters, how.reports, before
    )
    made = replace(made, ways=add_navigation(in_place(building.whole, made), rt, how.exact_below).ways)
    large = Result(made.graph, recall_result(rt.store, enlarge_graph, made.graph))
    find_ties(large, building.spine.catalogue, rt)
    return MadePart(PartEntry(rt.once(keep_layer_keys, made).key), {"summary_entities": len(found.entities)}, notes)


def layer_all(
    graph: Result[Graph], vectors: Result[Stack], chunks: Callable[[], Iterable[Chunk]], rt: Runtime,
    settings: LayerSettings, clusters: ClusterSettings, reports: ReportSettings, before: Before | None,
) -> tuple[LayerKeys, Layers, tuple[str, ...]]:  # fmt: skip
    """What the part is made of, its layers, and what has to be said of it.

    Raises UnsupportedTask where the engine writes no summary entities or reports.
    """
    rt.check("the layers of hirag", frozenset({"abstract", "report"}))
    found = find_layers(graph, vectors, chunks, rt, settings, before)
    large = rt.once(enlarge_graph, lambda: (graph.value, found.value), names=(graph.key, found.key))
    shape = key(columns_of(large.value).structure(), clusters)
    earlier = before.communities if before else None
    same = earlier if earlier and earlier.shape == shape else None  # where the shape of the graph is the same
    groups = same.communities if same else find_communities(large, earlier, rt, clusters)
    reported = report_all(groups, large, chunks, rt, reports)
    depths = Counter(c.depth for c in reported.value.clusters)
    keys = LayerKeys(
        found.key, large.key, shape, groups.key, reported.key,
        lookups=find_lookups(large, reported, rt).key,
        entity_vectors=embed_records(lambda: entity_texts(large.value), rt, name=large.key).key,
        report_vectors=embed_records(lambda: report_texts(reported.value), rt, name=reported.key).key,
        made_of=layers_made_of(graph.key, vectors.key, rt, settings), settings=key(settings), clustering=key(clusters),
        clusters=tuple(depths[d] for d in range(len(depths))),
    )  # fmt: skip
    return keys, found.value, (*found.value.notes, *reported.value.notes)


def earlier_layers(store: Store, name: str, settings: LayerSettings, clusters: ClusterSettings) -> Before | None:
    """The part under the key `name`, if it is there, as far as it was made by the same settings."""
    if not name:
        return None
    try:
        made = recall_result(store, keep_layer_keys, name)
        same = made.settings == key(settings)
        found = Result(made.layers, recall_result(store, keep_layers, made.layers)) if same else None
        if made.clustering != key(clusters):
            return Before(found, made.made_of)
        groups = Result(made.communities, recall_result(store, cluster_graphs, made.communities))
        large = Result(made.graph, recall_result(store, enlarge_graph, made.graph))
        return Before(found, made.made_of, Earlier(groups, large, made.structure))
    except StoreError:
        return None  # gone or of another version: the build makes it anew instead of failing for ever


def _layer_writers(rt: Runtime) -> tuple[str, ...]:
    return (rt.engine.fingerprint("abstract"), rt.engine.fingerprint("summarise"), rt.embedder.fingerprint())


def _mean_weight(weights: Sequence[float]) -> float:
    return sum(sorted(weights)) / max(1, len(weights)) or 1.0


_EACH = 10  # members of a summary entity that nobody has written yet
_TEXT, _MEMBER = 60, 30  # tokens of its description, and of one of its members
_NOTHING: Result[Stack] = Result("", Stack())  # vectors of texts that stand in say nothing


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
        found, missing = foresee_results(self.rt, step, items, _stand_in_summaries)
        self.asked += [item for item in missing if isinstance(item, Brief)]
        return found

    def clusters(self, nodes: Sequence[str], vectors: Result[Stack]) -> list[list[str]]:
        """The earlier clusters of the nodes; new nodes in groups of the usual size."""
        labels = self.earlier.labels(len(self.sizes), nodes)
        known = labels.tolist() if len(labels) else [-1] * len(nodes)
        found: dict[int, list[str]] = {}
        for node, label in zip(nodes, known, strict=True):
            found.setdefault(label, []).append(node)
        new = sorted(found.pop(-1, []), key=lambda name: (self.known[name].chunks[:1], name))
        size = max(2, min(self.settings.cluster_size, (len(new) + 1) // 2))  # two clusters at least
        return [*found.values(), *(new[i : i + size] for i in range(0, len(new), size))]

    def embedded(self, nodes: Sequence[str]) -> Result[Stack]:
        """Nothing."""
        return _NOTHING


def foresee_layers(foresight: Foresight, settings: LayerSettings, earlier: str) -> PartEstimate:
    """What would be asked of the engine and embedded; `earlier` is the key of the part as it is now.

    Reports are written on the communities of a larger graph, with layers that may come of it.
    """
    rt, graph = foresight.rt, foresight.graph
    before = earlier_layers(rt.store, earlier, settings, foresight.settings.clusters)
    made = before.layers.value if before and before.layers else None
    builder = ForeseenLayers(rt, graph, {c.id: c.document for c in foresight.chunks}, settings, made)
    large = enlarge_graph.fn([(graph, builder.build(_NOTHING))])[0]
    members = [sum(p.kind != "relation" for p in brief.context.passages) for brief in builder.asked]
    sizes = [-(-count // _EACH) * _TEXT + count * _MEMBER for count in members]
    step = foresight.step(write_summary_entities.name, "abstract", builder.asked, sizes)
    return PartEstimate((step,), entity_texts(large), ((large, before.communities if before else None),))


def _stand_in_summaries(item: Brief | Context | Any) -> Any:
    """Summary entities of some members each, or the first words of descriptions that are to be summed up."""
    if not isinstance(item, Brief):
        return " ".join(p.text for p in item.passages)[: 4 * _TEXT]
    members = [(p, kind) for p, kind in zip(item.context.passages, item.types, strict=True) if p.kind != "relation"]
    said = list[SummaryEntity]()
    for begin in range(0, len(members), _EACH):
        passages, kind = [p for p, _ in members[begin : begin + _EACH]], members[begin][1]
        text = (Statement(first_words(passages, _TEXT * 2 // 3), (passages[0].id,)),)
        links = tuple(Membership(p.id, "one of them", 5.0) for p in passages)
        said.append(SummaryEntity(f"{passages[0].title} and others", kind, text, links))
    return tuple(said)
