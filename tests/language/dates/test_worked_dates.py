"""Dates, and times and numbers in texts: worked examples."""

from __future__ import annotations

import pytest

from sensegraph.language.dates.moments import (
    are_same_moment,
    count_parts,
    find_atoms,
    first_instant,
    instant_after,
    is_readable,
    moment_after,
    moment_before,
)
from sensegraph.language.dates.stated_dates import (
    When,
    describe_when,
    find_expressions,
    find_numbers,
    find_times,
    read_iso_span,
    stated_in,
    when_asked,
    without_date,
)


def list_atoms(text: str, reference: str) -> list[tuple[str, str, str, str]]:
    return [(text[a.start : a.end], a.first, a.last, a.kind) for a in find_atoms(text, reference)]


def list_expressions(text: str, reference: str) -> list[tuple[str, str, str, str, bool]]:
    return [(text[e.start : e.end], e.kind, e.first, e.last, e.unread) for e in find_expressions(text, reference)]


def state(sentence: str, reference: str) -> tuple[str, str, int]:
    found = stated_in(sentence, reference)
    return found.first, found.last, found.unread


def ask_when(question: str, today: str) -> tuple[str, str, str] | None:
    found = when_asked(question, today)
    return (found.first, found.last, found.phrase) if found else None


def describe(first: str, last: str, unknown: str, phrase: str) -> str:
    return describe_when(When(first, last, unknown, phrase))


def list_times(text: str, start: int) -> list[str]:
    return [text[a:b] for a, b in find_times(text, start, len(text))]


def list_numbers(text: str, start: int) -> list[str]:
    return [text[a:b] for a, b in find_numbers(text, start, len(text))]


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        ("2020", (2020, 1, 1, 0, 0, 0)),
        ("2020-01", (2020, 1, 1, 0, 0, 0)),
        ("2020-05-01T12:00:00+02:00", (2020, 5, 1, 10, 0, 0)),
        ("-0001", (-1, 1, 1, 0, 0, 0)),
    ],
)
def test_a_moment_is_read(moment: str, expected: tuple[object, ...]) -> None:
    assert first_instant(moment) == expected


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        ("2020", True),
        ("x", False),
    ],
)
def test_a_moment_is_one_of_the_calendar(moment: str, expected: bool) -> None:
    assert is_readable(moment) == expected


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        ("2020", (2021, 1, 1, 0, 0, 0)),
        ("2020-12", (2021, 1, 1, 0, 0, 0)),
        ("2020-05-01T12", (2020, 5, 1, 12, 1, 0)),
        ("2020-05-01T12:00:00+02:00", (2020, 5, 1, 10, 0, 1)),
        ("9999", (10000, 1, 1, 0, 0, 0)),
        ("0001-01-01", (1, 1, 2, 0, 0, 0)),
        ("0001-01-01T00:30+01:00", (1, 1, 1, 0, 31, 0)),
    ],
)
def test_a_moment_ends_where_the_next_begins(moment: str, expected: tuple[object, ...]) -> None:
    assert instant_after(moment) == expected


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        ("2020-01", "2020-02"),
        ("2020-02-28", "2020-02-29"),
        ("2020-05-01T23:30-01:30", "2020-05-02T01:01"),
        ("-0001", "0001"),
        ("9999-12", "+10000"),
    ],
)
def test_a_moment_follows_another(moment: str, expected: str) -> None:
    assert moment_after(moment) == expected


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        ("2020", "2019"),
        ("2020-12", "2020-11"),
        ("2020-01", "2019-12"),
        ("2020-02-28", "2020-02-27"),
        ("0001", "-0001"),
        ("0001-01", "0001-12"),
    ],
)
def test_a_moment_precedes_another(moment: str, expected: str) -> None:
    assert moment_before(moment) == expected


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        ("2020", 1),
    ],
)
def test_a_moment_has_parts(moment: str, expected: int) -> None:
    assert count_parts(moment) == expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("2020", "2020-05", True),
        ("", "2020", False),
    ],
)
def test_moments_are_compared_at_the_coarser_precision(one: str, other: str, expected: bool) -> None:
    assert are_same_moment(one, other) == expected


@pytest.mark.parametrize(
    ("text", "reference", "expected"),
    [
        (
            "May 2020, June 3, 2021, 3.5.2020, 2020-05-03",
            "",
            [
                ("May 2020", "2020-05", "2020-05", "month"),
                ("June 3, 2021", "2021-06-03", "2021-06-03", "month_day"),
                ("3.5.2020", "2020-05-03", "2020-05-03", "pointed"),
                ("2020-05-03", "2020-05-03", "2020-05-03", "iso"),
            ],
        ),
        (
            "in Q3 2020, first quarter of 2020, second half of 2021",
            "",
            [
                ("Q3 2020", "2020-07", "2020-09", "quarter"),
                ("first quarter of 2020", "2020-01", "2020-03", "quarter"),
                ("second half of 2021", "2021-07", "2021-12", "half"),
            ],
        ),
        (
            "yesterday, last year, next month, this week",
            "2020-05-13",
            [
                ("yesterday", "2020-05-12", "2020-05-12", "named"),
                ("last year", "2019", "2019", "near"),
                ("next month", "2020-06", "2020-06", "near"),
                ("this week", "2020-05-11", "2020-05-17", "near"),
            ],
        ),
        (
            "yesterday, last year, next month, this week",
            "2020",
            [
                ("yesterday", "", "", "named"),
                ("last year", "2019", "2019", "near"),
                ("next month", "", "", "near"),
                ("this week", "", "", "near"),
            ],
        ),
        (
            "two weeks ago, 3 days ago, a month ago",
            "2020-01-31",
            [
                ("two weeks ago", "2020-01-13", "2020-01-19", "ago"),
                ("3 days ago", "2020-01-28", "2020-01-28", "ago"),
                ("a month ago", "2019-12", "2019-12", "ago"),
            ],
        ),
        ("the 0th century", "", [("0th century", "", "", "century")]),
        ("in 2020 last year", "-0044", [("2020", "2020", "2020", "year"), ("last year", "", "", "near")]),
        (
            "100 days ago, 12 months ago",
            "2020-03",
            [("100 days ago", "", "", "ago"), ("12 months ago", "2019-03", "2019-03", "ago")],
        ),
        (
            "1 BC, 1 v. Chr., 12 n. Chr., 5 CE, 5 BCE",
            "",
            [
                ("1 BC", "-0001", "-0001", "era"),
                ("1 v. Chr.", "-0001", "-0001", "era"),
                ("12 n. Chr.", "0012", "0012", "era"),
                ("5 CE", "0005", "0005", "era"),
                ("5 BCE", "-0005", "-0005", "era"),
            ],
        ),
    ],
)
def test_dates_are_found(text: str, reference: str, expected: list[tuple[object, ...]]) -> None:
    assert list_atoms(text, reference) == expected


