"""LangChain: the retriever in a chain, and LangChain's models as engine and embedder of a corpus."""

from __future__ import annotations

import pickle
import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import EndpointError
from sensegraph.testing import EmbedderContract
from sensegraph.types import Context, Inquiry, Passage, Source, Usage

pytest.importorskip("langchain_core", reason="langchain-core is not installed: `make integrations` installs it")

from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import Field

from sensegraph.integrations.langchain import LangChainEmbedder, SensegraphRetriever, make_engine

EXAMPLE = Path(__file__).parents[2] / "examples" / "integrations" / "langchain_chain.py"


class Scripted(BaseChatModel):
    """A chat model whose replies are given, and which keeps what it was asked."""

    replies: list[str]
    asked: list[tuple[list[BaseMessage], dict[str, Any]]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        kwargs.pop("stop", None)
        self.asked.append((messages, {k: v for k, v in kwargs.items() if k not in ("run_manager", "stop")}))
        text = self.replies[min(len(self.asked), len(self.replies)) - 1]
        used = {"input_tokens": 900, "output_tokens": 5, "total_tokens": 905}
        return ChatResult(generations=[ChatGeneration(message=AIMessage(text, usage_metadata=used))])

    def _stream(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        text = self._generate(messages, *args, **kwargs).generations[0].text
        for at in range(0, len(text), 7):
            yield ChatGenerationChunk(message=AIMessageChunk(text[at : at + 7]))


INQUIRY = Inquiry(
    "Who keeps the lamp?", Context((Passage("chunk", "c1", "Ada keeps the lamp.", sources=(Source("c1", 0, 19),)),))
)
REPLY = '{"answer": "Ada keeps the lamp [1]."}'


def test_the_retriever_gives_documents_that_lead_to_their_source(demo: Corpus):
    found = SensegraphRetriever(corpus=demo, k=2).invoke("Who voted for the offer of Ardent Marine?")
    assert len(found) == 2
    given = found[0].metadata
    assert given["source"] == "2024-04-18-board-minutes.md"
    text = demo.index().document(given["source"]).text
    assert text[given["start"] : given["end"]].split() == found[0].page_content.split() != []
    assert found[0].id == given["id"]


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_the_retriever_can_be_awaited(demo: Corpus, anyio_backend: str):
    retriever = SensegraphRetriever(corpus=demo, k=1, method="bm25", options={"context_tokens": 2000})
    (found,) = await retriever.ainvoke("Which release brought the monitor for certificates?")
    assert "Undertow 2.1" in found.page_content


def test_the_program_of_the_quick_start_answers_with_its_sources(capsys: pytest.CaptureFixture[str]):
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    printed = capsys.readouterr().out
    assert "Ruth Adeyemi" in printed
    assert "2024-04-18-board-minutes.md, characters 0 to 1121: # Extraordinary board meeting" in printed


# ── a chat model as engine ──


def test_a_chat_model_answers_as_an_engine_does():
    model = Scripted(replies=[REPLY])
    engine = make_engine(model, "scripted", price_prompt=2.0, price_completion=10.0)
    (draft,) = engine.answer([INQUIRY])
    assert "Ada keeps the lamp." in "".join(s.text for s in draft.statements)
    assert draft.statements[0].references == ("c1",)
    (messages, given) = model.asked[0]
    assert [m.type for m in messages] == ["system", "human"]
    assert "Ada keeps the lamp." in str(messages[1].content)
    assert given == {}
    assert engine.usage() == Usage(1, 900, 5, cost_usd=pytest.approx(0.00185))


def test_the_limit_of_a_reply_is_sent_under_the_name_that_the_model_has_for_it():
    model = Scripted(replies=[REPLY])
    make_engine(model, "scripted", max_tokens_field="num_predict").answer([INQUIRY])
    assert model.asked[0][1] == {"num_predict": 2000}


def test_a_streamed_answer_comes_in_pieces_and_is_the_same():
    heard: list[str] = []
    engine = make_engine(Scripted(replies=[REPLY]), "scripted")
    draft = engine.stream(INQUIRY, lambda statement: heard.append(statement.text))
    assert "".join(heard) == "".join(s.text for s in draft.statements) == "Ada keeps the lamp."


def test_another_name_is_another_fingerprint():
    model = Scripted(replies=[REPLY])
    keys = {make_engine(model, name).fingerprint("answer") for name in ("one", "one", "two")}
    assert len(keys) == 2
    assert make_engine(model, "one").name == "one"


def test_a_reply_that_stays_unusable_is_no_answer():
    model = Scripted(replies=["{"])
    with pytest.raises(Exception, match="stays unusable") as found:
        make_engine(model, "scripted").rate([INQUIRY])
    assert len(model.asked) > 1
    assert "scripted" in str(found.value)


def test_an_engine_of_a_chat_model_writes_the_answers_of_a_corpus(demo: Corpus, tmp_path: Path):
    reply = '{"answer": "Nobody but Ruth Adeyemi did [1]."}'
    engine = make_engine(Scripted(replies=[reply]), "scripted")
    with Corpus.open(demo.root, engine=engine, create=False) as corpus:
        answer = corpus.query("Who voted for the offer of Ardent Marine?", method="bm25")
    assert answer.text.startswith("Nobody but Ruth Adeyemi did.")
    assert (answer.engine, answer.usage.calls) == ("scripted", 1)
    assert [c.document for c in answer.citations] == ["2024-04-18-board-minutes.md"]


# ── embeddings as embedder ──


class TestLangChainEmbedder(EmbedderContract):
    def make(self) -> LangChainEmbedder:
        return LangChainEmbedder(DeterministicFakeEmbedding(size=8), "fake")

    def make_other(self) -> LangChainEmbedder:
        return LangChainEmbedder(DeterministicFakeEmbedding(size=8), "other")


class Growing(Embeddings):
    """Vectors that are one longer at each call."""

    size = 2

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.size += 1
        return [[1.0] * self.size for _ in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


def test_vectors_that_change_their_length_are_an_error():
    embedder = LangChainEmbedder(Growing(), "growing")
    assert embedder.embed(["a", ""], "document").shape == (2, 3)
    with pytest.raises(EndpointError, match=r"'growing' gave 1 vectors for 1 texts, of the lengths \[3, 4\]"):
        embedder.embed(["b"], "document")


def test_calls_and_tokens_of_embeddings_are_counted():
    embedder = LangChainEmbedder(DeterministicFakeEmbedding(size=4), "fake")
    embedder.embed(["one two", "three", " "], "document")
    embedder.embed(["four"], "query")
    assert embedder.usage() == Usage(embedding_calls=2, embedding_tokens=4)


def test_a_corpus_is_searched_by_the_vectors_of_langchain(tmp_path: Path):
    class Letters(Embeddings):
        """How often a text holds each of four letters."""

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [[float(t.lower().count(c)) for c in "xyzq"] for t in texts]

        def embed_query(self, text: str) -> list[float]:
            return self.embed_documents([text])[0]

    from sensegraph.types import Document

    embedder = LangChainEmbedder(Letters(), "letters")
    with Corpus.open(tmp_path, settings={"engine": "offline"}, embedder=embedder) as corpus:
        corpus.add(Document("x", "Xerxes xeroxes an extra box."), Document("z", "Zazie dazzles the jazz zone."))
        corpus.build()
        found = corpus.search("zzz", method="naive", top=1)
    assert found.documents == ("z",)


@pytest.mark.parametrize("make", [lambda: LangChainEmbedder(DeterministicFakeEmbedding(size=4), "fake")])
def test_an_embedder_can_be_sent_to_another_process(make: Callable[[], LangChainEmbedder]):
    copy = pickle.loads(pickle.dumps(make()))
    assert np.array_equal(copy.embed(["lamp"], "document"), make().embed(["lamp"], "document"))
    assert copy.fingerprint() == make().fingerprint()
