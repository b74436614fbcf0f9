"""A scripted OpenAI-compatible server: the double at the wire for tests and benchmarks.

Replies are a function of the request alone (see `replies`), so that runs can be compared; faults are drawn from the
request and the number of times that it has come, so that a retry can succeed. Loopback only, HTTP/1.1 keep-alive.

    with ScriptedServer(Script(fail_rate=0.1)) as server:
        ... server.base_url, server.calls, server.stats()
"""

from __future__ import annotations

import asyncio
import hashlib
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any

import msgspec

from scripted_harms import PAUSES, SAID, USAGE, WIRE, spoil_usage
from scripted_replies import BREAK, Draw, completion, embeddings, events, rerank, task_of
from scripted_trials import biased

Body = dict[str, Any]
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode
FULL = 1 << 18  # bytes that wait to be read, above which no more are written
_OBJECTION = b"This reply cannot be used"
_LOOK_S = 0.05  # seconds between two looks whether a reply that is late is due


@dataclass(frozen=True, slots=True)
class Script:
    """How the server behaves. Rates are shares of the attempts, 0–1.

    `times` bounds how often one request meets a fault (0 = no bound). `schemas` says which response_format is
    understood: json_schema, json_object or none. `style` is the form of extractions: json, tuple, fenced or single.
    `reply`, where it returns a text, replaces the scripted one; a tuple is (text, finish_reason), an object a choice
    with its message. `streams` says what is done when a reply is asked for in pieces: it comes in events, without the
    field stream_options (options), not at all (none), or whole all the same (whole). Each event holds `piece`
    characters, each write `cut` bytes of them; after `break_after` characters (0 = never) the connection breaks or,
    with `break_with`, tells that as an error.
    `against` names the rules (see scripted_groups.VIOLATIONS) that replies about groups break: at the first asking, or
    where it is `stubborn` whenever it is asked. Of what is judged, the first answer wins in a share of `first_bias`
    whatever it says.
    """

    latency_s: float = 0.0
    fail_rate: float = 0.0
    fail_status: int = 429
    fail_message: str = "scripted failure"
    fail_code: str = "scripted"
    retry_after: str = "0.01"  # seconds, "date:N" for an HTTP date N seconds ahead, or "" for none
    malformed_rate: float = 0.0
    garbled_rate: float = 0.0  # status 200 with a body that is no JSON
    hang_rate: float = 0.0
    drop_rate: float = 0.0
    truncate_rate: float = 0.0
    harm_rate: float = 0.0
    harm: str = ""  # one of scripted_harms.HARMS
    times: int = 0
    only: str = ""  # faults only for requests that hold this text
    schemas: str = "json_schema"
    schema_status: int = 400
    only_max_completion_tokens: bool = False
    refused_fields: tuple[str, ...] = ()
    api_key: str = ""
    models: tuple[str, ...] = ()
    usage: bool = True
    dim: int = 64
    style: str = "json"
    seed: int = 0
    keep_bodies: bool = False
    reply: Callable[[Body], str | tuple[str, str] | Body | None] | None = None
    refuse: str = ""  # a field of requests that is refused
    streams: str = "events"
    piece: int = 32
    cut: int = 4096
    piece_s: float = 0.0  # seconds between writes
    break_after: int = 0
    break_with: str = ""
    against: tuple[str, ...] = ()
    stubborn: bool = False
    first_bias: float = 0.0


@dataclass(frozen=True, slots=True)
class Call:
    """One request as the server saw it; `sha` is of its body, `finished` the time of its reply."""

    sha: str
    task: str
    status: int
    finished: float
    body: Body = field(default_factory=dict)


