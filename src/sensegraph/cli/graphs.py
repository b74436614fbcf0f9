"""Commands on the finished graph: those of the group `graph`."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, is_dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sensegraph.cli import options
from sensegraph.cli.asking import ScopeOptions
from sensegraph.cli.options import CommandRun, print_message, print_text, with_options
from sensegraph.cli.show import format_citation, format_place, format_quantity, pad_columns, shorten_line
from sensegraph.corpus.views import view_exported, view_imported, view_matches
from sensegraph.errors import InputError

if TYPE_CHECKING:
    from sensegraph.graphs.drawing.drawing import Drawing
    from sensegraph.graphs.match.matches import Matches, Parameter

_CELL = 60  # characters of a cell that people are shown
_WIDEST = 100  # of the last column
_ROWS = 100  # rows that people are shown where the query sets no limit
_PICTURES = ("svg", "png", "html")
_DEPTHS = (0, 1)  # those of Figure 4 of Edge et al. (2024)
_FORMATS = ("graphrag", "csv", "graphml", "cypher", "json", "ladybug", "ladybug-cypher")
_TABLES = ("jsonl", "parquet")
_OF_IMPORT = "descriptions of "  # documents made by an earlier import of the same tables


# ── match ──


@dataclass(frozen=True, slots=True)
class _MatchScope(ScopeOptions):
    """The options of a question's scope, with another name for the one that a pattern has already."""

    metadata: Annotated[
        list[str] | None,
        typer.Option("--metadata", metavar="TEST", help="Filter documents by metadata, e.g. year>=2020.",
                     rich_help_panel=options.FILTERS),
    ] = None  # fmt: skip


@with_options("where returned order skip limit param * as_json exit_code root settings trust")
def match_pattern(
    run: CommandRun,
    query: Annotated[
        str, typer.Argument(metavar="PATTERN", help="As in '(p:Person)-[r]-(c:Company)'; or a whole query.")
    ],
    *,
    where: Annotated[
        str, typer.Option("--where", metavar="CONDITION", help="As in 'p.degree > 5 AND c.name STARTS WITH \"A\"'.")
    ] = "",
    returned: Annotated[
        str, typer.Option("--return", metavar="ITEMS", help="As in 'c.name, count(*) AS times'.",
                          show_default="all of the pattern")
    ] = "",
    order: Annotated[str, typer.Option("--order", metavar="ITEMS", help="As in 'times DESC, c.name'.")] = "",
    skip: Annotated[int | None, typer.Option("--skip", min=0, metavar="N", help="Leave out the first rows.")] = None,
    limit: Annotated[int | None, typer.Option("--limit", "-n", min=0, metavar="N", help="Rows, at most.")] = None,
    param: Annotated[
        list[str] | None, typer.Option("--param", metavar="NAME=VALUE", help="The value of $NAME; lists as JSON.")
    ] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print comma-separated values.")] = False,
    cite: Annotated[bool, typer.Option("--cite", help="Say which places of documents each row rests on.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Say on stderr how the rows were found.")] = False,
    scope: _MatchScope,
    most: Annotated[
        int | None, typer.Option("--most", min=1, metavar="N", help="Combinations that a step may find.",
                                 show_default="2000000")
    ] = None,
    timeout: Annotated[
        float | None, typer.Option("--timeout", min=0.001, metavar="SECONDS", help="How long it may take.",
                                   show_default="10")
    ] = None,
    exit_code: options.ExitCode = False,
) -> None:  # fmt: skip
    """Find what matches a pattern in the graph: who is linked to whom, how often, by which paths, and where."""
    documents = scope.read_filter()
    with run.corpus(indexed=True, silent=True) as corpus:
        within = scope.add_times(documents)
        found = corpus.match(
            query, where=where, returned=returned, order=order, skip=skip, limit=limit,
            parameters=_parse_parameters(param), scope=within, cite=cite, most=most, seconds=timeout,
        )  # fmt: skip
        files = options.find_record_files(corpus, {c.document for c in found.citations})
    if explain:
        print_message("\n".join(f"{i}. {step}" for i, step in enumerate(found.steps, 1)))
    if as_csv and not run.as_json:
        _print_csv(found)
    else:
        run.print_result(lambda: view_matches(found), lambda: "\n".join(_lay_out_matches(found, files)))
    if exit_code and not found.found:
        raise typer.Exit(options.NOTHING_FOUND)


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


