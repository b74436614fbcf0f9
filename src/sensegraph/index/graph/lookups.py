"""Where things are in an index, by position, in mapped arrays, so that a question reads no record.

Neighbours, communities and names of entities; and what ties chunks together: the entities that they mention, the
relations they state, the titles that name them (hybrid retrieval; N86).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import (
    NOWHERE,
    Floats,
    Ints,
    Longs,
    keep_distinct,
    number_distinct,
    order_numbers,
    order_pairs,
)
from sensegraph.algorithms.ranking import hash_words
from sensegraph.algorithms.walks import Moves, gather_entries, order_moves, run_offsets
from sensegraph.index.manifest import Catalogue, Manifest, columns_of_catalogue
from sensegraph.language.text import fold
from sensegraph.runtime.results import Result, recall_result, step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Graph, Hierarchy

if TYPE_CHECKING:
    from sensegraph.index.graph.columns import GroupColumns
    from sensegraph.index.index import Index


@dataclass(frozen=True)
class Lookups:
    """Positions are those of the graph's entities (n) and relations (m), and of the hierarchy's clusters.

    The neighbours of entity i are `neighbours[start[i]:start[i + 1]]`, over the relations at the same places.
    `homes[i, d]` is the cluster of entity i at depth d (its deepest where its branch ends above), -1 where there are
    no reports. `claims[said[i]:said[i + 1]]` are the claims about entity i. `names` are the ascending 64-bit hashes
    of folded names, `named` the entities they belong to, `aliases` and `aliased` the same of other names;
    `letters[spelt[i]:spelt[i + 1]]` is the name of entity i in UTF-8.
    """

    start: NDArray[np.int64]
    neighbours: Ints
    relations: Ints
    homes: Ints
    said: NDArray[np.int64]
    claims: Ints
    names: NDArray[np.uint64]
    named: Ints
    aliases: NDArray[np.uint64]
    aliased: Ints
    letters: NDArray[np.uint8]
    spelt: NDArray[np.int64]

    @cached_property
    def degree(self) -> NDArray[np.int64]:
        """Distinct neighbours of every entity, shape (n,)."""
        row = np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))
        again = (self.neighbours[1:] == self.neighbours[:-1]) & (row[1:] == row[:-1])  # two relations of one pair
        return np.diff(self.start) - np.bincount(row[1:][again], minlength=len(self.start) - 1)

    def around(self, entity: int) -> tuple[Ints, Ints]:
        """The neighbours of an entity, and the relations to them."""
        begin, end = int(self.start[entity]), int(self.start[entity + 1])
        return self.neighbours[begin:end], self.relations[begin:end]

    def told(self, entity: int) -> Ints:
        """The positions of the claims about an entity."""
        return self.claims[int(self.said[entity]) : int(self.said[entity + 1])]

    def name(self, entity: int) -> str:
        """The name of an entity."""
        return self.letters[int(self.spelt[entity]) : int(self.spelt[entity + 1])].tobytes().decode()

    def called(self, name: str) -> list[int]:
        """The entities of this name, folded; two names share a hash with a chance of 1 in 10¹⁹."""
        return self.called_each([name])[0]

    def called_each(self, names: Sequence[str]) -> list[list[int]]:
        """The entities of each of these names, else those that the texts call so too.

        Many are looked up together far quicker than one by one.
        """
        wanted = hash_words(map(fold, names))
        found: list[list[int]] = [[] for _ in names]
        for known, owners in ((self.aliases, self.aliased), (self.names, self.named)):
            begin, end = np.searchsorted(known, wanted), np.searchsorted(known, wanted, side="right")
            for i in np.flatnonzero(end > begin).tolist():
                found[i] = sorted(set(owners[begin[i] : end[i]].tolist()))
        return found


@step("lookups.lookups", version=2, form="arrays")
def build_lookups(wholes: Sequence[tuple[Graph, Any]]) -> list[Lookups]:
    """The lookups of a graph and its hierarchy, or the columns of the communities of this."""
    return [_index_graph(graph, found) for graph, found in wholes]


def find_lookups(
    graph: Result[Graph], hierarchy: Result[Hierarchy] | None, rt: Runtime, *, communities: Result[Any] | None = None
) -> Result[Lookups]:
    """The lookups, made anew only where names, who is beside whom, or communities changed.

    Where the `communities` of the hierarchy are given no report is read.
    """
    from sensegraph.index.graph.columns import columns_of, columns_of_groups
    from sensegraph.runtime.delegating import once_on_worker

    def read() -> tuple[Graph, Hierarchy | GroupColumns]:
        if communities:
            return graph.value, columns_of_groups(communities.value.groups)
        return graph.value, hierarchy.value if hierarchy else Hierarchy()

    divided = communities or hierarchy
    names = (columns_of(graph.value).digest(), divided.key if divided else "")
    return once_on_worker(rt, build_lookups, read, names=names)


def _index_graph(graph: Graph, found: Hierarchy | GroupColumns) -> Lookups:
    from sensegraph.index.graph.columns import GroupColumns, columns_of, read_placed

    columns = columns_of(graph)
    known, count = columns.entities, len(columns.entities.ids)
    start, neighbours, relations = _adjacency_rows(np.stack((columns.source, columns.target), axis=1), count)
    hashes, owners = _sort_hashes(known.names, np.arange(count))
    aliases, aliased = _sort_hashes(known.aliases, np.repeat(np.arange(count), known.aliased))
    said = np.concatenate(([0], np.cumsum(np.bincount(columns.subject, minlength=count)))).astype(np.int64)
    claims = order_numbers(columns.subject).astype(np.int32)
    spelt = np.concatenate(([0], np.cumsum(known.lengths))).astype(np.int64)
    names = (hashes, owners, aliases, aliased, known.letters, spelt)
    groups = GroupColumns.of(read_placed(found.clusters)) if isinstance(found, Hierarchy) else found
    return Lookups(start, neighbours, relations, _find_homes(groups, known.ids), said, claims, *names)


def _find_homes(groups: GroupColumns, known: NDArray[np.uint64]) -> Ints:
    """The `homes` of the entities whose ids have these hashes."""
    from sensegraph.index.graph.columns import find_hashes

    places, home = find_hashes(groups.members, known), groups.home
    homes = np.full((len(known), 1 + int(groups.depth.max(initial=NOWHERE))), NOWHERE, np.int32)
    there = places >= 0
    while there.any():
        places, home = places[there], home[there]
        homes[places, groups.depth[home]] = home
        home = groups.above[home]
        there = home >= 0
    for depth in range(1, homes.shape[1]):
        ends = homes[:, depth] == NOWHERE
        homes[ends, depth] = homes[ends, depth - 1]
    return homes


def _sort_hashes(hashes: NDArray[np.uint64], owners: NDArray[Any]) -> tuple[NDArray[np.uint64], Ints]:
    """The hashes, ascending, and whose they are; their owners ascend."""
    order = order_numbers(hashes)
    return hashes[order], owners[order].astype(np.int32)


def _adjacency_rows(ends: Longs, n: int) -> tuple[NDArray[np.int64], Ints, Ints]:
    """Neighbours and relations by entity, as rows of a sparse matrix; each row in the order of neighbours."""
    source, target = np.concatenate((ends[:, 0], ends[:, 1])), np.concatenate((ends[:, 1], ends[:, 0]))
    relation = np.concatenate((np.arange(len(ends)), np.arange(len(ends))))
    order = order_pairs(source, target)
    start = np.concatenate(([0], np.cumsum(np.bincount(source, minlength=n)))).astype(np.int64)
    return start, target[order].astype(np.int32), relation[order].astype(np.int32)


_OWNERS = 5  # a name that titles more documents than this singles out none of them
_OWNED, _LINK, _BACK, _RELATION = 2.0, 2.0, 0.4, 0.2  # weights beside that of a mention, 1

Edge = tuple[Ints, Ints, Floats]


@dataclass(frozen=True, eq=False)
class TiedElements:
    """Chunks are numbered as in the catalogue (c), entities (n) and relations (m) as in the graph.

    Entity i is mentioned by the chunks `held[start[i]:start[i + 1]]` and gives its name to the documents that begin
    with the chunks `owned[owns[i]:owns[i + 1]]`; relation j, of weight `weight[j]`, is stated by the chunks
    `stated[first[j]:first[j + 1]]`.
    """

    start: Longs
    held: Ints
    owns: Longs
    owned: Ints
    first: Longs
    stated: Ints
    weight: Floats


@dataclass(frozen=True, eq=False)
class TiedChunks(TiedElements):
    """What `Ties` are made of: besides, the entities at the ends of each relation, and the number of chunks."""

    one: Longs
    other: Longs
    chunks: int

    def digest(self) -> str:
        """What stands for all of it. Chunks stand there by their places, whatever their ids."""
        from sensegraph.runtime.columns import digest_columns

        columns = [getattr(self, f.name) for f in fields(self) if f.name != "chunks"]
        return digest_columns(columns, f"{self.chunks} ".encode())


@dataclass(frozen=True, eq=False)
class Ties(TiedElements):
    """`source`, `target` and `strength` are the moves of a walk over chunks (0…c−1) and entities (c…c+n−1), `out` how
    strong all those that leave one of them are together.
    """

    source: Ints
    target: Ints
    strength: Floats
    out: Floats

    @cached_property
    def walk(self) -> Moves:
        """The moves of a walk over chunks and entities."""
        return Moves(self.source, self.target, self.strength / self.out[self.source])

    def mentioning(self, entity: int) -> Ints:
        """The chunks that mention an entity."""
        return self.held[int(self.start[entity]) : int(self.start[entity + 1])]

    def titled(self, entity: int) -> Ints:
        """The first chunks of the documents whose title is the entity's name."""
        return self.owned[int(self.owns[entity]) : int(self.owns[entity + 1])]

    def stating(self, relation: int) -> Ints:
        """The chunks that state a relation."""
        return self.stated[int(self.first[relation]) : int(self.first[relation + 1])]


