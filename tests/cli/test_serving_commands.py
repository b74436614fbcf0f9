"""What `serve`, `mcp`, `graph push`, `graph pull` and `index --watch` hand on, and what they say; nothing is served."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer
from click.testing import Result
from typer.testing import CliRunner

from sensegraph.cli import app, indexing, options, serving
from sensegraph.cli.indexing import FollowOptions, _run_round, _stop_on_signal, watch_files
from sensegraph.cli.options import CommandRun
from sensegraph.corpus import sources
from sensegraph.corpus.garbage import Collected
from sensegraph.corpus.sources import Pace
from sensegraph.corpus.workspace import Built
from sensegraph.errors import InputError, StoreError, Unapproved
from sensegraph.graphs.interchange import neo4j_server
from sensegraph.graphs.interchange.neo4j_server import Pulled, Pushed
from sensegraph.models.endpoint import endpoint_settings
from sensegraph.runtime.stores.corpus_store import Freed

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from sensegraph.server import running

NOTHING = Collected({}, Freed(), 0, 0)


def run(*words: object, **given: Any) -> Result:
    return CliRunner().invoke(app, list(map(str, words)), **given)  # type: ignore[return-value]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The folders that are opened as corpora, and how; each is its own name."""
    folders: list[Any] = []

    @contextmanager
    def open_folder(self: CommandRun, **given: bool) -> Iterator[Any]:
        folders.append((self.root, given))
        yield SimpleNamespace(root=self.root, index=lambda: f"index of {self.root.name}")

    monkeypatch.setattr(CommandRun, "corpus", open_folder)
    return folders


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, opened: list[Any]) -> list[Any]:
    """What a server is made of: it tells its address and ends."""
    made: list[Any] = []

    def make_server(corpora: Any, given: Any, tell: Any) -> Any:
        made.append((list(corpora), given))
        return SimpleNamespace(run=lambda: tell("http://127.0.0.1:8123"))

    monkeypatch.setattr(running, "make_server", make_server)
    monkeypatch.setattr(typer, "launch", lambda address: made.append(address))
    return made


def test_this_folder_is_served_to_this_machine_unless_more_is_said(served: list[Any], opened: list[Any]) -> None:
    done = run("serve")
    assert (done.exit_code, done.stdout) == (0, "")
    ((names, given),) = served
    assert opened == [(Path("."), {"create": True, "silent": True})]
    assert (given.host, given.port, given.read_only, given.hosts, given.watch) == ("127.0.0.1", 8123, False, (), None)
    assert (given.limits.day_tokens, given.limits.day_cost, given.settings) == (0, 0.0, {})
    assert done.stderr == f"sensegraph serves {names[0]} at http://127.0.0.1:8123; Ctrl-C ends it\n"


