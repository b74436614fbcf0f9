"""Text to tokens to expressions: a descent by precedence, or before and, not, comparison, sum, product, sign."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Literal, TypeVar

from sensegraph.errors import InputError
from sensegraph.graphs.match import syntax

LONGEST = 10_000  # characters of a query
_TOKEN = re.compile(
    r"""(?P<space>\s+)
    |(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
    |(?P<name>[^\W\d]\w*)
    |`(?P<quoted>[^`]+)`
    |\$(?P<parameter>\w+)
    |(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    |(?P<symbol><>|<=|>=|!=|=~|\.\.|[()\[\]{}:,.|*<>=+\-/%;&])""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\([\\'\"nt])")  # any other backslash stays, as regular expressions need it

E = TypeVar("E", bound=syntax.Expression)
Parameters = Mapping[str, syntax.Given]
Kind = Literal["number", "name", "quoted", "parameter", "text", "symbol", "end"]


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a query; `text` is without quotes and escapes. A name in backquotes is `quoted`: never a keyword."""

    kind: Kind
    text: str
    at: syntax.Spot


def tokenize_query(text: str, piece: str) -> list[Token]:
    """The tokens of `text`, the last of which is its end. Raises InputError at what cannot be read."""
    if len(text) > LONGEST:
        problem = f"a query may have {LONGEST:,} characters; give long lists as parameters."
        raise syntax.Spot(piece, text, LONGEST).error(problem)
    found, offset = list[Token](), 0
    while offset < len(text):
        spot = syntax.Spot(piece, text, offset)
        match = _TOKEN.match(text, offset)
        if match is None:
            c, advice = text[offset], "put texts into quotes, and types with other signs into `backquotes`."
            known = {"$": "a parameter needs a name, as in $name."}
            known |= dict.fromkeys("'\"`", "this quotation has no end.")
            raise spot.error(known.get(c, f"{c!r} has no meaning here; {advice}"))
        kind: Kind = match.lastgroup  # type: ignore[assignment]
        if match.lastgroup != "space":
            read = match[kind]
            if kind == "text":
                read = _ESCAPE.sub(lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), read[1:-1])
            found.append(Token(kind, read, spot))
        offset = match.end()
    return [*found, Token("end", "", syntax.Spot(piece, text, len(text)))]


_DEEPEST = 40  # brackets within brackets
_MOST = 200  # signs and words that join two expressions
_DIGITS = 18  # of a number
_RESERVED = frozenset(
    "match where return order skip limit distinct as and or not in is contains starts ends null true false".split()
)
_COMPARING = ("=", "<>", "!=", "<=", ">=", "<", ">", "=~")


