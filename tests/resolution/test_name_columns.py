"""How often words stand in names, as far as it decides how alike names are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensegraph.algorithms.rounding import round_down, round_each_down
from sensegraph.resolution.comparison.name_columns import NameColumns, read_columns


@given(st.lists(st.integers(0, 1 << 50), min_size=1), st.integers(1, 8))
def test_counts_keep_their_first_binary_digits(counts: list[int], digits: int) -> None:
    rounded = round_each_down(np.array(counts), digits).tolist()
    assert rounded == [round_down(many, digits) for many in counts]
    assert [bin(many)[2:][:digits].ljust(len(bin(many)) - 2, "0") for many in counts] == [bin(r)[2:] for r in rounded]
    assert round_each_down(np.array(rounded), digits).tolist() == rounded


def named(many: int) -> NameColumns:
    """So many names of one common word and one of their own."""
    return read_columns(((f"Museum Vorn{chr(97 + i // 26)}{chr(97 + i % 26)}",), False) for i in range(many))


@pytest.mark.parametrize(("many", "stands"), [(3, False), (62, False), (100, True), (200, True), (127, False)])
def test_one_name_more_seldom_changes_what_decides_about_the_others_of_a_common_word(many: int, stands: bool) -> None:
    before, after = named(many), named(many + 1)
    signs = before.sign(before.count_words()), after.sign(after.count_words())[:many]
    assert np.array_equal(*signs) == stands
    assert len(set(signs[0].tolist())) == many


def test_names_with_a_common_word_are_counted_to_less_than_a_thirtieth() -> None:
    for many in (10, 63, 64, 100, 500):
        found = named(many).count_words().frequency.get("museum")
        assert many * 31 / 32 <= found <= many
