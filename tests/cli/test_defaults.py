"""What options hold where nobody gives them is what scripts count on: a change is made on purpose."""

from __future__ import annotations

import command_defaults


def test_every_option_holds_what_is_pinned() -> None:
    """Where one was meant to change: `python tests/command_defaults.py` writes the file again."""
    found, pinned = (
        command_defaults.list_defaults().splitlines(),
        command_defaults.PINNED.read_text("utf-8").splitlines(),
    )
    assert len(pinned) > 50
    assert found == pinned
