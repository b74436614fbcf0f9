"""Taking out of a corpus's store what neither its index nor its documents need any more, without a trace."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sensegraph.corpus.outcomes import MASKED, ORIGIN
from sensegraph.errors import SettingsError, StoreError
from sensegraph.index.manifest import REF
from sensegraph.index.restricted.arrivals import forget, outdated
from sensegraph.index.tracing import Traced, held, traced
from sensegraph.resolution.forgetting import Known, forgotten
from sensegraph.resolution.log import operations, rewrite
from sensegraph.runtime.stores.sweeping import Freed, sweep

if TYPE_CHECKING:
    from sensegraph.corpus.outcomes import Built
    from sensegraph.corpus.settings import Settings
    from sensegraph.index.index import Index
    from sensegraph.index.manifest import Manifest
    from sensegraph.index.settings import IndexSettings
    from sensegraph.resolution.aliases import Operation
    from sensegraph.runtime.runtime import Runtime
    from sensegraph.runtime.stores.sqlite import SqliteStore


@dataclass(frozen=True, slots=True)
class Collected:
    """What was, or with `dry` would be, removed: by step, and `total`; the bytes of all files before and after.

    `operations` counts decisions about names that no document holds any more; `notes` say what stayed, and why.
    """

    by_step: Mapping[str, Freed]
    total: Freed
    before: int
    after: int
    operations: int = 0
    dry: bool = False
    notes: tuple[str, ...] = ()


class Collecting:
    """The part of a corpus that cleans up."""

    settings: Settings
    store: SqliteStore
    wait: float

    @abstractmethod
    def manifest(self) -> Manifest | None:
        """The list of the index's parts."""

    @abstractmethod
    def index(self) -> Index:
        """The index as the last build left it."""

    @abstractmethod
    def runtime(self) -> Runtime:
        """A runtime over this corpus's tools and store."""

    @abstractmethod
    def document_keys(self) -> dict[str, str]:
        """The key of every document's content by id."""

    @abstractmethod
    def index_settings(self, parts: Sequence[str] | None = None) -> IndexSettings:
        """How the next build makes the index."""

    @abstractmethod
    def build(self, *, parts: Sequence[str] | None = None) -> Built:
        """Make the index of the documents as they are now, with these parts besides those that it has."""

    def collect(self, *, dry: bool = False) -> Collected:
        """Remove what neither the index, nor the documents under the settings, nor an interrupted build needs.

        Answers to questions that were kept go, and so do earlier indexes: who reads one gets a StoreError, and asks
        again. Nothing of a document that was removed before the last build stays in any file. Raises SettingsError
        where the index was built by other settings, StoreError while a build runs or has left replies behind.
        """
        self._no_replies()
        with self.store.exclusive(self.wait):
            kept = self._kept()
            less = self._forgettable(kept)
        if less and not dry:
            rewrite(self.store, less)
            self.build(parts=())  # the graph without these names: its texts are the same, and so are the reports
            kept = self._kept()
        with self.store.exclusive(self.wait):
            stale = outdated(self.store, self._documents())
            if not dry:
                self.store.set_refs(dict.fromkeys(self._idle_refs()))
                forget(self.store, self._documents())
            needed = dict.fromkeys([*kept.keys, *self.store.refs().values()])
            needed.pop(stale, None)
            swept = sweep(self.store, needed, dry=dry)
        busy = ("readers kept the store's log from being emptied: collect again when they are done",) * swept.busy
        notes = (*kept.notes, *busy)
        return Collected(swept.by_step, swept.total, swept.before, swept.after, len(less), dry, notes)

    def _documents(self) -> set[str]:
        """The ids of the documents of the corpus, and of its index while they wait for a build."""
        indexed = self.index().catalogue.documents if self.manifest() else ()
        return {*self.document_keys(), *(d.id for d in indexed)}

    def _no_replies(self) -> None:
        left = self.store.root / "replies.jsonl"
        if left.exists() and left.stat().st_size:
            raise StoreError(
                f"A build was interrupted and left replies that are paid for in {left}; run `sensegraph index`, which "
                "stores them, or delete that file."
            )

    def _kept(self) -> _Kept:
        """What the index and the documents need. Raises SettingsError where they were made by other settings."""
        rt, settings, manifest = self.runtime(), self.index_settings(), self.manifest()
        own = self.index_settings(()) if manifest else settings  # the next build may be to make more parts
        now = list(self.document_keys().values())
        keys: list[str] = []
        before = now
        if manifest:
            keys = held(self.store, manifest, self.store.ref(REF) or "")
            before = [d.key for d in self.index().catalogue.documents]
        made = traced(before, rt, own)
        if manifest and not made.whole and not self._imported(manifest):
            raise SettingsError(
                f"The index was built by {manifest.engine} and {manifest.embedder} in a way that the settings do not "
                "name: what it was made of would go. Run `sensegraph index` first, or give the --engine and --set of "
                "then."
            )
        more = [made] if (now, settings) == (before, own) else [made, traced(now, rt, settings)]
        waiting = now != before
        notes = ("documents wait for a build: what the index says of the earlier ones stays until then",) * waiting
        return _Kept([*keys, *now, *(k for found in more for k in found.keys)], more, waiting, notes)

    def _imported(self, manifest: Manifest) -> bool:
        return self.store.ref(f"interchange/{manifest.chunks}") is not None

    def _forgettable(self, kept: _Kept) -> dict[str, Operation | None]:
        """By number the operations with names that no document holds, as they are without them, or None."""
        (made, *_) = kept.traced
        if kept.waiting or not made.whole or not made.names:
            return {}
        log = operations(self.store)
        less = forgotten(log, Known(made.names, self.document_keys()))
        return {o.id: left for o, left in zip(log, less, strict=True) if left != o}

    def _idle_refs(self) -> list[str]:
        """Refs that tell of documents, or of an import, that are gone."""
        have, manifest = self.document_keys(), self.manifest()
        chunks = manifest.chunks if manifest else ""
        told = [r for place in (ORIGIN, MASKED) for r in self.store.refs(place) if r.removeprefix(place) not in have]
        return [*told, *(r for r in self.store.refs("interchange/") if r != f"interchange/{chunks}")]


@dataclass(frozen=True, slots=True)
class _Kept:
    """The keys that stay; the traces that found them, that of the index first; whether documents wait for a build."""

    keys: Sequence[str]
    traced: Sequence[Traced]
    waiting: bool
    notes: tuple[str, ...]


__all__ = ["Collected", "Collecting"]
