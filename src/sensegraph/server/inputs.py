"""The folder `input` of a corpus, and which of its files which document was read from."""

from __future__ import annotations

import os
import shlex
from collections import defaultdict
from pathlib import Path

from sensegraph.corpus.corpus import Corpus
from sensegraph.corpus.workspace import ORIGIN
from sensegraph.documents import load as load_documents
from sensegraph.documents.document_files import name_inside
from sensegraph.errors import InputError, SensegraphError


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


def find_origin(corpus: Corpus, name: str) -> Path | None:
    """The file outside of `input` that a document was read from, where it is there and still gives the same text.

    The text is read again and compared: so a corpus of somebody else, which may say anything of where its documents
    came from, leads to no file whose text it does not hold already.
    """
    key = corpus.document_keys().get(name)
    for place in list_origins(corpus, name) if key else ():
        try:
            found = load_documents([place], settings=corpus.settings.documents).documents
        except (SensegraphError, OSError):
            continue
        held = corpus.workspace.read_documents([key or ""])[0]
        text = held.text[: held.figures[0].head] if held.figures else held.text
        if len(found) == 1 and found[0].text.rstrip() == text.rstrip():
            return place
    return None


def check_input(corpus: Corpus, *, shown: bool = False) -> None:
    """Raise InputError where `input` holds no file and all documents came from elsewhere: there is nothing to compare.

    It says how they are compared with the folders that they were read from, whose paths stand there where they may be
    `shown`.
    """
    folder = find_input(corpus)
    holds = folder.is_dir() and any(not place.name.startswith(".") for place in folder.iterdir())
    if holds or not corpus.document_keys() or find_base(corpus) != folder.resolve():
        return
    came = sorted({place for where in corpus.store.refs(ORIGIN).values() for place in where.split("\n")})
    if str(folder.resolve()) in came:
        return
    places = shlex.join(came) if shown and came else "FOLDER"
    raise InputError(
        "The folder input of this corpus holds no file: its documents were read from elsewhere. On the command line, "
        f"`sensegraph index {places} --root {shlex.quote(str(corpus.root))} --sync --dry-run` compares them, and "
        "without --dry-run it follows them."
    )


def list_origins(corpus: Corpus, name: str) -> list[Path]:
    """The files that a document may have been read from, by what is written down of it, as far as they are there."""
    found = []
    for base in map(Path, filter(None, (corpus.store.ref(ORIGIN + name) or "").split("\n"))):
        place = base / name if base.is_dir() else base
        inside = place.resolve().is_relative_to(base.resolve())
        if inside and place.is_file() and (place == base / name or place.name == name):
            found.append(place)
    return found


def _written_paths(corpus: Corpus, path: Path) -> set[str]:
    """How the origin at a path may be written down: as it is, maybe from before paths were masked."""
    return {str(path), corpus.privacy.masked_path(str(path))}
