"""An index is the same wherever it is built and kept: in a file or a database, by one process, several or a cluster."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

pytest.importorskip("asyncpg", reason='asyncpg is not installed: pip install "sensegraph[postgres]"')

from clusters import add_node, cluster
from databases import corpus_url, kill_database, restart_database, start_database
from scripted import Script, ScriptedServer
from sensegraph.cli import app
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import NotIndexed, SensegraphError
from sensegraph.graphs.interchange.exporting import export_tables
from sensegraph.protocols import Executor
from sensegraph.runtime.executors.processes import LocalExecutor, SerialExecutor
from sensegraph.testing import ExecutorContract
from sensegraph.types import Document
from wired import settings, stories

pytestmark = pytest.mark.slow
OFFLINE: dict[str, Any] = {"engine": "offline"}
RAY = find_spec("ray") is not None
DOCUMENTS = stories(8)


def keep_in(kind: str, folder: Path) -> dict[str, Any]:
    """The settings that keep the corpus of a folder in a file, or in a database."""
    return {} if kind == "file" else {"store": {"url": corpus_url(folder), "cache": str(folder / "copies")}}


def build(folder: Path, given: dict[str, Any], kind: str, executor: Executor) -> tuple[str, dict[str, bytes]]:
    """The key of the index of the documents, and what it exports."""
    with Corpus.open(folder, settings={**given, **keep_in(kind, folder)}, executor=executor) as corpus:
        corpus.add(DOCUMENTS)
        corpus.build()
        export_tables(corpus.index(), corpus.store, folder / "exported")
        found = {path.name: path.read_bytes() for path in (folder / "exported").iterdir()}
        return corpus.store.ref("index") or "", found


def executors() -> Iterator[tuple[str, Executor]]:
    """Who may run the work: this process, others, a Ray cluster of one node, and of two."""
    yield "serial", SerialExecutor()
    yield "processes", LocalExecutor(threads=4, processes=2, patience=0.0)
    if not RAY:
        return
    with cluster(1) as nodes:
        from sensegraph.runtime.executors.ray import RayExecutor

        yield "one node", RayExecutor(threads=4, patience=0.0)
        add_node(nodes)
        yield "two nodes", RayExecutor(threads=4, patience=0.0)


def test_one_key_and_one_export_in_every_store_by_every_executor(tmp_path: Path, server: ScriptedServer) -> None:
    offline, asked = [], []
    for name, executor in executors():
        for kind in ("file", "database"):
            offline.append(build(tmp_path / f"{name} {kind}", OFFLINE, kind, executor))
            assert offline[-1][0], f"{name}, {kind}"
            assert offline[-1] == offline[0], f"{name}, {kind}"
        asked.append(build(tmp_path / f"{name} asked", settings(server), "database", executor))
        assert asked[-1] == asked[0], name
    assert offline[0][1]
    assert len(offline) == 2 * len(asked) == (8 if RAY else 4)


# ── being opened ──


def test_a_corpus_is_opened_by_the_address_of_its_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    url = corpus_url(tmp_path)
    with pytest.raises(NotIndexed, match="There is no index in"):
        Corpus.open(url, settings=OFFLINE, create=False)
    with Corpus.open(url, settings=OFFLINE) as corpus:
        corpus.add(Document("a", "Charles Babbage built the engine in London.", "Engines"))
        corpus.build()
        assert corpus.root.parent == tmp_path / "data" / "sensegraph"
        assert "c_" in corpus.root.name.replace("-", "_")
    with Corpus.open(url, settings=OFFLINE, create=False) as corpus:
        assert list(corpus.document_keys()) == ["a"]
        assert corpus.search("Who built the engine?", method="bm25").documents == ("a",)
    assert [path.name for path in (tmp_path / "caches").iterdir()] == ["sensegraph"]
    assert list((tmp_path / "caches").rglob("*.npy"))


def test_a_command_on_another_machine_finds_the_corpus_that_the_settings_name(tmp_path: Path) -> None:
    text = f'engine = "offline"\n[store]\nurl = "{corpus_url(tmp_path)}"\ncache = "copies"\n'
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "sensegraph.toml").write_text(text)
    (tmp_path / "one" / "note.txt").write_text("Charles Babbage built the engine in London.")
    run = CliRunner().invoke
    made = run(app, ["index", str(tmp_path / "one" / "note.txt"), "--root", str(tmp_path / "one"), "-q"])
    assert made.exit_code == 0, made.output
    found = json.loads(run(app, ["status", "--root", str(tmp_path / "other"), "--json"]).stdout)
    assert (found["documents"], found["indexed"]) == (1, 1)


# ── being read ──


def test_readers_get_every_answer_from_one_index_while_it_is_built_anew_and_collected(tmp_path: Path) -> None:
    given = {**OFFLINE, **keep_in("database", tmp_path), "index": {"parts": ["graph"]}, "processes": 1}

    def documents(version: int) -> list[Document]:
        return [
            Document(f"{n}", f"The keeper of light {n} is Ada{version} Stone since {1800 + version}.") for n in range(4)
        ]

    done, found, failed = threading.Event(), list[set[str]](), list[BaseException]()

    def read() -> None:
        with Corpus.open(tmp_path, settings=given, create=False) as corpus:
            while not done.is_set():
                try:
                    passages = corpus.search("Who is the keeper of the light?", method="bm25", top=4).passages
                    found.append({p.text.partition(" Stone")[0].rpartition(" ")[2] for p in passages})
                except SensegraphError as e:
                    failed.append(e)

    with Corpus.open(tmp_path, settings=given) as builder:
        builder.add(documents(0))
        builder.build()
        readers = [threading.Thread(target=read) for _ in range(2)]
        for reader in readers:
            reader.start()
        for version in range(1, 6):
            builder.add(documents(version))
            builder.build()
            builder.collect()
        done.set()
        for reader in readers:
            reader.join()
    assert failed == []
    assert len(found) > 10
    assert all(len(versions) == 1 for versions in found)
    assert len(set[str]().union(*found)) > 1


# ── being killed ──


def _work_once(batch: tuple[str, int]) -> list[int]:
    """The work of a batch; the first to come to number 5 kills its process."""
    folder, number = batch
    if number == 5:
        with suppress(FileExistsError):
            (Path(folder) / "killed").touch(exist_ok=False)
            os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.02)
    return [number]


def test_a_cluster_keeps_what_every_executor_keeps_when_a_worker_and_a_node_die(tmp_path: Path) -> None:
    with cluster(2) as nodes:
        from sensegraph.runtime.executors.ray import RayExecutor

        class Contract(ExecutorContract):
            def make(self) -> Executor:
                return RayExecutor(threads=4, patience=0.0)

        rules = [name for name in dir(Contract) if name.startswith("test_")]
        assert rules
        for name in rules:
            getattr(Contract(), name)()
        came = Counter[int]()
        batches = [(str(tmp_path), i) for i in range(60)]
        for position, result in RayExecutor(patience=0.0).map(_work_once, batches, waits=False):
            assert result == [position]
            came[position] += 1
            if sum(came.values()) == 15:
                nodes.remove_node(nodes.list_all_nodes()[-1], allow_graceful=False)
        assert came == Counter(range(60))
        assert (tmp_path / "killed").exists()


PROGRAM = """
import sys
sys.path[:0] = sys.argv[4:]
from pathlib import Path
from sensegraph.corpus.corpus import Corpus
from wired import settings, stories
folder, server, url = sys.argv[1:4]
given = {**settings(server), "store": {"url": url, "cache": folder + "/copies"}}
with Corpus.open(folder, settings=given) as made:
    made.add(stories(6))
    made.build()
