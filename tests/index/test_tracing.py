"""What a build would look for: whether all of it is there, and which names its chunks say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from sensegraph import Corpus
from sensegraph.index.settings import IndexSettings
from sensegraph.index.tracing import KeyRecordingStore, Tracing, Untraced, follow_keys, read_said_names, trace_build
from sensegraph.index.vectors import list_segments
from sensegraph.runtime.keys import key, read_keys_below
from sensegraph.runtime.results import step
from sensegraph.runtime.runtime import Runtime
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Document
from wired import runtime

TEXT = "Ada Lovelace wrote a letter to Charles Babbage. Charles Babbage built an engine in London."


@step("tests.sum", version=1)
def add_up(wholes: Sequence[list[int]]) -> list[int]:
    return list(map(sum, wholes))


@step("tests.double", version=1)
def double(items: Sequence[int]) -> list[int]:
    return [2 * item for item in items]


@pytest.mark.parametrize("parts", [("graph",), ("names",)])
def test_names_are_told_where_the_index_has_a_graph(tmp_path: Path, parts: tuple[str, ...]) -> None:
    with Corpus.open(tmp_path, settings={"engine": "offline"}) as corpus:
        corpus.add([Document("d", TEXT)])
        corpus.build(parts=parts)
        rt, keys = corpus.workspace.runtime(), list(corpus.workspace.document_keys().values())
        made = trace_build(keys, rt, IndexSettings(parts=parts))
        assert made.whole
        said = read_said_names(keys, rt, IndexSettings(parts=parts))
        assert ({"ada lovelace", "charles babbage"} <= said) is ("graph" in parts)
        assert made.keys[: len(keys)] == tuple(keys)
        assert set(made.keys) > set(keys)
        assert not trace_build(keys, rt, IndexSettings(parts=parts, chunk_tokens=101)).whole
        vectors = corpus.workspace.manifest().vectors
        segments = list_segments.decode(rt.store.read([vectors])[vectors])
        assert set(read_keys_below(rt.store, [vectors])) > set(segments) > set()
        assert trace_build([], rt, IndexSettings(parts=parts)) == trace_build([], rt, IndexSettings(parts=("graph",)))


def test_what_an_input_was_made_from_is_looked_for_and_made_where_it_is_not_known(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    rt = runtime(store)
    asked = list[str]()
    tracing = Tracing(**{f.name: getattr(rt, f.name) for f in fields(Runtime)})

    def make(by: Any) -> list[int]:
        asked.append("made")
        return list(by.each(double, [1, 2]))

    with pytest.raises(Untraced, match="1 of 1 results of tests"):
        tracing.once(add_up, [1, 2])
    with pytest.raises(Untraced, match="2 of 2 results of tests"):
        tracing.once(add_up, lambda: make(tracing), names=["n"])
    assert asked == ["made"]
    stored = rt.once(add_up, lambda: make(rt), names=["n"])
    asked.clear()
    assert tracing.once(add_up, lambda: make(tracing), names=["n"]) == stored
    assert (stored.value, asked) == (6, [])
    one, _ = rt.keys(double, [1, 2])
    store.forget([one])
    with pytest.raises(Untraced, match="1 of 2 results of tests"):
        tracing.once(add_up, lambda: make(tracing), names=["n"])
    rt.each(double, [1, 2])
    store.forget([key(stored.key, "below")])
    asked.clear()
    assert tracing.once(add_up, lambda: make(tracing), names=["n"]) == stored
    assert asked == ["made"]


def test_what_an_input_was_made_from_is_followed_down_to_the_last(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    rt = runtime(store)

    def make(by: Any) -> list[int]:
        return [by.once(add_up, lambda: list(by.each(double, [1, 2])), names=["inner"]).value, 5]

    outer = rt.once(add_up, lambda: make(rt), names=["outer"])
    inner = rt.once(add_up, [], names=["inner"])
    assert (outer.value, inner.value) == (11, 6)
    assert read_keys_below(store, [outer.key])[1:] == [inner.key]
    doubled = rt.keys(double, [1, 2])
    recording = KeyRecordingStore(store)
    tracing = Tracing(**{f.name: getattr(rt, f.name) for f in fields(Runtime)} | {"store": recording})
    assert tracing.once(add_up, lambda: pytest.fail("it is known"), names=["outer"]) == outer
    assert recording.asked.keys() >= {outer.key, inner.key, *doubled}
    store.forget(doubled[1:])
    with pytest.raises(Untraced, match="1 of 2 results of tests"):
        tracing.once(add_up, lambda: make(tracing), names=["outer"])


def test_a_table_that_is_named_leads_nowhere_unless_its_key_stands_alone_too(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    a, b, c, d, e = (key(name) for name in "abcde")
    store.write({a: f'["{b}.rows","{c}.rows","{d}"]'.encode(), b: e.encode(), c: b"[]", d: f'"{c}"'.encode()})
    assert list(follow_keys(store, a)) == [a, b, c, d]
    store.write({key("more"): f'["{a}","{b}"]'.encode()})
    assert set(follow_keys(store, key("more"))) == {key("more"), a, b, c, d, e}
    assert set(follow_keys(store, a, {d})) == {a, b, c}
