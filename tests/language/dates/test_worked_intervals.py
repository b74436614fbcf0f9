"""Intervals, facts that close others, and who holds what: worked examples."""

from __future__ import annotations

import pytest

from sensegraph.language.dates.intervals import (
    Assertion,
    Interval,
    held_in,
    holds_during,
    make_interval,
    settle_assertions,
    span_through,
)


def bound(first: str, last: str) -> tuple[str, str, bool]:
    found = make_interval(first, last)
    return found.starts, found.ends, found.flagged


def holds(starts: str, ends: str, first: str, last: str) -> bool | None:
    return holds_during(Interval(starts, ends), span_through(first, last))


def settle(told: list[tuple[str, str, str]]) -> list[tuple[str, str, bool, str, str]]:
    """From when until when each of (holder, first, last) holds, whether it is disputed, what ended it, and why."""
    slot = ("ceo of", "nordwind")
    found = settle_assertions(Assertion(f"f{i}", slot, *one, f"{i}") for i, one in enumerate(told))
    return [
        (found[f"f{i}"].interval.starts, found[f"f{i}"].interval.ends, found[f"f{i}"].disputed,
         found[f"f{i}"].superseded_by, found[f"f{i}"].reason)
        for i in range(len(told))
    ]  # fmt: skip


def hold(sentence: str, types: list[str], known: list[str]) -> tuple[str, str, str] | None:
    found = held_in(sentence, types, {name: f"e-{name}" for name in known})
    return (found.type, found.thing, found.holder) if found else None


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        ("2015", "2018", ("2015", "2019", False)),
        ("", "x", ("", "", True)),
        ("2015-05", "2015-04", ("", "", True)),
    ],
)
def test_an_interval_ends_behind_its_last_unit(first: str, last: str, expected: tuple[object, ...]) -> None:
    assert bound(first, last) == expected


@pytest.mark.parametrize(
    ("starts", "ends", "first", "last", "expected"),
    [
        ("2015", "2018", "2014", "2014", False),
        ("2015", "2018", "2017", "2017", True),
        ("2015", "2018", "2018", "2018", False),
        ("2015", "2018", "", "", True),
    ],
)
def test_a_fact_holds_within_its_interval(starts: str, ends: str, first: str, last: str, expected: bool) -> None:
    assert holds(starts, ends, first, last) == expected


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ([("A", "2015", "2016"), ("B", "2018", "")], [("2015", "2017", False, "", ""), ("2018", "", False, "", "")]),
        ([("A", "2015", "2019"), ("B", "2018", "")], [("2015", "2020", True, "", ""), ("2018", "", True, "", "")]),
        (
            [("A", "2015", ""), ("B", "2015-05", ""), ("C", "2016", "")],
            [
                ("2015", "2016", True, "f2", "functional"),
                ("2015-05", "2016", True, "f2", "functional"),
                ("2016", "", False, "", ""),
            ],
        ),
        (
            [("A", "2015", ""), ("A", "", "2017"), ("B", "2020", "")],
            [("2015", "2018", False, "", "stated"), ("2015", "2018", False, "", "stated"), ("2020", "", False, "", "")],
        ),
        (
            [("A", "2015", ""), ("A", "", "2014"), ("B", "2016", "")],
            [("2015", "2016", False, "f2", "functional"), ("", "2015", False, "", ""), ("2016", "", False, "", "")],
        ),
        (
            [("A", "2015", ""), ("A", "", "2016"), ("A", "", "2018")],
            [("2015", "2017", False, "", "stated"), ("2015", "2017", False, "", "stated"), ("", "2019", False, "", "")],
        ),
        (
            [("A", "2015", ""), ("A", "", "2017"), ("B", "2018", "")],
            [("2015", "2018", False, "", "stated"), ("2015", "2018", False, "", "stated"), ("2018", "", False, "", "")],
        ),
        (
            [("A", "2015", ""), ("A", "2015", "2016")],
            [("2015", "2017", False, "", "stated"), ("2015", "2017", False, "", "")],
        ),
    ],
)
def test_facts_of_one_slot_close_each_other(told: list[tuple[object, ...]], expected: list[tuple[object, ...]]) -> None:
    assert settle(told) == expected


@pytest.mark.parametrize(
    ("sentence", "types", "known", "expected"),
    [
        ("Anna Berg became CEO of Nordwind in 2015.", ["CEO of"], [], ("CEO of", "nordwind", "anna berg")),
        ("Nordwind CEO Anna Berg spoke.", ["CEO of"], ["nordwind", "anna berg"], None),
        (
            "Tom Reeve was succeeded by Anna Berg as CEO of Nordwind.",
            ["CEO of"],
            [],
            ("CEO of", "nordwind", "anna berg"),
        ),
        ("The price of Oil was 50 dollars in 2015.", ["price of"], [], ("price of", "oil", "50 dollars")),
        ("The price of Oil rose to $50.", ["price of"], ["oil"], ("price of", "e-oil", "50")),
        ("Norway and its capital Oslo", ["capital of"], ["norway", "oslo"], ("capital of", "e-norway", "e-oslo")),
        ("Nordwind named Anna Berg its CEO", ["CEO of"], [], None),
        (
            "Anna Berg, who was CEO of the Nordwind Group Of Old Norway Ships Firm Ltd",
            ["CEO of"],
            [],
            ("CEO of", "nordwind group of old norway ships", "anna berg"),
        ),
        ("Ann Lee said Nordwind's CEO is Tom Reeve.", ["CEO of"], [], ("CEO of", "nordwind", "tom reeve")),
        ("Nordwind’s CEO Tom’s", ["CEO of"], ["tom", "nordwind"], ("CEO of", "e-nordwind", "e-tom")),
    ],
)
def test_a_sentence_says_who_holds_what(
    sentence: str, types: list[str], known: list[str], expected: tuple[object, ...] | None
) -> None:
    assert hold(sentence, types, known) == expected
