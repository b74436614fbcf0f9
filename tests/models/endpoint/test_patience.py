"""How long a request waits for what, what it says when that is over, and what is sent where: worked out by hand."""

from __future__ import annotations

import base64
import ssl
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest
import urllib3

from sensegraph.models.endpoint import wire
from sensegraph.models.endpoint.incoming import Broken, Late, Oversized, Unreachable
from sensegraph.models.endpoint.wire import Patience, Wire


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is 100 s, and no proxy is known."""
    monkeypatch.setattr(wire, "time", SimpleNamespace(monotonic=lambda: 100.0))
    monkeypatch.setattr(wire, "getproxies", dict)
    monkeypatch.setattr(wire, "proxy_bypass", lambda host: False)


@pytest.mark.parametrize(
    ("patience", "began", "before", "after"),
    [
        (Patience(), 0.0, 600.0, 120.0),
        (Patience(7.0, 3.0), 0.0, 7.0, 3.0),
        (Patience(7.0, 3.0, 5.0), 100.0, 5.0, 3.0),
        (Patience(7.0, 3.0, 5.0), 98.0, 3.0, 3.0),
        (Patience(7.0, 3.0, 5.0), 97.0, 2.0, 2.0),
        (Patience(7.0, 3.0, 5.0), 90.0, -5.0, -5.0),
        (Patience(7.0, 3.0, 50.0), 90.0, 7.0, 3.0),
    ],
)
def test_the_next_byte_may_take_as_long_as_it_and_the_whole_may(
    patience: Patience, began: float, before: float, after: float
) -> None:
    assert (patience.left(began, heard=False), patience.left(began, heard=True)) == (before, after)


@pytest.mark.parametrize(
    ("patience", "began", "before", "after"),
    [
        (Patience(), 0.0, "no reply within 600 s", "nothing more for 120 s"),
        (Patience(7.5, 3.0, 5.0), 96.0, "no reply within 7.5 s", "nothing more for 3 s"),
        (Patience(7.5, 3.0, 5.0), 95.0, "no reply within 5 s", "no reply within 5 s"),
        (Patience(7.5, 3.0, 5.0), 95.009, "no reply within 5 s", "no reply within 5 s"),
        (Patience(7.5, 3.0, 5.0), 95.02, "no reply within 7.5 s", "nothing more for 3 s"),
    ],
)
def test_which_time_is_over_is_said(patience: Patience, began: float, before: str, after: str) -> None:
    assert (patience.explain(began, heard=False), patience.explain(began, heard=True)) == (before, after)


@pytest.mark.parametrize(
    ("patience", "connect", "read"),
    [
        (Patience(), 10.0, 600.0),
        (Patience(connect=4.0), 4.0, 600.0),
        (Patience(whole=3.0), 3.0, 3.0),
        (Patience(whole=30.0), 10.0, 30.0),
        (Patience(first_byte=20.0, whole=30.0, connect=50.0), 30.0, 20.0),
    ],
)
def test_a_connection_is_waited_for_no_longer_than_for_all(patience: Patience, connect: float, read: float) -> None:
    timeout = Wire("http://host/v1", {}, connections=3, patience=patience)._how["timeout"]
    assert (timeout.connect_timeout, timeout.read_timeout) == (connect, read)


def basic(login: str) -> str:
    return f"Basic {base64.b64encode(login.encode()).decode()}"


@pytest.mark.parametrize(
    ("url", "base", "query", "key"),
    [
        ("http://host/v1", "http://host/v1", "", "Bearer k"),
        ("http://host:81/v1/?a=b", "http://host:81/v1", "a=b", "Bearer k"),
        ("https://ann:p%40ss@host/", "https://host", "", basic("ann:p@ss")),
        ("http://ann@host", "http://host", "", basic("ann:")),
        ("http://@host", "http://host", "", basic(":")),
    ],
)
def test_an_address_is_taken_apart_and_its_user_stands_before_the_key(
    url: str, base: str, query: str, key: str
) -> None:
    made = Wire(url, {"authorization": "Bearer k"}, connections=3, patience=Patience())
    sent = made._how["headers"]
    assert (made._base, made._query, sent["authorization"]) == (base, query, key)
    assert (sent["Content-Type"], made._how["retries"], made._how["redirect"]) == ("application/json", False, False)
    assert made._pools.connection_pool_kw["maxsize"] == 3
    held = made._pools.connection_pool_kw.get("ssl_context")
    assert isinstance(held, ssl.SSLContext) is url.startswith("https")


@pytest.mark.parametrize(
    ("proxies", "direct", "bypassed", "proxy", "login"),
    [
        ({}, False, False, None, None),
        ({"http": "http://p:8080"}, False, False, "http://p:8080", None),
        ({"http": "p:8080"}, False, False, "http://p:8080", None),
        ({"all": "http://all:1"}, False, False, "http://all:1", None),
        ({"http": "http://p:8080", "all": "http://all:1"}, False, False, "http://p:8080", None),
        ({"https": "http://p:8080"}, False, False, None, None),
        ({"http": "http://p:8080"}, True, False, None, None),
        ({"http": "http://p:8080"}, False, True, None, None),
        ({"http": "http://bo:pw@p:8080"}, False, False, "http://p:8080", basic("bo:pw")),
    ],
)
def test_a_proxy_is_that_of_the_scheme_else_that_of_all(
    monkeypatch: pytest.MonkeyPatch, proxies: Mapping[str, str], direct: bool, bypassed: bool, proxy: str | None,
    login: str | None,
) -> None:  # fmt: skip
    monkeypatch.setattr(wire, "getproxies", lambda: proxies)
    monkeypatch.setattr(wire, "proxy_bypass", lambda host: bypassed)
    pools: Any = Wire("http://host/v1", {}, connections=1, patience=Patience(), direct=direct)._pools
    if proxy is None:
        assert type(pools) is urllib3.PoolManager
    else:
        assert f"{pools.proxy.scheme}://{pools.proxy.host}:{pools.proxy.port}" == proxy
        assert pools.proxy_headers.get("Proxy-authorization") == login


def test_a_proxy_of_another_kind_is_not_used() -> None:
    with pytest.raises(Unreachable, match="names a proxy of the kind socks5; only http proxies serve here"):
        wire._open_pools("http", {"all": "socks5://p:1"}, Patience())


class Source:
    """A socket whose raw end gives these pieces."""

    def __init__(self, pieces: list[bytes]) -> None:
        self.pieces, self.waited = pieces, list[float]()

    def makefile(self, mode: str, buffering: int) -> Source:
        assert (mode, buffering) == ("rb", 0)
        return self

    def settimeout(self, seconds: float) -> None:
        self.waited.append(seconds)

    def readinto(self, buffer: Any) -> int:
        piece = self.pieces.pop(0)
        buffer[: len(piece)] = piece
        return len(piece)


def timed(pieces: list[bytes], hurried: bool = False, began: float = 100.0) -> tuple[Any, Source]:
    by = wire._Waiting("host")
    by.patience, by.hurried = Patience(7.0, 3.0, 50.0), hurried
    source = Source(pieces)
    return wire._Timed(source, by, began), source  # type: ignore[arg-type]


def test_each_byte_has_its_own_time_and_the_end_of_a_reply_a_fifth_of_a_second() -> None:
    made, source = timed([b"ab", b"c", b""])
    buffer = bytearray(4)
    assert [made.readinto(buffer) for _ in range(3)] == [2, 1, 0]
    assert source.waited == [7.0, 3.0, 3.0]
    made, source = timed([b"ab", b"c"], hurried=True)
    assert [made.readinto(buffer) for _ in range(2)] == [2, 1]
    assert source.waited == [0.2, 0.2]
    made, source = timed([b"ab"], began=50.0)
    with pytest.raises(Late, match="no reply within 50 s"):
        made.readinto(buffer)
    assert source.waited == []


def test_a_reply_may_have_so_many_bytes_and_its_headers_fewer() -> None:
    made, _ = timed([b"x" * 1024] * 129)
    buffer = bytearray(1024)
    for _ in range(128):
        made.readinto(buffer)
    with pytest.raises(Oversized, match=r"^headers of more than 128 KB$"):
        made.readinto(buffer)
    made, _ = timed([b"x" * 10, b"x"])
    made.most = 10
    made.readinto(buffer)
    with pytest.raises(Oversized, match=r"^a reply without end$"):
        made.readinto(buffer)


def test_a_connection_that_lay_idle_for_thirty_seconds_is_not_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(urllib3.connection.HTTPConnection, "is_connected", True)
    made = wire._Waiting("host")
    for used, good in ((100.0, True), (70.1, True), (70.0, False), (10.0, False)):
        made.used = used
        assert made.is_connected is good


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (urllib3.exceptions.SSLError(ssl.SSLError(1, "bad certificate")), Unreachable, "bad certificate"),
        (urllib3.exceptions.NewConnectionError(None, "no way"), Unreachable, "no way"),  # type: ignore[arg-type]
        (urllib3.exceptions.ReadTimeoutError(None, None, "late"), Late, "no connection in time"),  # type: ignore[arg-type]
        (urllib3.exceptions.ProtocolError("broke", ConnectionResetError(104, "reset by peer")), Broken,
         "reset by peer"),
        (urllib3.exceptions.ProtocolError("x", wire.LineTooLong("header")), Oversized,
         "headers of more than 64 KB in one line"),
        (urllib3.exceptions.HTTPError(), Broken, "HTTPError"),
    ],
)  # fmt: skip
def test_errors_of_the_client_are_told_by_their_innermost_reason(error: Exception, kind: Any, said: str) -> None:
    with pytest.raises(kind) as told, wire._translated_errors():
        raise error
    assert str(told.value).endswith(said)
