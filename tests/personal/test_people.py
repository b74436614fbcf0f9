"""Names of people that one line tells (R28)."""

from __future__ import annotations

import pytest

from sensegraph.personal.finding import (
    Named,
    RepeatedNames,
    find_listed_people,
    find_named_people,
    find_possible_names,
    merge_people,
)
from sensegraph.personal.normalising import normalise_signs
from sensegraph.personal.people import (
    find_people_by_names,
    is_common_word,
    is_family_name,
    is_given_name,
    is_no_persons_name,
    is_part_of_place,
)


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


def people_in(text: str) -> list[str]:
    return [text[start:end] for start, end in find_people_by_names(text)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Dr. Brontz came", ["Brontz"]),
        ("Dr. Brontz Kelvix came", ["Brontz Kelvix", "Kelvix"]),
        ("Dr. Brontz Kelvix Ormond Tarvel Sandix", ["Brontz Kelvix Ormond Tarvel", "Tarvel"]),  # four words
        ("mr brontz kelvix said so", ["brontz kelvix"]),
        ("Dr. brontz went home", ["brontz"]),
        ("Dr. brontz aufstehen", ["brontz"]),  # small letters, and an ending of verbs
        ("Dr. Brontz van", ["Brontz"]),  # no name ends so
        ("Dr. Brontz, Kelvix came", ["Brontz"]),
        ("Dr. table came", []),
        ("Mr Brown came", ["Brown"]),
        ("Mr\nBrontz", ["Brontz"]),
        ("Mr", []),
        ("Dr. 5 Brontz", []),
    ],
)
def test_behind_a_title_stands_a_name_of_four_words_at_most(text: str, names: list[str]) -> None:
    assert people_in(text) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Xylo Okafor left", ["Xylo Okafor", "Okafor"]),
        ("xylo okafor left", ["xylo okafor"]),
        ("XYLO OKAFOR left", ["XYLO OKAFOR", "OKAFOR"]),
        ("Xylo OKAFOR left", []),  # not written alike
        ("Xyz Okafor left", ["Xyz Okafor", "Okafor"]),
        ("Xy Okafor left", []),  # too short to be a name that nobody knows
        ("Xylo, Okafor left", []),
        ("London Okafor", []),
        ("Table Okafor", []),
        ("Council Okafor", []),
        ("spoken okafor", []),
        ("xylten okafor", []),  # in small letters, and an ending of verbs
        ("Xylten Okafor", ["Xylten Okafor", "Okafor"]),
        ("Xylo Brown", []),  # a family name that is a common word
    ],
)
def test_a_word_that_nobody_knows_before_a_family_name_is_the_given_name(text: str, names: list[str]) -> None:
    assert people_in(text) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Emily Brontz Kelvix", ["Emily Brontz", "Brontz"]),  # behind a family name the name is at its end
        ("Emily Anna Brontz came", ["Emily Anna Brontz", "Anna Brontz", "Brontz"]),
        ("Emily A. Okafor came", ["Emily A. Okafor", "Okafor"]),
        ("Emily AB", []),
        ("Emily de la Cruz came", ["Emily de la Cruz", "Cruz"]),
        ("Emily van der Brontz came", ["Emily van der Brontz", "Brontz"]),
        ("Emily van", ["Emily"]),
        ("Anna-Lena Brontz came", ["Anna-Lena Brontz", "Brontz"]),
        ("Emily who came", ["Emily"]),
        ("Emily Of came", ["Emily"]),
        ("Emily Etliche", ["Emily"]),
        ("Rose Hall", []),
        ("BRONTZ XU wrote it", ["BRONTZ XU"]),
        ("Emily Street", []),
        ("Emily street", ["Emily"]),
        ("emily came", []),
        ("emily brontz came", ["emily brontz"]),
        ("EMILY came", []),
        ("Okafor, Emily", ["Emily", "Okafor, Emily", "Emily"]),
        ("Brontz, Emily; Xy", ["Emily", "Brontz, Emily", "Emily"]),
        ("Brontz, Emily went", ["Emily"]),
        ("BRONTZ, Emily went", ["Emily", "BRONTZ, Emily", "Emily"]),
        ("Table, Emily", ["Emily"]),
        ("brontz, Emily", ["Emily"]),
    ],
)
def test_what_stands_around_a_given_name_belongs_to_it(text: str, names: list[str]) -> None:
    assert people_in(text) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Brontz Kelvix wrote it", ["Brontz Kelvix", "Kelvix"]),
        ("Brontz Kelvix zorpte es", ["Brontz Kelvix", "Kelvix"]),  # a German verb of the past
        ("Brontz Kelvix Zorpte es", []),
        ("Brontz Kelvix, wrote it", []),
        ("Brontz, Kelvix wrote it", []),
        ("brontz kelvix wrote it", []),
        ("The Brontz Kelvix wrote it", []),
        ("Written by Brontz Kelvix in May", ["Brontz Kelvix", "Kelvix"]),
        ("Written by Brontz Kelvix", ["Brontz Kelvix", "Kelvix"]),
        ("signed Brontz Kelvix Street", []),
        ("signed Brontz Kelvix street", ["Brontz Kelvix", "Kelvix"]),
        ("signed Brontz London", []),
        ("signed Brontz Table", []),
        ("signed Brontz Council", []),
        ("Seen Brontz Kelvix in May", []),
    ],
)
def test_two_words_that_nobody_knows_are_a_name_beside_what_people_do(text: str, names: list[str]) -> None:
    assert people_in(text) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Emily Okafor came. Okafor left.", ["Emily Okafor", "Okafor", "Okafor"]),
        ("Emily Okafor came. okafor left.", ["Emily Okafor", "Okafor"]),
        ("Emily Xu came. Xu left.", ["Emily Xu"]),  # too short to be found again
        ("Emily Brown came. Brown is a colour.", ["Emily Brown"]),
        ("Emily Brown came. Mr Brown left.", ["Emily Brown", "Brown", "Brown"]),
        ("Mr Brown, Emily Brown", ["Emily Brown", "Brown", "Brown"]),
        ("Emily Brown met Mr Xu at the hall of the town. Brown is a colour.", ["Emily Brown", "Xu", "Mr Xu"]),
    ],
)
def test_the_family_name_of_a_person_is_found_again_where_it_is_no_common_word(text: str, names: list[str]) -> None:
    assert people_in(text) == names