def test_what_is_said_of_a_server_is_handed_on(served: list[Any], opened: list[Any], tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    words = ["--host", "0.0.0.0", "--port", 0, "--read-only", "--allow-host", "a.example", "--allow-host", "b.example"]
    words += ["--day-tokens", 500, "--day-cost", 1.5, "--set", "engine=offline", "--insecure-no-token", "--open"]
    done = run("serve", tmp_path / "one", tmp_path / "two", *words)
    (names, given), launched = served
    assert names == ["one", "two"]
    assert opened == [(tmp_path / name, {"create": False, "silent": True}) for name in names]
    assert (given.host, given.port, given.read_only, given.hosts) == ("0.0.0.0", 0, True, ("a.example", "b.example"))
    assert (given.limits.day_tokens, given.limits.day_cost) == (500, 1.5)
    assert given.settings == {"engine": "offline"}
    assert launched == "http://127.0.0.1:8123"
    assert "sensegraph serves one, two at" in done.stderr


def test_folders_are_watched_at_the_usual_pace(served: list[Any]) -> None:
    run("serve", "--watch", "--quiet")
    assert served[0][1].watch == Pace(2.0, 2.0, 30.0, 600.0)


def test_the_address_is_an_object_for_programs_and_nothing_where_it_is_to_be_quiet(served: list[Any]) -> None:
    told = run("serve", "--json")
    assert json.loads(told.stdout)["address"] == "http://127.0.0.1:8123"
    assert json.loads(told.stdout)["corpora"] == served[0][0]
    quiet = run("serve", "--quiet")
    assert (quiet.stdout, quiet.stderr) == ("", "")


def test_a_file_of_tokens_that_was_made_is_told_once(served: list[Any], tmp_path: Path) -> None:
    first, second = (run("serve", "--token-file", tmp_path / "tokens", "--quiet") for _ in range(2))
    assert first.stderr.startswith(f"{tmp_path / 'tokens'} holds a new token for reading and one for writing")
    assert second.stderr == ""
    assert served[0][1].tokens == served[1][1].tokens


def test_an_address_that_others_reach_needs_tokens(served: list[Any]) -> None:
    done = run("serve", "--host", "0.0.0.0")
    assert (done.exit_code, served) == (1, [])
    assert "--token-file" in done.stderr


@pytest.mark.parametrize("missing", ["starlette", "uvicorn", "python_multipart"])
def test_a_server_names_the_first_library_that_is_missing(
    monkeypatch: pytest.MonkeyPatch, served: list[Any], missing: str
) -> None:
    monkeypatch.setattr(serving, "find_spec", lambda name: None if name == missing else name)
    done = run("serve")
    assert (done.exit_code, served) == (1, [])
    assert done.stderr == f'`sensegraph serve` needs {missing}: pip install "sensegraph[server]".\n'


@pytest.mark.parametrize("write", [False, True])
def test_tools_are_served_of_an_index_that_is_there_or_of_a_folder_to_write(
    monkeypatch: pytest.MonkeyPatch, opened: list[Any], tmp_path: Path, write: bool
) -> None:
    served: list[Any] = []
    module = SimpleNamespace(serve_stdio=lambda corpus, *, write: served.append((corpus.root, write)))
    monkeypatch.setitem(sys.modules, "sensegraph.server.mcp", module)
    monkeypatch.setattr(serving, "find_spec", lambda name: name == "mcp")
    assert run("mcp", tmp_path, *(["--write"] if write else [])).exit_code == 0
    assert opened == [(tmp_path, {"create": write, "indexed": not write, "silent": True})]
    assert served == [(tmp_path, write)]
    monkeypatch.setattr(serving, "find_spec", lambda name: None)
    assert run("mcp", tmp_path).stderr == '`sensegraph mcp` needs an extra: pip install "sensegraph[mcp]".\n'


# ── Neo4j ──


def test_a_graph_is_pushed_under_the_name_of_its_folder_or_another(
    monkeypatch: pytest.MonkeyPatch, opened: list[Any], tmp_path: Path
) -> None:
    pushed: list[Any] = []

    def push(*given: Any) -> Pushed:
        pushed.append(given)
        return Pushed(1_200, 3, 4, 1_000, 6)

    monkeypatch.setattr(neo4j_server, "push_graph", push)
    words = ("graph", "push", "bolt://h:1", "--root", tmp_path / "mine", "--password", "p")
    assert run(*words).stdout.splitlines() == [
        "pushed 1,200 entities, 3 relations, 4 claims",
        "removed 1,000 nodes and 6 edges of an earlier push",
    ]
    told = json.loads(run(*words, "--name", "other", "--user", "u", "--database", "d", "--json").stdout)
    assert told == {
        "schema": 1, "entities": 1_200, "relations": 3, "claims": 4, "removed_nodes": 1_000, "removed_edges": 6,
    }  # fmt: skip
    assert pushed == [
        ("index of mine", neo4j_server.Server("bolt://h:1", "neo4j", "p", ""), "mine"),
        ("index of mine", neo4j_server.Server("bolt://h:1", "u", "p", "d"), "other"),
    ]
    assert opened[0] == (tmp_path / "mine", {"indexed": True, "silent": True})
    asked = run(*words[:-2], input="typed\n", env={"NEO4J_PASSWORD": None})
    assert pushed[2][1].password == "typed"
    assert "typed" not in asked.stdout + asked.stderr


def test_a_graph_is_pulled_into_tables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pulled: list[Any] = []

    def pull(server: Any, folder: Path, **given: Any) -> Pulled:
        pulled.append((folder, given))
        return Pulled((folder / "a.csv", folder / "b.csv"), 1_500, 20, ("one left out",))

    monkeypatch.setattr(neo4j_server, "pull_graph", pull)
    words = ("graph", "pull", "bolt://h:1", tmp_path, "--password", "p")
    assert run(*words).stdout.splitlines() == [
        str(tmp_path / "a.csv"), str(tmp_path / "b.csv"), "1,500 entities, 20 relations", "- one left out",
    ]  # fmt: skip
    run(*words, "--name", "x", "--name-property", "title", "--force")
    assert pulled == [
        (tmp_path, {"corpus": "", "name": "name", "force": False}),
        (tmp_path, {"corpus": "x", "name": "title", "force": True}),
    ]


# ── index --watch ──


def test_files_are_followed_where_they_are_and_with_the_pace_that_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    followed: list[Any] = []
    monkeypatch.setattr(sources, "follow_changes", lambda *args, **given: followed.append((args[2], given.keys())))
    rounds: list[Any] = []
    monkeypatch.setattr(indexing, "watch_files", lambda run, paths, how: rounds.append((run.wait, paths, how)))
    run("index", "--watch")
    run("index", tmp_path, "--watch", "--wait", 5, "--every", 0.5, "--settle", 0)
    assert rounds == [(60.0, None, FollowOptions(True, 2.0, 2.0)), (5.0, [tmp_path], FollowOptions(True, 0.5, 0.0))]
    clash = run("index", "--watch", "--dry-run")
    assert (clash.exit_code, len(rounds)) == (2, 2)
    watch_files(CommandRun(root=tmp_path), [tmp_path], FollowOptions(True, 0.5, 1.5))
    assert followed == [(Pace(0.5, 1.5), {"pause", "now"})]
    with pytest.raises(InputError, match="does not exist; check the spelling"):
        watch_files(CommandRun(root=tmp_path), [tmp_path, tmp_path / "none"], FollowOptions())
    with pytest.raises(InputError, match=f"{tmp_path / 'input'} does not exist"):
        watch_files(CommandRun(root=tmp_path), None, FollowOptions())


class Watched:
    """A corpus with so many documents that wait."""

    def __init__(self, pending: int) -> None:
        self.pending, self.built = pending, 0
        self.builder = self

    def status(self) -> Any:
        return SimpleNamespace(pending=("d",) * self.pending)

    def build(self) -> Built:
        self.built += 1
        return SimpleNamespace()  # type: ignore[return-value]


@pytest.mark.parametrize(("pending", "built"), [(0, 0), (2, 1)])
def test_a_round_builds_only_where_a_document_waits(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], pending: int, built: int
) -> None:
    corpus = Watched(pending)

    @contextmanager
    def opened(self: CommandRun, *, create: bool) -> Iterator[Watched]:
        assert create
        yield corpus

    monkeypatch.setattr(CommandRun, "corpus", opened)
    monkeypatch.setattr(indexing, "_sync_documents", lambda corpus, paths, quiet: (quiet, []))
    monkeypatch.setattr(indexing.show, "format_build", lambda built, added: f"built, quietly: {added}")
    monkeypatch.setattr(indexing.time, "strftime", lambda form: f"at {form}")
    assert _run_round([Path("a")], CommandRun())
    assert corpus.built == built
    assert capsys.readouterr().out == "at %H:%M:%S built, quietly: True\n" * built


