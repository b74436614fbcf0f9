"""Noun phrases, the names that documents bear, plurals, tables told in words, and the way back to a source."""

from __future__ import annotations

import pytest

from sensegraph.language.collapsing import collapse_blanks, locate_in_source
from sensegraph.language.noun_phrases import (
    OneWord,
    Reader,
    find_aliases,
    find_commonest_type,
    find_headings,
    find_lead_name,
    list_title_names,
    pluralize,
)
from sensegraph.language.tables import is_header, tell_row, tell_ruled_rows


def read_phrases(text: str, one_word: OneWord) -> tuple[str, ...]:
    return Reader(one_word).phrases(text)


def lead_both_ways(text: str) -> tuple[str, list[int], list[int]]:
    """The collapsed text, where each place of the source is in it, and where each of its places is in the source."""
    found = collapse_blanks(text)
    there = [found.from_source(i) for i in range(len(text) + 1)]
    return found.text, there, [found.to_source(i, i)[0] for i in range(len(found.text) + 1)]


def locate(source: str, start: int, read: str, part: str) -> tuple[int, int]:
    first = read.index(part)
    return locate_in_source(source, start, read, first, first + len(part))


@pytest.mark.parametrize(
    ("text", "one_word", "expected"),
    [
        (
            "The old lighthouse keeper wrote a long letter to the harbour council.",
            "none",
            ("lighthouse keeper", "harbour council"),
        ),
        ("Machine learning models need training data.", "none", ("machine learning models", "training data")),
        (
            "Ada Finch and Tom Reeve bought 3D printers in March 2020.",
            "none",
            ("ada finch", "tom reeve", "3d printers"),
        ),
        (
            (
                "Das Küstenfeuer leuchtet, und die Hafenverwaltung zahlt dem alten "
                "Leuchtturmwärter nichts für die Arbeit."
            ),
            "none",
            ("küstenfeuer", "hafenverwaltung", "alten leuchtturmwärter"),
        ),
        ("La vieja casa del puerto y los barcos de pesca son muy grandes para el pueblo.", "proper", ("vieja casa",)),
        ("港务委员会决定建造新码头工程和航道", "none", ()),
        ("東京タワーは高い建物です", "none", ("東京タワー",)),
        ("We saw the United States Coast Guard Cutter Eagle Bell there.", "none", ()),
        (
            "Fishing boats left. Painted boats stayed; the painted boats left",
            "none",
            ("fishing boats", "painted boats"),
        ),
        ("Whose quickly built family boats are these?", "none", ("family boats",)),
        ("Gesang x1 Xy", "none", ("gesang x1 xy",)),
        ("und die Hafenverwalt, die Hafenverwal", "none", ("hafenverwalt", "hafenverwal")),
        ("мир дом луна", "none", ()),
        ("мир мост луна день", "none", ("мост луна", "луна день")),
        ("1A 2b 3CD boats", "none", ("3cd boats",)),
        ("Der Hafenplatz und die Leuchtturm", "none", ("hafenplatz", "leuchtturm")),
        ("und die Hafenplatz der", "none", ("hafenplatz",)),
        ("the harbour carries boats", "none", ()),
        ("港湾局", "none", ("港湾局",)),
    ],
)
def test_phrases_are_runs_of_words_that_name_things(text: str, one_word: str, expected: tuple[object, ...]) -> None:
    assert read_phrases(text, one_word) == expected


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("(x)", ["(x)"]),
        (" , x", [", x"]),
    ],
)
def test_a_title_names_itself_without_what_explains_it(title: str, expected: list[str]) -> None:
    assert list_title_names(title) == expected


@pytest.mark.parametrize(
    ("opening", "expected"),
    [
        ("Ada Finch was a keeper.", "Ada Finch"),
        ("It was a dark night.", ""),
        ("Ada Bell Cat Dan Eve Fin Gus Hal is a name.", "Ada Bell Cat Dan Eve Fin Gus Hal"),
    ],
)
def test_an_opening_speaks_of_its_subject(opening: str, expected: str) -> None:
    assert find_lead_name(opening) == expected


