"""Expressions over a table of matches, column by column: what concerns one element is read once for each element."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from sensegraph.errors import InputError
from sensegraph.graphs.match import query_values, syntax
from sensegraph.graphs.match.query_checking import Checked
from sensegraph.graphs.match.query_values import Element, Truth, Value, fold_type
from sensegraph.graphs.match.shelf import PROPERTIES, GraphReader

Rows = NDArray[np.int64]
_BLOCK = 8_192  # rows between two looks at the clock
_DIGITS = 15  # that a number is rounded to, before or behind its point
_SEARCHES = ("contains", "starts with", "ends with", "=~")


@dataclass(frozen=True, slots=True)
class Table:
    """Matches: for every variable a column of positions; of a chain the relations in order, padded with -1."""

    length: int
    columns: Mapping[str, Rows]

    def take(self, rows: NDArray[Any]) -> Table:
        """Some of the rows, by number or by truth."""
        length = int(np.count_nonzero(rows)) if rows.dtype == np.bool_ else len(rows)
        return Table(length, {name: column[rows] for name, column in self.columns.items()})


Exist = Callable[[Checked, Table], list[Value]]  # for every row whether an inner pattern matches there


class Clock:
    """Raises InputError once the time is up. A query can be stopped between two blocks of rows."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.end = seconds, time.monotonic() + seconds

    def check(self) -> None:
        """Raise InputError when the time is up."""
        if time.monotonic() > self.end:
            raise InputError(
                f"The query takes longer than {self.seconds:g} s; add to the query (a name, a type, shorter "
                "chains), or allow more time (--timeout SECONDS)."
            )


class Evaluator:
    """Reads expressions of one checked query over tables of matches."""

    def __init__(self, query: Checked, shelf: GraphReader, clock: Clock, exists: Exist) -> None:
        self.query, self.shelf, self.clock, self.exists = query, shelf, clock, exists

    def column(self, expression: syntax.Expression, table: Table) -> list[Value]:
        """The value of an expression in every row."""
        names = syntax.read_variables(expression)
        if not names and table.length:
            return self.value(expression, table.take(np.arange(1))) * table.length
        if len(names) == 1 and self.query.kinds[names[0]] in PROPERTIES:  # a column holds one position a row
            distinct, place = np.unique(table.columns[names[0]], return_inverse=True)
            found = self._blocks(expression, Table(len(distinct), {names[0]: distinct}))
            return [found[i] for i in place.tolist()]
        return self._blocks(expression, table)

    def _blocks(self, expression: syntax.Expression, table: Table) -> list[Value]:
        found = list[Value]()
        for begin in range(0, table.length, _BLOCK):
            self.clock.check()
            rows = np.arange(begin, min(begin + _BLOCK, table.length))
            found += self.value(expression, table.take(rows))
        return found

    def value(self, expression: syntax.Expression, table: Table) -> list[Value]:
        """The value of an expression in every row of a block."""
        match expression:
            case syntax.Fixed(value):
                return [value] * table.length
            case syntax.Variable(name):
                return self._elements(name, table)
            case syntax.Property(variable, name):
                return self._property(variable, name, table)
            case syntax.Listed(items):
                columns = [self.value(i, table) for i in items]
                return list(zip(*columns, strict=True)) if columns else [()] * table.length
            case syntax.Unary("not", operand):
                return [query_values.negate_value(v) for v in self.value(operand, table)]
            case syntax.Unary("-", operand):
                return [query_values.calculate_value("-", 0, v) for v in self.value(operand, table)]
            case syntax.Unary(operator, operand):
                return [(v is None) == (operator == "is null") for v in self.value(operand, table)]
            case syntax.Binary():
                return self._binary(expression, table)
            case syntax.Call():
                return self._call(expression, table)
            case syntax.Exists():
                shared = Table(table.length, {name: table.columns[name] for name in expression.shared})
                return self.exists(self.query.inner[expression], shared)

    # ── elements ──

    def _elements(self, name: str, table: Table) -> list[Value]:
        kind = self.query.kinds[name]
        if kind == "path":
            (path,) = [p for p in self.query.query.paths if p.variable == name]
            nodes = [self._elements(n.variable, table) for n in path.nodes]
            edges = [self._elements(e.variable, table) for e in path.edges]
            return [self._path([n[i] for n in nodes], [e[i] for e in edges]) for i in range(table.length)]
        column = table.columns[name]
        if kind == "chain":
            return [tuple(Element("relation", p) for p in row if p >= 0) for row in column.tolist()]
        return [Element(kind, p) for p in column.tolist()]

    def _path(self, nodes: Sequence[Any], edges: Sequence[Any]) -> Element:
        """Nodes and relations in turn; a chain with the entities that it passes."""
        parts = [nodes[0]]
        for edge, node in zip(edges, nodes[1:], strict=True):
            if not isinstance(edge, tuple):
                parts += [edge, node]
                continue
            for link in edge:
                parts += [link, Element("entity", self.shelf.across(link.position, parts[-1].position))]
        return Element("path", 0, tuple(parts))

    def _property(self, variable: str, name: str, table: Table) -> list[Value]:
        known = PROPERTIES[self.query.kinds[variable]]
        return known[name.lower()].read(self.shelf, table.columns[variable].tolist())

    # ── operators ──

    def _binary(self, e: syntax.Binary, table: Table) -> list[Value]:
        if (tested := self._named(e, table)) is not None:
            return tested
        if e.operator in _SEARCHES:
            return self._search(e, table)
        left, right = self.value(e.left, table), self.value(e.right, table)
        if (apply := _LOGIC.get(e.operator)) is None:
            named = query_values.compare_order if e.operator in query_values.ORDERS else query_values.calculate_value
            apply = partial(named, e.operator)
        return list(map(apply, left, right))

    def _named(self, e: syntax.Binary, table: Table) -> list[Value] | None:
        """Tests for a name or a type that the query gives; None for any other.

        A thing is called so if that is its name or, where nothing has that name, if texts call it so too.
        """
        if not isinstance(e.left, syntax.Property):
            flipped = e.operator in ("=", "<>") and isinstance(e.right, syntax.Property)
            return self._named(syntax.Binary(e.operator, e.right, e.left, at=e.at), table) if flipped else None
        variable, name = e.left.variable, e.left.name.lower()
        if (wanted := compared_texts(e)) is None:
            return None
        if name == "name" and self.query.kinds[variable] == "entity":
            called = frozenset[int]().union(*(self.shelf.called(w) for w in wanted))
            found: list[Truth] = [p in called for p in table.columns[variable].tolist()]
        elif name in ("type", "label"):
            sought = frozenset(map(fold_type, wanted))
            column = self._property(variable, name, table)
            found = [fold_type(v) in sought if isinstance(v, str) else None for v in column]
        else:
            return None
        return [query_values.negate_value(v) for v in found] if e.operator == "<>" else list(found)

    def _search(self, e: syntax.Binary, table: Table) -> list[Value]:
        """What is looked for in a text; in the name of an entity, in its other names too."""
        parts = self.value(e.right, table)
        test = self._search_test(e)
        if isinstance(e.left, syntax.Property) and e.left.name.lower() == "name":
            entities = self.shelf.entities(table.columns[e.left.variable].tolist())
            forms = [(x.name, *x.aliases) for x in entities]
            found = ([test(form, part) for form in names] for names, part in zip(forms, parts, strict=True))
            return [True if True in tests else None if None in tests else False for tests in found]
        return [test(text, part) for text, part in zip(self.value(e.left, table), parts, strict=True)]

    def _search_test(self, e: syntax.Binary) -> Callable[[Value, Value], Truth]:
        """What looks for one value in another."""
        if e.operator != "=~" or not isinstance(e.right, syntax.Fixed):
            return lambda text, part: query_values.search_text(e.operator, text, part)
        matches = self.query.matchers[str(e.right.value)]
        return lambda text, _: matches(text) if isinstance(text, str) else None

    # ── functions ──

    def _call(self, e: syntax.Call, table: Table) -> list[Value]:
        columns = [self.value(a, table) for a in e.arguments]
        if e.name == "coalesce":
            return [next((v for v in row if v is not None), None) for row in zip(*columns, strict=True)]
        if e.name in ("type", "id"):
            known = [v if isinstance(v, Element) and v.kind in PROPERTIES else None for v in columns[0]]
            return [v and PROPERTIES[v.kind][e.name].read(self.shelf, [v.position])[0] for v in known]
        call = _FUNCTIONS[e.name]
        return [call(*row) for row in zip(*columns, strict=True)]


