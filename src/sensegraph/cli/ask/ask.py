"""Commands that read an index: query, search, methods."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sensegraph.cli.filters import (
    AsOf,
    Documents,
    During,
    History,
    KnownAt,
    Since,
    Unknown,
    Until,
    Where,
    in_time,
    scope_of,
    turns_of,
)
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
    files_of,
    opened,
    out,
    out_json,
    overrides,
    ready,
    told,
)  # fmt: skip
from sensegraph.cli.progress import progress

_HERE = Path(".")


def query(
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
    from sensegraph.cli.ask.checking import Checks, checked
    from sensegraph.corpus import views

    if stream and as_json:
        raise typer.BadParameter("--stream prints text as it is written and --json one object at the end: choose one.")
    given = overrides(settings, engine, max_tokens, max_cost, trust=trust)
    scope, turns = scope_of(documents, where, since, until), turns_of(history)
    scope = in_time(scope, as_of, during, known_at, unknown)
    with progress(stream) as report, opened(root, given, progress=report) as corpus:
        ready(corpus, root)
        hear = told if stream else None
        answer = corpus.query(question, method=method, depth=depth, scope=scope, history=turns, hear=hear)
        index, checks = corpus.index(), checked(corpus, answer) if check else Checks()
        if as_json:
            out_json(views.view_answer(answer, index) | checks.told)
        else:
            files = files_of(corpus, [c.document for c in answer.citations])
            out(("\n\n" + show.behind(answer, files) if stream else show.answer(answer, files)) + checks.text)


def search(
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

    scope = in_time(scope_of(documents, where, since, until), as_of, during, known_at, unknown)
    with progress() as report, opened(root, overrides(settings, engine, trust=trust), progress=report) as corpus:
        ready(corpus, root)
        found = corpus.search(question, method=method, top=top, scope=scope)
        index = corpus.index()
        if as_json:
            out_json(views.view_evidence(found, index))
        else:
            out(show.evidence(found, index, question, files_of(corpus, found.documents)))


def methods(
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
            out_json(views.view_plugins(found))
        else:
            out(show.plugin_table(found))
        return
    found = [p for p in list_plugins("methods") if p.name not in METHODS]
    if as_json:
        out_json(views.view_methods(METHODS, found))
    else:
        out(show.methods(METHODS, found))
