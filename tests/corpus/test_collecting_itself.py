"""A build collects by itself where the store has grown: readers keep their index, what was paid for stays."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pytest

import sensegraph.corpus.garbage as garbage
from scripted import Script, ScriptedServer
from sensegraph.corpus.corpus import Corpus
from sensegraph.types import Document
from wired import corpus, stories, story


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbage, "_LEAST", 10_000)


def test_many_updates_leave_a_store_of_twice_its_first_size_at_most(tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings={"engine": "offline"}) as made:
        made.add(stories(6))
        made.build()
        first = made.store.settle()
        sizes = []
        for change in range(12):
            made.add(Document("story-00", story(change, 50 + change), "Story 0"))
            made.build()
            sizes.append(made.store.settle())
        assert max(sizes) <= 2 * first
        assert any(b < a for a, b in pairwise(sizes))
        assert made.collect().after > first / 2
        assert made.query("Who wrote to whom?").text


def test_without_the_setting_a_store_only_grows(tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings={"engine": "offline", "index": {"collect": False}}) as made:
        made.add(stories(6))
        made.build()
        sizes = []
        for change in range(6):
            made.add(Document("story-00", story(change, 50 + change), "Story 0"))
            made.build()
            sizes.append(made.store.settle())
        assert sizes == sorted(sizes)


def test_finding_out_what_is_needed_makes_nothing_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Corpus.open(tmp_path, settings={"engine": "offline"}) as made:
        made.add(stories(4))
        made.build()
        before = made.store.settle()
        for work in ("Merger.merge", "summarise_crowded"):
            monkeypatch.setattr(f"sensegraph.index.graph.merging.{work}", lambda *_: pytest.fail("it was made anew"))
        monkeypatch.setattr("sensegraph.index.hierarchy.reports.Writer.write", lambda *_: pytest.fail("it was written"))
        made.collect()
        assert made.store.settle() <= before
        assert not made.build().computed


def test_what_was_paid_for_stays(tmp_path: Path) -> None:
    with ScriptedServer(Script()) as server, corpus(tmp_path, server) as made:
        made.add(stories(6))
        made.build()
        for change in range(6):
            made.add(Document("story-00", story(change, 50 + change), "Story 0"))
            made.build()
        server.calls.clear()
        made.add(stories(6))  # as it was first
        made.build()
        assert server.done("extraction") == []


def test_a_reader_finds_its_index_while_another_process_updates_and_collects(tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings={"engine": "offline"}) as made:
        made.add(stories(6))
        made.build()
        stop, answers = threading.Event(), set[str]()

        def read() -> bool:
            with Corpus.open(tmp_path, settings={"engine": "offline"}, create=False) as reader:
                while not stop.is_set():
                    index = reader.index()
                    names = [e.name for e in index.graph.entities]
                    assert len(names) == index.manifest.counts["entities"]
                    answers.add(reader.query("Who wrote to whom?", method="walk").text)
            return True

        with ThreadPoolExecutor(1) as pool:
            reading = pool.submit(read)
            for change in range(8):
                made.add(Document("story-00", story(change, 50 + change), "Story 0"))
                made.build()
            stop.set()
            assert reading.result(60)
        assert answers
