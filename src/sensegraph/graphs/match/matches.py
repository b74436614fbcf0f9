"""A query over an index, from text to rows with citations: what the façade and the command line call (N87)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite

import numpy as np

from sensegraph.errors import InputError
from sensegraph.graphs.match.evaluating import Clock
from sensegraph.graphs.match.joining import build_evaluator, join_matches
from sensegraph.graphs.match.parser import Parser
from sensegraph.graphs.match.query_checking import check_query
from sensegraph.graphs.match.query_values import Element, Value, fold_type
from sensegraph.graphs.match.result_rows import Row, project_rows
from sensegraph.graphs.match.shelf import Shelf
from sensegraph.graphs.match.syntax import Binary, Constant, Given, Query
from sensegraph.index.browse.pages import ClaimRow, EntityRow, Place, RelationRow
from sensegraph.index.passages import cite_statements
from sensegraph.types import Citation, Description, Statement

MOST = 2_000_000  # combinations that a step may find
SECONDS = 10.0
_SPANS = 2  # citations of one relation or entity
_ROW_SPANS = 6  # of one row
_MARK = re.compile(r"\[(\d+)\]")
_CLAUSE = re.compile(r"\b(?:where|return|order\s+by|skip|limit)\b", re.IGNORECASE)  # a pattern with one is a query
_END = "\0"  # stands between rows while they are cited together; no text keeps one


@dataclass(frozen=True, slots=True)
class PathRow:
    """A path: entities and relations in turn; `about` and `object` tie a claim to an entity."""

    parts: tuple[EntityRow | RelationRow | ClaimRow | str, ...]


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


@dataclass(frozen=True, slots=True)
class Matches:
    """The rows that match a query: values in the order of `columns`.

    `found` counts the rows before SKIP and LIMIT. `marks` are, for each row, the numbers of its `citations` (empty
    where none were asked for), and `rests` how many texts it rests on. `steps` say how the rows were found.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Shown, ...], ...]
    found: int
    marks: tuple[tuple[int, ...], ...] = ()
    citations: tuple[Citation, ...] = ()
    notes: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()


def parse_request(request: Request) -> Query:
    """The query that a request makes. Raises InputError where a clause is given twice, or cannot be read."""
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
    if request.skip is not None:
        _check_given_once("SKIP", bool(query.skip))
        query = replace(query, skip=request.skip)
    if request.limit is not None:
        _check_given_once("LIMIT", query.limit is not None)
        query = replace(query, limit=request.limit)
    return query


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


def match_patterns(request: Request, shelf: Shelf, *, citing: bool = False) -> Matches:
    """The rows of a request; with `citing` the spans of documents that each rests on."""
    query = check_query(parse_request(request), shelf)
    clock = Clock(request.seconds)
    found = join_matches(query, shelf, clock, request.most)
    made = project_rows(query, found.table, build_evaluator(query, shelf, clock, request.most))
    columns = tuple(i.name for i in query.items)
    elements = dict.fromkeys(e for row in made.rows for value in row.values for e in _list_elements(value))
    known = _read_shown_elements(list(elements), shelf)
    rows = tuple(tuple(_show_value(v, known) for v in row.values) for row in made.rows)
    marks, citations, left_out = _cite_rows(made.rows, shelf) if citing else ((), (), ())

    # variables of relations that are called like a label: the colon may have been forgotten
    labels = frozenset(map(fold_type, shelf.whole.names))
    notes = [
        f"{edge.variable!r} names any relation here; the label is written [:{edge.variable}]"
        for _, edge, _ in query.edges
        if not edge.types and fold_type(edge.variable) in labels and query.kinds[edge.variable] != "tie"
    ]
    # relations that an arrow followed although no text tells their direction
    arrows = [e.variable for _, e, _ in query.edges if e.direction != "-" and query.kinds[e.variable] != "tie"]
    used = np.unique(np.concatenate([np.empty(0, np.int64), *(found.table.columns[name].ravel() for name in arrows)]))
    if both := int(np.count_nonzero(shelf.facets.told[used[used >= 0]] == 0)):
        many = "1 relation" if both == 1 else f"{both:,} relations"
        notes.append(f"no text tells the direction of {many} of these: they match both ways (r.directed is false)")
    return Matches(columns, rows, made.found, marks, citations, (*notes, *left_out), found.steps)


# ── what is shown ──


def _list_elements(value: Value) -> Iterable[Element]:
    if isinstance(value, Element):
        yield from value.parts or (value,)
    elif isinstance(value, tuple):
        for part in value:
            yield from _list_elements(part)


def _show_value(value: Value, known: Mapping[Element, EntityRow | RelationRow | ClaimRow | str]) -> Shown:
    if isinstance(value, tuple):
        return tuple(_show_value(v, known) for v in value)
    if not isinstance(value, Element):
        return value
    return PathRow(tuple(known[e] for e in value.parts)) if value.kind == "path" else known[value]


def _read_shown_elements(
    elements: Sequence[Element], shelf: Shelf
) -> dict[Element, EntityRow | RelationRow | ClaimRow | str]:
    """What is shown of each element."""
    found = dict[Element, EntityRow | RelationRow | ClaimRow | str]()
    by = {k: [e for e in elements if e.kind == k] for k in ("entity", "relation", "claim", "tie")}
    for e, x in zip(by["entity"], shelf.entities([e.position for e in by["entity"]]), strict=True):
        found[e] = EntityRow(x.id, x.name, x.type, x.degree, len(x.chunks), x.description)
    for e, r in zip(by["relation"], shelf.links([e.position for e in by["relation"]]), strict=True):
        first, second = shelf.told_ends(e.position)
        found[e] = RelationRow(r.id, shelf.name(first), shelf.name(second), r.label, r.description, r.weight)
    claims = shelf.claims([e.position for e in by["claim"]])
    subjects = shelf.index.entities(sorted({c.subject for c in claims}))
    spans = shelf.index.chunks(sorted({c.source.chunk for c in claims}))
    for e, c in zip(by["claim"], claims, strict=True):
        chunk = spans.get(c.source.chunk)
        place = Place(chunk.document, chunk.start + c.source.start, chunk.start + c.source.end) if chunk else None
        name = subjects[c.subject].name if c.subject in subjects else c.subject
        found[e] = ClaimRow(c.id, name, c.object, c.type, c.status, c.description, c.starts, c.ends, place)
    return found | {e: shelf.tie(e.position) for e in by["tie"]}


# ── citations ──


def _cite_rows(
    rows: Sequence[Row], shelf: Shelf
) -> tuple[tuple[tuple[int, ...], ...], tuple[Citation, ...], tuple[str, ...]]:
    """The numbers of each row's citations, the citations, and notes on what was left out."""
    statements = list[Statement]()
    more = 0
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
    notes += [f"{unresolved} sources led nowhere and were left out"] * (unresolved > 0)
    return marks, citations, tuple(notes)