def _print_csv(found: Matches) -> None:
    from sensegraph.documents.cells import write_cell

    file = StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(map(write_cell, [*found.columns, *(["citations"] if found.marks else [])]))
    for i, row in enumerate(found.rows):
        places = [found.citations[m - 1] for m in found.marks[i]] if found.marks else []
        cited = "; ".join(format_place(c, {}) for c in places)
        writer.writerow(map(write_cell, [*map(_format_value, row), *([cited] if found.marks else [])]))
    print_text(file.getvalue().rstrip("\n"))
    for note in found.notes:
        print_message(note)


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
        yield from pad_columns([head, *cells], numbers)
    left = found.found - len(rows)
    yield format_quantity(found.found, "row") + (f", {len(rows):,} shown" if left else "")
    if shown := sorted({m for marks in found.marks[: len(rows)] for m in marks}):
        yield "\nSources"
        yield from (format_citation(found.citations[m - 1], files) for m in shown)
    if found.notes:
        yield "\nNotes"
        yield from (f"- {note}" for note in found.notes)


# ── draw ──


@with_options("* as_json root settings")
def draw_index(
    run: CommandRun,
    depth: Annotated[
        list[int] | None,
        typer.Option("--depth", min=0, metavar="N", help="Which communities: 0 is the coarsest; repeatable.",
                     show_default="0 and 1"),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option("--format", metavar="svg|png|html", help="What to write.", show_default="by --out, else svg"),
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="The file to write, over an earlier one.",
                     show_default="communities.svg in the current folder"),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=0, metavar="N", help="Communities that are named, at most.")
    ] = 40,
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="N", help="Layout seed.")] = 0,
    title: Annotated[
        str | None, typer.Option("--title", metavar="TEXT", help="The title.", show_default="the folder's name")
    ] = None,
    font: Annotated[
        Path | None,
        typer.Option("--font", metavar="FILE", help="The font file of a PNG.", show_default="that of Pillow"),
    ] = None,
) -> None:  # fmt: skip
    """Draw the communities: entities sized by degree, coloured by community.

    Files are written into the current folder, also with --root, unless --out names another place. They are printed.
    """
    from sensegraph.graphs.drawing.drawing import lay_out_drawing

    form, place = _choose_form(kind, to)
    with run.corpus(indexed=True, silent=True) as corpus:
        index = corpus.index()
        depths = sorted(set(depth)) if depth else [d for d in _DEPTHS if d < max(index.depth, 1)]
        if index.depth and depths[-1] >= index.depth:
            raise InputError(f"Depth {depths[-1]} not found: this index has depths 0 to {index.depth - 1}.")
        # the layout is the same for every choice of the first depths
        levels = [index.clusters_at(d) for d in range(min(max(*depths, *_DEPTHS) + 1, index.depth))]
        drawing = lay_out_drawing(index.graph, levels, name=title or run.root.resolve().name, seed=seed)
    written = dict[Path, bytes]()
    if form == "html":
        from sensegraph.graphs.drawing.rendering import render_html

        written[place] = render_html(drawing, depths).encode()
    else:
        for d in depths:
            one = place if len(depths) == 1 else place.with_name(f"{place.stem}-depth-{d}{place.suffix}")
            written[one] = _draw_still(drawing, d, limit, form, font)
    for file, content in written.items():
        file.write_bytes(content)
    files = list(map(str, written))
    if to is None:
        print_message(f"written into the current folder, {Path.cwd()}; --out FILE names another place")
    run.print_result(lambda: {"files": files}, lambda: "\n".join(files))


def _choose_form(kind: str | None, to: Path | None) -> tuple[str, Path]:
    """The format and the file: each says the other where it is not given."""
    named = to.suffix.removeprefix(".").lower() if to else ""
    form = kind or (named if named in _PICTURES else "svg")
    if form not in _PICTURES:
        from sensegraph.corpus.settings import describe_choices

        raise typer.BadParameter(f"the format cannot be {describe_choices(form, _PICTURES)}")
    if to and named != form:
        raise typer.BadParameter(f"{to} does not end in .{form}; name a file that does, or another --format.")
    return form, to or Path(f"communities.{form}")


