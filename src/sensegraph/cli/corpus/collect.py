"""The command that removes from the store what nothing needs any more: collect."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sensegraph.cli.options import (
    Engine,
    Json,
    Quiet,
    Root,
    Set,
    Trust,
    Wait,
    open_corpus,
    print_json,
    print_text,
    read_overrides,
)
from sensegraph.cli.progress import label_step, show_progress
from sensegraph.cli.show import format_quantity
from sensegraph.corpus.views import view_collected

if TYPE_CHECKING:
    from sensegraph.runtime.stores.corpus_store import Freed

_HERE = Path(".")
_SMALL = 100_000  # bytes below which a size is told in kB


def collect_garbage(
    root: Root = _HERE,
    dry: Annotated[bool, typer.Option("--dry-run", help="Say what would go; nothing is removed.")] = False,
    engine: Engine = None,
    wait: Wait = 0.0,
    quiet: Quiet = False,
    as_json: Json = False,
    settings: Set = None,
    trust: Trust = False,
) -> None:
    """Remove what neither the index nor the documents need: earlier indexes, kept answers, all of removed documents.

    What was paid for the documents as they are stays. Of a document that was removed no byte is left in the store.
    """
    with (
        show_progress(quiet) as report,
        open_corpus(root, read_overrides(settings, engine, trust=trust), progress=report) as corpus,
    ):
        corpus.workspace.wait = wait
        found = corpus.collect(dry=dry)
    if as_json:
        print_json(view_collected(found))
    elif not quiet:
        verb = "would remove" if found.dry else "removed"
        lines = [f"{verb} {_format_freed(found.total)}"]
        if found.dry:
            rows = [(label_step(step) or "others", freed) for step, freed in found.by_step.items()]
            rows.sort(key=lambda row: (-row[1].bytes, row[0]))
            wide = max((len(name) for name, _ in rows), default=0)
            lines += [f"  {name:<{wide}}  {_format_freed(freed)}" for name, freed in rows]
        if found.operations:
            lines.append(f"{verb} names that no document holds from {format_quantity(found.operations, 'operation')}")
        if not found.dry:
            lines.append(f"on disk {_format_size(found.before)} before, {_format_size(found.after)} now")
        print_text("\n".join([*lines, *(f"- {note}" for note in found.notes)]))


def _format_freed(freed: Freed) -> str:
    things = (("object", freed.objects), ("table", freed.tables), ("array", freed.arrays))
    return (
        f"{', '.join(format_quantity(n, thing) for thing, n in things if n) or 'nothing'}; {_format_size(freed.bytes)}"
    )


def _format_size(size: int) -> str:
    """A size for people: in kB where it is below 0.1 MB."""
    return f"{size / 1e6:,.1f} MB" if size >= _SMALL else f"{size / 1e3:,.1f} kB"
