from __future__ import annotations

import base64
import contextlib
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

import sensegraph
from sensegraph.errors import EndpointDown, EndpointError, SettingsError
from sensegraph.models.endpoint import wire
from sensegraph.models.endpoint.client import Endpoint
from sensegraph.models.endpoint.endpoint_settings import EndpointSettings
from sensegraph.models.endpoint.wire import Broken, Late, Patience, Response, Unreachable, Wire

KEY = "sk-very-secret-0123456789"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
Answer = Callable[[socket.socket, bytes], None]


def plainly(reply: bytes) -> Answer:
    return lambda connection, _: connection.sendall(reply)


class Listener:
    """A server of bytes: what it was sent, one entry a request, and what it answers to each."""

    def __init__(self, answer: Answer, context: ssl.SSLContext | None = None) -> None:
        self.answer, self.context = answer, context
        self.requests: list[str] = []
        self.connections = 0
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.socket.accept()
                self.connections += 1
                threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError):
            if self.context:
                connection = self.context.wrap_socket(connection, server_side=True)
            with connection:
                while request := self.request(connection):
                    self.requests.append(request.decode())
                    self.answer(connection, request)

    def request(self, connection: socket.socket) -> bytes:
        got = b""
        while b"\r\n\r\n" not in got:
            if not (more := connection.recv(65536)):
                return b""
            got += more
        head, _, body = got.partition(b"\r\n\r\n")
        size = next((int(h[15:]) for h in head.split(b"\r\n") if h.lower().startswith(b"content-length:")), 0)
        while len(body) < size:
            body += connection.recv(65536)
        return head + b"\r\n\r\n" + body


@contextlib.contextmanager
def listening(answer: Answer, context: ssl.SSLContext | None = None) -> Iterator[Listener]:
    server = Listener(answer, context)
    try:
        yield server
    finally:
        with contextlib.suppress(OSError):
            server.socket.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits for the next connection
        server.socket.close()


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def made(base_url: str, api_key: str = KEY, timeout_s: float = 5.0) -> Wire:
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    return Wire(base_url, headers, connections=2, patience=Patience(whole=timeout_s))


def post(server: Listener, path: str = "/chat", timeout_s: float = 5.0) -> Response:
    return made(f"http://127.0.0.1:{server.port}/v1", timeout_s=timeout_s).post(path, b'{"a":1}')


def endpoint(base_url: str, **settings: object) -> Endpoint:
    return Endpoint(EndpointSettings(base_url=base_url, model="m", backoff_s=0.01, **settings), api_key=KEY)  # type: ignore[arg-type]


def ask(end: Endpoint) -> str:
    return end.chat([{"role": "user", "content": "- one"}], max_tokens=10).text


# ── what is sent ──


def test_a_request_says_who_asks_and_with_which_key() -> None:
    with listening(plainly(OK)) as server:
        assert post(server).body == b"{}"
    head, _, body = server.requests[0].partition("\r\n\r\n")
    assert head.startswith("POST /v1/chat HTTP/1.1")
    assert f"User-Agent: sensegraph/{sensegraph.__version__}" in head
    assert f"Authorization: Bearer {KEY}" in head
    assert "Content-Type: application/json" in head
    assert body == '{"a":1}'


def test_a_base_url_may_have_a_path_and_a_query() -> None:
    with listening(plainly(OK)) as server:
        made(f"http://127.0.0.1:{server.port}/deployments/x/?api-version=2024-06-01").post("/chat", b"{}")
    assert server.requests[0].startswith("POST /deployments/x/chat?api-version=2024-06-01 HTTP/1.1")


def test_a_user_in_the_address_is_sent_in_the_place_of_the_key() -> None:
    with listening(plainly(OK)) as server:
        made(f"http://me:pass%3Aword@127.0.0.1:{server.port}/v1").post("/chat", b"{}")
    assert f"authorization: Basic {base64.b64encode(b'me:pass:word').decode()}" in server.requests[0]
    assert KEY not in server.requests[0]
    assert "me:pass" not in server.requests[0]


def test_without_a_key_none_is_sent() -> None:
    with listening(plainly(OK)) as server:
        made(f"http://127.0.0.1:{server.port}", api_key="").post("/chat", b"{}")
    assert "uthorization" not in server.requests[0]


@pytest.mark.parametrize("key", ["sk-one\n", "sk one", "sk-ключ"])
def test_a_key_that_cannot_be_sent_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(SettingsError, match="API key") as caught:
        Endpoint(EndpointSettings(), api_key=key)
    assert key.split()[0] not in str(caught.value)


