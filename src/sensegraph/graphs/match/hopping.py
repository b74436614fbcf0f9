"""Going over one edge of a pattern for all rows at once: single relations, ties of claims, and chains."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sensegraph.graphs.match.evaluating import Rows, Table
from sensegraph.graphs.match.facets import BACK, FORTH
from sensegraph.graphs.match.query_checking import Checked
from sensegraph.graphs.match.query_values import fold_type
from sensegraph.graphs.match.shelf import Adjacency, Shelf
from sensegraph.graphs.match.syntax import EdgePattern

_BLOCK = 1 << 19  # edges that are looked at together

Edge = tuple[str, EdgePattern, str]
Bools = NDArray[np.bool_]
Found = tuple[Rows, Rows, Rows]  # the row, the end, and the edges in order, padded with -1


class Hop:
    """One edge, followed from its left or (`backwards`) from its right.

    `fits` says of rows and ends whether the end is one that is wanted; `guard` is told how much is found, as it grows.
    """

    def __init__(
        self,
        edge: Edge,
        backwards: bool,
        query: Checked,
        shelf: Shelf,
        fits: Callable[[Rows, Rows], Bools],
        guard: Callable[[int], None],
    ) -> None:
        near, self.pattern, far = edge
        self.backwards, self.query, self.shelf, self.fits, self.guard = backwards, query, shelf, fits, guard
        self.near = find_adjacency(edge, backwards, query, shelf)
        self.ties = query.kinds[near] != query.kinds[far]
        self.claim_first = query.kinds[far if backwards else near] == "claim"
        forward = {"-": None, ">": True, "<": False}[self.pattern.direction]
        self.forward = forward if forward is None else forward != backwards
        types = [w.text for w in self.pattern.types]
        self.labels = shelf.of_label(types) if types and not self.ties else None

    def follow(self, table: Table, start: str) -> Found:
        """What the edge leads to from a column of a table."""
        begins, used = table.columns[start], self._used(table.columns)
        blocks = list(self._chains(begins, used) if self.pattern.long else self._singles(begins, used))
        rows, ends, edges = (np.concatenate(part) for part in zip(*blocks, strict=True))
        return rows, ends, edges

    def _singles(self, begins: Rows, used: Sequence[Rows]) -> Iterator[Found]:
        found = 0
        yield _empty_hop(1)
        for rows, ends, edges in self._step(begins):
            keep = _find_unused(edges, rows, used) & self.fits(rows, ends)
            found += int(np.count_nonzero(keep))
            self.guard(found)
            yield rows[keep], ends[keep], edges[keep][:, None]

    def _chains(self, begins: Rows, used: Sequence[Rows]) -> Iterator[Found]:
        """From `low` to `high` edges, none of them twice, from left to right."""
        low, high = self.pattern.low or 0, self.pattern.high or 1
        rows, ends = np.arange(len(begins)), begins.astype(np.int64)
        links = np.full((len(begins), high), -1, np.int64)
        yield _empty_hop(high)
        found = 0
        for hop in range(high + 1):
            if hop:
                rows, ends, links = self._grown(rows, ends, links, hop, used)
            if hop >= low:
                keep = self.fits(rows, ends)
                found += int(np.count_nonzero(keep))
                self.guard(found)
                chains = links[keep]
                if self.backwards:
                    chains[:, :hop] = links[keep, :hop][:, ::-1]
                yield rows[keep], ends[keep], chains

    def _grown(self, rows: Rows, ends: Rows, links: Rows, hop: int, used: Sequence[Rows]) -> Found:
        """The chains with one more edge each, which is their `hop`-th; of the last only those that end well."""
        blocks, found = [(rows[:0], ends[:0], links[:0])], 0
        for at, further, edges in self._step(ends):
            keep = _find_unused(edges, rows[at], used) & ~(links[at] == edges[:, None]).any(axis=1)
            if hop == self.pattern.high:
                keep &= self.fits(rows[at], further)
            more = links[at[keep]]
            more[:, hop - 1] = edges[keep]
            found += len(more)
            self.guard(found)
            blocks.append((rows[at[keep]], further[keep], more))
        a, b, c = (np.concatenate(part) for part in zip(*blocks, strict=True))
        return a, b, c

    def _step(self, begins: Rows) -> Iterator[Found]:
        """One edge from each place, in blocks: the number of the place, the end, the edge."""
        counts = count_edges(self.near, begins)
        sums, first = np.cumsum(counts), 0
        while first < len(counts):
            before = int(sums[first - 1]) if first else 0
            last = max(first + 1, int(np.searchsorted(sums, before + _BLOCK, side="right")))
            self.guard(0)
            part = counts[first:last]
            at = np.repeat(np.arange(first, last), part)
            skipped = np.repeat(np.cumsum(part) - part, part)
            places = np.arange(len(at)) - skipped + self.near.start[begins[at]]
            edges = self.near.edges[places].astype(np.int64)
            ends = self.near.neighbours[places].astype(np.int64)
            keep = self._right(begins[at], ends, edges)
            yield at[keep], ends[keep], edges[keep]
            first = last

    def _right(self, begins: Rows, ends: Rows, edges: Rows) -> Bools:
        """Which edges have the label and the direction that are wanted; one without a known direction has both."""
        keep = np.ones(len(edges), np.bool_) if self.labels is None else self.labels[edges]
        if self.forward is None:
            return keep
        if self.ties:  # a claim is about its subject, not the other way
            return keep & (self.forward == self.claim_first)
        told = self.shelf.facets.told[edges]
        wanted = np.where((begins < ends) == self.forward, FORTH, BACK)
        return np.asarray(keep & ((told == 0) | ((told & wanted) > 0)))

    def _used(self, columns: Mapping[str, Rows]) -> list[Rows]:
        """The columns of relations (or ties) that are bound already: a match holds each once."""
        family = ("tie",) if self.ties else ("relation", "chain")
        own = [e.variable for _, e, _ in self.query.edges if self.query.kinds[e.variable] in family]
        return [columns[name] for name in own if name in columns]


def find_adjacency(edge: Edge, backwards: bool, query: Checked, shelf: Shelf) -> Adjacency:
    """What an edge is followed along."""
    near, pattern, far = edge
    if query.kinds[near] == query.kinds[far]:
        return shelf.relations
    kinds = {fold_type(w.text) for w in pattern.types}
    kind = kinds.pop() if len(kinds) == 1 else ""
    return shelf.ties(kind, query.kinds[far if backwards else near] == "entity")


def count_edges(near: Adjacency, places: Rows) -> Rows:
    """How many edges lead on from each place."""
    found: Rows = near.start[places + 1] - near.start[places]
    return found


def _find_unused(edges: Rows, rows: Rows, used: Sequence[Rows]) -> Bools:
    """Which edges do not stand in their row already."""
    keep = np.ones(len(edges), np.bool_)
    for column in used:
        there = column[rows]
        keep &= there != edges if there.ndim == 1 else ~(there == edges[:, None]).any(axis=1)
    return keep


def _empty_hop(width: int) -> tuple[Rows, Rows, Rows]:
    return np.empty(0, np.int64), np.empty(0, np.int64), np.empty((0, width), np.int64)
