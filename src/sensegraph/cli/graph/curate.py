"""Commands that decide which names are one entity: resolve, merge, split, rename, forbid, undo, operations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sensegraph.cli.options import (
    Engine,
    Json,
    MaxCost,
    MaxTokens,
    Quiet,
    Root,
    Set,
    Trust,
    format_root_flag,
    open_corpus,
    print_json,
    print_message,
    print_text,
    read_overrides,
    require_index,
)
from sensegraph.cli.progress import show_progress
from sensegraph.corpus.views import view_operations, view_resolved

if TYPE_CHECKING:
    from sensegraph.corpus.corpus import Corpus
    from sensegraph.corpus.names import Applied, Resolved
    from sensegraph.resolution.aliases import Operation

_HERE = Path(".")
_SHOWN = {"merge": "one thing", "ask": "in question", "keep": "kept apart"}

Names = Annotated[
    list[str], typer.Argument(metavar="NAME", help="Names, aliases or ids; `NAME (type)` where several have a name.")
]
Called = Annotated[str, typer.Option("--as", metavar="NAME", help="What it is called.")]


def resolve_entities(
    root: Root = _HERE,
    apply: Annotated[bool, typer.Option("--apply", help="Merge what is proposed; `undo` takes it back.")] = False,
    ask: Annotated[
        bool, typer.Option("--ask/--no-ask", help="Whether a model judges pairs in question, where there is one.")
    ] = True,
    top: Annotated[int, typer.Option("--top", min=1, metavar="N", help="Rows of each list; --json gives all.")] = 20,
    engine: Engine = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    quiet: Quiet = False,
    as_json: Json = False,
    settings: Set = None,
    trust: Trust = False,
) -> None:
    """Show which entities are one thing under different names, and why; with --apply make them one."""
    given = read_overrides(settings, engine, max_tokens, max_cost, trust=trust)
    with show_progress(quiet) as report, open_corpus(root, given, progress=report) as corpus:
        require_index(corpus, root)
        found = corpus.resolve(apply, ask=ask)
    if as_json:
        print_json(view_resolved(found))
    elif not quiet:
        print_text(_format_resolved(found, top, root))


def merge_entities(
    names: Names,
    root: Root = _HERE,
    called: Called = "",
    quiet: Quiet = False,
    settings: Set = None,
    trust: Trust = False,
) -> None:
    """Make the entities of these names one, and bring the index up to date."""
    with _open_for_curation(root, quiet, settings, trust) as corpus:
        _print_applied(corpus.merge(*names, called=called), quiet)


def split_entity(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The entity: its name, an alias, or its id.")],
    others: Annotated[
        list[str] | None, typer.Argument(metavar="[ALIAS]…", help="Names that were merged into it and are not it.")
    ] = None,
    root: Root = _HERE,
    documents: Annotated[
        list[str] | None,
        typer.Option("--document", metavar="ID", help="A document that means another thing; several times."),
    ] = None,
    called: Called = "",
    quiet: Quiet = False,
    settings: Set = None,
    trust: Trust = False,
) -> None:
    """Take out of an entity what is not it: other names, or what some documents say; bring the index up to date."""
    with _open_for_curation(root, quiet, settings, trust) as corpus:
        _print_applied(corpus.split(name, others or (), documents=documents or (), called=called), quiet)


def rename_entity(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The entity: its name, an alias, or its id.")],
    called: Annotated[str, typer.Argument(metavar="NEW", help="What it is called from now on.")],
    root: Root = _HERE,
    quiet: Quiet = False,
    settings: Set = None,
    trust: Trust = False,
) -> None:
    """Call an entity by another name, and bring the index up to date."""
    with _open_for_curation(root, quiet, settings, trust) as corpus:
        _print_applied(corpus.rename(name, called), quiet)


def forbid_merge(
    names: Names, root: Root = _HERE, quiet: Quiet = False, settings: Set = None, trust: Trust = False
) -> None:
    """Keep the entities of these names apart, whatever `resolve` finds."""
    with _open_for_curation(root, quiet, settings, trust) as corpus:
        _print_applied(corpus.forbid(*names), quiet)


def undo_operation(
    operation: Annotated[
        str, typer.Argument(metavar="[OPERATION]", help="Its number; without, the last that stands.")
    ] = "",
    root: Root = _HERE,
    quiet: Quiet = False,
    settings: Set = None,
    trust: Trust = False,
) -> None:
    """Take an operation back: the index is as if it had not been."""
    with _open_for_curation(root, quiet, settings, trust) as corpus:
        _print_applied(corpus.undo(operation), quiet)


def list_operations(root: Root = _HERE, as_json: Json = False, settings: Set = None) -> None:
    """List the operations on names, oldest first, with who decided them and why."""
    with open_corpus(root, read_overrides(settings)) as corpus:
        log = corpus.names.operations()
    if as_json:
        print_json(view_operations(log))
    elif log:
        print_text("\n".join(map(_format_operation, log)))
    else:
        print_message("no operation yet; `sensegraph resolve` proposes some" + format_root_flag(root))


@contextmanager
def _open_for_curation(root: Path, quiet: bool, settings: list[str] | None, trust: bool) -> Iterator[Corpus]:
    with (
        show_progress(quiet) as report,
        open_corpus(root, read_overrides(settings, trust=trust), progress=report) as corpus,
    ):
        require_index(corpus, root)
        yield corpus


# ── what is printed ──


def _print_applied(done: Applied, quiet: bool) -> None:
    if not quiet:
        print_text(_format_applied(done))


def _format_applied(done: Applied) -> str:
    from sensegraph.cli.show import format_quantity, format_usage

    lines = [_format_operation(o) for o in done.operations[:20]]
    lines += [f"… and {len(done.operations) - 20} more"] if len(done.operations) > 20 else []
    parts = [
        format_quantity(done.entities, "entity"),
        format_quantity(done.relations, "relation"),
        format_quantity(done.reports, "report"),
    ]
    written = done.built.computed.get("reports.report", 0)
    lines.append(f"new or changed: {', '.join(parts)}; {format_quantity(written, 'report')} written anew")
    return "\n".join([*lines, format_usage(done.built.usage), *(f"- {note}" for note in done.built.notes)])


def _format_operation(o: Operation) -> str:
    names = " + ".join(f"{name} ({kind})" for name, kind in o.names)
    away = f" without {' + '.join(name for name, _ in o.others)}" if o.others and not o.documents else ""
    there = f" in {', '.join(o.documents)}" if o.documents else ""
    called = f" → {o.output}" if o.output else ""
    gone = f" [taken back {o.reverted}]" if o.reverted else ""
    why = f": {o.evidence}" if o.evidence else ""
    return f"{o.id:>4} {o.kind} {names}{away}{there}{called}, by {o.by}{why}{gone}"


def _format_resolved(found: Resolved, top: int, root: Path) -> str:
    from sensegraph.cli.show import format_quantity

    blocks = []
    for decision, title in _SHOWN.items():
        rows = [p for p in found.found.proposals if p.decision == decision]
        if rows:
            lines = []
            for p in rows[:top]:
                pair = " + ".join(f"{n} ({found.types[i]})" for n, i in zip(p.names, (p.one, p.other), strict=True))
                lines.append(f"  {p.score:.2f} {pair}: {p.why}")
            lines += [f"  … and {len(rows) - top} more (--top, --json)"] if len(rows) > top else []
            blocks.append("\n".join([f"{title}: {format_quantity(len(rows), 'pair')}", *lines]))
    if not blocks:
        blocks.append("no two entities look like one thing")
    notes = [f"- {note}" for note in found.found.notes]
    if found.applied:
        return "\n\n".join([*blocks, _format_applied(found.applied), *notes])
    if found.found.groups:
        notes.append(
            f"nothing was changed; to merge what is one thing: sensegraph resolve --apply{format_root_flag(root)}"
        )
    return "\n\n".join([*blocks, "\n".join(notes)]).strip()