class Expressions:
    """A place in a row of tokens, and what can be read there. Raises InputError that names what was expected."""

    def __init__(self, tokens: Sequence[Token], parameters: Parameters) -> None:
        self.tokens, self.parameters = tokens, parameters
        self.place = self.depth = self.operators = 0

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
        self.place += found
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

    def parameter(self, token: Token) -> syntax.Given:
        """What a parameter stands for."""
        if token.text not in self.parameters:
            given = ", ".join(f"${name}" for name in self.parameters) or "none"
            raise token.at.error(f"no value was given for ${token.text}; given: {given}.")
        return self.parameters[token.text]

    # ── by precedence ──

    def expression(self) -> syntax.Expression:
        """An expression."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self.token.at.error(f"brackets may stand in one another {_DEEPEST} deep.")
        conjunction = partial(self._chain, self._not, "and")
        found = self._chain(conjunction, "or")
        self.depth -= 1
        return found

    def _chain(self, part: Callable[[], syntax.Expression], *operators: str) -> syntax.Expression:
        """Parts with these signs or words between them, joined from the left."""
        found = part()
        while self.is_symbol(*operators) or self.is_word(*operators):
            token = self.take()
            found = self._joined(token.text.lower(), found, part(), token.at)
        return found

    def _not(self) -> syntax.Expression:
        ats = []
        while self.is_word("not"):
            ats.append(self.take().at)
        found = self._comparison()
        for at in reversed(ats):
            self._count_one(at)
            found = syntax.Unary("not", found, at=at)
        return found

    def _comparison(self) -> syntax.Expression:
        left, at = self._sum(), self.token.at
        operator = self._operator()
        if operator.startswith("is"):
            return syntax.Unary(operator, left, at=at)
        if not operator:
            return left
        found = self._joined({"!=": "<>"}.get(operator, operator), left, self._sum(), at)
        if self.is_symbol(*_COMPARING):
            raise self.token.at.error("comparisons cannot be chained; join two with AND.")
        return found

    def _joined(self, sign: str, left: syntax.Expression, right: syntax.Expression, at: syntax.Spot) -> syntax.Binary:
        """Two expressions as one. What joins them is counted: a tree too deep to walk cannot be made."""
        self._count_one(at)
        return syntax.Binary(sign, left, right, at=at)

    def _count_one(self, at: syntax.Spot) -> None:
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

    def _sum(self) -> syntax.Expression:
        product = partial(self._chain, self._signed, "*", "/", "%")
        return self._chain(product, "+", "-")

    def _signed(self) -> syntax.Expression:
        at = self.token.at
        if not self.accept("-"):
            return self._atom()
        operand = self._atom()
        if isinstance(operand, syntax.Fixed) and isinstance(operand.value, int | float):
            return syntax.Fixed(-operand.value, at=at)
        return syntax.Unary("-", operand, at=at)

    # ── atoms ──

    def _atom(self) -> syntax.Expression:
        token = self.token
        if token.kind == "text":
            return syntax.Fixed(self.take().text, at=token.at)
        if token.kind == "number":
            return syntax.Fixed(parse_number(self.take()), at=token.at)
        if token.kind == "parameter":
            return _write_parameter(self.parameter(self.take()), token)
        if self.accept("("):
            found = self.expression()
            self.expect(")", "')'")
            return found
        if self.accept("["):
            return syntax.Listed(self.until("]", self.expression), at=token.at)
        if token.kind == "quoted" or (token.kind == "name" and token.text.lower() not in _RESERVED):
            return self._named(self.take())
        if self.is_word("null", "true", "false"):
            return syntax.Fixed({"null": None, "true": True, "false": False}[self.take().text.lower()], at=token.at)
        raise self.expected("a value, a variable, a property such as a.name, or a function")

    def _named(self, token: Token) -> syntax.Expression:
        if self.is_symbol("(") and token.kind == "name":
            return self._call(token)
        if self.accept("."):
            named = self.token.at
            return syntax.Property(token.text, self.name("a property's name"), named, at=token.at)
        return syntax.Variable(token.text, at=token.at)

    def _call(self, token: Token) -> syntax.Expression:
        self.take()
        name = token.text.lower()
        if name == "count" and self.accept("*"):
            self.expect(")", "')'")
            return syntax.Call(name, (), star=True, at=token.at)
        distinct = self.accept("distinct")
        return syntax.Call(name, self.until(")", self.expression), distinct, at=token.at)

    def until(self, close: str, part: Callable[[], E]) -> tuple[E, ...]:
        """Parts with commas between, to the closing bracket."""
        found = list[E]()
        while not self.accept(close):
            found.append(part())
            if not self.is_symbol(close):
                self.expect(",", f"',' or {close!r}")
        return tuple(found)


def parse_number(token: Token) -> int | float:
    """The number of a token. Raises InputError for one that is too large."""
    if len(token.text) > _DIGITS or not isfinite(found := float(token.text)):
        raise token.at.error(f"a number may have {_DIGITS} digits, and must be finite.")
    return int(token.text) if token.text.isdecimal() else found


def _write_parameter(value: syntax.Given, token: Token) -> syntax.Expression:
    """A parameter's value as if it stood in the query; it is a value, whatever it says."""
    if isinstance(value, tuple):
        return syntax.Listed(tuple(_write_parameter(v, token) for v in value), at=token.at)
    return syntax.Fixed(value, at=token.at)
