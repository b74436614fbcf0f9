"""From settings to tools: the one place that chooses engine, embedder, reranker, store and executor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from sensegraph.corpus.settings import (
    ENGINES,
    Guarded,
    Settings,
    check_approved,
    forbid_usage_reports,
    locate_caches,
    read_api_key,
    read_headers,
    read_store_password,
)
from sensegraph.engines.offline.own_names import read_own_names
from sensegraph.errors import InputError, SettingsError
from sensegraph.models.endpoint.endpoint_settings import Purpose, address_purpose, set_temperature
from sensegraph.plugins import load_plugin
from sensegraph.protocols import Chunker, Embedder, LanguageEngine, Reranker

if TYPE_CHECKING:
    from sensegraph.corpus.workspace import GivenTools
    from sensegraph.engines.llm.figure_task import FigureDescriber
    from sensegraph.models.batches.batch_box import BatchBox, BatchPlan, Progress
    from sensegraph.models.endpoint.client import Endpoint
    from sensegraph.models.endpoint.limits import Journal
    from sensegraph.protocols import Executor
    from sensegraph.runtime.store_place import StorePlace
    from sensegraph.runtime.stores.corpus_store import CorpusStore


_NOBODY_IS_ASKED = ContextVar("_NOBODY_IS_ASKED", default=False)


@contextmanager
def estimate_only() -> Iterator[None]:
    """Work inside which no endpoint is asked: one that is made there needs no key before its first request."""
    before = _NOBODY_IS_ASKED.set(True)
    try:
        yield
    finally:
        _NOBODY_IS_ASKED.reset(before)


@runtime_checkable
class _Remote(Protocol):
    """A tool that speaks to an endpoint."""

    @property
    def endpoint(self) -> Endpoint:
        """The endpoint, which tools share."""
        ...


def needed_approvals(settings: Settings) -> Iterator[Guarded]:
    """The endpoints and models that the tools of these settings use."""
    engine, vectors = _remote_tools(settings)
    if engine:
        yield "chat"
    if vectors:
        yield "embedding"
    if settings.rerank.by == "endpoint":
        yield "rerank"
    if settings.endpoint.vision_model:
        yield "vision"
    if settings.engine == "local":
        yield "local"
    if _uses_folder(settings):
        yield "folder"
    if settings.rerank.by in ("folder", "cross-encoder"):
        yield "cross-encoder"
    if settings.store.url:
        yield "store"
    if settings.executor.kind == "ray" and settings.executor.address:
        yield "cluster"


def _uses_folder(settings: Settings) -> bool:
    return settings.embedder == "folder" or (settings.embedder == "auto" and bool(settings.embedding.folder))


def _remote_tools(settings: Settings) -> tuple[bool, bool]:
    """Whether the engine, and whether the embedder, speaks to the endpoint."""
    table = settings.endpoint
    named = bool(table.embedding_model) and not settings.embedding.folder
    vectors = settings.embedder == "auto" and named and settings.engine != "offline"
    engine = settings.engine == "model" or (settings.engine == "auto" and bool(table.model))
    return engine, vectors or settings.embedder == "endpoint"


def make_tools(
    settings: Settings,
    journal: Journal | None = None,
    *,
    engine: LanguageEngine | None = None,
    embedder: Embedder | None = None,
) -> tuple[LanguageEngine, Embedder]:
    """The engine and the embedder that the settings name; where both are remote they share one endpoint and its limits,
    or with addresses of their own one budget.

    `auto` takes the model where `endpoint.model` is set; the vectors of `embedding.folder` where that is set, else the
    endpoint's where `endpoint.embedding_model` is; and else what works on this machine alone. An `engine` or `embedder`
    that is given is taken instead.
    """
    table = settings.endpoint
    remote_engine, remote_vectors = _remote_tools(settings)
    remote_engine, remote_vectors = remote_engine and engine is None, remote_vectors and embedder is None
    if remote_engine and not table.model:
        raise SettingsError("engine = model needs endpoint.model (and endpoint.base_url unless it is OpenAI's).")
    if remote_vectors and not table.embedding_model:
        raise SettingsError("embedder = endpoint needs endpoint.embedding_model.")
    endpoint = make_endpoint(settings, journal) if remote_engine else None
    if endpoint:
        from sensegraph.engines.llm.llm import LLMEngine

        engine = LLMEngine(endpoint, settings.model)
    if remote_vectors:
        from sensegraph.models.embedders import RemoteEmbedder

        embedder = RemoteEmbedder(make_endpoint(settings, journal, "embedding", beside=[endpoint] if endpoint else []))
    engine = engine or _make_engine_here(settings)
    if embedder is None and _uses_folder(settings):
        embedder = make_folder_embedder(settings)
    if embedder is None and settings.embedder not in ("auto", "offline", "endpoint"):
        embedder = load_plugin("embedders", settings.embedder)()
    if embedder is None:
        from sensegraph.models.embedders import HashedTerms

        embedder = HashedTerms()
    return engine, embedder


def make_folder_embedder(settings: Settings) -> Embedder:
    """The embedder in `embedding.folder`. Raises Unapproved where a file chose it and nobody approved it."""
    table = settings.embedding
    if not table.folder:
        raise SettingsError("embedder = folder needs embedding.folder: a folder with an embedding model.")
    check_approved(settings, "folder")
    from sensegraph.models.folders.folder_embedder import FolderEmbedder

    return FolderEmbedder(table.folder, (table.query_prefix, table.document_prefix))


def make_reranker(
    settings: Settings, tools: tuple[LanguageEngine, Embedder], journal: Journal | None = None
) -> Reranker | None:
    """The reranker that the settings name, if they name one; a remote one shares the endpoint of remote `tools`.

    Raises SettingsError for what it lacks: a model, an extra, a `top` of at least 1.
    """
    rerank, table = settings.rerank, settings.endpoint
    if rerank.by == "none":
        return None
    if rerank.by not in ("endpoint", "engine", "folder", "cross-encoder"):
        made: Reranker = load_plugin("rerankers", rerank.by)()
        return made
    if rerank.top < 1:
        raise SettingsError(f"rerank.top must be at least 1, not {rerank.top}; rerank.by = none turns it off.")
    if rerank.by == "folder":
        check_approved(settings, "cross-encoder")
        from sensegraph.models.folders.folder_reranker import FolderReranker

        return FolderReranker(rerank.model, rerank.top)
    if rerank.by == "cross-encoder":
        check_approved(settings, "cross-encoder")
        from sensegraph.models.rerankers import CrossEncoderReranker

        return CrossEncoderReranker(rerank.model, rerank.top)
    if rerank.by == "engine":
        from sensegraph.models.rerankers import EngineReranker

        return EngineReranker(tools[0], rerank.top)
    if not table.rerank_model:
        raise SettingsError("rerank.by = endpoint needs endpoint.rerank_model.")
    from sensegraph.models.rerankers import EndpointReranker

    beside = [tool.endpoint for tool in tools if isinstance(tool, _Remote)]
    return EndpointReranker(make_endpoint(settings, journal, "rerank", beside=beside), rerank.top)


def make_describer(
    settings: Settings,
    tools: tuple[LanguageEngine, Embedder],
    journal: Journal | None,
    clean: Callable[[str], str] = str,
    cleaned: str = "",
) -> FigureDescriber | None:
    """Who describes the images in documents, if the settings name a model that sees; it shares the budget of `tools`.

    What it writes is made `clean` before it is kept; `cleaned` stands for how. Raises Unapproved.
    """
    if not settings.endpoint.vision_model:
        return None
    from sensegraph.engines.llm.figure_task import FigureDescriber

    beside = [tool.endpoint for tool in tools if isinstance(tool, _Remote)]
    return FigureDescriber(make_endpoint(settings, journal, "vision", beside), settings.model, clean, cleaned)


def make_endpoint(
    settings: Settings, journal: Journal | None = None, purpose: Purpose = "chat", beside: Sequence[Endpoint] = ()
) -> Endpoint:
    """The endpoint that serves a purpose, with the key from the environment: one `beside` it where it is the same.

    Others share its budget. Raises Unapproved before it is made.
    """
    from sensegraph.models.endpoint.client import Endpoint
    from sensegraph.models.endpoint.profile import ENDPOINTS, Memory

    table = address_purpose(settings.endpoint, purpose)
    own = [(e.settings.base_url, e.settings.api_key_env, e.settings.model) for e in beside]
    if (where := (table.base_url, table.api_key_env, table.model)) in own:
        return beside[own.index(where)]
    check_approved(settings, purpose)
    memory = Memory(journal.folder / ENDPOINTS if journal and journal.folder else None)
    limits = (table.max_tokens_total, table.max_cost_usd)
    first = next((e for e in beside if (e.settings.max_tokens_total, e.settings.max_cost_usd) == limits), None)
    headers = read_headers(table)
    try:
        key = read_api_key(table)
    except SettingsError:
        if not _NOBODY_IS_ASKED.get():
            raise
        key = None
    return Endpoint(table, journal, key, memory, looks=True, headers=headers, beside=first)


def _make_engine_here(settings: Settings) -> LanguageEngine:
    """The engine that works in this process: by rules, a model of this machine, or a plug-in."""
    if settings.engine not in ENGINES.own:
        made: LanguageEngine = load_plugin("engines", settings.engine)()
        return made
    if settings.engine != "local":
        from sensegraph.engines.offline.engine import ClassicalEngine

        offline = settings.offline
        named = read_own_names(Path(offline.names_file)) if offline.names_file else ()
        return ClassicalEngine(named=named, chinese=offline.chinese)
    if not settings.local.model:
        raise SettingsError("engine = local needs local.model: a folder with a model, as `sensegraph tune` writes it.")
    check_approved(settings, "local")
    from sensegraph.engines.local.local_engine import HeldModel, LocalEndpoint, LocalEngine

    table, pool = settings.endpoint, None
    if settings.executor.kind == "ray" and settings.executor.address:
        executor: Any = make_executor(settings)
        pool = executor.hold(partial(HeldModel, settings.local))
    return LocalEngine(LocalEndpoint(settings.local, set_temperature(table), table.seed, pool), settings.model)


def make_batch_box(
    settings: Settings, engine: LanguageEngine, folder: Path, plan: BatchPlan | None, progress: Progress
) -> BatchBox | None:
    """What collects the requests of a build for batches: as planned or set, or where an earlier run left some.

    Raises SettingsError where no model behind an endpoint reads the corpus.
    """
    asked = plan is not None or settings.endpoint.batch
    if not asked and not (folder / "batches").exists():
        return None
    from sensegraph.models.batches.batch_box import BatchBox, BatchPlan
    from sensegraph.models.endpoint.calls import Calls

    endpoint = engine.endpoint if isinstance(engine, _Remote) else None
    if endpoint is None or not isinstance(endpoint.calls, Calls):
        if not asked:
            return None
        raise SettingsError("Batches need a model behind an endpoint: set endpoint.model (and endpoint.base_url).")
    return BatchBox(folder / "batches", endpoint, plan or BatchPlan(), progress)


def make_chunker(settings: Settings) -> Chunker | None:
    """The chunker that the settings name; None for windows of tokens."""
    return None if settings.chunker == "windows" else load_plugin("chunkers", settings.chunker)()


def place_store(settings: Settings, folder: Path) -> StorePlace:
    """Where the settings keep a corpus whose own folder for it is `folder`. Raises Unapproved."""
    from sensegraph.runtime.store_place import StorePlace

    check_approved(settings, "store")
    table = settings.store
    cache = Path(table.cache) if table.cache else locate_caches()
    for name in ("arrays", "replica"):
        if getattr(table, name) and not table.url:
            raise SettingsError(f"store.{name} is for a corpus in a database: set store.url, or take store.{name} out.")
    return StorePlace(folder, table.url, cache, read_store_password, table.arrays, table.replica)


def make_store(settings: Settings, folder: Path, *, readonly: bool = False, mend: bool = False) -> CorpusStore:
    """The store of the corpus, made when there is none unless `readonly`. Raises StoreError where it cannot be used.

    With `mend` a file of the embedded store that is beyond reading is moved aside.
    """
    if settings.store.kind != "auto":
        made: CorpusStore = load_plugin("stores", settings.store.kind)(folder, readonly=readonly)
        return made
    return place_store(settings, folder).open(readonly=readonly, mend=mend)


def has_store(settings: Settings, folder: Path) -> bool:
    """Whether there is the store of a corpus: of a plug-in, whether there is the folder."""
    return place_store(settings, folder).exists() if settings.store.kind == "auto" else folder.is_dir()


def keep_in_folder(settings: Settings) -> Settings:
    """The settings with results in a file of their own folder: a database at `store.url` holds one corpus alone."""
    return replace(settings, store=replace(settings.store, url="", replica="", arrays=""))


def check_tools(given: GivenTools) -> GivenTools:
    """Tools that a program hands over. Raises InputError for a name in the place of one."""
    for field in fields(given):
        if isinstance(named := getattr(given, field.name), str):
            how = "give the tool itself (docs/plugins.md)"
            if field.name in ("engine", "embedder", "chunker", "method"):  # settings of these names hold names
                how += f", or name it in the settings: Corpus.open(…, settings={{{field.name!r}: {named!r}}})"
            raise InputError(f"{field.name} is the text {named!r}; {how}.")
    return given


def can_write(folder: Path) -> bool:
    """Whether files can be written in `folder`, found out by trying."""
    from sensegraph.runtime.locking import is_writable

    return is_writable(folder)


def make_executor(settings: Settings) -> Executor:
    """Who runs the batches of steps: threads and processes of this machine, a cluster, or a plug-in.

    Raises Unapproved for a cluster that a file chose, SettingsError without its extra.
    """
    threads, processes = settings.endpoint.concurrency, settings.processes
    if settings.executor.kind == "ray":
        check_approved(settings, "cluster")
        forbid_usage_reports()
        try:
            from sensegraph.runtime.executors.ray import RayExecutor
        except ImportError as e:
            raise SettingsError(
                'executor.kind = ray needs the extra "distributed": pip install "sensegraph[distributed]".'
            ) from e
        return RayExecutor(settings.executor.address, threads, processes)
    if settings.executor.kind != "local":
        made: Executor = load_plugin("executors", settings.executor.kind)(threads=threads, processes=processes)
        return made
    from sensegraph.runtime.executors.processes import LocalExecutor

    return LocalExecutor(threads, processes)


def make_asking_executor(settings: Settings) -> Executor:
    """Who runs the batches of a question: threads of this process, as a question is done before a process has begun."""
    from sensegraph.runtime.executors.processes import LocalExecutor

    return LocalExecutor(settings.endpoint.concurrency, processes=1)
