"""Replies of a model that are paid for and not stored yet: what a killed build leaves behind for the next."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import IO, Protocol, runtime_checkable

import msgspec

REPLIES = "replies.jsonl"  # beside the embedded store


@runtime_checkable
class Replies(Protocol):
    """Replies (JSON) by the key of their request, kept from the moment when they come. Safe for many threads."""

    @property
    def place(self) -> str:
        """Where they lie, as messages say it."""
        ...

    def any(self) -> bool:
        """Whether there are some."""
        ...

    def read(self) -> dict[str, bytes]:
        """All of them; one that was cut off is left out."""
        ...

    def keep(self, key: str, reply: bytes) -> None:
        """Write one down, so that it outlives this process. Raises StoreError or OSError where that fails."""
        ...

    def rest(self) -> None:
        """Give back what is held open; they stay."""
        ...

    def clear(self) -> None:
        """Remove all of them."""
        ...


class _Line(msgspec.Struct, frozen=True):
    key: str
    reply: msgspec.Raw


class ReplyFile:
    """Replies in a file, one a line."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()
        self._file: IO[bytes] | None = None

    @property
    def place(self) -> str:
        """The path of the file."""
        return str(self._path)

    def any(self) -> bool:
        """Whether there are some."""
        return self._path.exists() and self._path.stat().st_size > 0

    def read(self) -> dict[str, bytes]:
        """All of them; one that was cut off is left out."""
        found: dict[str, bytes] = {}
        for line in self._path.read_bytes().split(b"\n") if self._path.exists() else ():
            try:
                one = msgspec.json.decode(line, type=_Line)
            except msgspec.DecodeError:  # the end of the file, or a line that was cut off
                continue
            found[one.key] = bytes(one.reply)
        return found

    def keep(self, key: str, reply: bytes) -> None:
        """Write one down."""
        line = reply.replace(b"\r", b" ").replace(b"\n", b" ")  # JSON has line ends only between its parts
        with self._lock:
            self._file = self._file or self._path.open("ab", buffering=0)
            self._file.write(msgspec.json.encode(_Line(key, msgspec.Raw(line))) + b"\n")

    def rest(self) -> None:
        """Close the file; it stays."""
        with self._lock:
            if self._file is not None:
                self._file.close()
            self._file = None

    def clear(self) -> None:
        """Remove the file."""
        self.rest()
        self._path.unlink(missing_ok=True)
