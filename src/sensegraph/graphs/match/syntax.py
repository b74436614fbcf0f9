"""What a query says: frozen nodes that the parser makes and nothing else. No part of it is ever run as code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from sensegraph.errors import InputError

_SHOWN = 24  # characters of the query that a message repeats

Constant = str | int | float | bool | None
Given = Constant | tuple["Given", ...]  # what a parameter stands for


@dataclass(frozen=True, slots=True)
class Spot:
    """Where something stands: character `offset` of `text`, which a message calls `piece`."""

    piece: str
    text: str
    offset: int

    def error(self, problem: str) -> InputError:
        """What is wrong here, as one sentence that begins with the place."""
        before = self.text[: self.offset]
        line, column = before.count("\n") + 1, self.offset - (before.rfind("\n") + 1) + 1
        place = f"line {line}, column {column}" if "\n" in self.text else f"column {column}"
        rest = " ".join(self.text[self.offset : self.offset + _SHOWN].split())
        return InputError(f"In {self.piece}, {place}, at {repr(rest) if rest else 'its end'}: {problem}")


NOWHERE = Spot("", "", 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """What stands in a query, and where: two that say the same are equal wherever they stand."""

    at: Spot = field(default=NOWHERE, compare=False, repr=False)


# ── expressions ──────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Fixed(Placed):
    """A value that is written in the query, or one that a parameter stands for."""

    value: Constant


@dataclass(frozen=True, slots=True)
class Listed(Placed):
    """Expressions in square brackets."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Variable(Placed):
    """A name that the pattern gives to an entity, a relation, a claim or a path."""

    name: str


@dataclass(frozen=True, slots=True)
class Property(Placed):
    """`variable.name`; the name stands at `named`."""

    variable: str
    name: str
    named: Spot = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Call(Placed):
    """A function or an aggregate, its name in lower case; `star` for `count(*)`."""

    name: str
    arguments: tuple[Expression, ...]
    distinct: bool = False
    star: bool = False


@dataclass(frozen=True, slots=True)
class Unary(Placed):
    """`operator` is not, -, is null or is not null."""

    operator: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary(Placed):
    """`operator` in lower case: or, and, a comparison, in, contains, starts with, ends with, or an arithmetic sign."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Exists(Placed):
    """Whether a pattern matches around what is bound: `shared` are the variables that it has from outside."""

    paths: tuple[PathPattern, ...]
    where: Expression | None
    shared: tuple[str, ...]


Expression = Fixed | Listed | Variable | Property | Call | Unary | Binary | Exists


def child_expressions(expression: Expression) -> tuple[Expression, ...]:
    """The expressions directly inside one."""
    match expression:
        case Listed(items):
            return items
        case Call(_, arguments):
            return arguments
        case Unary(_, operand):
            return (operand,)
        case Binary(_, left, right):
            return (left, right)
        case _:
            return ()


def walk_expression(expression: Expression) -> Iterator[Expression]:
    """An expression and all that is inside it."""
    yield expression
    for part in child_expressions(expression):
        yield from walk_expression(part)


def read_variables(expression: Expression) -> tuple[str, ...]:
    """The variables that an expression reads, in order, each once."""
    found = dict[str, None]()
    for part in walk_expression(expression):
        match part:
            case Variable(name) | Property(name):
                found[name] = None
            case Exists(_, _, shared):
                found |= dict.fromkeys(shared)
            case _:
                pass
    return tuple(found)


def replace_variables(expression: Expression, columns: Mapping[str, Expression]) -> Expression:
    """An expression with those of columns in the place of variables that have their names."""
    match expression:
        case Variable(name):
            return columns.get(name, expression)
        case Listed(items):
            return replace(expression, items=tuple(replace_variables(i, columns) for i in items))
        case Call(_, arguments):
            return replace(expression, arguments=tuple(replace_variables(a, columns) for a in arguments))
        case Unary(_, operand):
            return replace(expression, operand=replace_variables(operand, columns))
        case Binary(_, left, right):
            return replace(expression, left=replace_variables(left, columns), right=replace_variables(right, columns))
        case _:
            return expression


def split_conjuncts(expression: Expression | None) -> Iterator[Expression]:
    """The parts of a condition that must all hold."""
    if isinstance(expression, Binary) and expression.operator == "and":
        yield from split_conjuncts(expression.left)
        yield from split_conjuncts(expression.right)
    elif expression is not None:
        yield expression


# ── patterns ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Word(Placed):
    """A type as it is written."""

    text: str


@dataclass(frozen=True, slots=True)
class NodePattern(Placed):
    """`(variable:type|type {name: value})`; a variable that begins with a blank was not named."""

    variable: str
    types: tuple[Word, ...] = ()
    tests: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class EdgePattern(Placed):
    """`-[variable:type|type *low..high {name: value}]->`; `low` and `high` are None for a single relation."""

    variable: str
    types: tuple[Word, ...] = ()
    tests: tuple[Expression, ...] = ()
    direction: Literal["-", ">", "<"] = "-"
    low: int | None = None
    high: int | None = None

    @property
    def long(self) -> bool:
        """Whether it stands for a chain of relations."""
        return self.high is not None


@dataclass(frozen=True, slots=True)
class PathPattern:
    """Nodes with an edge between each and the next; `variable` is empty where the path has no name."""

    nodes: tuple[NodePattern, ...]
    edges: tuple[EdgePattern, ...] = ()
    variable: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The variables of the path, its own included, in no order that means anything."""
        return (*(part.variable for part in self.parts), *([self.variable] if self.variable else []))

    @property
    def parts(self) -> tuple[NodePattern | EdgePattern, ...]:
        """The nodes, then the edges."""
        return (*self.nodes, *self.edges)

    @property
    def hops(self) -> Iterator[tuple[str, EdgePattern, str]]:
        """Every edge with the variables of the nodes at its left and its right."""
        names = [n.variable for n in self.nodes]
        return zip(names, self.edges, names[1:], strict=False)


# ── queries ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Item:
    """An expression that is returned, and the column's name."""

    expression: Expression
    name: str


@dataclass(frozen=True, slots=True)
class Sort:
    """An expression to order by."""

    expression: Expression
    falling: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """A whole query; without `items` the elements of its patterns are returned. `limit` None is no limit."""

    paths: tuple[PathPattern, ...]
    where: Expression | None = None
    items: tuple[Item, ...] = ()
    distinct: bool = False
    order: tuple[Sort, ...] = ()
    skip: int = 0
    limit: int | None = None
