"""Reports of the build before that stand as they are: those on communities in which nothing changed.

What a report is written from are the entities in its community, the relations and claims between them, and how it is
divided, since reports on its parts stand in the place of what is in them. A key of these stands for the report.

A tree is a community of depth 0 with all below it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from tempfile import SpooledTemporaryFile
from typing import IO, Any

import numpy as np

from sensegraph.algorithms.graphs import NOWHERE, Flags, Longs, keep_distinct, order_numbers
from sensegraph.algorithms.ranking import hash_words
from sensegraph.algorithms.walks import gather_entries, run_offsets
from sensegraph.index.graph.columns import Columns, columns_of, columns_of_groups, find_hashes
from sensegraph.index.hierarchy.packing import Group
from sensegraph.index.manifest import CatalogueColumns
from sensegraph.runtime.results import Table, take_records
from sensegraph.types import Graph

_TOGETHER = 8_192  # entities, relations and claims whose lines are in memory while reports are written from them
_FEW = 8  # of so many records one is wanted: then each is looked up, else all are read in order
_SPOOLED = 1 << 18  # bytes of the records of a batch that stay in memory until it is their turn
Trees = dict[str, list[Group]]  # by the id of the root: it, and what is below it


@dataclass(frozen=True, slots=True)
class WrittenReport:
    """A community whose report is written, as are those below it: `key` stands for what it was written from.

    `report` is the key of what was asked for, if anything was; `lost` counts the references that were removed, and
    `tokens` are those of the lines of all elements inside, where they were counted.
    """

    community: str
    key: int
    report: str = ""
    lost: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class TreeElements:
    """Positions of entities, relations and claims inside a tree, ascending: those that its reports are written from."""

    places: tuple[Longs, Longs, Longs]


@dataclass(frozen=True, eq=False)
class PlacedElements:
    """Where the elements of a graph stand among communities, which are numbered from the roots down.

    `homes` are the deepest communities that hold each entity, relation and claim whole, −1 for none. `levels` are
    the communities of each depth. Of each `above` is its parent, −1 for none, `roots` is the first of those above it,
    and `keys` stand for all inside it.
    """

    columns: Columns
    number: Mapping[str, int]
    levels: Sequence[Longs]
    above: Longs
    roots: Longs
    homes: tuple[Longs, Longs, Longs]
    keys: Mapping[str, int]

    def mark_inside(self, names: Iterable[str]) -> Flags:
        """Which communities are one of these or below it; the last stands for none."""
        inside: Flags = np.zeros(len(self.above) + 1, np.bool_)
        inside[[self.number[name] for name in names]] = True
        for level in self.levels:
            inside[level] |= inside[self.above[level]]
        return inside

    def take(self, wanted: Sequence[str], partly: Collection[str] = ()) -> dict[str, TreeElements]:
        """What is inside the `wanted` communities, by the roots of their trees.

        Of those that are read in `partly` the relations between their children, and the entities of the three highest
        degrees.
        """
        inside, between = self.mark_inside(wanted), np.zeros(len(self.above) + 1, np.bool_)
        between[[self.number[name] for name in partly]] = True
        marked = [inside[home] for home in self.homes]
        marked[1] |= between[self.homes[1]]
        for name in partly:
            own = np.flatnonzero(self.mark_inside([name])[self.homes[0]])
            marked[0][own[self.degree[own] >= np.sort(self.degree[own])[-3:][0]]] = True
        trees = keep_distinct(self.roots[[self.number[name] for name in (*wanted, *partly)]])
        tree = np.full(len(inside), NOWHERE, np.int64)
        tree[self.roots[trees]] = np.arange(len(trees))
        tree[:-1] = tree[self.roots]
        placed = [
            _split_by_home(np.flatnonzero(of), tree[home[of]], len(trees))
            for of, home in zip(marked, self.homes, strict=True)
        ]
        names, found = list(self.number), zip(trees.tolist(), *placed, strict=True)
        return {names[root]: TreeElements((e, r, c)) for root, e, r, c in found}

    @cached_property
    def degree(self) -> Longs:
        """How many relations each entity has."""
        ends = np.concatenate((self.columns.source, self.columns.target))
        return np.bincount(ends[ends >= 0], minlength=len(self.homes[0]))

    def name_ends(self, inside: Graph, held: Iterable[TreeElements]) -> dict[str, tuple[str, int]]:
        """Names and degrees of those ends of the relations `inside` some trees that are not beside them there."""
        known, read = self.columns.entities, {e.id for e in inside.entities}
        ends, letters = np.cumsum(known.lengths), known.letters.tobytes()
        places = _gather_positions(held, 1)
        source, target = (whose[places].tolist() for whose in (self.columns.source, self.columns.target))
        at = dict(zip((r.source for r in inside.relations), source, strict=True))
        at |= zip((r.target for r in inside.relations), target, strict=True)
        return {
            name: (letters[ends[place] - known.lengths[place] : ends[place]].decode(), int(self.degree[place]))
            for name, place in at.items()
            if name not in read
        }

    def count_mentioning(self, names: Sequence[str], catalogue: CatalogueColumns) -> dict[str, int]:
        """How many documents mention an entity inside each of these communities."""
        known, chunks = self.columns.entities, [np.zeros(0, np.uint64)]
        starts = run_offsets(known.held)
        for name in names:
            places, _ = gather_entries(starts, np.flatnonzero(self.mark_inside([name])[self.homes[0]]))
            chunks.append(keep_distinct(known.chunks[places]))
        held_by = catalogue.held_by[find_hashes(np.concatenate(chunks), catalogue.chunks)]
        each = np.split(held_by, np.cumsum([len(some) for some in chunks[:-1]]))
        return {name: len(keep_distinct(some)) for name, some in zip(names, each[1:], strict=True)}

    def read_inside(self, graph: Graph, names: Collection[str]) -> Graph:
        """What of a graph is inside these communities."""
        return next(take_batches(graph, [list(self.take(list(names)).values())])) if names else Graph()


def cut_trees(groups: Sequence[Group]) -> Trees:
    """The trees of these communities, each from the root down."""
    home: dict[str, str] = {}
    trees: Trees = {}
    for group in sorted(groups, key=lambda g: (g.depth, g.id)):
        home[group.id] = root = home.get(group.parent, group.id)
        trees.setdefault(root, []).append(group)
    return trees


def place_elements(graph: Graph, groups: Sequence[Group], stored: Sequence[Group] = ()) -> PlacedElements:
    """What is inside each community; they are all that are `stored`. No record is read: columns tell what it takes."""
    columns, ordered = columns_of(graph), sorted(groups, key=lambda g: (g.depth, g.id))
    placed = columns_of_groups(stored, ordered)
    number, above, depth = placed.number, placed.above, np.append(placed.depth, NOWHERE)
    roots = np.arange(len(ordered))
    levels = [np.flatnonzero(depth[:-1] == d) for d in range(int(depth.max(initial=NOWHERE)) + 1)]
    for level in levels:
        roots[level] = np.where(above[level] >= 0, roots[above[level]], level)
    home = np.full(len(columns.entities.ids) + 1, NOWHERE, np.int64)  # the last for what is not there
    home[find_hashes(placed.members, columns.entities.ids)] = placed.home  # the deepest is last
    home[NOWHERE] = NOWHERE
    common = _find_common(home[columns.source], home[columns.target], above, depth, np.append(roots, NOWHERE))
    homes = (home[:-1], common, home[columns.subject])
    records = (columns.entities.records, columns.relations.records, columns.claims.records)
    keys = np.zeros(len(ordered) + 1, np.uint64)  # the last for what is inside none
    keys[:-1] = hash_words(f"{group.id} {group.gathered}" for group in ordered)
    for kind in range(3):  # numbers that differ in all bits where those of records do in one (SplitMix), to be summed
        mixed = records[kind] + np.uint64((kind << 48) + 0x9E3779B97F4A7C15)
        mixed = (mixed ^ mixed >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ mixed >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        np.add.at(keys, homes[kind], mixed ^ mixed >> np.uint64(31))
    for level in reversed(levels):
        np.add.at(keys, above[level], keys[level])
    stand = dict(zip(number, keys[:-1].tolist(), strict=True))
    return PlacedElements(columns, number, levels, above, roots, homes, stand)


def _find_common(one: Longs, other: Longs, above: Longs, depth: Longs, roots: Longs) -> Longs:
    """The deepest community that is each of a pair, or holds it; −1 for none, as for all below different roots."""
    beside = roots[one] == roots[other]
    one, other = np.where(beside, one, NOWHERE), np.where(beside, other, NOWHERE)
    parent = np.append(above, NOWHERE)
    apart = np.flatnonzero(one != other)
    while len(apart):
        a, b = one[apart], other[apart]
        one[apart] = np.where(depth[a] >= depth[b], parent[a], a)
        other[apart] = np.where(depth[b] >= depth[a], parent[b], b)
        apart = apart[one[apart] != other[apart]]
    return one


def _split_by_home(places: Longs, home: Longs, homes: int) -> list[Longs]:
    """The places in each home, ascending."""
    order = order_numbers(home)
    starts = np.searchsorted(home[order], np.arange(homes + 1))
    return [places[order[begin:end]] for begin, end in pairwise(starts.tolist())]


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
    places = [[_gather_positions(some, kind) for some in batches] for kind in range(3)]
    taken = (_take_each(records, of) for records, of in zip(kinds, places, strict=True))
    for entities, relations, claims in zip(*taken, strict=True):
        yield Graph(tuple(entities), tuple(relations), tuple(claims))


def _gather_positions(trees: Iterable[TreeElements], kind: int) -> Longs:
    """The positions of all elements of a kind inside these trees, ascending."""
    return np.sort(np.concatenate([np.zeros(0, np.int64), *(tree.places[kind] for tree in trees)]))


def _take_each(records: Sequence[Any], batches: Sequence[Longs]) -> Iterator[Sequence[Any]]:
    """The records at the positions of each batch, which ascend; no position is in two."""
    if not isinstance(records, Table) or len(batches) == 1:
        yield from (take_records(records, places.tolist()) for places in batches)
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
