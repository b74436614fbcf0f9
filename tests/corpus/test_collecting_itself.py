"""A build collects by itself where the store has grown: readers keep their index, what was paid for stays."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

import sensegraph.corpus.garbage as garbage
from scripted import Script, ScriptedServer
from sensegraph.corpus.corpus import Corpus
from sensegraph.types import Document
from wired import corpus, index_content, stories, story


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbage, "_LEAST", 10_000)


@pytest.mark.parametrize(("updates", "texts"), [(12, 6), pytest.param(50, 2, marks=pytest.mark.slow)])
def test_many_updates_leave_a_store_of_twice_its_first_size_at_most(tmp_path: Path, updates: int, texts: int) -> None:
    with Corpus.open(tmp_path, settings={"engine": "offline"}) as made:
        made.add(stories(texts))
        made.build()
        first = made.store.settle()
        sizes = []
        for change in range(updates):
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
        assert len(set(sizes)) == len(sizes) > 0
        assert sizes == sorted(sizes)


def test_finding_out_what_is_needed_makes_nothing_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Corpus.open(tmp_path, settings={"engine": "offline"}) as made:
        made.add(stories(4))
        made.build()
        before = made.store.settle()
        for work in ("merged_parts.read_run_rows", "merged_parts.gather_entities", "partitions.summarise_crowded"):
            monkeypatch.setattr(f"sensegraph.index.graph.{work}", lambda *_: pytest.fail("it was made anew"))
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


@pytest.mark.parametrize("elsewhere", [False, True], ids=["here", "another corpus of the store"])
def test_an_index_that_was_replaced_and_made_again_is_read_by_who_had_it_open(tmp_path: Path, elsewhere: bool) -> None:
    options = {"engine": "offline"}
    with Corpus.open(tmp_path, settings=options) as made:
        made.add(stories(3))
        made.build()
        with Corpus.open(tmp_path, settings=options) if elsewhere else nullcontext(made) as reader:
            before = reader.workspace.open_index()  # which is not pinned
            found = index_content(before)
            for time in ("1843-12-19", ""):
                made.add(replace(stories()[0], time=time))
                made.build()
            assert reader.workspace.open_index() is before
            assert index_content(before) == found
            assert reader.collect().after > 0
            assert reader.query("Who wrote to whom?").text


UPDATING = """
import sys
import sensegraph.corpus.garbage as garbage
from sensegraph.corpus.corpus import Corpus
from sensegraph.types import Document
garbage._LEAST = 10_000
with Corpus.open(sys.argv[1], settings={"engine": "offline"}) as made:
    for round in range(1, int(sys.argv[2])):
        made.add([Document(name, f"Round {round}: Ada Harrow paid {name} Fenwick in Delft.") for name in "abcd"])
        made.build()
        print(round, flush=True)
"""


@pytest.mark.slow
def test_200_questions_each_come_from_one_index_while_another_process_updates_and_collects(tmp_path: Path) -> None:
    with Corpus.open(tmp_path, settings={"engine": "offline"}) as made:
        made.add([Document(name, f"Round 0: Ada Harrow paid {name} Fenwick in Delft.") for name in "abcd"])
        made.build()
    program = [sys.executable, "-c", UPDATING, str(tmp_path), "20"]
    path = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    rounds, asked = set[str](), 0
    with subprocess.Popen(program, env=path, stdout=subprocess.PIPE, text=True) as updating:
        with Corpus.open(tmp_path, settings={"engine": "offline"}, create=False) as reader:
            while asked < 200 or updating.poll() is None:
                found = reader.search("Whom did Ada Harrow pay in Delft?", method=("bm25", "walk", "local")[asked % 3])
                said = {number for p in found.passages for number in re.findall(r"Round (\d+)", p.text)}
                assert len(said) == 1
                rounds |= said
                asked += 1
        assert updating.stdout is not None
        assert updating.stdout.read().split()[-1] == "19"
    assert updating.returncode == 0
    assert len(rounds) > 3
