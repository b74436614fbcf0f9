"""A checked query to the table of its matches: from where there is least to start, along what grows least (N87).

The order is chosen while joining, when what each edge would add is known. Every table and every step is bounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensegraph.errors import InputError
from sensegraph.querying.checking import Checked
from sensegraph.querying.evaluating import Clock, Evaluator, Rows, Table, constants
from sensegraph.querying.facets import BACK, FORTH
from sensegraph.querying.shelf import Adjacency, Shelf
from sensegraph.querying.syntax import Binary, EdgePattern, Expression, Property, variables
from sensegraph.querying.values import Value, alike

_BLOCK = 1 << 19  # edges that are looked at together
_ROW = " row"  # the column of numbers of the rows around a pattern that stands in a condition
_NOTHING = Table(1, MappingProxyType({}))  # before anything is bound there is one way to match nothing

Edge = tuple[str, EdgePattern, str]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Joined:
    """The matches in the order of the pattern's elements, and what was done for them, step by step."""

    table: Table
    steps: tuple[str, ...]


def joined(query: Checked, shelf: Shelf, clock: Clock, most: int) -> Joined:
    """All matches of a query. Raises InputError where a step finds more than `most`, or takes too long."""
    joiner = _Joiner(query, shelf, clock, most)
    joiner.run()
    return Joined(_canonical(joiner.table, query), tuple(joiner.steps))


def evaluator(query: Checked, shelf: Shelf, clock: Clock, most: int) -> Evaluator:
    """What reads the expressions of a query, the patterns inside them too."""

    def exists(inner: Checked, table: Table) -> list[Value]:
        rows = np.arange(table.length)
        joiner = _Joiner(inner, shelf, clock, most, Table(table.length, {**table.columns, _ROW: rows}))
        joiner.run()
        found: list[Value] = np.isin(rows, joiner.table.columns[_ROW]).tolist()
        return found

    return Evaluator(query, shelf, clock, exists)


def _canonical(table: Table, query: Checked) -> Table:
    """The rows in an order that the way of joining does not change: by the elements, in the order of the pattern."""
    keys = list[Rows]()
    for path in query.query.paths:
        for part in path.parts:
            column = table.columns[part.variable]
            keys += [column] if column.ndim == 1 else list(column.T)
    return table.take(np.lexsort(keys[::-1])) if keys and table.length else table


class _Joiner:
    """The table so far, and what is still to be done."""

    def __init__(self, query: Checked, shelf: Shelf, clock: Clock, most: int, table: Table = _NOTHING) -> None:
        self.query, self.shelf, self.clock, self.most = query, shelf, clock, most
        self.evaluator = evaluator(query, shelf, clock, most)
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
                    grown = int(_degrees(self.adjacency(edge, backwards), self.table.columns[start]).sum())
                    cost = grown * (pattern.high or 1)
                    yield (open_ended, cost, number, backwards), (edge, backwards)

    def begin(self) -> None:
        """Bind the node of which there are fewest."""
        found = [(len(places), i, name, places) for i, name in enumerate(self.nodes) for places in [self.places(name)]]
        count, i, name, places = min(found, key=lambda f: f[:2])
        self.nodes.pop(i)
        self.bounded(self.table.length * count, f"combining {_called(name)} with the rest")
        old = np.repeat(np.arange(self.table.length), count)
        columns = dict(self.table.take(old).columns)
        columns[name] = np.tile(places, self.table.length)
        self.table = Table(len(old), columns)
        of = self.shelf.count(self.query.kinds[name])
        self.steps.append(f"begin with {_called(name)}: {count:,} of {of:,}")

    def places(self, name: str) -> Rows:
        """The positions that a node can have, by its types and the names that it is asked for."""
        if self.query.kinds[name] == "claim":
            return np.arange(self.shelf.count("claim"))
        named = [_called_so(t, name) for t in self.tests]
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

    def adjacency(self, edge: Edge, backwards: bool) -> Adjacency:
        near, pattern, far = edge
        if self.query.kinds[near] == self.query.kinds[far]:
            return self.shelf.relations
        kinds = {alike(w.text) for w in pattern.types}
        kind = kinds.pop() if len(kinds) == 1 else ""
        from_entity = self.query.kinds[far if backwards else near] == "entity"
        return self.shelf.ties(kind, from_entity)

    def follow(self, edge: Edge, backwards: bool) -> None:
        """Bind an edge, and its other end where that is not bound yet."""
        near, pattern, far = edge
        self.edges.remove(edge)
        start, end = (far, near) if backwards else (near, far)
        hop = _Hop(self, edge, backwards)
        blocks = list(hop.chains(start) if pattern.long else hop.singles(start))
        rows, ends, edges = (np.concatenate(part) for part in zip(*blocks, strict=True))
        keep = self.fitting(rows, ends, edges, end)
        rows, ends, edges = rows[keep], ends[keep], edges[keep]
        columns = dict(self.table.take(rows).columns)
        columns[pattern.variable] = edges if pattern.long else edges[:, 0]
        columns[end] = ends
        if end in self.nodes:
            self.nodes.remove(end)
        self.table = Table(len(rows), columns)
        self.bounded(self.table.length, f"following {_shown(edge)}")
        self.steps.append(f"follow {_shown(edge)}: {self.table.length:,} rows")

    def fitting(self, rows: Rows, ends: Rows, edges: Rows, end: str) -> Bools:
        """Which of what was found has the end that is wanted."""
        if end in self.table.columns:
            return np.asarray(ends == self.table.columns[end][rows])
        allowed = self.allowed(end) if self.query.kinds[end] == "entity" else None
        return np.ones(len(ends), np.bool_) if allowed is None else allowed[ends]

    def bounded(self, rows: int, doing: str) -> None:
        """Raise InputError where a step would find too much, and look at the clock."""
        self.clock.check()
        if rows > self.most:
            raise InputError(
                f"The query finds {rows:,} combinations while {doing}, and may find {self.most:,}: say more of what is "
                "sought there (a name, a type, a condition), or allow more (--most N)."
            )

    # ── conditions ──

    def test(self) -> None:
        """Apply the conditions all of whose variables are bound."""
        bound = [t for t in self.tests if all(self.bound(v) for v in variables(t))]
        for test in bound:
            self.tests.remove(test)
            column = self.evaluator.column(test, self.table)
            self.table = self.table.take(np.asarray([v is True for v in column], np.bool_))
        if bound:
            self.steps.append(
                f"keep what meets {len(bound)} condition{'s' * (len(bound) > 1)}: {self.table.length:,} rows"
            )

    def bound(self, variable: str) -> bool:
        paths = [p for p in self.query.query.paths if p.variable == variable]
        wanted = [n.variable for p in paths for n in p.parts] or [variable]
        return all(name in self.table.columns for name in wanted)


