"""Where things are in an index: neighbours, communities and names of entities, by position, in mapped arrays."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sensegraph.language.text import fold
from sensegraph.runtime.results import Result, step
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Graph, Hierarchy

Ints = NDArray[np.int32]


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
        wanted = _hash_names(map(fold, names))
        found: list[list[int]] = [[] for _ in names]
        for known, owners in ((self.aliases, self.aliased), (self.names, self.named)):
            begin, end = np.searchsorted(known, wanted), np.searchsorted(known, wanted, side="right")
            for i in np.flatnonzero(end > begin).tolist():
                found[i] = sorted(set(owners[begin[i] : end[i]].tolist()))
        return found


@step("lookups.lookups", version=2, form="arrays")
def build_lookups(wholes: Sequence[tuple[Graph, Hierarchy]]) -> list[Lookups]:
    """The lookups of a graph and its hierarchy."""
    return [_index_graph(graph, hierarchy) for graph, hierarchy in wholes]


def find_lookups(graph: Result[Graph], hierarchy: Result[Hierarchy] | None, rt: Runtime) -> Result[Lookups]:
    """The lookups, made anew only when the graph or its communities changed."""
    shown = hierarchy.value if hierarchy else Hierarchy()
    names = (graph.key, hierarchy.key if hierarchy else "")
    return rt.once(build_lookups, lambda: (graph.value, shown), names=names)


def _index_graph(graph: Graph, hierarchy: Hierarchy) -> Lookups:
    ids, names, others = [], [], list[tuple[str, int]]()
    for i, entity in enumerate(graph.entities):
        ids.append(entity.id)
        names.append(entity.name)
        others += [(alias, i) for alias in entity.aliases]
    position = {name: i for i, name in enumerate(ids)}
    start, neighbours, relations = _adjacency_rows(
        [(position[r.source], position[r.target]) for r in graph.relations], len(ids)
    )
    hashes, owners = _sort_hashes(names, range(len(ids)))
    aliases, aliased = _sort_hashes([name for name, _ in others], [i for _, i in others])
    homes = _cluster_homes(hierarchy, position)
    subjects = np.asarray([position[c.subject] for c in graph.claims], np.int64)
    said = np.concatenate(([0], np.cumsum(np.bincount(subjects, minlength=len(ids))))).astype(np.int64)
    claims = np.argsort(subjects, kind="stable").astype(np.int32)
    encoded = [n.encode("utf-8", "replace") for n in names]
    spelt = np.concatenate(([0], np.cumsum([len(e) for e in encoded], dtype=np.int64))).astype(np.int64)
    letters = np.frombuffer(b"".join(encoded), np.uint8)
    return Lookups(start, neighbours, relations, homes, said, claims, hashes, owners, aliases, aliased, letters, spelt)


def _sort_hashes(names: Sequence[str], owners: Sequence[int]) -> tuple[NDArray[np.uint64], Ints]:
    """The ascending hashes of folded names, and whose they are."""
    hashes, whose = _hash_names(map(fold, names)), np.asarray(owners, np.int32)
    order = np.lexsort((whose, hashes))
    return hashes[order], whose[order]


def _adjacency_rows(pairs: Sequence[tuple[int, int]], n: int) -> tuple[NDArray[np.int64], Ints, Ints]:
    """Neighbours and relations by entity, as rows of a sparse matrix; each row in the order of neighbours."""
    ends = np.asarray(pairs, np.int64).reshape(-1, 2)
    source, target = np.concatenate((ends[:, 0], ends[:, 1])), np.concatenate((ends[:, 1], ends[:, 0]))
    relation = np.concatenate((np.arange(len(ends)), np.arange(len(ends))))
    order = np.lexsort((target, source))
    start = np.concatenate(([0], np.cumsum(np.bincount(source, minlength=n)))).astype(np.int64)
    return start, target[order].astype(np.int32), relation[order].astype(np.int32)


def _cluster_homes(hierarchy: Hierarchy, position: dict[str, int]) -> Ints:
    """The cluster of every entity at every depth, shape (n, depths)."""
    clusters = [(c.depth, c.level, c.entities) for c in hierarchy.clusters]
    depths = 1 + max((depth for depth, *_ in clusters), default=-1)
    homes = np.full((len(position), depths), -1, np.int32)
    for i, (depth, _, entities) in enumerate(clusters):  # by depth: a deeper one overwrites what was projected
        homes[[position[e] for e in entities if e in position], depth:] = i
    return homes


def _hash_names(names: Iterable[str]) -> NDArray[np.uint64]:
    digests = [hashlib.blake2b(n.encode("utf-8", "surrogatepass"), digest_size=8).digest() for n in names]
    return np.frombuffer(b"".join(digests), np.dtype("<u8")).astype(np.uint64)
