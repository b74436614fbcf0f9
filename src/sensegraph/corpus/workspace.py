"""What the parts of a corpus share: its folder, settings, store and tools; and its index: built, estimated, opened."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from sensegraph.corpus.tools import (
    estimate_only,
    make_asking_executor,
    make_batch_box,
    make_chunker,
    make_executor,
    make_reranker,
    make_tools,
    needed_approvals,
)
from sensegraph.errors import Busy, NotIndexed, StoreError
from sensegraph.extractions import Shortened
from sensegraph.index.index import Index, keep_documents
from sensegraph.index.manifest import REF, LeftOut, Manifest, read_manifest
from sensegraph.models.endpoint.limits import Journal, check_limits
from sensegraph.runtime.activity import begin_activity
from sensegraph.runtime.background import collect_cycles_seldom
from sensegraph.runtime.results import Results
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Usage

if TYPE_CHECKING:
    from sensegraph.corpus.garbage import GarbageCollector
    from sensegraph.corpus.privacy import Privacy
    from sensegraph.corpus.settings import Settings
    from sensegraph.corpus.sources import Read, Sources
    from sensegraph.index.estimate import Estimate
    from sensegraph.index.hierarchy.communities import Fate
    from sensegraph.index.settings import IndexSettings
    from sensegraph.models.batches.batch_box import BatchBox, BatchPlan
    from sensegraph.protocols import Chunker, Embedder, Executor, LanguageEngine, Method, Reranker
    from sensegraph.runtime.stores.corpus_store import CorpusStore
    from sensegraph.types import Document

DOCUMENT = "document/"  # refs: the key of a document's content
STATE = "documents"  # ref: another value after each change of the documents
BUILT = "built"  # ref: of which state of the documents which index was built
MASKED = "masked/"  # refs: under which rules a document was masked
ORIGIN = "origin/"  # refs: from which paths a document was read, to tell when it is no longer there
_PIN_S = 600.0  # for which an index that somebody reads is not collected, after the last question
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class GivenTools:
    """Tools that a program hands over as values; each takes the place of the one that the settings name."""

    engine: LanguageEngine | None = None
    embedder: Embedder | None = None
    reranker: Reranker | None = None
    chunker: Chunker | None = None
    executor: Executor | None = None
    method: Method | None = None


class Workspace:
    """The ground that the parts of a corpus stand on. `wait` is how long to wait for another build, in seconds."""

    def __init__(
        self, root: Path, settings: Settings, store: CorpusStore, progress: Progress, given: GivenTools | None = None
    ) -> None:
        self.root, self.settings, self.store, self.progress = root, settings, store, progress
        self.given = given or GivenTools()
        asked = {"chat", "embedding", "rerank", "vision"}.intersection(needed_approvals(settings))
        check_limits(settings.endpoint, priced=bool(asked))
        self.journal = Journal(store.replies, store.root, store.limits)
        self.wait = 0.0
        self._making = threading.RLock()  # for what is made once, whichever thread asks first
        self._tools: tuple[LanguageEngine, Embedder] | None = None
        self._index: Index | None = None
        self._pinned = "", 0.0  # which index was last pinned, and when
        self._waiting: tuple[object, list[str]] = None, []  # documents that wait, and of which state that is
        self._whole, self.mended = False, 0  # whether the store was looked through; what was found damaged

    # ── tools, each made on first use ──

    @property
    def tools(self) -> tuple[LanguageEngine, Embedder]:
        """The engine and the embedder."""
        with self._making:
            if self._tools is None:
                given = self.given
                self._tools = make_tools(self.settings, self.journal, engine=given.engine, embedder=given.embedder)
            return self._tools

    def use_tools(self, engine: LanguageEngine, embedder: Embedder) -> None:
        """Work with these from now on."""
        self._tools = engine, embedder

    @property
    def engine(self) -> LanguageEngine:
        """The engine."""
        return self.tools[0]

    @property
    def reranker(self) -> Reranker | None:
        """The reranker; None where there is none."""
        with self._making:
            return self._reranker

    @cached_property
    def _reranker(self) -> Reranker | None:
        return self.given.reranker or make_reranker(self.settings, self.tools, self.journal)

    @cached_property
    def chunker(self) -> Chunker | None:
        """The chunker; None for windows of tokens."""
        return self.given.chunker or make_chunker(self.settings)

    @cached_property
    def _executor(self) -> Executor:
        return self.given.executor or make_executor(self.settings)

    @cached_property
    def _asking_executor(self) -> Executor:
        return self.given.executor or make_asking_executor(self.settings)

    def runtime(self) -> Runtime:
        """A runtime over the tools and the store."""
        numbers = self.settings.index.vectors
        return Runtime(*self.tools, self.store, self._executor, self.progress, chunker=self.chunker, numbers=numbers)

    def asking_runtime(self) -> Runtime:
        """A runtime for questions: with the reranker, and without processes, which cost more than a question does."""
        return replace(self.runtime(), reranker=self.reranker, executor=self._asking_executor)

    def usage(self) -> Usage:
        """What the tools have spent since they were made."""
        spent = [tool.usage() for tool in self.tools]
        reranker: Reranker | None = vars(self).get("_reranker")
        if reranker and getattr(reranker, "engine", None) is not self.engine:  # else the engine counts for both
            spent.append(reranker.usage())
        return sum(spent, Usage())

    def notes_since(self, before: tuple[str, ...]) -> tuple[str, ...]:
        """What the engine has noted since then; its counts are since it was made."""
        return tuple(note for note in self.engine.notes() if note not in before)

    def document_keys(self) -> dict[str, str]:
        """The key of every document's content by id, in the order of ids."""
        return {name.removeprefix(DOCUMENT): k for name, k in self.store.refs(DOCUMENT).items()}

    def state(self) -> str:
        """What stands for the documents as they are; empty where nothing changed them since this was first noted."""
        return self.store.ref(STATE) or ""

    def built_state(self) -> str:
        """What stands for the documents as they are and the index made of them; empty where it is of others."""
        state, built = self.state(), self.store.ref(BUILT) or ""
        return built if state and built == f"{state} {self.store.ref(REF)}" else ""

    def read_documents(self, keys: Sequence[str]) -> Sequence[Document]:
        """The documents with these keys, read when they are asked for."""
        return Results(self.store, keep_documents, keys)

    def index_key(self) -> str:
        """What stands for the index of now; empty where there is none."""
        return self.store.ref(REF) or ""

    def manifest(self) -> Manifest | None:
        """The list of the index's parts; None where there is no index, or one that another version made."""
        try:
            return read_manifest(self.store)
        except (NotIndexed, StoreError):
            return None

    def mend_store(self) -> None:
        """Remove from the store what is damaged, once and while nobody builds, so that it is computed again."""
        if not self._whole:
            with suppress(Busy), self.store.exclusive():
                self.mended += self.store.mend()
                self._whole = True

    def open_index(self) -> Index:
        """The index, open until another build. Raises NotIndexed when there is none."""
        made = read_manifest(self.store)
        with self._making:
            if self._index is None or self._index.manifest != made:
                self._index = Index(self.store, made, self.settings.index.part_objects)
            return self._index

    def open_pinned(self) -> Index:
        """The index of now, kept from being collected while questions are asked of it. Raises NotIndexed."""
        name = self.index_key()
        while True:
            due = self._pinned[0] != name or time.monotonic() > self._pinned[1] + _PIN_S / 10
            if due and not self.store.readonly:
                with suppress(StoreError):  # a question is answered all the same
                    self.store.pin(name, _PIN_S)
                self._pinned = name, time.monotonic()
            found, before = self.open_index(), name
            if (name := self.index_key()) == before:  # else another took its place before it was pinned
                return found

    def pending(self) -> list[str]:
        """Ids of documents that differ between the corpus and its index."""
        if self.built_state():
            return []  # whatever their number
        state = (self.state(), self.store.ref(REF))
        if not state[0] or self._waiting[0] != state:
            now, made = self.document_keys(), self.manifest()
            indexed = {d.id: d.key for d in self.open_index().catalogue.documents} if made else {}
            names = sorted(name for name in now.keys() | indexed.keys() if now.get(name) != indexed.get(name))
            self._waiting = state, names
        return self._waiting[1]


