"""A graph as columns: what is known of its records without reading them.

The parts of a graph hold the columns of their records, so that whoever looks at all elements reads a few numbers of
each. Of a graph that is not stored in parts they are made from its records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import chain
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import NOWHERE, Floats, Longs, locate_numbers, sort_numbers
from sensegraph.algorithms.ranking import hash_words
from sensegraph.language.text import fold
from sensegraph.runtime.columns import digest_columns, join_columns, unpack_columns
from sensegraph.runtime.results import Table, decode_value
from sensegraph.types import Claim, Entity, Graph, Relation

T = TypeVar("T")
Hashes = NDArray[np.uint64]
HEADS = "heads"  # under which a table keeps the packed columns of its parts, where known, until they are asked for
_encode = msgspec.json.Encoder().encode


def _hash_records(records: Iterable[Any]) -> Hashes:
    """48 bits of each: they tell a record that changed from what it was."""
    digests = b"".join(blake2b(_encode(r), digest_size=6).digest() + bytes(2) for r in records)
    return np.frombuffer(digests, "<u8").astype(np.uint64)


@dataclass(frozen=True, slots=True, eq=False)
class EntityColumns:
    """Of n entities: hashes of their ids, of their records, and of their folded names; names in UTF-8, so many bytes
    each; hashes of the folded aliases, and of the chunks that mention them, so many each.
    """

    ids: Hashes
    records: Hashes
    names: Hashes
    letters: NDArray[np.uint8]
    lengths: Longs
    aliases: Hashes
    aliased: Longs
    chunks: Hashes
    held: Longs

    @classmethod
    def of(cls, entities: Sequence[Entity]) -> EntityColumns:
        """The columns of these entities."""
        letters = [e.name.encode("utf-8", "replace") for e in entities]
        return cls(
            hash_words(e.id for e in entities),
            _hash_records(entities),
            hash_words(fold(e.name) for e in entities),
            np.frombuffer(b"".join(letters), np.uint8),
            np.array([len(name) for name in letters], np.int64),
            hash_words(fold(alias) for e in entities for alias in e.aliases),
            np.array([len(e.aliases) for e in entities], np.int64),
            hash_words(c for e in entities for c in e.chunks),
            np.array([len(e.chunks) for e in entities], np.int64),
        )


@dataclass(frozen=True, slots=True, eq=False)
class RelationColumns:
    """Of m relations: hashes of the ids of both ends, of their records, weights, and the chunks that state them."""

    source: Hashes
    target: Hashes
    records: Hashes
    weight: Floats
    chunks: Hashes
    stated: Longs

    @classmethod
    def of(cls, relations: Sequence[Relation]) -> RelationColumns:
        """The columns of these relations."""
        return cls(
            hash_words(r.source for r in relations),
            hash_words(r.target for r in relations),
            _hash_records(relations),
            np.array([r.weight for r in relations], np.float64),
            hash_words(c for r in relations for c in r.chunks),
            np.array([len(r.chunks) for r in relations], np.int64),
        )


@dataclass(frozen=True, slots=True, eq=False)
class ClaimColumns:
    """Of claims: hashes of the ids of their subjects, and of their records."""

    subject: Hashes
    records: Hashes

    @classmethod
    def of(cls, claims: Sequence[Claim]) -> ClaimColumns:
        """The columns of these claims."""
        return cls(hash_words(c.subject for c in claims), _hash_records(claims))


@dataclass(frozen=True, slots=True)
class PlacedGroup:
    """What of a community or cluster tells where entities are."""

    id: str
    depth: int
    parent: str
    entities: tuple[str, ...]


def read_placed(stored: Sequence[Any]) -> Sequence[Any]:
    """Communities or clusters in their order, read no further than it takes to place them."""
    return list(stored.lightly(PlacedGroup)) if isinstance(stored, Table) else stored


@dataclass(frozen=True, slots=True, eq=False)
class GroupColumns:
    """Of c communities or clusters: the place of each by its id, its depth, and in `above` the place of its parent, −1
    for none.

    `members` are hashes of the ids of entities, and `home` is the place of the community of each, ascending. One that
    holds what those below it do has no members.
    """

    number: Mapping[str, int]
    depth: Longs
    above: Longs
    members: Hashes
    home: Longs

    @classmethod
    def of(cls, groups: Sequence[Any]) -> GroupColumns:
        """The columns of these communities or clusters, in their order."""
        number = {group.id: place for place, group in enumerate(groups)}
        above = np.array([number.get(group.parent, NOWHERE) for group in groups], np.int64)
        sizes = np.array([len(group.entities) for group in groups], np.int64)
        below = np.bincount(above[above >= 0], sizes[above >= 0], len(groups))
        own = np.flatnonzero(below != sizes)
        members = hash_words(chain.from_iterable(groups[place].entities for place in own.tolist()))
        depth = np.array([group.depth for group in groups], np.int64)
        return cls(number, depth, above, members, np.repeat(own, sizes[own]))


def columns_of_groups(stored: Sequence[Any], ordered: Sequence[Any] = ()) -> GroupColumns:
    """The columns of communities in the order of depth, then id; those of a table are made once.

    `ordered` are all of them in that order, where they are read.
    """
    kept = stored.kept if isinstance(stored, Table) else {}
    if "columns" not in kept:
        kept["columns"] = GroupColumns.of(ordered or sorted(read_placed(stored), key=lambda g: (g.depth, g.id)))
    found: GroupColumns = kept["columns"]
    return found


class Columns:
    """The columns of a graph, and the positions of what they name."""

    def __init__(self, graph: Graph) -> None:
        self.entities = _read_columns(graph.entities, EntityColumns, EntityColumns.of)
        self.relations = _read_columns(graph.relations, RelationColumns, RelationColumns.of)
        self.claims = _read_columns(graph.claims, ClaimColumns, ClaimColumns.of)

    @cached_property
    def source(self) -> Longs:
        """The position of the first end of each relation."""
        return find_hashes(self.relations.source, self.entities.ids)

    @cached_property
    def target(self) -> Longs:
        """The position of the second end of each relation."""
        return find_hashes(self.relations.target, self.entities.ids)

    @cached_property
    def subject(self) -> Longs:
        """The position of the subject of each claim."""
        return find_hashes(self.claims.subject, self.entities.ids)

    def digest(self) -> str:
        """What stands for names, and for what is beside what: all but records, weights and chunks."""
        known, ends = self.entities, (self.relations.source, self.relations.target, self.claims.subject)
        return digest_columns(
            (known.ids, known.letters, known.lengths, known.names, known.aliases, known.aliased, *ends)
        )

    def structure(self) -> str:
        """What stands for what clustering sees of a graph: its entities, relations and weights, no texts."""
        one, other = self.relations.source, self.relations.target
        return digest_columns(
            (self.entities.ids, np.minimum(one, other), np.maximum(one, other), self.relations.weight)
        )


def columns_of(graph: Graph) -> Columns:
    """The columns of a graph; those of one in a store are read once."""
    kept = graph.entities.kept if isinstance(graph.entities, Table) else {}
    if "columns" not in kept:
        kept["columns"] = Columns(graph)
    found: Columns = kept["columns"]
    return found


def forget_columns(graph: Graph) -> None:
    """Let the columns of a graph in a store go until they are asked for again."""
    if isinstance(graph.entities, Table):
        graph.entities.kept.pop("columns", None)


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """Hashes of the ids of entities, and of the ends of relations, with their weights."""

    ids: Hashes
    source: Hashes
    target: Hashes
    weight: Floats


def ends_beside(graph: Graph, other: Graph) -> Ends:
    """The ends of a graph of which `other` has most parts: only of the rest the columns are read."""
    known = columns_of(other)
    (ids,) = _read_beside(graph.entities, other.entities, known.entities, EntityColumns, ("ids",))
    names = ("source", "target", "weight")
    return Ends(ids, *_read_beside(graph.relations, other.relations, known.relations, RelationColumns, names))


def _read_beside(
    records: Sequence[Any], others: Sequence[Any], known: Any, kind: Any, names: Sequence[str]
) -> list[NDArray[Any]]:
    """Columns that have one number a record."""
    if not (isinstance(records, Table) and isinstance(others, Table) and records.joined and others.joined):
        columns = _read_columns(records, kind, kind.of)
        return [getattr(columns, name) for name in names]
    ends = np.cumsum([count for _, count, _ in others.joined]).tolist()
    at = {part: slice(end - count, end) for (part, count, _), end in zip(others.joined, ends, strict=True)}
    rest = [place for place, (part, *_) in enumerate(records.joined) if part not in at]
    heads = [_read_head(raw).columns for raw in records.heads(rest)]
    if not all(heads):
        columns = kind.of(list(records))
        return [getattr(columns, name) for name in names]
    read = {records.joined[place][0]: kind(*unpack_columns(head)) for place, head in zip(rest, heads, strict=True)}
    return [
        np.concatenate([getattr(known, name)[at[part]] if part in at else getattr(read[part], name)
                        for part, *_ in records.joined])
        for name in names
    ]  # fmt: skip


def find_hashes(wanted: Hashes, known: Hashes) -> Longs:
    """The position of each in `known`, −1 where it is not there; of several the first."""
    if not len(known):
        return np.full(len(wanted), NOWHERE, np.int64)
    ordered, order = sort_numbers(known)
    at = np.minimum(locate_numbers(wanted, ordered), len(known) - 1)
    return np.where(ordered[at] == wanted, order[at], NOWHERE).astype(np.int64)


# ── how they are stored ──


@dataclass(frozen=True, slots=True)
class _Head:
    """What a part of a graph says besides its records."""

    columns: bytes = b""


_read_head = decode_value(_Head)


def _read_columns(records: Sequence[Any], kind: Callable[..., T], make: Callable[[Sequence[Any]], T]) -> T:
    """The columns of records: those of the parts that hold them, one after the other, else made."""
    heads = list[bytes]()
    if isinstance(records, Table):
        heads = records.kept.pop(HEADS, None) or [b""] * len(records.joined)
        lacking = [place for place, head in enumerate(heads) if not head]
        for place, raw in zip(lacking, records.heads(lacking), strict=True):
            heads[place] = _read_head(raw).columns
    if not heads or not all(heads):
        return make(list(records))
    return join_columns(kind(*unpack_columns(head)) for head in heads)
