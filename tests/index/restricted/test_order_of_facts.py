"""In which order dated facts are listed, and how their intervals are told: every mix of what is known of them."""

from __future__ import annotations

from typing import Any

import pytest

from sensegraph.index.restricted.dates import Fact
from sensegraph.index.restricted.timeline import _time_place, describe_interval
from sensegraph.types import Source


def fact(starts: str = "", ends: str = "", document: str = "d", start: int = 0, **more: Any) -> Fact:
    given = {"first": starts, "last": ends} | more
    return Fact("id", document, start, start + 9, "Said.", given.pop("first"), given.pop("last"), starts, ends,
                (Source("c", 0, 9),), **given)  # fmt: skip


@pytest.mark.parametrize(
    ("known", "told"),
    [
        (fact(), "until "),
        (fact("2011"), "since 2011"),
        (fact("", "2018"), "until 2018"),
        (fact("", "2018", reason="superseded"), "until before 2018"),
        (fact("2011", "2018"), "2011 – 2018"),
        (fact("2011", "2018", last="2017"), "2011 – 2017"),
        (fact("2011", "2018", last="2017", reason="superseded"), "2011 – before 2018"),
        (fact("2011", "2012", last="2011"), "2011"),
        (fact("2011", "2011", reason="superseded"), "2011 – before 2011"),
        (fact("2011", "", last="", reason="superseded"), "since 2011"),
        (fact(earliest="2024"), "not before 2024"),
        (fact("2011", earliest="2010"), "since 2011"),
        (fact("", "2018", earliest="2010"), "until 2018"),
        (fact("2011", "2018", flagged=True), "unclear"),
        (fact(earliest="2024", flagged=True), "unclear"),
    ],
)
def test_an_interval_is_told_by_what_is_known_of_it(known: Fact, told: str) -> None:
    assert describe_interval(known) == told


def test_facts_come_by_beginning_else_end_else_bound_then_by_end_and_place() -> None:
    wanted = [
        fact("2009", "2012"),
        fact("2009"),
        fact("", "2010"),
        fact("2010", "2011"),
        fact("2010", "2015", "c", 7),
        fact("2010", "2015", "d", 1),
        fact("2010", "2015", "d", 2),
        fact("2010"),
        fact("2010-05", "2010-06"),
        fact("", "2011", earliest="2001"),
        fact("", "2012"),
        fact(earliest="2012", start=1),
        fact("2012", start=2),
        fact("2013", earliest="2001"),
        fact("", "", "a"),
        fact("", "", "b", 1),
        fact("", "", "b", 3),
    ]
    assert sorted([*reversed(wanted)], key=_time_place) == wanted
    assert sorted(wanted[5:] + wanted[:5], key=_time_place) == wanted
