"""Times and numbers are found as their patterns alone would find them: what goes before only saves time (G2)."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from sensegraph.language.dates import stated_dates
from sensegraph.language.text import split_letters

PIECES = (
    "12 13th 1999 2004 1,500 3.5 $20 US$5 5 km 40% 19 in on of the a xx x Al. and or to old - – — / , . : _ ' \u2019 % "
    "£4 é spring Summer winter Early late-mid mid- May Jan. September Sept June October December February 1980s a1999 "
    "2001-02-03 AD BC A.D. BCE century Century millennium first Tenth eighteenth umpteenth xteenth teenth seven Twenty "
    "twenty-one ONE one ten\u017f \u017fix hundred billion eleven nine several few years day DAYS weeks minutes second "
    "autumn late Late million August November four Five HK$4 AU$3 NZ$1 €5 ¥5 ₹5 Million Billion Eleven Hundred Six "
    "Mondays Tues Wednesday Thursday Friday Sat Sundays people percent"
).split()
TEXTS = st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from([" ", " ", "", "-", "\n", ", "])), max_size=12).map(
    lambda parts: "".join(word + gap for word, gap in parts)
)
ALL_TIMES, ALL_NUMBERS = re.compile(stated_dates._TIMES), re.compile(stated_dates._NUMBERS)


@given(TEXTS, st.integers(0, 9), st.integers(0, 9))
def test_times_are_those_that_the_patterns_find(text: str, before: int, behind: int) -> None:
    end = max(before, len(text) - behind)
    assert list(stated_dates.find_times(text, before, end)) == [m.span() for m in ALL_TIMES.finditer(text, before, end)]


@given(TEXTS, st.integers(0, 9), st.integers(0, 9))
def test_numbers_are_those_that_the_pattern_finds(text: str, before: int, behind: int) -> None:
    end = max(before, len(text) - behind)
    spans = [m.span() for m in ALL_NUMBERS.finditer(text, before, end) if m[0].lower() not in ("one", "second")]
    assert list(stated_dates.find_numbers(text, before, end)) == spans


@given(TEXTS, st.integers(0, 9), st.integers(0, 9))
def test_a_sentence_that_may_state_no_value_states_none(text: str, before: int, behind: int) -> None:
    end = max(before, len(text) - behind)
    sentence = text[before:end]
    found = [m[0].lower() for pattern in (ALL_TIMES, ALL_NUMBERS) for m in pattern.finditer(text, before, end)]
    may = stated_dates.may_state_value(sentence, [part.lower() for part in split_letters(sentence)])
    assert (may or not {*found} - {"one", "second"}) is True


def test_a_sentence_without_digits_and_words_of_values_may_state_none() -> None:
    assert not stated_dates.may_state_value("She went home.", ["she", "went", "home"])


def test_every_alternative_is_found_by_itself() -> None:
    stated = (
        "12th of May 1999|May 3, 2004|late May 1981|May, 1990|13 March|April 2nd|spring of 1980|xteenth century|300 BC|"
        "AD 70|mid-1990s|2001-02-03|1914-18|seven years|1999|It was June|Mondays"
    ).split("|")
    assert len(stated) == 17
    assert [text for text in stated if not list(stated_dates.find_times(text, 0, len(text)))] == []
