"""The index of a corpus: built, estimated, opened, described."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sensegraph.corpus.outcomes import Built, Status
from sensegraph.corpus.workspace import Workspace
from sensegraph.index.build import build_index
from sensegraph.index.hierarchy.communities import follow_communities
from sensegraph.index.index import Index
from sensegraph.index.parts import sort_parts
from sensegraph.index.settings import IndexSettings

if TYPE_CHECKING:
    from sensegraph.corpus.privacy import Privacy
    from sensegraph.corpus.sources import Sources
    from sensegraph.index.estimate import Estimate
    from sensegraph.types import Document


class Builder:
    """Makes the index of the documents of a corpus, and opens it."""

    def __init__(self, workspace: Workspace, privacy: Privacy, sources: Sources) -> None:
        self._workspace, self._privacy, self._sources = workspace, privacy, sources

    def index(self) -> Index:
        """The index as the last build left it, open until another build. Raises NotIndexed when there is none."""
        self._privacy.require_masked_index()
        return self._workspace.open_index()

    def build(self, *, fresh: bool = False, parts: Sequence[str] | None = None) -> Built:
        """Make the index of the documents as they are now; only what is missing is computed.

        `parts` (those of the settings by default) are built, and those that the index has already stay. `fresh`
        clusters without regard to the communities of the index before. Raises StoreError while another process builds
        the same corpus, after `wait` seconds.
        """
        space = self._workspace
        self._privacy.require_masked_documents()
        rt, before, said, started = space.runtime(), space.usage(), space.engine.notes(), time.perf_counter()
        with space.store.exclusive(space.wait), space.journal:
            manifest = build_index(list(space.document_keys().values()), rt, self.index_settings(parts), fresh=fresh)
            fates = follow_communities(space.store, manifest)
        self._privacy.remember_masked_index()
        usage = replace(space.usage() - before, seconds=time.perf_counter() - started)
        notes = (*manifest.notes, *space.notes_since(said))
        return Built(manifest.counts, manifest.clusters, dict(rt.computed), usage, notes, fates)

    def index_settings(self, parts: Sequence[str] | None = None) -> IndexSettings:
        """How `build` makes the index: with `parts`, those of the settings by default, and those that it has."""
        settings, made = self._workspace.settings.index, self._workspace.manifest()
        wanted = {*(settings.parts if parts is None else parts), *(made.part_names if made else ())}
        return replace(settings, parts=sort_parts(wanted, settings.part_objects))

    def estimate(self, *items: str | Path | Document | Iterable[Document]) -> Estimate:
        """What `build` would compute now, or after `add(*items)`: calls, tokens, money.

        Nothing is computed by a model or paid, and the corpus stays as it is.
        """
        return self.estimate_with(self._sources.read(items).documents)

    def estimate_with(self, documents: Sequence[Document]) -> Estimate:
        """What `build` would compute with these documents, which have been read already, added."""
        return self.estimate_of({**self._workspace.document_keys(), **self._sources.store_keys(documents)})

    def estimate_of(self, keys: dict[str, str], settings: IndexSettings | None = None) -> Estimate:
        """What a build of the documents with these keys, by id, would compute."""
        from sensegraph.index.estimate import estimate_build

        settings = settings or self._workspace.settings.index
        return estimate_build([keys[name] for name in sorted(keys)], self._workspace.runtime(), settings)

    def status(self) -> Status:
        """The state of the corpus."""
        space = self._workspace
        manifest = space.manifest()
        return Status(
            documents=len(space.document_keys()),
            indexed=manifest.counts["documents"] if manifest else 0,
            counts=manifest.counts if manifest else {},
            clusters=manifest.clusters if manifest else (),
            engine=manifest.engine if manifest else "",
            embedder=manifest.embedder if manifest else "",
            ledger=space.store.ledger(),
            pending=tuple(space.pending()),
            size_bytes=space.store.size(),
        )
