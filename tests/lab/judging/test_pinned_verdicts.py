"""What is said of simulated judges is what it was (tests/lab_runs.py)."""

from __future__ import annotations

import pytest

from lab_runs import LAB_ROWS


@pytest.mark.parametrize("group", LAB_ROWS.groups_of("verdicts", "mixed"))
def test_what_is_made_is_what_was_made(group: str) -> None:
    assert LAB_ROWS.find(group)
    assert LAB_ROWS.name_differences(group) == []
