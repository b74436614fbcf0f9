"""How a written answer is read as statements with references (N94)."""

from hypothesis import example, given
from hypothesis import strategies as st

from sensegraph.answering.grounding import citations
from sensegraph.answering.grounding.citations import (
    CitedStatement,
    Reference,
    flatten_table_rows,
    parse_references,
    split_cited_statements,
)

MARKS = st.lists(st.integers(1, 99), min_size=1, max_size=4, unique=True)


def marks(*numbers: int) -> tuple[Reference, ...]:
    return tuple(Reference(n) for n in numbers)


def test_a_mark_belongs_to_the_sentence_before_it() -> None:
    found = split_cited_statements("Oslo is large. [1] Bergen is wet. [2][3] Nobody says more.")
    assert found == (
        CitedStatement("Oslo is large.", marks(1)),
        CitedStatement("Bergen is wet.", marks(2, 3)),
        CitedStatement("Nobody says more."),
    )


def test_only_the_last_of_several_sentences_has_the_mark() -> None:
    assert [s.references for s in split_cited_statements("Oslo is large. Bergen is wet [4].")] == [(), marks(4)]


def test_a_part_of_a_sentence_with_marks_of_its_own_is_a_statement() -> None:
    found = split_cited_statements("Ada says that it rains [1], while Bo holds that it snows. [2]")
    assert [s.text for s in found] == ["Ada says that it rains", "while Bo holds that it snows."]


def test_the_marks_of_the_papers_name_kinds_and_lists_that_go_on() -> None:
    (found,) = split_cited_statements("Ada owns it [Data: Reports (3); Entities (5, 7, +more)].")
    assert found.references == (Reference(3, "reports"), Reference(5, "entities"), Reference(7, "entities"))
    assert found.more == 1


def test_headings_lists_and_emphasis_are_no_part_of_a_statement() -> None:
    text = "# Towns\n\n**On towns.** Oslo is **large**. [1]\n\n- Bergen is _wet_ [2]\n1. Moss is small.\n**Weather**\n"
    assert [s.text for s in split_cited_statements(text)] == [
        "On towns.", "Oslo is large.", "Bergen is wet", "Moss is small."
    ]  # fmt: skip


def test_a_line_ends_a_statement_even_behind_an_abbreviation() -> None:
    assert [s.text for s in split_cited_statements("Most is by Ada B.\n\nBo says so. [1]")] == [
        "Most is by Ada B.",
        "Bo says so.",
    ]


def test_a_row_of_a_table_is_a_statement_and_what_heads_its_columns_is_none() -> None:
    table = (
        "| name | who |\n|:---|---:|\n| Marley [1] | dead |\n| Scrooge | a miser [2][3] |\n\nNobody else is named. [4]"
    )
    assert split_cited_statements(table) == (
        CitedStatement("Marley, dead", marks(1)),
        CitedStatement("Scrooge, a miser", marks(2, 3)),
        CitedStatement("Nobody else is named.", marks(4)),
    )


def test_sentences_in_the_cells_of_a_row_keep_their_own_marks() -> None:
    table = "name | what\n--|--\nMarley | He is dead. [1] | He walks. [2]\n"
    assert split_cited_statements(table) == (
        CitedStatement("Marley, He is dead.", marks(1)),
        CitedStatement("He walks.", marks(2)),
    )


def test_rows_without_heads_and_bars_in_cells_are_read_and_bars_in_sentences_left() -> None:
    assert flatten_table_rows("| a \\| b | c<br>d |\n|  |\nIt is x | y.\n- - -") == "a | b, c, d\n\nIt is x | y.\n- - -"


def test_a_mark_in_chinese_text_is_read() -> None:
    assert split_cited_statements("奥斯陆很大。[1]卑尔根多雨。[2]")[1] == CitedStatement("卑尔根多雨。", marks(2))


def test_nothing_says_nothing() -> None:
    assert split_cited_statements("") == split_cited_statements("[1]")[1:] == ()


@given(MARKS)
def test_every_way_to_write_numbers_is_read_alike(numbers: list[int]) -> None:
    together = f"[{', '.join(map(str, numbers))}]"
    apart = "".join(f"[{n}]" for n in numbers)
    assert parse_references(together) == parse_references(apart) == (marks(*numbers), 0)


def has_rule(text: str) -> bool:
    """Whether a line is a table's rule: the heads of columns above it are no statement."""
    return any(map(citations._RULE.fullmatch, text.split("\n")))


@example("[*1]")
@given(st.text(alphabet="Ab. [1]\n*|-", max_size=40).filter(lambda text: not has_rule(text)))
def test_no_text_is_too_odd_and_references_are_never_invented(text: str) -> None:
    found = split_cited_statements(text)
    assert sum("A" in s.text for s in found) >= ("A" in text)
    assert sum(len(s.references) for s in found) <= text.count("[")
    assert all("[1]" not in s.text for s in found)
