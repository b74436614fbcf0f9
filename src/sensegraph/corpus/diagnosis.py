"""What a corpus would work with, and what its endpoint takes: lines to read, each with what to do where it is amiss."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sensegraph.corpus.settings import FOLDER, Settings
from sensegraph.corpus.tools import make_reranker, make_tools
from sensegraph.errors import EndpointError, SensegraphError
from sensegraph.methods import load_method
from sensegraph.models.endpoint.limits import Journal
from sensegraph.models.endpoint.probes import Finding, probe_chat, probe_window
from sensegraph.models.endpoint.profile import ENDPOINTS, Memory
from sensegraph.models.endpoint.remedies import LEAST_ROOM
from sensegraph.protocols import Task
from sensegraph.runtime.stores.replies import REPLIES, ReplyFile

if TYPE_CHECKING:
    from sensegraph.engines.llm.llm import LLMEngine
    from sensegraph.models.embedders import RemoteEmbedder
    from sensegraph.models.endpoint.client import Endpoint
    from sensegraph.models.endpoint.pages import Offer
    from sensegraph.protocols import Embedder, LanguageEngine, Reranker

DEFAULTS: tuple[tuple[str, Task], ...] = (("graphrag", "rate"), ("local", "answer"), ("walk", "answer"))
_LEAST = 512  # tokens of a context below which a method has nothing to answer from
_RAISED = {
    "Ollama": "OLLAMA_CONTEXT_LENGTH=32768 ollama serve",
    "llama.cpp": "llama-server -c (which its slots share)",
    "vLLM": "vllm serve --max-model-len",
    "LM Studio": "the context length with which the model is loaded",
}
_LONGEST = 1000  # tokens of the longest text that is tried
_SHOWN = 3  # models that are named where the chosen one is not there


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The lines, the address that was asked (empty where nobody was), and what that took."""

    findings: tuple[Finding, ...]
    address: str = ""
    tokens: int = 0

    @property
    def fails(self) -> bool:
        """Whether a method that is used by default cannot run."""
        return any(f.fails for f in self.findings)


def describe_tools(settings: Settings) -> Diagnosis:
    """Which tools the settings choose; nobody is asked. Raises Unapproved and SettingsError as making them does."""
    engine, embedder = make_tools(settings)
    found = [Finding("engine", engine.name), Finding("embedder", embedder.name)]
    if (reranker := make_reranker(settings, (engine, embedder))) is not None:
        found.append(Finding("reranker", reranker.name))
    advice = "`sensegraph doctor --online` asks it"
    asked = [Finding("endpoint", e.address, advice) for e in _list_endpoints(engine, embedder, reranker)]
    return Diagnosis((*found, *(asked or [Finding("endpoint", "none: nothing leaves this machine")])))


def _list_endpoints(*tools: LanguageEngine | Embedder | Reranker | None) -> list[Endpoint]:
    """The endpoints behind these tools, each once."""
    found = [e for tool in tools if (e := getattr(tool, "endpoint", None)) is not None]
    return list({id(e): e for e in found}.values())


def ask_endpoints(root: Path, settings: Settings, *, window: bool = False) -> Diagnosis:
    """What the endpoints of the settings tell and take, which is remembered in the corpus's folder in place of before.

    With `window`, one prompt as large as the largest of the default methods shows whether it is read whole.
    """
    (root / FOLDER).mkdir(parents=True, exist_ok=True)
    Memory(root / FOLDER / ENDPOINTS).forget()  # a server may have more room now
    journal = Journal(ReplyFile(root / FOLDER / REPLIES), root / FOLDER)
    engine, embedder = make_tools(settings, journal)
    reranker = make_reranker(settings, (engine, embedder), journal)
    endpoints = _list_endpoints(engine, embedder, reranker)
    found = list[Finding]()
    if settings.engine in ("auto", "model") and settings.endpoint.model:
        found += ask_chat_model(engine, settings, window=window)  # type: ignore[arg-type]
    if getattr(embedder, "endpoint", None) is not None:
        found.append(ask_vectors(embedder, settings))  # type: ignore[arg-type]
    if reranker is not None and getattr(reranker, "endpoint", None) is not None:
        found.append(ask_scores(reranker))
    if not found:
        return describe_tools(settings)
    used = [e.usage() for e in endpoints]
    tokens = sum(u.prompt_tokens + u.completion_tokens + u.embedding_tokens for u in used)
    return Diagnosis(tuple(found), endpoints[0].address, tokens)