def compared_texts(e: syntax.Binary) -> tuple[str, ...] | None:
    """The texts that `=`, `<>` or `in` compares with; None where it compares with anything else."""
    listed = e.right.items if e.operator == "in" and isinstance(e.right, syntax.Listed) else (e.right,)
    if e.operator not in ("=", "<>", "in") or (e.operator == "in" and not isinstance(e.right, syntax.Listed)):
        return None
    found = [i.value for i in listed if isinstance(i, syntax.Fixed) and isinstance(i.value, str)]
    return tuple(found) if len(found) == len(listed) else None


def _is_number(value: Value) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _measure_size(value: Value) -> Value:
    if isinstance(value, Element) and value.kind == "path":
        return len(value.parts) // 2
    return len(value) if isinstance(value, str | tuple) else None


def _path_parts(first: int) -> Callable[[Value], Value]:
    """The nodes (from 0) or the relations (from 1) of a path; of a chain its relations."""

    def parts(value: Value) -> Value:
        if isinstance(value, tuple):
            return value if first else None
        return value.parts[first::2] if isinstance(value, Element) and value.kind == "path" else None

    return parts


_LOGIC: Mapping[str, Callable[[Value, Value], Value]] = {
    "and": query_values.and_values,
    "or": query_values.or_values,
    "=": query_values.equal_values,
    "<>": lambda a, b: query_values.negate_value(query_values.equal_values(a, b)),
    "in": query_values.is_in_list,
}
_FUNCTIONS: Mapping[str, Callable[..., Value]] = {
    "lower": lambda v: v.lower() if isinstance(v, str) else None,
    "tolower": lambda v: v.lower() if isinstance(v, str) else None,
    "upper": lambda v: v.upper() if isinstance(v, str) else None,
    "toupper": lambda v: v.upper() if isinstance(v, str) else None,
    "abs": lambda v: abs(v) if _is_number(v) else None,
    "round": lambda v, digits=0: (
        round(v, max(-_DIGITS, min(digits, _DIGITS))) if _is_number(v) and isinstance(digits, int) else None
    ),
    "size": _measure_size,
    "length": _measure_size,
    "nodes": _path_parts(0),
    "relations": _path_parts(1),
    "relationships": _path_parts(1),
}
