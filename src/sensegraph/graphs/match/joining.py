"""A checked query to the table of its matches: from where there is least to start, along what grows least (N87).

The order is chosen while joining, when what each edge would add is known. Every table and every step is bounded. One
edge is gone over for all rows at once: single relations, ties of claims, and chains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensegraph.errors import InputError
from sensegraph.graphs.match.evaluating import Clock, Evaluator, Rows, Table, compared_texts
from sensegraph.graphs.match.query_checking import Checked
from sensegraph.graphs.match.query_values import Value, fold_type
from sensegraph.graphs.match.shelf import Adjacency, GraphReader
from sensegraph.graphs.match.syntax import Binary, EdgePattern, Expression, Property, read_variables

_BLOCK = 1 << 19  # edges that are looked at together

Edge = tuple[str, EdgePattern, str]
Bools = NDArray[np.bool_]
Fits = Callable[[Rows, Rows], Bools]
Guard = Callable[[int], None]
Found = tuple[Rows, Rows, Rows]  # the row, the end, and the edges in order, padded with -1
_ROW = " row"  # the column of numbers of the rows around a pattern that stands in a condition
_NOTHING = Table(1, {})  # before anything is bound there is one way to match nothing


class Hop:
    """One edge, followed from its left or (`backwards`) from its right.

    `fits` says of rows and ends whether the end is one that is wanted; `guard` is told how much is found, as it grows.
    """

    def __init__(
        self, edge: Edge, backwards: bool, query: Checked, shelf: GraphReader, fits: Fits, guard: Guard
    ) -> None:
        near, self.pattern, far = edge
        self.low, self.high = (self.pattern.low or 0, self.pattern.high) if self.pattern.high else (1, 1)
        self.backwards, self.query, self.shelf, self.fits, self.guard = backwards, query, shelf, fits, guard
        self.near = find_adjacency(edge, backwards, query, shelf)
        self.ties = query.kinds[near] != query.kinds[far]
        self.claim_first = query.kinds[far if backwards else near] == "claim"
        forward = {"-": None, ">": True, "<": False}[self.pattern.direction]
        self.forward = forward if forward is None else forward != backwards
        types = [w.text for w in self.pattern.types]
        self.labels = shelf.of_label(types) if types and not self.ties else None

    def follow(self, table: Table, start: str) -> Found:
        """What the edge leads to from a column of a table: from `low` to `high` relations, none twice, left to right.

        A single relation is a chain of one.
        """
        begins, used = table.columns[start], self._used(table.columns)
        rows, ends = np.arange(len(begins)), begins.astype(np.int64)
        links = np.full((len(begins), self.high), -1, np.int64)
        blocks, found = [(rows[:0], ends[:0], links[:0])], 0
        for hop in range(self.high + 1):
            if hop:
                rows, ends, links = self._grown(rows, ends, links, hop, used)
            if hop >= self.low:
                keep = self.fits(rows, ends)
                found += int(np.count_nonzero(keep))
                self.guard(found)
                chains = links[keep]
                if self.backwards:
                    chains[:, :hop] = links[keep, :hop][:, ::-1]
                blocks.append((rows[keep], ends[keep], chains))
        return _join_blocks(blocks)

    def _grown(self, rows: Rows, ends: Rows, links: Rows, hop: int, used: Sequence[Rows]) -> Found:
        """The chains with one more edge each, which is their `hop`-th; of the last only those that end well."""
        blocks, found = [(rows[:0], ends[:0], links[:0])], 0
        for at, further, edges in self._step(ends):
            keep = ~(links[at] == edges[:, None]).any(axis=1)
            for column in used:  # an edge that stands in its row already
                there = column[rows[at]]
                keep &= there != edges if there.ndim == 1 else ~(there == edges[:, None]).any(axis=1)
            if hop == self.high:
                keep &= self.fits(rows[at], further)
            more = links[at[keep]]
            more[:, hop - 1] = edges[keep]
            found += len(more)
            self.guard(found)
            blocks.append((rows[at[keep]], further[keep], more))
        return _join_blocks(blocks)

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
            keep = self._right(begins[at], edges)
            yield at[keep], ends[keep], edges[keep]
            first = last

    def _right(self, begins: Rows, edges: Rows) -> Bools:
        """Which edges have the label and the direction that are wanted; one without a known direction has both."""
        keep = np.ones(len(edges), np.bool_) if self.labels is None else self.labels[edges]
        if self.forward is None:
            return keep
        if self.ties:  # a claim is about its subject, not the other way
            return keep & (self.forward == self.claim_first)
        facets = self.shelf.facets
        return np.asarray(keep & (~facets.directed[edges] | ((facets.sources[edges] == begins) == self.forward)))

    def _used(self, columns: Mapping[str, Rows]) -> list[Rows]:
        """The columns of relations (or ties) that are bound already: a match holds each once."""
        family = ("tie",) if self.ties else ("relation", "chain")
        own = [e.variable for _, e, _ in self.query.edges if self.query.kinds[e.variable] in family]
        return [columns[name] for name in own if name in columns]


def find_adjacency(edge: Edge, backwards: bool, query: Checked, shelf: GraphReader) -> Adjacency:
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


def _join_blocks(blocks: Sequence[Found]) -> Found:
    rows, ends, edges = (np.concatenate(part) for part in zip(*blocks, strict=True))
    return rows, ends, edges


def join_matches(query: Checked, shelf: GraphReader, clock: Clock, most: int) -> tuple[Table, tuple[str, ...]]:
    """All matches of a query in the order of the pattern's elements, and what was done for them, step by step.

    Raises InputError where a step finds more than `most`, or takes too long.
    """
    joiner = _Joiner(query, shelf, clock, most)
    joiner.run()
    # rows in an order that does not depend on how they were joined: by the elements, in the order of the pattern
    table, keys = joiner.table, list[Rows]()
    for path in query.query.paths:
        for part in path.parts:
            column = table.columns[part.variable]
            keys += [column] if column.ndim == 1 else list(column.T)
    return table.take(np.lexsort(keys[::-1])) if keys and table.length else table, tuple(joiner.steps)


def build_evaluator(query: Checked, shelf: GraphReader, clock: Clock, most: int) -> Evaluator:
    """What reads the expressions of a query, the patterns inside them too."""

    def exists(inner: Checked, table: Table) -> list[Value]:
        rows = np.arange(table.length)
        joiner = _Joiner(inner, shelf, clock, most, Table(table.length, {**table.columns, _ROW: rows}))
        joiner.run()
        found: list[Value] = np.isin(rows, joiner.table.columns[_ROW]).tolist()
        return found

    return Evaluator(query, shelf, clock, exists)


class _Joiner:
    """The table so far, and what is still to be done."""

    def __init__(self, query: Checked, shelf: GraphReader, clock: Clock, most: int, table: Table = _NOTHING) -> None:
        self.query, self.shelf, self.clock, self.most = query, shelf, clock, most
        self.evaluator = build_evaluator(query, shelf, clock, most)
        self.table = table
        self.edges: list[Edge] = list(query.edges)
        self.nodes: list[str] = [name for name in query.nodes if name not in table.columns]
        self.tests: list[Expression] = list(query.tests)
        self.steps: list[str] = []

    def run(self) -> None:
        """Bind everything."""
        for name in self.query.nodes:
            if name in self.table.columns and (allowed := self.allowed(name)) is not None:
                self.table = self.table.take(allowed[self.table.columns[name]])
        self.test()
        while self.nodes or self.edges:
            edge = min(self.reachable(), default=None, key=lambda found: found[0])
            if edge is None:
                self.begin()
            else:
                self.follow(*edge[1])
            self.test()

    # ── where to go on ──

    def reachable(self) -> Iterator[tuple[tuple[Any, ...], tuple[Edge, bool]]]:
        """The edges with an end that is bound: how much each would add, and whether it is followed backwards."""
        for number, edge in enumerate(self.edges):
            near, pattern, far = edge
            for backwards, start, end in ((False, near, far), (True, far, near)):
                if start in self.table.columns:
                    open_ended = end not in self.table.columns
                    near_by = find_adjacency(edge, backwards, self.query, self.shelf)
                    grown = int(count_edges(near_by, self.table.columns[start]).sum())
                    cost = grown * (pattern.high or 1)
                    yield (open_ended, cost, number, backwards), (edge, backwards)

    def begin(self) -> None:
        """Bind the node of which there are fewest."""
        found = [(len(places), i, name, places) for i, name in enumerate(self.nodes) for places in [self.places(name)]]
        count, i, name, places = min(found)  # the number of a node decides between equals
        self.nodes.pop(i)
        self.bounded(self.table.length * count, f"combining {_describe_node(name)} with the rest")
        old = np.repeat(np.arange(self.table.length), count)
        columns = dict(self.table.take(old).columns)
        columns[name] = np.tile(places, self.table.length)
        self.table = Table(len(old), columns)
        of = self.shelf.count(self.query.kinds[name])
        self.steps.append(f"begin with {_describe_node(name)}: {count:,} of {of:,}")

    def places(self, name: str) -> Rows:
        """The positions that a node can have, by its types and the names that it is asked for."""
        if self.query.kinds[name] == "claim":
            return np.arange(self.shelf.count("claim"))
        named = [_allowed_names(t, name) for t in self.tests]
        sets = [frozenset[int]().union(*map(self.shelf.called, names)) for names in named if names is not None]
        allowed = self.allowed(name)
        if sets:
            places = np.asarray(sorted(frozenset.intersection(*sets)), np.int64)
            return places if allowed is None else places[allowed[places]]
        return np.arange(self.shelf.count("entity")) if allowed is None else np.flatnonzero(allowed)

    def allowed(self, name: str) -> Bools | None:
        """For every entity whether it has the node's type; None where any has."""
        types = self.query.nodes[name]
        return self.shelf.of_type(w.text for w in types) if types else None

    # ── following an edge ──

    def follow(self, edge: Edge, backwards: bool) -> None:
        """Bind an edge, and its other end where that is not bound yet."""
        near, pattern, far = edge
        self.edges.remove(edge)
        start, end = (far, near) if backwards else (near, far)
        doing = f"following {_describe_edge(edge)}"
        hop = Hop(edge, backwards, self.query, self.shelf, self.fits(end), lambda n: self.bounded(n, doing))
        rows, ends, edges = hop.follow(self.table, start)
        columns = dict(self.table.take(rows).columns)
        columns[pattern.variable] = edges if pattern.long else edges[:, 0]
        columns[end] = ends
        if end in self.nodes:
            self.nodes.remove(end)
        self.table = Table(len(rows), columns)
        self.steps.append(f"follow {_describe_edge(edge)}: {self.table.length:,} rows")

    def fits(self, end: str) -> Fits:
        """Which ends of rows are ones that are wanted."""
        if (bound := self.table.columns.get(end)) is not None:
            return lambda rows, ends: np.asarray(ends == bound[rows])
        allowed = self.allowed(end) if self.query.kinds[end] == "entity" else None
        return lambda rows, ends: np.ones(len(ends), np.bool_) if allowed is None else allowed[ends]

    def bounded(self, rows: int, doing: str) -> None:
        """Raise InputError where a step would find too much, and look at the clock."""
        self.clock.check()
        if rows > self.most:
            raise InputError(
                f"Query too broad: it finds {rows:,} combinations while {doing} (limit {self.most:,}). Add a name, "
                "type or condition, or allow more (--most N)."
            )

    # ── conditions ──

    def test(self) -> None:
        """Apply the conditions all of whose variables are bound."""
        bound = [t for t in self.tests if all(self.bound(v) for v in read_variables(t))]
        for test in bound:
            self.tests.remove(test)
            column = self.evaluator.column(test, self.table)
            self.table = self.table.take(np.asarray([v is True for v in column], np.bool_))
        if bound:
            meant = f"{len(bound)} condition{'s' * (len(bound) > 1)}"
            self.steps.append(f"keep what meets {meant}: {self.table.length:,} rows")

    def bound(self, variable: str) -> bool:
        paths = [p for p in self.query.query.paths if p.variable == variable]
        wanted = [n.variable for p in paths for n in p.parts] or [variable]
        return all(name in self.table.columns for name in wanted)


def _allowed_names(test: Expression, variable: str) -> tuple[str, ...] | None:
    """The names that a condition allows an entity; None where it is no such condition."""
    if not isinstance(test, Binary) or test.operator not in ("=", "in"):
        return None
    sides = [(test.left, test.right)] + ([(test.right, test.left)] if test.operator == "=" else [])
    for one, other in sides:
        if isinstance(one, Property) and (one.variable, one.name.lower()) == (variable, "name"):
            return compared_texts(Binary(test.operator, one, other))
    return None


def _describe_node(name: str) -> str:
    return f"the unnamed node {name.strip()}" if name.startswith(" ") else name


def _describe_edge(edge: Edge) -> str:
    near, pattern, far = edge
    types = "|".join(w.text for w in pattern.types)
    length = f"*{pattern.low}..{pattern.high}" if pattern.long else ""
    inside = _visible_name(pattern.variable) + (f":{types}" if types else "") + length
    arrow = f"{'<' * (pattern.direction == '<')}-[{inside}]-{'>' * (pattern.direction == '>')}"
    return f"({_visible_name(near)}){arrow}({_visible_name(far)})"


def _visible_name(name: str) -> str:
    return "" if name.startswith(" ") else name