def ask_chat_model(engine: LLMEngine, settings: Settings, *, window: bool) -> Iterator[Finding]:
    """What the chat model takes, and whether what is asked of it by default has room in its window."""
    from sensegraph.engines.llm.asker import Verdicts

    endpoint = engine.endpoint
    offer = endpoint.look()
    yield find_model(offer, endpoint)
    answers = list(probe_chat(endpoint))
    yield from answers
    if any(f.fails for f in answers):
        return
    verdicts = Verdicts(endpoint)
    talk = [{"role": "system", "content": "Reply with yes or no."}, {"role": "user", "content": "Is 7 more than 5?"}]
    try:
        said = verdicts.decide(talk)
        how = "; ".join(verdicts.notes())
        advice = "methods that grade (lazygraphrag, hipporag) take that for no" if said is None else ""
        yield Finding("yes or no", how or "understood", advice)
    except EndpointError as e:
        yield Finding("yes or no", f"no: {e}", "methods that grade (lazygraphrag, hipporag) cannot run")
    if window:
        yield probe_window(endpoint, 9 * max(_count_needs(engine, settings).values()) // 10)
    if endpoint.window:
        cuts = "; longer prompts are cut without a word" if offer.server == "Ollama" else ""
        yield Finding("window", f"{endpoint.window:,} tokens{cuts}")
    else:
        yield Finding("window", "not told", "set endpoint.window where you know it, or try doctor --online --window")
    slots, most = endpoint.known.slots, endpoint.settings.concurrency
    told = f"{slots}; {min(slots, most)} are made" if slots else f"not told; {most} are made, fewer after a pause"
    yield Finding("calls at once", told)
    yield from compare_needs(engine, settings, offer)


def find_model(offer: Offer, endpoint: Endpoint) -> Finding:
    """Whether the model is in the list."""
    model, server = endpoint.settings.model, f" on {offer.server}" if offer.server else ""
    if not offer.models:
        return Finding("model", f"{model}{server}; there is no list of models")
    named = {name.removeprefix("models/").removesuffix(":latest") for name in offer.models}
    if model in offer.models or model in named:
        return Finding("model", f"{model}{server}, one of {len(offer.models):,}")
    shown = ", ".join(sorted(offer.models)[:_SHOWN])
    return Finding("model", f"{model}{server} is not in its list", f"choose endpoint.model among {shown} …")


def _count_needs(engine: LLMEngine, settings: Settings) -> dict[str, int]:
    """The tokens of the largest prompt of each method that is used by default, without its reply."""
    needs = {}
    for name, task in DEFAULTS:
        method = load_method(name, **settings.method_settings(name, {}))
        needs[name] = engine.overhead(task) + int(getattr(method, "context_tokens", 0))
    return needs


def compare_needs(engine: LLMEngine, settings: Settings, offer: Offer) -> Iterator[Finding]:
    """Whether the prompts that are made by default, and their replies, have room in the window."""
    window = engine.endpoint.window
    if not window:
        return
    raised = f"raise it: {_RAISED.get(offer.server, 'the window of the server')}"
    prompt, room = engine.overhead("extract") + settings.index.chunk_tokens, engine.max_tokens("extract")
    left = window - prompt * 51 // 50 - 8
    told = f"{prompt:,} + {room:,} of {window:,}"
    if left >= room:
        yield Finding("fits extraction", f"yes: {told}")
    elif left >= LEAST_ROOM:
        yield Finding("fits extraction", f"no: {told}", f"replies get at most {left:,} tokens; {raised}")
    else:
        yield Finding("fits extraction", f"no: {told}", f"a chunk has no room; {raised}", fails=True)
    needs = _count_needs(engine, settings)
    for name, task in DEFAULTS:
        told = f"{needs[name]:,} + {engine.max_tokens(task):,} of {window:,}"
        if needs[name] + engine.max_tokens(task) <= window:
            yield Finding(f"fits {name}", f"yes: {told}")
        elif window - engine.overhead(task) >= LEAST_ROOM + _LEAST:
            yield Finding(f"fits {name}", f"no: {told}", f"what has no room is left out, and told; {raised}")
        else:
            yield Finding(f"fits {name}", f"no: {told}", f"it cannot answer; {raised}", fails=True)


def ask_vectors(embedder: RemoteEmbedder, settings: Settings) -> Finding:
    """The length of vectors, how many texts go into a call, how long they may be, and what stands before them."""
    asked, size = f"embedding {embedder.name}", min(settings.index.chunk_tokens, _LONGEST)
    try:
        embedder.embed(["harbour"], "query")
        embedder.embed([f"word{i}" for i in range(embedder.batch)], "document")
        embedder.embed(["tide " * size], "document")
    except SensegraphError as e:
        return Finding(asked, f"no: {e}", 'mend that, or take endpoint.embedding_model = ""', fails=True)
    known = embedder.endpoint.known
    batch = min(embedder.batch, known.batch or embedder.batch)
    told = f"{embedder.dim} numbers, {batch} at once"
    told += (
        f", texts in parts of {known.input_tokens:,} tokens" if known.input_tokens else f", texts of {size:,} tokens"
    )
    if any(embedder.prefixes):
        told += f"; prefixes {embedder.prefixes[0].strip()!r} and {embedder.prefixes[1].strip()!r}"
    shorter = f"index.chunk_tokens of at most {known.input_tokens:,} would be read whole" if known.input_tokens else ""
    return Finding(asked, told, shorter)


def ask_scores(reranker: Reranker) -> Finding:
    """Whether a text that fits a question gets the higher score."""
    try:
        far, near = reranker.scores(
            "When does the ferry leave?", ["Bread is baked at night.", "The ferry leaves at six."]
        )
    except SensegraphError as e:
        return Finding(f"reranking {reranker.name}", f"no: {e}", 'mend that, or take rerank.by = "none"', fails=True)
    worse = "" if near > far else "what fits got no higher score: check endpoint.rerank_model"
    return Finding(f"reranking {reranker.name}", f"{near:.3g} for what fits, {far:.3g} for what does not", worse)
