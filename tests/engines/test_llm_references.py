from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.engines.llm.replies.cited_records import Records
from sensegraph.types import Passage, Statement

KINDS = ("report", "report", "entity", "entity", "relation", "claim", "chunk", "point")
RECORDS = Records(tuple(Passage(kind, f"{kind}-{n}", "text") for n, kind in enumerate(KINDS, 1)))


def references(text: str) -> list[tuple[str, ...]]:
    return [s.references for s in RECORDS.resolve(text).statements]


@pytest.mark.parametrize(
    ("mark", "expected"),
    [
        ("[Data: Reports (1, 2); Entities (3, +more)]", ("report-1", "report-2", "entity-3")),
        ("[Data: Reports (1), Entities (3, 4)]", ("report-1", "entity-3", "entity-4")),
        ("[data: REPORT (2)]", ("report-2",)),
        ("[Data: Relationships (5)]", ("relation-5",)),
        ("[Data: relation(5)]", ("relation-5",)),
        ("[Data: Sources (7); Points (8); Claims (6)]", ("chunk-7", "point-8", "claim-6")),
        ("[Data: 1, 3]", ("report-1", "entity-3")),
        ("[Data: Records (7)]", ("chunk-7",)),
        ("[Reports (1, 2)]", ("report-1", "report-2")),
        ("[Sources: 7]", ("chunk-7",)),
        ("[1]", ("report-1",)),
        ("[1, 7, +more]", ("report-1", "chunk-7")),
        ("[1][3]", ("report-1", "entity-3")),
        ("[Data: Reports (1)]; [Data: Entities (3)]", ("report-1", "entity-3")),
        ("(Data: Entities (3, 4))", ("entity-3", "entity-4")),
        ("【Data: Reports (1–2)】", ("report-1", "report-2")),
        ("[Data: Entities (3, 3, 3)]", ("entity-3",)),
        ("[Data: Entities (3", ("entity-3",)),
    ],
)
def test_a_reference_is_read_in_any_of_its_forms(mark: str, expected: tuple[str, ...]) -> None:
    cited = RECORDS.resolve(f"Ada wrote it {mark}")
    assert cited.statements == (Statement("Ada wrote it", expected),)
    assert cited.dangling == ()


def test_each_statement_ends_with_its_references_and_keeps_its_punctuation() -> None:
    cited = RECORDS.resolve("## Work\n\nAda wrote [Data: Reports (1)]. Then she *rested* [3], and left. The end")
    assert cited.statements == (
        Statement("## Work\n\nAda wrote.", ("report-1",)),
        Statement(" Then she *rested*,", ("entity-3",)),
        Statement(" and left. The end"),
    )
    assert cited.text == "## Work\n\nAda wrote. Then she *rested*, and left. The end"


def test_a_full_stop_on_both_sides_of_a_reference_is_one() -> None:
    assert RECORDS.resolve("It is so. [1]. Next.").text == "It is so. Next."


def test_a_reference_before_its_text_belongs_to_that_text() -> None:
    assert RECORDS.resolve("[1] Ada wrote").statements == (Statement("Ada wrote", ("report-1",)),)


@pytest.mark.parametrize(
    ("mark", "dangling"),
    [
        ("[Data: Reports (9)]", ("report 9",)),
        ("[Data: Entities (1)]", ("entity 1",)),  # number 1 is a report
        ("[Data: Reports (0, 77)]", ("report 0", "report 77")),
        ("[99]", ("99",)),
        ("[Data: the knowledge of the model]", ("[Data: the knowledge of the model]",)),
    ],
)
def test_a_reference_that_names_no_record_is_removed_and_counted(mark: str, dangling: tuple[str, ...]) -> None:
    cited = RECORDS.resolve(f"Ada wrote {mark}.")
    assert cited.statements == (Statement("Ada wrote."),)
    assert cited.dangling == dangling


def test_what_resolves_is_kept_beside_what_does_not() -> None:
    cited = RECORDS.resolve("Ada wrote [Data: Reports (2, 9)].")
    assert cited.statements == (Statement("Ada wrote.", ("report-2",)),)
    assert cited.dangling == ("report 9",)


def test_at_most_five_ids_of_a_reference_are_kept() -> None:
    records = Records(tuple(Passage("entity", f"e{n}", "") for n in range(1, 10)))
    (statement,) = records.resolve("All [Data: Entities (9, 8, 7, 6, 5, 4, 3)]").statements
    assert statement.references == ("e9", "e8", "e7", "e6", "e5")


@pytest.mark.parametrize("text", ["in [1999] it was", "see [here] or [this (old) page]", "a[i] = b", "", "- [ ] to do"])
def test_other_brackets_are_left_alone(text: str) -> None:
    cited = RECORDS.resolve(text)
    assert cited.text == text
    assert cited.dangling == ()


@given(st.text())
def test_a_text_without_brackets_is_one_statement_unchanged(text: str) -> None:
    text = re.sub(r"[\[\]【】()]", "", text)
    assert RECORDS.resolve(text).statements == ((Statement(text),) if text else ())


@given(st.lists(st.tuples(st.text("ab .,\n#*", min_size=1, max_size=12), st.integers(1, 8)), max_size=6))
def test_joined_statements_are_the_text_without_marks_and_no_reference_is_lost(pieces: list[tuple[str, int]]) -> None:
    text = "".join(f"x{t}y [{n}] z" for t, n in pieces)
    cited = RECORDS.resolve(text)
    assert cited.text == "".join(f"x{t}y z" for t, _ in pieces)
    assert [s.references for s in cited.statements if s.references] == [
        (RECORDS.passages[n - 1].id,) for _, n in pieces
    ]


@given(st.text("[]()Data: Reports12,;+more.\n【】", max_size=80))
def test_nothing_that_a_model_writes_breaks_the_reading(text: str) -> None:
    cited = RECORDS.resolve(text)
    assert RECORDS.resolve("It is so.").statements
    assert {r for s in cited.statements for r in s.references} <= {p.id for p in RECORDS.passages}
    assert all(s.text for s in cited.statements)
