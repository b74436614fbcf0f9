"""How values of a query compare: true, false, or unknown, over every kind of value."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from sensegraph.graphs.match.query_values import (
    Element,
    and_values,
    calculate_value,
    compare_order,
    equal_values,
    fold_type,
    group_key,
    is_in_list,
    negate_value,
    or_values,
    search_text,
    sort_key,
)

TRUTHS = (True, False, None)


@pytest.mark.parametrize(("a", "b"), list(product(TRUTHS, TRUTHS)))
def test_and_or_and_not_are_those_of_three_values(a: bool | None, b: bool | None) -> None:
    """Unknown is half-way between false and true: the lesser for AND, the greater for OR."""
    rank = {False: 0, None: 1, True: 2}
    value = {number: truth for truth, number in rank.items()}
    assert and_values(a, b) is value[min(rank[a], rank[b])]
    assert or_values(a, b) is value[max(rank[a], rank[b])]
    assert negate_value(a) is value[2 - rank[a]]


def test_what_is_no_truth_is_unknown_to_and_or_and_not() -> None:
    assert and_values(1, True) is None
    assert and_values(1, False) is False
    assert or_values("x", False) is None
    assert or_values("x", True) is True
    assert negate_value(1) is None


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (1, 1.0, True), (1, True, False), (0, False, False), ("Ann", "aNN", True), ("1", 1, False), (None, None, None),
        (None, 1, None), ((1, 2), (1, 2), True), ((1, 2), (2, 1), False), ((1, None), (1, 2), None),
        ((1, None), (2, 2), False), ((1,), (1, 2), False), ((), (), True),
        (Element("entity", 1), Element("entity", 1), True),
        (Element("entity", 1), Element("relation", 1), False),
    ],
)  # fmt: skip
def test_values_are_the_same_where_their_kinds_and_contents_are(a: Any, b: Any, same: bool | None) -> None:
    assert equal_values(a, b) is equal_values(b, a) is same


@pytest.mark.parametrize(
    ("a", "among", "inside"),
    [(1, (1, None), True), (1, (2, None), None), (1, (2, 3), False), (1, (), False), (1, 1, None), (None, (1,), None)],
)
def test_a_value_is_in_a_list_or_not_or_nobody_knows(a: Any, among: Any, inside: bool | None) -> None:
    assert is_in_list(a, among) is inside


def test_only_numbers_and_texts_have_an_order() -> None:
    assert [compare_order(sign, 1, 2) for sign in ("<", "<=", ">", ">=")] == [True, True, False, False]
    assert [compare_order(sign, "b", "B") for sign in ("<", "<=", ">", ">=")] == [False, True, False, True]
    for a, b in ((True, 1), (1, True), ("a", 1), (None, 1), ((1,), (2,))):
        assert compare_order("<", a, b) is None


def test_texts_are_searched_without_case() -> None:
    assert [search_text(sign, "Harbour", "HAR") for sign in ("contains", "starts with", "ends with")] == [
        True,
        True,
        False,
    ]
    assert [search_text(sign, "Harbour", "our") for sign in ("contains", "starts with", "ends with")] == [
        True,
        False,
        True,
    ]
    assert search_text("contains", "Harbour", "rob") is False
    assert search_text("contains", 1, "1") is search_text("contains", "1", 1) is None


@pytest.mark.parametrize(
    ("sign", "a", "b", "value"),
    [
        ("+", 1, 2, 3), ("-", 1, 2, -1), ("*", 2, 3, 6), ("/", 3, 2, 1.5), ("%", 7, 4, 3), ("+", "a", "b", "ab"),
        ("+", (1,), (2,), (1, 2)), ("+", "a", 1, None), ("+", "a", (1,), None), ("-", "a", "b", None),
        ("+", True, 1, None),
        ("+", 1, True, None), ("/", 1, 0, None), ("%", 1, 0, None), ("*", 1e308, 10, None), ("+", None, 1, None),
    ],
)  # fmt: skip
def test_signs_work_on_numbers_and_plus_on_texts_and_lists(sign: str, a: Any, b: Any, value: Any) -> None:
    assert calculate_value(sign, a, b) == value
    assert type(calculate_value(sign, a, b)) is type(value)


def test_known_values_are_ordered_by_kind_then_by_content() -> None:
    values = [(1, None), (1, 2), (1,), Element("entity", 2), Element("entity", 1), "b", "B", "a", 2, 1.5, True, False]
    ordered = sorted(values, key=sort_key)
    assert ordered == [
        False, True, 1.5, 2, "a", "B", "b", Element("entity", 1), Element("entity", 2), (1,), (1, 2), (1, None)
    ]  # fmt: skip


def test_groups_tell_apart_what_is_not_alike() -> None:
    values = [1, True, "1", "a", "A", (1,), (True,), None]
    assert len({group_key(v) for v in values}) == len(values)
    assert group_key(1) == group_key(1.0)
    assert fold_type("Works_AT-home") == "works at home"
