"""Tokens to expressions: a descent by precedence, or before and, not, comparison, sum, product, sign."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

from sensegraph.errors import InputError
from sensegraph.graphs.match.lexer import Token
from sensegraph.graphs.match.syntax import (
    Binary,
    Call,
    Expression,
    Fixed,
    Given,
    Listed,
    Property,
    Spot,
    Unary,
    Variable,
)

_DEEPEST = 40  # brackets within brackets
_MOST = 200  # signs and words that join two expressions
_DIGITS = 18  # of a number
_RESERVED = frozenset(
    "match where return order skip limit distinct as and or not in is contains starts ends null true false".split()
)
_COMPARING = ("=", "<>", "!=", "<=", ">=", "<", ">", "=~")


class Expressions:
    """A place in a row of tokens, and what can be read there. Raises InputError that names what was expected."""

    def __init__(self, tokens: Sequence[Token], parameters: Mapping[str, Given]) -> None:
        self.tokens, self.parameters = tokens, parameters
        self.place = 0
        self.depth = 0
        self.operators = 0

    # ── tokens ──

    @property
    def token(self) -> Token:
        """The next token."""
        return self.tokens[self.place]

    def ahead(self) -> Token:
        """The token after the next."""
        return self.tokens[min(self.place + 1, len(self.tokens) - 1)]

    def take(self) -> Token:
        """The next token, which is read then."""
        token = self.token
        self.place += token.kind != "end"
        return token

    def is_symbol(self, *symbols: str) -> bool:
        """Whether the next token is one of these signs."""
        return self.token.kind == "symbol" and self.token.text in symbols

    def is_word(self, *words: str) -> bool:
        """Whether the next token is one of these words, in any case."""
        return self.token.kind == "name" and self.token.text.lower() in words

    def accept(self, *texts: str) -> bool:
        """Read the next token if it is one of these signs or words."""
        found = self.is_symbol(*texts) or self.is_word(*texts)
        if found:
            self.take()
        return found

    def expect(self, text: str, said: str = "") -> None:
        """Read this sign or word, which must be next."""
        if not self.accept(text):
            raise self.expected(said or text.upper())

    def expected(self, what: str) -> InputError:
        """An error that says what should stand here."""
        found = f", not {self.token.text!r}" if self.token.text else ""
        return self.token.at.error(f"expected {what}{found}.")

    def name(self, what: str) -> str:
        """A name, which must be next."""
        if self.token.kind not in ("name", "quoted"):
            raise self.expected(what)
        return self.take().text

    def parameter(self, token: Token) -> Given:
        """What a parameter stands for."""
        if token.text not in self.parameters:
            given = ", ".join(f"${name}" for name in self.parameters) or "none"
            raise token.at.error(f"no value was given for ${token.text}; given: {given}.")
        return self.parameters[token.text]

    # ── by precedence ──

    def expression(self) -> Expression:
        """An expression."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self.token.at.error(f"brackets may stand in one another {_DEEPEST} deep.")
        found = self._and()
        while self.is_word("or"):
            at = self.take().at
            found = self._joined("or", found, self._and(), at)
        self.depth -= 1
        return found

    def _and(self) -> Expression:
        found = self._not()
        while self.is_word("and"):
            at = self.take().at
            found = self._joined("and", found, self._not(), at)
        return found

    def _not(self) -> Expression:
        ats = []
        while self.is_word("not"):
            ats.append(self.take().at)
        found = self._comparison()
        for at in reversed(ats):
            self._count_one(at)
            found = Unary("not", found, at)
        return found

    def _comparison(self) -> Expression:
        left, at = self._sum(), self.token.at
        operator = self._operator()
        if operator.startswith("is"):
            return Unary(operator, left, at)
        if not operator:
            return left
        found = self._joined({"!=": "<>"}.get(operator, operator), left, self._sum(), at)
        if self.is_symbol(*_COMPARING):
            raise self.token.at.error("comparisons cannot be chained; join two with AND.")
        return found

    def _joined(self, operator: str, left: Expression, right: Expression, at: Spot) -> Binary:
        """Two expressions as one. What joins them is counted: a tree too deep to walk cannot be made."""
        self._count_one(at)
        return Binary(operator, left, right, at)

    def _count_one(self, at: Spot) -> None:
        self.operators += 1
        if self.operators > _MOST:
            raise at.error(f"a query may hold {_MOST} signs such as AND, NOT or +; use IN and a list as a parameter.")

    def _operator(self) -> str:
        """The comparison that is next, in lower case; nothing where none is."""
        if self.is_symbol(*_COMPARING) or self.is_word("in", "contains"):
            return self.take().text.lower()
        if self.is_word("starts", "ends"):
            first = self.take().text.lower()
            self.expect("with")
            return f"{first} with"
        if self.accept("is"):
            negated = self.accept("not")
            self.expect("null")
            return "is not null" if negated else "is null"
        return ""

    def _sum(self) -> Expression:
        found = self._product()
        while self.is_symbol("+", "-"):
            token = self.take()
            found = self._joined(token.text, found, self._product(), token.at)
        return found

    def _product(self) -> Expression:
        found = self._signed()
        while self.is_symbol("*", "/", "%"):
            token = self.take()
            found = self._joined(token.text, found, self._signed(), token.at)
        return found

    def _signed(self) -> Expression:
        at = self.token.at
        if not self.accept("-"):
            return self._atom()
        operand = self._atom()
        if isinstance(operand, Fixed) and isinstance(operand.value, int | float):
            return Fixed(-operand.value, at)
        return Unary("-", operand, at)

    # ── atoms ──

    def _atom(self) -> Expression:
        token = self.token
        if token.kind in ("text", "number", "parameter"):
            return self._constant(self.take())
        if self.accept("("):
            found = self.expression()
            self.expect(")", "')'")
            return found
        if self.accept("["):
            return Listed(self._until("]"), token.at)
        if token.kind == "quoted" or (token.kind == "name" and token.text.lower() not in _RESERVED):
            return self._named(self.take())
        if self.is_word("null", "true", "false"):
            return Fixed({"null": None, "true": True, "false": False}[self.take().text.lower()], token.at)
        raise self.expected("a value, a variable, a property such as a.name, or a function")

    def _constant(self, token: Token) -> Expression:
        if token.kind == "text":
            return Fixed(token.text, token.at)
        if token.kind == "parameter":
            return _write_parameter(self.parameter(token), token)
        return Fixed(parse_number(token), token.at)

    def _named(self, token: Token) -> Expression:
        if self.is_symbol("(") and token.kind == "name":
            return self._call(token)
        if self.accept("."):
            at = self.token.at
            return Property(token.text, self.name("a property's name"), token.at, at)
        return Variable(token.text, token.at)

    def _call(self, token: Token) -> Expression:
        self.take()
        name = token.text.lower()
        if name == "count" and self.accept("*"):
            self.expect(")", "')'")
            return Call(name, (), star=True, at=token.at)
        distinct = self.accept("distinct")
        return Call(name, self._until(")"), distinct, at=token.at)

    def _until(self, close: str) -> tuple[Expression, ...]:
        """Expressions with commas between, to the closing bracket."""
        found = list[Expression]()
        while not self.accept(close):
            found.append(self.expression())
            if not self.is_symbol(close):
                self.expect(",", f"',' or {close!r}")
        return tuple(found)


def parse_number(token: Token) -> int | float:
    """The number of a token. Raises InputError for one that is too large."""
    if len(token.text) > _DIGITS or not isfinite(found := float(token.text)):
        raise token.at.error(f"a number may have {_DIGITS} digits, and must be finite.")
    return int(token.text) if token.text.isdecimal() else found


def _write_parameter(value: Given, token: Token) -> Expression:
    """A parameter's value as if it stood in the query; it is a value, whatever it says."""
    if isinstance(value, tuple):
        return Listed(tuple(_write_parameter(v, token) for v in value), token.at)
    return Fixed(value, token.at)
