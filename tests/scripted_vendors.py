"""A server on which every first segment of a path is an endpoint of another vendor's manners.

A manner is a function from a request, `Asked`, to what is answered: a body, or an `Answer` with all else. `calm` is the
reply that a well-mannered endpoint would give: the one that tests/scripted_replies.py reads off the request. Unlike
tests/scripted.py it holds no faults of its own, and a stream is written piece by piece, with pauses, by its manner.

    with VendorServer({"calm": Asked.calm}) as server:
        ... server.url("calm"), server.requests("calm")
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec

from scripted_replies import BREAK, completion, embeddings, events, rerank

Body = dict[str, Any]
Manner = Callable[["Asked"], Any]
DIM = 32


@dataclass(frozen=True, slots=True)
class Answer:
    """What comes back. `pieces` are written after the head as they are; a number is a pause in seconds.

    `whole` keeps a chat reply in one piece though a stream was asked for. `end` says what follows: the connection is
    kept, lies still (`hang`), or breaks (`drop`).
    """

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    wait: float = 0.0
    pieces: Iterable[bytes | float] | None = None
    whole: bool = False
    end: str = "kept"


@dataclass(slots=True)
class Request:
    """One request as the server saw it, and when it came and was answered."""

    path: str
    body: Body
    headers: Mapping[str, str]
    began: float
    status: int = 0
    ended: float = 0.0


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as a manner sees it: `before` are all that came earlier, `state` is the manner's own memory."""

    path: str
    body: Body
    headers: Mapping[str, str]
    before: tuple[Request, ...]
    state: dict[str, Any]
    lock: threading.Lock

    @property
    def talk(self) -> list[Body]:
        return list(self.body.get("messages", ()))

    @property
    def limit(self) -> int:
        """The most tokens that the reply may have."""
        return int(self.body.get("max_tokens") or self.body.get("max_completion_tokens") or 10**6)

    @property
    def form(self) -> str:
        return str(self.body.get("response_format", {}).get("type", ""))

    @property
    def tokens(self) -> int:
        """The tokens of the prompt by this server's count."""
        return sum(len(m["content"]) for m in self.talk) // 4

    @property
    def again(self) -> bool:
        """Whether the reply before was objected to."""
        return "cannot be used" in str(self.talk[-1:])

    def count(self, name: str = "calls") -> int:
        """How often this was called before in this manner, with this name."""
        with self.lock:
            self.state[name] = self.state.get(name, 0) + 1
            return int(self.state[name]) - 1

    def about(self, mark: str) -> bool:
        return mark in str(self.talk)

    def calm(self) -> Body:
        """What a well-mannered endpoint answers."""
        if self.path.endswith("/embeddings"):
            return dict(msgspec.json.decode(embeddings(self.body, DIM, True)))
        if self.path.endswith("/rerank"):
            return dict(msgspec.json.decode(rerank(self.body, True)))
        if self.path.endswith("/models"):
            return {"object": "list", "data": [{"id": "scripted", "object": "model"}]}
        body = self.body
        if body["messages"][0]["role"] != "system":  # what it was told as the user stands there as instructions
            said = body["messages"][0]["content"]
            rest = [{"role": "user", "content": said}, *body["messages"][1:]]
            body = body | {"messages": [{"role": "system", "content": said}, *rest]}
        return dict(msgspec.json.decode(completion(body, None, "", "json", True)))

    def text(self) -> str:
        """The text of the calm reply."""
        return str(self.calm()["choices"][0]["message"]["content"])

    def says(self, content: Any = None, finish: str | None = "stop", used: Body | None = None, **message: Any) -> Body:
        """A reply with this content in place of the calm one, and what else its message holds."""
        reply = self.calm()
        reply["choices"][0] |= {"message": {"role": "assistant", "content": content, **message}}
        reply["choices"][0]["finish_reason"] = finish
        reply["usage"] |= used or {}
        return reply


def refuse(status: int, message: Any, headers: Mapping[str, str] | None = None, **fields: Any) -> Answer:
    """An error in OpenAI's form."""
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": None, **fields}
    return Answer(status, {"error": error}, headers or {})


