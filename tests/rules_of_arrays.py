"""Rules of arrays, of errors of endpoints and of patterns, given values that stand in a line of JSON."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from sensegraph.algorithms.ranking import Ranking
from sensegraph.algorithms.trees import Followed, match_groups
from sensegraph.graphs.drawing.shapes import Box, Label, place_labels
from sensegraph.graphs.match import query_values
from sensegraph.models.endpoint.outcomes import classify_error, read_error


def _read(value: Any) -> Any:
    """A value as it is given: lists that begin with "f" or "i" as arrays, "r" as a ranking, "t" as a tuple."""
    if not isinstance(value, list) or not value or not isinstance(value[0], str):
        return [_read(one) for one in value] if isinstance(value, list) else value
    kind, *rest = value
    if kind in ("f", "i"):
        return np.asarray(rest, np.float64 if kind == "f" else np.int64)
    if kind == "r":
        return Ranking(rest[0], np.asarray(rest[1], np.int64), np.asarray(rest[2], np.float64))
    return tuple(map(_read, rest)) if kind == "t" else value


def call(function: str, *given: Any, **named: Any) -> Any:
    """What a function of the package makes of arrays; what kind of error it raises, where it refuses them."""
    module, _, name = function.rpartition(":")
    try:
        return getattr(import_module(f"sensegraph.{module}"), name)(*map(_read, given), **named)
    except ValueError as e:
        return type(e).__name__


def link(count: int, scores: list[Any], limits: dict[str, float], rules: dict[str, Any]) -> Any:
    """Clusters by average linkage."""
    return call("algorithms.linkage:cluster_by_linkage", count, scores, **limits, **rules)


def match(old: list[str], new: list[str], depths: list[list[int]]) -> Followed:
    """Which groups of letters are which others."""
    return match_groups(list(map(frozenset, old)), list(map(frozenset, new)), depths)


def classify(status: int, body: str, headers: dict[str, str], *sent: str) -> Any:
    """What the error of an endpoint means."""
    return classify_error(status, read_error(body.encode()), headers, sent)


def compare(a: Any, b: Any) -> list[Any]:
    """All that patterns make of two values."""
    a, b = _read(a), _read(b)
    told = [query_values.equal_values(a, b), query_values.and_values(a, b), query_values.or_values(a, b)]
    told += [query_values.compare_order(sign, a, b) for sign in ("<", "<=", ">", ">=")]
    told += [query_values.search_text(sign, a, b) for sign in ("contains", "starts with", "ends with")]
    told += [query_values.calculate_value(sign, a, b) for sign in "+-*/%"]
    return [*told, query_values.is_in_list(a, b), query_values.negate_value(a)]


def place(canvas: list[float], *wanted: list[Any]) -> Any:
    """Which of some labels find a place."""
    labels = [[Label(x, y, tuple(lines), size) for x, y, lines, size in choices] for choices in wanted]
    return place_labels(labels, Box(*canvas))
