"""An office and what it is an office of, as a question has them; words that join names, by language."""

from __future__ import annotations

import pytest

from sensegraph.language.dates.office_questions import _part_thing
from sensegraph.language.word_lists import name_connectors


@pytest.mark.parametrize(
    ("asked", "office", "thing"),
    [
        ("Acme's chief executive", "chief executive", "Acme"),
        ("chief executive of Acme", "chief executive", "Acme"),
        ("the mayor", "mayor", ""),
        ("CEO", "CEO", ""),
        ("Prime Minister", "", ""),  # as it is written it may be a name
        ("Old Mill", "", ""),
    ],
)
def test_an_office_is_parted_from_what_it_is_an_office_of(asked: str, office: str, thing: str) -> None:
    assert _part_thing(asked) == (office, thing)


@pytest.mark.parametrize(
    ("language", "joins", "not_"), [("de", "zu", "of"), ("en", "of", "sous"), ("xx", "sous", "and")]
)
def test_each_language_has_its_own_words_that_join_names(language: str, joins: str, not_: str) -> None:
    assert joins in name_connectors(language)
    assert not_ not in name_connectors(language)
