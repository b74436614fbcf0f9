"""Commands that serve a corpus to other programs: mcp."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from sensegraph.cli.options import CommandRun, with_options
from sensegraph.errors import SettingsError


@with_options("* engine wait max_tokens max_cost settings trust")
def serve_tools(
    run: CommandRun,
    folder: Annotated[
        Path, typer.Argument(metavar="ROOT", help="The corpus's folder.", show_default="this folder")
    ] = Path("."),
    write: Annotated[
        bool, typer.Option("--write", help="Also offer tools that add and remove documents, and follow input/.")
    ] = False,
) -> None:
    """Offer a corpus to assistants as tools of the Model Context Protocol, on stdin and stdout, until stdin ends."""
    if not find_spec("mcp"):
        raise SettingsError('`sensegraph mcp` needs an extra: pip install "sensegraph[mcp]".')
    run = replace(run, root=folder)
    with run.corpus(create=write, indexed=not write, silent=True) as corpus:
        from sensegraph.server.mcp import serve_stdio  # after the settings have been read: it takes a second

        serve_stdio(corpus, write=write)
