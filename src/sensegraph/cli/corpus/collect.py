"""The command that removes from the store what nothing needs any more: collect."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sensegraph.cli.options import Engine, Json, Quiet, Root, Set, Trust, Wait, opened, out, out_json, overrides
from sensegraph.cli.progress import label, progress
from sensegraph.cli.show import counted
from sensegraph.corpus.views import view_collected

if TYPE_CHECKING:
    from sensegraph.corpus.garbage import Collected
    from sensegraph.runtime.stores.corpus_store import Freed

_HERE = Path(".")
_SMALL = 100_000  # bytes below which a size is told in kB


def collect(
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
    with progress(quiet) as report, opened(root, overrides(settings, engine, trust=trust), progress=report) as corpus:
        corpus.workspace.wait = wait
        found = corpus.collect(dry=dry)
    if as_json:
        out_json(view_collected(found))
    elif not quiet:
        out(_text(found))


def _text(found: Collected) -> str:
    """The whole first; what each step left only where it is to be looked at before."""
    verb = "would remove" if found.dry else "removed"
    lines = [f"{verb} {_counts(found.total)}", *(_steps(found) if found.dry else ())]
    if found.operations:
        lines.append(f"{verb} names that no document holds from {counted(found.operations, 'operation')}")
    if not found.dry:
        lines.append(f"on disk {_bytes(found.before)} before, {_bytes(found.after)} now")
    return "\n".join([*lines, *(f"- {note}" for note in found.notes)])


def _steps(found: Collected) -> Iterator[str]:
    """What would go of each step, the most first."""
    rows = [(label(step) or "others", freed) for step, freed in found.by_step.items()]
    rows.sort(key=lambda row: (-row[1].bytes, row[0]))
    wide = max((len(name) for name, _ in rows), default=0)
    return (f"  {name:<{wide}}  {_counts(freed)}" for name, freed in rows)


def _counts(freed: Freed) -> str:
    things = (("object", freed.objects), ("table", freed.tables), ("array", freed.arrays))
    return f"{', '.join(counted(n, thing) for thing, n in things if n) or 'nothing'}; {_bytes(freed.bytes)}"


def _bytes(size: int) -> str:
    """A size for people: in kB where it is below 0.1 MB."""
    return f"{size / 1e6:,.1f} MB" if size >= _SMALL else f"{size / 1e3:,.1f} kB"
