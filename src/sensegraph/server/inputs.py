"""The folder `input` of a corpus, and which of its files which document was read from."""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path

from sensegraph.corpus.corpus import Corpus
from sensegraph.corpus.workspace import ORIGIN
from sensegraph.documents.document_files import name_inside
from sensegraph.errors import InputError


def find_input(corpus: Corpus) -> Path:
    """The folder of documents. Raises InputError where it is a link that leads out of the corpus."""
    place = corpus.root / "input"
    if place.is_symlink() and not place.resolve().is_relative_to(corpus.root.resolve()):
        raise InputError(f"{place} is a link that leads to {place.resolve()}; nothing outside the corpus is changed.")
    return place


def find_base(corpus: Corpus) -> Path:
    """The folder that names of documents in `input` are relative to, so that each file stays one document.

    It is `input`, or the next folder above from which documents of `input` were read, if none was from `input` itself.
    """
    folder = find_input(corpus).resolve()
    came = defaultdict[str, list[str]](list)
    for name, where in corpus.store.refs(ORIGIN).items():
        came[where].append(name.removeprefix(ORIGIN))
    for base in (folder, *folder.parents):
        known, inside = _written_paths(corpus, base), name_inside(str(folder), str(base))
        names = (name for where, found in came.items() if known.intersection(where.split("\n")) for name in found)
        if any(not inside or name.startswith(f"{inside}/") for name in names):
            return base
    return folder


def find_file(corpus: Corpus, name: str) -> Path | None:
    """The file in `input` that a document was read from; None where it came from elsewhere, or the file has gone.

    Where it is not known from where a document came, that is the file of its name.
    """
    folder = (corpus.root / "input").resolve()
    if not folder.is_relative_to(corpus.root.resolve()):
        return None
    came = (corpus.store.ref(ORIGIN + name) or "").split("\n")
    places = [base / name for base in (folder, *folder.parents) if _written_paths(corpus, base).intersection(came)]
    places += [folder / name] if came == [""] or _written_paths(corpus, folder / name).intersection(came) else []
    places += [Path(where) for where in came if os.path.basename(where) == name]
    files = (place.resolve() for place in places)
    return next((place for place in files if place.is_relative_to(folder) and place.is_file()), None)


def _written_paths(corpus: Corpus, path: Path) -> set[str]:
    """How the origin at a path may be written down: as it is, maybe from before paths were masked."""
    return {str(path), corpus.privacy.masked_path(str(path))}
