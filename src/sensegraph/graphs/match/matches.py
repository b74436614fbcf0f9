"""A query over an index, from text to rows with citations: what the façade and the command line call (N87)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import isfinite

import numpy as np

from sensegraph.errors import InputError
from sensegraph.extractions import Shortened
from sensegraph.graphs.frames import DataTable
from sensegraph.graphs.match.evaluating import Clock, Evaluator, Rows, Table
from sensegraph.graphs.match.joining import build_evaluator, join_matches
from sensegraph.graphs.match.parser import Parser
from sensegraph.graphs.match.query_checking import AGGREGATES, Checked, check_query, has_aggregate
from sensegraph.graphs.match.query_values import Element, Value, fold_type, group_key, sort_key
from sensegraph.graphs.match.shelf import GraphReader
from sensegraph.graphs.match.syntax import Binary, Call, Constant, Expression, Given, Query
from sensegraph.index.browse.elements import source_place
from sensegraph.index.browse.pages import ClaimRow, EntityRow, RelationRow
from sensegraph.index.passages import cite_statements
from sensegraph.types import Citation, Description, Statement

MOST = 2_000_000  # combinations that a step may find
SECONDS = 10.0
_SPANS = 2  # citations of one relation or entity
_ROW_SPANS = 6  # of one row
_RESTED = 1_000  # matches of one row whose elements are gathered for its citations
_MARK = re.compile(r"\[(\d+)\]")
_CLAUSE = re.compile(r"\b(?:where|return|order\s+by|skip|limit)\b", re.IGNORECASE)  # a pattern with one is a query
_END = "\0"  # stands between rows while they are cited together; no text keeps one


@dataclass(frozen=True, slots=True)
class PathRow:
    """A path: entities and relations in turn; `about` and `object` tie a claim to an entity."""

    parts: tuple[ShownElement, ...]


ShownElement = EntityRow | RelationRow | ClaimRow | str
ReadGroups = Callable[[Expression], list[Value]]  # the value of an expression in every group of rows
Marks = tuple[tuple[int, ...], ...]  # the numbers of citations by row
Shown = None | bool | int | float | str | EntityRow | RelationRow | ClaimRow | PathRow | tuple["Shown", ...]
Parameter = Constant | Sequence["Parameter"]


@dataclass(frozen=True, slots=True)
class Request:
    """A query: a pattern or whole text, and the clauses that are given beside it, each as its clause would be.

    `parameters` are the values of `$names`. `most` bounds the combinations that any step may find, `seconds` the time.
    """

    text: str
    where: str = ""
    returned: str = ""
    order: str = ""
    skip: int | None = None
    limit: int | None = None
    parameters: Mapping[str, Parameter] | None = None
    most: int = MOST
    seconds: float = SECONDS


@dataclass(frozen=True, slots=True, repr=False)
class Matches(Shortened):
    """The rows that match a query: values in the order of `columns`.

    `found` counts the rows before SKIP and LIMIT. `marks` are, for each row, the numbers of its `citations` (empty
    where none were asked for), and `rests` how many texts it rests on. `steps` say how the rows were found.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Shown, ...], ...]
    found: int
    marks: Marks = ()
    citations: tuple[Citation, ...] = ()
    notes: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()

    def table(self) -> DataTable:
        """The rows as columns by name, which become frames of pandas, polars or Arrow."""
        return DataTable({name: [row[i] for row in self.rows] for i, name in enumerate(self.columns)})


