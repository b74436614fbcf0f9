"""What the parts of a corpus share: its folder, settings, store and tools, and the index as the last build left it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sensegraph.corpus.tools import make_chunker, make_executor, make_reranker, make_tools
from sensegraph.errors import NotIndexed, StoreError
from sensegraph.index.index import Index
from sensegraph.index.manifest import Manifest, read_manifest
from sensegraph.models.endpoint.limits import Journal
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Usage

if TYPE_CHECKING:
    from sensegraph.corpus.settings import Settings
    from sensegraph.protocols import Chunker, Embedder, Executor, LanguageEngine, Method, Reranker
    from sensegraph.runtime.stores.corpus_store import CorpusStore

DOCUMENT = "document/"  # refs: the key of a document's content
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
        self.journal = Journal(store.root / "replies.jsonl")
        self.wait = 0.0
        self._tools: tuple[LanguageEngine, Embedder] | None = None
        self._reranker: Reranker | None = None
        self._chunker: Chunker | None = self.given.chunker
        self._executor: Executor | None = self.given.executor
        self._index: Index | None = None

    # ── tools ──

    @property
    def tools(self) -> tuple[LanguageEngine, Embedder]:
        """The engine and the embedder, made on first use."""
        if self._tools is None:
            self._tools = make_tools(
                self.settings, self.journal, engine=self.given.engine, embedder=self.given.embedder
            )
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
        """The reranker, made on first use; None where there is none."""
        if self._reranker is None:
            self._reranker = self.given.reranker or make_reranker(self.settings, self.tools, self.journal)
        return self._reranker

    @property
    def chunker(self) -> Chunker | None:
        """The chunker, made on first use; None for windows of tokens."""
        if self._chunker is None:
            self._chunker = make_chunker(self.settings)
        return self._chunker

    def runtime(self) -> Runtime:
        """A runtime over the tools and the store."""
        if self._executor is None:
            self._executor = make_executor(self.settings)
        return Runtime(*self.tools, self.store, self._executor, self.progress, chunker=self.chunker)

    def asking_runtime(self) -> Runtime:
        """A runtime for questions: with the reranker."""
        return replace(self.runtime(), reranker=self.reranker)

    def usage(self) -> Usage:
        """What the tools have spent since they were made."""
        return sum((tool.usage() for tool in (*self.tools, self._reranker) if tool), Usage())

    def notes_since(self, before: tuple[str, ...]) -> tuple[str, ...]:
        """What the engine has noted since then; its counts are since it was made."""
        return tuple(note for note in self.engine.notes() if note not in before)

    # ── what the store holds ──

    def document_keys(self) -> dict[str, str]:
        """The key of every document's content by id, in the order of ids."""
        return {name.removeprefix(DOCUMENT): k for name, k in self.store.refs(DOCUMENT).items()}

    def manifest(self) -> Manifest | None:
        """The list of the index's parts; None where there is no index, or one that another version made."""
        try:
            return read_manifest(self.store)
        except (NotIndexed, StoreError):
            return None

    def open_index(self) -> Index:
        """The index, open until another build. Raises NotIndexed when there is none."""
        made = read_manifest(self.store)
        if self._index is None or self._index.manifest != made:
            self._index = Index(self.store, made, self.settings.index.part_objects)
        return self._index

    def pending(self) -> list[str]:
        """Ids of documents that differ between the corpus and its index."""
        now = self.document_keys()
        if self.manifest() is None:
            return list(now)
        indexed = {d.id: d.key for d in self.open_index().catalogue.documents}
        return sorted(name for name in now.keys() | indexed.keys() if now.get(name) != indexed.get(name))
