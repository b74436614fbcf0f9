"""Tokens to syntax: patterns and clauses of the part of openCypher that reads (N87).

[MATCH] pattern {, pattern} [WHERE condition] [RETURN [DISTINCT] items] [ORDER BY …] [SKIP n] [LIMIT n]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal, TypeVar

from sensegraph.graphs.match import syntax
from sensegraph.graphs.match.expressions import Expressions, Parameters, Token, parse_number, tokenize_query

T = TypeVar("T")

HOPS = 6  # the longest chain of relations that one edge may stand for
EDGES = 12  # edges of all patterns together
_ELSEWHERE = frozenset(
    "create merge set delete detach remove drop load call with unwind union optional foreach using use show".split()
)


class Parser(Expressions):
    """Reads one piece of a query: a whole one, or what an option gives of it."""

    def __init__(self, text: str, piece: str, parameters: Parameters, outer: Sequence[syntax.PathPattern] = ()) -> None:
        super().__init__(tokenize_query(text, piece), parameters)
        self.unnamed = 0
        self.edges = sum(len(path.edges) for path in outer)
        self.outer = tuple(name for path in outer for name in path.names)  # the variables of the pattern around

    # ── clauses ──

    def query(self) -> syntax.Query:
        """All clauses, in their order, to the end."""
        paths = self._paths()
        self.outer = tuple(name for path in paths for name in path.names)
        where = self.expression() if self.accept("where") else None
        items, distinct = self._return() if self.accept("return") else ((), False)
        order = self._order() if self.accept("order") else ()
        skip = self._count("SKIP") if self.accept("skip") else 0
        limit = self._count("LIMIT") if self.accept("limit") else None
        self.accept(";")
        self.end("WHERE, RETURN, ORDER BY, SKIP, LIMIT or the end")
        return syntax.Query(paths, where, items, distinct, order, skip, limit)

    def condition(self) -> syntax.Expression:
        """What an option says of WHERE."""
        self.accept("where")
        found = self.expression()
        self.end("AND, OR or the end")
        return found

    def returned(self) -> tuple[tuple[syntax.Item, ...], bool]:
        """What an option says of RETURN: the items, and whether distinct."""
        self.accept("return")
        found = self._return()
        self.end("a comma or the end")
        return found

    def ordered(self) -> tuple[syntax.Sort, ...]:
        """What an option says of ORDER BY."""
        found = self._order() if self.accept("order") else self._several(self._sort)
        self.end("a comma, DESC or the end")
        return found

    def end(self, expected: str) -> None:
        """Raise InputError where something follows."""
        if self.token.kind == "end":
            return
        if self.token.kind == "name" and self.token.text.lower() in _ELSEWHERE:
            raise self.token.at.error(
                f"{self.token.text.upper()} is no part of this language, which only reads: "
                "MATCH … WHERE … RETURN … ORDER BY … SKIP … LIMIT."
            )
        raise self.expected(expected)

    def _return(self) -> tuple[tuple[syntax.Item, ...], bool]:
        distinct = self.accept("distinct")
        return () if self.accept("*") else self._several(self._item), distinct

    def _item(self) -> syntax.Item:
        begin = self.token.at
        expression = self.expression()
        if self.accept("as"):
            return syntax.Item(expression, self.name("a name for the column"))
        return syntax.Item(expression, begin.text[begin.offset : self.token.at.offset].strip())

    def _several(self, part: Callable[[], T]) -> tuple[T, ...]:
        """One part or more, with commas between."""
        found = [part()]
        while self.accept(","):
            found.append(part())
        return tuple(found)

    def _order(self) -> tuple[syntax.Sort, ...]:
        self.expect("by")
        return self._several(self._sort)

    def _sort(self) -> syntax.Sort:
        expression = self.expression()
        falling = self.accept("desc", "descending")
        if not falling:
            self.accept("asc", "ascending")
        return syntax.Sort(expression, falling)

    def _count(self, clause: str) -> int:
        at = self.token.at
        value: syntax.Given = None
        if self.token.kind == "number" and self.token.text.isdecimal():
            value = parse_number(self.take())
        elif self.token.kind == "parameter":
            value = self.parameter(self.take())
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise at.error(f"{clause} needs a whole number, 0 or more.")
        return value

    # ── patterns ──

    def _paths(self) -> tuple[syntax.PathPattern, ...]:
        self.accept("match")
        return self._several(self._path)

    def _named(self, token: Token) -> syntax.Expression:
        """A pattern where EXISTS stands before it, else what any name is."""
        if token.kind != "name" or token.text.lower() != "exists" or not self.is_symbol("{"):
            return super()._named(token)
        self.take()
        around, paths = self.outer, self._paths()
        self.outer = (*around, *(name for path in paths for name in path.names))
        where = self.expression() if self.accept("where") else None
        self.outer = around
        self.expect("}", "WHERE, a comma or '}'")
        nodes = (n.variable for path in paths for n in path.nodes)
        tests = [t for path in paths for part in path.parts for t in part.tests] + ([where] if where else [])
        read = dict.fromkeys([*nodes, *(name for test in tests for name in syntax.read_variables(test))])
        return syntax.Exists(paths, where, tuple(name for name in read if name in around), at=token.at)

    def _path(self) -> syntax.PathPattern:
        variable = ""
        if self.token.kind in ("name", "quoted") and self.ahead().text == "=":
            variable = self.take().text
            self.take()
        nodes, edges = [self._node()], list[syntax.EdgePattern]()
        while self.is_symbol("-", "<"):
            edges.append(self._edge())
            nodes.append(self._node())
        return syntax.PathPattern(tuple(nodes), tuple(edges), variable)

    def _node(self) -> syntax.NodePattern:
        at = self.token.at
        if not self.accept("("):
            if self.token.kind == "name" and self.token.text.lower() in _ELSEWHERE:
                self.end("")
            raise self.expected("'(' and an entity, as in (a:Person)")
        variable = self._variable()
        made = syntax.NodePattern(variable, self._types(), self._tests(variable), at=at)
        self.expect(")", "a type after ':', {properties} or ')'")
        return made

    def _edge(self) -> syntax.EdgePattern:
        at, left = self.token.at, self.accept("<")
        self.expect("-", "'-'")
        made = self._inside() if self.accept("[") else syntax.EdgePattern(self._anonymous(), at=at)
        self.expect("-", "'-' after the relation")
        right = self.accept(">")
        if left and right:
            raise at.error("an arrow points one way; leave out both heads for any direction.")
        self.edges += 1
        if self.edges > EDGES:
            raise at.error(f"a query may have {EDGES} edges; ask in parts.")
        direction: Literal["-", ">", "<"] = "<" if left else ">" if right else "-"
        return replace(made, direction=direction, at=at)

    def _inside(self) -> syntax.EdgePattern:
        bare = self._bare()
        variable = self._anonymous() if bare else self._variable()
        types = self._more([bare]) if bare else self._types()
        low, high = self._length() if self.accept("*") else (None, None)
        made = syntax.EdgePattern(variable, types, self._tests(variable), "-", low, high)
        self.expect("]", "a type after ':', a length such as *1..3, {properties} or ']'")
        return made

    def _bare(self) -> syntax.Word | None:
        """A word in capitals alone, as in `[FOUNDED]`: a type whose colon was left out."""
        token = self.token
        if token.kind != "name" or not token.text.isupper() or len(token.text) < 2 or self.ahead().text == ":":
            return None
        return syntax.Word(self.take().text, at=token.at)

    def _length(self) -> tuple[int, int]:
        """After the star: `n`, `n..m`, `..m`. There must be an upper bound."""
        at = self.token.at
        low = high = self._whole()
        if self.accept(".."):
            low, high = 1 if low is None else low, self._whole()
        if high is None or low is None:
            raise at.error(f"a chain of relations needs its bounds, up to {HOPS}, as in *1..3.")
        if high > HOPS:
            raise at.error(f"{high} is more than the {HOPS} relations that a chain may have.")
        if high < max(low, 1):
            raise at.error(f"no chain has {low} or more and at most {high} relations; write the bounds as in *1..3.")
        return low, high

    def _whole(self) -> int | None:
        """A whole number, if one is next."""
        there = self.token.kind == "number" and self.token.text.isdecimal()
        return int(parse_number(self.take())) if there else None

    def _types(self) -> tuple[syntax.Word, ...]:
        return self._more([self._type()]) if self.accept(":") else ()

    def _more(self, found: list[syntax.Word]) -> tuple[syntax.Word, ...]:
        """A type and those that it may be instead."""
        while self.accept("|"):
            self.accept(":")
            found.append(self._type())
        if self.is_symbol(":", "&"):
            raise self.token.at.error("everything has one type here; write several to choose from as :A|B.")
        return tuple(found)

    def _type(self) -> syntax.Word:
        at = self.token.at
        return syntax.Word(self.name("a type, as in :Person (in `backquotes` where it holds other signs)"), at=at)

    def _tests(self, variable: str) -> tuple[syntax.Expression, ...]:
        """`{name: value, …}` as conditions on the variable."""

        def test() -> syntax.Expression:
            at = self.token.at
            name = self.name("a property's name or '}'")
            self.expect(":", "':' and a value")
            return syntax.Binary("=", syntax.Property(variable, name, at, at=at), self.expression(), at=at)

        return self.until("}", test) if self.accept("{") else ()

    def _variable(self) -> str:
        return self.take().text if self.token.kind in ("name", "quoted") else self._anonymous()

    def _anonymous(self) -> str:
        """A name that no query can write, and no other pattern of it has."""
        self.unnamed += 1
        return f" {self.unnamed}" if not self.outer else f" inner {self.unnamed}"