class _Hop:
    """Going over one edge of the pattern from where the table is."""

    def __init__(self, joiner: _Joiner, edge: Edge, backwards: bool) -> None:
        self.joiner, self.pattern, self.backwards = joiner, edge[1], backwards
        self.shown = _shown(edge)
        self.near = joiner.adjacency(edge, backwards)
        self.ties = joiner.query.kinds[edge[0]] != joiner.query.kinds[edge[2]]
        self.claim_first = joiner.query.kinds[edge[2] if backwards else edge[0]] == "claim"
        forward = {"-": None, ">": True, "<": False}[self.pattern.direction]
        self.forward = forward if forward is None else forward != backwards
        shelf, types = joiner.shelf, [w.text for w in self.pattern.types]
        self.labels = shelf.of_label(types) if types and not self.ties else None

    def singles(self, start: str) -> Iterator[tuple[Rows, Rows, Rows]]:
        """One edge: the row, its end, and the relation as a column of one."""
        table = self.joiner.table
        used = self.used(table.columns)
        found = 0
        yield _nothing(1)
        for rows, ends, edges in self.step(table.columns[start]):
            keep = _unused(edges, rows, used)
            found += int(np.count_nonzero(keep))
            self.joiner.bounded(found, f"following {self.shown}")
            yield rows[keep], ends[keep], edges[keep][:, None]

    def chains(self, start: str) -> Iterator[tuple[Rows, Rows, Rows]]:
        """From `low` to `high` edges, none of them twice: the row, the end, and the relations from left to right."""
        table, high = self.joiner.table, self.pattern.high or 1
        used = self.used(table.columns)
        rows, ends = np.arange(table.length), table.columns[start].astype(np.int64)
        links = np.full((table.length, high), -1, np.int64)
        yield _nothing(high)
        if self.pattern.low == 0:
            yield rows, ends, links
        found = 0
        for hop in range(high):
            rows, ends, links = self.grown(rows, ends, links, hop, used)
            if hop + 1 >= (self.pattern.low or 0):
                found += len(rows)
                self.joiner.bounded(found, f"following {self.shown}")
                yield rows, ends, _turned(links, hop + 1) if self.backwards else links

    def grown(self, rows: Rows, ends: Rows, links: Rows, hop: int, used: Sequence[Rows]) -> tuple[Rows, Rows, Rows]:
        """The chains with one more edge each."""
        blocks = [(rows[:0], ends[:0], links[:0])]
        found = 0
        for at, further, edges in self.step(ends):
            keep = _unused(edges, rows[at], used) & ~(links[at] == edges[:, None]).any(axis=1)
            more = links[at[keep]]
            more[:, hop] = edges[keep]
            found += len(more)
            self.joiner.bounded(found, f"following {self.shown}")
            blocks.append((rows[at[keep]], further[keep], more))
        a, b, c = (np.concatenate(part) for part in zip(*blocks, strict=True))
        return a, b, c

    def step(self, begins: Rows) -> Iterator[tuple[Rows, Rows, Rows]]:
        """One edge from each place, in blocks: the number of the place, the end, the edge."""
        degrees = _degrees(self.near, begins)
        for first, last in _cuts(degrees):
            self.joiner.clock.check()
            counts = degrees[first:last]
            at = np.repeat(np.arange(first, last), counts)
            skipped = np.repeat(np.cumsum(counts) - counts, counts)
            places = np.arange(len(at)) - skipped + self.near.start[begins[at]]
            edges = self.near.edges[places].astype(np.int64)
            ends = self.near.neighbours[places].astype(np.int64)
            keep = self.right(begins[at], ends, edges)
            yield at[keep], ends[keep], edges[keep]

    def right(self, begins: Rows, ends: Rows, edges: Rows) -> Bools:
        """Which edges have the label and the direction that are wanted; one without a known direction has both."""
        keep = np.ones(len(edges), np.bool_) if self.labels is None else self.labels[edges]
        if self.forward is None:
            return keep
        if self.ties:  # a claim is about its subject, not the other way
            return keep & (self.forward == self.claim_first)
        told = self.joiner.shelf.facets.told[edges]
        wanted = np.where((begins < ends) == self.forward, FORTH, BACK)
        return np.asarray(keep & ((told == 0) | ((told & wanted) > 0)))

    def used(self, columns: Mapping[str, Rows]) -> list[Rows]:
        """The columns of relations (or ties) that are bound already: a match holds each once."""
        kinds = self.joiner.query.kinds
        family = ("tie",) if self.ties else ("relation", "chain")
        own = [e.variable for _, e, _ in self.joiner.query.edges if kinds[e.variable] in family]
        return [columns[name] for name in own if name in columns]


