"""The part `aggregates` of an index: the hierarchy of LeanRAG, the chains in it, and what a filter leaves of both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import Ints
from sensegraph.errors import StoreError
from sensegraph.index.vectors import embed_records
from sensegraph.methods.leanrag.aggregates import (
    AggregateSettings,
    Before,
    aggregate_texts,
    aggregates,
    described_texts,
    find_aggregates,
    made_of,
)
from sensegraph.protocols import Store, Vectors
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import Result, recall, step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Chunk, Cluster, Graph, Hierarchy


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
        return Aggregates(found, ancestry.fn([(entities, found)])[0], (note,) if changed else ())


@step("aggregated.aggregated", version=1)
def aggregated(wholes: Sequence[AggregateKeys]) -> list[AggregateKeys]:
    """What the part is made of."""
    return list(wholes)


@step("aggregated.ancestry", version=1, form="arrays")
def ancestry(wholes: Sequence[tuple[Sequence[str], Hierarchy]]) -> list[Ancestry]:
    """The chains of each hierarchy over the entities with these ids."""
    return [_ancestry(entities, hierarchy) for entities, hierarchy in wholes]


def aggregate_all(
    graph: Result[Graph], vectors: Result[Vectors], chunks: Callable[[], Iterable[Chunk]], rt: Runtime,
    settings: AggregateSettings, before: Before | None,
) -> tuple[str, AggregateKeys, Hierarchy]:  # fmt: skip
    """The key of the part, what it is made of, and its hierarchy; `vectors` are those of the entities by name too.

    Raises UnsupportedTask where the engine does not write aggregates.
    """
    rt.check("the aggregates of leanrag", frozenset({"aggregate", "relate"}))
    own = settings.embed == "description"
    if own:
        texts = key("described", graph.key)
        vectors = embed_records(lambda: described_texts(graph.value, settings), rt, name=texts)
    found = find_aggregates(graph, vectors, chunks, rt, settings, before)
    embedded = embed_records(
        lambda: aggregate_texts(found.value.clusters, settings), rt, name=key("aggregates", found.key, settings.embed)
    )
    ids = [e.id for e in graph.value.entities]
    above = rt.once(ancestry, lambda: (ids, found.value), names=(graph.key, found.key))
    whole = made_of(graph.key, vectors.key, rt, settings)
    keys = AggregateKeys(found.key, above.key, embedded.key, vectors.key, whole, key(settings))
    return rt.once(aggregated, keys).key, keys, found.value


def earlier_aggregates(store: Store, name: str, settings: AggregateSettings) -> Before | None:
    """The part under the key `name`, if it is there and was made by the same settings."""
    if not name:
        return None
    try:
        made = recall(store, aggregated, name)
        if made.settings != key(settings):
            return None  # an update keeps what it finds, and what it finds obeys other settings
        return Before(Result(made.hierarchy, recall(store, aggregates, made.hierarchy)), made.made_of)
    except StoreError:
        return None  # gone or of another version: the build makes it anew instead of failing for ever


def aggregates_of(store: Store, name: str) -> Aggregates:
    """The part that was stored under this key."""
    made = recall(store, aggregated, name)
    return Aggregates(recall(store, aggregates, made.hierarchy), recall(store, ancestry, made.ancestry))


def _ancestry(entities: Sequence[str], hierarchy: Hierarchy) -> Ancestry:
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
    return Ancestry(home, parent, start, ends[order, 1].astype(np.int32), order.astype(np.int32))
