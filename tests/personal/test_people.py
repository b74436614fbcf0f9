"""Names of people that one line tells (R28)."""

from __future__ import annotations

import pytest

from sensegraph.personal.finding import Named, RepeatedNames, find_named_people, find_possible_names, merge_people
from sensegraph.personal.people import find_people_by_names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Then Mr. Brontz spoke to Mrs O'Brien and Dr. Xylo van der Berg.", ["Brontz", "O'Brien", "Xylo van der Berg"]),
        ("It was A. R. Lefèvre who wrote, not J.K. Kowalska-Berg.", ["A. R. Lefèvre", "J.K. Kowalska-Berg"]),
        ("Author: Müller, Emily\nPages: 12", ["Emily Müller"]),
        ("From: Ngozi Okafor, Sven Berg\nSubject: Harbour Board", ["Ngozi Okafor", "Sven Berg"]),
        ("It is open. Present: Omar Haddad; nobody else at Acme Corporation", ["Omar Haddad"]),
        ("It is open. Present: Omar Haddad, Ada Quill", ["Omar Haddad"]),
        ("The U.S. Army and the U. K. Parliament met at 5 P. M. Monday", []),
        ("Most members of the Harbour Board were against the plan.", []),
    ],
)
def test_titles_initials_and_labels_tell_names(text: str, names: list[str]) -> None:
    found = sorted(find_named_people(text), key=lambda n: n.start)
    assert [n.name for n in found] == names
    assert all(text[n.start : n.end].replace(",", "").split() for n in found)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Then Emily left.", ["Emily"]),  # alone, behind a word that is no part of her name
        ("We saw San Emily there.", []),
        ("It stands in Emily Street now.", []),
        ("They met Emily OKAFOR here.", ["Emily OKAFOR", "OKAFOR"]),
        ("They met EMILY Okafor here.", ["EMILY Okafor", "Okafor"]),
        ("They met emily OKAFOR here.", ["emily OKAFOR", "OKAFOR"]),
        ("They met EMILY OKAFOR here.", ["EMILY OKAFOR", "OKAFOR"]),
        ("They met EMILY okafor here.", []),
    ],
)
def test_a_family_name_is_written_like_the_given_name_or_in_other_capitals(text: str, names: list[str]) -> None:
    assert [text[start:end] for start, end in find_people_by_names(text)] == names


def test_of_two_names_at_one_place_the_longer_is_taken_else_the_known_one() -> None:
    known = [Named(3, 9, "Emily Müller"), Named(20, 24, "Omar")]
    longer, same, apart = Named(0, 9, "J. Müller"), Named(20, 24, "Another"), Named(30, 35, "Chen")
    assert merge_people(iter([longer, same, apart]), known) == [longer, known[1], apart]


def test_runs_of_capitals_may_be_names_and_all_words_where_nothing_is_written_large() -> None:
    assert [n.name for n in find_possible_names("Did Ada Quill, of Ulm, go?")] == [
        "Did",
        "Ada",
        "Quill",
        "Ulm",
        "Did Ada",
        "Ada Quill",
        "Did Ada Quill",
    ]
    assert "ada quill" in [n.name for n in find_possible_names("did ada quill go")]


def test_names_are_known_where_they_are_said_again() -> None:
    text = "J. K. O'Brien-Berg met Ada Quill."
    again = RepeatedNames.of(
        text, [Named(0, 18, "J. K. O'Brien-Berg"), Named(23, 32, "Ada Quill"), Named(23, 26, "Ada Quill")]
    )

    def said(text: str, loose: bool = False) -> list[tuple[str, str]]:
        return [(text[s.start : s.end], s.value) for s in again.spans(text, loose=loose)]

    assert said("by Ada  Quill, J. K. O'Brien-Berg") == [
        ("Ada  Quill", "ada quill"),
        ("J. K. O'Brien-Berg", "j. k. o'brien-berg"),
    ]
    assert said("ada-quill/JK.txt ADA QUILL adaquill Ada of Quill") == []
    assert said("ada-quill/notes ADA_QUILL", loose=True) == [("ada-quill", "ada quill"), ("ADA_QUILL", "ada quill")]
    assert RepeatedNames({}).spans("Ada Quill") == []
