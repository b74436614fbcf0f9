"""Garbage collection: deleting from a corpus's store what neither its index nor its documents need any more."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from sensegraph.corpus.workspace import MASKED, ORIGIN, Builder, Workspace
from sensegraph.errors import Busy, SettingsError, StoreError
from sensegraph.index.graph.lookups import keys_of_ties
from sensegraph.index.manifest import REF, Manifest
from sensegraph.index.restricted.arrivals import forget_arrivals
from sensegraph.index.tracing import TookTooLong, follow_keys, keys_behind_index, read_said_names, trace_build
from sensegraph.resolution.log import Known, forget_names, read_operations, rewrite_operations
from sensegraph.runtime.stores.corpus_store import Freed

if TYPE_CHECKING:
    from sensegraph.resolution.aliases import Operation
    from sensegraph.runtime.stores.corpus_store import CorpusStore


FIGURE = "figure/"  # refs: what was told of a document's figures
_COLLECTED = "collected"  # ref: the bytes of the store when it was last collected
_GROWN = 1.5  # times that, from which a build collects
_LEAST = 1_000_000  # bytes that are worth it
_LONGEST_S = 60.0


def keep_descriptions(
    store: CorpusStore, names: Collection[str], described: Mapping[str, Sequence[str]]
) -> dict[str, str | None]:
    """Refs that keep what was told of the figures of these documents, by its keys; and none to what was told before."""
    kept: dict[str, str | None] = {f"{FIGURE}{name}\n{k}": k for name in names for k in described.get(name, ())}
    before = (ref for ref in store.refs(FIGURE) if ref.removeprefix(FIGURE).rpartition("\n")[0] in names)
    return dict.fromkeys((ref for ref in before if ref not in kept), None) | kept


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


class GarbageCollector:
    """Deletes from the store of a corpus what nothing needs."""

    def __init__(self, workspace: Workspace, builder: Builder) -> None:
        self._workspace, self._builder = workspace, builder

    @property
    def _store(self) -> CorpusStore:
        return self._workspace.store

    def collect(self, *, dry: bool = False) -> Collected:
        """Remove what neither the index, nor the documents under the settings, nor an interrupted build needs.

        Answers to questions that were kept go, and so do earlier indexes: who reads one gets a StoreError, and asks
        again; in a store that processes share those that are read stay. Nothing of a document that was removed before
        the last build stays in any file. Raises SettingsError where the index was built by other settings, StoreError
        while a build runs or has left replies behind.
        """
        self._no_replies()
        with self._store.exclusive(self._workspace.wait):
            kept = self._kept()
            less = self._forgettable(kept)
        if less and not dry:
            rewrite_operations(self._store, less)
            self._builder.build(parts=())  # the graph without these names: its texts and reports are the same
            kept = self._kept()
        with self._store.exclusive(self._workspace.wait):
            if not dry:
                self._store.set_refs(dict.fromkeys(self._idle_refs()))
                forget_arrivals(self._store, self._documents())
            held = self._held_elsewhere() if self._store.shared else []
            needed = dict.fromkeys([*kept.keys, *held, *self._store.refs().values()])
            swept = self._store.sweep(needed, dry=dry)
        busy = ("readers kept the store's log from being emptied: collect again when they are done",) * swept.busy
        read = ("what only an index needs that is being read stays: collect again ten minutes later",) * bool(held)
        notes = (*kept.notes, *busy, *read, *([swept.remains] if swept.remains else ()))
        return Collected(swept.by_step, swept.total, swept.before, swept.after, len(less), dry, notes)

    def collect_after(self, before: str) -> None:
        """Remove after a build what only the index before needed, whose key is `before`, unless somebody reads it.

        What was paid for stays. What else nothing needs goes where the store has grown.
        """
        store, now = self._store, self._workspace.index_key()
        if before and before != now:
            with suppress(Busy), store.exclusive(self._workspace.wait):  # another build has begun: it stays till then
                read, needed = {now, *store.pinned()}, set[str]()
                for name in read:
                    needed.update(self._follow(name, needed - {name}))
                if before not in read:
                    gone = [k for k in self._follow(before, needed) if k not in needed]
                    store.drop(gone, spare=self._list_paid())
        self.collect_grown()

    def _follow(self, name: str, known: Collection[str]) -> dict[str, None]:
        """What an index leads to, by its key, and its ties."""
        store = self._store
        manifest = msgspec.json.decode(found[name], type=Manifest) if name in (found := store.read([name])) else None
        ties = keys_of_ties(manifest, self._workspace.runtime()) if manifest else ()
        return follow_keys(store, name, known) | dict.fromkeys(ties)

    def _list_paid(self) -> list[str]:
        """The steps that somebody paid for."""
        return [step for step, spent in self._store.ledger().items() if spent.cost_usd or spent.calls]

    def collect_grown(self) -> None:
        """Remove what nothing needs where the store has grown by more than half since it was last collected.

        What was paid for stays, and the indexes that readers hold. Nothing is removed where finding out what is needed
        takes longer than `_LONGEST_S`, or where the index was made by other settings.
        """
        store, settled = self._store, self._store.settle()
        before = int(store.ref(_COLLECTED) or 0)
        if before and settled > max(_GROWN * before, before + _LEAST):
            try:
                with store.exclusive(self._workspace.wait):
                    settled = store.sweep(self._find_needed, spare=self._list_paid()).after
            except (SettingsError, TookTooLong):
                pass  # the next build tries again, or somebody asks for it
        if not before or settled < before or settled > _GROWN * before:
            store.set_refs({_COLLECTED: str(settled)})

    def _find_needed(self) -> dict[str, None]:
        """The keys that this index, the documents, and the indexes that readers hold are made of."""
        kept = self._kept(time.monotonic() + _LONGEST_S)
        held = [k for name in self._store.pinned() for k in self._keys_held(name)]
        return dict.fromkeys([*kept.keys, *held, *self._store.refs().values()])

    def _held_elsewhere(self) -> list[str]:
        """The keys behind the indexes, but that of now, which readers hold."""
        others = self._store.pinned() - {self._workspace.index_key()}
        return [k for name in others for k in self._keys_held(name)]

    def _keys_held(self, name: str) -> list[str]:
        """The keys behind an index that a reader holds; none where it is gone."""
        found = self._store.read([name])
        if name not in found:
            return []
        return keys_behind_index(self._store, msgspec.json.decode(found[name], type=Manifest), name)

    def _documents(self) -> set[str]:
        """The ids of the documents of the corpus, and of its index while they wait for a build."""
        indexed = self._workspace.open_index().catalogue.documents if self._workspace.manifest() else ()
        return {*self._workspace.document_keys(), *(d.id for d in indexed)}

    def _no_replies(self) -> None:
        if self._workspace.journal.left_behind():
            raise StoreError(
                "A build was interrupted and left replies that are paid for in "
                f"{self._store.replies.place}; run `sensegraph index`, which stores them, or delete them there."
            )

    def _kept(self, until: float = math.inf) -> _Kept:
        """What the index and the documents need. Raises SettingsError where they were made by other settings.

        Raises TookTooLong where that is not found out before `until`, by the monotonic clock.
        """
        rt, settings, manifest = self._workspace.runtime(), self._builder.index_settings(), self._workspace.manifest()
        own = self._builder.index_settings(()) if manifest else settings  # the next build may be to make more parts
        now = list(self._workspace.document_keys().values())
        keys: list[str] = []
        before = now
        if manifest:
            keys = keys_behind_index(self._store, manifest, self._store.ref(REF) or "")
            before = [d.key for d in self._workspace.open_index().catalogue.documents]
        made = trace_build(before, rt, own, until)
        if manifest and not made.whole and self._store.ref(f"interchange/{manifest.chunks}") is None:  # not imported
            raise SettingsError(
                f"Settings differ from those of the index, which {manifest.engine} and {manifest.embedder} built; "
                "collecting now would delete its data. Run `sensegraph index` first, or give the --engine and --set of "
                "then."
            )
        more = [made] if (now, settings) == (before, own) else [made, trace_build(now, rt, settings, until)]
        waiting = now != before
        notes = ("documents wait for a build: what the index says of the earlier ones stays until then",) * waiting
        names = partial(read_said_names, before, rt, own) if made.whole and not waiting else frozenset[str]
        return _Kept([*keys, *now, *(k for found in more for k in found.keys)], names, notes)

    def _forgettable(self, kept: _Kept) -> dict[str, Operation | None]:
        """By number the operations with names that no document holds, as they are without them, or None."""
        if not (log := read_operations(self._store)) or not (names := kept.read_names()):
            return {}
        less = forget_names(log, Known(names, self._workspace.document_keys()))
        return {o.id: left for o, left in zip(log, less, strict=True) if left != o}

    def _idle_refs(self) -> list[str]:
        """Refs that tell of documents, or of an import, that are gone."""
        have, manifest = self._workspace.document_keys(), self._workspace.manifest()
        chunks = manifest.chunks if manifest else ""
        told = [r for place in (ORIGIN, MASKED) for r in self._store.refs(place) if r.removeprefix(place) not in have]
        told += [r for r in self._store.refs(FIGURE) if r.removeprefix(FIGURE).rpartition("\n")[0] not in have]
        return [*told, *(r for r in self._store.refs("interchange/") if r != f"interchange/{chunks}")]


@dataclass(frozen=True, slots=True)
class _Kept:
    """The keys that stay, and what reads the names that documents say: none while documents wait for a build."""

    keys: Sequence[str]
    read_names: Callable[[], frozenset[str]]
    notes: tuple[str, ...]