@pytest.mark.parametrize(
    "name",
    ["Zorp Kelvix Table", "Zorp Kelvix Ltd",
     "", "5", "Emily 5", "London", "New York", "San Emily", "The Keeper", "Table", "Xyz", "BRONT", "Harbour Board",
     "Old Table", "Hope Table", "Brontz Table", "Brontz Street", "Okafor Street", "Rose Brown"],
)  # fmt: skip
def test_what_is_a_number_a_place_or_common_words_is_no_name_of_a_person(name: str) -> None:
    assert is_no_persons_name(name)


@pytest.mark.parametrize(
    "name",
    ["Emily", "Okafor", "Brontz", "Xyzq", "BRONTZ", "Grace", "Brontz Okafor", "Paris Okafor", "Brontz Brown",
     "Emily Table", "Emily Board", "Zorp Kelvix", "Harbour Keeper Zorp", "Aberdeen Brown"],
)  # fmt: skip
def test_what_holds_a_name_or_a_word_that_nobody_knows_may_be_a_person(name: str) -> None:
    assert not is_no_persons_name(name)


@pytest.mark.parametrize(
    ("text", "part"),
    [("San Francisco", True), ("is in San Francisco", True),
     ("in San Francisco", True), ("by Lake Francisco", True), ("in san Francisco", False), ("Francisco", False),
     ("the keeper Francisco", False), ("San is where Francisco", False), ("San            Francisco", False)],
)  # fmt: skip
def test_a_word_behind_a_saint_or_a_lake_is_part_of_a_place(text: str, part: bool) -> None:
    assert is_part_of_place(text, text.index("Francisco")) is part


