"""The values that everything hands about: what is left out of one is empty, and none can be changed."""

from __future__ import annotations

import runpy
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

import pytest

import sensegraph
from sensegraph import extractions, questions, trials, types
from sensegraph.errors import InputError
from sensegraph.extractions import CitedFigure, Document
from sensegraph.questions import Scope

NOT_EMPTY = {
    "ExtractedRelation.directed": True,
    "ExtractedRelation.strength": 1.0,
    "Relation.directed": True,
    "Membership.strength": 1.0,
    "Scope.between": ("", ""),
    "Scope.unknown": "include",
    "Trial.low": 1,
    "Trial.high": 10,
    "Trial.tie": True,
}


@pytest.fixture(scope="module")
def classes() -> list[type[Any]]:
    """The classes of values, by what their files say now."""
    found: dict[str, type[Any]] = {}
    for module in (types, extractions, trials, questions):
        assert module.__file__
        own = runpy.run_path(module.__file__, run_name="read_again")
        found |= {
            n: c for n, c in own.items() if is_dataclass(c) and isinstance(c, type) and c.__module__ == "read_again"
        }
    assert len(found) > 40
    return list(found.values())


def test_what_is_left_out_of_a_value_is_empty(classes: list[type[Any]]):
    left_out = {
        f"{c.__name__}.{f.name}": f.default
        for c in classes
        for f in fields(c)
        if f.default is not MISSING and (f.default or f.default is None)
    }
    assert left_out == {
        **NOT_EMPTY,
        **dict.fromkeys(("Citation.page", "Citation.figure", "Verdict.winner", "Inquiry.counted", "WordCounts.name")),
    }


def test_no_value_can_be_changed(classes: list[type[Any]]):
    assert len(classes) > 40
    assert [c for c in classes if not (c.__dataclass_params__.frozen and "__slots__" in vars(c))] == []


def test_usages_add_up_and_are_taken_away_field_by_field():
    one, two = types.Usage(*range(1, 10)), types.Usage(*range(20, 2, -2))
    assert one + two == types.Usage(21, 20, 19, 18, 17, 16, 15, 14, 13)
    assert two - one == types.Usage(19, 16, 13, 10, 7, 4, 1, -2, -5)


def test_up_to_five_earlier_questions_are_searched_with_the_latest_first():
    turns = tuple(questions.Turn(f"q{i}", f"a{i}") for i in range(7))
    assert questions.Question("now", turns).sought == "now\nq6\nq5\nq4\nq3\nq2"
    assert questions.Question("now", turns[:1]).sought == "now\nq0"
    assert questions.Question("now").sought == "now"


@pytest.mark.parametrize(
    ("text", "pages"),
    [("", ()), ("one", ()), ("one\ftwo", (0, 4)), ("\fone", (0, 1)), ("one\f \n", (0,)), ("a\f\fb\f", (0, 2, 3))],
)
def test_pages_begin_behind_form_feeds_but_for_empty_ones_at_the_end(text: str, pages: tuple[int, ...]):
    assert extractions.Document("a", text).pages == pages


@pytest.mark.parametrize(
    ("document", "title", "heading"),
    [("a_b.txt", "", "a b"), ("a_b.txt", "T", "T"), ("2019", "", ""), ("x/a_b.md", "", "x/a b"), ("a_b", "", "")],
)
def test_a_chunk_is_headed_by_its_title_or_the_name_of_its_file(document: str, title: str, heading: str):
    assert extractions.Chunk("c", document, 0, 1, 1, "a", title).heading == heading


def test_figures_stand_where_the_text_tells_of_them_with_their_page_where_it_is_known():
    told = ("A lamp.", "\ufffc figure 1, page 12, described by seer-1", "It is red.")
    text = "\n".join([*told, "\ufffc figure 23, described by seer 2", "It is lit.", ""])
    first, second = text.index("\ufffc"), text.rindex("\ufffc")
    found = Document("a", text).figures
    assert [(f.head, f.start, f.page, f.figure) for f in found] == [
        (first, text.index("It is red"), 12, CitedFigure(1, "seer-1")),
        (second, text.index("It is lit"), None, CitedFigure(23, "seer 2")),
    ]
    assert [f.write_head() for f in found] == [text[f.head : f.start] for f in found]
    assert Document("a", "A lamp.").figures == ()


@pytest.mark.parametrize("between", [("2015",), ("2015", 2018), (2015, "2018"), "2015", ("1", "2", "3"), None])
def test_a_period_is_two_texts(between: object):
    with pytest.raises(InputError, match="between is two moments such as"):
        Scope(between=between)  # type: ignore[arg-type]


def test_values_with_many_fields_show_themselves_shortened():
    kinds = [
        kind for kind in vars(types).values() if isinstance(kind, type) and issubclass(kind, extractions.Shortened)
    ]
    assert {kind.__name__ for kind in kinds} > {"Cluster", "Document", "Evidence"}
    assert [kind.__name__ for kind in kinds if kind.__repr__ is not extractions.Shortened.__repr__] == []


def test_public_names_are_found_where_they_stand_when_they_are_asked_for():
    assert sensegraph.__getattr__("errors") is sensegraph.errors
    assert sensegraph.__getattr__("SensegraphError") is sensegraph.errors.SensegraphError
    assert sensegraph.__getattr__("Answer") is types.Answer
    assert sensegraph.__getattr__("Scope") is questions.Scope
    assert set(sensegraph.__all__) < set(dir(sensegraph))
    with pytest.raises(AttributeError, match="module 'sensegraph' has no attribute 'answer'"):
        sensegraph.__getattr__("answer")
