"""The values of a query and how they compare: three-valued, as in openCypher, texts without case; and `=~` by RE2.

RE2 is in proportion to the text, whatever the expression. It reads `\\d`, `\\s` and `\\w` as ASCII: they are rewritten
here, so that they mean all scripts, as in Python.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from math import isfinite
from typing import Any, Literal

from sensegraph.errors import InputError
from sensegraph.language.text import fold

Kind = Literal["entity", "relation", "claim", "tie", "chain", "path"]
Truth = bool | None
_folded = lru_cache(maxsize=1 << 16)(fold)
ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_SIGNS: Mapping[str, Callable[[Any, Any], int | float]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "%": operator.mod,
}  # fmt: skip
_LONGEST = 500  # characters of an expression
_ESCAPE = re.compile(r"\\.", re.DOTALL)
_PART = re.compile(r"\\Q.*?(?:\\E|\Z)|\\.|\[\^?\]?(?:\[:\^?[a-z]+:\]|\\.|[^\]\\])*\]", re.DOTALL)  # quoted, escape, set
_CLASSES: Mapping[str, str] = {"d": r"\p{Nd}", "s": r"\t-\r\x{85}\x1c-\x20\pZ", "w": r"\pL_\pN"}


@dataclass(frozen=True, slots=True, order=True)
class Element:
    """An entity, a relation, a claim or a tie of the graph, by its position; a path by its parts in order."""

    kind: Kind
    position: int
    parts: tuple[Element, ...] = ()


Value = None | bool | int | float | str | Element | tuple["Value", ...]

_RANKS = (bool, int | float, str, Element, tuple)


def fold_type(text: str) -> str:
    """The form in which types are compared: folded, `_` and `-` as blanks."""
    return _folded(text.replace("_", " ").replace("-", " "))


def equal_values(a: Value, b: Value) -> Truth:
    """Whether two values are the same; None where one is unknown. Values of different kinds are not."""
    if a is None or b is None:
        return None
    if isinstance(a, str) and isinstance(b, str):
        return _folded(a) == _folded(b)
    if isinstance(a, tuple) and isinstance(b, tuple):
        if len(a) != len(b):
            return False
        parts = [equal_values(x, y) for x, y in zip(a, b, strict=True)]
        return False if False in parts else None if None in parts else True
    return _rank_kind(a) == _rank_kind(b) and a == b


def is_in_list(a: Value, among: Value) -> Truth:
    """Whether a value is in a list; None where that cannot be known."""
    if not isinstance(among, tuple):
        return None
    found = [equal_values(a, b) for b in among]
    return True if True in found else None if None in found else False


def compare_order(sign: str, a: Value, b: Value) -> Truth:
    """`<`, `<=`, `>`, `>=` of two numbers or two texts; None for anything else."""
    if isinstance(a, bool) or isinstance(b, bool):
        return None
    if isinstance(a, str) and isinstance(b, str):
        return ORDERS[sign](_folded(a), _folded(b))
    if isinstance(a, int | float) and isinstance(b, int | float):
        return ORDERS[sign](a, b)
    return None


def and_values(a: Value, b: Value) -> Truth:
    """AND of three values: false where one is, else unknown where one is."""
    return False if a is False or b is False else True if a is True and b is True else None


def or_values(a: Value, b: Value) -> Truth:
    """OR of three values: true where one is, else unknown where one is."""
    return True if a is True or b is True else False if a is False and b is False else None


def negate_value(a: Value) -> Truth:
    """NOT of three values."""
    return not a if isinstance(a, bool) else None


def search_text(sign: str, text: Value, part: Value) -> Truth:
    """`contains`, `starts with`, `ends with`, without case; None where one is no text."""
    if not isinstance(text, str) or not isinstance(part, str):
        return None
    whole, sought = _folded(text), _folded(part)
    if sign == "contains":
        return sought in whole
    return whole.startswith(sought) if sign == "starts with" else whole.endswith(sought)


def calculate_value(sign: str, a: Value, b: Value) -> Value:
    """`+ - * / %` of numbers, `+` of texts and lists; None where there is no such result, as for division by zero."""
    if sign == "+" and ((isinstance(a, str) and isinstance(b, str)) or (isinstance(a, tuple) and isinstance(b, tuple))):
        return a + b  # type: ignore[operator]
    if isinstance(a, bool) or isinstance(b, bool) or not isinstance(a, int | float) or not isinstance(b, int | float):
        return None
    try:
        found = _SIGNS[sign](a, b)
    except ArithmeticError:  # division by zero, or what is too large
        return None
    return found if isinstance(found, int) or isfinite(found) else None


def _rank_kind(value: Value) -> int:
    return next(i for i, kind in enumerate(_RANKS) if isinstance(value, kind))


def sort_key(value: Value) -> tuple[Any, ...]:
    """What known values are ordered by: truth values, numbers, texts (first without case), elements, lists."""
    rank = _rank_kind(value)
    if isinstance(value, str):
        return rank, _folded(value), value
    if isinstance(value, tuple):
        return rank, tuple((v is None, () if v is None else sort_key(v)) for v in value)
    return rank, value


def group_key(value: Value) -> Any:
    """What stands for a value where equal ones are told apart from others: groups, DISTINCT."""
    if isinstance(value, str):
        return "", value
    if isinstance(value, tuple):
        return tuple(map(group_key, value))
    return type(value) is bool, value


def compile_matcher(expression: str) -> Callable[[str], bool]:
    """Whether a whole text matches `expression` (RE2 syntax; `.` is any character; `(?i)` at the start ignores case).

    Raises InputError where the expression cannot be used, or RE2 (the extra `match`) is not installed.
    """
    try:
        import re2
    except ImportError as e:
        advice = "pip install 'sensegraph[match]', or search with CONTAINS, STARTS WITH or ENDS WITH."
        raise InputError(f"=~ needs RE2: {advice}") from e
    if len(expression) > _LONGEST:
        raise InputError(f"a regular expression may have {_LONGEST} characters.")
    options = re2.Options()
    options.dot_nl, options.never_capture, options.log_errors = True, True, False
    rewritten = _PART.sub(lambda m: _rewrite_part(m[0]), expression)
    try:
        compiled = re2.compile(rewritten.encode(errors="surrogatepass"), options)
    except re2.error as e:
        problem, _, place = e.args[0].decode(errors="replace").partition(": ")
        where = f" ({place})" if place in expression and place else ""
        hint = "references back and looking around are not supported."
        raise InputError(f"this regular expression cannot be used, {problem}{where}; {hint}") from e
    return lambda text: compiled.fullmatch(text.encode(errors="surrogatepass")) is not None


def _rewrite_part(part: str) -> str:
    """An escape or a set in brackets, with the classes of characters written out; quoted text as it is."""
    if part.startswith("\\Q"):
        return part
    if part.startswith("["):
        return _ESCAPE.sub(lambda m: _rewrite_escape(m[0], in_set=True), part)
    return _rewrite_escape(part, in_set=False)


def _rewrite_escape(escape: str, *, in_set: bool) -> str:
    kind = escape[1]
    if kind.lower() not in _CLASSES:
        return escape if escape.isascii() else kind
    if kind in _CLASSES:
        return _CLASSES[kind] if in_set else f"[{_CLASSES[kind]}]"
    return _list_complement(kind.lower()) if in_set else f"[^{_CLASSES[kind.lower()]}]"


@cache
def _list_complement(kind: str) -> str:
    """The characters outside a class as ranges, for sets: RE2 has no set in a set."""
    import re2

    every = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x110000)))).encode()
    runs = [m[0].decode() for m in re2.finditer(f"[^{_CLASSES[kind]}]+".encode(), every)]
    return "".join(f"\\x{{{ord(run[0]):x}}}-\\x{{{ord(run[-1]):x}}}" for run in runs)
