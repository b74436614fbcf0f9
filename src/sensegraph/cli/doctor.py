"""The command that says what a corpus works with and, where it may, asks the endpoint what it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sensegraph.cli.options import CommandRun, with_options
from sensegraph.corpus import views

if TYPE_CHECKING:
    from sensegraph.corpus.diagnosis import Diagnosis

_WIDE = 28  # characters of a name of a line that are padded to at most


@with_options("root * engine as_json settings trust")
def diagnose(
    run: CommandRun,
    online: Annotated[
        bool, typer.Option("--online", help="Ask the endpoint what it takes: a few small calls, under 2,500 tokens.")
    ] = False,
    window: Annotated[
        bool, typer.Option("--window", help="With --online, also try a prompt as large as the largest of ours.")
    ] = False,
) -> None:
    """Say what this corpus works with; with --online, what its endpoint takes, and what to do about it.

    What is learned is remembered in the corpus's folder. Ends with status 1 where a method that is used by default
    cannot run.
    """
    from sensegraph.corpus.diagnosis import ask_endpoints, describe_tools
    from sensegraph.corpus.settings import load_settings

    if window and not online:
        raise typer.BadParameter("--window needs --online: it asks the endpoint.")
    settings = load_settings(run.root, run.overrides())
    found = ask_endpoints(run.root, settings, window=window) if online else describe_tools(settings)
    run.print_result(lambda: views.view_diagnosis(found), lambda: format_diagnosis(found))
    if found.fails:
        raise typer.Exit(1)


def format_diagnosis(found: Diagnosis) -> str:
    """A diagnosis as a table: what was asked, what was learned, and below it what to do."""
    wide = min(_WIDE, max(len(f.asked) for f in found.findings))
    lines = [f"endpoint  {found.address}  ({found.tokens:,} tokens used)"] if found.address else []
    for line in found.findings:
        lines.append(f"{line.asked:<{wide}}  {line.answer}")
        if line.advice:
            lines.append(f"{'':<{wide}}  → {line.advice}")
    if found.fails:
        lines.append("A method that is used by default cannot run: see the lines with →.")
    return "\n".join(lines)
