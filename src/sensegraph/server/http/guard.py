"""The gate of a server: which requests come in at all, what they may do, and the headers that answers leave with."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sensegraph.server.http.access import Level, ServeOptions, Sessions, split_host
from sensegraph.server.http.failures import Refused, render_failure
from sensegraph.server.http.metrics import Metrics

OPEN = ("/healthz", "/readyz", "/", "/api/v1/session", "/api/v1/openapi.json")  # for everybody, as the page is
_OPEN_BELOW = ("/page/", "/c/")
_CLIENTS = 10_000  # of which it is remembered how much they asked
POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True, slots=True)
class Access:
    """What a request may do, and whose it is."""

    level: Level
    client: str
    session: str = ""


def access_of(request: Request) -> Access:
    """What the guard found out about a request."""
    found: Access = request.scope["state"]["access"]
    return found


def require_level(request: Request, level: Level) -> None:
    """Raise Refused for a request that may not do what needs this level."""
    held = access_of(request).level
    if not held:
        raise Refused(401, "A token is needed: send `Authorization: Bearer TOKEN`, or sign in on the page.")
    if level == "write" and held != "write":
        raise Refused(403, "This token, or this server, allows reading alone.")


class Bucket:
    """How much each client may still do: it refills at a `rate` a second up to `most`."""

    def __init__(self, rate: float, most: float) -> None:
        self._rate, self._most = rate, most
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str, amount: float = 1.0) -> float:
        """Take from what a client has; the seconds to wait where that is not enough, and then nothing is taken."""
        now = time.monotonic()
        left, since = self._left.pop(client, (self._most, now))
        left = min(self._most, left + (now - since) * self._rate)
        enough = left >= amount
        self._left[client] = (left - amount if enough else left), now
        while len(self._left) > _CLIENTS:
            self._left.popitem(last=False)
        return 0.0 if enough else (amount - left) / self._rate


class Guard:
    """Middleware before everything: host, rate, token or session, origin, and size; then the headers of answers."""

    def __init__(
        self, app: ASGIApp, options: ServeOptions, sessions: Sessions, metrics: Metrics, stop: Callable[[], None]
    ) -> None:
        self._app, self._options, self._sessions, self._metrics = app, options, sessions, metrics
        self.stop = stop  # what ends all that runs
        limits = options.limits
        self._requests = Bucket(limits.requests, limits.burst) if limits.requests else None
        self._failures = Bucket(limits.failures / 60, limits.failures)
        self.cookie = f"sensegraph-{options.port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer why not."""
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            else:
                await self._app(scope, receive, send)
            return
        begun, status = False, 0

        async def answer(message: Message) -> None:
            nonlocal begun, status
            if message["type"] == "http.response.start":
                begun, status = True, message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            headers = Headers(scope=scope)
            scope.setdefault("state", {})["access"] = self._admit(scope, headers)
            await self._app(scope, self._bounded(scope, headers, receive), answer)
        except Refused as e:
            if begun:
                raise
            await render_failure(e)(scope, receive, answer)
        finally:
            route = scope.get("route")
            self._metrics.count_request(scope["method"], getattr(route, "path", "other"), status)

    # ── who ──

    def _admit(self, scope: Scope, headers: Headers) -> Access:
        """What the request may do. Raises Refused for one that does not come in."""
        options, address = self._options, (scope.get("client") or ("", 0))[0]
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not options.knows_host(hosts[0]):
            raise Refused(400, "The Host header does not name this server; name its hosts with --allow-host.")
        if self._requests and (wait := self._requests.take(address)):
            raise Refused(429, "Too many requests; ask more slowly.", int(wait) + 1)
        origin = headers.get("origin")
        if origin is not None and not _is_same_origin(origin, hosts[0]):
            raise Refused(403, "A page of another origin asks; only pages of this server may.")
        access = self._identify(headers, address)
        if scope["method"] not in ("GET", "HEAD"):
            self._check_sender(headers, access)
        if not access.level and not _is_open(scope["path"]):
            raise Refused(401, "A token is needed: send `Authorization: Bearer TOKEN`, or sign in on the page.")
        return access

    def _identify(self, headers: Headers, address: str) -> Access:
        options = self._options
        if not options.tokens:
            return Access(options.most, address)
        given = headers.get("authorization", "")
        if given:
            kind, _, token = given.partition(" ")
            level = options.tokens.level_of(token.strip()) if kind.lower() == "bearer" else ""
            self.check_sign_in(level, address)
            named = sha256(token.strip().encode("utf-8", "surrogateescape")).hexdigest()[:16]
            return Access("read" if options.read_only else level, named)
        session = self._read_cookie(headers.get("cookie", ""))
        level = self._sessions.level_of(session) if session else ""
        allowed: Level = "read" if level and options.read_only else level
        return Access(allowed, sha256(session.encode()).hexdigest()[:16] if level else address, session)

    def check_sign_in(self, level: Level, address: str) -> None:
        """Raise Refused for a wrong token; where an address shows many of them, also for a while after."""
        if self._failures.take(address, 0.0 if level else 1.0):
            raise Refused(429, "Too many wrong tokens came from this address; try again later.", 60)
        if not level:
            raise Refused(401, "This token is not known here; the file of --token-file holds those that are.")

    def _read_cookie(self, header: str) -> str:
        try:
            found = SimpleCookie(header).get(self.cookie)
        except CookieError:
            return ""
        return found.value if found else ""

    def _check_sender(self, headers: Headers, access: Access) -> None:
        """A browser says where a request comes from, and sends no such type or header for a page of others."""
        if "origin" not in headers:
            if access.session and access.level:
                raise Refused(403, "A session is for the page of this server: send the token itself instead.")
            return
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json" and headers.get("x-sensegraph") != "1":
            raise Refused(415, "Send `Content-Type: application/json`, or the header `X-Sensegraph: 1` with a file.")

    # ── how much ──

    def _bounded(self, scope: Scope, headers: Headers, receive: Receive) -> Receive:
        """Receive no more than a request may send. Raises Refused before, where it says that it is more."""
        limits = self._options.limits
        files = scope["method"] in ("PUT", "POST") and "/documents" in scope["path"]
        most = limits.upload if files else limits.body
        said = headers.get("content-length", "0")
        if not said.isdigit() or int(said) > most:
            raise Refused(413, f"The request is larger than {most:,} bytes.")
        got = 0

        async def take() -> Message:
            nonlocal got
            message = await receive()
            if message["type"] == "http.request":
                got += len(message.get("body", b""))
                if got > most:
                    raise Refused(413, f"The request is larger than {most:,} bytes.")
            return message

        return take


def _is_open(path: str) -> bool:
    return path in OPEN or path.startswith(_OPEN_BELOW)


def _is_same_origin(origin: str, host: str) -> bool:
    """Whether an Origin header names the server that the Host header names; a proxy may speak https for it."""
    try:
        parts = urlsplit(origin)
        port = parts.port
    except ValueError:
        return False
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path or parts.query or parts.fragment:
        return False
    usual = {"http": 80, "https": 443}[parts.scheme]
    name = split_host(host)
    stated = host.strip()[len(name) :].removeprefix(":")
    if stated and not stated.isdigit():
        return False
    there = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return there == name and (port or usual) == (int(stated) if stated else usual)
