"""A server in a thread, and a client that speaks to it over a socket of this machine."""

from __future__ import annotations

import asyncio
import http.client
import json
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from sensegraph.corpus.corpus import Corpus
from sensegraph.server.http.access import ServeOptions
from sensegraph.server.running import make_server

JSON = "application/json"


@dataclass(frozen=True)
class Reply:
    """What came back; names of headers are in small letters."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        return str(self.json["error"]["code"])


@dataclass(frozen=True)
class WebClient:
    """Asks a server; `headers` go with every request."""

    address: str
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def host(self) -> str:
        return urlsplit(self.address).netloc

    @property
    def origin(self) -> str:
        return self.address.rstrip("/")

    def connect(self) -> http.client.HTTPConnection:
        parts = urlsplit(self.address)
        return http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)

    def ask(self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Reply:
        """One request on a connection of its own; what is no text or bytes is sent as JSON, and no empty header."""
        sent = dict(self.headers)
        if body is not None and not isinstance(body, str | bytes):
            body, sent["Content-Type"] = json.dumps(body), JSON
        sent |= headers or {}
        connection = self.connect()
        try:
            connection.request(method, path, body, {name: value for name, value in sent.items() if value})
            answer = connection.getresponse()
            return Reply(answer.status, {n.lower(): v for n, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Reply:
        return self.ask("GET", path, headers=headers)

    def post(self, path: str, body: Any, headers: Mapping[str, str] | None = None) -> Reply:
        return self.ask("POST", path, body, headers)

    def events(self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> list[Event]:
        """All events of a stream, to its end."""
        return list(read_events(self.ask(method, path, body, headers).body.decode()))

    def raw(self, text: bytes) -> Reply:
        """What comes back to bytes that are sent as they are."""
        connection = self.connect()
        connection.connect()
        try:
            connection.sock.sendall(text)
            answer = http.client.HTTPResponse(connection.sock)
            answer.begin()
            return Reply(answer.status, {n.lower(): v for n, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()


@dataclass(frozen=True)
class Event:
    """An event of a stream."""

    name: str
    data: Any
    number: str = ""


def read_events(text: str) -> Iterator[Event]:
    """The events of a stream, without its comments."""
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if "data" in fields:
            data = fields["data"]
            yield Event(fields.get("event", ""), data if data == "[DONE]" else json.loads(data), fields.get("id", ""))


@contextmanager
def serving(corpora: Mapping[str, Corpus], options: ServeOptions | None = None) -> Iterator[WebClient]:
    """A server over these corpora, in a thread, on a port that is free."""
    options = options or ServeOptions(port=0)
    begun, address = threading.Event(), list[str]()

    def ready(where: str) -> None:
        address.append(where)
        begun.set()

    server = make_server(corpora, options, ready)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    assert begun.wait(30), "the server did not start"
    loop = server.servers[0].get_loop()
    try:
        yield WebClient(address[0])
    finally:
        server.should_exit = True
        thread.join(30)
        assert not thread.is_alive(), f"the server did not end, which waits for\n{_list_waiting(loop)}"


def _list_waiting(loop: asyncio.AbstractEventLoop) -> str:
    """Where the tasks of a loop and all threads are."""
    tasks = [task.get_stack() for task in asyncio.all_tasks(loop)]
    threads = [[frame] for frame in sys._current_frames().values()]
    return "\n".join("".join(traceback.format_stack(frames[-1])) for frames in (*tasks, *threads) if frames)


def until(true: Callable[[], Any]) -> Any:
    """What a condition gives once it holds; a test that waits for too long fails."""
    for _ in range(6000):
        if found := true():
            return found
        time.sleep(0.02)
    raise AssertionError("it did not come")