def parse_request(request: Request) -> Query:
    """The query that a request makes. Raises InputError where a clause is given twice, below 0, or cannot be read."""
    given = {name: _convert_parameter(name, value) for name, value in (request.parameters or {}).items()}
    query = Parser(request.text, "the query" if _CLAUSE.search(request.text) else "the pattern", given).query()
    if request.where:
        more = Parser(request.where, "WHERE", given, query.paths).condition()
        query = replace(query, where=Binary("and", query.where, more) if query.where else more)
    if request.returned:
        _check_given_once("RETURN", bool(query.items))
        items, distinct = Parser(request.returned, "RETURN", given, query.paths).returned()
        query = replace(query, items=items, distinct=distinct)
    if request.order:
        _check_given_once("ORDER BY", bool(query.order))
        query = replace(query, order=Parser(request.order, "ORDER BY", given, query.paths).ordered())
    _check_given_once("SKIP", bool(query.skip) and request.skip is not None)
    _check_given_once("LIMIT", query.limit is not None and request.limit is not None)
    for clause, rows in (("SKIP", request.skip), ("LIMIT", request.limit)):
        if rows is not None and rows < 0:
            raise InputError(f"{clause} is {rows}; it must be 0 or more.")
    skip = query.skip if request.skip is None else request.skip
    return replace(query, skip=skip, limit=query.limit if request.limit is None else request.limit)


def _check_given_once(clause: str, there: bool) -> None:
    if there:
        raise InputError(f"The query has a {clause} of its own; give it once.")


def _convert_parameter(name: str, value: Parameter) -> Given:
    """A parameter as a value of queries."""
    if isinstance(value, float) and not isfinite(value):
        raise InputError(f"The parameter {name!r} is {value}; give a finite number.")
    if isinstance(value, str | int | float | None):
        return value
    if isinstance(value, Sequence):
        return tuple(_convert_parameter(name, v) for v in value)
    raise InputError(f"The parameter {name!r} is a {type(value).__name__}; give a text, a number, a truth or a list.")


def match_patterns(request: Request, shelf: GraphReader, *, citing: bool = False) -> Matches:
    """The rows of a request; with `citing` the spans of documents that each rests on."""
    query = check_query(parse_request(request), shelf, {})
    clock = Clock(request.seconds)
    table, steps = join_matches(query, shelf, clock, request.most)
    made, count = project_rows(query, table, build_evaluator(query, shelf, clock, request.most))
    columns = tuple(i.name for i in query.items)
    elements = dict.fromkeys(e for row in made for value in row.values for e in _list_elements(value))
    known = _read_shown_elements(list(elements), shelf)
    rows = tuple(tuple(_show_value(v, known) for v in row.values) for row in made)
    marks, citations, left_out = _cite_rows(made, shelf) if citing else ((), (), ())

    # variables of relations that are called like a label: the colon may have been forgotten
    labels = frozenset(map(fold_type, shelf.whole.names))
    notes = [
        f"{edge.variable!r} names any relation here; the label is written [:{edge.variable}]"
        for _, edge, _ in query.edges
        if not edge.types and fold_type(edge.variable) in labels and query.kinds[edge.variable] != "tie"
    ]
    # relations that an arrow followed although texts tell no one direction of them
    arrows = [e.variable for _, e, _ in query.edges if e.direction != "-" and query.kinds[e.variable] != "tie"]
    used = np.unique(np.concatenate([np.empty(0, np.int64), *(table.columns[name].ravel() for name in arrows)]))
    if both := int(np.count_nonzero(~shelf.facets.directed[used[used >= 0]])):
        many = "1 relation" if both == 1 else f"{both:,} relations"
        notes.append(
            f"the texts tell {many} of these both ways, or not who acts: they match both ways (r.directed is false)"
        )
    return Matches(columns, rows, count, marks, citations, (*notes, *left_out), steps)


# ── rows ──


@dataclass(frozen=True, slots=True)
class Row:
    """What one row shows, and the relations, claims and entities that it rests on."""

    values: tuple[Value, ...]
    rests: tuple[Element, ...]


def project_rows(query: Checked, table: Table, evaluator: Evaluator) -> tuple[list[Row], int]:
    """The rows of a query from the table of its matches, and how many there were before SKIP and LIMIT."""
    end = None if query.query.limit is None else query.query.skip + query.query.limit
    window = (query.query.skip, end)
    if query.grouped or query.query.distinct:
        groups, values = _group_matches(query, table, evaluator)
        keys = [(values(s.expression), s.falling) for s in query.query.order]
        columns, rests = [values(i.expression) for i in query.items], _find_sources(query, table)
        order = islice(_sort_rows(len(groups), keys), *window)
        return [Row(tuple(c[i] for c in columns), rests(groups[i].tolist())) for i in order], len(groups)
    # one row for each match; only those that are returned are read whole
    keys = [(evaluator.column(s.expression, table), s.falling) for s in query.query.order]
    part = table.take(np.asarray(list(islice(_sort_rows(table.length, keys), *window)), np.int64))
    columns = [evaluator.column(i.expression, part) for i in query.items]
    rests = _find_sources(query, part)
    return [Row(tuple(v), rests([i])) for i, v in enumerate(zip(*columns, strict=True))], table.length