@step("ties.ties", version=3, form="arrays")
def build_ties(wholes: Sequence[TiedChunks]) -> list[Ties]:
    """The ties between chunks by a graph, of what they are made of."""
    return list(map(_add_moves, wholes))


def find_ties(graph: Result[Graph], listed: Result[Catalogue], rt: Runtime) -> str:
    """The key of the ties of a graph and its chunks, made anew only where these are tied otherwise."""
    from sensegraph.runtime.delegating import once_by_content, return_free_memory

    def read() -> TiedChunks:
        return_free_memory(rt)
        return tie_chunks(graph.value, listed.value)

    names = (graph.key, listed.key)
    return once_by_content(rt, build_ties, read, TiedChunks.digest, lambda found: found, names=names)


def keys_of_ties(manifest: Manifest, rt: Runtime) -> list[str]:
    """The keys of the ties of an index, to which nothing else in it leads; none where it has no graph."""
    from sensegraph.runtime.delegating import keys_by_content

    return keys_by_content(rt, build_ties, names=(manifest.graph, manifest.documents)) if manifest.graph else []


def ties_of(index: Index, rt: Runtime) -> Ties:
    """The ties of an index; a filtered one has its own, which are not kept."""
    if index.whole is not None:
        return build_ties.fn([tie_chunks(index.graph, index.catalogue)])[0]
    graph, listed = Result(index.manifest.graph, index.graph), Result(index.manifest.documents, index.catalogue)
    return recall_result(rt.store, build_ties, find_ties(graph, listed, rt))


