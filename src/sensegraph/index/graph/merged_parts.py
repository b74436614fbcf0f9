"""The parts of a partitioned graph: what they hold, and how they are made of slices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sensegraph.index.graph.columns import ClaimColumns, EntityColumns, RelationColumns, pack_columns
from sensegraph.index.graph.describing import distinct_descriptions, is_crowded
from sensegraph.index.graph.graph_settings import Weight
from sensegraph.index.graph.merging import gather_claims, gather_entities, gather_relations
from sensegraph.index.graph.slicing import (
    Pairs,
    Said,
    Told,
    Uses,
    count_entity_uses,
    cut_rows,
    read_claim_slices,
    read_link_slices,
    read_mention_slices,
    read_run_rows,
)
from sensegraph.resolution.aliases import Called, Name
from sensegraph.runtime.results import step
from sensegraph.types import Claim, Entity, Relation

R = TypeVar("R", Entity, Relation)
ENDS = np.dtype([("source", "<u8"), ("target", "<u8"), ("weight", "<f8")])


@dataclass(frozen=True, slots=True)
class EntityPart:
    """Entities whose ids follow one another, from `first`; the ids of those with too many descriptions to join."""

    entities: Sequence[Entity] = ()
    first: str = ""
    count: int = 0
    columns: bytes = b""
    crowded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RelationPart:
    """Relations whose ids follow one another; `ends` has a row of `ENDS` for each."""

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
    return [tuple(count_entity_uses(read_run_rows(pairs, told), frozenset(told.apart))) for pairs, told in runs]


@step("graph.slices", version=1, form="array")
def slice_runs(runs: Sequence[tuple[Pairs, Told]], *, parts: int) -> list[NDArray[np.uint8]]:
    """What each run says, in slices for so many partitions."""
    return [cut_rows(read_run_rows(pairs, told), told, parts) for pairs, told in runs]


@dataclass(frozen=True, slots=True)
class EntitySlices:
    """What an entity part is made of: slices, the degrees of its entities, what those are called that have aliases."""

    slices: Sequence[bytes]
    degrees: Mapping[int, int]
    called: Mapping[Name, Called]

    def degree_of(self, name: str) -> int:
        """The degree of the entity with this id."""
        return self.degrees.get(number_id(name), 0)


@step("graph.entities", version=1, form="tables")
def merge_entity_slices(parts: Sequence[EntitySlices], *, limit: int) -> list[EntityPart]:
    """The entities of each partition, described by what is said of them where that is at most `limit` tokens."""
    found = []
    for part in parts:
        made = gather_entities(read_mention_slices(part.slices), part.degree_of, part.called)
        joined, crowded = _join_texts(made, limit)
        found.append(EntityPart(joined, joined[0].id, len(joined), pack_columns(EntityColumns.of(joined)), crowded))
    return found


@step("graph.relations", version=1, form="tables")
def merge_relation_slices(
    parts: Sequence[Sequence[bytes]], *, limit: int, weight: Weight, most: int
) -> list[RelationPart]:
    """The relations of each partition; `most` is the largest number of records that one of all has."""
    found = []
    for slices in parts:
        made, crowded = _join_texts(gather_relations(read_link_slices(slices), weight, most), limit)
        ends = np.array([(number_id(r.source), number_id(r.target), r.weight) for r in made], ENDS).tobytes()
        columns = pack_columns(RelationColumns.of(made))
        found.append(RelationPart(made, made[0].id, len(made), columns, crowded, ends))
    return found


@step("graph.claims", version=1, form="tables")
def merge_claim_slices(parts: Sequence[Sequence[bytes]]) -> list[ClaimPart]:
    """The claims of each partition."""
    merged = (tuple(gather_claims(read_claim_slices(slices))) for slices in parts)
    return [ClaimPart(claims, claims[0].id, len(claims), pack_columns(ClaimColumns.of(claims))) for claims in merged]


def number_id(name: str) -> int:
    """The first 64 bits of an id: what stands for it in arrays."""
    return int(name[:16], 16)


def _join_texts(records: Iterable[R], limit: int) -> tuple[tuple[R, ...], tuple[str, ...]]:
    """The records, each described by what is said of it; and the ids of the crowded ones."""
    made: list[R] = []
    crowded = []
    for record in records:
        said = distinct_descriptions(record.descriptions)
        if is_crowded(said, limit):
            crowded.append(record.id)
        made.append(replace(record, description=" ".join(d.text for d in said)))
    return tuple(made), tuple(crowded)


@step("graph.described_entities", version=1, form="tables")
def describe_entities(parts: Sequence[tuple[EntityPart, Mapping[str, str]]]) -> list[EntityPart]:
    """Parts with summaries (by id) as the descriptions of their crowded entities."""
    found = [(part, _put_in(part.entities, summaries)) for part, summaries in parts]
    return [replace(part, entities=made, columns=pack_columns(EntityColumns.of(made))) for part, made in found]


@step("graph.described_relations", version=1, form="tables")
def describe_relations(parts: Sequence[tuple[RelationPart, Mapping[str, str]]]) -> list[RelationPart]:
    """Parts with summaries (by id) as the descriptions of their crowded relations."""
    found = [(part, _put_in(part.relations, summaries)) for part, summaries in parts]
    return [replace(part, relations=made, columns=pack_columns(RelationColumns.of(made))) for part, made in found]


def _put_in(records: Sequence[R], summaries: Mapping[str, str]) -> tuple[R, ...]:
    return tuple(replace(r, description=summaries.get(r.id) or r.description) for r in records)
