"""Eight clients at once get what one gets after the other, each with its own cost, and leave nothing behind."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from scripted import ScriptedServer
from sensegraph.corpus.corpus import Corpus
from sensegraph.types import Document
from web_client import WebClient, serving
from wired import finished_corpus, stories

C = "/api/v1/c"
ASKED: list[tuple[str, Any]] = [
    ("query", {"question": "Who paid Ada Harrow?", "method": "naive"}),
    ("query", {"question": "Who sailed with Iris Stone?", "method": "bm25"}),
    ("query", {"question": "What binds these people?", "method": "local"}),
    ("query", {"question": "Who paid Ada Harrow?", "method": "naive", "stream": True}),
    ("search", {"question": "Ada Harrow", "top": 3}),
    ("match", {"pattern": "(a)-[r]-(b)", "limit": 3}),
    ("reports", None),
    ("documents", None),
    ("documents/story-01?mentions=true", None),
    ("entities?q=ada", None),
    ("status", None),
]


@pytest.fixture
def made(tmp_path: Path, server: ScriptedServer) -> Iterator[Corpus]:
    with finished_corpus(tmp_path / "c", server, stories()) as opened:
        yield opened


def ask(client: WebClient, asked: tuple[str, Any]) -> Any:
    path, body = asked
    if body and body.get("stream"):
        found = client.events("POST", f"{C}/{path}", body)[-1].data
    else:
        found = (client.get(f"{C}/{path}") if body is None else client.post(f"{C}/{path}", body)).json
    found.get("usage", {}).pop("seconds", None)
    return found


@pytest.mark.slow
def test_eight_clients_get_the_answers_of_one_and_each_its_own_cost(made: Corpus, server: ScriptedServer) -> None:
    mixed, threads = ASKED * 8, set(threading.enumerate())
    Random(0).shuffle(mixed)
    with serving({"c": made}) as client:
        for asked in ASKED:
            ask(client, asked)  # replies are stored from now on
        alone = {str(asked): ask(client, asked) for asked in ASKED}
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda asked: ask(client, asked), mixed))
        assert found == [alone[str(asked)] for asked in mixed]
        server.script = replace(server.script, latency_s=0.05)
        server.reset()
        questions = [{"question": f"Who knows number {n}?", "method": "naive"} for n in range(8)]
        with ThreadPoolExecutor(8) as pool:
            usages = [f["usage"] for f in pool.map(lambda q: client.post(f"{C}/query", q).json, questions)]
        assert [u["calls"] for u in usages] == [1] * 8
        assert sum(u["prompt_tokens"] for u in usages) > 0
        assert len(server.done("answer")) == 8
    for thread in set(threading.enumerate()) - threads:
        if "AnyIO" in thread.name:
            thread.join(60)
            assert not thread.is_alive()


@pytest.mark.slow
def test_an_index_that_is_replaced_is_served_without_a_restart(made: Corpus) -> None:
    with serving({"c": made}) as client:
        before = client.get(f"{C}/reports").json["index"]
        made.add(Document("new", "Zeno Quay paid Ada Harrow in the year 1900. Zeno Quay hired Bram Harrow."))
        made.build()
        found = client.post(f"{C}/search", {"question": "Zeno Quay", "method": "bm25"}).json
        assert found["index"] != before
        assert "new" in found["documents"]
        assert client.get(f"{C}/documents/new").status == 200
