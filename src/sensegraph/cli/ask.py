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
    files_of,
    opened,
    out,
    out_json,
    overrides,
    ready,
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
    as_json: Json = False,
    engine: Engine = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    settings: Set = None,
) -> None:
    """Answer a question about the documents, with citations that lead to the exact span of the source."""
    from sensegraph.cli import show

    given = overrides(settings, engine, max_tokens, max_cost)
    with progress() as report, opened(root, given, progress=report) as corpus:
        ready(corpus, root)
        answer = corpus.query(question, method=method, depth=depth)
        index = corpus.index()
        if as_json:
            out_json(show.answer_object(answer, index))
        else:
            out(show.answer(answer, files_of(corpus, [c.document for c in answer.citations])))


def search(
    question: Question,
    root: Root = _HERE,
    method: MethodName = "auto",
    top: Annotated[int, typer.Option("--top", min=1, metavar="N", help="How many passages at most.")] = 10,
    as_json: Json = False,
    engine: Engine = None,
    settings: Set = None,
) -> None:
    """Show the evidence for a question, best first, without writing an answer."""
    from sensegraph.cli import show

    with progress() as report, opened(root, overrides(settings, engine), progress=report) as corpus:
        ready(corpus, root)
        found = corpus.search(question, method=method, top=top)
        index = corpus.index()
        if as_json:
            out_json(show.evidence_object(found, index))
        else:
            out(show.evidence(found, index, question, files_of(corpus, found.documents)))


def methods(as_json: Json = False) -> None:
    """List the methods: name, paper, what each needs of an engine, and what it is good for."""
    from sensegraph.cli import show
    from sensegraph.methods import METHODS

    if as_json:
        out_json(show.methods_object(METHODS))
    else:
        out(show.methods(METHODS))
