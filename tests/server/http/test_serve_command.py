"""The command `serve`: what it needs, what it refuses, and a server in a process of its own."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sensegraph.cli import app
from web_client import WebClient


def run(*words: str) -> tuple[int, str]:
    found = CliRunner().invoke(app, ["serve", *words])
    return found.exit_code, found.stderr


def test_without_the_extra_it_says_what_to_install(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sensegraph.cli.serving.find_spec", lambda name: None)
    assert run(str(root)) == (1, '`sensegraph serve` needs starlette: pip install "sensegraph[server]".\n')


def test_an_address_that_others_reach_needs_a_file_of_tokens(root: Path) -> None:
    status, told = run(str(root), "--host", "0.0.0.0")
    assert status == 1
    assert "--token-file" in told


def test_a_file_of_tokens_that_others_may_read_is_not_used(root: Path, tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    path.write_text("read 0123456789abcdef\n")
    path.chmod(0o644)
    status, told = run(str(root), "--token-file", str(path))
    assert status == 1
    assert "chmod 600" in told


def test_two_corpora_of_one_name_are_refused(root: Path, tmp_path: Path) -> None:
    (tmp_path / root.name).mkdir()
    status, told = run(str(root), str(tmp_path / root.name))
    assert status == 1
    assert "another named" in told


def test_what_may_not_change_is_not_followed(root: Path) -> None:
    status, told = run(str(root), "--watch", "--read-only")
    assert status == 1
    assert "leave one out" in told


@pytest.mark.slow
def test_it_serves_until_it_is_told_to_end(root: Path, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    words = [sys.executable, "-m", "sensegraph", "serve", str(root), "--port", "0", "--token-file", str(tokens)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as program:
        assert program.stderr
        made, begun = program.stderr.readline(), program.stderr.readline()
        assert "new token" in made
        client = WebClient(begun.partition(" at ")[2].partition(";")[0])
        held = dict(line.split() for line in tokens.read_text().splitlines()[1:])
        name = root.name
        assert client.get(f"/api/v1/{name}/status").status == 401
        found = client.get(f"/api/v1/{name}/status", Authorization=f"Bearer {held['read']}")
        assert (found.status, found.json["documents"]) == (200, 7)
        program.send_signal(signal.SIGTERM)
        assert program.wait(60) == 0
        assert program.stderr.read() == ""
