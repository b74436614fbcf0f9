"""The tools that change a corpus: documents are files in its folder `input`, and the index follows at once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from sensegraph.corpus import views
from sensegraph.errors import EmptyCorpus, InputError
from sensegraph.server.inputs import check_input, find_base, find_file, find_input
from sensegraph.server.token_budget import JSON, copy_plain, fit_result
from sensegraph.server.tools import Arguments, Text, Tokens, Tool

if TYPE_CHECKING:
    from sensegraph.corpus.corpus import Corpus

_NAME = re.compile(r"[^\W_][\w .()-]{0,120}\.(txt|md)")
_ORDER = [("communities", "left_out", "skipped", "gone"), ("computed",), ("notes",)]


def follow_input(corpus: Corpus) -> JSON:
    """Make the corpus hold what `input` holds, and build; what came of it, as `index --json` says it."""
    check_input(corpus)
    done = corpus.mirror.sync(find_input(corpus), base=find_base(corpus))
    return views.view_built(corpus.build(), done.as_added(), done.withheld)


def build_rest(corpus: Corpus) -> tuple[int, list[str]]:
    """Build the index after documents were removed; how many are left, and the notes."""
    left = len(corpus.document_keys())
    return left, list(corpus.build().notes) if left else ["no document is left, and no index"]


class AddArguments(Arguments, frozen=True):
    """A document to add, or to put in the place of the one of that name."""

    name: Annotated[str, Meta(description="a file name that ends in .txt or .md")]
    text: Text
    max_tokens: Tokens = 2000


def add_document(corpus: Corpus, given: AddArguments) -> JSON:
    """Write a file into `input`, read it and build. Raises InputError for a name that is no plain file name."""
    if not _NAME.fullmatch(given.name):
        raise InputError(f"{given.name!r} is no name of a document: a plain file name that ends in .txt or .md.")
    place = find_input(corpus) / given.name
    if place.is_symlink():
        raise InputError(f"{place} is a link; nothing is written through it.")
    place.parent.mkdir(exist_ok=True)
    before = place.read_bytes() if place.exists() else None
    place.write_text(given.text, encoding="utf-8", newline="")
    base = find_base(corpus)
    added = corpus.sources.add(place, base=base)
    if added.skipped:  # the file is as it was
        if before is None:
            place.unlink()
        else:
            place.write_bytes(before)
        raise InputError(f"{given.name} cannot be used: {added.skipped[0].reason}.")
    corpus.mirror.record_origin([base], [*added.new, *added.changed, *added.same])
    return fit_result(copy_plain(views.view_built(corpus.build(), added, [])), given.max_tokens, _ORDER)


class RemoveArguments(Arguments, frozen=True):
    """A document to remove."""

    document: Text
    max_tokens: Tokens = 2000


def remove_document(corpus: Corpus, given: RemoveArguments) -> JSON:
    """Remove a document and build the index without it; its file stays, and the notes say so."""
    place = find_file(corpus, given.document)
    corpus.remove(given.document)
    left, notes = build_rest(corpus)
    if place:
        notes.append(f"the file {place.relative_to(corpus.root.resolve())} stays: sync reads it again")
    return fit_result({"removed": given.document, "documents": left, "notes": notes}, given.max_tokens)


class SyncArguments(Arguments, frozen=True):
    """The folder of documents against the corpus."""

    max_tokens: Tokens = 2000


def sync_documents(corpus: Corpus, given: SyncArguments) -> JSON:
    """Make the corpus hold what `input` holds, and build. Raises EmptyCorpus where there is no such folder."""
    place = find_input(corpus)
    if not place.is_dir():
        raise EmptyCorpus(f"There is no folder {place} to follow; add a document first.")
    return fit_result(copy_plain(follow_input(corpus)), given.max_tokens, _ORDER)


_BUILT = {"documents": "integer", "new": "integer", "changed": "integer", "same": "integer", "notes": "strings"}

WRITING = (
    Tool(
        "add_document",
        "Add a text as a document, or replace the one of that name, and update the index.",
        AddArguments,
        add_document,
        _BUILT,
        reads=False,
        destroys=True,
    ),
    Tool(
        "remove_document",
        "Remove a document from the index.",
        RemoveArguments,
        remove_document,
        {"removed": "string", "documents": "integer", "notes": "strings"},
        reads=False,
        destroys=True,
    ),
    Tool(
        "sync",
        "Bring the index up to date with the files of the folder input; what has gone there is removed.",
        SyncArguments,
        sync_documents,
        _BUILT,
        reads=False,
        destroys=True,
    ),
)
"""The tools that change something."""