@pytest.mark.parametrize("error", [StoreError("It is broken."), OSError("It is gone.")])
def test_a_round_that_fails_is_told_and_tried_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Exception
) -> None:
    def refuse(self: CommandRun, *, create: bool) -> None:
        raise error

    monkeypatch.setattr(CommandRun, "corpus", refuse)
    assert not _run_round([Path("a")], CommandRun())
    said = "The index is as it was; this is tried again after a while, or when a file changes.\n"
    assert capsys.readouterr().err == f"{error} {said}"


def refuse_unapproved(self: CommandRun, **given: bool) -> Any:
    raise Unapproved("file", "http://h", "It names http://h.")


def test_a_round_that_waits_for_an_approval_ends_the_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CommandRun, "corpus", refuse_unapproved)
    with pytest.raises(Unapproved):
        _run_round([Path("a")], CommandRun())


def test_a_watch_that_is_told_to_end_ends_well(capsys: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(signal.SIGTERM)
    with _stop_on_signal():
        signal.raise_signal(signal.SIGTERM)
        raise AssertionError("it goes on")
    assert capsys.readouterr().err == "stopped; the index is as the last round left it, and the next one resumes\n"
    assert signal.getsignal(signal.SIGTERM) == before
    with _stop_on_signal():
        pass
    assert capsys.readouterr().err == ""
    assert signal.getsignal(signal.SIGTERM) == before


# ── what has to be approved ──


@pytest.mark.parametrize(
    ("terminal", "typed", "status", "tries", "kept"),
    [(False, "y\n", 1, 1, 0), (True, "n\n", 1, 1, 0), (True, "y\n", 0, 2, 1)],
)
def test_a_command_runs_again_where_the_user_approves_what_it_was_refused_for(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, typed: str, status: int, tries: int, kept: int
) -> None:
    approved, tried = list[Any](), list[Path]()

    @contextmanager
    def opened(self: CommandRun, **given: bool) -> Iterator[Any]:
        tried.append(self.root)
        if not approved:
            refuse_unapproved(self)
        yield SimpleNamespace(collect=lambda *, dry: replace(NOTHING, dry=dry))

    monkeypatch.setattr(CommandRun, "corpus", opened)
    monkeypatch.setattr(endpoint_settings, "record_approval", lambda path, wanted: approved.append(wanted))
    monkeypatch.setattr("typer.testing._NamedTextIOWrapper.isatty", lambda self: terminal, raising=False)
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda self: terminal, raising=False)
    done = run("documents", "purge", "--root", "x", input=typed)
    assert (done.exit_code, tried, len(approved)) == (status, [Path("x")] * tries, kept)
    assert ("Approve it, and keep that in" in done.stderr) == terminal


def test_no_command_without_an_engine_that_is_known() -> None:
    assert options._check_engine(None) is None
    assert [options._check_engine(name) for name in ("auto", "offline", "model", "local")] == [
        "auto", "offline", "model", "local",
    ]  # fmt: skip
    with pytest.raises(typer.BadParameter, match="offline"):
        options._check_engine("offlin")
