"""The marks of a report's text lead to records, and records back to marks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.graphs.interchange.tables import Number, Resolver, write_marks
from sensegraph.types import Source

IDS: dict[Number, str] = {
    **{("entities", n): f"e{n}" for n in range(5)},
    **{("relationships", n): f"r{n}" for n in range(5)},
    ("covariates", 0): "k0",
    ("communities", 7): "c7",
    ("text_units", 1): "u1",
}
NUMBERS = {name: number for number, name in IDS.items()}


def resolver() -> Resolver:
    return Resolver(IDS, lambda name: [Source(name, 0, 1), Source(name, 1, 2)])


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("Plain.", [("Plain.", ())]),
        ("A [Data: Entities (1)].", [("A.", ("e1",))]),
        ("A. [Data: Entities (1)]", [("A.", ("e1",))]),
        ("A [Data: Entities (1, 2, +more); Relationships (3)]. B.", [("A.", ("e1", "e2", "r3")), (" B.", ())]),
        ("A [Data: Claims (0)][Data: Reports (7)], B", [("A,", ("k0", "c7")), (" B", ())]),
        ("A [Data: Sources (1); Entity (0)]!", [("A!", ("u1", "e0"))]),
        ("A [Data: relationships (1,1)].", [("A.", ("r1",))]),
        ("", []),
    ],
)
def test_a_text_is_cut_after_its_marks(text: str, statements: list[tuple[str, tuple[str, ...]]]):
    assert [(s.text, s.references) for s in resolver().statements(text)] == statements


def test_numbers_that_no_record_bears_are_left_out_and_listed():
    made = resolver()
    (statement,) = made.statements("A [Data: Entities (1, 99); Dates (3)].")
    assert statement.references == ("e1",)
    assert made.dangling == ["Entities 99", "Dates 3"]


def test_references_to_what_is_not_near_are_left_out_and_listed():
    made = resolver()
    (statement,) = made.statements("A [Data: Entities (1, 2)].", lambda name: name != "e2")
    assert statement.references == ("e1",)
    assert made.foreign == ["Entities 2"]


def test_a_statement_rests_on_the_first_spans_of_all_its_records_before_the_second_of_any():
    (statement,) = resolver().statements("A [Data: Entities (1, 2)].")
    assert [(s.chunk, s.start) for s in statement.sources] == [("e1", 0), ("e2", 0), ("e1", 1), ("e2", 1)]


def test_a_statement_keeps_eight_spans_at_most():
    (statement,) = resolver().statements("A [Data: Entities (0, 1, 2, 3, 4); Relationships (0, 1, 2)].")
    assert len(statement.sources) == 8


def mark(names: list[str]) -> str:
    tables = [("Entities", "e"), ("Relationships", "r")]
    groups = [
        f"{t} ({', '.join(n[1:] for n in names if n[0] == k)})" for t, k in tables if any(n[0] == k for n in names)
    ]
    return f" [Data: {'; '.join(groups)}]"


WORDS = st.text("abc ,é", min_size=1, max_size=12).map(lambda s: f"x{s}x")
CITED = st.lists(st.sampled_from([n for n in NUMBERS if n[0] in "er"]), min_size=1, max_size=5, unique=True)


@given(st.lists(st.tuples(WORDS, CITED), max_size=5), WORDS)
def test_a_text_with_marks_is_written_again_as_it_was(parts: list[tuple[str, list[str]]], tail: str):
    text = " ".join(f"{words}{mark(names)}." for words, names in parts) + f" {tail}"
    made = resolver()
    assert write_marks(made.statements(text), NUMBERS) == text
    assert not made.dangling
