"""What the offline engine makes of drawn groups, questions and documents is what it was (tests/drawn_engine.py)."""

from __future__ import annotations

import pytest

from drawn_engine import DRAWN_ROWS, DRAWS, find_rows


@pytest.mark.parametrize("group", DRAWN_ROWS.groups)
def test_the_offline_engine_makes_of_what_is_drawn_what_it_made(group: str) -> None:
    rows = find_rows(group)
    assert len(rows) == DRAWS[group.partition(" ")[0]]
    assert any(row[0] > 1 for row in rows)
    assert DRAWN_ROWS.name_differences(group) == []
