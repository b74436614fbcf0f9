"""What evaluations print and write is what it was (tests/lab_commands.py)."""

from __future__ import annotations

import pytest

from lab_commands import COMMAND_ROWS, COMMANDS, read_statuses


@pytest.mark.parametrize("group", ["offline", "wired"])
def test_commands_print_and_write_what_they_did(group: str) -> None:
    assert read_statuses(group) == dict.fromkeys(COMMANDS[group], 0)
    assert COMMAND_ROWS.name_differences(group) == []