def event(delta: Body | None = None, finish: str | None = None, **fields: Any) -> bytes:
    """One event of a stream."""
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    return b"data: " + msgspec.json.encode({"object": "chat.completion.chunk", "choices": choices, **fields}) + b"\n\n"


DONE = b"data: [DONE]\n\n"


def streamed(*pieces: bytes | float, end: str = "kept") -> Answer:
    """A stream of these pieces."""
    return Answer(pieces=pieces, end=end)


class VendorServer:
    """The server; a context manager. `pages` are what can be read for nothing, by the name and path of each.

    Without a page there is a list of models; who reads one, with which headers, is not among the requests.
    """

    def __init__(self, manners: Mapping[str, Manner], pages: Mapping[str, Mapping[str, Body]] | None = None) -> None:
        self.manners, self.pages = dict(manners), pages or {}
        self.read: list[tuple[str, Mapping[str, str]]] = []
        self._requests: dict[str, list[Request]] = {}
        self._states: dict[str, dict[str, Any]] = {}
        self._lock = threading.Lock()

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/{name}/v1"

    def requests(self, name: str) -> list[Request]:
        return self._requests.setdefault(name, [])

    def forget(self, name: str) -> None:
        """What came is forgotten, and what the manner remembers of it."""
        self._requests[name], self._states[name] = [], {}

    def __enter__(self) -> VendorServer:
        vendors = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                vendors.handle(self)

            do_GET = do_POST  # noqa: N815

            def log_message(self, *_: Any) -> None:
                return None

        class Server(ThreadingHTTPServer):
            daemon_threads, request_queue_size = True, 256

            def handle_error(self, *_: Any) -> None:
                return None  # a client that breaks off

        self._server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    # ── one request ──

    def handle(self, http: BaseHTTPRequestHandler) -> None:
        raw = http.rfile.read(int(http.headers.get("Content-Length") or 0))
        name, _, rest = http.path.lstrip("/").partition("/")
        body = msgspec.json.decode(raw) if raw else {}
        headers = {n.lower(): v for n, v in http.headers.items()}
        if http.command == "GET":
            self.read.append((http.path, headers))
            usual = {"/v1/models": {"object": "list", "data": [{"id": "scripted", "object": "model"}]}}
            page = {**usual, **self.pages.get(name, {})}.get(f"/{rest}")
            _write(http, Answer(404 if page is None else 200, page or {}), {})
            return
        with self._lock:
            seen, state = self.requests(name), self._states.setdefault(name, {})
            asked = Asked(f"/{rest}", body, headers, tuple(seen), state, self._lock)
            seen.append(request := Request(f"/{rest}", body, headers, time.monotonic()))
        made = self.manners[name](asked)
        answer = made if isinstance(made, Answer) else Answer(body=made)
        time.sleep(answer.wait)
        request.status, request.ended = answer.status, time.monotonic()
        try:
            _write(http, answer, body)
        except OSError:  # nobody waits for it any more
            http.close_connection = True


def _write(http: BaseHTTPRequestHandler, answer: Answer, body: Body) -> None:
    chat = isinstance(answer.body, dict) and bool(answer.body.get("choices"))
    pieces = answer.pieces
    if pieces is None and body.get("stream") and chat and not answer.whole and answer.status == 200:
        counted = bool(body.get("stream_options", {}).get("include_usage"))
        pieces = [events(msgspec.json.encode(answer.body), 40, counted, 0, "").replace(BREAK, b"")]
    payload = answer.body if isinstance(answer.body, bytes) else msgspec.json.encode(answer.body)
    http.send_response(answer.status, "scripted")
    for name, value in answer.headers.items():
        http.send_header(name, value)
    if pieces is None:
        http.send_header("Content-Length", str(len(payload)))
        http.end_headers()
        http.wfile.write(payload)
        return
    http.send_header("Content-Type", "text/event-stream")
    http.send_header("Transfer-Encoding", "chunked")
    http.end_headers()
    http.wfile.flush()
    for piece in pieces:
        if isinstance(piece, float):
            time.sleep(piece)
        elif piece:
            http.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            http.wfile.flush()
    if answer.end == "hang":
        time.sleep(3.0)
    if answer.end == "kept":
        http.wfile.write(b"0\r\n\r\n")
    else:
        http.close_connection = True
