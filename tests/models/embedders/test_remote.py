from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from models.endpoint.test_wire import listening
from scripted import Script, ScriptedServer
from sensegraph.errors import EndpointError
from sensegraph.models.embedders import RemoteEmbedder, choose_prefixes
from sensegraph.models.endpoint.client import Endpoint
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.protocols import Embedder


@pytest.fixture
def embedder_of() -> Callable[..., RemoteEmbedder]:
    return lambda server: RemoteEmbedder(
        Endpoint(EndpointSettings(base_url=server.base_url, embedding_model="e", backoff_s=0.01))
    )


def test_vectors_have_length_one_and_empty_texts_are_zero_rows(embedder_of: Callable[..., RemoteEmbedder]) -> None:
    with ScriptedServer(Script(dim=32, keep_bodies=True)) as server:
        embedder = embedder_of(server)
        assert embedder.dim == 0
        rows = embedder.embed(["Ada met Charles", "", "Berlin", " \n"], "document")
    assert rows.shape == (4, 32)
    assert rows.dtype == np.float32
    assert embedder.dim == 32
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 0, 1, 0], abs=1e-6)
    assert server.calls[0].body["input"] == ["Ada met Charles", "Berlin"]


def test_empty_texts_alone_cost_no_call(embedder_of: Callable[..., RemoteEmbedder]) -> None:
    with ScriptedServer() as server:
        assert embedder_of(server).embed(["", ""], "query").shape[0] == 2
    assert server.calls == []


def test_many_texts_are_sent_in_batches_and_keep_their_order(embedder_of: Callable[..., RemoteEmbedder]) -> None:
    texts = [f"word{i}" for i in range(150)]
    with ScriptedServer(Script(dim=512, keep_bodies=True)) as server:
        embedder = embedder_of(server)
        rows = embedder.embed(texts, "document")
        assert [c.body["input"] for c in server.calls] == [texts[:64], texts[64:128], texts[128:]]
        assert np.array_equal(rows[100], embedder.embed(["word100"], "query")[0])
    assert embedder.usage().embedding_calls == 4


@pytest.mark.parametrize("count", [1, 63, 64, 65, 128, 129])
def test_there_are_as_few_batches_as_their_size_allows(embedder_of: Callable[..., RemoteEmbedder], count: int) -> None:
    """Empty texts, which are not sent, fill no batch."""
    texts = [text for i in range(count) for text in (f"word{i}", "")]
    with ScriptedServer() as server:
        embedder_of(server).embed(texts, "document")
    assert len(server.calls) == -(-count // 64)


def test_a_change_of_the_vectors_length_is_an_error_that_names_both(embedder_of: Callable[..., RemoteEmbedder]) -> None:
    with ScriptedServer(Script(dim=8)) as server:
        embedder = embedder_of(server)
        embedder.embed(["one"], "document")
        server.script = Script(dim=12)
        with pytest.raises(EndpointError, match=r"length 8 before and of 12 now"):
            embedder.embed(["two"], "document")


def test_an_embedder_is_known_by_its_model_alone() -> None:
    def of(**settings: Any) -> RemoteEmbedder:
        return RemoteEmbedder(Endpoint(EndpointSettings(embedding_model="e", **settings)))

    other = RemoteEmbedder(Endpoint(EndpointSettings(embedding_model="f")))
    assert of().fingerprint() == of(base_url="https://elsewhere.example/v1", api_key_env="ANOTHER_KEY").fingerprint()
    assert of().fingerprint() != other.fingerprint()
    assert of().fingerprint() == "ec7ed9f3f5218c4cf5dcfc10f21cad8aa8d63f1d"  # stored vectors stay known
    assert isinstance(of(), Embedder)
    assert (of().waits, of().lexical) == (True, False)
    assert pickle.loads(pickle.dumps(of())).name == "e"


def test_a_vector_of_noughts_is_an_error_that_names_its_text() -> None:
    body = b'{"data": [{"index": 0, "embedding": [3, 4]}, {"index": 1, "embedding": [0, 0]}]}'
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body)
    with listening(lambda connection, _: connection.sendall(head + body)) as server:
        table = EndpointSettings(base_url=f"http://127.0.0.1:{server.port}/v1", embedding_model="e")
        with pytest.raises(EndpointError, match="'none'"):
            RemoteEmbedder(Endpoint(table)).embed(["one", "none"], "document")


PREFIXES = [
    ("nomic-embed-text", ("search_query: ", "search_document: ")),
    ("intfloat/multilingual-e5-base", ("query: ", "passage: ")),
    ("e5-mistral-7b", ("", "")),
    ("BAAI/bge-m3", ("", "")),
    ("text-embedding-3-small", ("", "")),
]


@pytest.mark.parametrize(("name", "prefixes"), PREFIXES)
def test_prefixes_are_those_of_the_models_name_unless_they_are_set(name: str, prefixes: tuple[str, str]) -> None:
    table = EndpointSettings(embedding_model=name)
    assert choose_prefixes(table) == prefixes
    own = replace(table, embedding_query_prefix="Q ", embedding_document_prefix="")
    assert choose_prefixes(own) == ("Q ", "")
    marks = [RemoteEmbedder(Endpoint(t)).fingerprint() for t in (table, own)]
    assert marks[0] != marks[1]
