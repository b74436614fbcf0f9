"""An index is the same wherever it is built and kept: in a file or a database, by one process, several or a cluster."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

pytest.importorskip("asyncpg", reason='asyncpg is not installed: pip install "sensegraph[postgres]"')

from clusters import add_node, cluster
from databases import corpus_url
from readers import ask_while_building
from scripted import ScriptedServer
from sensegraph.cli import app
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import NotIndexed
from sensegraph.graphs.interchange.exporting import export_tables
from sensegraph.protocols import Executor
from sensegraph.runtime.executors.processes import LocalExecutor, SerialExecutor
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


@pytest.mark.parametrize("kind", ["file", "database"])
def test_a_reader_gets_every_answer_from_one_index_while_it_is_built_anew_and_collected(
    tmp_path: Path, kind: str
) -> None:
    found = ask_while_building(tmp_path, keep_in(kind, tmp_path).get("store", {}), 150)
    assert (found.failed, found.mixed) == ((), 0)
    assert found.questions >= 150
    assert found.indexes > 1
    assert found.builds > 1
