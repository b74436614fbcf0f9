"""Commands that tell facts by their time: timeline, changes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sensegraph.cli.options import Json, Root, Set, open_corpus, print_json, print_text, read_overrides, require_index
from sensegraph.corpus.views import view_changes, view_timeline

if TYPE_CHECKING:
    from sensegraph.index.restricted.timeline import Change, Event

_HERE = Path(".")


def show_timeline(
    name: Annotated[str, typer.Argument(metavar="ENTITY", help="Its name, in any case, or its id.")],
    since: Annotated[str, typer.Option("--since", metavar="DATE", help="Only what may hold from then on.")] = "",
    until: Annotated[str, typer.Option("--until", metavar="DATE", help="Only what may hold until then.")] = "",
    kind: Annotated[str, typer.Option("--type", metavar="TYPE", help="Which, where several have the name.")] = "",
    root: Root = _HERE,
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """Show what the documents say of an entity in the order of time, one line a fact, with its source."""
    with open_corpus(root, read_overrides(settings)) as corpus:
        require_index(corpus, root)
        events = corpus.timeline(name, since=since, until=until, type=kind)
        if as_json:
            print_json(view_timeline(name, events))
        else:
            print_text("\n".join(map(_format_event, events)) or f"No dated statement names {name} in that time.")


def show_changes(
    first: Annotated[str, typer.Argument(metavar="FROM", help="A moment, such as 2015 or 2015-03-01.")],
    last: Annotated[str, typer.Argument(metavar="TO", help="A later moment.")],
    root: Root = _HERE,
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """Show what began, ended or changed between two moments, as the documents state it."""
    with open_corpus(root, read_overrides(settings)) as corpus:
        require_index(corpus, root)
        found = corpus.changes(first, last)
        if as_json:
            print_json(view_changes(first, last, found))
        else:
            print_text("\n".join(map(_format_change, found)) or f"Nothing dated changed between {first} and {last}.")


def _format_event(e: Event) -> str:
    marks = " (disputed)" if e.disputed else ""
    ended = f" — ended by: {e.ended_by}" if e.ended_by else ""
    return f"{e.when}{marks}  {e.text}{ended}  [{e.document}:{e.start}-{e.end}]"


def _format_change(c: Change) -> str:
    if c.what == "changed" and c.before and c.after:
        return f"changed  {_format_event(c.after)}\n         instead of  {_format_event(c.before)}"
    event = c.after or c.before
    return f"{c.what:<8} {_format_event(event)}" if event else c.what
