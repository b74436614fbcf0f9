"""The parts of a partitioned graph: what they hold, and how they are made of slices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sensegraph.index.graph.columns import ClaimColumns, EntityColumns, RelationColumns
from sensegraph.index.graph.describing import distinct_descriptions, is_crowded
from sensegraph.index.graph.graph_settings import Weight
from sensegraph.index.graph.merging import gather_claims, gather_entities, gather_relations
from sensegraph.index.graph.slicing import (
    Pairs,
    Said,
    Told,
    Uses,
    count_entity_uses,
    read_run_rows,
)
from sensegraph.index.graph.stored.chunk_texts import Forms, SaidPlaces
from sensegraph.index.graph.stored.packed_records import join_descriptions, pack_entity, pack_relation
from sensegraph.index.graph.stored.slices import (
    PartSlices,
    cut_rows,
    read_claim_slices,
    read_link_slices,
    read_mention_slices,
)
from sensegraph.resolution.aliases import Called, Name
from sensegraph.runtime.columns import pack_columns
from sensegraph.runtime.results import Encoded, step
from sensegraph.types import Claim, Entity, Relation

R = TypeVar("R", Entity, Relation)
ENDS = np.dtype([("source", "<u8"), ("target", "<u8"), ("weight", "<f8")])


@dataclass(frozen=True, slots=True)
class EntityPart:
    """Entities whose ids follow one another, from `first`; the ids of those with too many descriptions to join.

    A part that has such `crowded` ones holds none, only the `names` of all by their ids: it is made again with
    summaries, and then holds all of its `count` entities.
    """

    entities: Sequence[Entity] = ()
    first: str = ""
    count: int = 0
    columns: bytes = b""
    crowded: tuple[str, ...] = ()
    names: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class RelationPart:
    """Relations whose ids follow one another, as entities do; `ends` has a row of `ENDS` for each."""

    relations: Sequence[Relation] = ()
    first: str = ""
    count: int = 0
    columns: bytes = b""
    crowded: tuple[str, ...] = ()
    ends: bytes = b""


@dataclass(frozen=True, slots=True)
class ClaimPart:
    """Claims whose ids follow one another."""

    claims: Sequence[Claim] = ()
    first: str = ""
    count: int = 0
    columns: bytes = b""


@step("graph.said", version=1, batch=1)
def say_names(runs: Sequence[Pairs]) -> list[Said]:
    """The names that each run of documents says."""
    return [Said.of(pairs) for pairs in runs]


@step("graph.uses", version=1, batch=1)
def list_uses(runs: Sequence[tuple[Pairs, Told]]) -> list[tuple[Uses, ...]]:
    """How each run mentions the entities that are called otherwise than one of their names."""
    return [tuple(count_entity_uses(read_run_rows(pairs, told, None), frozenset(told.apart))) for pairs, told in runs]


@step("graph.slices", version=5, form="array")
def slice_runs(runs: Sequence[tuple[Pairs, Told]], *, parts: int) -> list[NDArray[np.uint8]]:
    """What each run says, in slices for so many partitions."""
    return [cut_rows(read_run_rows(pairs, told, SaidPlaces().find), told, parts) for pairs, told in runs]


@dataclass(frozen=True)
class EntitySlices:
    """What an entity part is made of: slices, the degrees of its entities, what those are called that have aliases."""

    slices: PartSlices
    degrees: Mapping[int, int]
    called: Mapping[Name, Called]

    def degree_of(self, name: str) -> int:
        """The degree of the entity with this id."""
        return self.degrees.get(number_id(name), 0)

    @cached_property
    def entities(self) -> list[Entity]:
        """The entities, with what is said of them and no description yet."""
        return gather_entities(read_mention_slices(self.slices), self.degree_of, self.called, self.slices.describe)


@dataclass(frozen=True)
class RelationSlices:
    """What a relation part is made of."""

    slices: PartSlices
    _made: dict[tuple[Weight, int], list[Relation]] = field(default_factory=dict, repr=False, compare=False)

    def gather(self, weight: Weight, most: int) -> list[Relation]:
        """The relations, with what is said of them and no description yet; those of the last call are kept."""
        if (weight, most) not in self._made:
            self._made.clear()
            self._made[weight, most] = gather_relations(
                read_link_slices(self.slices), weight, self.slices.describe, most
            )
        return self._made[weight, most]


@step("graph.entities", version=5, form="tables")
def merge_entity_slices(parts: Sequence[EntitySlices], *, limit: int) -> list[EntityPart]:
    """The entities of each partition, described by what is said of them where that is at most `limit` tokens."""
    found = []
    for part in parts:
        made = part.entities
        if crowded := _list_crowded(made, limit):
            names = tuple((e.id, e.name) for e in made)
            found.append(EntityPart((), made[0].id, len(made), b"", tuple(crowded), names))
        else:
            found.append(_describe_entities(made, {}, part.slices))
    return found


@step("graph.relations", version=5, form="tables")
def merge_relation_slices(
    parts: Sequence[RelationSlices], *, limit: int, weight: Weight, most: int
) -> list[RelationPart]:
    """The relations of each partition; `most` is the largest number of records that one of all has."""
    found = []
    for part in parts:
        made = part.gather(weight, most)
        ends = np.array([(number_id(r.source), number_id(r.target), r.weight) for r in made], ENDS).tobytes()
        if crowded := _list_crowded(made, limit):
            found.append(RelationPart((), made[0].id, len(made), b"", tuple(crowded), ends))
        else:
            found.append(replace(_describe_relations(made, {}, part.slices), ends=ends))
    return found


@step("graph.claims", version=2, form="tables")
def merge_claim_slices(parts: Sequence[PartSlices]) -> list[ClaimPart]:
    """The claims of each partition."""
    merged = (tuple(gather_claims(read_claim_slices(slices))) for slices in parts)
    return [ClaimPart(claims, claims[0].id, len(claims), pack_columns(ClaimColumns.of(claims))) for claims in merged]


def number_id(name: str) -> int:
    """The first 64 bits of an id: what stands for it in arrays."""
    return int(name[:16], 16)


def _list_crowded(records: Iterable[R], limit: int) -> dict[str, None]:
    """The ids of the records of which too much is said to be joined."""
    return {r.id: None for r in records if is_crowded(distinct_descriptions(r.descriptions), limit)}


@step("graph.described_entities", version=4, form="tables")
def describe_entities(parts: Sequence[tuple[EntitySlices, Mapping[str, str]]]) -> list[EntityPart]:
    """The entities of partitions with summaries, by id, as the descriptions of the crowded ones."""
    return [_describe_entities(part.entities, summaries, part.slices) for part, summaries in parts]


@step("graph.described_relations", version=4, form="tables")
def describe_relations(
    parts: Sequence[tuple[RelationSlices, Mapping[str, str]]], *, weight: Weight, most: int
) -> list[RelationPart]:
    """The relations of partitions with summaries, by id, as the descriptions of the crowded ones."""
    return [_describe_relations(part.gather(weight, most), summaries, part.slices) for part, summaries in parts]


def _describe_entities(made: Iterable[Entity], summaries: Mapping[str, str], forms: Forms) -> EntityPart:
    told = _describe_each(made, summaries)
    packed = Encoded(told, partial(pack_entity, forms=forms))
    return EntityPart(packed, told[0].id, len(told), pack_columns(EntityColumns.of(told)))


def _describe_relations(made: Iterable[Relation], summaries: Mapping[str, str], forms: Forms) -> RelationPart:
    told = _describe_each(made, summaries)
    packed = Encoded(told, partial(pack_relation, forms=forms))
    return RelationPart(packed, told[0].id, len(told), pack_columns(RelationColumns.of(told)))


def _describe_each(records: Iterable[R], summaries: Mapping[str, str]) -> tuple[R, ...]:
    """The records, each described by its summary, or by what is said of it."""
    return tuple(replace(r, description=summaries.get(r.id) or join_descriptions(r.descriptions)) for r in records)
