"""Reports of the build before that stand as they are: those of trees of communities in which nothing changed.

A tree is a community of depth 0 with all below it. What its reports are written from are the entities in it, the
relations and claims between them, and how it is divided: a key of these stands for all its reports.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from sensegraph.index.hierarchy.packing import Group
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import Table, take_records
from sensegraph.types import Graph

Trees = dict[str, list[Group]]  # by the id of the root: it, and what is below it


@dataclass(frozen=True, slots=True)
class WrittenTree:
    """A tree whose reports are written: `key` stands for what they were written from, `reports` are what was asked for.

    These are keys; `lost` counts the references that were removed.
    """

    root: str
    key: str
    reports: tuple[str, ...] = ()
    lost: int = 0


class TreeElements:
    """Positions of the entities, relations and claims inside a tree, and a digest of their records."""

    def __init__(self) -> None:
        self.places: tuple[list[int], list[int], list[int]] = ([], [], [])
        self.digest = hashlib.blake2b(digest_size=20)

    def add(self, kind: int, place: int, record: bytes) -> None:
        """Count a record to the tree."""
        self.places[kind].append(place)
        self.digest.update(record)

    def key(self, groups: Sequence[Group]) -> str:
        """What stands for all that the reports on these communities are written from."""
        return key(self.digest.hexdigest(), [(g.id, g.gathered) for g in groups])


def cut_trees(groups: Sequence[Group]) -> Trees:
    """The trees of these communities, each from the root down."""
    home: dict[str, str] = {}
    trees: Trees = {}
    for group in sorted(groups, key=lambda g: (g.depth, g.id)):
        home[group.id] = root = home.get(group.parent, group.id)
        trees.setdefault(root, []).append(group)
    return trees


def place_elements(graph: Graph, trees: Trees) -> dict[str, TreeElements]:
    """What is inside each tree. Records are compared as they are stored: only their ends are decoded."""
    home = {e: root for root, groups in trees.items() for e in groups[0].entities}
    found = {root: TreeElements() for root in trees}
    for place, (entity, record) in enumerate(_read_records(graph.entities, _Named)):
        if root := home.get(entity.id):
            found[root].add(0, place, record)
    for place, (relation, record) in enumerate(_read_records(graph.relations, _Linking)):
        root = home.get(relation.source)
        if root and root == home.get(relation.target):
            found[root].add(1, place, record)
    for place, (claim, record) in enumerate(_read_records(graph.claims, _Claiming)):
        if root := home.get(claim.subject):
            found[root].add(2, place, record)
    return found


def take_trees(graph: Graph, wanted: Sequence[TreeElements]) -> Graph:
    """What of a graph stands inside these trees."""
    entities, relations, claims = (
        take_records(records, sorted(place for tree in wanted for place in tree.places[kind]))
        for kind, records in enumerate((graph.entities, graph.relations, graph.claims))
    )
    return Graph(tuple(entities), tuple(relations), tuple(claims))  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class _Named:
    id: str


@dataclass(frozen=True, slots=True)
class _Linking:
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class _Claiming:
    subject: str


def _read_records(records: Sequence[Any], kind: Any) -> Iterator[tuple[Any, bytes]]:
    """Each record with the fields of `kind`, and as it is stored."""
    if isinstance(records, Table):
        decode = msgspec.json.Decoder(kind).decode
        yield from ((decode(raw), raw) for raw in records.raw())
    else:
        yield from ((record, msgspec.json.encode(record)) for record in records)
