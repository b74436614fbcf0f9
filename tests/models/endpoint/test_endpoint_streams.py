"""Replies that come in pieces: as a whole one in every way but when they are heard."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from models.endpoint.test_wire import Listener
from scripted import Script, ScriptedServer
from sensegraph.errors import BudgetExceeded, EndpointDown, EndpointError
from sensegraph.language.text import count_tokens
from sensegraph.models.endpoint.client import Endpoint, Reply
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.models.endpoint.limits import Journal
from sensegraph.runtime.stores.replies import ReplyFile

MESSAGES = [{"role": "system", "content": 'Reply as JSON: {"summary": "…"}'}, {"role": "user", "content": "- Größe 😀"}]
SCHEMA = {"type": "object", "properties": {"summary": {"type": "string"}}, "required": ["summary"]}
TEXT = json.dumps({"summary": "Größe 😀"}, ensure_ascii=False, separators=(",", ":"))


def endpoint(server: ScriptedServer | str, journal: Journal | None = None, **settings: Any) -> Endpoint:
    url = server if isinstance(server, str) else server.base_url
    given = {"model": "m", "backoff_s": 0.01, "max_retries": 3, "timeout_s": 2.0, **settings}
    return Endpoint(EndpointSettings(base_url=url, **given), journal)


def ask(end: Endpoint) -> Reply:
    return end.chat(MESSAGES, schema=SCHEMA, name="summary", max_tokens=100)


def listen(end: Endpoint, hear: Callable[[str], None]) -> Reply:
    return end.chat(MESSAGES, schema=SCHEMA, name="summary", max_tokens=100, hear=hear)


@pytest.mark.parametrize(("piece", "cut"), [(1, 1), (3, 7), (4, 5000), (100, 11)])
def test_the_pieces_joined_are_the_reply_that_comes_whole(piece: int, cut: int) -> None:
    with ScriptedServer(Script(piece=piece, cut=cut, keep_bodies=True)) as server:
        streamed, whole = endpoint(server, price_prompt=1.0), endpoint(server, price_prompt=1.0)
        heard: list[str] = []
        assert listen(streamed, heard.append) == ask(whole)
        assert (streamed.usage(), streamed.notes()) == (whole.usage(), ())
    assert "".join(heard) == TEXT
    assert len(heard) == -(-len(TEXT) // piece)
    assert server.calls[0].body["stream_options"] == {"include_usage": True}
    assert server.calls[1].body == server.calls[0].body


def test_usage_that_a_stream_does_not_tell_is_estimated_and_noted() -> None:
    with ScriptedServer(Script(streams="options", keep_bodies=True)) as server:
        end = endpoint(server)
        listen(end, lambda piece: None)
        listen(end, lambda piece: None)
    assert ["stream_options" in c.body for c in server.calls] == [True, False, False]
    assert end.usage().completion_tokens == 2 * count_tokens(TEXT)
    assert [n.partition(":")[0] for n in end.notes()] == [
        "The endpoint refuses stream_options",
        "The endpoint reports no usage",
    ]


@pytest.mark.parametrize("streams", ["none", "whole"])
def test_an_endpoint_that_does_not_stream_is_heard_at_once(streams: str) -> None:
    with ScriptedServer(Script(streams=streams, keep_bodies=True)) as server:
        end, heard = endpoint(server), list[str]()
        listen(end, heard.append)
        assert listen(end, heard.append).text == TEXT
    assert heard == [TEXT, TEXT]
    refused = ("The endpoint refuses streams: answers come whole (1 ×)",)
    assert end.notes() == (refused if streams == "none" else ())
    assert [c.body["response_format"]["type"] for c in server.done()] == ["json_schema"] * 2
    assert server.calls[-1].status == server.calls[-2].status == 200


def test_a_stream_goes_down_the_forms_as_a_whole_reply_does() -> None:
    with ScriptedServer(Script(schemas="json_object")) as server:
        end = endpoint(server)
        assert listen(end, lambda piece: None).text == ask(end).text == TEXT
        before = len(server.calls)
        ask(end)
    assert len(server.calls) == before + 1
    assert end.notes() == ("The endpoint refuses response_format json_schema: using json_object (1 ×)",)


@pytest.mark.parametrize("fault", ["fail", "drop", "garbled"])
def test_a_stream_is_tried_again_while_nothing_was_heard(fault: str) -> None:
    with ScriptedServer(Script(**{f"{fault}_rate": 1.0}, times=2)) as server:  # type: ignore[arg-type]
        end, heard = endpoint(server), list[str]()
        listen(end, heard.append)
    assert "".join(heard) == TEXT
    assert end.usage().retries == 2


@pytest.mark.parametrize("error", ["", "overloaded"])
def test_a_stream_that_breaks_off_is_an_error_and_what_came_is_counted(error: str) -> None:
    with ScriptedServer(Script(piece=4, break_after=8, break_with=error)) as server:
        end, heard = endpoint(server, price_completion=1.0), list[str]()
        with pytest.raises(EndpointError, match=f"in the middle of a reply, after 8 characters: .*{error}.*Ask again"):
            listen(end, heard.append)
    assert "".join(heard) == TEXT[:8]
    assert len(server.calls) == 1
    assert (end.usage().calls, end.usage().retries) == (1, 0)
    assert end.usage().completion_tokens == count_tokens(TEXT[:8])
    assert end.usage().cost_usd > 0
    assert any("broke off" in n for n in end.notes())


def test_a_stream_that_comes_too_slowly_is_given_up() -> None:
    with ScriptedServer(Script(piece_s=0.2, cut=100)) as server:
        end = endpoint(server, timeout_s=0.3, max_retries=1)
        with pytest.raises(EndpointError, match=r"no reply within 0.3 s"):
            listen(end, lambda piece: None)


def test_an_error_of_the_listener_is_its_own_and_ends_the_call() -> None:
    def stop(piece: str) -> None:
        raise KeyError(piece)

    with ScriptedServer() as server:
        end = endpoint(server, max_tokens_total=10_000)
        with pytest.raises(KeyError):
            listen(end, stop)
        assert end.usage().calls == 1  # what came was paid for
        assert listen(end, lambda piece: None).text == TEXT
    assert end.usage().retries == 0


def test_the_budget_and_the_key_hold_for_streams() -> None:
    with ScriptedServer(Script(api_key="another")) as server:
        with pytest.raises(BudgetExceeded):
            listen(endpoint(server, max_tokens_total=50), lambda piece: None)
        with pytest.raises(EndpointDown, match="API key"):
            listen(endpoint(server), lambda piece: None)
    assert len(server.calls) == 1


def test_a_streamed_reply_of_a_killed_run_is_recalled_in_either_way(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        path = tmp_path / "replies"
        first = listen(endpoint(server, Journal(ReplyFile(path)).__enter__()), lambda piece: None)
        heard: list[str] = []
        assert listen(endpoint(server, Journal(ReplyFile(path)).__enter__()), heard.append) == first
        assert ask(endpoint(server, Journal(ReplyFile(path)).__enter__())) == first
    assert heard == [TEXT]
    assert len(server.calls) == 1


def sse(*lines: str) -> Callable[[socket.socket, bytes], None]:
    """A server that closes the connection at the end of its events, as HTTP/1.0 ones do."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"

    def answer(connection: socket.socket, request: bytes) -> None:
        connection.sendall(head + "\n".join(lines).encode())
        connection.shutdown(socket.SHUT_RDWR)

    return answer


