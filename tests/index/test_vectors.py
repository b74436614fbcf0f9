from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scripted import ScriptedServer
from sensegraph.algorithms.sparse_rows import SparseRows
from sensegraph.engines.offline.engine import ClassicalEngine
from sensegraph.errors import StoreError
from sensegraph.index import vectors
from sensegraph.index.build import publish_manifest
from sensegraph.index.manifest import Manifest, read_manifest
from sensegraph.index.vectors import (
    TextRuns,
    embed_all,
    embed_records,
    embed_texts,
    embed_unopened,
    list_segments,
    list_stack,
    open_stack,
    unembedded,
)
from sensegraph.models.embedders import RemoteEmbedder
from sensegraph.models.endpoint.client import Endpoint
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.runtime.executors.processes import LocalExecutor
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.testing import EmbedderContract
from sensegraph.types import Usage
from wired import runtime, story

TEXTS = [story(i, i, 2) for i in range(5)]


def mapped(segment: Any) -> Any:
    """A segment as it lies in its file."""
    return segment.packed if isinstance(segment, SparseRows) else segment


def test_vectors_are_rows_in_the_order_of_the_texts(store: SqliteStore, server: ScriptedServer) -> None:
    rt = runtime(store, server)
    found = embed_all(TEXTS, rt).value
    assert found.shape == (5, 64)
    assert [type(mapped(part)) for part in found.segments] == [np.memmap]
    exact = rt.embedder.embed(TEXTS, "document")
    assert np.abs(found[:] - exact).max() <= np.abs(exact).max() / 32_767 / 2 + 1e-9
    assert np.allclose(np.linalg.norm(found[:], axis=1), 1, atol=1e-4)


def test_only_new_texts_are_embedded(store: SqliteStore, server: ScriptedServer) -> None:
    rt = runtime(store, server)
    embed_all(TEXTS, rt)
    again = embed_all([*TEXTS[::-1], "a new one"], rt)
    assert rt.computed["vectors.embed"] == 6
    assert np.array_equal(again.value[:5], embed_all(TEXTS, rt).value[::-1])
    assert rt.computed["vectors.segment"] == 2


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
    other = EndpointSettings(base_url=server.base_url, model="scripted", embedding_model="another")
    rt = replace(rt, embedder=RemoteEmbedder(Endpoint(other)))
    assert embed_all(TEXTS, rt).key != first.key
    assert rt.computed["vectors.embed"] == 10


def test_what_was_paid_for_before_vectors_took_two_bytes_a_number_is_not_paid_for_again(
    store: SqliteStore, server: ScriptedServer
) -> None:
    rt = runtime(store, server)
    exact = rt.embedder.embed(TEXTS, "document")
    asked = len(server.calls)
    keys = rt.keys(embed_texts, TEXTS)
    store.write({k: row.tobytes() for k, row in zip(keys, exact, strict=True)}, "vectors.embed")
    found = embed_all(TEXTS, rt)
    assert len(server.calls) == asked
    assert np.allclose(found.value[:], exact, atol=1e-4)
    with closing(SqliteStore(store.root / "anew")) as other:
        assert embed_all(TEXTS, replace(rt, store=other)).key == found.key
        assert [mapped(a).tobytes() for a in embed_all(TEXTS, replace(rt, store=other)).value.segments] == [
            mapped(a).tobytes() for a in found.value.segments
        ]


def test_vectors_of_an_earlier_index_are_read_as_they_are(store: SqliteStore) -> None:
    rows = np.random.default_rng(0).standard_normal((7, 5)).astype(np.float32)
    store.write_array("k" * 40, rows)
    found = open_stack(store, "k" * 40)
    assert np.array_equal(found[:], rows)
    assert np.array_equal(found.take([3, 1])[:], rows[[3, 1]])
    with pytest.raises(StoreError, match="gone from the store"):
        open_stack(store, "l" * 40)


# ── segments ──


class Lengths:
    """An embedder of this machine that counts what it is asked: a text is its length, and what its letters sum to."""

    name, dim, batch, waits, lexical = "lengths", 3, 64, False, False

    def __init__(self) -> None:
        self.asked: list[str] = []

    def fingerprint(self) -> str:
        return "lengths"

    def usage(self) -> Usage:
        return Usage()

    def embed(self, texts: Sequence[str], kind: str) -> Any:
        self.asked += texts
        return np.array([[len(t), sum(map(ord, t)) % 101, 7] for t in texts], np.float32)


def free(store: SqliteStore, **given: Any) -> Runtime:
    return Runtime(ClassicalEngine(), Lengths(), store, LocalExecutor(1, 1), **given)  # type: ignore[arg-type]


def publish(rt: Runtime, vectors: str) -> None:
    """An index that has nothing but these vectors."""
    publish_manifest(Manifest("", "", "", vectors, "e", "lengths", rt.embedder.fingerprint(), "", {}), rt)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "_SHORT", 8)


MANY = [f"text {i * i}" for i in range(300)]


