"""What the user is asked before a file of others may choose where texts and keys go."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from sensegraph.cli.options import print_message

if TYPE_CHECKING:
    from sensegraph.corpus.settings import Settings
    from sensegraph.errors import Unapproved


def ask_approval(refused: Unapproved) -> bool:
    """Whether the user, asked on the terminal, approves what was refused; then it is kept in the own settings file."""
    from sensegraph.corpus.settings import locate_user_file
    from sensegraph.models.endpoint.endpoint_settings import record_approval

    if not sys.stdin.isatty():
        return False
    print_message(refused.question)
    if not typer.confirm(f"Approve it, and keep that in {locate_user_file()}?", err=True):
        return False
    record_approval(locate_user_file(), refused.wanted)
    return True


def approve_all(settings: Settings) -> list[str]:
    """Keep every approval that the tools of these settings lack, and say which those are."""
    from sensegraph.corpus.settings import check_approved, locate_user_file
    from sensegraph.corpus.tools import needed_approvals
    from sensegraph.errors import Unapproved
    from sensegraph.models.endpoint.endpoint_settings import record_approval

    kept = []
    for name in needed_approvals(settings):
        try:
            check_approved(settings, name)
        except Unapproved as e:
            record_approval(locate_user_file(), e.wanted)
            kept.append(e.wanted)
    return kept