@pytest.mark.parametrize(
    ("words", "common"),
    [
        ("keeper colour neighbourhood centre abend stiftung etliche unserer angesichts", True),
        ("hafenverwaltung fischmarkt zorpelhaus", True),  # German words that end with another
        ("zorpische zorplicher zorpigen", True),  # adjectives by their ends
        ("xqzwige", False),  # too short to be one
        ("xqzigen", False),
        ("xqzwigen", True),
        ("zorpamte zorpelzzamt", False),  # no end of three letters makes one
        ("brontzül kelvé", False),
        ("rosenbaum zusammenland", False),  # as names end
        ("brontz emily okafor zorpisch", False),
    ],
)
def test_a_common_word_is_one_of_english_or_german_or_made_as_german_makes_them(words: str, common: bool) -> None:
    assert {word: is_common_word(word) for word in words.split()} == dict.fromkeys(words.split(), common)


def test_a_name_with_a_hyphen_is_given_where_both_parts_are_and_of_a_family_by_its_last_part() -> None:
    assert [is_given_name(w) for w in ("anna", "anna-lena", "anna-brontz", "brontz-anna", "brontz")] == (
        [True, True, False, False, False]
    )
    assert [is_family_name(w) for w in ("okafor", "brontz-okafor", "okafor-brontz", "okafor's", "okafor’s")] == (
        [True, True, False, True, True]
    )


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Emily Xyz", ["Emily Xyz", "Xyz"]),  # three letters are a name, two are not
        ("Emily Ng", ["Emily"]),
        ("emily table", []),
        ("Emily Table", ["Emily Table"]),  # behind a name that is nothing else, a common word may be one
        ("Rose Table", []),
        ("Rose Brontz", ["Rose Brontz", "Brontz"]),
        ("Rose brontz", []),
        ("Bo came", []),  # too short to be found alone
        ("Ann came", ["Ann"]),
        ("Emily B. C. Okafor", ["Emily B. C. Okafor", "Okafor"]),
        ("Emily B. C. D. E. Okafor", ["Emily"]),  # three words behind a name at most
        ("Emily B. C. D. Okafor", ["Emily"]),
        ("the         Brontz Kelvix wrote", []),  # an article within twelve characters
        ("the          Brontz Kelvix wrote", ["Brontz Kelvix", "Kelvix"]),
        ("Emily Brown. Mrs. x Brown", ["Emily Brown", "Brown"]),
        ("Emily Brown came, she was with Mrs Brown", ["Emily Brown", "Brown", "Brown"]),
        ("signed Brontz Aberdeen", []),
        ("signed Brontz Afrika", []),
        ("signed Brontz Agosto", []),
        ("signed Brontz Brontz", ["Brontz Brontz", "Brontz", "Brontz"]),
        ("Brontz Kelvix argued", ["Brontz Kelvix", "Kelvix"]),
        ("Brontz Kelvix antwortet", ["Brontz Kelvix", "Kelvix"]),
        ("Sir", []),
        ("Sir Brontz", ["Brontz"]),
        ("Dr. B Kelvix", ["B Kelvix", "Kelvix"]),
        ("Dr. Brontz Table", ["Brontz"]),
        ("Dr. B Kelvix Zorp Xylo Brontz", ["B Kelvix Zorp Xylo", "Xylo"]),  # four words of a name
        ("Dr. van der Brontz de Kelvix", ["van der Brontz de Kelvix", "Kelvix"]),
        ("Dr. Brontz. Kelvix", ["Brontz"]),
        ("Dr. van", []),
        ("Dr", []),
        ("Brontz Kelvix", []),
        ("Emily Brontz-Okafor", ["Emily Brontz-Okafor", "Brontz-Okafor"]),
    ],
)
def test_how_far_a_name_reaches(text: str, names: list[str]) -> None:
    assert people_in(text) == names


def test_a_family_name_alone_stands_for_the_whole_name() -> None:
    text = "Emily Okafor came. Okafor left. Then Emily left."
    found = {(text[n.start : n.end], n.name) for n in find_listed_people(normalise_signs(text))}
    assert found == {("Emily Okafor", "Emily Okafor"), ("Okafor", "Emily Okafor"), ("Emily", "Emily")}
