"""Commands that read an index without a question: reports, entity."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sensegraph.cli.options import (
    Json,
    Root,
    Set,
    find_record_files,
    open_corpus,
    print_json,
    read_overrides,
    require_index,
)
from sensegraph.corpus.views import view_entities, view_report, view_reports

_HERE = Path(".")

Top = Annotated[int, typer.Option("--top", min=1, metavar="N", help="Rows of each list; --json gives all of them.")]


def browse_reports(
    report: Annotated[
        str | None,
        typer.Argument(metavar="[ID]", help="A report: its id, of now or before, the beginning of it, or its title."),
    ] = None,
    root: Root = _HERE,
    depth: Annotated[
        int, typer.Option("--depth", min=0, metavar="N", help="Which reports to list: 0 is the coarsest.")
    ] = 0,
    top: Top = 20,
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """List the reports of a depth, best first; or show one of them with its sources and all that is below it."""
    from sensegraph.cli import pages

    with open_corpus(root, read_overrides(settings)) as corpus:
        require_index(corpus, root)
        if report is None:
            rows, depths = corpus.reports(depth), corpus.index().depth
            shown = min(depth, max(0, depths - 1))
            if as_json:
                print_json(view_reports(rows, shown, depths))
            else:
                pages.print_page(pages.lay_out_reports(rows, shown, depths, top, root))
            return
        page = corpus.browser.report(report, chunks=None if as_json else top)
        if as_json:
            print_json(view_report(page))
        else:
            pages.print_page(pages.lay_out_report(page, top, find_record_files(corpus, page.documents), root))


def browse_entity(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name, in any case, or its id.")],
    kind: Annotated[str, typer.Option("--type", metavar="TYPE", help="Which, where several have the name.")] = "",
    root: Root = _HERE,
    top: Top = 20,
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """Show all that is known of an entity: what each chunk says, its neighbours, claims and communities."""
    from sensegraph.cli import pages

    with open_corpus(root, read_overrides(settings)) as corpus:
        require_index(corpus, root)
        found = corpus.browser.entities_named(name, kind)
        if as_json:
            print_json(view_entities([corpus.browser.entity_page(e) for e in found]))
        elif len(found) > 1:
            pages.print_page(pages.lay_out_homonyms(name, found, root))
        else:
            page = corpus.browser.entity_page(found[0])
            pages.print_page(pages.lay_out_entity(page, top, find_record_files(corpus, page.documents), root))
