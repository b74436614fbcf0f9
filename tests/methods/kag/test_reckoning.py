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


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("10 - 2 - 3", "5"), ("2 * 3 / 4", "1.5"), ("y - d", "0 years"), ("d - born", "70 years"),
        ("sum(a, b)", "7.5 km"),
        ("max(d, e)", "2020-03-01"), ("MAX(1, 2)", "2"), ("difference(1, 4)", "3"), ("difference(4, 1)", "3"),
        ("same(s, t)", "yes"), ("same(1, 2)", "no"), ("a <= a", "yes"), ("a > a", "no"), ("b > a", "yes"),
        ("a ≤ b", "yes"),
        ("e > d", "yes"), ("e <= d", "no"), ("1 == 1", "yes"), ("1 != 1", "no"), 
        ("y < 2021", "unknown (these are not all numbers, nor all dates)"),
        ("a * 2", "6 km"), ("2 * a", "6 km"), ("−n", "-2"), ("both(t, s)", "rome"),
        ("days(e, d)", "31 days"), ("count(d, e, d)", "2"), ("abs(a - b)", "1.5 km"),
    ],
)  # fmt: skip
def test_signs_bind_as_they_do_in_arithmetic(content: str, told: str) -> None:
    assert write_value(calculate_expression(content, KNOWN)) == told


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("abs(1, 2)", "abs takes one number"), ("difference(1, 2, 3)", "between two values, not 3"),
        ("days(d, e, d)", "two whole dates"), ("days(1, 2)", "a date is needed here"), ("same(1)", "no two values"),
        ("a + n", "units km and none differ"), ("n / a", "a number by km is no known unit"),
        ("b / lb", "km by lb is no known unit"), ("min()", "a value is missing before ')'"),
        ("* 2", "missing before '*'"),
        ("1 < < 2", "missing before '<'"), ("1 + )", "missing before ')'"), ("max(1, 2", "not closed"),
        ("1 $ 2", "'$ 2'"),
        ("d + 1", "not all numbers, nor all dates"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_an_expression_is_named(content: str, why: str) -> None:
    assert why in write_value(calculate_expression(content, KNOWN))


def test_bounds_of_a_calculation_hold_to_the_last_one() -> None:
    assert write_value(calculate_expression("1" + " " * (MOST_CHARACTERS - 1), {})) == "1"
    assert "401 characters" in write_value(calculate_expression("1" + " " * MOST_CHARACTERS, {}))
    deep = MOST_DEPTH - 1
    assert write_value(calculate_expression("(" * deep + "1" + ")" * deep, {})) == "1"
    assert "nested" in write_value(calculate_expression("(" * (deep + 1) + "1" + ")" * (deep + 1), {}))
    assert write_value(calculate_expression("(1) + (1) " * 1 + "+ (1)" * 30, {})) == "32"  # beside is not deep
    after_others = "(1) + (1) + (1) + " + "(" * (deep + 1) + "1" + ")" * (deep + 1)
    assert "nested" in write_value(calculate_expression(after_others, {}))
    assert write_value(calculate_expression("count(s)", {"s": tuple(str(i) for i in range(1_000))})) == "1,000"
    big = Number(1e18)
    assert write_value(calculate_expression("a", {"a": big})) == "1,000,000,000,000,000,000"
    assert "too large" in write_value(calculate_expression("a * 2", {"a": big}))


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (Number(1234.5), "1,234"), (Number(0.12345), "0.1235"), (Number(-3.0, "km"), "-3 km"), (Moment(842), "0842"),
        (Moment(2020, 3), "2020-03"), (Moment(2020, 3, 4), "2020-03-04"), (True, "yes"), (("a", Number(1)), "a, 1"),
    ],
)  # fmt: skip
def test_values_are_written_as_they_are_told(value: Value, told: str) -> None:
    assert write_value(value) == told


@pytest.mark.parametrize(
    ("words", "inputs", "told"),
    [
        ("the difference", (Number(3), Number(8)), "5"), ("either of them", (("a",), ("b",)), "a, b"),
        ("the youngest", (Moment(1990), Moment(1950)), "1990"), ("the smallest", (Number(3), Number(8)), "3"),
        ("the number of towns", (("a", "b"), ("b",)), "2"), ("which is later", ("4 May 1950", "1951"), "1951"),
        ("the sum", (), "unknown (there is nothing to calculate with)"),
        ("the sum", ((),), "unknown (there is nothing to calculate with)"),
        ("the same", ("a",), "unknown (there are no two values to compare)"),
        ("the same", ("a", ()), "unknown (there are no two values to compare)"),
    ],
)  # fmt: skip
def test_words_are_worked_out_over_all_their_values(words: str, inputs: tuple[Value, ...], told: str) -> None:
    assert write_value(calculate_words(words, inputs)) == told


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("2 million in all", Number(2e6)), ("-3.5 degrees", Number(-3.5, "degrees")), ("−1,000 m", Number(-1000, "m")),
        ("7 of them", Number(7)), ("1,000,000 trillion", Number(1e18)), ("2,000,000 trillion", None),
    ],
)  # fmt: skip
def test_a_number_has_its_scale_its_sign_and_a_unit_that_says_something(text: str, number: Number | None) -> None:
    assert read_number(text) == number


@pytest.mark.parametrize("content", ["y - n", "n - y", "d - a"])
def test_a_moment_and_a_number_have_no_difference(content: str) -> None:
    assert isinstance(calculate_expression(content, KNOWN), Unknown)
