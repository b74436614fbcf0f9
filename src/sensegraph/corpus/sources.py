"""The documents of a corpus: read from paths or given as values, stored, listed, removed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sensegraph.corpus.outcomes import MASKED, ORIGIN, Added, Read
from sensegraph.corpus.workspace import DOCUMENT, Workspace
from sensegraph.errors import InputError
from sensegraph.index.build import store_documents
from sensegraph.index.index import keep_documents
from sensegraph.index.manifest import REF
from sensegraph.runtime.keys import encode_canonical
from sensegraph.runtime.results import Results
from sensegraph.types import Document

if TYPE_CHECKING:
    from sensegraph.corpus.privacy import Privacy
    from sensegraph.documents.document_settings import DocumentSettings

Items = Sequence[str | Path | Document | Iterable[Document]]


class Sources:
    """The documents of a corpus. The index follows with the next build."""

    def __init__(self, workspace: Workspace, privacy: Privacy) -> None:
        self._workspace, self._privacy = workspace, privacy

    def add(self, *items: str | Path | Document | Iterable[Document]) -> Added:
        """Add or update documents: files and folders by path, or values.

        A document with the id of an earlier one takes its place. Raises InputError for a path that does not exist,
        before anything is stored.
        """
        read = self.read(items)
        return replace(self._store(read.documents), skipped=read.skipped, personal=read.personal)

    def read(self, items: Items) -> Read:
        """The documents of paths and values, masked where the settings say so, and what could not be read."""
        from sensegraph.documents import load as load_documents

        paths = [i for i in items if isinstance(i, str | Path)]
        loaded = load_documents(paths, settings=self._reading(paths)) if paths else None
        values = [d for i in items if not isinstance(i, str | Path) for d in ([i] if isinstance(i, Document) else i)]
        documents = [*(loaded.documents if loaded else ()), *values]
        _check_documents(documents)
        kept, personal = self._privacy.without_personal_data(documents)
        return Read(kept, loaded.skipped if loaded else (), personal)

    def _reading(self, paths: Sequence[str | Path]) -> DocumentSettings:
        """The settings for reading `paths`: where one is this corpus's own folder, its prompts are no documents."""
        settings, root = self._workspace.settings, self._workspace.root.resolve()
        reading = settings.documents
        prompts = Path(settings.model.prompts).resolve() if settings.model.prompts else root
        if prompts == root or not prompts.is_relative_to(root) or root not in {Path(p).resolve() for p in paths}:
            return reading
        return replace(reading, exclude=(*reading.exclude, f"{prompts.relative_to(root).as_posix()}/*"))

    def _store(self, documents: Sequence[Document]) -> Added:
        before = self._workspace.store.refs(DOCUMENT)
        keys = self.store_keys(documents)
        self.set_keys(keys)
        old = {name: before.get(DOCUMENT + name) for name in keys}
        return Added(
            new=tuple(n for n in keys if old[n] is None),
            changed=tuple(n for n, k in keys.items() if old[n] not in (None, k)),
            same=tuple(n for n, k in keys.items() if old[n] == k),
        )

    def store_keys(self, documents: Sequence[Document]) -> dict[str, str]:
        """Store the contents of documents, which makes none of them part of the corpus; their keys by id."""
        return dict(zip((d.id for d in documents), store_documents(documents, self._workspace.runtime()), strict=True))

    def set_keys(self, keys: dict[str, str], gone: Iterable[str] = ()) -> None:
        """Make documents with these keys part of the corpus, and those that are `gone` not."""
        refs: dict[str, str | None] = dict.fromkeys(p + name for p in (DOCUMENT, ORIGIN, MASKED) for name in gone)
        refs |= {DOCUMENT + name: k for name, k in keys.items()}
        self._workspace.store.set_refs(refs | self._privacy.marks(keys))

    def remove(self, *ids: str) -> None:
        """Remove documents; the next build makes the index as if they had never been there.

        Without any document there is nothing to build: then the index goes at once. Raises InputError when one is not
        in the corpus; then none is removed.
        """
        have = self._workspace.document_keys()
        if missing := [name for name in ids if name not in have]:
            near = f"; the corpus holds {len(have)}: `sensegraph status --documents` lists them"
            raise InputError(f"Not in the corpus: {', '.join(map(repr, missing[:5]))}{near}.")
        index = {} if have.keys() - set(ids) else {REF: None}
        gone = [place + name for place in (DOCUMENT, ORIGIN, MASKED) for name in ids]
        self._workspace.store.set_refs({**dict.fromkeys(gone), **index})

    def masked_documents(self) -> Sequence[Document]:
        """The documents of the corpus, for a model to see. Raises SettingsError where they ought to be masked first."""
        self._privacy.require_masked_documents()
        return self.documents()

    def documents(self) -> Sequence[Document]:
        """All documents in the order of ids, read when they are asked for."""
        return Results(self._workspace.store, keep_documents, list(self._workspace.document_keys().values()))


def _check_documents(documents: Sequence[Document]) -> None:
    """Raise InputError for documents that cannot be stored, before any of them is."""
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
