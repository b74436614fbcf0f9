"""Examples to train on, and the 2 × 2 design, are what they were (tests/lab_runs.py, tests/lab_commands.py)."""

from __future__ import annotations

import pytest

from lab_commands import COMMAND_ROWS, COMMANDS, read_statuses
from lab_runs import LAB_ROWS


@pytest.mark.parametrize("group", ["data", "design"])
def test_commands_print_and_write_what_they_did(group: str) -> None:
    assert read_statuses(group) == dict.fromkeys(COMMANDS[group], 0)
    assert COMMAND_ROWS.name_differences(group) == []


@pytest.mark.parametrize("group", LAB_ROWS.groups_of("drawn", "examples"))
def test_what_is_made_is_what_was_made(group: str) -> None:
    assert LAB_ROWS.find(group)
    assert LAB_ROWS.name_differences(group) == []
