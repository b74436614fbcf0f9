"""What the user is asked before a file of others may choose where texts and keys go."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from sensegraph.cli.options import say

if TYPE_CHECKING:
    from sensegraph.errors import Unapproved
    from sensegraph.settings import Settings


def ask_approval(refused: Unapproved) -> bool:
    """Whether the user, asked on the terminal, approves what was refused; then it is kept in the own settings file."""
    from sensegraph.approvals import record_approval
    from sensegraph.settings import user_file

    if not sys.stdin.isatty():
        return False
    say(refused.question)
    if not typer.confirm(f"Approve it, and keep that in {user_file()}?", err=True):
        return False
    record_approval(user_file(), refused.wanted)
    return True


def approve_all(settings: Settings) -> list[str]:
    """Keep every approval that the tools of these settings lack, and say which those are."""
    from sensegraph.approvals import record_approval
    from sensegraph.errors import Unapproved
    from sensegraph.settings import check_approved, needed_approvals, user_file

    kept = []
    for name in needed_approvals(settings):
        try:
            check_approved(settings, name)
        except Unapproved as e:
            record_approval(user_file(), e.wanted)
            kept.append(e.wanted)
    return kept
