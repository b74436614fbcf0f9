"""Search on a budget of tests: best communities first, a few tests in each, deeper where they succeed.

A chunk is tested by the caller; here is decided which one is next. Positions are those of the chunks, 0…n−1.
The scheme is LazyGraphRAG's as its predecessor, Microsoft's intelligence-toolkit, has it (lazygraphrag §3).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensegraph.algorithms.graphs import NOWHERE, Longs

Test = Callable[[list[int]], Sequence[bool]]


@dataclass(frozen=True, slots=True)
class Pace:
    """How the tests are spent: at most `budget`, up to `tests` for a community at a time, in batches of `batch`.

    A batch without a relevant chunk ends the visit of its community; `patience` communities without any in a row end
    the pass. A community is ranked by the mean rank of its `best` best chunks; `neighbours` says how far from a
    relevant chunk its document is tested too.
    """

    budget: int = 100
    tests: int = 5
    batch: int = 5
    patience: int = 5
    best: int = 5
    neighbours: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class Terrain:
    """What is searched: chunks with their concepts, and the communities of these.

    Chunk i holds the concepts `held[start[i]:start[i + 1]]`; `homes[c, d]` is the community of concept c at depth d,
    `parent` (g) the community above, −1 at the top. `document` (n) numbers documents, whose chunks lie together;
    `same` (n) is the first chunk with the same text. Chunks without a concept are one community more, number g, at
    every depth: it is no topic, and so it is never eliminated.
    """

    start: NDArray[Any]
    held: NDArray[Any]
    homes: NDArray[Any]
    parent: NDArray[Any]
    document: NDArray[Any]
    same: NDArray[Any]

    @property
    def rest(self) -> int:
        """The number of the community of chunks without a concept."""
        return len(self.parent)

    @property
    def depths(self) -> int:
        """The number of depths, 1 at least."""
        return max(1, int(self.homes.shape[1]))

    def memberships(self, depth: int) -> tuple[Longs, Longs]:
        """All pairs of a chunk and a community that it has a concept of, each once: chunks and communities."""
        sizes = np.diff(self.start)
        chunk = np.repeat(np.arange(len(sizes)), sizes)
        home = self.homes[self.held, depth] if len(self.held) else self.held
        bare = np.flatnonzero(sizes == 0)
        pairs = np.concatenate((chunk * (self.rest + 1) + home, bare * (self.rest + 1) + self.rest))
        one, other = np.divmod(np.unique(pairs), self.rest + 1)
        return one, other

    def beside(self, chunk: int, reach: int) -> list[int]:
        """The chunks up to `reach` before and after one in its document."""
        first, last = max(0, chunk - reach), min(len(self.document), chunk + reach + 1)
        return [i for i in range(first, last) if i != chunk and self.document[i] == self.document[chunk]]


def search_on_budget(terrain: Terrain, order: NDArray[Any], pace: Pace, test: Test) -> list[tuple[int, bool]]:
    """The chunks tested, in order, each with its verdict; never more than `pace.budget`, and none twice.

    `order` holds all chunks, the best ranked first; `test` gives the verdicts of a few. Of chunks with the same text
    the first one is tested for all. Where the budget is enough for every chunk, every chunk is tested; else the search
    begins with the whole corpus, goes one depth down after every pass, repeats the last depth as long as that finds
    anything, and ends with the neighbours of what it found.
    """
    run = _Search(terrain, order, pace, test)
    run.explore()
    return list(run.verdicts.items())


def rank_communities(terrain: Terrain, order: NDArray[Any], depth: int, best: int) -> list[tuple[int, list[int]]]:
    """The communities of a depth, best ranked first, each with the chunks assigned to it in rank order.

    A community's rank is the mean rank of its `best` best chunks; a chunk belongs to the best ranked of the
    communities that it has a concept of. Equal ranks are ordered by number.
    """
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    chunk, community = terrain.memberships(depth)
    by_rank = np.lexsort((rank[chunk], community))
    chunk, community = chunk[by_rank], community[by_rank]
    present, first, size = np.unique(community, return_index=True, return_counts=True)
    counted = np.arange(len(chunk)) - np.repeat(first, size) < best
    mean = np.add.reduceat(np.where(counted, rank[chunk], 0), first) / np.minimum(size, best)
    place = np.empty(len(present), np.int64)
    place[np.lexsort((present, mean))] = np.arange(len(present))
    places = np.repeat(place, size)
    home = np.full(len(order), len(present), np.int64)
    np.minimum.at(home, chunk, places)
    names = dict(zip(place.tolist(), present.tolist(), strict=True))
    sorted_ = order[np.argsort(home[order], kind="stable")]
    cuts = np.flatnonzero(np.diff(home[sorted_])) + 1
    return [(names[int(home[part[0]])], part.tolist()) for part in np.split(sorted_, cuts) if len(part)]


def group_by_community(terrain: Terrain, chunks: Sequence[int]) -> list[list[int]]:
    """These chunks by community of depth 0, in their own order: each joins the one that most of them have a part in."""
    homes: list[list[int]] = []
    for chunk in chunks:
        held = terrain.held[int(terrain.start[chunk]) : int(terrain.start[chunk + 1])]
        homes.append(np.unique(terrain.homes[held, 0]).tolist() if len(held) else [terrain.rest])
    weight = Counter(home for found in homes for home in found)
    groups: dict[int, list[int]] = {}
    for chunk, found in zip(chunks, homes, strict=True):
        groups.setdefault(min(found, key=lambda home: (-weight[home], home)), []).append(chunk)
    return list(groups.values())


class _Search:
    """One search under way: `verdicts` of the chunks tested, `pending` neighbours, and the communities eliminated."""

    def __init__(self, terrain: Terrain, order: NDArray[Any], pace: Pace, test: Test) -> None:
        self.terrain, self.pace, self.test = terrain, pace, test
        self.order = np.asarray(order, np.int64)
        self.same: list[int] = np.asarray(terrain.same).tolist()
        self.verdicts: dict[int, bool] = {}
        self.pending: dict[int, None] = {}
        self.dead: set[int] = set()

    @property
    def room(self) -> int:
        """Tests left beside those that the neighbours of relevant chunks will need."""
        return self.pace.budget - len(self.verdicts) - len(self.pending)

    def explore(self) -> None:
        """Spend the budget: from the whole corpus down, then the neighbours."""
        if len(set(self.same)) <= self.pace.budget:
            self._spend(self._fresh(self.order.tolist()), self.pace.budget)
            return
        self._visit(self.order.tolist())  # the whole corpus: what fails here eliminates nothing
        depth, last = 0, self.terrain.depths - 1
        while self.room > 0 and (self._pass(depth) or depth < last):
            depth = min(depth + 1, last)
        rank = {chunk: place for place, chunk in enumerate(self.order.tolist())}
        self._spend(iter(sorted(self.pending, key=rank.__getitem__)), self.pace.budget - len(self.verdicts))

    def _pass(self, depth: int) -> bool:
        """One way through the living communities of a depth, best first; whether it found anything."""
        failures, found = 0, False
        for community, members in rank_communities(self.terrain, self.order, depth, self.pace.best):
            if self.room <= 0 or failures == self.pace.patience:
                break
            if self._gone(community) or (relevant := self._visit(members)) is None:
                continue
            found, failures = found or relevant, 0 if relevant else failures + 1
            if not relevant and community != self.terrain.rest:
                self.dead.add(community)
        return found

    def _gone(self, community: int) -> bool:
        """Whether a community, or one that it is part of, was eliminated."""
        while community >= 0:
            if community in self.dead:
                return True
            community = int(self.terrain.parent[community]) if community < self.terrain.rest else NOWHERE
        return False

    def _visit(self, members: Iterable[int]) -> bool | None:
        """Whether the best few untested of these chunks hold a relevant one; None where all were tested before."""
        fresh, left, relevant = self._fresh(members), self.pace.tests, None
        while batch := _take_next(fresh, min(self.pace.batch, left, self.room)):
            left -= len(batch)
            verdict = self._tested(batch)
            relevant = bool(relevant) or verdict
            if not verdict:
                break
        return relevant

    def _fresh(self, chunks: Iterable[int]) -> Iterator[int]:
        """What stands for these chunks and was not tested yet."""
        met: set[int] = set()
        for chunk in chunks:
            first = self.same[chunk]
            if first not in self.verdicts and first not in met:
                met.add(first)
                yield first

    def _tested(self, batch: list[int]) -> bool:
        """Test these chunks; whether one of them is relevant."""
        verdicts = [bool(v) for v in self.test(batch)]
        self.verdicts.update(zip(batch, verdicts, strict=True))
        for chunk in batch:
            self.pending.pop(chunk, None)
        for chunk in (c for c, relevant in zip(batch, verdicts, strict=True) if relevant):
            beside = self.terrain.beside(chunk, self.pace.neighbours)
            self.pending.update(dict.fromkeys(self._fresh(beside)))
        return any(verdicts)

    def _spend(self, chunks: Iterator[int], most: int) -> None:
        """Test these chunks in batches, `most` at most; what is found leads no further."""
        while most > 0 and (batch := _take_next(chunks, min(self.pace.batch, most))):
            most -= len(batch)
            self.verdicts.update(zip(batch, map(bool, self.test(batch)), strict=True))


def _take_next(chunks: Iterator[int], most: int) -> list[int]:
    """The next `most` of these chunks, fewer at the end."""
    return [chunk for _, chunk in zip(range(most), chunks, strict=False)]
