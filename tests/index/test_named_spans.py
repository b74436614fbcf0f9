"""Where a text names entities."""

from __future__ import annotations

import pytest

from sensegraph.index.browse.documents import find_named_spans
from sensegraph.types import Entity


def entity(name: str, frequency: int = 1, *aliases: str) -> Entity:
    return Entity(name, name, "thing", "", (), (), frequency, 0, aliases)


def told(text: str, *entities: Entity) -> list[tuple[str, str]]:
    return [(text[s.start : s.end], s.entity) for s in find_named_spans(text, entities)]


@pytest.mark.parametrize(
    ("text", "names", "found"),
    [
        ("Ada Finch met Ada.", ["Ada Finch", "Ada"], ["Ada Finch", "Ada"]),
        ("ADA FINCH came; ada finch left.", ["Ada Finch"], ["ADA FINCH", "ada finch"]),
        ("It was IT that it was.", ["IT"], ["IT"]),  # short names keep their case
        ("Finchley is no Finch.", ["Finch"], ["Finch"]),
        ("Finchs and Finch2 are no Finch", ["Finch"], ["Finch"]),
        ("A.B-x is A.B, A.Bx is not", ["A.B-x", "A.B"], ["A.B-x", "A.B"]),
        ("Port-Ex is no Port-E, Port-E! is", ["Port-E"], ["Port-E", "Port-E"]),
        ("Ada Finch's lamp, Ada Finch—", ["Ada Finch"], ["Ada Finch", "Ada Finch"]),
        ("😀 Ada Finch 😀 Ada Finch", ["Ada Finch"], ["Ada Finch", "Ada Finch"]),
        ("東京都は大きい。東京", ["東京", "東京都"], ["東京都", "東京"]),
        ("C++ and C", ["C++"], ["C++"]),
        ("nothing here", ["...", "Ada"], []),
        ("", ["Ada"], []),
    ],
)
def test_names_are_found_as_whole_words_the_longest_first(text: str, names: list[str], found: list[str]) -> None:
    assert [said for said, _ in told(text, *map(entity, names))] == found


def test_of_two_of_one_name_the_better_known_is_meant_and_aliases_are_names() -> None:
    few, many = entity("Finch", 1, "Ada"), Entity("2", "Finch", "place", "", (), (), 9, 0)
    assert told("Finch met Ada", few, many) == [("Finch", "2"), ("Ada", "Finch")]


def test_spans_do_not_overlap_and_stand_in_order() -> None:
    text = "Harbour Council of Port Ellery, 日本 Port"
    names = ["Harbour Council", "Council of Port Ellery", "Port Ellery", "日本", "Port"]
    found = find_named_spans(text, [entity(n) for n in names])
    assert [text[s.start : s.end] for s in found] == ["Harbour Council", "Port Ellery", "日本", "Port"]
