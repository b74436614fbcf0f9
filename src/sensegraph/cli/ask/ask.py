"""Commands that read an index: query, search, methods."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sensegraph.cli.options import (
    Engine,
    Json,
    MaxCost,
    MaxTokens,
    MethodName,
    Question,
    Root,
    Set,
    Trust,
    find_record_files,
    open_corpus,
    print_json,
    print_piece,
    print_text,
    read_overrides,
    require_index,
)  # fmt: skip
from sensegraph.cli.progress import show_progress
from sensegraph.cli.question_options import (
    AsOf,
    Documents,
    During,
    History,
    KnownAt,
    Since,
    Unknown,
    Until,
    Where,
    read_history,
    read_scope,
    restrict_to_time,
)

_HERE = Path(".")


def query_corpus(
    question: Question,
    root: Root = _HERE,
    method: MethodName = "auto",
    depth: Annotated[
        int | None, typer.Option("--depth", min=0, metavar="N", help="Which reports to read: 0 is the coarsest.")
    ] = None,
    documents: Documents = None,
    where: Where = None,
    since: Since = None,
    until: Until = None,
    as_of: AsOf = None,
    during: During = None,
    known_at: KnownAt = None,
    unknown: Unknown = "include",
    history: History = None,
    stream: Annotated[bool, typer.Option("--stream", help="Print the answer while it is written.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Hold the answer against the sources that it cites.")] = False,
    as_json: Json = False,
    engine: Engine = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    settings: Set = None,
    trust: Trust = False,
) -> None:
    """Answer a question about the documents, with citations that lead to the exact span of the source."""
    from sensegraph.cli import show
    from sensegraph.cli.ask.answer_checks import Checks, check_sources
    from sensegraph.corpus import views

    if stream and as_json:
        raise typer.BadParameter("--stream prints text as it is written and --json one object at the end: choose one.")
    given = read_overrides(settings, engine, max_tokens, max_cost, trust=trust)
    scope, turns = read_scope(documents, where, since, until), read_history(history)
    scope = restrict_to_time(scope, as_of, during, known_at, unknown)
    with show_progress(stream) as report, open_corpus(root, given, progress=report) as corpus:
        require_index(corpus, root)
        hear = print_piece if stream else None
        answer = corpus.query(question, method=method, depth=depth, scope=scope, history=turns, hear=hear)
        index, checks = corpus.index(), check_sources(corpus, answer) if check else Checks()
        if as_json:
            print_json(views.view_answer(answer, index) | checks.told)
        else:
            files = find_record_files(corpus, [c.document for c in answer.citations])
            print_text(
                ("\n\n" + show.format_answer_sources(answer, files) if stream else show.format_answer(answer, files))
                + checks.text
            )


def search_corpus(
    question: Question,
    root: Root = _HERE,
    method: MethodName = "auto",
    top: Annotated[int, typer.Option("--top", min=1, metavar="N", help="How many passages at most.")] = 10,
    documents: Documents = None,
    where: Where = None,
    since: Since = None,
    until: Until = None,
    as_of: AsOf = None,
    during: During = None,
    known_at: KnownAt = None,
    unknown: Unknown = "include",
    as_json: Json = False,
    engine: Engine = None,
    settings: Set = None,
    trust: Trust = False,
) -> None:
    """Show the evidence for a question, best first, without writing an answer."""
    from sensegraph.cli import show
    from sensegraph.corpus import views

    scope = restrict_to_time(read_scope(documents, where, since, until), as_of, during, known_at, unknown)
    with (
        show_progress() as report,
        open_corpus(root, read_overrides(settings, engine, trust=trust), progress=report) as corpus,
    ):
        require_index(corpus, root)
        found = corpus.search(question, method=method, top=top, scope=scope)
        index = corpus.index()
        if as_json:
            print_json(views.view_evidence(found, index))
        else:
            print_text(show.format_evidence(found, index, question, find_record_files(corpus, found.documents)))


def list_methods(
    plugins: Annotated[
        bool, typer.Option("--plugins", help="List the plug-ins of every kind that are installed, with their origin.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List the methods: name, paper, what each needs of an engine, and what it is good for; plug-ins last."""
    from sensegraph.cli import show
    from sensegraph.corpus import views
    from sensegraph.methods import METHODS
    from sensegraph.plugins import list_plugins

    if plugins:
        found = list_plugins()
        if as_json:
            print_json(views.view_plugins(found))
        else:
            print_text(show.format_plugins(found))
        return
    found = [p for p in list_plugins("methods") if p.name not in METHODS]
    if as_json:
        print_json(views.view_methods(METHODS, found))
    else:
        print_text(show.format_methods(METHODS, found))
