"""Documents that a program gives as values: that they are documents, before anything of them is stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from sensegraph.errors import InputError
from sensegraph.language.dates.moments import is_readable
from sensegraph.runtime.keys import encode_canonical
from sensegraph.types import Document


def list_values(items: Sequence[str | Path | Document | Iterable[Document]]) -> list[Document]:
    """The documents among `items`, which may be paths, documents and iterables of documents.

    Raises InputError for what is none of these, and for a document with a field of another type or a time that is no
    date, naming it.
    """
    found: list[Document] = []
    for item in items:
        if isinstance(item, Document):
            found.append(item)
        elif isinstance(item, Iterable) and not isinstance(item, str | bytes):
            found += item
        elif not isinstance(item, str | Path):
            raise InputError(f"What is added is a path, a Document or an iterable of Documents, not {item!r}.")
    for document in found:
        _check_document(document)
    return found


def check_storable(documents: Sequence[Document]) -> None:
    """Raise InputError for documents without an id or with the id of another, and for texts that cannot be written."""
    if nameless := [d for d in documents if not d.id]:
        raise InputError(f"{len(nameless)} documents have no id; give each a name that is unique in the corpus.")
    if twice := [name for name, n in Counter(d.id for d in documents).items() if n > 1]:
        raise InputError(f"The id {twice[0]!r} is given more than once; give each document a name of its own.")
    for d in documents:
        try:
            encode_canonical(d)
        except UnicodeEncodeError as e:
            raise InputError(f"The document {d.id!r} holds no valid Unicode ({e.reason}); decode it anew.") from e
        except TypeError as e:
            raise InputError(f"The document {d.id!r} cannot be stored: {e}.") from e


def _check_document(document: object) -> None:
    """Raise InputError for what is no document, or has a field of another type."""
    if not isinstance(document, Document):
        raise InputError(f"An iterable that is added holds Documents, not {document!r}; give paths one by one.")
    name = document.id
    for field in ("id", "text", "title", "time"):
        if not isinstance(value := getattr(document, field), str):
            raise InputError(f"The document {name!r} needs a text as its {field}, not {type(value).__name__}.")
    if document.time and not is_readable(document.time):
        raise InputError(
            f"The time of the document {name!r} is {document.time!r}, which is no date of ISO 8601 such as 2023, "
            "2023-05 or 2023-05-17T09:30."
        )
    metadata: Any = document.metadata
    if not isinstance(metadata, tuple | list):
        kind = type(metadata).__name__
        raise InputError(f'The metadata of the document {name!r} are pairs such as (("year", 2023),), not a {kind}.')
    for pair in metadata:
        if not (isinstance(pair, tuple | list) and len(pair) == 2 and isinstance(pair[0], str)):
            raise InputError(f'The metadata of the document {name!r} are pairs such as ("year", 2023), not {pair!r}.')
        if not isinstance(pair[1], str | int | float | None):
            kind = type(pair[1]).__name__
            raise InputError(
                f"The metadata {pair[0]} of the document {name!r} is a text, a number, a bool or None, not a {kind}."
            )
