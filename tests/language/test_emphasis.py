"""A piece of a text keeps only those marks of emphasis whose other end it holds."""

from __future__ import annotations

import pytest

from sensegraph.language.sentences import balance_emphasis


@pytest.mark.parametrize(
    ("piece", "shown"),
    [
        ("It predicts.**", "It predicts."),
        ("It predicts**.", "It predicts."),
        ("**News. It rained", "News. It rained"),
        ("**News** of **rain", "**News** of rain"),
        ("It is so__.", "It is so."),
        ("*Note that it rains", "Note that it rains"),
        ("It rains.*", "It rains."),
        ("**News** of rain", "**News** of rain"),
        ("__Sund__ is old", "__Sund__ is old"),
        ("__init__.py and __slots", "__init__.py and __slots"),
        ("__slots are few", "__slots are few"),
        ("2 * 3 is six", "2 * 3 is six"),
        ("*.txt* and 2 * 3 * 4", "*.txt* and 2 * 3 * 4"),
        ("", ""),
    ],
)
def test_half_an_emphasis_is_left_out_and_a_whole_one_stays(piece: str, shown: str) -> None:
    assert balance_emphasis(piece) == shown