@pytest.mark.usefixtures("short")
@given(st.integers(0, 299), st.sampled_from(["insert", "delete", "change"]))
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_update_embeds_what_is_new_writes_few_segments_and_equals_a_rebuild(
    tmp_path_factory: pytest.TempPathFactory, place: int, how: str
) -> None:
    then = list(MANY)
    then[place : place + (how != "insert")] = [] if how == "delete" else ["a new text"]
    folders = [tmp_path_factory.mktemp(name) for name in ("updated", "new")]
    with closing(SqliteStore(folders[0])) as store, closing(SqliteStore(folders[1])) as new:
        rt = free(store)
        before = embed_records(lambda: MANY, rt, name="before")
        publish(rt, before.key)
        assert len(before.value.segments) > 10
        updated = free(store)
        found = embed_records(lambda: then, updated, name="then")
        assert updated.embedder.asked == [] if how == "delete" else ["a new text"]  # type: ignore[attr-defined]
        assert updated.computed["vectors.segment"] <= 6
        built = embed_records(lambda: then, free(new), name="then")
        assert found.key == built.key
        assert [mapped(a).tobytes() for a in found.value.segments] == [
            mapped(a).tobytes() for a in built.value.segments
        ]
        assert np.allclose(found.value[:], Lengths().embed(then, "document"), rtol=1e-4, atol=1e-2)


@pytest.mark.usefixtures("short")
def test_what_the_index_has_under_other_texts_numbers_or_embedders_is_not_taken(store: SqliteStore) -> None:
    rt = free(store)
    publish(rt, embed_records(lambda: MANY, rt, name="x").key)
    assert unembedded([MANY[3], "new", MANY[5], "new"], rt) == [1]
    fewer = free(store, numbers="int8")
    small = embed_records(lambda: MANY, fewer, name="x").value
    assert len(fewer.embedder.asked) == len(MANY)  # type: ignore[attr-defined]
    assert {part.dtype["values"].base for part in small.segments} == {np.dtype(np.int8)}
    assert np.allclose(small[:], Lengths().embed(MANY, "document"), atol=0.5 * 101 / 127)
    renamed = free(store)
    renamed.embedder.fingerprint = lambda: "other"  # type: ignore[method-assign]
    assert unembedded(MANY, renamed) == list(range(300))


@pytest.mark.usefixtures("short")
def test_a_segment_that_is_gone_is_made_again(store: SqliteStore) -> None:
    rt = free(store)
    made = embed_records(lambda: MANY, rt, name="x")
    keys = list_segments.decode(store.read([made.key])[made.key])
    assert len(keys) == len(made.value.segments)
    before = made.value[:]
    store.forget([keys[2]])
    with pytest.raises(StoreError, match="gone from the store"):
        open_stack(store, made.key)
    again = embed_records(lambda: MANY, rt, name="x")
    assert again.key == made.key
    assert np.array_equal(again.value[:], before)
    assert rt.computed["vectors.segment"] == len(keys) + 1


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize(("new", "all_opened"), [(1, False), (60, False), (65, True)])
def test_an_update_opens_the_segments_that_go_and_all_only_where_many_texts_are_new(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, new: int, all_opened: bool
) -> None:
    rt = free(store)
    publish(rt, embed_records(lambda: MANY, rt, name="before").key)
    before, opened = set(list_stack(store, read_manifest(store).vectors)), set[str]()
    array = store.array
    monkeypatch.setattr(store, "array", lambda k: opened.add(k) or array(k))
    then = [*MANY[:30], *(f"new {i}" for i in range(new)), *MANY[30:]]
    updated = free(store)
    after = set(list_stack(store, embed_unopened(lambda: then, updated, name="then")))
    assert updated.embedder.asked == [f"new {i}" for i in range(new)]  # type: ignore[attr-defined]
    assert before & after
    assert opened & before == (before if all_opened else before - after)


def test_texts_are_cut_into_about_sixty_four_segments_of_bounded_length(store: SqliteStore) -> None:
    for count, least, most in ((0, 0, 0), (1, 1, 1), (400, 1, 2), (40_000, 26, 80)):
        found = embed_records(lambda n=count: [str(i) for i in range(n)], free(store), name=f"{count}").value
        assert len(found) == count
        assert least <= len(found.segments) <= most
        assert max(map(len, found.segments), default=0) <= 3 * 512


class TestRemoteEmbedderContract(EmbedderContract):
    def make(self) -> RemoteEmbedder:
        return self.embedder("hashed")

    def make_other(self) -> RemoteEmbedder:
        return self.embedder("another")

    def embedder(self, model: str) -> RemoteEmbedder:
        given = EndpointSettings(base_url=self.running.base_url, model="scripted", embedding_model=model)
        return RemoteEmbedder(Endpoint(given))

    def setup_method(self) -> None:
        self.running = ScriptedServer().__enter__()

    def teardown_method(self) -> None:
        self.running.__exit__()


@pytest.mark.usefixtures("short")
def test_of_texts_in_runs_only_those_are_read_in_which_something_changed(store: SqliteStore, tmp_path: Path) -> None:
    cut = [MANY[at : at + 25] for at in range(0, 300, 25)]
    then = [[*texts, "a new text"] if i == 3 else texts for i, texts in enumerate(cut)]

    def in_runs(texts: list[list[str]], read: list[int]) -> TextRuns:
        return TextRuns([repr(one) for one in texts], lambda i: read.append(i) or texts[i])  # type: ignore[func-returns-value]

    rt, first, again = free(store), list[int](), list[int]()
    before = embed_records(lambda: in_runs(cut, first), rt, name="before")
    publish(rt, before.key)
    assert set(first) == set(range(12))
    found = embed_records(lambda: in_runs(then, again), free(store), name="then")
    assert 3 in again
    assert set(again) < {2, 3, 4}
    with closing(SqliteStore(tmp_path / "listed")) as other:
        listed = embed_records(lambda: [text for texts in then for text in texts], free(other), name="then")
    assert found.key == listed.key
    assert np.array_equal(found.value[:], listed.value[:])
