"""A corpus on disk: add, remove, build, ask. The façade that the command line, servers and notebooks share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sensegraph.questions import Scope
from sensegraph.types import Question

if TYPE_CHECKING:
    from sensegraph.answering.grounding.checking import Checked
    from sensegraph.answering.grounding.citations import By
    from sensegraph.corpus.asker import AnswerStream, Asker
    from sensegraph.corpus.browser import Browser
    from sensegraph.corpus.garbage import Collected, GarbageCollector
    from sensegraph.corpus.names import Applied, NameDecisions, Resolved
    from sensegraph.corpus.privacy import Privacy
    from sensegraph.corpus.settings import Settings
    from sensegraph.corpus.sources import Added, Mirror, Plan, Sources
    from sensegraph.corpus.workspace import Builder, Built, GivenTools, Status, Workspace
    from sensegraph.graphs.frames import GraphTables
    from sensegraph.graphs.match.matches import Matches, Parameter
    from sensegraph.index.browse.pages import EntityPage, ReportPage, ReportRow
    from sensegraph.index.estimate import Estimate
    from sensegraph.index.index import Index
    from sensegraph.index.manifest import Manifest
    from sensegraph.index.parts import Part
    from sensegraph.index.restricted.timeline import Change, Event
    from sensegraph.protocols import Chunker, Embedder, Executor, LanguageEngine, Method, Reranker
    from sensegraph.runtime.runtime import Runtime
    from sensegraph.runtime.stores.corpus_store import CorpusStore
    from sensegraph.types import Answer, Document, Entity, Evidence, Turn

EVERYTHING = Scope()


class Corpus:
    """Documents and their index under one folder. Use `Corpus.open`.

    Its parts do what it does: `sources` (documents), `mirror` (following files), `privacy` (masking), `builder` (the
    index), `asker` (questions, checks), `browser` (reports, entities, patterns), `names` (which are one entity),
    `garbage`; `workspace` is what they share. It raises what `errors` lists.
    """

    def __init__(
        self,
        root: Path,
        settings: Settings,
        store: CorpusStore,
        progress: Callable[[str, int, int], None] = lambda step, done, total: None,
        given: GivenTools | None = None,
    ) -> None:
        from sensegraph.corpus.workspace import Workspace

        self.workspace: Workspace = Workspace(root, settings, store, progress, given)

    @classmethod
    def open(
        cls,
        root: str | Path = ".",
        *,
        settings: Mapping[str, Any] | None = None,
        progress: Callable[[str, int, int], None] = lambda step, done, total: None,
        create: bool = True,
        mend: bool = False,
        engine: LanguageEngine | None = None,
        embedder: Embedder | None = None,
        reranker: Reranker | None = None,
        chunker: Chunker | None = None,
        store: CorpusStore | None = None,
        executor: Executor | None = None,
        method: Method | None = None,
        parts: Sequence[Part[Any, Any]] = (),
        wait: float = 0.0,
    ) -> Corpus:
        """The corpus in a folder or a database, made when there is none; `settings` are laid over its settings file.

        With `create=False` nothing is written: a missing index is an error, a read-only disk is none. `mend` moves a
        store aside that is damaged beyond reading. Tools given as values replace those of the settings
        (docs/plugins.md); `close` closes a `store` too. `method` answers where a question names none. A build waits
        `wait` seconds for another one of the same corpus, then raises Busy.
        """
        from sensegraph.corpus.settings import FOLDER, open_settings
        from sensegraph.corpus.tools import can_write, check_tools, has_store, make_store
        from sensegraph.corpus.workspace import GivenTools
        from sensegraph.errors import NotIndexed

        own = {part.name: part for part in (*parts, *getattr(method, "brings", ()))}
        folder, loaded = open_settings(root, settings, tuple(own.values()))
        place, given = folder / FOLDER, check_tools(GivenTools(engine, embedder, reranker, chunker, executor, method))
        if not (store or create or has_store(loaded, place)):
            how = f"`sensegraph index PATH --root {folder}` (in Python: open without `create=False`, `add`, `build`)"
            raise NotIndexed(f"There is no index in {folder.resolve()}; run {how}.")
        readonly = not (create or loaded.store.url or can_write(place))  # a database says so itself
        made = cls(folder, loaded, store or make_store(loaded, place, readonly=readonly, mend=mend), progress, given)
        made.wait = wait
        return made

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    def __enter__(self) -> Corpus:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ── parts, each made when it is first used ──

    @cached_property
    def privacy(self) -> Privacy:
        """Personal data: what is masked, and what must be."""
        from sensegraph.corpus.privacy import Privacy

        return Privacy(self.workspace)

    @cached_property
    def sources(self) -> Sources:
        """The documents."""
        from sensegraph.corpus.sources import Sources

        return Sources(self.workspace, self.privacy)

    @cached_property
    def builder(self) -> Builder:
        """The index: building, estimating, opening."""
        from sensegraph.corpus.garbage import GarbageCollector
        from sensegraph.corpus.workspace import Builder

        return Builder(self.workspace, self.privacy, self.sources, GarbageCollector)

    @cached_property
    def mirror(self) -> Mirror:
        """The corpus against the files that it was read from."""
        from sensegraph.corpus.sources import Mirror

        return Mirror(self.workspace, self.privacy, self.sources, self.builder)

    @cached_property
    def asker(self) -> Asker:
        """Questions, and checks of answers."""
        from sensegraph.corpus.asker import Asker

        return Asker(self.workspace, self.privacy, self.builder)

    @cached_property
    def browser(self) -> Browser:
        """Reading the index without a question."""
        from sensegraph.corpus.browser import Browser

        return Browser(self.workspace, self.builder)

    @cached_property
    def names(self) -> NameDecisions:
        """Decisions on which names are one entity."""
        from sensegraph.corpus.names import NameDecisions

        return NameDecisions(self.workspace, self.builder)

    @cached_property
    def garbage(self) -> GarbageCollector:
        """What the store holds and nothing needs."""
        from sensegraph.corpus.garbage import GarbageCollector

        return GarbageCollector(self.workspace, self.builder)

    @property
    def root(self) -> Path:
        """The folder of the corpus."""
        return self.workspace.root

    @property
    def settings(self) -> Settings:
        """The settings."""
        return self.workspace.settings

    @property
    def store(self) -> CorpusStore:
        """The store."""
        return self.workspace.store

    @property
    def progress(self) -> Callable[[str, int, int], None]:
        """What is told how far a step is; it is set on `workspace`."""
        return self.workspace.progress

    @property
    def wait(self) -> float:
        """How long to wait for another build of the same corpus, in seconds; it can be set."""
        return self.workspace.wait

    @wait.setter
    def wait(self, seconds: float) -> None:
        """Wait so long from now on."""
        self.workspace.wait = seconds

    @property
    def engine(self) -> LanguageEngine:
        """The engine, made on first use."""
        return self.workspace.engine

    @property
    def embedder(self) -> Embedder:
        """The embedder, made on first use."""
        return self.workspace.tools[1]

    @property
    def reranker(self) -> Reranker | None:
        """The reranker, made on first use; None where there is none."""
        return self.workspace.reranker

    def runtime(self) -> Runtime:
        """A runtime over the tools and the store."""
        return self.workspace.runtime()

    def index(self) -> Index:
        """The index as the last build left it, open until another build. Raises NotIndexed when there is none."""
        return self.builder.index()

    def manifest(self) -> Manifest | None:
        """The list of the index's parts; None where there is no index, or one that another version made."""
        return self.workspace.manifest()

    def status(self) -> Status:
        """The state of the corpus: counts, tools, what was spent, what waits for a build."""
        return self.builder.status()

    def masked(self, text: str) -> str:
        """A text as it would stand in this corpus: with placeholders where the settings mask."""
        return self.privacy.mask_text(text)

    def add(self, *items: str | Path | Document | Iterable[Document]) -> Added:
        """Add or update documents: files and folders by path, or values. They are indexed by the next `build`."""
        return self.sources.add(*items)

    def remove(self, *ids: str) -> None:
        """Remove documents; the next `build` makes the index as if they had never been there."""
        self.sources.remove(*ids)

    def document_keys(self) -> dict[str, str]:
        """The key of every document's content by id, in the order of ids."""
        return self.workspace.document_keys()

    def documents(self) -> Sequence[Document]:
        """All documents in the order of ids, read when they are asked for."""
        return self.sources.documents()

    def plan(self, *paths: str | Path, estimate: bool = False) -> Plan:
        """What `sync` would do; with `estimate` also what the next build would compute. Nothing is changed or paid."""
        return self.mirror.plan(*paths, estimate=estimate)

    def sync(self, *paths: str | Path) -> Plan:
        """Make the corpus hold what the paths hold: documents that were read from them and are gone are removed."""
        return self.mirror.sync(*paths)

    # ── the index ──

    def build(self, *, fresh: bool = False, parts: Sequence[str] | None = None, retry: bool = False) -> Built:
        """Make the index of the documents as they are now; only what is missing is computed.

        `parts` (those of the settings by default) are built, and those that the index has already stay. `fresh` finds
        communities without regard to those of before; `retry` asks again for chunks that could not be read.
        """
        return self.sources.note_skipped(self.builder.build(fresh=fresh, parts=parts, retry=retry))

    def estimate(self, *items: str | Path | Document | Iterable[Document]) -> Estimate:
        """What `build` would compute now, or after `add(*items)`: calls, tokens, money. Nothing is changed or paid."""
        return self.builder.estimate(*items)

    def collect(self, *, dry: bool = False) -> Collected:
        """Delete what neither the index nor the documents need any more; with `dry` only count it."""
        return self.garbage.collect(dry=dry)

    # ── questions ──

    def query(
        self,
        /,
        question: str,
        *,
        method: str = "auto",
        scope: Scope = EVERYTHING,
        history: Sequence[Turn] = (),
        hear: Callable[[str], None] | None = None,
        **options: Any,
    ) -> Answer:
        """Answer a question with citations. `options` are settings of the method, such as `depth`.

        Only documents inside `scope` are read; `history` is the conversation before, oldest turn first; `hear`
        gets each piece of the answer. `ask` is another name of it.
        """
        return self.asker.query(Question(question, tuple(history)), scope, method, hear, **options)

    ask = query

    def stream(
        self,
        /,
        question: str,
        *,
        method: str = "auto",
        scope: Scope = EVERYTHING,
        history: Sequence[Turn] = (),
        **options: Any,
    ) -> AnswerStream:
        """The answer while it is written: pieces of text, and `answer`. What can be checked before raises at once."""
        return self.asker.stream(Question(question, tuple(history)), scope, method, **options)

    def search(
        self, /, question: str, *, method: str = "auto", scope: Scope = EVERYTHING, top: int = 10, **options: Any
    ) -> Evidence:
        """The evidence for a question, without an answer: at most `top` passages and documents, best first."""
        return self.asker.search(Question(question), scope, method, top, **options)

    def check(self, answer: Answer, *, by: By = "auto", question: str = "") -> Checked:
        """`answer` against what it cites, and its `question`; `by` engine if it can (auto), `model` or `words`."""
        return self.asker.check([answer], by=by, questions=[question] if question else ())[0]

    def reports(self, depth: int = 0) -> list[ReportRow]:
        """The reports of a depth (0 is the coarsest), best rating first."""
        return self.browser.reports(depth)

    def report(self, name: str) -> ReportPage:
        """A report with its sources and all that is below it, by its id, the beginning of it, or its title."""
        return self.browser.report(name)

    def entities(self, name: str = "", *, type: str = "") -> list[Entity]:
        """The entities of a name (in any case) or an id, or all of them: those with most neighbours first."""
        return self.browser.entities(name, type=type)

    def entity(self, name: str, *, type: str = "") -> EntityPage:
        """All that is known of an entity: what each chunk says, its neighbours, claims and communities."""
        return self.browser.entity(name, type=type)

    def timeline(self, entity: str, *, since: str = "", until: str = "", type: str = "") -> list[Event]:
        """The dated statements that name `entity` and may hold between two moments (ISO 8601), in order of time."""
        return self.browser.timeline(entity, since=since, until=until, type=type)

    def changes(self, first: str, last: str) -> list[Change]:
        """What began, ended or changed after the moment `first` and through `last` (ISO 8601)."""
        return self.browser.changes(first, last)

    def graph(self) -> GraphTables:
        """The graph as tables, and as networks and frames of other libraries."""
        return self.browser.graph()

    def match(
        self,
        query: str,
        *,
        where: str = "",
        returned: str = "",
        order: str = "",
        skip: int | None = None,
        limit: int | None = None,
        parameters: Mapping[str, Parameter] | None = None,
        scope: Scope = EVERYTHING,
        cite: bool = False,
        most: int | None = None,
        seconds: float | None = None,
    ) -> Matches:
        """The rows that match a pattern, or a whole query, of the part of openCypher that docs/match.md describes.

        `where`, `returned` (RETURN) and `order` (ORDER BY) are clauses, `parameters` the values of its `$names`. With
        `cite` each row has citations. Any step may find `most` combinations; all take `seconds`.
        """
        from sensegraph.graphs.match.matches import MOST, SECONDS, Request

        request = Request(query, where, returned, order, skip, limit, parameters, most or MOST, seconds or SECONDS)
        return self.browser.match(request, scope, cite=cite)

    def resolve(self, apply: bool = False, *, ask: bool = True) -> Resolved:
        """Find duplicate entities; with `apply` they are merged. `ask` lets a model judge uncertain pairs."""
        return self.names.resolve(apply, ask=ask)

    def merge(self, *names: str, called: str = "") -> Applied:
        """Make the entities of these names one, `called` so where given, and bring the index up to date."""
        return self.names.merge(*names, called=called)

    def split(
        self, name: str, others: Sequence[str] = (), *, documents: Sequence[str] = (), called: str = ""
    ) -> Applied:
        """Take `others`, which are aliases of an entity, out of it; or what `documents` mention under its name."""
        return self.names.split(name, others, documents=documents, called=called)

    def rename(self, name: str, called: str) -> Applied:
        """Call an entity `called`; its other names stay aliases."""
        return self.names.rename(name, called)

    def forbid(self, *names: str) -> Applied:
        """Keep the entities, or the aliases, of these names apart, whatever is found later."""
        return self.names.forbid(*names)

    def undo(self, operation: str = "") -> Applied:
        """Take back the operation with this number, or the last that stands: the index is as if it had not been."""
        return self.names.undo(operation)
