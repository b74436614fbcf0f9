"""A corpus on disk: add, remove, build, ask. The façade that the command line, servers and notebooks share."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sensegraph.answering.reranking import reranked
from sensegraph.answering.streaming import Patient
from sensegraph.corpus.checking import Checking
from sensegraph.corpus.collecting import Collecting
from sensegraph.corpus.curation import Curated
from sensegraph.corpus.guarding import Guarded
from sensegraph.corpus.history import Remembering
from sensegraph.corpus.matching import Matching
from sensegraph.corpus.outcomes import MASKED, ORIGIN, Added, Built, Read, Status
from sensegraph.corpus.settings import Settings, load_settings, make_reranker, make_tools
from sensegraph.corpus.syncing import Synced
from sensegraph.errors import InputError, NotIndexed, SettingsError, StoreError
from sensegraph.filters import Scope
from sensegraph.index.build import build, store_documents
from sensegraph.index.hierarchy.lineage import follow_communities
from sensegraph.index.index import Index, document
from sensegraph.index.manifest import REF, Manifest, read_manifest
from sensegraph.index.parts import Part, sort_parts
from sensegraph.index.restricted.moment import asked_in_time, marks, timed
from sensegraph.index.restricted.scope import notes_of
from sensegraph.index.settings import IndexSettings
from sensegraph.language.text import tokens
from sensegraph.methods import load, parts_needed
from sensegraph.methods.auto import Choice, choose, finder
from sensegraph.models.endpoint.journal import Journal
from sensegraph.protocols import Embedder, LanguageEngine, Method, Reranker
from sensegraph.runtime.executors.processes import LocalExecutor
from sensegraph.runtime.keys import canonical
from sensegraph.runtime.results import Results
from sensegraph.runtime.runtime import Progress, Runtime
from sensegraph.runtime.stores.sqlite import SqliteStore, writable
from sensegraph.types import Answer, Document, Evidence, Question, Turn, Usage

if TYPE_CHECKING:
    from sensegraph.documents.document_settings import DocumentSettings
    from sensegraph.index.estimate import Estimate

FOLDER = ".sensegraph"
EVERYTHING = Scope()
_DOCUMENT = "document/"


def _quiet(step: str, done: int, total: int) -> None:
    """No progress."""


class Corpus(Guarded, Collecting, Synced, Curated, Remembering, Checking, Matching):
    """Documents and their index under one folder. Use `Corpus.open`.

    Raises SettingsError, InputError, NotIndexed, StoreError, StepFailed, EndpointError, BudgetExceeded; see `errors`.
    """

    def __init__(self, root: Path, settings: Settings, store: SqliteStore, progress: Progress = _quiet) -> None:
        self.root, self.settings, self.store, self.progress = root, settings, store, progress
        self._tools: tuple[LanguageEngine, Embedder] | None = None
        self._reranker: Reranker | None = None
        self._index: Index | None = None
        self._journal = Journal(store.root / "replies.jsonl")
        self.wait = 0.0  # seconds to wait for another build of the same corpus

    @classmethod
    def open(
        cls,
        root: str | Path = ".",
        *,
        settings: Mapping[str, Any] | None = None,
        progress: Progress = _quiet,
        create: bool = True,
        parts: Sequence[Part[Any, Any]] = (),
    ) -> Corpus:
        """The corpus at `root`, made when there is none; `settings` are nested tables laid over its settings file.

        `parts` are parts of an index that no installed package brings. With `create=False` nothing is written: a
        missing index is an error, and a read-only disk is no obstacle.
        """
        folder = Path(root)
        loaded = load_settings(folder, settings, parts=parts)
        place = folder / FOLDER
        if not create and not (place / "store.sqlite").exists():
            raise NotIndexed(f"There is no index in {folder.resolve()}; run `sensegraph index PATH --root {folder}`.")
        return cls(folder, loaded, SqliteStore(place, readonly=not create and not writable(place)), progress)

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    def __enter__(self) -> Corpus:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ── tools ──

    @property
    def tools(self) -> tuple[LanguageEngine, Embedder]:
        """The engine and the embedder that the settings name, made on first use."""
        self._tools = self._tools or make_tools(self.settings, self._journal)
        return self._tools

    @property
    def engine(self) -> LanguageEngine:
        """The engine that the settings name."""
        return self.tools[0]

    @property
    def reranker(self) -> Reranker | None:
        """The reranker that the settings name, made on first use; None where they name none."""
        self._reranker = self._reranker or make_reranker(self.settings, self.tools, self._journal)
        return self._reranker

    def runtime(self) -> Runtime:
        """A runtime over this corpus's tools and store."""
        executor = LocalExecutor(self.settings.endpoint.concurrency, self.settings.processes)
        return Runtime(*self.tools, self.store, executor, self.progress)

    def _asking(self) -> Runtime:
        """A runtime for questions: with the reranker."""
        return replace(self.runtime(), reranker=self.reranker)

    # ── documents ──

    def add(self, *items: str | Path | Document | Iterable[Document]) -> Added:
        """Add or update documents: files and folders by path, or values. They are indexed by the next `build`.

        A document with the id of an earlier one takes its place. Raises InputError for a path that does not exist,
        before anything is stored.
        """
        read = self._read(items)
        return replace(self._store(read.documents), skipped=read.skipped, personal=read.personal)

    def _read(self, items: Sequence[str | Path | Document | Iterable[Document]]) -> Read:
        """The documents of paths and values, masked where the settings say so, and what could not be read."""
        from sensegraph.documents import load as load_documents

        paths = [i for i in items if isinstance(i, str | Path)]
        loaded = load_documents(paths, settings=self._reading(paths)) if paths else None
        values = [d for i in items if not isinstance(i, str | Path) for d in ([i] if isinstance(i, Document) else i)]
        documents = [*(loaded.documents if loaded else ()), *values]
        _check(documents)
        kept, personal = self._without_personal_data(documents)
        return Read(kept, loaded.skipped if loaded else (), personal)

    def _reading(self, paths: Sequence[str | Path]) -> DocumentSettings:
        """The settings for reading `paths`: where one is this corpus's own folder, its prompts are no documents."""
        reading, root = self.settings.documents, self.root.resolve()
        prompts = Path(self.settings.model.prompts).resolve() if self.settings.model.prompts else root
        if prompts == root or not prompts.is_relative_to(root) or root not in {Path(p).resolve() for p in paths}:
            return reading
        return replace(reading, exclude=(*reading.exclude, f"{prompts.relative_to(root).as_posix()}/*"))

    def _store(self, documents: Sequence[Document]) -> Added:
        before = self.store.refs(_DOCUMENT)
        keys = dict(zip((d.id for d in documents), store_documents(documents, self.runtime()), strict=True))
        self.store.set_refs({**{_DOCUMENT + name: k for name, k in keys.items()}, **self._marks(keys)})
        kinds = {name: _kind(before.get(_DOCUMENT + name), k) for name, k in keys.items()}
        chosen = {kind: tuple(n for n, found in kinds.items() if found == kind) for kind in ("new", "changed", "same")}
        return Added(chosen["new"], chosen["changed"], chosen["same"])

    def remove(self, *ids: str) -> None:
        """Remove documents; the next `build` makes the index as if they had never been there.

        Without any document there is nothing to build: then the index goes at once. Raises InputError when one is not
        in the corpus; then none is removed.
        """
        have = self.document_keys()
        if missing := [name for name in ids if name not in have]:
            near = f"; the corpus holds {len(have)}: `sensegraph status --documents` lists them"
            raise InputError(f"Not in the corpus: {', '.join(map(repr, missing[:5]))}{near}.")
        index = {} if have.keys() - set(ids) else {REF: None}
        gone = [place + name for place in (_DOCUMENT, ORIGIN, MASKED) for name in ids]
        self.store.set_refs({**dict.fromkeys(gone), **index})

    def document_keys(self) -> dict[str, str]:
        """The key of every document's content by id, in the order of ids."""
        return {name.removeprefix(_DOCUMENT): k for name, k in self.store.refs(_DOCUMENT).items()}

    def documents(self) -> Sequence[Document]:
        """All documents in the order of ids, read when they are asked for."""
        return Results(self.store, document, list(self.document_keys().values()))

    # ── building ──

    def build(self, *, fresh: bool = False, parts: Sequence[str] | None = None) -> Built:
        """Make the index of the documents as they are now; only what is missing is computed.

        `parts` (those of the settings by default) are built, and those that the index has already stay. `fresh`
        clusters without regard to the communities of the index before. Raises StoreError while another process builds
        the same corpus, after `wait` seconds.
        """
        self._must_be_masked()
        rt, before, said, started = self.runtime(), self._spent(), self.engine.notes(), time.perf_counter()
        with self.store.exclusive(self.wait), self._journal:
            manifest = build(list(self.document_keys().values()), rt, self.index_settings(parts), fresh=fresh)
            fates = follow_communities(self.store, manifest)
        self._built_masked()
        usage = replace(self._spent() - before, seconds=time.perf_counter() - started)
        notes = (*manifest.notes, *self._said_since(said))
        return Built(manifest.counts, manifest.clusters, dict(rt.computed), usage, notes, fates)

    def index_settings(self, parts: Sequence[str] | None = None) -> IndexSettings:
        """How `build` makes the index: with `parts`, those of the settings by default, and those that it has."""
        made = self.manifest()
        settings = self.settings.index
        wanted = {*(settings.parts if parts is None else parts), *(made.part_names if made else ())}
        return replace(settings, parts=sort_parts(wanted, self._given_parts))

    def estimate(self, *items: str | Path | Document | Iterable[Document]) -> Estimate:
        """What `build` would compute now, or after `add(*items)`: calls, tokens, money.

        Nothing is computed by a model or paid, and the corpus stays as it is.
        """
        return self.foreseen(self._read(items).documents)

    def foreseen(self, documents: Sequence[Document]) -> Estimate:
        """What `build` would compute with these documents, which have been read already, added."""
        from sensegraph.index.estimate import estimate

        rt = self.runtime()
        added = dict(zip((d.id for d in documents), store_documents(documents, rt), strict=True))
        keys = {**self.document_keys(), **added}
        return estimate([keys[name] for name in sorted(keys)], rt, self.settings.index)

    # ── asking ──

    def index(self) -> Index:
        """The index as the last build left it, open until another build. Raises NotIndexed when there is none."""
        self._must_be_built_masked()
        return self._opened()

    @property
    def _given_parts(self) -> tuple[Part[Any, Any], ...]:
        """Parts of an index that nobody but this program knows."""
        return self.settings.index.part_objects

    def _opened(self) -> Index:
        made = read_manifest(self.store)
        if self._index is None or self._index.manifest != made:
            self._index = Index(self.store, made, self._given_parts)
        return self._index

    def method(
        self, name: str = "auto", question: str = "", *, index: Index | None = None, **options: Any
    ) -> tuple[Method, str]:
        """The method `name` with the settings of its table and `options` (None means not given), and why, if chosen.

        `auto` chooses by the question and the index; a `depth` asks for reports, which GraphRAG reads.
        """
        given = {k: v for k, v in options.items() if v is not None}
        wanted, reason = name if name != "auto" else self.settings.method, ""
        if wanted == "auto":
            deep = Choice("graphrag", "a depth was given")
            choice = deep if "depth" in given else choose(question, index or self.index())
            wanted, reason = choice.method, f"auto chose {choice.method}: {choice.reason}"
        return load(wanted, **self.settings.method_settings(wanted, given)), reason

    def query(
        self,
        question: str,
        *,
        method: str = "auto",
        scope: Scope = EVERYTHING,
        history: Sequence[Turn] = (),
        hear: Callable[[str], None] | None = None,
        **options: Any,
    ) -> Answer:
        """Answer a question with citations. `options` are settings of the method, such as `depth`.

        Only documents inside `scope` are read. `history` is the conversation before, oldest turn first. `hear` is told
        the answer piece by piece while it is written; the pieces, joined, are its text.
        """
        rt, read = self._asking(), self.settings.index.temporal.questions
        posed, masked = self._asked_without(_asked(question, history))
        asked, index = asked_in_time(posed, self.index(), scope, rt, read=read)
        chosen, reason = self.method(method, asked.text, index=index, **options)
        index.check_parts(parts_needed(chosen))
        before, said, started = self._spent(), self.engine.notes(), time.perf_counter()
        again = bool(reason) and chosen.name == "graphrag" and options.get("depth") is None
        answer = chosen.answer(asked, index, replace(rt, hear=Patient(hear) if hear and again else hear))
        if again and not answer.citations:
            reason += "; the reports hold nothing on it: passages were read"
            chosen, _ = self.method(finder(index))
            answer = chosen.answer(asked, index, replace(rt, hear=hear))
        usage = replace(self._spent() - before, seconds=time.perf_counter() - started)
        notes = (*masked, *self._notes(reason, index), *marks(answer, index), *rt.noted, *answer.notes)
        notes = (*notes, *self._said_since(said))
        return replace(answer, usage=usage, notes=notes, method=chosen.name, engine=self.engine.name)

    def search(
        self, question: str, *, method: str = "auto", scope: Scope = EVERYTHING, top: int = 10, **options: Any
    ) -> Evidence:
        """The evidence for a question, without an answer: at most `top` passages and documents, best first."""
        if top < 1:
            raise InputError(f"top must be at least 1, not {top}.")
        asked, masked = self._asked_without(_asked(question, ()))
        rt, index = self._asking(), timed(self.index(), scope)
        chosen, _ = self.method(finder(index) if method == "auto" else method, question, **options)
        index.check_parts(parts_needed(chosen))
        found = reranked(asked, chosen.retrieve(asked, index, rt), index, rt)
        kept = found.passages[:top]
        omitted = found.omitted + len(found.passages) - len(kept)
        size = sum(tokens(p.text) for p in kept)
        notes = (*masked, *notes_of(index), *rt.noted, *found.notes)
        return replace(found, passages=kept, documents=found.documents[:top], tokens=size, omitted=omitted, notes=notes)

    def _notes(self, reason: str, index: Index) -> tuple[str, ...]:
        manifest, notes = index.manifest, [reason] if reason else []
        notes += notes_of(index)
        if manifest.engine != self.engine.name:
            notes.append(
                f"the index was built by the engine {manifest.engine}, the question answered by {self.engine.name}"
            )
        if waiting := len(self._pending()):
            notes.append(f"{waiting} documents were added, changed or removed since the last build")
        return tuple(notes)

    def _said_since(self, before: tuple[str, ...]) -> tuple[str, ...]:
        """What the engine has noted since then; its counts are since it was made."""
        return tuple(note for note in self.engine.notes() if note not in before)

    def _spent(self) -> Usage:
        return sum((tool.usage() for tool in (*self.tools, self._reranker) if tool), Usage())

    # ── looking ──

    def status(self) -> Status:
        """The state of the corpus."""
        keys = self.document_keys()
        manifest = self.manifest()
        return Status(
            documents=len(keys),
            indexed=manifest.counts["documents"] if manifest else 0,
            counts=manifest.counts if manifest else {},
            clusters=manifest.clusters if manifest else (),
            engine=manifest.engine if manifest else "",
            embedder=manifest.embedder if manifest else "",
            ledger=self.store.ledger(),
            pending=tuple(self._pending()),
            size_bytes=sum(f.stat().st_size for f in self.store.root.rglob("*") if f.is_file()),
        )

    def manifest(self) -> Manifest | None:
        """The list of the index's parts; None where there is no index, or one that another version made."""
        try:
            return read_manifest(self.store)
        except (NotIndexed, StoreError):
            return None

    def _pending(self) -> list[str]:
        """Ids of documents that differ between the corpus and its index."""
        manifest = self.manifest()
        if manifest is None:
            return list(self.document_keys())
        indexed = {d.id: d.key for d in self._opened().catalogue.documents}
        now = self.document_keys()
        return sorted(name for name in now.keys() | indexed.keys() if now.get(name) != indexed.get(name))


def _asked(question: str, history: Sequence[Turn]) -> Question:
    if not question.strip():
        raise InputError("The question is empty; ask something.")
    return Question(question, tuple(history))


def _check(documents: Sequence[Document]) -> None:
    """Raise InputError for documents that cannot be stored, before any of them is."""
    if nameless := [d for d in documents if not d.id]:
        raise InputError(f"{len(nameless)} documents have no id; give each a name that is unique in the corpus.")
    if twice := [name for name, n in Counter(d.id for d in documents).items() if n > 1]:
        raise InputError(f"The id {twice[0]!r} is given more than once; give each document a name of its own.")
    for d in documents:
        try:
            canonical(d)
        except UnicodeEncodeError as e:
            raise InputError(f"The document {d.id!r} holds no valid Unicode ({e.reason}); decode it anew.") from e
        except TypeError as e:
            raise InputError(f"The document {d.id!r} cannot be stored: {e}.") from e


def _kind(before: str | None, now: str) -> str:
    return "new" if before is None else "same" if before == now else "changed"


__all__ = ["Added", "Built", "Corpus", "SettingsError", "Status", "StoreError"]
