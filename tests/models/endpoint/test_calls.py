"""How often and when a call is tried, how many are in flight, what they hold: not more than set, and not less."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from models.endpoint.test_wire import listening
from scripted import Script, ScriptedServer
from sensegraph.errors import BudgetExceeded, EndpointDown, EndpointError
from sensegraph.models.endpoint import wire
from sensegraph.models.endpoint.client import Endpoint
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.models.endpoint.profile import count_prompt_tokens

BODY = b'{"choices":[{"message":{"content":"so"}}]}'
REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(BODY), BODY)
ATTEMPTS = "sensegraph.models.endpoint.calls.time.sleep"


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What calls would have waited for; nobody waits."""
    found: list[float] = []
    monkeypatch.setattr(ATTEMPTS, found.append)
    return found


def endpoint(server: ScriptedServer, **settings: Any) -> Endpoint:
    return Endpoint(EndpointSettings(base_url=server.base_url, model="m", embedding_model="e", **settings))


def messages(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": f"- {text}"}]


def ask(end: Endpoint, text: str = "one", max_tokens: int = 100) -> str:
    return end.chat(messages(text), max_tokens=max_tokens).text


# ── attempts ──


@pytest.mark.parametrize("retries", [0, 1, 4])
@pytest.mark.parametrize("faults", [{"fail_rate": 1, "fail_status": 503}, {"drop_rate": 1}, {"garbled_rate": 1}])
def test_a_call_is_tried_once_and_as_often_again_as_is_set(
    waits: list[float], retries: int, faults: dict[str, Any]
) -> None:
    with ScriptedServer(Script(**faults, retry_after="")) as server:
        end = endpoint(server, max_retries=retries, backoff_s=2.0)
        with pytest.raises(EndpointError, match=f"failed {retries + 1} times"):
            ask(end)
    assert (len(server.calls), len(waits), end.usage().retries) == (retries + 1, retries, retries)
    assert all(2**n <= wait <= 2 * 2**n for n, wait in enumerate(waits))


def test_a_call_that_the_last_attempt_answers_is_no_error(waits: list[float]) -> None:
    with ScriptedServer(Script(fail_rate=1, times=3)) as server:
        assert ask(endpoint(server, max_retries=3))
    assert (len(server.calls), len(waits)) == (4, 3)


@pytest.mark.parametrize("asked", ["0", "7.5", "600"])
def test_the_wait_is_the_one_that_the_server_asks_for_and_at_most_a_tenth_longer(
    waits: list[float], asked: str
) -> None:
    with ScriptedServer(Script(fail_rate=1, times=3, retry_after=asked)) as server:
        ask(endpoint(server, backoff_s=99.0))
    assert len(waits) == 3
    assert all(float(asked) <= wait <= 1.1 * float(asked) for wait in waits)


def test_a_server_that_asks_for_more_than_ten_minutes_is_not_waited_for(waits: list[float]) -> None:
    with ScriptedServer(Script(fail_rate=1, retry_after="601")) as server, pytest.raises(EndpointDown, match="601 s"):
        ask(endpoint(server))
    assert (len(server.calls), waits) == (1, [])


@contextmanager
def away(server: ScriptedServer) -> Iterator[Callable[[], ScriptedServer]]:
    """The server stops; what is given starts another at its place."""
    server.__exit__()
    begun: list[ScriptedServer] = []
    try:
        yield lambda: begun.append(ScriptedServer(port=server.port).__enter__()) or begun[0]
    finally:
        for one in begun:
            one.__exit__()


@pytest.mark.parametrize("missed", [1, 3])
def test_a_server_that_goes_away_in_mid_run_is_tried_again_until_it_is_back(
    monkeypatch: pytest.MonkeyPatch, missed: int
) -> None:
    monkeypatch.setattr(wire, "IDLE_S", 0.0)  # each call opens a connection of its own
    server, waits = ScriptedServer().__enter__(), list[float]()
    end = endpoint(server, max_retries=3, timeout_s=5.0)
    assert ask(end)
    with away(server) as come_back:

        def wait(seconds: float) -> None:
            waits.append(seconds)
            if len(waits) == missed:
                come_back()

        monkeypatch.setattr(ATTEMPTS, wait)
        assert ask(end, "two")
    assert len(waits) == end.usage().retries == missed


def test_a_server_that_stays_away_in_mid_run_ends_it_after_all_attempts(
    monkeypatch: pytest.MonkeyPatch, waits: list[float]
) -> None:
    monkeypatch.setattr(wire, "IDLE_S", 0.0)
    with ScriptedServer() as server:
        end = endpoint(server, max_retries=3, timeout_s=5.0)
        assert ask(end)
    with pytest.raises(EndpointDown, match="Cannot reach"):
        ask(end, "two")
    assert len(waits) == end.usage().retries == 3


def test_a_server_that_was_never_there_is_tried_once(waits: list[float]) -> None:
    with ScriptedServer() as server:
        pass
    end = endpoint(server, max_retries=3)
    with pytest.raises(EndpointDown, match="Cannot reach"):
        ask(end)
    assert (waits, end.usage().retries) == ([], 0)


# ── calls in flight ──


@pytest.mark.parametrize("concurrency", [1, 3, 7])
def test_as_many_calls_are_in_flight_as_are_set(concurrency: int) -> None:
    """None is answered before so many are there: fewer would wait for ever, and more are counted."""
    there, lock = threading.Barrier(concurrency, timeout=20), threading.Lock()
    flying, most = [0], [0]

    def answer(connection: socket.socket, _: bytes) -> None:
        with lock:
            flying[0] += 1
            most[0] = max(most[0], flying[0])
        there.wait()
        time.sleep(0.01)
        with lock:
            flying[0] -= 1
        connection.sendall(REPLY)

    with listening(answer) as server:
        settings = EndpointSettings(base_url=f"http://127.0.0.1:{server.port}/v1", model="m", max_retries=0)
        end = Endpoint(replace(settings, concurrency=concurrency))
        with ThreadPoolExecutor(2 * concurrency) as pool:
            replies = list(pool.map(lambda i: ask(end, f"{i}"), range(4 * concurrency)))
    assert replies == ["so"] * 4 * concurrency
    assert most[0] == server.connections == concurrency


# ── pace and budget ──


LONG = "a word and another " * 10


def took(end: Endpoint) -> int:
    return end.usage().prompt_tokens + end.usage().completion_tokens


def ask_for_ever(end: Endpoint) -> None:
    while True:
        ask(end, LONG, 200)


def test_a_minute_takes_as_many_calls_as_its_tokens_allow(waits: list[float]) -> None:
    """A call holds its prompt and its longest reply, and once it has ended what it took."""
    with ScriptedServer() as server:
        end = endpoint(server, tokens_per_minute=500)
        most = count_prompt_tokens(messages(LONG)) + 200
        while not waits and len(server.calls) < 100:
            ask(end, LONG, 200)
    each = took(end) // len(server.calls)
    assert len(server.calls) == (500 - most) // each + 2
    assert 0 < waits[0] <= 60


def test_a_budget_is_used_up_to_the_last_call_that_fits() -> None:
    with ScriptedServer() as server:
        end = endpoint(server, max_tokens_total=1000)
        most = count_prompt_tokens(messages(LONG)) + 200
        with pytest.raises(BudgetExceeded):
            ask_for_ever(end)
    each = took(end) // len(server.calls)
    assert len(server.calls) == (1000 - most) // each + 1


def test_a_429_pauses_all_callers_and_uses_up_no_attempt(waits: list[float]) -> None:
    with ScriptedServer(Script(fail_rate=1, times=3, retry_after="30", only="- slow")) as server:
        end = endpoint(server, max_retries=1)
        assert ask(end, "slow")  # three pauses, and only one attempt more is allowed
        assert all(30 <= wait <= 33 for wait in waits)
        assert ask(end, "quick")
    assert 29 < waits[-1] <= 30  # another call waits for the end of the same pause
    assert len(server.calls) == 3 + 1 + 1
