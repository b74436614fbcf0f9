"""HTTP as far as an endpoint needs it: GET and POST over connections that are kept, given up when nothing more comes.

No retries and no redirects: what may be tried again is the endpoint's business.
"""

from __future__ import annotations

import io
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPResponse, LineTooLong
from typing import IO, Any
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3
from urllib3 import BaseHTTPResponse, connection, connectionpool, exceptions

from sensegraph import __version__
from sensegraph.models.endpoint.incoming import (
    DOWNLOAD,
    HEAD,
    PIECE,
    WHOLE,
    Broken,
    Incoming,
    Late,
    Oversized,
    Response,
    Unreachable,
    WireError,
)
from sensegraph.runtime.activity import closed_when_stopped

IDLE_S = 30.0  # a connection unused for longer is opened anew: what stands between may have forgotten it


@dataclass(frozen=True, slots=True)
class Patience:
    """How many seconds are waited: for a connection, for the first byte, from one to the next, and for all (0: any)."""

    first_byte: float = 600.0
    silence: float = 120.0
    whole: float = 0.0
    connect: float = 10.0

    def left(self, began: float, heard: bool) -> float:
        """The seconds that the next byte may take, of a request that was sent at `began`."""
        left = self.silence if heard else self.first_byte
        return min(left, began + self.whole - time.monotonic()) if self.whole else left

    def explain(self, began: float, heard: bool) -> str:
        """Which of these times is over, of a request that was sent at `began`."""
        if self.whole and time.monotonic() - began >= self.whole - 0.01:
            return f"no reply within {self.whole:g} s"
        return f"nothing more for {self.silence:g} s" if heard else f"no reply within {self.first_byte:g} s"


class Wire:
    """Requests to the addresses below `base_url`, from many threads; up to `connections` are kept open.

    Certificates are checked against the system's. Proxies are those that the standard library finds, none where it is
    `direct`. `headers` are those that hold the key.
    """

    def __init__(
        self,
        base_url: str,
        headers: Mapping[str, str],
        *,
        connections: int,
        patience: Patience,
        direct: bool = False,
    ) -> None:
        parts = urlsplit(base_url)
        host = parts.netloc.rpartition("@")[2]
        self._base, self._query = f"{parts.scheme}://{host}{parts.path.rstrip('/')}", parts.query
        usual = {"Content-Type": "application/json", "User-Agent": f"sensegraph/{__version__}"}
        user = {} if parts.username is None else _authorize_user(parts.username, parts.password)
        connect = min(patience.connect, patience.whole or patience.connect)
        timeout = urllib3.Timeout(connect=connect, read=patience.left(time.monotonic(), heard=False))
        sent = usual | (user or dict(headers))
        self._how: dict[str, Any] = {"headers": sent, "timeout": timeout, "retries": False, "redirect": False}
        secure = {"ssl_context": ssl.create_default_context()} if parts.scheme == "https" else {}
        proxies = {} if direct or proxy_bypass(host) else getproxies()
        self._pools = _open_pools(parts.scheme, proxies, patience, num_pools=2, maxsize=connections, **secure)

    def post(
        self,
        path: str,
        body: bytes,
        kind: str = "application/json",
        most: int = WHOLE,
        grown: Callable[[], object] = lambda: None,
    ) -> Response:
        """The reply to `body`, of this `kind`, of at most so many bytes; `grown` is called by a long one.

        Raises Late, Unreachable, Broken or Oversized when there is none.
        """
        with self._reading("POST", path, body, kind) as incoming:
            return incoming.read_whole(most, grown)

    def get(self, path: str) -> Response:
        """What stands at a path below `base_url`. Raises as `post` does."""
        with self._reading("GET", path, None, "application/json") as incoming:
            return incoming.read_whole()

    def download(self, path: str, file: IO[bytes]) -> Response:
        """The same, written into `file` in place of what is there; an error is read whole. Raises as `post` does."""
        with self._reading("GET", path, None, "application/json") as incoming:
            return incoming.read_whole() if incoming.status >= 300 else incoming.write_into(file)

    @contextmanager
    def open(self, path: str, body: bytes) -> Iterator[Incoming]:
        """The reply to `body` while it comes; its connection is kept where that ends soon. Raises as `post` does."""
        with self._reading("POST", path, body, "application/json") as incoming:
            yield incoming

    @contextmanager
    def _reading(self, method: str, path: str, body: bytes | None, kind: str) -> Iterator[Incoming]:
        url = self._base + path + (f"?{self._query}" if self._query else "")
        how = self._how | {"headers": self._how["headers"] | {"Content-Type": kind}}
        with _translated_errors():
            found = self._pools.urlopen(method, url, body=body, preload_content=False, **how)
        pieces = _read_pieces(found)
        try:
            yield Incoming(found.status, found.headers, pieces)
            if isinstance(found.connection, _Waiting):
                found.connection.hurried = True
            with suppress(WireError):
                for _ in zip(range(_TAIL_PIECES), pieces, strict=False):
                    pass
        finally:
            found.close()


