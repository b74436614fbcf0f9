"""The table of matches to the rows that are returned: values, groups, order, and what each row rests on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType

import numpy as np

from sensegraph.graphs.match.evaluating import Evaluator, Rows, Table
from sensegraph.graphs.match.query_checking import AGGREGATES, Checked, has_aggregate
from sensegraph.graphs.match.query_values import Element, Value, group_key, sort_key
from sensegraph.graphs.match.syntax import Call, Expression

_RESTED = 1_000  # matches of one row whose elements are gathered for its citations


@dataclass(frozen=True, slots=True)
class Row:
    """What one row shows, and the relations, claims and entities that it rests on."""

    values: tuple[Value, ...]
    rests: tuple[Element, ...]


@dataclass(frozen=True, slots=True)
class ReturnedRows:
    """The rows that are returned; `found` counts those there were before SKIP and LIMIT."""

    rows: tuple[Row, ...]
    found: int


def project_rows(query: Checked, table: Table, evaluator: Evaluator) -> ReturnedRows:
    """The rows of a query from the table of its matches."""
    if query.grouped or query.query.distinct:
        made = _group_matches(query, table, evaluator)
        order = _sort_rows(len(made.groups), made.keys)
        rests = _find_sources(query, table)
        kept = _cut_window(query, order)
        rows = [Row(tuple(c[i] for c in made.columns), rests(made.groups[i].tolist())) for i in kept]
        return ReturnedRows(tuple(rows), len(made.groups))
    # one row for each match; only those that are returned are read whole
    order = _sort_rows(
        table.length,
        [(evaluator.column(s.expression, table), s.falling) for s in query.query.order],
    )
    part = table.take(np.asarray(list(_cut_window(query, order)), np.int64))
    columns = [evaluator.column(i.expression, part) for i in query.items]
    rests = _find_sources(query, part)
    return ReturnedRows(
        tuple(Row(tuple(v), rests([i])) for i, v in enumerate(zip(*columns, strict=True))), table.length
    )


def _cut_window(query: Checked, order: Sequence[int]) -> Iterable[int]:
    end = None if query.query.limit is None else query.query.skip + query.query.limit
    return islice(order, query.query.skip, end)


# ── rows put together ──


@dataclass(frozen=True, slots=True)
class _RowGroups:
    """Rows as they are put together: the matches of each, the columns, and what they are ordered by."""

    groups: list[Rows]
    columns: list[list[Value]]
    keys: list[tuple[list[Value], bool]]


def _group_matches(query: Checked, table: Table, evaluator: Evaluator) -> _RowGroups:
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
        return totals.column(expression, Table(len(groups), {}))

    keys = [(column(s.expression), s.falling) for s in query.query.order]
    return _RowGroups(groups, [column(i.expression) for i in query.items], keys)


class _Totals(Evaluator):
    """Reads expressions whose variables stand inside aggregates: one value a group."""

    def __init__(self, query: Checked, evaluator: Evaluator, table: Table, groups: Sequence[Rows]) -> None:
        super().__init__(query, evaluator.shelf, evaluator.clock, evaluator.exists)
        self.evaluator, self.table, self.groups = evaluator, table, groups

    def column(self, expression: Expression, table: Table) -> list[Value]:
        """The value of an expression for every group."""
        return self.value(expression, table)

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


_TOTALS: Mapping[str, Callable[[list[Value]], Value]] = MappingProxyType(
    {
        "count": len,
        "collect": tuple,
        "min": lambda v: min(v, key=sort_key, default=None),
        "max": lambda v: max(v, key=sort_key, default=None),
        "sum": lambda v: sum(_keep_numbers(v)),
        "avg": lambda v: sum(n) / len(n) if (n := _keep_numbers(v)) else None,
    }
)


# ── order ──


def _sort_rows(length: int, keys: Sequence[tuple[list[Value], bool]]) -> Sequence[int]:
    """Row numbers by these columns, the first outranking the others; what is unknown comes last, ties stay in order."""
    order: list[int] = list(range(length))
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
