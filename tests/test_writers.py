"""Two processes at one corpus: one builds at a time, readers keep reading, nothing is corrupted (N92)."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from scripted import Script, ScriptedServer
from sensegraph.async_corpus import AsyncCorpus
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import Busy, StoreError
from sensegraph.runtime import locking
from sensegraph.runtime.stores.sqlite import SqliteStore
from sensegraph.types import Document
from wired import content, corpus, index_content, stories, story

PROGRAM = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from sensegraph.errors import StoreError
from sensegraph.types import Document
from wired import corpus, story
folder, url, wait, *names = sys.argv[1:]
with corpus(Path(folder), url, endpoint={{"timeout_s": 120.0}}) as made:
    made.wait = float(wait)
    made.add(*[Document(n, story(len(n), 7)) for n in names])
    try:
        made.build()
    except StoreError as e:
        sys.exit(str(e))
"""


def started(folder: Path, server: ScriptedServer, wait: float, *names: str) -> subprocess.Popen[str]:
    code = PROGRAM.format(tests=str(Path(__file__).parent))
    arguments = [sys.executable, "-c", code, str(folder), server.base_url, str(wait), *names]
    return subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True)


@pytest.fixture
def made(tmp_path: Path, server: ScriptedServer) -> Iterator[Corpus]:
    with corpus(tmp_path / "corpus", server) as opened:
        opened.add(stories(3))
        opened.build()
        yield opened


def until(server: ScriptedServer, running: subprocess.Popen[str]) -> None:
    """Wait until a process asks the server something: it has begun to build."""
    while not server.in_flight and not server.calls and running.poll() is None:
        time.sleep(0.01)
    assert running.poll() is None


def test_a_program_says_how_long_its_build_waits_for_another(tmp_path: Path) -> None:
    offline = {"engine": "offline"}
    with Corpus.open(tmp_path, settings=offline) as one, Corpus.open(tmp_path, settings=offline) as other:
        assert AsyncCorpus.open(tmp_path, settings=offline, wait=5.0).corpus.wait == 5.0
        other.wait = 0.01
        other.add(Document("a", story(0, 3)))
        with one.store.exclusive():
            with pytest.raises(Busy, match=r"for more than 0.01 s; .*corpus.wait = SECONDS"):
                other.build()
            other.wait = 60.0
        assert other.build().counts["documents"] == 1


@pytest.mark.slow
def test_the_second_of_two_builds_is_told_or_waits_and_neither_loses_a_document(
    made: Corpus, server: ScriptedServer, tmp_path: Path
) -> None:
    server.reset()
    server.script = Script(latency_s=100.0)  # until the second is told
    first = started(made.root, server, 0, "one")
    until(server, first)
    impatient = started(made.root, server, 0, "fourth")
    patient = started(made.root, server, 120, "second")
    assert "Another build" in impatient.communicate()[1]
    server.script = Script()
    assert (impatient.returncode, first.wait(120), patient.wait(120)) == (1, 0, 0)
    wanted = [*stories(3), *(Document(n, story(len(n), 7)) for n in ("fourth", "one", "second"))]
    with corpus(tmp_path / "fresh", server) as other:
        other.add(wanted)
        other.build()
        made.build(fresh=True)
        assert content(made) == content(other)
    assert sqlite3.connect(made.store.path).execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.mark.slow
def test_readers_keep_reading_the_old_index_while_another_process_builds(made: Corpus, server: ScriptedServer) -> None:
    before = content(made)
    server.reset()
    server.script = Script(latency_s=0.3)
    running = started(made.root, server, 0, "one")
    until(server, running)
    with Corpus.open(made.root, create=False, settings={"embedder": "offline"}) as reader:
        looks = 0
        while running.poll() is None:
            seen = index_content(reader.index())
            assert seen == before or "one" in {d.id for d in seen["texts"]}
            looks += seen == before
        assert looks > 1
        assert "one" in {d.id for d in content(reader)["texts"]}
    running.communicate()


def test_waiting_for_a_lock_ends_when_it_is_given_back_and_else_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = SqliteStore(tmp_path), SqliteStore(tmp_path)
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with one.exclusive():
            entered.set()
            leave.wait(60)

    holder = threading.Thread(target=hold)
    holder.start()
    entered.wait(60)
    now = 0.0

    def pause(seconds: float) -> None:
        nonlocal now
        now += seconds

    with monkeypatch.context() as given:
        given.setattr(locking, "time", SimpleNamespace(monotonic=lambda: now, sleep=pause))
        with pytest.raises(StoreError, match=r"for more than 0\.25 s"), other.exclusive(0.25):
            pass
        assert now == 0.25
    threading.Timer(0.2, leave.set).start()
    with other.exclusive(30):
        assert leave.is_set()
    holder.join()
    one.close()
    other.close()
