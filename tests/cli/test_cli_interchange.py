"""`import` and `export` on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import little_tables
from bolt import BoltServer
from sensegraph.cli import app

Run = Callable[..., Result]


@pytest.fixture
def run() -> Run:
    return lambda *words: CliRunner().invoke(app, [str(w) for w in words])


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    return little_tables.write(little_tables.tables(), tmp_path / "tables")


@pytest.fixture
def root(run: Run, tables: Path, tmp_path: Path) -> Path:
    assert run("graph", "import", tables, "--root", tmp_path / "root", "--quiet").exit_code == 0
    return tmp_path / "root"


def test_import_says_what_was_read_what_was_made_and_what_index_would_do(run: Run, tables: Path, tmp_path: Path):
    done = run("graph", "import", tables, "--root", tmp_path / "root")
    assert done.exit_code == 0
    assert done.stdout.startswith("read 2 documents, 3 text units, 4 entities, 3 relationships, 3 communities")
    assert "index: 2 documents, 3 chunks, 5 entities, 3 relations, 2 claims\n" in done.stdout
    assert "communities by depth: 2, 2\n" in done.stdout
    assert "became entities of type unknown: 'LAMP'" in done.stdout
    assert "would read the documents anew" in done.stdout


def test_one_thing_of_a_kind_is_told_in_the_singular(run: Run, tmp_path: Path):
    held = little_tables.tables()
    held["covariates"] = held["covariates"][:1]
    done = run("graph", "import", little_tables.write(held, tmp_path / "tables"), "--root", tmp_path / "root")
    assert done.exit_code == 0
    assert "3 community reports, 1 covariate\n" in done.stdout


def test_import_and_export_speak_to_programs_too(run: Run, tables: Path, tmp_path: Path):
    done = json.loads(run("graph", "import", tables, "--root", tmp_path / "root", "--json").stdout)
    assert (done["rows"]["entities"], done["entities"], done["clusters"]) == (4, 5, [2, 2])
    sent = json.loads(run("graph", "export", tmp_path / "out", "--root", tmp_path / "root", "--json").stdout)
    assert sent["counts"]["covariates"] == 2
    assert all(Path(f).is_file() for f in sent["files"])


def test_an_imported_index_has_a_status_and_answers(run: Run, root: Path):
    status = json.loads(run("status", "--root", root, "--json").stdout)
    assert (status["documents"], status["entities"], status["pending"]) == (2, 5, [])
    answer = json.loads(run("query", "Who keeps the lamp?", "--root", root, "--method", "naive", "--json").stdout)
    assert answer["citations"]


def test_export_writes_what_was_imported(run: Run, root: Path, tmp_path: Path):
    done = run("graph", "export", tmp_path / "out", "--root", root)
    assert done.exit_code == 0
    assert "4 entities" in done.stdout
    assert little_tables.read(tmp_path / "out") == little_tables.tables()


@pytest.mark.parametrize(
    ("form", "files"),
    [
        ("csv", ["edges.csv", "nodes.csv"]),
        ("graphml", ["graph.graphml"]),
        ("cypher", ["graph.cypher"]),
        ("json", ["graph.json"]),
        ("ladybug", ["graph.lbug"]),
        ("ladybug-cypher", ["graph.cypher"]),
    ],
)
def test_export_writes_property_graphs(run: Run, root: Path, tmp_path: Path, form: str, files: list[str]):
    assert run("graph", "export", tmp_path / "out", "--root", root, "--format", form).exit_code == 0
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == files


def test_export_refuses_a_folder_with_something_in_it(run: Run, root: Path, tmp_path: Path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("")
    done = run("graph", "export", tmp_path / "out", "--root", root)
    assert done.exit_code == 1
    assert "is not empty; export to another folder, or write over it with --force." in done.stderr
    assert run("graph", "export", tmp_path / "out", "--root", root, "--force").exit_code == 0


def test_an_unknown_format_is_wrong_usage(run: Run, root: Path, tmp_path: Path):
    done = run("graph", "export", tmp_path / "out", "--root", root, "--format", "gml")
    assert done.exit_code == 2
    assert "it cannot be 'gml'; choose graphrag, csv, graphml, cypher, json" in done.stderr


def test_export_without_an_index_says_so(run: Run, tmp_path: Path):
    done = run("graph", "export", tmp_path / "out", "--root", tmp_path)
    assert done.exit_code == 1
    assert not (tmp_path / "out").exists()


def test_import_does_not_hide_documents_of_a_corpus_unless_told_to(run: Run, tables: Path, tmp_path: Path):
    text, root = tmp_path / "ada.txt", tmp_path / "root"
    text.write_text("Ada Lovelace met Charles Babbage in London.")
    assert run("index", text, "--root", root).exit_code == 0
    done = run("graph", "import", tables, "--root", root)
    assert done.exit_code == 1
    assert "holds 1 documents of its own, such as 'ada.txt'" in done.stderr
    assert run("graph", "import", tables, "--root", root, "--replace").exit_code == 0
    status = json.loads(run("status", "--root", root, "--json").stdout)
    assert (status["indexed"], status["pending"]) == (2, ["ada.txt"])


def test_importing_the_same_tables_again_needs_no_leave(run: Run, tables: Path, root: Path):
    assert run("graph", "import", tables, "--root", root, "--quiet").exit_code == 0


def test_a_malformed_table_leaves_no_corpus_behind(run: Run, tables: Path, tmp_path: Path):
    (tables / "entities.jsonl").write_text('{"id": "e0"}\n')
    done = run("graph", "import", tables, "--root", tmp_path / "new")
    assert done.exit_code == 1
    assert done.stderr.startswith("entities, row 1, column 'title'")
    assert not (tmp_path / "new").exists()


# ── servers ──


def test_the_graph_is_pushed_and_pulled_again(run: Run, root: Path, tmp_path: Path):
    with BoltServer() as bolt:
        pushed = run("graph", "push", bolt.url, "--root", root, "--password", "right", "--name", "town")
        assert pushed.stdout == (
            "pushed 5 entities, 3 relations, 2 claims\nremoved 0 nodes and 0 edges of an earlier push\n"
        )
        assert {corpus for _, corpus, _ in bolt.graph.nodes} == {"town"}
        pulled = run("graph", "pull", bolt.url, tmp_path / "pulled", "--password", "right", "--name", "town")
        assert pulled.stdout.endswith("relationships.jsonl\n5 entities, 3 relations\n")
        spoken = run(
            "graph", "pull", bolt.url, tmp_path / "again", "--password", "right", "--name", "village", "--json"
        )
    told = json.loads(spoken.stdout)
    assert (told["entities"], told["relations"], len(told["files"])) == (0, 0, 2)
    assert (
        run("graph", "import", tmp_path / "pulled", "--root", tmp_path / "other", "--engine", "offline").exit_code == 0
    )


def test_a_password_is_asked_for_where_none_is_given(root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("NEO4J_PASSWORD", raising=False)
    with BoltServer() as bolt:
        asked = CliRunner().invoke(app, ["graph", "push", bolt.url, "--root", str(root), "--json"], input="right\n")
        monkeypatch.setenv("NEO4J_PASSWORD", "wrong")
        refused = CliRunner().invoke(app, ["graph", "push", bolt.url, "--root", str(root)])
    assert json.loads(asked.stdout)["entities"] == 5
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert f"The server at {bolt.url} cannot be used as 'neo4j'" in refused.stderr