class ScriptedServer:
    """The server; a context manager in tests, `serve_forever` in a process of its own."""

    def __init__(self, script: Script | None = None, port: int = 0) -> None:
        self.script = script or Script()
        self.port = port
        self.reset()
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None

    def reset(self) -> None:
        self.calls: list[Call] = []
        self.seen: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.in_flight = self.most_in_flight = self.connections = self.closed = 0

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def done(self, task: str = "") -> list[Call]:
        """The calls that succeeded, of one task or of all."""
        return [c for c in self.calls if c.status == 200 and task in ("", c.task)]

    def stats(self) -> Body:
        good = self.done()
        return {
            "calls": len(self.calls),
            "ok": len(good),
            "repeated": len(good) - len({c.sha for c in good}),
            "tasks": dict(sorted(Counter(c.task for c in good).items())),
            "statuses": {str(s): n for s, n in sorted(Counter(c.status for c in self.calls).items())},
            "faults": dict(sorted(self.faults.items())),
            "connections": self.connections,
            "most_in_flight": self.most_in_flight,
            "log": [[c.sha, c.task, c.status, c.finished] for c in self.calls],
        }

    async def run(self) -> None:
        """Serve until stopped."""
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        self._loop.set_exception_handler(_tell_exception)
        server = await self._loop.create_server(lambda: _Connection(self), "127.0.0.1", self.port, backlog=1024)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()

    def __enter__(self) -> ScriptedServer:
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        assert self._ready.wait(60), "the scripted server did not start"
        return self

    def _serve(self) -> None:
        sys.settrace(None)  # no line of the package runs here: counting lines would double what the server takes
        asyncio.run(self.run())

    def __exit__(self, *exc: object) -> None:
        assert self._loop is not None
        assert self._stop is not None
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    # ── one request ──

    def decide(self, path: str, key: str, raw: bytes) -> tuple[int, bytes, dict[str, str]] | str:
        """Status, body and headers of the reply; or the name of a fault of the connection."""
        path = path.partition("?")[0]
        if path.endswith("/stats"):
            return 200, _encode(self.stats()), {}
        if path.endswith("/reset"):
            self.reset()
            return 200, b"{}", {}
        if not raw:  # a page of a server, of which it has none
            return _error(404, "no such page")
        sha = hashlib.sha256(raw).hexdigest()
        body: Body = _decode(raw)
        task = {"embeddings": "embedding", "rerank": "rerank"}.get(path.rpartition("/")[2]) or task_of(body)
        self.seen[sha] += 1
        status, payload, headers = 0, b"", dict[str, str]()
        answer = self._refused(path, key, body) or self._fault(sha, raw, Draw(self.script.seed, sha, self.seen[sha]))
        if answer in ("hang", "drop") or (answer == "harm" and self.script.harm in WIRE):
            self._log(sha, task, 0, body)
            return str(answer)
        if isinstance(answer, tuple):
            status, payload, headers = answer
        else:
            status, payload = 200, b"garbled" if answer == "garbled" else self._answer(path, body, answer or "")
            if body.get("stream") and self.script.streams != "whole" and answer != "garbled":
                payload, headers = self._events(payload, body), {"Content-Type": "text/event-stream"}
        self._log(sha, task, status, body)
        return status, payload, headers

    def _log(self, sha: str, task: str, status: int, body: Body) -> None:
        self.calls.append(Call(sha, task, status, time.time(), body if self.script.keep_bodies else {}))

    def _refused(self, path: str, key: str, body: Body) -> tuple[int, bytes, dict[str, str]] | None:
        """What a strict server refuses whatever the weather."""
        s = self.script
        if s.api_key and key != f"Bearer {s.api_key}":
            return _error(401, f"Incorrect API key provided: {key.removeprefix('Bearer ')}")
        if s.models and body["model"] not in s.models:
            return _error(404, f"The model {body['model']} does not exist", "model_not_found")
        if "/v1/" not in path:
            return _error(404, "no such address")
        form = body.get("response_format", {}).get("type")
        allowed = {"json_schema": ("json_schema", "json_object"), "json_object": ("json_object",)}.get(s.schemas, ())
        if form and form not in allowed:
            return _error(s.schema_status, f"'response_format' of type {form} is not supported")
        if s.refuse and s.refuse in body:
            return _error(400, f"Unsupported parameter: {s.refuse}")
        if "stream" in body and (s.streams == "none" or (s.streams == "options" and "stream_options" in body)):
            refused = "stream" if s.streams == "none" else "stream_options"
            return _error(400, f"Unrecognized request argument supplied: {refused}")
        if refused := [name for name in s.refused_fields if name in body]:
            return _error(400, f"Unrecognized request argument supplied: {refused[0]}")
        if s.only_max_completion_tokens and "max_tokens" in body:
            return _error(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
        return None

    def _fault(self, sha: str, raw: bytes, draw: Draw) -> str | tuple[int, bytes, dict[str, str]]:
        s = self.script
        if (s.times and self.seen[sha] > s.times) or s.only.encode() not in raw:
            return ""
        mended = bool(s.times) and _OBJECTION in raw  # a reply that comes again, in what is another request
        for name in ("drop", "hang", "fail", "garbled", *(() if mended else ("malformed",)), "truncate", "harm"):
            if draw(name) < getattr(s, f"{name}_rate"):
                self.faults[name] += 1
                return _error(s.fail_status, s.fail_message, s.fail_code, s.retry_after) if name == "fail" else name
        return ""

    def _answer(self, path: str, body: Body, fault: str) -> bytes:
        s = self.script
        if path.endswith("/embeddings"):
            return embeddings(body, s.dim, s.usage)
        if path.endswith("/rerank"):
            scripted = s.reply(body) if s.reply else None
            return scripted.encode() if isinstance(scripted, str) else rerank(body, s.usage)
        text = s.reply(body) if s.reply else None
        text = SAID.get(s.harm) if fault == "harm" and text is None else text
        if text is None and s.first_bias:
            text = biased(task_of(body), s.first_bias, Draw(s.seed, hashlib.sha256(_encode(body)).hexdigest(), 0))
        against = s.against if s.stubborn or len(body["messages"]) == 2 else ()
        made = completion(body, text, fault, s.style, s.usage, against)
        return spoil_usage(made, USAGE[s.harm]) if fault == "harm" and s.harm in USAGE else made

    def _events(self, payload: bytes, body: Body) -> bytes:
        s = self.script
        counted = bool(body.get("stream_options", {}).get("include_usage"))
        return events(payload, s.piece, counted, s.break_after, s.break_with)


def _error(
    status: int, message: str, code: str = "scripted", retry_after: str = ""
) -> tuple[int, bytes, dict[str, str]]:
    if retry_after.startswith("date:"):
        retry_after = formatdate(time.time() + float(retry_after[5:]), usegmt=True)
    headers = {"Retry-After": retry_after} if retry_after else {}
    return status, _encode({"error": {"message": message, "type": "scripted", "code": code}}), headers


def _tell_exception(loop: asyncio.AbstractEventLoop, context: Body) -> None:
    """Tell what went wrong, but not that a client went away while much was written to it, which asyncio says twice."""
    if "_call_connection_lost" not in context["message"]:
        loop.default_exception_handler(context)


class _Connection(asyncio.Protocol):
    """HTTP/1.1 as far as it is needed: a request line, headers, a body of known length."""

    def __init__(self, server: ScriptedServer) -> None:
        self.server, self.buffer = server, b""
        self.pieces: Iterator[bytes] = iter(())

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.server.connections += 1

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            head = self.buffer[:end].decode("latin-1").split("\r\n")
            headers = {n.lower(): v.strip() for n, _, v in (line.partition(":") for line in head[1:])}
            size = int(headers.get("content-length", "0"))
            if len(self.buffer) < end + 4 + size:
                return
            body, self.buffer = self.buffer[end + 4 : end + 4 + size], self.buffer[end + 4 + size :]
            self.begin(head[0].split()[1], headers.get("authorization", ""), body)

    def begin(self, path: str, key: str, body: bytes) -> None:
        self.server.in_flight += 1
        self.server.most_in_flight = max(self.server.most_in_flight, self.server.in_flight)
        self.wait(asyncio.get_running_loop().time(), path, key, body)

    def wait(self, began: float, path: str, key: str, body: bytes) -> None:
        """Finish after the latency of the script, or as soon as another script has less."""
        loop = asyncio.get_running_loop()
        if (left := began + self.server.script.latency_s - loop.time()) > 0:
            loop.call_later(min(left, _LOOK_S), self.wait, began, path, key, body)
        else:
            self.finish(path, key, body)

    def finish(self, path: str, key: str, body: bytes) -> None:
        self.server.in_flight -= 1
        answer = self.server.decide(path, key, body)
        transport = self.transport
        assert isinstance(transport, asyncio.Transport)
        if answer == "hang":
            return
        if answer == "harm":
            self.pieces = WIRE[self.server.script.harm]()
            transport.set_write_buffer_limits(FULL)
            self.flood()
            return
        if isinstance(answer, str):
            transport.abort()
            return
        status, payload, headers = answer
        if "Content-Type" in headers:
            head = "HTTP/1.1 200 scripted\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
            transport.write(head.encode())
            self.write_on(transport, payload)
            return
        lines = [f"HTTP/1.1 {status} scripted", "Content-Type: application/json", f"Content-Length: {len(payload)}"]
        lines += [f"{n}: {v}" for n, v in headers.items()]
        transport.write("\r\n".join([*lines, "", ""]).encode() + payload)

    def flood(self) -> None:
        """Write pieces as fast as they are read, until the client has enough."""
        transport = self.transport
        assert isinstance(transport, asyncio.Transport)
        pause = PAUSES.get(self.server.script.harm, 0.0)
        while not transport.is_closing() and transport.get_write_buffer_size() < FULL:
            if (piece := next(self.pieces, None)) is None:
                return
            transport.write(piece)
            if pause:
                asyncio.get_running_loop().call_later(pause, self.flood)
                return

    def resume_writing(self) -> None:
        self.flood()

    def connection_lost(self, error: Exception | None) -> None:
        self.pieces = iter(())
        self.server.closed += 1

    def write_on(self, transport: asyncio.Transport, payload: bytes) -> None:
        """Write the next bytes of a stream as a chunk, and the rest later."""
        if transport.is_closing():
            return
        script = self.server.script
        piece, rest = payload[: script.cut], payload[script.cut :]
        piece, broken, _ = piece.partition(BREAK)
        if piece:
            transport.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        if broken:
            asyncio.get_running_loop().call_later(0.02, transport.close)  # what was written is read first
        elif rest:
            asyncio.get_running_loop().call_later(script.piece_s, self.write_on, transport, rest)
        else:
            transport.write(b"0\r\n\r\n")
