"""The part `aggregates` of an index: the hierarchy of LeanRAG with its vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import Ints
from sensegraph.errors import SettingsError
from sensegraph.index.index import Index
from sensegraph.index.manifest import MadePart
from sensegraph.index.parts import Building, Part, PartEstimate
from sensegraph.index.restricted.scope import ScopedIndex, positions_among
from sensegraph.runtime.results import recall_result, step
from sensegraph.types import Cluster, Description, Graph, Hierarchy, Statement

if TYPE_CHECKING:
    from sensegraph.index.estimate import Foresight
    from sensegraph.index.restricted.moment import TimedIndex


@dataclass(frozen=True, slots=True)
class AggregateSettings:
    """How aggregates are made; the defaults are those of zhang2025-leanrag or of its authors' code.

    A level is parted into clusters of about `cluster_size` nodes, at most twice as many, by a mixture over vectors
    that are reduced to `dims` columns; where fewer than `min_clusters` come out, the root follows at once. More than
    `threshold` relations between two clusters are summed up by the engine, fewer are joined; a list holds one number
    for each level, the last for all above. `input_tokens` bounds what one aggregate or relation is written from.
    `embed` says what vectors are made of: the paper's are those of descriptions alone.
    """

    cluster_size: int = 20
    threshold: int | tuple[int, ...] = 3
    dims: int = 32
    min_clusters: int = 5
    input_tokens: int = 12_000
    embed: Literal["name+description", "description"] = "name+description"
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in {"dims": 1, "input_tokens": 1, "min_clusters": 1, "cluster_size": 2}.items():
            if getattr(self, name) < least:
                raise SettingsError(f"index.aggregates.{name} is {getattr(self, name)}; it must be at least {least}.")
        if min(self.thresholds, default=-1) < 0:
            raise SettingsError(
                f"index.aggregates.threshold is {self.threshold}; it must be at least 0, or a list of such, not empty."
            )
        if self.seed < 0:
            raise SettingsError(f"index.aggregates.seed is {self.seed}; it must not be negative.")

    @property
    def thresholds(self) -> tuple[int, ...]:
        """τ by level."""
        return (self.threshold,) if isinstance(self.threshold, int) else self.threshold

    def above(self, level: int) -> int:
        """τ for the relations of `level`, counted from 1 (L10)."""
        return self.thresholds[min(level, len(self.thresholds)) - 1]


@dataclass(frozen=True, slots=True)
class AggregateKeys:
    """The keys of what the part is made of; `settings` stands for those that it was made by."""

    hierarchy: str
    ancestry: str
    vectors: str
    described: str
    made_of: str
    settings: str


@dataclass(frozen=True)
class Ancestry:
    """Who is above whom, and which clusters are linked, by position.

    `home[i]` is the cluster that entity i is a member of, `parent[c]` the cluster above cluster c, −1 where there is
    none. The relations of cluster c to later ones are `links[start[c]:start[c + 1]]`, which lead to `other` at the
    same places.
    """

    home: Ints
    parent: Ints
    start: NDArray[np.int64]
    other: Ints
    links: Ints

    def among(self, clusters: Sequence[int]) -> list[tuple[int, int, int]]:
        """The relations between these clusters as (relation, one, other), in the order of the first of their ends."""
        wanted, found = set(clusters), list[tuple[int, int, int]]()
        for c in clusters:
            part = slice(int(self.start[c]), int(self.start[c + 1]))
            pairs = zip(self.links[part].tolist(), self.other[part].tolist(), strict=True)
            found += [(link, c, other) for link, other in pairs if other in wanted]
        return found


@dataclass(frozen=True, slots=True)
class Aggregates:
    """The hierarchy and the chains in it; `notes` say what a filter left out."""

    hierarchy: Hierarchy
    ancestry: Ancestry
    notes: tuple[str, ...] = ()

    def within(self, entities: Sequence[str], cut: Callable[[Cluster], Cluster | None]) -> Aggregates:
        """What is left inside a filter that leaves `entities`, and of each aggregate what `cut` does.

        A relation between aggregates is kept where both stay as they are: what is said of it may rest on all of them.
        """
        cuts = [(whole, left) for whole in self.hierarchy.clusters if (left := cut(whole))]
        same = {left.id for whole, left in cuts if left is whole}
        links = tuple(r for r in self.hierarchy.relations if r.source in same and r.target in same)
        found = replace(self.hierarchy, clusters=tuple(left for _, left in cuts), relations=links, notes=())
        changed = len(cuts) - len(same)
        note = (
            f"{changed} of {len(cuts)} aggregates drew on documents outside the filter and were left out; what is "
            "known of their members inside was read instead"
        )
        return Aggregates(found, make_ancestry.fn([(entities, found)])[0], (note,) if changed else ())


@step("aggregates.aggregates", version=1, form="tables")
def keep_aggregates(
    wholes: Sequence[Hierarchy], *, settings: AggregateSettings, writers: Sequence[str]
) -> list[Hierarchy]:
    """The finished hierarchy; `writers` are who wrote its aggregates and relations, and who made the vectors."""
    return list(wholes)


@step("aggregated.aggregated", version=1)
def keep_aggregate_keys(wholes: Sequence[AggregateKeys]) -> list[AggregateKeys]:
    """What the part is made of."""
    return list(wholes)


@step("aggregated.ancestry", version=1, form="arrays")
def make_ancestry(wholes: Sequence[tuple[Sequence[str], Hierarchy]]) -> list[Ancestry]:
    """The chains of each hierarchy over the entities with these ids."""
    results: list[Ancestry] = []
    for entities, hierarchy in wholes:
        place = {name: i for i, name in enumerate(entities)}
        found = list(hierarchy.clusters)
        number = {c.id: i for i, c in enumerate(found)}
        home = np.full(len(entities), -1, np.int32)
        for i, cluster in enumerate(found):
            if cluster.level == 0:
                home[[place[m] for m in cluster.members if m in place]] = i
        parent = np.array([number.get(c.parent, -1) for c in found], np.int32)
        ends = np.array([(number[r.source], number[r.target]) for r in hierarchy.relations], np.int64).reshape(-1, 2)
        order = np.lexsort((ends[:, 1], ends[:, 0]))
        start = np.concatenate(([0], np.cumsum(np.bincount(ends[:, 0], minlength=len(found))))).astype(np.int64)
        results.append(Ancestry(home, parent, start, ends[order, 1].astype(np.int32), order.astype(np.int32)))
    return results


def quote_statements(said: Iterable[Statement]) -> tuple[Description, ...]:
    """What is said as quotes, one for each span."""
    quotes = (Description(s.text.strip(), source) for s in said for source in s.sources)
    return tuple({q.source: q for q in quotes}.values())


def aggregate_texts(found: Sequence[Cluster], settings: AggregateSettings) -> list[str]:
    """What is embedded of aggregates (Eq. 3)."""
    return [_text_to_embed(c.title, "".join(s.text for s in c.summary).strip(), settings) for c in found]


def described_texts(graph: Graph, settings: AggregateSettings) -> list[str]:
    """What is embedded of entities (Eq. 3)."""
    return [_text_to_embed(e.name, e.description, settings) for e in graph.entities]


def _text_to_embed(name: str, description: str, settings: AggregateSettings) -> str:
    return description if settings.embed == "description" else f"{name}: {description}"


class AggregatesPart(Part[Aggregates, AggregateSettings]):
    """Aggregates of alike entities, level by level; the vectors of both."""

    name = "aggregates"
    needs = ("graph",)
    reader = "leanrag"
    kinds = ("described", "aggregate")
    settings = AggregateSettings

    def build(self, building: Building, settings: AggregateSettings) -> MadePart:
        """Raises UnsupportedTask where the engine does not write aggregates."""
        from sensegraph.methods.leanrag.aggregates import aggregate_all, earlier_aggregates

        before = earlier_aggregates(building.rt.store, building.earlier, settings)
        vectors = building.entity_vectors()
        return aggregate_all(building.graph, vectors, building.chunks, building.rt, settings, before)

    def estimate(self, foresight: Foresight, settings: AggregateSettings) -> PartEstimate:
        """Aggregates and the relations between them; without vectors they can only be grouped roughly."""
        from sensegraph.methods.leanrag.aggregates import foresee_aggregates

        return foresee_aggregates(foresight, settings, foresight.earlier(self.name))

    def read(self, index: Index) -> Aggregates:
        """The hierarchy, its records read when they are asked for."""
        made = recall_result(index.store, keep_aggregate_keys, index.manifest.parts[self.name].key)
        hierarchy = recall_result(index.store, keep_aggregates, made.hierarchy)
        return Aggregates(hierarchy, recall_result(index.store, make_ancestry, made.ancestry))

    def restrict_to_scope(self, value: Aggregates, index: ScopedIndex) -> Aggregates:
        """Aggregates that draw on nothing outside; for every other what is known of its members inside."""

        def cut(cluster: Cluster) -> Cluster | None:
            left = index.cluster_inside(cluster)
            if left is None or left is cluster:
                return left
            return replace(left, type="", chunks=tuple(c for c in cluster.chunks if c in index.chunk_ids))

        return value.within([e.id for e in index.graph.entities], cut)

    def restrict_to_moment(self, value: Aggregates, index: TimedIndex) -> Aggregates:
        """The aggregates, without the statements that rest on another time alone."""
        clusters = tuple(map(index.statements_that_hold, value.hierarchy.clusters))
        return replace(value, hierarchy=replace(value.hierarchy, clusters=clusters))

    def positions(self, kind: str, index: ScopedIndex) -> Sequence[int]:
        """Where the aggregates, or the entities, inside are among all of them."""
        if kind == "described":
            return index.positions("entity")
        whole, inside = index.whole.part(self).hierarchy, index.part(self).hierarchy
        return positions_among(whole.clusters, inside.clusters)


AGGREGATES = AggregatesPart()