def _read_pieces(found: BaseHTTPResponse) -> Iterator[bytes]:
    """What comes of a reply, as it comes and packed as it is."""
    while True:
        with _translated_errors():
            piece = found.read1(PIECE, decode_content=False)
        if not piece:
            return
        yield piece


_TAIL_S = 0.2  # seconds that the end of a connection's reply may take after the end of what it says
_TAIL_PIECES = 4  # of a reply that said all, read so that its connection can be kept
_UNREACHABLE = (exceptions.NewConnectionError, exceptions.SSLError, exceptions.ProxyError)


@contextmanager
def _translated_errors() -> Iterator[None]:
    """The errors of the client as those of this module."""
    try:
        yield
    except _UNREACHABLE as e:
        raise Unreachable(_find_reason(e)) from e
    except exceptions.TimeoutError as e:
        raise Late("no connection in time") from e
    except exceptions.HTTPError as e:
        if any(isinstance(inner, LineTooLong) for inner in e.args):
            raise Oversized("headers of more than 64 KB in one line") from e
        raise Broken(_find_reason(e)) from e


def _find_reason(error: BaseException) -> str:
    """The innermost reason, which names no address."""
    while inner := next((a for a in error.args if isinstance(a, BaseException)), error.__cause__):
        error = inner
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _authorize_user(user: str, password: str | None) -> dict[str, str]:
    """A user in the address, who stands before the key, as with other clients."""
    return urllib3.make_headers(basic_auth=f"{unquote(user)}:{unquote(password or '')}")


# ── proxies ──


def _open_pools(scheme: str, proxies: Mapping[str, str], patience: Patience, **options: Any) -> urllib3.PoolManager:
    """Connections to an address, through its proxy where there is one. Raises Unreachable for one that is not http."""
    proxy = proxies.get(scheme) or proxies.get("all") or ""
    if not proxy:
        made = urllib3.PoolManager(**options)
    else:
        proxy = proxy if "://" in proxy else f"http://{proxy}"
        parts = urlsplit(proxy)
        if parts.scheme not in ("http", "https"):
            raise Unreachable(f"the environment names a proxy of the kind {parts.scheme}; only http proxies serve here")
        login = _authorize_user(parts.username, parts.password) if parts.username is not None else {}
        headers = {f"Proxy-{name}": value for name, value in login.items()}
        made = urllib3.ProxyManager(proxy, proxy_headers=headers, **options)
    waiting = {"patience": patience}
    plain = type("Plain", (connectionpool.HTTPConnectionPool,), {"ConnectionCls": type("One", (_Waiting,), waiting)})
    secure = type(
        "Secure", (connectionpool.HTTPSConnectionPool,), {"ConnectionCls": type("One", (_WaitingSecure,), waiting)}
    )
    made.pool_classes_by_scheme = {"http": plain, "https": secure}
    return made


# ── a time for every byte ──


class _Timed(io.RawIOBase):
    """The bytes that come over a connection, each of which may take as long as the connection's patience says."""

    def __init__(self, sock: socket.socket, by: _Waiting, began: float) -> None:
        self._socket, self._raw, self._by = sock, sock.makefile("rb", buffering=0), by
        self._began, self._heard = began, False
        self._came, self.most = 0, HEAD

    def makefile(self, _mode: str) -> io.BufferedReader:
        """What a response reads from."""
        return io.BufferedReader(self)

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """The next bytes. Raises Late when they do not come in time, Oversized when too many did."""
        left = _TAIL_S if self._by.hurried else self._by.patience.left(self._began, self._heard)
        try:
            if left <= 0:
                raise TimeoutError
            self._socket.settimeout(left)
            with closed_when_stopped(self._hang_up):
                count = self._raw.readinto(buffer)
        except TimeoutError:
            raise Late(self._by.patience.explain(self._began, self._heard)) from None
        self._heard = True
        self._came += count or 0
        if self._came > self.most:
            raise Oversized("headers of more than 128 KB" if self.most == HEAD else "a reply without end")
        return count

    def _hang_up(self) -> None:
        with suppress(OSError):  # it may have ended by itself
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Let go of the connection."""
        self._raw.close()
        super().close()


class _Waiting(connection.HTTPConnection):
    """A connection that waits for each byte of a reply, and that counts as dropped after lying idle."""

    patience = Patience()
    used = 0.0
    hurried = False  # all that matters has come

    @property
    def is_connected(self) -> bool:
        """Whether it can be used once more."""
        return super().is_connected and time.monotonic() - self.used < IDLE_S

    def getresponse(self) -> Any:
        """The head of the reply, from which its body is read."""
        began, self.hurried = time.monotonic(), False
        timed = list[_Timed]()

        def read_timed(sock: socket.socket, **named: Any) -> HTTPResponse:
            timed.append(_Timed(sock, self, began))
            return HTTPResponse(timed[-1], **named)  # type: ignore[arg-type]

        self.response_class = read_timed  # type: ignore[assignment]
        try:
            found = super().getresponse()
            timed[-1].most = DOWNLOAD
            return found
        finally:
            self.used = time.monotonic()


class _WaitingSecure(_Waiting, connection.HTTPSConnection):
    """The same over TLS."""