def _degrees(near: Adjacency, places: Rows) -> Rows:
    degrees: Rows = near.start[places + 1] - near.start[places]
    return degrees


def _cuts(degrees: Rows) -> Iterator[tuple[int, int]]:
    """Runs of places with about as many edges as are looked at together."""
    ends = np.cumsum(degrees)
    first = 0
    while first < len(degrees):
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + _BLOCK, side="right")))
        yield first, last
        first = last


def _unused(edges: Rows, rows: Rows, used: Sequence[Rows]) -> Bools:
    """Which edges do not stand in their row already."""
    keep = np.ones(len(edges), np.bool_)
    for column in used:
        there = column[rows]
        keep &= there != edges if there.ndim == 1 else ~(there == edges[:, None]).any(axis=1)
    return keep


def _turned(links: Rows, length: int) -> Rows:
    """Chains of this length the other way round."""
    turned = links.copy()
    turned[:, :length] = links[:, :length][:, ::-1]
    return turned


def _nothing(width: int) -> tuple[Rows, Rows, Rows]:
    return np.empty(0, np.int64), np.empty(0, np.int64), np.empty((0, width), np.int64)


def _called_so(test: Expression, variable: str) -> tuple[str, ...] | None:
    """The names that a condition allows an entity; None where it is no such condition."""
    if not isinstance(test, Binary) or test.operator not in ("=", "in"):
        return None
    sides = [(test.left, test.right)] + ([(test.right, test.left)] if test.operator == "=" else [])
    for one, other in sides:
        if isinstance(one, Property) and (one.variable, one.name.lower()) == (variable, "name"):
            return constants(Binary(test.operator, one, other))
    return None


def _called(name: str) -> str:
    return f"the unnamed node {name.strip()}" if name.startswith(" ") else name


def _shown(edge: Edge) -> str:
    near, pattern, far = edge
    return f"({_in_brackets(near)}){_shown_edge(pattern)}({_in_brackets(far)})"


def _in_brackets(name: str) -> str:
    return "" if name.startswith(" ") else name


def _shown_edge(pattern: EdgePattern) -> str:
    types = "|".join(w.text for w in pattern.types)
    length = f"*{pattern.low}..{pattern.high}" if pattern.long else ""
    inside = _in_brackets(pattern.variable) + (f":{types}" if types else "") + length
    return f"{'<' * (pattern.direction == '<')}-[{inside}]-{'>' * (pattern.direction == '>')}"