# ── rows put together ──


def _group_matches(query: Checked, table: Table, evaluator: Evaluator) -> tuple[list[Rows], ReadGroups]:
    """Rows as they are put together: the matches of each, and what reads an expression of them."""
    single = [i.expression for i in query.items if not has_aggregate(i.expression)]
    plain = {repr(e): evaluator.column(e, table) for e in single}  # 1 and true are equal, but not written alike
    if plain:
        found = dict[object, list[int]]()  # rows that agree in these columns, by their first
        for i, values in enumerate(zip(*plain.values(), strict=True)):
            found.setdefault(group_key(values), []).append(i)
        groups = [np.asarray(rows, np.int64) for rows in found.values()]
    else:
        groups = [np.arange(table.length)] if query.grouped else []
    totals = _Totals(query, evaluator, table, groups)

    def column(expression: Expression) -> list[Value]:
        if (known := plain.get(repr(expression))) is not None:
            return [known[int(g[0])] for g in groups]
        return totals.value(expression, Table(len(groups), {}))

    return groups, column


class _Totals(Evaluator):
    """Reads expressions whose variables stand inside aggregates: one value a group."""

    def __init__(self, query: Checked, evaluator: Evaluator, table: Table, groups: Sequence[Rows]) -> None:
        super().__init__(query, evaluator.shelf, evaluator.clock, evaluator.exists)
        self.evaluator, self.table, self.groups = evaluator, table, groups

    def _call(self, e: Call, table: Table) -> list[Value]:
        if e.name not in AGGREGATES:
            return super()._call(e, table)
        if e.star:
            return [len(g) for g in self.groups]
        values = self.evaluator.column(e.arguments[0], self.table)
        total = _TOTALS[e.name]
        return [total(self.known(values, g, e.distinct)) for g in self.groups]

    def known(self, values: Sequence[Value], group: Rows, distinct: bool) -> list[Value]:
        """The values of a group that are there, each once if `distinct`."""
        self.clock.check()
        found = [v for i in group.tolist() if (v := values[i]) is not None]
        return list({group_key(v): v for v in found}.values()) if distinct else found


def _keep_numbers(values: Sequence[Value]) -> list[float]:
    return [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]


_TOTALS: Mapping[str, Callable[[list[Value]], Value]] = {
    "count": len,
    "collect": tuple,
    "min": lambda v: min(v, key=sort_key, default=None),
    "max": lambda v: max(v, key=sort_key, default=None),
    "sum": lambda v: sum(_keep_numbers(v)),
    "avg": lambda v: sum(n) / len(n) if (n := _keep_numbers(v)) else None,
}


# ── order ──


def _sort_rows(length: int, keys: Sequence[tuple[list[Value], bool]]) -> list[int]:
    """Row numbers by these columns, the first outranking the others; what is unknown comes last, ties stay in order."""
    order = list(range(length))
    for column, falling in reversed(keys):
        there = [i for i in order if column[i] is not None]
        gone = [i for i in order if column[i] is None]
        there.sort(key=lambda i: sort_key(column[i]), reverse=falling)
        order = there + gone
    return order


# ── what rows rest on ──


def _find_sources(query: Checked, table: Table) -> Callable[[Sequence[int]], tuple[Element, ...]]:
    """For rows of the table the relations and claims in them; where the pattern has none, the entities."""
    linked = [v for v, k in query.kinds.items() if k in ("relation", "chain", "claim")]
    chosen = linked or [v for v, k in query.kinds.items() if k == "entity"]

    def rests(rows: Sequence[int]) -> tuple[Element, ...]:
        found = dict[Element, None]()
        for i in islice(rows, _RESTED):
            for name in chosen:
                kind = "relation" if query.kinds[name] == "chain" else query.kinds[name]
                places = np.atleast_1d(table.columns[name][i]).tolist()
                found |= {Element(kind, p): None for p in places if p >= 0}
        return tuple(found)

    return rests