@pytest.mark.parametrize(
    ("opening", "expected"),
    [
        ("Ada Finch (3 May 1820 – 1 June 1880) was", ["Ada Finch"]),
        ("Ada Finch, known as Addie Lamp, was a keeper", []),
        (
            "Ada Mary Finch (born May 3, 1820), better known as Mary Lamp, was",
            ["Ada Mary Finch", "Ada Finch", "Mary Lamp"],
        ),
        ("formerly known as Bell in Oslo", ["Bell"]),
        (
            "One Two Three Four Five Six Seven Eight (born 3 May 1820) was",
            ["One Two Three Four Five Six Seven Eight", "One Eight"],
        ),
        ("One Two Three Four Five Six Seven Eight Nine (born 3 May 1820) was", []),
        (
            "Ada Finch, also known as One Two Three Four Five Six Seven Eight, was",
            ["One Two Three Four Five Six Seven Eight"],
        ),
    ],
)
def test_an_opening_tells_other_names(opening: str, expected: list[str]) -> None:
    assert find_aliases(opening) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# One two three four five six seven eight\n", ["One two three four five six seven eight"]),
    ],
)
def test_headings_are_marked_or_stand_alone(text: str, expected: list[str]) -> None:
    assert find_headings(text) == expected


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("organization", "organizations"),
        ("human", "humans"),
        ("boy", "boys"),
        ("analysis", "analyses"),
        ("work of art", "works of art"),
        ("other", ""),
        ("city/town", "cities/towns"),
        ("fish", "fish"),
        ("men", "men"),
    ],
)
def test_types_are_put_in_the_plural(kind: str, expected: str) -> None:
    assert pluralize(kind) == expected


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ({"b": 2, "a": 2, "c": 1}, "a"),
    ],
)
def test_the_commonest_type_is_the_first_by_name_of_several(counts: dict[str, int], expected: str) -> None:
    assert find_commonest_type(counts) == expected


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (["Name", "Name"], False),
        (["Name", ""], True),
        (["Name", "", ""], False),
        (["Ada", "1815"], True),
        (["Ada", "18"], False),
        (["xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"], False),
        (["xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"], True),
    ],
)
def test_a_header_has_short_names_that_differ_and_no_numbers_but_years(row: list[str], expected: bool) -> None:
    assert is_header(row) == expected


@pytest.mark.parametrize(
    ("columns", "cells", "expected"),
    [
        (["Height (m)"], ["1.63"], "Height: 1.63 m."),
        ([], ["a."], "a."),
    ],
)
def test_a_row_is_told_behind_the_names_of_its_columns(columns: list[str], cells: list[str], expected: str) -> None:
    assert tell_row(columns, cells) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("| A | B |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n", {(22, 29): "A: 1; B: 2.", (32, 39): "A: 3; B: 4."}),
    ],
)
def test_the_rows_of_markdown_are_told(text: str, expected: dict[tuple[object, ...], str]) -> None:
    assert tell_ruled_rows(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\t\tb\n\n\n\nc\nd", ("a b\n\nc\nd", [0, 1, 2, 2, 3, 4, 5, 5, 5, 6, 7, 8], [0, 1, 3, 4, 5, 8, 9, 10, 11])),
        ("", ("", [0], [0])),
    ],
)
def test_white_space_collapses_and_leads_back(text: str, expected: tuple[object, ...]) -> None:
    assert lead_both_ways(text) == expected


@pytest.mark.parametrize(
    ("source", "start", "read", "part", "expected"),
    [
        ("signifi-\ncantly so", 0, "significantly  so", "significantly", (0, 15)),
        ("One.\nthe a-\nb c", 0, "One.\nthe ab  c", "ab", (9, 13)),
        ("a-\nb", 0, "ab  ", "  ", (2, 4)),
        ("a-\nbb a", 0, "abb   a", "bb", (3, 5)),
        ("xx a b c", 3, "a b c", " b ", (4, 7)),
    ],
)
def test_what_moved_is_found_in_its_source(
    source: str, start: int, read: str, part: str, expected: tuple[object, ...]
) -> None:
    assert locate(source, start, read, part) == expected
