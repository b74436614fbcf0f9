"""reStructuredText without its marks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.documents.restructured import parse_restructured_text


def text_of(source: str) -> str:
    return parse_restructured_text("x.rst", source).text


def test_the_first_list_of_fields_is_metadata_and_states_the_time():
    source = "Bridges\n=======\n\n:Author: Ada *Finch*\n:Date: 2024-03-05\n:Tags: a,\n  b\n\nText.\n\n:not: one\n"
    document = parse_restructured_text("x.rst", source)
    assert (document.title, document.time) == ("Bridges", "2024-03-05")
    assert document.metadata == (("author", "Ada Finch"), ("tags", "a, b"))
    assert document.text == "Bridges\n=======\n\nText.\n\nnot: one"


def test_fields_behind_the_text_of_a_document_are_read_without_their_marks():
    document = parse_restructured_text("x.rst", "Bridges\n=======\n\nOf iron.\n\n:Length: 244 m\n:Date: 2024-03-05\n")
    assert document.text == "Bridges\n=======\n\nOf iron.\n\nLength: 244 m\nDate: 2024-03-05"
    assert (document.title, document.metadata, document.time) == ("Bridges", (), "")


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("See :ref:`the plan <plan>`.", "See the plan."),
        ("See `the site <https://x.example>`_ and `that one`__.", "See the site and that one."),
        ("A :class:`~a.Bridge` of **Bob** and *Ada*.", "A a.Bridge of Bob and Ada."),
        ("Write ``*x*`` in Python_.", "Write *x* in Python."),
        ("snake_case and 2 * 3 * 4 stay.", "snake_case and 2 * 3 * 4 stay."),
        (".. _top:\n\n.. comment\n   more\n\nText.", "Text."),
        (".. image:: a.png\n   :alt: a\n\nText.", "Text."),
        (".. toctree::\n   :maxdepth: 2\n\n   one\n\nText.", "Text."),
        (".. note::\n   :class: x\n\n   It *rains*.\n\nText.", "   It rains.\n\nText."),
        (".. note:: It *rains*.\n\nText.", "It rains.\n\nText."),
        (".. code:: python\n   :linenos:\n\n   :a: *b*\n\nText.", "   :a: *b*\n\nText."),
        ("Code::\n\n   :a: *b*\n\n*Text*.", "Code:\n\n   :a: *b*\n\nText."),
    ],
)
def test_marks_are_left_out_and_words_stay(source, text):
    assert text_of(source) == text


LINES = st.lists(st.from_regex(r"[A-Z][a-z]{1,8}( [a-z]{1,8}){0,5}\.", fullmatch=True), min_size=1)


@given(LINES, st.sampled_from(["\n", "\n\n"]))
def test_plain_prose_stays_as_it_is(lines, parted):
    assert text_of(parted.join(lines)) == parted.join(lines)
