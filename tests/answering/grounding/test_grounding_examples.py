"""What a statement says that its sources do not, and which parts of an answer are cited: worked examples."""

from __future__ import annotations

import pytest

from sensegraph.answering.grounding.checking import count_abstentions, says_no_answer
from sensegraph.answering.grounding.citations import flatten_table_rows, parse_references, split_cited_statements
from sensegraph.answering.grounding.lexical import (
    choose_window,
    find_missing_in_texts,
    find_missing_words,
)


def list_missing(statement: str, evidence: list[str]) -> list[str]:
    return [repr(lack) for lack in find_missing_words(statement, evidence)]


def list_missing_in_texts(statement: str, texts: list[str]) -> list[str]:
    return [repr(lack) for lack in find_missing_in_texts(statement, texts)]


def list_cited(text: str) -> list[str]:
    return [repr(statement) for statement in split_cited_statements(text)]


def count_said(answers: list[tuple[bool, str]]) -> str:
    return repr(count_abstentions(answers))


def read_references(marks: str) -> str:
    return repr(parse_references(marks))


@pytest.mark.parametrize(
    ("statement", "evidence", "expected"),
    [
        (
            "Ada Lovelace hired Charles Babbage in 1842.",
            [
                (
                    "In 1842 Ada Lovelace hired Charles Babbage for 1,200 pounds. She was not rich, "
                    "and paid him in three parts."
                )
            ],
            [],
        ),
        (
            "Charles Babbage hired Ada Lovelace.",
            [
                (
                    "In 1842 Ada Lovelace hired Charles Babbage for 1,200 pounds. She was not rich, "
                    "and paid him in three parts."
                )
            ],
            ["Lack(kind='order', words=('Charles Babbage', 'Ada Lovelace'))"],
        ),
        (
            "Ada Lovelace paid 1,200.00 pounds.",
            [
                (
                    "In 1842 Ada Lovelace hired Charles Babbage for 1,200 pounds. She was not rich, "
                    "and paid him in three parts."
                )
            ],
            ["Lack(kind='number', words=('1.200',))"],
        ),
        (
            "Ada Lovelace paid in 3 parts.",
            [
                (
                    "In 1842 Ada Lovelace hired Charles Babbage for 1,200 pounds. She was not rich, "
                    "and paid him in three parts."
                )
            ],
            [],
        ),
        (
            "She was rich.",
            [
                (
                    "In 1842 Ada Lovelace hired Charles Babbage for 1,200 pounds. She was not rich, "
                    "and paid him in three parts."
                )
            ],
            ["Lack(kind='negation', words=('rich',))"],
        ),
        (
            "Dr. Ada Lovelace paid him half.",
            [
                (
                    "In 1842 Ada Lovelace hired Charles Babbage for 1,200 pounds. She was not rich, "
                    "and paid him in three parts."
                )
            ],
            ["Lack(kind='name', words=('Dr. Ada Lovelace',))", "Lack(kind='words', words=('half',))"],
        ),
        ("Ann told Tom that Ida left.", ["Tom told Ann that Ida left."], ["Lack(kind='order', words=('Ann', 'Tom'))"]),
    ],
)
def test_what_a_statement_says_beyond_its_source(statement: str, evidence: list[str], expected: list[str]) -> None:
    assert list_missing(statement, evidence) == expected


@pytest.mark.parametrize(
    ("statement", "texts", "expected"),
    [
        (
            "Charles Babbage hired Ada Lovelace.",
            [
                (
                    "In 1842 Ada Lovelace hired Charles Babbage for 1,200 pounds. She was not rich, "
                    "and paid him in three parts. The pier cost 5 pounds. The boat cost 7 pounds."
                ),
                "Other text.",
            ],
            ["Lack(kind='order', words=('Charles Babbage', 'Ada Lovelace'))"],
        ),
        (
            "Ann told Tom that Ida left.",
            [
                "Tom told Ann that Ida left.",
                "Ann told Tom that Ida left.",
                "The pier cost 5 pounds. The boat cost 7 pounds.",
                "Anna Berg met Bo Lind. Bo Lind met Cora Dahl.",
            ],
            [],
        ),
    ],
)
def test_what_a_statement_says_beyond_several_texts(statement: str, texts: list[str], expected: list[str]) -> None:
    assert list_missing_in_texts(statement, texts) == expected


@pytest.mark.parametrize(
    ("statement", "text", "expected"),
    [
        ("lamp", "", ""),
    ],
)
def test_the_window_of_a_text_that_speaks_of_a_statement(statement: str, text: str, expected: str) -> None:
    assert choose_window(statement, text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "It is so [1]. And so [2, 3].",
            [
                "CitedStatement(text='It is so', references=(Reference(number=1, kind=''),), more=0)",
                (
                    "CitedStatement(text='And so', references=(Reference(number=2, kind=''), "
                    "Reference(number=3, kind='')), more=0)"
                ),
            ],
        ),
        (
            "No marks. At all.",
            [
                "CitedStatement(text='No marks.', references=(), more=0)",
                "CitedStatement(text='At all.', references=(), more=0)",
            ],
        ),
        (
            "| A | B |\n|---|---|\n| x [1] | y [2] |\n",
            [
                (
                    "CitedStatement(text='x, y', references=(Reference(number=1, kind=''), "
                    "Reference(number=2, kind='')), more=0)"
                )
            ],
        ),
    ],
)
def test_an_answer_is_split_into_cited_statements(text: str, expected: list[str]) -> None:
    assert list_cited(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no table\n| x |\n", "no table\nx\n"),
    ],
)
def test_rows_of_tables_are_lines(text: str, expected: str) -> None:
    assert flatten_table_rows(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I do not know.", True),
    ],
)
def test_an_answer_says_that_there_is_none(text: str, expected: bool) -> None:
    assert says_no_answer(text) == expected


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        (
            [
                (True, "I do not know."),
                (False, "I do not know."),
                (True, "The lamp is lit."),
                (False, "The lamp is lit."),
            ],
            "Abstention(answerable=2, refused=1, unanswerable=2, abstained=1)",
        ),
        (
            [(False, "I find nothing on that in the sources that I was given.")],
            "Abstention(answerable=0, refused=0, unanswerable=1, abstained=1)",
        ),
    ],
)
def test_abstentions_are_counted(answers: list[tuple[object, ...]], expected: str) -> None:
    assert count_said(answers) == expected
