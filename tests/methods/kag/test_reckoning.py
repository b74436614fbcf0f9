"""Calculation without running anything: numbers, dates, sets, and what cannot be worked out (kag §4.2, §8, §9)."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.methods.kag.calculation import (
    MOST_CHARACTERS,
    MOST_DEPTH,
    Moment,
    Number,
    Unknown,
    Value,
    calculate_expression,
    calculate_words,
    read_date,
    read_number,
    write_value,
)

KNOWN: dict[str, Value] = {
    "a": Number(3, "km"), "b": Number(4.5, "km"), "n": Number(2), "zero": Number(0), "lb": Number(1, "lb"),
    "d": Moment(2020, 1, 30), "e": Moment(2020, 3, 1), "y": Moment(2020), "s": ("Oslo", "Rome", "Oslo"),
    "t": ("rome", "Bern"), "none": Unknown("no date is known"), "word": "green", "born": "born on 4 May 1950",
}  # fmt: skip


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("1 + 2 * 3", "7"), ("(1 + 2) × 3", "9"), ("10 ÷ 4 − 1", "1.5"), ("-n + 5", "3"), ("1,000 + 1", "1,001"),
        ("a + b", "7.5 km"), ("b - a", "1.5 km"), ("a * n", "6 km"), ("b / a", "1.5"), ("b / n", "2.25 km"),
        ("max(a, b)", "4.5 km"), ("min(d, e)", "2020-01-30"), ("mean(1, 2, 6)", "3"), ("abs(1 - 3)", "2"),
        ("days(d, e)", "31 days"), ("e - d", "0 years"), ("difference(d, born)", "70 years"),
        ("count(s)", "2"), ("count(s) + count(t)", "4"), ("both(s, t)", "Rome"),
        ("union(s, t)", "Oslo, Rome, rome, Bern"),
        ("a < b", "yes"), ("a >= b", "no"), ("d < e", "yes"), ("word = word", "yes"), ("d != e", "yes"),
        ("#a + #b", "7.5 km"),
    ],
)  # fmt: skip
def test_expressions_are_worked_out(content: str, told: str) -> None:
    assert write_value(calculate_expression(content, KNOWN)) == told


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("1 / zero", "division by zero"), ("a + lb", "units km and lb differ"), ("a * a", "no known unit"),
        ("1 / a", "no known unit"), ("none - d", "no date is known"), ("d + e", "dates cannot be added"),
        ("word + 1", "not all numbers"), ("d < y", "not known well enough"), ("days(d, y)", "two whole dates"),
        ("q + 1", "bound to nothing"), ("1 +", "a value is missing"), ("(1", "not closed"), ("1 1", "one too many"),
        ("", "a value is missing"), ("sqrt(4)", "no function 'sqrt'"), ("1000000000000 * 1000000000000", "too large"),
    ],
)  # fmt: skip
def test_what_cannot_be_worked_out_is_unknown_with_its_reason_and_never_zero(content: str, why: str) -> None:
    value = calculate_expression(content, KNOWN)
    assert isinstance(value, Unknown)
    assert why in value.reason


@pytest.mark.parametrize(
    "code",
    [
        "__import__('os').system('touch PLACE')", "open('PLACE', 'w')", "(lambda: open('PLACE', 'w'))()",
        "[c for c in ().__class__.__bases__]", "a.__class__", "exec('1')", "9**9**9", "a; b", "f'{a}'", "a if b else n",
        "eval(a)", "print(a)", "{1: 2}", "count = 3", "import os",
    ],
)  # fmt: skip
def test_what_looks_like_a_program_is_refused_and_nothing_happens(code: str, tmp_path: Path) -> None:
    place = tmp_path / "touched"
    assert isinstance(calculate_expression(code.replace("PLACE", str(place)), KNOWN), Unknown)
    assert not place.exists()


def test_long_and_deep_expressions_are_refused() -> None:
    assert "characters" in write_value(calculate_expression("1+" * MOST_CHARACTERS + "1", {}))
    assert "nested" in write_value(calculate_expression("(" * (MOST_DEPTH + 1) + "1" + ")" * (MOST_DEPTH + 1), {}))
    assert write_value(calculate_expression("(" * (MOST_DEPTH - 2) + "1" + ")" * (MOST_DEPTH - 2), {})) == "1"
    assert "values" in write_value(calculate_expression("count(s)", {"s": tuple(str(i) for i in range(1_001))}))


@given(st.text(max_size=60))
def test_no_text_makes_the_evaluator_fail(text: str) -> None:
    assert write_value(calculate_expression(text, KNOWN)) is not None


@given(st.integers(-999, 999), st.integers(-999, 999), st.integers(1, 99))
def test_whole_numbers_are_worked_out_as_python_does(a: int, b: int, c: int) -> None:
    values: dict[str, Value] = {"a": Number(a), "b": Number(b), "c": Number(c)}
    assert calculate_expression("(a + b) * c - a / c", values) == Number((a + b) * c - a / c)


@pytest.mark.parametrize(
    ("words", "inputs", "told"),
    [
        ("how many days between them", (Moment(2020, 2, 28), Moment(2020, 3, 1)), "2 days"),
        ("how many years older", (Moment(1990), Moment(1950, 5, 4)), "40 years"),
        ("which is earlier", (Moment(1990), Moment(1950, 5, 4)), "1950-05-04"),
        ("which is larger", (Number(3), Number(8)), "8"),
        ("the total", (Number(3), Number(8)), "11"),
        ("the average", (Number(3), Number(8)), "5.5"),
        ("the same country", ("Norway", "norway"), "yes"),
        ("the same country", ("Norway", "Chad"), "no"),
        ("what they have in common", (("Oslo", "Rome"), ("Rome",)), "Rome"),
        ("how many", (("Oslo", "Rome"),), "2"),
    ],
)
def test_words_name_a_calculation(words: str, inputs: tuple[Value, ...], told: str) -> None:
    assert write_value(calculate_words(words, inputs)) == told


def test_words_that_name_none_are_unknown() -> None:
    assert "no calculation is known" in write_value(calculate_words("write me a poem", (Number(1),)))
    assert "unknown" in write_value(calculate_words("the same", (Unknown("no value"), Number(1))))


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("It opened on Dec. 10, 1817 at noon.", Moment(1817, 12, 10)), ("on 4 May 1950", Moment(1950, 5, 4)),
        ("the 3rd of June 2001", Moment(2001, 6, 3)), ("in March 1979", Moment(1979, 3)),
        ("2020-02-29", Moment(2020, 2, 29)),
        ("taken in 1842, later", Moment(1842)), ("31 February 2001", Moment(2001)),
        ("about 5,000 men", None), ("", None),
    ],
)  # fmt: skip
def test_dates_are_read_from_texts(text: str, moment: Moment | None) -> None:
    assert read_date(text) == moment


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("about $1.18 trillion", Number(1.18e12)), ("with 35 stores", Number(35, "stores")),
        ("12,500 people", Number(12500, "people")),
        ("CYP3A4 and COVID-19x", None), ("5.1 % of it", Number(5.1, "%")), ("none", None),
    ],
)  # fmt: skip
def test_numbers_are_read_from_texts_with_their_unit(text: str, number: Number | None) -> None:
    assert read_number(text) == number
