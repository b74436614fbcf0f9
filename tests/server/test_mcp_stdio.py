"""`sensegraph mcp` as a program: the client of the SDK starts it and talks over its stdin and stdout."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from typer.testing import CliRunner

from sensegraph.cli import app


def test_a_client_asks_over_stdin_and_stdout(root: Path):
    async def main() -> tuple[list[str], str]:
        words = ["-m", "sensegraph", "mcp", str(root)]
        command = StdioServerParameters(command=sys.executable, args=words, env=dict(os.environ))
        async with Client(command) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            found = await client.call_tool("ask", {"question": "Who keeps the lighthouse of Skerry Point?"})
            return tools, found.structured_content["citations"][0]["quote"]

    tools, quote = anyio.run(main)
    assert tools[:2] == ["overview", "ask"]
    assert "Ada Finch keeps the lighthouse of Skerry Point." in quote


def test_a_corpus_can_begin_with_the_first_document_that_is_added(tmp_path: Path):
    async def main() -> tuple[str, str]:
        words = ["-m", "sensegraph", "mcp", str(tmp_path / "new"), "--write", "--engine", "offline"]
        command = StdioServerParameters(command=sys.executable, args=words, env=dict(os.environ))
        async with Client(command) as client:
            before = await client.call_tool("overview", {})
            await client.call_tool("add_document", {"name": "ada.txt", "text": "Ada Finch keeps the lighthouse."})
            found = await client.call_tool("ask", {"question": "Who keeps the lighthouse?"})
            return before.content[0].text, found.structured_content["citations"][0]["document"]

    told, cited = anyio.run(main)
    assert told.startswith("There is no index here yet; run `sensegraph index PATH` first")
    assert cited == "ada.txt"


HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}}
BEGIN = [
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
]


@contextmanager
def started(root: Path, *messages: dict[str, Any]) -> Iterator[subprocess.Popen[str]]:
    """The program, to which these messages have been sent after the first ones."""
    words = [sys.executable, "-m", "sensegraph", "mcp", str(root), "--write"]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as program:
        assert program.stdin
        program.stdin.write("".join(json.dumps(message) + "\n" for message in (*BEGIN, *messages)))
        program.stdin.flush()
        try:
            yield program
        finally:
            program.kill()


def test_stdout_carries_the_protocol_alone_and_the_end_of_stdin_ends_it(root: Path):
    with started(root, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}) as program:
        assert program.stdout
        answers = [json.loads(program.stdout.readline()) for _ in range(2)]
        rest, errors = program.communicate(timeout=200)
    assert [answer["id"] for answer in answers] == [1, 2]
    assert answers[0]["result"]["protocolVersion"] == "2025-06-18"
    assert len(answers[1]["result"]["tools"]) == 11
    assert (rest, errors, program.returncode) == ("", "", 0)


def test_ctrl_c_ends_it_while_it_waits_for_stdin(root: Path):
    with started(root) as program:
        assert program.stdout
        assert json.loads(program.stdout.readline())["id"] == 1
        program.send_signal(signal.SIGINT)
        assert program.wait(timeout=200) == -signal.SIGINT


def test_without_the_extra_the_command_says_what_to_install(root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sensegraph.cli.serving.find_spec", lambda name: None)
    found = CliRunner().invoke(app, ["mcp", str(root)])
    assert found.exit_code == 1
    assert 'pip install "sensegraph[mcp]"' in found.stderr


def test_without_an_index_the_command_says_how_to_make_one(tmp_path: Path):
    found = CliRunner().invoke(app, ["mcp", str(tmp_path)])
    assert found.exit_code == 1
    assert "sensegraph index" in found.stderr


def test_the_command_line_loads_the_sdk_only_when_it_serves():
    code = "import sys, sensegraph.cli, sensegraph.server.tools; print(*(n in sys.modules for n in ('mcp', 'typer')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
