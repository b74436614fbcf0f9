"""LangChain: a retriever over a corpus, and LangChain's models as engine and embedder of one (the extra `langchain`).

retriever = SensegraphRetriever(corpus=Corpus.open("notes"), k=5)
corpus = Corpus.open("notes", engine=make_engine(chat_model, "gpt"), embedder=LangChainEmbedder(vectors, "ada"))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from sensegraph.corpus.corpus import Corpus
from sensegraph.engines.llm.llm import LLMEngine
from sensegraph.engines.llm.llm_settings import LLMSettings
from sensegraph.errors import EndpointError
from sensegraph.integrations.located import search_passages
from sensegraph.language.text import count_tokens
from sensegraph.models.endpoint.calls import CHAT, Streaming
from sensegraph.models.endpoint.client import Endpoint
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.models.endpoint.outcomes import Kind, Outcome, Refusal
from sensegraph.models.endpoint.profile import FORMS, Profile
from sensegraph.protocols import Vectors
from sensegraph.questions import Scope
from sensegraph.runtime.activity import Tally
from sensegraph.runtime.keys import key
from sensegraph.types import Usage

try:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel
    from langchain_core.retrievers import BaseRetriever
    from pydantic import Field
except ImportError as e:
    raise ImportError(
        f"sensegraph.integrations.langchain needs langchain-core ({e}): pip install 'sensegraph[langchain]'."
    ) from e


class SensegraphRetriever(BaseRetriever):
    """Finds passages of a corpus: `k` documents of LangChain, best first.

    `method` is a retrieval method of sensegraph and `options` its settings; only documents inside `scope` are read.
    The metadata lead to the source: `source` is the id of a document, `start` and `end` a span of its text in
    characters, `page` its page, and `spans` lists all spans that the passage rests on. Raises what `Corpus.search`
    raises.
    """

    corpus: Corpus
    method: str = "auto"
    k: int = 10
    scope: Scope | None = None
    options: dict[str, Any] = Field(default_factory=dict)

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        found = search_passages(
            self.corpus, query, method=self.method, top=self.k, scope=self.scope, options=self.options
        )
        return [Document(id=f.passage.id, page_content=f.passage.text, metadata=f.metadata()) for f in found]


class LangChainEmbedder:
    """An embedder of sensegraph that is `embeddings` of LangChain.

    `name` stands in the key of every vector: give another name to another model. `batch` texts are sent at once.
    """

    waits = True
    lexical = False

    def __init__(self, embeddings: Embeddings, name: str, batch: int = 64) -> None:
        self.embeddings, self.name, self.batch = embeddings, name, batch
        self.dim = 0
        self._spent = Tally(Usage())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.embeddings, self.name, self.batch)

    def fingerprint(self) -> str:
        """The name that was given."""
        return key("langchain embedder", 1, self.name)

    def embed(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Vectors:
        """Unit vectors, shape `(n, dim)` float32, one row a text; an empty text is a zero row and is not sent.

        Raises EndpointError when the model changes the length of its vectors.
        """
        asked = [i for i, text in enumerate(texts) if text.strip()]
        sent = [texts[i] for i in asked]
        if kind == "query":
            found = [self.embeddings.embed_query(text) for text in sent]
        else:
            found = self.embeddings.embed_documents(sent) if sent else []
        if asked:
            calls = len(sent) if kind == "query" else 1
            self._spent.add(Usage(embedding_calls=calls, embedding_tokens=sum(map(count_tokens, sent))))
        sizes = {len(row) for row in found} | ({self.dim} if self.dim else set())
        if len(sizes) > 1 or len(found) != len(sent):
            raise EndpointError(
                f"The embeddings {self.name!r} gave {len(found)} vectors for {len(sent)} texts, of the lengths "
                f"{sorted(sizes)}: check that one model serves this name, and run again."
            )
        self.dim = max(sizes, default=0)
        rows = np.zeros((len(texts), self.dim), np.float32)
        if found:
            vectors = np.asarray(found, np.float32)
            rows[asked] = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return rows

    def usage(self) -> Usage:
        """Calls, and tokens by our own count: LangChain reports none."""
        return self._spent.read()


def make_engine(
    model: BaseChatModel, name: str, settings: LLMSettings | None = None, *, max_tokens_field: str = "", **endpoint: Any
) -> LLMEngine:
    """An engine of sensegraph that asks a chat model of LangChain.

    `name` stands in the key of every result: give another name to another model or another temperature. `settings` are
    those of the table [model], `endpoint` fields of the table [endpoint] such as `window`, `price_prompt` or
    `max_cost_usd`. `max_tokens_field` is what the model calls the limit of a reply (`max_tokens`, `num_predict`);
    without it the limit is only told in the prompt. How often a call is tried again is the business of `model`.
    """
    return LLMEngine(_ChatModelEndpoint(model, name, max_tokens_field, endpoint), settings)


class _ChatModelEndpoint(Endpoint):
    """An endpoint whose chat is answered by a model of LangChain; nothing else is served."""

    def __init__(self, model: BaseChatModel, name: str, max_tokens_field: str, endpoint: dict[str, Any]) -> None:
        super().__init__(EndpointSettings("http://localhost", model=name, **endpoint))
        self.given = (model, name, max_tokens_field, endpoint)
        self.address = f"LangChain ({name})"
        self.calls = _ChatModelCalls(model, name, max_tokens_field)  # type: ignore[assignment]
        self.known = Profile(form=FORMS.index("none"), window=self.settings.window)  # the form of replies is shown

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.given


class _ChatModelCalls:
    """Takes requests as an OpenAI-compatible endpoint does and gives them to a chat model of LangChain."""

    journal, longest_first = None, 0.0

    def __init__(self, model: BaseChatModel, name: str, max_tokens_field: str) -> None:
        self.model, self.name, self.max_tokens_field = model, name, max_tokens_field

    def post(
        self,
        path: str,
        body: dict[str, Any],
        need: int = 0,
        retried: Callable[[], None] | None = None,
        streaming: Streaming | None = None,
        at_once: bool = True,
    ) -> dict[str, Any]:
        """The reply to one request. Raises Refusal for another path, or for a form that replies must have."""
        if path != CHAT:
            raise Refusal(Outcome(Kind.DOWN, f"a chat model of LangChain does not serve {path}", 404))
        if body.get("response_format"):
            raise Refusal(Outcome(Kind.SCHEMA, "response_format is not understood", 400))
        most = body.get("max_tokens") or body.get("max_completion_tokens")
        limit = {self.max_tokens_field: most} if self.max_tokens_field and most else {}
        talk = [(m["role"], m["content"]) for m in body["messages"]]
        if streaming and streaming.hear:
            made: Any = None
            for piece in self.model.stream(talk, **limit):
                streaming.hear(str(piece.text))
                made = piece if made is None else made + piece
        else:
            made = self.model.invoke(talk, **limit)
        used = made.usage_metadata or {}
        counts = {"prompt_tokens": used.get("input_tokens"), "completion_tokens": used.get("output_tokens")}
        return {
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": str(made.text)},
                    "finish_reason": made.response_metadata.get("finish_reason") or "stop",
                }
            ],
            "usage": {name: count for name, count in counts.items() if count is not None},
        }

    def error(self, e: Refusal) -> EndpointError:
        """The error that a refusal means for the caller."""
        return EndpointError(f"The LangChain model {self.name} refused a request: {e}.", e.outcome.kind, str(e))