def entity_salience(ties: Ties, entities: Sequence[int], chunks: int) -> Floats:
    """How much a mention of each entity says, 0 to 1: its inverse document frequency over the largest possible."""
    count = np.asarray([ties.start[e + 1] - ties.start[e] for e in entities], np.float64)
    return _rate_salience(count, chunks)


def _rate_salience(count: Floats, chunks: int) -> Floats:
    """ln(1 + (N − df + ½) / (df + ½)) of every entity over that of one in a single chunk."""
    df = np.maximum(count, 1)
    return np.asarray(np.log1p((chunks - df + 0.5) / (df + 0.5)) / np.log1p((chunks - 0.5) / 1.5))


def tie_chunks(graph: Graph, catalogue: Catalogue) -> TiedChunks:
    """What ties the chunks of a catalogue by a graph."""
    from sensegraph.index.graph.columns import columns_of

    columns = columns_of(graph)
    listed = columns_of_catalogue(catalogue).chunks
    start, held = _pack_places(columns.entities.chunks, columns.entities.held, listed)
    owns, owned = _title_owners(catalogue, columns.entities.names)
    first, stated = _pack_places(columns.relations.chunks, columns.relations.stated, listed)
    weight, ends = columns.relations.weight, (columns.source, columns.target)
    return TiedChunks(start, held, owns, owned, first, stated, weight, *ends, len(listed))


