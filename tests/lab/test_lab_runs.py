"""What the lab makes of the bundled documents and of simulated judges is what it was (tests/lab_runs.py)."""

from __future__ import annotations

import pytest

from lab_runs import LAB_ROWS, find_rows


@pytest.mark.parametrize("group", LAB_ROWS.groups)
def test_what_the_lab_makes_is_what_it_made(group: str) -> None:
    assert find_rows(group)
    assert LAB_ROWS.name_differences(group) == []
