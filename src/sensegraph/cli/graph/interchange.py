"""Commands that carry an index in and out: import, export."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

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
    print_text,
    read_overrides,
    require_index,
)  # fmt: skip
from sensegraph.cli.progress import show_progress
from sensegraph.corpus.views import view_exported, view_imported
from sensegraph.errors import InputError

_HERE = Path(".")
_FORMATS = ("graphrag", "csv", "graphml", "cypher", "json")
_TABLES = ("jsonl", "parquet")
_OF_IMPORT = "descriptions of "  # documents made by an earlier import of the same tables


def _check_one_of(known: tuple[str, ...]) -> Any:
    def check(name: str) -> str:
        if name not in known:
            raise typer.BadParameter(f"{name!r} is none of {', '.join(known)}")
        return name

    return check


def import_index(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where the tables are, as .jsonl or .parquet.")],
    root: Root = _HERE,
    engine: Engine = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Also where the corpus has documents or an index of its own.")
    ] = False,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    quiet: Quiet = False,
    as_json: Json = False,
    settings: Set = None,
    trust: Trust = False,
) -> None:
    """Make an index of the tables of a GraphRAG index made elsewhere, or of a graph of your own.

    Only entities and relationships must be there. Reports are written where there are none; otherwise no model is asked
    for anything but vectors.
    """
    from sensegraph.cli.show import format_quantity
    from sensegraph.graphs.interchange.importing import import_tables
    from sensegraph.graphs.interchange.table_files import read_tables

    tables, given = read_tables(folder), read_overrides(settings, engine, max_tokens, max_cost, trust=trust)
    with show_progress(quiet) as report, open_corpus(root, given, progress=report, create=True) as corpus:
        imported = {d.id for d in tables.documents} | {u.id for u in tables.text_units}
        own = [n for n in corpus.document_keys() if n not in imported and not n.startswith(_OF_IMPORT)]
        if own and not replace:  # the import would hide documents that are not its own
            raise InputError(
                f"The corpus in {root.resolve()} holds {len(own)} documents of its own, such as {own[0]!r}; an import "
                "would take the place of their index: import into another folder (--root), or say --replace."
            )
        corpus.privacy.refuse_masking("an import brings entities, relations and reports that were read elsewhere")
        with corpus.store.exclusive():
            done = import_tables(tables, corpus.runtime(), corpus.settings.index, corpus.add)
    if as_json:
        print_json(view_imported(done))
    elif not quiet:
        found = [
            format_quantity(n, table.replace("_", " ")[:-1]) if n == 1 else f"{n:,} {table}"
            for table, n in done.rows.items()
        ]
        lines = [
            "read " + ", ".join(found).replace("_", " "),
            "index: " + ", ".join(f"{n:,} {kind}" for kind, n in done.manifest.counts.items()),
            "communities by depth: " + (", ".join(f"{n:,}" for n in done.manifest.clusters) or "none"),
            *(f"- {note}" for note in done.notes),
            f"`sensegraph index{format_root_flag(root)}` would read the documents anew and put its own graph in the "
            "place of this one; importing again brings this back.",
        ]
        print_text("\n".join(lines))


def export_index(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to write; made when there is none.")],
    root: Root = _HERE,
    form: Annotated[
        str,
        typer.Option("--format", callback=_check_one_of(_FORMATS), metavar="|".join(_FORMATS), help="What to write."),
    ] = "graphrag",
    tables: Annotated[
        str,
        typer.Option("--tables", callback=_check_one_of(_TABLES), metavar="|".join(_TABLES), help="Files of graphrag."),
    ] = "jsonl",
    force: Annotated[bool, typer.Option("--force", help="Write into a folder that is not empty.")] = False,
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """Write the index as the seven tables of GraphRAG, or its graph as CSV, GraphML, Cypher or JSON."""
    from sensegraph.graphs.interchange.exporting import export_tables
    from sensegraph.graphs.interchange.property_graphs import export_graph

    with open_corpus(root, read_overrides(settings)) as corpus:
        require_index(corpus, root)
        index = corpus.index()
        if form == "graphrag":
            done = export_tables(index, corpus.store, folder, tables, force=force)  # type: ignore[arg-type]
        else:
            done = export_graph(index, folder, form, force=force)  # type: ignore[arg-type]
    if as_json:
        print_json(view_exported(done))
    else:
        lines = [str(path) for path in done.files]
        lines.append(", ".join(f"{n:,} {kind.replace('_', ' ')}" for kind, n in done.counts.items()))
        print_text("\n".join([*lines, *(f"- {note}" for note in done.notes)]))
