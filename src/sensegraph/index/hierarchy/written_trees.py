"""Reports of the build before that stand as they are: those of trees of communities in which nothing changed.

A tree is a community of depth 0 with all below it. What its reports are written from are the entities in it, the
relations and claims between them, and how it is divided: a key of these stands for all its reports.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain, pairwise
from tempfile import SpooledTemporaryFile
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import NOWHERE, order_numbers
from sensegraph.algorithms.ranking import hash_words
from sensegraph.index.graph.columns import columns_of, find_hashes
from sensegraph.index.hierarchy.packing import Group
from sensegraph.runtime.keys import key
from sensegraph.runtime.results import Table, take_records
from sensegraph.types import Graph

_TOGETHER = 8_192  # entities, relations and claims whose lines are in memory while reports are written from them
_FEW = 8  # of so many records one is wanted: then each is looked up, else all are read in order
_SPOOLED = 1 << 18  # bytes of the records of a batch that stay in memory until it is their turn
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


@dataclass(frozen=True, slots=True)
class TreeElements:
    """Positions of the entities, relations and claims inside a tree, and a digest of their records."""

    places: tuple[list[int], list[int], list[int]]
    digest: str

    def key(self, groups: Sequence[Group]) -> str:
        """What stands for all that the reports on these communities are written from."""
        return key(self.digest, [(g.id, g.gathered) for g in groups])


def cut_trees(groups: Sequence[Group]) -> Trees:
    """The trees of these communities, each from the root down."""
    home: dict[str, str] = {}
    trees: Trees = {}
    for group in sorted(groups, key=lambda g: (g.depth, g.id)):
        home[group.id] = root = home.get(group.parent, group.id)
        trees.setdefault(root, []).append(group)
    return trees


def place_elements(graph: Graph, trees: Trees) -> dict[str, TreeElements]:
    """What is inside each tree. No record is read: columns tell their ends and what stands for them."""
    columns, roots = columns_of(graph), list(trees)
    members = [e for root in roots for e in trees[root][0].entities]
    whose = np.repeat(np.arange(len(roots)), [len(trees[root][0].entities) for root in roots])
    at = find_hashes(hash_words(members), columns.entities.ids)
    home = np.full(len(columns.entities.ids) + 1, NOWHERE, np.int64)  # the last for what is not there
    home[at] = whose
    home[NOWHERE] = NOWHERE
    source, target = home[columns.source], home[columns.target]
    inside = (home[:-1], np.where(source == target, source, NOWHERE), home[columns.subject])
    records = (columns.entities.records, columns.relations.records, columns.claims.records)
    placed = [_split_by_home(homes, len(roots)) for homes in inside]
    found = {}
    for number, root in enumerate(roots):
        digest = blake2b(digest_size=20)
        for kind in range(3):
            digest.update(records[kind][placed[kind][number]].astype("<u8").tobytes() + b" ")
        entities, relations, claims = (places[number].tolist() for places in placed)
        found[root] = TreeElements((entities, relations, claims), digest.hexdigest())
    return found


def _split_by_home(home: NDArray[np.int64], homes: int) -> list[NDArray[np.int64]]:
    """The positions of each home, ascending."""
    order = order_numbers(home)
    starts = np.searchsorted(home[order], np.arange(homes + 1))
    return [order[begin:end] for begin, end in pairwise(starts.tolist())]


def batch_trees(roots: Sequence[str], held: Mapping[str, TreeElements]) -> Iterator[list[str]]:
    """The trees in batches of so many elements as are held in memory at once, or of one tree that has more."""
    batch, size = list[str](), 0
    for root in roots:
        count = sum(map(len, held[root].places))
        if batch and size + count > _TOGETHER:
            yield batch
            batch, size = [], 0
        batch.append(root)
        size += count
    if batch:
        yield batch


class EncodedRows:
    """Records in memory as they are stored, in order: the rows of a table that is not in a store yet."""

    def __init__(self, pairs: Iterable[tuple[str, bytes]]) -> None:
        self._records = dict(pairs)

    def __len__(self) -> int:
        return len(self._records)

    def at(self, positions: Sequence[int]) -> list[bytes]:
        """The records at these positions, in the order asked for."""
        records = list(self._records.values())
        return [records[position] for position in positions]

    def find(self, ids: Sequence[str]) -> dict[str, bytes]:
        """The records with these ids; one that does not exist is absent."""
        return {name: self._records[name] for name in ids if name in self._records}

    def scan(self) -> Iterator[bytes]:
        """All records in order."""
        return iter(self._records.values())

    def ids(self) -> Iterator[str]:
        """All ids in order."""
        return iter(self._records)


def take_batches(graph: Graph, batches: Sequence[Sequence[TreeElements]]) -> Iterator[Graph]:
    """What of a graph stands inside the trees of each batch; what is stored is read once for all of them, in order."""
    kinds = (graph.entities, graph.relations, graph.claims)
    places = [[sorted(p for tree in some for p in tree.places[kind]) for some in batches] for kind in range(3)]
    taken = (_take_each(records, of) for records, of in zip(kinds, places, strict=True))
    for entities, relations, claims in zip(*taken, strict=True):
        yield Graph(tuple(entities), tuple(relations), tuple(claims))


def _take_each(records: Sequence[Any], batches: Sequence[Sequence[int]]) -> Iterator[Sequence[Any]]:
    """The records at the positions of each batch, which ascend; no position is in two."""
    if not isinstance(records, Table) or len(batches) == 1:
        yield from (take_records(records, places) for places in batches)
        return
    home = np.full(len(records), NOWHERE, np.int32)
    for number, places in enumerate(batches):
        home[places] = number
    wanted = np.flatnonzero(home >= 0)
    found: Iterator[bytes]
    if _FEW * len(wanted) < len(records):  # what lies together is opened once, whichever batches it is for
        parts = (wanted[at : at + _TOGETHER].tolist() for at in range(0, len(wanted), _TOGETHER))
        home, found = home[wanted], chain.from_iterable(map(records.raw, parts))
    else:
        found = records.raw()
    with ExitStack() as stack:
        files = [stack.enter_context(SpooledTemporaryFile(_SPOOLED)) for _ in batches]
        for number, record in zip(home.tolist(), found, strict=True):
            if number >= 0:
                files[number].write(len(record).to_bytes(4, "little") + record)
        for file in files:
            file.seek(0)
            yield list(map(records.decode, _read_lengths(file)))
            file.close()


def _read_lengths(file: IO[bytes]) -> Iterator[bytes]:
    """What was written to a file, each with its length before it."""
    while size := file.read(4):
        yield file.read(int.from_bytes(size, "little"))
