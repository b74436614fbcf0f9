"""Servers on this machine: found at the wire, named by `init` with what to write, and never used by themselves."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from typer.testing import CliRunner

from sensegraph.cli import app
from sensegraph.models.endpoint import local_servers
from sensegraph.models.endpoint.local_servers import LocalServer, find_local_servers

OLLAMA = {
    "models": [
        {"name": "llama3.1:8b", "details": {"families": ["llama"]}},
        {"name": "nomic-embed-text:latest", "details": {"families": ["nomic-bert"]}},
        {"name": 'qwen3"\x1b[31m', "details": {"families": None}},
    ]
}
LLAMA = {"default_generation_settings": {"n_ctx": 8192}, "total_slots": 4, "model_path": "/models/qwen3-8b-q4.gguf"}
Start = Callable[[dict[str, Any]], str]


@pytest.fixture
def asked() -> list[str]:
    """Every request that a server got."""
    return []


@pytest.fixture
def start(asked: list[str]) -> Iterator[Start]:
    """Starts servers that say what they are given, by path, and 404 elsewhere."""
    running = []

    def make(pages: dict[str, Any]) -> str:
        class Told(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(f"{self.command} {self.path}")
                said = pages.get(self.path)
                body = said if isinstance(said, bytes) else json.dumps(said).encode()
                self.send_response(404 if said is None else 200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET  # noqa: N815

            def log_message(self, *_: object) -> None:
                """Nothing."""

        made = ThreadingHTTPServer(("127.0.0.1", 0), Told)
        Thread(target=made.serve_forever, args=(0.01,), daemon=True).start()
        running.append(made)
        return f"http://127.0.0.1:{made.server_port}"

    yield make
    for made in running:
        made.shutdown()
        made.server_close()


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nobody listens where the usual servers would, and the user has approved nothing."""
    monkeypatch.setattr(local_servers, "OLLAMA", "http://127.0.0.1:9")
    monkeypatch.setattr(local_servers, "LLAMA", "http://127.0.0.1:9")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))


def test_an_ollama_and_a_llama_server_are_told_apart(monkeypatch: pytest.MonkeyPatch, start: Start) -> None:
    assert find_local_servers() == []
    ollama, llama = start({"/api/tags": OLLAMA}), start({"/props": LLAMA, "/health": {"status": "ok"}})
    monkeypatch.setattr(local_servers, "OLLAMA", ollama)
    monkeypatch.setattr(local_servers, "LLAMA", llama)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # what is on this machine needs no proxy
    monkeypatch.delenv("no_proxy", raising=False)
    first, second = find_local_servers()
    names = ("llama3.1:8b", OLLAMA["models"][2]["name"])
    assert first == LocalServer("Ollama", f"{ollama}/v1", names, ("nomic-embed-text:latest",))
    assert second == LocalServer("llama-server", f"{llama}/v1", ("qwen3-8b-q4.gguf",), window=8192)
    named = start({"/props": {**LLAMA, "model_alias": "qwen"}, "/health": {"status": "loading model"}})
    monkeypatch.setattr(local_servers, "LLAMA", named)
    assert find_local_servers()[1] == LocalServer("llama-server", f"{named}/v1", ("qwen",), window=8192, ready=False)
    assert first.suggest_settings() == {
        "base_url": f"{ollama}/v1",
        "model": "llama3.1:8b",
        "embedding_model": "nomic-embed-text:latest",
    }


@pytest.mark.parametrize("said", [b"<html>", [], {"models": "x"}, {"default_generation_settings": 1}, {"models": [1]}])
def test_what_is_neither_is_no_server_of_models(monkeypatch: pytest.MonkeyPatch, start: Start, said: Any) -> None:
    other = start({"/api/tags": said, "/props": said})
    monkeypatch.setattr(local_servers, "OLLAMA", other)
    monkeypatch.setattr(local_servers, "LLAMA", other)
    assert [server.models for server in find_local_servers()] == ([()] if said == {"models": [1]} else [])


def test_init_names_a_server_with_settings_that_work_and_uses_it_for_nothing(
    monkeypatch: pytest.MonkeyPatch, start: Start, asked: list[str], tmp_path: Path
) -> None:
    def run(*words: str) -> str:
        done = CliRunner().invoke(app, [*words, "--root", str(tmp_path / "c")])
        assert done.exit_code == 0, done.output
        return done.stdout

    address = start({"/api/tags": OLLAMA})
    monkeypatch.setattr(local_servers, "OLLAMA", address)
    monkeypatch.setattr(local_servers, "LLAMA", start({"/props": LLAMA, "/health": {"status": "loading"}}))
    told = run("init")
    assert "Ollama runs on this machine (llama3.1:8b, " in told
    assert "\x1b" not in told
    assert "window 8,192 tokens, still loading" in told
    table = "\n".join(line.strip() for line in told.split("under\n")[1].splitlines()[:4])
    assert tomllib.loads(table)["endpoint"] == {
        "base_url": f"{address}/v1",
        "model": "llama3.1:8b",
        "embedding_model": "nomic-embed-text:latest",
    }
    written = (tmp_path / "c" / "sensegraph.toml").read_text()
    assert address not in written
    assert tomllib.loads(written).get("endpoint", {}) == {}
    probes = sorted(asked)
    assert probes == ["GET /api/tags", "GET /health", "GET /props"]
    (tmp_path / "c" / "input" / "a.txt").write_text("Ada Harrow wrote to Bram Stone about the harbour.")
    run("index")
    run("query", "Who wrote to Bram Stone?")
    assert sorted(asked) == probes


def test_init_looks_for_no_server_where_a_model_is_chosen(
    start: Start, asked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_servers, "OLLAMA", start({"/api/tags": OLLAMA}))
    for number, pair in enumerate(("endpoint.model=large", "engine=offline")):
        words = ["init", "--root", str(tmp_path / str(number)), "--set", pair]
        assert CliRunner().invoke(app, words).exit_code == 0
    assert asked == []