@pytest.mark.parametrize("url", ["http://", "https://:80", "http://host:port/v1", "ftp://host", "http://[::1/v1"])
def test_an_address_that_names_no_host_is_refused(url: str) -> None:
    with pytest.raises(SettingsError, match=r"endpoint\.base_url"):
        Endpoint(EndpointSettings(base_url=url))


# ── connections ──


def test_a_connection_is_kept_for_the_next_call() -> None:
    with listening(plainly(OK)) as server:
        client = made(f"http://127.0.0.1:{server.port}")
        for _ in range(5):
            client.post("/chat", b"{}")
    assert server.connections == 1


def test_a_connection_that_the_server_closed_is_opened_anew() -> None:
    def once(connection: socket.socket, _: bytes) -> None:
        connection.sendall(OK)
        connection.close()
        closed.release()

    closed = threading.Semaphore(0)
    with listening(once) as server:
        client = made(f"http://127.0.0.1:{server.port}")
        for _ in range(3):
            client.post("/chat", b"{}")
            assert closed.acquire(timeout=30)
    assert server.connections == 3


def test_a_connection_that_lay_idle_is_opened_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "IDLE_S", 0.02)
    with listening(plainly(OK)) as server:
        client = made(f"http://127.0.0.1:{server.port}")
        client.post("/chat", b"{}")
        time.sleep(0.05)
        client.post("/chat", b"{}")
    assert server.connections == 2


# ── one time for a whole reply ──


def dripping(head: bytes, body: bytes) -> Answer:
    def answer(connection: socket.socket, _: bytes) -> None:
        connection.sendall(head)
        for i in range(len(body)):
            connection.sendall(body[i : i + 1])
            time.sleep(0.05)

    return answer


HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"


@pytest.mark.parametrize(("head", "body"), [(b"", HEAD), (HEAD, b" " * 100)], ids=["the head", "the body"])
def test_a_reply_that_comes_in_drops_is_cut_when_its_time_is_over(head: bytes, body: bytes) -> None:
    with listening(dripping(head, body)) as server, pytest.raises(Late):
        post(server, timeout_s=0.3)


def test_a_slow_reply_that_is_whole_in_time_is_taken_and_the_next_has_all_its_time_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0

    def answer(connection: socket.socket, _: bytes) -> None:
        nonlocal now
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n")
        for drop in (b"1", b"2", b"3", b"4"):
            now += 1.0  # as the client's clock has it
            connection.sendall(drop)

    monkeypatch.setattr(wire, "time", SimpleNamespace(monotonic=lambda: now))
    with listening(answer) as server:
        client = made(f"http://127.0.0.1:{server.port}", timeout_s=5.0)
        assert [client.post("/chat", b"{}").body for _ in range(3)] == [b"1234"] * 3
    assert server.connections == 1


def test_a_body_that_ends_early_is_a_broken_connection() -> None:
    def half(connection: socket.socket, _: bytes) -> None:
        connection.sendall(HEAD + b"half")
        connection.close()

    with listening(half) as server, pytest.raises(Broken):
        post(server)


def test_a_body_in_chunks_is_joined() -> None:
    reply = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n[1,\r\n2\r\n2]\r\n0\r\n\r\n"
    with listening(plainly(reply)) as server:
        assert post(server).body == b"[1,2]"


# ── redirects ──


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_an_error_that_names_the_new_address_without_secrets(status: int) -> None:
    to = b"https://me:pass-word@new.example/v1/chat?token=abc"
    with listening(plainly(b"HTTP/1.1 %d Moved\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n" % (status, to))) as server:
        with pytest.raises(EndpointDown, match=r"https://new\.example/v1/chat.*endpoint\.base_url") as caught:
            ask(endpoint(f"http://127.0.0.1:{server.port}/v1"))
        assert not any(secret in str(caught.value) for secret in ("pass-word", "abc", KEY))
        assert len(server.requests) == 1


