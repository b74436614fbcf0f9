"""Each line of `sensegraph doctor`: what it says of the installation, the folder and the store, and when it warns."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from sensegraph import plugins
from sensegraph.cli import app, doctor
from sensegraph.cli.doctor import check_folder, check_installation, check_store
from sensegraph.cli.options import CommandRun
from sensegraph.corpus import diagnosis
from sensegraph.corpus.settings import Settings
from sensegraph.errors import Busy, StoreError
from sensegraph.models.endpoint.probes import Finding

REQUIRED = [
    "numpy>=1.26",
    'uvicorn>=0.30; extra == "server"',
    "python-multipart ; python_version > '3' and extra == 'server'",
    'Mcp_Server[cli]>=1; extra == "mcp"',
    'ruff; extra == "dev"',
    'ray>=2; extra == "ray"',
]


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which distributions are there; more may be named."""
    names = ["Uvicorn", "python_multipart", "numpy"]
    monkeypatch.setattr(metadata, "requires", lambda name: REQUIRED if name == "sensegraph" else [])
    monkeypatch.setattr(metadata, "distributions", lambda: [SimpleNamespace(name=name) for name in names])
    monkeypatch.setattr(plugins, "list_plugins", list)
    return names


def tell() -> dict[str, Finding]:
    return {line.asked: line for line in check_installation()}


def test_extras_are_installed_when_all_that_they_need_is(installed: list[str]) -> None:
    found = tell()
    assert found["extras installed"].answer == "server"
    missing = found["extras missing"]
    assert (missing.answer, missing.advice) == ("mcp, ray", 'only where needed: pip install "sensegraph[mcp]"')
    installed += ["mcp.server", "ray"]
    found = tell()
    assert found["extras installed"].answer == "server, mcp, ray"
    assert "extras missing" not in found
    installed.clear()
    assert tell()["extras installed"].answer == "none"


