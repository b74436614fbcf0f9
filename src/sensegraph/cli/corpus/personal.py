"""The command that reports personal data: personal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sensegraph.cli.options import Json, Root, Set, chosen_paths, opened, out, out_json, overrides, say, say_skipped
from sensegraph.corpus.views import view_survey
from sensegraph.errors import EmptyCorpus

if TYPE_CHECKING:
    from sensegraph.personal.surveying import Survey

_HERE = Path(".")
_LISTED = 20  # documents that are named


def personal(
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
    given = overrides(settings)
    if text:
        _show(text, root, given)
        return
    found = _surveyed(paths, root, given)
    if as_json:
        out_json(view_survey(found))
    else:
        out(_text(found))


def _show(text: str, root: Path, given: Mapping[str, Any]) -> None:
    """Print the text as the corpus would have it, and on stderr why it stands as it was given."""
    with opened(root, given) as corpus:
        settings, masked = corpus.settings.personal, corpus.masked(text)
    out(masked)
    if settings.mask != "mask":
        say(f"personal.mask is {settings.mask}: texts stand as they are")
    elif masked == text:
        say(f"nothing of the kinds {', '.join((*settings.kinds, *settings.patterns))} is found in it")


def _surveyed(paths: Sequence[Path] | None, root: Path, given: Mapping[str, Any]) -> Survey:
    from sensegraph.corpus.privacy import survey_of
    from sensegraph.corpus.settings import FOLDER, load_settings
    from sensegraph.documents import load

    settings = load_settings(root, given)
    if not paths and (root / FOLDER).exists():
        with opened(root, given) as corpus:
            if corpus.document_keys():
                return survey_of(corpus.documents(), settings.personal)
    chosen = chosen_paths(paths, root)
    loaded = load(chosen, settings=settings.documents)
    say_skipped(loaded.skipped)
    if not loaded.documents:
        raise EmptyCorpus(f"Nothing can be read from {', '.join(map(str, chosen)) or root / 'input'}: name files.")
    return survey_of(loaded.documents, settings.personal)


def _text(found: Survey) -> str:
    from sensegraph.cli.show import counted

    total = sum(found.counts.values())
    lines = [f"{total:,} found in {len(found.documents):,} of {counted(found.read, 'document')}"]
    lines += _kinds(found)
    worst = sorted(found.documents.items(), key=lambda item: (-sum(item[1].values()), item[0]))
    wide = max((len(name) for name, _ in worst[:_LISTED]), default=0)
    lines += [f"{name:<{wide}}  {_listed(counts)}" for name, counts in worst[:_LISTED]]
    lines += [f"and {len(worst) - _LISTED:,} more documents; --json names all of them"] * (len(worst) > _LISTED)
    return "\n".join([*lines, "not found by design:", *(f"- {what}" for what in found.unfound)])


def _kinds(found: Survey) -> Iterable[str]:
    for kind, n in found.counts.items():
        shapes = "  ".join(found.examples.get(kind, ()))
        yield f"{kind:<10} {n:>7,}  {shapes}".rstrip()


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n:,} {kind}" for kind, n in counts.items())
