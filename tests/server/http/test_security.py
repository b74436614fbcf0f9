"""What a server refuses: hosts, origins, tokens, methods, sizes, paths, and too much at once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers

from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import SettingsError
from sensegraph.server.http.access import (
    Limits,
    ServeOptions,
    Sessions,
    Tokens,
    is_loopback,
    make_token_file,
    read_token_file,
)
from sensegraph.server.http.failures import Refused
from sensegraph.server.http.guard import Bucket, Guard
from sensegraph.server.http.metrics import Metrics
from sensegraph.server.running import choose_tokens
from web_client import JSON, WebClient, serving

READ, WRITE = "read-token-of-the-tests", "write-token-of-the-tests"
C = "/api/v1/harbour"
ASK: dict[str, Any] = {"question": "Who keeps the lighthouse of Skerry Point?"}


@pytest.fixture(scope="module")
def tokens(tmp_path_factory: pytest.TempPathFactory) -> Tokens:
    path = tmp_path_factory.mktemp("tokens") / "tokens"
    path.write_text(f"# of the tests\nread {READ}\n\nwrite {WRITE}\n")
    path.chmod(0o600)
    return read_token_file(path)


@pytest.fixture(scope="module")
def guarded(corpus: Corpus, tokens: Tokens) -> Iterator[WebClient]:
    options = ServeOptions(port=0, tokens=tokens, hosts=("graph.example",), limits=Limits(failures=1000))
    with serving({"harbour": corpus}, options) as opened:
        yield opened


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


# ── hosts ──


@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "localhost:{port}", "LOCALHOST", "[::1]:{port}", "127.0.0.1"])
def test_names_of_this_machine_are_hosts(client: WebClient, host: str) -> None:
    port = client.host.partition(":")[2]
    assert client.get("/healthz", Host=host.format(port=port)).status == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.5", "evil.example:8123", "[::2]", "@"],
)
def test_other_hosts_are_refused(client: WebClient, host: str) -> None:
    reply = client.get("/healthz", Host=host)
    assert (reply.status, reply.code) == (400, "BadRequest")


def test_a_request_with_two_hosts_or_none_is_refused(client: WebClient) -> None:
    assert client.raw(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n").status == 400
    assert client.raw(b"GET /healthz HTTP/1.0\r\n\r\n").status == 400


def test_a_host_that_is_named_is_one(guarded: WebClient, client: WebClient) -> None:
    assert guarded.get("/healthz", Host="graph.example").status == 200
    assert client.get("/healthz", Host="graph.example").status == 400


def test_a_server_for_others_is_reached_by_any_address_and_by_no_unknown_name() -> None:
    options = ServeOptions(host="0.0.0.0", hosts=("graph.example",))
    assert [options.knows_host(h) for h in ("10.1.2.3:8123", "[fe80::1]:1", "graph.example", "localhost")] == [True] * 4
    assert [options.knows_host(h) for h in ("evil.example", "", "graph.example.evil")] == [False] * 3


# ── origins ──


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://localhost:1", "https://{host}", "ftp://{host}", "http://{host}/x", "", "x"],
)
def test_pages_of_other_origins_are_refused(client: WebClient, origin: str) -> None:
    text = f"POST {C}/search HTTP/1.1\r\nHost: {client.host}\r\nOrigin: {origin.format(host=client.host)}\r\n"
    text += f"Content-Type: {JSON}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}"
    reply = client.raw(text.encode())
    # a proxy that speaks https for this server keeps its port out of both
    wanted = (400, "InputError") if origin == "https://{host}" else (403, "Forbidden")
    assert (reply.status, reply.code) == wanted


def test_a_page_behind_a_proxy_with_https_is_of_the_same_origin(guarded: WebClient) -> None:
    headers = {"Host": "graph.example", "Origin": "https://graph.example", **bearer(READ)}
    assert guarded.ask("GET", f"{C}/status", headers=headers).status == 200
    assert guarded.ask("GET", f"{C}/status", headers=headers | {"Origin": "https://graph.example:444"}).status == 403


def test_reading_is_refused_to_pages_of_other_origins_too(client: WebClient) -> None:
    assert client.get(f"{C}/status", Origin="http://evil.example").status == 403
    assert client.get(f"{C}/status", Origin=client.origin).status == 200


def test_nothing_is_allowed_to_pages_of_other_origins(client: WebClient) -> None:
    reply = client.ask("OPTIONS", f"{C}/query", headers={"Origin": "http://evil.example"})
    assert reply.status == 403
    own = client.ask("OPTIONS", f"{C}/query", headers={"Origin": client.origin, "Content-Type": JSON})
    names = [name for name in (*reply.headers, *own.headers) if name.startswith("access-control")]
    assert own.status == 405
    assert names == []


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_a_form_of_a_page_asks_nothing(client: WebClient, kind: str) -> None:
    headers = {"Origin": client.origin, "Content-Type": kind}
    assert client.ask("POST", f"{C}/query", '{"question": "pier"}', headers).status == 415
    assert client.ask("POST", f"{C}/query", '{"question": "pier"}', {"Content-Type": kind}).status == 415


# ── tokens ──

OPEN = ["/healthz", "/readyz", "/api/v1/session", "/api/v1/openapi.json"]
READING = [("GET", f"{C}/status", None), ("GET", "/metrics", None), ("GET", "/v1/models", None)]
READING += [("GET", f"{C}/reports", None), ("GET", f"{C}/jobs", None), ("GET", "/api/v1/corpora", None)]
READING += [("POST", f"{C}/search", {"question": "pier"}), ("POST", f"{C}/match", {"pattern": "(a)", "limit": 1})]
READING += [("POST", f"{C}/query", ASK), ("POST", f"{C}/map/places", {})]
WRITING: list[tuple[str, str, Any]] = [
    ("PUT", f"{C}/documents/x.exe", b"x"),
    ("POST", f"{C}/documents", b"x"),
    ("DELETE", f"{C}/documents/none", None),
    ("DELETE", f"{C}/input/none.txt", None),
    ("POST", f"{C}/jobs", {"kind": "none"}),
    ("DELETE", f"{C}/jobs/none", None),
]


@pytest.mark.parametrize("path", OPEN)
def test_what_tells_nothing_needs_no_token(guarded: WebClient, path: str) -> None:
    assert guarded.get(path).status == 200


@pytest.mark.parametrize(("method", "path", "body"), [*READING, *WRITING])
def test_nothing_is_done_without_a_token_or_with_a_wrong_one(
    guarded: WebClient, method: str, path: str, body: Any
) -> None:
    wrong = (None, bearer("x"), bearer(READ + "x"), bearer(READ[:-1]), bearer(""), {"Authorization": f"Basic {READ}"})
    for headers in wrong:
        reply = guarded.ask(method, path, body, headers)
        assert (reply.status, reply.code) == (401, "Unauthorized")
        assert reply.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(("method", "path", "body"), READING)
def test_a_token_for_reading_reads_and_asks(guarded: WebClient, method: str, path: str, body: Any) -> None:
    for token in (READ, WRITE):
        assert guarded.ask(method, path, body, bearer(token)).status == 200


@pytest.mark.parametrize(("method", "path", "body"), WRITING)
def test_a_token_for_reading_changes_nothing(guarded: WebClient, method: str, path: str, body: Any) -> None:
    reply = guarded.ask(method, path, body, bearer(READ))
    assert (reply.status, reply.code) == (403, "Forbidden")
    assert guarded.ask(method, path, body, bearer(WRITE)).status in (400, 404)  # of what there is not


@pytest.mark.parametrize(("method", "path", "body"), WRITING)
def test_a_server_for_reading_alone_changes_nothing(
    corpus: Corpus, tokens: Tokens, method: str, path: str, body: Any
) -> None:
    for options in (ServeOptions(port=0, read_only=True), ServeOptions(port=0, read_only=True, tokens=tokens)):
        with serving({"harbour": corpus}, options) as opened:
            assert opened.ask(method, path, body, bearer(WRITE)).status == 403
            assert opened.get(f"{C}/status", **bearer(WRITE)).status == 200


def test_addresses_that_are_not_there_are_not_told_without_a_token(guarded: WebClient) -> None:
    assert guarded.get("/api/v1/nowhere/status").status == 401
    assert guarded.get("/api/v1/nowhere/status", **bearer(READ)).status == 404
    assert guarded.get("/mcp").status == 401


# ── sessions of browsers ──


def sign_in(client: WebClient, token: str) -> dict[str, str]:
    reply = client.post("/api/v1/session", {"token": token}, {"Origin": client.origin})
    assert reply.status == 200
    cookie = reply.headers["set-cookie"]
    assert all(word in cookie for word in ("HttpOnly", "SameSite=strict", "Path=/", "Max-Age=2592000"))
    assert token not in cookie
    assert "Secure" not in cookie  # the page itself is not
    assert reply.json == {"version": "0.1.0", "auth": "token", "level": token.partition("-")[0]}
    return {"Cookie": cookie.partition(";")[0]}


def test_a_browser_signs_in_with_a_token_and_out(guarded: WebClient) -> None:
    cookie = sign_in(guarded, READ)
    assert guarded.get("/api/v1/session").json == {"version": "0.1.0", "auth": "token", "level": ""}
    assert guarded.get("/api/v1/session", **cookie).json["level"] == "read"
    assert guarded.get(f"{C}/status", **cookie).status == 200
    headers = {**cookie, "Origin": guarded.origin, "Content-Type": JSON}
    assert guarded.ask("DELETE", "/api/v1/session", headers=headers).status == 200
    assert guarded.get(f"{C}/status", **cookie).status == 401


def test_a_session_asks_from_the_page_alone(guarded: WebClient) -> None:
    cookie = sign_in(guarded, WRITE)
    start = {"kind": "none"}
    assert guarded.post(f"{C}/jobs", start, cookie).status == 403  # no page says that it asks
    assert guarded.post(f"{C}/jobs", start, {**cookie, "Origin": "http://evil.example"}).status == 403
    assert guarded.post(f"{C}/jobs", start, {**cookie, "Origin": guarded.origin}).code == "InputError"
    file = {**cookie, "Origin": guarded.origin, "Content-Type": "text/plain"}
    assert guarded.ask("PUT", f"{C}/documents/x.exe", b"x", file).status == 415
    assert guarded.ask("PUT", f"{C}/documents/x.exe", b"x", {**file, "X-Sensegraph": "1"}).status == 400


def test_without_tokens_there_is_nobody_to_sign_in(client: WebClient) -> None:
    reply = client.post("/api/v1/session", {"token": "any"}, {"Origin": client.origin})
    assert (reply.status, reply.json) == (200, {"version": "0.1.0", "auth": "none", "level": "write"})
    assert "set-cookie" not in reply.headers


def test_a_server_that_is_only_read_signs_in_to_read(corpus: Corpus, tokens: Tokens) -> None:
    with serving({"harbour": corpus}, ServeOptions(port=0, tokens=tokens, read_only=True)) as opened:
        reply = opened.post("/api/v1/session", {"token": WRITE}, {"Origin": opened.origin})
        assert reply.json["level"] == "read"


def test_a_wrong_token_signs_nobody_in(guarded: WebClient) -> None:
    reply = guarded.post("/api/v1/session", {"token": READ + "x"})
    assert (reply.status, reply.code) == (401, "Unauthorized")
    assert "set-cookie" not in reply.headers


def test_a_cookie_is_safe_where_the_page_is(guarded: WebClient) -> None:
    headers = {"Host": "graph.example", "Origin": "https://graph.example"}
    assert "Secure" in guarded.post("/api/v1/session", {"token": READ}, headers).headers["set-cookie"]


def test_sessions_end_and_are_not_endless() -> None:
    sessions = Sessions()
    names = [sessions.begin("read") for _ in range(1001)]
    assert sessions.level_of(names[0]) == ""
    assert sessions.level_of(names[-1]) == "read"
    assert sessions.level_of("") == ""


def test_an_address_that_shows_many_wrong_tokens_is_not_heard_for_a_while(corpus: Corpus, tokens: Tokens) -> None:
    options = ServeOptions(port=0, tokens=tokens, limits=Limits(failures=3))
    with serving({"harbour": corpus}, options) as opened:
        found = [opened.post("/api/v1/session", {"token": "wrong"}, {"Origin": opened.origin}) for _ in range(2)]
        found += [opened.get(f"{C}/status", **bearer("wrong")) for _ in range(3)]
        assert [r.status for r in found] == [401, 401, 401, 429, 429]
        assert found[-1].headers["retry-after"] == "60"


def test_a_client_is_its_token_or_its_session_and_else_its_address(tokens: Tokens) -> None:
    sessions = Sessions()
    reads, writes = sessions.begin("read"), sessions.begin("write")

    def admit(options: ServeOptions, **headers: str) -> tuple[str, str, str]:
        guard = Guard(None, options, sessions, Metrics(options.limits), lambda: None)  # type: ignore[arg-type]
        headers = {name: value.replace("COOKIE", guard.cookie) for name, value in headers.items()}
        found = guard._identify(Headers(headers), "10.0.0.7")
        return found.level, found.client, found.session

    def digest(name: str) -> str:
        return sha256(name.encode()).hexdigest()[:16]

    alone, guarded = ServeOptions(port=0), ServeOptions(port=0, tokens=tokens)
    reading = ServeOptions(port=0, tokens=tokens, read_only=True)
    assert admit(alone) == ("write", "10.0.0.7", "")
    assert admit(ServeOptions(port=0, read_only=True)) == ("read", "10.0.0.7", "")
    assert admit(guarded) == ("", "10.0.0.7", "")
    assert admit(guarded, **bearer(READ)) == ("read", digest(READ), "")
    assert admit(guarded, authorization=f"bearer {WRITE} ") == ("write", digest(WRITE), "")
    assert admit(reading, **bearer(WRITE)) == ("read", digest(WRITE), "")
    assert admit(guarded, cookie=f"COOKIE={writes}") == ("write", digest(writes), writes)
    assert admit(guarded, cookie=f"other=1; COOKIE={reads}") == ("read", digest(reads), reads)
    assert admit(reading, cookie=f"COOKIE={writes}") == ("read", digest(writes), writes)
    assert admit(guarded, cookie="COOKIE=invented") == ("", "10.0.0.7", "invented")
    assert admit(guarded, cookie=f"other={writes}") == ("", "10.0.0.7", "")
    for wrong in (bearer("wrong"), {"authorization": f"Basic {READ}"}):
        with pytest.raises(Refused, match="not known here"):
            admit(guarded, **wrong)


def test_a_right_token_is_never_counted_as_a_wrong_one() -> None:
    options = ServeOptions(port=0, limits=Limits(failures=3))
    guard = Guard(None, options, Sessions(), Metrics(options.limits), lambda: None)  # type: ignore[arg-type]
    found: list[int] = []
    for level in ("read",) * 9 + ("",) * 4 + ("read",):
        try:
            guard.check_sign_in(level, "10.0.0.7")  # type: ignore[arg-type]
            found.append(200)
        except Refused as e:
            found.append(e.status_code)
    assert found == [200] * 9 + [401] * 3 + [429, 200]
    with pytest.raises(Refused, match="not known here"):
        guard.check_sign_in("", "10.0.0.8")


# ── the file of tokens ──


def test_a_file_of_tokens_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    tokens, made = choose_tokens(path, "0.0.0.0", False)
    assert made
    assert path.stat().st_mode & 0o777 == 0o600
    words = dict(line.split() for line in path.read_text().splitlines() if not line.startswith("#"))
    assert {level: tokens.level_of(token) for level, token in words.items()} == {"read": "read", "write": "write"}
    assert choose_tokens(path, "0.0.0.0", False) == (tokens, False)
    with pytest.raises(FileExistsError):
        make_token_file(path)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no token"),
        ("write short\n", "fewer than 16"),
        ("admin 0123456789abcdef\n", "line 1"),
        ("read\n", "line 1"),
    ],
)
def test_a_file_of_tokens_that_is_not_safe_is_refused(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "tokens"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(SettingsError, match=why):
        read_token_file(path)


@pytest.mark.parametrize("mode", [0o640, 0o620, 0o610, 0o604, 0o602, 0o601, 0o660, 0o644])
def test_a_file_of_tokens_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "tokens"
    path.write_text(f"read {READ}\n")
    path.chmod(mode)
    with pytest.raises(SettingsError, match="chmod 600"):
        read_token_file(path)
    for own in (0o600, 0o400, 0o700):
        path.chmod(own)
        assert read_token_file(path).level_of(READ) == "read"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "graph.example"])
def test_an_address_that_others_reach_needs_tokens(host: str) -> None:
    with pytest.raises(SettingsError, match="--token-file"):
        choose_tokens(None, host, False)
    assert choose_tokens(None, host, True) == (Tokens(), False)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "[::1]", "127.8.9.1"])
def test_this_machine_alone_needs_none(host: str) -> None:
    assert is_loopback(host)
    assert choose_tokens(None, host, False) == (Tokens(), False)


@given(st.text(), st.text(min_size=1))
def test_only_the_token_itself_is_taken(token: str, other: str) -> None:
    tokens = Tokens(write=(sha256(token.encode()).digest(),))
    assert tokens.level_of(token) == "write"
    assert tokens.level_of(token + other) == ""


# ── sizes, rates, methods, paths ──


def test_bodies_have_a_bound(client: WebClient) -> None:
    big = '{"question": "' + "x" * (1 << 20) + '"}'
    reply = client.ask("POST", f"{C}/query", big, {"Content-Type": JSON})
    assert (reply.status, reply.code) == (413, "TooLarge")


def test_a_body_without_a_length_has_the_same_bound(client: WebClient) -> None:
    connection = client.connect()
    pieces = (b"x" * 65536 for _ in range(40))
    try:
        connection.request("POST", f"{C}/query", pieces, {"Content-Type": JSON}, encode_chunked=True)
        assert connection.getresponse().status == 413
    except (BrokenPipeError, ConnectionResetError):
        pass  # it was told before all was sent
    finally:
        connection.close()
    assert client.get("/healthz").status == 200


@pytest.mark.parametrize("length", ["-1", "x", "1e3"])
def test_a_length_that_is_none_is_refused(client: WebClient, length: str) -> None:
    head = (
        f"POST {C}/search HTTP/1.1\r\nHost: {client.host}\r\nContent-Type: {JSON}\r\nContent-Length: {length}\r\n\r\n"
    )
    assert client.raw(head.encode()).status in (400, 413)


def test_a_question_has_a_bound(client: WebClient) -> None:
    reply = client.post(f"{C}/query", {"question": "x" * 20_001})
    assert (reply.status, reply.code) == (400, "InputError")


def test_a_client_that_asks_too_fast_is_told_to_wait(corpus: Corpus) -> None:
    with serving({"harbour": corpus}, ServeOptions(port=0, limits=Limits(requests=0.01, burst=3))) as opened:
        found = [opened.get("/healthz") for _ in range(5)]
        assert [r.status for r in found] == [200, 200, 200, 429, 429]
        assert found[-1].code == "TooMany"
        assert int(found[-1].headers["retry-after"]) > 0


def test_a_bucket_refills_and_forgets_nobody_too_early(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("sensegraph.server.http.guard.time.monotonic", lambda: now[0])
    bucket = Bucket(2.0, 4.0)
    assert [bucket.take("a") for _ in range(5)] == [0, 0, 0, 0, 0.5]
    assert bucket.take("b") == 0
    now[0] = 1.0
    assert [bucket.take("a") for _ in range(3)] == [0, 0, 0.5]


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "TRACE", "FOO", "POST"])
def test_methods_that_an_address_has_not_are_refused(client: WebClient, method: str) -> None:
    reply = client.ask(method, f"{C}/reports")
    assert (reply.status, reply.code) == (405, "MethodNotAllowed")


SECRET = "not to be shown"


@pytest.mark.parametrize(
    "name",
    [
        "..%2Fsecret.txt", "../secret.txt", "%2e%2e%2fsecret.txt", "..%5Csecret.txt", "%2Fetc%2Fpasswd", "/etc/passwd",
        "link.txt", ".hidden.txt", "x%00.txt", "sub%2F..%2F..%2Fsecret.txt", "..", ".", "%ff", "",
    ],
)  # fmt: skip
def test_no_file_outside_of_input_is_shown(corpus: Corpus, root: Path, client: WebClient, name: str) -> None:
    folder = root / "input"
    folder.mkdir(exist_ok=True)
    (root / "secret.txt").write_text(SECRET)
    (folder / ".hidden.txt").write_text(SECRET)
    if not (folder / "link.txt").is_symlink():
        (folder / "link.txt").symlink_to(root / "secret.txt")
    (folder / "shown.txt").write_text("to be shown")
    assert client.get(f"{C}/documents/shown.txt/original").body == b"to be shown"
    reply = client.get(f"{C}/documents/{name}/original")
    assert reply.status in (400, 404)
    assert SECRET.encode() not in reply.body


@pytest.mark.parametrize("name", ["..%2Fapp.py", "../http/app.py", "%2Fetc%2Fpasswd", "..%2F..%2Ferrors.py", "x%00.js"])
def test_no_file_outside_of_the_page_is_shown(client: WebClient, name: str) -> None:
    assert client.get(f"/page/{name}").status == 404


# ── what answers carry ──


@pytest.mark.parametrize("path", ["/healthz", "/", f"{C}/reports", f"{C}/nowhere", "/page/none.js"])
def test_every_answer_says_what_a_browser_may_do_with_it(client: WebClient, path: str) -> None:
    headers = client.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "server" not in headers
    assert "cache-control" in headers


def test_an_original_is_kept_and_not_shown(root: Path, client: WebClient) -> None:
    (root / "input").mkdir(exist_ok=True)
    (root / "input" / "page “1”.html").write_text("<script>alert(1)</script>")
    reply = client.get(f"{C}/documents/page%20%E2%80%9C1%E2%80%9D.html/original")
    assert reply.headers["content-disposition"].startswith("attachment; filename*=UTF-8''page%20")
    assert reply.headers["content-security-policy"].startswith("sandbox")
    assert reply.headers["content-type"] == "application/octet-stream"


def test_nothing_changes_settings(client: WebClient) -> None:
    paths = client.get("/api/v1/openapi.json").json["paths"]
    assert len(paths) > 20
    assert [path for path in paths if "setting" in path] == []
    for field in ("settings", "endpoint", "base_url"):
        assert client.post(f"{C}/query", {"question": "pier", field: {"base_url": "http://evil.example"}}).status == 400
        assert client.post(f"{C}/jobs", {"kind": "build", field: {}}).status == 400


def test_a_failure_tells_no_inside(client: WebClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a secret of the inside")

    monkeypatch.setattr(Corpus, "reports", fail)
    reply = client.get(f"{C}/reports")
    assert (reply.status, reply.code) == (500, "Internal")
    assert b"secret" not in reply.body


WEIRD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(["query", "search", "match", "map/places", "jobs", "plan"]), WEIRD)
def test_no_body_breaks_the_server(client: WebClient, kind: str, body: Any) -> None:
    reply = client.ask("POST", f"{C}/{kind}", json.dumps(body), {"Content-Type": JSON})
    assert reply.status in (200, 400, 409, 422)
    if reply.status >= 400:
        assert set(reply.json["error"]) == {"code", "message", "next"}


@pytest.mark.parametrize(
    ("method", "path", "said", "parts", "taken"),
    [
        ("POST", "/api/v1/a/query", "10", [10], [10]),
        ("POST", "/api/v1/a/query", "0", [6, 4], [6, 4]),  # what it says is less than what it sends
        ("POST", "/api/v1/a/query", "0", [6, 5], [6, 413]),
        ("POST", "/api/v1/a/query", "11", [], [413]),
        ("POST", "/api/v1/a/query", "-1", [], [413]),
        ("POST", "/api/v1/a/query", "x", [], [413]),
        ("PUT", "/api/v1/a/documents/b", "20", [20], [20]),
        ("POST", "/api/v1/a/documents", "21", [], [413]),
        ("DELETE", "/api/v1/a/documents/b", "11", [], [413]),
    ],
)
def test_a_request_may_send_so_many_bytes_and_a_file_more(
    method: str, path: str, said: str, parts: list[int], taken: list[Any]
) -> None:
    options = ServeOptions(port=0, limits=Limits(body=10, upload=20))
    guard = Guard(None, options, Sessions(), Metrics(options.limits), lambda: None)  # type: ignore[arg-type]
    messages = iter([{"type": "http.request", "body": b"x" * n} for n in parts] + [{"type": "http.disconnect"}])

    async def receive() -> Any:
        return next(messages)

    async def take() -> list[Any]:
        found: list[Any] = []
        try:
            bounded = guard._bounded({"method": method, "path": path}, Headers({"content-length": said}), receive)
            while (message := await bounded())["type"] == "http.request":
                found.append(len(message["body"]))
        except Refused as e:
            found.append(e.status_code)
        return found

    assert asyncio.run(take()) == taken


def test_one_token_of_either_level_is_enough_to_need_one() -> None:
    known = (sha256(b"known-token").digest(),)
    assert not Tokens()
    for tokens, level in (
        (Tokens(read=known), "read"),
        (Tokens(write=known), "write"),
        (Tokens(known, known), "write"),
    ):
        assert tokens
        assert tokens.level_of("known-token") == level
        assert tokens.level_of("other-token") == ""


def test_a_file_of_tokens_with_one_level_alone_is_one_and_an_empty_one_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    path.touch(mode=0o600)
    for text, level in ((f"read {READ}", "read"), (f"# first\n\nwrite {READ}\n", "write")):
        path.write_text(text)
        assert read_token_file(path).level_of(READ) == level
    for text, said in (
        ("# nothing\n", "holds no token"),
        (f"\nadmin {READ}", "line 2: not of the form"),
        (f"read {READ} more", "line 1: not of the form"),
        ("read short", "line 1: the token has fewer than"),
    ):
        path.write_text(text)
        with pytest.raises(SettingsError, match=said):
            read_token_file(path)
    path.chmod(0o640)
    with pytest.raises(SettingsError, match="may be read by others"):
        read_token_file(path)
