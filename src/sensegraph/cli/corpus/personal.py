"""The command that reports personal data: personal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sensegraph.cli.options import (
    Json,
    Root,
    Set,
    choose_paths,
    open_corpus,
    print_json,
    print_message,
    print_text,
    read_overrides,
    report_skipped,
)
from sensegraph.corpus.views import view_survey
from sensegraph.errors import EmptyCorpus

if TYPE_CHECKING:
    from sensegraph.personal.masking import Survey

_HERE = Path(".")
_LISTED = 20  # documents that are named


def report_personal_data(
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="PATH", help="Files and folders; without, the corpus, else input/.")
    ] = None,
    root: Root = _HERE,
    text: Annotated[
        str, typer.Option("--text", metavar="TEXT", help="Only show how this text would stand in the corpus.")
    ] = "",
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """Report personal data in files, or in the corpus as it is: counts by kind and document. Nothing is written.

    Examples show the shape of what was found, never the thing itself. What is masked, and how, is set in [personal].
    """
    from sensegraph.cli.show import format_quantity

    given = read_overrides(settings)
    if text:
        with open_corpus(root, given) as corpus:
            rules, masked = corpus.settings.personal, corpus.masked(text)
        print_text(masked)
        if rules.mask != "mask":
            print_message(f"personal.mask is {rules.mask}: texts stand as they are")
        elif masked == text:
            print_message(f"nothing of the kinds {', '.join((*rules.kinds, *rules.patterns))} is found in it")
        return
    found = _survey_paths(paths, root, given)
    if as_json:
        print_json(view_survey(found))
        return
    total = sum(found.counts.values())
    lines = [f"{total:,} found in {len(found.documents):,} of {format_quantity(found.read, 'document')}"]
    for kind, n in found.counts.items():
        shapes = "  ".join(found.examples.get(kind, ()))
        lines.append(f"{kind:<10} {n:>7,}  {shapes}".rstrip())
    worst = sorted(found.documents.items(), key=lambda item: (-sum(item[1].values()), item[0]))
    wide = max((len(name) for name, _ in worst[:_LISTED]), default=0)
    for name, counts in worst[:_LISTED]:
        kinds = ", ".join(f"{n:,} {kind}" for kind, n in counts.items())
        lines.append(f"{name:<{wide}}  {kinds}")
    lines += [f"and {len(worst) - _LISTED:,} more documents; --json names all of them"] * (len(worst) > _LISTED)
    print_text("\n".join([*lines, "not found by design:", *(f"- {what}" for what in found.unfound)]))


def _survey_paths(paths: Sequence[Path] | None, root: Path, given: Mapping[str, Any]) -> Survey:
    from sensegraph.corpus.privacy import survey_documents
    from sensegraph.corpus.settings import FOLDER, load_settings
    from sensegraph.documents import load

    settings = load_settings(root, given)
    if not paths and (root / FOLDER).exists():
        with open_corpus(root, given) as corpus:
            if corpus.document_keys():
                return survey_documents(corpus.documents(), settings.personal)
    chosen = choose_paths(paths, root)
    loaded = load(chosen, settings=settings.documents)
    report_skipped(loaded.skipped)
    if not loaded.documents:
        raise EmptyCorpus(f"Nothing can be read from {', '.join(map(str, chosen)) or root / 'input'}: name files.")
    return survey_documents(loaded.documents, settings.personal)