def test_an_installation_that_knows_nothing_of_its_extras_says_so(
    installed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metadata, "requires", lambda name: None)
    assert tell()["extras installed"].answer == "none"

    def lack(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", lack)
    found = tell()
    assert found["extras installed"].answer == "none"
    assert "extras missing" not in found


def test_plug_ins_are_named_with_their_origin(installed: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    one = plugins.Plugin("engines", "mine", "a:b", "dist", "1.0")  # type: ignore[arg-type]
    monkeypatch.setattr(plugins, "list_plugins", lambda: [one])
    assert tell()["plug-in for engines"].answer == f"mine from {one.origin}"


@pytest.mark.parametrize(
    ("files", "stdout", "told", "warned"),
    [
        ("utf-8", "UTF-8", "utf-8", False),
        ("utf-8", "utf8", "utf-8, utf8", False),
        ("utf-8", None, "utf-8", False),
        ("utf-8", "latin-1", "latin-1, utf-8", True),
        ("ASCII", "utf-8", "ascii, utf-8", True),
    ],
)
def test_an_encoding_that_cannot_show_every_character_is_warned_of(
    installed: list[str], monkeypatch: pytest.MonkeyPatch, files: str, stdout: str | None, told: str, warned: bool
) -> None:
    monkeypatch.setattr(doctor.sys, "getfilesystemencoding", lambda: files)
    monkeypatch.setattr(doctor.sys, "stdout", SimpleNamespace(encoding=stdout))
    line = tell()["encoding"]
    monkeypatch.undo()
    assert (line.answer, line.advice) == (
        told,
        "set PYTHONUTF8=1, so that every character can be printed" if warned else "",
    )
    assert sys.stdout is not None


def folder(root: Path) -> dict[str, Finding]:
    return {line.asked: line for line in check_folder(CommandRun(root=root), replace(Settings(), engine="offline"))}


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that has a store, whose lines are told elsewhere."""
    (tmp_path / ".sensegraph").mkdir()
    (tmp_path / ".sensegraph" / "store.sqlite").touch()

    @contextmanager
    def open_none(self: CommandRun, *, silent: bool) -> Iterator[None]:
        assert silent
        yield None

    monkeypatch.setattr(CommandRun, "corpus", open_none)
    monkeypatch.setattr(doctor, "check_store", lambda corpus: iter([Finding("store", "whole")]))
    return tmp_path


def test_a_store_that_is_newer_than_the_clock_is_warned_of(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def at(hours: float) -> dict[str, Finding]:
        newest = datetime.now(UTC).timestamp() + 3600 * hours
        for path, seconds in ((corpus / ".sensegraph" / "store.sqlite", newest), (corpus / ".sensegraph" / "old", 0.0)):
            path.touch()
            os.utime(path, (seconds, seconds))
        return folder(corpus)

    assert "files" not in at(0.0)
    assert "files" not in at(0.99)
    late = at(1.01)
    assert (late["files"].advice, late["store"].answer) == ("set the clock", "whole")
    assert "files" in at(9.0)


def test_a_folder_without_a_store_is_told_how_to_make_one(tmp_path: Path) -> None:
    found = folder(tmp_path)
    assert (found["store"].answer, found["store"].advice) == ("none yet", "`sensegraph index PATH` makes one")
    assert {"files", "files in input/"}.isdisjoint(found)
    assert list(folder(tmp_path / "none")) == ["store"]


def test_a_store_that_cannot_be_used_fails(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(corpus: object) -> None:
        raise StoreError("it is damaged.")

    monkeypatch.setattr(doctor, "check_store", refuse)
    line = folder(corpus)["store"]
    assert (line.answer, line.fails) == ("cannot be used: it is damaged.", True)


@pytest.mark.parametrize(
    ("free", "told", "warned"),
    [(1_000_000_000, "1.0 GB", True), (1_000_000_001, "1.0 GB", False), (2_345_600_000_000, "2,345.6 GB", False)],
)
def test_less_than_a_gigabyte_of_disk_is_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, told: str, warned: bool
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=free))
    line = folder(tmp_path)["free disk"]
    assert (line.answer, line.advice) == (told, "a build may need more: make room" if warned else "")


def test_the_files_that_wait_are_counted_by_kind_and_what_is_not_read_is_warned_of(tmp_path: Path) -> None:
    def waiting(*names: str) -> tuple[str, str]:
        (tmp_path / "input").mkdir(exist_ok=True)
        for name in names:
            (tmp_path / "input" / name).write_text("x")
        line = folder(tmp_path)["files in input/"]
        return line.answer, line.advice

    advice = "`sensegraph index --dry-run` names them"
    assert waiting() == ("none; 1 not read", advice)  # the folder itself, which is empty
    assert waiting("a.txt", "b.md", "c.txt") == ("2 .txt, 1 .md; 0 not read", "")
    assert waiting("d.exe") == ("2 .txt, 1 .md; 1 not read", advice)


class Corpus:
    """What the doctor asks of a corpus."""

    def __init__(self, waiting: int = 0, *, whole: bool = True, built: str = "offline", readonly: bool = False) -> None:
        self.taken = self.begun = False

        @contextmanager
        def exclusive() -> Iterator[None]:
            if self.taken:
                raise Busy("another")
            yield

        self.store: Any = SimpleNamespace(
            is_whole=lambda: whole, size=lambda: 1_234_560_000, readonly=readonly, exclusive=exclusive,
            ledger=lambda: {"step": 1} if self.begun else {},
        )  # fmt: skip
        counts = {"documents": 1_200}
        self.made = SimpleNamespace(counts=counts, engine="llm", embedder=built) if built else None
        self.workspace = SimpleNamespace(pending=lambda: ["d"] * waiting)
        self.embedder = SimpleNamespace(name="offline")

    def manifest(self) -> Any:
        return self.made


def look(corpus: Any) -> dict[str, tuple[str, str, bool]]:
    return {line.asked: (line.answer, line.advice, line.fails) for line in check_store(corpus)}


def test_a_whole_store_and_its_index_are_told_without_advice() -> None:
    assert look(Corpus()) == {
        "store": ("whole, 1,234.6 MB", "", False),
        "index": ("1,200 documents, by llm and offline", "", False),
    }


def test_what_waits_what_is_damaged_and_what_was_embedded_by_another_is_told_with_what_to_do() -> None:
    damaged = "parts of it are damaged: `sensegraph index` computes them again"
    assert look(Corpus(1_500, whole=False, built="remote")) == {
        "store": ("damaged, 1,234.6 MB", damaged, True),
        "index": ("1,200 documents, by llm and remote", "1,500 documents wait: `sensegraph index`", False),
        "embedder of questions": (
            "offline, not remote as in the index",
            "`sensegraph index` embeds anew, or set the embedder of the index",
            False,
        ),
    }


def test_an_index_that_is_not_finished_is_told_apart_from_none() -> None:
    none = Corpus(built="")
    assert look(none)["index"] == ("none yet", "", False)
    begun = Corpus(3, built="")
    begun.begun = True
    assert look(begun)["index"] == ("begun and not finished", "`sensegraph index` goes on", False)
    assert len(look(begun)) == 2


def test_another_build_is_told_where_one_could_build_here() -> None:
    corpus = Corpus()
    corpus.taken = True
    assert look(corpus)["build"] == ("another process builds this corpus", "wait for its end: --wait SECONDS", False)
    corpus = Corpus(readonly=True)
    corpus.taken = True
    assert "build" not in look(corpus)
    del corpus.store.is_whole  # a database checks itself
    assert look(corpus)["store"][0].startswith("whole")


# ── the command ──


@pytest.mark.parametrize(
    ("words", "asked", "fails"),
    [
        ((), [("tools", "offline")], False),
        (("--online",), [("endpoint", "offline", False)], False),
        (("--online", "--window"), [("endpoint", "offline", True)], False),
        (("--online",), [("endpoint", "offline", False)], True),
    ],
)
def test_an_endpoint_is_asked_only_where_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], asked: list[Any], fails: bool
) -> None:
    seen: list[Any] = []
    found = diagnosis.Diagnosis((Finding("engine", "it", fails=fails),), "http://h" if words else "", 7)

    def ask(root: Path, settings: Settings, *, window: bool) -> diagnosis.Diagnosis:
        assert root == tmp_path
        seen.append(("endpoint", settings.engine, window))
        return found

    def describe(settings: Settings) -> diagnosis.Diagnosis:
        seen.append(("tools", settings.engine))
        return found

    monkeypatch.setattr(diagnosis, "ask_endpoints", ask)
    monkeypatch.setattr(diagnosis, "describe_tools", describe)
    monkeypatch.setattr(doctor, "check_installation", lambda: iter([Finding("python", "3")]))
    monkeypatch.setattr(doctor, "check_folder", lambda run, settings: iter([Finding("store", "whole")]))
    (tmp_path / "sensegraph.toml").write_text('engine = "offline"\n[index]\nchunk_tokens = 200\n')
    done = CliRunner().invoke(app, ["doctor", *words, "--root", str(tmp_path)])
    assert (seen, done.exit_code) == (asked, int(fails))
    lines = done.stdout.splitlines()
    assert lines[-4 - fails : len(lines) - fails] == [
        "python    3", "settings  2 given", "store     whole", "engine    it",
    ]  # fmt: skip
    assert ("endpoint  http://h  (7 tokens used)" in lines) == bool(words)


def test_settings_without_a_file_are_as_they_are_by_default_and_mistakes_end_the_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "check_installation", lambda: iter([Finding("python", "3")]))
    plain = CliRunner().invoke(app, ["doctor", "--root", str(tmp_path)])
    assert "all as they are by default" in plain.stdout
    (tmp_path / "sensegraph.toml").write_text('engin = "x"\nmethd = "y"\n')
    wrong = CliRunner().invoke(app, ["doctor", "--root", str(tmp_path)])
    assert (wrong.exit_code, [line.split()[0] for line in wrong.stdout.splitlines()[:2]]) == (1, ["python", "settings"])
    assert wrong.stdout.count("→ `sensegraph config check` lists all mistakes") == 2
    assert "store" not in wrong.stdout
    clash = CliRunner().invoke(app, ["doctor", "--window"])
    assert (clash.exit_code, "--window needs --online" in clash.stderr) == (2, True)
