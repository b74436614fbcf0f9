"""Questions that are answered while they are read, and those whose client leaves."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from scripted import ScriptedServer
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import Stopped
from sensegraph.runtime.activity import StopToken
from sensegraph.server.http.access import Limits, ServeOptions
from sensegraph.server.http.corpora import Workers
from sensegraph.server.http.failures import Refused
from sensegraph.server.http.metrics import Metrics
from sensegraph.server.http.streams import Event, Teller, format_event, stream_events
from web_client import WebClient, serving
from wired import finished_corpus, stories

C = "/api/v1/harbour"
KEEPER = "Who keeps the lighthouse of Skerry Point?"
PAID = {"question": "Who paid Ada Harrow?", "method": "naive"}


@pytest.fixture
def made(tmp_path: Path, server: ScriptedServer) -> Iterator[Corpus]:
    with finished_corpus(tmp_path / "corpus", server, stories()) as opened:
        yield opened


def until(true: Callable[[], bool]) -> bool:
    """Wait until something holds, for as long as a test may take; whether it does."""
    for _ in range(2000):
        if true():
            return True
        time.sleep(0.01)
    return False


def test_a_question_tells_its_stages_its_pieces_its_citations_and_then_the_answer(client: WebClient) -> None:
    asked = {"question": KEEPER, "method": "naive"}
    events = client.events("POST", f"{C}/query", asked | {"stream": True})
    plain = client.post(f"{C}/query", asked).json
    kinds = [e.name for e in events]
    assert kinds[0] == "stage"
    assert [e.data["name"] for e in events if e.name == "stage"] == ["accepted", "method", "writing"]
    assert kinds[-1] == "answer"
    assert [e.number for e in events] == [str(n) for n in range(1, len(events) + 1)]
    answer = events[-1].data
    for told in (answer, plain):
        told["usage"].pop("seconds")
    assert answer == plain
    assert "".join(e.data["text"] for e in events if e.name == "piece") == answer["answer"]
    assert [e.data for e in events if e.name == "citation"] == answer["citations"]
    assert answer["citations"]


def test_each_citation_is_the_text_of_its_document_in_code_points(client: WebClient) -> None:
    answer = client.post(f"{C}/query", {"question": KEEPER}).json
    assert answer["citations"]
    for c in answer["citations"]:
        text = client.get(f"{C}/documents/{c['document']}").json["text"]
        assert text[c["start"] : c["end"]] == c["quote"]
        part = client.get(f"{C}/documents/{c['document']}?start={c['start']}&end={c['end']}").json
        assert (part["text"], part["length"]) == (c["quote"], len(text))


def test_pieces_come_while_the_model_writes(made: Corpus, server: ScriptedServer) -> None:
    server.script = replace(server.script, piece=4, cut=40)
    with serving({"harbour": made}) as client:
        events = client.events("POST", f"{C}/query", PAID | {"stream": True})
    pieces = [e.data["text"] for e in events if e.name == "piece"]
    assert len(pieces) > 2
    assert "".join(pieces) == events[-1].data["answer"]
    assert events[-1].data["usage"]["calls"] == 1


def test_an_error_is_the_last_event(made: Corpus, server: ScriptedServer) -> None:
    server.script = replace(server.script, fail_rate=1.0, fail_status=401)
    with serving({"harbour": made}) as client:
        events = client.events("POST", f"{C}/query", PAID | {"stream": True})
        plain = client.post(f"{C}/query", PAID)
    assert events[-1].name == "error"
    assert events[-1].data == plain.json["error"]
    assert (plain.status, plain.code, events[-1].data["next"]) == (502, "EndpointDown", "endpoint")


def test_what_is_wrong_with_a_question_is_said_before_the_stream(client: WebClient) -> None:
    asked: list[dict[str, Any]] = [
        {"question": "  "},
        {"question": KEEPER, "scope": {"as_of": "yesterday"}},
        {"question": KEEPER, "scope": {"since": "2023-02-30"}},
        {"question": KEEPER, "scope": {"during": "2020/2019"}},
        {"question": KEEPER, "scope": {"during": "2020/2021", "as_of": "2020"}},
        {"question": KEEPER, "scope": {"during": "/"}},
    ]
    for body in asked:
        reply = client.post(f"{C}/query", body | {"stream": True})
        assert (reply.status, reply.code) == (400, "InputError")


def test_a_stream_that_is_silent_says_that_it_lives(made: Corpus, server: ScriptedServer) -> None:
    server.script = replace(server.script, latency_s=0.4)
    options = ServeOptions(port=0, limits=Limits(heartbeat=0.05))
    with serving({"harbour": made}, options) as client:
        told = client.post(f"{C}/query", PAID | {"stream": True}).body
    assert b": heartbeat\n\n" in told
    assert b"event: answer" in told


@pytest.mark.parametrize("stream", [True, False])
def test_a_question_ends_when_its_client_leaves_and_the_model_is_hung_up_on(
    made: Corpus, server: ScriptedServer, stream: bool
) -> None:
    server.script = replace(server.script, latency_s=60.0)
    made.embedder  # noqa: B018  # made before, so that the one connection that closes is the question's
    with serving({"harbour": made}) as client:
        host, _, port = client.host.partition(":")
        body = json.dumps({"question": "Who hired Bram Harrow in 1814?", "method": "bm25", "stream": stream}).encode()
        head = f"POST {C}/query HTTP/1.1\r\nHost: {client.host}\r\nContent-Type: application/json\r\n"
        with socket.create_connection((host, int(port))) as link:
            link.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            assert until(lambda: server.in_flight == 1)
            closed = server.closed
        assert until(lambda: server.closed > closed)
        assert until(lambda: "sensegraph_questions_running 0" in client.get("/metrics").body.decode())


def test_a_server_that_ends_stops_its_questions(made: Corpus, server: ScriptedServer) -> None:
    server.script = replace(server.script, latency_s=60.0)
    asked = threading.Event()

    def ask(client: WebClient) -> None:
        asked.set()
        with suppress(OSError):  # the server has gone
            client.post(f"{C}/query", {"question": "Who hired Mona Stone?", "method": "bm25"})

    with serving({"harbour": made}) as client:
        thread = threading.Thread(target=ask, args=(client,), daemon=True)
        thread.start()
        assert asked.wait(10)
        assert until(lambda: server.in_flight == 1)
        closed = server.closed
    assert server.closed > closed
    thread.join(30)
    assert not thread.is_alive()


def test_a_reader_that_is_slow_makes_what_tells_wait() -> None:
    told = list[int]()

    async def main() -> tuple[Event | None, int, list[Event | None]]:
        async def work(teller: Teller) -> None:
            def tell() -> None:
                for n in range(200):
                    teller.tell("piece", n)
                    told.append(n)

            await anyio.to_thread.run_sync(tell)

        events = stream_events(work, StopToken(), 10.0)
        first = await anext(events)
        await anyio.sleep(0.3)
        return first, len(told), [event async for event in events]

    first, waiting, rest = anyio.run(main)
    assert first == ("piece", 0)
    assert waiting < 60  # what waits is bounded, whatever comes
    assert [event[1] for event in rest if event] == list(range(1, 200))


def test_who_tells_nobody_is_stopped() -> None:
    ended = list[str]()

    async def main() -> None:
        token = StopToken()

        async def work(teller: Teller) -> None:
            def tell() -> None:
                try:
                    for n in range(200):
                        teller.tell("piece", n)
                except Stopped as e:
                    ended.append(str(e))

            await anyio.to_thread.run_sync(tell)

        events = stream_events(work, token, 10.0)
        await anext(events)
        await events.aclose()
        assert token.is_stopped()

    anyio.run(main)
    assert len(ended) == 1


def test_an_event_stands_on_one_line() -> None:
    assert (
        format_event("piece", {"text": "a\nb\u2028"}, 3)
        == 'id: 3\nevent: piece\ndata: {"text":"a\\nb\u2028"}\n\n'.encode()
    )
    assert format_event("", b"[DONE]") == b"data: [DONE]\n\n"


def test_a_client_may_ask_few_things_at_once_and_others_of_it_wait_their_turn() -> None:
    limits = Limits(questions=2, queue=1)
    held, seen = list[str](), list[str]()

    async def main() -> Refused | None:
        workers = Workers(limits, Metrics(limits))
        done = {name: anyio.Event() for name in "abcd"}
        refused = None

        async def ask(name: str, client: str) -> None:
            async with workers.place_for(client, StopToken()):
                held.append(name)
                await done[name].wait()

        async def look() -> None:
            await anyio.wait_all_tasks_blocked()
            seen.append("".join(held))

        async with anyio.create_task_group() as group:
            for name in "abc":
                group.start_soon(ask, name, "one")
            await look()
            try:
                await ask("x", "one")
            except Refused as e:
                refused = e
            group.start_soon(ask, "d", "another")
            await look()
            done["b"].set()
            await look()
            for event in done.values():
                event.set()
        return refused

    refused = anyio.run(main)
    assert seen == ["ab", "abd", "abdc"]
    assert refused
    assert (refused.status_code, refused.headers) == (429, {"Retry-After": "2"})


def test_questions_of_a_day_have_a_bound(made: Corpus) -> None:
    with serving({"harbour": made}, ServeOptions(port=0, limits=Limits(day_tokens=1))) as client:
        assert client.post(f"{C}/query", PAID).status == 200
        reply = client.post(f"{C}/query", PAID | {"question": "Who paid Bram Harrow?"})
        assert (reply.status, reply.code) == (429, "BudgetExceeded")
        streamed = client.events("POST", f"{C}/query", PAID | {"stream": True})
        assert (streamed[-1].name, streamed[-1].data["code"]) == ("error", "BudgetExceeded")
        assert client.get(f"{C}/reports").status == 200