def _draw_still(drawing: Drawing, depth: int, top: int, form: str, font: Path | None) -> bytes:
    from sensegraph.graphs.drawing.rendering import list_missing_characters, render_png, render_svg
    from sensegraph.graphs.drawing.scene import compose_scene

    picture = compose_scene(drawing, depth, top)
    if form == "svg":
        return render_svg(picture).encode()
    if lost := list_missing_characters(picture, font):
        many = "1 character is" if len(lost) == 1 else f"{len(lost)} characters are"
        print_message(f"{many} not in the font ({''.join(lost[:20])}); name one that has all with --font.")
    return render_png(picture, font)


# ── import and export ──


def _check_one_of(known: tuple[str, ...]) -> Any:
    def check(name: str) -> str:
        if name not in known:
            from sensegraph.corpus.settings import describe_choices

            raise typer.BadParameter(f"it cannot be {describe_choices(name, known)}")
        return name

    return check


@with_options("* max_tokens max_cost as_json quiet root engine settings trust")
def import_index(
    run: CommandRun,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where the tables are, as .jsonl or .parquet.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Also where the corpus has documents or an index of its own.")
    ] = False,
) -> None:
    """Make an index of the tables of a GraphRAG index made elsewhere, or of a graph of your own.

    Only entities and relationships must be there. Reports are written where there are none; otherwise no model is asked
    for anything but vectors.
    """
    from sensegraph.graphs.interchange.importing import import_tables
    from sensegraph.graphs.interchange.table_files import read_tables

    tables = read_tables(folder)
    with run.corpus(create=True) as corpus:
        imported = {d.id for d in tables.documents} | {u.id for u in tables.text_units}
        own = [n for n in corpus.document_keys() if n not in imported and not n.startswith(_OF_IMPORT)]
        if own and not replace:  # the import would hide documents that are not its own
            raise InputError(
                f"The corpus in {run.root.resolve()} holds {len(own)} documents of its own, such as {own[0]!r}; an "
                "import would take the place of their index: import into another folder (--root), or say --replace."
            )
        corpus.privacy.refuse_masking("an import brings entities, relations and reports that were read elsewhere")
        with corpus.store.exclusive():
            done = import_tables(tables, corpus.runtime(), corpus.settings.index, corpus.add)
    read = ((n, table.replace("_", " ")) for table, n in done.rows.items())
    found = [format_quantity(n, table[:-1]) if n == 1 else f"{n:,} {table}" for n, table in read]
    lines = [
        "read " + ", ".join(found),
        "index: " + ", ".join(f"{n:,} {kind}" for kind, n in done.manifest.counts.items()),
        "communities by depth: " + (", ".join(f"{n:,}" for n in done.manifest.clusters) or "none"),
        *(f"- {note}" for note in done.notes),
        f"`sensegraph index{options.format_root_flag(run.root)}` would read the documents anew and put its own graph "
        "in the place of this one; importing again brings this back.",
    ]
    run.print_result(lambda: view_imported(done), lambda: "\n".join(lines))


@with_options("* as_json root settings")
def export_index(
    run: CommandRun,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to write; made when there is none.")],
    form: Annotated[
        str,
        typer.Option("--format", callback=_check_one_of(_FORMATS), metavar="|".join(_FORMATS), help="What to write."),
    ] = "graphrag",
    tables: Annotated[
        str,
        typer.Option("--tables", callback=_check_one_of(_TABLES), metavar="|".join(_TABLES), help="Files of graphrag."),
    ] = "jsonl",
    force: Annotated[bool, typer.Option("--force", help="Write into a folder that is not empty.")] = False,
) -> None:
    """Write the index as the seven tables of GraphRAG, or its graph as CSV, GraphML, Cypher, JSON or a database."""
    from sensegraph.graphs.interchange.exporting import export_tables
    from sensegraph.graphs.interchange.property_graphs import export_graph

    with run.corpus(indexed=True, silent=True) as corpus:
        index = corpus.index()
        if form == "graphrag":
            done = export_tables(index, corpus.store, folder, tables, force=force)  # type: ignore[arg-type]
        elif form.startswith("ladybug"):
            from sensegraph.graphs.interchange.ladybug import export_ladybug

            done = export_ladybug(index, folder, script=form.endswith("cypher"), force=force)
        else:
            done = export_graph(index, folder, form, force=force)  # type: ignore[arg-type]
    counts = ", ".join(f"{n:,} {kind.replace('_', ' ')}" for kind, n in done.counts.items())
    lines = [*map(str, done.files), counts, *(f"- {note}" for note in done.notes)]
    run.print_result(lambda: view_exported(done), lambda: "\n".join(lines))
