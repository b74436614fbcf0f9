"""A reply as it comes: unpacked, and no more of it than any honest one has.

Whoever answers may send bytes, lines and packed blanks without end. What is read is counted as it comes, so that a
reply costs little memory whatever it holds. The limits are several times what the longest replies of models take.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO

HEAD = 128 * 1024  # bytes of the status and the headers
WHOLE = 4_000_000  # bytes, unpacked, of a reply that is read whole, and of one event
STREAM = 128_000_000  # bytes of a stream of events; each token takes some hundred
EVENTS = 500_000  # lines of a stream; each token takes two or three
DOWNLOAD = 1_000_000_000  # bytes of a file of replies to a batch, and of anything at all
PIECE = 65536  # bytes; the most that is taken at once of what has come


class WireError(Exception):
    """There is no reply; the message says why, without an address."""


class Late(WireError):
    """Nothing came in time, or not all of it; the message says how long was waited."""


class Unreachable(WireError):
    """Nobody can be spoken to: no such host, refused, no proxy, a certificate that does not hold."""


class Broken(WireError):
    """The connection ended before the reply did, or what came cannot be unpacked."""


class Oversized(WireError):
    """More came than any honest reply has; the message says of what."""


@dataclass(frozen=True, slots=True)
class Response:
    """What came back, whatever its status; names of `headers` are found in any case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Incoming:
    """A reply that is still coming; iterating gives its lines, each as soon as it is whole, without its end.

    `pieces` are its bytes as they come, packed as its headers say. Reading raises the errors of this module.
    """

    def __init__(self, status: int, headers: Mapping[str, str], pieces: Iterator[bytes]) -> None:
        self.status, self.headers, self._pieces = status, headers, pieces

    def __iter__(self) -> Iterator[bytes]:
        started, lines, came = bytearray(), 0, 0
        for piece in unpack(self.headers, self._pieces):
            came, lines = came + len(piece), lines + piece.count(b"\n")
            if came > STREAM or lines > EVENTS:
                raise Oversized(f"a stream of more than {_name_size(STREAM)} or {EVENTS:,} lines")
            first, *others = piece.split(b"\n")
            started += first
            if len(started) > WHOLE:
                started.clear()
                raise Oversized(f"an event of more than {_name_size(WHOLE)}")
            for following in others:
                yield bytes(started.removesuffix(b"\r"))
                started = bytearray(following)
        if started:
            yield bytes(started)

    def read_whole(self, most: int = WHOLE, grown: Callable[[], object] = lambda: None) -> Response:
        """All of it, of at most so many bytes; `grown` is called once it is longer than most replies."""
        held = bytearray()
        for piece in unpack(self.headers, self._pieces):
            if len(held) <= WHOLE < len(held) + len(piece):
                grown()
            held += piece
            if len(held) > most:
                held.clear()  # the error keeps this frame, and what is in it
                raise Oversized(f"a reply of more than {_name_size(most)}")
        return Response(self.status, self.headers, bytes(held))

    def write_into(self, file: IO[bytes]) -> Response:
        """All of it, of at most `DOWNLOAD` bytes, in `file` and nowhere else."""
        file.seek(0)
        file.truncate()
        for piece in unpack(self.headers, self._pieces):
            file.write(piece)
            if file.tell() > DOWNLOAD:
                raise Oversized(f"a file of more than {_name_size(DOWNLOAD)}")
        return Response(self.status, self.headers, b"")


def unpack(headers: Mapping[str, str], pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The bytes that came, unpacked where the headers say so, in pieces of at most `PIECE` bytes.

    Replies are asked for as they are, and gzip and deflate are understood. Raises Broken for what else there is.
    """
    packed = headers.get("content-encoding", "").strip().casefold()
    if packed in ("", "identity", "utf-8"):
        yield from pieces
        return
    if packed not in ("gzip", "x-gzip", "deflate"):
        raise Broken(f"the reply is packed as {packed[:40]!r}, which was not asked for")
    opened, came, made = zlib.decompressobj(47), 0, 0  # gzip or zlib, whichever it is
    for piece in pieces:
        left, came = piece, came + len(piece)
        while left and not opened.eof:
            try:
                part = opened.decompress(left, PIECE)
            except zlib.error:
                raise Broken(f"the reply is not packed as {packed}, as it says") from None
            left, made = opened.unconsumed_tail, made + len(part)
            yield part
        if opened.eof:
            return
        if came > made + STREAM:
            raise Oversized("a packed reply without end that holds nothing")
    if came:
        raise Broken("the packed reply ended before its end")


def _name_size(count: int) -> str:
    """Bytes as people say them."""
    return f"{count // 1_000_000:,} MB"
