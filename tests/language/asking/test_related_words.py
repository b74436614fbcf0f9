"""Words that say the same thing as another, by worked examples."""

from __future__ import annotations

import pytest

from sensegraph.language.asking.related_words import DERIVED, NEARNESS, find_phrases, find_related


@pytest.mark.parametrize(
    ("stem", "held", "language", "found"),
    [
        ("broken", ["broke", "break", "brook"], "english", {"broke": 1.0, "break": 1.0}),
        ("accept", ["approv", "agre", "except"], "english", {"approv": 0.5, "agre": 0.5}),
        ("accept", ["approv"], "german", {}),  # the list is of English words
        ("messag", ["msg", "mess", "mgs", "mug"], "english", {"msg": DERIVED}),
        ("msg", ["messag", "lessag"], "english", {"messag": DERIVED}),
        ("ab", ["abb"], "english", {}),  # too short to abbreviate anything
        ("configur", ["config", "confid", "confront", "configur"], "english", {"config": DERIVED, "confid": DERIVED}),
        ("conf", ["confi"], "english", {}),  # too short for a root
        ("stadt", ["altstadt", "sommerstadt", "stall"], "german", {"altstadt": DERIVED, "sommerstadt": DERIVED}),
        ("stadt", ["altstadt"], "english", {}),
        ("1.12", ["1.12.1"], "english", {}),
    ],
)
def test_a_word_is_found_by_its_forms_its_root_its_letters_and_what_a_compound_ends_with(
    stem: str, held: list[str], language: str, found: dict[str, float]
) -> None:
    assert find_related(stem, frozenset(held), language) == found


def test_a_form_is_nearer_than_a_word_of_the_family_and_that_nearer_than_another_word() -> None:
    assert 1.0 == NEARNESS["forms"] > NEARNESS["families"] > DERIVED > NEARNESS["near"] > 0


def test_an_expression_of_several_words_stands_for_words_that_say_the_same() -> None:
    ((phrase, meant),) = find_phrases("Who came up with the format?", "english")
    assert phrase == "came up with"
    assert {"invent", "devis", "defin"} <= set(meant)
    assert find_phrases("Who came up the stairs?", "english") == []
    assert find_phrases("Who came up with the format?", "german") == []