"""


def build_six(folder: Path, given: dict[str, Any]) -> str:
    """The key of the index of six stories."""
    with Corpus.open(folder, settings=given) as corpus:
        corpus.add(stories(6))
        corpus.build()
        return corpus.store.ref("index") or ""


@pytest.mark.parametrize("dies", ["builder", "database"])
def test_what_was_paid_for_is_not_paid_for_again_when_a_builder_or_the_database_dies(
    tmp_path: Path, server: ScriptedServer, dies: str
) -> None:
    expected = build_six(tmp_path / "whole", settings(server))
    total = len(server.done())
    server.reset()
    server.script = Script(latency_s=0.03)
    database = start_database(lasting=True)
    url = corpus_url(tmp_path / "killed", database.get_uri())
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "killed"), server.base_url, url, *sys.path]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        while len(server.done()) < total // 2 and running.poll() is None:
            time.sleep(0.001)
        moment = time.time()
        running.kill() if dies == "builder" else kill_database(database)
        _, said = running.communicate(timeout=60)
    assert running.returncode != 0
    assert ("cannot be used" in said) is (dies == "database"), said
    time.sleep(0.1)  # calls on their way at the server end by themselves
    finished = {c.sha for c in server.done() if c.finished < moment - 0.2}  # received and written by then
    assert 0 < len(finished) <= len(server.done()) < total
    server.reset()
    server.script = Script()
    restart_database(database)
    later = {**settings(server), "store": {"url": url, "cache": str(tmp_path / "copies")}}
    assert build_six(tmp_path / "killed", later) == expected
    assert not finished & {c.sha for c in server.done()}
    assert 0 < len(server.done()) <= total - len(finished)
    database.cleanup()
