"""Reports and entities as lines for people: plain where stdout is no terminal, else with emphasis, cut to its width."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

from sensegraph.cli.options import format_root_flag, print_text, strip_controls
from sensegraph.cli.show import format_quantity, shorten_line

if TYPE_CHECKING:
    from rich.console import Console

    from sensegraph.index.browse.pages import (
        ClaimRow,
        EntityPage,
        Place,
        RelationRow,
        ReportPage,
        ReportRow,
    )
    from sensegraph.types import Entity

_ID = 10  # digits of an id that people are shown; the beginning of an id is enough for every command
_TEXT = 240  # characters of a description that people are shown
Files = Mapping[str, str]


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
        text = Text(strip_controls(line.text), line.style)
        if line.row:
            text.no_wrap, text.overflow = True, "ellipsis"
        terminal.print(Padding(text, (0, 0, 0, line.indent), expand=False))


def _make_heading(text: str) -> Iterator[Line]:
    yield Line()
    yield Line(text, "bold cyan")


def _align_columns(rows: Sequence[Sequence[str]], right: frozenset[int] = frozenset()) -> Iterator[Line]:
    """Rows under a first one of headings, in columns; those in `right` are numbers; the last column is not padded."""
    widths = [max(measure_width(row[i]) for row in rows) for i in range(len(rows[0]))]
    for n, row in enumerate(rows):
        pads = [" " * (w - measure_width(c)) for c, w in zip(row, widths, strict=True)]
        cells = [pad + c if i in right else c + pad for i, (c, pad) in enumerate(zip(row, pads, strict=True))]
        yield Line("  ".join(cells).rstrip(), "" if n else "dim", 2, row=True)


def measure_width(text: str) -> int:
    """The cells of a terminal that `text` takes: two for a wide character."""
    return sum(2 if east_asian_width(c) in "WF" else 1 for c in text)


def _format_weight(weight: float) -> str:
    return f"{weight:,.0f}" if weight >= 100 or weight == int(weight) else f"{weight:.2f}"


def _count_hidden_rows(total: int, shown: int) -> Iterator[Line]:
    if total > shown:
        yield Line(f"… and {total - shown:,} more (--top, --json)", "dim", 2)


# ── reports ──


def lay_out_reports(rows: Sequence[ReportRow], depth: int, depths: int, top: int, root: Path) -> Iterator[Line]:
    """The list of the reports at a depth."""
    deepest = f"depths go from 0 to {depths - 1}" if depths > 1 else "there is no other depth"
    yield Line(f"{format_quantity(len(rows), 'report')} at depth {depth}, best rating first; {deepest}", "bold")
    yield Line()
    yield from _tabulate_reports(rows[:top])
    yield from _count_hidden_rows(len(rows), top)
    yield Line()
    yield Line(f"Read one: sensegraph reports{format_root_flag(root)} ID", "dim")


def _tabulate_reports(rows: Sequence[ReportRow]) -> Iterator[Line]:
    table = [("id", "rating", "entities", "documents", "title")]
    table += [
        (r.id[:_ID], f"{r.rating:.1f}", f"{r.entities:,}", f"{r.documents:,}", shorten_line(r.title)) for r in rows
    ]
    yield from _align_columns(table, frozenset({1, 2, 3}))


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
    yield from _align_columns([("neighbours", "type", "name", "description"), *names], frozenset({0}))
    yield from _count_hidden_rows(len(entities), top)
    if relations:
        yield from _make_heading(f"Relations ({len(relations):,}, heaviest first)")
        ends = [(_format_weight(r.weight), f"{r.source} – {r.target}", _describe_relation(r)) for r in relations[:top]]
        yield from _align_columns([("weight", "between", "description"), *ends], frozenset({0}))
        yield from _count_hidden_rows(len(relations), top)

    yield from _lay_out_claims(page.claims, top, files)
    if page.chunks_in_all:
        yield from _make_heading(f"Chunks ({page.chunks_in_all:,}, those that name most of the entities first)")
    for c in page.chunks[:top]:
        yield Line(
            f"{_format_place(c.place, files)} ({format_quantity(c.entities, 'entity')}) “{shorten_line(c.text)}”",
            indent=2,
            row=True,
        )
    yield from _count_hidden_rows(page.chunks_in_all, top)
    yield Line()
    below = f"sensegraph reports{format_root_flag(root)} ID for a report below, " if page.children else ""
    yield Line(f"Further down: {below}sensegraph entity{format_root_flag(root)} NAME", "dim")


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
        where = f" in {files[c.document]}" if c.document in files else ""
        yield Line(f"[{c.marker}] {c.document}:{c.start}-{c.end}{where} “{shorten_line(c.quote)}”", indent=2)
    if page.unresolved:
        yield Line(f"{format_quantity(page.unresolved, 'source')} led nowhere", "yellow", 2)


def _describe_relation(r: RelationRow) -> str:
    return shorten_line(f"{r.label}: {r.description}" if r.label and r.description else r.label or r.description)


def _lay_out_claims(rows: Sequence[ClaimRow], top: int, files: Files) -> Iterator[Line]:
    if not rows:
        return
    yield from _make_heading(f"Claims ({len(rows):,})")
    for c in rows[:top]:
        when = f" ({' to '.join(t for t in (c.starts, c.ends) if t)})" if c.starts or c.ends else ""
        whom = f" – {c.object}" if c.object and c.object.lower() != "none" else ""
        place = f" {_format_place(c.place, files)}" if c.place else ""
        said = f"{c.subject}{whom}: {c.type}, {c.status}{when}{place} “{shorten_line(c.description, _TEXT)}”"
        yield Line(said, indent=2)
    yield from _count_hidden_rows(len(rows), top)


def _format_place(place: Place, files: Files) -> str:
    where = f" in {files[place.document]}" if place.document in files else ""
    return f"{place.document}:{place.start}-{place.end}{where}"


# ── entities ──


def lay_out_homonyms(name: str, found: Sequence[Entity], root: Path) -> Iterator[Line]:
    """The entities of one name, to choose from."""
    yield Line(f"{len(found)} entities are called {name}", "bold")
    yield Line()
    table = [("neighbours", "chunks", "type", "description")]
    table += [(f"{e.degree:,}", f"{len(e.chunks):,}", e.type, shorten_line(e.description)) for e in found]
    yield from _align_columns(table, frozenset({0, 1}))
    yield Line()
    yield Line(f"Read one: sensegraph entity{format_root_flag(root)} NAME --type TYPE", "dim")


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
        place = f"{_format_place(s.place, files)} " if s.place else ""
        yield Line(f"{place}“{shorten_line(s.text, _TEXT)}”", indent=2)
    yield from _count_hidden_rows(len(page.descriptions), top)
    if neighbours := page.neighbours:
        yield from _make_heading(f"Neighbours ({len(neighbours):,}, heaviest relation first)")
        table = [("weight", "type", "name", "relation")]
        table += [
            (_format_weight(n.relation.weight), n.entity.type, n.entity.name, _describe_relation(n.relation))
            for n in neighbours[:top]
        ]
        yield from _align_columns(table, frozenset({0}))
        yield from _count_hidden_rows(len(neighbours), top)
    yield from _lay_out_claims(page.claims, top, files)
    if homes := page.communities:
        yield from _make_heading("Communities, from the coarsest down")
        yield from _align_columns([("depth", "id", "title"), *((str(r.depth), r.id[:_ID], r.title) for r in homes)])
        yield Line()
        yield Line(f"Read one: sensegraph reports{format_root_flag(root)} ID", "dim")
