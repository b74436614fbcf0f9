"""Results within a number of tokens: lists lose their last items and texts their ends, and what was cut is said."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

import msgspec

from sensegraph.errors import InputError
from sensegraph.language.text import count_tokens

JSON = dict[str, Any]
LEAST = 400  # tokens that every result can be told in
_SAYING = 160  # tokens that are kept for saying what was cut, and where to go on
_FEW = 3  # ids and names of a list that always stay
_LETTERS = 60  # characters that a text gains from one level to the next


def encode_result(value: Any) -> str:
    """`value` as JSON, as it is counted."""
    return msgspec.json.encode(value).decode()


def copy_plain(value: Any) -> Any:
    """`value` as what JSON has: objects, lists, texts, numbers."""
    return msgspec.json.decode(msgspec.json.encode(value))


def count_result(value: Any) -> int:
    """The tokens of `value` as JSON."""
    return count_tokens(encode_result(value))


def shorten_value(value: Any, level: int, depth: int = 0) -> Any:
    """What is left of `value` at a level: so many items of an outer list, fewer of those inside, texts in proportion.

    Of ids and names a few more stay. A text that was cut ends in `…`.
    """
    if isinstance(value, str):
        most = _LETTERS * (level + 1)
        return value if len(value) <= most else value[: most - 1] + "…"
    if isinstance(value, list):
        plain = all(isinstance(x, str | int | float) for x in value)
        most = level + _FEW if plain and depth else max(0, level - depth)
        return [shorten_value(x, level, depth + 1) for x in value[:most]]
    if isinstance(value, dict):
        return {name: shorten_value(x, level, depth) for name, x in value.items()}
    return value


def fit_result(result: JSON, tokens: int, order: Sequence[tuple[str, ...]] = ()) -> JSON:
    """`result`, whose members are shortened until it has at most so many tokens.

    The groups of `order` are shortened first, each as one, then all other members one by one. The member `cut` says
    which were, and how much of their lists is shown. Raises InputError where even the shortest form is longer.
    """
    if count_result(result) <= tokens:
        return result
    room, cut, whole = tokens - _SAYING, list[str](), result
    ordered = {name for names in order for name in names}
    for names in (*order, *((name,) for name in whole if name not in ordered)):
        if count_result(result) <= room:
            break
        parts = {name: whole[name] for name in names if isinstance(whole.get(name), str | list | dict)}
        level = _find_level(result, parts, room)
        result = result | {name: shorten_value(part, level) for name, part in parts.items()}
        cut += [_describe_cut(name, part, result[name]) for name, part in parts.items() if result[name] != part]
    result = result | {"cut": cut}
    if count_result(result) > tokens:
        raise InputError(f"The result does not fit into max_tokens={tokens}; ask for more tokens, or for less.")
    return result


def _find_level(result: JSON, parts: JSON, room: int) -> int:
    """The highest level of some members at which the whole has at most `room` tokens; 0 where none is low enough."""

    def is_too_long(level: int) -> bool:
        return count_result(result | {name: shorten_value(part, level) for name, part in parts.items()}) > room

    return bisect_left(range(1, _highest_level(parts)), True, key=is_too_long)


def _highest_level(value: Any, depth: int = 0) -> int:
    """A level at which `value` is whole."""
    if isinstance(value, str):
        return len(value) // _LETTERS
    if isinstance(value, list):
        return max([len(value) + depth, *(_highest_level(x, depth + 1) for x in value)])
    return max([0, *(_highest_level(x, depth) for x in value.values())]) if isinstance(value, dict) else 0


def _describe_cut(name: str, whole: Any, left: Any) -> str:
    if not isinstance(whole, list):
        return f"{name}: shortened"
    shortened = "" if left == whole[: len(left)] else ", shortened"
    return f"{name}: {len(left)} of {len(whole)}{shortened}"


def fit_text(result: JSON, name: str, tokens: int) -> JSON:
    """`result` with as much of the beginning of its text `name` as leaves it at most so many tokens."""
    if count_result(result) <= tokens:
        return result
    text, room = result[name], tokens - _SAYING
    length = bisect_left(range(1, len(text)), True, key=lambda n: count_result(result | {name: text[:n]}) > room)
    if not length:
        raise InputError(f"The result does not fit into max_tokens={tokens}; ask for more tokens.")
    return result | {name: text[:length]}
