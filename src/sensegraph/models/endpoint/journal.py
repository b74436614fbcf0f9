"""Replies that were paid for but are not stored yet: what a killed run leaves behind for the next.

A reply is written down the moment it arrives, before anything is read out of it. The file holds one line of JSON a
reply; it is emptied when a build ends, for then every result is stored. A line that a kill cut off is left out.
"""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path
from types import TracebackType
from typing import IO

import msgspec


class _Line(msgspec.Struct, frozen=True):
    key: str
    reply: msgspec.Raw


class Journal:
    """Used as a context around a build; outside of one it keeps and recalls nothing. Safe to use from many threads."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()
        self._file: IO[bytes] | None = None
        self._left: dict[str, bytes] = {}

    def __enter__(self) -> Journal:
        self._left = {}
        for line in self._path.read_bytes().split(b"\n") if self._path.exists() else ():
            try:
                one = msgspec.json.decode(line, type=_Line)
            except msgspec.DecodeError:  # the end of the file, or a line that was cut off
                continue
            self._left[one.key] = bytes(one.reply)
        self._file = self._path.open("ab", buffering=0)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            if self._file is not None:
                self._file.close()
            self._file, self._left = None, {}
        if kind is None or issubclass(kind, Exception):  # after Ctrl-C, what was running may not be stored
            self._path.unlink(missing_ok=True)

    @staticmethod
    def key(path: str, body: bytes) -> str:
        """What a request is known by: its path and its body, which holds model, prompt, schema and limits."""
        return hashlib.blake2b(path.encode() + b"\n" + body, digest_size=20).hexdigest()

    def recall(self, key: str) -> bytes | None:
        """The reply to a request that an earlier run did not live to store."""
        return self._left.get(key)

    def keep(self, key: str, reply: bytes) -> None:
        """Write down a reply (JSON)."""
        with self._lock:
            if self._file is not None:
                line = reply.replace(b"\r", b" ").replace(b"\n", b" ")  # JSON has line ends only between its parts
                self._file.write(msgspec.json.encode(_Line(key, msgspec.Raw(line))) + b"\n")