def test_a_redirect_to_nowhere_is_an_error_too() -> None:
    reply = plainly(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n")
    with listening(reply) as server, pytest.raises(EndpointDown, match="does not name"):
        ask(endpoint(f"http://127.0.0.1:{server.port}/v1"))


# ── errors as they come ──


def test_an_error_in_plain_words_is_shown() -> None:
    reply = plainly(b"HTTP/1.1 400 Bad\r\nContent-Length: 9\r\n\r\ntoo\nlarge")
    with listening(reply) as server, pytest.raises(EndpointError, match=r"400\): too large"):
        ask(endpoint(f"http://127.0.0.1:{server.port}/v1"))


def test_bytes_that_are_no_http_are_a_broken_connection() -> None:
    with listening(plainly(b"SSH-2.0-OpenSSH_9\r\n\r\n")) as server, pytest.raises(EndpointError, match="broke"):
        ask(endpoint(f"http://127.0.0.1:{server.port}/v1", max_retries=0))


# ── TLS ──


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate of 127.0.0.1 that nobody vouches for, and its key."""
    if not shutil.which("openssl"):
        pytest.skip("openssl is needed to make a certificate")
    folder = tmp_path_factory.mktemp("tls")
    own, secret = folder / "certificate.pem", folder / "key.pem"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost"
    extensions = ["-addext", "subjectAltName=IP:127.0.0.1", "-addext", "keyUsage=critical,digitalSignature,keyCertSign"]
    files = ["-keyout", str(secret), "-out", str(own)]
    subprocess.run([*command.split(), *extensions, *files], check=True, capture_output=True)
    return own, secret


@pytest.fixture
def context(certificate: tuple[Path, Path]) -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(*certificate)
    return made


def test_a_certificate_that_nobody_vouches_for_is_refused(context: ssl.SSLContext) -> None:
    with listening(plainly(OK), context) as server:
        with pytest.raises(EndpointDown, match="self-signed certificate"):
            ask(endpoint(f"https://127.0.0.1:{server.port}/v1"))
        assert server.requests == []


def test_a_certificate_that_the_system_knows_is_taken(
    context: ssl.SSLContext, certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    with listening(plainly(OK), context) as server:
        client = made(f"https://127.0.0.1:{server.port}/v1")
        assert [client.post("/chat", b"{}").body for _ in range(3)] == [b"{}"] * 3
    assert server.connections == 1


def test_the_time_for_a_reply_holds_over_tls_too(
    context: ssl.SSLContext, certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    with listening(dripping(HEAD, b" " * 100), context) as server:
        client = made(f"https://127.0.0.1:{server.port}/v1", timeout_s=0.4)
        with pytest.raises(Late):
            client.post("/chat", b"{}")


# ── proxies ──


def test_a_proxy_from_the_environment_is_asked_with_its_own_login(monkeypatch: pytest.MonkeyPatch) -> None:
    with listening(plainly(OK)) as proxy:
        monkeypatch.setenv("http_proxy", f"http://me:word@127.0.0.1:{proxy.port}")
        made("http://models.example/v1").post("/chat", b"{}")
    (request,) = proxy.requests
    assert request.startswith("POST http://models.example/v1/chat HTTP/1.1")
    assert f"roxy-authorization: Basic {base64.b64encode(b'me:word').decode()}".lower() in request.lower()


def test_a_host_that_is_excepted_from_the_proxy_is_asked_directly(monkeypatch: pytest.MonkeyPatch) -> None:
    with listening(plainly(OK)) as server, listening(plainly(OK)) as proxy:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        post(server)
        assert (len(server.requests), len(proxy.requests)) == (1, 0)


def test_a_call_over_tls_goes_through_the_proxy_as_a_tunnel(monkeypatch: pytest.MonkeyPatch) -> None:
    with listening(plainly(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")) as proxy:
        monkeypatch.setenv("https_proxy", f"127.0.0.1:{proxy.port}")
        with pytest.raises(Unreachable, match="403"):
            made("https://models.example/v1").post("/chat", b"{}")
    assert proxy.requests[0].startswith("CONNECT models.example:443")
    assert KEY not in proxy.requests[0]


def test_a_proxy_that_is_not_there_stops_the_run_without_showing_its_login(monkeypatch: pytest.MonkeyPatch) -> None:
    with listening(plainly(OK)) as gone:
        pass
    monkeypatch.setenv("http_proxy", f"http://me:pass-word@127.0.0.1:{gone.port}")
    with pytest.raises(EndpointDown, match="Cannot reach http://models") as caught:
        ask(endpoint("http://models.example/v1"))
    assert "pass-word" not in str(caught.value)


def test_a_proxy_of_another_kind_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("all_proxy", "socks5://me:pass-word@127.0.0.1:1080")
    with pytest.raises(EndpointDown, match="socks5") as caught:
        ask(endpoint("http://models.example/v1"))
    assert "pass-word" not in str(caught.value)
