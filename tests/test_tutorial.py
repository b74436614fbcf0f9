"""The tutorial holds: its four parts run in order, and what a page shows is what comes out."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from typer.testing import CliRunner

from scripted import ScriptedServer
from sensegraph.cli import app

DOCS = Path(__file__).resolve().parents[1] / "docs"
PARTS = sorted((DOCS / "tutorial").glob("*.md"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SERVER = "http://localhost:11434/v1"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where all parts are run, one after the other."""
    return tmp_path_factory.mktemp("tutorial")


@pytest.fixture
def place(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, str]]:
    monkeypatch.chdir(folder)
    with ScriptedServer() as server:
        yield folder, server.base_url


def run_commands(text: str) -> str:
    """What the commands of a block print."""
    printed = ""
    for line in text.splitlines():
        words = shlex.split(line, comments=True)
        assert words[0] == "sensegraph", line
        done = CliRunner().invoke(app, words[1:])
        assert done.exit_code == 0, done.output
        printed += done.stdout
    return printed


def run_code(code: str, names: dict[str, object]) -> str:
    """What a program prints; its names are kept."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "tutorial", "exec"), names)
    return out.getvalue()


def holds(printed: str, shown: str) -> list[str]:
    """The shown lines that were not printed; `…` stands for anything."""
    lines = printed.splitlines()
    patterns = [".*".join(map(re.escape, line.split("…"))) for line in shown.splitlines() if line.strip("… ")]
    assert patterns
    return [p for p in patterns if not any(re.fullmatch(p, line) for line in lines)]


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS, ids=lambda p: p.stem)
def test_a_part_of_the_tutorial_prints_what_it_shows(part: Path, place: tuple[Path, str]):
    blocks = BLOCK.findall(part.read_text(encoding="utf-8"))
    assert len(blocks) > 4
    if not (place[0] / "sensegraph-demo").exists():  # where a later part is run alone
        run_commands("sensegraph demo")
    names: dict[str, object] = {"__name__": "__main__"}
    printed = ""
    for language, text in blocks:
        if language == "sh":
            printed = run_commands(text)
        elif language == "python":
            printed = run_code(text.replace(SERVER, place[1]), names)
        else:
            assert holds(printed, text) == [], printed


def test_the_parts_lead_from_one_to_the_next():
    assert len(PARTS) == 4
    for part, following in pairwise(PARTS):
        assert f"({following.name})" in part.read_text(encoding="utf-8")


def test_what_is_not_printed_is_found_out():
    assert holds("one two three\nfour\n", "one … three\n…\nfive\n") == ["five"]
    assert holds("one two three\n", "two\n") == ["two"]
