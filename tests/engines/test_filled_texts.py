"""An answer changes from the same lengths of a filled place on as before (tests/filled_texts.py)."""

from __future__ import annotations

import pytest

from filled_texts import FILLED_ROWS, find_rows


@pytest.mark.parametrize("group", FILLED_ROWS.groups)
def test_an_answer_changes_from_the_length_on_from_which_it_changed(group: str) -> None:
    assert find_rows(group)[0][1][0] == 0
    assert FILLED_ROWS.name_differences(group) == []
