"""Choices that a sentence lists, by worked examples."""

from __future__ import annotations

import pytest

from sensegraph.language.asking.enumerations import list_choices


@pytest.mark.parametrize(
    ("text", "choices"),
    [
        ("The values are “red”, “green”, or “blue”.", ["“red”", "“green”", "“blue”"]),
        ("FMT='a' for one (the default), 'b', or 'c' for others", ["'a'", "'b'", "'c'"]),
        ("tool [-t red | green | blue] file", ["red", "green", "blue"]),
        ("red|green|red|blue", ["red", "green", "blue"]),
        ("She said “yes” and “no”.", []),  # two are no list
        ("The “red” one is better than the “green” or the “blue” one.", []),
    ],
)
def test_choices_are_quoted_one_after_another_or_parted_by_bars(text: str, choices: list[str]) -> None:
    assert list_choices(text) == choices
