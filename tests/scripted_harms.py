"""What a hostile server answers, byte by byte, and what a model says that is no reply: see `Script.harm`.

Script(harm="gzip bomb", harm_rate=0.1)
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Callable, Iterator
from itertools import chain, repeat
from typing import Any

import msgspec

Body = dict[str, Any]
BLOCK = 1 << 16
ELSEWHERE = "http://user:landing-password@elsewhere.example/v1"


def _head(*lines: str, status: str = "200 OK", kind: str = "application/json") -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", f"Content-Type: {kind}", *lines, "", ""]).encode()


def _endless(block: bytes, *lines: str, kind: str = "application/json", first: bytes = b"") -> Iterator[bytes]:
    """A reply that says at its head what `lines` say, and repeats a block for ever."""
    return chain([_head("Connection: close", *lines, kind=kind) + first], repeat(block * (BLOCK // len(block) + 1)))


def _bomb(bits: int) -> Iterator[bytes]:
    """Zeros without end, a thousandth as long when packed."""
    packer = zlib.compressobj(9, zlib.DEFLATED, bits)
    first = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return _endless(block, f"Content-Encoding: {'gzip' if bits > 15 else 'deflate'}", first=first)


def _whole(text: bytes, *lines: str) -> Iterator[bytes]:
    return iter([_head(f"Content-Length: {len(text)}", *lines) + text])


def _event(delta: Body) -> bytes:
    return b"data: " + msgspec.json.encode({"choices": [{"index": 0, "delta": delta}]}) + b"\n\n"


def _long_headers() -> Iterator[bytes]:
    lines = [f"X-{i}: {'h' * 60_000}" for i in range(17)]
    return iter([_head("Content-Length: 2", *lines) + b"{}"])


STREAM = "text/event-stream"
WIRE: dict[str, Callable[[], Iterator[bytes]]] = {
    "gzip bomb": lambda: _bomb(31),
    "deflate bomb": lambda: _bomb(15),
    "packed without end, holding nothing": lambda: _endless(
        b"\x00\x00\x00\xff\xff", "Content-Encoding: deflate", first=b"\x78\x9c"
    ),
    "packed as nobody asked": lambda: _whole(b"{}", "Content-Encoding: br"),
    "endless body": lambda: _endless(b"a" * 512, first=b'{"choices": "'),
    "endless stream": lambda: _endless(_event({"content": "and so on " * 50}), kind=STREAM),
    "endless thoughts": lambda: _endless(_event({"reasoning_content": "and so on " * 50}), kind=STREAM),
    "events without end": lambda: _endless(b"data: {}\n", kind=STREAM),
    "comments without end": lambda: _endless(b": here\n", kind=STREAM),
    "one line without end": lambda: _endless(b"data: ", kind=STREAM),
    "headers of 1 MB": _long_headers,
    "one header without end": lambda: chain([b"HTTP/1.1 200 OK\r\nX-Long: "], repeat(b"h" * BLOCK)),
    "100 Continue without end": lambda: repeat(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000),
    "lists in lists": lambda: _whole(b'{"choices": ' + b"[" * 1_000_000),
    "a million lists": lambda: _whole(b'{"choices": [' + b"[]," * 1_000_000 + b"[]]}"),
    "slow drip": lambda: chain([_head("Connection: close", kind=STREAM)], repeat(b":")),
    "redirect to another host": lambda: iter(
        [_head(f"Location: {ELSEWHERE}", "Content-Length: 0", status="307 Temporary Redirect")]
    ),
}

SAID: dict[str, Body] = {  # instead of a reply: a choice with its message
    "declines": {"message": {"content": "I'm sorry, but I cannot help with that."}},
    "declines by a field": {"message": {"content": None, "refusal": "I cannot help with that."}},
    "content filter": {"message": {"content": ""}, "finish_reason": "content_filter"},
    "content filter half-way": {
        "message": {"content": '{"entities": [{"name": "Ada'},
        "finish_reason": "content_filter",
    },
    "empty reply": {"message": {"content": ""}},
    "blank reply": {"message": {"content": " \n\n "}},
    "<think> without an end": {"message": {"content": "<think>Let me see. The text names people, so"}},
    "an error half-way": {"message": {"content": '{"entities": [{"name": "Ada'}, "finish_reason": "error"},
    "a reply that is a list in lists": {"message": {"content": "[" * 100_000}},
}

USAGE: dict[str, Any] = {
    "usage of 10**30": 10**30,
    "usage below 0": -5,
    "usage in words": "many",
    "usage of NaN": math.nan,
    "usage in a list": [1, 2],
}
HARMS = (*WIRE, *SAID, *USAGE)
PAUSES = {"slow drip": 0.1}  # seconds between what is written
SLOW = (  # take seconds to be given up
    *("events without end", "comments without end", "packed without end, holding nothing"),
    *("slow drip", "hanging call", "a reply that is a list in lists"),
)


def spoil_usage(payload: bytes, count: Any) -> bytes:
    """A reply whose usage says this of every count."""
    usage = dict.fromkeys(("prompt_tokens", "completion_tokens", "total_tokens"), count)
    return json.dumps(json.loads(payload) | {"usage": usage}).encode()