def _add_moves(made: TiedChunks) -> Ties:
    rows = (made.start, made.held, made.owns, made.owned)
    edges = _walk_edges(rows, (made.one, made.other), made.weight, made.chunks)
    moves = order_moves(edges, made.chunks + len(made.start) - 1)
    return Ties(*rows, made.first, made.stated, made.weight, *moves)


def _pack_places(chunks: NDArray[np.uint64], counts: Longs, listed: NDArray[np.uint64]) -> tuple[Longs, Ints]:
    """The positions of the chunks of each, ascending, one after the other, and where each begins."""
    from sensegraph.index.graph.columns import find_hashes

    places = find_hashes(chunks, listed)
    whose = np.repeat(np.arange(len(counts)), counts)
    code = keep_distinct((whose * max(len(listed), 1) + places)[places >= 0])
    row, place = np.divmod(code, max(len(listed), 1))
    start = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=len(counts))))).astype(np.int64)
    return start, place.astype(np.int32)


def _title_owners(catalogue: Catalogue, names: NDArray[np.uint64]) -> tuple[Longs, Ints]:
    """The first chunks of the documents that each entity's name is the title of, a closing bracket aside.

    Where they begin for each entity, and all of them.
    """
    columns = columns_of_catalogue(catalogue)
    held_by, first, _ = number_distinct(columns.held_by)
    wanted, first = columns.titles[held_by[held_by >= 0]], first[held_by >= 0]
    wanted, first = wanted[wanted != 0], first[wanted != 0]
    order = order_numbers(names)
    begin, end = (np.searchsorted(names[order], wanted, side=side) for side in ("left", "right"))
    places, sizes = gather_entries(np.stack((begin, end), axis=1).ravel(), np.arange(0, 2 * len(begin), 2))
    entities, chunks = order[places], np.repeat(first, sizes)
    counts = np.bincount(entities, minlength=len(names))
    by_entity = order_numbers(entities)
    kept = by_entity[counts[entities[by_entity]] <= _OWNERS]
    return run_offsets(np.where(counts <= _OWNERS, counts, 0)), chunks[kept].astype(np.int32)


def _walk_edges(
    rows: tuple[Longs, Ints, Longs, Ints], between: tuple[Any, Any], weight: Floats, chunks: int
) -> list[Edge]:
    """Directed, weighted edges: chunk – entity, entity – entity, and from a mention of a title to what it titles.

    The weights are those that did best without a model on questions of two to four hops (`bench/hybrid.py`).
    """
    start, held, owns, owned = rows
    salient = _rate_salience(np.diff(start).astype(np.float64), chunks)
    mention, owner = (np.repeat(np.arange(len(of) - 1, dtype=np.int32), np.diff(of)) for of in (start, owns))
    links = _title_links(start, held, owns, owned, salient)
    pairs: list[Edge] = [
        *_both_directions(held, chunks + mention, salient[mention]),
        *_both_directions(owned, chunks + owner, _OWNED * salient[owner]),
        *_both_directions(chunks + between[0], chunks + between[1], _RELATION * weight),
        (links[0], links[1], _LINK * links[2]),
        (links[1], links[0], _BACK * links[2]),
    ]
    return [(a, b, w) if (there := w > 0).all() else (a[there], b[there], w[there]) for a, b, w in pairs]


def _both_directions(a: NDArray[np.integer], b: NDArray[np.integer], weight: Floats) -> Iterable[Edge]:
    one, other = a.astype(np.int32), b.astype(np.int32)
    return (one, other, weight), (other, one, weight)


def _title_links(start: Longs, held: Ints, owns: Longs, owned: Ints, salient: Floats) -> Edge:
    """From every chunk that mentions a title to the chunks so titled, which share the weight."""
    mentioned = np.repeat(np.arange(len(start) - 1), np.diff(start))
    places, sizes = gather_entries(owns, mentioned)
    source, target = np.repeat(held, sizes).astype(np.int64), owned[places].astype(np.int64)
    weight = np.repeat(salient[mentioned] / np.maximum(sizes, 1), sizes)
    other = source != target
    return source[other].astype(np.int32), target[other].astype(np.int32), weight[other]
