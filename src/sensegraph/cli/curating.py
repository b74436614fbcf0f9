"""Commands that decide which names are one entity: those of the group `entities`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sensegraph.cli.options import (
    CommandRun,
    Limit,
    format_root_flag,
    limit_rows,
    print_json,
    print_message,
    print_text,
    with_options,
)
from sensegraph.cli.show import format_quantity, format_usage
from sensegraph.corpus.views import view_applied, view_operations, view_resolved

if TYPE_CHECKING:
    from sensegraph.corpus.names import Applied, Resolved
    from sensegraph.resolution.aliases import Operation

_SHOWN = {"merge": "duplicates", "ask": "uncertain", "keep": "kept apart"}

Name = Annotated[str, typer.Argument(metavar="NAME", help="The entity: its name, an alias, or its id.")]
Names = Annotated[
    list[str], typer.Argument(metavar="NAME", help="Names, aliases or ids; `NAME (type)` where several have a name.")
]
Called = Annotated[str, typer.Option("--as", metavar="NAME", help="Its name from then on.")]


@with_options("* max_tokens max_cost as_json quiet root engine settings trust")
def resolve_entities(
    run: CommandRun,
    apply: Annotated[
        bool, typer.Option("--apply", help="Merge the duplicates; `entities undo` takes it back.")
    ] = False,
    ask: Annotated[
        bool, typer.Option("--ask/--no-ask", help="Let the model, where there is one, judge uncertain pairs.")
    ] = True,
    limit: Limit = 20,
) -> None:
    """Find duplicate entities and explain each match. Nothing is changed without --apply."""
    with run.corpus(indexed=True) as corpus:
        found = corpus.resolve(apply, ask=ask)
    run.print_result(lambda: view_resolved(found), lambda: _format_resolved(found, limit, run.root))


@with_options("* as_json quiet root settings trust")
def merge_entities(run: CommandRun, names: Names, called: Called = "") -> None:
    """Merge the entities of these names, and bring the index up to date."""
    with run.corpus(indexed=True) as corpus:
        _print_applied(corpus.merge(*names, called=called), run)


@with_options("* as_json quiet root settings trust")
def split_entity(
    run: CommandRun,
    name: Name,
    others: Annotated[
        list[str] | None, typer.Argument(metavar="ALIAS", help="Aliases that are another entity.")
    ] = None,
    documents: Annotated[
        list[str] | None,
        typer.Option("--document", metavar="ID", help="A document that means another entity (repeatable)."),
    ] = None,
    called: Called = "",
) -> None:
    """Split an entity: move aliases, or what some documents say, to a new one; bring the index up to date."""
    with run.corpus(indexed=True) as corpus:
        _print_applied(corpus.split(name, others or (), documents=documents or (), called=called), run)


@with_options("* as_json quiet root settings trust")
def rename_entity(
    run: CommandRun,
    name: Name,
    called: Annotated[str, typer.Argument(metavar="NEW", help="Its new name.")],
) -> None:
    """Rename an entity, and bring the index up to date."""
    with run.corpus(indexed=True) as corpus:
        _print_applied(corpus.rename(name, called), run)


@with_options("* as_json quiet root settings trust")
def forbid_merge(run: CommandRun, names: Names) -> None:
    """Never merge the entities of these names, whatever `entities duplicates` finds."""
    with run.corpus(indexed=True) as corpus:
        _print_applied(corpus.forbid(*names), run)


@with_options("* as_json quiet root settings trust")
def undo_operation(
    run: CommandRun,
    operation: Annotated[
        str, typer.Argument(metavar="OPERATION", help="Operation number (default: the latest).", show_default=False)
    ] = "",
) -> None:
    """Undo a merge, split or rename: the index is as if it had not been."""
    with run.corpus(indexed=True) as corpus:
        _print_applied(corpus.undo(operation), run)


@with_options("* as_json root settings")
def list_operations(run: CommandRun, limit: Limit = 1000) -> None:
    """Show the edit log: operations on names, oldest first, with who decided them and why."""
    with run.corpus(silent=True) as corpus:
        log = corpus.names.operations()
    if run.as_json:
        print_json(view_operations(log))
    elif log:
        print_text("\n".join(limit_rows([*map(_format_operation, log)], limit)))
    else:
        print_message(f"no operation yet; to find some: sensegraph entities duplicates{format_root_flag(run.root)}")


# ── what is printed ──


def _print_applied(done: Applied, run: CommandRun) -> None:
    run.print_result(lambda: view_applied(done), lambda: _format_applied(done))


def _format_applied(done: Applied) -> str:
    lines = [_format_operation(o) for o in done.operations[:20]]
    lines += [f"… and {len(done.operations) - 20} more"] if len(done.operations) > 20 else []
    changed = {"entity": done.entities, "relation": done.relations, "report": done.reports}
    parts = [format_quantity(n, thing) for thing, n in changed.items()]
    written = done.built.computed.get("reports.report", 0)
    lines.append(f"new or changed: {', '.join(parts)}; {format_quantity(written, 'report')} written anew")
    return "\n".join([*lines, format_usage(done.built.usage), *(f"- {note}" for note in done.built.notes)])


def _format_operation(o: Operation) -> str:
    names = " + ".join(f"{name} ({kind})" for name, kind in o.names)
    away = f" without {' + '.join(name for name, _ in o.others)}" if o.others and not o.documents else ""
    there = f" in {', '.join(o.documents)}" if o.documents else ""
    called = f" → {o.output}" if o.output else ""
    gone = f" [undone {o.reverted}]" if o.reverted else ""
    why = f": {o.evidence}" if o.evidence else ""
    return f"{o.id:>4} {o.kind} {names}{away}{there}{called}, by {o.by}{why}{gone}"


def _format_resolved(found: Resolved, top: int, root: Path) -> str:
    blocks = []
    for decision, title in _SHOWN.items():
        rows = [p for p in found.found.proposals if p.decision == decision]
        if rows:
            lines = []
            for p in rows[:top]:
                pair = " + ".join(f"{n} ({found.types[i]})" for n, i in zip(p.names, (p.one, p.other), strict=True))
                lines.append(f"  {p.score:.2f} {pair}: {p.why}")
            lines += [f"  … and {len(rows) - top} more (--limit, --json)"] if len(rows) > top else []
            blocks.append("\n".join([f"{title}: {format_quantity(len(rows), 'pair')}", *lines]))
    if not blocks:
        blocks.append("no duplicates found")
    notes = [f"- {note}" for note in found.found.notes]
    if found.applied:
        return "\n\n".join([*blocks, _format_applied(found.applied), *notes])
    if found.found.groups:
        how = f"sensegraph entities duplicates --apply{format_root_flag(root)}"
        notes.append(f"dry run; to merge the duplicates: {how}")
    return "\n\n".join([*blocks, "\n".join(notes)]).strip()