@pytest.mark.parametrize(
    ("text", "reference", "expected"),
    [
        ("since 2015", "", [("since 2015", "since", "2015", "", False)]),
        ("between 2011 and 2013", "", [("between 2011 and 2013", "span", "2011", "2013", False)]),
        ("as of 2015", "", [("2015", "at", "2015", "2015", False)]),
        ("2011-13", "", [("2011-13", "span", "2011", "2013", False)]),
        (
            "in the 1990s and the 19th century",
            "2020-05-13",
            [(" 1990s", "at", "1990", "1999", False), ("19th century", "at", "1801", "1900", False)],
        ),
        (
            "44 BC and AD 12 and 0 BC",
            "2020-05-13",
            [("44 BC", "at", "-0044", "-0044", False), ("0 BC", "at", "", "", True)],
        ),
    ],
)
def test_dates_are_read_with_what_stands_beside_them(
    text: str, reference: str, expected: list[tuple[object, ...]]
) -> None:
    assert list_expressions(text, reference) == expected


@pytest.mark.parametrize(
    ("sentence", "reference", "expected"),
    [
        ("She became CEO in 2015 and resigned in 2018.", "", ("2015", "2018", 0)),
        ("She was CEO in 2015 and 2018.", "", ("2015", "2018", 0)),
        ("In 2015 he died and was succeeded by Tom.", "", ("", "2015", 0)),
        ("He was succeeded and died in 2015.", "", ("2015", "", 0)),
        ("From 2011 to 2013 she was CEO until 2015.", "", ("2011", "2013", 0)),
        ("Since 2018 until 2015 it was.", "", ("", "", 1)),
        ("No date.", "", ("", "", 0)),
        ("He became CEO after 2012 and resigned before 2015", "", ("", "2014", 0)),
    ],
)
def test_a_sentence_states_from_when_until_when(sentence: str, reference: str, expected: tuple[object, ...]) -> None:
    assert state(sentence, reference) == expected


@pytest.mark.parametrize(
    ("question", "today", "expected"),
    [
        ("Who was CEO of Nordwind in 2015?", "", ("2015", "2015", "in 2015")),
        ("Who was CEO in 2015 of Nordwind?", "", None),
        ("Who is CEO now?", "", None),
        ("Who was CEO last year?", "", None),
        ("When was Anna CEO in 2015?", "", None),
        ("Who was CEO 2015?", "", None),
    ],
)
def test_a_question_asks_about_a_time(question: str, today: str, expected: tuple[object, ...] | None) -> None:
    assert ask_when(question, today) == expected


@pytest.mark.parametrize(
    ("question", "today", "expected"),
    [
        ("Who was CEO of Nordwind in 2015?", "", "Who was CEO of Nordwind?"),
        ("Who held office between 2011 and 2013?", "", "Who held office?"),
    ],
)
def test_a_question_loses_its_date(question: str, today: str, expected: str) -> None:
    assert without_date(question, today) == expected


@pytest.mark.parametrize(
    ("first", "last", "unknown", "phrase", "expected"),
    [
        ("2015", "", "exclude", "", "facts from 2015 on; what states no date is left out"),
    ],
)
def test_a_filter_is_told(first: str, last: str, unknown: str, phrase: str, expected: str) -> None:
    assert describe(first, last, unknown, phrase) == expected


@pytest.mark.parametrize(
    ("text", "start", "expected"),
    [
        ("On 3 May 2020 at 5 pm she came.", 5, ["May 2020"]),
        ("Monday morning in May", 5, ["May"]),
    ],
)
def test_times_are_found(text: str, start: int, expected: list[str]) -> None:
    assert list_times(text, start) == expected


@pytest.mark.parametrize(
    ("text", "start", "expected"),
    [
        ("On 3 May 2020 at 5 pm she came.", 5, ["5"]),
    ],
)
def test_numbers_are_found(text: str, start: int, expected: list[str]) -> None:
    assert list_numbers(text, start) == expected


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ("2020", ("2020-01-01", "2020-12-31")),
        ("1990s", ("1990-01-01", "1999-12-31")),
        ("1990s and 1980s", ("1990-01-01", "1990-12-31")),
        ("2011-2013", ("2011-01-01", "2013-12-31")),
        ("May 2020", ("2020-05-01", "2020-05-31")),
        ("May 3–5, 2020", ("2020-05-03", "2020-05-05")),
        ("May 35, 2020", ("", "")),
    ],
)
def test_a_stated_date_is_read_in_days(stated: str, expected: tuple[object, ...]) -> None:
    assert read_iso_span(stated) == expected