# ── what is shown ──


def _list_elements(value: Value) -> Iterable[Element]:
    if isinstance(value, Element):
        yield from value.parts or (value,)
    elif isinstance(value, tuple):
        for part in value:
            yield from _list_elements(part)


def _show_value(value: Value, known: Mapping[Element, ShownElement]) -> Shown:
    if isinstance(value, tuple):
        return tuple(_show_value(v, known) for v in value)
    if not isinstance(value, Element):
        return value
    return PathRow(tuple(known[e] for e in value.parts)) if value.kind == "path" else known[value]


def _read_shown_elements(elements: Sequence[Element], shelf: GraphReader) -> dict[Element, ShownElement]:
    """What is shown of each element."""
    found = dict[Element, ShownElement]()
    by = {k: [e for e in elements if e.kind == k] for k in ("entity", "relation", "claim", "tie")}
    for e, x in zip(by["entity"], shelf.entities([e.position for e in by["entity"]]), strict=True):
        found[e] = EntityRow(x.id, x.name, x.type, x.degree, len(x.chunks), x.description)
    for e, r in zip(by["relation"], shelf.links([e.position for e in by["relation"]]), strict=True):
        source, target = (shelf.name(int(ends[e.position])) for ends in shelf.ends)
        found[e] = RelationRow(r.id, source, target, r.label, r.description, r.weight)
    claims = shelf.claims([e.position for e in by["claim"]])
    subjects = shelf.index.entities(sorted({c.subject for c in claims}))
    spans = shelf.index.chunks(sorted({c.source.chunk for c in claims}))
    for e, c in zip(by["claim"], claims, strict=True):
        place = source_place(c.source, spans, shelf.index)
        name = subjects[c.subject].name if c.subject in subjects else c.subject
        found[e] = ClaimRow(c.id, name, c.object, c.type, c.status, c.description, c.starts, c.ends, place)
    return found | {e: shelf.tie(e.position) for e in by["tie"]}


# ── citations ──


def _cite_rows(rows: Sequence[Row], shelf: GraphReader) -> tuple[Marks, tuple[Citation, ...], tuple[str, ...]]:
    """The numbers of each row's citations, the citations, and notes on what was left out."""
    statements, more = list[Statement](), 0
    for row in rows:
        every = list[Sequence[Description]]()
        for e in row.rests:
            if e.kind == "claim":
                (claim,) = shelf.claims([e.position])
                every.append([Description(claim.description, claim.source)])
            elif e.kind == "entity":
                every.append(shelf.entities([e.position])[0].descriptions)
            else:  # first what holds its label
                (link,) = shelf.links([e.position])
                label = link.label.replace("_", " ").lower()
                holding = [d for d in link.descriptions if label in d.text.lower()]
                every.append([*holding, *(d for d in link.descriptions if label not in d.text.lower())])
        chosen = list({d.source: d for told in every for d in told[:_SPANS]}.values())[:_ROW_SPANS]
        more += len({d.source for told in every for d in told}) - len(chosen)
        shown = chosen[0].text if chosen else ""
        plain = shown.replace(_END, " ").replace("[", "(").replace("]", ")")  # no text may be read as a mark
        statements += [Statement(plain, (), tuple(d.source for d in chosen)), Statement(_END)]
    text, citations, unresolved = cite_statements(statements, shelf.index)
    parts = text.split(_END)[: len(rows)] if rows else []
    parts += [""] * (len(rows) - len(parts))
    marks = tuple(tuple(map(int, _MARK.findall(part))) for part in parts)
    notes = [f"{more:,} more texts tell of these rows than are cited"] * (more > 0)
    notes += [f"left out {unresolved} dangling citations"] * (unresolved > 0)
    return marks, citations, tuple(notes)
