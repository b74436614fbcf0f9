"""The values of a query, and how they compare: three-valued, as in openCypher, with texts compared without case."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from types import MappingProxyType
from typing import Any, Literal

from sensegraph.language.text import fold

Kind = Literal["entity", "relation", "claim", "tie", "chain", "path"]


@dataclass(frozen=True, slots=True, order=True)
class Element:
    """An entity, a relation, a claim or a tie of the graph, by its position; a path by its parts in order."""

    kind: Kind
    position: int
    parts: tuple[Element, ...] = ()


Value = None | bool | int | float | str | Element | tuple["Value", ...]
Truth = bool | None

_folded = lru_cache(maxsize=1 << 16)(fold)
_ORDER: Mapping[str, Callable[[Any, Any], bool]] = MappingProxyType(
    {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
)
_SIGNS: Mapping[str, Callable[[Any, Any], int | float]] = MappingProxyType(
    {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "%": operator.mod}
)
_RANKS = (bool, int | float, str, Element, tuple)


def fold_type(text: str) -> str:
    """The form in which types are compared: folded, `_` and `-` as blanks."""
    return _folded(text.replace("_", " ").replace("-", " "))


def text_or_null(text: str) -> str | None:
    """A text of a record; None where nothing stands there."""
    return text or None


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
        return _ORDER[sign](_folded(a), _folded(b))
    if isinstance(a, int | float) and isinstance(b, int | float):
        return _ORDER[sign](a, b)
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
