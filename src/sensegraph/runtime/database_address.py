"""Where a database is: read from a URL, in which no password may stand."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from sensegraph.errors import SettingsError

SCHEMES = ("postgresql", "postgres")
PASSWORD = "SENSEGRAPH_STORE_PASSWORD"  # the variable of the environment that holds the password of a database
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")


def is_database(url: str) -> bool:
    """Whether this is the address of a database rather than a path."""
    return url.partition("://")[0] in SCHEMES and "://" in url


@dataclass(frozen=True, slots=True)
class DatabaseAddress:
    """Where a database is, and the schema in it that holds one corpus."""

    url: str
    schema: str

    @classmethod
    def parse(cls, url: str) -> DatabaseAddress:
        """The address in a URL; `?schema=` names the schema, `sensegraph` where it does not.

        Raises SettingsError for what is no address of PostgreSQL, or holds a password.
        """
        try:
            parts = urlsplit(url)
            secret = unquote(parts.password or "")
        except ValueError as e:
            raise SettingsError("store.url cannot be read; write postgresql://USER@HOST/DATABASE.") from e
        asked = parse_qsl(parts.query)
        if secret or any(name in ("password", "passfile") and value for name, value in asked):
            raise SettingsError(f"store.url holds a password: take it out, and put it into the variable {PASSWORD}.")
        if parts.scheme not in SCHEMES:
            raise SettingsError("store.url must begin with postgresql:// (or be empty for a file beside the corpus).")
        schema = next((value for name, value in asked if name == "schema"), "sensegraph")
        if not _SCHEMA.fullmatch(schema):
            raise SettingsError(f"store.url: the schema {schema!r} must be small letters, digits and _, 63 at most.")
        query = urlencode([(name, value) for name, value in asked if name != "schema"], safe="/")
        return cls(urlunsplit(parts._replace(query=query)), schema)

    @property
    def place(self) -> str:
        """The host, or the folder of its socket, and the database, without user and schema."""
        parts = urlsplit(self.url)
        host = dict(parse_qsl(parts.query)).get("host", "") or parts.netloc.rpartition("@")[2].rstrip(":")
        return f"postgresql://{host}{parts.path}"

    @property
    def is_here(self) -> bool:
        """Whether the database is on this machine: behind a socket, or at an address of its own."""
        parts = urlsplit(self.url)
        host = dict(parse_qsl(parts.query)).get("host", "") or parts.hostname or ""
        try:
            return not host or host.startswith("/") or host == "localhost" or ip_address(host).is_loopback
        except ValueError:
            return False

    def __str__(self) -> str:
        return f"{self.place}?schema={self.schema}"
