"""Who may do what: tokens for reading and for writing, the sessions of browsers, and the names of this server."""

from __future__ import annotations

import secrets
import stat
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from hmac import compare_digest
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from sensegraph.errors import SettingsError

if TYPE_CHECKING:
    from sensegraph.corpus.sources import Pace

Level = Literal["", "read", "write"]
_LEAST = 16  # characters of a token
_SESSION_S = 30 * 86_400.0
_SESSIONS = 1000  # that are remembered; the oldest goes first


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what is asked. Times are in seconds, sizes in bytes; 0 is no limit for `requests` and `day_*`.

    A client is a token, or an address where there is none: it may ask `questions` at once, others of it wait in a
    `queue`; `requests` a second, and `burst` after a rest. `day_*` bound what the questions of all clients cost.
    """

    questions: int = 4
    queue: int = 16
    at_once: int = 8
    requests: float = 100.0
    burst: int = 400
    failures: int = 20
    body: int = 1 << 20
    upload: int = 50 << 20
    unpacked: int = 200 << 20
    files: int = 10_000
    stored: int = 2 << 30
    day_tokens: int = 0
    day_cost: float = 0.0
    heartbeat: float = 15.0
    unread: float = 60.0


@dataclass(frozen=True, slots=True)
class Tokens:
    """The digests of the tokens of each level; none at all where no token is needed."""

    read: tuple[bytes, ...] = ()
    write: tuple[bytes, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.read or self.write)

    def level_of(self, token: str) -> Level:
        """What a token allows; all are compared, so that the time tells nothing."""
        digest = sha256(token.encode("utf-8", "surrogateescape")).digest()
        found: Level = ""
        for known in self.read:
            found = "read" if compare_digest(digest, known) else found
        for known in self.write:
            found = "write" if compare_digest(digest, known) else found
        return found


def read_token_file(path: Path) -> Tokens:
    """The tokens of a file of lines `read TOKEN` and `write TOKEN`. Raises SettingsError for one that is not safe."""
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise SettingsError(f"{path} may be read by others; run: chmod 600 {path}")
    found: dict[str, list[bytes]] = {"read": [], "write": []}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) != 2 or words[0] not in found:
            raise SettingsError(f"{path}, line {number}: not of the form `read TOKEN` or `write TOKEN`.")
        if len(words[1]) < _LEAST:
            raise SettingsError(f"{path}, line {number}: the token has fewer than {_LEAST} characters; take a new one.")
        found[words[0]].append(sha256(words[1].encode()).digest())
    if not any(found.values()):
        raise SettingsError(f"{path} holds no token; write lines `read TOKEN` and `write TOKEN`, or remove it.")
    return Tokens(tuple(found["read"]), tuple(found["write"]))


def make_token_file(path: Path) -> None:
    """Write a file with a new token of each level, which nobody else may read."""
    path.touch(mode=0o600, exist_ok=False)
    lines = (f"{level} {secrets.token_urlsafe(32)}" for level in ("read", "write"))
    path.write_text("\n".join(["# tokens of sensegraph serve: what each allows, and the token", *lines, ""]))


def is_loopback(host: str) -> bool:
    """Whether a name of a host is this machine alone."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """How corpora are served. `hosts` are the names that this server is reached by, besides its address.

    With `watch` the folders of documents are followed at this pace. Raises SettingsError where nothing may change.
    """

    host: str = "127.0.0.1"
    port: int = 8123
    tokens: Tokens = field(default_factory=Tokens)
    read_only: bool = False
    hosts: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    settings: Mapping[str, object] = field(default_factory=dict)
    watch: Pace | None = None

    def __post_init__(self) -> None:
        if self.watch and self.read_only:
            raise SettingsError("--watch changes what is served, and --read-only says that nothing is: leave one out.")

    @property
    def most(self) -> Level:
        """What a client may do at most."""
        return "read" if self.read_only else "write"

    @property
    def local(self) -> bool:
        """Whether this machine alone is served, as far as that is known: a proxy is, where it has a name here."""
        return is_loopback(self.host) and not self.hosts

    def knows_host(self, header: str) -> bool:
        """Whether a Host header names this server.

        Other names may lead here too, as those of a page that wants to read what it must not (DNS rebinding): an
        address cannot be led elsewhere, so any is taken where the server listens on more than this machine.
        """
        name = split_host(header)
        if name in {h.lower() for h in self.hosts} or name == self.host.lower() or is_loopback(name):
            return True
        try:
            ip_address(name.strip("[]"))
        except ValueError:
            return False
        return not is_loopback(self.host)


def split_host(header: str) -> str:
    """The name of a Host header, without the port, in small letters."""
    name = header.strip().lower()
    if name.startswith("["):
        return name[: name.find("]") + 1]
    return name.partition(":")[0]


class Sessions:
    """Browsers that showed a token: a random value for each, which its cookie holds, and what it allows."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, tuple[Level, float]] = OrderedDict()

    def begin(self, level: Level) -> str:
        """A new session."""
        name = secrets.token_urlsafe(32)
        self._known[_digest_name(name)] = level, time.time() + _SESSION_S
        while len(self._known) > _SESSIONS:
            self._known.popitem(last=False)
        return name

    def level_of(self, name: str) -> Level:
        """What a session allows; nothing where there is none."""
        level, until = self._known.get(_digest_name(name), ("", 0.0))
        return level if time.time() < until else ""

    def end(self, name: str) -> None:
        """Forget a session."""
        self._known.pop(_digest_name(name), None)


def _digest_name(name: str) -> str:
    return sha256(name.encode("utf-8", "surrogateescape")).hexdigest()