@dataclass(frozen=True, slots=True, repr=False)
class Built(Shortened):
    """What `build` did: the index's counts, how many results each step computed, what it cost, and notes.

    `fates` tell what became of the communities of the build before; none where they are as they were. `left_out` are
    the chunks that the engine could not read.
    """

    counts: Mapping[str, int]
    clusters: tuple[int, ...]
    computed: Mapping[str, int]
    usage: Usage
    notes: tuple[str, ...] = ()
    fates: tuple[Fate, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Status(Shortened):
    """The state of a corpus: counts of the index (empty before the first build), spend by step, what waits."""

    documents: int
    indexed: int
    counts: Mapping[str, int]
    clusters: tuple[int, ...]
    engine: str
    embedder: str
    ledger: Mapping[str, Usage]
    pending: tuple[str, ...]
    size_bytes: int
    left_out: tuple[LeftOut, ...] = ()


class Builder:
    """Makes the index of the documents of a corpus, and opens it; a `collector` removes what a build leaves behind."""

    def __init__(
        self, workspace: Workspace, privacy: Privacy, sources: Sources, collector: type[GarbageCollector]
    ) -> None:  # none that is made already, which would lead back to this: the files of a corpus close when it goes
        self._workspace, self._privacy, self._sources, self._collector = workspace, privacy, sources, collector

    def index(self) -> Index:
        """The index as the last build left it, open until another build. Raises NotIndexed when there is none."""
        self._privacy.require_masked_index()
        return self._workspace.open_pinned()

    def build(
        self,
        *,
        fresh: bool = False,
        parts: Sequence[str] | None = None,
        retry: bool = False,
        batch: BatchPlan | None = None,
    ) -> Built:
        """Make the index of the documents as they are now; only what is missing is computed.

        Where neither documents, settings nor tools changed since a build that left nothing to do, it ends at once.
        With `batch`, or where the settings say so, the model is asked in batches; an earlier run's are gone on with.
        With `retry` the engine is asked again for the chunks that it could not read before. `parts` (those of the
        settings by default) are built, and those that the index has stay. `fresh` clusters without regard to the
        communities of before. Raises StoreError while another process builds it, after `wait` seconds.
        """
        with begin_activity(), collect_cycles_seldom():
            return self._build(fresh, parts, retry, batch)

    def _build(self, fresh: bool, parts: Sequence[str] | None, retry: bool, batch: BatchPlan | None) -> Built:
        from sensegraph.corpus.settled import SETTLED, fingerprint_build, lost_until_now

        space = self._workspace
        space.mend_store()
        self._privacy.require_masked_documents()
        rt = replace(space.runtime(), most_failed=space.settings.index.most_failed, retry=retry)
        before, said, started = space.usage(), space.engine.notes(), time.perf_counter()
        box = make_batch_box(space.settings, space.engine, space.store.root, batch, space.progress)
        lost, settled = lost_until_now(space), space.store.ref(SETTLED)
        manifest, earlier = space.manifest(), space.index_key()
        again = fresh or retry or box or space.mended or space.journal.left_behind() or not settled
        fates: tuple[Fate, ...] = ()
        if again or not manifest or settled != fingerprint_build(space, self.index_settings(parts), lost):
            manifest, fates = self._build_anew(rt, box, parts, fresh)
        built = space.built_state()
        self._privacy.remember_masked_index()
        if space.settings.index.collect:
            self._collector(self._workspace, self).collect_after(earlier)
        now = "" if rt.lacking or rt.doubted else fingerprint_build(space, self.index_settings(parts), lost)
        if built == space.built_state() and (now or None) != settled:
            space.store.set_refs({SETTLED: now or None})
        usage = replace(space.usage() - before, seconds=time.perf_counter() - started)
        healed = f"{space.mended} things in the store were damaged, and were computed again or read anew"
        notes = (*([healed] if space.mended else ()), *manifest.notes, *rt.noted, *space.notes_since(said))
        space.mended = 0
        return Built(manifest.counts, manifest.clusters, dict(rt.computed), usage, notes, fates, manifest.left_out)

    def _build_anew(
        self, rt: Runtime, box: BatchBox | None, parts: Sequence[str] | None, fresh: bool
    ) -> tuple[Manifest, tuple[Fate, ...]]:
        """Go through all that the index is made of, and compute what is missing; what became of communities."""
        from sensegraph.corpus.settled import remember_whole_runs
        from sensegraph.index.build import build_index
        from sensegraph.index.hierarchy.communities import follow_communities

        space = self._workspace
        with space.store.exclusive(space.wait), space.journal, remember_whole_runs(space) as whole:
            state = space.state()  # before the documents: a change in between makes it another

            def make() -> Manifest:
                again = replace(rt, aside=[], begun=Counter(), whole=whole)
                return build_index(list(space.document_keys().values()), again, self.index_settings(parts), fresh=fresh)

            space.journal.batch = box
            manifest = box.repeat(make) if box else make()
            space.store.set_refs({BUILT: f"{state} {space.index_key()}"})
            return manifest, follow_communities(space.store, manifest)

    def index_settings(self, parts: Sequence[str] | None = None) -> IndexSettings:
        """How `build` makes the index: with `parts`, those of the settings by default, and those that it has."""
        from sensegraph.index.parts import sort_parts

        settings, made = self._workspace.settings.index, self._workspace.manifest()
        wanted = {*(settings.parts if parts is None else parts), *(made.part_names if made else ())}
        return replace(settings, parts=sort_parts(wanted, settings.part_objects))

    @estimate_only()
    def estimate(self, *items: str | Path | Document | Iterable[Document]) -> Estimate:
        """What `build` would compute now, or after `add(*items)`: calls, tokens, money. Nothing is changed or paid."""
        return self.estimate_with(self._sources.read(items, looking="foreseen"))

    @estimate_only()
    def estimate_with(self, read: Read) -> Estimate:
        """What `build` would compute with these documents, which have been read already, added."""
        keys = {**self._workspace.document_keys(), **self._sources.store_keys(read.documents)}
        return self.estimate_of(keys).with_step("figures.describe", read.to_describe)

    @estimate_only()
    def estimate_of(self, keys: dict[str, str], settings: IndexSettings | None = None) -> Estimate:
        """What a build of the documents with these keys, by id, would compute."""
        from sensegraph.index.estimate import estimate_build

        space = self._workspace
        listed = [keys[name] for name in sorted(keys)]
        return estimate_build(listed, space.runtime(), settings or space.settings.index, self._methods_of_interest())

    def _methods_of_interest(self) -> list[Method]:
        """The usual method, local and global search, with their settings, as far as the index serves them.

        The usual one is that of the settings; where it is chosen by the question, that for facts in a few passages.
        """
        from sensegraph.methods import load_method, parts_needed
        from sensegraph.methods.auto import rank_methods

        settings, own = self._workspace.settings, self._workspace.given.method
        names = rank_methods("plain", model=True) if settings.method == "auto" else [settings.method]
        parts = set(self.index_settings().parts)

        def load_served(names: Iterable[str]) -> list[Method]:
            made = (load_method(name, **settings.method_settings(name, {})) for name in names)
            return [method for method in made if parts_needed(method) <= parts]

        usual = [own] if own else load_served(names)[:1]
        return usual + [m for m in load_served(("local", "graphrag")) if m.name not in {u.name for u in usual}]

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
            left_out=manifest.left_out if manifest else (),
        )
