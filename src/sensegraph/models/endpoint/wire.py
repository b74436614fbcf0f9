"""HTTP as far as an endpoint needs it: one POST, over connections that are kept, within one time for all of it.

No retries and no redirects: what may be tried again is the endpoint's business.
"""

from __future__ import annotations

import io
import socket
import ssl
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPResponse
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3
from urllib3 import BaseHTTPResponse, connection, connectionpool, exceptions

from sensegraph import __version__

IDLE_S = 30.0  # a connection unused for longer is opened anew: what stands between may have forgotten it


class WireError(Exception):
    """There is no reply; the message says why, without an address."""


class Late(WireError):
    """The reply was not whole in time."""


class Unreachable(WireError):
    """Nobody can be spoken to: no such host, refused, no proxy, a certificate that does not hold."""


class Broken(WireError):
    """The connection ended before the reply did."""


@dataclass(frozen=True, slots=True)
class Response:
    """What came back, whatever its status; names of `headers` are found in any case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Wire:
    """POSTs to the addresses below `base_url`, from many threads; up to `connections` are kept open.

    `timeout_s` bounds one POST from connecting to the last byte, however slowly it comes. Certificates are checked
    against the system's. Proxies are those that the standard library finds.
    """

    def __init__(self, base_url: str, api_key: str, *, connections: int, timeout_s: float) -> None:
        parts = urlsplit(base_url)
        host = parts.netloc.rpartition("@")[2]
        self._base, self._query = f"{parts.scheme}://{host}{parts.path.rstrip('/')}", parts.query
        headers = {"Content-Type": "application/json", "User-Agent": f"sensegraph/{__version__}"}
        headers |= _authorization(parts.username, parts.password, api_key)
        timeout = urllib3.Timeout(total=timeout_s)
        self._how: dict[str, Any] = {"headers": headers, "timeout": timeout, "retries": False, "redirect": False}
        secure = {"ssl_context": ssl.create_default_context()} if parts.scheme == "https" else {}
        self._pools = _open_pools(parts.scheme, host, num_pools=2, maxsize=connections, **secure)

    def post(self, path: str, body: bytes) -> Response:
        """The reply to `body`, JSON in UTF-8. Raises Late, Unreachable or Broken when there is none."""
        with _translated_errors():
            found = self._posted(path, body, whole=True)
            return Response(found.status, found.headers, found.data)

    @contextmanager
    def open(self, path: str, body: bytes) -> Iterator[Incoming]:
        """The reply to `body` while it comes; its connection is used once. Raises as `post` does."""
        with _translated_errors():
            found = self._posted(path, body, whole=False)
        try:
            yield Incoming(found)
        finally:
            found.close()

    def _posted(self, path: str, body: bytes, *, whole: bool) -> BaseHTTPResponse:
        url = self._base + path + (f"?{self._query}" if self._query else "")
        return self._pools.urlopen("POST", url, body=body, preload_content=whole, **self._how)


class Incoming:
    """A reply that is still coming; iterating gives its lines, each as soon as it is whole, without its end."""

    def __init__(self, found: BaseHTTPResponse) -> None:
        self._found = found
        self.status = found.status

    def __iter__(self) -> Iterator[bytes]:
        left = b""
        while piece := self._next():
            *lines, left = (left + piece).split(b"\n")
            for line in lines:
                yield line.removesuffix(b"\r")
        if left:
            yield left

    def response(self) -> Response:
        """All of it. Raises as `Wire.post` does."""
        with _translated_errors():
            return Response(self.status, self._found.headers, self._found.data)

    def _next(self) -> bytes:
        with _translated_errors():
            return self._found.read1(_PIECE)


_PIECE = 65536  # bytes; the most that is taken at once of what has come
_UNREACHABLE = (exceptions.NewConnectionError, exceptions.SSLError, exceptions.ProxyError)


@contextmanager
def _translated_errors() -> Iterator[None]:
    """The errors of the client as those of this module."""
    try:
        yield
    except _UNREACHABLE as e:
        raise Unreachable(_find_reason(e)) from e
    except exceptions.TimeoutError as e:
        raise Late("no reply in time") from e
    except exceptions.HTTPError as e:
        raise Broken(_find_reason(e)) from e


def _find_reason(error: BaseException) -> str:
    """The innermost reason, which names no address."""
    while inner := next((a for a in error.args if isinstance(a, BaseException)), error.__cause__):
        error = inner
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _authorization(user: str | None, password: str | None, api_key: str) -> dict[str, str]:
    """A user in the address stands before the key, as with other clients."""
    if user is not None:
        return urllib3.make_headers(basic_auth=f"{unquote(user)}:{unquote(password or '')}")
    return {"Authorization": f"Bearer {api_key}"} if api_key else {}


# ── proxies ──


def _open_pools(scheme: str, host: str, **options: Any) -> urllib3.PoolManager:
    """Connections to an address, through its proxy where there is one. Raises Unreachable for one that is not http."""
    proxies = {} if proxy_bypass(host) else getproxies()
    proxy = proxies.get(scheme) or proxies.get("all") or ""
    if not proxy:
        made = urllib3.PoolManager(**options)
    else:
        proxy = proxy if "://" in proxy else f"http://{proxy}"
        parts = urlsplit(proxy)
        if parts.scheme not in ("http", "https"):
            raise Unreachable(f"the environment names a proxy of the kind {parts.scheme}; only http proxies serve here")
        login = _authorization(parts.username, parts.password, "")
        headers = {f"Proxy-{name}": value for name, value in login.items()}
        made = urllib3.ProxyManager(proxy, proxy_headers=headers, **options)
    made.pool_classes_by_scheme = {"http": _PlainPool, "https": _SecurePool}
    return made


# ── one time for a whole reply ──


class _Timed(io.RawIOBase):
    """The bytes that come over a connection until `until`: a time for all, where a socket's is for each read."""

    def __init__(self, sock: socket.socket, until: float) -> None:
        self._socket, self._raw, self._until = sock, sock.makefile("rb", buffering=0), until

    def makefile(self, _mode: str) -> io.BufferedReader:
        """What a response reads from."""
        return io.BufferedReader(self)

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """The next bytes. Raises TimeoutError when the time is over."""
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError("the time for the reply is over")
        self._socket.settimeout(left)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        """Let go of the connection."""
        self._raw.close()
        super().close()


class _Whole(connection.HTTPConnection):
    """A connection whose timeout bounds a whole reply, and that counts as dropped after lying idle."""

    used = 0.0

    @property
    def is_connected(self) -> bool:
        """Whether it can be used once more."""
        return super().is_connected and time.monotonic() - self.used < IDLE_S

    def getresponse(self) -> Any:
        """The head of the reply, from which its body is read."""
        until = time.monotonic() + float(self.timeout or 0)

        def read_until(sock: socket.socket, **named: Any) -> HTTPResponse:
            return HTTPResponse(_Timed(sock, until), **named)  # type: ignore[arg-type]

        self.response_class = read_until  # type: ignore[assignment]
        try:
            return super().getresponse()
        finally:
            self.used = time.monotonic()


class _WholeSecure(_Whole, connection.HTTPSConnection):
    """The same over TLS."""


class _PlainPool(connectionpool.HTTPConnectionPool):
    ConnectionCls = _Whole


class _SecurePool(connectionpool.HTTPSConnectionPool):
    ConnectionCls = _WholeSecure
