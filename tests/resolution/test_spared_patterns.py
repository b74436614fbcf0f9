"""Patterns that are spared where a name shows nothing for them would have changed nothing in it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sensegraph.resolution.comparison import name_reading

_WORDS = (
    "Windows",
    "win",
    "XP",
    "and",
    "or",
    "later",
    "Version",
    "v",
    "Part",
    "IV",
    "X",
    "No",
    "Vol",
    "Me",
    "wine",
    "Ada",
)


@given(st.one_of(*(st.from_regex(pattern) for pattern, _ in name_reading._SPELLING)))
def test_a_word_that_is_respelt_has_one_of_the_endings(word: str) -> None:
    assert word.rstrip("\n").endswith(name_reading._RESPELT)


@given(st.lists(st.sampled_from(_WORDS), min_size=1, max_size=6).map(" ".join))
def test_names_of_words_alone_say_a_version_or_a_system_only_where_the_sign_of_one_stands(name: str) -> None:
    patterns = (name_reading._RUNS_ON, name_reading._OR_LATER, name_reading._VERSION)
    assert name_reading._MAY_SAY.search(name) or [p.search(name) for p in patterns] == [None] * 3
