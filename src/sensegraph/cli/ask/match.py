"""The command that asks the graph by patterns: match."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import is_dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sensegraph.cli import question_options
from sensegraph.cli.options import (
    Json,
    Root,
    Set,
    Trust,
    find_record_files,
    open_corpus,
    print_json,
    print_message,
    print_text,
    read_overrides,
    require_index,
)
from sensegraph.cli.pages import measure_width
from sensegraph.cli.show import format_quantity, shorten_line
from sensegraph.corpus.views import view_matches

if TYPE_CHECKING:
    from sensegraph.graphs.match.matches import Matches, Parameter

_HERE = Path(".")
_CELL = 60  # characters of a cell that people are shown
_WIDEST = 100  # of the last column
_ROWS = 100  # rows that people are shown where the query sets no limit


def match_pattern(
    query: Annotated[
        str, typer.Argument(metavar="PATTERN", help="As in '(p:Person)-[r]-(c:Company)'; or a whole query.")
    ],
    where: Annotated[
        str, typer.Option("--where", metavar="CONDITION", help="As in 'p.degree > 5 AND c.name STARTS WITH \"A\"'.")
    ] = "",
    returned: Annotated[
        str, typer.Option("--return", metavar="ITEMS", help="As in 'c.name, count(*) AS times'.",
                          show_default="all of the pattern")
    ] = "",
    order: Annotated[str, typer.Option("--order", metavar="ITEMS", help="As in 'times DESC, c.name'.")] = "",
    skip: Annotated[int | None, typer.Option("--skip", min=0, metavar="N", help="Leave out the first rows.")] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=0, metavar="N", help="Rows, at most.")] = None,
    param: Annotated[
        list[str] | None, typer.Option("--param", metavar="NAME=VALUE", help="The value of $NAME; lists as JSON.")
    ] = None,
    root: Root = _HERE,
    as_json: Json = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print comma-separated values.")] = False,
    cite: Annotated[bool, typer.Option("--cite", help="Say which places of documents each row rests on.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Say on stderr how the rows were found.")] = False,
    documents: question_options.Documents = None,
    metadata: Annotated[
        list[str] | None,
        typer.Option("--metadata", metavar="TEST", help="Read only documents whose metadata pass, as in year>=2020."),
    ] = None,
    since: question_options.Since = None,
    until: question_options.Until = None,
    as_of: question_options.AsOf = None,
    during: question_options.During = None,
    known_at: question_options.KnownAt = None,
    unknown: question_options.Unknown = "include",
    most: Annotated[
        int | None, typer.Option("--most", min=1, metavar="N", help="Combinations that a step may find.",
                                 show_default="2000000")
    ] = None,
    timeout: Annotated[
        float | None, typer.Option("--timeout", min=0.001, metavar="SECONDS", help="How long it may take.",
                                   show_default="10")
    ] = None,
    settings: Set = None,
    trust: Trust = False,
) -> None:  # fmt: skip
    """Find what matches a pattern in the graph: who is linked to whom, how often, by which ways, where it is said."""
    form: Literal["json", "csv", "text"] = "json" if as_json else "csv" if as_csv else "text"
    scope = question_options.read_scope(documents, metadata, since, until)
    with open_corpus(root, read_overrides(settings, trust=trust)) as corpus:
        require_index(corpus, root)
        scope = question_options.restrict_to_time(scope, as_of, during, known_at, unknown)
        found = corpus.match(
            query, where=where, returned=returned, order=order, skip=skip, limit=limit,
            parameters=_parse_parameters(param), scope=scope, cite=cite, most=most, seconds=timeout,
        )  # fmt: skip
        files = find_record_files(corpus, {c.document for c in found.citations})
    if explain:
        print_message("\n".join(f"{i}. {step}" for i, step in enumerate(found.steps, 1)))
    _print_matches(found, form, files)


def _parse_parameters(pairs: Sequence[str] | None) -> dict[str, Parameter]:
    """`name=value` pairs: a number, a truth value or a list where JSON reads one, else a text."""
    given = dict[str, Any]()
    for pair in pairs or ():
        name, equals, value = pair.partition("=")
        if not equals or not name.isidentifier():
            raise typer.BadParameter(f"--param {pair!r} is not of the form name=value, such as --param who=Ann.")
        try:
            given[name] = json.loads(value)
        except ValueError:  # no JSON, or a number too long to read
            given[name] = value
    return given


def _print_matches(found: Matches, form: str, files: dict[str, str]) -> None:
    if form == "json":
        print_json(view_matches(found))
    elif form == "csv":
        file = StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*found.columns, *(["citations"] if found.marks else [])])
        for i, row in enumerate(found.rows):
            places = [found.citations[m - 1] for m in found.marks[i]] if found.marks else []
            cited = "; ".join(f"{c.document}:{c.start}-{c.end}" for c in places)
            writer.writerow([*map(_format_value, row), *([cited] if found.marks else [])])
        print_text(file.getvalue().rstrip("\n"))
        for note in found.notes:
            print_message(note)
    else:
        print_text("\n".join(_lay_out_matches(found, files)))


# ── for people ──


def _format_value(value: Any) -> str:
    """A value on one line: an entity by its name, a relation by its label or what it says, a path by its parts."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, tuple):
        return ", ".join(map(_format_value, value))
    is_element = is_dataclass(value)
    if not is_element:
        return str(value)
    from sensegraph.index.browse.pages import EntityRow, RelationRow

    if isinstance(value, EntityRow):
        return value.name
    if isinstance(value, RelationRow):
        return value.label or value.description
    if hasattr(value, "parts"):
        parts = (p.label if isinstance(p, RelationRow) else _format_value(p) for p in value.parts)
        return " — ".join(parts).replace("—  —", "—")
    return str(value.description)


def _lay_out_matches(found: Matches, files: dict[str, str]) -> Iterator[str]:
    """A table of the rows under the names of their columns, numbers at the right; then the citations and the notes."""
    rows = found.rows[:_ROWS]
    if rows:
        last = len(found.columns) - 1
        cells = [
            [shorten_line(_format_value(v), _WIDEST if i == last else _CELL) for i, v in enumerate(row)] for row in rows
        ]
        for n, marks in enumerate(found.marks[: len(rows)]):
            cells[n].append("".join(f"[{m}]" for m in marks))
        head = [*found.columns, *([""] if found.marks else [])]
        numbers = {i for i in range(last + 1) if all(isinstance(row[i], int | float | None) for row in rows)}
        widths = [max(measure_width(row[i]) for row in (head, *cells)) for i in range(len(head))]
        for row in (head, *cells):
            pads = [" " * (w - measure_width(c)) for c, w in zip(row, widths, strict=True)]
            parts = (p + c if i in numbers else c + p for i, (c, p) in enumerate(zip(row, pads, strict=True)))
            yield "  ".join(parts).rstrip()
    left = found.found - len(rows)
    yield format_quantity(found.found, "row") + (f", {len(rows):,} shown" if left else "")
    if shown := sorted({m for marks in found.marks[: len(rows)] for m in marks}):
        yield "\nSources"
        for c in (found.citations[m - 1] for m in shown):
            within = f" in {files[c.document]}" if c.document in files else ""
            yield f"[{c.marker}] {c.document}:{c.start}-{c.end}{within} “{shorten_line(c.quote)}”"
    if found.notes:
        yield "\nNotes"
        yield from (f"- {note}" for note in found.notes)
