"""How HiRAG's layers are made: summary entities that stand for clusters of alike entities, and again for those.

Huang et al. 2025, *HiRAG*, "Indexing with hierarchical knowledge" (§4.1). A summary entity is an `Entity` with its
layer as `level`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from sensegraph.algorithms.graphs import Ints
from sensegraph.algorithms.meaning import measure_sparsity
from sensegraph.algorithms.mixtures import assign_softly, of_labels
from sensegraph.algorithms.ranking import Stack
from sensegraph.algorithms.reduction import reduce_dimensions
from sensegraph.index.graph.describing import summarise_descriptions
from sensegraph.index.graph.elements import relation_id
from sensegraph.index.hierarchy.earlier_groups import EarlierGroups
from sensegraph.index.hierarchy.packing import elements_for, ground_unless_quoted, resolve_references
from sensegraph.index.left_out import quote_as_text
from sensegraph.index.vectors import embed_records, entity_texts
from sensegraph.language.text import count_tokens, fold, pack_batches, take_within
from sensegraph.methods.hirag.layered import LayerSettings
from sensegraph.methods.hirag.tasks import AbstractingEngine
from sensegraph.protocols import Vectors
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import Result, Step, step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import (
    Brief,
    Context,
    Description,
    Entity,
    Graph,
    Membership,
    Passage,
    Relation,
    Source,
    Statement,
    SummaryEntity,
)


@dataclass(frozen=True, slots=True)
class Grouped:
    """A cluster of the entities below `layer`: its `members`, and the ids of what was `made` of it for that layer.

    A member that is passed on as it is was made of itself.
    """

    id: str
    layer: int
    members: tuple[str, ...]
    made: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Layers:
    """Clusters layer by layer, all summary entities, and their members' links to them, whose weight is a strength 0–10.

    `sizes` counts the entities of each layer, from layer 0; `sparsity` is that of the clusters below each other layer,
    and at last of those that were not summed up any more, where there are such.
    """

    groups: Sequence[Grouped] = ()
    entities: Sequence[Entity] = ()
    relations: Sequence[Relation] = ()
    sparsity: tuple[float, ...] = ()
    sizes: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()


def rows_of_clusters(vectors: Vectors | Stack, labels: Ints, settings: LayerSettings) -> list[list[int]]:
    """The rows of each cluster, given the label of each row, shape (n,): in one of them, or with soft membership more.

    Then it is in every one whose posterior is above the threshold, each cluster being a component of a mixture.
    """
    if settings.membership == "argmax":
        order = np.argsort(labels, kind="stable")
        return [part.tolist() for part in np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)]
    rows = reduce_dimensions(vectors, settings.dims, seed=settings.seed)
    return [part.tolist() for part in assign_softly(of_labels(rows, labels), rows, settings.threshold)]


def stops_layers(found: Sequence[float], settings: LayerSettings) -> bool:
    """Whether clusters of the last of these sparsities are not summed up any more (§4.1: a change of at most ε)."""
    little = len(found) > 1 and abs(found[-1] - found[-2]) <= settings.epsilon * found[-2]
    return little or found[-1] >= settings.sparsity


def summary_id(layer: int, name: str, kind: str) -> str:
    """The id of the summary entity of this name and type on a layer: no entity of another layer has it."""
    return key("summary entity", layer, fold(name), fold(kind))[:20]


A = TypeVar("A")
B = TypeVar("B")

_SPANS = 2  # spans that show what a member is, for its link to a summary entity
_FEWEST = 3  # entities that make a layer worth while (§7)


@step("layering.abstract", version=1, uses="engine", task="abstract")
def write_summary_entities(briefs: Sequence[Brief], *, engine: AbstractingEngine) -> list[tuple[SummaryEntity, ...]]:
    """The summary entities of each cluster (§4.1)."""
    return engine.abstract(briefs)


@dataclass(frozen=True, slots=True)
class _Summary:
    """A summary entity while it is gathered: all that is said of it, who belongs to it, and the chunks behind links."""

    name: str
    kind: str
    said: list[tuple[Statement, ...]] = field(default_factory=list)
    members: dict[str, Membership] = field(default_factory=dict)
    chunks: dict[str, None] = field(default_factory=dict)

    @property
    def texts(self) -> list[str]:
        """What is said of it, each text once."""
        return [text for text in dict.fromkeys("".join(s.text for s in said).strip() for said in self.said) if text]


class Builder:
    """Builds the layers over one graph; `known` are all entities so far, `lines` how they are shown to an engine.

    `documents` maps the ids of all chunks, in order, to those of their documents.
    """

    def __init__(
        self, rt: Runtime, graph: Graph, documents: Mapping[str, str], settings: LayerSettings, earlier: Layers | None
    ) -> None:
        self.rt, self.settings = rt, settings
        groups = earlier.groups if earlier else ()
        self.earlier = EarlierGroups((group.layer, group.members, group.made) for group in groups)
        self.documents = documents
        self.place = {chunk: i for i, chunk in enumerate(documents)}
        self.known = {e.id: e for e in graph.entities}
        self.given = {r.id: r for r in graph.relations}
        self.lines = elements_for(rt.engine, replace(graph, claims=()), self.documents)
        self.groups: list[Grouped] = []
        self.made: list[Entity] = []
        self.links: list[Relation] = []
        self.sparsity: list[float] = []
        self.sizes = [len(graph.entities)]
        self.said: list[str] = []
        self.counts = Counter[str]()

    def build(self, vectors: Result[Stack]) -> Layers:
        """The layers over the graph, whose entities have these vectors."""
        nodes = list(self.known)
        while len(nodes) >= _FEWEST and len(self.sizes) <= self.settings.layers and not self._stalled():
            parts = self.clusters(nodes, vectors)
            self.sparsity.append(measure_sparsity([len(part) for part in parts], len(nodes)))
            if self.settings.stop == "sparsity" and stops_layers(self.sparsity, self.settings):
                break
            nodes = self._layer(parts)
            self.sizes.append(len(nodes))
            vectors = self.embedded(nodes)
        entities, links = sorted(self.made, key=lambda e: e.id), sorted(self.links, key=lambda r: r.id)
        figures = tuple(self.sparsity), tuple(self.sizes)
        return Layers(tuple(self.groups), tuple(entities), tuple(links), *figures, self._notes())

    def _stalled(self) -> bool:
        """Whether the last layer is hardly smaller than that below it."""
        if self.settings.stop != "size" or len(self.sizes) < 2:
            return False
        return self.sizes[-1] > (1 - self.settings.epsilon) * self.sizes[-2]

    # ── what an estimate does differently ──

    def ask(self, step: Step[A, B], items: Sequence[A]) -> Sequence[B]:
        """The engine's results."""
        instead: Any = quote_as_text if step.name == summarise_descriptions.name else lambda _: ()  # its members stay
        return self.rt.each(step, items, without=instead)

    def clusters(self, nodes: Sequence[str], vectors: Result[Stack]) -> list[list[str]]:
        """The clusters of the nodes of a layer."""
        s = self.settings
        found = self.earlier.group_anew(len(self.sizes), nodes, vectors, self.rt, s.cluster_size, s.dims, s.seed)
        self.said += filter(None, [found.note()])
        return [[nodes[row] for row in part] for part in rows_of_clusters(vectors.value, np.asarray(found.labels), s)]

    def embedded(self, nodes: Sequence[str]) -> Result[Stack]:
        """The vectors of the nodes of a layer, made of names and descriptions."""
        texts = entity_texts(Graph([self.known[name] for name in nodes]))
        return embed_records(lambda: texts, self.rt, name=key("layer", texts))

    # ── one layer ──

    def _layer(self, parts: Sequence[Sequence[str]]) -> list[str]:
        """The ids of the entities of the layer above these clusters, ascending; those that are new become known."""
        layer, found = len(self.sizes), dict[str, _Summary]()
        asked = [(c, batch) for c, part in enumerate(parts) for batch in self._batches(part)]
        briefs = {i: self._brief(batch) for i, (_, batch) in enumerate(asked) if len(batch) > 1}
        written = dict(zip(briefs, self.ask(write_summary_entities, list(briefs.values())), strict=True))
        made: list[dict[str, None]] = [{} for _ in parts]
        for i, (c, batch) in enumerate(asked):
            said = self._checked(written[i], briefs[i], batch) if i in written else []
            names = [self._gather(found, s, briefs[i], layer) for s in said]
            made[c] |= dict.fromkeys(names or batch)  # one alone, or of whom nothing is said, is passed on
        self._finish(found, layer)
        pairs = [(tuple(part), tuple(above)) for part, above in zip(parts, made, strict=True)]
        groups = [Grouped(key("layer", layer, part)[:20], layer, part, above) for part, above in pairs]
        for group in groups:
            self.earlier.pass_on(layer, group.members, group.made)
        self.groups += groups
        return sorted({name for above in made for name in above})

    def _batches(self, members: Sequence[str]) -> list[list[str]]:
        """Members by falling degree, as many as may be read at once (§3, step 4d)."""
        line = self.lines.entity
        ranked = sorted(members, key=lambda m: (-line[m].rank, m))
        return pack_batches(ranked, self.settings.input_tokens, lambda m: line[m].tokens)

    def _brief(self, members: Sequence[str]) -> Brief:
        """What a cluster is summed up from: its members, then the relations among them that have room."""
        line = self.lines.entity
        room = self.settings.input_tokens - sum(line[m].tokens for m in members)
        told, left = take_within(self.lines.inside(members)[1], room, lambda link: link.tokens)
        self.counts["omitted"] += left
        passages = (*(line[m].passage for m in members), *(link.passage for link in told))
        types = (*(self.known[m].type for m in members), *("" for _ in told))
        title = ", ".join(line[m].passage.title for m in members[:3])
        return Brief(Context(passages, title, left), types=types)

    def _checked(self, said: Sequence[SummaryEntity], brief: Brief, batch: Sequence[str]) -> list[SummaryEntity]:
        """Summary entities that refer to nothing but the brief, every member in one of them at least."""
        known, members, kept = {p.id for p in brief.context.passages}, set(batch), list[SummaryEntity]()
        for s in said:
            text, lost = resolve_references(s.description, known)
            mine = tuple(m for m in s.members if m.id in members)
            self.counts["lost"] += lost + len(s.members) - len(mine)
            if mine and s.name.strip():
                kept.append(replace(s, name=" ".join(s.name.split()), description=text, members=mine))
        left = [m for m in batch if all(m != held.id for s in kept for held in s.members)]
        if kept and left:
            kept[0] = replace(kept[0], members=(*kept[0].members, *(Membership(m, "") for m in left)))
        self.counts["silent"] += not kept
        return kept

    def _gather(self, found: dict[str, _Summary], said: SummaryEntity, brief: Brief, layer: int) -> str:
        """Put what is said of a summary entity to what is known of it; its id (§3, step 4e)."""
        name = summary_id(layer, said.name, said.type)
        entity = found.setdefault(name, _Summary(said.name, fold(said.type)))
        entity.said.append(said.description)
        for member in said.members:
            entity.members.setdefault(member.id, member)
        links = (self.given[p.id] for p in brief.context.passages if p.id in self.given)
        entity.chunks.update((chunk, None) for link in links for chunk in link.chunks)
        return name

    def _finish(self, found: Mapping[str, _Summary], layer: int) -> None:
        """Make the summary entities of a layer known."""
        shorter = self._summaries(found)
        new = [self._entity(name, s, shorter.get(name, ""), layer) for name, s in found.items()]
        self.known |= {e.id: e for e in new}
        self.lines.entity.update(elements_for(self.rt.engine, Graph(new), self.documents).entity)
        self.made += new
        self.links += [self._link(m, name, s.name) for name, s in found.items() for m in s.members.values()]

    def _summaries(self, found: Mapping[str, _Summary]) -> dict[str, str]:
        """One description for each that several clusters say too much of (§3, step 5)."""
        said = {name: s.texts for name, s in found.items()}
        most = self.settings.describe_above
        long = [n for n, texts in said.items() if len(texts) > 1 and sum(map(count_tokens, texts)) > most]
        kept = [take_within(said[n], self.settings.input_tokens, count_tokens)[0] for n in long]
        parts = [tuple(Passage("description", "", text) for text in texts) for texts in kept]
        contexts = [Context(part, found[n].name) for n, part in zip(long, parts, strict=True)]
        return dict(zip(long, self.ask(summarise_descriptions, contexts), strict=True))

    # ── records ──

    def _entity(self, name: str, summary: _Summary, shorter: str, layer: int) -> Entity:
        """The summary entity; it rests on every chunk that its members rest on (defect 3)."""
        members = [self.known[m] for m in summary.members]
        chunks = dict.fromkeys(chunk for e in members for chunk in e.chunks) | summary.chunks
        last = len(self.place)
        return Entity(
            name, summary.name, summary.kind, shorter or " ".join(summary.texts), self._descriptions(summary, members),
            tuple(sorted(chunks, key=lambda chunk: (self.place.get(chunk, last), chunk))),
            sum(e.frequency for e in members), len(members), level=layer,
        )  # fmt: skip

    def _descriptions(self, summary: _Summary, members: Sequence[Entity]) -> tuple[Description, ...]:
        """What is said of it by span; where no span is known, what is said first of each member."""
        engine = self.rt.engine
        said = [ground_unless_quoted(engine, s, self._sources) for text in summary.said for s in text]
        found = [Description(s.text.strip(), source) for s in said for source in s.sources if s.text.strip()]
        return tuple(dict.fromkeys(found or (d for e in members for d in e.descriptions[:1])))

    def _sources(self, name: str) -> Iterator[Source]:
        record = self.known.get(name) or self.given.get(name)
        return (d.source for d in record.descriptions) if record else iter(())

    def _link(self, member: Membership, summary: str, name: str) -> Relation:
        """The link of a member to a summary entity, which rests on what is said of the member."""
        one, other = sorted((member.id, summary))
        known = self.known[member.id]
        sources = tuple(dict.fromkeys(d.source for d in known.descriptions))[:_SPANS]
        text = member.description.strip() or f"member of {name}"
        spans = ground_unless_quoted(self.rt.engine, Statement(text, (member.id,)), lambda _: sources).sources
        said = tuple(Description(text, source) for source in spans)
        chunks = tuple(dict.fromkeys(s.chunk for s in sources)) or known.chunks[:_SPANS]
        return Relation(relation_id(one, other), one, other, text, said, max(0.0, member.strength), chunks)

    def _notes(self) -> tuple[str, ...]:
        said = {
            "lost": "references or members of summary entities named no record and were removed",
            "silent": "groups of entities got no summary entity and were passed on as they are",
            "omitted": "relations had no room in what summary entities are written from",
        }
        return (*self.said, *(f"{self.counts[name]} {text}" for name, text in said.items() if self.counts[name]))