def delta(text: str, finish: str = "null") -> str:
    return f'data:{{"choices":[{{"delta":{{"content":"{text}"}},"finish_reason":{finish}}}]}}'


@pytest.mark.parametrize(
    "end", [("data: [DONE]", "", delta("no")), (delta("", '"stop"'),), (delta("", '"length"'), "")]
)
def test_a_stream_ends_with_its_mark_or_with_a_reason(end: tuple[str, ...]) -> None:
    listener = Listener(sse("event: x", "id: 1", delta("a"), ": ping", delta("b"), *end))
    reply = listen(endpoint(f"http://127.0.0.1:{listener.port}/v1"), lambda piece: None)
    assert reply.text == "ab"
    assert reply.finish_reason in ("", "stop", "length")


@pytest.mark.parametrize("lines", [(delta("a"), ""), (delta("a"), "data: {oops"), (delta("a"), "data: [1]")])
def test_a_stream_without_an_end_broke_off(lines: tuple[str, ...]) -> None:
    listener = Listener(sse(*lines))
    with pytest.raises(EndpointError, match="broke off"):
        listen(endpoint(f"http://127.0.0.1:{listener.port}/v1"), lambda piece: None)
    assert len(listener.requests) == 1


def test_a_stream_of_which_nothing_was_heard_costs_nothing_and_is_not_noted() -> None:
    heard: list[str] = []
    with ScriptedServer(Script(fail_rate=1, fail_status=500)) as server:
        end = endpoint(server, max_retries=0, price_prompt=1.0)
        with pytest.raises(EndpointError):
            listen(end, heard.append)
    assert (heard, end.notes(), end.usage().calls, end.usage().cost_usd) == ([], (), 0, 0.0)


@pytest.mark.parametrize("ask_it", [ask, lambda end: listen(end, lambda piece: None)])
def test_a_status_of_300_is_a_redirect_in_either_way(ask_it: Callable[[Endpoint], Reply]) -> None:
    head = b"HTTP/1.1 300 Multiple Choices\r\nLocation: http://h.example/v1\r\nContent-Length: 0\r\n\r\n"
    listener = Listener(lambda connection, _: connection.sendall(head))
    with pytest.raises(EndpointDown, match=r"sends to http://h\.example/v1"):
        ask_it(endpoint(f"http://127.0.0.1:{listener.port}/v1"))


def test_lines_that_are_no_pieces_are_passed_over_beside_pieces() -> None:
    listener, heard = Listener(sse('{"note": 1}', "event: x", delta("so", '"stop"'))), list[str]()
    assert listen(endpoint(f"http://127.0.0.1:{listener.port}/v1"), heard.append).text == "so"
    assert heard == ["so"]
