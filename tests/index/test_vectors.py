from __future__ import annotations

from dataclasses import replace

import numpy as np

from scripted import ScriptedServer
from sensegraph.index.vectors import embed_all
from sensegraph.models.embedders import RemoteEmbedder
from sensegraph.models.endpoint.client import Endpoint
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.testing import EmbedderContract
from wired import runtime, story

TEXTS = [story(i, i, 2) for i in range(5)]


def test_vectors_are_rows_in_the_order_of_the_texts(store: SqliteStore, server: ScriptedServer) -> None:
    rt = runtime(store, server)
    found = embed_all(TEXTS, rt).value
    assert found.shape == (5, 64)
    assert isinstance(found, np.memmap)
    assert np.array_equal(found, rt.embedder.embed(TEXTS, "document"))
    assert np.allclose(np.linalg.norm(found, axis=1), 1)


def test_only_new_texts_are_embedded(store: SqliteStore, server: ScriptedServer) -> None:
    rt = runtime(store, server)
    embed_all(TEXTS, rt)
    again = embed_all([*TEXTS[::-1], "a new one"], rt)
    assert rt.computed["vectors.embed"] == 6
    assert np.array_equal(again.value[:5], embed_all(TEXTS, rt).value[::-1])


def test_equal_texts_are_embedded_once(store: SqliteStore, server: ScriptedServer) -> None:
    rt = runtime(store, server)
    found = embed_all(["same", "same"], rt).value
    assert rt.computed["vectors.embed"] == 1
    assert np.array_equal(found[0], found[1])


def test_no_text_is_a_matrix_without_rows(store: SqliteStore, server: ScriptedServer) -> None:
    assert embed_all([], runtime(store, server)).value.shape == (0, 0)
    assert server.calls == []


def test_d7_another_embedding_model_gives_other_keys(store: SqliteStore, server: ScriptedServer) -> None:
    rt = runtime(store, server)
    first = embed_all(TEXTS, rt)
    settings = EndpointSettings(base_url=server.base_url, model="scripted", embedding_model="another")
    rt = replace(rt, embedder=RemoteEmbedder(Endpoint(settings)))
    assert embed_all(TEXTS, rt).key != first.key
    assert rt.computed["vectors.embed"] == 10


class TestRemoteEmbedderContract(EmbedderContract):
    def make(self) -> RemoteEmbedder:
        return self.embedder("hashed")

    def make_other(self) -> RemoteEmbedder:
        return self.embedder("another")

    def embedder(self, model: str) -> RemoteEmbedder:
        settings = EndpointSettings(base_url=self.running.base_url, model="scripted", embedding_model=model)
        return RemoteEmbedder(Endpoint(settings))

    def setup_method(self) -> None:
        self.running = ScriptedServer().__enter__()

    def teardown_method(self) -> None:
        self.running.__exit__()
