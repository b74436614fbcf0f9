"""Commands that read an index without a question: those of `show`, lists of entities and documents; and their pages."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sensegraph.cli import options
from sensegraph.cli.options import (
    CommandRun,
    Limit,
    find_record_files,
    format_root_flag,
    print_json,
    print_text,
    with_options,
)
from sensegraph.cli.show import format_citation, format_place, format_quantity, pad_columns, shorten_line
from sensegraph.corpus import views

if TYPE_CHECKING:
    from rich.console import Console

    from sensegraph.index.browse.pages import ClaimRow, EntityPage, RelationRow, ReportPage, ReportRow
    from sensegraph.index.restricted.timeline import Event
    from sensegraph.types import Entity

_ID = 10  # digits of an id that people are shown; the beginning of an id is enough for every command
_ALL = 1 << 60  # rows
_LONG = 1000  # rows of a list of which people look for one
_TEXT = 240  # characters of a description that people are shown
Files = Mapping[str, str]

Kind = Annotated[str, typer.Option("--type", metavar="TYPE", help="Its type, where several have the name.")]
Sought = Annotated[str, typer.Argument(metavar="TEXT", help="Only names with this text.", show_default=False)]


# ── the commands ──


@with_options("* as_json root settings")
def browse_reports(
    run: CommandRun,
    report: Annotated[
        str | None,
        typer.Argument(metavar="ID", help="A report: its id, of now or before, the beginning of it, or its title."),
    ] = None,
    depth: Annotated[
        int, typer.Option("--depth", min=0, metavar="N", help="Which reports to list: 0 is the coarsest.")
    ] = 0,
    limit: Limit = 20,
) -> None:
    """List the reports of a depth, best first; or show one of them with its sources and all that is below it."""
    with run.corpus(indexed=True, silent=True) as corpus:
        if report is None:
            rows, depths = corpus.reports(depth), corpus.index().depth
            shown = min(depth, max(0, depths - 1))
            if run.as_json:
                print_json(views.view_reports(rows, shown, depths))
            else:
                print_page(lay_out_reports(rows, shown, depths, limit, run.root))
            return
        page = corpus.browser.report(report, chunks=None if run.as_json else limit)
        if run.as_json:
            print_json(views.view_report(page))
        else:
            print_page(lay_out_report(page, limit, find_record_files(corpus, page.documents), run.root))


@with_options("* as_json root settings")
def browse_entity(
    run: CommandRun,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name, in any case, or its id.")],
    kind: Kind = "",
    limit: Limit = 20,
) -> None:
    """Show an entity: what each chunk says of it, its neighbours, claims and communities."""
    from sensegraph.index.browse.elements import find_entities, read_entity

    with run.corpus(indexed=True, silent=True) as corpus:
        index = corpus.index()
        found = find_entities(index, name, kind)
        if run.as_json:
            print_json(views.view_entities([read_entity(index, e) for e in found]))
        elif len(found) > 1:
            print_page(lay_out_homonyms(name, found, run.root))
        else:
            page = read_entity(index, found[0])
            print_page(lay_out_entity(page, limit, find_record_files(corpus, page.documents), run.root))


@with_options("* as_json root settings")
def show_timeline(
    run: CommandRun,
    name: Annotated[str, typer.Argument(metavar="ENTITY", help="Its name, in any case, or its id.")],
    since: Annotated[str, typer.Option("--since", metavar="DATE", help="Only what may hold from then on.")] = "",
    until: Annotated[str, typer.Option("--until", metavar="DATE", help="Only what may hold until then.")] = "",
    kind: Kind = "",
    limit: Limit = _LONG,
) -> None:
    """Show what the documents say of an entity in the order of time, one line a fact, with its source."""
    with run.corpus(indexed=True, silent=True) as corpus:
        events = corpus.timeline(name, since=since, until=until, type=kind)
    none = f"No dated statement names {name} in that time."
    rows = options.limit_rows([*map(_format_event, events)], limit)
    run.print_result(lambda: views.view_timeline(name, events), lambda: "\n".join(rows) or none)


@with_options("* as_json root settings")
def show_changes(
    run: CommandRun,
    first: Annotated[str, typer.Argument(metavar="FROM", help="A moment, such as 2015 or 2015-03-01.")],
    last: Annotated[str, typer.Argument(metavar="TO", help="A later moment.")],
    limit: Limit = _LONG,
) -> None:
    """Show what began, ended or changed between two moments, as the documents state it."""
    with run.corpus(indexed=True, silent=True) as corpus:
        found = corpus.changes(first, last)
    lines = []
    for c in found:
        if c.what == "changed" and c.before and c.after:
            lines.append(f"changed  {_format_event(c.after)}\n         instead of  {_format_event(c.before)}")
        elif event := c.after or c.before:
            lines.append(f"{c.what:<8} {_format_event(event)}")
        else:
            lines.append(c.what)
    none = f"Nothing dated changed between {first} and {last}."
    rows = options.limit_rows(lines, limit)
    run.print_result(lambda: views.view_changes(first, last, found), lambda: "\n".join(rows) or none)


@with_options("* as_json root settings")
def list_entities(run: CommandRun, text: Sought = "", kind: Kind = "", limit: Limit = 50) -> None:
    """List the entities, those with most neighbours first."""
    with run.corpus(indexed=True, silent=True) as corpus:
        rows, found = corpus.browser.entity_rows(text, type=kind, limit=_ALL if run.as_json else limit)
        types = sorted({e.type.casefold() for e in corpus.entities()}) if kind and not found else [kind.casefold()]

    def lay_out() -> Iterator[Line]:
        yield Line(f"{found:,} entities" if found != 1 else "1 entity", "bold")
        table = [(f"{e.degree:,}", f"{e.chunks:,}", e.type, e.name, shorten_line(e.description)) for e in rows]
        if kind and kind.casefold() not in types:
            near = get_close_matches(kind.casefold(), types)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(types)}."
            yield Line(f"No entity has the type {kind!r}; {hint}", indent=2)
        if table:
            yield from _align_columns([("neighbours", "chunks", "type", "name", "description"), *table], {0, 1})
        yield from _count_hidden_rows(found, len(rows))

    print_json(views.view_entity_rows(rows, found)) if run.as_json else print_page(lay_out())


@with_options("* as_json root settings")
def list_documents(run: CommandRun, text: Sought = "", limit: Limit = _LONG) -> None:
    """List the documents with their dates, and what changed since the index was built."""
    with run.corpus(silent=True) as corpus:
        rows, found = corpus.browser.documents(text, limit=_ALL if run.as_json else limit)

    def lay_out() -> Iterator[Line]:
        yield Line(format_quantity(found, "document"), "bold")
        table = list[tuple[str, ...]]()
        for d in rows:
            title = f"(the text of {d.same_as}) {d.title}" if d.same_as else d.title
            table.append((d.state, d.time, f"{d.entities:,}", d.id, shorten_line(title)))
        if table:
            yield from _align_columns([("state", "date", "entities", "id", "title"), *table], {2})
        yield from _count_hidden_rows(found, len(rows))

    print_json(views.view_documents(rows, found)) if run.as_json else print_page(lay_out())


@with_options("* as_json root settings")
def show_document(
    run: CommandRun, document: Annotated[str, typer.Argument(metavar="DOCUMENT", help="Its id.")]
) -> None:
    """Print the text of a document as the index holds it; citations count its characters."""
    with run.corpus(indexed=True, silent=True) as corpus:
        page = corpus.browser.document(document)
    told = {name: value for name, value in views.view_document(page, False).items() if name != "original"}
    run.print_result(lambda: told, lambda: page.text)


def _format_event(e: Event) -> str:
    marks = " (disputed)" if e.disputed else ""
    ended = f" — ended by: {e.ended_by}" if e.ended_by else ""
    return f"{e.when}{marks}  {e.text}{ended}  [{format_place(e, {})}]"


# ── lines ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Line:
    """One line or paragraph; a `row` is cut at the edge of a terminal, other text is wrapped at its indentation."""

    text: str = ""
    style: str = ""
    indent: int = 0
    row: bool = False


def print_page(lines: Iterator[Line], console: Console | None = None) -> None:
    """Print lines: plain where stdout is no terminal, else with emphasis and within its width."""
    if console is None and not sys.stdout.isatty():
        print_text("\n".join(" " * x.indent + x.text for x in lines))
        return
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    terminal = console or Console(highlight=False)
    for line in lines:
        text = Text(options.show_controls(line.text), line.style)
        if line.row:
            text.no_wrap, text.overflow = True, "ellipsis"
        terminal.print(Padding(text, (0, 0, 0, line.indent), expand=False))


def _make_heading(text: str) -> Iterator[Line]:
    yield Line()
    yield Line(text, "bold cyan")


def _align_columns(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> Iterator[Line]:
    """Rows under a first one of headings, in columns; those in `right` are numbers."""
    for n, row in enumerate(pad_columns(rows, right)):
        yield Line(row, "" if n else "dim", 2, row=True)


def _format_weight(weight: float) -> str:
    return f"{weight:,.0f}" if weight >= 100 or weight == int(weight) else f"{weight:.2f}"


def _count_hidden_rows(total: int, shown: int) -> Iterator[Line]:
    if total > shown:
        yield Line(f"… and {total - shown:,} more (--limit, --json)", "dim", 2)


# ── reports ──


def lay_out_reports(rows: Sequence[ReportRow], depth: int, depths: int, top: int, root: Path) -> Iterator[Line]:
    """The list of the reports at a depth."""
    deepest = f"depths go from 0 to {depths - 1}" if depths > 1 else "there is no other depth"
    yield Line(f"{format_quantity(len(rows), 'report')} at depth {depth}, best rating first; {deepest}", "bold")
    yield Line()
    yield from _tabulate_reports(rows[:top])
    yield from _count_hidden_rows(len(rows), top)
    yield Line()
    yield Line(f"Read one: sensegraph show reports{format_root_flag(root)} ID", "dim")


def _tabulate_reports(rows: Sequence[ReportRow]) -> Iterator[Line]:
    head = ("id", "rating", "entities", "documents", "title")
    rated = [
        (r.id[:_ID], f"{r.rating:.1f}", f"{r.entities:,}", f"{r.documents:,}", shorten_line(r.title)) for r in rows
    ]
    yield from _align_columns([head, *rated], {1, 2, 3})


def lay_out_report(page: ReportPage, top: int, files: Files, root: Path) -> Iterator[Line]:
    """A report, and the way down from it: `top` rows of each list."""
    yield from _lay_out_sources(page, files)
    if page.parent:
        yield from _make_heading("Part of")
        yield from _tabulate_reports([page.parent])
    if page.children:
        yield from _make_heading(f"Divided into ({len(page.children):,}, best rating first)")
        yield from _tabulate_reports(page.children[:top])
        yield from _count_hidden_rows(len(page.children), top)

    entities, relations = page.entities, page.relations
    yield from _make_heading(f"Entities ({len(entities):,}, those with most neighbours first)")
    names = [(f"{e.degree:,}", e.type, shorten_line(e.name, 40), shorten_line(e.description)) for e in entities[:top]]
    yield from _align_columns([("neighbours", "type", "name", "description"), *names], {0})
    yield from _count_hidden_rows(len(entities), top)
    if relations:
        yield from _make_heading(f"Relations ({len(relations):,}, heaviest first)")
        ends = [(_format_weight(r.weight), f"{r.source} – {r.target}", _describe_relation(r)) for r in relations[:top]]
        yield from _align_columns([("weight", "between", "description"), *ends], {0})
        yield from _count_hidden_rows(len(relations), top)

    yield from _lay_out_claims(page.claims, top, files)
    if page.chunks_in_all:
        yield from _make_heading(f"Chunks ({page.chunks_in_all:,}, those that name most of the entities first)")
    for c in page.chunks[:top]:
        where = f"{format_place(c.place, files)} ({format_quantity(c.entities, 'entity')})"
        yield Line(f"{where} “{shorten_line(c.text)}”", indent=2, row=True)
    yield from _count_hidden_rows(page.chunks_in_all, top)
    yield Line()
    below = f"sensegraph show reports{format_root_flag(root)} ID for a report below, " if page.children else ""
    yield Line(f"Further down: {below}sensegraph show entity{format_root_flag(root)} NAME", "dim")


def _lay_out_sources(page: ReportPage, files: Files) -> Iterator[Line]:
    """What the report says, and its sources."""
    r = page.report
    yield Line(r.title, "bold")
    counts = f"{format_quantity(r.entities, 'entity')}, {format_quantity(r.documents, 'document')}"
    yield Line(f"report {r.id}, depth {r.depth}, {counts}", "dim")
    why = f": {shorten_line(page.rating_explanation, 2 * _TEXT)}" if page.rating_explanation else ""
    yield Line(f"rating {r.rating:.1f} of 10{why}", "dim")
    yield Line()
    yield Line(page.summary)
    for n, finding in enumerate(page.findings, 1):
        yield Line()
        yield Line(f"{n}. {finding.summary}", "bold")
        yield Line(" ".join(finding.text.split()), indent=3)
    if page.citations:
        yield from _make_heading("Sources")
    for c in page.citations:
        yield Line(format_citation(c, files), indent=2)
    if page.unresolved:
        yield Line(f"removed {format_quantity(page.unresolved, 'invalid citation')}", "yellow", 2)


def _describe_relation(r: RelationRow) -> str:
    return shorten_line(f"{r.label}: {r.description}" if r.label and r.description else r.label or r.description)


def _lay_out_claims(rows: Sequence[ClaimRow], top: int, files: Files) -> Iterator[Line]:
    if not rows:
        return
    yield from _make_heading(f"Claims ({len(rows):,})")
    for c in rows[:top]:
        when = f" ({' to '.join(t for t in (c.starts, c.ends) if t)})" if c.starts or c.ends else ""
        whom = f" – {c.object}" if c.object and c.object.lower() != "none" else ""
        place = f" {format_place(c.place, files)}" if c.place else ""
        said = f"{c.subject}{whom}: {c.type}, {c.status}{when}{place} “{shorten_line(c.description, _TEXT)}”"
        yield Line(said, indent=2)
    yield from _count_hidden_rows(len(rows), top)


# ── entities ──


def lay_out_homonyms(name: str, found: Sequence[Entity], root: Path) -> Iterator[Line]:
    """The entities of one name, to choose from."""
    yield Line(f"{len(found)} entities are called {name}", "bold")
    yield Line()
    table = [("neighbours", "chunks", "type", "description")]
    table += [(f"{e.degree:,}", f"{len(e.chunks):,}", e.type, shorten_line(e.description)) for e in found]
    yield from _align_columns(table, {0, 1})
    yield Line()
    yield Line(f"Read one: sensegraph show entity{format_root_flag(root)} NAME --type TYPE", "dim")


def lay_out_entity(page: EntityPage, top: int, files: Files, root: Path) -> Iterator[Line]:
    """All that is known of an entity: `top` rows of each list."""
    e = page.entity
    yield Line(f"{e.name} ({e.type})", "bold")
    seen = f"{format_quantity(page.frequency, 'mention')} in {format_quantity(e.chunks, 'chunk')}"
    yield Line(f"entity {e.id}, {seen}, {format_quantity(e.degree, 'neighbour')}", "dim")
    yield Line()
    yield Line(e.description)
    yield from _make_heading(f"What the chunks say ({len(page.descriptions):,})")
    for s in page.descriptions[:top]:
        place = f"{format_place(s.place, files)} " if s.place else ""
        yield Line(f"{place}“{shorten_line(s.text, _TEXT)}”", indent=2)
    yield from _count_hidden_rows(len(page.descriptions), top)
    if neighbours := page.neighbours:
        yield from _make_heading(f"Neighbours ({len(neighbours):,}, heaviest relation first)")
        near = [(n.relation, n.entity) for n in neighbours[:top]]
        table = [(_format_weight(r.weight), n.type, n.name, _describe_relation(r)) for r, n in near]
        yield from _align_columns([("weight", "type", "name", "relation"), *table], {0})
        yield from _count_hidden_rows(len(neighbours), top)
    yield from _lay_out_claims(page.claims, top, files)
    if homes := page.communities:
        yield from _make_heading("Communities, from the coarsest down")
        yield from _align_columns([("depth", "id", "title"), *((str(r.depth), r.id[:_ID], r.title) for r in homes)])
        yield Line()
        yield Line(f"Read one: sensegraph show reports{format_root_flag(root)} ID", "dim")
