"""How values show themselves, to the letter: answers as text and as HTML, others as a prompt of Python prints them."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

import pytest

from sensegraph.display import format_span, shorten_value
from sensegraph.extractions import CitedFigure, Document
from sensegraph.types import Answer, Citation

CITED = Citation(1, "a<b>.txt", 4, 9, "So & so")


@pytest.mark.parametrize(
    ("page", "figure", "shown"),
    [
        (None, None, "a.txt:4-9"),
        (3, None, "a.txt, p. 3, 4-9"),
        (None, CitedFigure(2, "seer-1"), "a.txt, figure 2 (described by seer-1), 4-9"),
        (3, CitedFigure(2, "seer-1"), "a.txt, p. 3, figure 2 (described by seer-1), 4-9"),
    ],
)
def test_a_span_is_shown_with_its_page_and_figure_where_it_has_them(page: Any, figure: Any, shown: str) -> None:
    assert format_span("a.txt", 4, 9, page, figure) == shown


def test_an_answer_is_printed_with_each_source_and_its_quote() -> None:
    assert str(Answer("So it is.")) == "So it is."
    assert str(Answer("So it is. [1]", (CITED,))) == (
        "So it is. [1]\n\nSources\n[1] a<b>.txt:4-9 “So & so”"
    )  # fmt: skip


def test_in_a_notebook_an_answer_is_paragraphs_with_sources_and_notes_to_unfold_all_escaped() -> None:
    assert Answer("One <1>.\n\n \n\nTwo.")._repr_html_() == (
        '<div class="sensegraph-answer"><p>One &lt;1&gt;.</p><p>Two.</p></div>'
    )
    assert Answer("So. [1]", (CITED,), notes=("a < b",))._repr_html_() == (
        '<div class="sensegraph-answer"><p>So. [1]</p><details open><summary>1 source</summary><ol>'
        '<li value="1"><q>So &amp; so</q> <code>a&lt;b&gt;.txt:4-9</code></li></ol></details>'
        "<details><summary>notes</summary><ul><li>a &lt; b</li></ul></details></div>"
    )


@pytest.mark.parametrize(
    ("count", "begins"),
    [(2, "<details open><summary>2 sources"), (5, "<details open><summary>5 sources"), (6, "<details><summary>6 s")],
)
def test_more_than_five_sources_are_folded(count: int, begins: str) -> None:
    cited = tuple(Citation(n + 1, "a.txt", 0, 1, "S") for n in range(count))
    assert begins in Answer("So.", cited)._repr_html_()


@dataclass(frozen=True)
class Record:
    name: str
    size: int = 0
    parts: tuple[str, ...] = ()
    more: list[str] = field(default_factory=list)
    secret: str = field(default="", repr=False)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Record("a"), "Record(name='a')"),
        (Record("a", 1, ("x",), ["y"], "hidden"), "Record(name='a', size=1, parts=('x',), more=['y'])"),
        (Record("", False), "Record(name='', size=False)"),  # a flag is not the usual number, though it equals it
        (Record, repr(Record)),
        ("x" * 60, repr("x" * 60)),
        ("x" * 61, repr("x" * 59 + "…")),
        ({"a": 1, "b": "x" * 61, "c": 3}, f"{{'a': 1, 'b': '{'x' * 59}…', 'c': 3}}"),
        ({n: n for n in range(1_004)}, "{0: 0, 1: 1, 2: 2, … 1,001 more}"),
        ([], "[]"),
        ((), "()"),
        ((1,), "(1,)"),
        ((1, 2, 3), "(1, 2, 3)"),
        ([1, 2, 3, 4], "[1, 2, 3, … 1 more]"),
        ((1, 2, 3, 4), "(1, 2, 3, … 1 more)"),
        ([Record("a")], "<1 Record>"),
        ((Record("a"),) * 1_200, "<1,200 Record>"),
        (deque([1, 2]), "<deque of 2>"),
        ({5}, "<set of 1>"),
        (b"ab", "b'ab'"),
        (None, "None"),
    ],
)
def test_a_prompt_shows_what_is_not_as_usual_and_of_what_is_long_a_part(value: Any, shown: str) -> None:
    assert shorten_value(value) == shown


def test_a_document_shows_its_text_shortened() -> None:
    assert repr(Document("a", "x" * 100, metadata=(("year", 2020),))) == (
        f"Document(id='a', text='{'x' * 59}…', metadata=(('year', 2020),))"
    )
